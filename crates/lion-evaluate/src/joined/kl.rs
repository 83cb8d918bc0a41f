//! The KL divergence of a map and one more row, wherever that row is put.
//!
//! Source: van der Maaten and Hinton (2008), "Visualizing Data using t-SNE"; that most of the sum need not be done
//! again is ours.

use super::field::{StudentField, ln};
use super::gaussian::Gaussian;
use super::{GROUP, Joined, LANES};
use lion_tsne::memory::check_memory;
use lion_tsne::numerics::{exp, vectorized};
use lion_tsne::{Map, Result};
use rayon::prelude::*;

/// The KL divergence of N + 1 points: of P, exact, every σ searched with the new row among the others, from the Q of the
/// map's places and one more. The measure by which ways of placing are compared.
///
/// ```
/// use lion_evaluate::JoinedKl;
/// use lion_tsne::{Fit, Matrix, ignore};
///
/// # fn main() -> lion_tsne::Result<()> {
/// let grid = (0..100).flat_map(|i| [(i % 10) as f32, (i / 10) as f32]);
/// let rows = Matrix::new(100, 2, grid.collect())?;
/// let map = Fit::default().adopt(rows.clone(), rows, &mut ignore)?;
/// let kl = JoinedKl::new(&map)?;
/// let row = kl.with_row(&[4.5, 4.5]);
/// assert!(row.at(&[4.5, 4.5]) < row.at(&[0.5, 8.5]));
/// # Ok(())
/// # }
/// ```
pub struct JoinedKl {
    joined: Joined,
    /// Squared distances of row i to the rows behind it, one i after the other, each filled up to whole lanes.
    distances2: Vec<[f64; LANES]>,
    own: f64,
}

/// A new row, of which the place is still open.
pub struct RowKl<'a> {
    field: &'a StudentField,
    z: f64,
    p: Vec<f64>,
    /// All of the divergence that does not depend on the place.
    fixed: f64,
}

impl JoinedKl {
    /// Computes all distances between the map's rows, and keeps them. Works on the threads of the pool it is called in.
    pub fn new(map: &Map) -> Result<Self> {
        let (rows, cols) = (map.x().rows(), map.x().cols());
        let lanes: usize = (1..=rows).map(|i| (rows - i).div_ceil(LANES)).sum();
        check_memory(
            "the exact KL divergence",
            (lanes * LANES * 8) as u64 + Joined::memory(rows, cols),
            "fit fewer rows, or do without it",
        )?;
        let joined = Joined::new(map.x(), map.y(), map.perplexity())?;
        let mut kl = Self { distances2: pair_distances(&joined, lanes), joined, own: 0.0 };
        let gaussians: Vec<Gaussian> = kl.joined.gaussians.iter().map(|known| known.gaussian).collect();
        kl.own = kl.pairs(&gaussians) / rows as f64 - (2.0 * rows as f64).ln() + kl.joined.z.ln();
        Ok(kl)
    }

    /// The KL divergence of the map as it is.
    pub fn own(&self) -> f64 {
        self.own
    }

