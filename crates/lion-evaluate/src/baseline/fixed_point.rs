//! The fixed point of t-SNE's attraction alone: the row goes where its neighbours pull it, and nothing pushes.
//!
//! Ours: the minimum of the attraction in the loss of van der Maaten and Hinton (2008), "Visualizing Data using
//! t-SNE", by repeated weighted means.

use super::near::{Neighbour, PerplexityNeighbours};
use super::{PlacingMethod, Training};
use lion_tsne::{Matrix, Result};

/// Steps at most.
const STEPS: usize = 1000;
/// A step this short, as a share of how far the neighbours are, is the last.
const SHORT: f64 = 1e-7;

/// y <- Σ wi yi / Σ wi, wi = p(i|x) / (1 + |y - yi|²), from the nearest row's place.
pub(super) struct FixedPoint {
    near: PerplexityNeighbours,
    y: Matrix,
}

impl FixedPoint {
    pub(super) fn new(training: &Training<'_>) -> Self {
        let near = PerplexityNeighbours::new(
            training,
            (3.0 * training.perplexity).ceil() as usize,
            training.perplexity,
        );
        Self { near, y: training.y.clone() }
    }

    pub(super) fn memory(rows: usize, cols: usize) -> u64 {
        PerplexityNeighbours::memory(rows, cols)
    }

    fn place<const D: usize>(&self, neighbours: &[Neighbour]) -> [f64; D] {
        let of = |row: usize| -> [f64; D] { std::array::from_fn(|d| f64::from(self.y.row(row)[d])) };
        let pulls: Vec<([f64; D], f64)> = neighbours.iter().map(|&(row, share)| (of(row), share)).collect();
        let Some(&(mut place, _)) = pulls.first() else { return [0.0; D] };
        for _ in 0..STEPS {
            // Differences from the place, not places: far from 0 those would round worse.
            let (mut total, mut step, mut spread) = (0.0, [0.0; D], 0.0);
            for (other, share) in &pulls {
                let difference: [f64; D] = std::array::from_fn(|d| other[d] - place[d]);
                let distance2 = squared(&difference);
                let weight = share / (1.0 + distance2);
                total += weight;
                spread += weight * distance2;
                for d in 0..D {
                    step[d] += weight * difference[d];
                }
            }
            for d in 0..D {
                step[d] /= total;
                place[d] += step[d];
            }
            if squared(&step) <= SHORT * SHORT * spread / total {
                break;
            }
        }
        place
    }
}

fn squared<const D: usize>(v: &[f64; D]) -> f64 {
    v.iter().map(|v| v * v).sum()
}

impl PlacingMethod for FixedPoint {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        match self.y.cols() {
            1 => self.near.place(rows, |neighbours| self.place::<1>(neighbours)),
            3 => self.near.place(rows, |neighbours| self.place::<3>(neighbours)),
            _ => self.near.place(rows, |neighbours| self.place::<2>(neighbours)),
        }
    }
}

#[cfg(test)]
mod tests;
