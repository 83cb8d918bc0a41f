//! Kernelized t-SNE: F(x) = Σ wi(x) ai, wi Gaussians around the rows of the map that sum to 1, a such that F meets the
//! place of every row.
//!
//! Source: Gisbrecht, Schulz and Hammer (2015), "Parametric nonlinear dimensionality reduction using kernel t-SNE".

#[cfg(test)]
mod tests;

use super::distances::{ColumnMajor, coordinate, dot, for_each_row};
use super::rbf::gaussians;
use super::system::System;
use super::{Baseline, BuiltBaseline, PlacingMethod, Training};
use lion_tsne::memory::check_memory;
use lion_tsne::numerics::vectorized;
use lion_tsne::{Error, Map, Matrix, Observer, Progress, Result, Stage};
use std::sync::Arc;

/// The function, made ready.
pub(super) struct Kernelized {
    columns: Arc<ColumnMajor>,
    /// 1 / 2σi², one for each row.
    narrow: Vec<f64>,
    dims: usize,
    /// a: for each dimension of the map, one for each row.
    coefficients: Vec<f64>,
    notes: Vec<String>,
}

impl Kernelized {
    /// σi is `width` times the distance from row i to its nearest other.
    pub(super) fn new(training: &Training<'_>, width: f64, observer: &mut Observer<'_>) -> Result<Self> {
        check(width)?;
        let columns = Arc::new(ColumnMajor::new(training.x));
        let distances = Distances::Taken(&columns, training.x);
        let nearest = distances.nearest(training.x.rows());
        Self::solved(training.y, width, &columns, &distances, &nearest, observer)
    }

    fn solved(
        y: &Matrix,
        width: f64,
        columns: &Arc<ColumnMajor>,
        distances: &Distances<'_>,
        nearest: &[f64],
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let narrow: Vec<f64> = nearest.iter().map(|distance2| 0.5 / (width * width * distance2)).collect();
        let system = System {
            name: Baseline::Kernelized { width },
            rows: y.rows(),
            equation: |i: usize, row: &mut [f64]| {
                vectorized(
                    #[inline(always)]
                    || {
                        distances.fill(i, row);
                        let total = weigh(row, &narrow);
                        row.iter_mut().for_each(|weight| *weight /= total);
                    },
                );
            },
        };
        let solution = system.solve(y, observer)?;
        let (coefficients, notes) = (solution.coefficients, solution.notes);
        Ok(Self { columns: Arc::clone(columns), narrow, dims: y.cols(), coefficients, notes })
    }
}

fn check(width: f64) -> Result<()> {
    match (1e-9..=1e9).contains(&width) {
        true => Ok(()),
        false => Err(Error::Parameter {
            name: "kernel width",
            problem: format!("is {width}, and must be from 1e-9 to 1e9"),
        }),
    }
}

/// Squared distances between the rows of a map.
enum Distances<'a> {
    /// Taken when they are needed.
    Taken(&'a ColumnMajor, &'a Matrix),
    /// Taken once and kept.
    Kept(&'a [f64]),
}

impl Distances<'_> {
    /// Fills in those from row `i` to every row.
    #[inline(always)]
    fn fill(&self, i: usize, distances2: &mut [f64]) {
        match self {
            Self::Taken(columns, x) => columns.distances2(x.row(i), distances2),
            Self::Kept(all) => {
                let n = distances2.len();
                distances2.copy_from_slice(&all[i * n..(i + 1) * n]);
            }
        }
    }

    /// That from each row to its nearest other; copies of a row do not count.
    fn nearest(&self, rows: usize) -> Vec<f64> {
        let mut nearest = vec![0.0; rows];
        for_each_row(&mut nearest, 1, rows, |i, nearest, distances2| {
            vectorized(
                #[inline(always)]
                || self.fill(i, distances2),
            );
            let others = distances2.iter().copied().filter(|&distance2| distance2 > 0.0);
            // A row without another has any width.
            nearest[0] = others.min_by(f64::total_cmp).unwrap_or(1.0);
        });
        nearest
    }
}

/// Turns squared distances into weights, the largest of which is 1: far from every row none but that may be left, and
/// their sum is never 0. Returns the sum.
#[inline(always)]
fn weigh(values: &mut [f64], narrow: &[f64]) -> f64 {
    let mut most = f64::NEG_INFINITY;
    for (value, narrow) in values.iter_mut().zip(narrow) {
        *value *= -narrow;
        most = if *value > most { *value } else { most };
    }
    gaussians(values, |_, power| power - most);
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    for values in values.chunks(LANES) {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum()
}

impl PlacingMethod for Kernelized {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        self.columns.check(rows)?;
        let n = self.columns.rows();
        let mut places = vec![0.0; rows.rows() * self.dims];
        for_each_row(&mut places, self.dims, n, |i, place, weights| {
            vectorized(
                #[inline(always)]
                || {
                    self.columns.distances2(rows.row(i), weights);
                    let total = weigh(weights, &self.narrow);
                    for (v, coefficients) in place.iter_mut().zip(self.coefficients.chunks_exact(n)) {
                        *v = coordinate(dot(weights, coefficients) / total);
                    }
                },
            );
        });
        Matrix::new(rows.rows(), self.dims, places)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Builds [`Baseline::Kernelized`] for many widths, one after another, taking the distances between rows but once. A
/// width for which it cannot be built does not keep the others from it.
pub fn kernelized_sweep(
    map: &Map,
    widths: &[f64],
    observer: &mut Observer<'_>,
) -> Result<Vec<Result<BuiltBaseline>>> {
    widths.iter().try_for_each(|&width| check(width))?;
    let (x, y, n) = (map.x(), map.y(), map.x().rows());
    let kept = 8 * (n as u64).pow(2);
    let needed = kept + Baseline::Kernelized { width: 1.0 }.memory(n, x.cols());
    check_memory("a sweep of kernelized t-SNE", needed, "place with another method, or fit fewer rows")?;
    let columns = Arc::new(ColumnMajor::new(x));
    let mut all = vec![0.0; n * n];
    for_each_row(&mut all, n, 0, |i, row, _| {
        vectorized(
            #[inline(always)]
            || columns.distances2(x.row(i), row),
        );
    });
    let distances = Distances::Kept(&all);
    let nearest = distances.nearest(n);
    let mut built = Vec::with_capacity(widths.len());
    for (at, &width) in widths.iter().enumerate() {
        let mut report = |progress: &Progress<'_>| {
            let done = at as u64 * progress.total + progress.done;
            observer(&Progress::of(Stage::Build, done, widths.len() as u64 * progress.total))
        };
        match Kernelized::solved(y, width, &columns, &distances, &nearest, &mut report) {
            Err(Error::Stopped(stage)) => return Err(Error::Stopped(stage)),
            solved => built.push(solved.map(|placing| BuiltBaseline {
                preprocess: map.preprocess().clone(),
                placing: Box::new(placing),
            })),
        }
    }
    Ok(built)
}
