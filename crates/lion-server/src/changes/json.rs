//! JSON and JSON lines: `{"id": …, "x": […], "label": …, "t": …}` or `{"delete": id}`. `x` may also be an object of columns,
//! `{"age": 40, "plan": "paid"}`; a map with a recipe makes numbers of their values. All columns of the map must be there, null where
//! a value is missing; others are ignored.
//!
//! Values go straight into the rows. While they do, [`Reading`] remembers where the parser is, so that an error names
//! row and column without a second pass.

use super::{BadChanges, RowShape, check_id, check_name};
use lion_tsne::live::{Arrival, Change};
use lion_tsne::recipe::Cell;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use std::cell::RefCell;
use std::fmt;

/// How many absent columns a refusal names.
const NAMED_COLUMNS: usize = 5;

/// Reads an array of changes, or one change alone.
pub fn parse_json(bytes: &[u8], shape: &RowShape) -> Result<Vec<Change>, BadChanges> {
    let (bytes, reading) = (without_mark(bytes), Reading::new(shape));
    match bytes.trim_ascii_start().first() {
        Some(b'[') => reading.finish(bytes, Changes(&reading)),
        Some(b'{') => {
            reading.row.set(Some(0));
            reading.finish(bytes, One(&reading)).map(|change| vec![change])
        }
        _ => Err(BadChanges::Malformed(
            "the body must be a JSON array of points, [{\"id\": …, \"x\": […]}, …], or one point".to_owned(),
        )),
    }
}

/// Reads one change per line; blank lines are none.
pub fn parse_lines(bytes: &[u8], shape: &RowShape) -> Result<Vec<Change>, BadChanges> {
    let reading = Reading::new(shape);
    let mut changes = Vec::new();
    for (line, text) in without_mark(bytes).split(|&byte| byte == b'\n').enumerate() {
        if text.trim_ascii().is_empty() {
            continue;
        }
        if changes.len() == shape.rows {
            return Err(shape.too_many_rows());
        }
        reading.row.set(Some(changes.len()));
        reading.line.set(Some(line + 1));
        changes.push(reading.finish(text, One(&reading))?);
    }
    Ok(changes)
}

/// Reads one change, which is line `line` of what somebody reads line by line; it counts from 1.
pub fn parse_line(bytes: &[u8], line: u64, shape: &RowShape) -> Result<Change, BadChanges> {
    let reading = Reading::new(shape);
    reading.line.set(Some(usize::try_from(line).unwrap_or(usize::MAX)));
    reading.finish(if line == 1 { without_mark(bytes) } else { bytes }, One(&reading))
}

/// Text without the mark that some programs begin UTF-8 with.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Where the parser is, and what it found wrong there.
struct Reading<'a> {
    shape: &'a RowShape,
    /// Counted from 0; nothing before the first.
    row: std::cell::Cell<Option<usize>>,
    /// The line of a body of lines, counted from 1.
    line: std::cell::Cell<Option<usize>>,
    part: std::cell::Cell<BodyPart>,
    refusal: RefCell<Option<BadChanges>>,
}

/// A part of a row.
#[derive(Clone, Copy, PartialEq)]
enum BodyPart {
    Whole,
    Field(&'static str),
    /// A value by its number, counted from 0.
    Value(usize),
    /// A column of the table that the map was fitted to, by its number.
    Column(usize),
}

impl<'a> Reading<'a> {
    fn new(shape: &'a RowShape) -> Self {
        Self {
            shape,
            row: std::cell::Cell::new(None),
            line: std::cell::Cell::new(None),
            part: std::cell::Cell::new(BodyPart::Whole),
            refusal: RefCell::new(None),
        }
    }

