//! Positions for outliers, and the memory of those handed out: one for each group, the others of it within r_close
//! (Boytsov et al. 2017, LION-tSNE). False discoveries are limited as Benjamini & Hochberg 1995, Controlling the False
//! Discovery Rate, do.

use super::groups::groups;
use super::interpolate::SparedOutlier;
use super::outlier_grid::{OutlierCell, OutlierGrid, Positions};
use super::{Lion, PendingOutlier, Place, Placement, Resolved, Verdict};
use crate::error::Result;
use crate::index::squared_distance;
use crate::matrix::Matrix;
use crate::random::Random;
use crate::vectorized::vectorized;
use std::collections::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Places rows, call after call, and remembers the positions it gave to outliers: none is given twice, and an outlier
/// near an earlier one joins its group.
pub struct Placer<'a> {
    lion: &'a Lion,
    /// The free cells, copied from the map's when the first outlier comes.
    grid: Option<OutlierGrid>,
    groups: Vec<PlacedGroup>,
    /// For the hash of each outlier's row, its group and number there.
    known: HashMap<u64, (usize, usize)>,
}

/// Outliers that belong together.
struct PlacedGroup {
    position: [f64; 3],
    /// The members' rows, one after another, and their places.
    rows: Vec<f32>,
    places: Vec<Place>,
    /// The least and greatest value of the first columns.
    low: [f32; BOXED],
    high: [f32; BOXED],
}

/// Columns by which groups that are far away are told at a glance; after PCA the first ones vary most.
const BOXED: usize = 4;

impl PlacedGroup {
    fn new(position: [f64; 3]) -> Self {
        let (low, high) = ([f32::INFINITY; BOXED], [f32::NEG_INFINITY; BOXED]);
        Self { position, rows: Vec::new(), places: Vec::new(), low, high }
    }

