//! Clusters explained: columns in, the summary as JSON out.

use crate::errors::exception;
use crate::map::PyMap;
use lion_tsne::explain::{
    Column, ExplainOptions, ExplainSummary, Explanation, Values, explain, explain_selection,
    leave_out_labels, map_columns, text_from,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::borrow::Cow;

/// A column: numbers, NaN where one is missing, or cells that are taken for what they are.
#[derive(FromPyObject)]
pub(crate) enum CellValues {
    Numbers(Vec<f64>),
    Cells(Vec<Option<String>>),
}

/// The clusters of each row.
type Levels = Vec<Vec<Option<u32>>>;

/// Explains the clusters of a map, or the rows that are selected, by columns (those of the map where there are none): the
/// summary as JSON, and for each level the cluster of each row.
#[pyfunction]
#[pyo3(signature = (map, *, columns=None, text=None, by="auto", rows=None))]
pub(crate) fn explained(
    py: Python<'_>,
    map: &PyMap,
    columns: Option<Vec<(String, CellValues)>>,
    text: Option<String>,
    by: &str,
    rows: Option<Vec<u32>>,
) -> PyResult<(String, Levels)> {
    let options = ExplainOptions { by: by.parse().map_err(exception)?, ..ExplainOptions::default() };
    let map = map.0.clone();
    let work = move || {
        let mut columns = match columns {
            Some(columns) => columns.into_iter().filter_map(column).collect(),
            None => map_columns(&map)?,
        };
        leave_out_labels(&mut columns, &map);
        text_from(&mut columns, text.as_deref())?;
        match rows {
            Some(rows) => {
                let found = explain_selection(&map, &columns, &rows, &options)?;
                Ok((ExplainSummary::of_selection(&map, &found), Vec::new()))
            }
            None => {
                let found: Explanation = explain(&map, &columns, &options)?;
                Ok((ExplainSummary::new(&map, &found), found.levels))
            }
        }
    };
    let (summary, levels) = py.detach(work).map_err(exception)?;
    let json = serde_json::to_string(&summary).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((json, levels))
}

fn column((name, values): (String, CellValues)) -> Option<Column<'static>> {
    match values {
        CellValues::Numbers(numbers) => {
            Some(Column { name, is_date: false, values: Values::Numbers(Cow::Owned(numbers)) })
        }
        CellValues::Cells(cells) => {
            let cells: Vec<Option<&str>> =
                cells.iter().map(|cell| cell.as_deref().filter(|cell| !cell.trim().is_empty())).collect();
            Column::of_cells(&name, &cells)
        }
    }
}
