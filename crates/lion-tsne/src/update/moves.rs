//! What an update did to the rows that were there before.

use super::union::Union;
use crate::diff::{distances, quantile, radius};
use crate::error::Result;
use crate::index::{Neighbours, Search, nearest_neighbours};
use crate::map::Map;
use crate::matrix::Matrix;
use crate::progress::ignore;
use crate::similarity::{Reflection, Similarity};
use std::collections::HashSet;

/// How far old rows moved beyond the similarity transform of the whole, and how much of their neighbourhoods is as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    /// For each distinct row of the old map that stayed, how far it moved, in map radii: the mean distance of those rows
    /// from their middle.
    pub moved: Vec<f64>,
    /// The Jaccard overlap of its neighbours before and after.
    pub overlap: Vec<f32>,
}

impl Moves {
    pub(super) fn new<const D: usize>(
        old: &Map,
        union: &Union,
        y: &[[f32; D]],
        overlaps: Vec<f32>,
    ) -> Result<Self> {
        let shared = || union.old_of.iter().zip(y).filter_map(|(row, y)| Some(((*row)?, y)));
        let rows: Vec<u32> = shared().map(|(row, _)| row).collect();
        let from = old.y().select(&rows);
        let to = Matrix::new(rows.len(), D, shared().flat_map(|(_, y)| *y).collect())?;
        let pairs = (0..rows.len()).map(|row| (from.row(row), to.row(row), 1.0));
        let similarity = Similarity::of_pairs(D, pairs, Reflection::Never)?;
        let unit = radius(&to).max(f64::MIN_POSITIVE);
        let moved = distances(&similarity, &from, &to).into_iter().map(|moved| moved / unit);
        let overlap = overlaps.iter().zip(&union.old_of).filter(|(_, of)| of.is_some()).map(|(o, _)| *o);
        Ok(Self { moved: moved.collect(), overlap: overlap.collect() })
    }

    /// A quantile of the moves; 0 where no row stayed.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(self.moved.clone(), share)
    }
}

/// For each row of the union that is of the old map, the Jaccard overlap of its neighbours there and here; 0 for new rows.
pub(super) fn overlaps(old: &Map, union: &Union, neighbours: &Neighbours, seed: u64) -> Result<Vec<f32>> {
    let k = neighbours.k;
    let is_new: Vec<bool> = union.old_of.iter().map(Option::is_none).collect();
    if union.stayed.len() == old.rows() && union.source.is_none() && k < old.x().rows() {
        // The old list begins with the rows of this list that are old, and the others of it are farther than any here.
        let overlap = |(row, list): (usize, &[u32])| match is_new[row] {
            true => 0.0,
            false => {
                let kept = list.iter().filter(|&&other| !is_new[other as usize]).count();
                kept as f32 / (2 * k - kept) as f32
            }
        };
        return Ok(neighbours.indices.chunks_exact(k).enumerate().map(overlap).collect());
    }
    let before_k = k.min(old.x().rows() - 1);
    let (before, _) = nearest_neighbours(old.x(), before_k, Search::Auto, seed, &mut ignore)?;
    let overlap = |(row, list): (usize, &[u32])| {
        let Some(old_row) = union.old_of[row] else { return 0.0 };
        let before: HashSet<u32> = before.of(old_row as usize).0.iter().copied().collect();
        let shared = list
            .iter()
            .filter_map(|&other| union.old_of[other as usize])
            .filter(|other| before.contains(other));
        let shared = shared.count();
        shared as f32 / (before.len() + list.len() - shared) as f32
    };
    Ok(neighbours.indices.chunks_exact(k).enumerate().map(overlap).collect())
}
