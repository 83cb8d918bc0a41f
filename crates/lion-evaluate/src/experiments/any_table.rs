//! The experiments that make sense on any labelled table: what happens to rows that a map of it has not seen.
//!
//! A part of the rows is kept aside. A map is fitted to the others, and the rows kept aside are placed: in the paper's cluster
//! test and all of them, by LION and by methods that are quick to build; they get labels, beside k nearest neighbours; they are
//! held against what the verdict promises; and classes are left out of the map in turn, to see whether their rows are found.
//! Networks, the noise of the outlier test (images), the grid search and the large test are for digits alone.

mod document;
mod labels;

use super::calibration::{self, CalibrationCheck};
use super::error::{EvaluationError, Result};
use super::strangers::{self, StrangerDetection};
use super::write;
use super::{EvaluationObserver, machine};
use crate::{Baseline, ClusterTest, Contender, Estimate, Judge, OpenTsneStart, shuffled};
use labels::LabelScores;
use lion_report::Document;
use lion_tsne::quality::{Quality, QualityOptions};
use lion_tsne::{Fit, Map, Matrix, Rows, ignore};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The share of rows that the map is fitted to.
const TRAINING: f64 = 0.7;
/// Rows that the map is fitted to, and rows that are placed, at most; fewer for a quick look.
const MOST: [[usize; 2]; 2] = [[10_000, 3000], [2500, 1000]];
/// Rows at least: fewer do not make a map and a test.
const FEWEST: usize = 60;
/// Classes that are left out in turn, at most.
const LEFT_OUT: [usize; 2] = [6, 2];
/// Such a class has so many rows at least, and leaves so many others.
const FEWEST_OF_CLASS: usize = 10;
const FEWEST_OTHERS: usize = 30;

/// A labelled table to be evaluated on.
pub struct TableEvaluation {
    /// What it is called.
    pub name: String,
    /// Its rows; each needs a label.
    pub rows: Rows,
    /// Fewer rows, fewer classes.
    pub quick: bool,
    /// Everything random depends on it.
    pub seed: u64,
}

/// What was found, ready to be written.
pub struct TableReport {
    results: TableResults,
    document: Document,
}

/// The numbers: report.json.
#[derive(Serialize)]
pub(super) struct TableResults {
    pub(super) version: &'static str,
    pub(super) data: String,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) classes: usize,
    pub(super) training: usize,
    pub(super) tested: usize,
    pub(super) perplexity: f64,
    pub(super) quality: Vec<QualityAt>,
    pub(super) label_share: Option<f64>,
    /// How many rows the cluster test has; 0 if no row is close enough to one of the map.
    pub(super) cluster_rows: usize,
    pub(super) methods: Vec<MethodOnTable>,
    pub(super) labels: Vec<LabelScores>,
    pub(super) calibration: Option<CalibrationCheck>,
    pub(super) left_out: Vec<StrangerDetection>,
    pub(super) seed: u64,
    pub(super) quick: bool,
    pub(super) machine: String,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
pub(super) struct QualityAt {
    pub(super) neighbours: usize,
    pub(super) trustworthiness: f64,
    pub(super) continuity: f64,
    pub(super) neighbours_kept: f64,
}

/// A way of placing: the mean share of right labels among the ten places around a row.
#[derive(Serialize)]
pub(super) struct MethodOnTable {
    pub(super) name: String,
    pub(super) cluster: Option<Estimate>,
    pub(super) ordinary: Estimate,
    pub(super) microseconds: f64,
}

/// Rows with their labels.
struct LabelledRows {
    data: Matrix,
    labels: Vec<String>,
}

impl LabelledRows {
    fn of(rows: &Rows, labels: &[String], chosen: &[u32]) -> Self {
        let labels = chosen.iter().map(|&row| labels[row as usize].clone()).collect();
        Self { data: rows.data.select(chosen), labels }
    }

    fn select(&self, chosen: &[u32]) -> Self {
        let labels = chosen.iter().map(|&row| self.labels[row as usize].clone()).collect();
        Self { data: self.data.select(chosen), labels }
    }

