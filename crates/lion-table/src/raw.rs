//! The body shared by npy and IDX: numbers of one type, one after the other.

use crate::cells::{CellColumn, CellReader, Declared};
use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::{Gauge, Input};
use crate::select::{ReadOptions, Selection, SourceColumn, nameless, nameless_numbers};
use crate::table::{Source, Table, number_text, push_id, push_text};
use crate::written::RawCell;
use std::io::{Cursor, Read};

/// The real types of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// How numbers are laid down in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub(crate) scalar: Scalar,
    pub(crate) big_endian: bool,
}

/// Evaluates `$body` with `$read` a function from the bytes of one number to that number.
macro_rules! with_reader {
    ($dtype:expr, $read:ident => $body:expr) => {{
        macro_rules! typed {
            ($type:ty) => {
                if $dtype.big_endian {
                    let $read = |b: &[u8]| b.try_into().map_or(<$type>::default(), <$type>::from_be_bytes);
                    $body
                } else {
                    let $read = |b: &[u8]| b.try_into().map_or(<$type>::default(), <$type>::from_le_bytes);
                    $body
                }
            };
        }
        match $dtype.scalar {
            Scalar::Bool => {
                let $read = |b: &[u8]| u8::from(b.first().is_some_and(|&b| b != 0));
                $body
            }
            Scalar::F16 => {
                let big = $dtype.big_endian;
                let bits = move |b: [u8; 2]| if big { u16::from_be_bytes(b) } else { u16::from_le_bytes(b) };
                let $read = |b: &[u8]| half::f16::from_bits(b.try_into().map_or(0, bits)).to_f32();
                $body
            }
            Scalar::I8 => typed!(i8),
            Scalar::I16 => typed!(i16),
            Scalar::I32 => typed!(i32),
            Scalar::I64 => typed!(i64),
            Scalar::U8 => typed!(u8),
            Scalar::U16 => typed!(u16),
            Scalar::U32 => typed!(u32),
            Scalar::U64 => typed!(u64),
            Scalar::F32 => typed!(f32),
            Scalar::F64 => typed!(f64),
        }
    }};
}

