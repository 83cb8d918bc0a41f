//! The map of 2500 digits and all that is placed into it: the paper's two tests, the sweeps, and what it does not have.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the two tests and the sweeps; the other sets are ours.

use super::calibration::{self, CalibrationCheck};
use super::contenders::{Entry, entries};
use super::error::{EvaluationError, Result};
use super::results::{CrowdedOutlier, GridSearch, MapFacts, Material, RocCurve};
use super::scores::{MapScorer, MethodScores, divergences};
use super::sets::{COMPONENTS, DigitSets, NOISE, NOISE_SEED};
use super::strangers::{self, StrangerDetection};
use super::sweeps::{self, GridCell, PowerSweep, RADII, WidthPoint};
use super::trial::{self, MethodTrial, TestSet};
use super::{EvaluationRun, Experiment};
use crate::digits::DigitImages;
use crate::{Contender, Estimate, JoinedKl, Judge, Network, letters, noise, strangers};
use lion_tsne::{
    Descent, Fit, Lion, LionOptions, Local, Map, Matrix, Observer, PcaChoice, Placement, Progress, Radius,
    Rows, Stage, Verdict, VerdictRule, ignore,
};
use std::collections::BTreeMap;
use std::time::Instant;

/// Letters drawn.
const LETTERS: usize = 500;
/// Rows of each set in a quick run.
const QUICK_ROWS: usize = 150;
/// Outliers in the figure of those that come together.
const CROWD: usize = 30;

/// What came of it.
pub(super) struct Tested {
    pub(super) source: String,
    pub(super) found: MapFindings,
    /// Nothing to draw if only the grid was asked for.
    pub(super) material: Option<Material>,
}

/// The numbers.
#[derive(Default)]
pub(super) struct MapFindings {
    pub(super) map: Option<MapFacts>,
    pub(super) baseline: Option<Estimate>,
    pub(super) methods: Vec<MethodScores>,
    pub(super) calibration: Option<CalibrationCheck>,
    pub(super) strangers: Vec<StrangerDetection>,
    pub(super) powers: Vec<PowerSweep>,
    pub(super) widths: Vec<WidthPoint>,
    pub(super) grid: Option<GridSearch>,
}

/// Fits the map and runs every part on it that was asked for.
pub(super) fn run(run: &mut EvaluationRun<'_>) -> Result<Tested> {
    let evaluation = run.evaluation;
    let sets = match &evaluation.mnist {
        Some(mnist) => DigitSets::sampled(mnist, evaluation.seed)?,
        None => DigitSets::embedded()?,
    };
    let source = sets.source.clone();
    let begun = Instant::now();
    let map = fit(&sets.training, evaluation.seed)?;
    let seconds = begun.elapsed().as_secs_f64();
    let grid = if evaluation.has(Experiment::Grid) { Some(grid(run, &map)?) } else { None };
    if ![Experiment::Cluster, Experiment::Outliers, Experiment::Others]
        .iter()
        .any(|&part| evaluation.has(part))
    {
        return Ok(Tested { source, found: MapFindings { grid, ..MapFindings::default() }, material: None });
    }
    let (tests, kept) = tests(run, &sets, &map)?;
    let tested = rows_of(&tests, "cluster");
    let scorer = MapScorer::new(&map, &sets.picked_for[..tested], &sets.cluster.labels[..tested])?;
    let powers = powers(run, &map, &scorer.judge, &tests)?;
    let widths = widths(run, &map, &scorer.judge, &tests)?;
    let global = powers
        .iter()
        .find(|powers| powers.percentile.is_none())
        .ok_or(EvaluationError::Missing("no power was validated"))?;
    let entries = entries(global.power, evaluation.epochs());
    let trials = trials(run, &entries, &map, &tests, "")?;
    let mut methods = Vec::new();
    for entry in &entries {
        methods.push(scorer.scores(entry, &trials[&entry.name()], &tests)?);
    }
    diverge(run, &map, &trials, &tests, &mut methods)?;
    let mut roc = roc_curves(&trials, "letters", "letters");
    let held_out = match evaluation.has(Experiment::Others) {
        true => Some(held_out(run, &sets, &entries, &mut methods, &mut roc)?),
        false => None,
    };
    let (calibration, kinds) = match evaluation.has(Experiment::Others) {
        true => (Some(calibration(run, &sets, &map)?), kinds(run, &sets, &map)?),
        false => (None, Vec::new()),
    };
    let baseline = (tested > 0).then(|| Estimate::of(&scorer.baseline));
    let map_facts = MapFacts {
        rows: map.rows(),
        columns: sets.training.pixels.cols(),
        components: map.x().cols(),
        perplexity: map.perplexity(),
        seconds,
        kl: JoinedKl::new(&map)?.own(),
        accuracy: 100.0 * scorer.judge.of_the_map()?,
        r_close: map.lion().map_or(f64::NAN, |lion| lion.r_close),
        r_y: map.lion().map_or(f64::NAN, |lion| lion.r_y),
        noise_drawn: NOISE,
        noise_kept: kept,
        noise_used: rows_of(&tests, "noise"),
        held_out,
    };
    let crowd = crowd(&map, &sets.training.pixels)?;
    let DigitSets { training, picked_for, .. } = sets;
    let material = Material { map, training, picked_for, entries, trials, sets: tests, roc, crowd };
    let found = MapFindings {
        map: Some(map_facts),
        baseline,
        methods,
        calibration,
        strangers: kinds,
        powers,
        widths,
        grid,
    };
    Ok(Tested { source, found, material: Some(material) })
}