    /// The numbers of the rows of this class, or of all others.
    fn of_class(&self, class: &str, is_of_it: bool) -> Vec<u32> {
        let numbers = (0..).zip(&self.labels).filter(|(_, label)| (*label == class) == is_of_it);
        numbers.map(|(number, _)| number).collect()
    }
}

impl TableEvaluation {
    /// Runs all experiments on the threads of the pool it is called in.
    pub fn run(&self, observer: &dyn EvaluationObserver) -> Result<TableReport> {
        let begun = Instant::now();
        let (training, test) = self.split()?;
        let stage = |name: &str| {
            observer.begin(name, Duration::ZERO);
            Instant::now()
        };
        let at = stage("fit");
        let map = self.fit(&training, None)?;
        observer.end("fit", at.elapsed());
        let at = stage("quality");
        let quality = Quality::new(&map, Some(&training.data), &QualityOptions::default())?;
        observer.end("quality", at.elapsed());
        let at = stage("methods");
        let (cluster_rows, methods) = self.methods(&map, &test)?;
        observer.end("methods", at.elapsed());
        let at = stage("labels");
        let labels = labels::measure(&map, &training.labels, &test.data, &test.labels)?;
        observer.end("labels", at.elapsed());
        let calibration = match map.calibration_facts() {
            Some(_) => Some(calibration::measure(&map, &test.data)?),
            None => None,
        };
        let at = stage("classes left out");
        let left_out = self.left_out(&training, &test)?;
        observer.end("classes left out", at.elapsed());
        let results = TableResults {
            version: env!("CARGO_PKG_VERSION"),
            data: self.name.clone(),
            rows: self.rows.data.rows(),
            columns: self.rows.data.cols(),
            classes: classes(&training.labels).len(),
            training: training.labels.len(),
            tested: test.labels.len(),
            perplexity: map.perplexity(),
            quality: quality.scales.iter().map(QualityAt::new).collect(),
            label_share: quality.label_share,
            cluster_rows,
            methods,
            labels,
            calibration,
            left_out,
            seed: self.seed,
            quick: self.quick,
            machine: machine(),
            seconds: begun.elapsed().as_secs_f64(),
        };
        Ok(TableReport { document: document::document(&results), results })
    }

    /// Rows for the map and rows to place, drawn at random.
    fn split(&self) -> Result<(LabelledRows, LabelledRows)> {
        let refuse = |problem: String| Err(EvaluationError::Refused(format!("{}: {problem}", self.name)));
        let Some(labels) = &self.rows.labels else {
            return refuse("the rows have no labels: name their column with --label".into());
        };
        let order = shuffled(self.rows.data.rows() as u32, self.seed);
        let order: Vec<u32> = order.into_iter().filter(|&row| !labels[row as usize].is_empty()).collect();
        if order.len() < FEWEST {
            return refuse(format!("{} rows have a label, and at least {FEWEST} are needed", order.len()));
        }
        let (training, test) = order.split_at((TRAINING * order.len() as f64) as usize);
        let [most_training, most_test] = MOST[usize::from(self.quick)];
        let of =
            |rows: &[u32], most: usize| LabelledRows::of(&self.rows, labels, &rows[..rows.len().min(most)]);
        let (training, test) = (of(training, most_training), of(test, most_test));
        if classes(&training.labels).len() < 2 {
            return refuse("all rows have the same label: there is nothing to tell apart".into());
        }
        Ok((training, test))
    }

    fn fit(&self, rows: &LabelledRows, iterations: Option<usize>) -> Result<Map> {
        let fit = Fit {
            iterations,
            exaggeration_iterations: iterations.map(|iterations| iterations / 3),
            seed: self.seed,
            threads: rayon::current_num_threads(),
            ..Fit::default()
        };
        let rows = Rows { data: rows.data.clone(), ids: None, labels: Some(rows.labels.clone()) };
        Ok(fit.run(rows, &mut ignore)?)
    }

