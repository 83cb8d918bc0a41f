//! The rows of one batch as t-SNE sees them: every affinity between them, and the KL divergence of places with its
//! derivative.
//!
//! Source: van der Maaten (2009), "Learning a Parametric Embedding by Preserving Local Structure", for affinities
//! within a batch.

use crate::baseline::dense::{multiply, view, view_mut};
use lion_tsne::numerics::vectorized;
use lion_tsne::tsne::perplexity_weights;
use rayon::prelude::*;

/// Rows that a thread takes at a time.
const BLOCK: usize = 128;
/// Sums side by side.
const LANES: usize = 16;

/// The affinities pij of all pairs, which sum to 1.
pub(super) struct BatchAffinities {
    rows: usize,
    /// Row after row, each with zeros behind it to fill all lanes.
    p: Vec<f32>,
    /// Σ pij ln pij.
    negative_entropy: f64,
}

impl BatchAffinities {
    /// From rows of so many columns. `scratch` is as large as what becomes of them, and can be used again.
    pub(super) fn new(x: &[f32], cols: usize, perplexity: f64, scratch: &mut Vec<f32>) -> Self {
        let rows = x.len() / cols;
        scratch.clear();
        scratch.resize(rows * rows, 0.0);
        let lengths: Vec<f32> = x.chunks_exact(cols).map(|row| row.iter().map(|v| v * v).sum()).collect();
        scratch.par_chunks_mut(BLOCK * rows).enumerate().for_each_init(
            || (vec![0.0; rows - 1], vec![0.0; rows - 1]),
            |(others, weights), (block, products)| {
                let first = block * BLOCK;
                let count = products.len() / rows;
                let here = view(&x[first * cols..(first + count) * cols], cols);
                multiply(view_mut(products, rows), here, view(x, cols).transpose());
                for (i, products) in (first..).zip(products.chunks_exact_mut(rows)) {
                    products.iter_mut().zip(&lengths).for_each(|(product, length)| {
                        *product = (lengths[i] + length - 2.0 * *product).max(0.0);
                    });
                    conditional(i, products, perplexity, others, weights);
                }
            },
        );
        let p = symmetric(scratch, rows);
        let entropies = p.par_chunks(stride(rows)).map(|row| {
            row.iter().filter(|p| **p > 0.0).map(|&p| f64::from(p) * f64::from(p).ln()).sum::<f64>()
        });
        let entropies: Vec<f64> = entropies.collect();
        Self { rows, negative_entropy: entropies.iter().sum(), p }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// All pij, row after row.
    #[cfg(test)]
    pub(super) fn affinities(&self) -> Vec<f64> {
        let rows = self.p.chunks_exact(stride(self.rows));
        rows.flat_map(|row| row[..self.rows].iter().map(|p| f64::from(*p))).collect()
    }

    /// The derivative of the KL divergence by the places, times the number of rows: so that steps do not depend on it. The
    /// affinities count as often as `exaggeration` says. Returns Z, the sum of all 1 / (1 + |yi - yj|²).
    pub(super) fn gradient(&self, y: &[f32], exaggeration: f32, gradient: &mut [f32]) -> f64 {
        match y.len() / self.rows {
            1 => self.gradient_in::<1>(y, exaggeration, gradient),
            3 => self.gradient_in::<3>(y, exaggeration, gradient),
            _ => self.gradient_in::<2>(y, exaggeration, gradient),
        }
    }

    /// The KL divergence, given the Z of the gradient.
    pub(super) fn kl(&self, y: &[f32], z: f64) -> f64 {
        let dims = y.len() / self.rows;
        let rows: Vec<f64> = self
            .p
            .par_chunks(stride(self.rows))
            .zip(y.par_chunks(dims))
            .map(|(p, here)| {
                let pairs = p.iter().zip(y.chunks_exact(dims)).filter(|(p, _)| **p > 0.0);
                let energy = |(p, there): (&f32, &[f32])| {
                    let squares = here.iter().zip(there).map(|(a, b)| f64::from(a - b).powi(2));
                    f64::from(*p) * squares.sum::<f64>().ln_1p()
                };
                pairs.map(energy).sum::<f64>()
            })
            .collect();
        self.negative_entropy + rows.iter().sum::<f64>() + z.ln()
    }

    fn gradient_in<const D: usize>(&self, y: &[f32], exaggeration: f32, gradient: &mut [f32]) -> f64 {
        let n = self.rows;
        // Coordinate by coordinate; places that are not there are so far off that nothing comes from them.
        let mut columns: [Vec<f32>; D] = std::array::from_fn(|_| vec![1e15; stride(n)]);
        for (i, place) in y.chunks_exact(D).enumerate() {
            (0..D).for_each(|d| columns[d][i] = place[d]);
        }
        let columns: [&[f32]; D] = std::array::from_fn(|d| columns[d].as_slice());
        let mut forces = vec![Forces::<D>::default(); n];
        forces.par_chunks_mut(BLOCK).zip(self.p.par_chunks(BLOCK * stride(n))).enumerate().for_each(
            |(block, (forces, p))| {
                vectorized(
                    #[inline(always)]
                    || {
                        for (i, (forces, p)) in
                            (block * BLOCK..).zip(forces.iter_mut().zip(p.chunks_exact(stride(n))))
                        {
                            *forces = Forces::on(i, p, columns);
                        }
                    },
                );
            },
        );
        // A row is no neighbour of itself, and was counted once as one.
        let z = forces.iter().map(|forces| f64::from(forces.sum)).sum::<f64>() - n as f64;
        let scale = 4.0 * n as f32;
        for (gradient, forces) in gradient.chunks_exact_mut(D).zip(&forces) {
            for d in 0..D {
                let repulsion = (f64::from(forces.repulsion[d]) / z) as f32;
                gradient[d] = scale * (exaggeration * forces.attraction[d] - repulsion);
            }
        }
        z
    }
}

/// What the others do to one row: Σ p q (yi - yj), Σ q² (yi - yj) and Σ q, q = 1 / (1 + |yi - yj|²).
#[derive(Clone)]
struct Forces<const D: usize> {
    attraction: [f32; D],
    repulsion: [f32; D],
    sum: f32,
}

impl<const D: usize> Default for Forces<D> {
    fn default() -> Self {
        Self { attraction: [0.0; D], repulsion: [0.0; D], sum: 0.0 }
    }
}

impl<const D: usize> Forces<D> {
    #[inline(always)]
    fn on(i: usize, p: &[f32], y: [&[f32]; D]) -> Self {
        let here: [f32; D] = std::array::from_fn(|d| y[d][i]);
        let mut attraction = [[0.0f32; LANES]; D];
        let mut repulsion = [[0.0f32; LANES]; D];
        let mut sums = [0.0f32; LANES];
        let chunks: [&[[f32; LANES]]; D] = std::array::from_fn(|d| y[d].as_chunks::<LANES>().0);
        for (at, p) in p.as_chunks::<LANES>().0.iter().enumerate() {
            let mut squares = [1.0f32; LANES];
            let mut apart = [[0.0f32; LANES]; D];
            for d in 0..D {
                for lane in 0..LANES {
                    apart[d][lane] = here[d] - chunks[d][at][lane];
                    squares[lane] += apart[d][lane] * apart[d][lane];
                }
            }
            for lane in 0..LANES {
                let q = 1.0 / squares[lane];
                sums[lane] += q;
                for d in 0..D {
                    attraction[d][lane] += p[lane] * q * apart[d][lane];
                    repulsion[d][lane] += q * q * apart[d][lane];
                }
            }
        }
        Self {
            attraction: attraction.map(|lanes| lanes.iter().sum()),
            repulsion: repulsion.map(|lanes| lanes.iter().sum()),
            sum: sums.iter().sum(),
        }
    }
}

/// Rows of affinities begin so many apart.
fn stride(rows: usize) -> usize {
    rows.next_multiple_of(LANES)
}

/// Turns squared distances to all rows into p(j|i), none of it for i itself.
fn conditional(i: usize, row: &mut [f32], perplexity: f64, others: &mut [f32], weights: &mut [f64]) {
    others[..i].copy_from_slice(&row[..i]);
    others[i..].copy_from_slice(&row[i + 1..]);
    // The search for the weights reads the nearest distance off the front.
    let nearest = (0..others.len()).min_by(|&a, &b| others[a].total_cmp(&others[b])).unwrap_or(0);
    others.swap(0, nearest);
    perplexity_weights(others, perplexity, weights);
    weights.swap(0, nearest);
    row[i] = 0.0;
    row[..i].iter_mut().zip(&weights[..i]).for_each(|(p, weight)| *p = *weight as f32);
    row[i + 1..].iter_mut().zip(&weights[i..]).for_each(|(p, weight)| *p = *weight as f32);
}

/// pij = (p(j|i) + p(i|j)) / 2N.
fn symmetric(conditional: &[f32], rows: usize) -> Vec<f32> {
    const SIDE: usize = 32;
    let (scale, stride) = (0.5 / rows as f32, stride(rows));
    let mut p = vec![0.0; rows * stride];
    p.par_chunks_mut(SIDE * stride).enumerate().for_each(|(block, p)| {
        // In squares, so that what is read down a column is still in the cache for the next one.
        for start in (0..rows).step_by(SIDE) {
            for (i, p) in (block * SIDE..).zip(p.chunks_exact_mut(stride)) {
                for j in start..(start + SIDE).min(rows) {
                    p[j] = scale * (conditional[i * rows + j] + conditional[j * rows + i]);
                }
            }
        }
    });
    p
}
