//! Placing in parts that do not know of each other: resolved rows as columns, the outliers among them as bytes, and the
//! positions of all outliers once they are in one place.

use crate::arrays::{ArrayRows, column};
use crate::columns::{PyColumns, broken};
use crate::errors::exception;
use crate::placements::values;
use crate::placer::PyPlacer;
use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, Float32Array, RecordBatch, UInt64Array};
use lion_tsne::lion::{PendingOutliers, PlacedRow, PlacementColumn, PositionsByKey, Resolved};
use lion_tsne::{Error, Lion, Matrix, Placement};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

fn collected(columns: Vec<(&str, ArrayRef)>) -> PyResult<PyColumns> {
    let columns = columns.into_iter().map(|(name, values)| (name, values, true));
    RecordBatch::try_from_iter_with_nullable(columns).map(PyColumns).map_err(broken)
}

/// Places all rows but outliers: the columns of `lion place` but `id` (`label` is `predicted_label`, because rows may have a
/// label of their own), and `stranger`. An outlier has no place and no group,
/// and the bytes that its position depends on as `stranger`.
#[pyfunction]
pub(crate) fn resolve<'py>(py: Python<'py>, placer: &PyPlacer, x: &Bound<'py, PyAny>) -> PyResult<PyColumns> {
    let (lion, resolved) = placer.resolved(py, x)?;
    py.detach(|| {
        let (placements, pending): (Vec<Placement>, Vec<Option<Vec<u8>>>) =
            resolved.into_iter().map(known).unzip();
        let bytes: usize = pending.iter().flatten().map(Vec::len).sum();
        if i32::try_from(bytes).is_err() {
            return Err(PyValueError::new_err(
                "the outliers among these rows take more than 2 GB: place fewer rows at a time",
            ));
        }
        let mut columns = columns(&lion, &placements, |name| name != "id")?;
        columns.push(("stranger", Arc::new(BinaryArray::from_iter(pending))));
        collected(columns)
    })
}

/// What is said of a row, and its bytes if it waits for a position.
fn known(resolved: Resolved) -> (Placement, Option<Vec<u8>>) {
    match resolved {
        Resolved::Placed(placement) => (placement, None),
        Resolved::Outlier(outlier) => (outlier.placement().clone(), Some(outlier.to_bytes())),
    }
}

/// Pending outliers of a job, from their bytes: each different one once. What they get depends on which they are, not on
/// their order or how often each is there.
#[pyclass(name = "PendingOutliers", frozen, module = "liontsne._native")]
pub(crate) struct PyPendingOutliers {
    lion: Arc<Lion>,
    pending: Mutex<PendingOutliers>,
}

#[pymethods]
impl PyPendingOutliers {
    #[new]
    fn new(placer: &PyPlacer) -> PyResult<Self> {
        let lion = placer.lion()?;
        let pending = Mutex::new(lion.pending_outliers());
        Ok(Self { lion, pending })
    }

    /// Adds those whose bytes lie one after another, each from one offset to the next.
    fn add(&self, py: Python<'_>, offsets: PyOffsets<'_>, bytes: PyBytes<'_>) -> PyResult<()> {
        let all = values_of(&offsets, &bytes)?;
        py.detach(|| {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            all.into_iter().try_for_each(|bytes| pending.push_bytes(bytes)).map_err(exception)
        })
    }

    /// Their positions: `key, x, y, (z), group`, in the order of the keys. After that, there are none.
    fn positions(&self, py: Python<'_>) -> PyResult<PyColumns> {
        py.detach(|| {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            let pending = std::mem::replace(&mut *pending, self.lion.pending_outliers());
            let PositionsByKey { keys, places, groups } =
                self.lion.positions_by_key(pending).map_err(exception)?;
            let keys = FixedSizeBinaryArray::try_new(KEY as i32, keys.into_flattened().into(), None);
            let mut columns: Vec<(&str, ArrayRef)> = vec![("key", Arc::new(keys.map_err(broken)?))];
            for (at, name) in PlacementColumn::coordinates(self.lion.map().dims()).iter().enumerate() {
                let coordinates = places.iter().map(|place| place[at]);
                columns.push((name, Arc::new(Float32Array::from_iter_values(coordinates))));
            }
            let groups = UInt64Array::from_iter_values(groups.into_iter().map(u64::from));
            columns.push(("group", Arc::new(groups)));
            collected(columns)
        })
    }
}

