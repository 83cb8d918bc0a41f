//! The command line: strings become types here and nowhere else. What cannot be right is refused here too, before
//! any work, with exit code 2.

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum, value_parser};
use lion_tsne::{Fit, Init, Method, Metric, PcaChoice, Search};
use std::path::{Path, PathBuf};

/// t-SNE maps that stay alive: fit a map of a table, keep it in one file, look at it.
#[derive(Debug, Parser)]
#[command(
    name = "lion",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  lion demo                                   a map of handwritten digits, in a second or two
  lion fit data.csv --label species -o m.lion
  lion plot m.lion -o m.html
  lion info m.lion"
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
    Info(InfoArgs),
    Plot(PlotArgs),
    Demo(DemoArgs),
}

/// What every verb understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Print one JSON object, the summary, on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Same seed, same map, bit for bit
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        visible_alias = "random-state"
    )]
    pub(crate) seed: u64,
    /// Threads to use, 0 for all; the map does not depend on it
    #[arg(long, global = true, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u16,
    /// Say nothing but errors (and what --json prints)
    #[arg(short, long, global = true, action = ArgAction::SetTrue, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say what is chosen and how long each stage takes
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub(crate) verbose: bool,
}

/// Fit a t-SNE map to a table and keep it in one file
///
/// Tables: .npy, .csv, .csv.gz, .parquet, .arrow, .feather, .jsonl, IDX (…-idx3-ubyte, also .gz), or - for CSV on
/// standard input. Ctrl-C keeps the map reached so far; a second Ctrl-C abandons it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion fit data.csv -o m.lion
  lion fit cells.parquet --id barcode --label type --pca 30 -o cells.lion
  lion fit train.npy --labels classes.npy --perplexity 50 --json -o m.lion
  lion fit data.npy --embedding umap.npy -o m.lion      adopt a map made elsewhere
  zcat big.csv.gz | lion fit - -o m.lion")]
pub(crate) struct FitArgs {
    /// The table to map: one row for each point; - is CSV on standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Where to write the map; an old file there is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) preprocess: PreprocessArgs,
    #[command(flatten)]
    pub(crate) tsne: TsneArgs,
    /// Skip t-SNE and adopt the places in this table: one row of 2 or 3 columns for each row of DATA
    #[arg(long, value_name = "FILE", help_heading = "Map", conflicts_with_all = TSNE_FLAGS)]
    pub(crate) embedding: Option<PathBuf>,
}

/// Which columns are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct TableArgs {
    /// The column that names the rows
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,
    /// The column that labels the rows: kept for pictures, never used for fitting
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
}

/// What is done to the rows first.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preprocessing")]
pub(crate) struct PreprocessArgs {
    /// Principal components to keep, or none; auto is 50 where there are more columns
    #[arg(long, value_name = "auto|none|N", default_value = "auto", value_parser = pca, allow_negative_numbers = true)]
    pub(crate) pca: PcaChoice,
    /// Distance between rows
    #[arg(long, value_enum, default_value_t = MetricArg::Euclidean)]
    pub(crate) metric: MetricArg,
}

/// The flags of t-SNE: they and `--embedding` exclude each other.
const TSNE_FLAGS: [&str; 8] =
    ["perplexity", "iterations", "dims", "method", "init", "exaggeration", "learning_rate", "neighbours"];

