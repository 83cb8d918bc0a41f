//! What is said of a placed row.

use super::PendingOutlier;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// How a row came to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It equals a row of the map, and has that row's place.
    Exact,
    /// It is like the map's own rows, and has a place among theirs.
    Interpolated,
    /// Its nearest row is an outlier of the map itself, and it sits beside it.
    BesideOutlier,
    /// It belongs nowhere, and has a place of its own or of its group.
    Outlier,
}

impl Verdict {
    /// As tables have it: `exact`, `interpolated`, `beside-outlier`, `outlier`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Interpolated => "interpolated",
            Self::BesideOutlier => "beside-outlier",
            Self::Outlier => "outlier",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One to three coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Place {
    pub(crate) coordinates: [f32; 3],
    pub(crate) dims: u8,
}

impl Deref for Place {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.coordinates[..usize::from(self.dims)]
    }
}

impl From<Place> for Vec<f32> {
    fn from(place: Place) -> Self {
        place.to_vec()
    }
}

impl TryFrom<Vec<f32>> for Place {
    type Error = Error;

    fn try_from(given: Vec<f32>) -> Result<Self, Error> {
        if !(1..=3).contains(&given.len()) {
            return Err(Error::Data(format!("a place has 1 to 3 coordinates, not {}", given.len())));
        }
        let mut coordinates = [0.0; 3];
        coordinates[..given.len()].copy_from_slice(&given);
        Ok(Self { coordinates, dims: given.len() as u8 })
    }
}

/// Where a row was placed, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// The place.
    pub place: Place,
    /// How the row came to it.
    pub verdict: Verdict,
    /// A p-value, from 0 to 1, small is strange: of rows like the map's own, a share `score` is at least as strange. By the
    /// paper's rule the share of the map's rows whose own nearest neighbour is at least as far.
    pub score: f64,
    /// One part of it: the p-value of the distance to the nearest row; `None` in what an earlier version kept.
    #[serde(default)]
    pub p_distance: Option<f64>,
    /// The other part: the p-value of how badly the nearest rows explain this one; `None` by the paper's rule.
    #[serde(default)]
    pub p_neighbours: Option<f64>,
    /// The share of the map's rows whose PCA residual is at least as large; `None` where there is none.
    #[serde(rename = "off_plane")]
    pub p_residual: Option<f64>,
    /// The nearest row of the map, by its number in the data.
    pub nearest: u32,
    /// The distance to it.
    pub nearest_distance: f32,
    /// How many rows of the map are within r_x; in maps beyond 10000 rows, as many of them as the search saw.
    pub neighbours: u32,
    /// The group of an outlier, numbered from 0.
    pub group: Option<u64>,
}

/// What is known of a row before outliers get positions: its placement, or an outlier that waits for one.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// Its place does not depend on other new rows.
    Placed(Placement),
    /// Its place depends on the other outliers: `Placer::give_positions` knows it.
    Outlier(PendingOutlier),
}
