//! The power p of inverse-distance weighting, by leaving each row out and placing it by the others (leave-one-out
//! cross-validation, as in Boytsov et al. 2017, LION-tSNE; the search over many powers at once is ours).

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
const ENOUGH_PAIRS: usize = 500_000;
/// Rows that are left out at least, if there are as many.
const LEAST_ROWS: usize = 512;
/// Rows left out together.
const BLOCK: usize = 512;
/// Rows left out by one thread at a time: at most and at least, and in between as many as make so many pairs if all rows
/// are near each other.
const TILES: [usize; 2] = [64, 12];
const TILE_PAIRS: usize = 1 << 20;
/// Neighbours of a row that are remembered. More are looked for again when they are needed: where r_x is wide, every row
/// may be near every other.
const REMEMBERED: usize = 4096;

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
    let search =
        PowerSearch { x, index, radius, tile: (TILE_PAIRS / x.rows().max(1)).clamp(TILES[1], TILES[0]) };
    let left_out = LeftOut::collect(search, seed);
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

/// How neighbours are found.
#[derive(Clone, Copy)]
struct PowerSearch<'a> {
    x: &'a Matrix,
    index: &'a RowIndex,
    radius: f64,
    /// Rows that are searched together.
    tile: usize,
}

impl PowerSearch<'_> {
    /// The neighbours of rows, but themselves.
    fn neighbours_of(&self, rows: &[u32]) -> impl Iterator<Item = Vec<(f32, u32)>> + use<> {
        let found = self.index.within(self.x, self.x.select(rows).data(), &vec![self.radius; rows.len()]);
        found.into_iter().zip(rows.to_vec()).map(|(mut near, row)| {
            near.retain(|&(_, other)| other != row);
            near
        })
    }
}

/// Rows that have two neighbours.
struct LeftOut<'a> {
    search: PowerSearch<'a>,
    rows: Vec<PowerRow>,
}

/// A row, and its neighbours where they are few enough to be remembered.
struct PowerRow {
    number: u32,
    count: usize,
    near: Option<Vec<(f32, u32)>>,
}

impl<'a> LeftOut<'a> {
    /// All rows, or as many, at random, as make enough pairs.
    fn collect(search: PowerSearch<'a>, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..search.x.rows() as u32).collect();
        let mut random = Random::new(seed ^ 0x10c);
        (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let (mut rows, mut pairs, mut left_out) = (Vec::new(), 0, 0);
        for block in order.chunks(BLOCK) {
            if pairs >= ENOUGH_PAIRS && left_out >= LEAST_ROWS {
                break;
            }
            left_out += block.len();
            let found: Vec<PowerRow> = block
                .par_chunks(search.tile)
                .flat_map_iter(|rows| search.neighbours_of(rows).zip(rows))
                .filter(|(near, _)| near.len() >= 2)
                .map(|(near, &number)| {
                    let count = near.len();
                    PowerRow { number, count, near: Some(near).filter(|_| count <= REMEMBERED) }
                })
                .collect();
            pairs += found.iter().map(|row| row.count).sum::<usize>();
            rows.extend(found);
        }
        Self { search, rows }
    }

    /// The errors of the powers `first`, `first + step`, and so on.
    fn errors(&self, y: &Matrix, first: f64, step: f64, count: usize) -> Vec<PowerPoint> {
        let of_row = |row: u32, near: Neighbourhood<'_>| {
            vectorized(
                #[inline(always)]
                || squared_errors(y.row(row as usize), near, y, first, step, count),
            )
        };
        let of_rows = |rows: &[PowerRow]| -> Vec<Vec<f64>> {
            let forgotten = rows.iter().filter(|row| row.near.is_none()).map(|row| row.number);
            let mut again = self.search.neighbours_of(&forgotten.collect::<Vec<u32>>());
            let errors = rows.iter().map(|row| match &row.near {
                Some(near) => of_row(row.number, near),
                None => of_row(row.number, &again.next().unwrap_or_default()),
            });
            errors.collect()
        };
        let per_row: Vec<Vec<f64>> = self.rows.par_chunks(self.search.tile).flat_map_iter(of_rows).collect();
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
