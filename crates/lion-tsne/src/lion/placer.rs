//! Positions for outliers: one for each group, the others of it within r_close (Boytsov et al. 2017, LION-tSNE). False
//! discoveries are limited as Benjamini & Hochberg 1995, Controlling the False Discovery Rate, do.

use super::earlier_outliers::EarlierOutliers;
use super::groups::OutlierGroups;
use super::interpolate::SparedOutlier;
use super::outlier_grid::{OutlierCell, OutlierGrid, Positions};
use super::pending_outliers::DifferentOutliers;
use super::{
    GivenPositions, Lion, PendingOutlier, PendingOutliers, Place, Placement, PositionsByKey, Resolved,
    Verdict,
};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::random::Random;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Places rows, call after call, and remembers the positions it gave to outliers: none is given twice, and an outlier
/// near an earlier one joins its group.
pub struct Placer<'a> {
    lion: &'a Lion,
    /// The free cells, copied from the map's when the first outlier comes.
    grid: Option<OutlierGrid>,
    /// The position of each group.
    positions: Vec<[f64; 3]>,
    /// Outliers of earlier calls; nothing where no call follows.
    earlier: Option<EarlierOutliers>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(lion: &'a Lion) -> Self {
        Self { earlier: Some(EarlierOutliers::default()), ..Self::for_one_call(lion) }
    }

    /// One that remembers nothing.
    fn for_one_call(lion: &'a Lion) -> Self {
        Self { lion, grid: None, positions: Vec::new(), earlier: None }
    }

    /// Places rows. Outliers among them know of each other and of those of earlier calls.
    pub fn place(&mut self, rows: &Matrix) -> Result<Vec<Placement>> {
        Ok(self.complete(self.lion.resolve(rows)?))
    }

    /// Places one row.
    pub fn place_row(&mut self, row: &[f32]) -> Result<Placement> {
        let resolved = self.lion.resolve_row(row)?;
        let known = resolved.placement().clone();
        Ok(self.complete(vec![resolved]).pop().unwrap_or(known))
    }

    /// The placements of rows that were resolved, the outliers among them with positions.
    pub fn complete(&mut self, resolved: Vec<Resolved>) -> Vec<Placement> {
        let (mut pending, rows) = (self.lion.pending_outliers(), resolved.len());
        let known = resolved.into_iter().map(|resolved| match resolved {
            Resolved::Placed(placement) => (placement, false),
            Resolved::Outlier(outlier) => {
                let placement = outlier.placement().clone();
                pending.push(outlier);
                (placement, true)
            }
        });
        let known: Vec<(Placement, bool)> = known.collect();
        let mut given = self.give_positions(pending, rows);
        let complete = |(placement, waits): (Placement, bool)| match waits.then(|| given.next()).flatten() {
            Some(given) => given.complete(placement),
            None => placement,
        };
        known.into_iter().map(complete).collect()
    }

    /// Gives outliers their positions, all at once: what they get depends on which they are, not on their order. They are
    /// those of so many rows that were resolved together. Where the options ask for a false discovery rate, outliers that
    /// are not strange enough for it are placed among the map's rows instead.
    pub fn give_positions(&mut self, mut pending: PendingOutliers, rows: usize) -> GivenPositions {
        let decided = self.decide(&mut pending, rows);
        let (mut outliers, number_of) = pending.into_different();
        GivenPositions::new(decided, number_of, self.positions_of(&mut outliers))
    }

    /// Where a false discovery rate is asked for, the placements of those that are no outliers, or have their places
    /// already; the others are outliers.
    fn decide(&self, pending: &mut PendingOutliers, rows: usize) -> Vec<Option<Placement>> {
        let (Some(fdr), Some(undecided)) = (self.lion.fdr, pending.undecided.take()) else {
            return Vec::new();
        };
        let p_values = undecided.iter().map(|outlier| outlier.placement.score).collect();
        let limit = benjamini_hochberg(p_values, rows, fdr);
        let decided = |outlier: &PendingOutlier| match &outlier.among {
            Some(SparedOutlier { place, label }) if outlier.placement.score > limit => {
                let (place, verdict) = (*place, Verdict::Interpolated);
                Some(Placement { place, verdict, ..outlier.placement.clone() }.labelled(label.clone()))
            }
            // Rows beside an outlier of the map have their places already.
            _ if outlier.placement.verdict == Verdict::BesideOutlier => Some(outlier.placement.clone()),
            _ => None,
        };
        let all = undecided.into_iter().map(|outlier| {
            let decided = decided(&outlier);
            if decided.is_none() {
                pending.add(&outlier);
            }
            decided
        });
        all.collect()
    }

    /// The place and group of each of these outliers: around an earlier group if they are near it, else around a position
    /// of their own.
    fn positions_of(&mut self, outliers: &mut DifferentOutliers) -> Vec<(Place, u32)> {
        // Most single rows are no outliers, and to go over to the threads of the map takes longer than to place one.
        if outliers.len() == 0 {
            return Vec::new();
        }
        let groups = self.lion.pool.install(|| OutlierGroups::of(outliers, self.lion.r_x));
        let outliers = &*outliers;
        let mut given = vec![(Place::default(), 0); outliers.len()];
        for members in groups.iter() {
            let rows = || members.iter().map(|&member| outliers.row(member));
            let earlier = self.earlier.as_ref();
            let joined = earlier.and_then(|earlier| earlier.near(rows, self.lion.r_x));
            let number = joined.unwrap_or_else(|| self.found(outliers, members[0]));
            let mut first = joined.is_none().then(|| self.lion.as_place(self.positions[number]));
            for (&member, row) in members.iter().zip(rows()) {
                let known = self.earlier.as_ref().and_then(|earlier| earlier.place_of(row));
                let beside = || self.lion.beside(&self.positions[number], row);
                let place = known.or_else(|| first.take()).unwrap_or_else(beside);
                given[member as usize] = (place, number as u32);
            }
        }
        if let Some(earlier) = &mut self.earlier {
            earlier.add(outliers, &given);
        }
        given
    }

    /// Founds a group at the position that this outlier gets for itself.
    fn found(&mut self, outliers: &DifferentOutliers, first: u32) -> usize {
        let grid = self.grid.get_or_insert_with(|| self.lion.grid.clone());
        let cell = self.lion.free_cell(grid, outliers.row(first), &outliers.targets[first as usize]);
        self.positions.push(grid.centre(&cell));
        self.positions.len() - 1
    }
}

