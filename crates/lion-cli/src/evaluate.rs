//! `lion evaluate`: every method and experiment of the paper, in one report.

mod calibration;
mod claims;
mod complexity;
mod contenders;
mod differences;
mod document;
mod figures;
mod large;
mod results;
mod sets;
mod stages;
mod strangers;
mod sweeps;
mod tables;
mod trial;
mod two_tests;
mod verdicts;

use crate::args::{Common, EvaluateArgs, EvaluationPart};
use crate::interrupt::Interrupt;
use crate::mnist::Mnist;
use crate::output;
use crate::progress::Screen;
use anyhow::{Context, Result};
use contenders::Entry;
use lion_report::{Document, DocumentBlock};
use results::{Large, Material, Results, RunFacts};
use serde::Serialize;
use stages::Stages;
use std::path::Path;

/// Epochs of the networks: the paper's, and those of a quick run.
const EPOCHS: [usize; 2] = [5000, 250];

/// The JSON object.
#[derive(Serialize)]
struct Summary {
    report: String,
    json: String,
    figures: usize,
    claims_that_hold: usize,
    claims_that_do_not: usize,
    stages_kept: usize,
    seconds: f64,
    quick: bool,
}

/// Runs the parts asked for and writes the report.
pub(crate) fn run(args: &EvaluateArgs, common: &Common) -> Result<()> {
    let parts = args.parts();
    let mnist = args.data.as_deref().map(Mnist::read).transpose()?;
    if let Some((mnist, folder)) =
        mnist.as_ref().zip(args.data.as_deref()).filter(|_| parts.contains(&EvaluationPart::Large))
    {
        large::check(mnist, folder)?;
    }
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("the folder {} cannot be made", args.output.display()))?;
    let screen = Screen::new(common);
    Interrupt::install_ending(
        &screen,
        "stopped: finished stages are kept in the report's folder, and the same command goes on from there",
    )?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(common.threads)).build()?;
    let (results, material) =
        pool.install(|| Evaluation::new(args, common, &parts, mnist, &screen)?.run())?;
    screen.close();
    let document = document::document(&results, material.as_ref())?;
    write(&args.output, &results, &document)?;
    let summary = summary(args, &results, &document);
    output::present(common, &summary, || summary.in_words())
}

/// What a run is made of.
struct Evaluation<'a> {
    args: &'a EvaluateArgs,
    parts: &'a [EvaluationPart],
    seed: u64,
    screen: Screen,
    stages: Stages,
    mnist: Option<Mnist>,
}

impl<'a> Evaluation<'a> {
    fn new(
        args: &'a EvaluateArgs,
        common: &Common,
        parts: &'a [EvaluationPart],
        mnist: Option<Mnist>,
        screen: &Screen,
    ) -> Result<Self> {
        // Threads change no place, but every time.
        let key = format!(
            "seed {} quick {} threads {} mnist {:016x}",
            common.seed,
            args.quick,
            rayon::current_num_threads(),
            mnist.as_ref().map_or(0, Mnist::fingerprint)
        );
        let expected = expected(args, parts);
        let stages = Stages::new(&args.output, &key, expected, screen.clone())?;
        Ok(Self { args, parts, seed: common.seed, screen: screen.clone(), stages, mnist })
    }

    fn has(&self, part: EvaluationPart) -> bool {
        self.parts.contains(&part)
    }

    fn epochs(&self) -> usize {
        EPOCHS[usize::from(self.args.quick)]
    }

    fn run(mut self) -> Result<(Results, Option<Material>)> {
        let memory = if self.has(EvaluationPart::Large) { Some(large::check_memory()?) } else { None };
        memory.iter().for_each(|memory| self.screen.say(memory));
        let on_a_map =
            [EvaluationPart::Cluster, EvaluationPart::Outliers, EvaluationPart::Others, EvaluationPart::Grid];
        let tested = match on_a_map.iter().any(|&part| self.has(part)) {
            true => Some(two_tests::run(&mut self)?),
            false => None,
        };
        let complexity = self.complexity()?;
        let large = self.large()?;
        let run = RunFacts {
            version: env!("CARGO_PKG_VERSION"),
            data: match (&tested, self.mnist.is_some()) {
                (Some(tested), _) => tested.source.clone(),
                (None, true) => "MNIST".into(),
                (None, false) => "rows made up for measuring".into(),
            },
            seed: self.seed,
            threads: rayon::current_num_threads(),
            quick: self.args.quick,
            parts: self.parts.iter().map(|part| format!("{part:?}").to_lowercase()).collect(),
            epochs: self.epochs(),
            machine: machine(),
            seconds: self.stages.seconds,
            kept: self.stages.kept,
        };
        let (found, material) = match tested {
            Some(tested) => (Some(tested.found), tested.material),
            None => (None, None),
        };
        let found = found.unwrap_or_default();
        let mut results = Results {
            run,
            map: found.map,
            baseline: found.baseline,
            methods: found.methods,
            calibration: found.calibration,
            strangers: found.strangers,
            powers: found.powers,
            widths: found.widths,
            grid: found.grid,
            complexity,
            large,
            claims: Vec::new(),
            differences: Vec::new(),
        };
        let entries: &[Entry] = material.as_ref().map_or(&[], |material| &material.entries);
        results.claims = claims::claims(&results, entries);
        results.differences = differences::differences(&results, entries);
        Ok((results, material))
    }