    /// A row joins, preprocessed already. One pass over all pairs, on this thread.
    pub fn with_row(&self, row: &[f32]) -> RowKl<'_> {
        let newcomer = self.joined.join(row, true);
        let points = (self.joined.rows + 1) as f64;
        // pij (1 + |yi - yj|²) under one logarithm is what a pair adds; the place of the row comes later.
        let pairs = self.pairs(&newcomer.gaussians) / points - (2.0 * points).ln();
        // For the pairs with the row, both ways: Σ 2 p ln(2 points p), of which 0 is 0.
        let entropy = |&p: &f64| if p > 0.0 { 2.0 * p * (2.0 * points * p).ln() } else { 0.0 };
        let fixed = pairs + newcomer.p.iter().map(entropy).sum::<f64>();
        RowKl { field: &self.joined.field, z: self.joined.z, p: newcomer.p, fixed }
    }

    /// Σ v ln(v (1 + |yi - yj|²)) over the pairs of the map's rows, v = p(j|i) + p(i|j).
    fn pairs(&self, gaussians: &[Gaussian]) -> f64 {
        match self.joined.field.dims() {
            1 => self.pairs_in::<1>(gaussians),
            3 => self.pairs_in::<3>(gaussians),
            _ => self.pairs_in::<2>(gaussians),
        }
    }

    fn pairs_in<const D: usize>(&self, gaussians: &[Gaussian]) -> f64 {
        let field = &self.joined.field;
        // After the last row any gaussian will do: at infinite distance none has weight.
        let column = |of: fn(&Gaussian) -> f64, after: f64| {
            let mut column: Vec<f64> = gaussians.iter().map(of).collect();
            column.resize(gaussians.len() + LANES, after);
            column
        };
        let betas = column(|gaussian| gaussian.beta, 1.0);
        let nearest = column(|gaussian| gaussian.nearest, 0.0);
        let log_sums = column(|gaussian| gaussian.log_sum, 0.0);
        let places: [&[f64]; D] = std::array::from_fn(|d| field.column(d));
        vectorized(
            #[inline(always)]
            || {
                let (mut total, mut rest) = (0.0, &self.distances2[..]);
                for (i, gaussian) in gaussians.iter().enumerate() {
                    let (distances2, behind) = rest.split_at((gaussians.len() - 1 - i).div_ceil(LANES));
                    rest = behind;
                    let here: [f64; D] = field.place(i);
                    let mut sums = [0.0; LANES];
                    for (at, distances2) in distances2.iter().enumerate() {
                        let first = i + 1 + at * LANES;
                        let behind = [lanes(&betas, first), lanes(&nearest, first), lanes(&log_sums, first)];
                        let there = places.map(|column| lanes(column, first));
                        add_pairs(distances2, gaussian, &here, behind, there, &mut sums);
                    }
                    total += sums.iter().sum::<f64>();
                }
                total
            },
        )
    }
}

#[inline(always)]
fn lanes(column: &[f64], first: usize) -> &[f64; LANES] {
    column[first..].first_chunk().unwrap_or(&[0.0; LANES])
}

/// The pairs of one row with rows behind it.
#[inline(always)]
fn add_pairs<const D: usize>(
    distances2: &[f64; LANES],
    gaussian: &Gaussian,
    here: &[f64; D],
    [betas, nearest, log_sums]: [&[f64; LANES]; 3],
    there: [&[f64; LANES]; D],
    sums: &mut [f64; LANES],
) {
    for lane in 0..LANES {
        let [forth] = exp([-gaussian.beta * (distances2[lane] - gaussian.nearest) - gaussian.log_sum]);
        let [back] = exp([-betas[lane] * (distances2[lane] - nearest[lane]) - log_sums[lane]]);
        let mut w = 1.0;
        for d in 0..D {
            let difference = here[d] - there[d][lane];
            w += difference * difference;
        }
        let v = forth + back;
        sums[lane] += v * ln(v * w);
    }
}

fn pair_distances(joined: &Joined, lanes: usize) -> Vec<[f64; LANES]> {
    // Infinitely far, or as good as that: no weight under any gaussian.
    let mut distances2 = vec![[f64::MAX; LANES]; lanes];
    let (mut rest, mut rows) = (&mut distances2[..], Vec::with_capacity(joined.rows));
    for i in 0..joined.rows {
        let (row, behind) = rest.split_at_mut((joined.rows - 1 - i).div_ceil(LANES));
        rows.push((i, row));
        rest = behind;
    }
    rows.into_par_iter().for_each(|(i, out)| {
        let first_group = (i + 1) / GROUP;
        let mut from = vec![0.0; joined.rows.next_multiple_of(GROUP).saturating_sub(first_group * GROUP)];
        joined.fill_distances2(&joined.row(i), first_group, &mut from);
        let behind = i + 1 - first_group * GROUP..joined.rows - first_group * GROUP;
        out.as_flattened_mut().iter_mut().zip(&from[behind]).for_each(|(out, &distance2)| *out = distance2);
    });
    distances2
}

impl RowKl<'_> {
    /// The KL divergence with the row at this place. A pass over the places.
    pub fn at(&self, place: &[f32]) -> f64 {
        match self.field.dims() {
            1 => self.at_place::<1>(place),
            3 => self.at_place::<3>(place),
            _ => self.at_place::<2>(place),
        }
    }

    fn at_place<const D: usize>(&self, place: &[f32]) -> f64 {
        let place: [f64; D] = std::array::from_fn(|d| place.get(d).copied().map_or(0.0, f64::from));
        let pull = self.field.pull(&place, &self.p);
        self.fixed + 2.0 * pull.logs + (self.z + 2.0 * pull.push.near).ln()
    }
}
