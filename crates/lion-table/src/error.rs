//! What can be wrong with a table file, in one sentence each: where, what, what to do.

use std::fmt;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Every reason for which a table cannot be read or written. The text of each is one sentence for a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no file of that name.
    #[error("{file}: there is no such file")]
    NoSuchFile {
        /// The file as it was asked for.
        file: String,
    },
    /// A directory stands where a file is needed.
    #[error("{file} is a directory; name a table file in it")]
    Directory {
        /// The directory.
        file: String,
    },
    /// The operating system refused to read the file.
    #[error("{file} cannot be read: {cause}")]
    Io {
        /// The file.
        file: String,
        /// The system's own reason.
        cause: std::io::Error,
    },
    /// Neither the name nor the first bytes tell the format.
    #[error(
        "{file}: neither its name nor its first bytes tell what kind of table it is; name it .npy, .csv, .csv.gz, .parquet, .arrow, .feather, .jsonl, .json or …-idx3-ubyte"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// The bytes are of another format than the name says.
    #[error("{file} looks like {looks}, whatever its name says; give it a name that ends in {ending}")]
    Misnamed {
        /// The file.
        file: String,
        /// The format that its first bytes tell, with its article.
        looks: &'static str,
        /// How the name of such a file ends.
        ending: &'static str,
    },
    /// It is uncertain whether the first row of a CSV file names the columns.
    #[error(
        "{file}: line {line} {why}; say --header yes if it names the columns or --header no if it is a row of data"
    )]
    UnclearHeader {
        /// The file.
        file: String,
        /// The line of that row, counted from 1.
        line: u64,
        /// What the row looks like.
        why: String,
    },
    /// The bytes break the rules of their format: truncated, altered, or of another kind than the name says.
    #[error("{file} is not a whole {format} file: {problem}")]
    Damaged {
        /// The file.
        file: String,
        /// The format that it should have.
        format: &'static str,
        /// Which rule is broken.
        problem: String,
    },
    /// A sound file whose content is not a table of numbers (or, for labels, not one label per row).
    #[error("{file} {problem}")]
    Unsuitable {
        /// The file.
        file: String,
        /// What it holds and what to do.
        problem: String,
    },
    /// No data row.
    #[error("{file} has no rows of data")]
    Empty {
        /// The file.
        file: String,
    },
    /// There are more rows than there is memory for.
    #[error("{file} has more than the {most} rows that there is memory for")]
    TooManyRows {
        /// The file.
        file: String,
        /// As many as there is memory for.
        most: usize,
    },
    /// No column is left to serve as feature.
    #[error("{file} has no numeric column left to use; the columns there are: {there}")]
    NoNumericColumn {
        /// The file.
        file: String,
        /// The columns of the file, the first ten of them.
        there: String,
    },
    /// A column was asked for by a name that the file does not have.
    #[error("{file} has no column {column}; the columns there are: {there}")]
    NoSuchColumn {
        /// The file.
        file: String,
        /// The name asked for.
        column: String,
        /// The columns of the file, the first ten of them.
        there: String,
    },
    /// A column was asked for by a name that two columns of the file have.
    #[error("{file} has more than one column {column}; rename one of them")]
    AmbiguousColumn {
        /// The file.
        file: String,
        /// The name asked for.
        column: String,
    },
    /// Columns hold something other than numbers, and nobody said what to do with them.
    #[error("{file}: {}", not_numeric(columns))]
    NotNumeric {
        /// The file.
        file: String,
        /// Each column, and what it holds.
        columns: Vec<(String, String)>,
    },
    /// A column of lists stands beside other feature columns, so it is unclear which are the features.
    #[error(
        "{file}: column {list} holds a list of numbers per row and column {other} is a feature too; choose one with --columns {list} or leave one out with --exclude {other}"
    )]
    ListBesideOthers {
        /// The file.
        file: String,
        /// The column of lists.
        list: String,
        /// Another column.
        other: String,
    },
    /// A cell holds text where a number belongs.
    #[error(
        "{cell} holds {value:?}, which is not a number; correct it or leave the column out with --exclude"
    )]
    NotANumber {
        /// Where.
        cell: CellAddress,
        /// The text found, shortened if long.
        value: String,
    },
    /// A cell holds something else where a whole number belongs.
    #[error("{cell} holds {value:?} where a whole number from 0 to {most} belongs; correct it")]
    NotWhole {
        /// Where.
        cell: CellAddress,
        /// What was found, shortened if long.
        value: String,
        /// The largest number that may stand there.
        most: u64,
    },
    /// A cell holds a value of another kind than the map has there.
    #[error("{cell} {problem}; correct it")]
    WrongKind {
        /// Where.
        cell: CellAddress,
        /// What it holds and what belongs there.
        problem: String,
    },
    /// A cell holds NaN or an infinity.
    #[error("{cell} is {value}; every value must be a finite number: fill it or remove the row")]
    NotFinite {
        /// Where.
        cell: CellAddress,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
    },
    /// A cell is empty or null.
    #[error("{cell} is empty; every value must be a finite number: fill it or remove the row")]
    Missing {
        /// Where.
        cell: CellAddress,
    },
    /// The id of a row is empty or null.
    #[error("{cell} is empty; every row needs an id of its own")]
    MissingId {
        /// Where.
        cell: CellAddress,
    },
    /// A number is beyond what a 32-bit float can hold.
    #[error("{cell} is {value:e}, too large for a 32-bit float; scale the column down")]
    TooLarge {
        /// Where.
        cell: CellAddress,
        /// The number.
        value: f64,
    },
    /// A row is shorter or longer than the first.
    #[error(
        "{row} has length {found} instead of {expected}; every row must have the same number of values: correct it or remove it"
    )]
    Ragged {
        /// Where; its column is empty.
        row: CellAddress,
        /// The number of values of the row.
        found: usize,
        /// The number of values of the header or first row.
        expected: usize,
    },
    /// A later object of a JSON lines file has a field that the first does not have.
    #[error("{cell} is a field that the first row does not have; every row must have the same fields")]
    NewField {
        /// Where.
        cell: CellAddress,
    },
    /// An object of a JSON lines file has a field twice.
    #[error("{cell} is there twice; every field may have one value per row")]
    RepeatedField {
        /// Where.
        cell: CellAddress,
    },
    /// A line of a JSON lines file is not JSON, or not an array or object.
    #[error("{row} is not a JSON object or array of numbers: {problem}")]
    BadJson {
        /// Where; its column is empty.
        row: CellAddress,
        /// The parser's own reason.
        problem: String,
    },
    /// A line of a text file of labels has several cells.
    #[error("{row} has more than one value ({value:?}); labels are one per line")]
    SeveralLabels {
        /// Where; its column is empty.
        row: CellAddress,
        /// The text of the line, shortened if long.
        value: String,
    },
    /// Two rows have the same id.
    #[error("{} have the same id {id:?}; ids must be unique", both(first, second))]
    DuplicateId {
        /// The id.
        id: String,
        /// Where it is first; the column is empty.
        first: Box<CellAddress>,
        /// Where it is again; the column is empty.
        second: Box<CellAddress>,
    },
    /// The name of a file to write does not tell its format.
    #[error(
        "{file}: its name does not tell what kind of table to write; end it in .parquet, .arrow, .feather, .csv, .csv.gz, .jsonl or .npy, or give - for CSV on standard output"
    )]
    UnknownOutput {
        /// The file.
        file: String,
    },
    /// The folder of a file to write is not there.
    #[error("{file} cannot be written, its folder does not exist: make the folder first")]
    NoFolder {
        /// The file.
        file: String,
    },
    /// The operating system refused to write the file: the disk is full, the folder is protected, or a pipe has no
    /// reader any more.
    #[error("{file} cannot be written: {cause}")]
    Unwritable {
        /// The file.
        file: String,
        /// The system's own reason.
        cause: std::io::Error,
    },
    /// The columns given to a writer are not those of its table.
    #[error("{file} cannot take these columns: {problem}")]
    BadColumns {
        /// The file.
        file: String,
        /// How they differ.
        problem: String,
    },
}

