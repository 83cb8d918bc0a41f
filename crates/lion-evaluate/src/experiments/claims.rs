//! Which of the paper's claims hold here: each is a rule over the numbers, and its sentence quotes them.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the claims; the rules are ours.

#[cfg(test)]
mod tests;

use super::complexity::{Timing, exponent};
use super::contenders::{Entry, MethodFamily, is_lion_of_the_paper};
use super::figures::points;
use super::results::{ClaimOutcome, LargeTest, Results};
use super::scores::MethodScores;
use crate::{Contender, Estimate};

/// Points of accuracy within which methods tie.
const TIE: f64 = 0.5;

/// The methods with what was found of them.
struct ScoredMethods<'a> {
    all: Vec<(&'a Entry, &'a MethodScores)>,
}

impl<'a> ScoredMethods<'a> {
    fn of(&self, family: MethodFamily) -> Vec<&'a MethodScores> {
        self.all.iter().filter(|(entry, _)| entry.family == family).map(|(_, found)| *found).collect()
    }

    fn shown(&self, family: MethodFamily) -> Option<&'a MethodScores> {
        self.all.iter().find(|(entry, _)| entry.family == family && entry.shown).map(|(_, found)| *found)
    }

    fn named(&self, name: &str) -> Option<&'a MethodScores> {
        self.all.iter().find(|(_, found)| found.method == name).map(|(_, found)| *found)
    }

    fn lion(&self, percentile: f64) -> Option<&'a MethodScores> {
        let is_it =
            |(entry, _): &&(&Entry, &MethodScores)| is_lion_of_the_paper(&entry.contender, percentile);
        self.all.iter().find(is_it).map(|(_, found)| *found)
    }

    /// Those of the paper.
    fn published(&self) -> impl Iterator<Item = (&'a Entry, &'a MethodScores)> {
        self.all.iter().copied().filter(|(entry, _)| entry.published.is_some())
    }
}

/// Every claim that the parts done can be held against.
pub(crate) fn claims(results: &Results, entries: &[Entry]) -> Vec<ClaimOutcome> {
    let of = |entry: &'_ Entry| results.of(&entry.name());
    let found = ScoredMethods { all: entries.iter().filter_map(|entry| Some((entry, of(entry)?))).collect() };
    let mut claims: Vec<ClaimOutcome> = [
        best_accuracy(&found, results.baseline),
        close_start(&found),
        lower(&found, results.baseline, MethodFamily::Rbf, "RBF interpolation"),
        networks(&found, results),
        chance(&found),
        random_start(&found),
        new_sigma(&found),
        small_radius(&found),
        robust_power(results),
        validated_power(results),
        window(results),
        only_lion_apart(&found),
        far_apart(&found),
    ]
    .into_iter()
    .flatten()
    .collect();
    claims.extend(slowest(&found));
    claims.extend(growth(&results.complexity));
    claims.extend(results.large.iter().flat_map(large));
    claims
}

fn claim(holds: bool, text: &str, evidence: String) -> Option<ClaimOutcome> {
    Some(ClaimOutcome { holds: Some(holds), claim: text.into(), evidence })
}

fn accuracy(found: &MethodScores) -> Option<f64> {
    Some(found.cluster?.accuracy.mean)
}

