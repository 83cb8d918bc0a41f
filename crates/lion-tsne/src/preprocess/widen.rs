//! A PCA widened by the directions in which new rows stick out of it. Ours.

use super::{LEAST_DROPPED, Pca, Preprocess};
use crate::error::Result;
use crate::matrix::Matrix;

/// Components that are added, at most.
const MOST: usize = 20;
/// New rows that are looked at, at most: as many tell the directions well.
const SAMPLE: usize = 2000;

impl Preprocess {
    /// The same with components for what new rows have beside its PCA, and how many. A direction is added if it would be
    /// kept by a PCA of all rows: what new rows vary along it, shared out over all rows, is more than along the last
    /// component that was kept, which is the most that old rows can vary along it.
    pub(crate) fn widened(&self, new: &Matrix, old_rows: usize) -> Result<(Self, usize)> {
        let (Some(pca), true) = (self.pca(), new.rows() > 0) else { return Ok((self.clone(), 0)) };
        let step = new.rows().div_ceil(SAMPLE);
        let chosen: Vec<u32> = (0..new.rows() as u32).step_by(step).collect();
        let rows = self.before_pca(new.select(&chosen));
        let share = new.rows() as f64 / (new.rows() + old_rows) as f64;
        let last = pca.variances().last().copied().unwrap_or(0.0);
        // Rows of fewer dimensions than components have rounding errors in the last ones, and beside them.
        let least = last.max(LEAST_DROPPED * pca.total_variance()) / share;
        let room = self.input_dims().saturating_sub(pca.output_dims()).min(MOST);
        let residuals = pca.residuals(&rows);
        let mean_square =
            residuals.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / residuals.rows() as f64;
        // No direction can have more than all of them together.
        if room == 0 || mean_square <= least {
            return Ok((self.clone(), 0));
        }
        let found = around_zero(&residuals, room)?;
        let added = found.variances().iter().take_while(|variance| **variance > least).count();
        if added == 0 {
            return Ok((self.clone(), 0));
        }
        let widened = pca.with_components(&found, added, share)?;
        Ok((Self::new(self.metric(), self.input_dims(), Some(widened))?, added))
    }
}

/// The directions of rows around 0, not around their mean: where all new rows stick out alike, their mean is what tells.
fn around_zero(rows: &Matrix, k: usize) -> Result<Pca> {
    let mirrored = rows.data().iter().map(|v| -v);
    let data: Vec<f32> = rows.data().iter().copied().chain(mirrored).collect();
    let both = Matrix::new(2 * rows.rows(), rows.cols(), data)?;
    let k = k.min(rows.rows());
    if both.rows() < both.cols() { Pca::fit_few(&both, k) } else { Pca::fit(&both, k, 0) }
}

impl Pca {
    /// What of each row the components do not hold.
    fn residuals(&self, rows: &Matrix) -> Matrix {
        let dims = rows.cols();
        let mut out = Vec::with_capacity(rows.data().len());
        for row in rows.data().chunks_exact(dims) {
            let centred: Vec<f64> =
                row.iter().zip(self.mean()).map(|(v, m)| f64::from(*v) - f64::from(*m)).collect();
            let mut left = centred.clone();
            for component in self.components().data().chunks_exact(dims) {
                let along: f64 = component.iter().zip(&centred).map(|(c, v)| f64::from(*c) * v).sum();
                left.iter_mut().zip(component).for_each(|(left, c)| *left -= along * f64::from(*c));
            }
            out.extend(left.into_iter().map(|v| v as f32));
        }
        Matrix::from_rows(dims, out)
    }

    /// With the first components of another, which are orthogonal to its own.
    fn with_components(&self, other: &Self, count: usize, share: f64) -> Result<Self> {
        let dims = self.input_dims();
        let mut components = self.components().data().to_vec();
        components.extend_from_slice(&other.components().data()[..count * dims]);
        let added = other.variances()[..count].iter().map(|variance| share * variance);
        let variances: Vec<f64> = self.variances().iter().copied().chain(added.clone()).collect();
        let components = Matrix::new(self.output_dims() + count, dims, components)?;
        Self::new(self.mean().to_vec(), components, variances, self.total_variance() + added.sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::{Metric, PcaChoice};
    use crate::random::Random;

    /// Rows that vary along the first two of ten columns, moved along one of the others.
    fn rows(count: usize, seed: u64, column: usize, by: f32) -> Matrix {
        let mut random = Random::new(seed);
        let mut data = Vec::new();
        for _ in 0..count {
            let mut row: Vec<f32> = (0..10).map(|_| 0.1 * random.gaussian() as f32).collect();
            (row[0], row[1]) = (5.0 * random.gaussian() as f32, 3.0 * random.gaussian() as f32);
            row[column] += by;
            data.extend(row);
        }
        Matrix::new(count, 10, data).unwrap()
    }

    #[test]
    fn rows_that_stick_out_add_their_direction() {
        let (pca, _) =
            Preprocess::fit(rows(400, 1, 9, 0.0), Metric::Euclidean, PcaChoice::Components(2), 0).unwrap();
        let (same, none) = pca.widened(&rows(60, 2, 9, 0.0), 400).unwrap();
        assert_eq!((none, same == pca), (0, true));
        let new = rows(60, 3, 7, 40.0);
        let (widened, added) = pca.widened(&new, 400).unwrap();
        assert_eq!((added, widened.output_dims()), (1, 3));
        let (x, residuals) = widened.apply_with_residuals(&new).unwrap();
        let (old_x, old_residuals) = pca.apply_with_residuals(&new).unwrap();
        for row in 0..60 {
            assert!((x.row(row)[2].abs() - 40.0).abs() < 1.0, "{:?}", x.row(row));
            (0..2).for_each(|d| assert!((x.row(row)[d] - old_x.row(row)[d]).abs() < 1e-4));
        }
        assert!(residuals.unwrap()[0] < 1.0 && old_residuals.unwrap()[0] > 39.0);
    }
}