    /// Lets `seed` read all of `bytes`.
    fn finish<'de, S: DeserializeSeed<'de>>(
        &self,
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, BadChanges> {
        self.part.set(BodyPart::Whole);
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
        read.map_err(|error| self.explain(bytes, &error))
    }

    /// `row 3 (line 5), column width`.
    fn place(&self) -> String {
        let row = match (self.row.get(), self.line.get()) {
            (Some(row), Some(line)) => format!("row {row} (line {line})"),
            (Some(row), None) => format!("row {row}"),
            (None, Some(line)) => format!("line {line}"),
            (None, None) => "the body".to_owned(),
        };
        match self.part.get() {
            BodyPart::Whole => row,
            BodyPart::Field(name) => format!("{row}, field {name}"),
            BodyPart::Value(at) => format!("{row}, column {}", self.shape.column(at)),
            BodyPart::Column(at) => {
                format!("{row}, column {}", self.shape.sent_columns().get(at).copied().unwrap_or_default())
            }
        }
    }

    /// Stops the parser with a sentence about the place where it is.
    fn refuse<E: serde::de::Error>(&self, problem: impl fmt::Display) -> E {
        self.stop(BadChanges::Unprocessable(format!("{} {problem}", self.place())))
    }

    fn stop<E: serde::de::Error>(&self, refusal: BadChanges) -> E {
        *self.refusal.borrow_mut() = Some(refusal);
        E::custom("")
    }

    /// The refusal behind an error of the parser.
    fn explain(&self, bytes: &[u8], error: &serde_json::Error) -> BadChanges {
        if let Some(refusal) = self.refusal.take() {
            return refusal;
        }
        // What the parser says ends in " at line 1 column 9".
        let said = error.to_string();
        let problem = said.rsplit_once(" at line ").map_or(said.as_str(), |(problem, _)| problem);
        let at = offset(bytes, error.line(), error.column());
        match error.classify() {
            Category::Data => BadChanges::Unprocessable(format!("{}: {problem}", self.place())),
            _ if self.part.get() != BodyPart::Whole && problem.starts_with("number out of range") => {
                BadChanges::Unprocessable(format!("{} is too large for a 32-bit float", self.place()))
            }
            _ => match not_finite(bytes, at).filter(|_| self.part.get() != BodyPart::Whole) {
                Some(value) => BadChanges::Unprocessable(format!(
                    "{} is {value}; every value must be a finite number: fill it or remove the row",
                    self.place()
                )),
                None => BadChanges::Malformed(format!(
                    "{} is not JSON: {problem} (byte {})",
                    self.place(),
                    at + 1
                )),
            },
        }
    }
}

/// Where in the bytes a line and column of the parser's are.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').take(line.saturating_sub(1));
    let start: usize = lines.map(<[u8]>::len).sum();
    (start + column.saturating_sub(1)).min(bytes.len())
}

/// The word around `at`, if it is one that other languages write for a number that is not finite.
fn not_finite(bytes: &[u8], at: usize) -> Option<&str> {
    let ends =
        |byte: &u8| matches!(byte, b',' | b'[' | b']' | b':' | b'{' | b'}') || byte.is_ascii_whitespace();
    let (before, after) = bytes.split_at_checked(at)?;
    // The longest such word is -Infinity; the parser may stand anywhere in it or just after it.
    let near = before.len().saturating_sub(12);
    let start = before[near..].iter().rposition(ends).map_or(near, |found| near + found + 1);
    let end = at + after.iter().take(12).position(ends).unwrap_or(after.len().min(12));
    let word = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    let plain = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    matches!(plain.as_str(), "nan" | "inf" | "infinity").then_some(word)
}

/// Reads an array of changes.
struct Changes<'a>(&'a Reading<'a>);

impl<'de> DeserializeSeed<'de> for Changes<'_> {
    type Value = Vec<Change>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Changes<'_> {
    type Value = Vec<Change>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of points")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut changes = Vec::new();
        self.0.row.set(Some(0));
        while let Some(change) = items.next_element_seed(One(self.0))? {
            if changes.len() == self.0.shape.rows {
                return Err(self.0.stop(self.0.shape.too_many_rows()));
            }
            changes.push(change);
            self.0.row.set(Some(changes.len()));
            self.0.part.set(BodyPart::Whole);
        }
        Ok(changes)
    }
}

/// Reads one change.
struct One<'a>(&'a Reading<'a>);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Change;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Change, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The fields of a change as far as they came.
#[derive(Default)]
struct Fields {
    id: Option<String>,
    row: Option<Vec<f32>>,
    label: Option<Option<String>>,
    t: Option<Option<f64>>,
    delete: Option<String>,
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = Change;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a point {\"id\": …, \"x\": […]} or {\"delete\": id}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Change, A::Error> {
        let reading = self.0;
        let mut fields = Fields::default();
        while let Some(name) = map.next_key_seed(Name(reading))? {
            reading.part.set(BodyPart::Field(name));
            let twice = match name {
                "id" => fields.id.replace(map.next_value_seed(Id(reading))?).is_some(),
                "x" => fields.row.replace(map.next_value_seed(Row(reading))?).is_some(),
                "label" => fields.label.replace(map.next_value_seed(Label(reading))?).is_some(),
                "t" => fields.t.replace(map.next_value::<Option<f64>>()?).is_some(),
                _ => fields.delete.replace(map.next_value_seed(Id(reading))?).is_some(),
            };
            if twice {
                return Err(reading.refuse("is there twice; it may have one value"));
            }
            reading.part.set(BodyPart::Whole);
        }
        fields.change(reading)
    }
}

