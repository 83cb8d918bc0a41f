//! Tables in: npy, CSV, Parquet, Arrow, JSON lines and IDX files become rows of `f32` with ids and labels. Tables out:
//! columns of numbers and text become a file of the same formats.
//!
//! - [`read`] a whole file into one [`Table`], held once; [`open`] it as [`Batches`] to see it pass by; [`open_all`] does
//!   the same to several files that make one table.
//! - [`ReadOptions`] choose the columns.
//! - [`read_labels`] reads one label per row from a file of its own.
//! - [`parse`], [`parse_batches`] and [`parse_labels`] do the same to bytes in memory; an Arrow stream shows its
//!   [`outline`] before it is decoded.
//! - [`Writer`] writes [`Column`]s batch by batch, and [`read_columns`] reads them back by name; [`column_names`] tells which
//!   there are.
//! - A table of anything but plain numbers is looked at first: a [`survey`] tells what each column is, a [`Plan`] what becomes of
//!   it, and its [`Encoder`] makes rows of cells.
//! - [`Error`] is one sentence that names file, row and column. Rows count from 0; text files add the line, which counts
//!   from 1.
//!
//! The format is told by the name, or by the first bytes where the name says nothing; gzip by its first bytes.
//!
//! ```
//! use lion_table::{Format, ReadOptions, parse};
//!
//! let options = ReadOptions { label: Some("species".into()), ..ReadOptions::default() };
//! let table = parse(b"width,height,species\n1,2.5,oak\n3,4,elm\n", Format::Csv, &options)?;
//! assert_eq!(table.columns, ["width", "height"]);
//! assert_eq!(table.data, [1.0, 2.5, 3.0, 4.0]);
//! assert_eq!(table.labels.as_deref(), Some(&["oak".to_owned(), "elm".to_owned()][..]));
//! # Ok::<(), lion_table::Error>(())
//! ```

mod arrow;
mod cells;
mod column;
mod columnar;
mod dates;
mod delimited;
mod encoded;
mod encoding;
mod error;
mod guard;
mod idx;
mod input;
mod jsonl;
mod labels;
mod lines;
mod npy;
mod parquet;
mod plan;
mod raw;
mod read_columns;
mod record;
mod select;
mod separator;
mod shown;
mod styles;
mod survey;
mod table;
mod tally;
mod value;
mod write;
mod written;

pub use arrow::{Outline, outline};
pub use column::{Column, Field, Kind};
pub use encoded::Encoder;
pub use encoding::read_text;
pub use error::{CellAddress, Error, Result};
pub use input::Format;
pub use labels::{parse_labels, read_labels};
pub use plan::{Plan, PlanOptions, PlannedColumn, Treatment, quoted};
pub use read_columns::{cell_column_names, column_names, parse_columns, read_columns};
pub use select::{Header, ReadOptions, list_of_items};
pub use shown::{ShownBatches, ShownCells, read_shown};
pub use survey::{Found, Role, Survey, SurveyedColumn, survey, survey_bytes};
pub use table::{BATCH_ROWS, Batches, Origin, Origins, Table};
pub use write::{OutputFormat, Writer, Written, check_output};
pub use written::{NumberStyle, Reading};

use input::{Input, open_file};
use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use table::Source;

/// Reads a whole table. `-` is CSV on standard input.
///
/// The values are written once, where they stay; beside them there is only a small buffer.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    open(path, options)?.into_table()
}

/// Opens a table to read it in batches of up to [`BATCH_ROWS`] rows. `-` is CSV on standard input.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Batches> {
    if options.encoder.is_some() {
        return encoded(open_cells(Cells::File(path), options)?, options);
    }
    match opened_as(path, options)? {
        Opened::Parquet(file, reader) => parquet_batches(file, reader, options),
        Opened::Stream(input, format) => batches(input, format, options),
    }
}