fn best_accuracy(found: &ScoredMethods<'_>, baseline: Option<Estimate>) -> Option<ClaimOutcome> {
    let (lion, idw) = (accuracy(found.lion(100.0)?)?, accuracy(found.shown(MethodFamily::Idw)?)?);
    let (best, of) = found
        .published()
        .filter_map(|(_, found)| Some((accuracy(found)?, &found.method)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    claim(
        (lion - idw).abs() <= TIE && best - lion.max(idw) <= TIE,
        "LION and inverse-distance weighting with a validated power tie for the best accuracy.",
        format!(
            "LION at 100 % {lion:.2} %, inverse-distance weighting {idw:.2} %, the best of the paper's methods {best:.2} % ({of}); baseline {:.2} %. A tie is {TIE} points.",
            baseline?.mean
        ),
    )
}

fn close_start(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let close: Vec<f64> = found
        .of(MethodFamily::Descent)
        .into_iter()
        .filter(|found| found.method.starts_with("gd-closest"))
        .filter_map(accuracy)
        .collect();
    let (least, most) = range(&close)?;
    let lion = accuracy(found.lion(100.0)?)?;
    claim(
        lion - least <= 1.0,
        "Gradient descent from the closest row's place comes near them (within a point).",
        format!("its four variants {least:.2} to {most:.2} %, LION at 100 % {lion:.2} %."),
    )
}

fn lower(
    found: &ScoredMethods<'_>,
    baseline: Option<Estimate>,
    family: MethodFamily,
    name: &str,
) -> Option<ClaimOutcome> {
    let baseline = baseline?.mean;
    let below: Vec<f64> =
        found.of(family).into_iter().filter_map(accuracy).map(|accuracy| baseline - accuracy).collect();
    let (least, most) = range(&below)?;
    claim(
        least >= 8.0 && most <= 22.0,
        &format!("{name}: 10 to 20 points below the baseline."),
        format!(
            "{least:.1} to {most:.1} points below our baseline of {baseline:.2} % (counted as holding from 8 to 22).",
        ),
    )
}

/// A quick run trains networks too briefly to judge them.
fn networks(found: &ScoredMethods<'_>, results: &Results) -> Option<ClaimOutcome> {
    let judged = lower(found, results.baseline, MethodFamily::Network, "Neural networks")?;
    Some(match results.run.quick {
        true => ClaimOutcome {
            holds: None,
            evidence: format!("not judged after {} epochs of the paper's 5000.", results.run.epochs),
            ..judged
        },
        false => judged,
    })
}

fn chance(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let idw = accuracy(found.named("idw p=1")?)?;
    claim(
        idw < 20.0,
        "Inverse-distance weighting with power 1 is near chance: everything lands at the middle.",
        format!("{idw:.2} %; chance is 10 %, counted as near below 20 %."),
    )
}

fn random_start(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let of = |name| accuracy(found.named(name)?);
    let (plain, exaggerated, close) = (of("gd-random")?, of("gd-random-ee")?, of("gd-closest")?);
    claim(
        close - plain > 20.0 && exaggerated > plain,
        "Gradient descent from a random start is caught in poor minima, and early exaggeration helps it.",
        format!("{plain:.2} %, with exaggeration {exaggerated:.2} %; from the closest row {close:.2} %."),
    )
}

fn new_sigma(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let mut pairs = Vec::new();
    for old in ["gd-closest", "gd-closest-ee", "gd-random", "gd-random-ee"] {
        let new = match old.strip_suffix("-ee") {
            Some(start) => format!("{start}-sigma-ee"),
            None => format!("{old}-sigma"),
        };
        pairs.push((found.named(old)?.cluster?.accuracy, found.named(&new)?.cluster?.accuracy));
    }
    // Descents from random starts end anywhere, so what two errors explain is no effect.
    let same = |(old, new): &(Estimate, Estimate)| {
        (old.mean - new.mean).abs() <= TIE.max(2.0 * old.error.hypot(new.error))
    };
    let changes: Vec<f64> = pairs.iter().map(|(old, new)| new.mean - old.mean).collect();
    claim(
        pairs.iter().all(same),
        "Computing the sigmas anew for each new row has no practical effect.",
        format!(
            "accuracy changes by {} points from the closest row, closest with exaggeration, random, random with exaggeration (none: {TIE} points, or two standard errors where those are more).",
            listed(&changes)
        ),
    )
}

fn small_radius(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let all: Option<Vec<f64>> =
        Contender::RADII.iter().map(|&percentile| accuracy(found.lion(percentile)?)).collect();
    let all = all?;
    claim(
        all.windows(2).all(|two| two[0] <= two[1]) && all[0] < all[3],
        "The smaller LION's radius, the lower its accuracy, for more digits are called outliers.",
        format!("{} % right at r_x of 90, 95, 99 and 100 %.", listed(&all)),
    )
}

fn robust_power(results: &Results) -> Option<ClaimOutcome> {
    let at = |percentile: Option<f64>, power: f64| {
        let powers = results.powers.iter().find(|powers| powers.percentile == percentile)?;
        powers.accuracy.iter().find(|point| point[0] == power).map(|point| point[1])
    };
    let (lion, idw) = (at(Some(99.0), 2.0)?, at(None, 2.0)?);
    let high = at(Some(99.0), 50.0)?;
    claim(
        lion > idw && high > lion,
        "LION is more robust to a wrong power than weighting over all rows, and too high a power harms less than too low a one.",
        format!("at p = 2 LION (99 %) {lion:.2} % and all rows {idw:.2} %; LION at p = 50 {high:.2} %."),
    )
}

fn validated_power(results: &Results) -> Option<ClaimOutcome> {
    let mut lost = Vec::new();
    for powers in results.powers.iter().filter(|powers| !powers.accuracy.is_empty()) {
        let best = powers.accuracy.iter().map(|point| point[1]).fold(0.0, f64::max);
        lost.push((best - powers.accuracy_of_power?).max(0.0));
    }
    let (_, most) = range(&lost)?;
    claim(
        most <= 1.0,
        "Leave-one-out finds a power that is good on the test (within a point of the best).",
        format!("it loses {} points to the best power tried, by radius.", listed(&lost)),
    )
}

fn window(results: &Results) -> Option<ClaimOutcome> {
    let accuracy = |low: f64, high: f64| {
        let widths = results.widths.iter().filter(|width| (low..=high).contains(&width.width));
        widths.filter_map(|width| width.accuracy).reduce(f64::max)
    };
    let (small, large) = (accuracy(0.0, 0.3)?, accuracy(1.0, 2.0)?);
    claim(
        small - large > 5.0,
        "Kernelized t-SNE is accurate for small K and loses beyond (by five points at least).",
        format!("best {small:.2} % for K up to 0.3, {large:.2} % from 1 to 2."),
    )
}

fn only_lion_apart(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let apart = |found: &MethodScores| found.outliers.map(|outliers| outliers.apart);
    let of_lion: Vec<f64> = found.of(MethodFamily::Lion).into_iter().filter_map(apart).collect();
    let (least, _) = range(&of_lion)?;
    let others = found.published().filter(|(entry, _)| entry.family != MethodFamily::Lion);
    let (most, of) = others
        .filter_map(|(_, found)| Some((apart(found)?, &found.method)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    claim(
        least == 100.0 && most < 100.0,
        "Only LION keeps every outlier at percentile 100, farther from all places than any place is from its nearest.",
        format!(
            "LION at its four radii at least {least:.1} % of the noise; of the others the most is {most:.1} % ({of}).",
        ),
    )
}

fn far_apart(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let distance = |found: &MethodScores| Some(found.outliers?.distance.mean);
    let lion = distance(found.lion(99.0)?)?;
    let others = found.published().filter(|(entry, _)| entry.family != MethodFamily::Lion);
    let mut others: Vec<(f64, &str)> =
        others.filter_map(|(_, found)| Some((distance(found)?, found.method.as_str()))).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let farther: Vec<String> = others
        .iter()
        .take_while(|(distance, _)| *distance > lion)
        .map(|(distance, of)| format!("{of} ({distance:.1})"))
        .collect();
    claim(
        farther.iter().all(|name| name.starts_with("rbf-quintic")),
        "LION puts outliers farther from everything than any method that keeps them near the plot (RBF with the quintic kernel throws them far outside).",
        match &farther[..] {
            [] => {
                format!("LION at 99 % {lion:.2}, the next {:.2} ({}).", others.first()?.0, others.first()?.1)
            }
            _ => format!("LION at 99 % {lion:.2}; farther: {}.", farther.join(", ")),
        },
    )
}

fn slowest(found: &ScoredMethods<'_>) -> Option<ClaimOutcome> {
    let time =
        |(entry, found): (&'_ Entry, &MethodScores)| (found.row_seconds, entry.family, found.method.clone());
    let all: Vec<(f64, MethodFamily, String)> = found.published().map(time).collect();
    let slowest = |of: &dyn Fn(MethodFamily) -> bool| {
        all.iter().filter(|(_, family, _)| of(*family)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (descent, _, of) = slowest(&|family| family == MethodFamily::Descent)?;
    let (other, _, of_other) = slowest(&|family| family != MethodFamily::Descent)?;
    claim(
        *descent > 2.0 * other,
        "Repeated gradient descent is by far the slowest way to place a row (twice as slow as any other at least).",
        format!(
            "{of} {:.3} ms for a row; the slowest of the others {:.3} ms ({of_other}).",
            1000.0 * descent,
            1000.0 * other
        ),
    )
}

fn growth(timings: &[Timing]) -> Option<ClaimOutcome> {
    let slope = |method: &str| exponent(&points(timings, method, true, false));
    let lion = slope("lion idw 99%")?;
    claim(
        lion <= 1.1,
        "LION's time for a row grows at most in proportion to the rows of the map.",
        format!("measured exponent {lion:.2}."),
    )
}

fn large(large: &LargeTest) -> Vec<ClaimOutcome> {
    let (own, radii) = (large.parametric.accuracy, &large.on_parametric.radii);
    let Some(last) = radii.last() else { return Vec::new() };
    let cleanly = radii.iter().all(|at| at.noise_percentile >= 100.0);
    let claims = [
        claim(
            (last.cross_validated - own).abs() <= 0.02,
            "On 60000 x 784, LION on parametric t-SNE's map is about as accurate as parametric t-SNE itself.",
            format!("LION at 100 % {:.4}, parametric t-SNE {own:.4} (about: 0.02).", last.cross_validated),
        ),
        claim(
            cleanly && large.parametric.noise_percentile < 90.0,
            "There, LION puts every image of noise apart, and parametric t-SNE puts noise among digits (below percentile 90).",
            format!(
                "mean percentile {:.1} with LION at 90 %, {:.1} with parametric t-SNE.",
                radii[0].noise_percentile, large.parametric.noise_percentile
            ),
        ),
        claim(
            radii.windows(2).all(|two| two[0].at_infinity <= two[1].at_infinity)
                && radii[0].at_infinity < last.at_infinity,
            "There, a smaller radius converges to a lower accuracy.",
            format!(
                "{} for p without bound.",
                listed4(&radii.iter().map(|at| at.at_infinity).collect::<Vec<_>>())
            ),
        ),
        claim(
            last.at_infinity > large.on_parametric.own_accuracy,
            "There, for a large radius the accuracy is better than that of the map's own digits.",
            format!(
                "{:.4} for p without bound at 100 %, {:.4} of the map's own digits.",
                last.at_infinity, large.on_parametric.own_accuracy
            ),
        ),
    ];
    claims.into_iter().flatten().collect()
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().reduce(f64::min)?;
    Some((least, values.iter().copied().fold(least, f64::max)))
}

fn listed(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.2}")).collect::<Vec<_>>().join(", ")
}

fn listed4(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(", ")
}
