//! A fitted map.

use crate::arrays::{ArrayRows, table};
use crate::errors::exception;
use crate::params::Params;
use crate::progress::observed;
use lion_evaluate::places_of_map;
use lion_tsne::Metric;
use lion_tsne::lion::LionParameters;
use lion_tsne::preprocess::Pca;
use lion_tsne::update::Updated;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// A fitted map: rows, their places, and how they came to be. It never changes.
#[pyclass(name = "Map", frozen, module = "liontsne._native")]
pub(crate) struct PyMap(pub(crate) Arc<lion_tsne::Map>);

/// Mean, components, variances and the total variance of a PCA.
type PcaArrays<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>, Vec<f64>, f64);

#[pymethods]
impl PyMap {
    /// Fits a map to the rows of `x`, or takes `places` made elsewhere as their map.
    #[staticmethod]
    #[pyo3(signature = (x, *, places=None, labels=None, ids=None, columns=None, recipe=None, params=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn fit<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        places: Option<&Bound<'py, PyAny>>,
        labels: Option<Vec<String>>,
        ids: Option<Vec<String>>,
        columns: Option<Vec<String>>,
        recipe: Option<&[u8]>,
        params: Option<&Bound<'py, PyDict>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let recipe = recipe.map(lion_tsne::Recipe::from_bytes).transpose();
        let recipe = recipe.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let fit = Params::new(py, params)?.fit()?;
        let rows = lion_tsne::Rows { data: ArrayRows::of("x", x)?.to_matrix()?, ids, labels };
        let places = places.map(|places| ArrayRows::of("places", places)?.to_matrix()).transpose()?;
        let work = move |observer: &mut lion_tsne::Observer<'_>| {
            let map = match places {
                Some(places) => fit.adopt(rows, places, observer)?,
                None => fit.run(rows, observer)?,
            };
            match recipe {
                Some(recipe) => map.with_recipe(recipe),
                None => named(map, columns),
            }
        };
        observed(py, progress, work).map(Self::from)
    }

    /// A map of these rows and of those of this one, and what the update did.
    #[pyo3(signature = (x, *, labels=None, ids=None, params=None, progress=None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        labels: Option<Vec<String>>,
        ids: Option<Vec<String>>,
        params: Option<&Bound<'py, PyDict>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        let update = Params::new(py, params)?.update()?;
        let rows = lion_tsne::Rows { data: ArrayRows::of("x", x)?.to_matrix()?, ids, labels };
        let old = self.0.clone();
        let updated = observed(py, progress, move |observer| update.run(&old, rows, observer))?;
        let told = told_of(py, &updated)?;
        Ok((Self::from(updated.map), told))
    }

    /// Opens a map file, which must stay as it is while the map is in use; it may be replaced by another.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| lion_tsne::Map::load(path)).map(Self::from).map_err(exception)
    }

    /// Reads the bytes of a map file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| lion_tsne::Map::from_bytes(bytes)).map(Self::from).map_err(exception)
    }

    /// The bytes of the map's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the map to a file, whole or not at all; the answer is the checksum.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        py.detach(|| self.0.save(path)).map(|saved| saved.checksum).map_err(exception)
    }

    /// The places of all rows.
    #[getter]
    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        table(py, self.0.dims(), py.detach(|| places_of_map(&self.0).into_data()))
    }

    /// The KL divergence, if it was computed.
    #[getter]
    fn kl(&self) -> Option<f64> {
        self.0.provenance().kl
    }

    /// The KL divergence on the way there: iteration, value.
    #[getter]
    fn kl_history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let history = &self.0.provenance().kl_history;
        table(py, 2, history.iter().flat_map(|point| [point.iteration as f64, point.kl]).collect())
    }

    /// Iterations done.
    #[getter]
    fn n_iter(&self) -> usize {
        self.0.provenance().iterations_done
    }

    /// Step length after the exaggeration.
    #[getter]
    fn learning_rate(&self) -> f64 {
        self.0.provenance().learning_rate
    }

    #[getter]
    fn perplexity(&self) -> f64 {
        self.0.perplexity()
    }

    /// How many rows were given.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Dimensions of the map.
    #[getter]
    fn dims(&self) -> usize {
        self.0.dims()
    }

    /// Columns of the rows.
    #[getter]
    fn input_dims(&self) -> usize {
        self.0.preprocess().input_dims()
    }

    /// r_x, as the map has it: see `Placer.r_x` for what is used.
    #[getter]
    fn radius(&self) -> Option<f64> {
        self.parameters().map(|lion| lion.r_x)
    }

    /// What r_x was asked to be, such as 99%.
    #[getter]
    fn asked_radius(&self) -> Option<String> {
        self.parameters().map(|lion| lion.radius.to_string())
    }

    /// How far outliers stay from places.
    #[getter]
    fn r_y(&self) -> Option<f64> {
        self.parameters().map(|lion| lion.r_y)
    }

    /// How far rows beside an outlier are from it at most.
    #[getter]
    fn r_close(&self) -> Option<f64> {
        self.parameters().map(|lion| lion.r_close)
    }

    /// The power of inverse-distance weighting.
    #[getter]
    fn power(&self) -> Option<f64> {
        self.parameters().map(|lion| lion.power)
    }

    /// The error of each power that was tried: power, error.
    #[getter]
    fn power_curve<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let curve = self.parameters().map_or(&[][..], |lion| &lion.power_curve);
        table(py, 2, curve.iter().flat_map(|point| [point.power, point.error]).collect())
    }

    /// Equal for equal maps.
    #[getter]
    fn checksum(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.checksum()).map_err(exception)
    }

    #[getter]
    fn labels(&self) -> Option<Vec<&str>> {
        let labels = self.0.labels()?;
        Some((0..self.0.rows()).map(|row| labels.get(row)).collect())
    }

    #[getter]
    fn ids(&self) -> Option<Vec<String>> {
        self.0.has_ids().then(|| (0..self.0.rows()).map(|row| self.0.id(row).into_owned()).collect())
    }

    /// What was done to the columns of a table first, as JSON; `None` if they were numbers and were taken as they are.
    #[getter]
    fn recipe(&self) -> Option<String> {
        self.0.recipe().map(|recipe| String::from_utf8_lossy(&recipe.to_bytes()).into_owned())
    }

    #[getter]
    fn columns(&self) -> Option<Vec<&str>> {
        self.0.columns().map(Iterator::collect)
    }

    #[getter]
    fn metric(&self) -> &'static str {
        self.0.preprocess().metric().as_str()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.provenance().seed
    }

    /// Principal components that rows are reduced to; None without PCA.
    #[getter]
    fn pca_components(&self) -> Option<usize> {
        self.0.preprocess().pca().map(|pca| pca.output_dims())
    }

    /// The map with the PCA that its rows went through before they were given, of unit length first if `unit`.
    fn projected_by<'py>(
        &self,
        mean: &Bound<'py, PyAny>,
        components: &Bound<'py, PyAny>,
        variances: Vec<f64>,
        total_variance: f64,
        unit: bool,
    ) -> PyResult<Self> {
        let mean = ArrayRows::of("mean", mean)?.values()?.to_vec();
        let components = ArrayRows::of("components", components)?.to_matrix()?;
        let metric = if unit { Metric::Cosine } else { Metric::Euclidean };
        let pca = Pca::new(mean, components, variances, total_variance).map_err(exception)?;
        lion_tsne::Map::clone(&self.0).projected_by(metric, pca).map(Self::from).map_err(exception)
    }

    /// The map for rows that go through its PCA before they are given; None if it projects rows itself.
    fn before_projection(&self) -> PyResult<Option<Self>> {
        Ok(self.0.before_projection().map_err(exception)?.map(Self::from))
    }

    /// Its PCA: the mean as one row, and the components as rows; None without.
    #[getter]
    fn pca<'py>(&self, py: Python<'py>) -> PyResult<Option<PcaArrays<'py>>> {
        let Some(pca) = self.0.preprocess().pca() else { return Ok(None) };
        let (mean, components) = (pca.mean(), pca.components());
        Ok(Some((
            table(py, mean.len(), mean.to_vec())?,
            table(py, components.cols(), components.data().to_vec())?,
            pca.variances().to_vec(),
            pca.total_variance(),
        )))
    }

    /// How repulsion was computed.
    #[getter]
    fn method(&self) -> &str {
        &self.0.provenance().method
    }

    /// The observer stopped the fit before its last iteration.
    #[getter]
    fn stopped_early(&self) -> bool {
        self.0.provenance().stopped_early
    }

    /// The places were made elsewhere.
    #[getter]
    fn adopted(&self) -> bool {
        self.0.provenance().adopted
    }

    /// What the rows were sampled from, if they are landmarks.
    #[getter]
    fn sampled_from<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(from) = self.0.provenance().sampled_from else { return Ok(None) };
        let told = PyDict::new(py);
        told.set_item("rows", from.rows)?;
        told.set_item("stratified", from.stratified)?;
        told.set_item("covering", from.covering)?;
        told.set_item("beyond", from.uncovered)?;
        told.set_item("beyond_error", from.uncovered_error)?;
        told.set_item("judged", from.judged)?;
        Ok(Some(told))
    }

    /// The version that made the map.
    #[getter]
    fn version(&self) -> &str {
        &self.0.provenance().version
    }

    fn __repr__(&self) -> String {
        let dimensions = if self.dims() == 1 { "dimension" } else { "dimensions" };
        format!("Map({} x {} in {} {dimensions})", self.rows(), self.input_dims(), self.dims())
    }
}

