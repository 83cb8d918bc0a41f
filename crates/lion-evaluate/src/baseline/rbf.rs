//! Radial basis functions: F(x) = Σ λi φ(|x - xi|), λ such that F meets the place of every row of the map.
//!
//! Sources: Hardy (1971), "Multiquadric equations of topography and other irregular surfaces", for interpolation by
//! such functions; Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the kernels and for epsilon; SciPy's `Rbf` for the other epsilon, which the paper's
//! program used.

#[cfg(test)]
mod tests;

use super::distances::{ColumnMajor, coordinate, dot, for_each_row};
use super::system::System;
use super::{Baseline, PlacingMethod, Training};
use lion_tsne::numerics::{exp, vectorized};
use lion_tsne::{Matrix, Observer, Result};

/// The function φ of a distance r, with a width ε where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// √((r/ε)² + 1)
    Multiquadric,
    /// exp(-(r/ε)²)
    Gaussian,
    /// 1 / √((r/ε)² + 1)
    InverseMultiquadric,
    /// r
    Linear,
    /// r³
    Cubic,
    /// r⁵
    Quintic,
    /// r² log r
    ThinPlate,
}

/// How the width ε of a kernel is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epsilon {
    /// The mean distance between two rows, as the paper has it.
    #[default]
    MeanDistance,
    /// (Π edges / N)^(1/K), as the paper's program has it; the edges are the extents of the K columns that vary.
    Edges,
}

// In the paper's order.
lion_tsne::named!(Kernel, "kernel": Multiquadric = "multiquadric", Gaussian = "gaussian", InverseMultiquadric = "inverse-multiquadric", Linear = "linear", Cubic = "cubic", Quintic = "quintic", ThinPlate = "thin-plate");
lion_tsne::named!(Epsilon, "epsilon": MeanDistance = "mean", Edges = "edges");

impl Kernel {
    /// Whether it has a width: where it has none, [`Epsilon`] makes no difference.
    pub fn has_width(self) -> bool {
        matches!(self, Self::Multiquadric | Self::Gaussian | Self::InverseMultiquadric)
    }

    /// Turns squared distances into values of the kernel.
    #[inline(always)]
    fn apply(self, values: &mut [f64], epsilon: f64) {
        let narrow = 1.0 / (epsilon * epsilon);
        match self {
            Self::Multiquadric => each(values, |r2| (r2 * narrow + 1.0).sqrt()),
            Self::Gaussian => gaussians(values, |_, r2| -r2 * narrow),
            Self::InverseMultiquadric => each(values, |r2| 1.0 / (r2 * narrow + 1.0).sqrt()),
            Self::Linear => each(values, f64::sqrt),
            Self::Cubic => each(values, |r2| r2 * r2.sqrt()),
            Self::Quintic => each(values, |r2| r2 * r2 * r2.sqrt()),
            Self::ThinPlate => each(values, |r2| if r2 > 0.0 { 0.5 * r2 * r2.ln() } else { 0.0 }),
        }
    }
}

#[inline(always)]
fn each(values: &mut [f64], kernel: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|value| *value = kernel(*value));
}

/// e to powers, none of them above 0, made from the values and their numbers.
#[inline(always)]
pub(super) fn gaussians(values: &mut [f64], power: impl Fn(usize, f64) -> f64) {
    const LANES: usize = 32;
    for (block, values) in values.chunks_mut(LANES).enumerate() {
        let mut powers = [0.0; LANES];
        for (lane, value) in values.iter().enumerate() {
            powers[lane] = power(block * LANES + lane, *value);
        }
        values.copy_from_slice(&exp(powers)[..values.len()]);
    }
}

impl Epsilon {
    /// The width for these rows.
    fn of(self, x: &Matrix, columns: &ColumnMajor) -> f64 {
        let width = match self {
            Self::MeanDistance => mean_distance(x, columns),
            Self::Edges => edges(x),
        };
        // Rows that are all alike have no width; any will do.
        if width > 0.0 { width } else { 1.0 }
    }
}

/// Of every two rows.
fn mean_distance(x: &Matrix, columns: &ColumnMajor) -> f64 {
    let n = x.rows();
    let mut sums = vec![0.0; n];
    for_each_row(&mut sums, 1, n, |i, sum, distances| {
        vectorized(
            #[inline(always)]
            || {
                columns.distances2(x.row(i), distances);
                each(distances, f64::sqrt);
            },
        );
        sum[0] = distances.iter().sum();
    });
    sums.iter().sum::<f64>() / (n * (n - 1)).max(1) as f64
}

/// The product of many edges may have no end, its logarithm has.
fn edges(x: &Matrix) -> f64 {
    let edge = |k: usize| {
        let along = || x.data().iter().skip(k).step_by(x.cols()).map(|&v| f64::from(v));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let logs: Vec<f64> = (0..x.cols()).map(edge).filter(|&edge| edge > 0.0).map(f64::ln).collect();
    ((logs.iter().sum::<f64>() - (x.rows() as f64).ln()) / logs.len().max(1) as f64).exp()
}

/// The function, made ready.
pub(super) struct Rbf {
    columns: ColumnMajor,
    kernel: Kernel,
    epsilon: f64,
    dims: usize,
    /// λ: for each dimension of the map, one for each row.
    coefficients: Vec<f64>,
    notes: Vec<String>,
}

impl Rbf {
    pub(super) fn new(
        training: &Training<'_>,
        kernel: Kernel,
        epsilon: Epsilon,
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let name = Baseline::Rbf { kernel, epsilon };
        let columns = ColumnMajor::new(training.x);
        let epsilon = if kernel.has_width() { epsilon.of(training.x, &columns) } else { 1.0 };
        let system = System {
            name,
            rows: training.x.rows(),
            equation: |i: usize, row: &mut [f64]| values(&columns, kernel, epsilon, training.x.row(i), row),
        };
        let solution = system.solve(training.y, observer)?;
        let (coefficients, notes) = (solution.coefficients, solution.notes);
        Ok(Self { columns, kernel, epsilon, dims: training.y.cols(), coefficients, notes })
    }
}

/// Fills in φ(|row - xi|) for every i.
fn values(columns: &ColumnMajor, kernel: Kernel, epsilon: f64, row: &[f32], values: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            columns.distances2(row, values);
            kernel.apply(values, epsilon);
        },
    );
}

impl PlacingMethod for Rbf {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        self.columns.check(rows)?;
        let n = self.columns.rows();
        let mut places = vec![0.0; rows.rows() * self.dims];
        for_each_row(&mut places, self.dims, n, |i, place, row| {
            values(&self.columns, self.kernel, self.epsilon, rows.row(i), row);
            vectorized(
                #[inline(always)]
                || {
                    for (v, coefficients) in place.iter_mut().zip(self.coefficients.chunks_exact(n)) {
                        *v = coordinate(dot(row, coefficients));
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
