//! What can go wrong, in one sentence each: what, where, what to do.

use std::path::PathBuf;

/// Every way in which this library can refuse or fail. The text of each is one sentence for a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is out of its range, or does not fit the data.
    #[error("{name} {problem}")]
    Parameter {
        /// The parameter as the caller knows it, e.g. `perplexity`.
        name: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// The rows cannot be used: too few, not finite, the wrong width.
    #[error("{0}")]
    Data(String),
    /// A value is not a number that can be used. Row and column count from 1.
    #[error("row {row}, column {column} is {value}; every value must be a finite number: fill or remove it")]
    NotFinite {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// A value is so large that distances would overflow. Row and column count from 1.
    #[error(
        "row {row}, column {column} is {value:e}; values beyond 1e15 cannot be squared safely: scale the column down"
    )]
    TooLarge {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The value found.
        value: f32,
    },
    /// A column lies so far from 0 that 32-bit numbers cannot tell its values apart. It counts from 1.
    #[error(
        "column {column} goes from {low} to {high}, so far from 0 that 32 bits lose its differences: subtract its mean"
    )]
    Offset {
        /// Column, counted from 1.
        column: usize,
        /// Its least value.
        low: f32,
        /// Its greatest value.
        high: f32,
    },
    /// A row has no direction, which the cosine metric needs. It counts from 1.
    #[error(
        "row {row} is all zeros, which has no direction for the cosine metric: remove it or use the euclidean metric"
    )]
    NoDirection {
        /// Row, counted from 1.
        row: usize,
    },
    /// A change of a live map cannot be applied. It counts from 1 within its batch.
    #[error("change {number}: {problem}")]
    Change {
        /// The change, counted from 1.
        number: usize,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A change of a live map is about a point that is not there. It counts from 1 within its batch.
    #[error("change {number}: there is no point {id:?} that could be removed")]
    NoPoint {
        /// The change, counted from 1.
        number: usize,
        /// The id that it names.
        id: String,
    },
    /// A map file is not one, is damaged, or is of a version that this build cannot read.
    #[error("{}: {problem}", path.display())]
    MapFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The operating system refused to read or write a file.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's own reason.
        cause: std::io::Error,
    },
    /// So much memory is not to be had.
    #[error("{what} needs {} of memory, and {} can be had: {remedy}", size(*needed), size(*available))]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes that can be had.
        available: u64,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The observer asked to stop before there was anything to keep.
    #[error("stopped during {0}, before there was anything to keep")]
    Stopped(crate::progress::Stage),
}

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Bytes, as people say them.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} MB", (b / 1e6).ceil()),
    }
}
