//! How good a map is, beside another: numbers that mean the same for any map.

use super::overlap::JUDGED;
use crate::index::Neighbours;
use crate::kd_tree::KdTree;
use crate::map::{Labels, Map};
use rayon::prelude::*;

/// How good a map is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapQuality {
    /// KL divergence, if it is known.
    pub kl: Option<f64>,
    /// The mean share of the 10 nearest labelled places that carry the row's own label; `None` without labels.
    pub label_share: Option<f64>,
    /// The mean share of the 10 nearest rows of the data that are among the 10 nearest places. `None` for a single row.
    pub neighbours_kept: Option<f64>,
}

impl MapQuality {
    /// Of distinct rows, each with its place once.
    pub(super) fn new(map: &Map, tree: &KdTree, neighbours: Option<&Neighbours>) -> Self {
        Self {
            kl: map.provenance().kl,
            label_share: map.labels().and_then(|labels| label_share(map, labels)),
            neighbours_kept: neighbours.map(|neighbours| neighbours_kept(map, tree, neighbours)),
        }
    }
}

fn neighbours_kept(map: &Map, tree: &KdTree, neighbours: &Neighbours) -> f64 {
    let k = JUDGED.min(neighbours.k);
    let kept = |row: usize| {
        let near = &neighbours.of(row).0[..k];
        let places = tree.nearest(map.y().row(row), k, Some(row as u32));
        places.iter().filter(|(_, other)| near.contains(other)).count()
    };
    let rows = map.y().rows();
    let kept: usize = (0..rows).into_par_iter().with_min_len(1024).map(kept).sum();
    kept as f64 / (rows * k) as f64
}

/// Rows without a label, and their places, do not count. Of rows that share a place the first labelled one does.
fn label_share(map: &Map, labels: &Labels) -> Option<f64> {
    let named: Vec<bool> = labels.names().map(|name| !name.is_empty()).collect();
    let mut code_of = vec![None; map.y().rows()];
    for row in (0..map.rows()).rev() {
        let code = labels.codes()[row];
        if named[code as usize] {
            code_of[map.distinct(row)] = Some(code);
        }
    }
    let labelled: Vec<u32> = (0..code_of.len() as u32).filter(|&at| code_of[at as usize].is_some()).collect();
    let places = map.y().select(&labelled);
    let tree = KdTree::new(places.data(), map.dims());
    let code = |at: u32| code_of[labelled[at as usize] as usize];
    let share = |at: u32| {
        let near = tree.nearest(places.row(at as usize), JUDGED, Some(at));
        let same = near.iter().filter(|(_, other)| code(*other) == code(at)).count();
        (!near.is_empty()).then(|| same as f64 / near.len() as f64)
    };
    let shares: Option<Vec<f64>> =
        (0..labelled.len() as u32).into_par_iter().with_min_len(1024).map(share).collect();
    let shares = shares.filter(|shares| !shares.is_empty())?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64)
}
