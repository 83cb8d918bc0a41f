//! CSV: with or without a header; commas, tabs or semicolons stand between cells.

use crate::cells::{CellColumn, CellReader, Declared};
use crate::error::{CellAddress, Error, Fault, Result, shorten};
use crate::input::{Gauge, Input, io_error};
use crate::lines::Lines;
use crate::record::Records;
use crate::select::{Header, ReadOptions, Selection, SourceColumn, SourceKind, nameless, nameless_numbers};
use crate::separator::{self, HEAD, separator};
use crate::table::{Source, Table, push_id, push_text};
use crate::written::RawCell;
use std::collections::HashSet;
use std::io::{BufRead, Cursor, Read};

/// The records of any input.
pub(crate) type AnyRecords = Records<Box<dyn BufRead + Send>>;

/// A CSV file, its header read.
pub(crate) struct CsvReader {
    file: String,
    gauge: Gauge,
    records: AnyRecords,
    columns: Vec<SourceColumn>,
    selection: Selection,
    everything: bool,
    /// The current record is the first row, which was read ahead and is still to be parsed.
    ahead: bool,
    rows: usize,
    lines: Lines,
}

/// A CSV file whose first row of data is at hand.
struct CsvStart {
    file: String,
    gauge: Gauge,
    records: AnyRecords,
    columns: Vec<SourceColumn>,
    has_header: bool,
}

impl CsvStart {
    fn read(input: Input, options: &ReadOptions) -> Result<Self> {
        let (file, gauge) = (input.file.clone(), input.gauge.clone());
        let mut records = records(input)?.lineless(options.lineless);
        let advance = |records: &mut AnyRecords| match records.advance() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Empty { file: file.clone() }),
            Err(source) => Err(io_error(&file, source)),
        };
        advance(&mut records)?;
        let has_header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => guess_header(&records.cells().collect::<Vec<_>>(), records.delimiter(), options)
                .map_err(|why| Error::UnclearHeader { file: file.clone(), line: records.line(), why })?,
        };
        let columns =
            if has_header { named(records.cells()) } else { nameless_numbers(records.cells().len()) };
        if has_header {
            advance(&mut records)?;
        }
        Ok(Self { file, gauge, records, columns, has_header })
    }
}

/// The rows of a CSV file as cells.
pub(crate) struct CsvCells {
    start: CsvStart,
    columns: Vec<CellColumn>,
    /// The current record was read ahead and is still to come.
    ahead: bool,
    rows: usize,
}

impl CsvCells {
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Self> {
        let start = CsvStart::read(input, options)?;
        let column = |column: &SourceColumn| CellColumn {
            name: column.name.clone(),
            declared: match column.kind {
                SourceKind::RowIndex => Declared::RowIndex,
                _ => Declared::Values,
            },
        };
        let columns = start.columns.iter().map(column).collect();
        Ok(Self { start, columns, ahead: true, rows: 0 })
    }
}

impl CellReader for CsvCells {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn advance(&mut self) -> Result<bool> {
        let CsvStart { records, file, .. } = &mut self.start;
        if !std::mem::take(&mut self.ahead) && !records.advance().map_err(|source| io_error(file, source))? {
            return Ok(false);
        }
        self.rows += 1;
        let (found, expected) = (self.start.records.cells().len(), self.columns.len());
        if found != expected {
            return Err(Error::Ragged { row: self.address(None), found, expected });
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> RawCell<'_> {
        RawCell::Text(self.start.records.cell(column))
    }

    fn text(&self, column: usize) -> Option<String> {
        Some(text(self.start.records.cell(column)))
    }

    fn address(&self, column: Option<usize>) -> CellAddress {
        CellAddress {
            file: self.start.file.clone(),
            row: self.rows.saturating_sub(1),
            line: self.start.records.shown_line(),
            column: column.map(|c| self.columns[c].name.clone()).unwrap_or_default(),
        }
    }

    fn gauge(&self) -> &Gauge {
        &self.start.gauge
    }

    fn line(&self) -> Option<u64> {
        self.start.records.shown_line()
    }

    fn is_written(&self) -> bool {
        true
    }

    fn has_decimal_commas(&self) -> bool {
        self.start.records.delimiter() != b','
    }

    fn is_nameless(&self) -> bool {
        !self.start.has_header
    }
}

impl CsvReader {
    /// Reads the header, if there is one, and the first row, which tells the text columns from the numbers.
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Self> {
        let CsvStart { file, gauge, records, mut columns, .. } = CsvStart::read(input, options)?;
        for (column, cell) in columns.iter_mut().zip(records.cells()) {
            if let Err(Fault::Text(text)) = number(cell) {
                column.kind = SourceKind::Text(format!("text ({:?} in row 0)", shorten(&text)));
            }
        }
        let selection = Selection::new(&file, &columns, options)?;
        let everything = selection.is_everything(columns.len());
        Ok(Self {
            file,
            gauge,
            records,
            columns,
            selection,
            everything,
            ahead: true,
            rows: 0,
            lines: Lines::default(),
        })
    }

    fn cell(&self, column: Option<usize>) -> CellAddress {
        CellAddress {
            file: self.file.clone(),
            row: self.rows,
            line: self.records.shown_line(),
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
            push_text(&mut table.labels, Some(text(self.records.cell(c))));
        }
        if let Some(c) = self.selection.group {
            push_text(&mut table.groups, Some(text(self.records.cell(c))));
        }
        table.rows += 1;
        Ok(())
    }
}

impl Source for CsvReader {
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
            self.lines.push(self.rows, self.records.line());
            self.rows += 1;
        }
        Ok(rows)
    }

    fn take_lines(&mut self) -> Lines {
        std::mem::take(&mut self.lines)
    }
}

