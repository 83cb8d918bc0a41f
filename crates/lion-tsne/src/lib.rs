//! t-SNE maps that stay alive: fit a map to rows of numbers, keep it in one file, place new rows into it.
//!
//! The nouns:
//! - [`Matrix`]: rows of `f32`, owned or mapped from a file; the one array type here. [`Rows`] are a matrix with what is
//!   known of it, ids and labels.
//! - [`Fit`]: what to fit and how. [`Fit::run`] makes a map by t-SNE; [`Fit::adopt`] takes places made elsewhere.
//! - [`Map`]: the rows, their places, and how they came to be ([`Provenance`](map::Provenance)). [`Map::save`] and
//!   [`Map::load`] keep it in a file whose layout is written down in docs/format.md.
//! - [`Recipe`]: what was done to the columns of a table before they became rows of numbers: categories, dates, gaps, units. A map
//!   keeps it, and [`Map::original`] leads back to the columns as they were.
//! - [`Lion`]: a map made ready for new rows, as [`LionOptions`] say. Each row gets a [`Placement`]: a place, a [`Verdict`]
//!   and how strange it is. A [`Placer`] remembers the positions it gave to outliers.
//! - [`live::Live`]: points with ids that appear, change and leave, and an [`live::Event`] for each change: what a
//!   stream or a dashboard shows.
//! - [`Quality`](quality::Quality): how well a map keeps what the rows are like, at several scales.
//! - [`MapDiff`]: what differs between two maps that share ids: rows that moved, clusters that came, went, split, merged.
//! - [`explain::Explanation`]: the clusters of a map with what sets them apart, and a name for each.
//! - [`Progress`]: told to an [`Observer`] at every step, who may answer stop. [`ignore()`] listens to nothing.
//! - [`Error`]: one sentence that says what is wrong and what to do.
//! - [`Named`]: enums whose variants people name, such as [`Local`] and [`Verdict`]: `ALL` of them, and by name.
//!
//! The stages of a fit, for whoever needs one alone: [`preprocess`] (PCA, unit length), [`index`] (nearest neighbours,
//! or an [`ExactIndex`](index::ExactIndex) for other queries), [`tsne`] (affinities;
//! [`kl_divergence`](tsne::kl_divergence) of any map). Seldom needed: [`landmarks`] of
//! tables too large to map, [`memory`] before it is taken, and the details of [`lion`] and [`map`].
//! [`numerics`], [`memory`] and [`mod@file`] have what other crates that compute on maps share with this one.
//!
//! ```
//! use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, Rows, Verdict};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> lion_tsne::Result<()> {
//! // 120 points on three rings in space, far from each other.
//! let on_ring = |i: usize| {
//!     let (ring, angle) = ((i % 3) as f32, (i / 3) as f32 * 0.157);
//!     [angle.cos(), angle.sin(), 5.0 * ring]
//! };
//! let data = Matrix::new(120, 3, (0..120).flat_map(on_ring).collect())?;
//! let labels = (0..120).map(|i| format!("ring {}", i % 3)).collect();
//! let rows = Rows { data, ids: None, labels: Some(labels) };
//!
//! let fit = Fit { perplexity: Some(10.0), ..Fit::default() };
//! let map = fit.run(rows, &mut |progress| {
//!     if let Some(kl) = progress.kl {
//!         println!("iteration {}: KL divergence {kl:.3}", progress.done);
//!     }
//!     ControlFlow::Continue(()) // Break(()) keeps the map reached so far
//! })?;
//! println!("row 0 is at {:?}", map.place(0));
//!
//! // A map is one file: `save` and `load` do the same on disk.
//! let again = Map::from_bytes(&map.to_bytes()?)?;
//! assert_eq!(again.place(0), map.place(0));
//!
//! // New rows: one on the second ring between two others, one far from everything.
//! let lion = Lion::new(again, &LionOptions::default())?;
//! let on_the_ring = lion.place_row(&[0.08f32.cos(), 0.08f32.sin(), 5.0])?;
//! println!("it is at {:?}, {}", &on_the_ring.place[..], on_the_ring.verdict);
//! assert_eq!(on_the_ring.verdict, Verdict::Interpolated);
//! assert_eq!(lion.place_row(&[50.0, 50.0, 50.0])?.verdict, Verdict::Outlier);
//! # // Row 3 is beside row 0 on its ring, row 1 on another ring.
//! # let distance = |i: usize| {
//! #     let (here, there) = (map.place(0), map.place(i));
//! #     (here[0] - there[0]).hypot(here[1] - there[1])
//! # };
//! # assert!(distance(3) < distance(1));
//! # Ok(())
//! # }
//! ```
//!
//! The same rows, parameters and seed give the same bits on the same kind of machine, whatever the number of threads.

mod affinity;
mod bytes;
mod density;
pub mod diff;
mod error;
pub mod explain;
pub mod file;
mod fit;
pub mod index;
mod kd_tree;
pub mod landmarks;
pub mod lion;
pub mod live;
pub mod map;
mod matrix;
pub mod memory;
mod named;
pub mod numerics;
pub mod preprocess;
mod progress;
pub mod quality;
mod random;
mod similarity;
pub mod tsne;
pub mod update;
mod vectorized;
mod verdict;

pub use lion_recipe as recipe;
pub use lion_recipe::Recipe;

pub use diff::{DiffOptions, MapDiff};
pub use error::{Error, Fault, Result};
pub use fit::{Fit, Init, Method, PERPLEXITY, Rows};
pub use lion::{DEFAULT_ALPHA, Lion, LionOptions, Local, Placement, Placer, Radius, Verdict, VerdictRule};
pub use map::Map;
pub use matrix::Matrix;
pub use named::Named;
pub use preprocess::{Metric, PcaChoice};
pub use progress::{Observer, Progress, Stage, ignore};
pub use tsne::{ACCELERATED_FROM, Descent};
pub use update::Update;
