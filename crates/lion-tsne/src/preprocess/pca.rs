//! Principal components (Pearson 1901, On Lines and Planes of Closest Fit): by the covariance matrix where rows are of
//! moderate width, by randomized subspace iteration beyond.

use super::covariance::Covariance;
use super::gram::Centred;
use super::project::Weights;
use super::subspace;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, EvdError, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use std::sync::OnceLock;

/// The widest rows whose covariance matrix is formed: its eigenvectors take a few seconds there.
pub(crate) const WIDEST_COVARIANCE: usize = 2000;

/// About what finding `k` components of rows of so many columns holds beside the rows, in bytes.
pub(crate) fn pca_bytes(cols: f64, k: f64) -> f64 {
    // A chunk of rows, then products and sums of products, and of those the eigenvectors.
    let chunk = 4.0 * (512.0 * cols).min((1 << 22) as f64);
    match cols <= WIDEST_COVARIANCE as f64 {
        true => chunk + 50.0 * cols * cols,
        false => 2.0 * chunk + 60.0 * cols * (k + 20.0),
    }
}

/// A fitted PCA. Of each component, the entry of the largest magnitude is positive.
#[derive(Clone, Debug)]
pub struct Pca {
    mean: Vec<f32>,
    components: Matrix,
    variances: Vec<f64>,
    total_variance: f64,
    /// The components as `project` wants them, made when first needed: opening a map needs none.
    weights: OnceLock<Weights>,
}

impl Pca {
    /// Finds the `k` leading components of at least two finite rows, where `k` is at most the rows or columns.
    pub(crate) fn fit(data: &Matrix, k: usize, seed: u64) -> Result<Self> {
        Ok(Self::fit_with_covariance(data, k, seed)?.0)
    }

    /// The same, with the covariance where it was formed.
    pub(super) fn fit_with_covariance(
        data: &Matrix,
        k: usize,
        seed: u64,
    ) -> Result<(Self, Option<Covariance>)> {
        let centred = Centred::new(data);
        let (directions, sums, covariance) = if data.cols() <= WIDEST_COVARIANCE {
            let products = centred.products();
            let (directions, sums) = symmetric_eigen(products.clone(), k)?;
            (directions, sums, Some(Covariance::of_centred(&centred, products)))
        } else {
            let (directions, sums) = subspace::leading(&centred, k, seed)?;
            (directions, sums, None)
        };
        let variances = sums.into_iter().map(|sum| centred.variance(sum)).collect();
        let mean = centred.mean.iter().map(|&mean| mean as f32).collect();
        let pca = Self::of_directions(mean, &directions, variances, centred.total_variance)?;
        Ok((pca, covariance))
    }

    /// From directions as columns and the variance along each.
    pub(super) fn of_directions(
        mean: Vec<f32>,
        directions: &Mat<f64>,
        variances: Vec<f64>,
        total_variance: f64,
    ) -> Result<Self> {
        let dims = mean.len();
        let mut components = Matrix::zeros(directions.ncols(), dims);
        for (c, row) in components.data_mut().chunks_exact_mut(dims).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, value)| *value = directions[(j, c)] as f32);
            make_largest_positive(row);
        }
        // Rounding may leave the variance of an empty direction a little below zero.
        let variances = variances.into_iter().map(|variance| variance.max(0.0)).collect();
        Self::new(mean, components, variances, total_variance)
    }

    /// Puts a PCA together from its parts, as when it is read from a file.
    pub fn new(mean: Vec<f32>, components: Matrix, variances: Vec<f64>, total_variance: f64) -> Result<Self> {
        let refuse = |problem: &str| Err(Error::Data(format!("the PCA {problem}")));
        if components.rows() == 0 || components.cols() == 0 {
            return refuse("has no components");
        }
        if mean.len() != components.cols() {
            return refuse("has a mean and components of different widths");
        }
        if variances.len() != components.rows() {
            return refuse("does not have one variance for each component");
        }
        let usable = |v: f64| v.is_finite() && v >= 0.0;
        if !variances.iter().all(|&v| usable(v)) || !usable(total_variance) {
            return refuse("has a variance that is negative or not finite");
        }
        if !mean.iter().chain(components.data()).all(|v| v.is_finite()) {
            return refuse("has a mean or component that is not finite");
        }
        Ok(Self { mean, components, variances, total_variance, weights: OnceLock::new() })
    }

    /// The mean of every column.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// One orthonormal row for each component.
    pub fn components(&self) -> &Matrix {
        &self.components
    }

    /// The variance along each component, largest first (divided by rows - 1).
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The variance of all columns together; what the components do not explain of it was dropped.
    pub fn total_variance(&self) -> f64 {
        self.total_variance
    }

    /// Columns of the rows it takes.
    pub fn input_dims(&self) -> usize {
        self.components.cols()
    }

    /// Columns of the rows it gives.
    pub fn output_dims(&self) -> usize {
        self.components.rows()
    }

    /// Projects a few rows (at most `project::ROWS`), centring them in place.
    pub(super) fn project(&self, rows: &mut [f32], out: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.mean.len()) {
            row.iter_mut().zip(&self.mean).for_each(|(value, mean)| *value -= mean);
        }
        self.weights.get_or_init(|| Weights::new(&self.components)).multiply(rows, out);
    }
}

impl PartialEq for Pca {
    fn eq(&self, other: &Self) -> bool {
        self.mean == other.mean
            && self.components == other.components
            && self.variances == other.variances
            && self.total_variance == other.total_variance
    }
}

