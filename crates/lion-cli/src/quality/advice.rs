//! Which perplexity suits the rows, from a small sweep.

use crate::args::QualityArgs;
use lion_tsne::quality::PerplexityTrial;
use serde::Serialize;

/// What is tried unless something else is asked for.
const TRIED: [f64; 5] = [5.0, 15.0, 30.0, 50.0, 100.0];
/// Maps whose mean shares of kept neighbours differ less than this are equally good: another seed changes as much.
const EQUAL: f64 = 0.01;

/// A perplexity that was tried, as JSON has it.
#[derive(Serialize)]
pub(super) struct TrialSummary {
    pub(super) perplexity: f64,
    /// The mean over all scales.
    pub(super) neighbours_kept: f64,
    /// At each scale, the number of neighbours first.
    pub(super) kept_at: Vec<(usize, f64)>,
    pub(super) trustworthiness: Option<f64>,
    pub(super) label_share: Option<f64>,
}

/// What a sweep says.
pub(super) struct Advice {
    pub(super) trials: Vec<TrialSummary>,
    pub(super) perplexity: f64,
    pub(super) sentence: String,
}

/// The perplexities to try with so many rows, if any.
pub(super) fn perplexities(args: &QualityArgs, rows: usize) -> Option<Vec<f64>> {
    let most = (rows as f64 - 1.0) / 3.0;
    match (&args.perplexities[..], args.advice) {
        ([], false) => None,
        ([], true) => {
            let tried: Vec<f64> = TRIED.into_iter().filter(|perplexity| *perplexity <= most).collect();
            Some(if tried.is_empty() { vec![most.floor().max(1.0)] } else { tried })
        }
        (given, _) => Some(given.to_vec()),
    }
}

impl Advice {
    /// From at least one trial, for a map of this perplexity and so many distinct rows.
    pub(super) fn new(trials: &[PerplexityTrial], own: f64, rows: usize) -> Self {
        let fitted = trials.first().map_or(0, |trial| trial.quality.rows);
        let trials: Vec<TrialSummary> = trials.iter().map(TrialSummary::new).collect();
        let kept = trials.iter().map(|trial| trial.neighbours_kept).fold(0.0, f64::max);
        let is_equal = |trial: &&TrialSummary| trial.neighbours_kept >= kept - EQUAL;
        // Of those that are equally good the nearest to what the map has.
        let distance = |trial: &TrialSummary| (trial.perplexity / own).ln().abs();
        let best = trials.iter().filter(is_equal).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let perplexity = best.map_or(own, |best| best.perplexity);
        let sample = match fitted < rows {
            true => format!(
                " It was tried on {fitted} of {rows} rows: with all of them neighbours are nearer, and the same perplexity looks at finer structure."
            ),
            false => String::new(),
        };
        let keep = trials.iter().any(|trial| trial.perplexity == own && is_equal(&trial));
        let sentence = match (trials.len(), keep) {
            (1, _) => format!("Only perplexity {perplexity} was tried: give several to compare.{sample}"),
            (_, true) => format!(
                "Perplexity {own}, which the map has, keeps as many neighbours as any that was tried: leave it.{sample}"
            ),
            (_, false) => format!(
                "Perplexity {perplexity} keeps the most neighbours over all scales: try lion fit --perplexity {perplexity} and compare.{sample}"
            ),
        };
        Self { trials, perplexity, sentence }
    }
}

impl TrialSummary {
    fn new(trial: &PerplexityTrial) -> Self {
        let scales = &trial.quality.scales;
        let sum: f64 = scales.iter().map(|at| at.neighbours_kept.mean).sum();
        Self {
            perplexity: trial.perplexity,
            neighbours_kept: sum / scales.len().max(1) as f64,
            kept_at: scales.iter().map(|at| (at.neighbours, at.neighbours_kept.mean)).collect(),
            trustworthiness: scales.first().map(|at| at.trustworthiness.mean),
            label_share: trial.quality.label_share,
        }
    }
}
