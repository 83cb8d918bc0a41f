//! The values that rows have: from a table, or from the map itself.

use crate::args::ValueArgs;
use anyhow::{Result, bail, ensure};
use lion_table::{Field, Found, Kind, ReadOptions, SurveyedColumn};
use lion_tsne::Map;
use lion_tsne::explain::{Column, GAP, Values, leave_out_labels, map_columns, text_from};
use lion_tsne::recipe::{self, Cell};
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
            Some(file) => of_table(map, file, args.id.as_deref(), &mut notes)?,
            None => of_map(map, &mut notes)?,
        };
        leave_out_labels(&mut columns, map);
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

/// The columns of a table, in the order of the map's rows, read as `lion fit` reads them.
fn of_table(
    map: &Map,
    file: &Path,
    id: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Vec<Column<'static>>> {
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
    let survey = lion_table::survey(&[file.to_path_buf()], &ReadOptions::default())?;
    let mut columns = Vec::new();
    for (name, texts) in names.iter().zip(texts) {
        let Some(surveyed) = survey.columns.iter().find(|column| column.name == *name) else { continue };
        match &surveyed.found {
            Found::AmbiguousCommas(example) => {
                notes.push(format!(
                    "column {name} is left out: the comma of {example} may be a decimal mark or may set thousands apart"
                ));
                continue;
            }
            Found::MixedDecimals { comma, point } => {
                notes.push(format!(
                    "column {name} is left out: {comma} has a decimal comma and {point} a decimal point"
                ));
                continue;
            }
            Found::Faulty { count, kind, .. } => notes.push(format!(
                "{count} {} of column {name} {} a {} and count as gaps",
                if *count == 1 { "cell" } else { "cells" },
                if *count == 1 { "is not" } else { "are not" },
                kind.as_str()
            )),
            _ => {}
        }
        let texts: Vec<Option<&str>> = order.iter().map(|&row| texts[row].as_deref()).collect();
        columns.extend(column_of(surveyed, &texts));
    }
    Ok(columns)
}

/// The column that these cells are; none if it says nothing.
fn column_of(column: &SurveyedColumn, texts: &[Option<&str>]) -> Option<Column<'static>> {
    let name = column.name.clone();
    let cells = || texts.iter().map(|text| text.map_or(Cell::Missing, |text| column.cell(text)));
    let code = |flag: Option<bool>| flag.map_or(GAP, u32::from);
    let flags = |codes: Vec<u32>| Values::Categories { names: vec!["no".into(), "yes".into()], codes };
    let kind = column.kind();
    let values = match kind {
        Some(recipe::Kind::Boolean) => flags(
            cells()
                .map(|cell| match cell {
                    Cell::Boolean(value) => code(Some(value)),
                    Cell::Number(value) => code(Some(value != 0.0)),
                    _ => GAP,
                })
                .collect(),
        ),
        Some(recipe::Kind::Number | recipe::Kind::Date) => {
            let numbers: Vec<f64> = cells()
                .map(|cell| match cell {
                    Cell::Number(value) | Cell::Date(value) if value.is_finite() => value,
                    _ => f64::NAN,
                })
                .collect();
            match numbers.iter().all(|&number| number.is_nan() || number == 0.0 || number == 1.0) {
                true => flags(
                    numbers.iter().map(|&number| code((!number.is_nan()).then_some(number == 1.0))).collect(),
                ),
                false => Values::Numbers(numbers.into()),
            }
        }
        _ => {
            let texts: Vec<Option<&str>> =
                texts.iter().map(|text| text.filter(|text| !column.cell(text).is_missing())).collect();
            return Column::of_cells(&name, &texts);
        }
    };
    Some(Column { name, is_date: kind == Some(recipe::Kind::Date), values })
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
