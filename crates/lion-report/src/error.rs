//! What can go wrong, in one sentence each.

/// Why a picture was refused or failed. The text of each is one sentence for a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to draw.
    #[error("the map has no points: there is nothing to draw")]
    Empty,
    /// The number of dimensions is not one that can be drawn.
    #[error("a {0}-dimensional map cannot be drawn: fit it with 2 or 3 dimensions")]
    Dimensions(usize),
    /// The slices do not fit together.
    #[error("{what} has {found} entries where {of} needs {expected}: {hint}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// What it belongs to: the map, or the points placed into it.
        of: &'static str,
        /// How long it is.
        found: usize,
        /// How long it should be.
        expected: usize,
        /// What to do.
        hint: &'static str,
    },
    /// A coordinate is not a number that can be drawn. Row and column count from 0.
    #[error("row {row}, column {column} of {of} is {value}: every coordinate must be a finite number")]
    NotFinite {
        /// Where: in the map, or among the points placed into it.
        of: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// The score of a placed point is not a number that can be told.
    #[error("the score of placed point {row} is {value}: every score must be a finite number")]
    Score {
        /// Which point, counted from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// The picture asked for is too small to read or too large to hold.
    #[error("a picture {0} pixels wide cannot be made: ask for {min} to {max}", min = crate::png::WIDTHS.start(), max = crate::png::WIDTHS.end())]
    Width(u32),
    /// A figure or a table of a report without anything in it.
    #[error("{0} has nothing to show")]
    Nothing(String),
    /// The ends of an axis do not make one.
    #[error("{axis} cannot go from {low} to {high}: {hint}")]
    Range {
        /// Which axis of which chart.
        axis: String,
        /// The lower end asked for.
        low: f64,
        /// The upper end asked for.
        high: f64,
        /// What to do.
        hint: &'static str,
    },
    /// A list in a figure or a table is not as long as the rest of it needs.
    #[error("{what} has {found} {things} where {expected} are needed")]
    Ragged {
        /// Which list of which figure or table.
        what: String,
        /// What it is a list of.
        things: &'static str,
        /// How long it is.
        found: usize,
        /// How long it should be.
        expected: usize,
    },
    /// A pixel of an image in a figure is not a number.
    #[error("{0} has a pixel that is not a number")]
    Pixel(String),
    /// The name of a figure or of a heading cannot be part of an address.
    #[error("the {what} is named \"{name}\": use a-z, 0-9 and \"-\", beginning with a letter")]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two things in a report have one name, so that nobody can point at the second.
    #[error("two {what}s of the report are named \"{name}\": give each a name of its own")]
    Twice {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A heading that is neither a section nor a part of one.
    #[error("a heading of level {0} has no place in a report: use 2 or 3")]
    Level(u8),
    /// Pictures in no columns.
    #[error("pictures cannot stand in 0 columns: ask for at least 1")]
    Columns,
    /// The drawing library failed on a figure that it should have drawn.
    #[error("the figure could not be rendered: {0}")]
    Render(String),
}

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;
