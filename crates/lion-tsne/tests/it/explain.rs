//! What sets clusters apart, on tables whose truth is known.

use crate::common::with_threads;
use lion_tsne::explain::{
    ClusterSource, Column, Contrast, ExplainOptions, GAP, Values, explain, explain_selection, map_columns,
    text_from,
};
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Map, Matrix, Rows, ignore};
use std::borrow::Cow;
use std::collections::HashSet;

const ROWS: usize = 900;

/// Three blobs on a map made elsewhere, one after another; each row has two numbers of its own.
fn map(labels: bool) -> Map {
    let mut random = Random::new(1);
    let blob = |row: usize| row % 3;
    let places: Vec<f32> = (0..ROWS)
        .flat_map(|row| [20.0 * blob(row) as f64 + random.gaussian(), random.gaussian()])
        .map(|value| value as f32)
        .collect();
    let x: Vec<f32> = (0..ROWS)
        .flat_map(|row| [30.0 + 12.0 * (blob(row) == 2) as u8 as f64 + random.gaussian(), random.gaussian()])
        .map(|value| value as f32)
        .collect();
    let labels = labels.then(|| (0..ROWS).map(|row| ["a", "b", "c"][blob(row)].to_owned()).collect());
    let rows = Rows { data: Matrix::new(ROWS, 2, x).unwrap(), ids: None, labels };
    let map = Fit::default().adopt(rows, Matrix::new(ROWS, 2, places).unwrap(), &mut ignore).unwrap();
    map.with_columns(&["age".into(), "noise".into()]).unwrap()
}

fn options(by: ClusterSource) -> ExplainOptions {
    ExplainOptions { by, ..ExplainOptions::default() }
}

#[test]
fn clusters_are_the_blobs_and_are_named_by_what_differs() {
    let map = map(false);
    let found = explain(&map, &map_columns(&map), &options(ClusterSource::Auto)).unwrap();
    assert!(!found.from_labels);
    let level = &found.levels[found.usual];
    for row in 0..ROWS {
        assert_eq!(level[row], level[row % 3], "row {row}");
    }
    let old = &found.clusters[level[2].unwrap() as usize];
    assert_eq!((old.size, old.name.as_str()), (300, "high age"));
    assert_eq!(old.columns.len(), 1, "noise is no difference");
    let Contrast::Numbers { mean, median, difference, error } = old.columns[0].contrast else {
        panic!("{:?}", old.columns)
    };
    assert!((mean[0] - 42.0).abs() < 0.3 && (median[1] - 30.0).abs() < 0.3, "{mean:?} {median:?}");
    assert!((difference - 12.0).abs() < 4.0 * error && error > 0.03 && error < 0.15, "{difference} {error}");
    assert!(old.borders.iter().all(|border| border.share == 0.0), "gaps lie between: {:?}", old.borders);
    let names: HashSet<&str> = found.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    assert_eq!(names.len(), found.clusters.len(), "no two have the same name");
}

