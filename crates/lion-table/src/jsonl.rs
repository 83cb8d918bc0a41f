//! JSON lines: per line an array of numbers, or an object of numbers, or an object with one array of numbers.

use crate::error::{Cell, Error, Fault, Result};
use crate::input::{Gauge, Input};
use crate::select::{Column, Kind, ReadOptions, Selection, nameless_numbers};
use crate::table::{Source, Table, number_text, push_id, push_label};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::io::BufRead;

/// One value of a line.
#[derive(Debug)]
enum Value {
    Null,
    Bool(bool),
    Whole(i128),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    /// In the order of the line, which a map would lose.
    Object(Vec<(String, Value)>),
}

impl Value {
    fn number(&self) -> std::result::Result<f32, Fault> {
        let value = match self {
            Self::Null => return Err(Fault::Missing),
            Self::Bool(value) => f64::from(u8::from(*value)),
            Self::Whole(value) => *value as f64,
            Self::Number(value) => *value,
            Self::Text(text) => return Err(Fault::Text(text.clone())),
            Self::List(_) => return Err(Fault::Text("[…]".to_owned())),
            Self::Object(_) => return Err(Fault::Text("{…}".to_owned())),
        };
        let narrow = value as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(Fault::of(value)) }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Whole(value) => Some(value.to_string()),
            Self::Number(value) => number_text(*value),
            Self::Text(text) => Some(text.clone()),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Null | Self::Bool(_) | Self::Whole(_) | Self::Number(_) => Kind::Number,
            Self::Text(text) => Kind::Text(format!("text ({:?} in row 1)", crate::error::shorten(text))),
            Self::List(_) => Kind::List,
            Self::Object(_) => Kind::Other("objects".to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(Value::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(Value::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Value::Object(object))
    }
}

/// A JSON lines file, its first row read.
pub(crate) struct Jsonl {
    input: Input,
    columns: Vec<Column>,
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
    line: Vec<u8>,
    lines: u64,
    rows: usize,
}

impl Jsonl {
    /// Reads the first row, which tells the columns.
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Self> {
        let mut jsonl = Self {
            input,
            columns: Vec::new(),
            places: HashMap::new(),
            selection: Selection { features: Vec::new(), id: None, label: None, list: false },
            names: Vec::new(),
            arrays: false,
            chosen: options.columns.is_some(),
            exclude: Vec::new(),
            pending: None,
            line: Vec::new(),
            lines: 0,
            rows: 0,
        };
        let Some(first) = jsonl.advance()? else { return Err(Error::Empty { file: jsonl.input.file }) };
        jsonl.arrays = matches!(first, Value::List(_));
        jsonl.columns = match &first {
            Value::Object(fields) => {
                let column =
                    |(name, value): &(String, Value)| Column { name: name.clone(), kind: value.kind() };
                fields.iter().map(column).collect()
            }
            Value::List(items) => nameless_numbers(items.len()),
            _ => return Err(jsonl.not_a_row("it is a single value")),
        };
        jsonl.places =
            jsonl.columns.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
        // A field may be left out that only some rows have.
        let (known, exclude) =
            options.exclude.iter().cloned().partition(|name| jsonl.places.contains_key(name));
        jsonl.exclude = exclude;
        let options = ReadOptions { exclude: known, ..options.clone() };
        jsonl.selection = Selection::new(&jsonl.input.file, &jsonl.columns, &options)?;
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
                _ => Err(crate::select::no_numeric_column(&self.input.file, &self.columns)),
            },
            (_, features) => Ok(features.iter().map(name).collect()),
        }
    }

    fn cell(&self, column: &str) -> Cell {
        Cell {
            file: self.input.file.clone(),
            row: self.rows + 1,
            line: Some(self.lines),
            column: column.to_owned(),
        }
    }

    fn not_a_row(&self, problem: &str) -> Error {
        Error::BadJson { row: self.cell(""), problem: problem.to_owned() }
    }

    /// The next row; blank lines are none.
    fn advance(&mut self) -> Result<Option<Value>> {
        if let Some(first) = self.pending.take() {
            return Ok(Some(first));
        }
        loop {
            self.line.clear();
            let read = self.input.reader.read_until(b'\n', &mut self.line);
            if read.map_err(|source| self.input.io(source))? == 0 {
                return Ok(None);
            }
            self.lines += 1;
            if !self.line.trim_ascii().is_empty() {
                let value = serde_json::from_slice(&self.line);
                return value.map(Some).map_err(|error| self.bad_json(&error));
            }
        }
    }

    fn bad_json(&self, error: &serde_json::Error) -> Error {
        // The parser counts lines from 1 in the one line that it sees, which would only confuse.
        let problem = error.to_string().replace(" at line 1 column ", " at character ");
        Error::BadJson { row: self.cell(""), problem }
    }

    /// The values of a row in the order of the columns.
    fn in_order<'a>(&self, fields: &'a [(String, Value)]) -> Result<Vec<&'a Value>> {
        let mut values = vec![&Value::Null; self.columns.len()];
        for (at, (name, value)) in fields.iter().enumerate() {
            let same_place = self.columns.get(at).is_some_and(|column| column.name == *name);
            match if same_place { Some(at) } else { self.places.get(name).copied() } {
                Some(place) => values[place] = value,
                None if self.chosen || self.exclude.contains(name) => {}
                None => return Err(Error::NewField { cell: self.cell(name) }),
            }
        }
        Ok(values)
    }

    fn push(&self, table: &mut Table, row: &Value) -> Result<()> {
        let values = match row {
            Value::Object(fields) if !self.arrays => self.in_order(fields)?,
            Value::List(items) if self.arrays => items.iter().collect(),
            _ => return Err(self.not_a_row("it is not like the first row")),
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
                    return Err(fault.at(self.cell(&self.columns[self.selection.features[0]].name)));
                }
            }
        } else {
            self.push_numbers(table, self.selection.features.iter().map(|&c| values[c]))?;
        }
        if let Some(c) = self.selection.id {
            push_id(table, values[c].text(), || self.cell(&self.columns[c].name))?;
        }
        if let Some(c) = self.selection.label {
            push_label(table, values[c].text());
        }
        table.rows += 1;
        Ok(())
    }

    fn push_numbers<'a>(&self, table: &mut Table, values: impl Iterator<Item = &'a Value>) -> Result<()> {
        for (value, name) in values.zip(&self.names) {
            table.data.push(value.number().map_err(|fault| fault.at(self.cell(name)))?);
        }
        Ok(())
    }

    fn check_length(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected { Ok(()) } else { Err(Error::Ragged { row: self.cell(""), found, expected }) }
    }
}

impl Source for Jsonl {
    fn empty(&self) -> Table {
        Table::without_rows(self.names.clone(), &self.selection)
    }

    fn gauge(&self) -> &Gauge {
        &self.input.gauge
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        for done in 0..rows {
            let Some(row) = self.advance()? else { return Ok(done) };
            self.push(table, &row)?;
            self.rows += 1;
        }
        Ok(rows)
    }
}
