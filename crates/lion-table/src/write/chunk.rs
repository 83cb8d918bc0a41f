//! Rows are gathered to chunks of a fixed size before they are written, so that the same rows make the same bytes
//! however they came.

use crate::column::{Column, Field, Kind};
use arrow_array::builder::{
    ArrayBuilder, Float32Builder, Float64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use std::ops::Range;
use std::sync::Arc;

/// A chunk is full when it has so many rows.
const ROWS: usize = 1 << 16;

/// A chunk is also full when it has so many bytes of text.
const TEXT: usize = 32 << 20;

/// No text may be longer, so that the text of a chunk stays within what 32-bit offsets reach.
pub(super) const LONGEST_TEXT: usize = 256 << 20;

/// The schema that Arrow and Parquet know the fields by.
pub(super) fn schema_of(fields: &[Field]) -> SchemaRef {
    let field = |field: &Field| {
        let data_type = match field.kind {
            Kind::Text => DataType::Utf8,
            Kind::F32 => DataType::Float32,
            Kind::F64 => DataType::Float64,
            Kind::U32 => DataType::UInt32,
            Kind::U64 => DataType::UInt64,
        };
        arrow_schema::Field::new(&field.name, data_type, field.nullable)
    };
    Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
}

/// The rows gathered so far.
pub(super) struct Chunk {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    text: usize,
}

/// The values of one column gathered so far.
enum ColumnBuilder {
    Text(StringBuilder),
    F32(Float32Builder),
    F64(Float64Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
}

impl Chunk {
    pub(super) fn new(schema: SchemaRef, fields: &[Field]) -> Self {
        let gathered = |field: &Field| match field.kind {
            Kind::Text => ColumnBuilder::Text(StringBuilder::new()),
            Kind::F32 => ColumnBuilder::F32(Float32Builder::new()),
            Kind::F64 => ColumnBuilder::F64(Float64Builder::new()),
            Kind::U32 => ColumnBuilder::U32(UInt32Builder::new()),
            Kind::U64 => ColumnBuilder::U64(UInt64Builder::new()),
        };
        Self { schema, columns: fields.iter().map(gathered).collect(), rows: 0, text: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text >= TEXT
    }

    /// Adds rows of `batch`, whose kinds are those of the fields, until the chunk is full; says how many.
    pub(super) fn add(&mut self, batch: &[Column], rows: Range<usize>) -> usize {
        let start = rows.start;
        let mut end = start;
        // Row by row, so that it depends on the rows alone where a chunk ends.
        while end < rows.end && !self.is_full() {
            self.text += text_of(batch, end);
            self.rows += 1;
            end += 1;
        }
        for (to, from) in self.columns.iter_mut().zip(batch) {
            to.extend(from, start..end);
        }
        end - start
    }

    /// The rows gathered, and none are left.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter_mut().map(ColumnBuilder::take).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.text) = (0, 0);
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}

/// The bytes of text in a row.
fn text_of(batch: &[Column], row: usize) -> usize {
    let length = |column: &Column| match column {
        Column::Text(texts) => texts[row].as_ref().map_or(0, String::len),
        _ => 0,
    };
    batch.iter().map(length).sum()
}

impl ColumnBuilder {
    fn extend(&mut self, from: &Column, rows: Range<usize>) {
        match (self, from) {
            (Self::Text(to), Column::Text(from)) => to.extend(from[rows].iter().map(Option::as_deref)),
            (Self::F32(to), Column::F32(from)) => to.extend(from[rows].iter().copied()),
            (Self::F64(to), Column::F64(from)) => to.extend(from[rows].iter().copied()),
            (Self::U32(to), Column::U32(from)) => to.extend(from[rows].iter().copied()),
            (Self::U64(to), Column::U64(from)) => to.extend(from[rows].iter().copied()),
            // Kinds were checked; a difference would show as columns of different lengths.
            _ => {}
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(values) => ArrayBuilder::finish(values),
            Self::F32(values) => ArrayBuilder::finish(values),
            Self::F64(values) => ArrayBuilder::finish(values),
            Self::U32(values) => ArrayBuilder::finish(values),
            Self::U64(values) => ArrayBuilder::finish(values),
        }
    }
}
