//! Rows that jump: descent cannot take a row through a cluster that it does not belong to. Ours.

use super::gradient::energy_at;
use super::optimise::{DescentState, Order};
use crate::affinity::Affinities;
use crate::random::Random;
use crate::vectorized::vectorized;
use rayon::prelude::*;

/// Neighbours whose places are tried.
const CANDIDATES: usize = 10;
/// A row jumps if that lowers the mean ln(1 + d²) to its neighbours by more than this, and a row that is held by more than
/// this and its weight.
const MARGIN: f32 = 1.0;
/// How far beside the neighbour a row lands: at one place two rows do not push each other away.
const BESIDE: f64 = 0.1;
/// Rows that one task looks at.
const BLOCK: usize = 128;

/// Moves each row to the place of one of its nearest neighbours where its attraction is much less there.
pub(super) fn jump<const D: usize>(
    p: &Affinities,
    y: &mut [[f32; D]],
    weights: &[f32],
    order: &Order,
    state: &mut DescentState<D>,
) {
    let rows: Vec<usize> = (0..y.len()).collect();
    let jumps: Vec<(usize, [f32; D])> = rows
        .par_chunks(BLOCK)
        .flat_map_iter(|rows| {
            vectorized(
                #[inline(always)]
                || {
                    let jump = |&row: &usize| better_place(p, y, row, weights[row]).map(|place| (row, place));
                    rows.iter().filter_map(jump).collect::<Vec<_>>()
                },
            )
        })
        .collect();
    for (row, place) in jumps {
        let mut random = Random::new(u64::from(order.row(row)));
        y[row] = place.map(|v| v + (BESIDE * random.gaussian()) as f32);
        state.forget(row);
    }
}

#[inline(always)]
fn better_place<const D: usize>(p: &Affinities, y: &[[f32; D]], row: usize, weight: f32) -> Option<[f32; D]> {
    let (columns, values) = p.row(row);
    let sum: f32 = values.iter().sum();
    let limit = energy_at(p, y, row, &y[row]) as f32 - (MARGIN + weight) * sum;
    if limit <= 0.0 {
        return None;
    }
    let mut nearest: Vec<(f32, u32)> = values.iter().copied().zip(columns.iter().copied()).collect();
    let count = CANDIDATES.min(nearest.len());
    nearest.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0));
    let mut best = (limit, None);
    // ln(1 + d²) changes by less than d does, so a place this near cannot be so much better.
    let near2 = (MARGIN + weight) * (MARGIN + weight);
    for &(_, column) in &nearest[..count] {
        let distance2: f32 = (0..D).map(|d| (y[row][d] - y[column as usize][d]).powi(2)).sum();
        if distance2 <= near2 {
            continue;
        }
        let energy = energy_at(p, y, row, &y[column as usize]) as f32;
        if energy < best.0 {
            best = (energy, Some(y[column as usize]));
        }
    }
    best.1
}
