//! Rows that lie off the plane of the map's PCA: a rule that may be added to the paper's. The calibrated verdict knows of
//! the plane by itself.

use super::radius::{ascending, percentile};

/// What the paper's rule does about rows that lie off the plane of the map's PCA, where that dropped variance. Their shadow
/// may fall among rows they have nothing to do with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OffPlane {
    /// Nothing: the paper's way.
    #[default]
    None,
    /// A row farther off the plane than this percentile of the map's own is an outlier.
    Percentile(f64),
}

impl OffPlane {
    /// How far off the plane a row may be; `None` is as far as it likes. The percentile is one of the map's own residuals.
    pub(super) fn limit(self, residuals: Option<&[f32]>) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Percentile(p) => residuals.map(|residuals| percentile(&ascending(residuals), p)),
        }
    }
}
