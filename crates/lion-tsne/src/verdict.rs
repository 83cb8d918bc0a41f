//! Calibrated verdicts: how nonconforming a row is, as a conformal p-value. Of rows like the map's own, a share p has a
//! p-value at or below p.
//!
//! Ours, not the paper's. Two nonconformity scores tell a row apart: its nearest row is far (d1), or its ten nearest
//! rows explain it badly (L), where how badly they are themselves explained is taken off. Each is compared with the
//! values that the map's own rows had when they were left out of the map; the harmonic mean of the two p-values is
//! compared likewise (docs/verdicts.md has the formulas).

mod carried;
mod folds;
mod ranks;
mod reconstruction;

pub(crate) use carried::EarlierCalibration;
pub(crate) use folds::{CalibrationRows, MOST_IN_FOLD, OutOfSample, fold_count};
pub(crate) use ranks::{Nonconformity, PValues, Ranks};
pub(crate) use reconstruction::{Reconstruction, neighbours_in};

use crate::error::{Error, Result};
use crate::index::{Neighbours, Search, nearest_neighbours};
use crate::matrix::Matrix;
use crate::progress::ignore;
use crate::random::Random;
use rayon::prelude::*;

/// A map of fewer distinct rows is not calibrated: the least p-value of 20 rows is 1/21, nearly 5 %.
pub(crate) const LEAST_ROWS: usize = 20;
/// Rows that calibrate, at most: 32768 of them tell 1 % to an eighteenth of it.
const MOST_CALIBRATING: usize = 1 << 15;
/// Errors below this share of the median nearest-neighbour distance are alike: without it rows beside duplicates, which
/// their neighbours explain perfectly, would make all others seem nonconforming.
const SMALLEST_ERROR: f64 = 0.1;
/// So much of the neighbours' own error is taken off: regions where rows are explained badly by nature conform all the
/// same.
const NEIGHBOURS_SHARE: f64 = 0.5;

/// What a map keeps to calibrate the nonconformity scores of new rows. One value for each distinct row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// The distance to its nearest other row.
    pub(crate) distances: Vec<f32>,
    /// R: the logarithm of the error of rebuilding it from its neighbours.
    pub(crate) errors: Vec<f32>,
    /// L: R less half the mean R of its neighbours.
    pub(crate) relatives: Vec<f32>,
    /// Its residual by a PCA that has not seen it; `None` without PCA.
    pub(crate) residuals: Option<Vec<f32>>,
    /// c: errors are not told apart below it.
    pub(crate) smallest: f64,
    /// The rows whose values new rows are compared with; `None` is all.
    pub(crate) sample: Option<Vec<u32>>,
    /// Rows were left out by groups, so many of them.
    pub(crate) groups: Option<u64>,
}

impl Calibration {
    /// From rows that were left out of the map, where anything was fitted to them, and from the neighbours of the others.
    pub(crate) fn new(
        origin: &CalibrationRows<'_>,
        out_of_sample: Option<OutOfSample>,
        neighbours: &Neighbours,
        nn_x: Option<&[f32]>,
    ) -> Self {
        let k = neighbours_in(origin.distinct());
        let mut residuals = origin.residuals.map(<[f32]>::to_vec);
        if let (Some(residuals), Some(out)) = (&mut residuals, &out_of_sample) {
            out.rows.iter().zip(&out.residuals).for_each(|(&row, &far)| residuals[row as usize] = far);
        }
        let mut looks = LeaveOneOut::new(origin, neighbours, residuals.as_deref(), k, nn_x);
        let groups = origin.groups.map(|groups| groups.iter().max().map_or(0, |&most| u64::from(most) + 1));
        let calibration = match out_of_sample {
            None => {
                let sample = sampled(origin);
                let rows = sample.clone().unwrap_or_else(|| (0..origin.fair() as u32).collect());
                let shares = looks.shares(&rows);
                Self { sample, ..looks.calibration() }.without(&rows, &shares)
            }
            Some(out) => {
                let (corrections, shares) = (looks.corrections(&out), looks.shares(&out.rows));
                looks.put(&out);
                let mut calibration = looks.calibration();
                for (&row, correction) in out.rows.iter().zip(corrections) {
                    if let Some(correction) = correction {
                        calibration.correct(row as usize, &correction);
                    }
                }
                let calibration = calibration.without(&out.rows, &shares);
                Self { sample: Some(out.rows), ..calibration }
            }
        };
        Self { groups, residuals, ..calibration }
    }

