//! What a person sees of running work on standard error, and the clock of its stages.

use crate::args::Common;
use crate::interrupt::Interrupt;
use crate::summary::counted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lion_tsne::{Progress, Stage};
use serde::{Serialize, Serializer};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What takes time, as the command line has it: the stages of the library, and what is around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Read,
    Library(Stage),
    Count,
    Load,
    Place,
    Outliers,
    Write,
}

impl Phase {
    /// What a fit goes through, `Count` only if it reads its table again to count what landmarks leave out.
    const OF_FIT: &[Self] = &[
        Self::Read,
        Self::Library(Stage::Preprocess),
        Self::Library(Stage::Neighbours),
        Self::Library(Stage::Affinities),
        Self::Library(Stage::Initialise),
        Self::Library(Stage::Optimise),
        Self::Library(Stage::Parameters),
        Self::Count,
        Self::Write,
    ];

    /// What a fit goes through that counts, or that does not.
    pub(crate) fn of_fit(counts: bool) -> Vec<Self> {
        Self::OF_FIT.iter().copied().filter(|&phase| counts || phase != Self::Count).collect()
    }

    /// What placing goes through. Reading goes on beside placing, and has no time of its own.
    pub(crate) const OF_PLACE: &[Self] = &[Self::Load, Self::Place, Self::Outliers, Self::Write];

    /// What placing by another method goes through.
    pub(crate) const OF_PLACE_OTHERWISE: &[Self] =
        &[Self::Load, Self::Library(Stage::Build), Self::Place, Self::Outliers, Self::Write];

    /// What comparing two maps goes through.
    pub(crate) const OF_DIFF: &[Self] = &[Self::Load, Self::Library(Stage::Neighbours), Self::Write];

    /// Its name, and what is going on meanwhile.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Read => ("read", "reading"),
            Self::Library(Stage::Preprocess) => ("preprocess", "preprocessing"),
            Self::Library(Stage::Neighbours) => ("neighbours", "neighbours"),
            Self::Library(Stage::Affinities) => ("affinities", "affinities"),
            Self::Library(Stage::Initialise) => ("initialise", "first layout"),
            Self::Library(Stage::Optimise) => ("optimise", "descent"),
            Self::Library(Stage::Parameters) => ("parameters", "radii, power"),
            Self::Count => ("count", "counting"),
            Self::Library(Stage::Build) => ("build", "building"),
            Self::Load => ("load", "loading"),
            Self::Place => ("place", "placing"),
            Self::Outliers => ("outliers", "outliers"),
            Self::Write => ("write", "writing"),
        }
    }

    /// Whether it tells how far it is.
    fn is_counted(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Library(Stage::Neighbours)
                | Self::Library(Stage::Optimise)
                | Self::Count
                | Self::Library(Stage::Build)
                | Self::Place
        )
    }
}

/// Seconds spent in each phase of some work, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phases(Vec<(Phase, f64)>);

impl Phases {
    fn new(phases: &[Phase]) -> Self {
        Self(phases.iter().map(|&phase| (phase, 0.0)).collect())
    }

    fn add(&mut self, phase: Phase, seconds: f64) {
        for (_, spent) in self.0.iter_mut().filter(|(own, _)| *own == phase) {
            *spent += seconds;
        }
    }

    /// Name and seconds of each, in order.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().map(|&(phase, seconds)| (phase.words().0, seconds))
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.named())
    }
}

/// For a phase that does not tell how far it is, for one that does, and for one that does not know how much there is. Each
/// fits into 80 columns.
const SPINNER: &str = "{prefix:>13} {spinner:.cyan} {elapsed}";
const BAR: &str = "{prefix:>13} {bar:20.cyan/dim} {percent:>3} % {msg}, {eta} left";
const COUNT: &str = "{prefix:>13} {spinner:.cyan} {msg}, {elapsed}";

