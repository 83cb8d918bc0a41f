//! From columns to rows: what Arrow and Parquet share once their bytes are decoded.

use crate::cells::{CellColumn, CellReader, Declared};
use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::Gauge;
use crate::select::{ReadOptions, Selection, SourceColumn, SourceKind, item_names, no_numeric_column};
use crate::table::{Source, Table, push_id, push_text};
use crate::value::Value;
use crate::written::RawCell;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};

/// The longest list that is taken for a row: each item gets a name, so a file of few bytes must not ask for many.
const MOST_ITEMS: usize = 1 << 20;

/// The decoded batches of a file, with all columns of its schema.
pub(crate) trait Decoder: Send {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;
}

/// What a schema's columns can serve as.
pub(crate) fn columns_of(schema: &Schema) -> Vec<SourceColumn> {
    let column = |field: &arrow_schema::FieldRef| {
        let name = field.name().clone();
        // pandas writes the index of a filtered frame as a column of this name.
        let kind = if name.starts_with("__index_level_") {
            SourceKind::RowIndex
        } else {
            kind_of(field.data_type())
        };
        SourceColumn { name, kind }
    };
    schema.fields().iter().map(column).collect()
}

fn kind_of(data_type: &DataType) -> SourceKind {
    match data_type {
        number if is_number(number) => SourceKind::Number,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => SourceKind::Text("text".to_owned()),
        DataType::Dictionary(_, value) => match kind_of(value) {
            SourceKind::Number | SourceKind::Text(_) => SourceKind::Text("categories".to_owned()),
            other => other,
        },
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if is_number(item.data_type()) && *item.data_type() != DataType::Null =>
        {
            SourceKind::List
        }
        other => SourceKind::Other(format!("values of type {other}")),
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
        && !matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal256(..))
        || matches!(data_type, DataType::Boolean | DataType::Null)
}

/// A table of columns, turned to rows batch by batch.
pub(crate) struct Columnar<D> {
    pub(crate) file: String,
    decoder: D,
    gauge: Gauge,
    pub(crate) selection: Selection,
    names: Vec<String>,
    /// The batch at hand and how many of its rows are done.
    batch: Option<(RecordBatch, usize)>,
    rows: usize,
}

impl<D: Decoder> Columnar<D> {
    /// `columns` are those of the batches; of lists, the first batch tells the length.
    pub(crate) fn new(
        file: String,
        mut decoder: D,
        gauge: Gauge,
        columns: &[SourceColumn],
        selection: Selection,
    ) -> Result<Self> {
        let mut batch = None;
        let names = match selection.features.as_slice() {
            &[list] if selection.list => {
                let first = first_batch(&file, &mut decoder)?;
                let width = list_lengths(first.column(list), 0..1).next().unwrap_or_default();
                if width > MOST_ITEMS {
                    let name = &columns[list].name;
                    let problem = format!(
                        "has a list of {width} numbers in column {name}; at most {MOST_ITEMS} are read"
                    );
                    return Err(Error::Unsuitable { file, problem });
                }
                batch = Some((first, 0));
                item_names(&columns[list].name, width)
            }
            features => features.iter().map(|&c| columns[c].name.clone()).collect::<Vec<_>>(),
        };
        if names.is_empty() {
            return Err(no_numeric_column(&file, columns));
        }
        Ok(Self { file, decoder, gauge, selection, names, batch, rows: 0 })
    }