/// How the map is made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map")]
pub(crate) struct TsneArgs {
    /// Effective number of neighbours; there must be three times as many other rows
    #[arg(long, value_name = "N", default_value_t = 30.0, value_parser = perplexity, allow_negative_numbers = true)]
    pub(crate) perplexity: f64,
    /// Iterations of the descent, a third of them exaggerated at the default
    #[arg(long, value_name = "N", default_value_t = 750, value_parser = value_parser!(u32).range(1..=10_000_000), allow_negative_numbers = true)]
    pub(crate) iterations: u32,
    /// Dimensions of the map, 2 or 3
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u8).range(2..=3), allow_negative_numbers = true)]
    pub(crate) dims: u8,
    /// How repulsion is computed; auto is exact or fft, the quicker at each step (plane), or barnes-hut (space)
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    pub(crate) method: MethodArg,
    /// Where rows start: pca, random, spectral, or a table of places
    #[arg(long, value_name = "HOW|FILE", default_value = "pca", value_parser = init)]
    pub(crate) init: InitArg,
    /// Factor of the early exaggeration
    #[arg(long, value_name = "X", default_value_t = 12.0, value_parser = exaggeration, allow_negative_numbers = true)]
    pub(crate) exaggeration: f64,
    /// Step length; auto is rows / exaggeration, then longer steps the more rows there are
    #[arg(long, value_name = "auto|X", default_value = "auto", value_parser = learning_rate, allow_negative_numbers = true)]
    pub(crate) learning_rate: LearningRate,
    /// How neighbours are found; auto is exact up to 30 000 rows
    #[arg(long, value_enum, default_value_t = SearchArg::Auto, alias = "neighbors")]
    pub(crate) neighbours: SearchArg,
}

/// Show what a map file holds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion info m.lion
  lion info m.lion --json")]
pub(crate) struct InfoArgs {
    /// A map file written by lion fit
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
}

/// Draw a map: one self-contained page, or a figure for a paper
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion plot m.lion -o m.html                  to look around in: pan, zoom, hover, search
  lion plot m.lion -o m.svg                   for a paper
  lion plot m.lion -o m.png --width 2400 --title \"Digits\"")]
pub(crate) struct PlotArgs {
    /// A map file written by lion fit
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// Where to draw it: .html, .svg or .png
    #[arg(short, long, value_name = "FILE", value_parser = picture)]
    pub(crate) output: Picture,
    /// The headline; the name of the map file unless given
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Width of a .png in pixels, 1600 unless given
    #[arg(long, value_name = "PX", value_parser = value_parser!(u32).range(100..=10_000), allow_negative_numbers = true)]
    pub(crate) width: Option<u32>,
}

/// Map the 2500 handwritten digits that come with lion, to see it work
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion demo
  lion demo --out /tmp/digits")]
pub(crate) struct DemoArgs {
    /// The folder for the map and its pictures
    #[arg(long, value_name = "DIR", default_value = "lion-demo")]
    pub(crate) out: PathBuf,
}

/// A picture's file and kind.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
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

/// `--metric`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MetricArg {
    Euclidean,
    Cosine,
}

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    Auto,
    Exact,
    BarnesHut,
    Fft,
}

/// `--neighbours`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SearchArg {
    Auto,
    Exact,
    Approximate,
}

/// `--init`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InitArg {
    Pca,
    Random,
    Spectral,
    File(PathBuf),
}

/// `--learning-rate`: `None` is auto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LearningRate(Option<f64>);

impl Cli {
    /// The arguments of this process. Ends it with a sentence and exit code 2 where they are wrong.
    pub(crate) fn of_process() -> Self {
        let cli = Self::parse();
        let Some((verb, problem)) = cli.contradiction() else { return cli };
        let mut command = Self::command();
        command.build();
        let error = match command.find_subcommand_mut(verb) {
            Some(verb) => verb.error(ErrorKind::ArgumentConflict, problem),
            None => Self::command().error(ErrorKind::ArgumentConflict, problem),
        };
        error.exit()
    }

    /// What no single flag shows to be wrong, with the verb it is wrong in.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        match &self.verb {
            Verb::Fit(args) if args.tsne.dims == 3 && args.tsne.method == MethodArg::Fft => Some((
                "fit",
                "--method fft is for maps of 2 dimensions: use barnes-hut or auto with --dims 3",
            )),
            Verb::Plot(args) if args.width.is_some() && args.output.kind != PictureKind::Png => {
                Some(("plot", "--width is for .png files: .svg and .html have no size in pixels"))
            }
            _ => None,
        }
    }
}

