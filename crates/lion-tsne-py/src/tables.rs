//! Tables of anything but plain numbers: looked at, planned and made rows by the same code as on the command line.

use crate::arrays::table;
use crate::map::PyMap;
use lion_recipe::{ColumnSummary, Recipe};
use lion_table::{Encoder, Error, Format, Header, Plan, PlanOptions, ReadOptions, SurveyedColumn, Table};
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// What becomes of a table before a map is fitted: `rows`, the names of their `columns`, the `recipe` if it does something, what
/// each column is (`table`), why numbers are scaled (`scale`), `warnings`, and the numbers of the rows that were `kept` if some
/// were left out.
#[pyfunction]
#[pyo3(signature = (bytes, format, *, scale, missing=None))]
pub(crate) fn prepare_table<'py>(
    py: Python<'py>,
    bytes: &[u8],
    format: &str,
    scale: &str,
    missing: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let format = format_of(format)?;
    let refuse = |problem: String| PyValueError::new_err(problem);
    let choice = PlanOptions {
        scale: scale.parse().map_err(refuse)?,
        missing: missing.map(str::parse).transpose().map_err(refuse)?,
        shares_unit: false,
    };
    let (plan, read) = py
        .detach(|| {
            let options = of_x();
            let survey = lion_table::survey_bytes(bytes, format, &options)?;
            let plan = Plan::new(&survey, &options, &choice);
            let read = match plan.problems().next().is_none() && plan.features() > 0 {
                true => Some(lion_table::parse(bytes, format, &plan.options)?),
                false => None,
            };
            Ok::<_, lion_table::Error>((plan, read))
        })
        .map_err(sentence)?;
    let Some(Table { cols, data, columns, ids, .. }) = read else { return Err(refuse(problems(&plan))) };
    let told = PyDict::new(py);
    told.set_item("rows", table(py, cols, data)?)?;
    told.set_item("columns", columns)?;
    told.set_item("recipe", plan.recipe().map(|recipe| PyBytes::new(py, &recipe.to_bytes())))?;
    let of_plan =
        |column: &lion_table::PlannedColumn| (column.name.clone(), column.what, column.words.clone());
    told.set_item("table", plan.columns.iter().map(of_plan).collect::<Vec<_>>())?;
    told.set_item("scale", &plan.scale)?;
    told.set_item("warnings", &plan.warnings)?;
    let numbers = |ids: Vec<String>| ids.iter().filter_map(|id| id.parse().ok()).collect::<Vec<usize>>();
    told.set_item("kept", ids.map(numbers))?;
    Ok(told)
}

/// Why a table cannot be used, column by column.
fn problems(plan: &Plan) -> String {
    let problems: Vec<String> = plan
        .problems()
        .map(|column| format!("column {} ({}): {}", column.name, column.what, column.words))
        .collect();
    match problems.len() {
        0 => "X has no column that a map could be made of".to_owned(),
        1 => format!("X: {}; correct the cells, or drop the column", problems[0]),
        _ => format!(
            "X has columns that cannot be used:\n  {}\ncorrect the cells, or drop the columns",
            problems.join("\n  ")
        ),
    }
}

/// Rows of a table as the recipe of the map makes them, and in what it differs from the table of the map. All of it is looked at
/// for that first, and for how texts are written; without a `look` texts mean what each of them means alone.
#[pyfunction]
#[pyo3(signature = (map, bytes, format, *, look=true))]
pub(crate) fn encode_table<'py>(
    py: Python<'py>,
    map: &PyMap,
    bytes: &[u8],
    format: &str,
    look: bool,
) -> PyResult<(Bound<'py, PyArray2<f32>>, Vec<String>)> {
    let format = format_of(format)?;
    let Some(recipe) = map.0.recipe() else {
        return Err(PyValueError::new_err("the map has no recipe: give it rows of numbers"));
    };
    let read = py.detach(|| encoded(recipe, bytes, format, look)).map_err(sentence)?;
    let (rows, differences) = read;
    Ok((table(py, rows.cols, rows.data)?, differences))
}

fn encoded(
    recipe: &Recipe,
    bytes: &[u8],
    format: Format,
    look: bool,
) -> lion_table::Result<(Table, Vec<String>)> {
    let options = of_x();
    let columns = match look {
        true => lion_table::survey_bytes(bytes, format, &options)?.columns,
        false => Vec::new(),
    };
    let readings = columns.iter().map(|column| (column.name.clone(), column.reading)).collect();
    let encoder = Encoder { recipe: Arc::new(recipe.clone()), readings, drop: false };
    let rows = lion_table::parse(bytes, format, &ReadOptions { encoder: Some(encoder), ..options })?;
    let summaries: Vec<ColumnSummary> =
        columns.into_iter().filter_map(SurveyedColumn::into_summary).collect();
    Ok((rows, recipe.check(&summaries).iter().map(ToString::to_string).collect()))
}

fn format_of(name: &str) -> PyResult<Format> {
    match name {
        "arrow" => Ok(Format::Arrow),
        "csv" => Ok(Format::Csv),
        _ => Err(PyValueError::new_err(format!("a table comes as arrow or csv, not {name:?}"))),
    }
}

/// How the bytes of a frame or array are read. Their text is not the caller's, so messages name no lines of it.
fn of_x() -> ReadOptions {
    ReadOptions { name: Some("X".to_owned()), header: Header::Yes, lineless: true, ..ReadOptions::default() }
}

/// The sentence of an error, with what to do in Python where that is a flag on the command line.
fn sentence(error: Error) -> PyErr {
    PyValueError::new_err(match error {
        Error::NotANumber { cell, value } => {
            format!("{cell} holds {value:?}, which is not a number; correct it or drop the column")
        }
        Error::NotNumeric { file, columns } => {
            let held = columns.iter().map(|(column, what)| format!("column {column} holds {what}"));
            format!("{file}: {}, not numbers; drop the column", held.collect::<Vec<_>>().join(", "))
        }
        Error::ListBesideOthers { file, list, other } => {
            format!(
                "{file}: column {list} holds a list of numbers per row and column {other} is a feature too; drop one of them"
            )
        }
        error => error.to_string(),
    })
}
