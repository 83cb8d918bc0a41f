//! Columns for people, by name: texts, numbers as text, dates, and the bytes of images, some rows at a time.

use crate::columnar::{Decoder, columns_of, values};
use crate::delimited::AnyRecords;
use crate::error::{CellAddress, Error, Result};
use crate::input::{Format, Input, io_error};
use crate::jsonl::JsonLines;
use crate::table::BATCH_ROWS;
use crate::value::Value;
use crate::{Opened, arrow, delimited, opened, parquet, select};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use std::path::Path;

/// The values of some rows in one column; `None` is a missing one.
#[derive(Debug, Clone, PartialEq)]
pub enum ShownCells {
    /// Texts, and whatever has a text: numbers, dates, truth values.
    Text(Vec<Option<String>>),
    /// Bytes, such as those of an image.
    Bytes(Vec<Option<Vec<u8>>>),
}

/// Some columns of a table, read as people read them, some rows at a time: every item has the next rows of all columns, in
/// the order of the names. Made by [`read_shown`].
pub struct ShownBatches(Box<dyn Iterator<Item = Result<Vec<ShownCells>>>>);

impl Iterator for ShownBatches {
    type Item = Result<Vec<ShownCells>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// Reads the columns of these names from a Parquet, Arrow, CSV or JSON lines file. A column of any type will do: what has no
/// text, such as a list, is missing. A column of bytes, or of structs with a field `bytes`, gives bytes.
pub fn read_shown(path: &Path, names: &[String]) -> Result<ShownBatches> {
    let batches: Box<dyn Iterator<Item = _>> = match opened(path)? {
        Opened::Parquet(file, reader) => {
            let metadata = parquet::load(&file, &reader)?;
            let roots = find(&file, &columns_of(metadata.schema()), names)?;
            let (places, roots) = parquet::in_file_order(&roots);
            Box::new(of_batches(parquet::decode_all(&file, &reader, &metadata, roots)?, places))
        }
        Opened::Stream(input, Format::Arrow) => {
            let file = input.file.clone();
            let (schema, messages) = arrow::messages(input)?;
            let places = find(&file, &columns_of(&schema), names)?;
            Box::new(of_batches(messages, places))
        }
        Opened::Stream(input, Format::Csv) => Box::new(CsvCells::open(input, names)?),
        Opened::Stream(input, format @ (Format::Jsonl | Format::Json)) => Box::new(JsonCells {
            lines: JsonLines::of_format(input, format)?,
            names: names.to_vec(),
            checked: false,
        }),
        Opened::Stream(input, _) => {
            let problem = "has no columns with names; use .parquet, .arrow, .csv or .jsonl".to_owned();
            return Err(Error::Unsuitable { file: input.file, problem });
        }
    };
    Ok(ShownBatches(batches))
}

fn find(file: &str, columns: &[select::SourceColumn], names: &[String]) -> Result<Vec<usize>> {
    names.iter().map(|name| select::find(file, columns, name)).collect()
}

fn of_batches(
    mut batches: impl Decoder + 'static,
    places: Vec<usize>,
) -> impl Iterator<Item = Result<Vec<ShownCells>>> {
    let mut at_hand: Option<(RecordBatch, usize)> = None;
    std::iter::from_fn(move || {
        // A few rows at a time: a column of nulls takes no bytes in the file and may claim any number of rows.
        let (batch, start) = match at_hand.take() {
            Some(rest) => rest,
            None => match batches.next_batch() {
                Ok(batch) => (batch?, 0),
                Err(error) => return Some(Err(error)),
            },
        };
        let rows = BATCH_ROWS.min(batch.num_rows() - start);
        let cells = places.iter().map(|&place| cells(&batch.column(place).slice(start, rows))).collect();
        if start + rows < batch.num_rows() {
            at_hand = Some((batch, start + rows));
        }
        Some(Ok(cells))
    })
}

/// The values of an Arrow column as people read them.
fn cells(column: &ArrayRef) -> ShownCells {
    macro_rules! bytes {
        ($array:expr) => {
            ShownCells::Bytes($array.iter().map(|bytes| bytes.map(<[u8]>::to_vec)).collect())
        };
    }
    macro_rules! dates {
        ($type:ty, $value:ident) => {{
            let dates = column.as_primitive::<$type>();
            let text =
                |row: usize| dates.is_valid(row).then(|| dates.$value(row))?.map(|date| date.to_string());
            ShownCells::Text((0..dates.len()).map(text).collect())
        }};
    }
    match column.data_type() {
        DataType::Binary => bytes!(column.as_binary::<i32>()),
        DataType::LargeBinary => bytes!(column.as_binary::<i64>()),
        DataType::BinaryView => bytes!(column.as_binary_view()),
        DataType::Struct(_) => match column.as_struct().column_by_name("bytes") {
            Some(bytes) => cells(bytes),
            None => ShownCells::Text(vec![None; column.len()]),
        },
        DataType::Date32 => dates!(Date32Type, value_as_date),
        DataType::Date64 => dates!(Date64Type, value_as_datetime),
        DataType::Timestamp(TimeUnit::Second, _) => dates!(TimestampSecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Millisecond, _) => dates!(TimestampMillisecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Microsecond, _) => dates!(TimestampMicrosecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => dates!(TimestampNanosecondType, value_as_datetime),
        _ => ShownCells::Text(values(column).into_iter().map(Value::into_text).collect()),
    }
}

struct CsvCells {
    file: String,
    records: AnyRecords,
    /// The number of columns in the header.
    width: usize,
    places: Vec<usize>,
    row: usize,
}

impl CsvCells {
    fn open(input: Input, names: &[String]) -> Result<Self> {
        let file = input.file.clone();
        let mut records = delimited::records(input)?;
        if !records.advance().map_err(|source| io_error(&file, source))? {
            return Err(Error::Empty { file });
        }
        let header = delimited::named(records.cells());
        let places = find(&file, &header, names)?;
        Ok(Self { file, records, width: header.len(), places, row: 0 })
    }

    fn batch(&mut self) -> Result<Vec<ShownCells>> {
        let mut columns = vec![Vec::new(); self.places.len()];
        for _ in 0..BATCH_ROWS {
            if !self.records.advance().map_err(|source| io_error(&self.file, source))? {
                break;
            }
            let found = self.records.cells().len();
            if found != self.width {
                let (file, line) = (self.file.clone(), Some(self.records.line()));
                let row = CellAddress { file, row: self.row, line, column: String::new() };
                return Err(Error::Ragged { row, found, expected: self.width });
            }
            for (&place, column) in self.places.iter().zip(&mut columns) {
                let text = String::from_utf8_lossy(self.records.cell(place)).into_owned();
                column.push(Some(text).filter(|text| !text.is_empty()));
            }
            self.row += 1;
        }
        Ok(columns.into_iter().map(ShownCells::Text).collect())
    }
}

impl Iterator for CsvCells {
    type Item = Result<Vec<ShownCells>>;

    fn next(&mut self) -> Option<Self::Item> {
        some_rows(self.batch())
    }
}

/// None where a batch has no rows: the table ends there.
fn some_rows(batch: Result<Vec<ShownCells>>) -> Option<Result<Vec<ShownCells>>> {
    match batch {
        Ok(columns) if columns.iter().all(|column| matches!(column, ShownCells::Text(t) if t.is_empty())) => {
            None
        }
        batch => Some(batch),
    }
}

struct JsonCells {
    lines: JsonLines,
    names: Vec<String>,
    /// Whether the first row was seen to have all columns.
    checked: bool,
}

impl JsonCells {
    fn batch(&mut self) -> Result<Vec<ShownCells>> {
        let mut columns = vec![Vec::new(); self.names.len()];
        for _ in 0..BATCH_ROWS {
            let Some(row) = self.lines.advance()? else { break };
            let Value::Object(row) = row else {
                return Err(self.lines.not_a_row("its values have no names"));
            };
            if !std::mem::replace(&mut self.checked, true) {
                let column = |(name, value): &(String, Value)| select::SourceColumn {
                    name: name.clone(),
                    kind: value.kind(),
                };
                find(&self.lines.input.file, &row.iter().map(column).collect::<Vec<_>>(), &self.names)?;
            }
            for (name, column) in self.names.iter().zip(&mut columns) {
                let value = row.iter().find(|(other, _)| other == name);
                column.push(value.and_then(|(_, value)| value.clone().into_text()));
            }
        }
        Ok(columns.into_iter().map(ShownCells::Text).collect())
    }
}

impl Iterator for JsonCells {
    type Item = Result<Vec<ShownCells>>;

    fn next(&mut self) -> Option<Self::Item> {
        some_rows(self.batch())
    }
}
