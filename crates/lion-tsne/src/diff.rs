//! What differs between two maps that share rows, whatever made them: `lion diff`.
//!
//! Rows are matched by id; a map without ids has row numbers as ids. The first map, A, is brought onto the second, B, by
//! a similarity transform that rows which really moved cannot drag along: least squares, reweighted for ten rounds so that
//! rows far apart hardly count. What is left between the two places of a row is how far it moved
//! ([`SharedRow::moved`]); how many of its nearest rows are still the same tells why ([`SharedRow::overlap`]). Clusters are
//! found on both maps by density and compared by the rows that they share ([`ClusterChanges`]).
//!
//! ```
//! use lion_tsne::{DiffOptions, Fit, MapDiff, Matrix, Rows};
//! # fn main() -> lion_tsne::Result<()> {
//! let data = Matrix::new(60, 2, (0..120).map(|i| (i * i % 61) as f32).collect())?;
//! let fit = |seed| Fit { perplexity: Some(5.0), iterations: Some(60), seed, ..Fit::default() };
//! let rows = || Rows { data: data.clone(), ids: None, labels: None };
//! let a = fit(1).run(rows(), &mut lion_tsne::ignore)?;
//! let b = fit(2).run(rows(), &mut lion_tsne::ignore)?;
//! let diff = MapDiff::new(&a, &b, &DiffOptions::default(), &mut lion_tsne::ignore)?;
//! assert_eq!(diff.rows.len(), 60);
//! println!("half of the rows moved by at most {:.2} map radii", diff.moved_quantile(0.5));
//! # Ok(())
//! # }
//! ```

mod align;
mod clusters;
mod overlap;
mod quality;

pub use clusters::{Cluster, ClusterChanges, ClusterPair, ClusterPart, Lineage};
pub use quality::MapQuality;

use crate::error::{Error, Result};
use crate::fit::pool;
use crate::kd_tree::KdTree;
use crate::map::Map;
use crate::matrix::Matrix;
use crate::progress::Observer;
use crate::similarity::Similarity;
pub(crate) use align::{distances, quantile, radius, similarity};
use overlap::DiffNeighbours;
use std::borrow::Cow;
use std::collections::HashMap;

/// How two maps are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffOptions {
    /// Seed of the search for neighbours where that is approximate.
    pub seed: u64,
    /// Threads, 0 for all. The result does not depend on it.
    pub threads: usize,
}

/// A row that both maps have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedRow {
    /// Its number in A.
    pub a: u32,
    /// Its number in B.
    pub b: u32,
    /// The distance between its place in B and its place in A brought onto B, in map radii of B: divided by
    /// [`MapDiff::radius`].
    pub moved: f64,
    /// The Jaccard overlap of its [`MapDiff::neighbours`] nearest rows in A and in B, by id: how many are in both, divided
    /// by how many are in either.
    pub overlap: f64,
}

/// What differs between a map A and a map B.
#[derive(Clone, Debug)]
pub struct MapDiff {
    /// The rows that both maps have, in the order of B.
    pub rows: Vec<SharedRow>,
    /// The rows that only B has, by their numbers there.
    pub added: Vec<u32>,
    /// The rows that only A has, by their numbers there.
    pub removed: Vec<u32>,
    /// Brings places of A onto B.
    pub similarity: Similarity,
    /// The mean distance of the shared rows' places in B from their centre.
    pub radius: f64,
    /// How many nearest rows were compared: three times the smaller perplexity, at most 90.
    pub neighbours: usize,
    /// How the neighbours were found, in words.
    pub search: String,
    /// The clusters of both maps, and which of them changed.
    pub clusters: ClusterChanges,
    /// How good A is.
    pub a: MapQuality,
    /// How good B is.
    pub b: MapQuality,
}

