use super::*;
use lion_tsne::numerics::Random;

/// Rows of a line, one apart, in the plane.
fn line(count: usize) -> Matrix {
    Matrix::new(count, 2, (0..count).flat_map(|row| [row as f32, 0.0]).collect()).unwrap()
}

fn random(count: usize, cols: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::new(count, cols, (0..count * cols).map(|_| random.gaussian() as f32).collect()).unwrap()
}

fn changed(places: &Matrix, change: impl Fn([f32; 2]) -> [f32; 2]) -> Matrix {
    let data = (0..places.rows()).flat_map(|row| change([places.row(row)[0], places.row(row)[1]])).collect();
    Matrix::new(places.rows(), 2, data).unwrap()
}

fn labels(count: usize, of: impl Fn(usize) -> &'static str) -> Vec<String> {
    (0..count).map(|row| of(row).to_owned()).collect()
}

/// All rows stayed, and nothing else is told.
fn judged<'a>(rows: &'a Matrix, places: &'a Matrix, old: &'a Matrix, labels: &'a [String]) -> Judged<'a> {
    Judged { rows, places, labels, old_rows: rows, old_places: old, stayed: rows.rows(), arrived: None }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-5
}

#[test]
fn the_same_places_have_not_moved() {
    let (rows, places) = (random(60, 5, 1), random(60, 2, 2));
    let labels = labels(60, |_| "a");
    let found = judged(&rows, &places, &places, &labels).metrics().unwrap();
    for name in ["moved", "unchanged"] {
        assert!((0..2).all(|at| near(found[name][at].as_f64().unwrap(), 0.0)), "{name}: {found}");
    }
    assert_eq!((&found["unchanged_share"], &found["label_share"]), (&json!(1.0), &json!(1.0)));
    assert_eq!((&found["in_data"], &found["largest_component"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_similarity_transform_is_no_move() {
    let (rows, old) = (random(60, 5, 1), random(60, 2, 2));
    // Turned by a right angle, mirrored, three times as large, elsewhere.
    let places = changed(&old, |[x, y]| [3.0 * y + 7.0, 3.0 * x - 2.0]);
    let labels = labels(60, |_| "a");
    let moves = judged(&rows, &places, &old, &labels).moves().unwrap();
    assert!(moves.iter().all(|moved| near(*moved, 0.0)), "{moves:?}");
}

#[test]
fn a_move_is_told_in_map_radii() {
    // Four places around the middle, in pairs on opposite sides, so that no similarity transform does better than none.
    let old = Matrix::new(4, 2, vec![2.0, 0.0, -2.0, 0.0, 0.0, 2.0, 0.0, -2.0]).unwrap();
    let places = Matrix::new(4, 2, vec![3.0, 0.0, -3.0, 0.0, 0.0, 1.0, 0.0, -1.0]).unwrap();
    let labels = labels(4, |_| "a");
    // Each is 1 from where it was, and the mean distance from the middle is (3 + 3 + 1 + 1) / 4 = 2.
    let moves = judged(&old, &places, &old, &labels).moves().unwrap();
    assert!(moves.iter().all(|moved| near(*moved, 0.5)), "{moves:?}");
}

#[test]
fn neighbours_that_are_replaced_are_counted() {
    // On a line the ten nearest of row 0 are rows 1 to 10. Row 40 takes the place of row 10 there.
    let old = line(40);
    let mut data = old.data().to_vec();
    data.extend([0.5, 0.0]);
    let rows = Matrix::new(41, 2, data).unwrap();
    let labels = labels(41, |_| "a");
    let judged =
        Judged { old_rows: &old, old_places: &old, stayed: 40, ..judged(&rows, &rows, &old, &labels) };
    let (before, after) = (neighbours(&old, NEAR).unwrap(), neighbours(&rows, NEAR).unwrap());
    let overlaps = judged.overlaps(&before, &after, NEAR);
    // Nine of eleven rows are in both lists.
    assert!(near(overlaps[0], 9.0 / 11.0) && overlaps[39] == 1.0, "{overlaps:?}");
}

#[test]
fn moves_in_the_data_go_with_moves_on_the_map() {
    let old = random(60, 2, 3);
    let labels = labels(60, |_| "a");
    let rows = changed(&old, |[x, y]| if x > 0.5 { [x, y + 4.0 * x] } else { [x, y] });
    let judged = Judged { old_rows: &old, ..judged(&rows, &rows, &old, &labels) };
    let found = judged.metrics().unwrap();
    assert!(found["in_data"]["pearson"].as_f64().unwrap() > 0.5, "{found}");
    let (there, here) = judged.moves_in_data().unwrap();
    assert!(near(found["in_data"]["spearman"].as_f64().unwrap(), spearman(&there, &here).unwrap()));
}

#[test]
fn a_map_that_is_the_data_is_trusted_and_a_random_one_is_not() {
    let rows = random(400, 2, 4);
    let labels = labels(400, |_| "a");
    let good = judged(&rows, &rows, &rows, &labels).metrics().unwrap();
    assert_eq!((&good["trustworthiness"], &good["kept"]), (&json!(1.0), &json!(1.0)));
    let places = random(400, 2, 5);
    let bad = judged(&rows, &places, &rows, &labels);
    let found = bad.trustworthiness(&lists(&nearest_places(&places, NEAR).unwrap())).unwrap();
    assert!((found - plain_trustworthiness(&rows, &places)).abs() < 1e-9 && found < 0.6, "{found}");
}

/// As Venna and Kaski have it, from all distances.
fn plain_trustworthiness(rows: &Matrix, places: &Matrix) -> f64 {
    let ranked = |of: &Matrix, row: usize| {
        let distance = |other: usize| {
            of.row(row).iter().zip(of.row(other)).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
        };
        let mut others: Vec<usize> = (0..of.rows()).filter(|&other| other != row).collect();
        others.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        others
    };
    let (n, k) = (rows.rows(), NEAR);
    let lost = |row: usize| {
        let there = ranked(rows, row);
        let rank = |other: usize| there.iter().position(|&at| at == other).unwrap() + 1;
        ranked(places, row)[..k].iter().map(|&other| rank(other).saturating_sub(k)).sum::<usize>()
    };
    let sum: usize = (0..n).map(lost).sum();
    1.0 - 2.0 / (n * k * (2 * n - 3 * k - 1)) as f64 * sum as f64
}

#[test]
fn a_class_in_two_parts_is_two_components() {
    // Thirty rows of the class on the left, ten on the right, forty others between them.
    let places = line(80);
    let labels = labels(80, |row| if (30..70).contains(&row) { "other" } else { "new" });
    let judged = judged(&places, &places, &places, &labels);
    let near = lists(&nearest_places(&places, NEAR).unwrap());
    assert_eq!(judged.largest_component("new", &near), 0.75);
    assert_eq!(judged.largest_component("other", &near), 1.0);
    assert_eq!(judged.largest_component("nobody", &near), 0.0);
}

#[test]
fn the_label_share_is_of_the_ten_nearest_places() {
    // Two clusters far apart; five rows of the second bear the label of the first.
    let places = changed(&random(60, 2, 6), |[x, y]| [x, y]);
    let places = Matrix::new(
        60,
        2,
        (0..60)
            .flat_map(|row| [places.row(row)[0] + if row < 30 { 0.0 } else { 100.0 }, places.row(row)[1]])
            .collect(),
    )
    .unwrap();
    let whole = labels(60, |row| if row < 30 { "a" } else { "b" });
    let near = lists(&nearest_places(&places, NEAR).unwrap());
    assert_eq!(judged(&places, &places, &places, &whole).label_share(&near, None), 1.0);
    let mixed = labels(60, |row| if row < 35 { "a" } else { "b" });
    let share = judged(&places, &places, &places, &mixed).label_share(&near, None);
    let same: usize = near
        .iter()
        .enumerate()
        .map(|(row, near)| near.iter().filter(|&&other| mixed[other as usize] == mixed[row]).count())
        .sum();
    assert_eq!((share * 600.0).round() as usize, same);
    assert_eq!(judged(&places, &places, &places, &whole).label_share(&near, Some("a")), 1.0);
}

#[test]
fn quantiles_are_values_that_there_are() {
    assert_eq!(quantile(&[5.0, 1.0, 3.0], 0.5), Some(3.0));
    assert_eq!(quantile(&[5.0, 1.0, 3.0], 0.9), Some(5.0));
    assert_eq!(quantile(&[], 0.5), None);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let rows = random(60, 2, 1);
    let (few, labels) = (random(59, 2, 1), labels(60, |_| "a"));
    assert!(judged(&rows, &few, &rows, &labels).metrics().is_err());
    assert!(judged(&rows, &rows, &few, &labels).metrics().is_err());
    assert!(judged(&rows, &rows, &rows, &labels[1..]).metrics().is_err());
    assert!(Judged { stayed: 61, ..judged(&rows, &rows, &rows, &labels) }.metrics().is_err());
    assert!(Judged { stayed: 0, ..judged(&rows, &rows, &rows, &labels) }.metrics().is_err());
}
