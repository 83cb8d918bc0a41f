//! Which affinities count in which iteration.
//!
//! A few neighbours have most of a row's affinity: of 60000 digits a sixth of the pairs has three quarters of it. Those count in
//! each iteration. The weak rest takes turns: a quarter of it at a time, four times as heavy. Each pair counts once in
//! four iterations, on both sides, so the mean is the whole gradient; momentum over twenty steps takes that mean. It is an
//! incremental gradient method (Bertsekas 2011, Incremental Gradient, Subgradient, and Proximal Methods for Convex Optimization)
//! for the weak pairs alone.

use crate::affinity::Affinities;
use rayon::prelude::*;

/// Iterations until all weak affinities have counted.
pub(crate) const TURNS: usize = 4;
/// An affinity is strong from so many times the mean on.
const STRONG: f64 = 1.25;
/// And from this share of the largest of one of its two rows on, so that each row has a strong one.
const NEAR_LARGEST: f32 = 0.6;

/// A row is held by all its affinities as firmly as by one of this share of them. A row that many have as their neighbour would
/// swing ever wider by steps that suit the others.
const OF_ALL: f32 = 5.0;

/// Affinities whose rows are divided: the strong ones first, then the weak ones by their turns.
pub(crate) struct Turns {
    /// Where in its row each part ends, but for the last.
    ends: Vec<[u32; TURNS]>,
    /// What holds each row: its largest affinity, or a share of them all, whichever is more.
    hold: Vec<f32>,
}

impl Turns {
    /// Divides the rows in place.
    pub(crate) fn divide(p: &mut Affinities) -> Self {
        let largest: Vec<f32> =
            (0..p.rows()).into_par_iter().map(|i| p.row(i).1.iter().copied().fold(0.0, f32::max)).collect();
        let limits = limits(p, &largest);
        let rows = row_slices(p);
        let ends = rows
            .into_par_iter()
            .enumerate()
            .map_init(Vec::new, |pairs, (i, (columns, values))| {
                let part_of = |&(column, value): &(u32, f32)| {
                    let strong = value >= limits[i].min(limits[column as usize]);
                    if strong { 0 } else { 1 + turn_of(i as u32, column) }
                };
                pairs.clear();
                pairs.extend(columns.iter().copied().zip(values.iter().copied()));
                pairs.sort_by_key(part_of);
                for ((column, value), &(c, v)) in columns.iter_mut().zip(values).zip(&*pairs) {
                    (*column, *value) = (c, v);
                }
                std::array::from_fn(|part| pairs.partition_point(|pair| part_of(pair) <= part) as u32)
            })
            .collect();
        let sum = |i: usize| p.row(i).1.iter().sum::<f32>();
        let hold = largest.iter().enumerate().map(|(i, &largest)| largest.max(sum(i) / OF_ALL)).collect();
        Self { ends, hold }
    }

    /// The same with rows in another order, as those of the affinities.
    pub(crate) fn reordered(self, order: &[u32]) -> Self {
        let ends = order.iter().map(|&row| self.ends[row as usize]).collect();
        let hold = order.iter().map(|&row| self.hold[row as usize]).collect();
        Self { ends, hold }
    }

    /// What holds row `i`: its largest affinity, or a share of them all, whichever is more.
    #[inline(always)]
    pub(crate) fn hold(&self, i: usize) -> f32 {
        self.hold[i]
    }

    /// The strong affinities of row `i`.
    #[inline(always)]
    pub(super) fn strong<'a>(&self, p: &'a Affinities, i: usize) -> (&'a [u32], &'a [f32]) {
        let (columns, values) = p.row(i);
        let end = self.ends[i][0] as usize;
        (&columns[..end], &values[..end])
    }

    /// Its weak ones whose turn it is.
    #[inline(always)]
    pub(super) fn weak<'a>(&self, p: &'a Affinities, i: usize, turn: usize) -> (&'a [u32], &'a [f32]) {
        let (columns, values) = p.row(i);
        let turn = turn % TURNS;
        let start = self.ends[i][turn] as usize;
        let end = self.ends[i].get(turn + 1).map_or(columns.len(), |&end| end as usize);
        (&columns[start..end], &values[start..end])
    }
}

/// For each row the least affinity that is strong.
fn limits(p: &Affinities, largest: &[f32]) -> Vec<f32> {
    let all: f64 = p.values.iter().map(|&value| f64::from(value)).sum();
    let strong = (STRONG * all / p.values.len().max(1) as f64) as f32;
    largest.iter().map(|largest| strong.min(NEAR_LARGEST * largest)).collect()
}

/// Mixed, so that turns have nothing to do with the order of the rows; the same from both sides.
fn turn_of(a: u32, b: u32) -> usize {
    let mixed = (a ^ b).wrapping_mul(0x9e37_79b1);
    (mixed >> 16) as usize % TURNS
}

fn row_slices(p: &mut Affinities) -> Vec<(&mut [u32], &mut [f32])> {
    let (mut columns, mut values) = (&mut p.columns[..], &mut p.values[..]);
    let mut rows = Vec::with_capacity(p.offsets.len());
    for bounds in p.offsets.windows(2) {
        let (c, v);
        (c, columns) = columns.split_at_mut(bounds[1] - bounds[0]);
        (v, values) = values.split_at_mut(bounds[1] - bounds[0]);
        rows.push((c, v));
    }
    rows
}