impl MapDiff {
    /// Compares two maps. Refuses maps of different dimensions and maps that share no id.
    pub fn new(a: &Map, b: &Map, options: &DiffOptions, observer: &mut Observer<'_>) -> Result<Self> {
        if a.dims() != b.dims() {
            return Err(Error::Data(format!(
                "the first map has {} dimensions and the second {}: fit both with the same number of dimensions",
                a.dims(),
                b.dims()
            )));
        }
        let matched = MatchedRows::new(a, b);
        if matched.shared.is_empty() {
            return Err(Error::Data(
                "the maps share no ids: fit both with --id, so that the same row has the same id in both"
                    .into(),
            ));
        }
        pool(options.threads)?.install(|| Self::of_matched(a, b, matched, options.seed, observer))
    }

    fn of_matched(
        a: &Map,
        b: &Map,
        matched: MatchedRows,
        seed: u64,
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let neighbours = DiffNeighbours::new(a, b, seed, observer)?;
        let overlaps = neighbours.overlaps(a, b, &matched);
        let (from, to) = (places(a, matched.shared.iter().map(|pair| pair.0)), shared_places(b, &matched));
        let similarity = align::similarity(&from, &to)?;
        let radius = align::radius(&to);
        let moved = align::distances(&similarity, &from, &to);
        let unit = if radius > 0.0 { radius } else { 1.0 };
        let pairs = matched.shared.iter().zip(&moved).zip(&overlaps);
        let rows: Vec<SharedRow> = pairs
            .map(|((&(a, b), &moved), &overlap)| SharedRow { a, b, moved: moved / unit, overlap })
            .collect();
        let trees = [a, b].map(|map| KdTree::new(map.y().data(), map.dims()));
        let quality_a = MapQuality::new(a, &trees[0], neighbours.of_a());
        let quality_b = MapQuality::new(b, &trees[1], neighbours.of_b());
        let clusters = ClusterChanges::new([a, b], &trees, &rows, &similarity, unit);
        let MatchedRows { added, removed, .. } = matched;
        Ok(Self {
            rows,
            added,
            removed,
            similarity,
            radius,
            neighbours: neighbours.compared,
            search: neighbours.search,
            clusters,
            a: quality_a,
            b: quality_b,
        })
    }

    /// The distance that a share of the shared rows moved by at most, in map radii of B: 0.5 for the median. Between two
    /// rows it is interpolated.
    pub fn moved_quantile(&self, share: f64) -> f64 {
        quantile(self.rows.iter().map(|row| row.moved).collect(), share)
    }

    /// The mean overlap of the shared rows' neighbours.
    pub fn overlap_mean(&self) -> f64 {
        self.rows.iter().map(|row| row.overlap).sum::<f64>() / self.rows.len().max(1) as f64
    }
}

/// The rows of two maps, matched by id.
struct MatchedRows {
    /// Numbers in A and in B, in the order of B.
    shared: Vec<(u32, u32)>,
    added: Vec<u32>,
    removed: Vec<u32>,
}

impl MatchedRows {
    fn new(a: &Map, b: &Map) -> Self {
        let known: HashMap<Cow<'_, str>, u32> = (0..a.rows()).map(|row| (a.id(row), row as u32)).collect();
        let mut kept = vec![false; a.rows()];
        let (mut shared, mut added) = (Vec::new(), Vec::new());
        for row in 0..b.rows() {
            match known.get(&b.id(row)) {
                Some(&there) => {
                    kept[there as usize] = true;
                    shared.push((there, row as u32));
                }
                None => added.push(row as u32),
            }
        }
        let removed = (0..a.rows() as u32).filter(|&row| !kept[row as usize]).collect();
        Self { shared, added, removed }
    }
}

/// The places of some rows of a map.
fn places(map: &Map, rows: impl Iterator<Item = u32>) -> Matrix {
    let distinct: Vec<u32> = rows.map(|row| map.distinct(row as usize) as u32).collect();
    map.y().select(&distinct)
}

fn shared_places(b: &Map, matched: &MatchedRows) -> Matrix {
    places(b, matched.shared.iter().map(|pair| pair.1))
}
