//! Maps of landmarks, from the table to the file.

use crate::common::{TestRandom, clusters, paper};
use lion_tsne::landmarks::{LandmarkOptions, Landmarks, UncoveredCounter};
use lion_tsne::{Fit, Lion, Map, Matrix, PcaChoice, Rows, ignore};

/// 6000 rows in five heaps and, one in a hundred, anywhere.
fn table() -> Rows {
    let mut data = clusters(6000, 8, 5, 6.0, 3);
    let mut numbers = TestRandom::new(8);
    for row in data.data_mut().chunks_exact_mut(8).step_by(100) {
        row.iter_mut().for_each(|value| *value = (numbers.uniform() * 60.0 - 30.0) as f32);
    }
    let labels = (0..6000).map(|row| format!("heap {}", if row % 100 == 0 { 9 } else { row % 5 }));
    let ids = (0..6000).map(|row| format!("row {row}"));
    Rows { data, ids: Some(ids.collect()), labels: Some(labels.collect()) }
}

fn some(rows: &Rows, which: &[u32]) -> Rows {
    let names = |names: &Option<Vec<String>>| {
        names.as_ref().map(|names| which.iter().map(|&row| names[row as usize].clone()).collect())
    };
    Rows { data: rows.data.select(which), ids: names(&rows.ids), labels: names(&rows.labels) }
}

fn fit() -> Fit {
    Fit { perplexity: Some(10.0), iterations: Some(60), pca: PcaChoice::None, ..Fit::default() }
}

fn map_of(fit: &Fit, options: LandmarkOptions, rows: &Rows, order: &[u32], part: usize) -> Map {
    let mut landmarks = Landmarks::new(options).unwrap();
    order.chunks(part).for_each(|part| landmarks.add(some(rows, part)).unwrap());
    fit.run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap()
}

#[test]
fn the_file_does_not_depend_on_parts_order_or_threads() {
    let rows = table();
    let in_order: Vec<u32> = (0..6000).collect();
    let mut mixed = in_order.clone();
    let mut numbers = TestRandom::new(4);
    (1..6000).rev().for_each(|i| mixed.swap(i, (numbers.uniform() * (i + 1) as f64) as usize));
    for (stratified, cover, pca) in
        [(false, false, None), (true, true, None), (false, true, Some(PcaChoice::Components(5)))]
    {
        let map = |threads: usize, order: &[u32], part: usize| {
            let fit = Fit { threads, pca: pca.unwrap_or(PcaChoice::None), ..fit() };
            let options = LandmarkOptions { stratified, cover, ..fit.landmarks(300) };
            map_of(&fit, options, &rows, order, part).to_bytes().unwrap()
        };
        let whole = map(1, &in_order, 6000);
        assert!(whole == map(2, &in_order, 700), "{stratified} {cover} {pca:?}");
        assert!(whole == map(3, &in_order, 4096), "{stratified} {cover} {pca:?}");
        assert!(whole == map(2, &mixed, 1111), "{stratified} {cover} {pca:?}");
    }
}

#[test]
fn what_is_beyond_is_counted_and_kept() {
    let (rows, fit) = (table(), fit());
    let in_order: Vec<u32> = (0..6000).collect();
    for (stratified, cover) in [(false, false), (true, false), (false, true), (true, true)] {
        let options = LandmarkOptions { stratified, cover, ..fit.landmarks(300) };
        let map = map_of(&fit, options, &rows, &in_order, 4096);
        let from = map.provenance().sampled_from.unwrap();
        // All other rows are witnesses: what they say is exact.
        let counter = UncoveredCounter::new(&map, 2).unwrap();
        let counted = counter.count(&rows.data).unwrap();
        assert_eq!((from.uncovered, from.rows, from.judged), (counted, 6000, 5700), "{stratified} {cover}");
        // Of strangers that have a label of their own, nearly all are landmarks where labels share them out.
        assert!(from.is_exact() && (counted > 0 || stratified) && from.stratified == stratified);
        assert!(stratified || cover == (from.covering > 0));
        // And it is what a full search says.
        let lion = Lion::new(map.clone(), &paper()).unwrap();
        let alone = |&row: &u32| {
            let near = lion.nearest(rows.data.row(row as usize), 1).unwrap();
            f64::from(near[0].1) > lion.r_x()
        };
        assert_eq!(in_order.iter().filter(|row| alone(row)).count() as u64, counted);
        let again = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
        assert_eq!(again.provenance(), map.provenance());
        assert_eq!(again, map);
    }
    let whole = fit.run(some(&rows, &in_order[..300]), &mut ignore).unwrap();
    assert!(whole.provenance().sampled_from.is_none() && whole.with_beyond(3).is_err());
}

