//! Maps that take in new rows: what they keep, what they refuse, and the same bits for any number of threads.

use crate::common::clusters;
use lion_tsne::landmarks::{LandmarkOptions, Landmarks};
use lion_tsne::numerics::Random;
use lion_tsne::update::{Anchoring, Forget, LEAST_KEPT, Updated};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, Radius, Rows, Update, Verdict, ignore};
use std::collections::HashSet;

const COLS: usize = 10;

/// Rows of six clusters; row `i` is of cluster `i % 6`.
fn table(seed: u64) -> Matrix {
    clusters(900, COLS, 6, 5.0, seed)
}

/// Those of some clusters, within a range of row numbers.
fn rows_of(range: std::ops::Range<u32>, kinds: &[u32]) -> Rows {
    let which: Vec<u32> = range.filter(|row| kinds.contains(&(row % 6))).collect();
    let labels = which.iter().map(|row| format!("kind {}", row % 6)).collect();
    let ids = which.iter().map(|row| format!("row {row}")).collect();
    Rows { data: table(7).select(&which), ids: Some(ids), labels: Some(labels) }
}

const OLD_KINDS: [u32; 5] = [0, 1, 2, 3, 4];
const ALL_KINDS: [u32; 6] = [0, 1, 2, 3, 4, 5];

fn fit() -> Fit {
    Fit {
        perplexity: Some(12.0),
        iterations: Some(400),
        exaggeration_iterations: Some(150),
        pca: PcaChoice::None,
        ..Fit::default()
    }
}

fn old_map() -> Map {
    fit().run(rows_of(0..600, &OLD_KINDS), &mut ignore).unwrap()
}

