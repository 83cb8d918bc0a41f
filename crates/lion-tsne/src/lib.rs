//! t-SNE maps that stay alive.

mod error;
mod fit;
mod map;
mod matrix;
mod preprocess;
mod progress;

pub use error::{Error, Result};
pub use fit::{Fit, Init, Method, Seconds, adopt, fit};
pub use map::{Map, Provenance, KlPoint};
pub use matrix::Matrix;
pub use preprocess::{Metric, Pca, PcaChoice, Preprocess, Unique, unique_rows};
pub use progress::{Observer, Progress, Stage, ignore};
