//! Coefficients by which a function meets the places of a map's rows: a dense system, solved, and its equations checked.
//!
//! Ours: textbook parts, and the rules that decide when a solution is good enough, when a ridge is added and when to
//! give up.

mod least_squares;
mod lu;

use super::Baseline;
use super::distances::{dot, for_each_row};
use least_squares::least_squares;
use lion_tsne::memory::check_memory;
use lion_tsne::numerics::vectorized;
use lion_tsne::{Error, Matrix, Observer, Progress, Result, Stage};
use lu::Lu;

/// The equations hold if no place is missed by more than this share of the map's extent: places are no finer.
const SMALL: f64 = 1e-6;
/// Up to this share they are left as they are, and it is said: any ridge would miss places by more.
const TOLERABLE: f64 = 1e-3;
/// Ridges that are tried in turn where the equations do not hold, as shares of the system's norm. Squares of smaller ones
/// are lost to rounding.
const RIDGES: [f64; 4] = [1e-7, 1e-6, 1e-5, 1e-4];
/// A function that misses places by this share of their own spread says nothing of them.
const HOPELESS: f64 = 0.9;

/// A system of one equation for each row of a map.
pub(super) struct System<F: Fn(usize, &mut [f64]) + Sync> {
    /// Whose it is.
    pub(super) name: Baseline,
    /// How many rows.
    pub(super) rows: usize,
    /// Fills in the coefficients of an equation, of which there is one for each row.
    pub(super) equation: F,
}

/// What solves a system.
pub(super) struct Solution {
    /// For each dimension of the map, one for each row.
    pub(super) coefficients: Vec<f64>,
    /// What a person should know of them.
    pub(super) notes: Vec<String>,
}

impl<F: Fn(usize, &mut [f64]) + Sync> System<F> {
    /// Solves for places `y`. Where the equations are singular to rounding, by least squares with the least ridge that
    /// makes that possible.
    pub(super) fn solve(&self, y: &Matrix, observer: &mut Observer<'_>) -> Result<Solution> {
        let n = self.rows;
        let targets: Vec<f64> =
            (0..y.cols()).flat_map(|d| (0..n).map(move |i| f64::from(y.row(i)[d]))).collect();
        let mut report =
            |done: usize| observer(&Progress::of(Stage::Build, done as u64, n as u64)).is_continue();
        let mut matrix = vec![0.0; n * n];
        self.fill(&mut matrix);
        let lu = Lu::new(n, matrix, &mut report).ok_or(Error::Stopped(Stage::Build))?;
        let (coefficients, left) = self.solve_by(&lu, &targets);
        let missed = largest(&left) / extent(&targets, n);
        if missed <= TOLERABLE {
            let notes = if missed <= SMALL { Vec::new() } else { vec![self.in_words("", missed)] };
            return Ok(Solution { coefficients, notes });
        }
        let what = format!("{}, whose equations are singular to rounding,", self.name);
        check_memory(what, 8 * (n as u64).pow(2), "place with another method, or fit fewer rows")?;
        let mut matrix = lu.into_memory();
        self.fill(&mut matrix);
        for ridge in RIDGES {
            let solved = least_squares(n, &matrix, &targets, ridge, &mut report);
            let Some(coefficients) = solved.ok_or(Error::Stopped(Stage::Build))? else { continue };
            let left = self.left(&coefficients, &targets);
            if root_mean_square(&left) <= HOPELESS * spread(&targets, n) {
                let solved =
                    format!(", so they were solved by least squares with a ridge of {ridge:e} of their norm");
                let notes = vec![self.in_words(&solved, largest(&left) / extent(&targets, n))];
                return Ok(Solution { coefficients, notes });
            }
        }
        Err(Error::Data(format!(
            "{} cannot be built: to it the {n} rows are too much alike to tell their places apart; place with another method",
            self.name
        )))
    }

    /// Fills in all equations, one after another.
    fn fill(&self, matrix: &mut [f64]) {
        for_each_row(matrix, self.rows, 0, |i, row, _| (self.equation)(i, row));
    }

    /// Coefficients, and what the equations leave with them, after one refinement at the most.
    fn solve_by(&self, lu: &Lu, targets: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut coefficients = targets.to_vec();
        lu.solve_transposed(&mut coefficients);
        let left = self.left(&coefficients, targets);
        if largest(&left) <= SMALL * extent(targets, self.rows) {
            return (coefficients, left);
        }
        let mut correction = left;
        lu.solve_transposed(&mut correction);
        coefficients.iter_mut().zip(&correction).for_each(|(c, correction)| *c += correction);
        let left = self.left(&coefficients, targets);
        (coefficients, left)
    }

    /// What the equations leave of the targets.
    fn left(&self, coefficients: &[f64], targets: &[f64]) -> Vec<f64> {
        let (n, dims) = (self.rows, targets.len() / self.rows);
        let mut met = vec![0.0; targets.len()];
        for_each_row(&mut met, dims, n, |i, met, row| {
            (self.equation)(i, row);
            vectorized(
                #[inline(always)]
                || {
                    for (met, coefficients) in met.iter_mut().zip(coefficients.chunks_exact(n)) {
                        *met = dot(row, coefficients);
                    }
                },
            );
        });
        let left = |(at, target): (usize, &f64)| target - met[at % n * dims + at / n];
        targets.iter().enumerate().map(left).collect()
    }

    fn in_words(&self, solved: &str, missed: f64) -> String {
        format!(
            "{}: its equations are singular to rounding{solved}; the map's own rows miss their places by {missed:.1e} of the map's extent at most",
            self.name
        )
    }
}

/// The largest absolute value; infinite if any is not a number.
fn largest(values: &[f64]) -> f64 {
    match values.iter().all(|v| v.is_finite()) {
        true => values.iter().fold(0.0, |most, v| f64::max(most, v.abs())),
        false => f64::INFINITY,
    }
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// The longest side of a map, or 1 if it is a point. The places come dimension by dimension.
fn extent(places: &[f64], rows: usize) -> f64 {
    let side = |along: &[f64]| {
        let low = along.iter().copied().fold(f64::INFINITY, f64::min);
        along.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low
    };
    match places.chunks_exact(rows).map(side).fold(0.0, f64::max) {
        side if side > 0.0 => side,
        _ => 1.0,
    }
}

/// The root mean square of how far the coordinates are from the middle; that of a point has no end.
fn spread(places: &[f64], rows: usize) -> f64 {
    let around = |along: &[f64]| -> Vec<f64> {
        let mean = along.iter().sum::<f64>() / rows as f64;
        along.iter().map(|v| v - mean).collect()
    };
    match root_mean_square(&places.chunks_exact(rows).flat_map(around).collect::<Vec<_>>()) {
        spread if spread > 0.0 => spread,
        _ => f64::INFINITY,
    }
}
