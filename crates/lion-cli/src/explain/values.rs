//! The values that rows have: from a table, or from the map itself.

use crate::args::ValueArgs;
use anyhow::{Result, bail, ensure};
use lion_table::{Field, Kind};
use lion_tsne::Map;
use lion_tsne::explain::{Column, map_columns, text_from};
use std::collections::HashMap;
use std::path::Path;

/// The columns of a map's rows, at most one of them texts, and what to say of how they were had.
pub(crate) struct RowValues<'a> {
    columns: Vec<Column<'a>>,
    /// Sentences for the reader.
    notes: Vec<String>,
}

impl<'a> RowValues<'a> {
    /// All values that can be had.
    pub(crate) fn read(map: &'a Map, args: &ValueArgs) -> Result<Self> {
        let mut notes = Vec::new();
        let mut columns = match &args.rows {
            Some(file) => of_table(map, file, args.id.as_deref())?,
            None => of_map(map, &mut notes)?,
        };
        text_from(&mut columns, args.text.as_deref())?;
        Ok(Self { columns, notes })
    }

    /// What the reader should know, a line each.
    pub(crate) fn notes(&self) -> String {
        self.notes.iter().map(|note| format!("note: {note}\n")).collect()
    }

    pub(crate) fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }
}

/// What the map itself has.
fn of_map<'a>(map: &'a Map, notes: &mut Vec<String>) -> Result<Vec<Column<'a>>> {
    if let Some(why) = map.original().approximate() {
        notes.push(format!("{why}; --rows TABLE has them as they were"));
    }
    Ok(map_columns(map)?)
}

/// The columns of a table, in the order of the map's rows.
fn of_table(map: &Map, file: &Path, id: Option<&str>) -> Result<Vec<Column<'static>>> {
    // A list of numbers has no value that could be compared or shown.
    let names = lion_table::cell_column_names(file)?;
    ensure!(!names.is_empty(), "{} has no columns with names: give a table that has", file.display());
    let fields: Vec<Field> = names.iter().map(|name| Field::nullable(name, Kind::Text)).collect();
    let read = lion_table::read_columns(file, &fields)?;
    let texts: Vec<Vec<Option<String>>> = read
        .into_iter()
        .map(|column| match column {
            lion_table::Column::Text(texts) => texts,
            _ => Vec::new(),
        })
        .collect();
    let order = order(map, file, &names, &texts, id)?;
    let column = |(name, texts): (&String, Vec<Option<String>>)| {
        let cells: Vec<Option<&str>> =
            order.iter().map(|&row| texts[row].as_deref().filter(|text| !text.trim().is_empty())).collect();
        Column::of_cells(name, &cells)
    };
    Ok(names.iter().zip(texts).filter_map(column).collect())
}

/// For each row of the map the row of the table.
fn order(
    map: &Map,
    file: &Path,
    names: &[String],
    texts: &[Vec<Option<String>>],
    id: Option<&str>,
) -> Result<Vec<usize>> {
    let (shown, rows) = (file.display(), texts.first().map_or(0, Vec::len));
    if !map.has_ids() && id.is_none() {
        ensure!(
            rows == map.rows(),
            "{shown} has {rows} rows, and the map {}: without ids they must be the same rows in the same order",
            map.rows()
        );
        return Ok((0..rows).collect());
    }
    let wanted = |at: usize| {
        let known: HashMap<&str, usize> =
            texts[at].iter().enumerate().filter_map(|(row, text)| Some((text.as_deref()?, row))).collect();
        let find = |row: usize| known.get(&*map.id(row)).copied().ok_or(row);
        (0..map.rows()).map(find).collect::<std::result::Result<Vec<usize>, usize>>()
    };
    match id {
        Some(id) => {
            let Some(at) = names.iter().position(|name| name == id) else {
                bail!("{shown} has no column {id}; it has {}", names.join(", "));
            };
            wanted(at)
                .or_else(|row| bail!("{shown} has no row with {id} {:?}, which the map has", map.id(row)))
        }
        None => match (0..names.len()).find_map(|at| wanted(at).ok()) {
            Some(order) => Ok(order),
            None => bail!("{shown} has no column that holds every id of the map: name the one with --id"),
        },
    }
}
