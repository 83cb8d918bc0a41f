//! Neighbours that were found elsewhere: what is asked of them, and what a fit takes of them.

use super::{Neighbours, squared_distance};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::preprocess::Unique;
use rayon::prelude::*;
use std::mem;

/// Distances beyond this cannot be squared in 32 bits.
const FARTHEST: f64 = 1e18;

impl Neighbours {
    /// From row numbers, counted from 0, and distances that are not squared: `k` for each row, row after row, as other
    /// programs give them. [`Fit::neighbours`](crate::Fit::neighbours) says what a fit asks of them.
    pub fn from_distances(k: usize, indices: &[i64], distances: &[f64]) -> Result<Self> {
        let list_of = |at: usize| at / k.max(1);
        let bad_row = indices.iter().position(|&index| u32::try_from(index).is_err());
        if let Some(at) = bad_row {
            return Err(no_such_row(list_of(at), indices[at], indices.len() / k.max(1)));
        }
        if let Some(at) = distances.iter().position(|distance| !(0.0..=FARTHEST).contains(distance)) {
            return Err(no_distance(list_of(at), distances[at]));
        }
        Ok(Self {
            k,
            indices: indices.iter().map(|&index| index as u32).collect(),
            distances2: distances.iter().map(|distance| (distance * distance) as f32).collect(),
        })
    }

    /// The nearest `3 * perplexity` of each row that differs from those before it, among such rows: the row itself,
    /// wherever it is in its list, and all but the first of equal ones are left out. Refuses what cannot be.
    pub(crate) fn of_distinct(&self, unique: &Unique, perplexity: f64) -> Result<Self> {
        let Unique { representatives, place_of } = unique;
        let rows = place_of.as_ref().map_or(representatives.len(), Vec::len);
        self.check_shape(rows)?;
        let wanted = wanted(perplexity, representatives.len());
        let mut found = Self { k: wanted, indices: Vec::new(), distances2: Vec::new() };
        let (mut named, mut taken) = (RowMarks::new(rows), RowMarks::new(representatives.len()));
        let lists = self.indices.chunks_exact(self.k).zip(self.distances2.chunks_exact(self.k));
        for (row, (indices, distances2)) in (0u32..).zip(lists) {
            check_list(row, indices, distances2, &mut named, rows)?;
            let place = |row: u32| place_of.as_ref().map_or(row, |place_of| place_of[row as usize]);
            let own = place(row);
            if representatives[own as usize] != row {
                continue;
            }
            let others = indices.iter().map(|&index| place(index)).zip(distances2);
            let others = others.filter(|&(other, _)| other != own && taken.is_new(other, row)).take(wanted);
            let before = found.indices.len();
            for (other, &distance2) in others {
                found.indices.push(other);
                found.distances2.push(distance2);
            }
            let count = found.indices.len() - before;
            if count < wanted {
                return Err(too_few(row, count, wanted, perplexity));
            }
        }
        Ok(found)
    }

    /// How far each row of `x` is from the nearest of its neighbours, by the rows themselves: the distances given may be
    /// others.
    pub(crate) fn nearest_in(&self, x: &Matrix) -> Vec<f32> {
        let lists = self.indices.par_chunks_exact(self.k).enumerate();
        let distance2 = |row: usize, other: u32| squared_distance(x.row(row), x.row(other as usize));
        lists
            .map(|(row, others)| {
                others.iter().map(|&other| distance2(row, other)).fold(f32::INFINITY, f32::min).sqrt()
            })
            .collect()
    }

    fn check_shape(&self, rows: usize) -> Result<()> {
        let (indices, distances) = (self.indices.len(), self.distances2.len());
        if indices != distances {
            return refuse(format!(
                "are {indices} row numbers but {distances} distances: there must be as many"
            ));
        }
        if self.k == 0 || self.k.checked_mul(rows) != Some(indices) {
            let lists = indices / self.k.max(1);
            return refuse(format!(
                "are {lists} lists of {}, and there are {rows} rows: bring one list for each row",
                self.k
            ));
        }
        Ok(())
    }
}

/// How many neighbours a row has in a fit: three times the perplexity, or all others.
pub(crate) fn wanted(perplexity: f64, rows: usize) -> usize {
    (3.0 * perplexity).ceil().min(rows.saturating_sub(1) as f64) as usize
}

/// Refuses a list with rows that are not there or are there twice, and distances that are none or are not in order.
fn check_list(
    row: u32,
    indices: &[u32],
    distances2: &[f32],
    named: &mut RowMarks,
    rows: usize,
) -> Result<()> {
    let mut nearest = 0.0;
    for (&index, &distance2) in indices.iter().zip(distances2) {
        if index as usize >= rows {
            return Err(no_such_row(row as usize, i64::from(index), rows));
        }
        if !named.is_new(index, row) {
            return refuse(format!("of row {row} name row {index} twice: each may be there once"));
        }
        if !(distance2 >= 0.0 && distance2.is_finite()) {
            return Err(no_distance(row as usize, f64::from(distance2).sqrt()));
        }
        if distance2 < nearest {
            return refuse(format!(
                "of row {row} are not in order, {} comes after {}: sort each list by distance, nearest first",
                distance2.sqrt(),
                nearest.sqrt()
            ));
        }
        nearest = distance2;
    }
    Ok(())
}

/// What was seen in a list, for one list after another without clearing.
struct RowMarks(Vec<u32>);

impl RowMarks {
    fn new(count: usize) -> Self {
        Self(vec![u32::MAX; count])
    }

    /// Whether it is seen for the first time in this list.
    fn is_new(&mut self, what: u32, list: u32) -> bool {
        mem::replace(&mut self.0[what as usize], list) != list
    }
}

fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Parameter { name: "neighbours", problem })
}

fn no_such_row(row: usize, index: i64, rows: usize) -> Error {
    let last = rows.saturating_sub(1);
    let problem = format!(
        "of row {row} name row {index}, and rows are numbered from 0 to {last}: bring lists without gaps"
    );
    Error::Parameter { name: "neighbours", problem }
}

fn no_distance(row: usize, distance: f64) -> Error {
    let problem =
        format!("of row {row} have a distance of {distance}: each must be a number from 0 to {FARTHEST:e}");
    Error::Parameter { name: "neighbours", problem }
}

fn too_few(row: u32, count: usize, wanted: usize, perplexity: f64) -> Error {
    let most = (count as f64 / 0.3).floor() / 10.0;
    let advice = match most >= 1.0 {
        true => format!("bring more, or use at most {most}"),
        false => "bring more".into(),
    };
    let problem = format!(
        "{perplexity} is too large for the neighbours of row {row}, which are {count} without itself and equal rows: \
         {wanted} are needed, so {advice}"
    );
    Error::Parameter { name: "perplexity", problem }
}
