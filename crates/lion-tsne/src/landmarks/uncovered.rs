//! What landmarks leave uncovered: rows that lie beyond r_x of every one of them, estimated by stratified sampling. The
//! interval is that of Agresti & Coull 1998, Approximate Is Better than "Exact" for Interval Estimation of Binomial
//! Proportions, with the finite population correction.

use super::bottom_k::HashKey;
use crate::error::{Error, Result};
use crate::fit::{check_largest, pool};
use crate::index::RowIndex;
use crate::map::Map;
use crate::matrix::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Half the width of an interval that holds the truth 95 times in 100, in standard errors.
const CERTAIN: f64 = 1.96;

/// What a map of landmarks stands for. By its r_x a row without a landmark within it is an outlier or near a single one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledFrom {
    /// Rows of the table that the landmarks were chosen from.
    pub rows: u64,
    /// Whether each label has its share of landmarks.
    pub stratified: bool,
    /// How many landmarks were taken to cover sparse regions.
    pub covering: u64,
    /// How many rows of the table lie beyond r_x of every landmark.
    #[serde(rename = "beyond")]
    pub uncovered: u64,
    /// By so much `uncovered` may be wrong, 95 times in 100; 0 if it was counted.
    #[serde(rename = "beyond_error")]
    pub uncovered_error: u64,
    /// How many rows it was judged by, landmarks not among them.
    pub judged: u64,
}

impl SampledFrom {
    /// Whether `uncovered` was counted, not estimated.
    pub fn is_exact(&self) -> bool {
        self.uncovered_error == 0
    }

    /// `uncovered` as a share of all rows.
    pub fn uncovered_share(&self) -> f64 {
        self.uncovered as f64 / self.rows.max(1) as f64
    }
}

/// Rows that did not become landmarks, and whom they stand for.
#[derive(Clone, Debug)]
pub(crate) struct HeldOutSample(Vec<HeldOutStratum>);

/// Rows that are a fair sample of so many.
#[derive(Clone, Debug)]
struct HeldOutStratum {
    rows: Matrix,
    of: u64,
}

impl HeldOutSample {
    pub(super) fn new(
        strata: &[(Vec<HashKey>, u64)],
        rows: impl Fn(&[HashKey]) -> Result<Matrix>,
    ) -> Result<Self> {
        let stratum = |(keys, of): &(Vec<HashKey>, u64)| Ok(HeldOutStratum { rows: rows(keys)?, of: *of });
        strata.iter().filter(|(keys, _)| !keys.is_empty()).map(stratum).collect::<Result<_>>().map(Self)
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn rows(&self) -> usize {
        self.0.iter().map(|stratum| stratum.rows.rows()).sum()
    }

    /// How many rows they stand for.
    #[cfg(test)]
    pub(super) fn of(&self) -> u64 {
        self.0.iter().map(|stratum| stratum.of).sum()
    }

    /// How many of the rows that they stand for lie beyond, by how much that may be wrong, and by how many it was judged.
    pub(crate) fn judge(&self, counter: &UncoveredCounter<'_>) -> Result<(u64, u64, u64)> {
        let (mut total, mut variance, mut judged) = (0.0, 0.0, 0);
        for HeldOutStratum { rows, of } in &self.0 {
            let (found, many, of) = (counter.count(rows)? as f64, rows.rows() as f64, *of as f64);
            total += of * found / many;
            judged += rows.rows() as u64;
            if of > many {
                // Two more of each kind: none found among few is no proof that there is none.
                let share = (found + 2.0) / (many + 4.0);
                let unseen = (of - many) / (of - 1.0);
                variance += of * of * share * (1.0 - share) / (many + 4.0) * unseen;
            }
        }
        Ok((total.round() as u64, (CERTAIN * variance.sqrt()).ceil() as u64, judged))
    }
}

/// Counts rows that lie beyond r_x of every row of a map: to be told of a table that passes by once more.
///
/// ```
/// use lion_tsne::{Fit, Matrix, ignore};
/// use lion_tsne::landmarks::UncoveredCounter;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let grid = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
/// let rows = Matrix::new(100, 2, grid.flatten().collect())?;
/// let map = Fit { perplexity: Some(5.0), ..Fit::default() }.run(rows, &mut ignore)?;
/// let counter = UncoveredCounter::new(&map, 0)?;
/// assert_eq!(counter.count(&Matrix::new(3, 2, vec![0.5, 0.5, 3.0, 12.0, 4.0, 4.0])?)?, 1);
/// # Ok(())
/// # }
/// ```
pub struct UncoveredCounter<'a> {
    map: &'a Map,
    index: RowIndex,
    r_x: f64,
    pool: rayon::ThreadPool,
}

impl<'a> UncoveredCounter<'a> {
    /// Makes a map ready; 0 threads are all.
    pub fn new(map: &'a Map, threads: usize) -> Result<Self> {
        let Some(lion) = map.lion() else {
            return Err(Error::Data("the map has no parameters of placing".into()));
        };
        let pool = pool(threads)?;
        let index = pool.install(|| RowIndex::new(map.x(), lion.partitioning.as_ref()));
        Ok(Self { map, index, r_x: lion.r_x, pool })
    }

    /// How many of these rows lie beyond r_x of every row of the map.
    pub fn count(&self, rows: &Matrix) -> Result<u64> {
        self.map.preprocess().check(rows)?;
        check_largest(rows)?;
        let (x, dims) = (self.map.x(), rows.cols());
        let few = rows.rows().div_ceil(4 * self.pool.current_num_threads()).clamp(16, self.index.together());
        let count = |rows: &[f32]| {
            let (rows, _) = self.map.preprocess().apply_here(rows)?;
            let lonely = self.index.lonely(x, &rows, self.r_x);
            Ok(lonely.into_iter().filter(|lonely| *lonely).count() as u64)
        };
        self.pool.install(|| rows.data().par_chunks(few * dims).map(count).sum())
    }
}