    fn add(&mut self, row: &[f32], place: Place) {
        self.rows.extend_from_slice(row);
        self.places.push(place);
        for ((low, high), &v) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            *low = low.min(v);
            *high = high.max(v);
        }
    }

    fn rows_of(&self, member: usize) -> &[f32] {
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

impl<'a> Placer<'a> {
    pub(super) fn new(lion: &'a Lion) -> Self {
        Self { lion, grid: None, groups: Vec::new(), known: HashMap::new() }
    }

    /// Places rows. Outliers among them know of each other and of those of earlier calls.
    pub fn place(&mut self, rows: &Matrix) -> Result<Vec<Placement>> {
        let (resolved, total) = (self.lion.resolve(rows)?, rows.rows());
        let (mut placements, mut pending) = (Vec::with_capacity(resolved.len()), Vec::new());
        let mut waiting = Vec::new();
        for resolved in resolved {
            placements.push(match resolved {
                Resolved::Placed(placement) => placement,
                Resolved::Outlier(outlier) => {
                    waiting.push(placements.len());
                    let placement = outlier.placement.clone();
                    pending.push(outlier);
                    placement
                }
            });
        }
        for (at, placement) in waiting.into_iter().zip(self.give_positions_of(pending, total)) {
            placements[at] = placement;
        }
        Ok(placements)
    }

    /// Places one row.
    pub fn place_row(&mut self, row: &[f32]) -> Result<Placement> {
        Ok(match self.lion.resolve_row(row)? {
            Resolved::Placed(placement) => placement,
            Resolved::Outlier(outlier) => {
                let placement = outlier.placement.clone();
                self.give_positions_of(vec![outlier], 1).pop().unwrap_or(placement)
            }
        })
    }

    /// The same for all outliers of so many rows that were resolved together. Where the options ask for a false discovery
    /// rate, outliers that are not strange enough for it are placed among the map's rows instead.
    pub fn give_positions_of(&mut self, pending: Vec<PendingOutlier>, rows: usize) -> Vec<Placement> {
        let Some(fdr) = self.lion.fdr else { return self.give_positions(pending) };
        let limit = benjamini_hochberg(pending.iter().map(|s| s.placement.score).collect(), rows, fdr);
        // Rows beside an outlier of the map have their places already.
        let resolved = |outlier: &PendingOutlier| match &outlier.among {
            Some(SparedOutlier { place, label }) if outlier.placement.score > limit => {
                let (place, verdict) = (*place, Verdict::Interpolated);
                Some(Placement { place, verdict, ..outlier.placement.clone() }.labelled(label.clone()))
            }
            _ if outlier.placement.verdict == Verdict::BesideOutlier => Some(outlier.placement.clone()),
            _ => None,
        };
        let resolved: Vec<Option<Placement>> = pending.iter().map(resolved).collect();
        let rest = pending.into_iter().zip(&resolved).filter(|(_, resolved)| resolved.is_none());
        let mut outliers = self.give_positions(rest.map(|(outlier, _)| outlier).collect()).into_iter();
        resolved.into_iter().filter_map(|resolved| resolved.or_else(|| outliers.next())).collect()
    }

    /// Gives outliers their positions, all at once: what they get depends on which they are, not on their order.
    pub fn give_positions(&mut self, pending: Vec<PendingOutlier>) -> Vec<Placement> {
        let (different, number_of) = different(&pending);
        let rows: Vec<&[f32]> = different.iter().map(|&at| pending[at].row.as_slice()).collect();
        let group_of = self.lion.pool.install(|| groups(&rows, self.lion.r_x));
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (number, &group) in group_of.iter().enumerate() {
            members.resize_with(members.len().max(group as usize + 1), Vec::new);
            members[group as usize].push(number);
        }
        // The first of a group is its nearest to the map; groups whose first is nearer choose first.
        let rank = |&number: &usize| (pending[different[number]].placement.nearest_distance, number);
        for group in &mut members {
            group.sort_by(|a, b| rank(a).0.total_cmp(&rank(b).0).then(a.cmp(b)));
        }
        members.sort_by(|a, b| rank(&a[0]).0.total_cmp(&rank(&b[0]).0).then(a[0].cmp(&b[0])));
        let known = self.groups.len();
        let mut given: Vec<(Place, usize)> = vec![(Place::default(), 0); different.len()];
        for group in members {
            let pending: Vec<&PendingOutlier> =
                group.iter().map(|&number| &pending[different[number]]).collect();
            let places = self.place_group(&pending, known);
            group.into_iter().zip(places).for_each(|(number, place)| given[number] = place);
        }
        let placed = pending.into_iter().zip(number_of).map(|(outlier, number)| {
            let (place, group) = given[number];
            Placement { place, group: Some(group as u64), ..outlier.placement }
        });
        placed.collect()
    }

    /// Places the members of one group: around one of the first `known` groups if they are near it, else at a position of
    /// their own.
    fn place_group(&mut self, pending: &[&PendingOutlier], known: usize) -> Vec<(Place, usize)> {
        let (number, mut first) = match self.near_group(pending, known) {
            Some(number) => (number, None),
            None => {
                let position = self.position(pending[0]);
                self.groups.push(PlacedGroup::new(position));
                (self.groups.len() - 1, Some(self.lion.as_place(position)))
            }
        };
        let mut places = Vec::with_capacity(pending.len());
        for outlier in pending {
            let key = xxh3_64(bytemuck::cast_slice(&outlier.row));
            let place = match self.known.get(&key) {
                Some(&(group, member)) if self.groups[group].rows_of(member) == outlier.row => {
                    self.groups[group].places[member]
                }
                _ => {
                    let group = &mut self.groups[number];
                    let beside = || self.lion.beside(&group.position, &outlier.row);
                    let place = first.take().unwrap_or_else(beside);
                    self.known.insert(key, (number, group.places.len()));
                    group.add(&outlier.row, place);
                    place
                }
            };
            places.push((place, number));
        }
        places
    }

    /// The earliest of the first `known` groups that any of these is within r_x of.
    fn near_group(&self, pending: &[&PendingOutlier], known: usize) -> Option<usize> {
        let is_near = |group: &PlacedGroup| {
            vectorized(
                #[inline(always)]
                || pending.iter().any(|outlier| group.is_near(&outlier.row, self.lion.r_x)),
            )
        };
        self.groups[..known].iter().position(is_near)
    }

    fn position(&mut self, outlier: &PendingOutlier) -> [f64; 3] {
        let grid = self.grid.get_or_insert_with(|| self.lion.grid.clone());
        let cell = self.lion.free_cell(grid, outlier);
        grid.centre(&cell)
    }
}

impl Lion {
    /// Hands out the cell that an outlier gets for itself.
    pub(crate) fn free_cell(&self, grid: &mut OutlierGrid, outlier: &PendingOutlier) -> OutlierCell {
        match self.positions {
            Positions::Nearest => grid.nearest(&outlier.target),
            Positions::Random => {
                let seed = xxh3_64_with_seed(bytemuck::cast_slice(&outlier.row), self.seed);
                grid.random(&mut Random::new(seed))
            }
        }
    }
}

/// The largest p-value that is rejected when at most this share of what is rejected may be false, in the mean (Benjamini &
/// Hochberg 1995). The p-values are the smallest of so many tests; 0 where none is rejected.
fn benjamini_hochberg(mut p_values: Vec<f64>, tests: usize, share: f64) -> f64 {
    p_values.sort_unstable_by(f64::total_cmp);
    let line = |rank: usize| rank as f64 * share / tests.max(1) as f64;
    let below = p_values.iter().enumerate().rev().find(|(at, p)| **p <= line(at + 1));
    below.map_or(0.0, |(_, p)| *p)
}

/// One of each set of equal outliers, in an order that does not depend on theirs; and for each outlier, which of those it
/// equals.
fn different(pending: &[PendingOutlier]) -> (Vec<usize>, Vec<usize>) {
    let bits = |at: usize| pending[at].row.iter().map(|v| v.to_bits());
    // One of two rows on the same spot may lie off the plane, and then nobody looked twice for its nearest.
    let nearer = |a: usize, b: usize| {
        let (a, b) = (&pending[a], &pending[b]);
        let targets = a.target.map(f64::to_bits).cmp(&b.target.map(f64::to_bits));
        a.placement.nearest_distance.total_cmp(&b.placement.nearest_distance).then(targets)
    };
    let mut order: Vec<usize> = (0..pending.len()).collect();
    order.sort_by(|&a, &b| bits(a).cmp(bits(b)).then_with(|| nearer(a, b)));
    let mut different: Vec<usize> = Vec::new();
    let mut number_of = vec![0; pending.len()];
    for at in order {
        if different.last().is_none_or(|&last| bits(last).ne(bits(at))) {
            different.push(at);
        }
        number_of[at] = different.len() - 1;
    }
    (different, number_of)
}

#[cfg(test)]
mod tests {
    use super::benjamini_hochberg;

    #[test]
    fn discoveries_are_those_below_the_line() {
        // The lines are at 0.01, 0.02, 0.03, ...; the fourth is below its own though the third is not.
        let p = vec![0.035, 0.005, 0.04, 0.02];
        assert_eq!(benjamini_hochberg(p.clone(), 5, 0.05), 0.04);
        assert_eq!(benjamini_hochberg(p.clone(), 10, 0.05), 0.005);
        assert_eq!(benjamini_hochberg(p, 100, 0.05), 0.0);
        assert_eq!(benjamini_hochberg(Vec::new(), 0, 0.05), 0.0);
    }
}