    /// Adds `rows` rows of `batch`, from its row `start` on.
    fn push(&self, table: &mut Table, batch: &RecordBatch, start: usize, rows: usize) -> Result<()> {
        let (cols, old) = (table.cols, table.data.len());
        let cell = |row: usize, column: &str| CellAddress {
            file: self.file.clone(),
            row: self.rows + row,
            line: None,
            column: column.to_owned(),
        };
        table.data.resize(old + rows * cols, 0.0);
        let out = &mut table.data[old..];
        if self.selection.list {
            let list = batch.column(self.selection.features[0]);
            push_lists(list, start, rows, cols, out).map_err(|fault| self.list_error(fault, &cell))?;
        } else {
            let columns: Vec<_> = self.selection.features.iter().map(|&c| batch.column(c)).collect();
            push_numbers(&columns, start, rows, out)
                .map_err(|(row, c, fault)| fault.at(cell(row, &self.names[c])))?;
        }
        if let Some(c) = self.selection.id {
            let name = batch.schema_ref().field(c).name();
            for (row, id) in texts(&batch.column(c).slice(start, rows)).into_iter().enumerate() {
                push_id(table, id, || cell(row, name))?;
            }
        }
        for (column, to) in
            [(self.selection.label, &mut table.labels), (self.selection.group, &mut table.groups)]
        {
            let found = column.map(|c| texts(&batch.column(c).slice(start, rows)));
            found.into_iter().flatten().for_each(|text| push_text(to, text));
        }
        table.rows += rows;
        Ok(())
    }

    fn list_error(&self, fault: ListFault, cell: &impl Fn(usize, &str) -> CellAddress) -> Error {
        match fault {
            ListFault::Value(row, item, fault) => fault.at(cell(row, &self.names[item])),
            ListFault::Null(row) => Fault::Missing.at(cell(row, "")),
            ListFault::Length(row, found) => {
                Error::Ragged { row: cell(row, ""), found, expected: self.names.len() }
            }
        }
    }
}

/// The first batch that has rows.
fn first_batch(file: &str, decoder: &mut impl Decoder) -> Result<RecordBatch> {
    while let Some(batch) = decoder.next_batch()? {
        if batch.num_rows() > 0 {
            return Ok(batch);
        }
    }
    Err(Error::Empty { file: file.to_owned() })
}

impl<D: Decoder> Source for Columnar<D> {
    fn empty(&self) -> Table {
        Table::without_rows(self.names.clone(), &self.selection)
    }

    fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        let mut added = 0;
        while added < rows {
            let (batch, done) = match self.batch.take() {
                Some(at_hand) => at_hand,
                None => match self.decoder.next_batch()? {
                    Some(batch) => (batch, 0),
                    None => break,
                },
            };
            let now = (batch.num_rows() - done).min(rows - added);
            self.push(table, &batch, done, now)?;
            self.rows += now;
            added += now;
            if done + now < batch.num_rows() {
                self.batch = Some((batch, done + now));
            }
        }
        Ok(added)
    }
}

/// Rows handled together: their lines of the output stay in the cache while the columns pass.
const BLOCK: usize = 64;

/// Writes `rows` rows of number columns to `out`, row after row; a fault comes with its row and column.
pub(crate) fn push_numbers<A: AsRef<dyn Array>>(
    columns: &[A],
    start: usize,
    rows: usize,
    out: &mut [f32],
) -> std::result::Result<(), (usize, usize, Fault)> {
    let cols = columns.len();
    for block in (0..rows).step_by(BLOCK) {
        let many = BLOCK.min(rows - block);
        let lines = &mut out[block * cols..(block + many) * cols];
        for (c, column) in columns.iter().enumerate() {
            let part = column.as_ref().slice(start + block, many);
            scatter(&part, lines, c, cols).map_err(|(row, fault)| (block + row, c, fault))?;
        }
    }
    Ok(())
}

enum ListFault {
    Value(usize, usize, Fault),
    Null(usize),
    Length(usize, usize),
}

/// Writes lists of `cols` numbers each, which lie one after the other, to `out`.
fn push_lists(
    list: &dyn Array,
    start: usize,
    rows: usize,
    cols: usize,
    out: &mut [f32],
) -> std::result::Result<(), ListFault> {
    if let Some(row) = (0..rows).find(|row| list.is_null(start + row)) {
        return Err(ListFault::Null(row));
    }
    let wrong = list_lengths(list, start..start + rows).enumerate().find(|&(_, length)| length != cols);
    if let Some((row, length)) = wrong {
        return Err(ListFault::Length(row, length));
    }
    let (first, items) = match list.data_type() {
        DataType::FixedSizeList(..) => {
            let list = list.as_fixed_size_list();
            (list.value_offset(start) as usize, list.values())
        }
        DataType::LargeList(_) => {
            let list = list.as_list::<i64>();
            (list.value_offsets()[start] as usize, list.values())
        }
        _ => {
            let list = list.as_list::<i32>();
            (list.value_offsets()[start] as usize, list.values())
        }
    };
    let values = items.slice(first, rows * cols);
    scatter(&values, out, 0, 1).map_err(|(at, fault)| ListFault::Value(at / cols, at % cols, fault))
}

