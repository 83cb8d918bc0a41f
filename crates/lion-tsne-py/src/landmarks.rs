//! Landmarks in the making: parts of a table in, a map out.

use crate::arrays::ArrayRows;
use crate::errors::exception;
use crate::map::{PyMap, named};
use crate::params::Params;
use crate::progress::observed;
use lion_tsne::Fit;
use lion_tsne::landmarks::LandmarkOptions;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Landmarks in the making: rows are added, then a map is fitted.
#[pyclass(name = "Landmarks", module = "liontsne._native")]
pub(crate) struct PyLandmarks {
    /// There until the map is fitted.
    landmarks: Option<lion_tsne::landmarks::Landmarks>,
    fit: Fit,
}

#[pymethods]
impl PyLandmarks {
    #[new]
    #[pyo3(signature = (count, *, stratified=false, cover=false, params=None))]
    fn new<'py>(
        py: Python<'py>,
        count: usize,
        stratified: bool,
        cover: bool,
        params: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let fit = Params::new(py, params)?.fit()?;
        let options = LandmarkOptions { stratified, cover, ..fit.landmarks(count) };
        Ok(Self { landmarks: Some(lion_tsne::landmarks::Landmarks::new(options).map_err(exception)?), fit })
    }

    /// Adds the next rows of the table. An error names the row within these, counted from 0.
    #[pyo3(signature = (x, *, ids=None, labels=None))]
    fn add<'py>(
        &mut self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        ids: Option<Vec<String>>,
        labels: Option<Vec<String>>,
    ) -> PyResult<()> {
        let rows = lion_tsne::Rows { data: ArrayRows::of("x", x)?.to_matrix()?, ids, labels };
        let landmarks = self.landmarks.as_mut().ok_or_else(over)?;
        py.detach(|| landmarks.add(rows)).map_err(exception)
    }

    /// How many rows were added.
    #[getter]
    fn seen(&self) -> PyResult<u64> {
        Ok(self.landmarks.as_ref().ok_or_else(over)?.seen())
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

fn over() -> PyErr {
    PyRuntimeError::new_err("the map of these landmarks was fitted already: begin anew")
}
