//! What is said of a new row: the calibrated verdict, ours, or the paper's.

use super::parameters::LionParameters;
use super::pca_residual::PcaResidualLimit;
use super::radius::{ascending, share_at_least};
use super::{Lion, LionOptions, Place, Placement, Verdict};
use crate::error::{Error, Result};
use crate::index::{QueryNeighbours, squared_distance};
use crate::map::Map;
use crate::vectorized::vectorized;
use crate::verdict::{Calibration, LEAST_ROWS, PValues, Ranks, Reconstruction};
use rayon::prelude::*;

/// The share of ordinary rows that may be called outliers, unless another is given.
pub const DEFAULT_ALPHA: f64 = 0.01;

/// Which rule decides what is an outlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictRule {
    /// Ours: a row whose p-value is at most alpha. Of rows like the map's own, a share alpha is called outliers.
    Calibrated,
    /// The paper's: a row with fewer than two neighbours within r_x.
    Paper,
}

crate::named!(VerdictRule, "verdict": Calibrated = "calibrated", Paper = "paper");

/// A rule with what it needs.
pub(super) enum Rule {
    Calibrated(CalibratedRule),
    Paper(PaperRule),
}

/// The calibrated rule.
pub(super) struct CalibratedRule {
    alpha: f64,
    calibration: Calibration,
    ranks: Ranks,
    /// The p-value of each distinct row of the map among the others.
    own: Vec<f32>,
    /// Residuals of the map's rows, ascending; empty without PCA.
    residuals: Vec<f32>,
}

/// The paper's rule.
pub(super) struct PaperRule {
    /// NN-X by row, and ascending.
    nn_x: Vec<f32>,
    sorted_nn_x: Vec<f32>,
    /// Rows with a greater PCA residual are outliers, if that matters.
    limit: Option<f64>,
    /// Residuals of the map's rows, ascending, if that matters.
    residuals: Vec<f32>,
    /// The share of the map's own rows that the radius and the limit leave out. New rows are called outliers more often.
    nominal: Option<f64>,
}

/// A row of which the verdict is known.
pub(super) struct JudgedRow {
    pub(super) placement: Placement,
    pub(super) seen: QueryNeighbours,
}

impl Rule {
    /// The rule that the options ask for, or the best that the map knows.
    pub(super) fn new(map: &Map, kept: &LionParameters, options: &LionOptions) -> Result<Self> {
        let refuse = |name, problem: &str| Err(Error::Parameter { name, problem: problem.into() });
        for (name, share) in [("alpha", options.alpha), ("fdr", options.fdr)] {
            if let Some(share) = share.filter(|share| !(*share > 0.0 && *share < 1.0)) {
                return refuse(
                    name,
                    &format!("must be a share between 0 and 1 (0 % and 100 %), not {share:?}"),
                );
            }
        }
        let asks = [("alpha", options.alpha.is_some()), ("fdr", options.fdr.is_some())];
        let asked = asks.into_iter().find(|(_, asked)| *asked);
        let rule = options.verdict.unwrap_or(match kept.calibration {
            Some(_) => VerdictRule::Calibrated,
            None => VerdictRule::Paper,
        });
        match (rule, &kept.calibration) {
            (VerdictRule::Calibrated, Some(_)) if options.pca_residual != PcaResidualLimit::None => refuse(
                "pca residual",
                "belongs to the paper's rule: the calibrated verdict tests the residual by itself",
            ),
            (VerdictRule::Calibrated, Some(calibration)) => {
                Ok(Self::Calibrated(CalibratedRule::new(map, kept, calibration, options.alpha)))
            }
            (VerdictRule::Calibrated, None) => refuse("verdict", &uncalibrated(map)),
            (VerdictRule::Paper, Some(_)) if asked.is_some() => refuse(
                asked.map_or("alpha", |(name, _)| name),
                "belongs to the calibrated verdict, not to the paper's",
            ),
            (VerdictRule::Paper, None) if asked.is_some() => {
                refuse(asked.map_or("alpha", |(name, _)| name), &uncalibrated(map))
            }
            (VerdictRule::Paper, _) => Ok(Self::Paper(PaperRule::new(kept, options))),
        }
    }
}