/// About how many rows files have that make one table: as they say, or as their first rows let expect. Nothing where that
/// cannot be told without taking rows away, as from standard input.
pub fn expected_rows(paths: &[PathBuf], options: &ReadOptions) -> Result<Option<usize>> {
    let mut all = 0usize;
    for path in paths {
        if path.as_os_str() == "-" || path.metadata().is_ok_and(|there| !there.is_file()) {
            return Ok(None);
        }
        let mut table = open(path, options)?.with_repeated_ids();
        let rows = match table.told_rows() {
            Some(rows) => rows,
            None => {
                let first = table.next().transpose()?.map_or(0, |first| first.rows);
                // Where all is read, what is left of it is in a buffer.
                let rest =
                    |table: Batches| table.map(|batch| batch.map_or(0, |batch| batch.rows)).sum::<usize>();
                table.expected_rows(first).unwrap_or_else(|| first + rest(table))
            }
        };
        all = all.saturating_add(rows);
    }
    Ok(Some(all))
}

/// Opens several files as one table, in this order. They must have the same columns. Each is looked at first, so that one
/// that is missing or of another kind is told before anything is read, and opened again when its turn comes.
pub fn open_all(paths: &[PathBuf], options: &ReadOptions) -> Result<Batches> {
    let Some((first, later)) = paths.split_first() else {
        return Err(Error::Empty { file: "a list of no files".into() });
    };
    let (first, mut rows) = (open(first, options)?, Some(0usize));
    for path in later {
        let next = open(path, options)?;
        first.check_next(&next)?;
        rows = rows.zip(next.row_count()).and_then(|(rows, more)| rows.checked_add(more));
    }
    let later = later.iter().cloned().map(|path| -> table::Later {
        let options = options.clone();
        Box::new(move || open(&path, &options))
    });
    Ok(first.followed_by(later.collect(), rows))
}

/// An open file of a known format.
enum Opened {
    /// To be read from front to back.
    Stream(Input, Format),
    /// Parquet, which is read from its end.
    Parquet(String, File),
}

/// Opens a file under the name that messages shall have for it.
fn opened_as(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let opened = opened(path)?;
    let Some(name) = options.name.clone() else { return Ok(opened) };
    Ok(match opened {
        Opened::Stream(input, format) => Opened::Stream(Input { file: name, ..input }, format),
        Opened::Parquet(_, reader) => Opened::Parquet(name, reader),
    })
}

fn opened(path: &Path) -> Result<Opened> {
    if path.as_os_str() == "-" {
        let input = Input::new("standard input".to_owned(), std::io::stdin(), None)?;
        return Ok(Opened::Stream(input, Format::Csv));
    }
    let (file, opened, size) = open_file(path)?;
    let named = Format::of_name(path);
    if named == Some(Format::Parquet) {
        return Ok(Opened::Parquet(file, opened));
    }
    let again = opened.try_clone().map_err(|source| Error::Io { file: file.clone(), cause: source })?;
    let mut input = Input::new(file.clone(), opened, size)?;
    match named {
        Some(format) => Ok(Opened::Stream(input, format)),
        None => match Format::of_content(&input.head()?) {
            Some(Format::Parquet) => Ok(Opened::Parquet(file, again)),
            Some(format) => Ok(Opened::Stream(input, format)),
            None => Err(Error::UnknownFormat { file }),
        },
    }
}

