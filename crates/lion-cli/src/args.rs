//! The command line: strings become types here and nowhere else. What cannot be right is refused here too, before
//! any work, with exit code 2.

mod calibrate;
mod compare;
mod diff;
mod evaluate;
mod explain;
mod fit;
mod method;
mod place;
mod placing;
mod quality;
mod replay;
mod serve;
mod shell;
mod stream;
mod update;
mod value;

pub(crate) use calibrate::CalibrateArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use diff::{DiffArgs, DiffOutput};
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use explain::{ExplainArgs, ExplainOutput, ValueArgs};
pub(crate) use fit::{FitArgs, LandmarkArgs};
pub(crate) use place::PlaceArgs;
pub(crate) use placing::PlacingArgs;
pub(crate) use quality::QualityArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use serve::{ExportArgs, NetworkArgs, ServeArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use stream::{StreamArgs, WatchArgs};
pub(crate) use update::UpdateArgs;
pub(crate) use value::InitArg;

use clap::error::ErrorKind;
use clap::{
    ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser,
};
use lion_server::Rules;
use lion_table::{Header, ReadOptions};
use lion_tsne::Method;
use lion_tsne::numerics::Registers;
use lion_tsne::recipe::{Missing, Scale};
use std::ffi::OsString;
use std::path::PathBuf;

/// t-SNE maps that stay alive: fit a map of a table, keep it in one file, place new rows into it.
#[derive(Debug, Parser)]
#[command(
    name = "lion",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  lion demo                                   handwritten digits: fit, place, look; in a few seconds
  lion fit data.csv --label species -o m.lion
  lion place m.lion new.csv -o placed.csv
  lion update m.lion new.csv -o next.lion     a map with the new rows too, that keeps its shape
  lion plot m.lion -o m.html
  lion explain m.lion                         what sets each cluster apart, and a name for it
  lion info m.lion
  lion quality m.lion                         how well does it keep what the rows are like?
  lion columns data.csv                       what each column is, and what fit would do with it
  lion diff old.lion new.lion -o d.html       watch one map become another
  lion stream m.lion < changes.jsonl          points that come, change and go; events
  lion serve m.lion                           the same with a dashboard, a store and an HTTP API
  lion replay points.db -o replay.html        the history of that store, as one page to send to somebody
  lion evaluate -o report                     every method of the paper, compared"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Fit(Box<FitArgs>),
    Place(Box<PlaceArgs>),
    Update(Box<UpdateArgs>),
    Calibrate(Box<CalibrateArgs>),
    Info(InfoArgs),
    Quality(Box<QualityArgs>),
    Columns(ColumnsArgs),
    Plot(PlotArgs),
    Explain(ExplainArgs),
    Diff(DiffArgs),
    Evaluate(Box<EvaluateArgs>),
    Stream(Box<StreamArgs>),
    Serve(Box<ServeArgs>),
    Compare(CompareArgs),
    Export(ExportArgs),
    Replay(Box<ReplayArgs>),
    Demo(DemoArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// What every verb understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Print one JSON object, the summary, on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Same seed, same result, bit for bit
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        visible_alias = "random-state"
    )]
    pub(crate) seed: u64,
    /// Threads to use, 0 for all; the result does not depend on it
    #[arg(long, global = true, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u16,
    /// Say nothing but errors (and what --json prints)
    #[arg(short, long, global = true, action = ArgAction::SetTrue, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say what is chosen and how long each stage takes
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub(crate) verbose: bool,
    /// All arguments as they were typed, without the program's own name.
    #[arg(skip)]
    pub(crate) typed: Vec<String>,
}

/// Which columns are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct TableArgs {
    /// The column that names the rows
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,
    /// The column that labels the rows: for pictures and accuracy, never used for fitting or placing
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,
    /// Labels from a file of their own, one for each row: .npy, idx1-ubyte, or text, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "label")]
    pub(crate) labels: Option<PathBuf>,
    /// Use these columns only
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Leave these columns out
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// Whether the first line of a CSV table names the columns; auto: if none of it is a number
    #[arg(long, value_enum, default_value_t = HeaderArg::Auto)]
    pub(crate) header: HeaderArg,
}

/// What becomes of columns before a map sees them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// How numbers are scaled: standard (less the mean, divided by the standard deviation), robust (by median and quartiles),
    /// none; auto leaves columns that share a unit as they are, scales them by standard where units differ, and says why
    #[arg(long, value_name = "auto|standard|robust|none", default_value = "auto", value_parser = value::scale())]
    pub(crate) scale: Scale,
    /// What becomes of gaps: the column's mean or median takes their place, rows with one are left out (drop), or they are
    /// refused; median unless given, and refuse for .npy and IDX
    #[arg(long, value_name = "mean|median|drop|refuse", value_parser = value::missing())]
    pub(crate) missing: Option<Missing>,
    /// Refuse whatever is no plain number, and scale nothing
    #[arg(long, conflicts_with_all = ["scale", "missing"])]
    pub(crate) strict: bool,
}

