//! The arithmetic below the maps, for crates that compute on maps themselves: the same numbers, the same registers, the
//! same order of sums, and so the same bits as here.
//!
//! - [`Random`]: numbers from a seed, the same on every machine.
//! - [`vectorized`]: plain code compiled for the widest registers at hand; [`exp`],
//!   [`sum_lanes`] and [`squared_distance`] are made for it. [`Registers`] are what it may use.
//! - [`find_log_beta`]: the width of a Gaussian by its [`entropy`], the search behind
//!   [`perplexity_weights`](crate::tsne::perplexity_weights).
//! - [`Similarity`]: one map turned, scaled and moved onto another.
//! - [`KdTree`]: the nearest places of a map; [`NearestRows`]: its nearest rows.

pub use crate::affinity::{entropy, exp, find_log_beta};
pub use crate::index::{NearestRows, squared_distance};
pub use crate::kd_tree::KdTree;
pub use crate::random::Random;
pub use crate::similarity::{Reflection, Similarity};
pub use crate::vectorized::{Registers, sum_lanes, vectorized};
