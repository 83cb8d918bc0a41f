//! The covariance of rows, and what it is without some of them: a PCA that has never seen those rows. Ours.

use super::gram::Centred;
use super::pca::{Pca, WIDEST_COVARIANCE, symmetric_eigen};
use super::subspace;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Up to this many columns all eigenvectors are found; beyond, only the leading ones, which is quicker.
const ALL_VECTORS_UP_TO: usize = 256;

/// Sums of the products of rows around their mean.
#[derive(Clone, Debug)]
pub(crate) struct Covariance {
    rows: f64,
    mean: Vec<f64>,
    /// Only the lower triangle counts.
    products: Mat<f64>,
}

impl Covariance {
    pub(super) fn new(rows: f64, mean: Vec<f64>, products: Mat<f64>) -> Self {
        Self { rows, mean, products }
    }

    /// Of rows that are not too wide for one.
    pub(super) fn of(data: &Matrix) -> Option<Self> {
        (data.cols() <= WIDEST_COVARIANCE).then(|| {
            let centred = Centred::new(data);
            Self::of_centred(&centred, centred.products())
        })
    }

    /// Of rows whose products were summed on another scale.
    pub(super) fn of_centred(centred: &Centred<'_>, mut products: Mat<f64>) -> Self {
        let degrees = (centred.rows() as f64 - 1.0).max(1.0);
        let factor = centred.variance(1.0) * degrees;
        products.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= factor));
        Self { rows: centred.rows() as f64, mean: centred.mean.clone(), products }
    }

    /// The covariance of all rows but these, which are among those it was made of.
    pub(crate) fn without(&self, rows: &Matrix) -> Self {
        let (n, dims) = (rows.rows(), self.mean.len());
        let centred = Mat::from_fn(n, dims, |i, j| f64::from(rows.row(i)[j]) - self.mean[j]);
        let left = (self.rows - n as f64).max(1.0);
        // From the old mean to the new one.
        let shift: Vec<f64> = centred.col_iter().map(|column| -column.iter().sum::<f64>() / left).collect();
        let mut products = self.products.clone();
        matmul(products.as_mut(), Accum::Add, centred.transpose(), centred.as_ref(), -1.0, Par::Seq);
        for i in 0..dims {
            for j in 0..=i {
                products[(i, j)] -= left * shift[i] * shift[j];
            }
        }
        let mean = self.mean.iter().zip(&shift).map(|(mean, shift)| mean + shift).collect();
        Self { rows: left, mean, products }
    }

    /// How many rows it was made of.
    pub(crate) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The PCA of the rows to `k` components, or as many as they span.
    pub(crate) fn pca(mut self, k: usize, seed: u64) -> Result<Pca> {
        let (dims, degrees) = (self.mean.len(), (self.rows - 1.0).max(1.0));
        let k = k.min(degrees as usize).clamp(1, dims);
        let total: f64 = (0..dims).map(|i| self.products[(i, i)].max(0.0)).sum();
        let (directions, sums) = match dims <= ALL_VECTORS_UP_TO {
            true => symmetric_eigen(self.products, k)?,
            false => {
                make_symmetric(&mut self.products);
                subspace::leading_of(&self.products, k, seed)?
            }
        };
        let mean = self.mean.iter().map(|&mean| mean as f32).collect();
        let variances = sums.into_iter().map(|sum| sum / degrees).collect();
        Pca::of_directions(mean, &directions, variances, total / degrees)
    }
}

/// Directions whose share of the largest variance is below this are rounding.
const ROUNDING: f64 = 1e-10;

