//! What the ways of placing share that go by a row's nearest rows.
//!
//! The perplexity is that of van der Maaten and Hinton (2008), "Visualizing Data using t-SNE".

use super::Training;
use lion_tsne::numerics::NearestRows;
use lion_tsne::tsne::perplexity_weights;
use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;

/// Rows that have so many columns and finite values, or an error.
pub(super) fn check_rows(rows: &Matrix, cols: usize) -> Result<()> {
    if rows.cols() != cols {
        let found = rows.cols();
        return Err(Error::Data(format!("the map has {cols} columns, the rows to place have {found}")));
    }
    rows.check_finite()
}

/// The place of each row, one by one.
pub(super) fn in_parallel<const D: usize>(
    rows: &Matrix,
    place: impl Fn(&[f32]) -> [f64; D] + Send + Sync,
) -> Result<Matrix> {
    let places: Vec<[f64; D]> = rows.data().par_chunks_exact(rows.cols()).map(place).collect();
    Matrix::new(rows.rows(), D, as_data(&places))
}

fn as_data<const D: usize>(places: &[[f64; D]]) -> Vec<f32> {
    places.as_flattened().iter().map(|&v| v as f32).collect()
}

/// The rows of a map, ready to tell which are nearest to a new row and how near, by the perplexity.
pub(super) struct PerplexityNeighbours {
    rows: NearestRows,
    perplexity: f64,
}

/// A neighbour: its row, and its share p(i|x).
pub(super) type Neighbour = (usize, f64);

impl PerplexityNeighbours {
    /// For so many neighbours, or all rows if there are fewer; every row is compared with where rows are few, and those in
    /// the cells around where they are many.
    pub(super) fn new(training: &Training<'_>, count: usize, perplexity: f64) -> Self {
        Self { rows: NearestRows::new(training.x, count, training.seed), perplexity }
    }

    pub(super) fn memory(rows: usize, cols: usize) -> u64 {
        rows as u64 * (8 * cols as u64 + 64)
    }

    /// The place of each row by its neighbours, nearest first.
    pub(super) fn place<const D: usize>(
        &self,
        rows: &Matrix,
        place: impl Fn(&[Neighbour]) -> [f64; D] + Sync,
    ) -> Result<Matrix> {
        check_rows(rows, self.rows.cols())?;
        let block = self.rows.batch().min(BLOCK) * rows.cols();
        let blocks: Vec<Vec<[f64; D]>> = rows
            .data()
            .par_chunks(block)
            .map(|rows| {
                let found = self.rows.search(rows);
                found.iter().map(|nearest| place(&self.shares(nearest))).collect()
            })
            .collect();
        Matrix::new(rows.rows(), D, as_data(&blocks.concat()))
    }

    fn shares(&self, nearest: &[(f32, u32)]) -> Vec<Neighbour> {
        let distances2: Vec<f32> = nearest.iter().map(|&(distance2, _)| distance2).collect();
        let mut weights = vec![0.0; nearest.len()];
        // Fewer neighbours than the perplexity cannot have it.
        let perplexity =
            if self.perplexity > nearest.len() as f64 { nearest.len() as f64 / 3.0 } else { self.perplexity };
        perplexity_weights(&distances2, perplexity, &mut weights);
        nearest.iter().zip(weights).map(|(&(_, row), weight)| (row as usize, weight)).collect()
    }
}

/// Rows that are searched together: each is then placed in turn, so that few of them share a task.
const BLOCK: usize = 32;
