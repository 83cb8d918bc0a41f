//! Neighbours become affinities: the perplexity search, then symmetric P with rows compressed. P is of van der Maaten &
//! Hinton 2008, Visualizing Data using t-SNE; over neighbours only, as in van der Maaten 2014, Accelerating t-SNE using
//! Tree-Based Algorithms. The search by Newton steps is ours.

mod perplexity;
mod reorder;
mod symmetric;

pub use perplexity::{entropy, exp, find_log_beta, perplexity_weights};

use crate::index::Neighbours;
use rayon::prelude::*;
pub(crate) use reorder::PIECES;
use symmetric::symmetric;
pub(crate) use symmetric::{PARTS, WAVES};

/// The symmetric affinities pij, rows compressed; they sum to 1.
#[derive(Clone, Debug)]
pub struct Affinities {
    /// Row `i` is at `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Column of each affinity; ascending within a row, unless rows were renamed.
    pub columns: Vec<u32>,
    /// The affinities.
    pub values: Vec<f32>,
}

impl Affinities {
    /// From the nearest neighbours of each row; `perplexity` must be below their number.
    pub fn new(neighbours: Neighbours, perplexity: f64) -> Self {
        symmetric(conditional(neighbours, perplexity))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns and affinities of row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// p(j|i) for the neighbours j of each i, columns ascending within a row.
struct Conditional {
    k: usize,
    columns: Vec<u32>,
    values: Vec<f32>,
}

fn conditional(neighbours: Neighbours, perplexity: f64) -> Conditional {
    let Neighbours { k, indices: mut columns, distances2: mut values } = neighbours;
    columns.par_chunks_mut(k).zip(values.par_chunks_mut(k)).for_each_init(
        || (vec![0.0; k], Vec::with_capacity(k)),
        |(weights, pairs), (columns, values)| {
            perplexity_weights(values, perplexity, weights);
            pairs.clear();
            pairs.extend(columns.iter().copied().zip(weights.iter().map(|&w| w as f32)));
            pairs.sort_unstable_by_key(|&(column, _)| column);
            for ((column, value), &(c, v)) in columns.iter_mut().zip(values).zip(pairs.iter()) {
                (*column, *value) = (c, v);
            }
        },
    );
    Conditional { k, columns, values }
}

/// Cuts an array with compressed rows into pieces of `size` rows.
fn split_rows<'a, T>(offsets: &[usize], size: usize, mut rest: &'a mut [T]) -> Vec<&'a mut [T]> {
    let rows = offsets.len() - 1;
    let mut pieces = Vec::with_capacity(rows.div_ceil(size));
    for first in (0..rows).step_by(size) {
        let (piece, tail) = rest.split_at_mut(offsets[(first + size).min(rows)] - offsets[first]);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

#[cfg(test)]
mod tests;