/// Reads a whole table of a known format from memory; gzip is recognised.
pub fn parse(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Table> {
    parse_batches(bytes, format, options)?.into_table()
}

/// Opens a table of a known format from memory, to read it in batches of up to [`BATCH_ROWS`] rows.
pub fn parse_batches(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Batches> {
    if options.encoder.is_some() {
        return encoded(open_cells(Cells::Bytes(bytes, format), options)?, options);
    }
    if format == Format::Parquet {
        return parquet_batches(
            given(options.name.as_deref()),
            bytes::Bytes::copy_from_slice(bytes),
            options,
        );
    }
    batches(in_memory(bytes, options.name.as_deref())?, format, options)
}

/// What the sentences of an error call bytes in memory.
fn given(name: Option<&str>) -> String {
    name.unwrap_or("the given bytes").to_owned()
}

fn in_memory(bytes: &[u8], name: Option<&str>) -> Result<Input> {
    Input::new(given(name), Cursor::new(bytes.to_vec()), Some(bytes.len() as u64))
}

/// Opens every format that can be read from front to back.
fn batches(input: Input, format: Format, options: &ReadOptions) -> Result<Batches> {
    let file = input.file.clone();
    let source: Box<dyn Source> = match format {
        Format::Npy => Box::new(npy::open(input, options)?),
        Format::Csv => Box::new(delimited::CsvReader::open(input, options)?),
        Format::Arrow => Box::new(arrow::open(input, options)?),
        Format::Jsonl | Format::Json => {
            Box::new(jsonl::JsonlReader::open(jsonl::JsonLines::of_format(input, format)?, options)?)
        }
        Format::Idx => Box::new(idx::open(input, options)?),
        Format::Parquet => return Err(Error::UnknownFormat { file }),
    };
    Ok(Batches::new(file, source))
}

/// Where cells are.
enum Cells<'a> {
    File(&'a Path),
    Bytes(&'a [u8], Format),
}

/// Opens any format to read its cells, whatever they are.
fn open_cells(from: Cells<'_>, options: &ReadOptions) -> Result<Box<dyn cells::CellReader>> {
    let (input, format) = match from {
        Cells::Bytes(bytes, Format::Parquet) => {
            let bytes = bytes::Bytes::copy_from_slice(bytes);
            return Ok(Box::new(parquet::cells(given(options.name.as_deref()), bytes)?));
        }
        Cells::Bytes(bytes, format) => (in_memory(bytes, options.name.as_deref())?, format),
        Cells::File(path) => match opened_as(path, options)? {
            Opened::Parquet(file, reader) => return Ok(Box::new(parquet::cells(file, reader)?)),
            Opened::Stream(input, format) => (input, format),
        },
    };
    Ok(match format {
        Format::Npy => Box::new(raw::RawCells::new(npy::open(input, &ReadOptions::default())?)?),
        Format::Idx => Box::new(raw::RawCells::new(idx::open(input, &ReadOptions::default())?)?),
        Format::Csv => Box::new(delimited::CsvCells::open(input, options)?),
        Format::Arrow => Box::new(arrow::cells(input)?),
        Format::Jsonl | Format::Json => {
            Box::new(jsonl::JsonCells::open(jsonl::JsonLines::of_format(input, format)?)?)
        }
        Format::Parquet => return Err(Error::UnknownFormat { file: input.file }),
    })
}

/// What a text means in a column of this kind if it stands alone; one that is none of it stays a text. Numbers are read as in a
/// column of nothing else: `12 %`, `1.200,50` and `1,200.50`, but not `1,200`, which may be either.
pub fn cell_of_text(text: &str, kind: lion_recipe::Kind) -> lion_recipe::Cell<'static> {
    use lion_recipe::Cell;
    match written::RawCell::Text(text.as_bytes()).read_alone(kind) {
        Cell::Text(text) => Cell::Text(text.into_owned().into()),
        Cell::Missing => Cell::Missing,
        Cell::Number(value) => Cell::Number(value),
        Cell::Boolean(value) => Cell::Boolean(value),
        Cell::Date(days) => Cell::Date(days),
    }
}

/// Whether the columns of a file are numbers by its format: nothing need be found out about them.
pub fn is_array(path: &Path) -> bool {
    // To look into a pipe would take bytes away from who reads it.
    if path.as_os_str() == "-" || !path.is_file() {
        return false;
    }
    let named = Format::of_name(path);
    let format = named.or_else(|| match opened(path) {
        Ok(Opened::Stream(_, format)) => Some(format),
        _ => None,
    });
    matches!(format, Some(Format::Npy | Format::Idx))
}

/// Rows as an encoder makes them of cells.
fn encoded(cells: Box<dyn cells::CellReader>, options: &ReadOptions) -> Result<Batches> {
    let file = cells.address(None).file;
    let Some(encoder) = options.encoder.clone() else { return Err(Error::Empty { file }) };
    Ok(Batches::new(file, Box::new(encoded::Encoded::new(cells, encoder, options)?)))
}

/// Opens Parquet, which is read from its end.
fn parquet_batches<R>(file: String, reader: R, options: &ReadOptions) -> Result<Batches>
where
    R: parquet::Chunks,
{
    let source = parquet::ParquetReader::open(file.clone(), reader, options)?;
    Ok(Batches::new(file, Box::new(source)))
}