impl Lion {
    /// Gives all outliers of a job their positions: as [`Placer::give_positions`], with no calls before or after it.
    pub fn give_positions(&self, pending: PendingOutliers, rows: usize) -> GivenPositions {
        Placer::for_one_call(self).give_positions(pending, rows)
    }

    /// The placements of all rows of a job, the outliers among them with positions.
    pub fn complete(&self, resolved: Vec<Resolved>) -> Vec<Placement> {
        Placer::for_one_call(self).complete(resolved)
    }

    /// Positions of all outliers of a job, to be looked up where the rows are.
    pub fn positions_by_key(&self, pending: PendingOutliers) -> Result<PositionsByKey> {
        if self.fdr.is_some() {
            return Err(Error::Data("a false discovery rate needs all rows of a job in one place".into()));
        }
        let (mut outliers, _) = pending.into_different();
        let given = Placer::for_one_call(self).positions_of(&mut outliers);
        PositionsByKey::new(&outliers, given)
    }

    /// Hands out the cell that an outlier gets for itself, by its row and the place of its nearest row.
    pub(crate) fn free_cell(&self, grid: &mut OutlierGrid, row: &[f32], target: &[f64; 3]) -> OutlierCell {
        match self.positions {
            Positions::Nearest => grid.nearest(target),
            Positions::Random => {
                let seed = xxh3_64_with_seed(bytemuck::cast_slice(row), self.seed);
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
