//! Which labels lie around a row.

use super::LABELS_AROUND;
use crate::kd_tree::KdTree;
use crate::map::Map;
use rayon::prelude::*;

/// The labels of distinct rows, of which one at least has one. Rows without a label, and their places, do not count; of
/// rows that share a place the first labelled one does.
pub(crate) struct LabelledPlaces<'a> {
    map: &'a Map,
    codes: Vec<Option<u32>>,
}

impl<'a> LabelledPlaces<'a> {
    pub(crate) fn new(map: &'a Map) -> Option<Self> {
        let labels = map.labels()?;
        let named: Vec<bool> = labels.names().map(|name| !name.is_empty()).collect();
        let mut codes = vec![None; map.y().rows()];
        for row in (0..map.rows()).rev() {
            let code = labels.codes()[row];
            if named[code as usize] {
                codes[map.distinct(row)] = Some(code);
            }
        }
        codes.iter().any(Option::is_some).then_some(Self { map, codes })
    }

    /// The label of a distinct row.
    pub(super) fn code(&self, distinct: usize) -> Option<u32> {
        self.codes[distinct]
    }

    /// The chance that another labelled row has the same label; `None` of a single one.
    pub(super) fn by_chance(&self) -> Option<f64> {
        let mut counts: Vec<u64> = Vec::new();
        for &code in self.codes.iter().flatten() {
            counts.resize(counts.len().max(code as usize + 1), 0);
            counts[code as usize] += 1;
        }
        let total: u64 = counts.iter().sum();
        let pairs = |count: u64| count as f64 * count.saturating_sub(1) as f64;
        (total > 1).then(|| counts.into_iter().map(pairs).sum::<f64>() / pairs(total))
    }
}

/// The mean share of the nearest labelled places that carry the row's own label; `None` of a single one.
pub(crate) fn label_share(labelled: &LabelledPlaces<'_>) -> Option<f64> {
    let LabelledPlaces { map, codes } = labelled;
    let rows: Vec<u32> = (0..codes.len() as u32).filter(|&row| codes[row as usize].is_some()).collect();
    let places = map.y().select(&rows);
    let tree = KdTree::new(places.data(), map.dims());
    let code = |at: u32| codes[rows[at as usize] as usize];
    let share = |at: u32| {
        let near = tree.nearest(places.row(at as usize), LABELS_AROUND, Some(at));
        let same = near.iter().filter(|(_, other)| code(*other) == code(at)).count();
        (!near.is_empty()).then(|| same as f64 / near.len() as f64)
    };
    let shares: Option<Vec<f64>> =
        (0..rows.len() as u32).into_par_iter().with_min_len(1024).map(share).collect();
    let shares = shares?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64)
}
