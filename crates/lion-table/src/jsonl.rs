//! JSON lines: per line an array of numbers, or an object of numbers, or an object with one array of numbers.

use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::{BYTE_ORDER_MARK, Gauge, Input};
use crate::lines::Lines;
use crate::select::{ReadOptions, Selection, SourceColumn, nameless_numbers};
use crate::table::{Source, Table, push_id, push_text};
use crate::value::Value;
use std::collections::HashMap;
use std::io::BufRead;

/// The lines of a file, each a JSON value.
pub(crate) struct JsonLines {
    pub(crate) input: Input,
    line: Vec<u8>,
    /// Lines and rows so far, the one at hand included.
    lines: u64,
    rows: usize,
}

impl JsonLines {
    pub(crate) fn new(mut input: Input) -> Result<Self> {
        input.refuse_binary()?;
        Ok(Self { input, line: Vec::new(), lines: 0, rows: 0 })
    }

    /// The next row; blank lines are none.
    pub(crate) fn advance(&mut self) -> Result<Option<Value>> {
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
                self.rows += 1;
                let value = serde_json::from_slice(&self.line);
                return value.map(Some).map_err(|error| self.bad_json(&error));
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
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Self> {
        let mut jsonl = Self {
            lines: JsonLines::new(input)?,
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
                Some((name, Value::List(items))) if !items.is_empty() => {
                    Ok((1..=items.len()).map(|item| format!("{name}[{item}]")).collect())
                }
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