pub(super) fn fit(digits: &DigitImages, seed: u64) -> Result<Map> {
    let fit = Fit {
        pca: PcaChoice::Components(COMPONENTS),
        // As the paper's maps were made.
        descent: Descent::Classic,
        seed,
        threads: rayon::current_num_threads(),
        ..Fit::default()
    };
    let rows = Rows { data: digits.pixels.clone(), ids: None, labels: Some(digits.labels.clone()) };
    Ok(fit.run(rows, &mut ignore)?)
}

/// The first rows, all of them unless the run is a quick one.
fn first(rows: &Matrix, labels: &[String], most: usize) -> (Matrix, Vec<String>) {
    let count = most.min(rows.rows());
    (rows.select(&(0..count as u32).collect::<Vec<u32>>()), labels[..count.min(labels.len())].to_vec())
}

/// The sets that the parts need; and how much of the noise is strange to the map.
fn tests(run: &EvaluationRun<'_>, sets: &DigitSets, map: &Map) -> Result<(Vec<TestSet>, usize)> {
    let evaluation = run.evaluation;
    let most = if evaluation.quick { QUICK_ROWS } else { usize::MAX };
    let mut tests = Vec::new();
    let mut add = |name, rows: &Matrix, labels: &[String]| {
        let (rows, labels) = first(rows, labels, most);
        tests.push(TestSet { name, rows, labels });
    };
    if evaluation.has(Experiment::Cluster) {
        add("cluster", &sets.cluster.pixels, &sets.cluster.labels);
    }
    let images = noise(sets.training.pixels.cols(), NOISE, NOISE_SEED);
    let strange = strangers(map, &images)?;
    if evaluation.has(Experiment::Outliers) {
        if strange.is_empty() {
            return Err(EvaluationError::Refused(format!(
                "none of {NOISE} images of noise is a stranger to this map, for a training digit is as isolated as they are: choose another --seed"
            )));
        }
        add("noise", &images.select(&strange), &[]);
    }
    if evaluation.has(Experiment::Others) {
        add("ordinary", &sets.ordinary.pixels, &sets.ordinary.labels);
        add("letters", &letters(LETTERS, 1), &[]);
    }
    Ok((tests, strange.len()))
}

fn rows_of(tests: &[TestSet], name: &str) -> usize {
    tests.iter().find(|set| set.name == name).map_or(0, |set| set.rows.rows())
}

