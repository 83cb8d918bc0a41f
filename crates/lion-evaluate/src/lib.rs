//! The experiments of the LION-tSNE paper: the methods that LION is compared with, the tests, the metrics, and the report.
//! Nothing here is needed to fit a map or to place rows by LION; that is `lion-tsne`.
//!
//! The nouns:
//! - [`Baseline`]: a method that LION is compared with; [`BuiltBaseline`] once it is built from a map. One file for each in
//!   `baseline/`, which names its source.
//! - [`Contender`]: any method as it is compared, LION among them; [`BuiltContender`] places rows, each as if it were alone.
//! - [`Judge`]: how good places are, whatever chose them: the labels around them, and how far the nearest place of the map
//!   is. [`JoinedKl`]: the KL divergence of a map and one more row.
//! - [`Estimate`]: a mean with its standard error; [`auc()`]: how well strangers are told from ordinary rows;
//!   [`Decomposition`]: an accuracy as the sum of what rows with two neighbours, with one and with none add to it.
//! - [`neighbours_kept()`], [`centroid_correlation()`], [`triplet_accuracy()`]: which local and global structure a map keeps.
//! - What is placed: [`ClusterTest`] (rows close to one of the map's), [`noise()`] and those of it that are [`strangers()`],
//!   [`letters()`] (images of another kind).
//!
//! With the feature `experiments`, also:
//! - `digits`: the handwritten digits that come along, and MNIST.
//! - `experiments::Evaluation`: which experiments are run on them; it makes an `EvaluationReport`, which writes the page, the
//!   numbers and the figures. An `EvaluationObserver` hears how it goes.
//!
//! ```
//! use lion_evaluate::{Baseline, Contender, Estimate, Judge};
//! use lion_tsne::{Fit, Matrix, Rows, ignore};
//!
//! # fn main() -> lion_tsne::Result<()> {
//! // Two groups of rows, and new ones near each.
//! let row = |i: usize| [(i % 2) as f32 * 9.0 + (i as f32).sin(), (i as f32).cos()];
//! let rows = |from: usize, to: usize| Matrix::new(to - from, 2, (from..to).flat_map(row).collect());
//! let labels = |from: usize, to: usize| (from..to).map(|i| (i % 2).to_string()).collect::<Vec<_>>();
//! let known = Rows { data: rows(0, 100)?, ids: None, labels: Some(labels(0, 100)) };
//! let map = Fit { perplexity: Some(10.0), ..Fit::default() }.run(known, &mut ignore)?;
//!
//! // LION as the paper has it, and inverse-distance weighting over all rows, asked alike and judged alike.
//! let judge = Judge::new(&map)?;
//! for method in [Contender::lion_of_the_paper()[3], Contender::Other(Baseline::Idw { power: 20.0 })] {
//!     let placed = method.build(&map, 0, &mut ignore)?.place_alone(&rows(100, 120)?)?;
//!     let accuracy = Estimate::of(&judge.shares(&placed.places, &labels(100, 120))?);
//!     println!("{method}: {:.2} ± {:.2}", accuracy.mean, accuracy.error);
//!     assert!(accuracy.mean > 0.9);
//! }
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "experiments")]
pub mod digits;
#[cfg(feature = "experiments")]
pub mod experiments;

mod baseline;
mod contender;
mod correlation;
mod joined;
mod judge;
mod letters;
mod measures;
mod structure;
mod test_sets;

pub use baseline::{
    Activation, Baseline, BuiltBaseline, Descent, DescentStart, Epsilon, GridPoint, Kernel, Network,
    OpenTsneStart, Parametric, ParametricNetwork, PlacingMethod, grid_search, kernelized_sweep,
    validate_network,
};
pub use contender::{BuiltContender, Contender, ContenderPlaces};
pub use correlation::{pearson, spearman};
pub use joined::{JoinedKl, RowKl};
pub use judge::Judge;
pub use letters::letters;
pub use measures::{Decomposition, Estimate, PartialAccuracy, auc, calibration_error};
pub use structure::{centroid_correlation, nearest_places, neighbours_kept, triplet_accuracy};
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