    /// Every method that is quick to build, LION first, in the cluster test and on all rows kept aside.
    fn methods(&self, map: &Map, test: &LabelledRows) -> Result<(usize, Vec<MethodOnTable>)> {
        let judge = Judge::new(map)?;
        // In sparse data no row may be closer to one of the map than others of the map are.
        let cluster = ClusterTest::pick(map, &test.data, test.labels.len(), self.seed).ok();
        let cluster = cluster.map(|picked| test.select(&picked.rows));
        let mut methods = Vec::new();
        for contender in contenders(map) {
            let built = contender.build(map, self.seed, &mut ignore)?;
            let accuracy = |rows: &LabelledRows| -> Result<Estimate> {
                let placed = built.place_alone(&rows.data)?;
                Ok(Estimate::of(&judge.shares(&placed.places, &rows.labels)?))
            };
            let begun = Instant::now();
            let ordinary = accuracy(test)?;
            let microseconds = 1e6 * begun.elapsed().as_secs_f64() / test.labels.len().max(1) as f64;
            let cluster = cluster.as_ref().map(accuracy).transpose()?;
            methods.push(MethodOnTable { name: contender.to_string(), cluster, ordinary, microseconds });
        }
        Ok((cluster.map_or(0, |rows| rows.labels.len()), methods))
    }

    /// Classes in turn as if the map had never heard of them.
    fn left_out(&self, training: &LabelledRows, test: &LabelledRows) -> Result<Vec<StrangerDetection>> {
        let mut found = Vec::new();
        let fits = |class: &&String| {
            let of_class = training.of_class(class, true).len();
            of_class >= FEWEST_OF_CLASS && training.labels.len() - of_class >= FEWEST_OTHERS
        };
        let all = classes(&training.labels);
        for class in all.iter().filter(fits).take(LEFT_OUT[usize::from(self.quick)]) {
            // Verdicts depend on rows, not on places: a few iterations do.
            let map = self.fit(&training.select(&training.of_class(class, false)), Some(30))?;
            let strange = test.select(&test.of_class(class, true));
            let ordinary = test.select(&test.of_class(class, false));
            if strange.labels.is_empty() || ordinary.labels.is_empty() || map.calibration_facts().is_none() {
                continue;
            }
            found.push(strangers::detect(class, &map, &strange.data, &ordinary.data)?);
        }
        Ok(found)
    }
}

/// The different labels, the most frequent first.
fn classes(labels: &[String]) -> Vec<String> {
    let mut sorted: Vec<&String> = labels.iter().collect();
    sorted.sort_unstable();
    let mut counts: Vec<(usize, &String)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal.len(), equal[0])).collect();
    counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    counts.into_iter().map(|(_, label)| label.clone()).collect()
}

/// LION as it is here and as the paper has it, and what is quick to build.
fn contenders(map: &Map) -> Vec<Contender> {
    let power = map.lion().map_or(20.0, |lion| lion.power);
    vec![
        Contender::lion_of_today()[2],
        Contender::lion_of_the_paper()[2],
        Contender::Other(Baseline::Idw { power }),
        Contender::Other(Baseline::OpenTsne { start: OpenTsneStart::ALL[0] }),
        Contender::Other(Baseline::FixedPoint),
    ]
}

impl QualityAt {
    fn new(at: &lion_tsne::quality::ScaleQuality) -> Self {
        Self {
            neighbours: at.neighbours,
            trustworthiness: at.trustworthiness.mean,
            continuity: at.continuity.mean,
            neighbours_kept: at.neighbours_kept.mean,
        }
    }
}

impl TableReport {
    /// Rows that were placed, and seconds that it took.
    pub fn tested(&self) -> (usize, f64) {
        (self.results.tested, self.results.seconds)
    }

    /// The accuracy of the labels that new rows got by LION, and the expected calibration error of their shares.
    pub fn label_accuracy(&self) -> Option<(f64, f64)> {
        self.results.labels.first().map(|scores| (scores.accuracy.mean, scores.calibration_error))
    }

    /// Writes report.html and report.json, each whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write::make_folder(folder)?;
        write::replace(&folder.join("report.json"), &serde_json::to_vec_pretty(&self.results)?)?;
        write::replace(&folder.join("report.html"), self.document.html()?.as_bytes())
    }
}
