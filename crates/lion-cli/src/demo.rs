//! `lion demo`: the whole way on the embedded digits.

mod acts;
mod live;

use crate::args::{Common, DemoArgs, PictureArgs, PictureKind};
use crate::diff;
use crate::fit;
use crate::interrupt::Interrupt;
use crate::noise::Noise;
use crate::output;
use crate::place::{PlacementSheet, Record, SheetWriter, VerdictCounts, VerdictTally};
use crate::plot::{PlacedRows, PlotLook, draw};
use crate::progress::{Phase, Reporter, Screen};
use crate::summary::{MapSummary, counted, percent};
use anyhow::{Context, Result};
use lion_evaluate::digits::{self, DigitImages, EmbeddedDigits};
use lion_evaluate::{Estimate, Judge, places_of};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, Placement, Rows, Update, Verdict};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

const COMPONENTS: usize = 30;
const NOISE: usize = 100;
const PICTURE_WIDTH: u32 = 1600;

/// The JSON object: that of `fit`, and what the digits show about it.
#[derive(Serialize)]
struct Demo {
    #[serde(flatten)]
    summary: MapSummary,
    /// The mean share of a digit's 10 nearest others in the map that show the same.
    accuracy_10nn: f64,
    placed: DemoOutcome,
    ordinary: OrdinaryOutcome,
    placements: String,
    html: String,
    png: String,
    update: UpdateOutcome,
}

/// What came of placing unseen digits and noise, all at once.
#[derive(Serialize)]
struct DemoOutcome {
    #[serde(flatten)]
    counts: VerdictCounts,
    groups: usize,
    seconds: f64,
    digits: DigitsOutcome,
    noise: NoiseOutcome,
}

#[derive(Serialize)]
struct DigitsOutcome {
    rows: usize,
    outlier: usize,
    /// The mean share of the 10 nearest training places that show the same digit.
    accuracy_10nn: f64,
    /// The same at the place of the training digit that each was picked for.
    baseline_10nn: f64,
}

/// What came of unseen digits that were not picked for anything: what the verdicts promise is promised of these.
#[derive(Serialize)]
struct OrdinaryOutcome {
    rows: usize,
    outlier: usize,
    beside_outlier: usize,
    /// The share of them that should be called outliers, and the share that is.
    promised: Option<f64>,
    observed: f64,
}

#[derive(Serialize)]
struct NoiseOutcome {
    rows: usize,
    /// How many were drawn to find so many that are farther from every digit than the most isolated digit is.
    drawn: usize,
    outlier: usize,
    groups: usize,
    /// Where the distance to the nearest training place falls among the distances between nearest training places, on
    /// average.
    percentile: f64,
}

/// What came of taking the placed rows into the map.
#[derive(Serialize)]
struct UpdateOutcome {
    rows: usize,
    seconds: f64,
    kl: Option<f64>,
    /// How far old rows moved, in map radii.
    moved_median: f64,
    moved_p90: f64,
    /// New clusters that the noise is in, and of the rows that were outliers how many are ordinary now.
    new_clusters: Vec<usize>,
    outliers_before: usize,
    outliers_now: usize,
    map: String,
    html: String,
}

