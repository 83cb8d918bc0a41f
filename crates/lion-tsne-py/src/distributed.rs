//! Placing in parts that do not know of each other: resolved rows as columns, the outliers among them as bytes, and the
//! positions of all outliers once they are in one place.

use crate::arrays::ArrayRows;
use crate::columns::{PyColumns, broken};
use crate::errors::exception;
use crate::placements::values;
use crate::placer::PyPlacer;
use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use lion_tsne::lion::{PendingOutlier, PlacedRow, PlacementColumn, Resolved};
use lion_tsne::{Error, Lion, Matrix, Placement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::Arc;

fn collected(columns: Vec<(&str, ArrayRef)>) -> PyResult<PyColumns> {
    let columns = columns.into_iter().map(|(name, values)| (name, values, true));
    RecordBatch::try_from_iter_with_nullable(columns).map(PyColumns).map_err(broken)
}

/// Places all rows but outliers: the columns of `lion place` but `id` (`label` is `predicted_label`, because rows may have a
/// label of their own), and `stranger`. An outlier has no place and no group,
/// and the bytes that its position depends on as `stranger`.
#[pyfunction]
pub(crate) fn resolve<'py>(py: Python<'py>, placer: &PyPlacer, x: &Bound<'py, PyAny>) -> PyResult<PyColumns> {
    let (lion, resolved) = placer.resolved(py, x)?;
    py.detach(|| {
        let (placements, pending): (Vec<Placement>, Vec<Option<Vec<u8>>>) =
            resolved.into_iter().map(known).unzip();
        let bytes: usize = pending.iter().flatten().map(Vec::len).sum();
        if i32::try_from(bytes).is_err() {
            return Err(PyValueError::new_err(
                "the outliers among these rows take more than 2 GB: place fewer rows at a time",
            ));
        }
        let mut columns = columns(&lion, &placements, |name| name != "id")?;
        columns.push(("stranger", Arc::new(BinaryArray::from_iter(pending))));
        collected(columns)
    })
}

/// What is said of a row, and its bytes if it waits for a position.
fn known(resolved: Resolved) -> (Placement, Option<Vec<u8>>) {
    match resolved {
        Resolved::Placed(placement) => (placement, None),
        Resolved::Outlier(outlier) => (outlier.placement().clone(), Some(outlier.to_bytes())),
    }
}

/// The positions and groups of outliers from their bytes, in this order: `x, y, (z), group`. These must be all outliers
/// of the job; what they get depends on which they are, not on their order or how often each is there.
#[pyfunction]
pub(crate) fn positions(
    py: Python<'_>,
    placer: &PyPlacer,
    pending: Vec<PyBackedBytes>,
) -> PyResult<PyColumns> {
    let lion = placer.lion()?;
    py.detach(|| {
        let width = lion.map().x().cols();
        let pending: lion_tsne::Result<Vec<PendingOutlier>> =
            pending.iter().map(|bytes| PendingOutlier::from_bytes(bytes, width)).collect();
        let placements = lion.placer().give_positions(pending.map_err(exception)?);
        let coordinates = PlacementColumn::coordinates(lion.map().dims());
        collected(columns(&lion, &placements, |name| name == "group" || coordinates.contains(&name))?)
    })
}

/// The columns of these names.
fn columns(
    lion: &Lion,
    placements: &[Placement],
    is_wanted: impl Fn(&str) -> bool,
) -> PyResult<Vec<(&'static str, ArrayRef)>> {
    let rows: Vec<PlacedRow<'_>> =
        placements.iter().map(|placement| PlacedRow::new(lion.map(), "", placement)).collect();
    let wanted = PlacementColumn::beside_labels(lion.map().dims()).filter(|column| is_wanted(column.name));
    wanted.map(|column| Ok((column.name, values(column, &rows)?))).collect()
}

/// The rows that cannot be placed: the number of each, the column that is to blame if one is (both counted from 0), and
/// what is wrong.
#[pyfunction]
pub(crate) fn problems<'py>(
    py: Python<'py>,
    placer: &PyPlacer,
    x: &Bound<'py, PyAny>,
) -> PyResult<Vec<(usize, Option<usize>, String)>> {
    let (lion, rows) = (placer.lion()?, ArrayRows::of("x", x)?);
    let (cols, values) = (rows.cols(), rows.values()?);
    py.detach(|| {
        let whole = Matrix::new(rows_of(values, cols), cols, values.to_vec()).map_err(exception)?;
        if lion.check(&whole).is_ok() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (number, row) in values.chunks_exact(cols.max(1)).enumerate() {
            let row = Matrix::new(1, cols, row.to_vec()).map_err(exception)?;
            if let Err(error) = lion.check(&row) {
                let (column, problem) = problem(error)?;
                found.push((number, column, problem));
            }
        }
        Ok(found)
    })
}

fn rows_of(values: &[f32], cols: usize) -> usize {
    values.len() / cols.max(1)
}

/// The column to blame, and what is wrong; an error that is not one row's stays one.
fn problem(error: Error) -> PyResult<(Option<usize>, String)> {
    match error {
        Error::Unusable { row: Some(_), column, fault } => Ok((column, fault.to_string())),
        other => Err(exception(other)),
    }
}
