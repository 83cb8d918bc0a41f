//! How good places are, whatever chose them: the paper's tests, and those beside it.

#[cfg(feature = "experiments")]
pub mod digits;
#[cfg(feature = "experiments")]
pub mod experiments;

mod baseline;
mod contender;
mod joined;
mod judge;
mod letters;
mod measures;
mod test_sets;

pub use baseline::{
    Activation, Baseline, BuiltBaseline, Descent, DescentStart, Epsilon, GridPoint, Kernel, Network,
    OpenTsneStart, Parametric, ParametricNetwork, PlacingMethod, grid_search, kernelized_sweep,
    validate_network,
};
pub use contender::{BuiltContender, Contender, ContenderPlaces};
pub use joined::{JoinedKl, RowKl};
pub use judge::Judge;
pub use letters::letters;
pub use measures::{Decomposition, Estimate, PartialAccuracy, auc};
pub use test_sets::{ClusterTest, noise, shuffled, strangers};

use lion_tsne::{Map, Matrix, Placement, Result};

/// The places of all rows of a map, equal rows too.
pub fn places_of_map(map: &Map) -> Matrix {
    Matrix::from_rows(map.dims(), (0..map.rows()).flat_map(|row| map.place(row)).copied().collect())
}

/// The places of placed rows, of so many dimensions each.
pub fn places_of(placements: &[Placement], dims: usize) -> Result<Matrix> {
    let places = placements.iter().flat_map(|placement| placement.place.iter().copied()).collect();
    Matrix::new(placements.len(), dims, places)
}