/// Show what each column of a table is, and what lion fit would do with it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion columns customers.csv
  lion columns customers.csv --id customer --scale robust
  lion columns customers.parquet --json")]
pub(crate) struct ColumnsArgs {
    /// The table; several files are one table. - is CSV on standard input
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    /// The columns that lion fit --show would keep for people: they are no features unless --columns names them as well
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) show: Vec<String>,
}

impl TableArgs {
    /// How the table is to be read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            label: self.label.clone(),
            group: None,
            columns: self.columns.clone(),
            exclude: self.exclude.clone(),
            header: match self.header {
                HeaderArg::Auto => Header::Auto,
                HeaderArg::Yes => Header::Yes,
                HeaderArg::No => Header::No,
            },
            ..ReadOptions::default()
        }
    }
}

/// `--header`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum HeaderArg {
    Auto,
    Yes,
    No,
}

/// Show what a map file holds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion info m.lion
  lion info m.lion --json")]
pub(crate) struct InfoArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
}

/// Draw a map: one self-contained page, or a figure for a paper
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion plot m.lion -o m.html                  to look around in: pan, zoom, hover, search
  lion plot m.lion -o m.svg                   for a paper
  lion plot m.lion -o m.png --width 2400 --title \"Digits\"
  lion plot m.lion --color year --color country -o m.html   by other columns, to choose from
  lion plot m.lion --placements placed.csv -o m.html        with the rows placed later
  lion plot m.lion --placements 'placed/*.parquet' -o m.html")]
pub(crate) struct PlotArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// Where to draw it: .html, .svg or .png
    #[arg(short, long, value_name = "FILE", value_parser = value::picture)]
    pub(crate) output: PictureArgs,
    /// Also show the rows placed by lion place: the file that it wrote, a pattern of files, or a folder of Parquet files as
    /// Spark, Ray and Dask write them
    #[arg(long, value_name = "FILE")]
    pub(crate) placements: Option<PathBuf>,
    /// Colour by this column, one that the map was fitted to or keeps for people (lion fit --show): numbers get a scale, words
    /// colours. Several times for several choices in a page; .svg and .png take the first. The labels unless given
    #[arg(long, value_name = "COL", alias = "colour")]
    pub(crate) color: Vec<String>,
    /// Colour the placed rows by these labels, one for each: .npy, idx1-ubyte, or text, one a line; unless given, by the
    /// column label of the placements
    #[arg(long, value_name = "FILE", requires = "placements")]
    pub(crate) placed_labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Names of clusters edited by hand, as lion explain --names and the page itself write them
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
    /// Write no names of clusters on a map without labels
    #[arg(long, conflicts_with = "names")]
    pub(crate) no_names: bool,
    /// The headline; the name of the map file unless given
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Width of a .png in pixels, 1600 unless given
    #[arg(long, value_name = "PX", value_parser = value_parser!(u32).range(100..=10_000), allow_negative_numbers = true)]
    pub(crate) width: Option<u32>,
}

/// Map the handwritten digits that come with lion and place unseen ones and noise, to see it work
///
/// Fits a map of 2500 digits, places 1000 unseen digits and 100 images of noise in it, says how well, and writes the
/// map, the placements and pictures of both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion demo
  lion demo --out digits
  lion demo --serve                           a live map: watch digits land, a new one form a cluster
  lion demo --serve --speed 3 --port 0")]
pub(crate) struct DemoArgs {
    /// The folder for the map, the placements and the pictures
    #[arg(long, value_name = "DIR", default_value = "lion-demo")]
    pub(crate) out: PathBuf,
    /// Serve a live map of all digits but one and play digits into it, until Ctrl-C: unseen ones land, some change, a kind
    /// stops coming, noise bursts in, and the digit that the map has never seen forms a new cluster
    #[arg(long)]
    pub(crate) serve: bool,
    /// The port of the live map; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = serve::PORT, requires = "serve")]
    pub(crate) port: u16,
    /// How many times as quick as usual
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = value::speed, requires = "serve", allow_negative_numbers = true)]
    pub(crate) speed: f64,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = value::seconds, requires = "serve", allow_negative_numbers = true)]
    pub(crate) seconds: Option<f64>,
}

/// A picture's file and kind.
#[derive(Clone, Debug)]
pub(crate) struct PictureArgs {
    pub(crate) path: PathBuf,
    pub(crate) kind: PictureKind,
}

