//! What a person sees of running work on standard error, and the clock of its stages.

use crate::args::Common;
use crate::interrupt::Interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lion_tsne::{Progress, Stage};
use serde::Serialize;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The stages of a fit as the command line has them: those of the library, between reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Read,
    Preprocess,
    Neighbours,
    Affinities,
    Initialise,
    Optimise,
    Parameters,
    Write,
}

impl From<Stage> for Phase {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Preprocess => Self::Preprocess,
            Stage::Neighbours => Self::Neighbours,
            Stage::Affinities => Self::Affinities,
            Stage::Initialise => Self::Initialise,
            Stage::Optimise => Self::Optimise,
            Stage::Parameters => Self::Parameters,
        }
    }
}

/// Seconds spent in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Phases {
    read: f64,
    preprocess: f64,
    neighbours: f64,
    affinities: f64,
    initialise: f64,
    optimise: f64,
    parameters: f64,
    write: f64,
}

impl Phases {
    fn of(&mut self, phase: Phase) -> &mut f64 {
        match phase {
            Phase::Read => &mut self.read,
            Phase::Preprocess => &mut self.preprocess,
            Phase::Neighbours => &mut self.neighbours,
            Phase::Affinities => &mut self.affinities,
            Phase::Initialise => &mut self.initialise,
            Phase::Optimise => &mut self.optimise,
            Phase::Parameters => &mut self.parameters,
            Phase::Write => &mut self.write,
        }
    }

    /// Name and seconds of each stage, in order.
    pub(crate) fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("read", self.read),
            ("preprocess", self.preprocess),
            ("neighbours", self.neighbours),
            ("affinities", self.affinities),
            ("initialise", self.initialise),
            ("optimise", self.optimise),
            ("parameters", self.parameters),
            ("write", self.write),
        ]
    }
}

impl Phase {
    /// What is going on, for the bar.
    fn doing(self) -> &'static str {
        match self {
            Self::Read => "reading",
            Self::Preprocess => "preprocessing",
            Self::Neighbours => "neighbours",
            Self::Affinities => "affinities",
            Self::Initialise => "first layout",
            Self::Optimise => "descent",
            Self::Parameters => "radii and power",
            Self::Write => "writing",
        }
    }

    /// Whether it tells how far it is.
    fn is_counted(self) -> bool {
        matches!(self, Self::Neighbours | Self::Optimise)
    }
}

/// Standard error: messages, and one progress bar if it is a terminal.
#[derive(Clone)]
pub(crate) struct Screen {
    bar: ProgressBar,
    quiet: bool,
    verbose: bool,
}

impl Screen {
    pub(crate) fn new(common: &Common) -> Self {
        // Standard error that is no terminal gets no bar: the draw target sees to it.
        let target = if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, quiet: common.quiet, verbose: common.verbose }
    }

    /// Says something, unless quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.complain_as("", text);
        }
    }

    /// Says something that is for those who asked for more.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.say(text);
        }
    }

    /// Says what went wrong, quiet or not.
    pub(crate) fn complain(&self, text: &str) {
        self.complain_as("error: ", text);
    }

    /// Takes the bar away.
    pub(crate) fn close(&self) {
        self.bar.finish_and_clear();
    }

    fn complain_as(&self, kind: &str, text: &str) {
        // Unlike `eprintln!` this does not mind if nobody listens.
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr(), "{kind}{text}");
        });
    }

    fn show(&self, phase: Phase) {
        self.bar.reset();
        self.bar.set_length(0);
        self.bar.set_prefix(phase.doing());
        self.bar.set_message("");
        let template = match phase.is_counted() {
            true => "{prefix:>13} {bar:30.cyan/dim} {percent:>3} % {msg}, {eta} left",
            false => "{prefix:>13} {spinner:.cyan} {elapsed}",
        };
        // The templates are fixed and right; were they not, the bar would be plain.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("━╸─"));
    }

    fn count(&self, progress: &Progress<'_>, kl: Option<f64>) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        let (done, total) = (progress.done, progress.total);
        self.bar.set_message(match (progress.stage, kl) {
            (Stage::Optimise, Some(kl)) => format!("iteration {done} of {total}, KL {kl:.3}"),
            (Stage::Optimise, None) => format!("iteration {done} of {total}"),
            _ => format!("{done} of {total} rows"),
        });
    }
}

/// Follows a fit: shows it, times it, and stops it on Ctrl-C.
pub(crate) struct Reporter {
    screen: Screen,
    interrupt: Interrupt,
    begun: Instant,
    phase: Phase,
    since: Instant,
    phases: Phases,
    kl: Option<f64>,
    shown: Instant,
}

/// The bar is not told of progress more often: a message for every iteration of a small map would cost more than
/// the iteration.
const SHOWN_EVERY: Duration = Duration::from_millis(50);

impl Reporter {
    /// Begins with reading.
    pub(crate) fn new(screen: Screen, interrupt: Interrupt) -> Self {
        let now = Instant::now();
        screen.show(Phase::Read);
        let (phase, phases) = (Phase::Read, Phases::default());
        Self { screen, interrupt, begun: now, phase, since: now, phases, kl: None, shown: now }
    }

    /// A stage begins, and the one before it has ended.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.leave();
        self.phase = phase;
        self.screen.show(phase);
        if matches!(phase, Phase::Optimise | Phase::Parameters | Phase::Write) {
            self.interrupt.worth_keeping();
        }
    }

    fn leave(&mut self) {
        let seconds = self.since.elapsed().as_secs_f64();
        *self.phases.of(self.phase) += seconds;
        self.since = Instant::now();
        self.screen.detail(&format!("{}: {seconds:.2} s", self.phase.doing()));
    }

    /// Hears the library. Answers `Break` once Ctrl-C was pressed and there is a map to keep.
    pub(crate) fn observe(&mut self, progress: &Progress<'_>) -> ControlFlow<()> {
        let phase = Phase::from(progress.stage);
        if phase != self.phase {
            self.enter(phase);
        }
        if let Some(note) = progress.note {
            self.screen.detail(note);
            return ControlFlow::Continue(());
        }
        if let Some(kl) = progress.kl {
            self.kl = Some(kl);
            self.screen.detail(&format!("iteration {} of {}: KL {kl:.4}", progress.done, progress.total));
        }
        if phase.is_counted() && self.shown.elapsed() >= SHOWN_EVERY {
            self.shown = Instant::now();
            self.screen.count(progress, self.kl);
        }
        match self.interrupt.stopping() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Ends the last stage and takes the bar away. Returns the seconds of each stage, and of all.
    pub(crate) fn finish(mut self) -> (Phases, f64) {
        self.leave();
        self.screen.close();
        (self.phases, self.begun.elapsed().as_secs_f64())
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        // An error's sentence must not stand beside half a bar.
        self.screen.close();
    }
}