/// Fits the digits, places others and noise, takes these into the map, and draws all of it.
pub(crate) fn run(args: &DemoArgs, common: &Common) -> Result<()> {
    let folder = &args.out;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    if args.serve {
        return live::run(args, common);
    }
    let screen = Screen::new(common);
    screen.say("fitting a map of 2500 handwritten digits, 28 x 28 pixels each …");
    let mut reporter = Reporter::new(screen.clone(), Interrupt::default(), &Phase::of_fit(false));
    let EmbeddedDigits { training, test, picked_for, ordinary } = digits::embedded()?;
    let fit = Fit {
        pca: PcaChoice::Components(COMPONENTS),
        seed: common.seed,
        threads: usize::from(common.threads),
        ..Fit::default()
    };
    let rows = Rows { data: training.pixels, ids: None, labels: Some(training.labels) };
    let map = fit.run(rows, &mut |progress| reporter.observe(progress))?;
    let summary = fit::write(&map, &folder.join("map.lion"), reporter)?;

    screen.say("placing 1000 unseen digits and 100 images of noise …");
    let noise = Noise::strange_to(&map, NOISE)?;
    let newcomers = together(&test.pixels, &noise.rows)?;
    let begun = Instant::now();
    let options =
        LionOptions { seed: common.seed, threads: usize::from(common.threads), ..LionOptions::default() };
    let lion = Lion::new(map, &options)?;
    let placements = lion.place(&newcomers)?;
    let seconds = begun.elapsed().as_secs_f64();

    let sheet = folder.join("placements.parquet");
    write(&placements, &test, lion.map(), &sheet)?;
    let judge = Judge::new(lion.map())?;
    let layer = layer(&placements, &test, lion.map().dims());
    screen.say("taking all of them into the map …");
    let update = take_in(&lion, newcomers, &placements, &test, folder, common)?;
    let demo = Demo {
        summary,
        accuracy_10nn: judge.of_the_map()?,
        placed: outcome(&placements, &test, &picked_for, noise.drawn, &judge, seconds)?,
        ordinary: ordinary_outcome(&lion, &ordinary)?,
        placements: sheet.display().to_string(),
        html: picture(lion.map(), &layer, folder, "map.html", PictureKind::Html)?,
        png: picture(lion.map(), &layer, folder, "map.png", PictureKind::Png)?,
        update,
    };
    output::present(common, &demo, || demo.in_words())
}

/// Updates the map with the rows that were placed, and shows how it changed.
fn take_in(
    lion: &Lion,
    rows: Matrix,
    placements: &[Placement],
    test: &DigitImages,
    folder: &Path,
    common: &Common,
) -> Result<UpdateOutcome> {
    let (seed, threads) = (common.seed, usize::from(common.threads));
    let ids = (0..placements.len()).map(|i| name(i, test)).collect();
    let labels = (0..placements.len()).map(|i| label(i, test)).collect();
    let begun = Instant::now();
    let new = Rows { data: rows, ids: Some(ids), labels: Some(labels) };
    let updated =
        Update { seed, threads, ..Update::default() }.run(lion.map(), new, &mut lion_tsne::ignore)?;
    let seconds = begun.elapsed().as_secs_f64();
    let [before, after] = ["map.lion", "updated.lion"].map(|name| folder.join(name));
    updated.map.save(&after)?;
    let page = PictureArgs { path: folder.join("update.html"), kind: PictureKind::Html };
    let html = page.path.display().to_string();
    diff::write_page([(lion.map(), &before), (&updated.map, &after)], page, common)?;
    // Noise like that which the map has taken in, drawn anew.
    let more = Noise::strange_to(lion.map(), 2 * NOISE)?.rows;
    let unseen: Vec<u32> = (NOISE as u32..more.rows() as u32).collect();
    let unseen = more.select(&unseen);
    let outliers = |lion: &Lion| -> Result<usize> {
        let placed = lion.place(&unseen)?;
        Ok(placed.iter().filter(|placed| placed.verdict == Verdict::Outlier).count())
    };
    let options = LionOptions { seed, threads, ..LionOptions::default() };
    Ok(UpdateOutcome {
        rows: updated.map.rows(),
        seconds,
        kl: updated.step.kl,
        moved_median: updated.step.moved_median,
        moved_p90: updated.step.moved_p90,
        new_clusters: updated.new_clusters,
        outliers_before: outliers(lion)?,
        outliers_now: outliers(&Lion::new(updated.map, &options)?)?,
        map: after.display().to_string(),
        html,
    })
}

