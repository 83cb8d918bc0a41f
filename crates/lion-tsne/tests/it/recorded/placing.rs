//! Where rows are placed, with what verdicts, under every option.

use super::Record;
use super::table::{PLAIN, Table};
use lion_tsne::lion::{PcaResidualLimit, Positions, Taper};
use lion_tsne::{Lion, LionOptions, Local, Map, Matrix, PcaChoice, Placement, Radius, VerdictRule};

/// The verdict of a placement with all its numbers; -1 for one that it has not.
fn tell(record: &mut Record, placement: &Placement) {
    let Placement { place, verdict, label, .. } = placement;
    let label = match label {
        None => "-".to_owned(),
        Some(name) => name.replace(' ', "-"),
    };
    let or_none = |value: Option<f64>| value.unwrap_or(-1.0);
    let numbers = [
        placement.score,
        or_none(placement.p_distance),
        or_none(placement.p_neighbours),
        or_none(placement.p_residual),
        f64::from(placement.nearest),
        f64::from(placement.nearest_distance),
        f64::from(placement.neighbours),
        placement.group.map_or(-1.0, |group| group as f64),
        or_none(placement.label_share),
    ];
    let place = place.iter().map(|v| f64::from(*v));
    record.line(&format!("{verdict} {label}"), place.chain(numbers));
}

/// Places rows on a map by these options, and tells what the map and the options came to.
fn place(record: &mut Record, name: &str, map: &Map, queries: &Matrix, options: LionOptions) {
    let lion = Lion::new(map.clone(), &options).unwrap();
    let own = lion.own_scores().iter().step_by(23).map(|score| f64::from(*score));
    record.line(name, [lion.r_x(), lion.r_y(), lion.r_close(), lion.power()].into_iter().chain(own));
    for placement in lion.place(queries).unwrap() {
        tell(record, &placement);
    }
}

/// What a map keeps for placing.
fn parameters(record: &mut Record, name: &str, map: &Map) {
    let kept = map.lion().unwrap();
    let curve = kept.power_curve.iter().step_by(7).flat_map(|point| [point.power, point.error]);
    record.line(&format!("{name} powers"), curve);
    if let Some(facts) = map.calibration_facts() {
        let groups = facts.groups.map_or(-1.0, |groups| groups as f64);
        record.line(&format!("{name} calibration"), [facts.rows as f64, facts.alpha, facts.promised, groups]);
    }
}

#[test]
fn rules_of_placing() {
    let mut record = Record::new("rules");
    let (map, queries) = (PLAIN.map(), PLAIN.queries(60));
    parameters(&mut record, "plain", &map);
    for local in Local::ALL {
        for (taper, split_clusters) in Taper::ALL.into_iter().zip([false, true, true]) {
            let options = LionOptions { local, taper, split_clusters, ..LionOptions::default() };
            place(&mut record, &format!("{local} {taper} {split_clusters}"), &map, &queries, options);
        }
    }
    record.check();
}

#[test]
fn options_of_placing() {
    let mut record = Record::new("options");
    let (map, queries) = (PLAIN.map(), PLAIN.queries(60));
    let plain = LionOptions::default();
    let percentile = |p: f64| Some(Radius::Percentile(p));
    let value = |v: f64| Some(Radius::Value(v));
    for (name, options) in [
        ("paper", LionOptions { verdict: Some(VerdictRule::Paper), ..plain }),
        ("wide", LionOptions { radius: percentile(100.0), local: Local::Idw, ..plain }),
        ("narrow", LionOptions { radius: value(2.2), power: Some(3.0), local: Local::Idw, ..plain }),
        ("apart", LionOptions { r_y: percentile(50.0), r_close: value(0.5), ..plain }),
        ("close", LionOptions { r_y: value(20.0), r_close: percentile(90.0), ..plain }),
        ("random", LionOptions { positions: Positions::Random, seed: 5, ..plain }),
        ("strict", LionOptions { alpha: Some(0.2), ..plain }),
        ("fdr", LionOptions { alpha: Some(0.2), fdr: Some(0.1), ..plain }),
    ] {
        place(&mut record, name, &map, &queries, options);
    }
    record.check();
}

#[test]
fn kinds_of_maps() {
    let mut record = Record::new("kinds_of_maps");
    let pca = Table { pca: PcaChoice::Components(4), seed: 2, ..PLAIN };
    for (name, table) in [
        ("line", Table { dims: 1, seed: 3, ..PLAIN }),
        ("space", Table { dims: 3, seed: 4, ..PLAIN }),
        ("few", Table { rows: 31, seed: 5, ..PLAIN }),
        ("grouped", Table { groups: true, seed: 6, ..PLAIN }),
        ("projected", Table { ..pca }),
        ("grouped and projected", Table { groups: true, ..pca }),
        ("several folds", Table { rows: 1300, seed: 7, ..PLAIN }),
    ] {
        let (map, queries) = (table.map(), table.queries(50));
        parameters(&mut record, name, &map);
        place(&mut record, name, &map, &queries, LionOptions::default());
        let paper = LionOptions {
            verdict: Some(VerdictRule::Paper),
            pca_residual: PcaResidualLimit::Percentile(90.0),
            local: Local::Idw,
            ..LionOptions::default()
        };
        place(&mut record, &format!("{name}, by the paper"), &map, &queries, paper);
    }
    record.check();
}

/// A map whose rows are searched by partitions.
#[test]
fn large_maps() {
    let mut record = Record::new("large_maps");
    let table = Table { rows: 11_000, seed: 8, ..PLAIN };
    let (map, queries) = (table.map(), table.queries(60));
    parameters(&mut record, "large", &map);
    place(&mut record, "large", &map, &queries, LionOptions::default());
    let idw =
        LionOptions { local: Local::Idw, radius: Some(Radius::Percentile(90.0)), ..LionOptions::default() };
    place(&mut record, "large, by the paper", &map, &queries, idw);
    record.check();
}
