//! From bytes to changes of the live map: the body of a request, or a line of `lion stream`. Any bytes are changes or a refusal,
//! never a panic.

mod arrow;
mod json;

use lion_tsne::Recipe;
use lion_tsne::live::{Arrival, Change};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use arrow::parse_arrow;
pub use json::{parse_json, parse_line, parse_lines};

/// The most bytes of an id or a label.
const LONGEST_NAME: usize = 256;

/// What rows must look like: the map's own columns, and how many rows may come at once.
#[derive(Clone, Debug)]
pub struct RowShape {
    /// Number of values in a row.
    pub width: usize,
    /// Names of the columns, where the map knows them.
    pub columns: Option<Vec<String>>,
    /// What makes rows of the columns of a table, in a map that has a recipe: rows come as such columns then.
    pub recipe: Option<Arc<Recipe>>,
    /// The most rows in one body.
    pub rows: usize,
    /// The most bytes that the values of one body may become when they are decompressed.
    pub bytes: usize,
}

/// Why a body or a line cannot be used, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadChanges {
    /// It is not what its content type says.
    Malformed(String),
    /// It can be read, but a row in it is none of this map.
    Unprocessable(String),
    /// It contradicts itself.
    Conflict(String),
    /// It has more rows or values than are taken at once.
    TooMany(String),
}

impl fmt::Display for BadChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(problem) | Self::Unprocessable(problem) => f.write_str(problem),
            Self::Conflict(problem) | Self::TooMany(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for BadChanges {}

impl RowShape {
    /// The name of a column by its number, counted from 0.
    pub fn column(&self, at: usize) -> String {
        column_name(self.columns.as_ref().and_then(|columns| columns.get(at)).map(String::as_str), at)
    }

    /// The columns of a row as it is sent, by name: those of the table that the map was fitted to.
    fn sent_columns(&self) -> Vec<&str> {
        match &self.recipe {
            Some(recipe) => recipe.columns().iter().map(|column| column.name.as_str()).collect(),
            None => self.columns.iter().flatten().map(String::as_str).collect(),
        }
    }

    fn too_many_rows(&self) -> BadChanges {
        BadChanges::TooMany(format!("the body has more than {} rows; send it in parts", self.rows))
    }

    /// The sentence for a row of another width than the map's.
    fn wrong_width(&self, row: &str, found: usize) -> BadChanges {
        BadChanges::Unprocessable(format!(
            "{row} has {found} values; the rows of this map have {}, in the same order",
            self.width
        ))
    }
}

/// What messages call a column, whether or not the map knows its name.
pub(crate) fn column_name(name: Option<&str>, at: usize) -> String {
    name.map_or_else(|| format!("x[{}]", at + 1), str::to_owned)
}

/// Says what is wrong with an id.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    check_name("an id", id)?;
    if id.is_empty() { Err("is empty; every point needs an id of its own".to_owned()) } else { Ok(()) }
}

/// Says what is wrong with an id or a label.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), String> {
    if name.len() > LONGEST_NAME {
        return Err(format!("has {} bytes; {what} may have {LONGEST_NAME}", name.len()));
    }
    match name.chars().find(|character| character.is_control()) {
        Some(control) => Err(format!("holds the control character {:?}; {what} may have none", control)),
        None => Ok(()),
    }
}

/// The points of a snapshot: only points, and each id once.
pub(crate) fn snapshot_of(changes: Vec<Change>) -> Result<Vec<Arrival>, BadChanges> {
    let arrival = |(row, change)| match change {
        Change::Upsert(arrival) => Ok(arrival),
        Change::Delete { id, .. } => Err(BadChanges::Unprocessable(format!(
            "row {row} deletes {id:?}; a snapshot has only points, and removes those that are not in it"
        ))),
    };
    let arrivals: Vec<Arrival> = (0..).zip(changes).map(arrival).collect::<Result<_, _>>()?;
    let mut seen = HashMap::with_capacity(arrivals.len());
    for (row, arrival) in (0..).zip(&arrivals) {
        if let Some(first) = seen.insert(arrival.id.as_str(), row) {
            let id = &arrival.id;
            let problem =
                format!("rows {first} and {row} have the same id {id:?}; a snapshot has each point once");
            return Err(BadChanges::Conflict(problem));
        }
    }
    Ok(arrivals)
}
