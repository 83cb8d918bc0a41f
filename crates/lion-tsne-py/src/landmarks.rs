//! Landmarks in the making: parts of a table in, a map out, or bytes to be merged where the other parts are.

use crate::arrays::ArrayRows;
use crate::errors::exception;
use crate::map::{PyMap, named};
use crate::params::Params;
use crate::progress::observed;
use lion_tsne::Fit;
use lion_tsne::landmarks::LandmarkOptions;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;

/// Landmarks in the making: rows are added, then a map is fitted.
#[pyclass(name = "Landmarks", module = "liontsne._native")]
pub(crate) struct PyLandmarks {
    /// There until the map is fitted.
    landmarks: Option<lion_tsne::landmarks::Landmarks>,
    fit: Fit,
}

/// Texts as Arrow has them: where each begins, and the end of the last; and the bytes of all.
type Texts<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u8>);

#[pymethods]
impl PyLandmarks {
    #[new]
    #[pyo3(signature = (count, *, stratified=false, cover=false, params=None, expected=None))]
    fn new<'py>(
        py: Python<'py>,
        count: usize,
        stratified: bool,
        cover: bool,
        params: Option<&Bound<'py, PyDict>>,
        expected: Option<BTreeMap<String, u64>>,
    ) -> PyResult<Self> {
        let fit = Params::new(py, params)?.fit()?;
        let options = LandmarkOptions { stratified, cover, ..fit.landmarks(count) };
        let landmarks = lion_tsne::landmarks::Landmarks::new(options).map_err(exception)?;
        let landmarks = match expected {
            Some(expected) => landmarks.expecting(expected),
            None => landmarks,
        };
        Ok(Self { landmarks: Some(landmarks), fit })
    }

    /// Adds the next rows of the table. An error names the row within these, counted from 0.
    #[pyo3(signature = (x, *, ids=None, labels=None))]
    fn add<'py>(
        &mut self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        ids: Option<Texts<'py>>,
        labels: Option<Texts<'py>>,
    ) -> PyResult<()> {
        let data = ArrayRows::of("x", x)?.to_matrix()?;
        let (ids, labels) = (ids.map(texts).transpose()?, labels.map(texts).transpose()?);
        let rows = lion_tsne::Rows { data, ids, labels };
        let landmarks = self.landmarks.as_mut().ok_or_else(over)?;
        py.detach(|| landmarks.add(rows)).map_err(exception)
    }

    /// How many rows were added.
    #[getter]
    fn seen(&self) -> PyResult<u64> {
        Ok(self.landmarks.as_ref().ok_or_else(over)?.seen())
    }

    /// How many columns they have; 0 before the first of them.
    #[getter]
    fn cols(&self) -> PyResult<usize> {
        Ok(self.landmarks.as_ref().ok_or_else(over)?.cols())
    }

    /// Whether no row is missing that should have stayed.
    #[getter]
    fn complete(&self) -> PyResult<bool> {
        Ok(self.landmarks.as_ref().ok_or_else(over)?.is_complete())
    }

    /// What is known of the rows so far.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let landmarks = self.landmarks.as_ref().ok_or_else(over)?;
        Ok(PyBytes::new(py, &py.detach(|| landmarks.to_bytes())))
    }

    /// Adds what is known of other rows, whose landmarks are chosen alike.
    fn merge<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<()> {
        let landmarks = self.landmarks.as_mut().ok_or_else(over)?;
        py.detach(|| landmarks.merge_bytes(bytes)).map_err(exception)
    }

    /// Fits the map: once.
    #[pyo3(signature = (*, columns=None, progress=None))]
    fn fit<'py>(
        &mut self,
        py: Python<'py>,
        columns: Option<Vec<String>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyMap> {
        let (landmarks, fit) = (self.landmarks.take().ok_or_else(over)?, self.fit.clone());
        let work = move |observer: &mut lion_tsne::Observer<'_>| {
            named(fit.run_sampled(landmarks.finish()?, observer)?, columns)
        };
        observed(py, progress, work).map(PyMap::from)
    }
}

/// Texts one by one.
fn texts((ends, bytes): Texts<'_>) -> PyResult<Vec<String>> {
    let (ends, bytes) = (ends.as_slice()?, bytes.as_slice()?);
    let text = |(&start, &end): (&i64, &i64)| {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        std::str::from_utf8(bytes.get(start..end)?).ok().map(str::to_owned)
    };
    let texts: Option<Vec<String>> = ends.iter().zip(ends.iter().skip(1)).map(text).collect();
    texts.ok_or_else(|| PyValueError::new_err("texts must be in UTF-8, one after another"))
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the map of these landmarks was fitted already: begin anew")
}