#[test]
fn effects_are_those_of_their_formulas() {
    let map = map(true);
    let mut random = Random::new(4);
    let numbers: Vec<f64> = (0..ROWS)
        .map(|row| if row % 50 == 7 { f64::NAN } else { random.gaussian() + (row % 3) as f64 })
        .collect();
    let codes: Vec<u32> =
        (0..ROWS as u32).map(|row| if row % 90 == 0 { GAP } else { u32::from(row % 3 == 1) }).collect();
    let columns = [
        Column { name: "n".into(), is_date: false, values: Values::Numbers(Cow::Borrowed(&numbers)) },
        Column {
            name: "k".into(),
            is_date: false,
            values: Values::Categories { names: vec!["x".into(), "y".into()], codes: codes.clone() },
        },
    ];
    let found = explain(&map, &columns, &options(ClusterSource::Labels)).unwrap();
    let b = found.clusters.iter().find(|cluster| cluster.name == "b").unwrap();
    let c = found.clusters.iter().find(|cluster| cluster.name == "c").unwrap();

    // The plain sums.
    let side = |inside: bool, group: usize| -> Vec<f64> {
        (0..ROWS)
            .filter(|row| (row % 3 == group) == inside)
            .map(|row| numbers[row])
            .filter(|v| v.is_finite())
            .collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let variance = |values: &[f64]| {
        let centre = mean(values);
        values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
    };
    let (inside, outside) = (side(true, 2), side(false, 2));
    let all: Vec<f64> = inside.iter().chain(&outside).copied().collect();
    let deviation = variance(&all).sqrt();
    let n = c.columns.iter().find(|effect| effect.column == "n").unwrap();
    let wanted = (mean(&inside) - mean(&outside)) / deviation;
    let error = (variance(&inside) / inside.len() as f64 + variance(&outside) / outside.len() as f64).sqrt()
        / deviation;
    assert!((n.effect - wanted).abs() < 1e-9 && (n.error - error).abs() < 1e-9, "{n:?}: {wanted} {error}");

    let k = b.columns.iter().find(|effect| effect.column == "k").unwrap();
    assert_eq!(k.value.as_deref(), Some("y"), "of two that are as strong, the one that it has");
    let Contrast::Shares { share, odds_ratio, .. } = k.contrast else { panic!("{k:?}") };
    assert_eq!(share, [1.0, 0.0]);
    assert!(odds_ratio > 1e4);
    let total = codes.iter().filter(|code| **code == 1).count() as f64
        / codes.iter().filter(|code| **code != GAP).count() as f64;
    assert!((k.effect - 1.0 / (total * (1.0 - total)).sqrt()).abs() < 1e-9);
}

#[test]
fn a_selection_equals_the_cluster_of_the_same_rows() {
    let map = map(true);
    let columns = map_columns(&map);
    let found = explain(&map, &columns, &ExplainOptions::default()).unwrap();
    let rows: Vec<u32> = (0..ROWS as u32).filter(|row| row % 3 == 2).collect();
    let selection = explain_selection(&map, &columns, &rows, &ExplainOptions::default()).unwrap();
    let cluster = found.clusters.iter().find(|cluster| cluster.name == "c").unwrap();
    assert_eq!(
        (&selection.columns, &selection.typical, selection.size),
        (&cluster.columns, &cluster.typical, 300)
    );
    for (rows, words) in [(vec![], "no row is selected"), (vec![9999], "row 9999 is selected")] {
        let error = explain_selection(&map, &columns, &rows, &ExplainOptions::default()).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn texts_name_clusters_and_edges_do_no_harm() {
    let map = map(false);
    let texts: Vec<String> = (0..ROWS)
        .map(|row| format!("the {} of row {row}", ["cat and dog", "moon orbit", "goal game"][row % 3]))
        .collect();
    let cells: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    let mut columns = vec![Column::of_cells("said", &cells).unwrap()];
    text_from(&mut columns, Some("said")).unwrap();
    let found = explain(&map, &columns, &ExplainOptions::default()).unwrap();
    let cluster = &found.clusters[found.levels[found.usual][1].unwrap() as usize];
    assert_eq!(cluster.name, "moon, orbit");
    assert!(text_from(&mut columns, Some("other")).unwrap_err().to_string().contains("no column other"));
    // Columns that say nothing: constant, empty, all gaps, too short.
    let constant =
        Column { name: "k".into(), is_date: false, values: Values::Numbers(vec![1.0; ROWS].into()) };
    let gaps =
        Column { name: "g".into(), is_date: false, values: Values::Numbers(vec![f64::NAN; ROWS].into()) };
    let none = Column {
        name: "m".into(),
        is_date: false,
        values: Values::Categories { names: vec![], codes: vec![GAP; ROWS] },
    };
    let found = explain(&map, &[constant, gaps, none], &ExplainOptions::default()).unwrap();
    assert!(found.clusters.iter().all(|cluster| cluster.columns.is_empty() && !cluster.name.is_empty()));
    let short = Column { name: "s".into(), is_date: false, values: Values::Numbers(vec![1.0].into()) };
    assert!(
        explain(&map, &[short], &ExplainOptions::default())
            .unwrap_err()
            .to_string()
            .contains("column s has 1 values")
    );
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let map = map(false);
    let columns = map_columns(&map);
    let run =
        |threads| with_threads(threads, || explain(&map, &columns, &ExplainOptions::default()).unwrap());
    assert_eq!(run(1), run(3));
}
