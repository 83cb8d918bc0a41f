//! CSV and JSON lines.
//!
//! Floats have the fewest digits that read back to the same bits, and always a point or an exponent, by which other
//! readers know the column for floats also where its values happen to be whole.

use super::Encoder;
use super::destination::Destination;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Schema};
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Bytes, as they are or compressed on the way.
pub(super) trait Sink: Write + Send {
    fn end(self) -> io::Result<Destination>;
}

impl Sink for Destination {
    fn end(self) -> io::Result<Destination> {
        Ok(self)
    }
}

impl Sink for GzEncoder<Destination> {
    fn end(self) -> io::Result<Destination> {
        self.finish()
    }
}

pub(super) struct CsvWriter<S>(S);

impl<S: Sink> CsvWriter<S> {
    /// Writes the header.
    pub(super) fn new(mut sink: S, schema: &Schema) -> io::Result<Self> {
        let mut line = Vec::new();
        for (c, field) in schema.fields().iter().enumerate() {
            separate(&mut line, c);
            csv_text(&mut line, field.name());
        }
        line.push(b'\n');
        sink.write_all(&line)?;
        Ok(Self(sink))
    }
}

impl<S: Sink> Encoder for CsvWriter<S> {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()> {
        let columns = TextCells::of(chunk);
        // A line with nothing on it would be no row.
        let null: &[u8] = if columns.len() == 1 { b"\"\"" } else { b"" };
        let mut text = Vec::new();
        for row in 0..chunk.num_rows() {
            for (c, cells) in columns.iter().enumerate() {
                separate(&mut text, c);
                cells.write(row, &mut text, null, csv_text)?;
            }
            text.push(b'\n');
        }
        self.0.write_all(&text)
    }

    fn finish(self: Box<Self>) -> io::Result<Destination> {
        self.0.end()
    }
}

/// Quotes what would otherwise be read as something else: separators, line ends, space that is trimmed, a mark at the
/// start of the file, and the empty text, which is not null.
fn csv_text(out: &mut Vec<u8>, text: &str) {
    let special = |byte: u8| matches!(byte, b'"' | b',' | b';' | b'\t' | b'\r' | b'\n');
    if text.is_empty() || text.trim() != text || text.starts_with('\u{feff}') || text.bytes().any(special) {
        out.push(b'"');
        out.extend(text.replace('"', "\"\"").into_bytes());
        out.push(b'"');
    } else {
        out.extend(text.as_bytes());
    }
}

pub(super) struct JsonlWriter {
    destination: Destination,
    /// `"name":` for each column.
    keys: Vec<Vec<u8>>,
}

impl JsonlWriter {
    pub(super) fn new(destination: Destination, schema: &Schema) -> Self {
        let key = |field: &arrow_schema::FieldRef| {
            let mut key = Vec::new();
            json_text(&mut key, field.name());
            key.push(b':');
            key
        };
        Self { destination, keys: schema.fields().iter().map(key).collect() }
    }
}

impl Encoder for JsonlWriter {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()> {
        let columns = TextCells::of(chunk);
        let mut text = Vec::new();
        for row in 0..chunk.num_rows() {
            text.push(b'{');
            for (c, (cells, key)) in columns.iter().zip(&self.keys).enumerate() {
                separate(&mut text, c);
                text.extend(key);
                cells.write(row, &mut text, b"null", json_text)?;
            }
            text.extend(b"}\n");
        }
        self.destination.write_all(&text)
    }

    fn finish(self: Box<Self>) -> io::Result<Destination> {
        Ok(self.destination)
    }
}

fn json_text(out: &mut Vec<u8>, text: &str) {
    out.extend(serde_json::Value::from(text).to_string().into_bytes());
}

fn separate(out: &mut Vec<u8>, column: usize) {
    if column > 0 {
        out.push(b',');
    }
}

/// A column of a chunk, its type found once for all rows.
enum TextCells<'a> {
    Text(&'a StringArray),
    F32(&'a Float32Array),
    F64(&'a Float64Array),
    U32(&'a UInt32Array),
    U64(&'a UInt64Array),
}

impl<'a> TextCells<'a> {
    fn of(chunk: &'a RecordBatch) -> Vec<Self> {
        let cells = |column: &'a arrow_array::ArrayRef| match column.data_type() {
            DataType::Float32 => Self::F32(column.as_primitive::<Float32Type>()),
            DataType::Float64 => Self::F64(column.as_primitive::<Float64Type>()),
            DataType::UInt32 => Self::U32(column.as_primitive::<UInt32Type>()),
            DataType::UInt64 => Self::U64(column.as_primitive::<UInt64Type>()),
            _ => Self::Text(column.as_string::<i32>()),
        };
        chunk.columns().iter().map(cells).collect()
    }

    fn write(
        &self,
        row: usize,
        out: &mut Vec<u8>,
        null: &[u8],
        text: fn(&mut Vec<u8>, &str),
    ) -> io::Result<()> {
        match self {
            Self::Text(cells) if cells.is_valid(row) => text(out, cells.value(row)),
            Self::F32(cells) if cells.is_valid(row) => write!(out, "{:?}", cells.value(row))?,
            Self::F64(cells) if cells.is_valid(row) => write!(out, "{:?}", cells.value(row))?,
            Self::U32(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row))?,
            Self::U64(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row))?,
            _ => out.extend(null),
        }
        Ok(())
    }
}
