//! Rows of P in another order. P is the largest thing that a fit holds, so it is not held twice: columns go over first, then
//! values, and both a piece at a time.

use super::{Affinities, split_rows};
use rayon::prelude::*;

/// Rows that one task puts in order.
const BLOCK: usize = 512;
/// Pieces of the columns, and of the values, one of which is held twice. What is left of the old order is moved together after
/// each: more pieces take longer.
pub(crate) const PIECES: usize = 4;

impl Affinities {
    /// The same affinities with row `i` renamed to its place in `order`.
    pub(crate) fn reordered(self, order: &[u32]) -> Self {
        let mut renamed = vec![0u32; order.len()];
        let mut offsets = vec![0; order.len() + 1];
        for (new, &old) in order.iter().enumerate() {
            renamed[old as usize] = new as u32;
            offsets[new + 1] = offsets[new] + self.row(old as usize).0.len();
        }
        let rows = Reorder { order, renamed: &renamed, offsets: &offsets };
        let columns = rows.of(self.columns, &self.offsets, |column| renamed[column as usize]);
        let values = rows.of(self.values, &self.offsets, |value| value);
        Self { offsets, columns, values }
    }
}

/// Compressed rows on their way to another order.
struct Reorder<'a> {
    order: &'a [u32],
    /// The place of each row in the order.
    renamed: &'a [u32],
    /// Where rows begin in their new order.
    offsets: &'a [usize],
}

impl Reorder<'_> {
    /// What belongs to the rows, in their new order, each element turned into another.
    fn of<T: Copy + Default + Send + Sync>(
        &self,
        mut old: Vec<T>,
        starts: &[usize],
        turned: impl Fn(T) -> T + Sync,
    ) -> Vec<T> {
        let rows = self.order.len();
        let mut starts = starts[..rows].to_vec();
        let mut new = Vec::new();
        let piece = rows.div_ceil(PIECES).max(1);
        for first in (0..rows).step_by(piece) {
            let end = (first + piece).min(rows);
            let offsets = &self.offsets[first..=end];
            let from = new.len();
            new.reserve_exact(offsets[end - first] - from);
            new.resize(offsets[end - first], T::default());
            let blocks = split_rows(offsets, BLOCK, &mut new[from..]).into_par_iter();
            blocks.zip(self.order[first..end].par_chunks(BLOCK)).for_each(|(new, order)| {
                let rows = order.iter().flat_map(|&row| {
                    let start = starts[row as usize];
                    &old[start..start + self.length(row)]
                });
                new.iter_mut().zip(rows).for_each(|(to, &from)| *to = turned(from));
            });
            self.drop_rows(end, &mut old, &mut starts);
        }
        new
    }

    /// Gives back the memory of all rows whose new place is before `end`.
    fn drop_rows<T: Copy>(&self, end: usize, old: &mut Vec<T>, starts: &mut [usize]) {
        let mut kept = 0;
        if end < self.order.len() {
            for (row, start) in starts.iter_mut().enumerate() {
                if self.renamed[row] as usize >= end {
                    let length = self.length(row as u32);
                    old.copy_within(*start..*start + length, kept);
                    *start = kept;
                    kept += length;
                }
            }
        }
        old.truncate(kept);
        old.shrink_to_fit();
    }

    /// How many elements a row has, by its old number.
    fn length(&self, row: u32) -> usize {
        let new = self.renamed[row as usize] as usize;
        self.offsets[new + 1] - self.offsets[new]
    }
}
