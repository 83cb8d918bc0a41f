//! Nearest neighbours: exact up to a size, approximate with measured recall beyond.

mod approximate;
mod connected_components;
mod exact;
mod given;
mod nearest_rows;
mod placing;
mod product_form;
mod proposals;
mod scan;
mod true_distances;

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::{Observer, Progress, Stage};
use approximate::InvertedFile;
pub(crate) use approximate::PARTITION_SIZE;
pub(crate) use connected_components::connected_components;
pub use exact::ExactIndex;
pub(crate) use given::wanted;
pub use nearest_rows::NearestRows;
pub(crate) use placing::{Partitioning, QueryNeighbours, RowIndex};
pub use scan::squared_distance;
use std::ops::ControlFlow;

/// Up to this many rows `Search::Auto` compares every pair.
const EXACT_UP_TO: usize = 30_000;

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Exact up to 30 000 rows, approximate beyond.
    #[default]
    Auto,
    /// Every pair is compared.
    Exact,
    /// By partitions of near rows; the share of true neighbours found is measured on a sample.
    Approximate,
}

crate::named!(Search, "neighbours": Auto = "auto", Exact = "exact", Approximate = "approximate");

/// The nearest other rows of each row, nearest first.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// How many for each row.
    pub k: usize,
    /// Row numbers, `k` for each row.
    pub indices: Vec<u32>,
    /// Squared distances, beside them.
    pub distances2: Vec<f32>,
}

impl Neighbours {
    fn new(rows: usize, k: usize) -> Self {
        Self { k, indices: vec![0; rows * k], distances2: vec![0.0; rows * k] }
    }

    /// The neighbours of one row: their numbers and squared distances.
    pub(crate) fn of(&self, row: usize) -> (&[u32], &[f32]) {
        let range = row * self.k..(row + 1) * self.k;
        (&self.indices[range.clone()], &self.distances2[range])
    }
}

/// Whether every pair of so many rows is compared.
pub(crate) fn is_exact(search: Search, rows: usize) -> bool {
    match search {
        Search::Auto => rows <= EXACT_UP_TO,
        Search::Exact => true,
        Search::Approximate => false,
    }
}

/// The `k` nearest other rows of each row of `x`, and how they were found, in words.
pub fn nearest_neighbours(
    x: &Matrix,
    k: usize,
    search: Search,
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<(Neighbours, String)> {
    if k == 0 || k >= x.rows() || x.cols() == 0 {
        return Err(Error::Data(format!(
            "{} rows of {} columns do not have {k} neighbours each",
            x.rows(),
            x.cols()
        )));
    }
    let exact = is_exact(search, x.rows());
    let total = x.rows() as u64;
    let mut progress = Progress::of(Stage::Neighbours, 0, total);
    let mut report = |rows: usize| {
        progress.done += rows as u64;
        observer(&progress) == ControlFlow::Continue(())
    };
    let stopped = Error::Stopped(Stage::Neighbours);
    if !report(0) {
        return Err(stopped);
    }
    if exact {
        let found = ExactIndex::of(x).nearest_of_all(k, &mut report).ok_or(stopped)?;
        return Ok((found, Search::Exact.to_string()));
    }
    let index = InvertedFile::new(x, seed);
    let (found, recall) = index.nearest_of_all(k, seed, &mut report).ok_or(stopped)?;
    Ok((found, format!("{}, recall {recall:.3}", Search::Approximate)))
}
