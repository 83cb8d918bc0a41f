//! CSV: with or without a header, comma or (if the first line has no comma) tab or semicolon.

use crate::error::{Cell, Error, Fault, Result, shorten};
use crate::input::{Gauge, Input, io_error};
use crate::record::Records;
use crate::select::{Column, Kind, ReadOptions, Selection, nameless, nameless_numbers};
use crate::table::{Source, Table, push_id, push_label};
use std::io::{BufRead, Cursor, Read};

/// A CSV file, its header read.
pub(crate) struct Csv {
    file: String,
    gauge: Gauge,
    records: Records<Box<dyn BufRead + Send>>,
    columns: Vec<Column>,
    selection: Selection,
    everything: bool,
    /// The current record is the first row, which was read ahead and is still to be parsed.
    ahead: bool,
    rows: usize,
}

impl Csv {
    /// Reads the header, if there is one, and the first row, which tells the text columns from the numbers.
    ///
    /// The first record is a header if any of its cells is neither a number nor empty.
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Self> {
        let Input { file, reader, gauge, .. } = input;
        let (delimiter, reader) = sniff(reader).map_err(|source| io_error(&file, source))?;
        let mut records = Records::new(reader, delimiter);
        let advance = |records: &mut Records<_>| match records.advance() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Empty { file: file.clone() }),
            Err(source) => Err(io_error(&file, source)),
        };
        advance(&mut records)?;
        let is_header = records.cells().any(|cell| matches!(number(cell), Err(Fault::Text(_))));
        let mut columns =
            if is_header { named(records.cells()) } else { nameless_numbers(records.cells().len()) };
        if is_header {
            advance(&mut records)?;
        }
        for (column, cell) in columns.iter_mut().zip(records.cells()) {
            if let Err(Fault::Text(text)) = number(cell) {
                column.kind = Kind::Text(format!("text ({:?} in row 1)", shorten(&text)));
            }
        }
        let selection = Selection::new(&file, &columns, options)?;
        let everything = selection.is_everything(columns.len());
        Ok(Self { file, gauge, records, columns, selection, everything, ahead: true, rows: 0 })
    }

    fn cell(&self, column: Option<usize>) -> Cell {
        Cell {
            file: self.file.clone(),
            row: self.rows + 1,
            line: Some(self.records.line()),
            column: column.map(|c| self.columns[c].name.clone()).unwrap_or_default(),
        }
    }

    /// Makes the next record the current one.
    fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.ahead) {
            return Ok(true);
        }
        self.records.advance().map_err(|source| io_error(&self.file, source))
    }

    /// Parses the current record.
    fn push(&self, table: &mut Table) -> Result<()> {
        let (found, expected) = (self.records.cells().len(), self.columns.len());
        if found != expected {
            return Err(Error::Ragged { row: self.cell(None), found, expected });
        }
        if self.everything {
            for (c, cell) in self.records.cells().enumerate() {
                table.data.push(number(cell).map_err(|fault| fault.at(self.cell(Some(c))))?);
            }
        } else {
            for &c in &self.selection.features {
                table.data.push(number(self.records.cell(c)).map_err(|fault| fault.at(self.cell(Some(c))))?);
            }
        }
        if let Some(c) = self.selection.id {
            push_id(table, Some(text(self.records.cell(c))), || self.cell(Some(c)))?;
        }
        if let Some(c) = self.selection.label {
            push_label(table, Some(text(self.records.cell(c))));
        }
        table.rows += 1;
        Ok(())
    }
}

impl Source for Csv {
    fn empty(&self) -> Table {
        Table::for_selection(&self.columns, &self.selection)
    }

    fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        for done in 0..rows {
            if !self.advance()? {
                return Ok(done);
            }
            self.push(table)?;
            self.rows += 1;
        }
        Ok(rows)
    }
}

/// The separator that the first line shows, and the reader as it was.
fn sniff(mut reader: Box<dyn BufRead + Send>) -> std::io::Result<(u8, Box<dyn BufRead + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(64 << 10).read_to_end(&mut head)?;
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = if line.contains(&b',') {
        b','
    } else {
        *line.iter().find(|&byte| matches!(byte, b'\t' | b';')).unwrap_or(&b',')
    };
    Ok((delimiter, Box::new(Cursor::new(head).chain(reader))))
}

/// The columns of a header. A nameless first column beside named ones is the row index that pandas writes.
fn named<'a>(header: impl Iterator<Item = &'a [u8]>) -> Vec<Column> {
    let name = |(at, cell)| match text(cell) {
        name if name.is_empty() && at == 0 => Column { name: nameless(at), kind: Kind::RowIndex },
        name if name.is_empty() => Column { name: nameless(at), kind: Kind::Number },
        name => Column { name, kind: Kind::Number },
    };
    header.enumerate().map(name).collect()
}

/// The value of a cell.
#[inline]
fn number(cell: &[u8]) -> std::result::Result<f32, Fault> {
    match fast_float2::parse::<f32, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        _ => careful_number(cell.trim_ascii()),
    }
}

/// What a cell that is not plainly a number is: one with spaces around it, nothing, too large, or text.
#[cold]
fn careful_number(cell: &[u8]) -> std::result::Result<f32, Fault> {
    if matches!(cell, b"" | b"NA" | b"N/A" | b"NULL" | b"null" | b"None") {
        return Err(Fault::Missing);
    }
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if (value as f32).is_finite() => Ok(value as f32),
        Ok(value) if value.is_infinite() && cell.iter().any(u8::is_ascii_digit) => {
            Err(Fault::TooLarge(value))
        }
        Ok(value) => Err(Fault::of(value)),
        Err(_) => Err(Fault::Text(String::from_utf8_lossy(cell).into_owned())),
    }
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}
