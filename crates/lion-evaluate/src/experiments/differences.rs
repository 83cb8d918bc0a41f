//! Where our figures differ from the paper's by more than noise, and why, where that is known.
//!
//! Ours; the figures compared with are those of Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and
//! Exploring Dynamic High-Dimensional Datasets with LION-tSNE".

use super::contenders::{BASELINE, Entry, MethodFamily, NETWORKS};
use super::results::{ComparedFigure, PublishedDifference, Results};
use super::scores::MethodScores;
use crate::{Baseline, Epsilon, Estimate, Kernel, Network};

/// Rows of each of the paper's tests.
const ROWS_OF_THE_PAPER: f64 = 1000.0;
/// Standard errors beyond which a difference is no noise.
const ERRORS: f64 = 3.0;

/// Every figure of every method that differs by more than noise.
pub(crate) fn differences(results: &Results, entries: &[Entry]) -> Vec<PublishedDifference> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(found) = results.of(&entry.name()) else { continue };
        for (figure, ours, theirs) in figures(results, entry, found) {
            // The paper tells no errors: its own are taken to be what ours would be with as many rows.
            let error = ours.error * (1.0 + ours.count as f64 / ROWS_OF_THE_PAPER).sqrt();
            let difference = ours.mean - theirs;
            if difference.abs() > ERRORS * error {
                let (method, why) = (entry.name(), String::new());
                all.push(PublishedDifference { method, figure, difference, standard_error: error, why });
            }
        }
    }
    let whys: Vec<String> = all.iter().map(|one| why(one, entries, &all).to_owned()).collect();
    all.iter_mut().zip(whys).for_each(|(one, why)| one.why = why);
    all
}

/// The figures that both have.
fn figures(results: &Results, entry: &Entry, found: &MethodScores) -> Vec<(ComparedFigure, Estimate, f64)> {
    let Some(published) = entry.published else { return Vec::new() };
    let mut figures = Vec::new();
    if let Some(cluster) = found.cluster {
        figures.push((ComparedFigure::Accuracy, cluster.above_baseline, published.cluster[0] - BASELINE[0]));
        figures.push((ComparedFigure::Percentile, cluster.percentile, published.cluster[1]));
        let rise = rise(cluster.kl, own_kl(results, found));
        let theirs = 1000.0 * (published.cluster[2] - published_kl(entry));
        figures.extend(rise.map(|rise| (ComparedFigure::Kl, rise, theirs)));
    }
    if let Some(outliers) = found.outliers {
        figures.push((ComparedFigure::NoisePercentile, outliers.percentile, published.outliers[0]));
        figures.push((ComparedFigure::NoiseDistance, outliers.distance, published.outliers[1]));
    }
    figures
}

/// The KL divergence of the map that a method's is to be compared with: of a network, the map that it makes itself.
pub(crate) fn own_kl(results: &Results, found: &MethodScores) -> Option<f64> {
    found.own_kl.or(results.map.as_ref().map(|map| map.kl))
}

/// The same of the paper.
pub(crate) fn published_kl(entry: &Entry) -> f64 {
    let network = Network::PAPER.iter().position(|network| entry.name() == network.to_string());
    network.map_or(BASELINE[1], |at| NETWORKS[at])
}

/// How much the KL divergence of N + 1 points exceeds the map's own, in thousandths.
pub(crate) fn rise(kl: Option<Estimate>, own: Option<f64>) -> Option<Estimate> {
    let (kl, own) = (kl?, own?);
    Some(Estimate { mean: 1000.0 * (kl.mean - own), error: 1000.0 * kl.error, ..kl })
}

/// What is known of the cause. A cause is named only where something measured speaks for it.
fn why(one: &PublishedDifference, entries: &[Entry], all: &[PublishedDifference]) -> &'static str {
    let family = entries.iter().find(|entry| entry.name() == one.method).map(|entry| entry.family);
    match (one.figure, family) {
        (ComparedFigure::Accuracy, Some(MethodFamily::Rbf)) if twin_agrees(&one.method, all) => {
            "epsilon: with that of the paper's program (e=edges) instead of that in its text, the difference is gone"
        }
        (ComparedFigure::NoiseDistance, Some(MethodFamily::Lion)) => {
            "the paper's first version takes a random free position, this one the nearest; and the maps differ in size"
        }
        (ComparedFigure::NoiseDistance | ComparedFigure::Percentile | ComparedFigure::NoisePercentile, _) => {
            "unknown; distances depend on the map's size and density, which the paper does not tell"
        }
        _ => "unknown",
    }
}

/// Whether the same kernel with the other epsilon does not differ.
fn twin_agrees(method: &str, all: &[PublishedDifference]) -> bool {
    let twin = Kernel::ALL.iter().find_map(|&kernel| {
        let of = |epsilon| Baseline::Rbf { kernel, epsilon }.to_string();
        (kernel.has_width() && of(Epsilon::MeanDistance) == method).then(|| of(Epsilon::Edges))
    });
    twin.is_some_and(|twin| {
        !all.iter().any(|one| one.figure == ComparedFigure::Accuracy && one.method == twin)
    })
}
