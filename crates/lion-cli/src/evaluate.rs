//! `lion evaluate`: every method and experiment of the paper, in one report. The experiments are lion-evaluate's.

use crate::args::{Common, EvaluateArgs};
use crate::interrupt::Interrupt;
use crate::mnist;
use crate::output;
use crate::progress::Screen;
use anyhow::Result;
use lion_evaluate::experiments::{Evaluation, EvaluationObserver, ReportSummary};
use serde::Serialize;
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

/// Runs the parts asked for and writes the report.
pub(crate) fn run(args: &EvaluateArgs, common: &Common) -> Result<()> {
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