impl FitArgs {
    /// The fit that was asked for, but for a first layout from a file, which has to be read first.
    pub(crate) fn fit(&self, common: &Common) -> Fit {
        let tsne = &self.tsne;
        Fit {
            perplexity: tsne.perplexity,
            iterations: tsne.iterations as usize,
            exaggeration: tsne.exaggeration,
            learning_rate: tsne.learning_rate.0,
            dims: usize::from(tsne.dims),
            metric: match self.preprocess.metric {
                MetricArg::Euclidean => Metric::Euclidean,
                MetricArg::Cosine => Metric::Cosine,
            },
            pca: self.preprocess.pca,
            method: match tsne.method {
                MethodArg::Auto => Method::Auto,
                MethodArg::Exact => Method::Exact,
                MethodArg::BarnesHut => Method::BarnesHut,
                MethodArg::Fft => Method::Fft,
            },
            init: match tsne.init {
                InitArg::Pca | InitArg::File(_) => Init::Pca,
                InitArg::Random => Init::Random,
                InitArg::Spectral => Init::Spectral,
            },
            search: match tsne.neighbours {
                SearchArg::Auto => Search::Auto,
                SearchArg::Exact => Search::Exact,
                SearchArg::Approximate => Search::Approximate,
            },
            seed: common.seed,
            threads: usize::from(common.threads),
            ..Fit::default()
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "this is not a number".into())
}

fn perplexity(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value >= 1.0 && value.is_finite() { Ok(value) } else { Err("it must be a number from 1 on".into()) }
}

fn exaggeration(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if (1.0..=1e4).contains(&value) { Ok(value) } else { Err("it must be from 1 to 10000".into()) }
}

fn learning_rate(text: &str) -> Result<LearningRate, String> {
    if text == "auto" {
        return Ok(LearningRate(None));
    }
    match text.parse() {
        Ok(rate) if rate > 0.0 && f64::is_finite(rate) => Ok(LearningRate(Some(rate))),
        _ => Err("it must be auto or a number above 0".into()),
    }
}

fn pca(text: &str) -> Result<PcaChoice, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Fit::default().pca),
        ("none", _) => Ok(PcaChoice::None),
        (_, Ok(components)) if components > 0 => Ok(PcaChoice::Components(components)),
        _ => Err("it must be auto, none or a number from 1 on".into()),
    }
}

fn init(text: &str) -> Result<InitArg, String> {
    match text {
        "pca" => Ok(InitArg::Pca),
        "random" => Ok(InitArg::Random),
        "spectral" => Ok(InitArg::Spectral),
        _ if Path::new(text).extension().is_some() => Ok(InitArg::File(text.into())),
        _ => Err("it must be pca, random, spectral, or a table of places such as y.npy".into()),
    }
}

fn picture(text: &str) -> Result<Picture, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let kind = match extension.as_deref() {
        Some("html") => PictureKind::Html,
        Some("svg") => PictureKind::Svg,
        Some("png") => PictureKind::Png,
        _ => return Err("a picture's name must end in .html, .svg or .png".into()),
    };
    Ok(Picture { path, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let cli = Cli::parse_from(["lion", "fit", "a.csv", "-o", "a.lion"]);
        let Verb::Fit(args) = &cli.verb else { panic!("this is a fit") };
        assert_eq!(format!("{:?}", args.fit(&cli.common)), format!("{:?}", Fit::default()));
    }

    #[test]
    fn texts_become_types() {
        assert_eq!(pca("30"), Ok(PcaChoice::Components(30)));
        assert_eq!(pca("none"), Ok(PcaChoice::None));
        assert!(pca("0").is_err() && pca("-3").is_err() && pca("some").is_err());
        assert_eq!(learning_rate("auto"), Ok(LearningRate(None)));
        assert_eq!(learning_rate("200"), Ok(LearningRate(Some(200.0))));
        assert!(
            learning_rate("0").is_err() && learning_rate("nan").is_err() && learning_rate("inf").is_err()
        );
        assert!(perplexity("0.5").is_err() && perplexity("NaN").is_err() && perplexity("inf").is_err());
        assert_eq!(init("y.npy"), Ok(InitArg::File("y.npy".into())));
        assert!(init("middle").is_err());
        assert_eq!(picture("a/B.PNG").map(|picture| picture.kind), Ok(PictureKind::Png));
        assert!(picture("a").is_err() && picture("a.pdf").is_err());
    }
}
