//! Arrays in and out.

use crate::errors::exception;
use lion_tsne::Matrix;
use lion_tsne::index::Neighbours;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Rows of an array, read where they are. One that is not in the order of rows is copied first.
pub(crate) struct ArrayRows<'py> {
    array: PyReadonlyArray2<'py, f32>,
}

impl<'py> ArrayRows<'py> {
    /// Of a 2-D array of float32; the name is for the refusal of anything else.
    pub(crate) fn of(name: &str, x: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = x.cast::<PyArray2<f32>>().map_err(|_| wanted(name, "a 2-D array of float32"))?;
        let in_order = array.is_c_contiguous() && array.is_aligned();
        let array = match in_order {
            true => array.clone(),
            false => array.call_method0("copy")?.cast_into()?,
        };
        let array = array.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { array })
    }

    pub(crate) fn len(&self) -> usize {
        self.array.shape()[0]
    }

    pub(crate) fn cols(&self) -> usize {
        self.array.shape()[1]
    }

    /// Every value, row after row.
    pub(crate) fn values(&self) -> PyResult<&[f32]> {
        Ok(self.array.as_slice()?)
    }

    /// A copy that is the library's own.
    pub(crate) fn to_matrix(&self) -> PyResult<Matrix> {
        Matrix::new(self.len(), self.cols(), self.values()?.to_vec()).map_err(exception)
    }
}

/// The values of a 1-D array of float64.
pub(crate) fn numbers(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> =
        values.extract().map_err(|_| wanted(name, "a 1-D array of float64"))?;
    Ok(array.as_array().iter().copied().collect())
}

/// Neighbours from two tables of the same shape, one line for each row: row numbers of int64 and distances of float64.
pub(crate) fn neighbours(known: &Bound<'_, PyAny>) -> PyResult<Neighbours> {
    type Pair<'py> = (PyReadonlyArray2<'py, i64>, PyReadonlyArray2<'py, f64>);
    let kind = "two 2-D arrays, indices of int64 and distances of float64";
    let (indices, distances): Pair<'_> = known.extract().map_err(|_| wanted("neighbours", kind))?;
    let &[rows, k] = indices.shape() else { return Err(wanted("neighbours", kind)) };
    if distances.shape() != [rows, k] {
        return Err(PyValueError::new_err("neighbours must be indices and distances of the same shape"));
    }
    let indices: Vec<i64> = indices.as_array().iter().copied().collect();
    let distances: Vec<f64> = distances.as_array().iter().copied().collect();
    Neighbours::from_distances(k, &indices, &distances).map_err(exception)
}

/// A 1-D array of these.
pub(crate) fn column<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// Values, row after row, as an array of so many columns.
pub(crate) fn table<'py, T: Element>(
    py: Python<'py>,
    cols: usize,
    values: Vec<T>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = values.len() / cols.max(1);
    PyArray1::from_vec(py, values).reshape([rows, cols])
}

fn wanted(name: &str, kind: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} must be {kind}"))
}
