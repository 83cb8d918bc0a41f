use super::*;
use crate::baseline::testing::{plain_shares, same_everywhere};
use crate::joined::tests::{clusters, newcomers, rows_of};

fn plain(x: &Matrix, y: &Matrix, row: &[f32], start: OpenTsneStart) -> Vec<f64> {
    let (near, dims) = (plain_shares(x, row, 15, 5.0), y.cols());
    let at = |i: usize, d: usize| f64::from(y.row(i)[d]);
    let mut place: Vec<f64> = (0..dims)
        .map(|d| match start {
            OpenTsneStart::Weighted => near.iter().map(|&(i, share)| share * at(i, d)).sum(),
            OpenTsneStart::Median => {
                let mut values: Vec<f64> = near.iter().map(|&(i, _)| at(i, d)).collect();
                values.sort_by(f64::total_cmp);
                values[7]
            }
        })
        .collect();
    let (mut step, mut gain) = (vec![0.0f64; dims], vec![1.0f64; dims]);
    for _ in 0..250 {
        let q = |i: usize| 1.0 / (1.0 + (0..dims).map(|d| (place[d] - at(i, d)).powi(2)).sum::<f64>());
        let z: f64 = (0..y.rows()).map(q).sum();
        let mut gradient: Vec<f64> = (0..dims)
            .map(|d| {
                let pull: f64 =
                    near.iter().map(|&(i, share)| 1.5 * share * q(i) * (place[d] - at(i, d))).sum();
                pull - (0..y.rows()).map(|i| q(i) * q(i) / z * (place[d] - at(i, d))).sum::<f64>()
            })
            .collect();
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if length + 1e-6 > 0.25 {
            gradient.iter_mut().for_each(|g| *g *= 0.25 / (length + 1e-6));
        }
        for d in 0..dims {
            let same = step[d] * gradient[d] > 0.0 || step[d] == 0.0 && gradient[d] == 0.0;
            gain[d] = if same { 0.8 * gain[d] + 0.01 } else { gain[d] + 0.2 };
            step[d] = 0.8 * step[d] - 0.1 * gain[d] * gradient[d];
            place[d] += step[d];
        }
    }
    place
}

#[test]
fn places_are_those_of_a_plain_descent() {
    for dims in [1, 2, 3] {
        let (x, y) = clusters(150, 6, dims, 2);
        let new = newcomers(&x);
        for start in [OpenTsneStart::Median, OpenTsneStart::Weighted] {
            let training = Training { x: &x, y: &y, perplexity: 30.0, seed: 0 };
            let places = OpenTsne::new(&training, start).places(&new).unwrap();
            for (place, row) in rows_of(&places).into_iter().zip(rows_of(&new)) {
                let truth = plain(&x, &y, row, start);
                for (&found, truth) in place.iter().zip(truth) {
                    assert!(
                        (f64::from(found) - truth).abs() < 1e-4 * (1.0 + truth.abs()),
                        "{found} for {truth}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_place_depends_on_its_row_alone() {
    let (x, y) = clusters(100, 5, 2, 1);
    let training = Training { x: &x, y: &y, perplexity: 10.0, seed: 0 };
    same_everywhere(&x, || OpenTsne::new(&training, OpenTsneStart::Median));
    same_everywhere(&x, || OpenTsne::new(&training, OpenTsneStart::Weighted));
}

#[test]
fn maps_of_few_rows() {
    for rows in 1..6 {
        let (x, y) = clusters(rows, 5, 2, 1);
        let training = Training { x: &x, y: &y, perplexity: 1.0, seed: 0 };
        let places = OpenTsne::new(&training, OpenTsneStart::Median).places(&x).unwrap();
        assert!(places.data().iter().all(|v| v.is_finite()), "{rows} rows: {:?}", places.data());
    }
}
