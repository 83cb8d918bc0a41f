//! How LION places rows, for every verb that does: `lion place`, `stream` and `serve`.

use super::Common;
use super::value;
use clap::Args;
use lion_tsne::lion::{PcaResidualLimit, Positions, Taper};
use lion_tsne::{LionOptions, Local, Radius, VerdictRule};

/// How LION places rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Placing")]
pub(crate) struct PlacingArgs {
    /// Where a row with neighbours goes: energy, where t-SNE would let it rest; attraction, the same without the repulsion
    /// of the map's places; idw, the mean of its neighbours by inverse distance, as in the paper
    #[arg(long, value_parser = value::named::<Local>(), default_value_t)]
    pub(crate) local: Local,
    /// r_x, how near a row must be to count as a neighbour: a percentile of the distances from each training row to its
    /// nearest other one, or a distance; as the map has it unless given
    #[arg(long, value_name = "P%|R", value_parser = value::radius, allow_hyphen_values = true)]
    pub(crate) radius: Option<Radius>,
    /// Power of the inverse distance weights of --local idw; unless given, as the map has it, or found anew for another
    /// --radius
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
    #[arg(long, value_parser = value::named::<Taper>(), default_value_t)]
    pub(crate) taper: Taper,
    /// Where neighbours lie in clusters far apart, keep to those around the nearest
    #[arg(long)]
    pub(crate) split_clusters: bool,
    /// The rule for outliers: calibrated, a row whose score (a p-value) is at most alpha; paper, a row with fewer than two
    /// neighbours within r_x. calibrated unless the map was made by an earlier version or has fewer than 20 rows
    #[arg(long, value_parser = value::named::<VerdictRule>(), value_name = "calibrated|paper", hide_possible_values = true)]
    pub(crate) verdict: Option<VerdictRule>,
    /// The share of rows like the map's own that may be called outliers, such as 1% or 0.01; 1 % unless given, or as
    /// little as the map's rows can tell where they are fewer than 99
    #[arg(long, value_name = "SHARE", value_parser = value::partial_share, allow_hyphen_values = true)]
    pub(crate) alpha: Option<f64>,
    /// With --verdict paper: a row whose PCA residual (its distance from its reconstruction) is above this percentile
    /// of the training rows' is an outlier too; none, as in the paper
    #[arg(long, visible_alias = "off-plane", value_name = "none|P%", default_value = "none", value_parser = value::pca_residual, allow_hyphen_values = true)]
    pub(crate) pca_residual: PcaResidualLimit,
    /// Which free position an outlier takes: the one nearest to its nearest row's place, or a random one
    #[arg(long, value_parser = value::named::<Positions>(), default_value_t)]
    pub(crate) outliers: Positions,
}

impl PlacingArgs {
    /// The options that were asked for.
    pub(crate) fn options(&self, common: &Common) -> LionOptions {
        let Self { radius, power, r_y, r_close, local, taper, split_clusters, verdict, alpha, .. } = *self;
        LionOptions {
            radius,
            power,
            r_y,
            r_close,
            local,
            taper,
            split_clusters,
            verdict,
            alpha,
            fdr: None,
            pca_residual: self.pca_residual,
            positions: self.outliers,
            seed: common.seed,
            threads: usize::from(common.threads),
        }
    }
}