impl Pca {
    /// The same as [`Pca::fit`] for fewer rows than columns: by the products of rows with each other, of which there
    /// are fewer. Components of no variance are left out.
    pub(crate) fn fit_few(data: &Matrix, k: usize) -> Result<Self> {
        let (rows, dims) = (data.rows(), data.cols());
        let column_mean = |j: usize| (0..rows).map(|i| f64::from(data.row(i)[j])).sum::<f64>() / rows as f64;
        let mean: Vec<f64> = (0..dims).map(column_mean).collect();
        let centred = Mat::from_fn(rows, dims, |i, j| f64::from(data.row(i)[j]) - mean[j]);
        let mut products = Mat::zeros(rows, rows);
        matmul(products.as_mut(), Accum::Replace, centred.as_ref(), centred.transpose(), 1.0, Par::Seq);
        let total: f64 = (0..rows).map(|i| products[(i, i)]).sum();
        let (vectors, sums) = symmetric_eigen(products, k.min(rows))?;
        let largest = sums.first().copied().unwrap_or(0.0);
        let kept = sums.iter().take_while(|sum| **sum > ROUNDING * largest).count().max(1);
        let mut directions = Mat::zeros(dims, kept);
        let vectors = vectors.subcols(0, kept);
        matmul(directions.as_mut(), Accum::Replace, centred.transpose(), vectors, 1.0, Par::Seq);
        for (column, sum) in directions.col_iter_mut().zip(&sums) {
            let length = sum.max(f64::MIN_POSITIVE).sqrt();
            column.iter_mut().for_each(|v| *v /= length);
        }
        let degrees = (rows as f64 - 1.0).max(1.0);
        let variances = sums[..kept].iter().map(|sum| sum / degrees).collect();
        Self::of_directions(mean.iter().map(|&v| v as f32).collect(), &directions, variances, total / degrees)
    }
}

/// Fills the upper triangle from the lower one.
fn make_symmetric(lower: &mut Mat<f64>) {
    for j in 0..lower.ncols() {
        for i in 0..j {
            lower[(i, j)] = lower[(j, i)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn few_rows_have_the_same_components() {
        let mut random = Random::new(5);
        let value =
            |j: usize, random: &mut Random| (50.0 + random.gaussian() * 9.0 / (1.0 + j as f64)) as f32;
        let data: Vec<f32> = (0..30 * 90).map(|i| value(i % 90, &mut random)).collect();
        let data = Matrix::new(30, 90, data).unwrap();
        let (found, truth) = (Pca::fit_few(&data, 4).unwrap(), Pca::fit(&data, 4, 0).unwrap());
        assert!((found.total_variance() / truth.total_variance() - 1.0).abs() < 1e-5);
        for (a, b) in found.components().data().iter().zip(truth.components().data()) {
            assert!((a - b).abs() < 1e-3, "{a} for {b}");
        }
        // Rows that span fewer directions than are asked for have those alone.
        assert_eq!(Pca::fit_few(&data.select(&[0, 1, 2]), 3).unwrap().output_dims(), 2);
    }

    /// Leaving rows out of the sums is leaving them out of the data.
    #[test]
    fn rows_are_left_out() {
        for dims in [7, 300] {
            let mut random = Random::new(3);
            let value = |j: usize, random: &mut Random| {
                (100.0 + random.gaussian() * (30.0 / (1.0 + j as f64))) as f32
            };
            let data: Vec<f32> = (0..40 * dims).map(|i| value(i % dims, &mut random)).collect();
            let data = Matrix::new(40, dims, data).unwrap();
            let (_, covariance) = Pca::fit_with_covariance(&data, 3, 0).unwrap();
            let (some, rest): (Vec<u32>, Vec<u32>) = (0..40).partition(|row| row % 5 == 1);
            let found = covariance.unwrap().without(&data.select(&some)).pca(3, 0).unwrap();
            let truth = Pca::fit(&data.select(&rest), 3, 0).unwrap();
            assert!((found.total_variance() / truth.total_variance() - 1.0).abs() < 1e-5);
            for (a, b) in found.variances().iter().zip(truth.variances()) {
                assert!((a / b - 1.0).abs() < 1e-4, "{a} for {b}");
            }
            for (a, b) in found.components().data().iter().zip(truth.components().data()) {
                assert!((a - b).abs() < 1e-3, "{a} for {b}");
            }
        }
    }
}