impl Dtype {
    /// Bytes per number.
    pub(crate) fn size(self) -> usize {
        match self.scalar {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Adds the numbers in `bytes` to `out`.
    #[allow(clippy::unnecessary_cast, reason = "one body for all types, f32 among them")]
    fn decode(self, bytes: &[u8], out: &mut Vec<f32>) {
        let parts = bytes.chunks_exact(self.size());
        with_reader!(self, read => out.extend(parts.map(|part| read(part) as f32)));
    }

    /// One number, as exactly as a message needs it.
    fn number(self, bytes: &[u8]) -> f64 {
        with_reader!(self, read => read(bytes) as f64)
    }

    /// One number as an id or label.
    pub(crate) fn text(self, bytes: &[u8]) -> Option<String> {
        match self.scalar {
            Scalar::F16 | Scalar::F32 | Scalar::F64 => number_text(self.number(bytes)),
            _ => Some(with_reader!(self, read => read(bytes).to_string())),
        }
    }
}

/// What a header says about the numbers after it.
pub(crate) struct RawShape {
    pub(crate) dtype: Dtype,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Column after column instead of row after row.
    pub(crate) fortran: bool,
}

impl RawShape {
    /// Bytes of the body, or nothing if no file could hold them.
    fn bytes(&self) -> Option<u64> {
        let bytes = self.rows.checked_mul(self.cols)?.checked_mul(self.dtype.size())?;
        isize::try_from(bytes).ok().map(|bytes| bytes as u64)
    }
}

/// A table of raw numbers, its header already read.
pub(crate) struct Raw {
    input: Input,
    format: &'static str,
    shape: RawShape,
    columns: Vec<SourceColumn>,
    selection: Selection,
    taken: usize,
    buffer: Vec<u8>,
    /// All rows at once, which is how Fortran order has to be read.
    turned: Option<Table>,
    /// The sizes of the items that became rows, if they have more than one.
    item: Vec<usize>,
}

/// Bytes decoded at a time: they stay in the cache.
const CHUNK: usize = 1 << 18;

impl Raw {
    /// Takes the body that follows; `header` is the number of bytes already read.
    pub(crate) fn new(
        mut input: Input,
        format: &'static str,
        header: u64,
        shape: RawShape,
        options: &ReadOptions,
    ) -> Result<Self> {
        if shape.rows == 0 {
            return Err(Error::Empty { file: input.file });
        }
        if shape.fortran && input.size.is_none() {
            // Fortran order fills the whole table from the first number on, so its size must be certain first.
            let mut body = Vec::new();
            input.reader.read_to_end(&mut body).map_err(|source| input.io(source))?;
            input.size = Some(header + body.len() as u64);
            input.reader = Box::new(Cursor::new(body));
        }
        let there = input.size.map(|size| size.saturating_sub(header));
        let short = match (shape.bytes(), there) {
            (None, _) => true,
            (Some(bytes), Some(there)) => bytes > there,
            (Some(_), None) => false,
        };
        if short {
            return Err(promise_broken(&input.file, format, &shape));
        }
        let columns = if shape.cols <= most_columns(&input, &shape) {
            nameless_numbers(shape.cols)
        } else {
            return Err(promise_broken(&input.file, format, &shape));
        };
        let selection = Selection::new(&input.file, &columns, options)?;
        let (buffer, item) = (Vec::new(), Vec::new());
        Ok(Self { input, format, shape, columns, selection, taken: 0, buffer, turned: None, item })
    }

    /// The same, of items of these sizes.
    pub(crate) fn of_items(self, item: &[usize]) -> Self {
        Self { item: item.to_vec(), ..self }
    }

    fn cell(&self, row: usize, column: usize) -> CellAddress {
        CellAddress { file: self.input.file.clone(), row, line: None, column: nameless(column) }
    }

    /// The next `count` numbers as bytes, in `self.buffer`.
    fn take(&mut self, count: usize) -> Result<()> {
        let want = count * self.shape.dtype.size();
        self.buffer.clear();
        let read = self.input.reader.by_ref().take(want as u64).read_to_end(&mut self.buffer);
        if read.map_err(|source| self.input.io(source))? < want {
            return Err(promise_broken(&self.input.file, self.format, &self.shape));
        }
        Ok(())
    }

    /// Decodes the `rows` whole rows in the buffer, which start at row `self.taken`.
    fn decode_rows(&mut self, table: &mut Table, rows: usize) -> Result<()> {
        let (dtype, cols, start) = (self.shape.dtype, self.shape.cols, table.data.len());
        let number = |row: usize, c: usize| {
            let at = (row * cols + c) * dtype.size();
            &self.buffer[at..at + dtype.size()]
        };
        if self.selection.is_everything(cols) {
            dtype.decode(&self.buffer, &mut table.data);
        } else {
            for row in 0..rows {
                for &c in &self.selection.features {
                    dtype.decode(number(row, c), &mut table.data);
                }
            }
        }
        if let Some(at) = table.data[start..].iter().position(|v| !v.is_finite()) {
            let (row, c) = (at / table.cols, self.selection.features[at % table.cols]);
            return Err(Fault::of(dtype.number(number(row, c))).at(self.cell(self.taken + row, c)));
        }
        for row in 0..rows {
            if let Some(c) = self.selection.id {
                push_id(table, dtype.text(number(row, c)), || self.cell(self.taken + row, c))?;
            }
            if let Some(c) = self.selection.label {
                push_text(&mut table.labels, dtype.text(number(row, c)));
            }
            if let Some(c) = self.selection.group {
                push_text(&mut table.groups, dtype.text(number(row, c)));
            }
        }
        table.rows += rows;
        self.taken += rows;
        Ok(())
    }

    /// Reads a body in Fortran order, column after column, each number to its place.
    fn turn(&mut self) -> Result<Table> {
        let (dtype, rows) = (self.shape.dtype, self.shape.rows);
        let mut table = self.empty();
        table.data = vec![0.0; rows * table.cols];
        table.rows = rows;
        let mut places = vec![None; self.shape.cols];
        for (place, &c) in self.selection.features.iter().enumerate() {
            places[c] = Some(place);
        }
        let mut column = Vec::new();
        for (c, place) in places.into_iter().enumerate() {
            self.take(rows)?;
            if let Some(place) = place {
                column.clear();
                dtype.decode(&self.buffer, &mut column);
                if let Some(row) = column.iter().position(|v| !v.is_finite()) {
                    let number = &self.buffer[row * dtype.size()..(row + 1) * dtype.size()];
                    return Err(Fault::of(dtype.number(number)).at(self.cell(row, c)));
                }
                let values = table.data.iter_mut().skip(place).step_by(table.cols);
                values.zip(&column).for_each(|(to, &from)| *to = from);
            }
            for (row, number) in self.buffer.chunks_exact(dtype.size()).enumerate() {
                if self.selection.id == Some(c) {
                    push_id(&mut table, dtype.text(number), || self.cell(row, c))?;
                }
                if self.selection.label == Some(c) {
                    push_text(&mut table.labels, dtype.text(number));
                }
                if self.selection.group == Some(c) {
                    push_text(&mut table.groups, dtype.text(number));
                }
            }
        }
        self.finish()?;
        Ok(table)
    }

    /// The end: in an IDX file nothing may follow; NumPy itself allows it.
    fn finish(&mut self) -> Result<()> {
        let left = self.input.finish()?;
        if left > 0 && self.format == "IDX" {
            let bytes = if left == 1 { "1 byte follows".to_owned() } else { format!("{left} bytes follow") };
            let problem = format!("{bytes} the rows that its header promises");
            return Err(Error::Damaged { file: self.input.file.clone(), format: self.format, problem });
        }
        Ok(())
    }

    /// Copies rows of the turned table.
    fn fill_from_turned(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        let turned = match self.turned.take() {
            Some(turned) => turned,
            None => self.turn()?,
        };
        let range = self.taken..self.taken + rows;
        table.data.extend_from_slice(&turned.data[range.start * turned.cols..range.end * turned.cols]);
        for (to, from) in [
            (&mut table.ids, &turned.ids),
            (&mut table.labels, &turned.labels),
            (&mut table.groups, &turned.groups),
        ] {
            if let (Some(to), Some(from)) = (to, from) {
                to.extend_from_slice(&from[range.clone()]);
            }
        }
        table.rows += rows;
        self.taken += rows;
        self.turned = Some(turned);
        Ok(rows)
    }
}

/// The most columns that one row of the input can have: naming more of them would trust the header alone.
fn most_columns(input: &Input, shape: &RawShape) -> usize {
    let certain = input.size.map_or(1 << 20, |size| size / shape.dtype.size() as u64);
    usize::try_from(certain).unwrap_or(usize::MAX)
}

fn promise_broken(file: &str, format: &'static str, shape: &RawShape) -> Error {
    let problem = format!(
        "its header promises {} rows of {} numbers, more than the file holds",
        shape.rows, shape.cols
    );
    Error::Damaged { file: file.to_owned(), format, problem }
}

impl Source for Raw {
    fn empty(&self) -> Table {
        Table::for_selection(&self.columns, &self.selection)
    }

    fn rows(&self) -> Option<usize> {
        (self.input.size.is_some() && !self.shape.fortran).then_some(self.shape.rows)
    }

    fn told_rows(&self) -> Option<usize> {
        self.input.size.map(|_| self.shape.rows)
    }

    fn item(&self) -> &[usize] {
        &self.item
    }

    fn buffers(&self) -> usize {
        // Fortran order has a row's numbers all over the file: it is held whole.
        let whole = if self.shape.fortran { 4 * self.shape.rows * self.selection.features.len() } else { 0 };
        CHUNK + whole
    }

    fn gauge(&self) -> &Gauge {
        &self.input.gauge
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        let rows = rows.min(self.shape.rows - self.taken);
        if self.shape.fortran {
            return self.fill_from_turned(table, rows);
        }
        if rows == 0 {
            self.finish()?;
        }
        let step = (CHUNK / (self.shape.cols * self.shape.dtype.size())).max(1);
        let mut left = rows;
        while left > 0 {
            let now = step.min(left);
            self.take(now * self.shape.cols)?;
            self.decode_rows(table, now)?;
            left -= now;
        }
        Ok(rows)
    }

    fn fill_all(&mut self, table: &mut Table) -> Result<()> {
        // Rows of other files may be there already.
        if self.shape.fortran && table.rows == 0 {
            *table = self.turn()?;
            return Ok(());
        }
        while self.fill(table, self.shape.rows)? > 0 {}
        Ok(())
    }
}

/// The rows of such a table as cells.
pub(crate) struct RawCells {
    raw: Raw,
    columns: Vec<CellColumn>,
    /// Rows in the buffer, and the one of them at hand.
    buffered: usize,
    at: usize,
    rows: usize,
}

impl RawCells {
    pub(crate) fn new(raw: Raw) -> Result<Self> {
        if raw.shape.fortran {
            let problem = "has its numbers column by column (Fortran order), in which gaps cannot be filled nor columns scaled; save it with numpy.ascontiguousarray".to_owned();
            return Err(Error::Unsuitable { file: raw.input.file, problem });
        }
        let column =
            |column: &SourceColumn| CellColumn { name: column.name.clone(), declared: Declared::Values };
        let columns = raw.columns.iter().map(column).collect();
        Ok(Self { raw, columns, buffered: 0, at: 0, rows: 0 })
    }

    fn bytes(&self, column: usize) -> &[u8] {
        let size = self.raw.shape.dtype.size();
        let start = (self.at * self.raw.shape.cols + column) * size;
        self.raw.buffer.get(start..start + size).unwrap_or_default()
    }
}

impl CellReader for RawCells {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn advance(&mut self) -> Result<bool> {
        let RawShape { rows, cols, dtype, .. } = self.raw.shape;
        self.at += 1;
        if self.at >= self.buffered {
            let step = (CHUNK / (cols * dtype.size())).max(1).min(rows - self.raw.taken);
            if step == 0 {
                self.raw.finish()?;
                return Ok(false);
            }
            self.raw.take(step * cols)?;
            self.raw.taken += step;
            (self.buffered, self.at) = (step, 0);
        }
        self.rows += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> RawCell<'_> {
        RawCell::Number(self.raw.shape.dtype.number(self.bytes(column)))
    }

    fn text(&self, column: usize) -> Option<String> {
        self.raw.shape.dtype.text(self.bytes(column))
    }

    fn address(&self, column: Option<usize>) -> CellAddress {
        let file = self.raw.input.file.clone();
        CellAddress {
            file,
            row: self.rows.saturating_sub(1),
            line: None,
            column: column.map(nameless).unwrap_or_default(),
        }
    }

    fn gauge(&self) -> &Gauge {
        &self.raw.input.gauge
    }

    fn is_nameless(&self) -> bool {
        true
    }

    fn told_rows(&self) -> Option<usize> {
        self.raw.told_rows()
    }
}