fn make_largest_positive(component: &mut [f32]) {
    let largest = component.iter().fold(0.0f32, |best, &v| if v.abs() > best.abs() { v } else { best });
    if largest < 0.0 {
        component.iter_mut().for_each(|v| *v = -*v);
    }
}

/// The `k` largest eigenvalues of a symmetric matrix, largest first, and their vectors as columns. Only the
/// lower triangle is read.
pub(super) fn symmetric_eigen(mut matrix: Mat<f64>, k: usize) -> Result<(Mat<f64>, Vec<f64>)> {
    let n = matrix.nrows();
    let mut shift = 0.0;
    let (vectors, values) = match all_eigen(&matrix) {
        Ok(found) => found,
        // Many eigenvalues of 0 stop the iteration: what is left beside them is rounding, and never small beside 0. With
        // something added to all of them it is, and the vectors stay the same.
        Err(_) => {
            shift = (0..n).map(|i| matrix[(i, i)].abs()).fold(0.0, f64::max);
            (0..n).for_each(|i| matrix[(i, i)] += shift);
            all_eigen(&matrix).map_err(|_| Error::Data("the PCA of the data did not converge".into()))?
        }
    };
    let largest_first = |c: usize| n - 1 - c;
    let values = (0..k).map(|c| values[largest_first(c)] - shift).collect();
    Ok((Mat::from_fn(n, k, |i, c| vectors[(i, largest_first(c))]), values))
}

/// All eigenvectors of a symmetric matrix as columns, and their eigenvalues, least first.
fn all_eigen(matrix: &Mat<f64>) -> std::result::Result<(Mat<f64>, Diag<f64>), EvdError> {
    let n = matrix.nrows();
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (into, params) = (Some(vectors.as_mut()), Default::default());
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), into, Par::Seq, stack, params)?;
    Ok((vectors, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A category of many rare levels, a column of 0 and 1 for each: most eigenvalues are 0, and many others are equal.
    #[test]
    fn one_column_for_each_of_many_levels_converges() {
        let (rows, levels) = (500, 300);
        for power in [1, 2, 3] {
            let mut random = crate::random::Random::new(power);
            let mut data = Matrix::zeros(rows, levels);
            for row in data.data_mut().chunks_exact_mut(levels) {
                let level = (1.0 / random.uniform().max(1e-9)).powf(1.0 / power as f64) - 1.0;
                row[(level as usize).min(levels - 1)] = 1.0;
            }
            let pca = Pca::fit(&data, 20, 0).unwrap();
            for (a, component) in pca.components().data().chunks_exact(levels).enumerate() {
                let other = pca.components().row(a / 2);
                let product: f64 = component.iter().zip(other).map(|(u, v)| f64::from(u * v)).sum();
                let expected = if a == a / 2 { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-5, "{power}: {a} and {}: {product}", a / 2);
            }
            let explained: f64 = pca.variances().iter().sum();
            let share = explained / pca.total_variance();
            assert!(share > 0.3 && share < 1.0 + 1e-5, "{power}: {share}");
        }
    }

    /// The covariance of a column of 0 and 1 for each of many levels, most of which no row has.
    fn covariance_of_levels(rows: usize, levels: usize, seed: u64) -> Mat<f64> {
        let mut random = crate::random::Random::new(seed);
        let mut counts = vec![0.0; levels];
        for _ in 0..rows {
            let level = 1.0 / random.uniform().max(1e-9) - 1.0;
            counts[(level as usize).min(levels - 1)] += 1.0;
        }
        let n = rows as f64;
        Mat::from_fn(levels, levels, |i, j| {
            let own = if i == j { counts[i] } else { 0.0 };
            (own - counts[i] * counts[j] / n) / (n - 1.0)
        })
    }

    /// Where the iteration stops at the matrix itself, the shifted one gives its eigenvectors. Another kind of processor rounds
    /// differently, so any of these matrices may stop it.
    #[test]
    fn a_matrix_that_does_not_converge_has_the_eigenvectors_of_the_shifted_one() {
        let (levels, k) = (400, 20);
        let stops = |matrix: &Mat<f64>| all_eigen(matrix).is_err();
        let matrix = (1..=5).map(|seed| covariance_of_levels(2000, levels, seed)).find(stops);
        let matrix = matrix.expect("a matrix that does not converge");
        let (vectors, values) = symmetric_eigen(matrix.clone(), k).unwrap();
        assert!(values.is_sorted_by(|a, b| a >= b) && values[k - 1] > 0.0, "{values:?}");
        let (products, lengths) = (&matrix * &vectors, vectors.transpose() * &vectors);
        for c in 0..k {
            let off = (0..levels).map(|i| (products[(i, c)] - values[c] * vectors[(i, c)]).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12, "{c}");
            for d in 0..k {
                let expected = if c == d { 1.0 } else { 0.0 };
                assert!((lengths[(c, d)] - expected).abs() < 1e-10, "{c} and {d}");
            }
        }
    }

    /// Adding a multiple of the identity changes no eigenvector, and the values come back.
    #[test]
    fn shifted_eigenvalues_are_those_of_the_matrix() {
        let n = 40;
        let mut random = crate::random::Random::new(9);
        let half = Mat::from_fn(n, 6, |_, _| random.gaussian());
        let matrix = &half * half.transpose();
        let (_, values) = symmetric_eigen(matrix.clone(), 8).unwrap();
        let mut shifted = matrix;
        (0..n).for_each(|i| shifted[(i, i)] += 7.0);
        let (_, moved) = symmetric_eigen(shifted, 8).unwrap();
        values.iter().zip(&moved).for_each(|(a, b)| assert!((a + 7.0 - b).abs() < 1e-9, "{a} {b}"));
    }
}
