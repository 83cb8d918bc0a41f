//! Exact search: every pair, as fast as the machine multiplies.
//!
//! The product form |x|² + |y|² - 2xy rounds worse than |x - y|². So it only proposes: a query keeps every row
//! that could be among its nearest given the worst rounding, and the true distances of those decide. Ours.

use super::Neighbours;
use super::product_form::{Rounding, centre, column_medians};
use super::proposals::Proposals;
use super::scan::{Collect, Packed, scan, squared_distance};
use super::true_distances::TrueDistances;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use pulp::Simd;
use rayon::prelude::*;

/// An index of rows that finds exactly the nearest ones, or all within a radius, by comparing with every row.
///
/// ```
/// use lion_tsne::Matrix;
/// use lion_tsne::index::ExactIndex;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let rows = Matrix::new(3, 2, vec![0.0, 0.0, 1.0, 0.0, 5.0, 5.0])?;
/// let index = ExactIndex::new(&rows)?;
/// let query = Matrix::new(1, 2, vec![0.9, 0.0])?;
/// assert_eq!(index.nearest(&query, 2)?.indices, [1, 0]);
/// assert_eq!(index.within(&query, 0.5)?[0].len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct ExactIndex {
    x: Matrix,
    median: Vec<f32>,
    cols: usize,
    /// The rows less their median: lengths, and with them rounding, are small.
    packed: Packed,
}

impl ExactIndex {
    /// Centres and packs the rows.
    pub fn new(x: &Matrix) -> Result<Self> {
        if x.rows() == 0 || x.cols() == 0 {
            return Err(Error::Data(format!("{} rows of {} columns cannot be searched", x.rows(), x.cols())));
        }
        Ok(Self::of(x))
    }

    /// The same for rows known to be there.
    pub(crate) fn of(x: &Matrix) -> Self {
        let median = column_medians(x);
        let packed = Packed::centred(x.data(), &median);
        Self { x: x.clone(), median, cols: x.cols(), packed }
    }

    /// The `k` nearest other rows of every row, nearest first. `done` hears of finished rows and may stop the search by
    /// answering false.
    pub(crate) fn nearest_of_all(&self, k: usize, done: &mut dyn FnMut(usize) -> bool) -> Option<Neighbours> {
        let rows = self.packed.rows();
        let mut found = Neighbours::new(rows, k);
        let block = block_rows(self.cols);
        let together = block * BLOCKS_BETWEEN_REPORTS;
        let outs = found.indices.chunks_mut(together * k).zip(found.distances2.chunks_mut(together * k));
        for (part, (indices, distances)) in outs.enumerate() {
            let blocks = indices.par_chunks_mut(block * k).zip(distances.par_chunks_mut(block * k));
            blocks.enumerate().for_each(|(b, out)| {
                let first = part * together + b * block;
                let queries = &self.x.data()[first * self.cols..][..out.0.len() / k * self.cols];
                self.nearest_block(queries, k, Some(first as u32), out);
            });
            if !done(indices.len() / k) {
                return None;
            }
        }
        Some(found)
    }

    /// The `k` nearest rows of each query, nearest first.
    pub fn nearest(&self, queries: &Matrix, k: usize) -> Result<Neighbours> {
        self.check(queries)?;
        if k == 0 || k > self.packed.rows() {
            return Err(Error::Data(format!("{} rows do not have {k} nearest ones", self.packed.rows())));
        }
        Ok(self.nearest_of(queries, k))
    }

    /// The same for queries known to fit.
    pub(crate) fn nearest_of(&self, queries: &Matrix, k: usize) -> Neighbours {
        let mut found = Neighbours::new(queries.rows(), k);
        let block = block_rows(self.cols);
        found
            .indices
            .par_chunks_mut(block * k)
            .zip(found.distances2.par_chunks_mut(block * k))
            .zip(queries.data().par_chunks(block * self.cols))
            .for_each(|(out, queries)| self.nearest_block(queries, k, None, out));
        found
    }

    /// The numbers of the `k` nearest rows of each of a few queries, one after another.
    pub(super) fn nearest_of_block(&self, queries: &[f32], k: usize) -> Vec<u32> {
        let rows = queries.len() / self.cols;
        let mut found = Neighbours::new(rows, k);
        self.nearest_block(queries, k, None, (&mut found.indices, &mut found.distances2));
        found.indices
    }