    /// Takes off what is due to a tenth of the rows having been left out with this one.
    fn correct(&mut self, row: usize, (all, rest): &(LeftOutRow, LeftOutRow)) {
        let relative = |look: &LeftOutRow| {
            let error = log_error(look.error, self.smallest);
            f64::from(relative_error(error, look.near.iter().map(|&row| self.errors[row as usize])))
        };
        let relative = relative(all) - relative(rest);
        self.relatives[row] = (f64::from(self.relatives[row]) + relative) as f32;
        if rest.distance > 0.0 {
            self.distances[row] *= all.distance / rest.distance;
        }
    }

    /// Takes the share of each row in its neighbours' errors out of them: a new row has none.
    fn without(mut self, rows: &[u32], shares: &[f64]) -> Self {
        for (&row, share) in rows.iter().zip(shares) {
            let relative = &mut self.relatives[row as usize];
            *relative = (f64::from(*relative) - NEIGHBOURS_SHARE * share) as f32;
        }
        self
    }

    /// What calibrates: the rows that are a fair sample, each as often as the data has it, with their values.
    pub(crate) fn calibrating(&self, place_of: Option<&[u32]>, covering: usize) -> Vec<(u32, Nonconformity)> {
        let rows = self.calibrating_rows(place_of, covering);
        rows.into_iter().map(|row| (row, self.nonconformity(row))).collect()
    }

    /// The rows that those are of.
    pub(crate) fn calibrating_rows(&self, place_of: Option<&[u32]>, covering: usize) -> Vec<u32> {
        let fair = self.distances.len().saturating_sub(covering);
        let mut times = vec![u32::from(place_of.is_none()); self.distances.len()];
        place_of.unwrap_or_default().iter().for_each(|&distinct| times[distinct as usize] += 1);
        let rows: Vec<u32> = match &self.sample {
            Some(sample) => sample.clone(),
            None => (0..fair as u32).collect(),
        };
        rows.iter().flat_map(|&row| (0..times[row as usize]).map(move |_| row)).collect()
    }

    /// The nonconformity scores of a row of the map among the others.
    pub(crate) fn nonconformity(&self, row: u32) -> Nonconformity {
        Nonconformity { distance: self.distances[row as usize], relative: self.relatives[row as usize] }
    }

    /// The nonconformity scores of a new row, given its nearest rows.
    pub(crate) fn nonconformity_of(
        &self,
        x: &Matrix,
        row: &[f32],
        near: &[(f32, u32)],
        residual: f32,
        reconstruction: &mut Reconstruction,
    ) -> Nonconformity {
        let near = &near[..near.len().min(neighbours_in(x.rows()))];
        let residuals = self.residuals.as_deref();
        let residual_of = |row: u32| residuals.map_or(0.0, |residuals| residuals[row as usize]);
        let residual = if residuals.is_some() { residual } else { 0.0 };
        let rows = near.iter().map(|&(_, row)| row);
        let gram = reconstruction.gram(x, row, rows.clone(), residual, residual_of);
        let error = log_error(gram.squared_error(), self.smallest);
        let relative = relative_error(error, rows.map(|row| self.errors[row as usize]));
        let distance = near.first().map_or(0.0, |(distance2, _)| distance2.sqrt());
        Nonconformity { distance, relative }
    }

    /// Refuses what does not go with a map of so many distinct rows.
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        let refuse = |problem: &str| Err(Error::Data(format!("the calibration {problem}")));
        let lists =
            [Some(&self.distances), Some(&self.errors), Some(&self.relatives), self.residuals.as_ref()];
        if lists.into_iter().flatten().any(|list| list.len() != rows) {
            return refuse("has values for the rows of another map");
        }
        if !lists.into_iter().flatten().flatten().all(|v| v.is_finite()) {
            return refuse("has a value that is not finite");
        }
        let distances = self.distances.iter().chain(self.residuals.iter().flatten());
        if !distances.copied().all(|v| v >= 0.0) {
            return refuse("has a distance that is negative");
        }
        if !(self.smallest > 0.0 && self.smallest.is_finite()) {
            return refuse("has a smallest error that cannot be");
        }
        match self.sample.iter().flatten().any(|&row| row as usize >= rows) {
            true => refuse("is by rows that the map does not have"),
            false => Ok(()),
        }
    }
}

