//! One more row joins a map: the exact affinities and the KL divergence of N + 1 points, of which nothing is built anew
//! that did not change.
//!
//! Sources: van der Maaten and Hinton (2008), "Visualizing Data using t-SNE", for affinities and divergence; Boytsov,
//! Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional Datasets with
//! LION-tSNE", for the measure of N + 1 points. The update from N to N + 1 is ours.

mod field;
mod gaussian;
mod kl;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use field::StudentField;
pub use kl::{JoinedKl, RowKl};

use gaussian::{Gaussian, KnownGaussian, cold_start};
use lion_tsne::numerics::vectorized;
use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;

/// Numbers worked on in one loop, which is cut into registers: sums are kept lane by lane, always in the same order.
const LANES: usize = 64;
/// Rows whose distances from another are summed up side by side.
const GROUP: usize = 16;

/// A map's rows and places, made ready for one more.
pub(crate) struct Joined {
    rows: usize,
    cols: usize,
    /// Rows in groups; in a group one column after the other.
    groups: Vec<[f32; GROUP]>,
    /// ln(perplexity).
    target: f64,
    gaussians: Vec<KnownGaussian>,
    pub(crate) field: StudentField,
    /// Σ 1 / (1 + |yi - yj|²) of the map.
    pub(crate) z: f64,
}

/// A row that joins.
pub(crate) struct Newcomer {
    /// The nearest row of the map; of equal ones the first.
    pub(crate) nearest: usize,
    /// pxj of the N + 1 points, filled up with 0 to whole lanes.
    pub(crate) p: Vec<f64>,
    /// The Gaussian of each row of the map, the newcomer among the others.
    gaussians: Vec<Gaussian>,
}

impl Joined {
    /// σ of each row by the perplexity, over all other rows. Works on the threads of the pool it is called in.
    pub(crate) fn new(x: &Matrix, y: &Matrix, perplexity: f64) -> Result<Self> {
        if x.rows() < 2 {
            return Err(Error::Data("a map of one row has no affinities: fit at least two rows".into()));
        }
        let field = StudentField::new(y);
        let mut joined = Self {
            rows: x.rows(),
            cols: x.cols(),
            groups: grouped(x),
            target: perplexity.ln(),
            gaussians: Vec::new(),
            z: field.z(),
            field,
        };
        joined.gaussians = (0..x.rows())
            .into_par_iter()
            .map(|i| {
                let mut others = joined.distances2(x.row(i));
                others.remove(i);
                KnownGaussian::new(&others, joined.target)
            })
            .collect();
        Ok(joined)
    }

    /// About how many bytes that takes.
    pub(crate) fn memory(rows: usize, cols: usize) -> u64 {
        rows as u64 * (4 * cols as u64 + 200)
    }

    /// A row joins, preprocessed already: with σ of the map's rows as they were, or searched anew with the row among the
    /// others.
    pub(crate) fn join(&self, row: &[f32], new_sigma: bool) -> Newcomer {
        let distances2 = self.distances2(row);
        let nearest =
            (1..self.rows).fold(0, |best, i| if distances2[i] < distances2[best] { i } else { best });
        let own = Gaussian::search(&distances2, cold_start(&distances2), self.target);
        let gaussian = |(i, (known, &distance2)): (usize, (&KnownGaussian, &f64))| match new_sigma {
            true => known.adapted(distance2, self.target).unwrap_or_else(|| self.searched(i, distance2)),
            false => known.with(distance2),
        };
        let gaussians: Vec<Gaussian> =
            self.gaussians.iter().zip(&distances2).enumerate().map(gaussian).collect();
        let scale = 1.0 / (2.0 * (self.rows + 1) as f64);
        let mut p = vec![0.0; self.rows.next_multiple_of(LANES)];
        for ((p, &distance2), gaussian) in p.iter_mut().zip(&distances2).zip(&gaussians) {
            *p = scale * (own.share(distance2) + gaussian.share(distance2));
        }
        Newcomer { nearest, p, gaussians }
    }

    /// The gaussian of row `i` with another row at this distance, searched among all rows.
    fn searched(&self, i: usize, distance2: f64) -> Gaussian {
        let mut others = self.distances2(&self.row(i));
        others[i] = distance2;
        Gaussian::search(&others, self.gaussians[i].beta().ln(), self.target)
    }

    fn row(&self, i: usize) -> Vec<f32> {
        let group = &self.groups[i / GROUP * self.cols..][..self.cols];
        group.iter().map(|column| column[i % GROUP]).collect()
    }

    /// The squared distances of all rows from this one, in f64.
    fn distances2(&self, row: &[f32]) -> Vec<f64> {
        let mut distances2 = vec![0.0; self.rows.next_multiple_of(GROUP)];
        self.fill_distances2(row, 0, &mut distances2);
        distances2.truncate(self.rows);
        distances2
    }

    /// The same from a group of rows on.
    fn fill_distances2(&self, row: &[f32], first_group: usize, distances2: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                let groups = self.groups[first_group * self.cols..].chunks_exact(self.cols);
                for (distances2, group) in distances2.as_chunks_mut::<GROUP>().0.iter_mut().zip(groups) {
                    let mut sums = [0.0; GROUP];
                    for (column, &here) in group.iter().zip(row) {
                        for lane in 0..GROUP {
                            let difference = f64::from(column[lane]) - f64::from(here);
                            sums[lane] += difference * difference;
                        }
                    }
                    *distances2 = sums;
                }
            },
        );
    }
}

fn grouped(x: &Matrix) -> Vec<[f32; GROUP]> {
    let cols = x.cols();
    let mut groups = vec![[0.0; GROUP]; x.rows().div_ceil(GROUP) * cols];
    for (i, row) in x.data().chunks_exact(cols).enumerate() {
        for (column, &v) in groups[i / GROUP * cols..].iter_mut().zip(row) {
            column[i % GROUP] = v;
        }
    }
    groups
}
