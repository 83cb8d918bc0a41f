//! What lies near a row: for people who look at it.

use super::outlier_grid::OutlierGrid;
use super::radius::share_at_least;
use super::{Lion, Placement};
use crate::error::{Error, Result};
use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use rayon::prelude::*;

impl Lion {
    /// The `k` nearest rows of the map, by their numbers in the data, and how far they are; nearest first, none
    /// missed. Of rows that equal each other the first stands for all.
    pub fn nearest(&self, row: &[f32], k: usize) -> Result<Vec<(u32, f32)>> {
        let row = Matrix::new(1, row.len(), row.to_vec())?;
        self.check(&row)?;
        let (row, _) = self.map.preprocess().apply_here(row.data())?;
        Ok(self.nearest_here(&row, k))
    }

    /// The same for row `i` of the map's own data, which is not among them.
    pub fn nearest_of(&self, i: usize, k: usize) -> Result<Vec<(u32, f32)>> {
        if i >= self.map.rows() {
            return Err(Error::Data(format!("there is no row {i} in a map of {} rows", self.map.rows())));
        }
        let itself = self.map.distinct(i);
        let mut near = self.nearest_here(self.map.x().row(itself), k.saturating_add(1));
        near.retain(|&(row, _)| self.map.distinct(row as usize) != itself);
        near.truncate(k);
        Ok(near)
    }

    fn nearest_here(&self, row: &[f32], k: usize) -> Vec<(u32, f32)> {
        let number = |row: u32| self.first_row.as_ref().map_or(row, |first| first[row as usize]);
        let near = self.nearest_distinct(row, k);
        near.into_iter().map(|(distance2, row)| (number(row), distance2.sqrt())).collect()
    }

    /// The `k` nearest distinct rows, with squared distances, nearest first, none missed.
    fn nearest_distinct(&self, row: &[f32], k: usize) -> Vec<(f32, u32)> {
        let x = self.map.x();
        let k = k.min(x.rows());
        let Some(last) = k.checked_sub(1) else { return Vec::new() };
        let seen = self.index.search(x, row, k, 0.0).pop().unwrap_or_default();
        // The k-th of all is no farther than the k-th seen, if so many were.
        let reach =
            seen.nearest.get(last).map_or(f64::INFINITY, |(distance2, _)| f64::from(distance2.sqrt()));
        let seen = match self.index.sees_all() {
            true => seen,
            false => self.index.search_all(x, row, k, 0.0, &[reach]).pop().unwrap_or_default(),
        };
        seen.nearest
    }

    /// For each of these rows, placed where it is placed, the share of its `k` nearest rows of the map that are among the `k`
    /// rows nearest to its place: how well the map shows rows that it was not fitted to.
    pub fn neighbours_kept(&self, rows: &Matrix, k: usize) -> Result<Vec<f64>> {
        let placements = self.place(rows)?;
        let (x, k) = (self.map.preprocess().apply(rows)?, k.min(self.map.x().rows()));
        let tree = KdTree::new(self.map.y().data(), self.map.dims());
        let kept = |(placement, row): (&Placement, usize)| {
            let near = self.nearest_distinct(x.row(row), k);
            let places = tree.nearest(&placement.place, k, None);
            let both = places.iter().filter(|(_, other)| near.iter().any(|(_, row)| row == other)).count();
            both as f64 / k.max(1) as f64
        };
        let rows = 0..placements.len();
        Ok(self.pool.install(|| placements.par_iter().zip(rows).map(kept).collect()))
    }

    /// The share of the map's rows whose own nearest neighbour is at least so far.
    pub(crate) fn distance_share(&self, distance: f32) -> f64 {
        share_at_least(&self.sorted_nn_x, distance)
    }

    /// The cells of the map, none of them handed out.
    pub(crate) fn fresh_grid(&self) -> OutlierGrid {
        self.grid.clone()
    }

    /// Runs work on the threads of this map.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}
