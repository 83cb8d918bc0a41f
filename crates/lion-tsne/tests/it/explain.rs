//! What sets clusters apart, on tables whose truth is known.

use crate::common::with_threads;
use lion_tsne::explain::{
    ClusterSource, Column, Contrast, ExplainOptions, ExplainSummary, GAP, Values, explain, explain_points,
    explain_selection, map_columns, text_from,
};
use lion_tsne::map::{ShownColumns, ShownValues};
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Map, Matrix, Rows, ignore};
use std::borrow::Cow;
use std::collections::HashSet;

const ROWS: usize = 900;

/// Three blobs on a map made elsewhere, one after another; each row has two numbers of its own.
fn map(labels: bool) -> Map {
    map_with(labels.then(|| (0..ROWS).map(|row| ["a", "b", "c"][row % 3].to_owned()).collect()))
}

fn map_with(labels: Option<Vec<String>>) -> Map {
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
    let found = explain(&map, &map_columns(&map).unwrap(), &options(ClusterSource::Auto)).unwrap();
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
    let columns = map_columns(&map).unwrap();
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
    let columns = map_columns(&map).unwrap();
    let run =
        |threads| with_threads(threads, || explain(&map, &columns, &ExplainOptions::default()).unwrap());
    assert_eq!(run(1), run(3));
}

#[test]
fn shown_columns_are_compared_too() {
    let text = |row: usize| Some(format!("the {} of {row}", ["cat", "moon", "goal"][row % 3]));
    let plan = |row: usize| Some(["basic", "premium"][usize::from(row % 3 == 1)].to_owned());
    let shown = ShownColumns::new(vec![
        ("said".into(), ShownValues::Text((0..ROWS).map(text).collect())),
        ("plan".into(), ShownValues::Text((0..ROWS).map(plan).collect())),
        ("age".into(), ShownValues::Number(vec![Some(1.0); ROWS])),
        (
            "visits".into(),
            ShownValues::Number((0..ROWS).map(|row| (row % 3 == 1).then_some(row as f64)).collect()),
        ),
        ("photo".into(), ShownValues::Image(vec![Some(vec![1]); ROWS])),
    ]);
    let map = map(false).with_shown(shown.unwrap()).unwrap();
    let mut columns = map_columns(&map).unwrap();
    text_from(&mut columns, None).unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["age", "noise", "said", "plan", "visits"], "the map's own age counts");
    let rows: Vec<u32> = (0..ROWS as u32).filter(|row| row % 3 == 1).collect();
    let found = explain_selection(&map, &columns, &rows, &ExplainOptions::default()).unwrap();
    assert_eq!(found.keywords[0].word, "moon");
    let plan = found.columns.iter().find(|effect| effect.column == "plan").unwrap();
    assert_eq!(plan.value.as_deref(), Some("premium"));
}

#[test]
fn rows_beside_the_map_count_as_if_they_were_in_it() {
    let map = map(false);
    let columns = map_columns(&map).unwrap();
    let others: Vec<Vec<f32>> = (0..50).map(|k| vec![90.0 + k as f32, 0.0]).collect();
    let rows = [0, 1, 2];
    let options = ExplainOptions::default();
    let found = explain_points(&map, &columns, &rows, &others, &options).unwrap();
    assert_eq!(found.size, 53);
    let numbers = columns[0].values.numbers().unwrap();
    let inside: Vec<f64> =
        rows.iter().map(|&row| numbers[row as usize]).chain((0..50).map(|k| 90.0 + f64::from(k))).collect();
    let mean = inside.iter().sum::<f64>() / 53.0;
    let Contrast::Numbers { mean: means, .. } = found.columns[0].contrast else { panic!("{found:?}") };
    assert!((means[0] - mean).abs() < 1e-6, "{means:?} {mean}");
    let outside = numbers[3..].iter().sum::<f64>() / (ROWS - 3) as f64;
    assert!((means[1] - outside).abs() < 1e-6, "{means:?} {outside}");
    let alone = explain_points(&map, &columns, &[], &others, &options).unwrap();
    assert!(alone.typical.is_empty() && alone.columns[0].column == "age");
    assert!(explain_points(&map, &columns, &[], &[], &options).is_err());
    let error = explain_points(&map, &columns, &[], &[vec![1.0]], &options).unwrap_err().to_string();
    assert!(error.contains("has 1 values, and the map takes 2"), "{error}");
}

