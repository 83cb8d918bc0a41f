//! The mean and covariance of rows that pass by in parts.

use super::covariance::Covariance;
use super::gram::{Gram, TILE};
use super::pca::{Pca, WIDEST_COVARIANCE, symmetric_eigen};
use super::{Metric, PcaChoice, components, scale_to_unit};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Rows that are summed together; sums do not depend on how rows were cut into parts, for they are cut here again.
const BLOCK: usize = 512;
/// Narrow rows are summed in so many lanes at once, block after block in turns; wide ones in one, whose product is shared
/// out already.
const LANES: usize = 8;

/// Sums of rows and of their products, around a point near their mean.
pub(crate) struct Moments {
    metric: Metric,
    choice: PcaChoice,
    dims: usize,
    rows: u64,
    /// Rows that do not fill a block of every lane yet.
    waiting: Vec<f32>,
    /// The mean of the first block, so that squares do not drown in the square of the mean.
    origin: Option<Vec<f32>>,
    lanes: Vec<MomentLane>,
}

/// The sums of every so-many-th block.
struct MomentLane {
    sum: Vec<f64>,
    products: Gram,
}

impl Moments {
    /// For rows of so many columns; `None` where no PCA is asked for or they are too wide for their covariance.
    pub(crate) fn for_pca(dims: usize, metric: Metric, choice: PcaChoice) -> Result<Option<Self>> {
        // Of the rows it is enough to know that they will be more than the columns.
        let wanted = components(choice, usize::MAX, dims)?.is_some();
        let lanes = if dims <= TILE { LANES } else { 1 };
        let lane = || MomentLane { sum: vec![0.0; dims], products: Gram::symmetric(dims) };
        Ok((wanted && dims <= WIDEST_COVARIANCE).then(|| Self {
            metric,
            choice,
            dims,
            rows: 0,
            waiting: Vec::with_capacity(lanes * BLOCK * dims),
            origin: None,
            lanes: std::iter::repeat_with(lane).take(lanes).collect(),
        }))
    }

    /// Adds rows.
    pub(crate) fn add(&mut self, data: &Matrix) {
        self.rows += data.rows() as u64;
        let full = self.lanes.len() * BLOCK * self.dims;
        let mut left = data.data();
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(full - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            left = later;
            if self.waiting.len() == full {
                self.add_waiting();
            }
        }
    }

    /// Adds the rows that wait, a block to each lane.
    fn add_waiting(&mut self) {
        let (dims, metric) = (self.dims, self.metric);
        if metric == Metric::Cosine {
            let rows = self.waiting.par_chunks_exact_mut(dims).with_min_len(BLOCK);
            rows.filter(|row| row.iter().any(|&v| v != 0.0)).for_each(scale_to_unit);
        }
        let first = &self.waiting[..self.waiting.len().min(BLOCK * dims)];
        let origin = self.origin.get_or_insert_with(|| mean(first, dims));
        let blocks = self.waiting.par_chunks_mut(BLOCK * dims);
        self.lanes.par_iter_mut().zip(blocks).for_each(|(lane, block)| lane.add(block, origin));
        self.waiting.clear();
    }

    /// The PCA of all rows, and their covariance.
    pub(crate) fn pca(mut self) -> Result<(Pca, Covariance)> {
        if !self.waiting.is_empty() {
            self.add_waiting();
        }
        let (rows, dims) = (self.rows as f64, self.dims);
        let k = match components(self.choice, usize::try_from(self.rows).unwrap_or(usize::MAX), dims)? {
            Some(k) if self.rows > 1 => k,
            _ => return Err(Error::Data("PCA needs at least 2 rows".into())),
        };
        // From the origin to the mean: the products around the mean are less by the square of that.
        let (mut shift, mut covariance) = (vec![0.0; dims], Mat::zeros(dims, dims));
        for MomentLane { sum, products } in self.lanes {
            shift.iter_mut().zip(&sum).for_each(|(shift, sum)| *shift += sum / rows);
            covariance += products.into_sum();
        }
        for i in 0..dims {
            for j in 0..=i {
                covariance[(i, j)] = (covariance[(i, j)] - rows * shift[i] * shift[j]) / (rows - 1.0);
            }
        }
        let mut products = covariance.clone();
        products.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= rows - 1.0));
        let total: f64 = (0..dims).map(|i| covariance[(i, i)].max(0.0)).sum();
        let (directions, variances) = symmetric_eigen(covariance, k)?;
        let origin = self.origin.unwrap_or_default();
        let mean: Vec<f64> =
            origin.iter().zip(&shift).map(|(origin, shift)| f64::from(*origin) + shift).collect();
        let pca =
            Pca::of_directions(mean.iter().map(|&v| v as f32).collect(), &directions, variances, total)?;
        Ok((pca, Covariance::new(rows, mean, products)))
    }
}

impl MomentLane {
    /// Adds rows, seen from the origin.
    fn add(&mut self, block: &mut [f32], origin: &[f32]) {
        let dims = origin.len();
        for row in block.chunks_exact_mut(dims) {
            for ((value, origin), sum) in row.iter_mut().zip(origin).zip(&mut self.sum) {
                *value -= origin;
                *sum += f64::from(*value);
            }
        }
        let rows = MatRef::from_row_major_slice(block, block.len() / dims, dims);
        self.products.add(rows, rows);
    }
}

fn mean(block: &[f32], dims: usize) -> Vec<f32> {
    let mut sum = vec![0.0f64; dims];
    for row in block.chunks_exact(dims) {
        sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let rows = (block.len() / dims).max(1) as f64;
    sum.into_iter().map(|sum| (sum / rows) as f32).collect()
}
