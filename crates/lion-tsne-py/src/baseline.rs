//! The other ways of placing, by name.

use crate::arrays::{ArrayRows, table};
use crate::errors::exception;
use crate::map::PyMap;
use crate::params::Params;
use crate::process::PerProcess;
use crate::progress::observed;
use lion_evaluate::{Baseline, Network, Parametric};
use lion_tsne::Error;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::ThreadPool;
use std::sync::Arc;

/// The names of the ways of placing that LION is compared with.
#[pyfunction]
pub(crate) fn baseline_names() -> Vec<String> {
    Baseline::all().iter().map(Baseline::name).collect()
}

/// Another way of placing, built from a map.
#[pyclass(name = "Built", frozen, module = "liontsne._native")]
pub(crate) struct PyBuilt {
    name: String,
    built: lion_evaluate::BuiltBaseline,
    dims: usize,
    threads: usize,
    pool: PerProcess<ThreadPool>,
}

#[pymethods]
impl PyBuilt {
    /// Builds it. Parameters: `seed`, `threads`, and what the method leaves open: `power` of idw, `epsilon` (mean,
    /// edges) of rbf, `width` of kernelized, `epochs` of networks and of parametric.
    #[new]
    #[pyo3(signature = (map, name, params=None, progress=None))]
    fn new<'py>(
        py: Python<'py>,
        map: &PyMap,
        name: &str,
        params: Option<&Bound<'py, PyDict>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let params = Params::new(py, params)?;
        let (seed, threads) = (params.seed()?, params.count("threads")?.unwrap_or(0));
        let baseline = chosen(name, map, &params)?;
        params.end()?;
        let (pool, map) = (Arc::new(pool(threads)?), map.0.clone());
        let (dims, working) = (map.dims(), pool.clone());
        let built =
            observed(py, progress, move |observer| working.install(|| baseline.build(&map, seed, observer)))?;
        // Its threads end with the last one who knows it, and the work is done.
        let pool = PerProcess::of(pool);
        Ok(Self { name: baseline.to_string(), built, dims, threads, pool })
    }

    /// The places of rows.
    fn coordinates<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = ArrayRows::of("x", x)?.to_matrix()?;
        let pool = self.pool.get(|_| pool(self.threads))?;
        let places = py.detach(|| pool.install(|| self.built.place(&rows))).map_err(exception)?;
        table(py, self.dims, places.into_data())
    }

    /// What a person should know of how it was built.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.built.notes()
    }

    /// Its name, with what it was built with.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self) -> String {
        format!("Built({})", self.name)
    }
}

/// The way of placing of this name, with the parameters that it has.
fn chosen(name: &str, map: &PyMap, params: &Params<'_>) -> PyResult<Baseline> {
    let known: Baseline = name.parse().map_err(|_| {
        let names = Baseline::names();
        PyValueError::new_err(format!("there is no method {name:?}: it must be one of {names}"))
    })?;
    Ok(match known {
        Baseline::Idw { power } => {
            let own = map.0.lion().map_or(power, |lion| lion.power);
            Baseline::Idw { power: params.number("power")?.unwrap_or(own) }
        }
        Baseline::Rbf { kernel, epsilon } => {
            Baseline::Rbf { kernel, epsilon: params.named("epsilon")?.unwrap_or(epsilon) }
        }
        Baseline::Kernelized { width } => {
            Baseline::Kernelized { width: params.number("width")?.unwrap_or(width) }
        }
        Baseline::Network(network) => {
            let epochs = params.count("epochs")?.unwrap_or(network.epochs);
            Baseline::Network(Network { epochs, ..network })
        }
        Baseline::Parametric(parametric) => {
            let epochs = params.count("epochs")?.unwrap_or(parametric.epochs);
            Baseline::Parametric(Parametric { epochs, ..parametric })
        }
        nothing_to_choose => nothing_to_choose,
    })
}

/// Threads to work on; 0 is all.
pub(crate) fn pool(threads: usize) -> PyResult<ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        let problem = format!("{threads} could not be started: {error}");
        exception(Error::Parameter { name: "threads", problem })
    })
}
