//! Tables in: npy, CSV, Parquet, Arrow, JSON lines and IDX files become rows of `f32` with ids and labels.
//!
//! - [`read`] a whole file into one [`Table`], held once; [`open`] it as [`Batches`] to see it pass by.
//! - [`ReadOptions`] choose the columns.
//! - [`read_labels`] reads one label per row from a file of its own.
//! - [`parse`] and [`parse_labels`] do the same to bytes in memory.
//! - [`Error`] is one sentence that names file, row and column.
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
mod columnar;
mod delimited;
mod error;
mod guard;
mod idx;
mod input;
mod jsonl;
mod labels;
mod npy;
mod parquet;
mod raw;
mod record;
mod select;
mod table;

pub use error::{Cell, Error, Result};
pub use input::Format;
pub use labels::{parse_labels, read_labels};
pub use select::ReadOptions;
pub use table::{BATCH_ROWS, Batches, Table};

use input::{Input, open_file};
use std::io::Cursor;
use std::path::Path;
use table::Source;

/// Reads a whole table. `-` is CSV on standard input.
///
/// The values are written once, where they stay; beside them there is only a small buffer.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    open(path, options)?.into_table()
}

/// Opens a table to read it in batches of up to [`BATCH_ROWS`] rows. `-` is CSV on standard input.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Batches> {
    if path.as_os_str() == "-" {
        let input = Input::new("standard input".to_owned(), std::io::stdin(), None)?;
        return batches(input, Format::Csv, options);
    }
    let (file, opened, size) = open_file(path)?;
    let named = Format::of_name(path);
    if named == Some(Format::Parquet) {
        return parquet_batches(file, opened, options);
    }
    let again = opened.try_clone().map_err(|source| Error::Io { file: file.clone(), cause: source })?;
    let mut input = Input::new(file.clone(), opened, size)?;
    match named {
        Some(format) => batches(input, format, options),
        None => match Format::of_content(&input.head()?) {
            Some(Format::Parquet) => parquet_batches(file, again, options),
            Some(format) => batches(input, format, options),
            None => Err(Error::UnknownFormat { file }),
        },
    }
}

/// Reads a whole table of a known format from memory; gzip is recognised.
pub fn parse(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Table> {
    let file = "the given bytes".to_owned();
    if format == Format::Parquet {
        return parquet_batches(file, bytes::Bytes::copy_from_slice(bytes), options)?.into_table();
    }
    let size = bytes.len() as u64;
    batches(Input::new(file, Cursor::new(bytes.to_vec()), Some(size))?, format, options)?.into_table()
}

/// Opens every format that can be read from front to back.
fn batches(input: Input, format: Format, options: &ReadOptions) -> Result<Batches> {
    let file = input.file.clone();
    let source: Box<dyn Source> = match format {
        Format::Npy => Box::new(npy::open(input, options)?),
        Format::Csv => Box::new(delimited::Csv::open(input, options)?),
        Format::Arrow => Box::new(arrow::open(input, options)?),
        Format::Jsonl => Box::new(jsonl::Jsonl::open(input, options)?),
        Format::Idx => Box::new(idx::open(input, options)?),
        Format::Parquet => return Err(Error::UnknownFormat { file }),
    };
    Ok(Batches::new(file, source))
}

/// Opens Parquet, which is read from its end.
fn parquet_batches<R>(file: String, reader: R, options: &ReadOptions) -> Result<Batches>
where
    R: parquet::Chunks,
{
    let source = parquet::Parquet::open(file.clone(), reader, options)?;
    Ok(Batches::new(file, Box::new(source)))
}
