//! Maps that take in rows.

use super::Record;
use super::table::{PLAIN, Table};
use lion_tsne::update::{Anchoring, Forget};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, Rows, Update, ignore};

/// What was done and what verdicts are calibrated by; and of the descent, how far rows moved and where some are.
fn tell([record, descent]: &mut [Record; 2], name: &str, old: &Map, rows: Rows, update: &Update) {
    let updated = update.run(old, rows, &mut ignore).unwrap();
    let (map, step) = (&updated.map, &updated.step);
    let counts = [step.added, step.removed, updated.widened as u64].map(|count| count as f64);
    let clusters = updated.new_clusters.iter().map(|&rows| rows as f64);
    record.line(&format!("{name} {}", updated.emptied.join(" ")), counts.into_iter().chain(clusters));
    record.line(name, updated.moves.overlap.iter().step_by(29).map(|v| f64::from(*v)));
    let placing = Lion::new(map.clone(), &LionOptions::default()).unwrap();
    let scores = placing.own_scores().iter().step_by(31).map(|score| f64::from(*score));
    record.line(name, [placing.r_x(), step.stability].into_iter().chain(scores));
    descent.line(name, [placing.r_y(), placing.r_close(), placing.power()]);
    descent.line(name, [step.kl.unwrap_or(-1.0), step.moved_median, step.moved_p90]);
    descent.line(name, map.provenance().kl_history.iter().map(|point| point.kl));
    descent.line(name, updated.moves.moved.iter().step_by(29).copied());
    for row in (0..map.rows()).step_by(map.rows() / 15) {
        descent.line(name, map.place(row).iter().map(|v| f64::from(*v)));
    }
}

#[test]
fn updates_of_maps() {
    let mut records = [Record::new("updates"), Record::of_descent("updated_places")];
    let fit = Fit {
        perplexity: Some(12.0),
        iterations: Some(150),
        exaggeration_iterations: Some(60),
        pca: PcaChoice::None,
        ..Fit::default()
    };
    let projecting = Fit { pca: PcaChoice::Components(4), ..fit.clone() };
    let made = |fit: &Fit| fit.run(PLAIN.table(), &mut ignore).unwrap();
    let (map, projected) = (made(&fit), made(&projecting));
    let new = || Rows::from(PLAIN.queries(80));
    let plain = Update::default();
    for (name, old, update) in [
        ("usual", &map, plain.clone()),
        ("loose", &map, Update { stability: Some(0.0), seed: 4, ..plain.clone() }),
        ("firm", &map, Update { stability: Some(1.0), ..plain.clone() }),
        ("fixed", &map, Update { anchoring: Anchoring::Fixed, ..plain.clone() }),
        ("fewer", &map, Update { forget: Forget { keep: Some(250), ids: Vec::new() }, ..plain.clone() }),
        ("kept PCA", &projected, plain.clone()),
        ("new PCA", &projected, Update { rows: Some(PLAIN.table().data), ..plain.clone() }),
        ("made elsewhere", &PLAIN.map(), plain.clone()),
        ("space", &Table { dims: 3, ..PLAIN }.map(), Update { stability: Some(0.5), ..plain.clone() }),
    ] {
        tell(&mut records, name, old, new(), &update);
    }
    // Rows go and none come; then fewer are left than the perplexity needs.
    for (name, gone) in [("only forgetting", 0..40), ("few left", 0..240)] {
        let none = Rows::from(Matrix::new(0, PLAIN.table().data.cols(), Vec::new()).unwrap());
        let ids = gone.map(|row| map.id(row).into_owned()).collect();
        let update = Update { forget: Forget { keep: None, ids }, ..plain.clone() };
        tell(&mut records, name, &map, none, &update);
    }
    records.into_iter().for_each(Record::check);
}
