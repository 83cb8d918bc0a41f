//! The other ways of placing: what LION is compared with. One file for each; all of them are built from a map's rows and
//! places, and then place any row.

mod dense;
mod descent;
mod distances;
mod fixed_point;
mod idw;
mod kernelized;
mod near;
mod network;
mod opentsne;
mod parametric;
#[cfg(test)]
mod plain;
mod rbf;
mod system;
#[cfg(test)]
mod testing;

pub use dense::Activation;
pub use descent::{Descent, DescentStart};
pub use kernelized::kernelized_sweep;
pub use network::{GridPoint, Network, grid_search, validate_network};
pub use opentsne::OpenTsneStart;
pub use parametric::{Parametric, ParametricNetwork};
pub use rbf::{Epsilon, Kernel};

use lion_tsne::memory::check_memory;
use lion_tsne::{Error, Map, Matrix, Observer, Progress, Result, Stage};
use std::fmt;
use std::str::FromStr;

/// A way of placing rows, with what it leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Baseline {
    /// Inverse-distance weighting over all rows of the map. Nothing to build, N K for each row; every row has a place
    /// among the others, however far it is from all of them.
    Idw {
        /// The power of the inverse distance.
        power: f64,
    },
    /// A neural network trained on the map's rows and places. Long to build, quick to place, whatever the size of the
    /// map; it learns the map by heart more than the way to it.
    Network(Network),
    /// Parametric t-SNE: a network that makes a map of its own from the map's rows, which is then turned onto the map.
    /// For many rows; long to build, quick to place.
    Parametric(Parametric),
    /// Repeated gradient descent: the row joins the others, and t-SNE goes on with their places held fast. N² K to build, and
    /// up to a thousand times N for each row; from the nearest row's place it ends about where its neighbours are, from a
    /// random start often among strangers.
    Descent(Descent),
    /// openTSNE's way: a few neighbours, a start among their places, 250 steps of descent. Little to build, 250 N for each
    /// row; a row far from all others goes among its neighbours all the same.
    OpenTsne {
        /// Where the descent starts.
        start: OpenTsneStart,
    },
    /// The fixed point of attraction to the nearest rows, from the place of the nearest. Little to build, and quick for
    /// each row; LION's energy rule without its choice of starts and without its outliers.
    FixedPoint,
    /// Radial basis functions through the places of all rows. N³ to build, N K for each row; places are met exactly, and
    /// between them, and beyond them, the function does as it likes.
    Rbf {
        /// The function of a distance.
        kernel: Kernel,
        /// How its width is found.
        epsilon: Epsilon,
    },
    /// Kernelized t-SNE: normalised Gaussians through the places of all rows. N³ to build, N K for each row; narrow ones
    /// put a row where the nearest is, wide ones between many.
    Kernelized {
        /// K: the deviation of a row's Gaussian, as a multiple of the distance to its nearest other.
        width: f64,
    },
}

/// Kernelized t-SNE unless a width is given: wide enough to be smooth, narrow enough to be right.
const KERNEL_WIDTH: f64 = 0.25;
/// Stands for the map's own, which is known once there is a map.
const POWER: f64 = 20.0;

/// What a way of placing is built from: rows as the map's preprocessing leaves them, their places, and what the map
/// was made with. No two rows are equal.
pub(crate) struct Training<'a> {
    pub(crate) x: &'a Matrix,
    pub(crate) y: &'a Matrix,
    pub(crate) perplexity: f64,
    pub(crate) seed: u64,
}

/// A way of placing, made ready.
pub trait PlacingMethod: Send + Sync {
    /// The places of rows that are preprocessed already. Each depends on its row alone: the same bits in any batch.
    fn places(&self, rows: &Matrix) -> Result<Matrix>;

    /// What a person should know of how it was built ("a ridge of 1e-9 was added: the system was singular").
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A baseline built from a map.
pub struct BuiltBaseline {
    preprocess: lion_tsne::preprocess::Preprocess,
    placing: Box<dyn PlacingMethod>,
}

impl Baseline {
    /// Every way of placing but LION, one of each name. What a person can choose is here as it is without a choice; the power
    /// of [`Idw`](Self::Idw) stands for the one that the map has.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Idw { power: POWER }];
        all.extend(Kernel::ALL.map(|kernel| Self::Rbf { kernel, epsilon: Epsilon::MeanDistance }));
        all.push(Self::Kernelized { width: KERNEL_WIDTH });
        all.extend(Descent::ALL.map(Self::Descent));
        all.extend(Network::PAPER.map(Self::Network));
        all.push(Self::Parametric(Parametric::default()));
        all.extend(OpenTsneStart::ALL.map(|start| Self::OpenTsne { start }));
        all.push(Self::FixedPoint);
        all
    }

