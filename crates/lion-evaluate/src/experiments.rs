//! Every method and experiment of the paper, and what became of each, in one report.

mod any_table;
mod calibration;
mod claims;
mod complexity;
mod contenders;
mod differences;
mod document;
mod error;
mod figures;
mod large;
mod results;
mod scores;
mod sets;
mod stages;
mod strangers;
mod sweeps;
mod tables;
mod trial;
mod two_tests;
mod write;

pub use any_table::{TableEvaluation, TableReport};
pub use error::{EvaluationError, Result};
pub use write::{EvaluationReport, ReportSummary};

use crate::digits::MnistImages;
use contenders::Entry;
use results::{LargeTest, Material, Results, RunFacts};
use stages::Stages;
use std::path::PathBuf;
use std::time::Duration;

/// Epochs of the networks: the paper's, and those of a quick run.
const EPOCHS: [usize; 2] = [5000, 250];

/// One of the paper's experiments, or one beside them: [`about`](Experiment::about) says what each looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`about` has a sentence for each")]
pub enum Experiment {
    Cluster,
    Outliers,
    Others,
    Complexity,
    Grid,
    Large,
}

lion_tsne::named!(Experiment, "experiment": Cluster = "cluster", Outliers = "outliers", Others = "others", Complexity = "complexity", Grid = "grid", Large = "large");

impl Experiment {
    /// What it looks at, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Cluster => "The cluster attribution test: unseen digits that are close to known ones",
            Self::Outliers => "The outlier test: images of noise",
            Self::Others => {
                "What the paper's sets cannot show: ordinary unseen digits, letters, a digit held out of the map"
            }
            Self::Complexity => "Time to build and time for each row against the number of rows and columns",
            Self::Grid => "The grid search over networks",
            Self::Large => "60000 x 784 with parametric t-SNE; needs --data",
        }
    }
}

/// What to evaluate, and how.
pub struct Evaluation {
    /// Where the report goes, and where finished stages are kept meanwhile.
    pub folder: PathBuf,
    /// Which experiments are run.
    pub experiments: Vec<Experiment>,
    /// All of MNIST; without it, the digits that come along.
    pub mnist: Option<MnistImages>,
    /// Fewer test rows, fewer epochs, smaller sizes.
    pub quick: bool,
    /// The digit that a second map is fitted without, from 0 to 9.
    pub held_out: u8,
    /// Epochs of each network in the grid search.
    pub grid_epochs: usize,
    /// Everything random depends on it.
    pub seed: u64,
}

/// Hears how an evaluation goes.
pub trait EvaluationObserver: Sync {
    /// A word on the way.
    fn say(&self, text: &str);

    /// A stage begins; about so long will it and all stages after it take.
    fn begin(&self, stage: &str, remaining: Duration);

    /// So much of the stage is done.
    fn step(&self, done: u64, total: u64);

    /// A stage has ended, and its result is kept.
    fn end(&self, stage: &str, taken: Duration);
}

impl Evaluation {
    /// Refuses, before any work, what cannot be done with this data.
    pub fn check(&self) -> Result<()> {
        match &self.mnist {
            Some(mnist) if self.has(Experiment::Large) => large::check(mnist),
            None if self.has(Experiment::Large) => {
                Err(EvaluationError::Refused("the large test needs MNIST".into()))
            }
            _ => Ok(()),
        }
    }

    /// Runs every experiment on the threads of the pool it is called in. Stages that an earlier run finished are not done
    /// again.
    pub fn run(&self, observer: &dyn EvaluationObserver) -> Result<EvaluationReport> {
        self.check()?;
        write::make_folder(&self.folder)?;
        EvaluationRun::new(self, observer)?.run()
    }

    fn has(&self, experiment: Experiment) -> bool {
        self.experiments.contains(&experiment)
    }

    fn epochs(&self) -> usize {
        EPOCHS[usize::from(self.quick)]
    }

