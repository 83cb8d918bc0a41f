//! `lion evaluate`: what can be chosen.

use super::TableArgs;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lion_evaluate::experiments::Experiment;
use std::path::PathBuf;

/// Compare every way of placing new rows, as the paper does, in one report
///
/// All methods of the paper and some it does not have, its two tests, its large test and its complexity analysis, with
/// the published figures beside ours. Works on handwritten digits that come with the program; --data takes all of
/// MNIST. Writes report.html, report.json and each figure as SVG and PNG. Finished stages are kept in the folder: a run
/// that was stopped goes on where it was when the same command is given again.
///
/// With a table of your own, --data FILE --label COL, it is the experiments that make sense there: a part of the rows is kept
/// aside, and placed in a map of the others. How good are their places, and their labels? Are as many called outliers as
/// promised? Are classes found that the map does not know?
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion evaluate -o report --quick                      a first look, in two minutes or so
  lion evaluate -o report                              the whole report on the embedded digits, in 10 to 15 minutes
  lion evaluate -o report --only cluster,outliers      the paper's two tests
  lion evaluate -o large --data data/mnist --only large
                                                       60000 x 784 and parametric t-SNE; takes a while
  cargo xtask data mnist                               fetches MNIST into data/mnist
  lion evaluate -o report --data flowers.csv --label species
                                                       the same questions, asked of your own table")]
pub(crate) struct EvaluateArgs {
    /// The folder for the report; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// A folder with MNIST as four IDX files, gzipped or not, or a table with labels; without it, the digits that come with
    /// the program
    #[arg(long, value_name = "DIR|TABLE")]
    pub(crate) data: Option<PathBuf>,
    /// These parts only; unless given, all but large, and large too where --data is given
    #[arg(long, value_parser = experiment(), value_name = "PART,…", value_delimiter = ',')]
    pub(crate) only: Vec<Experiment>,
    /// Fewer test rows, fewer epochs, smaller sizes: for trying it out; the report says so
    #[arg(long)]
    pub(crate) quick: bool,
    /// The digit that a second map is fitted without, to see what becomes of a kind that the map does not know
    #[arg(long, value_name = "0-9", default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) held_out: u8,
    /// Epochs of each network in the grid search of 160, 300 unless given (20 with --quick); the paper's 5000 take more
    /// than an hour
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) grid_epochs: Option<u32>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// `--only`: a part of the evaluation, by its name.
fn experiment() -> impl TypedValueParser<Value = Experiment> {
    let part = |part: Experiment| PossibleValue::new(part.as_str()).help(part.about());
    PossibleValuesParser::new(Experiment::ALL.map(part)).try_map(|name| name.parse())
}

impl EvaluateArgs {
    /// The table, if one is given and no folder.
    pub(crate) fn table_file(&self) -> Option<&PathBuf> {
        self.data.as_ref().filter(|data| data.is_file())
    }

    fn has_labels(&self) -> bool {
        self.table.label.is_some() || self.table.labels.is_some()
    }

    /// What is wrong with the choice of data and parts, if anything is.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        match self.table_file() {
            Some(_) if !self.only.is_empty() => {
                Some("--only chooses among the paper's experiments on digits: leave it out with a table")
            }
            Some(_) if !self.has_labels() => Some(
                "a table needs labels to be evaluated on: name their column with --label, or give --labels a file",
            ),
            None if self.has_labels() => Some(
                "--label and --labels are for a table: give --data a file that is there; the digits have their own labels",
            ),
            None if self.data.is_none() && self.only.contains(&Experiment::Large) => Some(
                "the large test needs all of MNIST: fetch it with cargo xtask data mnist, and give --data data/mnist",
            ),
            _ => None,
        }
    }

    /// Epochs of the grid search.
    pub(crate) fn epochs_of_grid(&self) -> usize {
        self.grid_epochs.unwrap_or(if self.quick { 20 } else { 300 }) as usize
    }

    /// The experiments asked for, in order.
    pub(crate) fn experiments(&self) -> Vec<Experiment> {
        let mut experiments: Vec<Experiment> = match &self.only[..] {
            [] => Experiment::ALL
                .into_iter()
                .filter(|&one| one != Experiment::Large || self.data.is_some() && !self.quick)
                .collect(),
            only => only.to_vec(),
        };
        experiments.sort();
        experiments.dedup();
        experiments
    }
}
