//! A limit on the PCA residual, the distance between a row and its reconstruction: a rule of ours that may be added to the
//! paper's. The calibrated verdict tests the residual by itself.

use super::radius::{ascending, percentile};

/// What the paper's rule does about rows with a large PCA residual, where the map's PCA dropped variance. Their projection
/// may fall among rows they have nothing to do with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PcaResidualLimit {
    /// Nothing: the paper's way.
    #[default]
    None,
    /// A row whose residual is above this percentile of the map's own is an outlier.
    Percentile(f64),
}

impl PcaResidualLimit {
    /// The largest residual allowed; `None` is any. The percentile is one of the map's own residuals.
    pub(super) fn limit(self, residuals: Option<&[f32]>) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Percentile(p) => residuals.map(|residuals| percentile(&ascending(residuals), p)),
        }
    }
}
