//! t-SNE maps that stay alive.

mod affinity;
mod error;
mod file;
mod fit;
mod index;
mod map;
mod matrix;
mod preprocess;
mod progress;
mod random;
mod tsne;
mod vectorized;

pub use affinity::{Affinities, perplexity_weights};
pub use error::{Error, Result};
pub use file::Saved;
pub use fit::{Fit, Init, Method, Rows};
pub use index::{ExactIndex, Neighbours, Search, nearest_neighbours};
pub use map::{KlPoint, Labels, Map, MapParts, Provenance};
pub use matrix::Matrix;
pub use preprocess::{Metric, Pca, PcaChoice, Preprocess, Unique, unique_rows};
pub use progress::{Observer, Progress, Stage, ignore};
pub use tsne::kl_divergence;
