//! How good places are, whatever chose them.

use crate::arrays::{ArrayRows, column, numbers};
use crate::baseline::pool;
use crate::errors::exception;
use crate::map::PyMap;
use lion_evaluate::{JoinedKl, Judge};
use lion_tsne::{Error, Matrix, Result};
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

type PyNumbers<'py> = PyResult<Bound<'py, PyArray1<f64>>>;

/// For each place, the share of the ten nearest places of the map that carry this label.
#[pyfunction]
pub(crate) fn shares<'py>(
    py: Python<'py>,
    map: &PyMap,
    places: &Bound<'py, PyAny>,
    labels: Vec<String>,
) -> PyNumbers<'py> {
    judged(py, map, places, |judge, places| judge.shares(places, &labels))
}

/// Where the distance of each place from the nearest place of the map falls among those between the map's own places: from
/// 0 to 100.
#[pyfunction]
pub(crate) fn percentiles<'py>(py: Python<'py>, map: &PyMap, places: &Bound<'py, PyAny>) -> PyNumbers<'py> {
    judged(py, map, places, Judge::percentiles)
}

/// How far each place is from the nearest place of the map.
#[pyfunction]
pub(crate) fn distances<'py>(py: Python<'py>, map: &PyMap, places: &Bound<'py, PyAny>) -> PyNumbers<'py> {
    judged(py, map, places, Judge::distances)
}

/// The chance that a stranger's number is greater than an ordinary row's, ties counting half.
#[pyfunction]
pub(crate) fn auc(py: Python<'_>, strange: &Bound<'_, PyAny>, ordinary: &Bound<'_, PyAny>) -> PyResult<f64> {
    let (strange, ordinary) = (numbers("strange", strange)?, numbers("ordinary", ordinary)?);
    Ok(py.detach(|| lion_evaluate::auc(&strange, &ordinary)))
}

/// For each row, the KL divergence of the map with this row at this place; and that of the map as it is.
#[pyfunction]
pub(crate) fn joined_kl<'py>(
    py: Python<'py>,
    map: &PyMap,
    x: &Bound<'py, PyAny>,
    places: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let (rows, places) = (ArrayRows::of("x", x)?.to_matrix()?, ArrayRows::of("places", places)?.to_matrix()?);
    let pool = pool(0)?;
    let (divergences, own) =
        py.detach(|| pool.install(|| divergences(&map.0, &rows, &places))).map_err(exception)?;
    Ok((column(py, divergences), own))
}

fn divergences(map: &lion_tsne::Map, rows: &Matrix, places: &Matrix) -> Result<(Vec<f64>, f64)> {
    if (places.rows(), places.cols()) != (rows.rows(), map.dims()) {
        return Err(Error::Data(format!(
            "there are {} rows, and {} {}-dimensional places: there must be a {}-dimensional one for each row",
            rows.rows(),
            places.rows(),
            places.cols(),
            map.dims()
        )));
    }
    places.check_finite()?;
    let rows = map.preprocess().apply(rows)?;
    let joined = JoinedKl::new(map)?;
    let at = |row: usize| joined.with_row(rows.row(row)).at(places.row(row));
    Ok(((0..rows.rows()).into_par_iter().map(at).collect(), joined.own()))
}

/// What the map's judge says of places.
fn judged<'py>(
    py: Python<'py>,
    map: &PyMap,
    places: &Bound<'py, PyAny>,
    say: impl FnOnce(&Judge, &Matrix) -> Result<Vec<f64>> + Send,
) -> PyNumbers<'py> {
    let places = ArrayRows::of("places", places)?.to_matrix()?;
    let pool = pool(0)?;
    let said = py.detach(|| pool.install(|| say(&Judge::new(&map.0)?, &places))).map_err(exception)?;
    Ok(column(py, said))
}
