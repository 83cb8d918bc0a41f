//! What users of a recipe rely on, file by file of the crate.

mod cells;
mod check;
mod dates;
mod encode;
mod fit;
mod levels;
mod numbers;
mod recipe;
mod words;

use std::borrow::Cow;

use lion_recipe::{Cell, ColumnSummary, Kind, Missing, Recipe, RecipeOptions, Scale};

fn summary(name: &str, kind: Kind, cells: &[Cell<'_>]) -> ColumnSummary {
    let mut summary = ColumnSummary::new(name, kind);
    (0..).zip(cells).for_each(|(row, cell)| summary.add(row, cell));
    summary
}

fn numbers(name: &str, values: &[f64]) -> ColumnSummary {
    summary(name, Kind::Number, &values.iter().map(|&value| Cell::Number(value)).collect::<Vec<_>>())
}

fn dates(name: &str, days: &[f64]) -> ColumnSummary {
    summary(name, Kind::Date, &days.iter().map(|&day| Cell::Date(day)).collect::<Vec<_>>())
}

fn booleans(name: &str, values: &[bool]) -> ColumnSummary {
    summary(name, Kind::Boolean, &values.iter().map(|&value| Cell::Boolean(value)).collect::<Vec<_>>())
}

/// Texts, each so many times; an empty one is a gap.
fn category(name: &str, counts: &[(&str, usize)]) -> ColumnSummary {
    let cell = |text| if str::is_empty(text) { Cell::Missing } else { Cell::Text(Cow::Borrowed(text)) };
    let cells: Vec<Cell<'_>> = counts.iter().flat_map(|&(text, count)| vec![cell(text); count]).collect();
    summary(name, Kind::Category, &cells)
}

fn options(scale: Scale, missing: Missing) -> RecipeOptions {
    RecipeOptions { scale, missing, shares_unit: false }
}

/// The recipe that columns get, as they are and with medians in gaps.
fn plain(columns: &[ColumnSummary]) -> Recipe {
    Recipe::fit(columns, &options(Scale::None, Missing::Median)).recipe
}

fn encoded(recipe: &Recipe, cells: &[Cell<'_>]) -> Vec<f32> {
    let mut row = Vec::new();
    recipe.encode(cells, &mut row).unwrap();
    row
}