/// Every method on every set. `of` tells maps apart.
fn trials(
    run: &mut EvaluationRun<'_>,
    entries: &[Entry],
    map: &Map,
    tests: &[TestSet],
    of: &str,
) -> Result<BTreeMap<String, MethodTrial>> {
    let evaluation = run.evaluation;
    let (seed, quick) = (evaluation.seed, evaluation.quick);
    let names: Vec<&str> = tests.iter().map(|set| set.name).collect();
    let mut trials = BTreeMap::new();
    for entry in entries {
        let name = entry.name();
        let stage = format!("{of}{name} on {}", names.join(", "));
        let tried = |observer: &mut Observer<'_>| trial::run(entry, map, tests, seed, observer);
        let trial = run.stages.stage(&stage, entry.expected(quick), |observer| tried(observer))?;
        trials.insert(name, trial);
    }
    Ok(trials)
}

/// Adds the KL divergences of N + 1 points to what is said of methods.
fn diverge(
    run: &mut EvaluationRun<'_>,
    map: &Map,
    trials: &BTreeMap<String, MethodTrial>,
    tests: &[TestSet],
    methods: &mut [MethodScores],
) -> Result<()> {
    for set in tests.iter().filter(|set| ["cluster", "noise"].contains(&set.name)) {
        let expected = set.rows.rows() as f64 * 0.03;
        let stage = format!("KL of N + 1 on {}", set.name);
        let names = trials.keys().cloned().collect::<Vec<String>>().join(", ");
        let means = run.stages.stage_of(&stage, &names, expected, |observer| {
            let observer = std::sync::Mutex::new(observer);
            divergences(map, trials, set, &|done, total| {
                if let Ok(mut observer) = observer.lock() {
                    let _ = observer(&Progress::of(Stage::Build, done, total));
                }
            })
        })?;
        for method in methods.iter_mut() {
            let mean = means.get(&method.method).copied();
            match set.name {
                "cluster" => method.cluster.iter_mut().for_each(|cluster| cluster.kl = mean),
                _ => method.outliers.iter_mut().for_each(|outliers| outliers.kl = mean),
            }
        }
    }
    for method in methods {
        if let Some(own) = trials.get(&method.method).and_then(|trial| trial.own_places.as_ref()) {
            let places = Matrix::new(own.len() / 2, 2, own.clone())?;
            method.own_kl = Some(JoinedKl::new(&map.with_places(places)?)?.own());
        }
    }
    Ok(())
}

/// Fits the map again without one kind of digit and lets every method place that kind. Returns the kind and how many
/// there were of it.
fn held_out(
    run: &mut EvaluationRun<'_>,
    sets: &DigitSets,
    entries: &[Entry],
    methods: &mut [MethodScores],
    curves: &mut Vec<RocCurve>,
) -> Result<(String, usize)> {
    let evaluation = run.evaluation;
    let kind = evaluation.held_out.to_string();
    let map = fit(&sets.training.of_kind(&kind, false), evaluation.seed)?;
    let most = if evaluation.quick { QUICK_ROWS } else { usize::MAX };
    let (strange, known) = (sets.training.of_kind(&kind, true), sets.ordinary.of_kind(&kind, false));
    let test = |name, digits: DigitImages| {
        let (rows, labels) = first(&digits.pixels, &digits.labels, most);
        TestSet { name, rows, labels }
    };
    let tests = [test("held out", strange), test("ordinary", known)];
    let trials = trials(run, entries, &map, &tests, &format!("without {kind}: "))?;
    curves.extend(roc_curves(&trials, "held out", &format!("digit {kind}")));
    let scorer = MapScorer::new(&map, &[], &[])?;
    for (entry, method) in entries.iter().zip(methods) {
        method.held_out = scorer.scores(entry, &trials[&entry.name()], &tests)?.held_out;
    }
    Ok((kind, tests[0].rows.rows()))
}

/// What either rule promises of ordinary digits, and what is observed. All of them even in a quick run: it takes no time.
fn calibration(run: &mut EvaluationRun<'_>, sets: &DigitSets, map: &Map) -> Result<CalibrationCheck> {
    run.stages.stage("calibration", 0.5, |_| calibration::measure(map, &sets.ordinary.pixels))
}

