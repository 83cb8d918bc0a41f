//! Parameters by name, as they come in a `dict`. A missing one and None are the library's default; one that is not known is
//! refused.

use crate::arrays::{ArrayRows, neighbours};
use lion_tsne::index::{Neighbours, Search};
use lion_tsne::lion::{PcaResidualLimit, Positions, Taper};
use lion_tsne::update::{Anchoring, Forget};
use lion_tsne::{
    Descent, Fit, Init, LionOptions, Local, Method, Metric, Named, PcaChoice, Radius, Update, VerdictRule,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What is left of the parameters: each is taken once.
pub(crate) struct Params<'py> {
    left: Bound<'py, PyDict>,
}

impl<'py> Params<'py> {
    pub(crate) fn new(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let left = given.map_or_else(|| Ok(PyDict::new(py)), |given| given.copy())?;
        Ok(Self { left })
    }

    /// The value as it is; nothing if it is None.
    fn raw(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(value) = self.left.get_item(name)? else { return Ok(None) };
        self.left.del_item(name)?;
        Ok(Some(value).filter(|value| !value.is_none()))
    }

    /// A value of a type that Python knows how to make.
    pub(crate) fn take<T>(&self, name: &str, wanted: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.raw(name)?;
        value.map(|value| value.extract().map_err(|_| refuse(name, wanted, &value))).transpose()
    }