impl Fields {
    fn change<E: serde::de::Error>(self, reading: &Reading<'_>) -> Result<Change, E> {
        let t = self.t.flatten();
        match (self.delete, self.id, self.row) {
            (Some(id), None, None) if self.label.is_none() => Ok(Change::Delete { id, t }),
            (Some(_), ..) => {
                Err(reading.refuse("has delete beside other fields; send two rows, one for each"))
            }
            (None, Some(id), Some(row)) => {
                Ok(Change::Upsert(Arrival { id, row, label: self.label.flatten(), t }))
            }
            (None, None, _) => Err(reading.refuse("has no id; every point needs one, or delete with an id")),
            (None, _, None) => Err(reading.refuse("has no x, which is the list of its values")),
        }
    }
}

/// A seed that reads one value of one field.
macro_rules! seed {
    ($seed:ident -> $value:ty, $method:ident) => {
        struct $seed<'a>(&'a Reading<'a>);

        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

seed!(Name -> &'static str, deserialize_str);
seed!(Id -> String, deserialize_any);
seed!(Label -> Option<String>, deserialize_any);
seed!(Row -> Vec<f32>, deserialize_any);
seed!(Number -> f32, deserialize_any);

impl<'de> Visitor<'de> for Name<'_> {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<&'static str, E> {
        let known = ["id", "x", "label", "t", "delete"].into_iter().find(|&known| known == name);
        known.ok_or_else(|| {
            let name: String = name.chars().take(40).collect();
            self.0.refuse(format_args!("has a field {name:?}; the fields are id, x, label, t and delete"))
        })
    }
}

impl<'de> Visitor<'de> for Id<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a whole number")
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<String, E> {
        check_id(id).map_err(|problem| self.0.refuse(problem))?;
        Ok(id.to_owned())
    }

    fn visit_u64<E>(self, id: u64) -> Result<String, E> {
        Ok(id.to_string())
    }

    fn visit_i64<E>(self, id: i64) -> Result<String, E> {
        Ok(id.to_string())
    }
}

impl<'de> Visitor<'de> for Label<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a whole number")
    }

    fn visit_str<E: serde::de::Error>(self, label: &str) -> Result<Option<String>, E> {
        check_name("a label", label).map_err(|problem| self.0.refuse(problem))?;
        Ok(Some(label.to_owned()).filter(|label| !label.is_empty()))
    }

    fn visit_u64<E>(self, label: u64) -> Result<Option<String>, E> {
        Ok(Some(label.to_string()))
    }

    fn visit_i64<E>(self, label: i64) -> Result<Option<String>, E> {
        Ok(Some(label.to_string()))
    }

    fn visit_bool<E>(self, label: bool) -> Result<Option<String>, E> {
        Ok(Some(label.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = Vec<f32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Vec<f32>, A::Error> {
        let (reading, columns) = (self.0, self.0.shape.sent_columns());
        if columns.is_empty() {
            return Err(reading
                .refuse("is an object, and the map has no names for its columns: send a list of numbers"));
        }
        let (mut cells, mut unknown) = (vec![None; columns.len()], Vec::new());
        while let Some(name) = fields.next_key::<String>()? {
            let Some(at) = columns.iter().position(|column| *column == name) else {
                fields.next_value::<IgnoredAny>()?;
                unknown.push(name);
                continue;
            };
            reading.part.set(BodyPart::Column(at));
            if cells[at].replace(fields.next_value_seed(ColumnValue)?).is_some() {
                return Err(reading.refuse("is there twice; it may have one value"));
            }
        }
        let absent = columns.iter().zip(&cells).filter(|(_, cell)| cell.is_none()).map(|(name, _)| *name);
        let absent: Vec<&str> = absent.collect();
        if !absent.is_empty() {
            reading.part.set(BodyPart::Field("x"));
            return Err(reading.refuse(without_columns(&absent, &unknown)));
        }
        encoded(reading, cells.into_iter().flatten().collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<f32>, A::Error> {
        let (reading, width) = (self.0, self.0.shape.width);
        if reading.shape.recipe.is_some() {
            return columns_in_order(reading, items);
        }
        let mut row = Vec::with_capacity(width);
        for at in 0..width {
            reading.part.set(BodyPart::Value(at));
            match items.next_element_seed(Number(reading))? {
                Some(value) => row.push(value),
                None => break,
            }
        }
        reading.part.set(BodyPart::Whole);
        let mut found = row.len();
        while items.next_element::<IgnoredAny>()?.is_some() {
            found += 1;
        }
        if found != width {
            return Err(reading.stop(reading.shape.wrong_width(&reading.place(), found)));
        }
        reading.part.set(BodyPart::Field("x"));
        Ok(row)
    }
}

/// The sentence for columns that are not there, with a name that may be one of them in other letters. A gap is null: were it
/// the absence of a name, a misspelt column would be filled in, and nobody would notice.
fn without_columns(absent: &[&str], unknown: &[String]) -> String {
    let plain = |name: &str| name.trim().to_lowercase();
    let (named, more) = absent.split_at(absent.len().min(NAMED_COLUMNS));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let alike = absent.iter().find_map(|name| {
        let like = unknown.iter().find(|unknown| plain(unknown) == plain(name))?;
        Some(format!("{like:?} is not {name:?}, as names are matched exactly"))
    });
    format!(
        "has no column {}{more}, which the map was fitted to; {}",
        named.join(", "),
        alike.as_deref().unwrap_or("send null where a value is missing")
    )
}

/// A list of the columns of the table, in their order.
fn columns_in_order<'de, A: SeqAccess<'de>>(
    reading: &Reading<'_>,
    mut items: A,
) -> Result<Vec<f32>, A::Error> {
    let (mut cells, wanted) = (Vec::new(), reading.shape.sent_columns().len());
    while cells.len() < wanted {
        reading.part.set(BodyPart::Column(cells.len()));
        match items.next_element_seed(ColumnValue)? {
            Some(cell) => cells.push(cell),
            None => break,
        }
    }
    let mut found = cells.len();
    while items.next_element::<IgnoredAny>()?.is_some() {
        found += 1;
    }
    if found != wanted {
        reading.part.set(BodyPart::Whole);
        return Err(reading.refuse(format_args!(
            "has {found} values; the table that this map was fitted to has {wanted} columns: {}",
            reading.shape.sent_columns().join(", ")
        )));
    }
    encoded(reading, cells)
}

/// The numbers of a row of columns.
fn encoded<E: serde::de::Error>(reading: &Reading<'_>, cells: Vec<Cell<'static>>) -> Result<Vec<f32>, E> {
    let mut row = Vec::with_capacity(reading.shape.width);
    if let Some(recipe) = &reading.shape.recipe {
        let cells: Vec<Cell<'_>> = cells
            .into_iter()
            .zip(recipe.columns())
            .map(|(cell, column)| match cell {
                Cell::Text(text) => lion_table::cell_of_text(&text, column.kind()),
                cell => cell,
            })
            .collect();
        return match recipe.encode(&cells, &mut row) {
            Ok(()) => {
                reading.part.set(BodyPart::Field("x"));
                Ok(row)
            }
            Err(error) => {
                reading.part.set(BodyPart::Column(error.column));
                Err(reading.refuse(error.why))
            }
        };
    }
    for (at, cell) in cells.into_iter().enumerate() {
        reading.part.set(BodyPart::Column(at));
        match cell {
            Cell::Number(value) => row.push(Number(reading).visit_f64(value)?),
            Cell::Boolean(value) => row.push(f32::from(u8::from(value))),
            Cell::Text(text) => row.push(Number(reading).visit_str(&text)?),
            // JSON has no dates.
            Cell::Missing | Cell::Date(_) => row.push(Number(reading).visit_unit()?),
        }
    }
    reading.part.set(BodyPart::Field("x"));
    Ok(row)
}

/// Reads the value of a column, whatever it is.
struct ColumnValue;

impl<'de> DeserializeSeed<'de> for ColumnValue {
    type Value = Cell<'static>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cell<'static>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ColumnValue {
    type Value = Cell<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true, false or null")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell<'static>, E> {
        Ok(Cell::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Cell<'static>, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell<'static>, E> {
        Ok(Cell::Number(value as f64))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell<'static>, E> {
        Ok(Cell::Boolean(value))
    }

    fn visit_unit<E>(self) -> Result<Cell<'static>, E> {
        Ok(Cell::Missing)
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell<'static>, E> {
        Ok(Cell::Text(text.to_owned().into()))
    }
}

impl<'de> Visitor<'de> for Number<'_> {
    type Value = f32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<f32, E> {
        let narrow = value as f32;
        if narrow.is_finite() {
            return Ok(narrow);
        }
        Err(self.0.refuse(format_args!("is {value:e}, too large for a 32-bit float; scale the column down")))
    }

    fn visit_u64<E>(self, value: u64) -> Result<f32, E> {
        Ok(value as f32)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f32, E> {
        Ok(value as f32)
    }

    fn visit_bool<E>(self, value: bool) -> Result<f32, E> {
        Ok(f32::from(u8::from(value)))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<f32, E> {
        Err(self.0.refuse("is null; every value must be a finite number: fill it or remove the row"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<f32, E> {
        let text: String = text.chars().take(40).collect();
        Err(self.0.refuse(format_args!("holds {text:?}, which is not a number; correct it")))
    }
}
