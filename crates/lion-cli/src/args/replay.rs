//! `lion replay`: what can be chosen.

use super::{PlacingArgs, value};
use clap::Args;
use lion_table::ReadOptions;
use std::path::PathBuf;

/// Make one page of a history, with a time slider, that opens without a server
///
/// The history of a store: every event that it keeps, each on the version of the map of its time. Or, with a map: snapshots, each a
/// table of all rows that there are at a time, which is one step of the slider (rows come, move and leave, by their ids); or the
/// events that lion stream wrote. The page holds all it needs, and nothing is fetched when it is opened.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion replay points.db -o replay.html
  lion replay m.lion day1.parquet day2.parquet -o replay.html      one step for each file
  lion replay m.lion 'days/*.csv' --id name -o replay.html
  lion replay m.lion events.jsonl -o replay.html                   what lion stream wrote")]
pub(crate) struct ReplayArgs {
    /// A store written by lion serve; or a map file written by lion fit or lion update, before snapshots or events
    #[arg(value_name = "STORE|MAP")]
    pub(crate) source: PathBuf,
    /// With a map: snapshots in the order of time, as tables that lion place takes; those of a pattern are sorted by name. Or one
    /// .jsonl file of events that lion stream wrote
    #[arg(value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// The page to write: .html; an old file is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE", value_parser = value::page)]
    pub(crate) output: PathBuf,
    /// With a store: its map, where the file does not lie in the store's folder
    #[arg(long, value_name = "MAP", conflicts_with = "data")]
    pub(crate) map: Option<PathBuf>,
    /// The headline; the name of the store or of the map file unless given
    #[arg(long)]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) snapshots: SnapshotArgs,
    #[command(flatten)]
    pub(crate) placing: PlacingArgs,
}

/// Which columns of snapshots are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns of snapshots")]
pub(crate) struct SnapshotArgs {
    /// The column that names the rows; the column id unless given. Without one, the rows of each snapshot are others than those of
    /// the one before
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,
    /// The column that labels the rows
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,
    /// Use these columns only
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Leave these columns out
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
}

impl SnapshotArgs {
    /// How a snapshot is to be read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            label: self.label.clone(),
            columns: self.columns.clone(),
            exclude: self.exclude.clone(),
            ..ReadOptions::default()
        }
    }
}
