//! The rows that stand for a group: those nearest to its mean, as the map compares rows.

use super::groups::Groups;
use crate::map::Map;
use rayon::prelude::*;

/// For each group its rows nearest to the mean, nearest first, at most so many. Of equal rows one is told.
pub(super) fn typical(map: &Map, groups: &Groups, most: usize) -> Vec<Vec<u32>> {
    let of_group = |members: &Vec<u32>| {
        let x = |row: u32| map.x().row(map.distinct(row as usize));
        let mut mean = vec![0.0; map.x().cols()];
        for &row in members {
            mean.iter_mut().zip(x(row)).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        mean.iter_mut().for_each(|sum| *sum /= members.len() as f64);
        let away =
            |row: u32| -> f64 { x(row).iter().zip(&mean).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum() };
        let mut order: Vec<(f64, u32)> = members.iter().map(|&row| (away(row), row)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.dedup_by_key(|(_, row)| map.distinct(*row as usize));
        order.into_iter().map(|(_, row)| row).take(most).collect()
    };
    groups.members().par_iter().map(of_group).collect()
}
