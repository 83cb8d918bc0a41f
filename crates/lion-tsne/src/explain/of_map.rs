//! The columns that a map itself knows: those it was fitted to, as far as they can be had back, and those it shows.

use super::column::{Column, GAP, Values};
use crate::error::Result;
use crate::map::{Map, OriginalValues, ShownColumns, ShownKind, ShownValues};
use crate::preprocess::Metric;
use lion_recipe::Kind;

/// The columns that the rows of a map were given with, and after them the columns that it shows to people. Decoding these may
/// fail.
pub fn map_columns(map: &Map) -> Result<Vec<Column<'_>>> {
    let mut columns = fitted_columns(map);
    if let Some(shown) = map.shown() {
        let others = shown_columns(shown, &columns)?;
        columns.extend(others);
    }
    Ok(columns)
}

/// The columns that a map shows, as numbers, categories or texts; images say nothing. One that the map was also fitted to is
/// there already.
fn shown_columns(shown: &ShownColumns, known: &[Column<'_>]) -> Result<Vec<Column<'static>>> {
    let mut columns = Vec::new();
    for (at, column) in shown.columns().iter().enumerate() {
        let name = &column.name;
        if known.iter().any(|other| other.name == *name) || column.kind == ShownKind::Image {
            continue;
        }
        match shown.values(at)? {
            ShownValues::Text(texts) => {
                let cells: Vec<Option<&str>> =
                    texts.iter().map(|text| text.as_deref().filter(|text| !text.trim().is_empty())).collect();
                columns.extend(Column::of_cells(name, &cells));
            }
            ShownValues::Number(numbers) => {
                let numbers: Vec<f64> = numbers.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                let values = Values::Numbers(numbers.into());
                columns.push(Column { name: name.clone(), is_date: false, values });
            }
            ShownValues::Image(_) => {}
        }
    }
    Ok(columns)
}

/// The columns that a map was fitted to: as they were, or by reconstruction where a PCA came first. None for the cosine
/// metric, which keeps directions only.
fn fitted_columns(map: &Map) -> Vec<Column<'_>> {
    if map.preprocess().metric() == Metric::Cosine {
        return Vec::new();
    }
    let original = map.original();
    let numbers = move |at: usize| match original.values(at) {
        OriginalValues::Numbers(numbers) => numbers,
        OriginalValues::Levels { .. } => Vec::new(),
    };
    let column = |at: usize| {
        let kind = original.kind(at);
        let values = match kind {
            Kind::Boolean => Values::flags(numbers(at).into_iter().map(|value| value >= 0.5)),
            Kind::Category => match original.values(at) {
                OriginalValues::Levels { names, codes } => Values::Categories {
                    names,
                    codes: codes.into_iter().map(|code| code.unwrap_or(GAP)).collect(),
                },
                OriginalValues::Numbers(numbers) => Values::Numbers(numbers.into()),
            },
            _ => Values::Computed(Box::new(move || numbers(at))),
        };
        Column { name: original.name(at), is_date: kind == Kind::Date, values }
    };
    (0..original.len()).map(column).collect()
}