    pub(crate) fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.take(name, "a number")
    }

    pub(crate) fn count(&self, name: &str) -> PyResult<Option<usize>> {
        self.take(name, "a whole number from 0 on")
    }

    pub(crate) fn seed(&self) -> PyResult<u64> {
        Ok(self.take("seed", "a whole number from 0 to 2^64 - 1")?.unwrap_or(0))
    }

    /// A number, or the word auto.
    fn number_or_auto(&self, name: &str) -> PyResult<Option<f64>> {
        let Some(value) = self.raw(name)? else { return Ok(None) };
        match (value.extract::<f64>(), is(&value, "auto")) {
            (Ok(number), _) => Ok(Some(number)),
            (_, true) => Ok(None),
            _ => Err(refuse(name, "auto or a number", &value)),
        }
    }

    /// A variant of an enum by its name.
    pub(crate) fn named<T: Named>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.raw(name)? else { return Ok(None) };
        let meant = value.extract::<String>().ok().and_then(|text| text.parse().ok());
        meant.map(Some).ok_or_else(|| refuse(name, &format!("one of {}", T::names()), &value))
    }

    /// A distance, or a percentile such as 99%.
    fn radius(&self, name: &str) -> PyResult<Option<Radius>> {
        let Some(value) = self.raw(name)? else { return Ok(None) };
        if let Ok(distance) = value.extract::<f64>() {
            return Ok(Some(Radius::Value(distance)));
        }
        let parsed = value.extract::<String>().ok().and_then(|text| text.parse().ok());
        parsed
            .map(Some)
            .ok_or_else(|| refuse(name, "a percentile such as \"99%\" or a distance from 0 on", &value))
    }

    fn pca(&self) -> PyResult<Option<PcaChoice>> {
        let Some(value) = self.raw("pca")? else { return Ok(None) };
        match value.extract::<usize>() {
            Ok(components) if components > 0 => Ok(Some(PcaChoice::Components(components))),
            _ if is(&value, "auto") => Ok(None),
            _ if is(&value, "none") => Ok(Some(PcaChoice::None)),
            _ => Err(refuse("pca", "auto, none or a number from 1 on", &value)),
        }
    }

    fn init(&self) -> PyResult<Option<Init>> {
        let Some(value) = self.raw("init")? else { return Ok(None) };
        match value.extract::<String>() {
            Ok(text) => text
                .parse()
                .map(Some)
                .map_err(|_| refuse("init", &format!("{} or an array of places", Init::names()), &value)),
            Err(_) => Ok(Some(Init::Given(ArrayRows::of("init", &value)?.to_matrix()?))),
        }
    }

    /// How to search for neighbours; or those that are known, as (indices, distances).
    fn neighbours(&self) -> PyResult<(Search, Option<Neighbours>)> {
        let name = "neighbours";
        match self.left.get_item(name)?.filter(|value| value.is_instance_of::<PyTuple>()) {
            Some(known) => {
                self.left.del_item(name)?;
                Ok((Search::Auto, Some(neighbours(&known)?)))
            }
            None => Ok((self.named(name)?.unwrap_or_default(), None)),
        }
    }

    fn pca_residual(&self) -> PyResult<Option<PcaResidualLimit>> {
        let (name, value) = match (self.raw("pca_residual")?, self.raw("off_plane")?) {
            (Some(value), _) => ("pca_residual", value),
            // The earlier name.
            (None, Some(value)) => ("off_plane", value),
            (None, None) => return Ok(None),
        };
        let text = value.extract::<String>().unwrap_or_default();
        match (text.as_str(), text.parse()) {
            ("none", _) => Ok(Some(PcaResidualLimit::None)),
            (_, Ok(Radius::Percentile(percentile))) => Ok(Some(PcaResidualLimit::Percentile(percentile))),
            _ => Err(refuse(name, "none or a percentile such as \"99%\"", &value)),
        }
    }

    /// Refuses what was not taken.
    pub(crate) fn end(self) -> PyResult<()> {
        match self.left.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(PyValueError::new_err(format!("there is no parameter {}", name.repr()?))),
        }
    }

    /// All of it as a fit.
    pub(crate) fn fit(self) -> PyResult<Fit> {
        let default = Fit::default();
        let (search, neighbours) = self.neighbours()?;
        let fit = Fit {
            perplexity: self.number_or_auto("perplexity")?,
            descent: self.named("descent")?.unwrap_or(default.descent),
            iterations: self.count("iterations")?,
            exaggeration_iterations: self.count("exaggeration_iterations")?,
            exaggeration: self.number("exaggeration")?.unwrap_or(default.exaggeration),
            learning_rate: self.number_or_auto("learning_rate")?,
            dims: self.count("dims")?.unwrap_or(default.dims),
            metric: self.named("metric")?.unwrap_or(default.metric),
            pca: self.pca()?.unwrap_or(default.pca),
            fitted_pca: None,
            method: self.named("method")?.unwrap_or(default.method),
            theta: self.number("theta")?.unwrap_or(default.theta),
            init: self.init()?.unwrap_or(default.init),
            search,
            neighbours,
            radius: self.radius("radius")?,
            power: self.number_or_auto("power")?,
            r_y: self.radius("r_y")?,
            r_close: self.radius("r_close")?,
            groups: self.take("groups", "a list of whole numbers")?,
            seed: self.seed()?,
            threads: self.count("threads")?.unwrap_or(0),
        };
        self.end()?;
        Ok(fit)
    }

    /// All of it as an update.
    pub(crate) fn update(self) -> PyResult<Update> {
        let rows = self.raw("rows")?;
        let update = Update {
            stability: self.number("stability")?,
            anchoring: Anchoring::default(),
            forget: Forget {
                ids: self.take("forget", "a list of ids")?.unwrap_or_default(),
                keep: self.count("keep")?,
            },
            rows: rows.map(|rows| ArrayRows::of("rows", &rows)?.to_matrix()).transpose()?,
            shown: None,
            seed: self.seed()?,
            threads: self.count("threads")?.unwrap_or(0),
        };
        self.end()?;
        Ok(update)
    }

    /// All of it as options of placing.
    pub(crate) fn lion_options(self) -> PyResult<LionOptions> {
        let options = LionOptions {
            radius: self.radius("radius")?,
            power: self.number_or_auto("power")?,
            r_y: self.radius("r_y")?,
            r_close: self.radius("r_close")?,
            local: self.named("local")?.unwrap_or_default(),
            taper: self.named("taper")?.unwrap_or_default(),
            split_clusters: self.take("split_clusters", "True or False")?.unwrap_or(false),
            verdict: self.named("verdict")?,
            alpha: self.number("alpha")?,
            fdr: self.number("fdr")?,
            pca_residual: self.pca_residual()?.unwrap_or_default(),
            positions: self.named("positions")?.unwrap_or_default(),
            seed: self.seed()?,
            threads: self.count("threads")?.unwrap_or(0),
        };
        self.end()?;
        Ok(options)
    }
}

/// The words that a parameter can be, or None if it is not one of words: what Python refuses before any work.
#[pyfunction]
pub(crate) fn choices(name: &str) -> Option<Vec<&'static str>> {
    fn names<T: Named>() -> Option<Vec<&'static str>> {
        Some(T::VARIANTS.iter().map(T::name).collect())
    }
    match name {
        "descent" => names::<Descent>(),
        "init" => names::<Init>(),
        "local" => names::<Local>(),
        "method" => names::<Method>(),
        "metric" => names::<Metric>(),
        "neighbors" => names::<Search>(),
        "outliers" => names::<Positions>(),
        "taper" => names::<Taper>(),
        "verdict" => names::<VerdictRule>(),
        _ => None,
    }
}

fn is(value: &Bound<'_, PyAny>, word: &str) -> bool {
    value.extract::<String>().is_ok_and(|text| text == word)
}

fn refuse(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    match value.repr() {
        Ok(value) => PyValueError::new_err(format!("{name} must be {wanted}, not {value}")),
        Err(error) => error,
    }
}