/// Bytes of a key.
const KEY: usize = 16;
type PyOffsets<'py> = PyReadonlyArray1<'py, i64>;
type PyBytes<'py> = PyReadonlyArray1<'py, u8>;

/// Values that lie one after another.
fn values_of<'a>(offsets: &'a PyOffsets<'_>, bytes: &'a PyBytes<'_>) -> PyResult<Vec<&'a [u8]>> {
    let (offsets, bytes) = (offsets.as_slice()?, bytes.as_slice()?);
    let value = |pair: &[i64]| {
        let range = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        bytes.get(range)
    };
    let values: Option<Vec<&[u8]>> = offsets.windows(2).map(value).collect();
    values.ok_or_else(|| PyValueError::new_err("offsets must ascend, and not go beyond the bytes"))
}

/// For each of these outliers the number of its key among the sorted `keys`, -1 where it is not there.
#[pyfunction]
pub(crate) fn find_outliers<'py>(
    py: Python<'py>,
    keys: PyBytes<'_>,
    offsets: PyOffsets<'_>,
    bytes: PyBytes<'_>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (keys, _) = keys.as_slice()?.as_chunks::<KEY>();
    let number_of =
        |bytes: &[u8]| keys.binary_search(&PositionsByKey::key_of(bytes)).map_or(-1, |number| number as i64);
    Ok(column(py, values_of(&offsets, &bytes)?.into_iter().map(number_of).collect()))
}

/// The columns of these names.
fn columns(
    lion: &Lion,
    placements: &[Placement],
    is_wanted: impl Fn(&str) -> bool,
) -> PyResult<Vec<(&'static str, ArrayRef)>> {
    let rows: Vec<PlacedRow<'_>> =
        placements.iter().map(|placement| PlacedRow::new(lion.map(), "", placement)).collect();
    let wanted = PlacementColumn::beside_labels(lion.map().dims()).filter(|column| is_wanted(column.name));
    wanted.map(|column| Ok((column.name, values(column, &rows)?))).collect()
}

/// The rows that cannot be placed: the number of each, the column that is to blame if one is (both counted from 0), and
/// what is wrong.
#[pyfunction]
pub(crate) fn problems<'py>(
    py: Python<'py>,
    placer: &PyPlacer,
    x: &Bound<'py, PyAny>,
) -> PyResult<Vec<(usize, Option<usize>, String)>> {
    let (lion, rows) = (placer.lion()?, ArrayRows::of("x", x)?);
    let (cols, values) = (rows.cols(), rows.values()?);
    py.detach(|| {
        let whole = Matrix::new(rows_of(values, cols), cols, values.to_vec()).map_err(exception)?;
        if lion.check(&whole).is_ok() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (number, row) in values.chunks_exact(cols.max(1)).enumerate() {
            let row = Matrix::new(1, cols, row.to_vec()).map_err(exception)?;
            if let Err(error) = lion.check(&row) {
                let (column, problem) = problem(error)?;
                found.push((number, column, problem));
            }
        }
        Ok(found)
    })
}

fn rows_of(values: &[f32], cols: usize) -> usize {
    values.len() / cols.max(1)
}

/// The column to blame, and what is wrong; an error that is not one row's stays one.
fn problem(error: Error) -> PyResult<(Option<usize>, String)> {
    match error {
        Error::Unusable { row: Some(_), column, fault } => Ok((column, fault.to_string())),
        other => Err(exception(other)),
    }
}
