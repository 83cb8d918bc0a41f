//! Outliers, one at a time: the groups they form, and the positions these have.

use super::alarms::gather;
use super::outlier_index::OutlierIndex;
use crate::error::{Error, Result};
use crate::index::squared_distance;
use crate::lion::{Lion, OutlierCell, OutlierGrid, PendingOutlier, Place, Placement};
use serde::Serialize;
use std::collections::BTreeMap;

/// Outliers that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutlierGroup {
    /// Its number, which no other group ever has.
    pub number: u64,
    /// Its position: its members are there or within r_close.
    pub position: Place,
    /// The cell of the map that the position is the centre of; below 0 or from the count on it lies outside.
    pub cell: [i64; 3],
    /// The ids of its members, by the numbers of the events they appeared by.
    pub members: BTreeMap<u64, String>,
    /// The new cluster that it belongs to, if it was told of: the group that names it.
    pub family: Option<u64>,
}

/// There were never so many groups at a time: each new outlier is compared with all others.
const MOST_GROUPS: u64 = 1 << 22;

/// All outliers that are there.
pub(super) struct LiveOutliers {
    near: OutlierIndex,
    grid: OutlierGrid,
    groups: BTreeMap<u64, OutlierGroup>,
    next: u64,
}

/// What became of an outlier.
pub(super) struct PlacedOutlier {
    pub(super) placement: Placement,
    /// It came to a group that had members.
    pub(super) joined: bool,
}

