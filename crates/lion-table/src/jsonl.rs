//! JSON lines: per line an array of numbers, or an object of numbers, or an object with one array of numbers. And the same as one
//! JSON array.

use crate::cells::{CellColumn, CellReader, Declared};
use crate::encoding::check_line;
use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::{BYTE_ORDER_MARK, Format, Gauge, Input, io_error};
use crate::lines::Lines;
use crate::select::{ReadOptions, Selection, SourceColumn, item_names, nameless, nameless_numbers};
use crate::table::{Source, Table, push_id, push_text};
use crate::value::Value;
use crate::written::RawCell;
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// The lines of a file, each a JSON value.
pub(crate) struct JsonLines {
    pub(crate) input: Input,
    line: Vec<u8>,
    /// Lines and rows so far, the one at hand included.
    lines: u64,
    rows: usize,
    /// The rows are the items of one array, not lines.
    is_array: bool,
}

impl JsonLines {
    pub(crate) fn new(mut input: Input) -> Result<Self> {
        input.refuse_binary()?;
        Ok(Self { input, line: Vec::new(), lines: 0, rows: 0, is_array: false })
    }

    /// The rows of a file of one of the two formats.
    pub(crate) fn of_format(input: Input, format: Format) -> Result<Self> {
        if format == Format::Json { Self::of_document(input) } else { Self::new(input) }
    }

    /// The rows of a file that is one array of them, or else has one on each line.
    pub(crate) fn of_document(input: Input) -> Result<Self> {
        let mut rows = Self::new(input)?;
        rows.input.refuse_other_encoding()?;
        rows.lines = 1;
        let first = loop {
            match rows.next_byte()? {
                Some(byte) if byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(&byte) => {}
                first => break first,
            }
        };
        match first {
            Some(b'[') => rows.is_array = true,
            Some(first) => {
                rows.lines -= 1;
                let rest = std::mem::replace(&mut rows.input.reader, Box::new(std::io::empty()));
                rows.input.reader = Box::new(std::io::Cursor::new([first]).chain(rest));
            }
            None => {}
        }
        Ok(rows)
    }

    /// The next byte of the file; lines are counted.
    fn next_byte(&mut self) -> Result<Option<u8>> {
        let there = self.input.reader.fill_buf();
        let Some(&byte) = there.map_err(|source| io_error(&self.input.file, source))?.first() else {
            return Ok(None);
        };
        self.input.reader.consume(1);
        self.lines += u64::from(byte == b'\n');
        Ok(Some(byte))
    }

