//! `lion update`: what can be chosen.

use super::{TableArgs, value};
use clap::{Args, value_parser};
use lion_tsne::update::Anchoring;
use std::path::PathBuf;

/// Take new rows into a map that keeps its shape
///
/// Writes a map of the old rows and the new ones. Old rows stay where they were as far as their neighbours are the same, up
/// to one similarity transform of the whole; new rows go among those they are like, and rows that are like none of the map
/// become a cluster of their own. A row with the id of an old one replaces it. The old file does not change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion update m.lion new.csv --id name --label kind -o next.lion
  lion update m.lion 'monday/*.parquet' --id key -o next.lion      several files are one table
  lion update m.lion new.csv --stability 1 -o next.lion            old rows do not move at all
  lion update m.lion new.csv --rows base.csv -o next.lion          make the PCA anew from all rows
  lion update m.lion new.csv --id name --keep 50000 -o next.lion   forget old rows beyond 50000
  lion update m.lion --forget gone.txt -o next.lion                take rows out
  lion diff m.lion next.lion -o diff.html                          what changed")]
pub(crate) struct UpdateArgs {
    /// The map: a file written by lion fit or lion update
    #[arg(value_name = "OLD")]
    pub(crate) map: PathBuf,
    /// The table of new rows, with the columns that the map was fitted to. Several files are one table, in this order;
    /// those of a pattern are sorted by name. - is CSV on standard input. None is needed with --forget or --keep
    #[arg(value_name = "NEW")]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the new map; an old file is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How firmly old rows are held where they were, from 0 (a warm start) to 1 (they do not move, but for a similarity
    /// transform of the whole); 0.5 unless given, and 1 for a map made elsewhere (lion fit --embedding)
    #[arg(long, value_name = "S", value_parser = value::stability, allow_negative_numbers = true)]
    pub(crate) stability: Option<f64>,
    /// The new map has at most so many rows: old rows go, chosen by a hash of their ids, and every cluster keeps some
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(4..), allow_negative_numbers = true)]
    pub(crate) keep: Option<u32>,
    /// Take out the rows of these ids: a text file, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) forget: Option<PathBuf>,
    /// The table that the old map was made of, the same rows in the same order: the PCA is then made anew from old and new
    /// rows. Without it the old PCA is kept, and widened where new rows stick out of it
    #[arg(long, value_name = "TABLE")]
    pub(crate) rows: Option<PathBuf>,
    /// What holds old rows: neighbourhoods, each as firmly as its neighbours are the same, under a similarity transform; or
    /// fixed, all alike where they were, as dynamic t-SNE does (Rauber, Falcão & Telea 2016)
    #[arg(long, value_parser = value::named::<Anchoring>(), default_value = "neighbourhoods", hide = true)]
    pub(crate) anchoring: Anchoring,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}