/// The kinds of pictures there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureKind {
    Html,
    Svg,
    Png,
}

impl Cli {
    /// The arguments of a process, its own name first; or what is wrong with them, which also tells the exit code.
    pub(crate) fn of(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::by(&mut Self::command(), args)
    }

    /// The same by [`Self::command`], which may have read other arguments before.
    pub(crate) fn by(
        command: &mut Command,
        args: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let args: Vec<OsString> = args.into_iter().collect();
        let mut found = command.try_get_matches_from_mut(&args)?;
        let mut cli = Self::from_arg_matches_mut(&mut found).map_err(|problem| problem.format(command))?;
        if let Err(refused) = Registers::asked_for() {
            return Err(command.error(ErrorKind::InvalidValue, refused));
        }
        cli.common.typed = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let Some((verb, problem)) = cli.contradiction() else { return Ok(cli) };
        command.build();
        Err(match command.find_subcommand_mut(verb) {
            Some(verb) => verb.error(ErrorKind::ArgumentConflict, problem),
            None => command.error(ErrorKind::ArgumentConflict, problem),
        })
    }

    /// What no single flag shows to be wrong, with the verb it is wrong in.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        match &self.verb {
            Verb::Fit(args) if args.tsne.dims != 2 && args.tsne.method == Method::Fft => {
                Some(("fit", "--method fft is for maps of 2 dimensions: use barnes-hut or auto with 1 or 3"))
            }
            Verb::Fit(args) if has_standard_input(&args.data) && args.data.len() > 1 => Some(("fit", ALONE)),
            Verb::Fit(args) if has_standard_input(&args.data) && args.landmarks.count_beyond => Some((
                "fit",
                "--count-beyond reads the table twice, and standard input can be read once: give a file",
            )),
            Verb::Fit(args)
                if args.landmarks.stratify && args.table.label.is_none() && args.table.labels.is_none() =>
            {
                Some(("fit", "--stratify shares landmarks out by label: give --label or --labels"))
            }
            Verb::Fit(args)
                if args.landmarks.landmarks.is_some() && matches!(args.tsne.init, InitArg::File(_)) =>
            {
                Some((
                    "fit",
                    "--init FILE has a place for each row, and landmarks are some of the rows: use pca, random or spectral",
                ))
            }
            Verb::Update(args) if has_standard_input(&args.data) && args.data.len() > 1 => {
                Some(("update", ALONE))
            }
            Verb::Place(args) if has_standard_input(&args.data) && args.data.len() > 1 => {
                Some(("place", ALONE))
            }
            Verb::Place(args) if self.common.json && args.output_file().is_none() => {
                Some(("place", "--json and -o - both want standard output: give -o a file"))
            }
            // Clap lets it pass where --port stands in the way of the other.
            #[cfg(unix)]
            Verb::Serve(args) if args.network.unix_socket.is_none() && args.network.socket_mode != 0o600 => {
                Some(("serve", "--socket-mode is of the file that --unix-socket names: give that, too"))
            }
            Verb::Serve(args) if args.network.is_open() && args.network.token_file.is_none() => Some((
                "serve",
                "--host beyond this machine, or --socket-mode for all users, needs --token-file: without a token anybody could read and change the points",
            )),
            Verb::Serve(args) if args.alerts.webhook.is_some() && args.alerts.rules() == Rules::default() => {
                Some((
                    "serve",
                    "--webhook is never called: add --alert-outlier-rate, --alert-staleness or --alert-new-cluster",
                ))
            }
            Verb::Evaluate(args) => args.contradiction().map(|problem| ("evaluate", problem)),
            Verb::Plot(args) if args.width.is_some() && args.output.kind != PictureKind::Png => {
                Some(("plot", "--width is for .png files: .svg and .html have no size in pixels"))
            }
            _ => None,
        }
    }
}

const ALONE: &str = "- is standard input, which cannot be one of several files: give - alone, or files alone";

fn has_standard_input(data: &[PathBuf]) -> bool {
    data.iter().any(|path| path.as_os_str() == "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::{Fit, LionOptions};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let cli = Cli::parse_from(["lion", "fit", "a.csv", "-o", "a.lion"]);
        let Verb::Fit(args) = &cli.verb else { panic!("this is a fit") };
        assert_eq!(format!("{:?}", args.fit(&cli.common)), format!("{:?}", Fit::default()));
        let cli = Cli::parse_from(["lion", "place", "a.lion", "b.csv", "-o", "b.parquet"]);
        let Verb::Place(args) = &cli.verb else { panic!("this is a place") };
        assert_eq!(
            format!("{:?}", args.rules.lion.options(&cli.common)),
            format!("{:?}", LionOptions::default())
        );
    }
}
