//! Attraction: a pass over the affinities.

use crate::affinity::Affinities;
use crate::vectorized::vectorized;
use rayon::prelude::*;

/// Rows that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 128;

/// Neighbours fetched before they are worked on, so that scattered reads and arithmetic do not wait for each other.
const FETCH: usize = 128;
const LANES: usize = 16;

/// For each row, Σj pij (yi - yj) / (1 + |yi - yj|²).
pub(crate) fn attract<const D: usize>(p: &Affinities, y: &[[f32; D]], forces: &mut [[f32; D]]) {
    forces.par_chunks_mut(BLOCK).enumerate().for_each(|(block, forces)| {
        vectorized(
            #[inline(always)]
            || {
                for (i, force) in (block * BLOCK..).zip(forces) {
                    *force = attract_row(p, y, i);
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
                || rows.iter().map(|&row| attract_row(p, y, row as usize)).collect::<Vec<_>>(),
            )
        })
        .collect();
    rows.iter().zip(found).for_each(|(&row, force)| forces[row as usize] = force);
}

#[inline(always)]
fn attract_row<const D: usize>(p: &Affinities, y: &[[f32; D]], i: usize) -> [f32; D] {
    let (columns, values) = p.row(i);
    let here = y[i];
    let mut fetched = [[0.0f32; D]; FETCH];
    let mut sums = [[0.0f32; LANES]; D];
    for (columns, values) in columns.chunks(FETCH).zip(values.chunks(FETCH)) {
        for (fetched, &column) in fetched.iter_mut().zip(columns) {
            *fetched = y[column as usize];
        }
        let (whole, rest) = values.as_chunks::<LANES>();
        let (there, _) = fetched.as_chunks::<LANES>();
        for (there, values) in there.iter().zip(whole) {
            add_lanes(there, values, &here, &mut sums);
        }
        if let (false, Some(there)) = (rest.is_empty(), there.get(whole.len())) {
            // What is left over from an earlier fetch in these lanes counts with weight 0.
            let mut padded = [0.0; LANES];
            padded[..rest.len()].copy_from_slice(rest);
            add_lanes(there, &padded, &here, &mut sums);
        }
    }
    std::array::from_fn(|d| sum_lanes(&sums[d]))
}

/// By halves: in order, each addition would wait for the one before. Not inlined, or the compiler takes the lanes of the
/// loop above apart to suit this sum.
#[inline(never)]
fn sum_lanes(lanes: &[f32; LANES]) -> f32 {
    let mut halves = *lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            halves[lane] += halves[lane + width];
        }
        width /= 2;
    }
    halves[0]
}

#[inline(always)]
fn add_lanes<const D: usize>(
    there: &[[f32; D]; LANES],
    values: &[f32; LANES],
    here: &[f32; D],
    sums: &mut [[f32; LANES]; D],
) {
    let mut differences = [[0.0f32; LANES]; D];
    let mut distances = [1.0f32; LANES];
    for d in 0..D {
        for lane in 0..LANES {
            differences[d][lane] = here[d] - there[lane][d];
            distances[lane] += differences[d][lane] * differences[d][lane];
        }
    }
    for lane in 0..LANES {
        let weight = values[lane] / distances[lane];
        for d in 0..D {
            sums[d][lane] += weight * differences[d][lane];
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
