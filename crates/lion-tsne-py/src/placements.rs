//! Placed rows as columns, which others read through Arrow's C interface without a copy.

use crate::arrays::{column, table};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use lion_tsne::lion::{ColumnValues, PlacedRow, PlacementColumn};
use lion_tsne::{Map, Placement, Verdict};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::borrow::Cow;
use std::sync::Arc;

/// The names of verdicts; the code of a verdict is its number among them.
#[pyfunction]
pub(crate) fn verdicts() -> Vec<&'static str> {
    Verdict::ALL.iter().map(Verdict::as_str).collect()
}

/// The names and types of the columns that placing adds to rows, for a map of so many dimensions.
#[pyfunction]
pub(crate) fn placement_types(dims: usize) -> Vec<(&'static str, &'static str)> {
    let added = PlacementColumn::in_tables(dims).filter(|column| column.name != "id");
    added.map(|column| (column.name, column.values.type_name())).collect()
}

/// Placed rows, in the order in which they were given, with the columns of `lion place`. pyarrow, polars, pandas and
/// DuckDB read them through `__arrow_c_stream__`.
#[pyclass(name = "Placements", frozen, module = "liontsne._native")]
pub(crate) struct PyPlacements {
    batch: RecordBatch,
    /// Row after row.
    places: Vec<f32>,
    dims: usize,
    codes: Vec<i8>,
    /// Row numbers in the map's data.
    nearest: Vec<u32>,
}

impl PyPlacements {
    /// Of rows placed in this map.
    pub(crate) fn new(map: &Map, placements: Vec<Placement>, ids: Option<Vec<String>>) -> PyResult<Self> {
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
        Ok(Self {
            batch: RecordBatch::try_new(Arc::new(schema), values).map_err(broken)?,
            places: placements.iter().flat_map(|placement| placement.place.iter().copied()).collect(),
            dims: map.dims(),
            codes: placements.iter().map(|placement| placement.verdict as i8).collect(),
            nearest: placements.iter().map(|placement| placement.nearest).collect(),
        })
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
fn texts<'a>(values: impl Iterator<Item = &'a str> + Clone) -> PyResult<ArrayRef> {
    let bytes: usize = values.clone().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(PyValueError::new_err(
            "ids or verdicts of these rows are longer than 2 GB together: place fewer rows at a time",
        ));
    }
    Ok(Arc::new(StringArray::from_iter_values(values)))
}

/// A stream of one batch, as Arrow's C interface has it.
pub(crate) fn stream<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

pub(crate) fn broken(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl PyPlacements {
    /// The table as a stream of one batch. Other types than its own are left to the one who asks for them.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream(py, &self.batch)
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let dimensions = if self.dims == 1 { "dimension" } else { "dimensions" };
        format!("Placements({} rows in {} {dimensions})", self.__len__(), self.dims)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
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

    /// A column by its name: texts, or numbers with NaN, or -1 of whole numbers, where a row has none.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(values) = self.batch.column_by_name(name) else {
            return Err(PyAttributeError::new_err(format!("there is no column {name}")));
        };
        Ok(match values.data_type() {
            DataType::Float32 => column(py, numbers::<Float32Type>(values, f32::NAN)).into_any(),
            DataType::Float64 => column(py, numbers::<Float64Type>(values, f64::NAN)).into_any(),
            DataType::UInt32 => column(py, numbers::<UInt32Type>(values, 0)).into_any(),
            DataType::UInt64 => {
                let numbers = numbers::<UInt64Type>(values, u64::MAX).into_iter();
                column(py, numbers.map(|number| i64::try_from(number).unwrap_or(-1)).collect()).into_any()
            }
            _ => values.as_string::<i32>().iter().flatten().collect::<Vec<&str>>().into_pyobject(py)?,
        })
    }
}

/// A column of numbers, with this in the place of a missing one.
fn numbers<A: ArrowPrimitiveType>(values: &ArrayRef, missing: A::Native) -> Vec<A::Native> {
    values.as_primitive::<A>().iter().map(|value| value.unwrap_or(missing)).collect()
}
