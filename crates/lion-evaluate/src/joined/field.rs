//! What a place feels of all the map's places: how near they are, how they pull and push.
//!
//! Source: van der Maaten and Hinton (2008), "Visualizing Data using t-SNE", for the Student kernel 1 / (1 + d²) and
//! its gradient.

use super::LANES;
use lion_tsne::Matrix;
use lion_tsne::numerics::{sum_lanes, vectorized};
use rayon::prelude::*;

/// Where the places are that fill up the last lanes: too far to count, near enough to be squared.
const FAR: f64 = 1e100;
/// Places of which one task sums up how near the others are.
const BLOCK: usize = 64;

/// The places of a map, one dimension after the other.
pub(crate) struct StudentField {
    rows: usize,
    columns: Vec<Vec<f64>>,
}

/// All places seen from one, w = 1 + |y - yj|².
pub(crate) struct Pull<const D: usize> {
    /// Σ pj ln w.
    pub(crate) logs: f64,
    /// Σ pj (y - yj) / w.
    pub(crate) attraction: [f64; D],
    pub(crate) push: Push<D>,
}

/// The same without affinities.
pub(crate) struct Push<const D: usize> {
    /// Σ 1 / w.
    pub(crate) near: f64,
    /// Σ (y - yj) / w².
    pub(crate) repulsion: [f64; D],
}

impl StudentField {
    pub(crate) fn new(y: &Matrix) -> Self {
        let padded = y.rows().next_multiple_of(LANES) + LANES;
        let column = |d: usize| {
            let mut column = vec![FAR; padded];
            column.iter_mut().zip(y.data().chunks_exact(y.cols())).for_each(|(v, y)| *v = f64::from(y[d]));
            column
        };
        Self { rows: y.rows(), columns: (0..y.cols()).map(column).collect() }
    }

    pub(crate) fn dims(&self) -> usize {
        self.columns.len()
    }

    /// The place of row `i`.
    pub(crate) fn place<const D: usize>(&self, i: usize) -> [f64; D] {
        std::array::from_fn(|d| self.columns[d][i])
    }

    /// One coordinate of each place; after the last, places too far to count.
    #[inline(always)]
    pub(crate) fn column(&self, d: usize) -> &[f64] {
        &self.columns[d]
    }

    /// Z of the places themselves: Σ 1 / (1 + |yi - yj|²) over all i and all j but i.
    pub(crate) fn z(&self) -> f64 {
        match self.dims() {
            1 => self.z_in::<1>(),
            3 => self.z_in::<3>(),
            _ => self.z_in::<2>(),
        }
    }

    fn z_in<const D: usize>(&self) -> f64 {
        let blocks: Vec<f64> = (0..self.rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let rows = block * BLOCK..((block + 1) * BLOCK).min(self.rows);
                // Each place meets itself once, at 1.
                rows.map(|i| self.push(&self.place::<D>(i)).near - 1.0).sum()
            })
            .collect();
        blocks.iter().sum()
    }

    /// How a place is pushed.
    pub(crate) fn push<const D: usize>(&self, place: &[f64; D]) -> Push<D> {
        let columns = self.lanes::<D>();
        vectorized(
            #[inline(always)]
            || {
                let (mut near, mut repulsion) = ([0.0; LANES], [[0.0; LANES]; D]);
                for at in 0..columns[0].len() {
                    let columns = columns.map(|column| &column[at]);
                    for lane in 0..LANES {
                        let (differences, w) = differences(place, &columns, lane);
                        let q = w.recip();
                        near[lane] += q;
                        for d in 0..D {
                            repulsion[d][lane] += q * q * differences[d];
                        }
                    }
                }
                Push { near: sum_lanes(near), repulsion: repulsion.map(sum_lanes) }
            },
        )
    }

    /// How a place is pushed, and pulled by affinities `p` to the rows; those must be filled up with 0 to whole lanes.
    pub(crate) fn pull<const D: usize>(&self, place: &[f64; D], p: &[f64]) -> Pull<D> {
        let (columns, (p, _)) = (self.lanes::<D>(), p.as_chunks::<LANES>());
        vectorized(
            #[inline(always)]
            || {
                let (mut near, mut logs) = ([0.0; LANES], [0.0; LANES]);
                let (mut attraction, mut repulsion) = ([[0.0; LANES]; D], [[0.0; LANES]; D]);
                for (at, p) in p.iter().enumerate() {
                    let columns = columns.map(|column| &column[at]);
                    for lane in 0..LANES {
                        let (differences, w) = differences(place, &columns, lane);
                        let q = w.recip();
                        near[lane] += q;
                        logs[lane] += p[lane] * ln(w);
                        for d in 0..D {
                            attraction[d][lane] += p[lane] * q * differences[d];
                            repulsion[d][lane] += q * q * differences[d];
                        }
                    }
                }
                let push = Push { near: sum_lanes(near), repulsion: repulsion.map(sum_lanes) };
                Pull { logs: sum_lanes(logs), attraction: attraction.map(sum_lanes), push }
            },
        )
    }

    fn lanes<const D: usize>(&self) -> [&[[f64; LANES]]; D] {
        let lanes = self.rows.div_ceil(LANES);
        std::array::from_fn(|d| &self.columns[d].as_chunks().0[..lanes])
    }
}

