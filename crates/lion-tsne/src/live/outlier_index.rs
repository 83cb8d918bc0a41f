//! The rows of the outliers, to find those near a new one: flat arrays, and a few columns first.
//!
//! A distance over some of the columns is never larger than over all. The columns in which the map's rows vary most are
//! kept a second time, so that most outliers are told to be far by reading these alone.

use super::alarms::gather;
use crate::index::squared_distance;
use crate::matrix::Matrix;
use crate::vectorized::vectorized;
use std::collections::HashMap;

/// Columns that are looked at first.
const FEW: usize = 8;
/// Outliers that are looked at together.
const LANES: usize = 64;
/// Rounding of squared distances, as a share.
const SLACK: f64 = 1e-4;

/// The first columns of some outliers, column after column.
type Sketch = [[f32; LANES]; FEW];

/// Outliers by key, each in a group.
pub(super) struct OutlierIndex {
    cols: usize,
    /// Which columns are looked at first.
    few: Vec<usize>,
    sketches: Vec<Sketch>,
    rows: Vec<f32>,
    groups: Vec<u64>,
    /// The events by which they became outliers.
    since: Vec<u64>,
    keys: Vec<u64>,
    slot_of: HashMap<u64, u32>,
}

impl OutlierIndex {
    /// For a map of rows `x`.
    pub(super) fn new(x: &Matrix) -> Self {
        Self {
            cols: x.cols(),
            few: widest(x),
            sketches: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            since: Vec::new(),
            keys: Vec::new(),
            slot_of: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn row(&self, key: u64) -> Option<&[f32]> {
        let slot = *self.slot_of.get(&key)? as usize;
        Some(&self.rows[slot * self.cols..(slot + 1) * self.cols])
    }

    /// The event by which it became an outlier.
    pub(super) fn since(&self, key: u64) -> Option<u64> {
        Some(self.since[*self.slot_of.get(&key)? as usize])
    }

    pub(super) fn insert(&mut self, key: u64, group: u64, since: u64, row: &[f32]) {
        self.remove(key);
        let slot = self.keys.len();
        self.keys.push(key);
        self.since.push(since);
        self.groups.push(group);
        self.rows.extend_from_slice(row);
        if slot.is_multiple_of(LANES) {
            self.sketches.push([[0.0; LANES]; FEW]);
        }
        self.slot_of.insert(key, slot as u32);
        self.sketch(slot);
    }

    /// The last outlier takes the place of the one that leaves.
    pub(super) fn remove(&mut self, key: u64) {
        let Some(slot) = self.slot_of.remove(&key) else { return };
        let slot = slot as usize;
        let last = self.keys.len() - 1;
        self.keys.swap_remove(slot);
        self.groups.swap_remove(slot);
        self.since.swap_remove(slot);
        self.rows.copy_within(last * self.cols.., slot * self.cols);
        self.rows.truncate(last * self.cols);
        if slot < last {
            self.slot_of.insert(self.keys[slot], slot as u32);
            self.sketch(slot);
        }
        self.sketches.truncate(last.div_ceil(LANES));
    }

    fn sketch(&mut self, slot: usize) {
        let sketch = &mut self.sketches[slot / LANES];
        for (column, &from) in sketch.iter_mut().zip(&self.few) {
            column[slot % LANES] = self.rows[slot * self.cols + from];
        }
    }

    /// The earliest group with a member within the radius of a row.
    pub(super) fn earliest(&self, row: &[f32], radius: f64) -> Option<u64> {
        let mut few = [0.0; FEW];
        few.iter_mut().zip(&self.few).for_each(|(v, &from)| *v = row[from]);
        let reach = (radius * radius * (1.0 + SLACK)).min(f64::from(f32::MAX)) as f32;
        vectorized(
            #[inline(always)]
            || {
                let mut earliest = None;
                for (block, sketch) in self.sketches.iter().enumerate() {
                    let distances = distances(sketch, &few);
                    let known = (self.keys.len() - block * LANES).min(LANES);
                    for (lane, &distance2) in distances[..known].iter().enumerate() {
                        let slot = block * LANES + lane;
                        let group = self.groups[slot];
                        if distance2 <= reach && earliest.is_none_or(|earliest| group < earliest) {
                            let other = &self.rows[slot * self.cols..(slot + 1) * self.cols];
                            if f64::from(squared_distance(row, other).sqrt()) <= radius {
                                earliest = Some(group);
                            }
                        }
                    }
                }
                earliest
            },
        )
    }
}

impl OutlierIndex {
    /// Outliers within a radius of an outlier's row, the nearest first, that became outliers lately, by event `now`;
    /// and how many became so in each window, whatever their distance.
    pub(super) fn around(&self, key: u64, radius: f64, now: u64) -> (Vec<gather::Near>, gather::Counts) {
        let Some(row) = self.row(key) else { return Default::default() };
        let mut few = [0.0; FEW];
        few.iter_mut().zip(&self.few).for_each(|(v, &from)| *v = row[from]);
        let reach = (radius * radius * (1.0 + SLACK)).min(f64::from(f32::MAX)) as f32;
        let age = |slot: usize| now.saturating_sub(self.since[slot]);
        let lately = |slot: usize| age(slot) <= gather::OLDEST && self.keys[slot] != key;
        let counts = gather::count((0..self.keys.len()).filter(|&slot| lately(slot)).map(age));
        let mut near: Vec<gather::Near> = vectorized(
            #[inline(always)]
            || {
                let mut near = Vec::new();
                for (block, sketch) in self.sketches.iter().enumerate() {
                    let distances = distances(sketch, &few);
                    let known = (self.keys.len() - block * LANES).min(LANES);
                    for (lane, &distance2) in distances[..known].iter().enumerate() {
                        let slot = block * LANES + lane;
                        if distance2 > reach || !lately(slot) {
                            continue;
                        }
                        let other = &self.rows[slot * self.cols..(slot + 1) * self.cols];
                        let distance = squared_distance(row, other).sqrt();
                        if f64::from(distance) <= radius {
                            let (first, group) = (self.keys[slot], self.groups[slot]);
                            near.push(gather::Near { distance, age: age(slot), first, group });
                        }
                    }
                }
                near
            },
        );
        // Slots depend on who left; what is found must not.
        near.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.age.cmp(&b.age)));
        (near, counts)
    }
}

