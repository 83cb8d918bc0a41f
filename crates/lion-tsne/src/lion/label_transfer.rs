//! Label transfer: a new row gets the label of most of the neighbours on which its place rests, and how likely that label
//! is. Ours.
//!
//! The neighbours vote with the weights that they have for the place. The share of the winner is no probability yet: how
//! often such a share is right is known from the map's own rows, each left out in turn.

use super::Lion;
use super::interpolate::LocalRule;
use super::local::Neighbourhood;
use crate::map::Map;
use crate::random::Random;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Rows of the map that calibrate, at most.
const MOST_CALIBRATING: usize = 4096;
/// Fewer of them do not: a label has no share then but that of the votes.
const LEAST_CALIBRATING: usize = 20;
/// Rows that tell together how often a share of the votes is right, at least.
const IN_STEP: usize = 25;
/// Such steps, at most.
const MOST_STEPS: usize = 20;

/// A label of the map, as text; all rows that have it share the memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct LabelName(Arc<str>);

impl From<String> for LabelName {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<&str> for LabelName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<LabelName> for String {
    fn from(name: LabelName) -> Self {
        name.0.as_ref().into()
    }
}

impl Deref for LabelName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The label that a new row gets, and the share of rows with such a share of the votes that have it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TransferredLabel {
    pub(super) name: LabelName,
    pub(super) share: f64,
}

/// Which label won, and with what share of the votes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Vote {
    code: u32,
    share: f64,
}

/// The labels of a map, ready for new rows.
pub(super) struct LabelTransfer {
    names: Vec<LabelName>,
    /// For each distinct row of the map the label of most of the rows that equal it, and how large a share of them has it.
    own: Vec<Option<Vote>>,
    /// For each distinct row how many labelled rows equal it.
    labelled: Vec<u32>,
    /// How likely a row that equals another has the same label.
    agreement: f64,
    calibration: ShareCalibration,
}

impl LabelTransfer {
    /// The labels of the map; nothing where it has none. Rows whose label is empty have none.
    pub(super) fn new(map: &Map) -> Option<Self> {
        let labels = map.labels()?;
        let names: Vec<LabelName> = labels.names().map(LabelName::from).collect();
        let mut codes: Vec<Vec<u32>> = vec![Vec::new(); map.x().rows()];
        let is_named = |(_, code): &(usize, &u32)| !names[**code as usize].is_empty();
        for (row, &code) in labels.codes().iter().enumerate().filter(is_named) {
            codes[map.distinct(row)].push(code);
        }
        let own: Vec<Option<Vote>> =
            codes.iter().map(|codes| vote(codes.iter().map(|&code| (code, 1.0)))).collect();
        let any = own.iter().any(Option::is_some);
        any.then(|| Self {
            names,
            own,
            labelled: codes.iter().map(|codes| codes.len() as u32).collect(),
            agreement: agreement(&codes),
            calibration: ShareCalibration::default(),
        })
    }

    /// The label of a row that equals a row of the map. Where columns are few and coarse, rows may be equal and of different
    /// kinds: one row alone is as sure as equal rows of the map agree.
    pub(super) fn of_row(&self, row: u32) -> Option<TransferredLabel> {
        let Vote { code, share } = self.own[row as usize]?;
        let rows = f64::from(self.labelled[row as usize]);
        let share = share - (1.0 - self.agreement) / rows;
        Some(TransferredLabel { name: self.names[code as usize].clone(), share })
    }

    /// Whether a row of the map has a label.
    pub(super) fn knows(&self, row: u32) -> bool {
        self.own[row as usize].is_some()
    }

    /// The label of a new row, by the weights of its neighbours; nothing where none of them has a label.
    pub(super) fn of_neighbours(&self, near: Neighbourhood<'_>, weights: &[f64]) -> Option<TransferredLabel> {
        let Vote { code, share } = self.vote(near, weights)?;
        Some(TransferredLabel { name: self.names[code as usize].clone(), share: self.calibration.at(share) })
    }