fn update(old: &Map, rows: Rows) -> Updated {
    Update::default().run(old, rows, &mut ignore).unwrap()
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_new_class_becomes_one_cluster_and_old_rows_stay() {
    let old = old_map();
    let updated = update(&old, rows_of(600..900, &ALL_KINDS));
    let map = &updated.map;
    assert_eq!((map.rows(), map.labels().unwrap().names().len()), (500 + 300, 6));
    assert_eq!((map.id(0), map.id(500)), ("row 0".into(), "row 600".into()));
    assert_eq!(updated.new_clusters, [50]);
    // Within these clusters nothing tells rows apart, so nothing but the hold keeps them where they were.
    assert!(updated.step.moved_median < 0.12 && updated.step.moved_p90 < 0.35, "{:?}", updated.step);
    let fresh = fit().run(all_rows(), &mut ignore).unwrap();
    let (kl, fresh_kl) = (map.provenance().kl.unwrap(), fresh.provenance().kl.unwrap());
    assert!(kl < 1.02 * fresh_kl, "{kl}, and {fresh_kl} of a fresh fit");
    // Each row is nearest to one of its kind.
    let labels = map.labels().unwrap();
    let right = (0..map.rows()).filter(|&row| {
        let others = (0..map.rows()).filter(|&other| other != row);
        let nearest = others.min_by(|&a, &b| {
            distance(map.place(row), map.place(a)).total_cmp(&distance(map.place(row), map.place(b)))
        });
        labels.get(row) == labels.get(nearest.unwrap())
    });
    assert!(right.count() > 780);
    // Rows like those of the new cluster belong to the map now.
    let more = clusters(1800, COLS, 6, 5.0, 7);
    let kin: Vec<u32> = (900..1800).filter(|row| row % 6 == 5).collect();
    let outliers = |map: &Map| {
        let lion = Lion::new(map.clone(), &LionOptions::default()).unwrap();
        let placed = lion.place(&more.select(&kin)).unwrap();
        placed.iter().filter(|placed| placed.verdict == Verdict::Outlier).count()
    };
    assert!(outliers(&old) > 140 && outliers(map) < 15, "{} {}", outliers(&old), outliers(map));
}

fn all_rows() -> Rows {
    let (mut rows, new) = (rows_of(0..600, &OLD_KINDS), rows_of(600..900, &ALL_KINDS));
    let mut data = rows.data.into_data();
    data.extend_from_slice(new.data.data());
    rows.data = Matrix::new(data.len() / COLS, COLS, data).unwrap();
    rows.ids.as_mut().unwrap().extend(new.ids.unwrap());
    rows.labels.as_mut().unwrap().extend(new.labels.unwrap());
    rows
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let old = old_map();
    let bytes = |threads, seed| {
        let update = Update { threads, seed, ..Update::default() };
        let map = update.run(&old, rows_of(600..900, &ALL_KINDS), &mut ignore).unwrap().map;
        map.to_bytes().unwrap()
    };
    let one = bytes(1, 0);
    assert!(bytes(2, 0) == one && bytes(3, 0) == one);
}

#[test]
fn the_firmer_the_hold_the_less_rows_move() {
    let old = old_map();
    let moved = |stability: f64, anchoring| {
        let update = Update { stability: Some(stability), anchoring, ..Update::default() };
        update.run(&old, rows_of(600..900, &ALL_KINDS), &mut ignore).unwrap()
    };
    let moves: Vec<f64> =
        [0.0, 0.5, 0.9].iter().map(|&s| moved(s, Anchoring::Neighbourhoods).step.moved_median).collect();
    assert!(moves[0] > 1.4 * moves[1] && moves[1] > moves[2], "{moves:?}");
    let held = moved(1.0, Anchoring::Neighbourhoods);
    assert!(held.moves.moved.iter().all(|moved| *moved < 1e-3));
    // Without the transform not even the scale changes.
    let fixed = moved(1.0, Anchoring::Fixed).map;
    (0..500).for_each(|row| assert!(distance(fixed.place(row), old.place(row)) < 1e-3));
}

#[test]
fn overlaps_are_those_of_both_lists_of_neighbours() {
    let old = old_map();
    let updated = update(&old, rows_of(600..900, &OLD_KINDS));
    let neighbours = |map: &Map| {
        let (found, _) = lion_tsne::index::nearest_neighbours(
            map.x(),
            36,
            lion_tsne::index::Search::Exact,
            0,
            &mut ignore,
        )
        .unwrap();
        let lists = found.indices.chunks_exact(36).map(|list| list.iter().copied().collect());
        lists.collect::<Vec<HashSet<u32>>>()
    };
    let (before, after) = (neighbours(&old), neighbours(&updated.map));
    for row in 0..500 {
        let shared = before[row].intersection(&after[row]).count() as f32;
        let overlap = shared / (72.0 - shared);
        assert!((updated.moves.overlap[row] - overlap).abs() < 1e-6, "row {row}");
    }
    // The same where a row went, and lists are compared one by one.
    let forget = Forget { ids: vec!["row 0".into()], keep: None };
    let without = Update { forget, ..Update::default() };
    let without = without.run(&old, rows_of(600..900, &OLD_KINDS), &mut ignore).unwrap();
    assert_eq!((without.moves.overlap.len(), without.step.removed), (499, 1));
    let mean = |overlaps: &[f32]| overlaps.iter().sum::<f32>() / overlaps.len() as f32;
    assert!((mean(&without.moves.overlap) - mean(&updated.moves.overlap)).abs() < 0.01);
}

#[test]
fn an_id_that_comes_again_replaces_its_row() {
    let old = old_map();
    let mut rows = rows_of(600..606, &OLD_KINDS);
    let ids = rows.ids.as_mut().unwrap();
    (ids[0], ids[1]) = ("row 3".into(), "row 4".into());
    // One of them as it was.
    let same = old.x().row(3).to_vec();
    rows.data.data_mut()[..COLS].copy_from_slice(&same);
    let updated = update(&old, rows);
    let map = &updated.map;
    assert_eq!((map.rows(), updated.step.added, updated.step.removed), (503, 5, 2));
    let ids: HashSet<String> = (0..map.rows()).map(|row| map.id(row).into_owned()).collect();
    assert_eq!(ids.len(), 503);
    let row = (0..map.rows()).find(|&row| map.id(row) == "row 3").unwrap();
    assert_eq!(map.x().row(map.distinct(row)), &same[..]);
}

#[test]
fn rows_are_forgotten_by_id_and_by_hash() {
    let old = old_map();
    let gone: Vec<String> = (0..600).filter(|row| row % 6 == 2).map(|row| format!("row {row}")).collect();
    let forget = Update { forget: Forget { ids: gone, keep: None }, ..Update::default() };
    let nothing = || Rows::from(Matrix::zeros(0, COLS));
    let updated = forget.run(&old, nothing(), &mut ignore).unwrap();
    assert_eq!((updated.map.rows(), &updated.emptied[..]), (400, &["kind 2".to_owned()][..]));
    let keep = |keep| Update { forget: Forget { ids: Vec::new(), keep: Some(keep) }, ..Update::default() };
    let kept = |count| keep(count).run(&old, rows_of(600..660, &OLD_KINDS), &mut ignore).unwrap().map;
    let (few, more) = (kept(200), kept(300));
    assert_eq!((few.rows(), more.rows()), (200, 300));
    let ids = |map: &Map| (0..map.rows()).map(|row| map.id(row).into_owned()).collect::<HashSet<_>>();
    assert!(ids(&few).is_subset(&ids(&more)));
    let of_kind = |kind: &str| (0..150).filter(|&row| few.labels().unwrap().get(row) == kind).count();
    (0..5).for_each(|kind| assert!(of_kind(&format!("kind {kind}")) >= LEAST_KEPT));
    for (count, problem) in
        [(50, "leaves no room for old rows"), (70, "are needed for 10 of each of 5 clusters")]
    {
        let refused = keep(count).run(&old, rows_of(600..660, &OLD_KINDS), &mut ignore).unwrap_err();
        assert!(refused.to_string().contains(problem), "{refused}");
    }
}

#[test]
fn a_chain_of_updates_knows_its_steps_and_survives_the_file() {
    let mut map = fit().run(rows_of(0..600, &ALL_KINDS), &mut ignore).unwrap();
    let first = map.checksum().unwrap();
    for step in 0..3 {
        map = update(&map, rows_of(600 + 60 * step..660 + 60 * step, &ALL_KINDS)).map;
        map = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
    }
    let lineage = &map.provenance().lineage;
    assert_eq!((lineage.len(), map.rows(), &lineage[0].parent), (3, 780, &first));
    assert!(lineage.iter().all(|step| step.added == 60 && step.moved_median < 0.15), "{lineage:?}");
}

#[test]
fn maps_made_elsewhere_keep_their_places() {
    let rows = rows_of(0..600, &OLD_KINDS);
    let places: Vec<f32> =
        rows.data.data().chunks_exact(COLS).flat_map(|row| [row[0] / 9.0, row[1] / 9.0]).collect();
    let places = Matrix::new(500, 2, places).unwrap();
    let old = Fit { pca: PcaChoice::None, ..Fit::default() }.adopt(rows, places, &mut ignore).unwrap();
    let updated = update(&old, rows_of(600..900, &ALL_KINDS));
    assert!(updated.map.provenance().adopted && updated.map.provenance().kl.is_none());
    (0..500).for_each(|row| assert!(distance(updated.map.place(row), old.place(row)) < 1e-3, "row {row}"));
    let width =
        |rows: std::ops::Range<usize>| rows.map(|row| updated.map.place(row)[0].abs()).fold(0.0, f32::max);
    assert!(width(500..800) < 5.0 * width(0..500), "{} {}", width(500..800), width(0..500));
}

#[test]
fn lines_space_duplicates_and_landmarks() {
    for dims in [1, 3] {
        let old = Fit { dims, ..fit() }.run(rows_of(0..300, &OLD_KINDS), &mut ignore).unwrap();
        let updated = update(&old, rows_of(300..420, &ALL_KINDS));
        assert_eq!((updated.map.dims(), updated.map.rows()), (dims, 370));
        assert!(updated.step.moved_median < 0.2, "{dims}: {:?}", updated.step);
    }
    // New rows that equal old ones and each other share their places.
    let old = old_map();
    let mut rows = rows_of(600..612, &OLD_KINDS);
    let twin = old.x().row(9).to_vec();
    rows.data.data_mut()[..COLS].copy_from_slice(&twin);
    let second = rows.data.row(1).to_vec();
    rows.data.data_mut()[2 * COLS..3 * COLS].copy_from_slice(&second);
    let map = update(&old, rows).map;
    assert_eq!((map.rows(), map.x().rows()), (510, 508));
    assert_eq!((map.place(500), map.place(501)), (map.place(9), map.place(502)));
    let mut landmarks = Landmarks::new(LandmarkOptions { cover: true, ..fit().landmarks(200) }).unwrap();
    landmarks.add(rows_of(0..600, &OLD_KINDS)).unwrap();
    let old = fit().run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap();
    let map = update(&old, rows_of(600..900, &ALL_KINDS)).map;
    let from = map.provenance().sampled_from.unwrap();
    assert_eq!((from.rows, map.rows()), (800, old.rows() + 300));
}

/// Two new classes in one update are two clusters, each in one piece.
#[test]
fn two_new_classes_become_two_clusters() {
    let old = fit().run(rows_of(0..600, &OLD_KINDS[..4]), &mut ignore).unwrap();
    let updated = update(&old, rows_of(600..720, &ALL_KINDS));
    assert_eq!(updated.new_clusters, [20, 20]);
}

/// Where the PCA is made anew the calibration is that of a fit of all rows: leaving rows out leaves them out of the PCA, too.
#[test]
fn a_new_pca_calibrates_as_a_fit_does() {
    let pca = Fit { pca: PcaChoice::Components(4), ..fit() };
    let (before, new) = (rows_of(0..600, &OLD_KINDS), rows_of(600..900, &ALL_KINDS));
    let both = Matrix::new(800, COLS, [before.data.data(), new.data.data()].concat()).unwrap();
    let old = pca.run(before.clone(), &mut ignore).unwrap();
    let anew = Update { rows: Some(before.data), seed: pca.seed, ..Update::default() };
    let anew = anew.run(&old, new, &mut ignore).unwrap().map;
    let fresh = pca.run(Rows { data: both, ids: None, labels: None }, &mut ignore).unwrap();
    let scores = |map: Map| {
        let placed = Lion::new(map, &LionOptions::default()).unwrap().place(&table(9)).unwrap();
        placed.iter().map(|row| (row.p_distance, row.p_neighbours)).collect::<Vec<_>>()
    };
    assert_eq!(scores(anew), scores(fresh));
}

#[test]
fn the_pca_is_kept_widened_or_made_anew() {
    let pca = Fit { pca: PcaChoice::Components(4), ..fit() };
    let base = rows_of(0..600, &OLD_KINDS);
    let old = pca.run(base.clone(), &mut ignore).unwrap();
    let kept = update(&old, rows_of(600..900, &OLD_KINDS));
    assert_eq!((kept.widened, kept.map.preprocess()), (0, old.preprocess()));
    assert!(!kept.map.provenance().projected_elsewhere);
    assert!(kept.map.lion().unwrap().is_calibrated());
    // New rows of a kind that varies where the old ones do not.
    let mut strange = rows_of(600..900, &OLD_KINDS);
    let directions = old.preprocess().pca().unwrap().components().clone();
    let outside: Vec<f32> = orthogonal_to(&directions);
    for row in strange.data.data_mut().chunks_exact_mut(COLS).take(100) {
        row.iter_mut().zip(&outside).for_each(|(v, o)| *v += 60.0 * o);
    }
    let widened = update(&old, strange.clone());
    assert_eq!((widened.widened, widened.map.x().cols()), (1, 5));
    let anew = Update { rows: Some(base.data), ..Update::default() };
    let anew = anew.run(&old, strange.clone(), &mut ignore).unwrap();
    assert_eq!((anew.widened, anew.map.x().cols()), (0, 4));
    assert!(anew.map.preprocess() != old.preprocess());
    let other = Update { rows: Some(table(8).select(&(0..500).collect::<Vec<u32>>())), ..Update::default() };
    let refused = other.run(&old, strange, &mut ignore).unwrap_err().to_string();
    assert!(refused.contains("is not the row that the map was made of"), "{refused}");
}

/// A direction of length 1 that none of the others has a part of.
fn orthogonal_to(directions: &Matrix) -> Vec<f32> {
    let mut found = vec![0.0f32; COLS];
    found[0] = 1.0;
    for _ in 0..3 {
        for direction in directions.data().chunks_exact(COLS) {
            let along: f32 = direction.iter().zip(&found).map(|(a, b)| a * b).sum();
            found.iter_mut().zip(direction).for_each(|(f, d)| *f -= along * d);
        }
    }
    let length = found.iter().map(|v| v * v).sum::<f32>().sqrt();
    found.iter().map(|v| v / length).collect()
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let old = old_map();
    let refused = |rows: Rows| Update::default().run(&old, rows, &mut ignore).unwrap_err().to_string();
    let good = || rows_of(600..660, &OLD_KINDS);
    let mut nan = good();
    nan.data.data_mut()[3] = f32::NAN;
    assert!(refused(nan).contains("NaN"));
    let narrow = Rows {
        data: clusters(5, 3, 1, 1.0, 1),
        ids: Some((0..5).map(|i| format!("n{i}")).collect()),
        labels: None,
    };
    assert!(refused(narrow).contains("expected 10 columns, got 3"));
    assert!(refused(Rows { ids: None, ..good() }).contains("new rows need them too"));
    let mut twice = good();
    twice.ids.as_mut().unwrap()[1] = "row 600".into();
    assert!(refused(twice).contains("row 600"));
    let none = Rows { ids: Some(Vec::new()), ..Rows::from(Matrix::zeros(0, COLS)) };
    assert!(refused(none).contains("nothing would change"));
    let too_firm = Update { stability: Some(1.5), ..Update::default() };
    let refused = too_firm.run(&old, good(), &mut ignore).unwrap_err().to_string();
    assert!(
        refused.contains("stability: must be from 0 to 1, not 1.5") || refused.contains("from 0 to 1"),
        "{refused}"
    );
    // Numbers are no names: a row called 7 does not replace the seventh.
    let nameless = fit().run(good().data, &mut ignore).unwrap();
    let mut seven = rows_of(660..672, &OLD_KINDS);
    seven.ids.as_mut().unwrap()[0] = "7".into();
    let refused = Update::default().run(&nameless, seven, &mut ignore).unwrap_err().to_string();
    assert!(refused.contains("give new rows other ids"), "{refused}");
}

#[test]
fn the_radius_and_the_power_that_were_asked_for_stay() {
    let asked = Fit { radius: Some(Radius::Percentile(90.0)), power: Some(3.0), ..fit() };
    let old = asked.run(rows_of(0..300, &OLD_KINDS), &mut ignore).unwrap();
    let updated = update(&old, rows_of(300..400, &OLD_KINDS));
    let lion = updated.map.lion().unwrap();
    assert_eq!((lion.radius, lion.power, lion.power_given), (Radius::Percentile(90.0), 3.0, true));
    let automatic = update(&old_map(), rows_of(600..660, &OLD_KINDS));
    assert!(!automatic.map.lion().unwrap().power_given);
}

/// Clusters that have nothing to do with each other lower the loss the farther they are apart: a map must not grow by that.
#[test]
fn maps_of_separate_clusters_do_not_grow_without_end() {
    let rows = |range: std::ops::Range<u32>| {
        let which: Vec<u32> = range.collect();
        Rows::from(clusters(1200, 6, 3, 12.0, 4).select(&which))
    };
    let width = |map: &Map| map.y().data().iter().fold(0.0f32, |most, v| v.abs().max(most));
    let mut map = fit().run(rows(0..400), &mut ignore).unwrap();
    let first = width(&map);
    for step in 0..6 {
        map = update(&map, rows(400 + 80 * step..480 + 80 * step)).map;
    }
    assert!(width(&map) < 6.0 * first, "{first} became {}", width(&map));
}

#[test]
fn a_map_calibrated_by_groups_says_that_they_are_gone() {
    let groups = (0..500).map(|row| row / 10).collect();
    let old = Fit { groups: Some(groups), ..fit() }.run(rows_of(0..600, &OLD_KINDS), &mut ignore).unwrap();
    assert!(old.lion().unwrap().is_calibrated());
    let map = update(&old, rows_of(600..900, &OLD_KINDS)).map;
    assert!(!map.lion().unwrap().is_calibrated());
}

/// Where most rows are new, lists of new rows only are no sign of a new cluster.
#[test]
fn many_ordinary_rows_are_no_clusters_of_their_own() {
    let old = fit().run(rows_of(0..120, &OLD_KINDS), &mut ignore).unwrap();
    assert_eq!(update(&old, rows_of(120..900, &OLD_KINDS)).new_clusters, [0usize; 0]);
}

/// Ordinary rows that vary along few directions and a little along all others, so that a PCA of few rows bends towards them.
fn low_rank(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut directions = Random::new(99);
    let directions: Vec<f64> = (0..8 * cols).map(|_| directions.gaussian()).collect();
    let mut random = Random::new(seed);
    let row = |_| {
        let along: Vec<f64> = (0..8).map(|_| random.gaussian()).collect();
        let value = |col: usize| {
            let common: f64 =
                along.iter().zip(directions[col..].iter().step_by(cols)).map(|(a, d)| a * d).sum();
            (common + random.gaussian()) as f32
        };
        (0..cols).map(value).collect::<Vec<f32>>()
    };
    Matrix::new(rows, cols, (0..rows).flat_map(row).collect()).unwrap()
}

/// Old rows are in the sample that the PCA was fitted to, and later rows are not. Still as many of them are called outliers
/// as promised: in the mean over tables, for each of which it scatters.
#[test]
fn verdicts_keep_their_promise_where_the_pca_is_kept() {
    for (rows, cols, components) in [(400, 60, 5), (300, 200, 10)] {
        let called = |seed: u64| {
            let fit =
                Fit { pca: PcaChoice::Components(components), iterations: Some(60), seed, ..Fit::default() };
            let map = fit.run(low_rank(rows, cols, 1 + 10 * seed), &mut ignore).unwrap();
            let once = Update::default().run(&map, low_rank(40, cols, 2 + 10 * seed), &mut ignore).unwrap();
            assert_eq!(once.widened, 0);
            // Rows of the map are known again.
            let lion = Lion::new(once.map.clone(), &LionOptions::default()).unwrap();
            let again = lion.place(&low_rank(rows, cols, 1 + 10 * seed)).unwrap();
            assert!(again.iter().all(|row| row.verdict == Verdict::Exact));
            let twice = Update::default().run(&once.map, low_rank(60, cols, 3 + 10 * seed), &mut ignore);
            let options = LionOptions { alpha: Some(0.05), ..LionOptions::default() };
            let lion = Lion::new(twice.unwrap().map, &options).unwrap();
            let placed = lion.place(&low_rank(2000, cols, 4 + 10 * seed)).unwrap();
            let outliers = placed.iter().filter(|row| row.score <= 0.05);
            outliers.count() as f64 / 2000.0
        };
        let mean = (0..6).map(called).sum::<f64>() / 6.0;
        assert!((0.8 * 0.05..1.25 * 0.05).contains(&mean), "{rows} x {cols}: {mean}");
    }
}
