//! What people read of a row: the columns that the map keeps for them, and the row's own values by name.

use super::App;
use super::answer::json;
use super::error::Problem;
use super::map::{Wanted, aside};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lion_recipe::Cell;
use lion_tsne::Map;
use lion_tsne::map::{OriginalValues, ShownColumns, ShownValue};
use serde::Deserialize;
use serde_json::{Value, json as object};

/// The most rows in one answer.
const MOST_ROWS: usize = 1000;
/// A row of more columns is no list that people read.
const MOST_VALUES: usize = 100;

/// The columns for people of a row, each with its name, kind and value.
pub(super) fn fields(map: &Map, row: usize) -> Result<Value, Problem> {
    let Some(shown) = map.shown() else { return Ok(object!([])) };
    let values = shown.row(row).map_err(damaged)?;
    let field = |(column, value): (&lion_tsne::map::ShownColumn, ShownValue)| object!({ "name": column.name, "kind": column.kind.as_str(), "value": plain(value) });
    Ok(shown.columns().iter().zip(values).map(field).collect())
}

fn damaged(error: lion_tsne::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// As JSON has it; the bytes of an image as base64.
fn plain(value: ShownValue) -> Value {
    match value {
        ShownValue::Missing => Value::Null,
        ShownValue::Text(text) => text.into(),
        ShownValue::Number(number) => number.into(),
        ShownValue::Image(bytes) => BASE64_STANDARD.encode(bytes).into(),
    }
}

/// The values of a row in the columns and units of the table that the map was fitted to, by name; none where columns have no
/// names or are too many.
pub(super) fn values(map: &Map, row: &[f32]) -> Option<Value> {
    is_readable(map, row.len()).then(|| named(map, &map.original().decoded(row)))
}

/// The same of a row of the map.
pub(super) fn own_values(map: &Map, row: usize) -> Option<Value> {
    is_readable(map, map.preprocess().input_dims()).then(|| named(map, &map.original().row(row)))
}

fn is_readable(map: &Map, columns: usize) -> bool {
    let is_named = map.columns().is_some_and(|names| names.len() == columns);
    is_named && map.original().len() <= MOST_VALUES
}

fn named(map: &Map, values: &[OriginalValues]) -> Value {
    let original = map.original();
    let named = values.iter().enumerate().map(|(column, values)| {
        let value = match values.cell(0, original.kind(column)) {
            Some(Cell::Number(value)) => object!(value as f32),
            Some(Cell::Boolean(value)) => object!(value),
            Some(Cell::Date(days)) => object!(lion_recipe::date_in_words(days)),
            Some(Cell::Text(text)) => object!(text),
            Some(Cell::Missing) | None => Value::Null,
        };
        object!({ "name": original.name(column), "value": value })
    });
    named.collect()
}

/// Which rows are asked for.
#[derive(Deserialize)]
pub(super) struct RowsQuery {
    rows: String,
}

/// The columns for people of many rows: names, and a list of values for each row. Images are left out: each row has its own
/// address.
pub(super) async fn of_rows(
    State(app): State<App>,
    rows: Result<Query<RowsQuery>, QueryRejection>,
    wanted: Wanted,
) -> Result<Response, Problem> {
    let wrong = || {
        Problem::bad_request(format!("rows must be at most {MOST_ROWS} numbers of rows, as in rows=0,7,12"))
    };
    let Query(RowsQuery { rows }) = rows.map_err(|_| wrong())?;
    let rows: Vec<usize> = rows.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    if rows.len() > MOST_ROWS {
        return Err(wrong());
    }
    let answers = app.answers(wanted).await?;
    aside(move || {
        let map = answers.lion().map();
        if let Some(beyond) = rows.iter().find(|&&row| row >= map.rows()) {
            return Err(Problem::not_found(format!(
                "there is no row {beyond}: the map has {} rows, counted from 0",
                map.rows()
            )));
        }
        Ok(json(&table(map.shown(), &rows)?))
    })
    .await?
}

fn table(shown: Option<&ShownColumns>, rows: &[usize]) -> Result<Value, Problem> {
    let Some(shown) = shown else { return Ok(object!({ "columns": [], "rows": [] })) };
    let columns: Vec<&str> = shown.columns().iter().map(|column| column.name.as_str()).collect();
    let row = |&row: &usize| {
        let values = shown.row(row).map_err(damaged)?.into_iter();
        let value = |value| if matches!(value, ShownValue::Image(_)) { Value::Null } else { plain(value) };
        Ok(values.map(value).collect())
    };
    let rows: Vec<Value> = rows.iter().map(row).collect::<Result<_, Problem>>()?;
    Ok(object!({ "columns": columns, "rows": rows }))
}
