//! The rows that may be among the nearest of a query, by product-form distances. True distances decide later, so nobody needs
//! the k-th distance itself: a bound that holds k rows and few more is found sooner, by counting. Ours.

use super::product_form::Rounding;
use super::scan::{Collect, PANEL};
use crate::vectorized::vectorized;
use pulp::Simd;

/// Of rows beyond the k-th, up to one in so many stays.
const SPARE: usize = 16;
/// Steps towards the bound at most; then distances are so alike that more of them stay.
const STEPS: usize = 24;
/// Lanes of a register that can move some of them together, and their numbers.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 16;
#[cfg(target_arch = "x86_64")]
const NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

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
    fn take<S: Simd>(&mut self, simd: S, values: &[f32], length: f32, row: u32) {
        match compressing(simd) {
            #[cfg(target_arch = "x86_64")]
            Some(simd) => self.take_registers(simd, values, length, row),
            _ => self.take_each(values, length, row),
        }
        if self.len + PANEL > self.rows.len() {
            self.shrink();
        }
    }
}

impl Proposals {
    #[inline(always)]
    fn take_each(&mut self, values: &[f32], length: f32, row: u32) {
        let reach = self.reach - length;
        // Written whether wanted or not, counted only if wanted: no branch to guess wrong.
        for (&value, row) in values.iter().zip(row..) {
            self.distances2[self.len] = (value + length).max(0.0);
            self.rows[self.len] = row;
            self.len += usize::from(value <= reach);
        }
    }

    /// The same, where a register can move its wanted lanes together.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn take_registers(&mut self, simd: pulp::x86::V4, values: &[f32], length: f32, row: u32) {
        let reach = simd.splat_f32s(self.reach - length);
        let (length, nothing) = (simd.splat_f32s(length), simd.splat_f32s(0.0));
        let (registers, _) = pulp::x86::V4::as_simd_f32s(values);
        for (&values, first) in registers.iter().zip((row..).step_by(LANES)) {
            let wanted = simd.less_than_or_equal_f32s(values, reach).0;
            let distances2 = simd.max_f32s(simd.add_f32s(values, length), nothing);
            let rows = simd.add_u32s(simd.splat_u32s(first), pulp::cast(NUMBERS));
            let distances2: [f32; LANES] =
                pulp::cast(simd.avx512f._mm512_maskz_compress_ps(wanted, pulp::cast(distances2)));
            let rows: [u32; LANES] =
                pulp::cast(simd.avx512f._mm512_maskz_compress_epi32(wanted, pulp::cast(rows)));
            // Whole registers are written, and only the wanted lanes count.
            self.distances2[self.len..self.len + LANES].copy_from_slice(&distances2);
            self.rows[self.len..self.len + LANES].copy_from_slice(&rows);
            self.len += wanted.count_ones() as usize;
        }
    }
}

/// The registers, if they can move some of their lanes together.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compressing<S: Simd>(simd: S) -> Option<pulp::x86::V4> {
    (&simd as &dyn std::any::Any).downcast_ref().copied()
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn compressing<S: Simd>(_: S) -> Option<std::convert::Infallible> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use pulp::WithSimd;

    /// Shows all of them, a panel at a time, with the registers of this machine.
    struct TakeAll<'a> {
        proposals: &'a mut Proposals,
        distances2: &'a [f32],
    }

    impl WithSimd for TakeAll<'_> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            for (values, row) in self.distances2.chunks(PANEL).zip((0..).step_by(PANEL)) {
                self.proposals.take(simd, values, 0.0, row);
            }
        }
    }

    /// Registers that move lanes together propose the same rows in the same order as one lane after another.
    #[test]
    fn wide_registers_propose_the_same() {
        let mut random = Random::new(7);
        let distances2: Vec<f32> = (0..4096).map(|_| random.gaussian().powi(2) as f32 - 0.001).collect();
        for k in [1, 30, 90] {
            let mut proposals = [(); 2].map(|()| Proposals::new(k, Rounding::default()));
            let [wide, plain] = &mut proposals;
            crate::vectorized::arch().dispatch(TakeAll { proposals: wide, distances2: &distances2 });
            TakeAll { proposals: plain, distances2: &distances2 }.with_simd(pulp::Scalar::new());
            assert_eq!(wide.rows(), plain.rows());
            assert_eq!(wide.distances2[..wide.len], plain.distances2[..plain.len]);
        }
    }

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
                crate::vectorized::arch()
                    .dispatch(TakeAll { proposals: &mut proposals, distances2: &distances2 });
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
