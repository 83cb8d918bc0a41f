//! True distances of a query to proposed rows, nearest first. Ours.

use super::scan::squared_distance;
use pulp::{Simd, WithSimd};

/// Up to so many rows are put in order by counting the nearer ones of each: quadratic, but side by side and without a
/// branch to guess wrong.
const FEW: usize = 256;
/// Lanes of the widest register.
const LANES: usize = 16;

/// What is asked: squared distances and rows, nearest first; of equal ones the first row first.
pub(super) struct TrueDistances<'a, I> {
    pub(super) query: &'a [f32],
    /// All rows, one after another.
    pub(super) data: &'a [f32],
    /// The rows that were proposed.
    pub(super) of: I,
}

impl<I: ExactSizeIterator<Item = u32>> WithSimd for TrueDistances<'_, I> {
    type Output = Vec<(f32, u32)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { query, data, of } = self;
        let cols = query.len();
        let mut pairs = Vec::with_capacity(of.len());
        for row in of {
            let other = &data[row as usize * cols..][..cols];
            let distance2 = match S::F32_LANES {
                LANES => in_register(simd, query, other),
                _ => squared_distance(query, other),
            };
            pairs.push((distance2, row));
        }
        match pairs.len() {
            ..=FEW => by_counting(simd, pairs),
            _ => sorted(pairs),
        }
    }
}

/// `squared_distance` where one register holds all its lanes: the same sums in the same order, and so the same bits. What is
/// left of a row fills a part of a register, and the rest of it is 0.
#[inline(always)]
fn in_register<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = S::as_simd_f32s(a);
    let (b, b_rest) = S::as_simd_f32s(b);
    let mut sums = simd.splat_f32s(0.0);
    for (&a, &b) in a.iter().zip(b) {
        let difference = simd.sub_f32s(a, b);
        sums = simd.add_f32s(sums, simd.mul_f32s(difference, difference));
    }
    if !a_rest.is_empty() {
        let difference = simd.sub_f32s(simd.partial_load_f32s(a_rest), simd.partial_load_f32s(b_rest));
        sums = simd.add_f32s(sums, simd.mul_f32s(difference, difference));
    }
    simd.reduce_sum_f32s(sums)
}

/// In order: each pair goes where as many are nearer. Pairs that are as far as each other are left to `sorted`.
#[inline(always)]
fn by_counting<S: Simd>(simd: S, pairs: Vec<(f32, u32)>) -> Vec<(f32, u32)> {
    let mut distances = [f32::INFINITY; FEW];
    distances.iter_mut().zip(&pairs).for_each(|(distance, pair)| *distance = pair.0);
    let filled = pairs.len().next_multiple_of(LANES);
    let (registers, _) = S::as_simd_f32s(&distances[..filled]);
    let (one, none) = (simd.splat_f32s(1.0), simd.splat_f32s(0.0));
    let mut ordered = vec![(f32::NAN, 0); pairs.len()];
    let mut ranks = [0.0; LANES];
    for (these, pairs_here) in registers.iter().zip(pairs.chunks(S::F32_LANES)) {
        let mut nearer = none;
        for &(other, _) in &pairs {
            let is_nearer = simd.less_than_f32s(simd.splat_f32s(other), *these);
            nearer = simd.add_f32s(nearer, simd.select_f32s(is_nearer, one, none));
        }
        simd.partial_store_f32s(&mut ranks[..S::F32_LANES], nearer);
        for (&pair, &rank) in pairs_here.iter().zip(&ranks) {
            ordered[rank as usize] = pair;
        }
    }
    // Of equal ones only the last was written, and left a gap behind it.
    if ordered.iter().any(|(distance2, _)| distance2.is_nan()) { sorted(pairs) } else { ordered }
}

fn sorted(mut pairs: Vec<(f32, u32)>) -> Vec<(f32, u32)> {
    pairs.sort_unstable_by_key(|&(distance2, row)| u64::from(distance2.to_bits()) << 32 | u64::from(row));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The same bits as one distance after another, in the order of a plain sort; with ties, for every width of a rest.
    #[test]
    fn distances_are_the_plain_ones_in_order() {
        for cols in 1..70 {
            let mut random = Random::new(cols as u64);
            // Few values make ties.
            let coarse = cols % 3 == 0;
            let mut draw =
                || if coarse { random.gaussian().round() as f32 } else { random.gaussian() as f32 };
            let rows = 300;
            let data: Vec<f32> = (0..rows * cols).map(|_| draw()).collect();
            let query: Vec<f32> = (0..cols).map(|_| draw()).collect();
            for count in [0, 1, 15, 16, 17, 93, 255, 256, 257, rows] {
                let of = (0..count as u32).map(|at| at * 7 % rows as u32);
                let plain = |row: u32| squared_distance(&query, &data[row as usize * cols..][..cols]);
                let mut truth: Vec<(f32, u32)> = of.clone().map(|row| (plain(row), row)).collect();
                truth.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let found =
                    crate::vectorized::arch().dispatch(TrueDistances { query: &query, data: &data, of });
                let bits = |pairs: &[(f32, u32)]| -> Vec<(u32, u32)> {
                    pairs.iter().map(|(distance2, row)| (distance2.to_bits(), *row)).collect()
                };
                assert_eq!(bits(&found), bits(&truth), "{count} rows of {cols} columns");
            }
        }
    }
}
