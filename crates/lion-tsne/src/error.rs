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
    /// Some of the rows' values cannot be used.
    #[error("{}{fault}", place(*row, *column))]
    Unusable {
        /// The row, counted from 0; nothing if no single row is to blame.
        row: Option<usize>,
        /// The column, counted from 0; nothing if no single column is to blame.
        column: Option<usize>,
        /// What is wrong there.
        fault: Fault,
    },
    /// A change of a live map cannot be applied, but for the values of its row, which are [`Error::Unusable`].
    #[error("row {row}: {problem}")]
    Change {
        /// The change in its batch, counted from 0.
        row: usize,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A change of a live map is about a point that is not there.
    #[error("row {row}: there is no point {id:?} that could be removed")]
    NoPoint {
        /// The change in its batch, counted from 0.
        row: usize,
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

/// What is wrong with values, and what to do: the end of a sentence that begins with their row and column.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A value is not a number that can be used.
    #[error("is {0}; every value must be a finite number: fill it or remove the row")]
    NotFinite(f32),
    /// A value is so large that distances would overflow.
    #[error("is {0:e}; values beyond 1e15 cannot be squared safely: scale the column down")]
    TooLarge(f32),
    /// A row has no direction, which the cosine metric needs.
    #[error(
        "is all zeros{}, which has no direction for the cosine metric: remove it or use the euclidean metric",
        as_others(*.others)
    )]
    NoDirection {
        /// How many of the rows after it are, too.
        others: usize,
    },
    /// A row cannot be projected.
    #[error("has values that are too large to be projected: scale the columns down")]
    NotProjected,
    /// A column lies so far from 0 that 32-bit numbers cannot tell its values apart.
    #[error("goes from {low} to {high}, so far from 0 that 32 bits lose its differences: subtract its mean")]
    Offset {
        /// Its least value.
        low: f32,
        /// Its greatest value.
        high: f32,
    },
}

impl Fault {
    /// The fault of a value.
    pub(crate) fn at(self, row: usize, column: usize) -> Error {
        Error::Unusable { row: Some(row), column: Some(column), fault: self }
    }

    /// The fault of a row.
    pub(crate) fn of_row(self, row: usize) -> Error {
        Error::Unusable { row: Some(row), column: None, fault: self }
    }

    /// The fault of a column.
    pub(crate) fn of_column(self, column: usize) -> Error {
        Error::Unusable { row: None, column: Some(column), fault: self }
    }
}

fn as_others(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " (and so is 1 row after it)".to_owned(),
        others => format!(" (and so are {others} rows after it)"),
    }
}

/// The place of a fault, and a space where there is one.
fn place(row: Option<usize>, column: Option<usize>) -> String {
    match (row, column) {
        (Some(row), Some(column)) => format!("row {row}, column {column} "),
        (Some(row), None) => format!("row {row} "),
        (None, Some(column)) => format!("column {column} "),
        (None, None) => String::new(),
    }
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