/// The records of a text file, none of them read.
pub(crate) fn records(mut input: Input) -> Result<AnyRecords> {
    input.refuse_binary()?;
    input.refuse_other_encoding()?;
    let mut head = Vec::new();
    let read = input.reader.by_ref().take(HEAD as u64).read_to_end(&mut head);
    read.map_err(|source| input.io(source))?;
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if has_bare_returns(line) {
        return Err(bare_returns(input.file));
    }
    let delimiter = separator(&head);
    Ok(Records::new(Box::new(Cursor::new(head).chain(input.reader)), delimiter))
}

/// Whether a line, as line feeds divide them, has carriage returns inside, but for those in quotes.
pub(crate) fn has_bare_returns(line: &[u8]) -> bool {
    let end = line.iter().rposition(|&byte| byte != b'\r' && byte != b'\n').map_or(0, |last| last + 1);
    let mut quoted = false;
    line[..end].iter().any(|&byte| {
        quoted ^= byte == b'"';
        byte == b'\r' && !quoted
    })
}

pub(crate) fn bare_returns(file: String) -> Error {
    let problem = "ends its lines with carriage returns alone, as old Macs did; replace them by line feeds, for example with: tr '\\r' '\\n'";
    Error::Unsuitable { file, problem: problem.to_owned() }
}

/// Whether the first record names the columns, or why that is uncertain.
///
/// It does if a column was asked for by a name in it, or if none of its cells is a number; it does not if all are. What
/// is left, names beside numbers or the numbers from 0 on that some programs give columns without names, is data if a
/// column was asked for by its number (`c1`), which only data have.
fn guess_header(cells: &[&[u8]], separator: u8, options: &ReadOptions) -> std::result::Result<bool, String> {
    let asked: HashSet<&str> = options.names().collect();
    if cells.iter().any(|cell| asked.contains(text(cell).as_str())) {
        return Ok(true);
    }
    // No decimal comma and no unit makes a name of a number.
    let is_written = |cell: &[u8]| separator::is_number(cell, separator);
    let is_text = |cell: &&&[u8]| matches!(number(cell), Err(Fault::Text(_))) && !is_written(cell);
    let is_number =
        |cell: &&&[u8]| is_written(cell) || !matches!(number(cell), Err(Fault::Text(_) | Fault::Missing));
    let why = match (cells.iter().find(is_text), cells.iter().find(is_number)) {
        (Some(_), None) => return Ok(true),
        (Some(name), Some(number)) => {
            format!("mixes names ({:?}) and numbers ({:?})", shorten(&text(name)), shorten(&text(number)))
        }
        (None, _) if counts(cells) => "counts from 0 on, as column numbers do".to_owned(),
        (None, _) => return Ok(false),
    };
    if (0..cells.len()).any(|c| asked.contains(nameless(c).as_str())) { Ok(false) } else { Err(why) }
}

/// Whether the cells, but for an empty first one, are 0, 1, 2 and so on. Two might well be data.
fn counts(cells: &[&[u8]]) -> bool {
    let index = usize::from(cells.first().is_some_and(|cell| cell.trim_ascii().is_empty()));
    let numbers = &cells[index..];
    cells.len() > 2
        && numbers.iter().enumerate().all(|(n, cell)| cell.trim_ascii() == n.to_string().as_bytes())
}

/// The columns of a header. A nameless first column beside named ones is the row index that pandas writes.
pub(crate) fn named<'a>(header: impl Iterator<Item = &'a [u8]>) -> Vec<SourceColumn> {
    let name = |(at, cell)| match text(cell) {
        name if name.is_empty() && at == 0 => SourceColumn { name: nameless(at), kind: SourceKind::RowIndex },
        name if name.is_empty() => SourceColumn { name: nameless(at), kind: SourceKind::Number },
        name => SourceColumn { name, kind: SourceKind::Number },
    };
    header.enumerate().map(name).collect()
}

/// The value of a cell.
#[inline]
pub(crate) fn number(cell: &[u8]) -> std::result::Result<f32, Fault> {
    match fast_float2::parse::<f32, _>(cell) {
        Ok(value) if value.is_finite() => Ok(value),
        _ => careful_number(cell),
    }
}

/// What a cell that is not plainly a number is: one with spaces around it, nothing, too large, or text.
#[cold]
fn careful_number(cell: &[u8]) -> std::result::Result<f32, Fault> {
    let value = wide_number(cell)?;
    if (value as f32).is_finite() { Ok(value as f32) } else { Err(Fault::of(value)) }
}

/// The value of a cell in twice the precision; NaN and infinity are only what is written as such.
pub(crate) fn wide_number(cell: &[u8]) -> std::result::Result<f64, Fault> {
    let cell = cell.trim_ascii();
    if matches!(cell, b"" | b"NA" | b"N/A" | b"NULL" | b"null" | b"None") {
        return Err(Fault::Missing);
    }
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_infinite() && cell.iter().any(u8::is_ascii_digit) => {
            Err(Fault::TooLarge(value))
        }
        Ok(value) => Ok(value),
        Err(_) => Err(Fault::Text(String::from_utf8_lossy(cell).into_owned())),
    }
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}