/// What a row of the map sees of the others.
struct LeftOutRow {
    distance: f32,
    /// The squared error of rebuilding it from its neighbours.
    error: f64,
    near: Vec<u32>,
}

/// What all rows of a map see of the others.
struct LeaveOneOut<'a> {
    origin: &'a CalibrationRows<'a>,
    neighbours: &'a Neighbours,
    residuals: Option<&'a [f32]>,
    twins: Vec<bool>,
    k: usize,
    /// c: a share of the median distance.
    smallest: f64,
    of_row: Vec<(f32, f64)>,
    /// `k` neighbours of each row.
    near: Vec<u32>,
}

impl<'a> LeaveOneOut<'a> {
    /// Each row left out by itself.
    fn new(
        origin: &'a CalibrationRows<'a>,
        neighbours: &'a Neighbours,
        residuals: Option<&'a [f32]>,
        k: usize,
        nn_x: Option<&[f32]>,
    ) -> Self {
        let rows = origin.distinct();
        let (of_row, near) = (Vec::new(), Vec::new());
        let (twins, smallest) = (origin.twins(), 0.0);
        let mut looks = Self { origin, neighbours, residuals, twins, k, smallest, of_row, near };
        let (mut of_row, mut near) = (vec![(0.0, 0.0); rows], vec![0u32; rows * k]);
        near.par_chunks_exact_mut(k).zip(&mut of_row).enumerate().with_min_len(256).for_each_init(
            Reconstruction::default,
            |reconstruction, (row, (near, of_row))| {
                let Some(look) = looks.look(row as u32, reconstruction, |_| true) else { return };
                // Neighbours may have been found approximately; the farthest of the nearest were looked up again.
                let known = nn_x.map_or(f32::INFINITY, |nn_x| nn_x[row]);
                *of_row = (look.distance.min(known), look.error);
                near.copy_from_slice(&look.near);
            },
        );
        looks.smallest = smallest_error(of_row.iter().map(|(distance, _)| *distance));
        (looks.of_row, looks.near) = (of_row, near);
        looks
    }

    /// What a row sees of those that are there; `None` where too few of them are known.
    fn look(
        &self,
        row: u32,
        reconstruction: &mut Reconstruction,
        is_there: impl Fn(u32) -> bool,
    ) -> Option<LeftOutRow> {
        let (indices, distances2) = self.neighbours.of(row as usize);
        let twin = self.twins[row as usize];
        let wanted = self.k - usize::from(twin);
        let there = indices.iter().zip(distances2).filter(|(other, _)| is_there(**other)).take(wanted);
        let (found, distances2): (Vec<u32>, Vec<f32>) = there.unzip();
        if found.len() < wanted {
            return None;
        }
        let near: Vec<u32> = twin.then_some(row).into_iter().chain(found).collect();
        let nearest = distances2.first();
        let distance = if twin { 0.0 } else { nearest.map_or(0.0, |distance2| distance2.sqrt()) };
        let residual_of = |row: u32| self.residuals.map_or(0.0, |residuals| residuals[row as usize]);
        let (x, around) = (self.origin.x, near.iter().copied());
        let own = residual_of(row);
        let gram = reconstruction.gram(x, x.row(row as usize), around, own, residual_of);
        Some(LeftOutRow { distance, error: gram.squared_error(), near })
    }

    /// For rows that were left out with a fold: what they see in the map itself, of all other rows and without the fold. A
    /// tenth of the rows being absent makes neighbours farther; how much shows here, where nothing else differs. `None`
    /// where the neighbours that are known are nearly all of its own group or fold.
    fn corrections(&self, out: &OutOfSample) -> Vec<Option<(LeftOutRow, LeftOutRow)>> {
        let rows = out.rows.par_iter().with_min_len(64);
        let correction = |reconstruction: &mut Reconstruction, &row: &u32| {
            let (group, fold) = (self.origin.group(row), out.fold_of[row as usize]);
            let all = self.look(row, reconstruction, |other| self.origin.group(other) != group);
            let rest = self.look(row, reconstruction, |other| out.fold_of[other as usize] != fold);
            all.zip(rest)
        };
        rows.map_init(Reconstruction::default, correction).collect()
    }

