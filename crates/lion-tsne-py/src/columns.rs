//! Columns that others read through Arrow's C interface without a copy.

use crate::arrays::column;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyAttributeError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Columns for whoever reads them through Arrow's C interface: pyarrow, polars, pandas, DuckDB.
#[pyclass(name = "Columns", frozen, subclass, module = "liontsne._native")]
pub(crate) struct PyColumns(pub(crate) RecordBatch);

#[pymethods]
impl PyColumns {
    /// The table as a stream of one batch. Other types than its own are left to the one who asks for them.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A column by its name: texts, or numbers with NaN, or -1 of whole numbers, where a row has none.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(values) = self.0.column_by_name(name) else {
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
            DataType::Binary => values.as_binary::<i32>().iter().collect::<Vec<_>>().into_pyobject(py)?,
            DataType::FixedSizeBinary(_) => {
                values.as_fixed_size_binary().iter().collect::<Vec<_>>().into_pyobject(py)?
            }
            _ => values.as_string::<i32>().iter().collect::<Vec<Option<&str>>>().into_pyobject(py)?,
        })
    }
}

/// A column of numbers, with this in the place of a missing one.
fn numbers<A: ArrowPrimitiveType>(values: &ArrayRef, missing: A::Native) -> Vec<A::Native> {
    values.as_primitive::<A>().iter().map(|value| value.unwrap_or(missing)).collect()
}

pub(crate) fn broken(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
