//! Neighbours become affinities: the perplexity search, then symmetric P with rows compressed. P is of van der Maaten &
//! Hinton 2008, Visualizing Data using t-SNE; over neighbours only, as in van der Maaten 2014, Accelerating t-SNE using
//! Tree-Based Algorithms. The search by Newton steps is ours.

mod reorder;
mod symmetric;

use crate::index::Neighbours;
use crate::vectorized::vectorized;
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

/// Fills `weights` with p(j|i) ∝ exp(-d²/2σ²), σ such that their entropy is ln(perplexity). The distances are squared
/// and ascending. Where no σ can do that (more than `perplexity` rows at the nearest distance), the nearest share
/// all the weight.
pub fn perplexity_weights(distances2: &[f32], perplexity: f64, weights: &mut [f64]) {
    let nearest = f64::from(distances2.first().copied().unwrap_or(0.0));
    let spread = distances2.iter().map(|&d| f64::from(d) - nearest).sum::<f64>() / distances2.len() as f64;
    let start = if spread > 0.0 { -spread.ln() } else { 0.0 };
    find_log_beta(start, perplexity.ln(), |beta| {
        let moments = vectorized(
            #[inline(always)]
            || WeightSums::at(distances2, nearest, beta, weights),
        );
        moments.entropy(beta)
    });
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// The ln(beta), beta = 1/2σ², at which the entropy is `target` to 1e-9, from a start. `entropy` tells it and its
/// derivative by ln(beta). Where none will do, the last that was tried.
pub fn find_log_beta(start: f64, target: f64, mut entropy: impl FnMut(f64) -> (f64, f64)) -> f64 {
    // By Newton's method, kept inside a bracket that halves otherwise.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut log_beta = start;
    for _ in 0..100 {
        let (entropy, slope) = entropy(log_beta.exp());
        let error = entropy - target;
        if error.abs() < 1e-9 {
            break;
        }
        if error > 0.0 {
            low = log_beta
        } else {
            high = log_beta
        }
        let newton = log_beta - error / slope;
        // Where the entropy hardly changes Newton's method goes astray.
        let next = if slope < -1e-12 && newton > low.max(-700.0) && newton < high.min(700.0) {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else if error > 0.0 {
            log_beta + 2.0
        } else {
            log_beta - 2.0
        };
        if !(-700.0..700.0).contains(&next) {
            break;
        }
        log_beta = next;
    }
    log_beta
}

/// Σ w, Σ w d and Σ w d², w = exp(-beta d), where d are squared distances less the nearest.
struct WeightSums([f64; 3]);

impl WeightSums {
    /// Leaves the weights behind, not normalised. So many sums side by side that no result is waited for, always the same.
    #[inline(always)]
    fn at(distances2: &[f32], nearest: f64, beta: f64, weights: &mut [f64]) -> Self {
        const LANES: usize = 32;
        let mut sums = [[0.0f64; LANES]; 3];
        for (weights, distances) in weights.chunks_mut(LANES).zip(distances2.chunks(LANES)) {
            // Farther than anything: no weight.
            let mut lanes = [f32::MAX; LANES];
            lanes[..distances.len()].copy_from_slice(distances);
            let d = lanes.map(|distance| f64::from(distance) - nearest);
            let w = exp(d.map(|d| -beta * d));
            for lane in 0..LANES {
                sums[0][lane] += w[lane];
                sums[1][lane] += w[lane] * d[lane];
                sums[2][lane] += w[lane] * d[lane] * d[lane];
            }
            weights.copy_from_slice(&w[..weights.len()]);
        }
        Self(sums.map(|lanes| lanes.iter().sum()))
    }

    fn entropy(&self, beta: f64) -> (f64, f64) {
        entropy(&self.0, beta)
    }
}

/// The entropy of weights w = exp(-beta d) by Σ w, Σ w d and Σ w d², and its derivative by ln(beta).
pub fn entropy([sum, first, second]: &[f64; 3], beta: f64) -> (f64, f64) {
    let mean = first / sum;
    let variance = (second / sum - mean * mean).max(0.0);
    (sum.ln() + beta * mean, -beta * beta * variance)
}

/// e to powers from 0 downwards, to the last digit or two; each step is taken for all of them, so that they go side by
/// side in registers.
#[inline(always)]
pub fn exp<const LANES: usize>(powers: [f64; LANES]) -> [f64; LANES] {
    /// Added and taken away again, it leaves a whole number, which is then found in the lowest bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    /// ln 2 in two parts: the first times any exponent is exact.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    /// 1 / n! from 12 down to 0.
    const SERIES: [f64; 13] = {
        let mut series = [1.0; 13];
        let mut n = 1;
        while n < 13 {
            series[12 - n] = series[13 - n] / n as f64;
            n += 1;
        }
        series
    };
    let powers = powers.map(|power| power.max(-708.0));
    let shifted = powers.map(|power| power * std::f64::consts::LOG2_E + WHOLE);
    let mut r = [0.0; LANES];
    for lane in 0..LANES {
        let exponent = shifted[lane] - WHOLE;
        r[lane] = powers[lane] - exponent * LN_2[0] - exponent * LN_2[1];
    }
    let mut sums = [0.0; LANES];
    for term in SERIES {
        for lane in 0..LANES {
            sums[lane] = sums[lane] * r[lane] + term;
        }
    }
    std::array::from_fn(|lane| {
        f64::from_bits(sums[lane].to_bits().wrapping_add(shifted[lane].to_bits() << 52))
    })
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
