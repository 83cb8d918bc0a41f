//! t-SNE: places in a map whose closeness follows the affinities.

mod gradient;
pub(crate) mod init;
mod optimise;

pub(crate) use gradient::Repulsion;
pub(crate) use optimise::{Optimised, Schedule, optimise};