#[test]
fn items_of_lists_are_not_told_beside_texts_and_typical_texts_are_names() {
    let map = map(false);
    let numbers = |name: &str| Column {
        name: name.into(),
        is_date: false,
        values: Values::Numbers((0..ROWS).map(|row| (row % 3) as f64).collect()),
    };
    // The same words everywhere: no keyword sets a cluster apart.
    let texts: Vec<String> =
        (0..ROWS).map(|row| format!("a text that is as long as any other text, {row}")).collect();
    let cells: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    let mut columns =
        vec![numbers("embedding[1]"), numbers("size"), Column::of_cells("text", &cells).unwrap()];
    text_from(&mut columns, None).unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["size", "text"]);
    columns.remove(0);
    let found = explain(&map, &columns, &ExplainOptions::default()).unwrap();
    assert_eq!(found.clusters[0].name, "a text that is as long as any other…");
    assert!(found.clusters.iter().all(|cluster| cluster.is_named()));
}

#[test]
fn clusters_of_the_same_words_are_told_apart_by_a_column() {
    // Six blobs; two have the same words each, and differ in size.
    let mut random = Random::new(5);
    let places: Vec<f32> = (0..ROWS)
        .flat_map(|row| [20.0 * (row % 6) as f64 + random.gaussian(), random.gaussian()])
        .map(|value| value as f32)
        .collect();
    let places = Matrix::new(ROWS, 2, places).unwrap();
    let map = Fit::default().adopt(Rows::from(places.clone()), places, &mut ignore).unwrap();
    let words = ["granite basalt slate gneiss", "willow poplar alder maple", "falcon heron swift crane"];
    let texts: Vec<String> = (0..ROWS).map(|row| format!("{} in line {row}", words[row % 3])).collect();
    let cells: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    let size = (0..ROWS).map(|row| (row / 3 % 2) as f64 * 9.0 + (row % 4) as f64).collect();
    let mut columns = vec![
        Column { name: "size".into(), is_date: false, values: Values::Numbers(size) },
        Column::of_cells("text", &cells).unwrap(),
    ];
    text_from(&mut columns, None).unwrap();
    let found = explain(&map, &columns, &options(ClusterSource::Density)).unwrap();
    for blob in 0..6 {
        let cluster = &found.clusters[found.levels[found.usual][blob].unwrap() as usize];
        let size = if blob < 3 { "low size" } else { "high size" };
        let parts: Vec<&str> = cluster.name.split(", ").collect();
        assert!(parts.len() == 4 && parts.contains(&size), "{}", cluster.name);
    }
}

#[test]
fn a_label_that_not_nearly_all_rows_have_is_named_with_its_share() {
    let labels = |odd: usize| -> Vec<String> {
        (0..ROWS)
            .map(|row| if row / 3 % odd == 0 { "other" } else { ["elm", "oak", "fir"][row % 3] }.to_owned())
            .collect()
    };
    for (odd, expected) in [(10, "oak"), (3, "oak 67 %")] {
        let labelled = map_with(Some(labels(odd)));
        let found = explain(&labelled, &[], &options(ClusterSource::Density)).unwrap();
        let cluster = &found.clusters[found.levels[found.usual][1].unwrap() as usize];
        assert_eq!(cluster.name, expected);
    }
}

#[test]
fn the_part_that_tells_names_apart_goes_first() {
    let map = map(false);
    let numbers = |name: &str, values: [f64; 3], share: f64| {
        let value = |row: usize| if (row / 3) as f64 % 10.0 < 10.0 * share { values[row % 3] } else { 1.0 };
        Column { name: name.into(), is_date: false, values: Values::Numbers((0..ROWS).map(value).collect()) }
    };
    // Two clusters differ most by the same column, and then by others.
    let columns = [
        numbers("income", [5.0, 5.0, 0.0], 1.0),
        numbers("age", [9.0, 1.0, 1.0], 0.5),
        numbers("size", [1.0, 9.0, 1.0], 0.5),
    ];
    let found = explain(&map, &columns, &ExplainOptions::default()).unwrap();
    let name = |row: usize| found.clusters[found.levels[found.usual][row].unwrap() as usize].name.as_str();
    assert_eq!((name(0), name(1)), ("high age, high income", "high size, high income"));
}

#[test]
fn means_are_told_where_medians_contradict_the_effect() {
    let map = map(false);
    // Most rows have 0 everywhere; in one cluster some have much.
    let value = |row: usize| if row % 3 == 1 && row.is_multiple_of(4) { 8.0 } else { 0.0 };
    let columns = [Column {
        name: "affairs".into(),
        is_date: false,
        values: Values::Numbers((0..ROWS).map(value).collect()),
    }];
    let rows: Vec<u32> = (0..ROWS as u32).filter(|row| row % 3 == 1).collect();
    let found = explain_selection(&map, &columns, &rows, &ExplainOptions::default()).unwrap();
    let summary = ExplainSummary::of_selection(&map, &found);
    assert_eq!(summary.clusters[0].columns[0].words, "2 against 0 on average");
}
