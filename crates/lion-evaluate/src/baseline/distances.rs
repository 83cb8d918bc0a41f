//! Distances to all rows of a map, in `f64`, many side by side.

use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;

/// Rows taken at a time: their sums stay in the nearest cache while the columns pass.
const TOGETHER: usize = 512;
/// Rows of which one thread does the sums for; whoever has how many threads, the cut is the same.
const BLOCK: usize = 16;

/// The rows of a map, column after column.
pub(super) struct ColumnMajor {
    rows: usize,
    cols: usize,
    values: Vec<f32>,
}

impl ColumnMajor {
    pub(super) fn new(x: &Matrix) -> Self {
        let (rows, cols) = (x.rows(), x.cols());
        let mut values = vec![0.0; rows * cols];
        for (i, row) in x.data().chunks_exact(cols).enumerate() {
            row.iter().enumerate().for_each(|(k, &v)| values[k * rows + i] = v);
        }
        Self { rows, cols, values }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Refuses rows that are not as wide as those of the map.
    pub(super) fn check(&self, rows: &Matrix) -> Result<()> {
        match rows.cols() == self.cols {
            true => Ok(()),
            false => Err(Error::Data(format!(
                "the rows have {} columns, and those of the map {}",
                rows.cols(),
                self.cols
            ))),
        }
    }

    /// Fills in |row - xi|² for every i. Each is summed up in the order of the columns, so that it is the same from either
    /// end.
    #[inline(always)]
    pub(super) fn distances2(&self, row: &[f32], distances2: &mut [f64]) {
        for (block, out) in distances2.chunks_mut(TOGETHER).enumerate() {
            out.fill(0.0);
            for (k, &v) in row.iter().enumerate() {
                let start = k * self.rows + block * TOGETHER;
                let others = &self.values[start..start + out.len()];
                for (sum, &other) in out.iter_mut().zip(others) {
                    let difference = f64::from(other) - f64::from(v);
                    *sum += difference * difference;
                }
            }
        }
    }
}

/// Fills `out`, so many values for each row, by rows: `work` gets a row's number and its part of `out`, and room for one
/// number for each row of the map.
pub(super) fn for_each_row<T: Send>(
    out: &mut [T],
    width: usize,
    room: usize,
    work: impl Fn(usize, &mut [T], &mut [f64]) + Sync,
) {
    out.par_chunks_mut(BLOCK * width).enumerate().for_each_init(
        || vec![0.0; room],
        |scratch, (block, out)| {
            for (i, out) in out.chunks_mut(width).enumerate() {
                work(block * BLOCK + i, out, scratch);
            }
        },
    );
}

/// Σ ai bi, in eight sums side by side.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; LANES];
    for (a, b) in left.zip(right) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A place as maps have it. What is farther than they can say is put at their end.
#[inline(always)]
pub(super) fn coordinate(value: f64) -> f32 {
    value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}
