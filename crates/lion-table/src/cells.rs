//! Rows as cells of any kind, before anything is made of them: what every format with columns gives.

use crate::error::{CellAddress, Result};
use crate::input::Gauge;
use crate::value::Value;
use crate::written::RawCell;

/// What a format says of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Declared {
    /// Values of any kind.
    Values,
    /// Few different values, as a dictionary has them.
    Categories,
    /// The number of the row, as another tool wrote it.
    RowIndex,
    /// A list of numbers.
    List,
    /// Nothing that can be used; the words say what it holds.
    Other(String),
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(crate) struct CellColumn {
    pub(crate) name: String,
    pub(crate) declared: Declared,
}

/// The rows of an open file, one after another.
pub(crate) trait CellReader: Send {
    /// The columns; a format that names them in every row may find more while it reads.
    fn columns(&self) -> &[CellColumn];

    /// Goes on to the next row; says whether there is one.
    fn advance(&mut self) -> Result<bool>;

    /// A cell of the present row.
    fn cell(&self, column: usize) -> RawCell<'_>;

    /// A cell of the present row as an id or label.
    fn text(&self, column: usize) -> Option<String>;

    /// Where the present row is, and a column of it.
    fn address(&self, column: Option<usize>) -> CellAddress;

    /// How much of the file has been read.
    fn gauge(&self) -> &Gauge;

    /// The line of the present row, in a text file.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Whether rows may have columns that earlier ones did not have.
    fn may_grow(&self) -> bool {
        false
    }

    /// Whether every cell is a text, whatever it means.
    fn is_written(&self) -> bool {
        false
    }

    /// Whether commas do not separate cells, so that they may be decimal marks.
    fn has_decimal_commas(&self) -> bool {
        false
    }

    /// Whether the columns have no names of their own.
    fn is_nameless(&self) -> bool {
        false
    }

    /// The number of rows, where the file says it.
    fn told_rows(&self) -> Option<usize> {
        None
    }
}

impl Value {
    /// As a cell.
    pub(crate) fn cell(&self) -> RawCell<'_> {
        match self {
            Self::Null => RawCell::Missing,
            Self::Bool(value) => RawCell::Boolean(*value),
            Self::Whole(value) => RawCell::Number(*value as f64),
            Self::Number(value) => RawCell::Number(*value),
            Self::Date(days) => RawCell::Date(*days),
            Self::Text(text) => RawCell::Text(text.as_bytes()),
            Self::List(_) | Self::Object(_) => RawCell::Other,
        }
    }
}
