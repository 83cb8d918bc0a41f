//! Placed rows as columns.

use crate::arrays::{column, table};
use crate::columns::{PyColumns, broken};
use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema};
use lion_tsne::lion::{ColumnValues, PlacedRow, PlacementColumn};
use lion_tsne::{Map, Placement, Verdict};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// The names of verdicts; the code of a verdict is its number among them.
#[pyfunction]
pub(crate) fn verdicts() -> Vec<&'static str> {
    Verdict::ALL.iter().map(Verdict::as_str).collect()
}

/// The names and types of the columns that placing adds to rows with columns of their own, for a map of so many dimensions.
#[pyfunction]
pub(crate) fn placement_types(dims: usize) -> Vec<(&'static str, &'static str)> {
    let added = PlacementColumn::beside_labels(dims).filter(|column| column.name != "id");
    added.map(|column| (column.name, column.values.type_name())).collect()
}

/// Placed rows, in the order in which they were given, with the columns of `lion place`.
#[pyclass(name = "Placements", extends = PyColumns, frozen, module = "liontsne._native")]
pub(crate) struct PyPlacements {
    /// Row after row.
    places: Vec<f32>,
    dims: usize,
    codes: Vec<i8>,
    /// Row numbers in the map's data.
    nearest: Vec<u32>,
}

impl PyPlacements {
    /// Of rows placed in this map: the columns, and what is beside them.
    pub(crate) fn new(
        map: &Map,
        placements: Vec<Placement>,
        ids: Option<Vec<String>>,
    ) -> PyResult<(PyColumns, Self)> {
        let rows = placements.len();
        if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != rows) {
            return Err(PyValueError::new_err(format!("there are {rows} rows but {} ids", ids.len())));
        }
        let id = |row: usize| match &ids {
            Some(ids) => Cow::Borrowed(ids[row].as_str()),
            None => Cow::Owned(row.to_string()),
        };
        let row = |(row, placement)| PlacedRow::new(map, id(row), placement);
        let placed: Vec<PlacedRow<'_>> = placements.iter().enumerate().map(row).collect();
        let columns: Vec<&PlacementColumn> = PlacementColumn::in_tables(map.dims()).collect();
        let values: PyResult<Vec<ArrayRef>> = columns.iter().map(|column| values(column, &placed)).collect();
        let field = |(column, values): (&&PlacementColumn, &ArrayRef)| {
            Field::new(column.name, values.data_type().clone(), column.optional)
        };
        let values = values?;
        let schema = Schema::new(columns.iter().zip(&values).map(field).collect::<Vec<Field>>());
        let columns = PyColumns(RecordBatch::try_new(Arc::new(schema), values).map_err(broken)?);
        let own = Self {
            places: placements.iter().flat_map(|placement| placement.place.iter().copied()).collect(),
            dims: map.dims(),
            codes: placements.iter().map(|placement| placement.verdict as i8).collect(),
            nearest: placements.iter().map(|placement| placement.nearest).collect(),
        };
        Ok((columns, own))
    }
}

/// The values of a column.
pub(crate) fn values(column: &PlacementColumn, rows: &[PlacedRow<'_>]) -> PyResult<ArrayRef> {
    let placements = rows.iter().map(|row| row.placement);
    Ok(match column.values {
        ColumnValues::Text(value) => texts(rows.iter().map(value))?,
        ColumnValues::F32(value) => Arc::new(Float32Array::from_iter(placements.map(value))),
        ColumnValues::F64(value) => Arc::new(Float64Array::from_iter(placements.map(value))),
        ColumnValues::U32(value) => Arc::new(UInt32Array::from_iter(placements.map(value))),
        ColumnValues::U64(value) => Arc::new(UInt64Array::from_iter(placements.map(value))),
    })
}

/// A column of texts. Arrow counts their bytes with 31 bits.
fn texts<'a>(values: impl Iterator<Item = Option<&'a str>> + Clone) -> PyResult<ArrayRef> {
    let bytes: usize = values.clone().flatten().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(PyValueError::new_err(
            "ids, verdicts or labels of these rows are longer than 2 GB together: place fewer rows at a time",
        ));
    }
    Ok(Arc::new(StringArray::from_iter(values)))
}

#[pymethods]
impl PyPlacements {
    fn __repr__(&self) -> String {
        let dimensions = if self.dims == 1 { "dimension" } else { "dimensions" };
        format!("Placements({} rows in {} {dimensions})", self.codes.len(), self.dims)
    }

    /// The places.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        table(py, self.dims, self.places.clone())
    }

    /// The verdicts: 0 exact, 1 interpolated, 2 beside-outlier, 3 outlier.
    #[getter]
    fn verdict_codes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i8>> {
        column(py, self.codes.clone())
    }

    /// The nearest row of the map, by its number in the data.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        column(py, self.nearest.clone())
    }
}
