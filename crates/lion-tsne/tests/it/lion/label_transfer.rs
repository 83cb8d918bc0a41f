//! Labels of placed rows: whose they are, that they do not depend on other rows, and that their shares keep what they say.

use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Lion, LionOptions, Local, Map, Matrix, Placement, Rows, Verdict, ignore};

/// Rows of two overlapping clouds in three columns, and the cloud of each.
fn clouds(rows: usize, seed: u64) -> (Matrix, Vec<String>) {
    let mut random = Random::new(seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let cloud = random.below(2);
        let centre = [0.0, 2.0][cloud];
        values.extend((0..3).map(|_| (centre + random.gaussian()) as f32));
        labels.push(["low", "high"][cloud].to_owned());
    }
    (Matrix::new(rows, 3, values).unwrap(), labels)
}

/// A map whose places are the first two columns.
fn flat(data: Matrix, labels: Option<Vec<String>>) -> Map {
    let places = (0..data.rows()).flat_map(|row| data.row(row)[..2].to_vec()).collect();
    let places = Matrix::new(data.rows(), 2, places).unwrap();
    Fit::default().adopt(Rows { data, ids: None, labels }, places, &mut ignore).unwrap()
}

fn lion(map: &Map, options: LionOptions) -> Lion {
    Lion::new(map.clone(), &LionOptions { threads: 2, ..options }).unwrap()
}

/// How many of the labelled rows with a share in this range are right, and what their shares say.
fn told_and_right(placed: &[Placement], truth: &[String], low: f64, high: f64) -> (f64, f64, usize) {
    let among = placed.iter().zip(truth).filter_map(|(placement, truth)| {
        let share = placement.label_share.filter(|share| (low..high).contains(share))?;
        Some((share, f64::from(u8::from(placement.label.as_deref() == Some(truth)))))
    });
    let rows: Vec<(f64, f64)> = among.collect();
    let sum = |of: fn(&(f64, f64)) -> f64| rows.iter().map(of).sum::<f64>() / rows.len().max(1) as f64;
    (sum(|row| row.0), sum(|row| row.1), rows.len())
}

#[test]
fn shares_are_kept_by_rows_that_the_map_has_not_seen() {
    let (data, labels) = clouds(3000, 1);
    let map = flat(data, Some(labels));
    let (new, truth) = clouds(4000, 2);
    for local in [Local::Energy, Local::Idw] {
        let placed = lion(&map, LionOptions { local, ..LionOptions::default() }).place(&new).unwrap();
        for (low, high) in [(0.5, 0.8), (0.8, 0.95), (0.95, 1.01)] {
            let (told, right, rows) = told_and_right(&placed, &truth, low, high);
            // Three standard errors of so many rows, and a little for those that calibrate.
            let error = 3.0 * (told * (1.0 - told) / rows.max(1) as f64).sqrt() + 0.015;
            assert!(
                rows < 30 || (told - right).abs() < error,
                "{local}: {told} told, {right} right of {rows}"
            );
        }
        let (_, right, labelled) = told_and_right(&placed, &truth, 0.0, 2.0);
        // The best there is, for clouds 2 √3 apart, is 95.8 %.
        assert!(right > 0.93 && labelled > 3900, "{local}: {right} of {labelled}");
    }
}

#[test]
fn a_row_has_the_same_label_alone_and_among_others() {
    let (data, labels) = clouds(400, 3);
    let map = flat(data, Some(labels));
    let (new, _) = clouds(60, 4);
    for local in Local::ALL {
        let lion = lion(&map, LionOptions { local, ..LionOptions::default() });
        let together = lion.place(&new).unwrap();
        for (row, placed) in together.iter().enumerate() {
            let alone = lion.place_row(new.row(row)).unwrap();
            assert_eq!(alone.label, placed.label);
            assert_eq!(alone.label_share.map(f64::to_bits), placed.label_share.map(f64::to_bits));
        }
        let one_thread =
            Lion::new(map.clone(), &LionOptions { local, threads: 1, ..LionOptions::default() }).unwrap();
        assert_eq!(one_thread.place(&new).unwrap(), together);
    }
}

#[test]
fn outliers_have_no_label_unless_they_are_spared() {
    let (data, labels) = clouds(400, 5);
    let map = flat(data, Some(labels));
    let (ordinary, _) = clouds(300, 6);
    let rows: Vec<f32> = ordinary.data().iter().copied().chain([90.0, -70.0, 40.0]).collect();
    let rows = Matrix::new(301, 3, rows).unwrap();
    let wide = LionOptions { alpha: Some(0.2), ..LionOptions::default() };
    // The least p-value of 400 rows is 1 / 401, which a smaller rate would not let pass.
    let strict = LionOptions { fdr: Some(0.9), ..wide };
    let is_labelled = |placed: &Placement| {
        assert_eq!(placed.label.is_some(), placed.label_share.is_some());
        placed.label.is_some()
    };
    let plain = lion(&map, wide).place(&rows).unwrap();
    let spared = lion(&map, strict).place(&rows).unwrap();
    for placed in plain.iter().chain(&spared) {
        let is_known = matches!(placed.verdict, Verdict::Exact | Verdict::Interpolated);
        assert_eq!(is_labelled(placed), is_known, "{placed:?}");
    }
    let changed = plain.iter().zip(&spared).filter(|(a, b)| a.label.is_none() && b.label.is_some()).count();
    assert!(changed > 20 && spared[300].verdict == Verdict::Outlier, "{changed}");
}

#[test]
fn rows_of_the_map_have_their_own_label_and_those_without_get_one() {
    let (data, mut labels) = clouds(300, 7);
    // Row 0 has none; rows 10 and 11 are made equal to each other and disagree.
    labels[0].clear();
    let mut values = data.data().to_vec();
    values.copy_within(30..33, 33);
    (labels[10], labels[11]) = ("low".into(), "high".into());
    let data = Matrix::new(300, 3, values).unwrap();
    // A fit gives equal rows one place.
    let fit = Fit { iterations: Some(20), exaggeration_iterations: Some(10), ..Fit::default() };
    let rows = Rows { data: data.clone(), ids: None, labels: Some(labels.clone()) };
    let map = fit.run(rows, &mut ignore).unwrap();
    let placed = lion(&map, LionOptions::default()).place(&data).unwrap();
    for row in (1..300).filter(|row| !(10..12).contains(row)) {
        assert_eq!(placed[row].verdict, Verdict::Exact);
        assert_eq!((placed[row].label.as_deref(), placed[row].label_share), (Some(&*labels[row]), Some(1.0)));
    }
    assert_eq!(placed[10].label_share, Some(0.5));
    assert!(placed[0].label.is_some(), "its neighbours have labels");
    assert!(placed[0].label_share.is_some_and(|share| share < 1.0));
}

#[test]
fn maps_without_labels_give_none_and_the_same_places() {
    let (data, labels) = clouds(200, 8);
    let (new, _) = clouds(50, 9);
    let plain = lion(&flat(data.clone(), None), LionOptions::default()).place(&new).unwrap();
    assert!(plain.iter().all(|placed| placed.label.is_none() && placed.label_share.is_none()));
    let labelled = lion(&flat(data.clone(), Some(labels)), LionOptions::default()).place(&new).unwrap();
    for (plain, labelled) in plain.iter().zip(labelled) {
        assert_eq!(plain, &Placement { label: None, label_share: None, ..labelled });
    }
    // A map all of whose labels are empty has none.
    let empty =
        lion(&flat(data, Some(vec![String::new(); 200])), LionOptions::default()).place(&new).unwrap();
    assert_eq!(empty, plain);
}