    /// About how many seconds all of it takes.
    fn expected(&self) -> f64 {
        let seconds = |experiment: &Experiment| match (experiment, self.quick) {
            (Experiment::Cluster | Experiment::Outliers, false) => 250.0,
            (Experiment::Cluster | Experiment::Outliers, true) => 30.0,
            (Experiment::Others, false) => 380.0,
            (Experiment::Others, true) => 48.0,
            (Experiment::Complexity, false) => 120.0,
            (Experiment::Complexity, true) => 8.0,
            (Experiment::Grid, _) => 0.7 * self.grid_epochs as f64,
            (Experiment::Large, _) => 1300.0,
        };
        self.experiments.iter().map(seconds).sum()
    }
}

/// An evaluation at work.
struct EvaluationRun<'a> {
    evaluation: &'a Evaluation,
    observer: &'a dyn EvaluationObserver,
    stages: Stages<'a>,
}

impl<'a> EvaluationRun<'a> {
    fn new(evaluation: &'a Evaluation, observer: &'a dyn EvaluationObserver) -> Result<Self> {
        // Threads change no place, but every time.
        let key = format!(
            "seed {} quick {} threads {} mnist {:016x}",
            evaluation.seed,
            evaluation.quick,
            rayon::current_num_threads(),
            evaluation.mnist.as_ref().map_or(0, MnistImages::fingerprint)
        );
        let stages = Stages::new(&evaluation.folder, &key, evaluation.expected(), observer)?;
        Ok(Self { evaluation, observer, stages })
    }

    fn run(mut self) -> Result<EvaluationReport> {
        if self.evaluation.has(Experiment::Large) {
            self.observer.say(&large::check_memory()?);
        }
        let on_a_map = [Experiment::Cluster, Experiment::Outliers, Experiment::Others, Experiment::Grid];
        let tested = match on_a_map.iter().any(|&experiment| self.evaluation.has(experiment)) {
            true => Some(two_tests::run(&mut self)?),
            false => None,
        };
        let complexity = self.complexity()?;
        let large = self.large()?;
        let data = match (&tested, self.evaluation.mnist.is_some()) {
            (Some(tested), _) => tested.source.clone(),
            (None, true) => "MNIST".into(),
            (None, false) => "rows made up for measuring".into(),
        };
        let run = self.facts(data);
        let (found, material) = match tested {
            Some(tested) => (tested.found, tested.material),
            None => Default::default(),
        };
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
        let entries: &[Entry] = material.as_ref().map_or(&[], |material: &Material| &material.entries);
        results.claims = claims::claims(&results, entries);
        results.differences = differences::differences(&results, entries);
        EvaluationReport::new(results, material.as_ref())
    }

    fn facts(&self, data: String) -> RunFacts {
        let evaluation = self.evaluation;
        let name = |experiment: &Experiment| format!("{experiment:?}").to_lowercase();
        RunFacts {
            version: env!("CARGO_PKG_VERSION"),
            data,
            seed: evaluation.seed,
            threads: rayon::current_num_threads(),
            quick: evaluation.quick,
            parts: evaluation.experiments.iter().map(name).collect(),
            epochs: evaluation.epochs(),
            machine: machine(),
            seconds: self.stages.seconds,
            kept: self.stages.kept,
        }
    }

    fn complexity(&mut self) -> Result<Vec<complexity::Timing>> {
        let mut timings = Vec::new();
        if self.evaluation.has(Experiment::Complexity) {
            let seed = self.evaluation.seed;
            for size in complexity::sizes(self.evaluation.quick) {
                let name = format!("complexity {} x {}", size[0], size[1]);
                let expected = 0.2 + size[0] as f64 / 1500.0;
                timings.extend(self.stages.stage(&name, expected, |_| complexity::measure(size, seed))?);
            }
        }
        Ok(timings)
    }

    fn large(&mut self) -> Result<Option<LargeTest>> {
        let evaluation = self.evaluation;
        let Some(mnist) = evaluation.mnist.as_ref().filter(|_| evaluation.has(Experiment::Large)) else {
            return Ok(None);
        };
        let (quick, seed) = (evaluation.quick, evaluation.seed);
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
        Ok(Some(LargeTest {
            training_seconds: trained.seconds,
            parametric,
            on_parametric,
            fit_seconds,
            on_tsne,
        }))
    }
}

/// The processor and how much memory there is, as far as the system tells.
fn machine() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{model}, {cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