/// The lengths of some lists of a column.
fn list_lengths(list: &dyn Array, rows: std::ops::Range<usize>) -> Box<dyn Iterator<Item = usize> + '_> {
    match list.data_type() {
        DataType::FixedSizeList(..) => {
            let length = list.as_fixed_size_list().value_length() as usize;
            Box::new(rows.map(move |_| length))
        }
        DataType::LargeList(_) => Box::new(rows.map(|row| list.as_list::<i64>().value_length(row) as usize)),
        _ => Box::new(rows.map(|row| list.as_list::<i32>().value_length(row) as usize)),
    }
}

/// Writes the numbers of `column` to `out`, from `first` on in steps of `step`; a fault comes with its place.
fn scatter(
    column: &dyn Array,
    out: &mut [f32],
    first: usize,
    step: usize,
) -> std::result::Result<(), (usize, Fault)> {
    if let Some(at) = (column.logical_null_count() > 0).then(|| first_null(column)).flatten() {
        return Err((at, Fault::Missing));
    }
    let places = out.iter_mut().skip(first).step_by(step);
    macro_rules! copy {
        ($type:ty, $number:expr) => {{
            let (values, number) = (column.as_primitive::<$type>().values(), $number);
            let mut finite = true;
            for (place, &value) in places.zip(values.iter()) {
                *place = number(value) as f32;
                finite &= place.is_finite();
            }
            match values.iter().position(|&value| !finite && !(number(value) as f32).is_finite()) {
                Some(at) => Err((at, Fault::of(number(values[at]) as f64))),
                None => Ok(()),
            }
        }};
    }
    match column.data_type() {
        DataType::Int8 => copy!(Int8Type, |v| v),
        DataType::Int16 => copy!(Int16Type, |v| v),
        DataType::Int32 => copy!(Int32Type, |v| v),
        DataType::Int64 => copy!(Int64Type, |v| v),
        DataType::UInt8 => copy!(UInt8Type, |v| v),
        DataType::UInt16 => copy!(UInt16Type, |v| v),
        DataType::UInt32 => copy!(UInt32Type, |v| v),
        DataType::UInt64 => copy!(UInt64Type, |v| v),
        DataType::Float16 => copy!(Float16Type, |v: half::f16| v.to_f32()),
        DataType::Float32 => copy!(Float32Type, |v| v),
        DataType::Float64 => copy!(Float64Type, |v| v),
        &DataType::Decimal128(_, scale) => {
            let unit = 10_f64.powi(-i32::from(scale));
            copy!(Decimal128Type, |v| v as f64 * unit)
        }
        DataType::Boolean => {
            let values = column.as_boolean().values();
            places.zip(values.iter()).for_each(|(place, value)| *place = f32::from(u8::from(value)));
            Ok(())
        }
        // The columns were chosen by type, so this is a batch that breaks its own schema.
        _ => Err((0, Fault::Missing)),
    }
}

fn first_null(column: &dyn Array) -> Option<usize> {
    let nulls = column.logical_nulls()?;
    (0..column.len()).find(|&row| nulls.is_null(row))
}

/// A column as ids or labels; null, and NaN, is nothing.
pub(crate) fn texts(column: &dyn Array) -> Vec<Option<String>> {
    values(column).into_iter().map(Value::into_text).collect()
}

