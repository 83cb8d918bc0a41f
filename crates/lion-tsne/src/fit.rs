//! From rows to a map: preprocess, neighbours, affinities, init, optimise.

use crate::error::{Error, Result};
use crate::map::Map;
use crate::matrix::Matrix;
use crate::preprocess::{Metric, PcaChoice};
use crate::progress::Observer;

/// How the repulsive half of the gradient is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// FFT for 2-D maps, Barnes-Hut for 3-D ones, exact for small ones.
    #[default]
    Auto,
    /// Every pair: the oracle.
    Exact,
    /// A quadtree or octree.
    BarnesHut,
    /// Interpolation on a grid; 2-D only.
    Fft,
}

/// Where the rows start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Init {
    /// The first principal components, scaled to a standard deviation of 1e-4.
    #[default]
    Pca,
    /// The leading eigenvectors of the affinity graph, scaled likewise.
    Spectral,
    /// Gaussian, standard deviation 1e-4.
    Random,
    /// Given places, one row for each row of the data, used as they are.
    Given(Matrix),
}

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Exact up to a size where it costs more than the rest of the fit, approximate beyond.
    #[default]
    Auto,
    /// Every pair.
    Exact,
    /// By cells of near rows, with the recall measured.
    Approximate,
}

/// What to fit, and how. `Fit::default()` is what most people want.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Effective number of neighbours (30).
    pub perplexity: f64,
    /// Iterations in all, those with exaggeration included (750).
    pub iterations: usize,
    /// How many of them are exaggerated (250).
    pub exaggeration_iterations: usize,
    /// By how much (12).
    pub exaggeration: f64,
    /// Step length; `None` is rows / exaggeration, at least 50.
    pub learning_rate: Option<f64>,
    /// Dimensions of the map, 2 or 3.
    pub dims: usize,
    /// Distance between rows.
    pub metric: Metric,
    /// Whether PCA comes first, and to how many components (50).
    pub pca: PcaChoice,
    /// Gradient.
    pub method: Method,
    /// Opening angle of Barnes-Hut (0.5).
    pub theta: f64,
    /// First layout.
    pub init: Init,
    /// Neighbour search.
    pub search: Search,
    /// Same seed, same bits.
    pub seed: u64,
    /// Threads; 0 is all. The result does not depend on it.
    pub threads: usize,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            perplexity: 30.0,
            iterations: 750,
            exaggeration_iterations: 250,
            exaggeration: 12.0,
            learning_rate: None,
            dims: 2,
            metric: Metric::Euclidean,
            pca: PcaChoice::Auto(50),
            method: Method::Auto,
            theta: 0.5,
            init: Init::Pca,
            search: Search::Auto,
            seed: 0,
            threads: 0,
        }
    }
}
