//! `lion fit`: what can be chosen.

use super::value::{self, ImageArg, InitArg, Iterations, LearningRate, Perplexity, Power};
use super::{ColumnArgs, Common, PictureArgs, TableArgs};
use clap::{Args, value_parser};
use lion_tsne::index::Search;
use lion_tsne::{Descent, Fit, Init, Method, Metric, PcaChoice, Radius};
use std::path::PathBuf;

/// Fit a t-SNE map to a table and keep it in one file
///
/// Tables: .npy, .csv, .csv.gz, .parquet, .arrow, .feather, .jsonl, .json, IDX (…-idx3-ubyte, also .gz), or - for CSV on
/// standard input. Several files, and patterns such as 'part-*.parquet', are one table. Ctrl-C keeps the map reached so
/// far; a second Ctrl-C abandons it.
///
/// Columns need not be numbers: booleans and dates become numbers, text of few different values becomes a category, other text
/// is left out, gaps are filled. Columns of different units are scaled. What is done is said, kept in the map, and done to every
/// row that is placed later. lion columns DATA shows it beforehand.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion fit data.csv -o m.lion
  lion fit customers.csv --id customer -o m.lion        text, dates, gaps and units are seen to
  lion fit customers.csv -o customers.lion --page customers.html   and a page with names on its clusters
  lion fit cells.parquet --id barcode --label type --pca 30 -o cells.lion
  lion fit train.npy --labels classes.npy --perplexity 50 --json -o m.lion
  lion fit data.npy --radius 95% --power 20 -o m.lion   how new rows will be placed
  lion fit papers.parquet --show title,abstract,url -o papers.lion
  lion fit digits.csv --label digit --image 28x28 -o digits.lion
  lion fit data.npy --embedding umap.npy -o m.lion      adopt a map made elsewhere
  lion fit 'big/*.parquet' --id key --landmarks 50000 -o m.lion      more rows than memory
  lion fit a.csv b.csv --label kind --landmarks 10000 --stratify --cover -o m.lion
  lion fit big.parquet --memory 4GB -o m.lion           landmarks, if all rows would take more
  zcat big.csv.gz | lion fit - -o m.lion")]
pub(crate) struct FitArgs {
    /// The table to map: one row for each point. Several files are one table, in this order; those of a pattern are
    /// sorted by name. - is CSV on standard input
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the map; an old file there is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Also draw the map: a page with names on its clusters, as lion plot makes it (.html, or .svg, .png)
    #[arg(long, value_name = "FILE", value_parser = value::picture)]
    pub(crate) page: Option<PictureArgs>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) landmarks: LandmarkArgs,
    /// The most memory to take, such as 300MB or 4GB; what the system can give unless given. It goes by an estimate, and the peak
    /// may be up to a fifth higher. Where a map of all rows would take more, as many landmarks as fit are mapped instead, and it
    /// says so; -v says what it will take and what for
    #[arg(long, value_name = "SIZE", help_heading = "Landmarks", value_parser = value::memory)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) preprocess: PreprocessArgs,
    #[command(flatten)]
    pub(crate) tsne: TsneArgs,
    /// Rows are pictures of this size, line by line from the top: the dashboard of lion serve shows them. x3 for colours;
    /// none to keep none; as the file says for IDX unless given
    #[arg(long, value_name = "WxH|WxHx3|none", help_heading = "Columns", value_parser = value::image)]
    pub(crate) image: Option<ImageArg>,
    /// Keep these columns with the map for people to read: titles, texts, links, numbers, images (a column of bytes, paths or
    /// addresses). lion plot and the dashboard show them beside the points; fitting and placing do not use them, unless
    /// --columns names them as well
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) show: Vec<String>,
    /// Skip t-SNE and adopt the places in this table: one row of 1 to 3 columns for each row of DATA
    #[arg(long, value_name = "FILE", help_heading = "Map", conflicts_with_all = TSNE_FLAGS)]
    pub(crate) embedding: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lion: LionArgs,
}

/// A map of some rows that stand for all.
#[derive(Debug, Args)]
#[command(next_help_heading = "Landmarks")]
pub(crate) struct LandmarkArgs {
    /// Map so many rows only, chosen by a hash of their ids or numbers while the table passes by once, in memory that does
    /// not grow with it; PCA is that of all rows. lion place puts the others in
    #[arg(long, value_name = "N", conflicts_with = "embedding", value_parser = value_parser!(u32).range(4..), allow_negative_numbers = true)]
    pub(crate) landmarks: Option<u32>,
    /// As many landmarks of each label as can be had, instead of as they come
    #[arg(long, requires = "landmarks")]
    pub(crate) stratify: bool,
    /// Give up to a tenth of the landmarks to rows that lie beyond r_x of all others
    #[arg(long, requires = "landmarks")]
    pub(crate) cover: bool,
    /// Read the table a second time and count the rows beyond r_x of every landmark, instead of estimating them
    #[arg(long, requires = "landmarks")]
    pub(crate) count_beyond: bool,
}

