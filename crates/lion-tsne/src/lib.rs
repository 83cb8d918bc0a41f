//! t-SNE maps that stay alive.

mod error;
mod file;
mod fit;
mod map;
mod matrix;
mod preprocess;
mod progress;

pub use error::{Error, Result};
pub use file::Saved;
pub use fit::{Fit, Init, Method, Seconds, adopt, fit};
pub use map::{KlPoint, Labels, Map, MapParts, Provenance};
pub use matrix::Matrix;
pub use preprocess::{Metric, Pca, PcaChoice, Preprocess, Unique, unique_rows};
pub use progress::{Observer, Progress, Stage, ignore};