/// Why a map has no calibrated verdict, and what to do.
fn uncalibrated(map: &Map) -> String {
    let why = match map.x().rows() {
        rows if rows < LEAST_ROWS => {
            format!("it has {rows} different rows, and {LEAST_ROWS} are needed: fit it to more rows")
        }
        _ => "`lion calibrate old.lion --rows table -o new.lion` calibrates it".into(),
    };
    format!("needs a map that is calibrated, and this one is not: {why}")
}

/// What a person may want to know of a map's calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationFacts {
    /// How many rows calibrate: the least p-value is 1 / (rows + 1).
    pub rows: usize,
    /// The score up to which a row is an outlier, unless another is given.
    pub alpha: f64,
    /// The share of rows like the map's own that is called outliers then.
    pub promised: f64,
    /// By how many groups rows were left out, if by groups.
    pub groups: Option<u64>,
}

impl Map {
    /// How its verdicts are calibrated; `None` if they are not.
    pub fn calibration_facts(&self) -> Option<CalibrationFacts> {
        let kept = self.lion()?;
        let calibration = kept.calibration.as_ref()?;
        let rows = calibration.calibrating_rows(self.place_of(), kept.covering).len();
        let alpha = default_alpha(rows);
        Some(CalibrationFacts { rows, alpha, promised: promised(alpha, rows), groups: calibration.groups })
    }
}

/// Of few rows no p-value is as small as 1 %: then a row must be more nonconforming than all of them.
fn default_alpha(rows: usize) -> f64 {
    DEFAULT_ALPHA.max(1.0 / (rows + 1) as f64)
}

/// The share of p-values at or below alpha: they are multiples of 1 / (N + 1).
fn promised(alpha: f64, rows: usize) -> f64 {
    let steps = (rows + 1) as f64;
    (alpha * steps * ROUNDED).floor() / steps
}

/// 0.7 % is a little less than 0.007 once both are rounded, and means the same.
const ROUNDED: f64 = 1.0 + 1e-12;

impl CalibratedRule {
    /// Whether a row with this p-value is an outlier.
    fn is_outlier(&self, score: f64) -> bool {
        score <= self.alpha * ROUNDED
    }

    fn new(map: &Map, kept: &LionParameters, calibration: &Calibration, alpha: Option<f64>) -> Self {
        let ranks = Ranks::new(&calibration.calibrating(map.place_of(), kept.covering));
        let rows = 0..calibration.distances.len() as u32;
        // It is among the rows that it is compared with: there is nothing to add.
        let own = |row: u32| ranks.p_values(&calibration.nonconformity(row), |_| f32::INFINITY).score as f32;
        Self {
            alpha: alpha.unwrap_or_else(|| default_alpha(ranks.rows())),
            own: rows.into_par_iter().with_min_len(4096).map(own).collect(),
            residuals: calibration.residuals.as_deref().map(ascending).unwrap_or_default(),
            calibration: calibration.clone(),
            ranks,
        }
    }
}

impl PaperRule {
    fn new(kept: &LionParameters, options: &LionOptions) -> Self {
        use super::Radius;
        let residuals = kept.residuals.as_deref().map(|residuals| kept.fair(residuals));
        let limit = options.pca_residual.limit(residuals);
        let beyond_limit = match options.pca_residual {
            PcaResidualLimit::Percentile(p) if limit.is_some() => 100.0 - p,
            _ => 0.0,
        };
        let nominal = match options.radius.unwrap_or(kept.radius) {
            Radius::Percentile(p) => Some(((100.0 - p + beyond_limit) / 100.0).min(1.0)),
            Radius::Value(_) => None,
        };
        Self {
            nn_x: kept.nn_x.clone(),
            sorted_nn_x: ascending(kept.fair(&kept.nn_x)),
            residuals: limit.and(residuals).map(ascending).unwrap_or_default(),
            limit,
            nominal,
        }
    }