/// What is done to the rows first.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preprocessing")]
pub(crate) struct PreprocessArgs {
    /// Principal components to keep, or none; auto is 50 where there are more columns
    #[arg(long, value_name = "auto|none|N", default_value = "auto", value_parser = value::pca, allow_negative_numbers = true)]
    pub(crate) pca: PcaChoice,
    /// Distance between rows
    #[arg(long, value_parser = value::named::<Metric>(), default_value_t)]
    pub(crate) metric: Metric,
}

/// The flags of t-SNE: they and `--embedding` exclude each other.
const TSNE_FLAGS: [&str; 9] = [
    "perplexity",
    "descent",
    "iterations",
    "dims",
    "method",
    "init",
    "exaggeration",
    "learning_rate",
    "neighbours",
];

/// How the map is made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map")]
pub(crate) struct TsneArgs {
    /// Effective number of neighbours; there must be three times as many other rows. auto is 30, or as much as the rows allow
    #[arg(long, value_name = "auto|N", default_value = "auto", value_parser = value::perplexity, allow_negative_numbers = true)]
    pub(crate) perplexity: Perplexity,
    /// How the map moves down the gradient: classic as other t-SNE programs do; accelerated has more momentum and
    /// longer steps, each cheaper to compute, and ends when the KL divergence hardly falls any more. Maps of fewer than 5000
    /// different rows always take the classic way, larger ones the accelerated way unless told
    #[arg(long, value_parser = value::named::<Descent>())]
    pub(crate) descent: Option<Descent>,
    /// Iterations of the descent. auto is 750 of the classic descent; the accelerated one goes on until the KL divergence changes by
    /// less than 2 % within 50 iterations, at most 1000
    #[arg(long, value_name = "auto|N", default_value = "auto", value_parser = value::iterations, allow_negative_numbers = true)]
    pub(crate) iterations: Iterations,
    /// Dimensions of the map, 1 to 3
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u8).range(1..=3), allow_negative_numbers = true)]
    pub(crate) dims: u8,
    /// How repulsion is computed; auto is exact or fft, the quicker at each step, in 2 dimensions; in
    /// 1 and 3 it is exact up to 4000 rows and barnes-hut beyond
    #[arg(long, value_parser = value::named::<Method>(), default_value_t)]
    pub(crate) method: Method,
    /// Where rows start: pca, random, spectral, or a table of places
    #[arg(long, value_name = "HOW|FILE", default_value = "pca", value_parser = value::init)]
    pub(crate) init: InitArg,
    /// Factor of the early exaggeration
    #[arg(long, value_name = "X", default_value_t = 12.0, value_parser = value::exaggeration, allow_negative_numbers = true)]
    pub(crate) exaggeration: f64,
    /// Step length; auto is rows / exaggeration, then longer steps the more rows there are
    #[arg(long, value_name = "auto|X", default_value = "auto", value_parser = value::learning_rate, allow_negative_numbers = true)]
    pub(crate) learning_rate: LearningRate,
    /// How neighbours are found; auto is exact up to 30 000 rows
    #[arg(long, value_parser = value::named::<Search>(), default_value_t, alias = "neighbors")]
    pub(crate) neighbours: Search,
}

/// How new rows will be placed: kept in the map, and `lion place` may say otherwise.
#[derive(Debug, Args)]
#[command(next_help_heading = "Placing")]
pub(crate) struct LionArgs {
    /// r_x, how near a row must be to count as a neighbour: a percentile of the distances from each row to its
    /// nearest other one, or a distance; 99% unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) radius: Option<Radius>,
    /// Power of the inverse distance weights; auto finds it by leaving out each row in turn
    #[arg(long, value_name = "auto|P", default_value = "auto", value_parser = value::power, allow_hyphen_values = true)]
    pub(crate) power: Power,
    /// r_y, how far from everything else an outlier is put on the map: a distance, or a percentile P of the distances
    /// between nearest places, which makes it 2 P + r_close; 100% unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) r_y: Option<Radius>,
    /// r_close, how near to each other the outliers of a group are put: a distance or such a percentile; 10% unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) r_close: Option<Radius>,
    /// The column of the group that a row belongs to (a patient, a writer, a day), where new rows will come from other
    /// groups: rows of one group are left out together when verdicts are calibrated. It is no feature
    #[arg(long, value_name = "COL", conflicts_with = "landmarks")]
    pub(crate) group: Option<String>,
}

impl FitArgs {
    /// The fit that was asked for, but for a first layout from a file, which has to be read first.
    pub(crate) fn fit(&self, common: &Common) -> Fit {
        let tsne = &self.tsne;
        Fit {
            perplexity: tsne.perplexity.0,
            descent: tsne.descent.unwrap_or_default(),
            iterations: tsne.iterations.0,
            exaggeration: tsne.exaggeration,
            learning_rate: tsne.learning_rate.0,
            dims: usize::from(tsne.dims),
            metric: self.preprocess.metric,
            pca: self.preprocess.pca,
            method: tsne.method,
            init: match &tsne.init {
                InitArg::Named(init) => init.clone(),
                InitArg::File(_) => Init::default(),
            },
            search: tsne.neighbours,
            seed: common.seed,
            threads: usize::from(common.threads),
            radius: self.lion.radius,
            power: self.lion.power.0,
            r_y: self.lion.r_y,
            r_close: self.lion.r_close,
            ..Fit::default()
        }
    }
}