/// Strangers of every kind: noise, letters, and each digit in turn in a map that was fitted without it; in a quick run
/// two digits.
fn kinds(run: &mut EvaluationRun<'_>, sets: &DigitSets, map: &Map) -> Result<Vec<StrangerDetection>> {
    let evaluation = run.evaluation;
    let (seed, ordinary) = (evaluation.seed, &sets.ordinary);
    let mut kinds = Vec::new();
    for (name, rows) in
        [("noise", noise(sets.training.pixels.cols(), NOISE, NOISE_SEED)), ("letters", letters(LETTERS, 1))]
    {
        let stage = format!("strangers: {name}");
        let detect = || strangers::detect(name, map, &rows, &ordinary.pixels);
        kinds.push(run.stages.stage(&stage, 0.2, |_| detect())?);
    }
    let mut digits: Vec<u8> = match evaluation.quick {
        // A 1 is the digit that no score finds.
        true => vec![1, evaluation.held_out],
        false => (0..10).collect(),
    };
    digits.dedup();
    for digit in digits {
        let kind = digit.to_string();
        let name = format!("digit {digit}, held out");
        let detect = || {
            let map = fit(&sets.training.of_kind(&kind, false), seed)?;
            let (strange, known) = (sets.training.of_kind(&kind, true), ordinary.of_kind(&kind, false));
            strangers::detect(&name, &map, &strange.pixels, &known.pixels)
        };
        kinds.push(run.stages.stage(&format!("strangers: {name}"), 2.0, |_| detect())?);
    }
    Ok(kinds)
}

/// What thresholds on LION's score find of a set of strangers, calibrated and by the paper's distance alone.
fn roc_curves(trials: &BTreeMap<String, MethodTrial>, set: &str, words: &str) -> Vec<RocCurve> {
    let of = |(verdict, rule): (VerdictRule, &str)| {
        let contender = Contender::Lion { percentile: 99.0, local: Local::Energy, verdict };
        let trial = trials.get(&contender.to_string())?;
        let scores = |set: &str| -> Option<Vec<f64>> {
            let mut scores: Vec<f64> =
                trial.landed.get(set)?.said.as_ref()?.iter().map(|said| said.score).collect();
            scores.sort_by(f64::total_cmp);
            Some(scores)
        };
        let (strange, known) = (scores(set)?, scores("ordinary")?);
        let percent = |scores: &[f64], at: f64| {
            100.0 * scores.partition_point(|score| *score <= at) as f64 / scores.len().max(1) as f64
        };
        let thresholds = (0..=100).map(|i| f64::from(i) / 100.0);
        let points = thresholds.map(|at| [percent(&known, at), percent(&strange, at)]);
        Some(RocCurve {
            name: format!("{words}, {rule}"),
            points: points.collect(),
            dashed: verdict == VerdictRule::Paper,
        })
    };
    let rules = [(VerdictRule::Calibrated, "calibrated"), (VerdictRule::Paper, "distance alone")];
    rules.into_iter().filter_map(of).collect()
}

/// The cross-validation at each radius, and powers against accuracy.
fn powers(
    run: &mut EvaluationRun<'_>,
    map: &Map,
    judge: &Judge,
    tests: &[TestSet],
) -> Result<Vec<PowerSweep>> {
    let evaluation = run.evaluation;
    let tried: Vec<f64> = match evaluation.quick {
        true => vec![1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0],
        false => (1..=20).chain((22..=50).step_by(2)).map(f64::from).collect(),
    };
    let cluster = tests.iter().find(|set| set.name == "cluster");
    let mut all = Vec::new();
    for percentile in RADII {
        let words = percentile.map_or("all rows".into(), |percentile| format!("{percentile}%"));
        let with = if cluster.is_some() { " with accuracies" } else { "" };
        let stage = format!("powers within {words}{with}");
        let found =
            run.stages.stage(&stage, 2.0, |_| sweeps::powers(map, percentile, &tried, judge, cluster))?;
        all.push(found);
    }
    Ok(all)
}

