//! P + Pᵀ in the memory of P: what is left of the one is never held beside the whole of the other.
//!
//! The length of each row of the result is counted first. Rows are then moved apart by so much, and what other rows give to them
//! is merged in, a wave of rows at a time. A row that is finished has lost its p(j|i), but pij, which it has instead, is what row
//! j wants too. Ours.

use super::{Affinities, Conditional, split_rows};
use rayon::prelude::*;
use std::ops::Range;

/// Parts of the rows whose lengths are counted, one after another by each thread: what comes in to a part is held beside P.
pub(crate) const PARTS: usize = 8;
/// Waves of rows that are finished together: what comes in to a wave is held beside all rows.
pub(crate) const WAVES: usize = 8;
/// A wave is cut into one part for each thread, up to so many: each looks at all rows.
const MOST_AT_ONCE: usize = 16;

/// pij = (p(j|i) + p(i|j)) / 2N.
pub(super) fn symmetric(p: Conditional) -> Affinities {
    let rows = p.columns.len() / p.k;
    let offsets = offsets(lengths(&p));
    let mut growing = Growing::new(p, offsets);
    let wave = rows.div_ceil(WAVES).max(1);
    for first in (0..rows).step_by(wave) {
        growing.finish(first..(first + wave).min(rows));
    }
    let Growing { offsets, columns, values, .. } = growing;
    Affinities { offsets, columns, values }
}

/// How many columns each row of P + Pᵀ has.
fn lengths(p: &Conditional) -> Vec<usize> {
    let rows = p.columns.len() / p.k;
    let part = rows.div_ceil(PARTS).max(1);
    let rooms = offsets(times_named(p));
    let mut lengths = vec![0; rows];
    lengths.par_chunks_mut(part).enumerate().for_each(|(at, lengths)| {
        let part = at * part..at * part + lengths.len();
        let of_rows = (0..).zip(p.columns.chunks_exact(p.k)).map(|(row, columns)| (row, columns, ()));
        let incoming = Incoming::new(part.clone(), &rooms, of_rows, |source, _, _| source);
        for (i, length) in part.zip(lengths) {
            let own = &p.columns[i * p.k..(i + 1) * p.k];
            *length = union_length(own, incoming.of(i));
        }
    });
    lengths
}

/// How many rows have each row as a neighbour.
fn times_named(p: &Conditional) -> Vec<usize> {
    let mut times = vec![0; p.columns.len() / p.k];
    for &column in &p.columns {
        if let Some(times) = times.get_mut(column as usize) {
            *times += 1;
        }
    }
    times
}

/// Where rows of these lengths begin, and where the last one ends.
fn offsets(mut lengths: Vec<usize>) -> Vec<usize> {
    let mut end = 0;
    lengths.push(0);
    for length in &mut lengths {
        end += std::mem::replace(length, end);
    }
    lengths
}

/// How many different columns two ascending lists have.
fn union_length(own: &[u32], others: &[u32]) -> usize {
    let (mut a, mut b, mut both) = (0, 0, 0);
    while let (Some(own), Some(other)) = (own.get(a), others.get(b)) {
        a += usize::from(own <= other);
        b += usize::from(other <= own);
        both += usize::from(own == other);
    }
    own.len() + others.len() - both
}

/// What other rows give to each row of a part, by their numbers, ascending.
struct Incoming<'a, T> {
    part: Range<usize>,
    /// Where the room of each row of all begins.
    rooms: &'a [usize],
    /// How much of it is used, for each row of the part.
    counts: Vec<u32>,
    entries: Vec<T>,
}

impl<'a, T: Copy + Default> Incoming<'a, T> {
    /// From rows with ascending columns and whatever `entry` wants to know beside them: it is asked for the entry of a row at a
    /// position of its columns.
    fn new<'r, R: Copy>(
        part: Range<usize>,
        rooms: &'a [usize],
        of_rows: impl Iterator<Item = (u32, &'r [u32], R)>,
        entry: impl Fn(u32, R, usize) -> T,
    ) -> Self {
        let base = rooms[part.start];
        let mut entries = vec![T::default(); rooms[part.end] - base];
        let mut counts = vec![0; part.len()];
        for (source, columns, beside) in of_rows {
            let first = columns.partition_point(|&column| (column as usize) < part.start);
            for (at, &column) in (first..).zip(&columns[first..]) {
                if column as usize >= part.end {
                    break;
                }
                let count = &mut counts[column as usize - part.start];
                entries[rooms[column as usize] - base + *count as usize] = entry(source, beside, at);
                *count += 1;
            }
        }
        Self { part, rooms, counts, entries }
    }