/// The values of a column; what has no place in a table of numbers and text is null.
pub(crate) fn values(column: &dyn Array) -> Vec<Value> {
    macro_rules! numbers {
        ($type:ty, $value:expr) => {
            column.as_primitive::<$type>().iter().map(|v| v.map_or(Value::Null, $value)).collect()
        };
    }
    macro_rules! strings {
        ($array:expr) => {
            $array.iter().map(|text| text.map_or(Value::Null, |text| Value::Text(text.to_owned()))).collect()
        };
    }
    match column.data_type() {
        DataType::Int8 => numbers!(Int8Type, |v| Value::Whole(v.into())),
        DataType::Int16 => numbers!(Int16Type, |v| Value::Whole(v.into())),
        DataType::Int32 => numbers!(Int32Type, |v| Value::Whole(v.into())),
        DataType::Int64 => numbers!(Int64Type, |v| Value::Whole(v.into())),
        DataType::UInt8 => numbers!(UInt8Type, |v| Value::Whole(v.into())),
        DataType::UInt16 => numbers!(UInt16Type, |v| Value::Whole(v.into())),
        DataType::UInt32 => numbers!(UInt32Type, |v| Value::Whole(v.into())),
        DataType::UInt64 => numbers!(UInt64Type, |v| Value::Whole(v.into())),
        DataType::Float16 => numbers!(Float16Type, |v| Value::Number(v.to_f64())),
        DataType::Float32 => numbers!(Float32Type, |v| Value::Number(v.into())),
        DataType::Float64 => numbers!(Float64Type, Value::Number),
        &DataType::Decimal128(_, scale) => {
            numbers!(Decimal128Type, |v| Value::Number(v as f64 * 10_f64.powi(-i32::from(scale))))
        }
        &DataType::Decimal32(_, scale) => {
            numbers!(Decimal32Type, |v| Value::Number(f64::from(v) * 10_f64.powi(-i32::from(scale))))
        }
        &DataType::Decimal64(_, scale) => {
            numbers!(Decimal64Type, |v| Value::Number(v as f64 * 10_f64.powi(-i32::from(scale))))
        }
        &DataType::Decimal256(_, scale) => {
            let number = |v: arrow_buffer::i256| v.to_string().parse().unwrap_or(f64::NAN);
            numbers!(Decimal256Type, |v| Value::Number(number(v) * 10_f64.powi(-i32::from(scale))))
        }
        DataType::Date32 => numbers!(Date32Type, |v| Value::Date(v.into())),
        DataType::Date64 => numbers!(Date64Type, |v| Value::Date(v as f64 / 86_400e3)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            numbers!(TimestampSecondType, |v| Value::Date(v as f64 / 86_400.0))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            numbers!(TimestampMillisecondType, |v| Value::Date(v as f64 / 86_400e3))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers!(TimestampMicrosecondType, |v| Value::Date(v as f64 / 86_400e6))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            numbers!(TimestampNanosecondType, |v| Value::Date(v as f64 / 86_400e9))
        }
        DataType::Boolean => column.as_boolean().iter().map(|v| v.map_or(Value::Null, Value::Bool)).collect(),
        DataType::Utf8 => strings!(column.as_string::<i32>()),
        DataType::LargeUtf8 => strings!(column.as_string::<i64>()),
        DataType::Utf8View => strings!(column.as_string_view()),
        DataType::Dictionary(..) => categories(column),
        _ => vec![Value::Null; column.len()],
    }
}

fn categories(column: &dyn Array) -> Vec<Value> {
    let dictionary = column.as_any_dictionary();
    let values = values(dictionary.values());
    if values.is_empty() {
        return vec![Value::Null; column.len()];
    }
    let value = |(row, &key): (usize, &usize)| {
        if dictionary.keys().is_null(row) {
            Value::Null
        } else {
            values.get(key).cloned().unwrap_or(Value::Null)
        }
    };
    dictionary.normalized_keys().iter().enumerate().map(value).collect()
}