    /// By how much the mean R of each row's neighbours would be larger without it and its group. It is one of the rows that
    /// they are rebuilt from, and a new row is not.
    fn shares(&self, rows: &[u32]) -> Vec<f64> {
        let of_neighbours = self.origin.groups.is_none().then(|| self.shares_of_neighbours(rows));
        let share = |reconstruction: &mut Reconstruction, &row: &u32| {
            if self.twins[row as usize] {
                return 0.0;
            }
            let share_in = |&other: &u32| match &of_neighbours {
                Some(shares) => self.slot_of(row, other).map(|slot| shares[slot]),
                None => self.share(other, self.origin.group(row), reconstruction),
            };
            let sum: f64 = self.near_of(row).iter().map(share_in).map(|share| share.unwrap_or(0.0)).sum();
            sum / self.k as f64
        };
        rows.par_iter().with_min_len(64).map_init(Reconstruction::default, share).collect()
    }

    /// By how much R of each row would be larger without each of its `k` neighbours, of those that are wanted. One G of a
    /// row serves them all.
    fn shares_of_neighbours(&self, wanted: &[u32]) -> Vec<f64> {
        let mut is_wanted = vec![false; self.origin.distinct()];
        wanted.iter().for_each(|&row| is_wanted[row as usize] = !self.twins[row as usize]);
        // A row that is not among its neighbour's neighbours does not ask.
        let asks = |neighbour: u32, row: u32| {
            is_wanted[neighbour as usize] && self.near_of(neighbour).contains(&row)
        };
        let mut shares = vec![0.0; self.near.len()];
        let of_row = |reconstruction: &mut Reconstruction, (row, shares): (usize, &mut [f64])| {
            let near = self.near_of(row as u32);
            let first = usize::from(self.twins[row]);
            if !near[first..].iter().any(|&neighbour| asks(neighbour, row as u32)) {
                return;
            }
            let (indices, _) = self.neighbours.of(row);
            let next = indices.get(self.k - first).copied();
            let residual_of = |row: u32| self.residuals.map_or(0.0, |residuals| residuals[row as usize]);
            let (x, around) = (self.origin.x, near.iter().copied().chain(next));
            let gram = reconstruction.gram(x, x.row(row), around, residual_of(row as u32), residual_of);
            let with = log_error(self.of_row[row].1, self.smallest);
            for (slot, share) in shares.iter_mut().enumerate().skip(first) {
                if next.is_some() && asks(near[slot], row as u32) {
                    let without = log_error(gram.squared_error_without(slot), self.smallest);
                    *share = f64::from(without) - f64::from(with);
                }
            }
        };
        let rows = shares.par_chunks_exact_mut(self.k).enumerate().with_min_len(64);
        rows.for_each_init(Reconstruction::default, of_row);
        shares
    }

    /// Where a row is in the list of all rows' neighbours, as one of another row's.
    fn slot_of(&self, row: u32, of: u32) -> Option<usize> {
        let slot = self.near_of(of).iter().position(|&neighbour| neighbour == row)?;
        Some(of as usize * self.k + slot)
    }

    /// By how much R of a row would be larger without a group of others.
    fn share(&self, row: u32, group: u32, reconstruction: &mut Reconstruction) -> Option<f64> {
        let own = self.origin.group(row);
        let is_of_group = |other: &u32| self.origin.group(*other) == group;
        if own == group || !self.near_of(row).iter().any(is_of_group) {
            return None;
        }
        let with = self.look(row, reconstruction, |other| self.origin.group(other) != own)?;
        let rest = |other: u32| self.origin.group(other) != own && !is_of_group(&other);
        let without = self.look(row, reconstruction, rest)?;
        let [with, without] = [with, without].map(|look| f64::from(log_error(look.error, self.smallest)));
        Some(without - with)
    }

    /// The neighbours of a row.
    fn near_of(&self, row: u32) -> &[u32] {
        &self.near[row as usize * self.k..][..self.k]
    }

    /// Takes what rows saw that were left out.
    fn put(&mut self, out: &OutOfSample) {
        let values = out.distances.iter().zip(&out.errors).zip(out.near.chunks_exact(out.k));
        for (&row, ((&distance, &error), around)) in out.rows.iter().zip(values) {
            self.of_row[row as usize] = (distance, error);
            self.near[row as usize * self.k..][..self.k].copy_from_slice(around);
        }
    }