    /// Every row within `radius` of each query, by row number, with squared distances.
    pub fn within(&self, queries: &Matrix, radius: f32) -> Result<Vec<Vec<(u32, f32)>>> {
        self.check(queries)?;
        let blocks = queries.data().par_chunks(block_rows(self.cols) * self.cols);
        Ok(blocks.flat_map_iter(|queries| self.within_block(queries, radius)).collect())
    }

    fn check(&self, queries: &Matrix) -> Result<()> {
        if queries.cols() != self.cols {
            let (expected, found) = (self.cols, queries.cols());
            return Err(Error::Data(format!("the index has {expected} columns, the queries have {found}")));
        }
        queries.check_finite()
    }

    fn within_block(&self, queries: &[f32], radius: f32) -> Vec<Vec<(u32, f32)>> {
        let radius2 = radius * radius;
        let centred = centre(queries, &self.median);
        let mut reaches: Vec<Within> = centred
            .chunks_exact(self.cols)
            .map(|query| Within { reach: self.rounding(query).reach(radius2), rows: Vec::new() })
            .collect();
        scan(&centred, &self.packed, 0, &mut reaches);
        reaches
            .into_iter()
            .zip(queries.chunks_exact(self.cols))
            .map(|(reach, query)| {
                let true_distances =
                    reach.rows.iter().map(|&row| (row, squared_distance(query, self.x.row(row as usize))));
                true_distances.filter(|&(_, distance2)| distance2 <= radius2).collect()
            })
            .collect()
    }

    /// `own` is the row number of the first query, where the queries are rows of this index.
    pub(super) fn nearest_block(
        &self,
        queries: &[f32],
        k: usize,
        own: Option<u32>,
        out: (&mut [u32], &mut [f32]),
    ) {
        // A row finds itself first of all, so room is made for it.
        let wanted = k + usize::from(own.is_some());
        let centred = centre(queries, &self.median);
        let rows = centred.chunks_exact(self.cols);
        let mut proposed: Vec<Proposals> =
            rows.map(|query| Proposals::new(wanted, self.rounding(query))).collect();
        scan(&centred, &self.packed, 0, &mut proposed);
        decide(&mut proposed, queries, self.x.data(), own, out);
    }

    fn rounding(&self, query: &[f32]) -> Rounding {
        Rounding::new(query, self.packed.longest())
    }
}

/// Blocks of queries searched before the caller hears of it.
const BLOCKS_BETWEEN_REPORTS: usize = 20;

/// Writes down the nearest of each query, by their true distances to the rows of `data`. `own` is the row number of the first query,
/// where queries are rows.
pub(super) fn decide(
    proposed: &mut [Proposals],
    queries: &[f32],
    data: &[f32],
    own: Option<u32>,
    (indices, distances): (&mut [u32], &mut [f32]),
) {
    let (k, cols) = (indices.len() / proposed.len().max(1), queries.len() / proposed.len().max(1));
    let out = indices.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
    for ((at, proposed), (query, out)) in (0..).zip(proposed).zip(queries.chunks_exact(cols).zip(out)) {
        let of = proposed.rows().iter().copied();
        let near = crate::vectorized::arch().dispatch(TrueDistances { query, data, of });
        // A row is no neighbour of itself.
        let others = near.into_iter().filter(|&(_, row)| own.is_none_or(|first| first + at != row));
        for ((index, distance), (distance2, row)) in out.0.iter_mut().zip(out.1).zip(others) {
            (*index, *distance) = (row, distance2);
        }
    }
}

/// Queries that share a pass over the rows: enough to use each fetched chunk often, few enough to stay cached.
pub(super) fn block_rows(cols: usize) -> usize {
    if cols <= 256 { 192 } else { 96 }
}

/// Rows within a fixed reach.
#[derive(Default)]
pub(super) struct Within {
    pub(super) reach: f32,
    pub(super) rows: Vec<u32>,
}

impl Collect for Within {
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.reach
    }

    fn take<S: Simd>(&mut self, _: S, values: &[f32], length: f32, row: u32) {
        let near = values.iter().zip(row..).filter(|&(&value, _)| value + length <= self.reach);
        self.rows.extend(near.map(|(_, row)| row));
    }
}