    fn vote(&self, near: Neighbourhood<'_>, weights: &[f64]) -> Option<Vote> {
        let code = |row: u32| self.own[row as usize].map(|own| own.code);
        vote(near.iter().zip(weights).filter_map(|(&(_, row), &weight)| Some((code(row)?, weight))))
    }

    /// The rows of the map that calibrate: a fixed sample of those that have a label.
    fn calibrating(&self, seed: u64) -> Vec<u32> {
        let labelled: Vec<u32> = (0..self.own.len() as u32).filter(|&row| self.knows(row)).collect();
        let sample = Random::new(seed).sample(labelled.len(), MOST_CALIBRATING);
        sample.into_iter().map(|at| labelled[at as usize]).collect()
    }
}

/// The share of rows, of those that equal others, that have the label of another one drawn at random; 1 of few such rows.
fn agreement(codes: &[Vec<u32>]) -> f64 {
    let (mut rows, mut same) = (0, 0.0);
    for codes in codes.iter().filter(|codes| codes.len() > 1) {
        rows += codes.len();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        let pairs = |equal: &[u32]| (equal.len() * (equal.len() - 1)) as f64;
        same += sorted.chunk_by(|a, b| a == b).map(pairs).sum::<f64>() / (codes.len() - 1) as f64;
    }
    if rows < LEAST_CALIBRATING { 1.0 } else { same / rows as f64 }
}

/// The candidate with the largest weight, of equal ones the first; nothing without any weight.
fn vote(candidates: impl Iterator<Item = (u32, f64)>) -> Option<Vote> {
    let mut sums: Vec<(u32, f64)> = Vec::new();
    for (code, weight) in candidates {
        match sums.iter_mut().find(|(known, _)| *known == code) {
            Some((_, sum)) => *sum += weight,
            None => sums.push((code, weight)),
        }
    }
    let total: f64 = sums.iter().map(|(_, sum)| sum).sum();
    let (code, most) = sums.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (total > 0.0).then(|| Vote { code, share: most / total })
}

impl Lion {
    /// The labels of the map with the calibration of their shares: each row of a sample is left out of the map and gets
    /// a label as a new row would.
    pub(super) fn label_transfer(&self) -> Option<LabelTransfer> {
        let mut transfer = LabelTransfer::new(&self.map)?;
        // Rows without columns are all alike: there is nothing to learn from.
        let seed = self.map.provenance().seed;
        let rows = if self.map.x().cols() == 0 { Vec::new() } else { transfer.calibrating(seed) };
        let blocks = rows.par_chunks(self.index.together());
        let votes: Vec<Option<(f64, f64)>> =
            blocks.flat_map_iter(|rows| self.left_out(&transfer, rows)).collect();
        transfer.calibration = ShareCalibration::new(votes.into_iter().flatten().collect());
        Some(transfer)
    }

    /// For each of these rows the share of the votes that its label got, and the share of its own labels that this is.
    fn left_out(&self, transfer: &LabelTransfer, rows: &[u32]) -> Vec<Option<(f64, f64)>> {
        let x = self.map.x();
        let mut seen =
            self.index.search(x, x.select(rows).data(), (self.nearest + 1).min(x.rows()), self.r_x);
        for (seen, row) in seen.iter_mut().zip(rows) {
            seen.nearest.retain(|(_, other)| other != row);
            seen.nearest.truncate(self.nearest);
        }
        let queries: Vec<&[f32]> = rows.iter().map(|&row| x.row(row as usize)).collect();
        let near = self.neighbourhoods(&queries, &seen.iter().collect::<Vec<_>>());
        let mut rule = LocalRule::new(self);
        let one = |(&row, near): (&u32, Cow<'_, [(f32, u32)]>)| {
            let mut near = near.into_owned();
            near.retain(|(_, other)| *other != row);
            let near = Some(self.one_cluster(&near)).filter(|near| !near.is_empty())?;
            let vote = transfer.vote(near, rule.weights(near))?;
            let own = transfer.own[row as usize]?;
            Some((vote.share, if vote.code == own.code { own.share } else { 0.0 }))
        };
        rows.iter().zip(near).map(one).collect()
    }
}

