//! An outlier that waits for its position, here or, as bytes, where all outliers of a large job are brought together.

use super::interpolate::SparedOutlier;
use super::{Placement, Verdict};
use crate::error::{Error, Result};

/// An outlier without a position.
#[derive(Clone, Debug)]
pub struct PendingOutlier {
    /// All that is known but place and group.
    pub(crate) placement: Placement,
    /// The row, preprocessed.
    pub(crate) row: Vec<f32>,
    /// The place of the nearest row.
    pub(crate) target: [f64; 3],
    /// Where it goes if it is spared; known where a false discovery rate is asked for.
    pub(super) among: Option<SparedOutlier>,
}

/// The first byte: how the others are to be read.
const VERSION: u8 = 1;
/// Bytes before the row: version, distance and target.
pub(super) const HEAD: usize = 1 + 4 + 3 * 8;
/// Rows are no longer than this, squared: distances between two of them do not overflow. Values up to 1e15 in a million
/// columns stay far below.
const LONGEST2: f64 = 1e37;

impl PendingOutlier {
    /// What is known of it: all but place and group.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What its position depends on, as bytes: version, distance to the nearest row (`f32`), the place of that row
    /// (3 x `f64`), the preprocessed row (`f32` each), little-endian. Outliers with the same bytes get the same position.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + 4 * self.row.len());
        bytes.push(VERSION);
        bytes.extend(self.placement.nearest_distance.to_le_bytes());
        bytes.extend(self.target.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(self.row.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    }

    /// A pending outlier from such bytes, for [`Placer::give_positions`](super::Placer::give_positions): of its
    /// placement only verdict and distance are known. `width` is how many columns the map's rows have once they are
    /// preprocessed, `lion.map().x().cols()`.
    pub fn from_bytes(bytes: &[u8], width: usize) -> Result<Self> {
        let refuse = |problem: &str| {
            Err(Error::Data(format!(
                "a pending outlier's bytes {problem}: resolve the rows again, all with one version and one map"
            )))
        };
        match bytes {
            [VERSION, ..] => {}
            [version, ..] => return refuse(&format!("are of version {version}, and {VERSION} can be read")),
            [] => return refuse("are missing"),
        }
        if bytes.len().checked_sub(HEAD) != width.checked_mul(4) {
            return refuse(&format!("are {} and not those of {width} columns", bytes.len()));
        }
        let (head, row) = bytes.split_at(HEAD);
        let (distance, target) = head[1..].split_at(4);
        let nearest_distance = f32_of(distance);
        let target: [f64; 3] = std::array::from_fn(|d| f64_of(&target[8 * d..8 * d + 8]));
        let row: Vec<f32> = row.chunks_exact(4).map(f32_of).collect();
        let length2: f64 = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        let is_place = |v: &f64| v.abs() <= f64::from(f32::MAX);
        let known = target.iter().all(is_place) && (0.0..=f32::MAX).contains(&nearest_distance);
        // What is no number is in no range either.
        if !known || !(0.0..=LONGEST2).contains(&length2) {
            return refuse("hold numbers that no outlier has");
        }
        let placement = Placement { nearest_distance, ..Placement::unknown(Verdict::Outlier) };
        Ok(Self { placement, row, target, among: None })
    }
}

/// A number from its four bytes.
fn f32_of(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}

/// A number from its eight bytes.
fn f64_of(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}