/// What a placed row shows.
fn label(i: usize, test: &DigitImages) -> String {
    test.labels.get(i).cloned().unwrap_or_else(|| "noise".into())
}

/// The rows of both.
fn together(above: &Matrix, below: &Matrix) -> Result<Matrix> {
    Ok(Matrix::new(above.rows() + below.rows(), above.cols(), [above.data(), below.data()].concat())?)
}

/// Names of the placed rows: the digits, then the noise.
fn name(i: usize, test: &DigitImages) -> String {
    let digits = test.labels.len();
    if i < digits { format!("digit-{i}") } else { format!("noise-{}", i - digits) }
}

fn write(placements: &[Placement], test: &DigitImages, map: &Map, path: &Path) -> Result<()> {
    let record = |(i, placement): (usize, &Placement)| Record {
        id: Some(name(i, test)),
        placement: placement.clone(),
        label: Judge::UNKNOWN,
    };
    let mut sheet = SheetWriter::create(path, map)?;
    sheet.write(&placements.iter().enumerate().map(record).collect::<Vec<_>>())?;
    sheet.finish()
}

/// The placed rows as the pictures show them.
fn layer(placements: &[Placement], test: &DigitImages, dims: usize) -> PlacedRows {
    let read = PlacementSheet {
        points: placements.iter().flat_map(|placement| placement.place.iter().copied()).collect(),
        verdicts: placements.iter().map(|placement| placement.verdict).collect(),
        ids: (0..placements.len()).map(|i| name(i, test)).collect(),
        scores: placements.iter().map(|placement| placement.score).collect(),
        groups: placements.iter().map(|placement| placement.group).collect(),
    };
    PlacedRows::new(read, dims).labelled((0..placements.len()).map(|i| label(i, test)).collect())
}

/// Judges the placements: of the test digits, then of the noise.
fn outcome(
    placements: &[Placement],
    test: &DigitImages,
    picked_for: &[u32],
    drawn: usize,
    judge: &Judge,
    seconds: f64,
) -> Result<DemoOutcome> {
    let (digits, noise) = placements.split_at(test.labels.len());
    let (all, of_digits, of_noise) = (count(placements), count(digits), count(noise));
    let mean = |values: Vec<f64>| Estimate::of(&values).mean;
    Ok(DemoOutcome {
        counts: all.counts,
        groups: all.groups.len(),
        seconds,
        digits: DigitsOutcome {
            rows: of_digits.counts.rows,
            outlier: of_digits.counts.outlier,
            accuracy_10nn: mean(judge.shares(&places_of(digits, judge.dims())?, &test.labels)?),
            baseline_10nn: mean(judge.baseline(picked_for, &test.labels)?),
        },
        noise: NoiseOutcome {
            rows: of_noise.counts.rows,
            drawn,
            outlier: of_noise.counts.outlier,
            groups: of_noise.groups.len(),
            percentile: mean(judge.percentiles(&places_of(noise, judge.dims())?)?),
        },
    })
}

/// Holds ordinary digits against the promise. They are placed apart, and not drawn: the picture is full.
fn ordinary_outcome(lion: &Lion, ordinary: &DigitImages) -> Result<OrdinaryOutcome> {
    let VerdictCounts { rows, outlier, beside_outlier, .. } = count(&lion.place(&ordinary.pixels)?).counts;
    let observed = (outlier + beside_outlier) as f64 / rows.max(1) as f64;
    Ok(OrdinaryOutcome { rows, outlier, beside_outlier, promised: lion.promised(), observed })
}

fn count(placements: &[Placement]) -> VerdictTally {
    let mut tally = VerdictTally::default();
    tally.add(placements);
    tally
}

/// Draws a picture of the map and returns its path.
fn picture(map: &Map, layer: &PlacedRows, folder: &Path, name: &str, kind: PictureKind) -> Result<String> {
    let picture = PictureArgs { path: folder.join(name), kind };
    let width = (kind == PictureKind::Png).then_some(PICTURE_WIDTH);
    let look = PlotLook { title: "Handwritten digits", width, ..PlotLook::default() };
    draw(map, Some(layer), &look, &picture)?;
    Ok(picture.path.display().to_string())
}