/// How often labels with a share of the votes are right: a line through the means of equally many rows each, which never
/// falls (Zadrozny & Elkan 2002, Transforming Classifier Scores into Accurate Multiclass Probability Estimates).
#[derive(Clone, Debug, Default, PartialEq)]
struct ShareCalibration {
    /// Share of the votes, and of the rows that were right; ascending.
    steps: Vec<(f64, f64)>,
}

/// Rows with about the same share of the votes.
#[derive(Clone, Copy, Debug)]
struct Step {
    rows: f64,
    shares: f64,
    right: f64,
}

impl Step {
    fn mean(&self) -> f64 {
        self.right / self.rows
    }

    fn and(&self, other: &Self) -> Self {
        let Self { rows, shares, right } = self;
        Self { rows: rows + other.rows, shares: shares + other.shares, right: right + other.right }
    }
}

impl ShareCalibration {
    /// From the shares that labels of known rows got, and how right each was, from 0 to 1.
    fn new(mut votes: Vec<(f64, f64)>) -> Self {
        if votes.len() < LEAST_CALIBRATING {
            return Self::default();
        }
        votes.sort_by(|a, b| a.0.total_cmp(&b.0));
        // One row of the mean is added to each step: of 25 rows that were all right, the next may still be wrong.
        let prior = votes.iter().map(|(_, right)| right).sum::<f64>() / votes.len() as f64;
        let steps = steps(&votes);
        let smoothed = steps.iter().map(|step| {
            let mean = (step.right + prior) / (step.rows + 1.0);
            Step { right: mean * step.rows, ..*step }
        });
        let mut line = Vec::with_capacity(steps.len());
        for (level, members) in never_falling(smoothed.collect()) {
            line.extend(members.into_iter().map(|step| (step.shares / step.rows, level)));
        }
        Self { steps: line }
    }

    /// How often labels with this share of the votes are right.
    fn at(&self, share: f64) -> f64 {
        let after = self.steps.partition_point(|(known, _)| *known <= share);
        match (after.checked_sub(1).map(|before| self.steps[before]), self.steps.get(after)) {
            (Some(before), Some(after)) => {
                before.1 + (after.1 - before.1) * (share - before.0) / (after.0 - before.0)
            }
            (Some(last), None) => last.1,
            (None, Some(first)) => first.1,
            (None, None) => share,
        }
    }
}

/// Cuts sorted votes into steps of about equally many. Equal shares are in one step.
fn steps(votes: &[(f64, f64)]) -> Vec<Step> {
    let least = votes.len().div_ceil(MOST_STEPS).max(IN_STEP) as f64;
    let mut steps: Vec<Step> = Vec::new();
    for equal in votes.chunk_by(|a, b| a.0 == b.0) {
        let rows = equal.len() as f64;
        let right = equal.iter().map(|(_, right)| right).sum();
        let next = Step { rows, shares: equal[0].0 * rows, right };
        match steps.last_mut().filter(|last| last.rows < least) {
            Some(last) => *last = last.and(&next),
            None => steps.push(next),
        }
    }
    // The last may be short of rows.
    if let [.., before, last] = &steps[..]
        && last.rows < least
    {
        let both = before.and(last);
        steps.truncate(steps.len() - 2);
        steps.push(both);
    }
    steps
}

