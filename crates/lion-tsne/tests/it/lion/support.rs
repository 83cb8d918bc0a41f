//! Maps and rows to place, and the library's answers beside those of the plain version.

use super::oracle;
use crate::common::TestRandom;
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, Placement, Verdict, ignore};

/// Rows of numbers as a matrix.
pub(super) fn matrix(rows: &[Vec<f64>]) -> Matrix {
    let cols = rows.first().map_or(0, Vec::len);
    Matrix::new(rows.len(), cols, rows.iter().flatten().map(|&v| v as f32).collect()).expect("sizes agree")
}

/// A matrix as rows of numbers.
pub(super) fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.rows()).map(|i| wide(matrix.row(i))).collect()
}

pub(super) fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&v| f64::from(v)).collect()
}

pub(super) fn narrow(row: &[f64]) -> Vec<f32> {
    row.iter().map(|&v| v as f32).collect()
}

/// Takes these places as the map of these rows, without PCA.
pub(super) fn adopt(x: &[Vec<f64>], y: &[Vec<f64>]) -> Map {
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    fit.adopt(matrix(x), matrix(y), &mut ignore).expect("a map")
}

pub(super) fn lion(map: &Map, options: &LionOptions) -> Lion {
    Lion::new(map.clone(), options).expect("a map ready for placing")
}

/// What a random map is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clustered {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) dims: usize,
    /// Rows that are far from all others.
    pub(super) lonely: usize,
    pub(super) seed: u64,
}

const CLUSTERS: usize = 5;

impl Clustered {
    /// Rows in clusters but for a few lonely ones, and places in clusters too.
    pub(super) fn parts(self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let mut numbers = TestRandom::new(self.seed);
        let mut points = |cols: usize, apart: f64| -> Vec<Vec<f64>> {
            let mut random =
                |scale: f64| -> Vec<f64> { (0..cols).map(|_| numbers.gaussian() * scale).collect() };
            let centres: Vec<Vec<f64>> = (0..CLUSTERS).map(|_| random(apart)).collect();
            let clustered = (0..self.rows - self.lonely).map(|i| {
                let (centre, around) = (&centres[i % CLUSTERS], random(1.0));
                centre.iter().zip(&around).map(|(a, b)| a + b).collect()
            });
            let mut points: Vec<Vec<f64>> = clustered.collect();
            points.extend((0..self.lonely).map(|_| random(20.0 * apart)));
            points
        };
        let x = points(self.cols, 2.0);
        let y = points(self.dims, 6.0);
        // As the library holds them.
        (rows(&matrix(&x)), rows(&matrix(&y)))
    }

    pub(super) fn map(self) -> Map {
        let (x, y) = self.parts();
        adopt(&x, &y)
    }
}

/// Rows of every kind to place into this map: beside a row, between two, beyond a row, far away, in no order.
pub(super) fn queries(map: &Map, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let x = rows(map.x());
    let near = oracle::percentile(&oracle::nearest_distances(&x), 50.0);
    let mut numbers = TestRandom::new(seed ^ 0x5eed);
    let any = |numbers: &mut TestRandom| x[(numbers.uniform() * x.len() as f64) as usize].clone();
    let mut query = |i: usize| -> Vec<f64> {
        let (one, other) = (any(&mut numbers), any(&mut numbers));
        let step = [0.1, 0.5, 0.0, 1.0, 30.0][i % 5] * near / (one.len() as f64).sqrt();
        let share = if i % 5 == 2 { numbers.uniform() } else { 0.0 };
        let mix = |(a, b): (&f64, &f64)| a + share * (b - a) + numbers.gaussian() * step;
        one.iter().zip(&other).map(mix).collect()
    };
    let queries: Vec<Vec<f64>> = (0..count).map(&mut query).collect();
    rows(&matrix(&queries))
}

/// Whether some row is so close to the radius that rounding to 32 bits decides on which side it is.
pub(super) fn on_the_edge(x: &[f64], rows: &[Vec<f64>], r_x: f64) -> bool {
    rows.iter().any(|row| (oracle::distance(x, row) / r_x - 1.0).abs() < 1e-5)
}

/// The longest side of the map.
pub(super) fn extent(places: &[Vec<f64>]) -> f64 {
    let side = |d: usize| {
        let along = || places.iter().map(|y| y[d]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    (0..places[0].len()).map(side).fold(0.0, f64::max)
}

pub(super) fn place_of(placement: &Placement) -> Vec<f64> {
    wide(&placement.place)
}

pub(super) fn same(verdict: Verdict, truth: oracle::OracleVerdict) -> bool {
    match truth {
        oracle::OracleVerdict::Exact => verdict == Verdict::Exact,
        oracle::OracleVerdict::Interpolated => verdict == Verdict::Interpolated,
        oracle::OracleVerdict::BesideOutlier => verdict == Verdict::BesideOutlier,
        oracle::OracleVerdict::Outlier => verdict == Verdict::Outlier,
    }
}

/// `count` outliers of these rows: farther from every row and from each other than `apart`.
pub(super) fn strangers(x: &[Vec<f64>], count: usize, apart: f64) -> Vec<Vec<f64>> {
    let cols = x[0].len();
    let reach = x.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
    let side = (count as f64).powf(1.0 / cols as f64).ceil() as usize;
    let at = |i: usize, d: usize| 2.0 * reach + 3.0 * apart * (1 + i / side.pow(d as u32) % side) as f64;
    let strangers: Vec<Vec<f64>> = (0..count).map(|i| (0..cols).map(|d| at(i, d)).collect()).collect();
    rows(&matrix(&strangers))
}

/// The numbers 0 to `count` in a random order.
pub(super) fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut numbers = TestRandom::new(seed);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for i in (1..count).rev() {
        order.swap(i, (numbers.uniform() * (i + 1) as f64) as usize);
    }
    order
}
