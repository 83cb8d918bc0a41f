//! Reading columns back by name, as a [`Writer`](crate::Writer) or another program wrote them.

use crate::column::{Column, Field, Kind};
use crate::columnar::{Decoder, columns_of, values};
use crate::delimited::AnyRecords;
use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::{Format, Input, io_error};
use crate::jsonl::JsonLines;
use crate::table::BATCH_ROWS;
use crate::value::Value;
use crate::{Opened, arrow, delimited, in_memory, opened, parquet, select};
use std::path::Path;

/// Reads the columns that `fields` name, in their order, from a Parquet, Arrow, CSV or JSON lines file.
///
/// The values are taken for what the fields say: whatever [`Writer`](crate::Writer) wrote comes back as it was, but
/// for the empty text where it may be null, which CSV cannot tell from null. A column that is not there, a value that
/// is something else, and a null where the field allows none are refused. There may be no rows.
pub fn read_columns(path: &Path, fields: &[Field]) -> Result<Vec<Column>> {
    match opened(path)? {
        Opened::Parquet(file, reader) => from_parquet(&file, &reader, fields),
        Opened::Stream(input, Format::Arrow) => from_arrow(input, fields),
        Opened::Stream(input, Format::Csv) => from_csv(input, fields),
        Opened::Stream(input, format @ (Format::Jsonl | Format::Json)) => {
            from_jsonl(JsonLines::of_format(input, format)?, fields)
        }
        Opened::Stream(input, Format::Npy | Format::Idx | Format::Parquet) => {
            let problem = "has no columns with names; use .parquet, .arrow, .csv or .jsonl".to_owned();
            Err(Error::Unsuitable { file: input.file, problem })
        }
    }
}

/// The same from an Arrow stream or file in memory.
pub fn parse_columns(bytes: &[u8], fields: &[Field]) -> Result<Vec<Column>> {
    from_arrow(in_memory(bytes, None)?, fields)
}

/// The names of all columns of a file, in order; none where a format has no names. The first line of a CSV file is taken for
/// names.
pub fn column_names(path: &Path) -> Result<Vec<String>> {
    Ok(source_columns(path)?.into_iter().map(|column| column.name).collect())
}

/// The same of columns with a number or a text in each row: lists and the like are left out, which [`read_columns`] refuses.
pub fn cell_column_names(path: &Path) -> Result<Vec<String>> {
    let cells = source_columns(path)?.into_iter().filter(|column| not_cells(&column.kind).is_none());
    Ok(cells.map(|column| column.name).collect())
}

fn source_columns(path: &Path) -> Result<Vec<select::SourceColumn>> {
    match opened(path)? {
        Opened::Parquet(file, reader) => Ok(columns_of(parquet::load(&file, &reader)?.schema())),
        Opened::Stream(input, Format::Arrow) => Ok(columns_of(&arrow::messages(input)?.0)),
        Opened::Stream(input, Format::Csv) => {
            let file = input.file.clone();
            let mut records = delimited::records(input)?;
            let any = records.advance().map_err(|source| io_error(&file, source))?;
            Ok(if any { delimited::named(records.cells()) } else { Vec::new() })
        }
        Opened::Stream(input, format @ (Format::Jsonl | Format::Json)) => {
            Ok(match JsonLines::of_format(input, format)?.advance()? {
                Some(Value::Object(fields)) => fields_as_columns(&fields),
                _ => Vec::new(),
            })
        }
        Opened::Stream(_, Format::Npy | Format::Idx | Format::Parquet) => Ok(Vec::new()),
    }
}

fn fields_as_columns(fields: &[(String, Value)]) -> Vec<select::SourceColumn> {
    let column =
        |(name, value): &(String, Value)| select::SourceColumn { name: name.clone(), kind: value.kind() };
    fields.iter().map(column).collect()
}

/// What a column holds whose values are neither numbers nor texts.
fn not_cells(kind: &select::SourceKind) -> Option<&str> {
    match kind {
        select::SourceKind::List => Some("lists"),
        select::SourceKind::Other(what) => Some(what),
        _ => None,
    }
}

/// Columns without rows.
fn empty(fields: &[Field]) -> Vec<Column> {
    fields.iter().map(|field| Column::empty(field.kind)).collect()
}

/// Where each field is among the columns of the file.
fn find(file: &str, columns: &[select::SourceColumn], fields: &[Field]) -> Result<Vec<usize>> {
    let find = |field: &Field| {
        let place = select::find(file, columns, &field.name)?;
        let Some(what) = not_cells(&columns[place].kind) else { return Ok(place) };
        let problem = format!("has {what} in column {}, where numbers or text belong", field.name);
        Err(Error::Unsuitable { file: file.to_owned(), problem })
    };
    fields.iter().map(find).collect()
}

/// Adds a value to a column; null only where the field allows it.
fn push(value: Value, field: &Field, column: &mut Column, cell: impl FnOnce() -> CellAddress) -> Result<()> {
    match value.push_to(column) {
        Ok(()) if field.nullable || !column.ends_with_null() => Ok(()),
        Ok(()) => Err(Error::Missing { cell: cell() }),
        Err(fault) => Err(fault.at(cell())),
    }
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
        // A few rows of all columns at a time: a column of nulls takes no bytes in the file and may claim any number
        // of rows.
        for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
            let rows = BATCH_ROWS.min(batch.num_rows() - start);
            for ((&place, field), column) in places.iter().zip(fields).zip(&mut columns) {
                for value in values(&batch.column(place).slice(start, rows)) {
                    let (file, row) = (file.to_owned(), column.len());
                    push(value, field, column, || CellAddress {
                        file,
                        row,
                        line: None,
                        column: field.name.clone(),
                    })?;
                }
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
    for row in 0.. {
        if !advance(&mut records)? {
            break;
        }
        let cell = |column: &str| CellAddress {
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
            let value = csv_value(records.cell(place), field).map_err(|fault| fault.at(cell(&field.name)))?;
            push(value, field, column, || cell(&field.name))?;
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

fn from_jsonl(mut lines: JsonLines, fields: &[Field]) -> Result<Vec<Column>> {
    let mut columns = empty(fields);
    let mut first = true;
    while let Some(row) = lines.advance()? {
        let Value::Object(row) = row else { return Err(lines.not_a_row("its values have no names")) };
        if std::mem::take(&mut first) {
            find(&lines.input.file, &fields_as_columns(&row), fields)?;
        }
        for (field, column) in fields.iter().zip(&mut columns) {
            let mut matching = row.iter().filter(|(name, _)| *name == field.name);
            let value = matching.next().map_or(Value::Null, |(_, value)| value.clone());
            if matching.next().is_some() {
                return Err(Error::RepeatedField { cell: lines.cell(&field.name) });
            }
            push(value, field, column, || lines.cell(&field.name))?;
        }
    }
    Ok(columns)
}