/// y - yj, and 1 + |y - yj|².
#[inline(always)]
fn differences<const D: usize>(
    place: &[f64; D],
    columns: &[&[f64; LANES]; D],
    lane: usize,
) -> ([f64; D], f64) {
    let (mut differences, mut w) = ([0.0; D], 1.0);
    for d in 0..D {
        differences[d] = place[d] - columns[d][lane];
        w += differences[d] * differences[d];
    }
    (differences, w)
}

/// The natural logarithm of a normal number above 0, to the last digit or two: plain steps, so that many go side by side in
/// registers.
#[inline(always)]
pub(super) fn ln(value: f64) -> f64 {
    const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const ONE: u64 = 1.0f64.to_bits();
    const MANTISSA: u64 = (1 << 52) - 1;
    /// As bits below this number's, a whole number can be read as a float.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    /// ln 2 in two parts: the first times any exponent is exact.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    /// The series of artanh, 1 / (2 k + 1): even k from 10 down, and odd k from 9 down.
    const EVEN: [f64; 6] = [1.0 / 21.0, 1.0 / 17.0, 1.0 / 13.0, 1.0 / 9.0, 1.0 / 5.0, 1.0];
    const ODD: [f64; 5] = [1.0 / 19.0, 1.0 / 15.0, 1.0 / 11.0, 1.0 / 7.0, 1.0 / 3.0];
    // The exponent for which what is left is between √½ and √2.
    let shifted = value.to_bits().wrapping_add(ONE - ROOT_HALF);
    let exponent = f64::from_bits((shifted >> 52) | WHOLE.to_bits()) - (WHOLE + 1023.0);
    let left = f64::from_bits((shifted & MANTISSA) + ROOT_HALF);
    let t = (left - 1.0) / (left + 1.0);
    let (t2, t4) = (t * t, t * t * (t * t));
    // Two sums that do not wait for each other.
    let (mut even, mut odd) = (0.0, 0.0);
    for term in EVEN {
        even = even * t4 + term;
    }
    for term in ODD {
        odd = odd * t4 + term;
    }
    let series = even + t2 * odd;
    exponent * LN_2[0] + (2.0 * t * series + exponent * LN_2[1])
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn logarithms() {
        for i in 0..100_000 {
            let value = (f64::from(i - 50_000) * 0.0141).exp();
            let found = ln(value);
            let truth = value.ln();
            assert!((found - truth).abs() <= 4e-16 * truth.abs().max(0.5), "{value:e}: {found} for {truth}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert!(ln(f64::MIN_POSITIVE) < -708.0 && ln(f64::MAX) > 709.0);
    }
}
