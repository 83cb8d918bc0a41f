//! Attraction: a pass over the affinities.

use super::turns::{TURNS, Turns};
use crate::affinity::Affinities;
use crate::vectorized::{sum_lanes, vectorized};
use rayon::prelude::*;

/// Rows that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 128;

/// Neighbours side by side.
const LANES: usize = 8;

/// For each row, Σj pij (yi - yj) / (1 + |yi - yj|²).
pub(crate) fn attract<const D: usize>(p: &Affinities, y: &[[f32; D]], forces: &mut [[f32; D]]) {
    forces.par_chunks_mut(BLOCK).enumerate().for_each(|(block, forces)| {
        vectorized(
            #[inline(always)]
            || {
                for (i, force) in (block * BLOCK..).zip(forces) {
                    *force = attract_row(p.row(i), y, i);
                }
            },
        );
    });
}

/// The same by some of the affinities only, weighed so that the whole is met in the mean.
pub(crate) fn attract_in_turn<const D: usize>(
    p: &Affinities,
    turns: &Turns,
    turn: usize,
    y: &[[f32; D]],
    forces: &mut [[f32; D]],
) {
    forces.par_chunks_mut(BLOCK).enumerate().for_each(|(block, forces)| {
        vectorized(
            #[inline(always)]
            || {
                for (i, force) in (block * BLOCK..).zip(forces) {
                    let strong = attract_row(turns.strong(p, i), y, i);
                    let weak = attract_row(turns.weak(p, i, turn), y, i);
                    *force = std::array::from_fn(|d| strong[d] + TURNS as f32 * weak[d]);
                }
            },
        );
    });
}

/// The same for some of the rows; nothing else changes in `forces`.
pub(crate) fn attract_rows<const D: usize>(
    p: &Affinities,
    y: &[[f32; D]],
    rows: &[u32],
    forces: &mut [[f32; D]],
) {
    let found: Vec<[f32; D]> = rows
        .par_chunks(BLOCK)
        .flat_map_iter(|rows| {
            vectorized(
                #[inline(always)]
                || {
                    rows.iter()
                        .map(|&row| attract_row(p.row(row as usize), y, row as usize))
                        .collect::<Vec<_>>()
                },
            )
        })
        .collect();
    rows.iter().zip(found).for_each(|(&row, force)| forces[row as usize] = force);
}

/// What the given neighbours of row `i` add to its force.
#[inline(always)]
fn attract_row<const D: usize>((columns, values): (&[u32], &[f32]), y: &[[f32; D]], i: usize) -> [f32; D] {
    let mut sums = [[0.0f32; LANES]; D];
    let (whole, rest) = columns.as_chunks::<LANES>();
    let (whole_values, rest_values) = values.as_chunks::<LANES>();
    for (columns, values) in whole.iter().zip(whole_values) {
        add_lanes(y, columns, values, &y[i], &mut sums);
    }
    if !rest.is_empty() {
        // Lanes without a neighbour stand for the row itself, with weight 0.
        let mut columns = [i as u32; LANES];
        let mut values = [0.0; LANES];
        columns[..rest.len()].copy_from_slice(rest);
        values[..rest.len()].copy_from_slice(rest_values);
        add_lanes(y, &columns, &values, &y[i], &mut sums);
    }
    sums.map(sum_lanes)
}

/// Places go from where they are straight into registers: kept in an array on the way, they would be waited for.
#[inline(always)]
fn add_lanes<const D: usize>(
    y: &[[f32; D]],
    columns: &[u32; LANES],
    values: &[f32; LANES],
    here: &[f32; D],
    sums: &mut [[f32; LANES]; D],
) {
    let there: [[f32; D]; LANES] = columns.map(|column| y[column as usize]);
    let differences: [[f32; LANES]; D] =
        std::array::from_fn(|d| std::array::from_fn(|lane| here[d] - there[lane][d]));
    let mut distances = [1.0f32; LANES];
    for difference in &differences {
        for lane in 0..LANES {
            distances[lane] += difference[lane] * difference[lane];
        }
    }
    let weights: [f32; LANES] = std::array::from_fn(|lane| values[lane] / distances[lane]);
    for (sum, difference) in sums.iter_mut().zip(&differences) {
        for lane in 0..LANES {
            sum[lane] += weights[lane] * difference[lane];
        }
    }
}

/// Σij pij ln(pij): the part of KL that no map changes.
pub(crate) fn entropy(p: &Affinities) -> f64 {
    let blocks: Vec<f64> = p
        .values
        .par_chunks(1 << 16)
        .map(|values| values.iter().filter(|&&v| v > 0.0).map(|&v| f64::from(v) * f64::from(v).ln()).sum())
        .collect();
    blocks.iter().sum()
}

/// Σij pij ln(1 + |yi - yj|²): KL is this, the entropy above, and ln Z.
pub(crate) fn attraction_energy<const D: usize>(p: &Affinities, y: &[[f32; D]]) -> f64 {
    let blocks: Vec<f64> = (0..p.rows().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            vectorized(
                #[inline(always)]
                || {
                    (block * BLOCK..((block + 1) * BLOCK).min(p.rows()))
                        .map(|i| energy_at(p, y, i, &y[i]))
                        .sum()
                },
            )
        })
        .collect();
    blocks.iter().sum()
}

/// What row `i` would have of it at a place.
#[inline(always)]
pub(crate) fn energy_at<const D: usize>(p: &Affinities, y: &[[f32; D]], i: usize, here: &[f32; D]) -> f64 {
    let (columns, values) = p.row(i);
    let mut sum = 0.0;
    for (columns, values) in columns.chunks(LANES).zip(values.chunks(LANES)) {
        let mut distances = [1.0f32; LANES];
        for (distance, &column) in distances.iter_mut().zip(columns) {
            let there = y[column as usize];
            for d in 0..D {
                *distance += (here[d] - there[d]) * (here[d] - there[d]);
            }
        }
        let logarithms = distances.map(ln);
        sum += values.iter().zip(logarithms).map(|(v, l)| v * l).sum::<f32>() as f64;
    }
    sum
}

/// Natural logarithm of a number from 1 on, to about 1e-7 of itself: plain arithmetic, so that it runs in lanes.
#[inline(always)]
fn ln(x: f32) -> f32 {
    // x = 2^e m with m in (√½, √2); ln m = 2 artanh((m - 1) / (m + 1)).
    let bits = x.to_bits() as i32 - 0x3f35_04f3;
    let exponent = bits >> 23;
    let m = f32::from_bits((x.to_bits() as i32 - (exponent << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let series = 2.0 + s2 * (2.0 / 3.0 + s2 * (2.0 / 5.0 + s2 * (2.0 / 7.0 + s2 * (2.0 / 9.0))));
    exponent as f32 * std::f32::consts::LN_2 + s * series
}

#[cfg(test)]
mod tests {
    #[test]
    fn logarithm_is_right() {
        let mut x = 1.0f32;
        while x < 1e12 {
            let (ours, theirs) = (f64::from(super::ln(x)), f64::from(x).ln());
            assert!((ours - theirs).abs() <= 3e-7 * theirs.max(1.0), "ln {x} = {theirs}, not {ours}");
            x *= 1.0003;
        }
    }
}
