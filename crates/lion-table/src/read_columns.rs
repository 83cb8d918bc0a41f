//! Reading columns back by name, as a [`Writer`](crate::Writer) or another program wrote them.

use crate::column::{Column, Field, Kind};
use crate::columnar::{Decoder, columns_of, values};
use crate::delimited::AnyRecords;
use crate::error::{Cell, Error, Fault, Result};
use crate::input::{Format, Input, io_error};
use crate::jsonl::Lines;
use crate::value::Value;
use crate::{Opened, arrow, delimited, opened, parquet, select};
use std::path::Path;

/// Reads the columns that `fields` name, in their order, from a Parquet, Arrow, CSV or JSON lines file.
///
/// The values are taken for what the fields say: whatever [`Writer`](crate::Writer) wrote comes back as it was, but
/// for the empty text where it may be null, which CSV cannot tell from null. A column that is not there, a value that
/// is something else, and a null where the field allows none are refused. There may be no rows.
pub fn read_columns(path: &Path, fields: &[Field]) -> Result<Vec<Column>> {
    let (file, columns) = match opened(path)? {
        Opened::Parquet(file, reader) => {
            let columns = from_parquet(&file, &reader, fields)?;
            (file, columns)
        }
        Opened::Stream(input, format) => {
            let file = input.file.clone();
            let columns = match format {
                Format::Arrow => from_arrow(input, fields)?,
                Format::Csv => from_csv(input, fields)?,
                Format::Jsonl => from_jsonl(input, fields)?,
                Format::Npy | Format::Idx | Format::Parquet => {
                    let problem =
                        "has no columns with names; use .parquet, .arrow, .csv or .jsonl".to_owned();
                    return Err(Error::Unsuitable { file, problem });
                }
            };
            (file, columns)
        }
    };
    for (field, column) in fields.iter().zip(&columns) {
        if let Some(row) = column.first_null().filter(|_| !field.nullable) {
            let cell = Cell { file, row: row + 1, line: None, column: field.name.clone() };
            return Err(Error::Missing { cell });
        }
    }
    Ok(columns)
}

/// Columns without rows.
fn empty(fields: &[Field]) -> Vec<Column> {
    fields.iter().map(|field| Column::empty(field.kind)).collect()
}

/// Where each field is among the columns of the file.
fn find(file: &str, columns: &[select::Column], fields: &[Field]) -> Result<Vec<usize>> {
    fields.iter().map(|field| select::find(file, columns, &field.name)).collect()
}

fn from_parquet(file: &str, reader: &std::fs::File, fields: &[Field]) -> Result<Vec<Column>> {
    let metadata = parquet::load(file, reader)?;
    let roots = find(file, &columns_of(metadata.schema()), fields)?;
    let (places, roots) = parquet::in_file_order(&roots);
    from_batches(file, parquet::decode_all(file, reader, &metadata, roots)?, &places, fields)
}

fn from_arrow(input: Input, fields: &[Field]) -> Result<Vec<Column>> {
    let file = input.file.clone();
    let (schema, messages) = arrow::messages(input)?;
    let places = find(&file, &columns_of(&schema), fields)?;
    from_batches(&file, messages, &places, fields)
}

fn from_batches(
    file: &str,
    mut batches: impl Decoder,
    places: &[usize],
    fields: &[Field],
) -> Result<Vec<Column>> {
    let mut columns = empty(fields);
    while let Some(batch) = batches.next_batch()? {
        for ((&place, field), column) in places.iter().zip(fields).zip(&mut columns) {
            for value in values(batch.column(place)) {
                let row = column.len() + 1;
                value.push_to(column).map_err(|fault| {
                    fault.at(Cell { file: file.to_owned(), row, line: None, column: field.name.clone() })
                })?;
            }
        }
    }
    Ok(columns)
}

fn from_csv(input: Input, fields: &[Field]) -> Result<Vec<Column>> {
    let file = input.file.clone();
    let mut records = delimited::records(input)?;
    let advance = |records: &mut AnyRecords| records.advance().map_err(|source| io_error(&file, source));
    if !advance(&mut records)? {
        return Err(Error::Empty { file });
    }
    let header = delimited::named(records.cells());
    let places = find(&file, &header, fields)?;
    let mut columns = empty(fields);
    let mut row = 0;
    while advance(&mut records)? {
        row += 1;
        let cell = |column: &str| Cell {
            file: file.clone(),
            row,
            line: Some(records.line()),
            column: column.to_owned(),
        };
        let (found, expected) = (records.cells().len(), header.len());
        if found != expected {
            return Err(Error::Ragged { row: cell(""), found, expected });
        }
        for ((&place, field), column) in places.iter().zip(fields).zip(&mut columns) {
            let value = csv_value(records.cell(place), field);
            value.and_then(|v| v.push_to(column)).map_err(|fault| fault.at(cell(&field.name)))?;
        }
    }
    Ok(columns)
}

/// A cell as what the field says it is.
fn csv_value(cell: &[u8], field: &Field) -> std::result::Result<Value, Fault> {
    let number = match field.kind {
        Kind::Text if cell.is_empty() && field.nullable => return Ok(Value::Null),
        Kind::Text => return Ok(Value::Text(String::from_utf8_lossy(cell).into_owned())),
        // Straight to 32 bits: by way of 64 it could be rounded twice.
        Kind::F32 => delimited::number(cell).map(|value| Value::Number(value.into())),
        Kind::F64 => delimited::wide_number(cell).map(Value::Number),
        Kind::U32 | Kind::U64 => match str::from_utf8(cell).map(|cell| cell.trim().parse()) {
            Ok(Ok(whole)) => Ok(Value::Whole(whole)),
            _ => delimited::wide_number(cell).map(Value::Number),
        },
    };
    match number {
        Err(Fault::Missing) => Ok(Value::Null),
        number => number,
    }
}

fn from_jsonl(input: Input, fields: &[Field]) -> Result<Vec<Column>> {
    let mut lines = Lines::new(input)?;
    let mut columns = empty(fields);
    let mut first = true;
    while let Some(row) = lines.advance()? {
        let Value::Object(row) = row else { return Err(lines.not_a_row("its values have no names")) };
        if std::mem::take(&mut first) {
            let column =
                |(name, value): &(String, Value)| select::Column { name: name.clone(), kind: value.kind() };
            find(&lines.input.file, &row.iter().map(column).collect::<Vec<_>>(), fields)?;
        }
        for (field, column) in fields.iter().zip(&mut columns) {
            let mut matching = row.iter().filter(|(name, _)| *name == field.name);
            let value = matching.next().map_or(Value::Null, |(_, value)| value.clone());
            if matching.next().is_some() {
                return Err(Error::RepeatedField { cell: lines.cell(&field.name) });
            }
            value.push_to(column).map_err(|fault| fault.at(lines.cell(&field.name)))?;
        }
    }
    Ok(columns)
}
