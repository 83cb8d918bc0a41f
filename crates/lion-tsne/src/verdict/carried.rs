//! The calibration of a map that took in new rows and kept its PCA. Ours.
//!
//! Rows of the earlier map lie closer together within a PCA that was fitted to them than new rows do, so leaving each of them
//! out tells too small values. The earlier map knows better ones, of when a fold of rows was left out of the PCA too. They
//! are carried over: the distance to the nearest row by how much nearer that has come, errors by how much nearer all
//! have come in the mean. Rows that came later are out of the PCA's sample, as every later row is: leaving one out will do.

use super::{Calibration, CalibrationRows, LeaveOneOut, MOST_CALIBRATING, NEIGHBOURS_SHARE, relative_error};
use crate::index::Neighbours;
use crate::random::Random;

/// What is known of the rows of the earlier map.
pub(crate) struct EarlierCalibration<'a> {
    pub(crate) calibration: &'a Calibration,
    /// NN-X of that map.
    pub(crate) nn_x: &'a [f32],
    /// So many of its rows, the last ones, are no fair sample.
    pub(crate) covering: usize,
    /// For each distinct row of the map now, which of that map it was.
    pub(crate) old_of: &'a [Option<u32>],
}

impl Calibration {
    /// From the values of an earlier map, and from the neighbours of rows that came since.
    pub(crate) fn carried(
        origin: &CalibrationRows<'_>,
        neighbours: &Neighbours,
        earlier: &EarlierCalibration<'_>,
    ) -> Self {
        let k = super::neighbours_in(origin.distinct());
        let mut looks = LeaveOneOut::new(origin, neighbours, origin.residuals, k, None);
        let before = earlier.calibration;
        looks.smallest = before.smallest;
        let sample = earlier.sample(origin);
        let is_new = |row: &&u32| earlier.old_of[**row as usize].is_none();
        let new: Vec<u32> = sample.iter().filter(is_new).copied().collect();
        let shares = looks.shares(&new);
        let mut values = looks.calibration();
        let nearer = earlier.mean_log_ratio(&values.distances);
        for (row, old) in earlier.shared() {
            let ratio = values.distances[row] / earlier.nn_x[old];
            let carries = ratio.is_finite();
            values.distances[row] =
                if carries { before.distances[old] * ratio } else { before.distances[old] };
            values.errors[row] = (f64::from(before.errors[old]) + nearer) as f32;
        }
        for (row, near) in looks.near.chunks_exact(k).enumerate() {
            let error_of = |&row: &u32| values.errors[row as usize];
            values.relatives[row] = match earlier.old_of[row] {
                // L is an error less a share of others, and all have come nearer alike.
                Some(old) => {
                    let relative = f64::from(before.relatives[old as usize]);
                    (relative + (1.0 - NEIGHBOURS_SHARE) * nearer) as f32
                }
                None => relative_error(values.errors[row], near.iter().map(error_of)),
            };
        }
        let residuals = origin.residuals.map(<[f32]>::to_vec);
        Self { sample: Some(sample), residuals, ..values.without(&new, &shares) }
    }
}

impl EarlierCalibration<'_> {
    /// Rows that are in both maps: their numbers now and then.
    fn shared(&self) -> impl Iterator<Item = (usize, usize)> {
        self.old_of.iter().enumerate().filter_map(|(row, old)| Some((row, (*old)? as usize)))
    }

    /// The mean logarithm of how far the nearest row is now, beside what it was.
    fn mean_log_ratio(&self, distances: &[f32]) -> f64 {
        let ratios = self.shared().map(|(row, old)| f64::from(distances[row]) / f64::from(self.nn_x[old]));
        let (sum, count) = ratios
            .map(f64::ln)
            .filter(|log| log.is_finite())
            .fold((0.0, 0u64), |(sum, count), log| (sum + log, count + 1));
        if count > 0 { sum / count as f64 } else { 0.0 }
    }

    /// The rows whose values calibrate: those that did before, and of the new ones as large a share as of the old ones.
    fn sample(&self, origin: &CalibrationRows<'_>) -> Vec<u32> {
        let fair_before = self.nn_x.len() - self.covering;
        let mut calibrated = vec![self.calibration.sample.is_none(); fair_before];
        let before = self.calibration.sample.iter().flatten();
        before.filter(|row| (**row as usize) < fair_before).for_each(|&row| calibrated[row as usize] = true);
        let share = calibrated.iter().filter(|is| **is).count() as f64 / fair_before.max(1) as f64;
        let mut random = Random::new(origin.seed ^ 0x6a_11ed);
        let mut chosen = |row: &u32| match self.old_of[*row as usize] {
            Some(old) => calibrated.get(old as usize).copied().unwrap_or(false),
            None => random.uniform() < share,
        };
        let rows: Vec<u32> = (0..origin.fair() as u32).filter(&mut chosen).collect();
        if rows.len() <= MOST_CALIBRATING {
            return rows;
        }
        let mut kept = random.sample(rows.len(), MOST_CALIBRATING);
        kept.sort_unstable();
        kept.into_iter().map(|at| rows[at as usize]).collect()
    }
}