    fn complexity(&mut self) -> Result<Vec<complexity::Timing>> {
        let mut timings = Vec::new();
        if self.has(EvaluationPart::Complexity) {
            let seed = self.seed;
            for size in complexity::sizes(self.args.quick) {
                let name = format!("complexity {} x {}", size[0], size[1]);
                let expected = 0.2 + size[0] as f64 / 1500.0;
                timings.extend(self.stages.stage(&name, expected, |_| complexity::measure(size, seed))?);
            }
        }
        Ok(timings)
    }

    fn large(&mut self) -> Result<Option<Large>> {
        let Some(mnist) = self.mnist.as_ref().filter(|_| self.parts.contains(&EvaluationPart::Large)) else {
            return Ok(None);
        };
        let (quick, seed) = (self.args.quick, self.seed);
        let stages = &mut self.stages;
        let trained = stages.stage("parametric t-SNE of 60000 x 784", 900.0, |observer| {
            large::train(mnist, quick, seed, observer)
        })?;
        let (parametric, on_parametric) = stages.stage("LION on parametric t-SNE", 150.0, |observer| {
            let map = large::adopted(mnist, &trained, seed, observer)?;
            let plain = large::of_parametric(&map, mnist, &trained)?;
            Ok((plain, large::on_map(&map, mnist, observer)?))
        })?;
        let (fit_seconds, on_tsne) =
            stages.stage("LION on a t-SNE map of 60000 x 784", 250.0, |observer| {
                let begun = std::time::Instant::now();
                let map = large::fitted(mnist, seed, observer)?;
                let seconds = begun.elapsed().as_secs_f64();
                Ok((seconds, large::on_map(&map, mnist, observer)?))
            })?;
        Ok(Some(Large { training_seconds: trained.seconds, parametric, on_parametric, fit_seconds, on_tsne }))
    }
}

/// About how many seconds all of it takes.
fn expected(args: &EvaluateArgs, parts: &[EvaluationPart]) -> f64 {
    let part = |part: &EvaluationPart| match (part, args.quick) {
        (EvaluationPart::Cluster | EvaluationPart::Outliers, false) => 250.0,
        (EvaluationPart::Cluster | EvaluationPart::Outliers, true) => 30.0,
        (EvaluationPart::Others, false) => 380.0,
        (EvaluationPart::Others, true) => 48.0,
        (EvaluationPart::Complexity, false) => 120.0,
        (EvaluationPart::Complexity, true) => 8.0,
        (EvaluationPart::Grid, _) => 0.7 * args.epochs_of_grid() as f64,
        (EvaluationPart::Large, _) => 1300.0,
    };
    parts.iter().map(part).sum()
}

/// The processor and how much memory there is, as far as the system tells.
fn machine() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{model}, {cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Writes every file, each whole or not at all; the page last, when all it speaks of is there.
fn write(folder: &Path, results: &Results, document: &Document) -> Result<()> {
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures)
        .with_context(|| format!("the folder {} cannot be made", figures.display()))?;
    remove_old(&figures, document)?;
    for block in &document.blocks {
        if let DocumentBlock::Figure { name, picture, .. } = block {
            output::replace(&figures.join(format!("{name}.svg")), picture.svg().as_bytes())?;
            output::replace(&figures.join(format!("{name}.png")), &picture.png()?)?;
        }
    }
    output::replace(&folder.join("report.json"), &serde_json::to_vec_pretty(results)?)?;
    output::replace(&folder.join("report.html"), document.html()?.as_bytes())
}

/// Removes the figures of an earlier run that this report does not have.
fn remove_old(folder: &Path, document: &Document) -> Result<()> {
    let is_ours = |stem: &str| {
        document
            .blocks
            .iter()
            .any(|block| matches!(block, DocumentBlock::Figure { name, .. } if name == stem))
    };
    for file in std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_figure = file.extension().is_some_and(|kind| kind == "svg" || kind == "png");
        if is_figure && !is_ours(&stem) {
            std::fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
    }
    Ok(())
}

fn summary(args: &EvaluateArgs, results: &Results, document: &Document) -> Summary {
    let count = |held: bool| results.claims.iter().filter(|claim| claim.holds == Some(held)).count();
    let figures =
        document.blocks.iter().filter(|block| matches!(block, DocumentBlock::Figure { .. })).count();
    Summary {
        report: args.output.join("report.html").display().to_string(),
        json: args.output.join("report.json").display().to_string(),
        figures,
        claims_that_hold: count(true),
        claims_that_do_not: count(false),
        stages_kept: results.run.kept,
        seconds: results.run.seconds,
        quick: results.run.quick,
    }
}

impl Summary {
    fn in_words(&self) -> String {
        let Self { report, figures, claims_that_hold, claims_that_do_not, seconds, .. } = self;
        format!(
            "{report}: {figures} figures, {claims_that_hold} of the paper's claims hold here and {claims_that_do_not} do not, {seconds:.0} s of work\nopen it in a browser; the figures are beside it as SVG and PNG, the numbers in {}\n",
            self.json
        )
    }
}
