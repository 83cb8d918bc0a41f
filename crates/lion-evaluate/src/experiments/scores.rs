//! What the metrics say of where rows landed.

use super::contenders::{Entry, PublishedScores, has_control};
use super::error::{EvaluationError, Result};
use super::trial::{MethodTrial, PlacedSet, TestSet};
use crate::{Estimate, JoinedKl, Judge, auc};
use lion_tsne::{Map, Matrix};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// The mean KL divergences of one set, by method.
pub(crate) type Divergences = BTreeMap<String, Estimate>;

/// Shares in percent.
pub(crate) fn percent(shares: Vec<f64>) -> Vec<f64> {
    shares.into_iter().map(|share| 100.0 * share).collect()
}

/// All that is said of one method.
#[derive(Clone, Serialize)]
pub(crate) struct MethodScores {
    pub(crate) method: String,
    pub(crate) build_seconds: f64,
    pub(crate) row_seconds: f64,
    pub(crate) radius: Option<f64>,
    pub(crate) power: Option<f64>,
    /// KL divergence of the map that a network itself makes of the training rows.
    pub(crate) own_kl: Option<f64>,
    pub(crate) cluster: Option<ClusterScores>,
    pub(crate) outliers: Option<OutlierScores>,
    pub(crate) ordinary: Option<OrdinaryScores>,
    /// Letters, against ordinary digits.
    pub(crate) letters: Option<StrangerScores>,
    /// Digits that the map was fitted without, against ordinary digits that it was fitted with.
    pub(crate) held_out: Option<StrangerScores>,
    pub(crate) notes: Vec<String>,
    /// What the paper has of it.
    pub(crate) published: Option<PublishedScores>,
}

/// The cluster attribution test. Accuracy and percentile are in percent.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct ClusterScores {
    pub(crate) accuracy: Estimate,
    /// Less the baseline, row by row: both are judged on the same rows.
    pub(crate) above_baseline: Estimate,
    pub(crate) percentile: Estimate,
    pub(crate) kl: Option<Estimate>,
}

/// The outlier test.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct OutlierScores {
    pub(crate) percentile: Estimate,
    pub(crate) distance: Estimate,
    pub(crate) kl: Option<Estimate>,
    /// Percent of the noise that is farther from every place than any place is from its nearest.
    pub(crate) apart: f64,
}

/// Unseen digits that were not picked for closeness.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct OrdinaryScores {
    pub(crate) accuracy: Estimate,
    /// Percent called outliers; of a method that calls none so, percent put farther from every place than any place is
    /// from its nearest.
    pub(crate) outliers: f64,
}

/// How well strangers are told from ordinary digits.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct StrangerScores {
    /// The chance that a stranger is put farther from its nearest place than an ordinary digit.
    pub(crate) auc_by_place: f64,
    /// The chance that a stranger's score is stranger.
    pub(crate) auc_by_score: Option<f64>,
    /// Percent called outliers, as for ordinary digits.
    pub(crate) outliers: f64,
}

/// A map and its judge.
pub(crate) struct MapScorer<'a> {
    pub(crate) map: &'a Map,
    pub(crate) judge: Judge,
    /// For each row of the cluster test, percent right at the place of the row that it was picked for.
    pub(crate) baseline: Vec<f64>,
}

impl<'a> MapScorer<'a> {
    /// `picked_for` and `labels` are those of the cluster test; nothing where there is none.
    pub(crate) fn new(map: &'a Map, picked_for: &[u32], labels: &[String]) -> Result<Self> {
        let judge = Judge::new(map)?;
        let baseline = percent(judge.baseline(picked_for, labels)?);
        Ok(Self { map, judge, baseline })
    }

    /// Judges where a method put the rows of sets, by the map or by the method's own version of it.
    pub(crate) fn scores(
        &self,
        entry: &Entry,
        trial: &MethodTrial,
        sets: &[TestSet],
    ) -> Result<MethodScores> {
        let own = trial.own_places.as_ref().map(|places| own_judge(self.map, places)).transpose()?;
        let judge = own.as_ref().unwrap_or(&self.judge);
        let set = |name: &str| -> Option<(&TestSet, &PlacedSet)> {
            Some((sets.iter().find(|set| set.name == name)?, trial.landed.get(name)?))
        };
        let ordinary = set("ordinary");
        let strangers = |name| match (set(name), ordinary) {
            (Some((_, strange)), Some((_, known))) => {
                Ok::<_, EvaluationError>(Some(strangers(judge, entry, strange, known)?))
            }
            _ => Ok(None),
        };
        Ok(MethodScores {
            method: entry.name(),
            build_seconds: trial.build_seconds,
            row_seconds: trial.row_seconds,
            radius: trial.radius,
            power: trial.power,
            own_kl: None,
            cluster: set("cluster").map(|(set, landed)| self.cluster(judge, set, landed)).transpose()?,
            outliers: set("noise").map(|(_, landed)| outliers(judge, landed)).transpose()?,
            ordinary: ordinary.map(|(set, landed)| ordinary_of(judge, entry, set, landed)).transpose()?,
            letters: strangers("letters")?,
            held_out: strangers("held out")?,
            notes: trial.notes.clone(),
            published: entry.published,
        })
    }

    fn cluster(&self, judge: &Judge, set: &TestSet, landed: &PlacedSet) -> Result<ClusterScores> {
        let places = landed.matrix()?;
        let shares = percent(judge.shares(&places, &set.labels)?);
        let above: Vec<f64> = shares.iter().zip(&self.baseline).map(|(own, base)| own - base).collect();
        Ok(ClusterScores {
            accuracy: Estimate::of(&shares),
            above_baseline: Estimate::of(&above),
            percentile: Estimate::of(&judge.percentiles(&places)?),
            kl: None,
        })
    }
}

