//! The memory of positions handed out: which groups there are, and who is in them.

use super::Place;
use super::pending_outliers::DifferentOutliers;
use crate::index::squared_distance;
use crate::vectorized::vectorized;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Outliers of earlier calls, in their groups.
#[derive(Default)]
pub(super) struct EarlierOutliers {
    groups: Vec<EarlierGroup>,
    /// For the hash of each outlier's row, its group and number there.
    known: HashMap<u64, (usize, usize)>,
}

/// Outliers that belong together.
struct EarlierGroup {
    /// The members' rows, one after another, and their places.
    rows: Vec<f32>,
    places: Vec<Place>,
    /// The least and greatest value of the first columns.
    low: [f32; BOXED],
    high: [f32; BOXED],
}

/// Columns by which groups that are far away are told at a glance; after PCA the first ones vary most.
const BOXED: usize = 4;

impl EarlierOutliers {
    /// The earliest group that any of these rows is within the radius of.
    pub(super) fn near<'r, R: Iterator<Item = &'r [f32]>>(
        &self,
        rows: impl Fn() -> R,
        radius: f64,
    ) -> Option<usize> {
        let is_near = |group: &EarlierGroup| {
            vectorized(
                #[inline(always)]
                || rows().any(|row| group.is_near(row, radius)),
            )
        };
        self.groups.iter().position(is_near)
    }

    /// The place that this very row was given.
    pub(super) fn place_of(&self, row: &[f32]) -> Option<Place> {
        let &(group, member) = self.known.get(&hash(row))?;
        let group = &self.groups[group];
        (group.row(member) == row).then(|| group.places[member])
    }

    /// Remembers outliers with the place and group that each was given.
    pub(super) fn add(&mut self, outliers: &DifferentOutliers, given: &[(Place, u32)]) {
        for (number, &(place, group)) in (0..).zip(given) {
            let (row, group) = (outliers.row(number), group as usize);
            if self.place_of(row).is_none() {
                self.groups.resize_with(self.groups.len().max(group + 1), EarlierGroup::new);
                self.known.insert(hash(row), (group, self.groups[group].places.len()));
                self.groups[group].add(row, place);
            }
        }
    }
}

impl EarlierGroup {
    fn new() -> Self {
        let (low, high) = ([f32::INFINITY; BOXED], [f32::NEG_INFINITY; BOXED]);
        Self { rows: Vec::new(), places: Vec::new(), low, high }
    }

    fn add(&mut self, row: &[f32], place: Place) {
        self.rows.extend_from_slice(row);
        self.places.push(place);
        for ((low, high), &v) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            *low = low.min(v);
            *high = high.max(v);
        }
    }

    fn row(&self, member: usize) -> &[f32] {
        let width = self.rows.len() / self.places.len().max(1);
        &self.rows[member * width..(member + 1) * width]
    }

    /// Whether a row is within the radius of a member.
    #[inline(always)]
    fn is_near(&self, row: &[f32], radius: f64) -> bool {
        let outside = |((low, high), v): ((&f32, &f32), &f32)| {
            f64::from(*low) - f64::from(*v) > radius || f64::from(*v) - f64::from(*high) > radius
        };
        let near = |member: &[f32]| f64::from(squared_distance(row, member).sqrt()) <= radius;
        !self.low.iter().zip(&self.high).zip(row).any(outside) && self.rows.chunks_exact(row.len()).any(near)
    }
}

fn hash(row: &[f32]) -> u64 {
    xxh3_64(bytemuck::cast_slice(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The box around the members only tells early which rows are near none of them.
    #[test]
    fn a_row_between_the_members_is_near_only_within_the_radius_of_one() {
        let mut group = EarlierGroup::new();
        group.add(&[0.0, 0.0], Place::default());
        group.add(&[10.0, 10.0], Place::default());
        assert!(group.is_near(&[0.5, 0.5], 1.0) && group.is_near(&[10.0, 11.0], 1.0));
        for far in [[5.0, 5.0], [0.0, 10.0], [-2.0, 0.0], [10.0, 12.0]] {
            assert!(!group.is_near(&far, 1.0), "{far:?}");
        }
    }
}
