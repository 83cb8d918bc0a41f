//! `lion calibrate`: what can be chosen.

use super::TableArgs;
use clap::Args;
use std::path::PathBuf;

/// Calibrate the verdicts of a map made by an earlier version
///
/// Maps made by lion fit are calibrated already. One that is not has the paper's rule for outliers, whose rate of false ones
/// is not known. The places do not change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion calibrate old.lion --rows table.csv --id name --label kind -o new.lion
  lion calibrate m.lion --rows visits.parquet --group patient -o new.lion   leave out whole patients")]
pub(crate) struct CalibrateArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// The table that the map was fitted to, the same rows in the same order; not needed for a map without PCA
    #[arg(long, value_name = "TABLE")]
    pub(crate) rows: Option<PathBuf>,
    /// The column of the group that a row belongs to: rows of one group are left out together
    #[arg(long, value_name = "COL", requires = "rows")]
    pub(crate) group: Option<String>,
    /// Where to write the calibrated map; an old file is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}
