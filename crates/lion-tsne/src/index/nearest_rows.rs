//! The nearest rows of a map, for ways of placing that need no more of it.

use super::placing::{Partitioning, RowIndex};
use crate::matrix::Matrix;

/// The rows of a map, ready to tell which are nearest to a new row. Every row is compared with where rows are few, those
/// in the cells around the new row where they are many; what is found depends on the new row alone.
pub struct NearestRows {
    x: Matrix,
    index: RowIndex,
    k: usize,
}

impl NearestRows {
    /// For the `k` nearest, or all rows if there are fewer.
    pub fn new(x: &Matrix, k: usize, seed: u64) -> Self {
        let k = k.clamp(1, x.rows());
        let cells = Partitioning::new(x, k, seed);
        Self { x: x.clone(), index: RowIndex::new(x, cells.as_ref()), k }
    }

    /// Number of columns that a row has.
    pub fn cols(&self) -> usize {
        self.x.cols()
    }

    /// How many rows it is best asked for at a time.
    pub fn batch(&self) -> usize {
        self.index.together()
    }

    /// The nearest rows to each of these, which are given one after the other: squared distances and row numbers,
    /// nearest first; of equal ones the first row first.
    pub fn search(&self, rows: &[f32]) -> Vec<Vec<(f32, u32)>> {
        let seen = self.index.search(&self.x, rows, self.k, 0.0);
        seen.into_iter().map(|seen| seen.nearest).collect()
    }
}
