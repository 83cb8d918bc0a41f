//! Repulsion from every pair: the oracle, and the quickest for small maps.

use crate::vectorized::vectorized;
use rayon::prelude::*;

const LANES: usize = 16;
/// Rows that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 64;

/// Fills `forces` with each row's repulsion and returns Z.
pub(crate) fn exact<const D: usize>(y: &[[f32; D]], forces: &mut [[f32; D]]) -> f64 {
    let columns = Columns::new(y);
    let mut sums = vec![0.0f64; y.len().div_ceil(BLOCK)];
    forces.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).zip(&mut sums).for_each(|((forces, y), sum)| {
        vectorized(
            #[inline(always)]
            || {
                for (force, here) in forces.iter_mut().zip(y) {
                    // Each row meets itself once, at weight 1.
                    *sum += columns.repel(here, force) - 1.0;
                }
            },
        );
    });
    sums.iter().sum()
}

/// Coordinates one dimension after the other, filled up with places infinitely far away.
struct Columns<const D: usize>(Vec<[[f32; LANES]; D]>);

impl<const D: usize> Columns<D> {
    fn new(y: &[[f32; D]]) -> Self {
        let far = 1e18;
        let mut groups = vec![[[far; LANES]; D]; y.len().div_ceil(LANES)];
        for (i, place) in y.iter().enumerate() {
            for d in 0..D {
                groups[i / LANES][d][i % LANES] = place[d];
            }
        }
        Self(groups)
    }

    #[inline(always)]
    fn repel(&self, here: &[f32; D], force: &mut [f32; D]) -> f64 {
        // f32 lanes are emptied into f64 sums before they grow long enough to round.
        let mut total = 0.0f64;
        let mut totals = [0.0f64; D];
        for groups in self.0.chunks(64) {
            let mut z = [0.0f32; LANES];
            let mut sums = [[0.0f32; LANES]; D];
            for there in groups {
                let mut differences = [[0.0f32; LANES]; D];
                let mut distances = [1.0f32; LANES];
                for d in 0..D {
                    for lane in 0..LANES {
                        differences[d][lane] = here[d] - there[d][lane];
                        distances[lane] += differences[d][lane] * differences[d][lane];
                    }
                }
                for lane in 0..LANES {
                    let q = 1.0 / distances[lane];
                    z[lane] += q;
                    for d in 0..D {
                        sums[d][lane] += q * q * differences[d][lane];
                    }
                }
            }
            total += f64::from(z.iter().sum::<f32>());
            for d in 0..D {
                totals[d] += f64::from(sums[d].iter().sum::<f32>());
            }
        }
        *force = totals.map(|t| t as f32);
        total
    }
}
