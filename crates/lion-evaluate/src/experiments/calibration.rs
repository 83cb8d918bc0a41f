//! What the verdict promises, and what is observed: of ordinary digits that the map has never seen, how many are called
//! outliers.
//!
//! Ours; the paper has no such test.

use super::error::{EvaluationError, Result};
use super::figures::{axis, chart, figure, line};
use super::sweeps;
use super::tables::{cell, head, judged, name_head};
use crate::Contender;
use lion_report::{Axis, DocumentBlock, ReportRow, ReportTable, Series, Stroke, panel};
use lion_tsne::lion::Resolved;
use lion_tsne::{Lion, LionOptions, Local, Map, Matrix, Placement, Verdict, VerdictRule};
use serde::{Deserialize, Serialize};

/// The promises of the table, in percent.
const PROMISED: [f64; 3] = [1.0, 5.0, 10.0];
/// As far as the curve is zoomed in, in percent.
const ZOOM: f64 = 10.0;
/// Standard errors that hold 95 of 100 samples.
const ERRORS: f64 = 1.96;

/// Shares of ordinary digits, in percent.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CalibrationCheck {
    /// Ordinary digits that were placed.
    pub(crate) rows: usize,
    /// Rows of the map that calibrate it.
    pub(crate) calibrating: usize,
    /// Promised and observed, all the way.
    pub(crate) curve: Vec<[f64; 2]>,
    /// The calibrated verdict at 1, 5 and 10 %.
    pub(crate) calibrated: Vec<Rate>,
    /// The paper's rule, its percentile read as a promise.
    pub(crate) paper: Vec<RateAtRadius>,
}

/// What was promised, what was observed, and by how much chance may part them.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub(crate) promised: f64,
    pub(crate) observed: f64,
    /// The standard error of what is observed where the promise is kept.
    pub(crate) standard_error: f64,
}

/// The paper's rule at one radius.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RateAtRadius {
    pub(crate) percentile: f64,
    #[serde(flatten)]
    pub(crate) rate: Rate,
}

impl Rate {
    /// Whether chance explains the difference, 19 times of 20.
    pub(crate) fn is_kept(&self) -> bool {
        (self.observed - self.promised).abs() <= ERRORS * self.standard_error
    }
}

/// The calibrated verdict of a map. Places do not matter here, so they are had by the cheapest rule.
pub(super) fn calibrated(map: &Map) -> Result<Lion> {
    let options = LionOptions {
        local: Local::Idw,
        power: Some(1.0),
        verdict: Some(VerdictRule::Calibrated),
        threads: rayon::current_num_threads(),
        ..LionOptions::default()
    };
    Ok(Lion::new(map.clone(), &options)?)
}

/// What is said of rows.
pub(super) fn said(lion: &Lion, rows: &Matrix) -> Result<Vec<Placement>> {
    let placement = |settled: Resolved| match settled {
        Resolved::Placed(placement) => placement,
        Resolved::Outlier(stranger) => stranger.placement().clone(),
    };
    Ok(lion.resolve(rows)?.into_iter().map(placement).collect())
}

/// Percent called outliers, those beside an outlier of the map among them.
pub(super) fn called(said: &[Placement]) -> f64 {
    let strange =
        |placement: &&Placement| matches!(placement.verdict, Verdict::Outlier | Verdict::BesideOutlier);
    100.0 * said.iter().filter(strange).count() as f64 / said.len().max(1) as f64
}

/// Holds ordinary digits against what either rule promises of them.
pub(crate) fn measure(map: &Map, ordinary: &Matrix) -> Result<CalibrationCheck> {
    let calibrating =
        map.calibration_facts().ok_or(EvaluationError::Missing("the map is not calibrated"))?.rows;
    let mut scores: Vec<f64> =
        said(&calibrated(map)?, ordinary)?.iter().map(|placement| placement.score).collect();
    scores.sort_by(f64::total_cmp);
    let rate = |promised: f64, observed: f64| Rate {
        promised,
        observed,
        standard_error: standard_error(promised, scores.len(), calibrating),
    };
    let mut paper = Vec::new();
    for percentile in Contender::RADII {
        let observed = called(&said(&sweeps::lion(map, Some(percentile))?, ordinary)?);
        paper.push(RateAtRadius { percentile, rate: rate(100.0 - percentile, observed) });
    }
    Ok(CalibrationCheck {
        rows: scores.len(),
        calibrating,
        curve: curve(&scores, calibrating),
        calibrated: PROMISED.map(|promised| rate(promised, observed(&scores, promised / 100.0))).into(),
        paper,
    })
}

/// Percent of ascending scores at or below alpha.
fn observed(scores: &[f64], alpha: f64) -> f64 {
    // A score is a multiple of 1 / (N + 1) up to rounding.
    let alpha = alpha * (1.0 + 1e-12);
    100.0 * scores.partition_point(|score| *score <= alpha) as f64 / scores.len().max(1) as f64
}