#[inline(always)]
fn distances(sketch: &Sketch, few: &[f32; FEW]) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    for (column, &at) in sketch.iter().zip(few) {
        for lane in 0..LANES {
            let difference = column[lane] - at;
            sums[lane] += difference * difference;
        }
    }
    sums
}

/// The columns of the greatest variance.
fn widest(x: &Matrix) -> Vec<usize> {
    let rows = x.rows().max(1) as f64;
    let (mut sums, mut squares) = (vec![0.0; x.cols()], vec![0.0; x.cols()]);
    for row in x.data().chunks_exact(x.cols()) {
        for ((sum, square), &v) in sums.iter_mut().zip(&mut squares).zip(row) {
            *sum += f64::from(v);
            *square += f64::from(v) * f64::from(v);
        }
    }
    let variance = |column: usize| squares[column] / rows - (sums[column] / rows).powi(2);
    let mut columns: Vec<usize> = (0..x.cols()).collect();
    columns.sort_by(|&a, &b| variance(b).total_cmp(&variance(a)).then(a.cmp(&b)));
    columns.truncate(FEW);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn the_widest_columns_come_first() {
        let spreads = [1.0, 5.0, 0.0, 3.0, 5.0, 4.0, 2.0, 6.0, 0.5, 7.0, 9.0, 8.0f32];
        let row = |sign: f32| spreads.iter().map(move |spread| 100.0 + sign * spread);
        let x = Matrix::new(2, spreads.len(), row(1.0).chain(row(-1.0)).collect()).unwrap();
        let mut order: Vec<usize> = (0..spreads.len()).collect();
        order.sort_by(|&a, &b| spreads[b].total_cmp(&spreads[a]));
        assert_eq!(widest(&x), order[..FEW]);
    }

    #[test]
    fn as_comparing_with_every_outlier() {
        const COLS: usize = 20;
        let mut random = Random::new(3);
        let mut row =
            |scale: f64| -> Vec<f32> { (0..COLS).map(|_| (random.gaussian() * scale) as f32).collect() };
        let x = Matrix::new(50, COLS, (0..50).flat_map(|_| row(1.0)).collect()).unwrap();
        let mut near = OutlierIndex::new(&x);
        let mut known: BTreeMap<u64, (u64, Vec<f32>)> = BTreeMap::new();
        for i in 0..600u64 {
            let (key, new) = (i * 7 % 401, row(1.0));
            if i % 3 == 2 {
                near.remove(key);
                known.remove(&key);
            } else {
                near.insert(key, i * 31 % 97, i, &new);
                known.insert(key, (i * 31 % 97, new));
            }
            assert_eq!(near.len(), known.len());
            assert!(known.iter().all(|(key, (_, row))| near.row(*key) == Some(row)));
            let asked = row(0.8);
            for radius in [0.0, 3.5, 4.5, 6.0] {
                let is_near = |row: &[f32]| f64::from(squared_distance(&asked, row).sqrt()) <= radius;
                let groups = known.values().filter(|(_, row)| is_near(row)).map(|(group, _)| *group);
                assert_eq!(near.earliest(&asked, radius), groups.min());
            }
        }
    }
}
