//! `lion evaluate`: every method and experiment of the paper, in one report, or those that make sense on a table. The
//! experiments are lion-evaluate's.

use crate::args::{Common, EvaluateArgs};
use crate::files::Files;
use crate::interrupt::Interrupt;
use crate::mnist;
use crate::output;
use crate::progress::Screen;
use anyhow::{Result, ensure};
use lion_evaluate::experiments::{
    Evaluation, EvaluationObserver, ReportSummary, TableEvaluation, TableReport,
};
use lion_table::Table;
use lion_tsne::{Matrix, Rows};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

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

/// The JSON object of an evaluation on a table.
#[derive(Serialize)]
struct TableSummary {
    report: String,
    json: String,
    rows_tested: usize,
    label_accuracy: Option<f64>,
    label_calibration_error: Option<f64>,
    seconds: f64,
    quick: bool,
}

/// Runs the parts asked for and writes the report.
pub(crate) fn run(args: &EvaluateArgs, common: &Common) -> Result<()> {
    match args.table_file() {
        Some(file) => on_table(args, file, common),
        None => on_digits(args, common),
    }
}

fn on_table(args: &EvaluateArgs, file: &Path, common: &Common) -> Result<()> {
    let files = Files::expand(&[file.to_owned()])?;
    let screen = Screen::new(common);
    Interrupt::install_ending(&screen, "stopped: no report was written")?;
    let Table { rows, cols, data, labels, .. } =
        files.open(&args.table.read_options())?.with_repeated_ids().into_table_of_files()?.0;
    let labels = match &args.table.labels {
        Some(file) => Some(lion_table::read_labels(file)?),
        None => labels,
    };
    if let Some(labels) = &labels {
        ensure!(labels.len() == rows, "there are {rows} rows but {} labels", labels.len());
    }
    let rows = Rows { data: Matrix::new(rows, cols, data)?, ids: None, labels };
    let evaluation = TableEvaluation { name: files.shown(), rows, quick: args.quick, seed: common.seed };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(common.threads)).build()?;
    let report = pool.install(|| evaluation.run(&screen));
    screen.close();
    let report = report?;
    report.write(&args.output)?;
    let summary = TableSummary::new(args, &report);
    output::present(common, &summary, || summary.in_words())
}

fn on_digits(args: &EvaluateArgs, common: &Common) -> Result<()> {
    let evaluation = Evaluation {
        folder: args.output.clone(),
        experiments: args.experiments(),
        mnist: args.data.as_deref().map(mnist::read).transpose()?,
        quick: args.quick,
        held_out: args.held_out,
        grid_epochs: args.epochs_of_grid(),
        seed: common.seed,
    };
    evaluation.check()?;
    let screen = Screen::new(common);
    Interrupt::install_ending(
        &screen,
        "stopped: finished stages are kept in the report's folder, and the same command goes on from there",
    )?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(common.threads)).build()?;
    let report = pool.install(|| evaluation.run(&screen));
    screen.close();
    let report = report?;
    report.write(&args.output)?;
    let summary = Summary::new(args, report.summary());
    output::present(common, &summary, || summary.in_words())
}

impl EvaluationObserver for Screen {
    fn say(&self, text: &str) {
        Self::say(self, text);
    }

    fn begin(&self, stage: &str, remaining: Duration) {
        let remaining = match remaining.as_secs_f64() {
            0.0 => String::new(),
            seconds if seconds < 90.0 => format!("about {seconds:.0} s left in all"),
            seconds => format!("about {:.0} min left in all", seconds / 60.0),
        };
        self.task(stage, &remaining);
    }

    fn step(&self, done: u64, total: u64) {
        Self::step(self, done, total);
    }

    fn end(&self, stage: &str, taken: Duration) {
        self.detail(&format!("{stage}: {:.1} s", taken.as_secs_f64()));
    }
}

impl TableSummary {
    fn new(args: &EvaluateArgs, report: &TableReport) -> Self {
        let (rows_tested, seconds) = report.tested();
        let (label_accuracy, label_calibration_error) = report.label_accuracy().unzip();
        Self {
            report: args.output.join("report.html").display().to_string(),
            json: args.output.join("report.json").display().to_string(),
            rows_tested,
            label_accuracy,
            label_calibration_error,
            seconds,
            quick: args.quick,
        }
    }

    fn in_words(&self) -> String {
        let Self { report, json, rows_tested, seconds, .. } = self;
        let labels = self.label_accuracy.map_or(String::new(), |accuracy| {
            format!(", {:.1} % of the labels that they got are right", 100.0 * accuracy)
        });
        format!(
            "{report}: {rows_tested} rows placed that the map has not seen{labels}, {seconds:.0} s\nopen it in a browser; the numbers are in {json}\n"
        )
    }
}

impl Summary {
    fn new(args: &EvaluateArgs, report: ReportSummary) -> Self {
        let ReportSummary { figures, claims_that_hold, claims_that_do_not, stages_kept, seconds } = report;
        Self {
            report: args.output.join("report.html").display().to_string(),
            json: args.output.join("report.json").display().to_string(),
            figures,
            claims_that_hold,
            claims_that_do_not,
            stages_kept,
            seconds,
            quick: args.quick,
        }
    }

    fn in_words(&self) -> String {
        let Self { report, figures, claims_that_hold, claims_that_do_not, seconds, .. } = self;
        format!(
            "{report}: {figures} figures, {claims_that_hold} of the paper's claims hold here and {claims_that_do_not} do not, {seconds:.0} s of work\nopen it in a browser; the figures are beside it as SVG and PNG, the numbers in {}\n",
            self.json
        )
    }
}