    fn calibration(&self) -> Calibration {
        let smallest = self.smallest;
        let errors: Vec<f32> = self.of_row.iter().map(|&(_, error)| log_error(error, smallest)).collect();
        let relative = |(&error, near): (&f32, &[u32])| {
            relative_error(error, near.iter().map(|&row| errors[row as usize]))
        };
        let relatives = errors.iter().zip(self.near.chunks_exact(self.k)).map(relative).collect();
        let distances = self.of_row.iter().map(|&(distance, _)| distance).collect();
        Calibration { distances, errors, relatives, residuals: None, smallest, sample: None, groups: None }
    }
}

/// c, from the distance of each row to its nearest.
fn smallest_error(distances: impl Iterator<Item = f32>) -> f64 {
    let mut positive: Vec<f32> = distances.filter(|distance| *distance > 0.0).collect();
    let middle = positive.len() / 2;
    let median = match positive.is_empty() {
        true => 1.0,
        false => *positive.select_nth_unstable_by(middle, f32::total_cmp).1,
    };
    SMALLEST_ERROR * f64::from(median)
}

/// A random part of the rows where they are very many.
fn sampled(origin: &CalibrationRows<'_>) -> Option<Vec<u32>> {
    let fair = origin.fair();
    let sample = || {
        let mut rows = Random::new(origin.seed ^ 0x5a_3b1e).sample(fair, MOST_CALIBRATING);
        rows.sort_unstable();
        rows
    };
    (fair > MOST_CALIBRATING).then(sample)
}

/// R, from a squared error.
fn log_error(squared: f64, smallest: f64) -> f32 {
    // What overflows or is no number would break every comparison.
    let squared = if squared.is_finite() { squared } else { f64::MAX / 4.0 };
    (0.5 * (squared + smallest * smallest).max(f64::MIN_POSITIVE).ln()) as f32
}

/// L, from R and that of the neighbours.
fn relative_error(error: f32, neighbours: impl ExactSizeIterator<Item = f32>) -> f32 {
    let count = neighbours.len().max(1) as f64;
    let mean = neighbours.map(f64::from).sum::<f64>() / count;
    (f64::from(error) - NEIGHBOURS_SHARE * mean) as f32
}

/// More neighbours than are rebuilt from, so that enough are left when those of a fold are not counted.
const MORE: usize = 4;

/// The neighbours that calibrating takes, where those at hand are too few or of another metric.
pub(crate) fn neighbours_for(x: &Matrix, seed: u64) -> Result<Neighbours> {
    let k = (MORE * neighbours_in(x.rows())).min(x.rows() - 1);
    Ok(nearest_neighbours(x, k, Search::Auto, seed, &mut ignore)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one G of a row tells of all its neighbours is what rebuilding it without each of them does.
    #[test]
    fn shares_are_those_of_rebuilding_without_each_row() {
        let (rows, dims) = (90usize, 5);
        let mut random = Random::new(4);
        let values: Vec<f32> = (0..rows * dims).map(|_| random.gaussian() as f32).collect();
        let residuals: Vec<f32> = (0..rows).map(|_| random.gaussian().abs() as f32).collect();
        let x = Matrix::new(rows, dims, values).unwrap();
        // The first ten rows of the table come again at its end.
        let representatives: Vec<u32> = (0..rows as u32).collect();
        let place_of: Vec<u32> = (0..rows as u32).chain(0..10).collect();
        let origin = CalibrationRows {
            x: &x,
            residuals: Some(&residuals),
            representatives: &representatives,
            place_of: Some(&place_of),
            groups: None,
            covering: 0,
            seed: 0,
        };
        let k = neighbours_in(rows);
        let neighbours = neighbours_for(&x, 0).unwrap();
        let looks = LeaveOneOut::new(&origin, &neighbours, Some(&residuals), k, None);
        let wanted: Vec<u32> = (0..rows as u32).filter(|row| row % 3 != 1).collect();
        let shares = looks.shares_of_neighbours(&wanted);
        let (mut reconstruction, mut compared) = (Reconstruction::default(), 0);
        for &row in wanted.iter().filter(|&&row| !looks.twins[row as usize]) {
            for &other in looks.near_of(row) {
                let found = looks.slot_of(row, other).map(|slot| shares[slot]);
                assert_eq!(found, looks.share(other, row, &mut reconstruction), "{row} in {other}");
                compared += usize::from(found.is_some_and(|share| share != 0.0));
            }
        }
        assert!(compared > 200, "{compared}");
    }
}