    fn exceeds_residual_limit(&self, residual: Option<f32>) -> bool {
        self.limit.zip(residual).is_some_and(|(limit, residual)| f64::from(residual) > limit)
    }
}

impl Lion {
    /// Which rule decides what is an outlier.
    pub fn verdict_rule(&self) -> VerdictRule {
        match self.rule {
            Rule::Calibrated(_) => VerdictRule::Calibrated,
            Rule::Paper(_) => VerdictRule::Paper,
        }
    }

    /// The p-value up to which a row is an outlier; `None` by the paper's rule.
    pub fn alpha(&self) -> Option<f64> {
        match &self.rule {
            Rule::Calibrated(rule) => Some(rule.alpha),
            Rule::Paper(_) => None,
        }
    }

    /// The share of rows like the map's own that will be called outliers; `None` by the paper's rule, which promises none.
    pub fn promised(&self) -> Option<f64> {
        match &self.rule {
            Rule::Calibrated(rule) => Some(promised(rule.alpha, rule.ranks.rows())),
            Rule::Paper(_) => None,
        }
    }

    /// The least p-value that a row can have, 1 / (rows that calibrate + 1); `None` by the paper's rule.
    pub fn least_p_value(&self) -> Option<f64> {
        match &self.rule {
            Rule::Calibrated(rule) => Some(1.0 / (rule.ranks.rows() + 1) as f64),
            Rule::Paper(_) => None,
        }
    }

    /// Alpha, or the share of the map's own rows that the paper's rule would leave out; `None` if a radius that is a number
    /// decides.
    pub(crate) fn nominal_share(&self) -> Option<f64> {
        match &self.rule {
            Rule::Calibrated(rule) => Some(rule.alpha),
            Rule::Paper(rule) => rule.nominal,
        }
    }

    /// How many rows of the map the p-values count; 0 by the paper's rule.
    pub fn calibration_rows(&self) -> usize {
        match &self.rule {
            Rule::Calibrated(rule) => rule.ranks.rows(),
            Rule::Paper(_) => 0,
        }
    }

    /// The p-value of each distinct row of the map, as if it were new; empty by the paper's rule.
    pub fn own_scores(&self) -> &[f32] {
        match &self.rule {
            Rule::Calibrated(rule) => &rule.own,
            Rule::Paper(_) => &[],
        }
    }

    /// Whether a row of the map would be an outlier if it were new. The row itself is placed as exact.
    pub fn is_outlier_row(&self, row: usize) -> bool {
        let distinct = self.map.distinct(row);
        match &self.rule {
            Rule::Calibrated(rule) => {
                rule.own.get(distinct).is_some_and(|own| rule.is_outlier(f64::from(*own)))
            }
            Rule::Paper(rule) => rule.nn_x.get(distinct).is_some_and(|d| f64::from(*d) > self.r_x),
        }
    }

