//! Repulsion from every pair: the oracle, and the quickest for small maps.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Places kept side by side, a multiple of what any register holds.
const GROUP: usize = 16;
/// Rows that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 64;
/// Groups summed in f32 before the sums go on in f64: few enough not to round.
const RUN: usize = 64;
/// Where the places that fill up the last group are: too far to count, near enough to be squared twice.
const FAR: f32 = 1e9;

/// Fills `forces` with each row's repulsion and returns Z.
pub(crate) fn exact<const D: usize>(y: &[[f32; D]], forces: &mut [[f32; D]]) -> f64 {
    let groups = grouped(y);
    let mut sums = vec![0.0f64; y.len().div_ceil(BLOCK)];
    let blocks = forces.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).zip(&mut sums);
    blocks.for_each(|((forces, y), sum)| {
        *sum = crate::vectorized::arch().dispatch(PairwiseForces { groups: &groups, y, forces });
    });
    sums.iter().sum()
}

/// Coordinates one dimension after the other, in groups.
fn grouped<const D: usize>(y: &[[f32; D]]) -> Vec<[[f32; GROUP]; D]> {
    let mut groups = vec![[[FAR; GROUP]; D]; y.len().div_ceil(GROUP)];
    for (i, place) in y.iter().enumerate() {
        for d in 0..D {
            groups[i / GROUP][d][i % GROUP] = place[d];
        }
    }
    groups
}

struct PairwiseForces<'a, const D: usize> {
    groups: &'a [[[f32; GROUP]; D]],
    y: &'a [[f32; D]],
    forces: &'a mut [[f32; D]],
}

impl<const D: usize> WithSimd for PairwiseForces<'_, D> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let mut sum = 0.0;
        for (forces, here) in self.forces.chunks_mut(2).zip(self.y.chunks(2)) {
            // The last row may have no partner, and is then its own.
            let (pair, z) = repel(simd, self.groups, &[here[0], here[here.len() - 1]]);
            for (at, force) in forces.iter_mut().enumerate() {
                *force = pair[at].map(|sum| sum as f32);
                // Each row meets itself once, at weight 1.
                sum += z[at] - 1.0;
            }
        }
        sum
    }
}

/// Repulsion on two rows, and their shares of Z. Two, because division takes the most time: one division gives the
/// inverses of both distances.
#[inline(always)]
fn repel<S: Simd, const D: usize>(
    simd: S,
    groups: &[[[f32; GROUP]; D]],
    here: &[[f32; D]; 2],
) -> ([[f64; D]; 2], [f64; 2]) {
    let here = here.map(|place| place.map(|v| simd.splat_f32s(v)));
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let (mut forces, mut totals) = ([[0.0; D]; 2], [0.0; 2]);
    for groups in groups.chunks(RUN) {
        let (mut sums, mut z) = ([[zero; D]; 2], [zero; 2]);
        for group in groups {
            let columns = group.each_ref().map(|column| S::as_simd_f32s(column).0);
            for register in 0..GROUP / S::F32_LANES {
                let mut differences = [[zero; D]; 2];
                let mut distances = [one; 2];
                for row in 0..2 {
                    for d in 0..D {
                        let difference = simd.sub_f32s(here[row][d], columns[d][register]);
                        differences[row][d] = difference;
                        distances[row] = simd.mul_add_e_f32s(difference, difference, distances[row]);
                    }
                }
                let inverse = simd.div_f32s(one, simd.mul_f32s(distances[0], distances[1]));
                for row in 0..2 {
                    let q = simd.mul_f32s(inverse, distances[1 - row]);
                    let q2 = simd.mul_f32s(q, q);
                    z[row] = simd.add_f32s(z[row], q);
                    for d in 0..D {
                        sums[row][d] = simd.mul_add_e_f32s(q2, differences[row][d], sums[row][d]);
                    }
                }
            }
        }
        for row in 0..2 {
            totals[row] += f64::from(simd.reduce_sum_f32s(z[row]));
            for d in 0..D {
                forces[row][d] += f64::from(simd.reduce_sum_f32s(sums[row][d]));
            }
        }
    }
    (forces, totals)
}
