//! Rows that lie off the plane of the map's PCA, and the share of outliers that the radius promises.

use super::radius::{Radius, ascending, percentile};

/// What is done about rows that lie off the plane of the map's PCA, where that dropped variance. Their shadow may fall
/// among rows they have nothing to do with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OffPlane {
    /// A row farther off the plane than the map's own rows is an outlier. The share of rows that the radius promises
    /// to call outliers is shared: half by distance along the plane, half by distance off it.
    #[default]
    Shared,
    /// A row farther off the plane than this percentile of the map's own is an outlier; the radius is as it was given.
    Percentile(f64),
    /// Nothing: the paper's way.
    None,
}

/// Rows farther than the limit off the plane are outliers.
pub(super) struct OffPlaneRule {
    pub(super) limit: f64,
    /// How far the map's rows are, ascending.
    pub(super) residuals: Vec<f32>,
}

/// r_x, and the rule of the plane, if it is minded and there is one.
pub(super) fn radii(
    radius: Radius,
    off_plane: OffPlane,
    nn_x: &[f32],
    residuals: Option<&[f32]>,
) -> (f64, Option<OffPlaneRule>) {
    let Some(residuals) = residuals else { return (radius.of(nn_x), None) };
    let residuals = ascending(residuals);
    let (r_x, limit) = match (off_plane, radius) {
        (OffPlane::None, _) => return (radius.of(nn_x), None),
        (OffPlane::Percentile(p), _) => (radius.of(nn_x), percentile(&residuals, p)),
        (OffPlane::Shared, Radius::Percentile(p)) => {
            let shared = 50.0 + p / 2.0;
            (percentile(nn_x, shared), percentile(&residuals, shared))
        }
        // A number promises what it promises; as many may lie off the plane.
        (OffPlane::Shared, Radius::Value(r_x)) => {
            let inside = nn_x.partition_point(|v| f64::from(*v) <= r_x) as f64 / nn_x.len().max(1) as f64;
            (r_x, percentile(&residuals, 100.0 * inside))
        }
    };
    (r_x, Some(OffPlaneRule { limit, residuals }))
}

/// The share of rows like the map's own that will be called outliers; a radius that is a number promises nothing.
pub(super) fn promised(radius: Radius, off_plane: OffPlane, minds_the_plane: bool) -> Option<f64> {
    let Radius::Percentile(p) = radius else { return None };
    let off = match off_plane {
        OffPlane::Percentile(p) if minds_the_plane => 100.0 - p,
        _ => 0.0,
    };
    Some(((100.0 - p + off) / 100.0).min(1.0))
}