/// Pools neighbouring steps until none is less right than the one before (Ayer et al. 1955, pool adjacent violators): each
/// pool's mean with its steps.
fn never_falling(steps: Vec<Step>) -> Vec<(f64, Vec<Step>)> {
    let mut pools: Vec<(Step, Vec<Step>)> = Vec::new();
    for step in steps {
        let mut pool = (step, vec![step]);
        while let Some(before) = pools.pop_if(|before| before.0.mean() >= pool.0.mean()) {
            let members = before.1.into_iter().chain(pool.1).collect();
            pool = (before.0.and(&pool.0), members);
        }
        pools.push(pool);
    }
    pools.into_iter().map(|(sum, members)| (sum.mean(), members)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weight_wins_and_the_first_of_equal_ones() {
        let of = |votes: &[(u32, f64)]| vote(votes.iter().copied());
        assert_eq!(of(&[(4, 0.3), (2, 0.5), (4, 0.4)]), Some(Vote { code: 4, share: 0.7 / 1.2 }));
        assert_eq!(of(&[(4, 0.5), (2, 0.5)]), Some(Vote { code: 4, share: 0.5 }));
        assert_eq!(of(&[(4, 0.0)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn shares_become_rates() {
        // Of a share s, a part s² is right: votes are too sure of themselves.
        let votes: Vec<(f64, f64)> = (0..4000)
            .map(|i| {
                let share = f64::from(i % 100 + 1) / 100.0;
                (share, f64::from(u8::from(f64::from(i / 100) < 40.0 * share * share)))
            })
            .collect();
        let calibration = ShareCalibration::new(votes.clone());
        assert!(calibration.steps.len() <= MOST_STEPS);
        for share in [0.1, 0.33, 0.5, 0.77, 0.9] {
            assert!(
                (calibration.at(share) - share * share).abs() < 0.03,
                "{share}: {}",
                calibration.at(share)
            );
        }
        let line: Vec<f64> = (0..=100).map(|i| calibration.at(f64::from(i) / 100.0)).collect();
        assert!(line.is_sorted() && line.iter().all(|rate| (0.0..=1.0).contains(rate)));
        // The order of the rows does not matter.
        let mut turned = votes;
        turned.reverse();
        assert_eq!(ShareCalibration::new(turned), calibration);
    }

    #[test]
    fn pools_never_fall() {
        // 60 rows with shares in three steps: the second was right less often than the first.
        let of = |share: f64, right: usize| (0..25).map(move |i| (share, f64::from(u8::from(i < right))));
        let votes: Vec<(f64, f64)> = of(0.4, 15).chain(of(0.6, 10)).chain(of(0.9, 25)).collect();
        let steps = ShareCalibration::new(votes).steps;
        // (15 + 10) of 50 and 25 of 25, each step with one more row of the mean, 2/3.
        let pooled = ((15.0 + 2.0 / 3.0) / 26.0 + (10.0 + 2.0 / 3.0) / 26.0) / 2.0;
        let last = (25.0 + 2.0 / 3.0) / 26.0;
        let expected = [(0.4, pooled), (0.6, pooled), (0.9, last)];
        for ((share, rate), (known, level)) in steps.iter().zip(expected) {
            assert!((share - known).abs() < 1e-12 && (rate - level).abs() < 1e-12, "{steps:?}");
        }
        assert_eq!(steps.len(), 3);
    }

    #[test]
    fn equal_rows_tell_how_much_equality_says() {
        // Ten pairs agree, five do not; rows that are alone say nothing.
        let mut codes = vec![vec![0, 0]; 10];
        codes.extend(vec![vec![0, 1]; 5]);
        codes.extend(vec![vec![1]; 50]);
        assert!((agreement(&codes) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(agreement(&codes[10..]), 1.0, "ten rows are too few");
        assert!((agreement(&vec![vec![0, 0, 1]; 9]) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn few_rows_do_not_calibrate() {
        let calibration = ShareCalibration::new(vec![(0.5, 1.0); 19]);
        assert_eq!(calibration.at(0.25), 0.25);
        // All have the same share: there is nothing to tell them apart.
        let calibration = ShareCalibration::new(vec![(1.0, 1.0); 60]);
        assert_eq!((calibration.at(0.3), calibration.at(1.0)), (1.0, 1.0));
    }
}
