//! How good places are, whatever chose them: the paper's tests, and those beside it.
//!
//! - [`Judge`]: what is around places: labels, and how far the nearest place of the map is.
//! - [`Estimate`]: a mean and how far it may be off; [`auc`]: how well strangers are told apart; [`Decomposition`]: an
//!   accuracy as the sum of what rows with two neighbours, with one and with none add to it.
//! - What is placed: [`ClusterTest`] (rows close to one of the map's), [`noise`] and those of it that are [`strangers`],
//!   [`letters`] (images of another kind); [`shuffled`] chooses at random.

mod judge;
mod letters;
mod measures;
mod sets;

pub use judge::Judge;
pub use letters::letters;
pub use measures::{Decomposition, Estimate, Part, auc};
pub use sets::{ClusterTest, noise, shuffled, strangers};

use crate::error::Result;
use crate::lion::Placement;
use crate::map::Map;
use crate::matrix::Matrix;

/// The places of all rows of a map, equal rows too.
pub fn places_of_map(map: &Map) -> Matrix {
    Matrix::from_rows(map.dims(), (0..map.rows()).flat_map(|row| map.place(row)).copied().collect())
}

/// The places of placed rows, of so many dimensions each.
pub fn places_of(placements: &[Placement], dims: usize) -> Result<Matrix> {
    let places = placements.iter().flat_map(|placement| placement.place.iter().copied()).collect();
    Matrix::new(placements.len(), dims, places)
}
