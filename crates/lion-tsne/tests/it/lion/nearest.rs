//! The nearest rows of the map, for people who look at one.

use super::support::lion;
use crate::common::{clusters, paper};
use lion_tsne::{Fit, Lion, Map, Matrix, PcaChoice, ignore};

fn ready(x: Matrix) -> Lion {
    let places =
        Matrix::new(x.rows(), 2, (0..x.rows()).flat_map(|i| x.row(i)[..2].to_vec()).collect()).unwrap();
    let map = Fit { pca: PcaChoice::None, ..Fit::default() }.adopt(x, places, &mut ignore).unwrap();
    lion(&map, &paper())
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}

/// The distances of all rows, nearest first.
fn all(map: &Map, row: &[f32]) -> Vec<f64> {
    let mut distances: Vec<f64> = (0..map.x().rows()).map(|i| distance(map.x().row(i), row)).collect();
    distances.sort_by(f64::total_cmp);
    distances
}

#[test]
fn none_is_missed() {
    // The second map is searched by cells.
    for rows in [200, 11_000] {
        let lion = ready(clusters(rows, 4, 6, 3.0, 1));
        let asked = clusters(20, 4, 6, 3.0, 9);
        for query in asked.data().chunks_exact(4) {
            let near = lion.nearest(query, 7).unwrap();
            let truth = all(lion.map(), query);
            assert_eq!(near.len(), 7);
            for (&(row, told), truth) in near.iter().zip(truth) {
                let is = distance(lion.map().x().row(row as usize), query);
                assert!(
                    (is - truth).abs() <= 1e-4 * truth && (f64::from(told) - is).abs() <= 1e-4 * is + 1e-6
                );
            }
        }
    }
}

#[test]
fn a_row_of_the_map_is_not_near_itself() {
    let lion = ready(clusters(30, 3, 2, 4.0, 2));
    for row in [0, 20] {
        let near = lion.nearest_of(row, 5).unwrap();
        assert_eq!(near.len(), 5);
        assert!(near.iter().all(|&(other, distance)| other as usize != row && distance > 0.0));
    }
    let (other, distance) = lion.nearest(&[0.0, 0.0, 0.0], 1).unwrap()[0];
    assert!((other as usize) < 30 && distance > 0.0);
    assert_eq!(lion.nearest_of(3, 100).unwrap().len(), 29);
    assert!(lion.nearest_of(3, 0).unwrap().is_empty());
    assert!(lion.nearest_of(30, 1).is_err() && lion.nearest(&[1.0], 1).is_err());
    assert!(lion.nearest(&[f32::NAN, 0.0, 0.0], 1).is_err());
}
