//! t-SNE maps that stay alive.

pub mod affinity;
mod error;
pub mod index;
mod matrix;
mod progress;
pub mod tsne;
mod vectorized;

pub use error::{Error, Result};
pub use matrix::Matrix;
pub use progress::{Observer, Progress, Stage, ignore};
