//! What a place feels of all the map's places: how near they are, how they pull and push.

use super::LANES;
use crate::matrix::Matrix;
use crate::vectorized::vectorized;
use rayon::prelude::*;

/// Where the places are that fill up the last lanes: too far to count, near enough to be squared.
const FAR: f64 = 1e100;
/// Places of which one task sums up how near the others are.
const BLOCK: usize = 64;

/// The places of a map, one dimension after the other.
pub(crate) struct Field {
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

impl Field {
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
                    let (differences, w) = differences(place, &columns, at);
                    for lane in 0..LANES {
                        let q = w[lane].recip();
                        near[lane] += q;
                        for d in 0..D {
                            repulsion[d][lane] += q * q * differences[d][lane];
                        }
                    }
                }
                Push { near: sum(near), repulsion: repulsion.map(sum) }
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
                    let (differences, w) = differences(place, &columns, at);
                    let ln_w = ln(w);
                    for lane in 0..LANES {
                        let q = w[lane].recip();
                        near[lane] += q;
                        logs[lane] += p[lane] * ln_w[lane];
                        for d in 0..D {
                            attraction[d][lane] += p[lane] * q * differences[d][lane];
                            repulsion[d][lane] += q * q * differences[d][lane];
                        }
                    }
                }
                let push = Push { near: sum(near), repulsion: repulsion.map(sum) };
                Pull { logs: sum(logs), attraction: attraction.map(sum), push }
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
    columns: &[&[[f64; LANES]]; D],
    at: usize,
) -> ([[f64; LANES]; D], [f64; LANES]) {
    let (mut differences, mut w) = ([[0.0; LANES]; D], [1.0; LANES]);
    for d in 0..D {
        let column = &columns[d][at];
        for lane in 0..LANES {
            let difference = place[d] - column[lane];
            differences[d][lane] = difference;
            w[lane] += difference * difference;
        }
    }
    (differences, w)
}

#[inline(always)]
fn sum(lanes: [f64; LANES]) -> f64 {
    lanes.iter().sum()
}

/// The natural logarithms of normal numbers above 0, to the last digit or two; each step is taken for all of them, so that
/// they go side by side in registers.
#[inline(always)]
pub(crate) fn ln<const WIDTH: usize>(values: [f64; WIDTH]) -> [f64; WIDTH] {
    const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const ONE: u64 = 1.0f64.to_bits();
    const MANTISSA: u64 = (1 << 52) - 1;
    /// As bits below this number's, a whole number can be read as a float.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    /// ln 2 in two parts: the first times any exponent is exact.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    /// Terms of the series of artanh.
    const TERMS: usize = 11;
    let (mut exponent, mut t) = ([0.0; WIDTH], [0.0; WIDTH]);
    for lane in 0..WIDTH {
        // The exponent for which what is left is between √½ and √2.
        let shifted = values[lane].to_bits().wrapping_add(ONE - ROOT_HALF);
        exponent[lane] = f64::from_bits((shifted >> 52) | WHOLE.to_bits()) - (WHOLE + 1023.0);
        let left = f64::from_bits((shifted & MANTISSA) + ROOT_HALF);
        t[lane] = (left - 1.0) / (left + 1.0);
    }
    let t2 = t.map(|t| t * t);
    let mut series = [0.0; WIDTH];
    for term in (0..TERMS).rev() {
        let term = 1.0 / (2 * term + 1) as f64;
        for lane in 0..WIDTH {
            series[lane] = series[lane] * t2[lane] + term;
        }
    }
    std::array::from_fn(|lane| {
        exponent[lane] * LN_2[0] + (2.0 * t[lane] * series[lane] + exponent[lane] * LN_2[1])
    })
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn logarithms() {
        for i in 0..100_000 {
            let value = (f64::from(i - 50_000) * 0.0141).exp();
            let [found] = ln([value]);
            let truth = value.ln();
            assert!((found - truth).abs() <= 4e-16 * truth.abs().max(0.5), "{value:e}: {found} for {truth}");
        }
        assert_eq!(ln([1.0]), [0.0]);
        assert!(ln([f64::MIN_POSITIVE])[0] < -708.0 && ln([f64::MAX])[0] > 709.0);
    }
}
