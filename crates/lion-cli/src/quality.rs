//! `lion quality`: how well a map keeps what its rows are like.

mod advice;
mod words;

use crate::args::{Common, QualityArgs};
use crate::files::Files;
use crate::interrupt::Interrupt;
use crate::output;
use crate::place::{self, Gaps};
use crate::progress::Screen;
use advice::{Advice, TrialSummary};
use anyhow::{Context, Result, ensure};
use lion_table::Table;
use lion_tsne::quality::{
    Quality, QualityOptions, RefitOptions, SeedStability, perplexity_trials, seed_stability,
};
use lion_tsne::{Map, Matrix};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Instant;
use words::Sentences;

/// The JSON object. The numbers at the top are those of the first scale.
#[derive(Serialize)]
struct QualitySummary {
    map: String,
    rows: usize,
    /// Rows that differ from each other: equal ones share a place, and count once.
    distinct_rows: usize,
    /// How many of those were asked.
    asked: usize,
    /// In which columns neighbours were looked for.
    by: &'static str,
    trustworthiness: Option<f64>,
    continuity: Option<f64>,
    neighbours_kept: Option<f64>,
    label_share: Option<f64>,
    label_share_of_rows: Option<f64>,
    label_share_by_chance: Option<f64>,
    kl: Option<f64>,
    scales: Vec<ScaleSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<StabilitySummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perplexities: Option<Vec<TrialSummary>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advised_perplexity: Option<f64>,
    sentences: Sentences,
    seconds: f64,
}

/// The numbers at one scale; errors are 0 where all rows were asked.
#[derive(Serialize)]
struct ScaleSummary {
    neighbours: usize,
    trustworthiness: f64,
    trustworthiness_error: f64,
    continuity: f64,
    continuity_error: f64,
    neighbours_kept: f64,
    neighbours_kept_error: f64,
}

#[derive(Serialize)]
struct StabilitySummary {
    fits: usize,
    rows: usize,
    shared: f64,
    shared_with_map: Option<f64>,
}

/// Asks and prints.
pub(crate) fn run(args: &QualityArgs, common: &Common) -> Result<()> {
    let begun = Instant::now();
    let screen = Screen::new(common);
    Interrupt::install_ending(&screen, "stopped: nothing was changed")?;
    let map = Map::load(&args.map)?;
    let rows = args.rows.is_some().then(|| rows(args, &map, &screen)).transpose()?;
    let options = QualityOptions {
        seed: common.seed,
        threads: usize::from(common.threads),
        ..QualityOptions::default()
    };
    let in_map = || args.map.display().to_string();
    let quality = Quality::new(&map, rows.as_ref(), &options).with_context(in_map)?;
    let refit = RefitOptions { seed: common.seed, threads: options.threads, ..RefitOptions::default() };
    let stability = args.seeds.map(|seeds| {
        seed_stability(
            &map,
            seeds as usize,
            &refit,
            &mut told(&screen, "fitting with other seeds", seeds as usize),
        )
    });
    let stability = stability.transpose().with_context(in_map)?;
    let tried = advice::perplexities(args, map.x().rows().min(refit.most_rows));
    let trials = tried.map(|tried| {
        let mut told = told(&screen, "fitting with other perplexities", tried.len());
        perplexity_trials(&map, rows.as_ref(), &tried, &refit, &mut told)
    });
    let trials = trials.transpose().with_context(in_map)?;
    screen.close();
    let advice = trials.as_deref().map(|trials| Advice::new(trials, map.perplexity(), map.x().rows()));
    let by = match (&rows, map.preprocess().pca()) {
        (Some(_), _) => "the columns of the table",
        (None, Some(_)) => "the components that the map's PCA kept",
        (None, None) => "the map's own columns",
    };
    let sentences = Sentences::new(&quality, &map, stability.as_ref(), advice.as_ref());
    let summary = QualitySummary {
        map: in_map(),
        rows: map.rows(),
        by,
        kl: map.provenance().kl,
        stability: stability.as_ref().map(StabilitySummary::new),
        advised_perplexity: advice.as_ref().map(|advice| advice.perplexity),
        perplexities: advice.map(|advice| advice.trials),
        sentences,
        seconds: begun.elapsed().as_secs_f64(),
        ..QualitySummary::of(&quality)
    };
    output::present(common, &summary, || summary.in_words())
}

/// Shows how many fits are done.
fn told<'a>(screen: &'a Screen, task: &'a str, total: usize) -> impl FnMut(usize) + 'a {
    screen.task(task, "");
    move |done| screen.step(done as u64, total as u64)
}

/// The rows that the map was fitted to, in its order.
fn rows(args: &QualityArgs, map: &Map, screen: &Screen) -> Result<Matrix> {
    let files = Files::expand(&args.rows.iter().cloned().collect::<Vec<_>>())?;
    let options = args.table.read_options();
    let table = place::open(&args.map, &options, &files, map, Gaps::LeftOut, screen)?;
    let (Table { rows, cols, data, ids, .. }, _) = place::read_whole(table, &options, &files, screen)?;
    let matrix = Matrix::new(rows, cols, data)?;
    let Some(ids) = ids.filter(|_| map.has_ids()) else { return Ok(matrix) };
    let numbers: HashMap<&str, u32> = ids.iter().map(String::as_str).zip(0..).collect();
    let number = |row: usize| {
        let id = map.id(row);
        let found = numbers.get(&*id).copied();
        found.with_context(|| {
            format!("{} has no row {id}, which {} was fitted to", files.shown(), args.map.display())
        })
    };
    let order: Vec<u32> = (0..map.rows()).map(number).collect::<Result<_>>()?;
    ensure!(numbers.len() == rows, "{} has the same id twice: give each row its own", files.shown());
    Ok(matrix.select(&order))
}

impl StabilitySummary {
    fn new(stability: &SeedStability) -> Self {
        let SeedStability { fits, rows, shared, shared_with_map } = *stability;
        Self { fits, rows, shared, shared_with_map }
    }
}

impl QualitySummary {
    /// What follows from the metrics alone.
    fn of(quality: &Quality) -> Self {
        let first = quality.scales.first();
        let scale = |at: &lion_tsne::quality::ScaleQuality| ScaleSummary {
            neighbours: at.neighbours,
            trustworthiness: at.trustworthiness.mean,
            trustworthiness_error: at.trustworthiness.error,
            continuity: at.continuity.mean,
            continuity_error: at.continuity.error,
            neighbours_kept: at.neighbours_kept.mean,
            neighbours_kept_error: at.neighbours_kept.error,
        };
        Self {
            map: String::new(),
            rows: 0,
            distinct_rows: quality.rows,
            asked: quality.asked,
            by: "",
            trustworthiness: first.map(|at| at.trustworthiness.mean),
            continuity: first.map(|at| at.continuity.mean),
            neighbours_kept: first.map(|at| at.neighbours_kept.mean),
            label_share: quality.label_share,
            label_share_of_rows: quality.label_share_of_rows.map(|share| share.mean),
            label_share_by_chance: quality.label_share_by_chance,
            kl: None,
            scales: quality.scales.iter().map(scale).collect(),
            stability: None,
            perplexities: None,
            advised_perplexity: None,
            sentences: Sentences::default(),
            seconds: 0.0,
        }
    }
}
