//! For tests: small maps, and functions through their places worked out in plain `f64`.

use super::{Baseline, BuiltBaseline};
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Map, Matrix, PcaChoice, ignore};

/// A matrix of these rows.
pub(super) fn matrix<const K: usize>(rows: &[[f32; K]]) -> Matrix {
    Matrix::new(rows.len(), K, rows.concat()).unwrap()
}

/// Rows at random, in clusters.
pub(super) fn rows(count: usize, cols: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let centres: Vec<f64> = (0..4 * cols).map(|_| 3.0 * random.gaussian()).collect();
    let value = |at: usize| (centres[at / cols % 4 * cols + at % cols] + random.gaussian()) as f32;
    Matrix::new(count, cols, (0..count * cols).map(value).collect()).unwrap()
}

/// The map of rows at these places.
pub(super) fn map(x: &Matrix, y: &Matrix) -> Map {
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    fit.adopt(x.clone(), y.clone(), &mut ignore).unwrap()
}

pub(super) fn built(baseline: Baseline, map: &Map) -> BuiltBaseline {
    baseline.build(map, 0, &mut ignore).unwrap()
}

pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>().sqrt()
}

/// The solution of a system of rows by elimination, the largest pivot of each column first.
pub(super) fn eliminate(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.unwrap());
        right.swap(column, pivot.unwrap());
        for below in column + 1..n {
            let factor = rows[below][column] / rows[column][column];
            for k in column..n {
                rows[below][k] -= factor * rows[column][k];
            }
            right[below] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| rows[row][k] * right[k]).sum();
        right[row] = (right[row] - known) / rows[row][row];
    }
    right
}

/// What a function through all places gives for a row: `values` are those of its basis at any row.
pub(super) fn interpolate(
    x: &Matrix,
    y: &Matrix,
    values: impl Fn(&[f32]) -> Vec<f64>,
    row: &[f32],
) -> Vec<f64> {
    let equations: Vec<Vec<f64>> = (0..x.rows()).map(|i| values(x.row(i))).collect();
    let place = |d: usize| {
        let targets = (0..x.rows()).map(|i| f64::from(y.row(i)[d])).collect();
        let coefficients = eliminate(equations.clone(), targets);
        values(row).iter().zip(&coefficients).map(|(v, c)| v * c).sum()
    };
    (0..y.cols()).map(place).collect()
}

/// The places of rows are the same bits by any number of threads, and alone.
pub(super) fn same_bits_always(baseline: Baseline, map: &Map, rows: &Matrix) {
    let places = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| built(baseline, map).place(rows).unwrap())
    };
    let one = places(1);
    assert_eq!(one, places(2), "{baseline}");
    assert_eq!(one, places(3), "{baseline}");
    let ready = built(baseline, map);
    for i in 0..rows.rows() {
        let alone = Matrix::new(1, rows.cols(), rows.row(i).to_vec()).unwrap();
        assert_eq!(ready.place(&alone).unwrap().row(0), one.row(i), "{baseline}, row {i}");
    }
}

/// Whether all numbers are finite, and what the largest difference is.
pub(super) fn difference(a: &Matrix, b: &Matrix) -> f32 {
    assert!(a.data().iter().all(|v| v.is_finite()));
    a.data().iter().zip(b.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
