//! `lion explain`: what can be chosen.

use super::{PictureArgs, PictureKind, value};
use clap::{Args, value_parser};
use lion_tsne::explain::ClusterSource;
use std::path::PathBuf;

/// Say what sets the clusters of a map apart, and give each a name
///
/// Clusters are the labels of the map, or what lies together on it, at up to three levels of detail. Each is compared with
/// all other rows: columns by the difference in standard deviations with its standard error, and in their own units; texts
/// by the words that they have more often than others. Values come from the columns that the map was fitted to, or
/// from --rows. See docs/explain.md for what the numbers mean.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion explain m.lion                             each cluster: size, columns, words, typical rows
  lion explain m.lion --by density --level 2      a finer division
  lion explain m.lion --rows customers.csv        with all columns of the original table
  lion explain m.lion --text review -o m.html     keywords from a column of texts; one page with a card for each
  lion explain m.lion --select ids.txt            what these rows have in common, against the rest
  lion explain m.lion --names names.json          write the names; edit them, and give the file again
  lion explain m.lion --json | jq '.clusters[].name'")]
pub(crate) struct ExplainArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// Where to write: a page with a card for each cluster (.html), or a table with the clusters of each row (.csv, .parquet,
    /// .arrow, .jsonl). May be given several times
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    pub(crate) output: Vec<ExplainOutput>,
    /// Explain these rows against the rest, in the place of clusters: a text file with one id a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by", "level", "names", "output"])]
    pub(crate) select: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Where clusters come from; auto: labels if the map has them, else density
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = value::named::<ClusterSource>())]
    pub(crate) by: ClusterSource,
    /// Show the clusters of this level, counted from 1, the coarsest; --json and pages have all levels
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u8).range(1..=3), allow_negative_numbers = true)]
    pub(crate) level: u8,
    /// Names edited by hand: read if the file is there, and written with the names of all clusters
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
}

/// Where the values of rows come from.
#[derive(Debug, Default, Args)]
pub(crate) struct ValueArgs {
    /// A table with the rows of the map, for columns that the map does not keep: matched by id if the map has ids, else row
    /// by row
    #[arg(long, value_name = "TABLE")]
    pub(crate) rows: Option<PathBuf>,
    /// The column of --rows that names the rows; the first column that holds every id of the map unless given
    #[arg(long, value_name = "COL", requires = "rows")]
    pub(crate) id: Option<String>,
    /// Take keywords from this column of texts; the one with the longest texts unless given
    #[arg(long, value_name = "COL")]
    pub(crate) text: Option<String>,
}

/// A file that an explanation is written to.
#[derive(Clone, Debug)]
pub(crate) enum ExplainOutput {
    Page(PathBuf),
    Table(PathBuf),
}

impl ExplainOutput {
    pub(crate) fn path(&self) -> &PathBuf {
        match self {
            Self::Page(path) | Self::Table(path) => path,
        }
    }
}

fn output(text: &str) -> Result<ExplainOutput, String> {
    match (value::picture(text), value::events(text)) {
        (Ok(PictureArgs { path, kind: PictureKind::Html }), _) => Ok(ExplainOutput::Page(path)),
        (_, Ok(table)) => Ok(ExplainOutput::Table(table)),
        _ => Err("its name must end in .html, .csv, .parquet, .arrow or .jsonl".into()),
    }
}