impl LiveOutliers {
    pub(super) fn new(lion: &Lion) -> Self {
        let (near, grid) = (OutlierIndex::new(lion.map().x()), lion.fresh_grid());
        Self { near, grid, groups: BTreeMap::new(), next: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.near.len()
    }

    pub(super) fn groups(&self) -> impl ExactSizeIterator<Item = &OutlierGroup> {
        self.groups.values()
    }

    pub(super) fn group(&self, number: u64) -> Option<&OutlierGroup> {
        self.groups.get(&number)
    }

    pub(super) fn group_mut(&mut self, number: u64) -> Option<&mut OutlierGroup> {
        self.groups.get_mut(&number)
    }

    /// The row of an outlier, preprocessed.
    pub(super) fn row(&self, first: u64) -> Option<&[f32]> {
        self.near.row(first)
    }

    /// The number of the next group, and the ring of cells that is being handed out.
    pub(super) fn counters(&self) -> (u64, i64) {
        (self.next, self.grid.ring())
    }

    /// The event by which an outlier became one.
    pub(super) fn since(&self, first: u64) -> Option<u64> {
        self.near.since(first)
    }

    /// Outliers around one, and how many there were lately: see [`OutlierIndex::around`].
    pub(super) fn around(&self, first: u64, radius: f64, now: u64) -> (Vec<gather::Near>, gather::Counts) {
        self.near.around(first, radius, now)
    }

    /// Places an outlier that appeared by event `first` and became an outlier by event `since`; `old` is where it is if it
    /// is an outlier already.
    pub(super) fn place(
        &mut self,
        lion: &Lion,
        (first, since, id): (u64, u64, &str),
        outlier: PendingOutlier,
        old: Option<&Placement>,
    ) -> PlacedOutlier {
        if let Some((group, place)) = self.drift(lion, first, &outlier.row, old) {
            self.near.insert(first, group, since, &outlier.row);
            let placement = Placement { place, group: Some(group), ..outlier.placement };
            return PlacedOutlier { placement, joined: false };
        }
        let old_group = old.and_then(|old| old.group);
        if let Some(group) = old_group {
            self.leave(first, group);
        }
        let near = self.near.earliest(&outlier.row, lion.r_x());
        let (number, place) = match near.and_then(|number| self.groups.get(&number)) {
            Some(group) => (group.number, lion.beside(&self.grid.centre(&group.cell), &outlier.row)),
            None => self.found(lion, &outlier, None),
        };
        if let Some(group) = self.groups.get_mut(&number) {
            group.members.insert(first, id.to_string());
        }
        self.near.insert(first, number, since, &outlier.row);
        let placement = Placement { place, group: Some(number), ..outlier.placement };
        PlacedOutlier { placement, joined: near.is_some() && near != old_group }
    }

    /// Places an outlier of another version of the map, where it was in a group. A group that it founds keeps that number,
    /// if no other has it by now.
    pub(super) fn place_again(
        &mut self,
        lion: &Lion,
        (first, since, id): (u64, u64, &str),
        outlier: PendingOutlier,
        group: Option<u64>,
    ) -> Placement {
        let near = self.near.earliest(&outlier.row, lion.r_x());
        let (number, place) = match near.and_then(|number| self.groups.get(&number)) {
            Some(group) => (group.number, lion.beside(&self.grid.centre(&group.cell), &outlier.row)),
            None => {
                let free = group.filter(|number| !self.groups.contains_key(number));
                self.found(lion, &outlier, free)
            }
        };
        if let Some(group) = self.groups.get_mut(&number) {
            group.members.insert(first, id.to_string());
        }
        self.near.insert(first, number, since, &outlier.row);
        Placement { place, group: Some(number), ..outlier.placement }
    }

    /// The number of the next group will be at least this one.
    pub(super) fn number_from(&mut self, next: u64) {
        self.next = self.next.max(next);
    }

    /// Where an outlier is that moves no farther than r_x: in its group, within r_close of its old place.
    fn drift(&self, lion: &Lion, first: u64, row: &[f32], old: Option<&Placement>) -> Option<(u64, Place)> {
        let (old, known) = (old?, self.near.row(first)?);
        let moved = f64::from(squared_distance(known, row).sqrt());
        let group = self.groups.get(&old.group?)?;
        if moved > lion.r_x() {
            return None;
        }
        if known == row {
            return Some((group.number, old.place));
        }
        let (from, to) =
            (old.place.coordinates, lion.beside(&self.grid.centre(&group.cell), row).coordinates);
        let step: [f64; 3] = std::array::from_fn(|d| f64::from(to[d]) - f64::from(from[d]));
        let length = step.iter().map(|v| v * v).sum::<f64>().sqrt();
        // A little less than r_close, so that rounding does not leave it.
        let share = (0.999 * lion.r_close() / length.max(f64::MIN_POSITIVE)).min(1.0);
        let place = std::array::from_fn(|d| f64::from(from[d]) + step[d] * share);
        Some((group.number, lion.as_place(place)))
    }

    /// A group of its own for an outlier that is near no other, with a number that is given or the next.
    fn found(&mut self, lion: &Lion, outlier: &PendingOutlier, number: Option<u64>) -> (u64, Place) {
        let cell = lion.free_cell(&mut self.grid, &outlier.row, &outlier.target);
        let number = number.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        let position = self.add(lion, number, cell);
        (number, position)
    }

    fn add(&mut self, lion: &Lion, number: u64, cell: OutlierCell) -> Place {
        let position = lion.as_place(self.grid.centre(&cell));
        let group = OutlierGroup { number, position, cell, members: BTreeMap::new(), family: None };
        self.groups.insert(number, group);
        position
    }

    /// Takes an outlier out. A group without members is gone, and its position free.
    pub(super) fn leave(&mut self, first: u64, number: u64) {
        self.near.remove(first);
        let Some(group) = self.groups.get_mut(&number) else { return };
        group.members.remove(&first);
        if group.members.is_empty() {
            self.grid.release(group.cell);
            self.groups.remove(&number);
        }
    }

    /// Goes on from what was kept: groups by number and cell, the number of the next, and the ring of cells.
    pub(super) fn resume(
        &mut self,
        lion: &Lion,
        groups: &[(u64, OutlierCell)],
        next: u64,
        ring: i64,
    ) -> Result<()> {
        // A ring begins when all before it is taken, each cell by a group of its own. Its cells are listed: a few bytes of a kept
        // state must not make that many.
        let possible = (0..=i64::from(u32::MAX)).contains(&ring);
        if !possible || self.grid.before_ring(ring) > u128::from(next.min(MOST_GROUPS)) {
            return Err(Error::Data(format!("the kept state has a broken ring of positions, {ring}")));
        }
        let mut cells: Vec<OutlierCell> = groups.iter().map(|(_, cell)| *cell).collect();
        self.grid.resume(ring, &cells);
        self.next = next;
        for &(number, cell) in groups {
            self.add(lion, number, cell);
        }
        cells.sort_unstable();
        let twice = cells.windows(2).any(|pair| pair[0] == pair[1]);
        if twice || self.groups.len() != groups.len() || groups.iter().any(|&(number, _)| number >= next) {
            return Err(Error::Data("the kept groups of outliers contradict each other".into()));
        }
        Ok(())
    }

    /// Puts an outlier back into the group it was in.
    pub(super) fn put_back(
        &mut self,
        (first, since, id): (u64, u64, &str),
        group: Option<u64>,
        row: &[f32],
    ) -> Result<()> {
        let Some(group) = group.and_then(|number| self.groups.get_mut(&number)) else {
            return Err(Error::Data(format!("the kept outlier {id:?} is in a group that was not kept")));
        };
        group.members.insert(first, id.to_string());
        self.near.insert(first, group.number, since, row);
        Ok(())
    }
}