    /// The bytes of the next item of the array, in `self.line`; says whether there is one.
    fn next_item(&mut self) -> Result<bool> {
        self.line.clear();
        let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
        loop {
            let Some(byte) = self.next_byte()? else {
                return Err(self.not_a_row("the array breaks off before its end"));
            };
            match byte {
                _ if quoted => {
                    (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
                    self.line.push(byte);
                    continue;
                }
                b']' | b'}' if depth > 0 => depth -= 1,
                b']' => {
                    self.finish_array()?;
                    // Nothing is left: the next question is answered by the end of the file.
                    self.is_array = false;
                    return Ok(!self.line.trim_ascii().is_empty());
                }
                b',' if depth == 0 && self.line.trim_ascii().is_empty() => continue,
                b',' if depth == 0 => return Ok(true),
                b'[' | b'{' => depth += 1,
                b'"' => quoted = true,
                _ => {}
            }
            self.line.push(byte);
        }
    }

    /// Refuses what follows the array.
    fn finish_array(&mut self) -> Result<()> {
        while let Some(byte) = self.next_byte()? {
            if !byte.is_ascii_whitespace() {
                return Err(self.not_a_row("something follows the array of rows"));
            }
        }
        Ok(())
    }

    /// What `self.line` holds, which is the next row.
    fn value(&mut self) -> Result<Value> {
        self.rows += 1;
        serde_json::from_slice(self.line.trim_ascii()).map_err(|error| {
            let encoding = check_line(&self.line, self.lines).map_err(|source| self.input.io(source));
            encoding.err().unwrap_or_else(|| self.bad_json(&error))
        })
    }

    /// The next row; blank lines are none.
    pub(crate) fn advance(&mut self) -> Result<Option<Value>> {
        if self.is_array {
            if !self.next_item()? {
                return Ok(None);
            }
            return self.value().map(Some);
        }
        loop {
            self.line.clear();
            let read = self.input.reader.read_until(b'\n', &mut self.line);
            if read.map_err(|source| self.input.io(source))? == 0 {
                return Ok(None);
            }
            self.lines += 1;
            if self.lines == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.line.trim_ascii().is_empty() {
                return self.value().map(Some);
            }
        }
    }

    /// The row at hand, counted from 0, and its line, counted from 1.
    fn at(&self) -> (usize, u64) {
        (self.rows.saturating_sub(1), self.lines)
    }

    /// A place in the row at hand.
    pub(crate) fn cell(&self, column: &str) -> CellAddress {
        let (row, line) = self.at();
        CellAddress { file: self.input.file.clone(), row, line: Some(line), column: column.to_owned() }
    }

    pub(crate) fn not_a_row(&self, problem: &str) -> Error {
        Error::BadJson { row: self.cell(""), problem: problem.to_owned() }
    }

    fn bad_json(&self, error: &serde_json::Error) -> Error {
        // The parser counts lines from 1 in the one line that it sees, which would only confuse.
        self.not_a_row(&error.to_string().replace(" at line 1 column ", " at character "))
    }
}

/// A JSON lines file, its first row read.
pub(crate) struct JsonlReader {
    lines: JsonLines,
    columns: Vec<SourceColumn>,
    places: HashMap<String, usize>,
    selection: Selection,
    /// The names of the features, which are the items of the list if there is one.
    names: Vec<String>,
    /// Rows are arrays, not objects.
    arrays: bool,
    /// Fields beyond those of the first row are of no interest, as the features were chosen by name.
    chosen: bool,
    exclude: Vec<String>,
    pending: Option<Value>,
    read: Lines,
}

impl JsonlReader {
    /// Reads the first row, which tells the columns.
    pub(crate) fn open(lines: JsonLines, options: &ReadOptions) -> Result<Self> {
        let mut jsonl = Self {
            lines,
            columns: Vec::new(),
            places: HashMap::new(),
            selection: Selection { features: Vec::new(), id: None, label: None, group: None, list: false },
            names: Vec::new(),
            arrays: false,
            chosen: options.columns.is_some(),
            exclude: Vec::new(),
            pending: None,
            read: Lines::default(),
        };
        let Some(first) = jsonl.lines.advance()? else {
            return Err(Error::Empty { file: jsonl.lines.input.file });
        };
        jsonl.arrays = matches!(first, Value::List(_));
        jsonl.columns = match &first {
            Value::Object(fields) => {
                let column =
                    |(name, value): &(String, Value)| SourceColumn { name: name.clone(), kind: value.kind() };
                fields.iter().map(column).collect()
            }
            Value::List(items) => nameless_numbers(items.len()),
            _ => return Err(jsonl.lines.not_a_row("it is a single value")),
        };
        for (at, column) in jsonl.columns.iter().enumerate() {
            if jsonl.places.insert(column.name.clone(), at).is_some() {
                return Err(Error::RepeatedField { cell: jsonl.lines.cell(&column.name) });
            }
        }
        // A field may be left out that only some rows have.
        let (known, exclude) =
            options.exclude.iter().cloned().partition(|name| jsonl.places.contains_key(name));
        jsonl.exclude = exclude;
        let options = ReadOptions { exclude: known, ..options.clone() };
        jsonl.selection = Selection::new(&jsonl.lines.input.file, &jsonl.columns, &options)?;
        jsonl.names = jsonl.feature_names(&first)?;
        jsonl.pending = Some(first);
        Ok(jsonl)
    }

    fn feature_names(&self, first: &Value) -> Result<Vec<String>> {
        let name = |&c: &usize| self.columns[c].name.clone();
        match (first, self.selection.features.as_slice()) {
            (Value::Object(fields), &[c]) if self.selection.list => match fields.get(c) {
                Some((name, Value::List(items))) if !items.is_empty() => Ok(item_names(name, items.len())),
                _ => Err(crate::select::no_numeric_column(&self.lines.input.file, &self.columns)),
            },
            (_, features) => Ok(features.iter().map(name).collect()),
        }
    }

    /// The values of a row in the order of the columns.
    fn in_order<'a>(&self, fields: &'a [(String, Value)]) -> Result<Vec<&'a Value>> {
        let mut values = vec![None; self.columns.len()];
        for (at, (name, value)) in fields.iter().enumerate() {
            let same_place = self.columns.get(at).is_some_and(|column| column.name == *name);
            match if same_place { Some(at) } else { self.places.get(name).copied() } {
                Some(place) => {
                    if values[place].replace(value).is_some() {
                        return Err(Error::RepeatedField { cell: self.lines.cell(name) });
                    }
                }
                None if self.chosen || self.exclude.contains(name) => {}
                None => return Err(Error::NewField { cell: self.lines.cell(name) }),
            }
        }
        Ok(values.into_iter().map(|value| value.unwrap_or(&Value::Null)).collect())
    }

    fn push(&self, table: &mut Table, row: &Value) -> Result<()> {
        let values = match row {
            Value::Object(fields) if !self.arrays => self.in_order(fields)?,
            Value::List(items) if self.arrays => items.iter().collect(),
            _ => return Err(self.lines.not_a_row("it is not like the first row")),
        };
        self.check_length(values.len(), self.columns.len())?;
        if self.selection.list {
            match values[self.selection.features[0]] {
                Value::List(items) => {
                    self.check_length(items.len(), self.names.len())?;
                    self.push_numbers(table, items.iter())?;
                }
                other => {
                    let fault = if matches!(other, Value::Null) {
                        Fault::Missing
                    } else {
                        Fault::Text("a single value".into())
                    };
                    return Err(fault.at(self.lines.cell(&self.columns[self.selection.features[0]].name)));
                }
            }
        } else {
            self.push_numbers(table, self.selection.features.iter().map(|&c| values[c]))?;
        }
        if let Some(c) = self.selection.id {
            push_id(table, values[c].clone().into_text(), || self.lines.cell(&self.columns[c].name))?;
        }
        if let Some(c) = self.selection.label {
            push_text(&mut table.labels, values[c].clone().into_text());
        }
        if let Some(c) = self.selection.group {
            push_text(&mut table.groups, values[c].clone().into_text());
        }
        table.rows += 1;
        Ok(())
    }

    fn push_numbers<'a>(&self, table: &mut Table, values: impl Iterator<Item = &'a Value>) -> Result<()> {
        for (value, name) in values.zip(&self.names) {
            table.data.push(value.number().map_err(|fault| fault.at(self.lines.cell(name)))?);
        }
        Ok(())
    }

    fn check_length(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            Ok(())
        } else {
            Err(Error::Ragged { row: self.lines.cell(""), found, expected })
        }
    }
}

