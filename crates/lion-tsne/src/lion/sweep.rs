//! What the evaluation asks: rows each alone, and many powers at once, where what a row sees is looked up once and
//! weighed anew for each power.

use super::local::{idw, idw_weights};
use super::{Lion, Placement, Resolved, Verdict};
use crate::error::Result;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Rows looked up together.
const BLOCK: usize = 64;

impl Lion {
    /// Places rows, each as if there were no other: every outlier gets the position that it would get first.
    pub fn place_alone(&self, rows: &Matrix) -> Result<Vec<Placement>> {
        let alone = |resolved: Resolved| self.complete(vec![resolved]);
        Ok(self.resolve(rows)?.into_iter().flat_map(alone).collect())
    }

    /// The places that each of these powers would give to rows, by inverse-distance weighting within r_x and each row
    /// alone; and what is said of the rows, which no power changes.
    pub fn sweep_powers(&self, rows: &Matrix, powers: &[f64]) -> Result<(Vec<Placement>, Vec<Matrix>)> {
        let placements = self.place_alone(rows)?;
        let cols = rows.cols();
        let blocks: Result<Vec<Vec<f32>>> = self.pool.install(|| {
            let blocks = rows.data().par_chunks(BLOCK * cols).zip(placements.par_chunks(BLOCK));
            blocks.map(|(rows, placements)| self.weigh(rows, placements, powers)).collect()
        });
        let (dims, all) = (self.map.dims(), blocks?.concat());
        let of_power = |at: usize| {
            let places =
                all.chunks_exact(dims * powers.len()).flat_map(|of_row| &of_row[at * dims..][..dims]);
            Matrix::new(rows.rows(), dims, places.copied().collect())
        };
        let places = (0..powers.len()).map(of_power).collect::<Result<Vec<Matrix>>>()?;
        Ok((placements, places))
    }

    /// For each row its places, one after another.
    fn weigh(&self, rows: &[f32], placements: &[Placement], powers: &[f64]) -> Result<Vec<f32>> {
        let (rows, _) = self.map.preprocess().apply_here(rows)?;
        let is_among = |placement: &Placement| placement.verdict == Verdict::Interpolated;
        let among = rows.chunks_exact(self.map.x().cols()).zip(placements);
        let queries: Vec<f32> =
            among.filter(|(_, placement)| is_among(placement)).flat_map(|(row, _)| row).copied().collect();
        let reaches = placements
            .iter()
            .filter(|placement| is_among(placement))
            .map(|p| self.reach(f64::from(p.nearest_distance)));
        let reaches: Vec<f64> = reaches.collect();
        let mut near = self.index.within(self.map.x(), &queries, &reaches).into_iter();
        let mut places = Vec::with_capacity(placements.len() * powers.len() * self.map.dims());
        for placement in placements {
            let near = if is_among(placement) { near.next() } else { None };
            for &power in powers {
                match &near {
                    Some(near) => {
                        let weights = idw_weights(near, power, self.taper, self.r_x);
                        let place = idw(near, self.map.y(), &weights);
                        places.extend_from_slice(&self.as_place(place));
                    }
                    None => places.extend_from_slice(&placement.place),
                }
            }
        }
        Ok(places)
    }
}
