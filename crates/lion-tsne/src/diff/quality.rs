//! How good a map is, beside another: numbers that mean the same for any map.

use super::overlap::JUDGED;
use crate::index::Neighbours;
use crate::kd_tree::KdTree;
use crate::map::Map;
use crate::quality::{LabelledPlaces, label_share};
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
            label_share: LabelledPlaces::new(map).and_then(|labelled| label_share(&labelled)),
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