impl Source for JsonlReader {
    fn empty(&self) -> Table {
        Table::without_rows(self.names.clone(), &self.selection)
    }

    fn gauge(&self) -> &Gauge {
        &self.lines.input.gauge
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        for done in 0..rows {
            let next = match self.pending.take() {
                Some(first) => Some(first),
                None => self.lines.advance()?,
            };
            let Some(row) = next else { return Ok(done) };
            self.push(table, &row)?;
            let (row, line) = self.lines.at();
            self.read.push(row, line);
        }
        Ok(rows)
    }

    fn take_lines(&mut self) -> Lines {
        std::mem::take(&mut self.read)
    }
}

/// The rows of a JSON file as cells. Rows need not have the same fields: what a row does not have is a gap.
pub(crate) struct JsonCells {
    lines: JsonLines,
    columns: Vec<CellColumn>,
    places: HashMap<String, usize>,
    /// The row at hand, in the order of the columns.
    row: Vec<Option<Value>>,
    arrays: bool,
    /// The first row was read ahead and is still to come.
    ahead: bool,
}

impl JsonCells {
    pub(crate) fn open(lines: JsonLines) -> Result<Self> {
        let (columns, places) = (Vec::new(), HashMap::new());
        let mut cells = Self { lines, columns, places, row: Vec::new(), arrays: false, ahead: false };
        if !cells.advance()? {
            return Err(Error::Empty { file: cells.lines.input.file });
        }
        cells.ahead = true;
        Ok(cells)
    }

    /// Puts a field where its column is, which may be new.
    fn put(&mut self, name: String, value: Value) -> Result<()> {
        let at = match self.places.get(&name) {
            Some(&at) => at,
            None => {
                let declared = match &value {
                    Value::List(items)
                        if items.iter().all(|item| matches!(item, Value::Whole(_) | Value::Number(_))) =>
                    {
                        Declared::List
                    }
                    Value::List(_) => Declared::Other("lists".to_owned()),
                    Value::Object(_) => Declared::Other("objects".to_owned()),
                    _ => Declared::Values,
                };
                self.columns.push(CellColumn { name: name.clone(), declared });
                self.places.insert(name.clone(), self.columns.len() - 1);
                self.columns.len() - 1
            }
        };
        if self.row.len() <= at {
            self.row.resize(at + 1, None);
        }
        match self.row[at].replace(value) {
            Some(_) => Err(Error::RepeatedField { cell: self.lines.cell(&name) }),
            None => Ok(()),
        }
    }
}

impl CellReader for JsonCells {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.ahead) {
            return Ok(true);
        }
        let Some(row) = self.lines.advance()? else { return Ok(false) };
        let first = self.lines.rows == 1;
        self.row.clear();
        match row {
            Value::Object(fields) if first || !self.arrays => {
                fields.into_iter().try_for_each(|(name, value)| self.put(name, value))?;
            }
            Value::List(items) if first || self.arrays => {
                self.arrays = true;
                let (found, expected) = (items.len(), self.columns.len());
                if !first && found != expected {
                    return Err(Error::Ragged { row: self.lines.cell(""), found, expected });
                }
                let items = items.into_iter().enumerate();
                items.into_iter().try_for_each(|(at, value)| self.put(nameless(at), value))?;
            }
            Value::Object(_) | Value::List(_) => {
                return Err(self.lines.not_a_row("it is not like the first row"));
            }
            _ => return Err(self.lines.not_a_row("it is a single value")),
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> RawCell<'_> {
        self.row.get(column).and_then(Option::as_ref).map_or(RawCell::Missing, Value::cell)
    }

    fn text(&self, column: usize) -> Option<String> {
        self.row.get(column)?.clone()?.into_text()
    }

    fn address(&self, column: Option<usize>) -> CellAddress {
        let column = column.and_then(|column| self.columns.get(column)).map_or("", |column| &column.name);
        self.lines.cell(column)
    }

    fn gauge(&self) -> &Gauge {
        &self.lines.input.gauge
    }

    fn line(&self) -> Option<u64> {
        Some(self.lines.lines)
    }

    fn may_grow(&self) -> bool {
        !self.arrays
    }

    fn is_nameless(&self) -> bool {
        self.arrays
    }
}