impl Demo {
    fn in_words(&self) -> String {
        let MapSummary { rows, dims, components, iterations, file, .. } = &self.summary;
        let (seconds, kl) = (self.summary.seconds.unwrap_or_default(), self.summary.kl.unwrap_or_default());
        let (accuracy, placements, html, png) =
            (100.0 * self.accuracy_10nn, &self.placements, &self.html, &self.png);
        let (placed, ordinary, update) =
            (self.placed.in_words(), self.ordinary.in_words(), self.update.in_words());
        let UpdateOutcome { map: updated, html: morph, .. } = &self.update;
        format!(
            "\
{rows} digits of {dims} pixels, reduced to {components} principal components and laid out in the plane by t-SNE.
  fitted in      {seconds:.2} s, {iterations} iterations
  KL divergence  {kl:.3} (t-SNE's loss; it compares maps of the same rows only: lion quality says how good this one is)
  neighbours     {accuracy:.1} % of a digit's 10 nearest in the map show the same digit (labels were not used to fit)
{placed}{ordinary}{update}written: {file}, {placements}, {html}, {png}, {updated}, {morph}

next: open {html} in a browser, and {morph} to see the map take the digits in
      lion info {file}
      lion plot {file} --placements {placements} -o digits.svg
      lion fit your-data.csv -o your.lion
      lion place your.lion new-rows.csv -o placed.csv
"
        )
    }
}

impl UpdateOutcome {
    fn in_words(&self) -> String {
        let Self {
            rows, seconds, moved_median, moved_p90, new_clusters, outliers_before, outliers_now, ..
        } = self;
        let clusters = match &new_clusters[..] {
            [] => "no new cluster".into(),
            [one] => format!("one new cluster, of {}", counted(*one, "row")),
            many => format!("{} new clusters", many.len()),
        };
        format!(
            "\
All of these taken into the map, which keeps its shape.
  updated in     {seconds:.2} s, {rows} digits and images of noise, {clusters}
  old digits     moved {moved_median:.3} map radii in the median, {moved_p90:.3} at the 90th percentile
  noise          of {NOISE} more images {outliers_before} were outliers of the old map, {outliers_now} are of the new one
"
        )
    }
}

impl OrdinaryOutcome {
    fn in_words(&self) -> String {
        let Self { rows, promised, observed, .. } = self;
        let promised = promised.map_or_else(String::new, |share| format!("promised {}, ", percent(share)));
        format!(
            "  verdicts       of {rows} other unseen digits, picked at random: {promised}observed {} called outliers\n",
            percent(*observed)
        )
    }
}

impl DemoOutcome {
    fn in_words(&self) -> String {
        let Self { seconds, digits, noise, .. } = self;
        let (accuracy, baseline) = (100.0 * digits.accuracy_10nn, 100.0 * digits.baseline_10nn);
        let groups = match noise.groups {
            1 => "one group: they lie within r_x of each other".into(),
            groups => format!("{groups} groups"),
        };
        format!(
            "\
{} unseen digits and {} images of noise ({} drawn) placed in that map.
  placed in      {seconds:.3} s
  digits         {accuracy:.1} % of the 10 nearest training places show the same digit; {baseline:.1} % do at the
                 place of the training digit that each was picked for; {} of {} are called outliers:
                 few, because they were picked for lying close to training digits
  noise          {} of {} are called outliers and put apart: farther from any training place than {:.1} % of
                 those are from their nearest; placed in one call, they are {groups}
",
            digits.rows,
            noise.rows,
            noise.drawn,
            digits.outlier,
            digits.rows,
            noise.outlier,
            noise.rows,
            noise.percentile,
        )
    }
}
