//! Inverse-distance weighting over all rows: LION's rule without its radius.
//!
//! Source: Shepard (1968), "A two-dimensional interpolation function for irregularly-spaced data".

use super::{PlacingMethod, Training};
use lion_tsne::numerics::{squared_distance, vectorized};
use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;

/// The greatest power: far below it, the nearest row alone counts.
const GREATEST: f64 = 1e6;

/// Σ wi yi / Σ wi, wi = |x - xi|^-p.
pub(super) struct Idw {
    x: Matrix,
    y: Matrix,
    power: f64,
}

impl Idw {
    pub(super) fn new(training: &Training<'_>, power: f64) -> Result<Self> {
        if !(power > 0.0 && power <= GREATEST) {
            return Err(Error::Parameter {
                name: "power",
                problem: format!("is {power:e}, and must be above 0 and at most {GREATEST:e}"),
            });
        }
        Ok(Self { x: training.x.clone(), y: training.y.clone(), power })
    }

    fn place(&self, row: &[f32], distances2: &mut [f32]) -> Vec<f32> {
        vectorized(
            #[inline(always)]
            || {
                for (distance2, other) in distances2.iter_mut().zip(self.x.data().chunks_exact(row.len())) {
                    *distance2 = squared_distance(row, other);
                }
            },
        );
        let nearest = distances2.iter().copied().fold(f32::INFINITY, f32::min);
        let (mut total, mut sums) = (0.0, vec![0.0; self.y.cols()]);
        for (i, &distance2) in distances2.iter().enumerate() {
            // Divided by the nearest distance first: no power of it can overflow then.
            let weight = match nearest > 0.0 {
                true => (f64::from(nearest) / f64::from(distance2)).powf(0.5 * self.power),
                false => f64::from(u8::from(distance2 == 0.0)),
            };
            total += weight;
            sums.iter_mut().zip(self.y.row(i)).for_each(|(sum, &v)| *sum += weight * f64::from(v));
        }
        sums.into_iter().map(|sum| (sum / total) as f32).collect()
    }
}

impl PlacingMethod for Idw {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        let places: Vec<f32> = rows
            .data()
            .par_chunks_exact(rows.cols())
            .map_init(|| vec![0.0; self.x.rows()], |distances2, row| self.place(row, distances2))
            .flatten_iter()
            .collect();
        Matrix::new(rows.rows(), self.y.cols(), places)
    }
}
