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
use lion_tsne::{Map, Placement, Verdict};
use numpy::{Element, PyArray1, PyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// The code of a verdict: 0 exact, 1 interpolated, 2 beside-outlier, 3 outlier.
pub(crate) fn code(verdict: Verdict) -> i8 {
    match verdict {
        Verdict::Exact => 0,
        Verdict::Interpolated => 1,
        Verdict::BesideOutlier => 2,
        Verdict::Outlier => 3,
    }
}

/// Placed rows, in the order in which they were given: `id, x, y, (z), verdict, score, p_distance, p_neighbours,
/// off_plane, nearest_id, nearest_distance, neighbours, group`. pyarrow, polars, pandas and DuckDB read them through
/// `__arrow_c_stream__`.
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
        let mut columns: Vec<(&str, ArrayRef)> = vec![("id", texts((0..rows).map(id))?)];
        for (dimension, name) in COORDINATES[..map.dims()].iter().enumerate() {
            let values = placements.iter().map(|placement| placement.place[dimension]);
            columns.push((name, Arc::new(Float32Array::from_iter_values(values))));
        }
        columns.extend(said(map, &placements)?);
        Ok(Self {
            batch: batch(columns).map_err(broken)?,
            places: placements.iter().flat_map(|placement| placement.place.iter().copied()).collect(),
            dims: map.dims(),
            codes: placements.iter().map(|placement| code(placement.verdict)).collect(),
            nearest: placements.iter().map(|placement| placement.nearest).collect(),
        })
    }
}

/// All columns but ids and coordinates.
pub(crate) fn said(map: &Map, placements: &[Placement]) -> PyResult<Vec<(&'static str, ArrayRef)>> {
    let scores = Float64Array::from_iter_values(placements.iter().map(|placement| placement.score));
    let p_distance = Float64Array::from_iter(placements.iter().map(|placement| placement.p_distance));
    let p_neighbours = Float64Array::from_iter(placements.iter().map(|placement| placement.p_neighbours));
    let p_residual = Float64Array::from_iter(placements.iter().map(|placement| placement.p_residual));
    let nearest_id = placements.iter().map(|placement| map.id(placement.nearest as usize));
    let distances = placements.iter().map(|placement| placement.nearest_distance);
    let neighbours = placements.iter().map(|placement| placement.neighbours);
    let groups = UInt64Array::from_iter(placements.iter().map(|placement| placement.group));
    Ok(vec![
        ("verdict", texts(placements.iter().map(|placement| placement.verdict.as_str().into()))?),
        ("score", Arc::new(scores)),
        ("p_distance", Arc::new(p_distance)),
        ("p_neighbours", Arc::new(p_neighbours)),
        ("off_plane", Arc::new(p_residual)),
        ("nearest_id", texts(nearest_id)?),
        ("nearest_distance", Arc::new(Float32Array::from_iter_values(distances))),
        ("neighbours", Arc::new(UInt32Array::from_iter_values(neighbours))),
        ("group", Arc::new(groups)),
    ])
}

/// The columns that may lack a value.
const NULLABLE: [&str; 4] = ["p_distance", "p_neighbours", "off_plane", "group"];

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let field = |(name, values): &(&str, ArrayRef)| {
        Field::new(*name, values.data_type().clone(), NULLABLE.contains(name))
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<Field>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, values)| values).collect())
}

/// A column of texts. Arrow counts their bytes with 31 bits.
fn texts<'a>(values: impl Iterator<Item = Cow<'a, str>> + Clone) -> PyResult<ArrayRef> {
    let bytes: usize = values.clone().map(|text| text.len()).sum();
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

    /// The verdicts in words.
    #[getter]
    fn verdict(&self) -> Vec<&str> {
        self.texts("verdict")
    }

    /// The names of the rows.
    #[getter]
    fn id(&self) -> Vec<&str> {
        self.texts("id")
    }

    /// From 0 to 1, small is strange.
    #[getter]
    fn score<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        column(py, self.values::<Float64Type, _>("score", f64::NAN))
    }

    /// The part of the score that is the distance to the nearest row.
    #[getter]
    fn p_distance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        column(py, self.values::<Float64Type, _>("p_distance", f64::NAN))
    }

    /// The part of the score that is how badly the nearest rows explain the row; NaN by the paper's rule.
    #[getter]
    fn p_neighbours<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        column(py, self.values::<Float64Type, _>("p_neighbours", f64::NAN))
    }

    /// The share of the map's rows that are as far off the PCA plane; NaN where there is none.
    #[getter]
    fn off_plane<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        column(py, self.values::<Float64Type, _>("off_plane", f64::NAN))
    }

    /// The nearest row of the map, by its number in the data.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        column(py, self.nearest.clone())
    }

    /// The nearest row of the map, by its name.
    #[getter]
    fn nearest_id(&self) -> Vec<&str> {
        self.texts("nearest_id")
    }

    /// The distance to it.
    #[getter]
    fn nearest_distance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        column(py, self.values::<Float32Type, _>("nearest_distance", f32::NAN))
    }

    /// How many rows of the map are within r_x.
    #[getter]
    fn neighbours<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        column(py, self.values::<UInt32Type, _>("neighbours", 0))
    }

    /// The groups of outliers; -1 for all other rows.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let groups = self.values::<UInt64Type, _>("group", u64::MAX);
        column(py, groups.into_iter().map(|group| i64::try_from(group).unwrap_or(-1)).collect())
    }
}

impl PyPlacements {
    /// A column of numbers, one of these in the place of a missing one.
    fn values<A, T: Element + Copy>(&self, name: &str, missing: T) -> Vec<T>
    where
        A: ArrowPrimitiveType<Native = T>,
    {
        let column = self.batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<A>());
        column.into_iter().flatten().map(|value| value.unwrap_or(missing)).collect()
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let column = self.batch.column_by_name(name).filter(|column| *column.data_type() == DataType::Utf8);
        column.into_iter().flat_map(|column| column.as_string::<i32>()).flatten().collect()
    }
}
