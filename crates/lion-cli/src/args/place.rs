//! `lion place`: what can be chosen.

use super::method::{self, MethodArg};
use super::value;
use super::{Common, TableArgs};
use clap::{Args, ValueEnum};
use lion_tsne::{LionOptions, Local, OffPlane, Positions, Radius, Taper};
use std::path::{Path, PathBuf};

/// Place new rows into a map, with a verdict for each
///
/// One row for each row of NEW, in the same order: id, x, y (z), verdict (exact, interpolated, beside-outlier,
/// outlier), score (0 to 1, small is strange), off_plane, nearest_id, nearest_distance, neighbours, group. The map does
/// not change. Tables are read as lion fit reads them, batch by batch: a large file takes no more memory than a small
/// one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion place m.lion new.csv --id name -o placed.parquet
  lion place m.lion new.npy --labels classes.npy -o placed.csv     says how right the places are
  lion place m.lion new.parquet --local idw -o placed.jsonl        the paper's rule
  lion place m.lion new.npy --method rbf-cubic -o other.csv        another method, to compare
  zcat new.csv.gz | lion place m.lion - -o - | grep outlier")]
pub(crate) struct PlaceArgs {
    /// A map file written by lion fit
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// The table of new rows, with the columns that the map was fitted to; - is CSV on standard input
    #[arg(value_name = "NEW")]
    pub(crate) data: PathBuf,
    /// Where to write the placements: .parquet, .arrow, .csv, .jsonl, .npy (coordinates only), or - for CSV on standard
    /// output; an old file is replaced once the new one is whole
    #[arg(short, long, value_name = "FILE", value_parser = value::sheet)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// How rows are placed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Placing")]
pub(crate) struct RuleArgs {
    /// The way of placing: lion, or one that it is compared with: idw, rbf-… (multiquadric, gaussian,
    /// inverse-multiquadric, linear, cubic, quintic, thin-plate), kernelized, gd-closest or gd-random (each also with
    /// -sigma, -ee, -sigma-ee), nn-2x250, nn-2x500, nn-1x500-tanh, parametric, opentsne-median, opentsne-weighted,
    /// fixed-point. x and y are then that method's, all else is what LION says of the row
    #[arg(long, value_name = "NAME", default_value = "lion", value_parser = method::method)]
    pub(crate) method: MethodArg,
    /// With another method: rows that LION calls exact, beside-outlier or outlier get LION's places, the rest the method's
    #[arg(long)]
    pub(crate) outlier_control: bool,
    /// The width of an rbf kernel: mean, the mean distance between training rows, as the paper says; edges, the size of the
    /// data's box for each row, as its program had it; mean unless given
    #[arg(long, value_enum, value_name = "mean|edges", hide_possible_values = true)]
    pub(crate) epsilon: Option<EpsilonArg>,
    /// The width of the Gaussians of kernelized, as a multiple of the distance from each training row to its nearest other;
    /// 0.25 unless given
    #[arg(long, value_name = "K", value_parser = value::kernel_width, allow_hyphen_values = true)]
    pub(crate) kernel_width: Option<f64>,
    /// Where a row with neighbours goes: energy, where t-SNE would let it rest; idw, the mean of its neighbours by
    /// inverse distance, as in the paper
    #[arg(long, value_enum, default_value_t = LocalArg::Energy)]
    pub(crate) local: LocalArg,
    /// r_x, how near a row must be to count as a neighbour: a percentile of the distances from each training row to its
    /// nearest other one, or a distance; as the map has it unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) radius: Option<Radius>,
    /// Power of the inverse distance weights of --local idw; unless given, as the map has it, or found anew for another
    /// --radius. Also that of --method idw; unless given, the map's, which was found for neighbours within r_x
    #[arg(long, value_name = "P", value_parser = value::given_power, allow_hyphen_values = true)]
    pub(crate) power: Option<f64>,
    /// r_y, how far from everything else an outlier is put: a distance, or a percentile P of the distances between
    /// nearest places, which makes it 2 P + r_close; as the map has it unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) r_y: Option<Radius>,
    /// r_close, how near to each other the outliers of a group are put: a distance or such a percentile; as the map has it
    /// unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) r_close: Option<Radius>,
    /// How the weights of neighbours fall to 0 towards r_x, so that a row that moves does not jump
    #[arg(long, value_enum, default_value_t = TaperArg::None)]
    pub(crate) taper: TaperArg,
    /// Where neighbours lie in clusters far apart, keep to those around the nearest
    #[arg(long)]
    pub(crate) split_clusters: bool,
    /// When a row is an outlier for being far off the plane of the map's PCA: shared, the rate of outliers that r_x
    /// promises is shared by both rules; a percentile of the training rows; or none, as in the paper
    #[arg(long, value_name = "shared|P%|none", default_value = "shared", value_parser = value::off_plane, allow_hyphen_values = true)]
    pub(crate) off_plane: OffPlane,
    /// Which free position an outlier takes: the one nearest to its nearest row's place, or a random one
    #[arg(long, value_enum, default_value_t = PositionsArg::Nearest)]
    pub(crate) outliers: PositionsArg,
}

/// `--epsilon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EpsilonArg {
    Mean,
    Edges,
}

/// `--local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LocalArg {
    Energy,
    Idw,
}

/// `--taper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaperArg {
    None,
    Triangle,
    Trapezoid,
}

/// `--outliers`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PositionsArg {
    Nearest,
    Random,
}

impl PositionsArg {
    pub(super) fn is_random(self) -> bool {
        matches!(self, Self::Random)
    }
}

impl PlaceArgs {
    /// The file to write, if it is not standard output.
    pub(crate) fn output_file(&self) -> Option<&Path> {
        (self.output.as_os_str() != "-").then_some(&self.output)
    }

    /// The options that were asked for.
    pub(crate) fn options(&self, common: &Common) -> LionOptions {
        let RuleArgs { radius, power, r_y, r_close, split_clusters, off_plane, .. } = self.rules;
        LionOptions {
            radius,
            power,
            r_y,
            r_close,
            local: match self.rules.local {
                LocalArg::Energy => Local::Energy,
                LocalArg::Idw => Local::Idw,
            },
            taper: match self.rules.taper {
                TaperArg::None => Taper::None,
                TaperArg::Triangle => Taper::Triangle,
                TaperArg::Trapezoid => Taper::Trapezoid,
            },
            split_clusters,
            off_plane,
            positions: match self.rules.outliers {
                PositionsArg::Nearest => Positions::Nearest,
                PositionsArg::Random => Positions::Random,
            },
            seed: common.seed,
            threads: usize::from(common.threads),
        }
    }
}