/// Kernelized t-SNE by the width of its kernels.
fn widths(
    run: &mut EvaluationRun<'_>,
    map: &Map,
    judge: &Judge,
    tests: &[TestSet],
) -> Result<Vec<WidthPoint>> {
    let evaluation = run.evaluation;
    let set = |name: &str| tests.iter().find(|set| set.name == name);
    let (cluster, noise) = (set("cluster"), set("noise"));
    if cluster.is_none() && noise.is_none() {
        return Ok(Vec::new());
    }
    let tried: Vec<f64> = match evaluation.quick {
        true => vec![0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0],
        false => [0.01, 0.02, 0.03, 0.04]
            .into_iter()
            .chain((1..=20).map(|i| 0.05 * f64::from(i)))
            .chain((11..=20).map(|i| 0.1 * f64::from(i)))
            .map(|width: f64| (1000.0 * width).round() / 1000.0)
            .collect(),
    };
    let sets: Vec<&str> = [cluster, noise].into_iter().flatten().map(|set| set.name).collect();
    let stage = format!("widths of kernels on {}", sets.join(", "));
    run.stages.stage(&stage, 0.8 * tried.len() as f64, |observer| {
        sweeps::widths(map, &tried, judge, cluster, noise, observer)
    })
}

/// The grid search, one stage for each size of network.
fn grid(run: &mut EvaluationRun<'_>, map: &Map) -> Result<GridSearch> {
    let evaluation = run.evaluation;
    let (seed, epochs) = (evaluation.seed, evaluation.grid_epochs);
    let all = Network::grid(epochs);
    let mut cells: Vec<GridCell> = Vec::new();
    for networks in all.chunk_by(|a, b| (a.layers, a.nodes) == (b.layers, b.nodes)) {
        let Network { layers, nodes, .. } = networks[0];
        let weights = (layers - 1) * nodes * nodes + 32 * nodes;
        let expected = (networks.len() * epochs * weights) as f64 * 2000.0 * 6.0 / 1e11;
        let stage = format!("grid search, {layers} x {nodes}, {epochs} epochs");
        let found = |observer: &mut Observer<'_>| sweeps::grid(map, networks, seed, observer);
        cells.extend(run.stages.stage(&stage, expected, |observer| found(observer))?);
    }
    Ok(GridSearch { epochs, cells })
}

/// Rows far from every digit and from each other, placed all at once as in the paper's figure: a digit plus three times
/// the difference of two others.
fn crowd(map: &Map, pixels: &Matrix) -> Result<Vec<CrowdedOutlier>> {
    let count = pixels.rows();
    let row = |i: usize| {
        let [a, b, c] = [7 * i, 11 * i + 1, 13 * i + 2].map(|at| pixels.row(at % count));
        a.iter().zip(b).zip(c).map(|((a, b), c)| a + 3.0 * (b - c)).collect::<Vec<f32>>()
    };
    let rows = Matrix::new(CROWD, pixels.cols(), (0..CROWD).flat_map(row).collect())?;
    // As in the paper's figure: no safety margin around a position.
    let options = LionOptions {
        r_y: Some(Radius::Value(largest_gap(map))),
        verdict: Some(VerdictRule::Paper),
        threads: rayon::current_num_threads(),
        ..LionOptions::default()
    };
    let placements = Lion::new(map.clone(), &options)?.place(&rows)?;
    let crowded = |placement: &Placement| CrowdedOutlier {
        at: [placement.place[0], placement.place[1]],
        outlier: placement.verdict == Verdict::Outlier,
    };
    Ok(placements.iter().map(crowded).collect())
}

/// 100 % of NN-Y.
fn largest_gap(map: &Map) -> f64 {
    let gaps = map.lion().map(|lion| lion.nn_y()).unwrap_or_default();
    gaps.iter().copied().fold(0.0, |most, gap| f64::from(gap).max(most))
}