/// Promised against observed: in small steps where alphas are, then in steps of a hundredth.
fn curve(scores: &[f64], calibrating: usize) -> Vec<[f64; 2]> {
    let steps = calibrating + 1;
    let promise = |k: usize| k as f64 / steps as f64;
    let (fine, coarse) = (steps.div_ceil(1000), steps.div_ceil(100));
    let zoomed = (0..).step_by(fine).take_while(|&k| 100.0 * promise(k) <= ZOOM);
    let last = zoomed.clone().last().unwrap_or(0);
    let rest = (last + coarse..steps).step_by(coarse).chain([steps]);
    zoomed.chain(rest).map(|k| [100.0 * promise(k), observed(scores, promise(k))]).collect()
}

/// By how much chance moves the share that is observed: through the rows that are tested, and through those that calibrate.
fn standard_error(promised: f64, rows: usize, calibrating: usize) -> f64 {
    let p = (promised / 100.0).clamp(0.0, 1.0);
    100.0 * (p * (1.0 - p) * (1.0 / rows.max(1) as f64 + 1.0 / calibrating.max(1) as f64)).sqrt()
}

/// The chapter.
pub(crate) fn chapter(found: &CalibrationCheck) -> Result<Vec<DocumentBlock>> {
    Ok(vec![
        DocumentBlock::Heading { level: 2, text: "Calibration".into(), id: "calibration".into() },
        DocumentBlock::Text(format!(
            "This program calls a row an outlier if its score, a p-value, is at most alpha: of rows like the map's own, a share alpha should be called so, whatever alpha is. Here {} ordinary digits that the map has never seen are held against that promise. The paper's rule calls a row an outlier if fewer than two rows are within r_x, which is a percentile of the distances between nearest rows: read as a promise, 99 % is 1 % of outliers.",
            found.rows
        )),
        plot(found)?,
        DocumentBlock::Table(table(found)),
        DocumentBlock::Text(conclusion(found)),
    ])
}

fn plot(found: &CalibrationCheck) -> Result<DocumentBlock> {
    let drawn = |title: &str, end: f64| {
        let inside = |point: &&[f64; 2]| point[0] <= end;
        let paper: Vec<[f64; 2]> =
            found.paper.iter().map(|at| [at.rate.promised, at.rate.observed]).collect();
        let highest = paper.iter().map(|point| point[1]).fold(end, f64::max);
        let percent = |label: &str, end: f64| Axis { range: Some([0.0, end]), ..axis(label) };
        let series = vec![
            band(found, end),
            Series {
                name: "promise kept".into(),
                points: vec![[0.0, 0.0], [end, end]],
                style: Stroke::Dashed,
                reference: true,
            },
            line("calibrated verdict", found.curve.iter().filter(inside).copied().collect(), Stroke::Line),
            line("paper's rule, r_x at 90, 95, 99, 100 %", paper, Stroke::Points),
        ];
        let top = if end < 100.0 { (highest / 2.0).ceil() * 2.0 } else { 100.0 };
        chart(title, percent("promised, %", end), percent("called outliers, %", top), series)
    };
    Ok(figure(
        "calibration",
        panel("", &[drawn("Where alphas are", ZOOM)?, drawn("Whole", 100.0)?], 2)?,
        &format!(
            "The share of ordinary digits that is called outliers against the share that was promised. Grey: where 95 of 100 samples of {} digits would be if the promise is kept by a map that {} rows calibrate.",
            found.rows, found.calibrating
        ),
        "Two charts: a curve along the diagonal, and four points of the paper's rule",
    ))
}

/// There along its upper edge, back along its lower one.
fn band(found: &CalibrationCheck, end: f64) -> Series {
    let edge = |side: f64| {
        (0..=100).map(move |i| {
            let promised = f64::from(i) / 100.0 * end;
            let error = standard_error(promised, found.rows, found.calibrating);
            [promised, (promised + side * ERRORS * error).clamp(0.0, 100.0)]
        })
    };
    let back: Vec<[f64; 2]> = edge(-1.0).collect();
    Series {
        name: "95 % of samples".into(),
        points: edge(1.0).chain(back.into_iter().rev()).collect(),
        style: Stroke::Area,
        reference: true,
    }
}

fn table(found: &CalibrationCheck) -> ReportTable {
    let mut heads = vec![name_head("promised")];
    for group in ["calibrated verdict", "paper's rule"] {
        heads.push(head("observed, %", "ordinary digits called outliers", group));
        heads.push(head("observed / promised", "1 is a promise kept", group));
    }
    heads.push(head("standard error, %", "of what is observed where the promise is kept", ""));
    let rows = found.calibrated.iter().map(|calibrated| {
        let paper = found.paper.iter().map(|at| at.rate).find(|rate| rate.promised == calibrated.promised);
        let mut cells = vec![cell(format!("{} %", calibrated.promised))];
        for rate in [Some(*calibrated), paper] {
            let Some(rate) = rate else {
                cells.extend([cell("–"), cell("–")]);
                continue;
            };
            cells.push(cell(format!("{:.2}", rate.observed)));
            cells.push(judged(format!("{:.2}", rate.observed / rate.promised), rate.is_kept()));
        }
        cells.push(cell(format!("{:.2}", calibrated.standard_error)));
        ReportRow { cells, emphasis: false }
    });
    let beyond = found.paper.iter().find(|at| at.percentile >= 100.0).map(|at| {
        format!(
            "With r_x at 100 %, the most isolated row's distance, the paper's rule calls {:.2} % outliers.",
            at.rate.observed
        )
    });
    ReportTable {
        caption: "Ordinary digits called outliers".into(),
        head: heads,
        rows: rows.collect(),
        notes: ["The paper's rule with r_x at 99, 95 and 90 %. Green: within 1.96 standard errors of the promise.".into()]
            .into_iter()
            .chain(beyond)
            .collect(),
    }
}