    /// Of row `i`.
    fn of(&self, i: usize) -> &[T] {
        let first = self.rooms[i] - self.rooms[self.part.start];
        &self.entries[first..first + self.counts[i - self.part.start] as usize]
    }
}

impl<'a> Incoming<'a, (u32, f32)> {
    /// What comes in to parts of `size` rows each, given the columns that rows have by now and their values.
    fn of_wave<'r>(
        wave: &Range<usize>,
        size: usize,
        offsets: &'a [usize],
        row: impl Fn(usize) -> (&'r [u32], &'r [f32]) + Sync,
    ) -> Vec<Self> {
        let firsts: Vec<usize> = wave.clone().step_by(size).collect();
        let of_part = |first: usize| {
            let of_rows = (0..offsets.len() - 1).map(|i| {
                let (columns, values) = row(i);
                (i as u32, columns, values)
            });
            let part = first..(first + size).min(wave.end);
            Self::new(part, offsets, of_rows, |source, values, at| (source, values[at]))
        };
        firsts.into_par_iter().map(of_part).collect()
    }
}

/// P on its way to P + Pᵀ: rows that are not finished have their `k` columns at the beginning of the room that they will fill.
struct Growing {
    k: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Growing {
    /// Moves the rows of P apart.
    fn new(p: Conditional, offsets: Vec<usize>) -> Self {
        let Conditional { k, columns, values } = p;
        let (columns, values) =
            rayon::join(|| moved_apart(columns, k, &offsets), || moved_apart(values, k, &offsets));
        Self { k, offsets, columns, values }
    }

    /// Finishes the next rows.
    fn finish(&mut self, wave: Range<usize>) {
        let size = wave.len().div_ceil(rayon::current_num_threads().min(MOST_AT_ONCE)).max(1);
        let Self { k, offsets, columns, values } = self;
        let incoming = Incoming::of_wave(&wave, size, offsets, |i| {
            let first = offsets[i];
            let end = if i < wave.start { offsets[i + 1] } else { first + *k };
            (&columns[first..end], &values[first..end])
        });
        let room = offsets[wave.start]..offsets[wave.end];
        let ends = &offsets[wave.start..=wave.end];
        let columns = split_rows(ends, size, &mut columns[room.clone()]);
        let values = split_rows(ends, size, &mut values[room]);
        let rows = offsets.len() - 1;
        let merge = Merge { k: *k, finished: wave.start as u32, scale: 1.0 / (2.0 * rows as f64) };
        let parts = incoming.par_iter().zip(columns).zip(values);
        parts.for_each(|((incoming, columns), values)| {
            let base = offsets[incoming.part.start];
            for i in incoming.part.clone() {
                let row = offsets[i] - base..offsets[i + 1] - base;
                merge.fill(&mut columns[row.clone()], &mut values[row], incoming.of(i));
            }
        });
    }
}

/// Rows of `k` elements each, moved to where their room begins; the last first, so that none is overwritten.
fn moved_apart<T: Copy + Default>(mut rows: Vec<T>, k: usize, offsets: &[usize]) -> Vec<T> {
    let (count, end) = (offsets.len() - 1, offsets[offsets.len() - 1]);
    rows.reserve_exact(end.saturating_sub(rows.len()));
    rows.resize(end, T::default());
    for i in (0..count).rev() {
        rows.copy_within(i * k..(i + 1) * k, offsets[i]);
    }
    rows
}

/// How a row and what comes in to it become a row of the result.
struct Merge {
    k: usize,
    /// What comes from rows before this one is a result already.
    finished: u32,
    scale: f64,
}

impl Merge {
    /// The row has its `k` columns at the beginning. It is filled from its end, so that none is overwritten before it is read.
    fn fill(&self, columns: &mut [u32], values: &mut [f32], incoming: &[(u32, f32)]) {
        let (mut own, mut others) = (self.k, incoming.len());
        for at in (0..columns.len()).rev() {
            let mine = own.checked_sub(1).map(|last| (columns[last], values[last]));
            let other = others.checked_sub(1).map(|last| incoming[last]);
            let (column, value) = match (mine, other) {
                (Some((a, mine)), Some((b, other))) if a == b => {
                    (own, others) = (own - 1, others - 1);
                    (a, if a < self.finished { other } else { self.half(f64::from(mine) + f64::from(other)) })
                }
                (Some((a, mine)), other) if other.is_none_or(|(b, _)| a > b) => {
                    own -= 1;
                    (a, self.half(f64::from(mine)))
                }
                (_, Some((b, other))) => {
                    others -= 1;
                    (b, if b < self.finished { other } else { self.half(f64::from(other)) })
                }
                (_, None) => return,
            };
            (columns[at], values[at]) = (column, value);
        }
    }

    fn half(&self, sum: f64) -> f32 {
        (sum * self.scale) as f32
    }
}
