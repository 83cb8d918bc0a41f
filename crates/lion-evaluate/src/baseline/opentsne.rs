//! openTSNE's way: a start among a few neighbours' places, then descent by the row's own divergence from the map.
//!
//! Source: Poličar, Stražar and Zupan (2023), "Embedding to reference t-SNE space addresses batch effects in
//! single-cell classification", as openTSNE's `transform` does it, with the repulsion exact.

use super::near::{Neighbour, PerplexityNeighbours};
use super::{PlacingMethod, Training};
use crate::joined::StudentField;
use lion_tsne::{Matrix, Result};

/// Where the descent starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTsneStart {
    /// At the median of the neighbours' places, each coordinate by itself.
    Median,
    /// At the mean of the neighbours' places by their affinity. (openTSNE itself weighs them by distance, so that the
    /// farthest count most.)
    Weighted,
}

lion_tsne::named!(OpenTsneStart, "start": Median = "median", Weighted = "weighted");

// What openTSNE's `transform` does unless told otherwise.
const PERPLEXITY: f64 = 5.0;
const NEIGHBOURS: usize = 15;
const ITERATIONS: usize = 250;
const EXAGGERATION: f64 = 1.5;
const MOMENTUM: f64 = 0.8;
const RATE: f64 = 0.1;
const LONGEST_GRADIENT: f64 = 0.25;
const GAIN_UP: f64 = 0.2;
const GAIN_DOWN: f64 = 0.8;
const LEAST_GAIN: f64 = 0.01;

/// Descends KL(p(.|x) || q(.|x)), where p is over a few neighbours and q over all rows of the map. openTSNE estimates the
/// repulsion by a tree or a grid; here it is exact.
pub(super) struct OpenTsne {
    near: PerplexityNeighbours,
    field: StudentField,
    start: OpenTsneStart,
}

impl OpenTsne {
    pub(super) fn new(training: &Training<'_>, start: OpenTsneStart) -> Self {
        Self {
            near: PerplexityNeighbours::new(training, NEIGHBOURS, PERPLEXITY),
            field: StudentField::new(training.y),
            start,
        }
    }

    pub(super) fn memory(rows: usize, cols: usize) -> u64 {
        PerplexityNeighbours::memory(rows, cols) + 24 * rows as u64
    }

    fn place<const D: usize>(&self, neighbours: &[Neighbour]) -> [f64; D] {
        let pulls: Vec<([f64; D], f64)> =
            neighbours.iter().map(|&(row, share)| (self.field.place(row), share)).collect();
        let mut place = match self.start {
            OpenTsneStart::Median => median(&pulls),
            OpenTsneStart::Weighted => {
                std::array::from_fn(|d| pulls.iter().map(|(place, share)| share * place[d]).sum())
            }
        };
        let (mut step, mut gain) = ([0.0f64; D], [1.0; D]);
        for _ in 0..ITERATIONS {
            let gradient = self.gradient(&pulls, &place);
            for d in 0..D {
                let same = sign(step[d]) == sign(gradient[d]);
                gain[d] = if same { gain[d] * GAIN_DOWN + LEAST_GAIN } else { gain[d] + GAIN_UP };
                step[d] = MOMENTUM * step[d] - RATE * gain[d] * gradient[d];
                place[d] += step[d];
            }
        }
        place
    }

    /// A quarter of the gradient, shortened where it is long: openTSNE leaves out the factor.
    fn gradient<const D: usize>(&self, pulls: &[([f64; D], f64)], place: &[f64; D]) -> [f64; D] {
        let push = self.field.push(place);
        let mut gradient = push.repulsion.map(|v| -v / push.near);
        for (other, share) in pulls {
            let difference: [f64; D] = std::array::from_fn(|d| place[d] - other[d]);
            let weight = EXAGGERATION * share / (1.0 + difference.iter().map(|v| v * v).sum::<f64>());
            for d in 0..D {
                gradient[d] += weight * difference[d];
            }
        }
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let shorten = (LONGEST_GRADIENT / (length + 1e-6)).min(1.0);
        gradient.map(|g| shorten * g)
    }
}

/// -1, 0 or 1: a step of 0 goes neither with the gradient nor against it.
fn sign(v: f64) -> i8 {
    i8::from(v > 0.0) - i8::from(v < 0.0)
}

fn median<const D: usize>(pulls: &[([f64; D], f64)]) -> [f64; D] {
    std::array::from_fn(|d| {
        let mut values: Vec<f64> = pulls.iter().map(|(place, _)| place[d]).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => 0.0,
            n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
        }
    })
}

impl PlacingMethod for OpenTsne {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        match self.field.dims() {
            1 => self.near.place(rows, |neighbours| self.place::<1>(neighbours)),
            3 => self.near.place(rows, |neighbours| self.place::<3>(neighbours)),
            _ => self.near.place(rows, |neighbours| self.place::<2>(neighbours)),
        }
    }
}

#[cfg(test)]
mod tests;