/// What the numbers say.
fn conclusion(found: &CalibrationCheck) -> String {
    let percents = |kept: bool, rates: &[Rate]| {
        let of = rates.iter().filter(|rate| rate.is_kept() == kept);
        of.map(|rate| format!("{}", rate.promised)).collect::<Vec<_>>().join(", ")
    };
    let rule = |rates: &[Rate]| match (percents(true, rates).as_str(), percents(false, rates).as_str()) {
        (all, "") => format!("keeps its promise at {all} %, as far as so many digits can tell"),
        ("", none) => format!("does not keep its promise at {none} %"),
        (some, others) => format!("keeps its promise at {some} %, and does not at {others} %"),
    };
    let paper: Vec<Rate> =
        found.paper.iter().rev().map(|at| at.rate).filter(|rate| rate.promised > 0.0).collect();
    format!(
        "The calibrated verdict {}. The paper's rule, read as a promise, {}: it asks for a second neighbour within a percentile of the distances to the first.",
        rule(&found.calibrated),
        rule(&paper)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_without_a_pattern_lie_on_the_diagonal() {
        let scores: Vec<f64> = (1..=1000).map(|i| f64::from(i) / 1000.0).collect();
        assert_eq!(
            [0.0, 1.0, 5.0, 10.0, 100.0].map(|p| observed(&scores, p / 100.0)),
            [0.0, 1.0, 5.0, 10.0, 100.0]
        );
        let curve = curve(&scores, 999);
        assert_eq!((curve[0], curve[curve.len() - 1]), ([0.0, 0.0], [100.0, 100.0]));
        assert!(curve.windows(2).all(|two| two[0][0] < two[1][0] && two[0][1] <= two[1][1]));
        assert!(curve.iter().filter(|point| point[0] <= ZOOM).count() >= 90, "{}", curve.len());
        assert!(curve.iter().all(|point| (point[0] - point[1]).abs() < 1e-9), "{curve:?}");
    }

    #[test]
    fn chance_comes_from_both_sides() {
        // sqrt(0.01 * 0.99 / 1000) alone, and with as many rows that calibrate.
        assert!((standard_error(1.0, 1000, usize::MAX) - 0.314_64).abs() < 1e-4);
        assert!((standard_error(1.0, 1000, 1000) - 0.444_97).abs() < 1e-4);
        assert_eq!(standard_error(0.0, 1000, 1000), 0.0);
    }

    fn found(observed: [f64; 3], paper: [f64; 4]) -> CalibrationCheck {
        let rate = |promised: f64, observed| Rate {
            promised,
            observed,
            standard_error: standard_error(promised, 1000, 2500),
        };
        let radii = Contender::RADII.into_iter().zip(paper);
        CalibrationCheck {
            rows: 1000,
            calibrating: 2500,
            curve: vec![[0.0, 0.0], [10.0, 10.0], [100.0, 100.0]],
            calibrated: PROMISED.into_iter().zip(observed).map(|(p, o)| rate(p, o)).collect(),
            paper: radii
                .map(|(percentile, o)| RateAtRadius { percentile, rate: rate(100.0 - percentile, o) })
                .collect(),
        }
    }

    #[test]
    fn the_words_follow_from_the_numbers() {
        let words = conclusion(&found([1.2, 4.8, 11.0], [18.0, 9.0, 1.1, 0.0]));
        assert!(words.contains("verdict keeps its promise at 1, 5, 10 %, as far as"), "{words}");
        assert!(words.contains("keeps its promise at 1 %, and does not at 5, 10 %"), "{words}");
        let words = conclusion(&found([3.0, 9.0, 15.0], [18.0, 9.0, 3.0, 0.0]));
        assert!(words.contains("verdict does not keep its promise at 1, 5, 10 %"), "{words}");
    }

    #[test]
    fn the_chapter_has_a_plot_and_a_table_of_three_promises() {
        let found = found([1.2, 4.8, 11.0], [18.0, 9.0, 1.1, 0.0]);
        let blocks = chapter(&found).unwrap();
        assert!(
            blocks
                .iter()
                .any(|block| matches!(block, DocumentBlock::Figure { name, .. } if name == "calibration"))
        );
        let table = table(&found);
        assert!(table.rows.iter().all(|row| row.cells.len() == table.head.len()));
        let texts: Vec<&str> = table.rows[1].cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["5 %", "4.80", "0.96", "9.00", "1.80", "0.82"]);
    }
}
