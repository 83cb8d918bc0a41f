//! How badly a row's neighbours explain it: the error of rebuilding the row as a weighted mean of them, as locally linear
//! embedding does (Roweis & Saul 2000, Nonlinear Dimensionality Reduction by Locally Linear Embedding), with what PCA
//! dropped taken into account.

use crate::matrix::Matrix;
use pulp::{Simd, WithSimd};

/// Neighbours that a row is rebuilt from.
pub(crate) const NEIGHBOURS: usize = 10;
/// Of the mean diagonal of G, so much is added to it: the weights stay moderate where neighbours are many or alike.
const RIDGE: f64 = 0.1;
/// Neighbours side by side in a register.
const LANES: usize = 16;

/// How many neighbours rows are rebuilt from in a map of so many distinct rows.
pub(crate) fn neighbours_in(rows: usize) -> usize {
    NEIGHBOURS.min(rows.saturating_sub(1))
}

/// Scratch space for one row after another.
#[derive(Default)]
pub(crate) struct Reconstruction {
    /// For each column the differences of the neighbours from the row.
    differences: Vec<[f32; LANES]>,
}

/// G of a row and its neighbours: G_ab = (z_a - x)·(z_b - x) + r² + [a = b] r_a², for one more neighbour than it is
/// rebuilt from.
pub(crate) struct NeighbourGram {
    g: [[f64; NEIGHBOURS + 1]; NEIGHBOURS + 1],
    neighbours: usize,
}

impl NeighbourGram {
    /// wᵀGw of the first ten neighbours, with weights w that sum to 1, from (G + 0.1 tr(G)/k I) w ∝ 1.
    pub(crate) fn squared_error(&self) -> f64 {
        self.error_of(self.neighbours.min(NEIGHBOURS), |a| a)
    }

    /// The same without the neighbour at `left_out`: of the next after it instead, where there is one.
    pub(crate) fn squared_error_without(&self, left_out: usize) -> f64 {
        self.error_of(self.neighbours.saturating_sub(1), |a| a + usize::from(a >= left_out))
    }

    fn error_of(&self, k: usize, neighbour: impl Fn(usize) -> usize) -> f64 {
        let mut g = [[0.0f64; NEIGHBOURS]; NEIGHBOURS];
        for a in 0..k {
            for b in 0..k {
                g[a][b] = self.g[neighbour(a)][neighbour(b)];
            }
        }
        explained(&g, k)
    }
}

impl Reconstruction {
    /// G of a row and `near`, up to eleven rows of `rows`. `residual` is r, how far the row is from its projection, and
    /// `residual_of` the same for those rows.
    pub(crate) fn gram(
        &mut self,
        rows: &Matrix,
        row: &[f32],
        near: impl Iterator<Item = u32>,
        residual: f32,
        residual_of: impl Fn(u32) -> f32,
    ) -> NeighbourGram {
        let mut residuals2 = [0.0f64; NEIGHBOURS + 1];
        let mut k = 0;
        self.differences.clear();
        self.differences.resize(row.len(), [0.0; LANES]);
        for other in near.take(NEIGHBOURS + 1) {
            let there = rows.row(other as usize);
            for ((difference, &a), &b) in self.differences.iter_mut().zip(there).zip(row) {
                difference[k] = a - b;
            }
            residuals2[k] = f64::from(residual_of(other)).powi(2);
            k += 1;
        }
        let products = crate::vectorized::arch().dispatch(Products(&self.differences));
        let mut g = [[0.0f64; NEIGHBOURS + 1]; NEIGHBOURS + 1];
        for a in 0..k {
            for b in 0..k {
                g[a][b] = f64::from(products[a][b]) + f64::from(residual).powi(2);
            }
            g[a][a] += residuals2[a];
        }
        NeighbourGram { g, neighbours: k }
    }
}

/// The differences whose products with each other are asked for, column by column. Registers are named here: left to
/// itself the compiler puts sums of several neighbours into one, and gathers and scatters them in memory.
struct Products<'a>(&'a [[f32; LANES]]);

impl WithSimd for Products<'_> {
    type Output = [[f32; LANES]; NEIGHBOURS + 1];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let mut products = [[0.0; LANES]; NEIGHBOURS + 1];
        for first in (0..LANES).step_by(S::F32_LANES) {
            let these = first..first + S::F32_LANES;
            let mut sums = [simd.splat_f32s(0.0); NEIGHBOURS + 1];
            for column in self.0 {
                let others = S::as_simd_f32s(&column[these.clone()]).0[0];
                for (sum, &one) in sums.iter_mut().zip(column) {
                    *sum = simd.mul_add_f32s(simd.splat_f32s(one), others, *sum);
                }
            }
            for (product, sum) in products.iter_mut().zip(sums) {
                S::as_mut_simd_f32s(&mut product[these.clone()]).0[0] = sum;
            }
        }
        products
    }
}

/// wᵀGw for the first k rows and columns of G.
fn explained(g: &[[f64; NEIGHBOURS]; NEIGHBOURS], k: usize) -> f64 {
    let trace: f64 = (0..k).map(|a| g[a][a]).sum();
    // All neighbours on the spot of the row, or none at all.
    if k == 0 || trace <= 0.0 {
        return 0.0;
    }
    let ridge = RIDGE * trace / k as f64;
    let mut lower = [[0.0f64; NEIGHBOURS]; NEIGHBOURS];
    let mut w = [0.0f64; NEIGHBOURS];
    // Cholesky: the ridge keeps every pivot positive.
    for a in 0..k {
        for b in 0..=a {
            let known: f64 = (0..b).map(|c| lower[a][c] * lower[b][c]).sum();
            let left = g[a][b] + if a == b { ridge } else { 0.0 } - known;
            lower[a][b] = if a == b { left.max(f64::MIN_POSITIVE).sqrt() } else { left / lower[b][b] };
        }
        let known: f64 = (0..a).map(|c| lower[a][c] * w[c]).sum();
        w[a] = (1.0 - known) / lower[a][a];
    }
    for a in (0..k).rev() {
        let known: f64 = (a + 1..k).map(|c| lower[c][a] * w[c]).sum();
        w[a] = (w[a] - known) / lower[a][a];
    }
    let total: f64 = w[..k].iter().sum();
    let error: f64 = (0..k).map(|a| w[a] * (0..k).map(|b| g[a][b] * w[b]).sum::<f64>()).sum();
    (error / (total * total)).max(0.0)
}