#[test]
fn cover_leaves_less_out_and_r_x_as_it_is() {
    let (rows, fit) = (table(), fit());
    let in_order: Vec<u32> = (0..6000).collect();
    let map =
        |cover: bool| map_of(&fit, LandmarkOptions { cover, ..fit.landmarks(300) }, &rows, &in_order, 4096);
    let (plain, covered) = (map(false), map(true));
    let [without, with] = [&plain, &covered].map(|map| map.provenance().sampled_from.unwrap());
    assert!(with.covering >= 10 && with.uncovered < without.uncovered, "{with:?} {without:?}");
    // Rows that were taken because they are far from others do not widen the radius, nor what counts as strange.
    let [r_x, covered_r_x] = [&plain, &covered].map(|map| map.lion().unwrap().r_x);
    assert!((covered_r_x / r_x - 1.0).abs() < 0.1, "{r_x} {covered_r_x}");
    let lion = Lion::new(covered, &paper()).unwrap();
    assert_eq!(lion.r_x(), covered_r_x);
}

/// 60000 rows of which half of the others are witnesses cannot be told exactly.
#[test]
fn the_estimate_holds_the_truth() {
    let fit = Fit { iterations: Some(5), ..fit() };
    for seed in 1..=3 {
        let mut data = clusters(250_000, 3, 4, 5.0, seed);
        let mut numbers = TestRandom::new(seed);
        for row in data.data_mut().chunks_exact_mut(3).step_by(50) {
            row.iter_mut().for_each(|value| *value = (numbers.uniform() * 100.0 - 50.0) as f32);
        }
        let mut landmarks = Landmarks::new(fit.landmarks(200)).unwrap();
        landmarks.add(data.clone().into()).unwrap();
        let map = fit.run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap();
        let from = map.provenance().sampled_from.unwrap();
        let counted = UncoveredCounter::new(&map, 0).unwrap().count(&data).unwrap();
        assert_eq!((from.rows, from.judged), (250_000, 100_000));
        // Twice what holds 95 times in 100.
        assert!(from.uncovered.abs_diff(counted) <= 2 * from.uncovered_error, "{from:?} {counted}");
        assert!(from.uncovered_error > 0 && from.uncovered_error < from.uncovered / 5, "{from:?}");
        let exact = map.with_beyond(counted).unwrap().provenance().sampled_from.unwrap();
        assert!(exact.is_exact() && exact.uncovered == counted);
    }
}

#[test]
fn all_rows_of_a_small_table_are_landmarks() {
    let rows = some(&table(), &(0..100).collect::<Vec<_>>());
    let fit = Fit { iterations: Some(5), ..fit() };
    let options = LandmarkOptions { cover: true, stratified: true, ..fit.landmarks(1000) };
    let map = map_of(&fit, options, &rows, &(0..100).collect::<Vec<_>>(), 7);
    let from = map.provenance().sampled_from.unwrap();
    assert_eq!((map.rows(), from.rows, from.uncovered, from.judged, from.covering), (100, 100, 0, 0, 0));
    assert!(from.is_exact());
}

#[test]
fn bad_rows_are_named_within_their_part() {
    let cosine = Fit { metric: lion_tsne::Metric::Cosine, ..fit() };
    let add = |fit: &Fit, values: Vec<f32>| {
        let rows = Matrix::new(values.len() / 2, 2, values).unwrap();
        Landmarks::new(fit.landmarks(10)).unwrap().add(rows.into()).unwrap_err().to_string()
    };
    assert!(add(&fit(), vec![1.0, 2.0, 3.0, f32::INFINITY]).starts_with("row 1, column 1 is inf"));
    assert!(add(&fit(), vec![1.0, 2.0, 3e20, 1.0]).starts_with("row 1, column 0 is 3e20"));
    assert!(add(&cosine, vec![1.0, 2.0, 0.0, 0.0]).starts_with("row 1 is all zeros"));
}
