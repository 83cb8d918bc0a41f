//! Pictures of a map.
//!
//! A [`Scatter`] is what there is to see: the points of a map, 2-D or 3-D, with their ids and labels, and
//! the points [`Placed`] into it later, each with a [`Mark`] of how it came to its place. It becomes
//! - [`svg`]: a figure for a paper, with text as text;
//! - [`png`]: the same figure as pixels, the same on every machine (the font is compiled in);
//! - [`html`]: one self-contained page to look around in: pan, zoom, hover, search, legend that hides and shows.
//!
//! The same input gives the same bytes. What cannot be drawn is refused with an [`Error`] of one sentence.
//!
//! ```
//! let points = [0.0, 0.0, 1.0, 0.5, 9.0, 9.0];
//! let labels = ["cat", "cat", "dog"].map(String::from);
//! let map = lion_report::Scatter::new(2, &points).title("Pets").labels(&labels);
//! assert!(lion_report::svg(&map)?.starts_with("<svg"));
//!
//! // A new row among the dogs, and one that is like nothing in the map.
//! use lion_report::{Mark, Placed};
//! let placed = Placed::new(&[8.8, 9.1, 4.5, 14.0], &[Mark::Interpolated, Mark::Outlier]);
//! assert!(lion_report::svg(&map.placed(placed))?.contains("2 placed, 1 outlier"));
//! # Ok::<(), lion_report::Error>(())
//! ```

mod chart;
mod colouring;
mod document;
mod error;
mod figure;
mod frame;
mod heat;
mod html;
mod images;
mod landing;
mod layer;
mod legend;
mod palette;
mod picture;
mod placed;
mod png;
mod raster;
mod scatter;
mod svg;
mod text;

pub use chart::{Axis, Chart, Series, Stroke};
pub use document::{Block, Cell, Claim, ClaimVerdict, Document, Head, Row, Table, Tone};
pub use error::{Error, Result};
pub use heat::Heat;
pub use html::html;
pub use images::{ImageCell, ImageRow, Images};
pub use landing::{Landed, Landing};
pub use picture::{Picture, panel};
pub use placed::{Mark, Placed};
pub use png::png;
pub use scatter::Scatter;
pub use svg::svg;
