//! Which clusters lie beside each other on the map.

use super::Border;
use super::groups::Groups;
use crate::kd_tree::KdTree;
use crate::map::Map;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The nearest places of a row that are looked at.
const NEAREST: usize = 10;
/// Clusters told at most.
const MOST: usize = 4;
/// Rows of a cluster without a border that look for the nearest other cluster.
const LOOKOUTS: usize = 64;

/// For each cluster those of its first level that are beside it.
pub(super) fn borders(
    map: &Map,
    tree: &KdTree,
    levels: &[Vec<Option<u32>>],
    groups: &Groups,
    first_level: &[usize],
) -> Vec<Vec<Border>> {
    let y = map.y();
    let first_rows = map.first_rows();
    let row_of = |place: u32| first_rows.as_ref().map_or(place, |rows| rows[place as usize]) as usize;
    let near: Vec<Vec<u32>> = (0..y.rows() as u32)
        .into_par_iter()
        .map(|place| {
            let found = tree.nearest(y.row(place as usize), NEAREST, Some(place));
            found.into_iter().map(|(_, other)| other).collect()
        })
        .collect();
    let of_cluster = |(id, members): (usize, &Vec<u32>)| {
        let of_row = &levels[first_level[id]];
        let (mut links, mut all) = (BTreeMap::new(), 0usize);
        for &row in members {
            for &other in &near[map.distinct(row as usize)] {
                all += 1;
                if let Some(other) = of_row[row_of(other)].filter(|&other| other as usize != id) {
                    *links.entry(other).or_insert(0usize) += 1;
                }
            }
        }
        let share = |count: usize| count as f64 / all as f64;
        let mut found: Vec<Border> =
            links.into_iter().map(|(cluster, count)| Border { cluster, share: share(count) }).collect();
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.cluster.cmp(&b.cluster)));
        found.truncate(MOST);
        if found.is_empty() {
            let is_other = |place: u32| of_row[row_of(place)].is_some_and(|other| other as usize != id);
            let lookouts = members.iter().step_by(members.len().div_ceil(LOOKOUTS).max(1));
            let nearest = lookouts.filter_map(|&row| tree.nearest_where(map.place(row as usize), is_other));
            let nearest = nearest.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let cluster = nearest.and_then(|(_, place)| of_row[row_of(place)]);
            found.extend(cluster.map(|cluster| Border { cluster, share: 0.0 }));
        }
        found
    };
    groups.members().par_iter().enumerate().map(of_cluster).collect()
}