impl PyMap {
    fn parameters(&self) -> Option<&LionParameters> {
        self.0.lion()
    }
}

impl From<lion_tsne::Map> for PyMap {
    fn from(map: lion_tsne::Map) -> Self {
        Self(Arc::new(map))
    }
}

/// What an update did.
fn told_of<'py>(py: Python<'py>, updated: &Updated) -> PyResult<Bound<'py, PyDict>> {
    let Updated { map, step, new_clusters, emptied, widened, .. } = updated;
    let told = PyDict::new(py);
    told.set_item("version", map.provenance().lineage.len() + 1)?;
    told.set_item("parent", &step.parent)?;
    told.set_item("added", step.added)?;
    told.set_item("removed", step.removed)?;
    told.set_item("kl", step.kl)?;
    told.set_item("moved_median", step.moved_median)?;
    told.set_item("moved_p90", step.moved_p90)?;
    told.set_item("stability", step.stability)?;
    told.set_item("new_clusters", new_clusters)?;
    told.set_item("emptied", emptied)?;
    told.set_item("widened", widened)?;
    Ok(told)
}

pub(crate) fn named(map: lion_tsne::Map, columns: Option<Vec<String>>) -> lion_tsne::Result<lion_tsne::Map> {
    match columns {
        Some(names) => map.with_columns(&names),
        None => Ok(map),
    }
}
