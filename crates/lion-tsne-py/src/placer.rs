//! A map made ready for new rows.

use crate::arrays::{ArrayRows, column, table};
use crate::errors::{after, exception};
use crate::map::PyMap;
use crate::params::Params;
use crate::placements::PyPlacements;
use crate::process::PerProcess;
use lion_tsne::lion::Resolved;
use lion_tsne::{Lion, LionOptions, Matrix, Placement};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Rows that are placed between two looks at Ctrl-C.
const TOGETHER: usize = 1 << 14;

/// A map made ready for placing. Each call is for itself: outliers know of those in the same call.
#[pyclass(name = "Placer", frozen, module = "liontsne._native")]
pub(crate) struct PyPlacer {
    lion: PerProcess<Lion>,
    options: LionOptions,
}

#[pymethods]
impl PyPlacer {
    /// Of a map, with options by name.
    #[new]
    #[pyo3(signature = (map, options=None))]
    fn new<'py>(py: Python<'py>, map: &PyMap, options: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let options = Params::new(py, options)?.lion_options()?;
        let lion = py.detach(|| Lion::new(lion_tsne::Map::clone(&map.0), &options)).map_err(exception)?;
        Ok(Self { lion: PerProcess::new(lion), options })
    }

    /// The places of rows.
    fn coordinates<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (lion, placements) = self.placed(py, x)?;
        let places = placements.iter().flat_map(|placement| placement.place.iter().copied());
        table(py, lion.map().dims(), places.collect())
    }

    /// How ordinary rows are: from 0 to 1, small is strange.
    fn score<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (_, resolved) = self.resolved(py, x)?;
        Ok(column(py, resolved.iter().map(|resolved| resolved.placement().score).collect()))
    }

    /// The verdicts on rows, as codes (0 exact, 1 interpolated, 2 beside-outlier, 3 outlier), and their scores.
    fn judge<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<PyVerdicts<'py>> {
        let (_, resolved) = self.resolved(py, x)?;
        let codes = resolved.iter().map(|resolved| resolved.placement().verdict as i8).collect();
        let scores = resolved.iter().map(|resolved| resolved.placement().score).collect();
        Ok((column(py, codes), column(py, scores)))
    }

    /// The places of rows and all that is known of them. A row without a name is known by its number, counted from 0.
    #[pyo3(signature = (x, ids=None))]
    fn place<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyPlacements>> {
        let (lion, placements) = self.placed(py, x)?;
        let (columns, own) = py.detach(|| PyPlacements::new(lion.map(), placements, ids))?;
        Bound::new(py, PyClassInitializer::from(columns).add_subclass(own))
    }

    /// For each row the share of its `k` nearest rows of the map that are among the `k` rows nearest to its place.
    fn neighbours_kept<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        k: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (lion, rows) = (self.lion()?, ArrayRows::of("x", x)?);
        let (count, cols, values) = (rows.len(), rows.cols(), rows.values()?);
        let kept = py.detach(|| {
            Matrix::new(count, cols, values.to_vec()).and_then(|rows| lion.neighbours_kept(&rows, k))
        });
        Ok(column(py, kept.map_err(exception)?))
    }

    /// The radius of a row's neighbourhood, as used.
    #[getter]
    fn r_x(&self) -> PyResult<f64> {
        Ok(self.lion()?.r_x())
    }

    /// How far outliers stay from places and from each other.
    #[getter]
    fn r_y(&self) -> PyResult<f64> {
        Ok(self.lion()?.r_y())
    }

    /// How far rows beside an outlier are from it at most.
    #[getter]
    fn r_close(&self) -> PyResult<f64> {
        Ok(self.lion()?.r_close())
    }

    /// The power of inverse-distance weighting, as used.
    #[getter]
    fn power(&self) -> PyResult<f64> {
        Ok(self.lion()?.power())
    }

    /// The rule for outliers: `calibrated` or `paper`.
    #[getter]
    fn verdict_rule(&self) -> PyResult<&'static str> {
        Ok(self.lion()?.verdict_rule().as_str())
    }

    /// The score up to which a row is an outlier; `None` by the paper's rule.
    #[getter]
    fn alpha(&self) -> PyResult<Option<f64>> {
        Ok(self.lion()?.alpha())
    }

    /// The share of rows like the map's own that will be called outliers; `None` if a radius that is a number decides.
    #[getter]
    fn promised(&self) -> PyResult<Option<f64>> {
        Ok(self.lion()?.promised())
    }
}

type PyVerdicts<'py> = (Bound<'py, PyArray1<i8>>, Bound<'py, PyArray1<f64>>);

impl PyPlacer {
    pub(crate) fn lion(&self) -> PyResult<Arc<Lion>> {
        self.lion.get(|forked| Lion::new(forked.map().clone(), &self.options).map_err(exception))
    }

    /// Places rows: one on this thread, more of them on all.
    fn placed<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<(Arc<Lion>, Vec<Placement>)> {
        let rows = ArrayRows::of("x", x)?;
        if rows.len() == 1 {
            let (lion, row) = (self.lion()?, rows.values()?);
            let placement = py.detach(|| lion.place_row(row)).map_err(exception)?;
            return Ok((lion, vec![placement]));
        }
        let (lion, resolved) = self.resolved(py, x)?;
        let placements = py.detach(|| lion.complete(resolved));
        Ok((lion, placements))
    }

    /// Places all rows but the outliers, in parts that Ctrl-C can come between.
    pub(crate) fn resolved<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<(Arc<Lion>, Vec<Resolved>)> {
        let (lion, rows) = (self.lion()?, ArrayRows::of("x", x)?);
        let (cols, values) = (rows.cols(), rows.values()?);
        let mut resolved = Vec::with_capacity(rows.len());
        // At least once: a table without rows may still have the wrong columns.
        for before in (0..rows.len().max(1)).step_by(TOGETHER) {
            let count = TOGETHER.min(rows.len() - before);
            let part = &values[before * cols..][..count * cols];
            let part =
                py.detach(|| Matrix::new(count, cols, part.to_vec()).and_then(|part| lion.resolve(&part)));
            resolved.extend(part.map_err(|error| exception(after(before, error)))?);
            py.check_signals()?;
        }
        Ok((lion, resolved))
    }
}
