//! Neighbours become affinities: the perplexity search, then symmetric P with rows compressed. P is of van der Maaten &
//! Hinton 2008, Visualizing Data using t-SNE; over neighbours only, as in van der Maaten 2014, Accelerating t-SNE using
//! Tree-Based Algorithms. The search by Newton steps is ours.

mod perplexity;

pub use perplexity::{entropy, exp, find_log_beta, perplexity_weights};

use crate::index::Neighbours;
use rayon::prelude::*;
use std::ops::Range;

/// The symmetric affinities pij, rows compressed; they sum to 1.
#[derive(Clone, Debug)]
pub struct Affinities {
    /// Row `i` is at `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Column of each affinity; ascending within a row, unless rows were renamed.
    pub columns: Vec<u32>,
    /// The affinities.
    pub values: Vec<f32>,
}

impl Affinities {
    /// From the nearest neighbours of each row; `perplexity` must be below their number.
    pub fn new(neighbours: Neighbours, perplexity: f64) -> Self {
        symmetric(conditional(neighbours, perplexity))
    }

    /// The same affinities with row `i` renamed to its place in `order`. They are the largest thing that a fit holds, so
    /// they are not held twice: columns go over first, then values.
    pub(crate) fn reordered(self, order: &[u32]) -> Self {
        let mut renamed = vec![0u32; order.len()];
        let mut offsets = vec![0; order.len() + 1];
        for (new, &old) in order.iter().enumerate() {
            renamed[old as usize] = new as u32;
            offsets[new + 1] = offsets[new] + self.row(old as usize).0.len();
        }
        let rows = Reorder { order, old: &self.offsets, new: &offsets };
        let columns = rows.of(self.columns, |column| renamed[column as usize]);
        let values = rows.of(self.values, |value| value);
        Self { offsets, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns and affinities of row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Compressed rows on their way to another order.
struct Reorder<'a> {
    order: &'a [u32],
    old: &'a [usize],
    new: &'a [usize],
}

impl Reorder<'_> {
    /// What belongs to the rows, in their new order, each element turned into another. The old is gone then.
    fn of<T: Copy + Default + Send + Sync>(&self, old: Vec<T>, turned: impl Fn(T) -> T + Sync) -> Vec<T> {
        let mut new = vec![T::default(); old.len()];
        let blocks = split_rows(self.new, BLOCK, &mut new).into_par_iter().zip(self.order.par_chunks(BLOCK));
        blocks.for_each(|(new, order)| {
            let rows = order.iter().flat_map(|&row| &old[self.old[row as usize]..self.old[row as usize + 1]]);
            new.iter_mut().zip(rows).for_each(|(to, &from)| *to = turned(from));
        });
        new
    }
}

/// p(j|i) for the neighbours j of each i, columns ascending within a row.
struct Conditional {
    k: usize,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Conditional {
    /// Of each row the columns within a part, and their weights.
    fn columns_in(&self, part: &Range<usize>) -> impl Iterator<Item = (u32, &[u32], &[f32])> {
        let rows = self.columns.chunks_exact(self.k).zip(self.values.chunks_exact(self.k));
        (0..).zip(rows).map(|(row, (columns, values))| {
            let place = |bound: usize| columns.partition_point(|&column| (column as usize) < bound);
            let within = place(part.start)..place(part.end);
            (row, &columns[within.clone()], &values[within])
        })
    }
}

fn conditional(neighbours: Neighbours, perplexity: f64) -> Conditional {
    let Neighbours { k, indices: mut columns, distances2: mut values } = neighbours;
    columns.par_chunks_mut(k).zip(values.par_chunks_mut(k)).for_each_init(
        || (vec![0.0; k], Vec::with_capacity(k)),
        |(weights, pairs), (columns, values)| {
            perplexity_weights(values, perplexity, weights);
            pairs.clear();
            pairs.extend(columns.iter().copied().zip(weights.iter().map(|&w| w as f32)));
            pairs.sort_unstable_by_key(|&(column, _)| column);
            for ((column, value), &(c, v)) in columns.iter_mut().zip(values).zip(pairs.iter()) {
                (*column, *value) = (c, v);
            }
        },
    );
    Conditional { k, columns, values }
}

/// pij = (p(j|i) + p(i|j)) / 2N.
fn symmetric(p: Conditional) -> Affinities {
    let rows = p.columns.len() / p.k;
    let part = rows.div_ceil(PARTS).max(1);
    let mut offsets = vec![0; rows + 1];
    offsets[1..].par_chunks_mut(part).enumerate().for_each(|(at, counts)| {
        let incoming = Incoming::new(&p, at * part..at * part + counts.len());
        for (i, count) in (at * part..).zip(counts) {
            merge(&p, &incoming, i, |_, _| *count += 1);
        }
    });
    for i in 0..rows {
        offsets[i + 1] += offsets[i];
    }
    let mut columns = vec![0; offsets[rows]];
    let mut values = vec![0.0; offsets[rows]];
    let scale = 1.0 / (2.0 * rows as f64);
    let parts = split_rows(&offsets, part, &mut columns).into_par_iter();
    let parts = parts.zip(split_rows(&offsets, part, &mut values));
    parts.enumerate().for_each(|(at, (columns, values))| {
        let rows = at * part..((at + 1) * part).min(rows);
        let incoming = Incoming::new(&p, rows.clone());
        let mut next = 0;
        for i in rows {
            merge(&p, &incoming, i, |column, value| {
                columns[next] = column;
                values[next] = (value * scale) as f32;
                next += 1;
            });
        }
    });
    Affinities { offsets, columns, values }
}

/// Rows that one task puts in order.
const BLOCK: usize = 512;
/// Parts of the rows that are made symmetric one after another by each thread: what comes in to a part is held beside what
/// goes out of all rows.
pub(crate) const PARTS: usize = 8;

/// Cuts an array with compressed rows into pieces of `size` rows.
fn split_rows<'a, T>(offsets: &[usize], size: usize, mut rest: &'a mut [T]) -> Vec<&'a mut [T]> {
    let rows = offsets.len() - 1;
    let mut pieces = Vec::with_capacity(rows.div_ceil(size));
    for first in (0..rows).step_by(size) {
        let (piece, tail) = rest.split_at_mut(offsets[(first + size).min(rows)] - offsets[first]);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// For each row of a part, which rows of all have it as a neighbour, ascending, and with what weight.
struct Incoming {
    /// The first row of the part.
    first: usize,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    values: Vec<f32>,
}

impl Incoming {
    fn new(p: &Conditional, part: Range<usize>) -> Self {
        let mut offsets = vec![0; part.len() + 1];
        for (_, columns, _) in p.columns_in(&part) {
            columns.iter().for_each(|&column| offsets[column as usize - part.start + 1] += 1);
        }
        for i in 0..part.len() {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0; offsets[part.len()]];
        let mut values = vec![0.0; offsets[part.len()]];
        for (source, columns, weights) in p.columns_in(&part) {
            for (&column, &weight) in columns.iter().zip(weights) {
                let slot = &mut next[column as usize - part.start];
                (sources[*slot], values[*slot]) = (source, weight);
                *slot += 1;
            }
        }
        Self { first: part.start, offsets, sources, values }
    }

    /// The rows that have row `i` as a neighbour, and their weights.
    fn of(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i - self.first]..self.offsets[i - self.first + 1];
        (&self.sources[range.clone()], &self.values[range])
    }
}

/// Calls `emit` with each column of row `i` of P + Pᵀ, ascending, and its value.
fn merge(p: &Conditional, incoming: &Incoming, i: usize, mut emit: impl FnMut(u32, f64)) {
    let own = i * p.k..(i + 1) * p.k;
    let mut own = p.columns[own.clone()].iter().zip(&p.values[own]).peekable();
    let (sources, weights) = incoming.of(i);
    let mut others = sources.iter().zip(weights).peekable();
    loop {
        let column = match (own.peek(), others.peek()) {
            (Some((a, _)), Some((b, _))) => **a.min(b),
            (Some((a, _)), None) => **a,
            (None, Some((b, _))) => **b,
            (None, None) => return,
        };
        let mut value = 0.0;
        while let Some((_, &v)) = own.next_if(|(c, _)| **c == column) {
            value += f64::from(v);
        }
        while let Some((_, &v)) = others.next_if(|(c, _)| **c == column) {
            value += f64::from(v);
        }
        emit(column, value);
    }
}