/// A place in a file, for messages: `data.csv, row 2 (line 4), column width`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellAddress {
    /// The file.
    pub file: String,
    /// The data row, counted from 0 (a header is no data row).
    pub row: usize,
    /// The line of a text file, counted from 1.
    pub line: Option<u64>,
    /// The column's name; empty when the whole row is meant.
    pub column: String,
}

impl CellAddress {
    /// The row without its file: `row 2 (line 4)`.
    fn in_file(&self) -> String {
        match self.line {
            Some(line) => format!("row {} (line {line})", self.row),
            None => format!("row {}", self.row),
        }
    }
}

impl fmt::Display for CellAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file, self.in_file())?;
        if !self.column.is_empty() {
            write!(f, ", column {}", self.column)?;
        }
        Ok(())
    }
}

/// What columns hold in the place of numbers, and what to do.
fn not_numeric(columns: &[(String, String)]) -> String {
    if let [(column, what)] = columns {
        return format!(
            "column {column} holds {what}, not numbers; use it with --id {column} or --label {column}, or leave it out with --exclude {column}"
        );
    }
    let held: Vec<String> = columns.iter().map(|(column, what)| format!("{column} ({what})")).collect();
    let names: Vec<&str> = columns.iter().map(|(column, _)| column.as_str()).collect();
    format!(
        "these columns hold no numbers: {}; use one with --id and one with --label, and leave the others out with --exclude {}",
        held.join(", "),
        names.join(",")
    )
}

/// Two rows, of one file or of two.
fn both(first: &CellAddress, second: &CellAddress) -> String {
    match first.file == second.file {
        true => format!("{}: {} and {}", first.file, first.in_file(), second.in_file()),
        false => format!("{first} and {second}"),
    }
}

/// Why one value cannot be used; [`Fault::at`] a cell, it is an [`Error`].
#[derive(Debug)]
pub(crate) enum Fault {
    Missing,
    NotFinite(f64),
    TooLarge(f64),
    Text(String),
    /// What was found, and the largest whole number that may be there.
    NotWhole(String, u64),
}

impl Fault {
    pub(crate) fn at(self, cell: CellAddress) -> Error {
        match self {
            Self::Missing => Error::Missing { cell },
            Self::NotFinite(value) => Error::NotFinite { cell, value },
            Self::TooLarge(value) => Error::TooLarge { cell, value },
            Self::Text(value) => Error::NotANumber { cell, value: shorten(&value) },
            Self::NotWhole(value, most) => Error::NotWhole { cell, value: shorten(&value), most },
        }
    }

    /// The fault of a number that did not become a finite `f32`.
    pub(crate) fn of(value: f64) -> Self {
        if value.is_finite() { Self::TooLarge(value) } else { Self::NotFinite(value) }
    }
}

/// The first 40 characters, so that one bad cell cannot fill the screen.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