    /// The names of [`all`](Self::all), as a sentence lists them.
    pub fn names() -> String {
        Self::all().iter().map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Its name, without what it leaves open.
    pub fn name(&self) -> String {
        let whole = self.to_string();
        whole.split(' ').next().unwrap_or_default().to_owned()
    }

    /// Builds it from a map. Works on the threads of the pool it is called in.
    pub fn build(&self, map: &Map, seed: u64, observer: &mut Observer<'_>) -> Result<BuiltBaseline> {
        let (rows, cols) = (map.x().rows(), map.x().cols());
        check_memory(
            self.to_string(),
            self.memory(rows, cols),
            "place with another method, or fit fewer rows",
        )?;
        let training = Training { x: map.x(), y: map.y(), perplexity: map.perplexity(), seed };
        if observer(&Progress::of(Stage::Build, 0, 1)).is_break() {
            return Err(Error::Stopped(Stage::Build));
        }
        let placing: Box<dyn PlacingMethod> = match *self {
            Self::Idw { power } => Box::new(idw::Idw::new(&training, power)?),
            Self::Network(network) => Box::new(network::TrainedNetwork::new(&training, &network, observer)?),
            Self::Parametric(parametric) => {
                // In a small map, as much as there are rows for.
                let perplexity = parametric.perplexity.min(((rows as f64 - 1.0) / 3.0).floor());
                let parametric = Parametric { perplexity, ..parametric };
                Box::new(parametric::Turned::new(&training, &parametric, observer)?)
            }
            Self::Descent(descent) => Box::new(descent::Descents::new(&training, descent)?),
            Self::OpenTsne { start } => Box::new(opentsne::OpenTsne::new(&training, start)),
            Self::FixedPoint => Box::new(fixed_point::FixedPoint::new(&training)),
            Self::Rbf { kernel, epsilon } => Box::new(rbf::Rbf::new(&training, kernel, epsilon, observer)?),
            Self::Kernelized { width } => Box::new(kernelized::Kernelized::new(&training, width, observer)?),
        };
        Ok(BuiltBaseline { preprocess: map.preprocess().clone(), placing })
    }

    /// About how many bytes it takes to build from so many rows of so many columns, beside the map itself.
    pub fn memory(&self, rows: usize, cols: usize) -> u64 {
        let (n, k) = (rows as u64, cols as u64);
        match self {
            Self::Idw { .. } => 4 * n * (k + 3),
            Self::Network(network) => network.memory(rows, cols),
            Self::Parametric(parametric) => parametric.memory(rows, cols),
            Self::Descent(_) => descent::Descents::memory(rows, cols),
            Self::OpenTsne { .. } => opentsne::OpenTsne::memory(rows, cols),
            Self::FixedPoint => fixed_point::FixedPoint::memory(rows, cols),
            // The system, and beside it columns and a few vectors.
            Self::Rbf { .. } | Self::Kernelized { .. } => 8 * n * n + 4 * n * (k + 50),
        }
    }
}

impl FromStr for Baseline {
    type Err = Error;

    /// The one of this name among [`all`](Self::all).
    ///
    /// ```
    /// use lion_evaluate::Baseline;
    ///
    /// let idw: Baseline = "idw".parse()?;
    /// assert_eq!((idw.name().as_str(), idw.to_string().as_str()), ("idw", "idw p=20"));
    /// let refused = "lion".parse::<Baseline>().unwrap_err();
    /// assert!(refused.to_string().starts_with("method must be one of idw, rbf-multiquadric, "));
    /// # Ok::<(), lion_tsne::Error>(())
    /// ```
    fn from_str(name: &str) -> Result<Self> {
        Self::all().into_iter().find(|baseline| baseline.name() == name).ok_or_else(|| Error::Parameter {
            name: "method",
            problem: format!("must be one of {}, not {name:?}", Self::names()),
        })
    }
}

impl fmt::Display for Baseline {
    /// As the command line and the report have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idw { power } => write!(f, "idw p={power}"),
            Self::Network(network) => write!(f, "{network}"),
            Self::Parametric(_) => f.write_str("parametric"),
            Self::Descent(descent) => descent.fmt(f),
            Self::OpenTsne { start } => write!(f, "opentsne-{start}"),
            Self::FixedPoint => f.write_str("fixed-point"),
            Self::Rbf { kernel, epsilon: Epsilon::MeanDistance } => write!(f, "rbf-{kernel}"),
            Self::Rbf { kernel, epsilon } => write!(f, "rbf-{kernel} e={epsilon}"),
            Self::Kernelized { width } => write!(f, "kernelized K={width}"),
        }
    }
}

impl BuiltBaseline {
    /// The places of rows as they come, with all their columns.
    pub fn place(&self, rows: &Matrix) -> Result<Matrix> {
        self.preprocess.check(rows)?;
        self.placing.places(&self.preprocess.apply(rows)?)
    }

    /// The places of rows that went through the map's preprocessing already.
    pub fn place_preprocessed(&self, rows: &Matrix) -> Result<Matrix> {
        self.placing.places(rows)
    }

    /// What a person should know of how it was built.
    pub fn notes(&self) -> Vec<String> {
        self.placing.notes()
    }
}
