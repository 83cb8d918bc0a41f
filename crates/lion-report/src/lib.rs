//! Pictures of a map, and reports.
//!
//! A [`Scatter`] is what there is to see: the points of a map, 2-D or 3-D, with their ids and labels, and
//! the points [`Placed`] into it later, each with a [`Mark`] of how it came to its place. It becomes
//! - [`svg`]: a figure for a paper, with text as text;
//! - [`png`]: the same figure as pixels, the same on every machine (the font is compiled in);
//! - [`html`]: one self-contained page to look around in: pan, zoom, hover, search, legend that hides and shows.
//!
//! A [`Morph`] is two maps of the same rows: a page in which one becomes the other, and a picture of both.
//!
//! A [`Document`] is a report: headings, words, claims, tables and figures in order, which become one self-contained page
//! for a wide screen, a phone and paper ([`Document::html`]). A figure is a [`Picture`], which is also an SVG file and a
//! PNG file of its own. It is made from numbers by
//! - [`Chart`]: lines and points against two axes;
//! - [`Heat`]: a grid of numbers as colours;
//! - [`Images`]: grey images in rows, digits drawn as digits;
//! - [`Landing`]: where new points land in a map;
//! - [`Picture::map`]: a [`Scatter`];
//! - [`panel`]: several of these as one.
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
//!
//! A report of one chart:
//!
//! ```
//! use lion_report::{Axis, Chart, Document, DocumentBlock, Series, Stroke};
//! let axis = |label: &str, log| Axis { label: label.to_owned(), log, range: None };
//! let times = Series {
//!     name: "exact".to_owned(),
//!     points: vec![[1e3, 0.2], [1e4, 2.1], [6e4, 13.0]],
//!     style: Stroke::LineAndPoints,
//!     reference: false,
//! };
//! let chart = Chart {
//!     title: "Time to build".to_owned(),
//!     x: axis("rows", true),
//!     y: axis("seconds", true),
//!     series: vec![times],
//!     notes: vec![],
//! };
//! let figure = DocumentBlock::Figure {
//!     name: "times".to_owned(),
//!     picture: chart.picture()?,
//!     caption: "Time grows with the rows.".to_owned(),
//!     alt: "A line from 0.2 s at 1000 rows to 13 s at 60000.".to_owned(),
//! };
//! let heading = DocumentBlock::Heading { level: 2, text: "Times".to_owned(), id: "times".to_owned() };
//! let report = Document { title: "A report".to_owned(), subtitle: String::new(), blocks: vec![heading, figure] };
//! assert!(report.html()?.contains("<figure id=\"Figure-times\">"));
//! # Ok::<(), lion_report::Error>(())
//! ```

mod cards;
mod chart;
mod cluster_name;
mod colouring;
mod compared;
mod document;
mod error;
mod explain_page;
mod figure;
mod frame;
mod group_size;
mod heat;
mod html;
mod images;
mod landing;
mod layer;
mod legend;
mod morph;
mod palette;
mod picture;
mod placed;
mod png;
mod raster;
mod scatter;
mod svg;
mod text;

pub use cards::{CardColumn, CardKind};
pub use chart::{Axis, Chart, Series, Stroke};
pub use cluster_name::ClusterName;
pub use compared::{Compared, ComparedColumn, ComparedValues};
pub use document::{
    Claim, ClaimVerdict, Document, DocumentBlock, Head, ReportCell, ReportRow, ReportTable, Tone,
};
pub use error::{Error, Result};
pub use explain_page::ExplainPage;
pub use heat::Heat;
pub use html::html;
pub use images::{ImageCell, ImageRow, Images};
pub use landing::{Landing, LandingPoint};
pub use morph::{Morph, MorphChange, Within};
pub use picture::{Picture, panel};
pub use placed::{Mark, Placed};
pub use png::png;
pub use scatter::{ColourChoice, Scatter};
pub use svg::svg;
