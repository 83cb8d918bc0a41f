//! `lion place`: what can be chosen.

use super::method::{self, PlacingMethodArg};
use super::value;
use super::{PlacingArgs, TableArgs};
use clap::Args;
use lion_evaluate::Epsilon;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::{Named, Verdict};
use std::path::{Path, PathBuf};

/// Place new rows into a map, with a verdict for each
#[derive(Debug, Args)]
#[command(long_about = about(), after_help = "\
Examples:
  lion place m.lion new.csv --id name -o placed.parquet
  lion place m.lion 'big/*.parquet' --id key -o placed.parquet     several files are one table
  lion place m.lion new.npy --labels classes.npy -o placed.csv     says how right the places are
  lion place m.lion new.csv --alpha 0.1% -o placed.csv             call fewer rows outliers
  lion place m.lion new.csv --local idw --verdict paper -o p.jsonl the paper's rules
  lion place m.lion new.npy --method rbf-cubic -o other.csv        another method, to compare
  zcat new.csv.gz | lion place m.lion - -o - | grep outlier")]
pub(crate) struct PlaceArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// The table of new rows, with the columns that the map was fitted to. Several files are one table, in this order;
    /// those of a pattern are sorted by name. - is CSV on standard input
    #[arg(value_name = "NEW", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the placements: .parquet, .arrow, .csv, .jsonl, .npy (coordinates only), or - for CSV on standard
    /// output; an old file is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE", value_parser = value::sheet)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Write these columns of NEW beside the placements; unless given, those that the map keeps for people (lion fit --show)
    /// and NEW has, too
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) show: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// The most memory to take, such as 300MB or 4GB; what the system can give unless given. It does not grow with the
    /// table but for the outliers, which wait for each other; -v says what it will take and what for
    #[arg(long, value_name = "SIZE", value_parser = value::memory)]
    pub(crate) memory: Option<u64>,
}

/// What the verb does, with the columns that it writes.
fn about() -> String {
    let name = |column: &PlacementColumn| match column.dims {
        3 => format!("({})", column.name),
        _ => column.name.to_owned(),
    };
    let columns: Vec<String> = PlacementColumn::in_tables(3).map(name).collect();
    format!(
        "Place new rows into a map, with a verdict for each\n\n\
         One row for each row of NEW, in the same order: {}. The verdict is one of {}. The score is a p-value: of rows like the \
         map's own, a share score is at least as strange; p_distance and p_neighbours are its parts. The map does not \
         change. Tables are read as lion fit reads them, batch by batch: a large file takes no more memory than a small one.",
        columns.join(", "),
        Verdict::names(),
    )
}

/// How rows are placed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Placing")]
pub(crate) struct RuleArgs {
    /// The way of placing: lion, or one that it is compared with: idw, rbf-… (multiquadric, gaussian,
    /// inverse-multiquadric, linear, cubic, quintic, thin-plate), kernelized, gd-closest or gd-random (each also with
    /// -sigma, -ee, -sigma-ee), nn-2x250, nn-2x500, nn-1x500-tanh, parametric, opentsne-median, opentsne-weighted,
    /// fixed-point. x and y are then that method's, all else is what LION says of the row. The power of idw is --power,
    /// or else the map's, which was found for neighbours within r_x
    #[arg(long, value_name = "NAME", default_value = "lion", value_parser = method::method)]
    pub(crate) method: PlacingMethodArg,
    /// With another method: rows that LION calls exact, beside-outlier or outlier get LION's places, the rest the method's
    #[arg(long)]
    pub(crate) outlier_control: bool,
    /// The width of an rbf kernel: mean, the mean distance between training rows, as the paper says; edges, the size of the
    /// data's box for each row, as its program had it; mean unless given
    #[arg(long, value_parser = value::named::<Epsilon>(), value_name = "mean|edges", hide_possible_values = true)]
    pub(crate) epsilon: Option<Epsilon>,
    /// The width of the Gaussians of kernelized, as a multiple of the distance from each training row to its nearest other;
    /// 0.25 unless given
    #[arg(long, value_name = "K", value_parser = value::kernel_width, allow_hyphen_values = true)]
    pub(crate) kernel_width: Option<f64>,
    #[command(flatten)]
    pub(crate) lion: PlacingArgs,
    /// Of the rows that are called outliers, at most this share, in the mean, is like the map's own, such as 5%: the
    /// procedure of Benjamini and Hochberg over all rows of the table, on top of --alpha
    #[arg(long, value_name = "SHARE", value_parser = value::partial_share, allow_hyphen_values = true)]
    pub(crate) fdr: Option<f64>,
}

impl PlaceArgs {
    /// The file to write, if it is not standard output.
    pub(crate) fn output_file(&self) -> Option<&Path> {
        (self.output.as_os_str() != "-").then_some(&self.output)
    }
}