/// A judge of the places that a method itself gives to the map's rows.
pub(crate) fn own_judge(map: &Map, places: &[f32]) -> Result<Judge> {
    let places = Matrix::new(places.len() / 2, 2, places.to_vec())?;
    Ok(Judge::new(&map.with_places(places)?)?)
}

fn outliers(judge: &Judge, landed: &PlacedSet) -> Result<OutlierScores> {
    let places = landed.matrix()?;
    let percentiles = judge.percentiles(&places)?;
    Ok(OutlierScores {
        percentile: Estimate::of(&percentiles),
        distance: Estimate::of(&judge.distances(&places)?),
        kl: None,
        apart: apart(&percentiles),
    })
}

fn ordinary_of(judge: &Judge, entry: &Entry, set: &TestSet, landed: &PlacedSet) -> Result<OrdinaryScores> {
    let accuracy = Estimate::of(&percent(judge.shares(&landed.matrix()?, &set.labels)?));
    Ok(OrdinaryScores { accuracy, outliers: called_outliers(judge, entry, landed)? })
}

fn strangers(judge: &Judge, entry: &Entry, strange: &PlacedSet, known: &PlacedSet) -> Result<StrangerScores> {
    let away = |landed: &PlacedSet| -> Result<Vec<f64>> { Ok(judge.distances(&landed.matrix()?)?) };
    let strangeness = |landed: &PlacedSet| -> Option<Vec<f64>> {
        Some(landed.said.as_ref()?.iter().map(|said| 1.0 - said.score).collect())
    };
    let by_score = strangeness(strange).zip(strangeness(known));
    Ok(StrangerScores {
        auc_by_place: auc(&away(strange)?, &away(known)?),
        auc_by_score: by_score.map(|(strange, known)| auc(&strange, &known)),
        outliers: called_outliers(judge, entry, strange)?,
    })
}

/// Percent of rows called outliers; where none is ever called so, percent put apart from everything.
fn called_outliers(judge: &Judge, entry: &Entry, landed: &PlacedSet) -> Result<f64> {
    match &landed.said {
        Some(said) if has_control(&entry.contender) => {
            let called = said.iter().filter(|said| said.outlier).count();
            Ok(100.0 * called as f64 / said.len().max(1) as f64)
        }
        _ => Ok(apart(&judge.percentiles(&landed.matrix()?)?)),
    }
}

/// Percent at percentile 100.
fn apart(percentiles: &[f64]) -> f64 {
    let apart = percentiles.iter().filter(|percentile| **percentile >= 100.0).count();
    100.0 * apart as f64 / percentiles.len().max(1) as f64
}

/// The mean KL divergence of N + 1 points for each method, over the rows of one set. What P of the N + 1 points is does
/// not depend on where the row is put, so each row is worked out once for all methods that share a map.
pub(crate) fn divergences(
    map: &Map,
    trials: &BTreeMap<String, MethodTrial>,
    set: &TestSet,
    told: &(dyn Fn(u64, u64) + Sync),
) -> Result<Divergences> {
    let rows = map.preprocess().apply(&set.rows)?;
    let landed = |trial: &MethodTrial| trial.landed.get(set.name).map(|landed| landed.places.clone());
    let shared: Vec<(&String, Vec<f32>)> = trials
        .iter()
        .filter(|(_, trial)| trial.own_places.is_none())
        .filter_map(|(name, trial)| Some((name, landed(trial)?)))
        .collect();
    let own = trials.iter().filter_map(|(name, trial)| Some((name, trial.own_places.as_ref()?, trial)));
    let own: Vec<(&String, &Vec<f32>, &MethodTrial)> = own.collect();
    let passes = (1 + own.len()) as u64;
    let mut means = BTreeMap::new();
    let joined = JoinedKl::new(map)?;
    for (name, mean) in of_rows(&joined, &rows, &shared, &|done, total| told(done, total * passes)) {
        means.insert(name, mean);
    }
    for (pass, (name, places, trial)) in (1..).zip(own) {
        let places = Matrix::new(places.len() / 2, 2, places.clone())?;
        let joined = JoinedKl::new(&map.with_places(places)?)?;
        let landed = landed(trial).ok_or(EvaluationError::Missing("a method was not given this set"))?;
        let told = |done, total| told(pass * total + done, total * passes);
        means.extend(of_rows(&joined, &rows, &[(name, landed)], &told));
    }
    Ok(means)
}

fn of_rows(
    joined: &JoinedKl,
    rows: &Matrix,
    methods: &[(&String, Vec<f32>)],
    told: &(dyn Fn(u64, u64) + Sync),
) -> Vec<(String, Estimate)> {
    let done = std::sync::atomic::AtomicU64::new(0);
    let of_row = |at: usize| {
        let row = joined.with_row(rows.row(at));
        let all: Vec<f64> = methods.iter().map(|(_, places)| row.at(&places[2 * at..2 * at + 2])).collect();
        told(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), rows.rows() as u64);
        all
    };
    let all: Vec<Vec<f64>> = (0..rows.rows()).into_par_iter().map(of_row).collect();
    let of_method = |(at, (name, _)): (usize, &(&String, Vec<f32>))| {
        ((*name).clone(), Estimate::of(&all.iter().map(|of_row| of_row[at]).collect::<Vec<f64>>()))
    };
    methods.iter().enumerate().map(of_method).collect()
}
