//! The rows that may be among the nearest of a query, by product-form distances. True distances decide later, so nobody needs
//! the k-th distance itself: a bound that holds k rows and few more is found sooner, by counting. Ours.

use super::product_form::Rounding;
use super::scan::{Collect, PANEL};
use crate::vectorized::vectorized;

/// Of rows beyond the k-th, up to one in so many stays.
const SPARE: usize = 16;
/// Steps towards the bound at most; then distances are so alike that more of them stay.
const STEPS: usize = 24;

/// The `k` nearest so far, those that rounding may have put behind them, and a few more.
#[derive(Default)]
pub(super) struct Proposals {
    k: usize,
    rounding: Rounding,
    /// Finite from the start: the rows that fill up a panel are infinitely far.
    reach: f32,
    /// The first `len` of both count.
    distances2: Vec<f32>,
    rows: Vec<u32>,
    len: usize,
}

impl Proposals {
    pub(super) fn new(k: usize, rounding: Rounding) -> Self {
        // More room would let in more rows before the bound is first known.
        let room = (2 * k).max(4 * PANEL) + PANEL;
        Self { k, rounding, reach: f32::MAX, distances2: vec![0.0; room], rows: vec![0; room], len: 0 }
    }

    /// All rows that can be among the nearest, and some more.
    pub(super) fn rows(&mut self) -> &[u32] {
        self.shrink();
        &self.rows[..self.len]
    }

    /// Keeps the nearest, and what rounding may have put behind them.
    pub(super) fn shrink(&mut self) {
        if self.len > self.most() {
            self.reach = self.rounding.reach(self.bound());
            let mut kept = 0;
            for at in 0..self.len {
                let (distance2, row) = (self.distances2[at], self.rows[at]);
                (self.distances2[kept], self.rows[kept]) = (distance2, row);
                kept += usize::from(distance2 <= self.reach);
            }
            self.len = kept;
        }
        // Rows closer together than rounding can tell apart: keep them all, the true distances will decide.
        if self.len + 2 * PANEL > self.rows.len() {
            self.distances2.resize(2 * self.rows.len(), 0.0);
            self.rows.resize(2 * self.rows.len(), 0);
        }
    }

    fn most(&self) -> usize {
        self.k + self.k / SPARE
    }

    /// A distance, squared, within which `k` rows are, and few more unless they are as far as each other.
    fn bound(&self) -> f32 {
        let (distances2, k, most) = (&self.distances2[..self.len], self.k as u32, self.most() as u32);
        vectorized(
            #[inline(always)]
            || {
                // Numbers from 0 on sort as their bits do; the greatest of whole numbers is found side by side.
                let bits = || distances2.iter().map(|distance2| distance2.to_bits());
                let (mut low, mut high) = (
                    f32::from_bits(bits().fold(u32::MAX, u32::min)),
                    f32::from_bits(bits().fold(0, u32::max)),
                );
                let (mut below, mut within) = (0, distances2.len() as u32);
                for _ in 0..STEPS {
                    let share = (0.5 * (k + most) as f32 - below as f32) / (within - below) as f32;
                    let middle = low + share.clamp(0.2, 0.8) * (high - low);
                    let count = distances2.iter().map(|&distance2| u32::from(distance2 <= middle)).sum();
                    if count < k {
                        (low, below) = (middle, count);
                        continue;
                    }
                    (high, within) = (middle, count);
                    if count <= most {
                        break;
                    }
                }
                high
            },
        )
    }
}

impl Collect for Proposals {
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.reach
    }

    #[inline(always)]
    fn take(&mut self, values: &[f32], length: f32, row: u32) {
        let reach = self.reach - length;
        // Written whether wanted or not, counted only if wanted: no branch to guess wrong.
        for (&value, row) in values.iter().zip(row..) {
            self.distances2[self.len] = (value + length).max(0.0);
            self.rows[self.len] = row;
            self.len += usize::from(value <= reach);
        }
        if self.len + PANEL > self.rows.len() {
            self.shrink();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// None of the nearest is lost, and of the rest few stay but for rows as far as the last of them.
    #[test]
    fn the_nearest_are_proposed() {
        for (seed, steps) in [(1, 1e9), (2, 1e9), (3, 10.0), (4, 1.0)] {
            let mut random = Random::new(seed);
            // Steps make ties.
            let distances2: Vec<f32> =
                (0..2048).map(|_| ((random.gaussian().powi(2) * steps).round() / steps) as f32).collect();
            for k in [1, 2, 10, 60, 90, 700] {
                let mut proposals = Proposals::new(k, Rounding::default());
                for (values, row) in distances2.chunks(PANEL).zip((0..).step_by(PANEL)) {
                    proposals.take(values, 0.0, row);
                }
                let mut proposed = proposals.rows().to_vec();
                proposed.sort_unstable();
                let mut sorted = distances2.clone();
                sorted.sort_by(f32::total_cmp);
                let within = |limit: f32| -> Vec<u32> {
                    (0..).zip(&distances2).filter(|(_, d)| **d <= limit).map(|(row, _)| row).collect()
                };
                let nearest = within(sorted[k - 1]);
                assert!(nearest.iter().all(|row| proposed.binary_search(row).is_ok()), "seed {seed}, k {k}");
                let most = nearest.len().max(k + k / SPARE) + 1;
                assert!(
                    proposed.len() <= most,
                    "seed {seed}, k {k}: {} of {}",
                    proposed.len(),
                    nearest.len()
                );
            }
        }
    }
}
