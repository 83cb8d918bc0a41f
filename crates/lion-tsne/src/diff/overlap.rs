//! Whether the nearest rows of a row are the same in two maps.
//!
//! Neighbours are those of the data, in the space that each map takes distances in, and not those on the map: they tell
//! whether the rows themselves changed. They are compared by id over all rows of each map, so that a new row among them
//! counts as a change: the affinities of t-SNE changed with it. Rows that share a place are one neighbour.

use super::MatchedRows;
use crate::error::Result;
use crate::index::{Neighbours, Search, nearest_neighbours};
use crate::map::Map;
use crate::progress::{Observer, Progress, Stage};
use rayon::prelude::*;

/// Neighbours per unit of perplexity, as a fit has them.
const PER_PERPLEXITY: f64 = 3.0;
/// The most neighbours that are compared.
const MOST: usize = 90;
/// The quality of a map is told by so many neighbours.
pub(super) const JUDGED: usize = 10;

/// The nearest rows in both maps, of distinct rows.
pub(super) struct DiffNeighbours {
    /// `None` where a map has a single distinct row.
    a: Option<Neighbours>,
    /// `None` also if both maps have the same rows, preprocessed alike.
    b: Option<Neighbours>,
    same: bool,
    /// How many of them are compared.
    pub(super) compared: usize,
    pub(super) search: String,
}

impl DiffNeighbours {
    pub(super) fn new(a: &Map, b: &Map, seed: u64, observer: &mut Observer<'_>) -> Result<Self> {
        let others = [a, b].map(|map| map.x().rows() - 1);
        let wanted = |map: &Map| ((PER_PERPLEXITY * map.perplexity()) as usize).clamp(1, MOST);
        let compared = wanted(a).min(wanted(b)).min(others[0]).min(others[1]);
        let same = a.x() == b.x();
        let total = (a.x().rows() + if same { 0 } else { b.x().rows() }) as u64;
        let mut find = |map: &Map, before: u64| {
            let k = compared.max(JUDGED).min(map.x().rows() - 1);
            if k == 0 || map.x().cols() == 0 {
                return Ok(None);
            }
            let mut shifted = |progress: &Progress<'_>| {
                let done = before + progress.done;
                observer(&Progress { total, done, stage: Stage::Neighbours, ..progress.clone() })
            };
            nearest_neighbours(map.x(), k, Search::Auto, seed, &mut shifted).map(Some)
        };
        let of_a = find(a, 0)?;
        let of_b = if same { None } else { find(b, a.x().rows() as u64)? };
        let words = of_b.iter().chain(&of_a).map(|(_, words)| words.clone()).next();
        Ok(Self {
            a: of_a.map(|found| found.0),
            b: of_b.map(|found| found.0),
            same,
            compared,
            search: words.unwrap_or_default(),
        })
    }

    pub(super) fn of_a(&self) -> Option<&Neighbours> {
        self.a.as_ref()
    }

    pub(super) fn of_b(&self) -> Option<&Neighbours> {
        if self.same { self.a.as_ref() } else { self.b.as_ref() }
    }

    /// The Jaccard overlap of each shared row's neighbours. Rows of maps too small to have any lost none.
    pub(super) fn overlaps(&self, a: &Map, b: &Map, matched: &MatchedRows) -> Vec<f64> {
        let (Some(near_a), Some(near_b)) = (self.of_a(), self.of_b()) else {
            return vec![1.0; matched.shared.len()];
        };
        let names = [one_name_each(a, b, matched, 0), one_name_each(a, b, matched, 1)];
        let sorted = |map: &Map, near: &Neighbours, names: &[u32], row: u32| {
            let near = &near.of(map.distinct(row as usize)).0[..self.compared];
            let mut found: Vec<u32> = near.iter().map(|&other| names[other as usize]).collect();
            found.sort_unstable();
            found
        };
        let overlap = |&(row_a, row_b): &(u32, u32)| {
            jaccard(&sorted(a, near_a, &names[0], row_a), &sorted(b, near_b, &names[1], row_b))
        };
        matched.shared.par_iter().with_min_len(1024).map(overlap).collect()
    }
}

/// For each distinct row of one of the maps a number that stands for its id: of the rows that it stands for, the first
/// in A that both maps have, else the first of its own map, by numbers that the other map does not use.
fn one_name_each(a: &Map, b: &Map, matched: &MatchedRows, which: usize) -> Vec<u32> {
    let map = [a, b][which];
    let mut names = vec![u32::MAX; map.x().rows()];
    let mut offer = |row: u32, name: u32| {
        let known = &mut names[map.distinct(row as usize)];
        *known = name.min(*known);
    };
    matched.shared.iter().for_each(|&(row_a, row_b)| offer([row_a, row_b][which], row_a));
    // Every number below is larger than that of any shared row. The two maps number their own rows apart.
    let own = [&matched.removed, &matched.added][which];
    let first = a.rows() as u32;
    let step = [0, matched.removed.len() as u32][which];
    (0..).zip(own).for_each(|(at, &row): (u32, _)| offer(row, first.saturating_add(step + at)));
    names
}

/// How many of two sorted lists without repetition are in both, divided by how many are in either.
fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                both += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let either = a.len() + b.len() - both;
    if either == 0 { 1.0 } else { both as f64 / either as f64 }
}
