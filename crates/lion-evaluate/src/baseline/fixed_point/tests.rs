use super::*;
use crate::baseline::testing::{plain_shares, same_everywhere};
use crate::joined::tests::{clusters, newcomers, rows_of};

#[test]
fn places_are_fixed_points_reached_from_the_nearest_row() {
    for dims in [1, 2, 3] {
        let (x, y) = clusters(150, 6, dims, 2);
        let new = newcomers(&x);
        let training = Training { x: &x, y: &y, perplexity: 12.0, seed: 0 };
        let places = FixedPoint::new(&training).places(&new).unwrap();
        for (found, row) in rows_of(&places).into_iter().zip(rows_of(&new)) {
            let near = plain_shares(&x, row, 36, 12.0);
            let at = |i: usize, d: usize| f64::from(y.row(i)[d]);
            let mut place: Vec<f64> = (0..dims).map(|d| at(near[0].0, d)).collect();
            for _ in 0..2000 {
                let w =
                    |i: usize| 1.0 / (1.0 + (0..dims).map(|d| (place[d] - at(i, d)).powi(2)).sum::<f64>());
                let total: f64 = near.iter().map(|&(i, share)| share * w(i)).sum();
                place = (0..dims)
                    .map(|d| near.iter().map(|&(i, share)| share * w(i) * at(i, d)).sum::<f64>() / total)
                    .collect();
            }
            for (&found, truth) in found.iter().zip(place) {
                assert!((f64::from(found) - truth).abs() < 1e-4 * (1.0 + truth.abs()), "{found} for {truth}");
            }
        }
    }
}

#[test]
fn a_place_depends_on_its_row_alone() {
    let (x, y) = clusters(100, 5, 2, 1);
    let training = Training { x: &x, y: &y, perplexity: 10.0, seed: 0 };
    same_everywhere(&x, || FixedPoint::new(&training));
}

#[test]
fn one_place_for_all_rows_and_maps_of_few() {
    for rows in [1, 2, 3, 20] {
        let (x, _) = clusters(rows, 5, 2, 1);
        let y = Matrix::new(rows, 2, vec![7.0; 2 * rows]).unwrap();
        let training = Training { x: &x, y: &y, perplexity: 5.0, seed: 0 };
        let places = FixedPoint::new(&training).places(&x).unwrap();
        assert!(places.data().iter().all(|&v| (v - 7.0).abs() < 1e-6), "{:?}", places.data());
    }
}