/// For one task of many: how long all of them will take comes last.
const TASK: &str = "{prefix:>13} {spinner:.cyan} {elapsed}, {msg}";
const TASK_BAR: &str = "{prefix:>13} {bar:20.cyan/dim} {percent:>3} % {eta} left, {msg}";

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
        let screen = Self { bar, quiet: common.quiet, verbose: common.verbose };
        screen.draw_as(SPINNER);
        screen.bar.enable_steady_tick(Duration::from_millis(100));
        screen
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
        self.draw_as(SPINNER);
        self.bar.set_prefix(phase.words().1);
        self.bar.set_message("");
        self.bar.set_length(0);
        self.bar.reset();
    }

    /// A task of many begins.
    pub(crate) fn task(&self, name: &str, message: &str) {
        self.draw_as(TASK);
        self.bar.set_prefix(name.to_owned());
        self.bar.set_message(message.to_owned());
        self.bar.set_length(0);
        self.bar.reset();
    }

    /// So much of the task is done.
    pub(crate) fn step(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.draw_as(TASK_BAR);
        }
        self.bar.set_position(done);
    }

    /// So much is done, of so much where that is known.
    fn count(&self, done: u64, total: Option<u64>, message: String) {
        self.bar.set_message(message);
        match total {
            Some(total) => {
                self.bar.set_length(total);
                self.draw_as(BAR);
            }
            None => self.draw_as(COUNT),
        }
        self.bar.set_position(done);
    }

    fn draw_as(&self, template: &str) {
        // The templates are fixed and right; were they not, the bar would be plain.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("━╸─"));
    }
}

/// Follows long work: shows it, times it, and stops it on Ctrl-C.
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
    /// Begins with the first of these phases.
    pub(crate) fn new(screen: Screen, interrupt: Interrupt, phases: &[Phase]) -> Self {
        let now = Instant::now();
        let phase = phases.first().copied().unwrap_or(Phase::Read);
        screen.show(phase);
        let phases = Phases::new(phases);
        Self { screen, interrupt, begun: now, phase, since: now, phases, kl: None, shown: now }
    }

    /// A phase begins, and the one before it has ended.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.leave();
        self.phase = phase;
        self.screen.show(phase);
        if matches!(
            phase,
            Phase::Library(Stage::Optimise) | Phase::Library(Stage::Parameters) | Phase::Count | Phase::Write
        ) {
            self.interrupt.worth_keeping();
        }
    }

    fn leave(&mut self) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.phases.add(self.phase, seconds);
        self.since = Instant::now();
        self.screen.detail(&format!("{}: {seconds:.2} s", self.phase.words().1));
    }

    /// Hears the library. Answers `Break` once Ctrl-C was pressed and there is a map to keep.
    pub(crate) fn observe(&mut self, progress: &Progress<'_>) -> ControlFlow<()> {
        let phase = Phase::Library(progress.stage);
        if phase != self.phase {
            self.enter(phase);
        }
        if let Some(note) = progress.note {
            self.screen.detail(note);
            return ControlFlow::Continue(());
        }
        if let Some(kl) = progress.kl {
            self.kl = Some(kl);
            self.screen.detail(&format!("iteration {}: KL {kl:.4}", progress.done));
        }
        let (done, total) = (progress.done, progress.total);
        match (phase, self.kl) {
            (Phase::Library(Stage::Optimise), Some(kl)) => {
                self.count(done, Some(total), || format!("iteration {done}, KL {kl:.3}"));
            }
            (Phase::Library(Stage::Optimise), None) => {
                self.count(done, Some(total), || format!("iteration {done}"));
            }
            // Rows or epochs, as the method has it.
            (Phase::Library(Stage::Build), _) => {
                self.count(done, Some(total), || format!("{done} of {total}"))
            }
            _ => self.count(done, Some(total), || format!("{done} of {}", counted(total, "row"))),
        }
        // A map whose descent is over, stopped or not, is worth its radii and power: they take a moment.
        match self.interrupt.stopping() && phase != Phase::Library(Stage::Parameters) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Whether Ctrl-C was pressed since there is a map to keep.
    pub(crate) fn is_stopping(&self) -> bool {
        self.interrupt.stopping()
    }

    /// Standard error, for a word on the way.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// So many rows are done, of so many where that is known.
    pub(crate) fn rows(&mut self, done: usize, total: Option<usize>) {
        self.count(done as u64, total.map(|total| total as u64), || match total {
            Some(total) => format!("{done} of {}", counted(total, "row")),
            None => counted(done, "row"),
        });
    }

    fn count(&mut self, done: u64, total: Option<u64>, message: impl FnOnce() -> String) {
        if self.phase.is_counted() && self.shown.elapsed() >= SHOWN_EVERY {
            self.shown = Instant::now();
            self.screen.count(done, total, message());
        }
    }

    /// Ends the last phase and takes the bar away. Returns the seconds of each phase, and of all.
    pub(crate) fn finish(mut self) -> (Phases, f64) {
        self.leave();
        self.screen.close();
        (self.phases.clone(), self.begun.elapsed().as_secs_f64())
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        // An error's sentence must not stand beside half a bar.
        self.screen.close();
    }
}
