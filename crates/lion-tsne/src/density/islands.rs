//! Which islands are beside each other: peaks that no way of neighbours joins.

use super::Peak;
use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Places of an island that look for the nearest larger one.
const LOOKOUTS: usize = 64;

/// Gives the densest peak of each island but the largest a parent: the densest of the nearest larger island.
pub(super) fn join(peaks: &mut [Peak], of_place: &[u32], y: &Matrix, tree: &KdTree) {
    // The densest first, so a parent's island is known before it is asked for.
    let mut island = Vec::with_capacity(peaks.len());
    for (at, peak) in peaks.iter().enumerate() {
        island.push(peak.parent.map_or(at as u32, |parent| island[parent as usize]));
    }
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); peaks.len()];
    for (place, &peak) in (0..).zip(of_place) {
        places[island[peak as usize] as usize].push(place);
    }
    let size = |top: u32| (places[top as usize].len(), std::cmp::Reverse(top));
    let of_place: Vec<u32> = of_place.iter().map(|&peak| island[peak as usize]).collect();
    let nearest_larger = |top: u32| {
        let members = &places[top as usize];
        let step = members.len().div_ceil(LOOKOUTS);
        let found = members.iter().step_by(step.max(1)).filter_map(|&place| {
            tree.nearest_where(y.row(place as usize), |other| size(of_place[other as usize]) > size(top))
        });
        found
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, place)| of_place[place as usize])
    };
    let tops: Vec<u32> = (0..peaks.len() as u32).filter(|&at| island[at as usize] == at).collect();
    let parents: Vec<Option<u32>> = tops.par_iter().map(|&top| nearest_larger(top)).collect();
    for (&top, parent) in tops.iter().zip(parents) {
        peaks[top as usize].parent = parent;
    }
}