/// Chooses among the columns of a schema.
pub(crate) fn select(
    file: &str,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<(Vec<SourceColumn>, Selection)> {
    let columns = columns_of(schema);
    let selection = Selection::new(file, &columns, options)?;
    Ok((columns, selection))
}

/// What a schema says of its columns, where those are read as cells.
pub(crate) fn cell_columns(schema: &Schema) -> Vec<CellColumn> {
    let declared = |field: &arrow_schema::FieldRef| match (field.data_type(), kind_of(field.data_type())) {
        _ if field.name().starts_with("__index_level_") => Declared::RowIndex,
        (DataType::Dictionary(_, values), _) if has_cells(values) => Declared::Categories,
        (data_type, _) if has_cells(data_type) => Declared::Values,
        (_, SourceKind::List) => Declared::List,
        (data_type, _) => Declared::Other(format!("values of type {data_type}")),
    };
    let column =
        |field: &arrow_schema::FieldRef| CellColumn { name: field.name().clone(), declared: declared(field) };
    schema.fields().iter().map(column).collect()
}

/// Whether a column has cells that can be read.
pub(crate) fn has_values(column: &CellColumn) -> bool {
    matches!(column.declared, Declared::Values | Declared::Categories | Declared::RowIndex)
}

/// Whether values of this type are cells.
fn has_cells(data_type: &DataType) -> bool {
    data_type.is_numeric()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Null
                | DataType::Date32
                | DataType::Date64
                | DataType::Timestamp(..)
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
        )
}

/// Rows of a columnar file as cells.
pub(crate) struct ColumnarCells<D> {
    file: String,
    decoder: D,
    gauge: Gauge,
    columns: Vec<CellColumn>,
    /// Where the batches have each column; nothing where it is not decoded.
    places: Vec<Option<usize>>,
    /// The batch at hand and how many of its rows were made cells.
    batch: Option<(RecordBatch, usize)>,
    /// Some rows of it, column after column, and the one at hand.
    values: Vec<Vec<Value>>,
    at: usize,
    rows: usize,
    told_rows: Option<usize>,
}

/// Rows made cells at a time.
const CELL_ROWS: usize = 1024;

impl<D: Decoder> ColumnarCells<D> {
    pub(crate) fn new(
        file: String,
        decoder: D,
        gauge: Gauge,
        columns: Vec<CellColumn>,
        places: Vec<Option<usize>>,
        told_rows: Option<usize>,
    ) -> Self {
        let (batch, values) = (None, Vec::new());
        Self { file, decoder, gauge, columns, places, batch, values, at: 0, rows: 0, told_rows }
    }

    /// The value of the present row.
    fn value(&self, column: usize) -> &Value {
        self.values.get(column).and_then(|values| values.get(self.at)).unwrap_or(&Value::Null)
    }

    /// Makes cells of the next rows; says whether there are any. Where no column is decoded, one row tells as much as all, and a
    /// file may claim any number.
    fn next_rows(&mut self) -> Result<bool> {
        if self.rows > 0 && self.places.iter().all(Option::is_none) {
            return Ok(false);
        }
        let (batch, done) = loop {
            match self
                .batch
                .take()
                .map_or_else(|| Ok(self.decoder.next_batch()?.map(|batch| (batch, 0))), |b| Ok(Some(b)))?
            {
                None => return Ok(false),
                Some((batch, done)) if done < batch.num_rows() => break (batch, done),
                Some(_) => {}
            }
        };
        let many = CELL_ROWS.min(batch.num_rows() - done);
        let cells = |place: &Option<usize>| {
            place.map_or_else(Vec::new, |place| values(&batch.column(place).slice(done, many)))
        };
        self.values = self.places.iter().map(cells).collect();
        self.batch = Some((batch, done + many));
        self.at = 0;
        Ok(true)
    }
}

impl<D: Decoder> CellReader for ColumnarCells<D> {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        let there = self.batch.as_ref().map_or(0, |_| self.values.iter().map(Vec::len).max().unwrap_or(0));
        if self.rows > 0 && self.at < there || self.next_rows()? {
            self.rows += 1;
            return Ok(true);
        }
        Ok(false)
    }

    fn cell(&self, column: usize) -> RawCell<'_> {
        match self.places.get(column) {
            Some(Some(_)) => self.value(column).cell(),
            _ => RawCell::Other,
        }
    }

    fn text(&self, column: usize) -> Option<String> {
        self.value(column).clone().into_text()
    }

    fn address(&self, column: Option<usize>) -> CellAddress {
        let column = column.and_then(|column| self.columns.get(column)).map(|column| column.name.clone());
        let (file, row) = (self.file.clone(), self.rows.saturating_sub(1));
        CellAddress { file, row, line: None, column: column.unwrap_or_default() }
    }

    fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    fn told_rows(&self) -> Option<usize> {
        self.told_rows
    }
}
