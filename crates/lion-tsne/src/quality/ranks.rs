//! One row of a map among all others: their order in the data, and on the map.

use super::{LABELS_AROUND, LabelledPlaces};
use crate::index::squared_distance;
use crate::matrix::Matrix;
use crate::vectorized::vectorized;

/// What one row says of the map.
pub(super) struct RankedRow {
    /// At each scale.
    pub(super) scales: Vec<RowScale>,
    /// The share of the nearest labelled rows in the data that have its label.
    pub(super) label_share: Option<f64>,
}

/// What one row says at one scale.
pub(super) struct RowScale {
    pub(super) trustworthiness: f64,
    pub(super) continuity: f64,
    pub(super) kept: f64,
}

/// The distances of a row to all rows. Of equally far ones the first comes first; the row itself comes last.
struct Order(Vec<f32>);

impl RankedRow {
    pub(super) fn new(
        x: &Matrix,
        y: &Matrix,
        row: usize,
        scales: &[usize],
        labelled: Option<&LabelledPlaces>,
    ) -> Self {
        let most = scales.iter().copied().max().unwrap_or(0);
        let (data, places) = (Order::new(x, row), Order::new(y, row));
        let (near_rows, near_places) = (data.nearest(most, |_| true), places.nearest(most, |_| true));
        let (in_data, on_map) = (data.ranks(&near_places), places.ranks(&near_rows));
        let scale = |&k: &usize| {
            // 1 is the nearest: who is within k counts nothing, who is beyond by how far.
            let beyond =
                |ranks: &[usize]| ranks[..k].iter().map(|rank| rank.saturating_sub(k)).sum::<usize>() as f64;
            let worst = (k * (2 * x.rows() - 3 * k - 1)) as f64 / 2.0;
            RowScale {
                trustworthiness: 1.0 - beyond(&in_data) / worst,
                continuity: 1.0 - beyond(&on_map) / worst,
                kept: in_data[..k].iter().filter(|rank| **rank <= k).count() as f64 / k as f64,
            }
        };
        let label_share = labelled.and_then(|labelled| {
            let code = labelled.code(row)?;
            let near = data.nearest(LABELS_AROUND, |other| labelled.code(other as usize).is_some());
            let same = near.iter().filter(|other| labelled.code(**other as usize) == Some(code)).count();
            (!near.is_empty()).then(|| same as f64 / near.len() as f64)
        });
        Self { scales: scales.iter().map(scale).collect(), label_share }
    }
}

impl Order {
    fn new(rows: &Matrix, row: usize) -> Self {
        let from = rows.row(row);
        let mut distances: Vec<f32> = vectorized(
            #[inline(always)]
            || rows.data().chunks_exact(rows.cols()).map(|other| squared_distance(from, other)).collect(),
        );
        distances[row] = f32::INFINITY;
        Self(distances)
    }

    fn key(&self, row: u32) -> (f32, u32) {
        (self.0[row as usize], row)
    }

    /// The `k` nearest of the rows that count, nearest first.
    fn nearest(&self, k: usize, counts: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.0.len() as u32)
            .filter(|&row| self.0[row as usize] < f32::INFINITY && counts(row))
            .collect();
        let before = |a: &u32, b: &u32| {
            let (a, b) = (self.key(*a), self.key(*b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        };
        if k > 0 && k < rows.len() {
            rows.select_nth_unstable_by(k - 1, before);
            rows.truncate(k);
        }
        rows.sort_unstable_by(before);
        rows.truncate(k);
        rows
    }

    /// The rank of each of these rows among all others; 1 is the nearest.
    fn ranks(&self, rows: &[u32]) -> Vec<usize> {
        let mut keys: Vec<(f32, u32)> = rows.iter().map(|&row| self.key(row)).collect();
        keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some(&(farthest, _)) = keys.last() else { return Vec::new() };
        // How many rows are between a key and the one before it.
        let mut between = vec![0; keys.len() + 1];
        for (row, &distance) in (0u32..).zip(&self.0).filter(|(_, distance)| **distance <= farthest) {
            between[keys.partition_point(|key| *key <= (distance, row))] += 1;
        }
        let mut nearer = 0;
        let ranks: Vec<usize> = between[..keys.len()]
            .iter()
            .map(|count| {
                nearer += count;
                nearer + 1
            })
            .collect();
        let at = |&row: &u32| ranks[keys.partition_point(|key| *key < self.key(row))];
        rows.iter().map(at).collect()
    }
}
