//! All that an evaluation found: what report.json holds, and what the report is written from.

use super::calibration::CalibrationCheck;
use super::complexity::Timing;
use super::contenders::Entry;
use super::large::{LionOnMap, ParametricScores};
use super::scores::MethodScores;
use super::strangers::StrangerDetection;
use super::sweeps::{GridCell, PowerSweep, WidthPoint};
use super::trial::{MethodTrial, TestSet};
use crate::Estimate;
use crate::digits::DigitImages;
use lion_tsne::Map;
use serde::Serialize;
use std::collections::BTreeMap;

/// The numbers.
#[derive(Serialize)]
pub(crate) struct Results {
    pub(crate) run: RunFacts,
    pub(crate) map: Option<MapFacts>,
    /// Percent right at the places of the rows that the cluster test's digits were picked for.
    pub(crate) baseline: Option<Estimate>,
    pub(crate) methods: Vec<MethodScores>,
    /// Promised and observed shares of outliers.
    pub(crate) calibration: Option<CalibrationCheck>,
    /// How well strangers of each kind are told from ordinary digits.
    pub(crate) strangers: Vec<StrangerDetection>,
    /// The cross-validation and the powers, at each radius.
    pub(crate) powers: Vec<PowerSweep>,
    pub(crate) widths: Vec<WidthPoint>,
    pub(crate) grid: Option<GridSearch>,
    pub(crate) complexity: Vec<Timing>,
    pub(crate) large: Option<LargeTest>,
    /// What holds of the paper's claims, by rules over the numbers above.
    pub(crate) claims: Vec<ClaimOutcome>,
    /// Where ours differ from the paper's by more than noise.
    pub(crate) differences: Vec<PublishedDifference>,
}

/// A claim and what became of it.
#[derive(Clone, Serialize)]
pub(crate) struct ClaimOutcome {
    /// Nothing where it was not put to the test.
    pub(crate) holds: Option<bool>,
    pub(crate) claim: String,
    pub(crate) evidence: String,
}

/// A figure that differs from the paper's by more than three standard errors.
#[derive(Clone, Serialize)]
pub(crate) struct PublishedDifference {
    pub(crate) method: String,
    pub(crate) figure: ComparedFigure,
    /// Ours less the paper's.
    pub(crate) difference: f64,
    /// Of the difference, were the paper's as uncertain as ours would be with its 1000 rows.
    pub(crate) standard_error: f64,
    pub(crate) why: String,
}

/// What is compared with the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ComparedFigure {
    /// Accuracy less the baseline, in points.
    Accuracy,
    /// Distance percentile on the cluster test.
    Percentile,
    /// KL divergence above the map's own on the cluster test, in thousandths.
    Kl,
    /// Distance percentile of noise.
    NoisePercentile,
    /// Distance of noise.
    NoiseDistance,
}

/// Seeds, versions, machine, duration.
#[derive(Clone, Serialize)]
pub(crate) struct RunFacts {
    pub(crate) version: &'static str,
    pub(crate) data: String,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) quick: bool,
    pub(crate) parts: Vec<String>,
    pub(crate) epochs: usize,
    pub(crate) machine: String,
    /// Of all stages, those of earlier runs too.
    pub(crate) seconds: f64,
    /// Stages taken from an earlier run.
    pub(crate) kept: usize,
}

/// The map of the two tests.
#[derive(Clone, Serialize)]
pub(crate) struct MapFacts {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) components: usize,
    pub(crate) perplexity: f64,
    pub(crate) seconds: f64,
    /// With P over all pairs.
    pub(crate) kl: f64,
    /// The mean share of a digit's ten nearest others that show the same, in percent.
    pub(crate) accuracy: f64,
    pub(crate) r_close: f64,
    pub(crate) r_y: f64,
    pub(crate) noise_drawn: usize,
    /// Of those, strangers to the map; and how many of the strangers are placed.
    pub(crate) noise_kept: usize,
    pub(crate) noise_used: usize,
    /// The digit that the second map is fitted without, and how many of it there are.
    pub(crate) held_out: Option<(String, usize)>,
}

/// The grid search.
#[derive(Serialize)]
pub(crate) struct GridSearch {
    pub(crate) epochs: usize,
    pub(crate) cells: Vec<GridCell>,
}

/// The large test.
#[derive(Serialize)]
pub(crate) struct LargeTest {
    pub(crate) training_seconds: f64,
    pub(crate) parametric: ParametricScores,
    pub(crate) on_parametric: LionOnMap,
    pub(crate) fit_seconds: f64,
    pub(crate) on_tsne: LionOnMap,
}

/// What pictures are made of, beside the numbers.
pub(crate) struct Material {
    pub(crate) map: Map,
    pub(crate) training: DigitImages,
    /// For each digit of the cluster test, the row that it was picked for.
    pub(crate) picked_for: Vec<u32>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) trials: BTreeMap<String, MethodTrial>,
    pub(crate) sets: Vec<TestSet>,
    /// How well scores tell strangers from ordinary digits, by kind of stranger.
    pub(crate) roc: Vec<RocCurve>,
    /// Outliers placed all at once into the map: where each landed.
    pub(crate) crowd: Vec<CrowdedOutlier>,
}

/// A row placed in a crowd.
pub(crate) struct CrowdedOutlier {
    pub(crate) at: [f32; 2],
    pub(crate) outlier: bool,
}

/// A curve of what a threshold on the score finds: percent of ordinary digits called strange, percent of strangers.
pub(crate) struct RocCurve {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
    /// By the distance alone, the score of the paper's rule.
    pub(crate) dashed: bool,
}

impl Results {
    /// What is said of a method.
    pub(crate) fn of(&self, method: &str) -> Option<&MethodScores> {
        self.methods.iter().find(|scores| scores.method == method)
    }
}

impl Material {
    pub(crate) fn set(&self, name: &str) -> Option<&TestSet> {
        self.sets.iter().find(|set| set.name == name)
    }
}
