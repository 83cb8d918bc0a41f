//! The power of inverse-distance weighting, by leaving each row out and placing it by the others.

use super::local::Neighbourhood;
use crate::index::RowIndex;
use crate::matrix::Matrix;
use crate::random::Random;
use crate::vectorized::vectorized;
use rayon::prelude::*;

/// The error of one power: the mean squared distance of rows placed without themselves from their true places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerPoint {
    /// The power.
    pub power: f64,
    /// Its error.
    pub error: f64,
}

/// The greatest power tried.
const GREATEST: usize = 50;
/// Steps of the fine search between whole powers.
const FINE: usize = 10;
/// Pairs of rows after which enough rows were left out: the power settles much earlier, and dense rows of large maps
/// have thousands of neighbours each.
const ENOUGH_PAIRS: usize = 1_500_000;
/// Rows that are left out at least, if there are as many.
const LEAST_ROWS: usize = 512;
/// Rows left out together, and by one thread.
const BLOCK: usize = 512;
const TILE: usize = 64;

/// A cross-validated power.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidated {
    /// The power with the least error.
    pub power: f64,
    /// Every power tried, ascending.
    pub curve: Vec<PowerPoint>,
}

/// The power in (0, 50] with the least error at this radius: whole powers first, then tenths around the best. Nothing
/// where no row has two neighbours.
pub(crate) fn cross_validate(
    x: &Matrix,
    y: &Matrix,
    index: &RowIndex,
    radius: f64,
    seed: u64,
) -> Option<CrossValidated> {
    let left_out = LeftOut::collect(x, index, radius, seed);
    if left_out.rows.is_empty() {
        return None;
    }
    let mut curve = left_out.errors(y, 1.0, 1.0, GREATEST);
    let whole = best(&curve)?;
    let first = (whole.power - 1.0).max(0.0) + 1.0 / FINE as f64;
    let last = (whole.power + 1.0).min(GREATEST as f64);
    let count = ((last - first) * FINE as f64).round() as usize;
    let fine = left_out.errors(y, first, 1.0 / FINE as f64, count + 1);
    curve
        .extend(fine.into_iter().filter(|point| point.power.fract() != 0.0 && point.power < GREATEST as f64));
    curve.sort_by(|a, b| a.power.total_cmp(&b.power));
    Some(CrossValidated { power: best(&curve)?.power, curve })
}

fn best(curve: &[PowerPoint]) -> Option<PowerPoint> {
    curve.iter().copied().min_by(|a, b| a.error.total_cmp(&b.error))
}

/// Rows with their neighbours but themselves, for those that have two.
struct LeftOut {
    rows: Vec<(u32, Vec<(f32, u32)>)>,
}

impl LeftOut {
    /// All rows, or as many, at random, as make enough pairs.
    fn collect(x: &Matrix, index: &RowIndex, radius: f64, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..x.rows() as u32).collect();
        let mut random = Random::new(seed ^ 0x10c);
        (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let (mut rows, mut pairs, mut left_out) = (Vec::new(), 0, 0);
        for block in order.chunks(BLOCK) {
            if pairs >= ENOUGH_PAIRS && left_out >= LEAST_ROWS {
                break;
            }
            left_out += block.len();
            let found: Vec<(u32, Vec<(f32, u32)>)> = block
                .par_chunks(TILE)
                .flat_map_iter(|rows| {
                    let found = index.within(x, x.select(rows).data(), &vec![radius; rows.len()]);
                    rows.iter().copied().zip(found)
                })
                .map(|(row, mut near)| {
                    near.retain(|&(_, other)| other != row);
                    (row, near)
                })
                .filter(|(_, near)| near.len() >= 2)
                .collect();
            pairs += found.iter().map(|(_, near)| near.len()).sum::<usize>();
            rows.extend(found);
        }
        Self { rows }
    }

    /// The errors of the powers `first`, `first + step`, and so on.
    fn errors(&self, y: &Matrix, first: f64, step: f64, count: usize) -> Vec<PowerPoint> {
        let per_row: Vec<Vec<f64>> = self
            .rows
            .par_iter()
            .map(|(row, near)| {
                vectorized(
                    #[inline(always)]
                    || squared_errors(y.row(*row as usize), near, y, first, step, count),
                )
            })
            .collect();
        let mean = |at: usize| per_row.iter().map(|errors| errors[at]).sum::<f64>() / per_row.len() as f64;
        (0..count).map(|at| PowerPoint { power: tidy(first + at as f64 * step), error: mean(at) }).collect()
    }
}

/// Tenths as people write them.
fn tidy(power: f64) -> f64 {
    (power * 1000.0).round() / 1000.0
}

/// |estimate - y|² of one row at each power. From one power to the next a weight changes by the same factor, so no power
/// is taken but the first.
#[inline(always)]
fn squared_errors(
    truth: &[f32],
    near: Neighbourhood<'_>,
    y: &Matrix,
    first: f64,
    step: f64,
    count: usize,
) -> Vec<f64> {
    let nearest2 = f64::from(near[0].0);
    let ratio = |distance2: f32, power: f64| match nearest2 > 0.0 {
        true => (nearest2 / f64::from(distance2)).powf(0.5 * power),
        false => f64::from(u8::from(distance2 == 0.0)),
    };
    let mut weights: Vec<f64> = near.iter().map(|&(d, _)| ratio(d, first)).collect();
    let factors: Vec<f64> = near.iter().map(|&(d, _)| ratio(d, step)).collect();
    let places: [Vec<f64>; 3] = std::array::from_fn(|d| match d < truth.len() {
        true => near.iter().map(|&(_, row)| f64::from(y.row(row as usize)[d] - truth[d])).collect(),
        false => vec![0.0; near.len()],
    });
    let mut errors = Vec::with_capacity(count);
    for _ in 0..count {
        let [total, a, b, c] = weighted_sums(&mut weights, &factors, &places);
        errors.push([a, b, c].into_iter().map(|sum| (sum / total).powi(2)).sum());
    }
    errors
}

/// Σ w and Σ w v along each dimension, in eight sums that are always the same; then each weight is multiplied by its
/// factor.
#[inline(always)]
fn weighted_sums(weights: &mut [f64], factors: &[f64], places: &[Vec<f64>; 3]) -> [f64; 4] {
    const LANES: usize = 8;
    let mut sums = [[0.0f64; LANES]; 4];
    let chunks = weights.chunks_mut(LANES).zip(factors.chunks(LANES));
    let [a, b, c] = places;
    let places = a.chunks(LANES).zip(b.chunks(LANES)).zip(c.chunks(LANES));
    for ((weights, factors), ((a, b), c)) in chunks.zip(places) {
        for lane in 0..weights.len() {
            let weight = weights[lane];
            sums[0][lane] += weight;
            sums[1][lane] += weight * a[lane];
            sums[2][lane] += weight * b[lane];
            sums[3][lane] += weight * c[lane];
            weights[lane] = weight * factors[lane];
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}