    /// The verdicts on rows, and all of their placements but the place. What is said of a row depends on that row alone.
    pub(super) fn judge<'a>(
        &self,
        rows: impl Iterator<Item = &'a [f32]> + Clone,
        residuals: Option<&[f32]>,
        mut seen: Vec<QueryNeighbours>,
    ) -> Vec<JudgedRow> {
        let residual = |at: usize| residuals.map(|residuals| residuals[at]);
        match &self.rule {
            Rule::Paper(rule) => {
                self.verify_paper(rule, rows, residuals, &mut seen);
                let judge = |(at, seen)| self.judge_by_paper(rule, seen, residual(at));
                seen.into_iter().enumerate().map(judge).collect()
            }
            Rule::Calibrated(rule) => {
                let mut p_values = self.p_values(rule, rows.clone(), residuals, &seen, |_| true);
                self.verify(rule, rows, residuals, &mut seen, &mut p_values);
                let rows = seen.into_iter().zip(p_values).enumerate();
                rows.map(|(at, (seen, p))| self.judge_by_p_value(rule, seen, p, residual(at))).collect()
            }
        }
    }

    /// The p-values of the rows that are chosen; of the others nothing of use.
    fn p_values<'a>(
        &self,
        rule: &CalibratedRule,
        rows: impl Iterator<Item = &'a [f32]>,
        residuals: Option<&[f32]>,
        seen: &[QueryNeighbours],
        chosen: impl Fn(usize) -> bool,
    ) -> Vec<PValues> {
        let mut reconstruction = Reconstruction::default();
        let x = self.map.x();
        let of_row = |(at, (row, seen)): (usize, (&[f32], &QueryNeighbours))| {
            if !chosen(at) {
                return PValues { score: 1.0, distance: 1.0, neighbours: 1.0 };
            }
            let residual = residuals.map_or(0.0, |residuals| residuals[at]);
            let calibration = &rule.calibration;
            let nonconformity =
                calibration.nonconformity_of(x, row, &seen.nearest, residual, &mut reconstruction);
            let distance_to = |other: u32| {
                vectorized(
                    #[inline(always)]
                    || squared_distance(row, x.row(other as usize)).sqrt(),
                )
            };
            rule.ranks.p_values(&nonconformity, distance_to)
        };
        rows.zip(seen).enumerate().map(of_row).collect()
    }

    fn judge_by_p_value(
        &self,
        rule: &CalibratedRule,
        seen: QueryNeighbours,
        p: PValues,
        residual: Option<f32>,
    ) -> JudgedRow {
        let (distance2, nearest) = seen.nearest.first().copied().unwrap_or_default();
        let distance = distance2.sqrt();
        let is_outlier = rule.is_outlier(p.score);
        let beside = f64::from(distance) <= self.r_x
            && rule.own.get(nearest as usize).is_some_and(|own| rule.is_outlier(f64::from(*own)));
        let verdict = match () {
            () if distance2 == 0.0 && self.equals(nearest, residual) => Verdict::Exact,
            () if is_outlier && beside => Verdict::BesideOutlier,
            () if is_outlier => Verdict::Outlier,
            () => Verdict::Interpolated,
        };
        let residual = residual.filter(|_| !rule.residuals.is_empty());
        let placement = Placement {
            place: Place::default(),
            verdict,
            score: p.score,
            p_distance: Some(p.distance),
            p_neighbours: Some(p.neighbours),
            p_residual: residual.map(|residual| share_at_least(&rule.residuals, residual)),
            nearest: self.row_number(nearest),
            nearest_distance: distance,
            neighbours: seen.within,
            group: None,
            label: None,
            label_share: None,
        };
        JudgedRow { placement, seen }
    }

    fn judge_by_paper(&self, rule: &PaperRule, seen: QueryNeighbours, residual: Option<f32>) -> JudgedRow {
        let (distance2, nearest) = seen.nearest.first().copied().unwrap_or_default();
        let distance = distance2.sqrt();
        let verdict = match seen.within {
            _ if distance2 == 0.0 && self.equals(nearest, residual) => Verdict::Exact,
            _ if rule.exceeds_residual_limit(residual) => Verdict::Outlier,
            2.. => Verdict::Interpolated,
            1 if f64::from(rule.nn_x[nearest as usize]) > self.r_x => Verdict::BesideOutlier,
            _ => Verdict::Outlier,
        };
        let share = share_at_least(&rule.sorted_nn_x, distance);
        let residual = residual.filter(|_| !rule.residuals.is_empty());
        let p_residual = residual.map(|residual| share_at_least(&rule.residuals, residual));
        let placement = Placement {
            place: Place::default(),
            verdict,
            score: p_residual.map_or(share, |p| p.min(share)),
            p_distance: Some(share),
            p_neighbours: None,
            p_residual,
            nearest: self.row_number(nearest),
            nearest_distance: distance,
            neighbours: seen.within,
            group: None,
            label: None,
            label_share: None,
        };
        JudgedRow { placement, seen }
    }

    /// Whether a row on the spot of this one has the same PCA residual too. Columns that never vary in the map have no
    /// weight in its components; what differs there shows in the residual alone.
    fn equals(&self, row: u32, residual: Option<f32>) -> bool {
        let kept = self.map.lion().and_then(|lion| lion.residuals.as_ref());
        kept.zip(residual).is_none_or(|(kept, residual)| kept[row as usize] == residual)
    }

    fn row_number(&self, distinct: u32) -> u32 {
        self.first_row.as_ref().map_or(distinct, |first| first[distinct as usize])
    }

    /// Searches again, without missing anything, for the neighbours of rows that would be called outliers.
    fn verify<'a>(
        &self,
        rule: &CalibratedRule,
        rows: impl Iterator<Item = &'a [f32]> + Clone,
        residuals: Option<&[f32]>,
        seen: &mut [QueryNeighbours],
        p_values: &mut [PValues],
    ) {
        if self.index.sees_all() {
            return;
        }
        let is_outlier: Vec<bool> = p_values.iter().map(|p| rule.is_outlier(p.score)).collect();
        self.search_again(rows.clone(), &is_outlier, self.least_nearest(), seen);
        let again = self.p_values(rule, rows.clone(), residuals, seen, |at| is_outlier[at]);
        for at in (0..seen.len()).filter(|&at| is_outlier[at]) {
            p_values[at] = again[at];
        }
        if self.nearest > self.least_nearest() {
            let not_so = |(p, is_outlier): (&PValues, &bool)| *is_outlier && !rule.is_outlier(p.score);
            let not_so: Vec<bool> = p_values.iter().zip(&is_outlier).map(not_so).collect();
            self.search_again(rows, &not_so, self.nearest, seen);
        }
    }

    /// The same for the paper's rule. Rows beyond the residual limit are outliers whatever their neighbours.
    fn verify_paper<'a>(
        &self,
        rule: &PaperRule,
        rows: impl Iterator<Item = &'a [f32]> + Clone,
        residuals: Option<&[f32]>,
        seen: &mut [QueryNeighbours],
    ) {
        if self.index.sees_all() {
            return;
        }
        let off = |at: usize| rule.exceeds_residual_limit(residuals.map(|residuals| residuals[at]));
        let lonely: Vec<bool> =
            seen.iter().enumerate().map(|(at, seen)| seen.within < 2 && !off(at)).collect();
        self.search_again(rows.clone(), &lonely, 2, seen);
        if self.nearest > 2 {
            let not_so = |(seen, lonely): (&QueryNeighbours, &bool)| *lonely && seen.within >= 2;
            let not_so: Vec<bool> = seen.iter().zip(&lonely).map(not_so).collect();
            self.search_again(rows, &not_so, self.nearest, seen);
        }
    }

    /// The `k` nearest of all rows, for the rows that are `chosen`.
    fn search_again<'a>(
        &self,
        rows: impl Iterator<Item = &'a [f32]>,
        chosen: &[bool],
        k: usize,
        seen: &mut [QueryNeighbours],
    ) {
        let again: Vec<usize> = (0..seen.len()).filter(|&at| chosen[at]).collect();
        let among = rows.zip(chosen).filter(|(_, chosen)| **chosen);
        let queries: Vec<f32> = among.flat_map(|(row, _)| row).copied().collect();
        // The k-th of all is no farther than the k-th seen, if so many were.
        let reach = |&at: &usize| {
            let last = seen[at].nearest.get(k - 1);
            last.map_or(f64::INFINITY, |(distance2, _)| f64::from(distance2.sqrt()))
        };
        let reaches: Vec<f64> = again.iter().map(reach).collect();
        let found = self.index.search_all(self.map.x(), &queries, k, self.r_x, &reaches);
        again.into_iter().zip(found).for_each(|(at, found)| seen[at] = found);
    }
}
