//! Clusters by how densely places lie, as a tree that can be cut at several levels of detail.
//!
//! Each place belongs with the densest of its neighbours, and so on up to a peak. A peak ends where the densest way from it
//! to a denser one is sparsest: the saddle. How many times as dense as the saddle it is, its prominence, says how much it
//! is a cluster of its own. As ToMATo (Chazal, Guibas, Oudot & Skraba 2013, Persistence-Based Clustering in Riemannian
//! Manifolds), with the ratio of densities in the place of their difference, and with neighbourhoods that end where a gap
//! begins: so a cluster of few rows is seen whole, and the density of large ones rests on many.
//!
//! Deterministic, and as quick as finding the neighbours.

mod islands;
mod levels;
#[cfg(test)]
mod tests;

pub(crate) use levels::{Level, clusters, levels};

use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use crate::random::Random;
use rayon::prelude::*;

/// Of more places than this a sample is divided, and the others go with the nearest of it.
const SAMPLE: usize = 100_000;
/// Nearest places that tell how dense it is around one: at least, and at most.
const AROUND: std::ops::RangeInclusive<usize> = 12..=64;
/// The same as a share of the square root of the places.
const AROUND_ROOT: f64 = 0.25;
/// A neighbourhood does not end before it has so many places.
const NEAREST: usize = 4;
/// It ends at a gap that places strewn evenly have with this chance.
const GAP_CHANCE: f64 = 1e-4;
/// So often is the logarithm of the density averaged over neighbourhoods.
const SMOOTHINGS: usize = 2;
/// Distances are taken to be at least this share of the map's extent.
const FINEST: f64 = 1e-6;

/// The peaks of density, and which place belongs to which.
pub(crate) struct DensityTree {
    /// The densest first, so that a parent comes before its children.
    peaks: Vec<Peak>,
    /// The peak of each place.
    of_place: Vec<u32>,
}

/// A place that is denser than all its neighbours.
#[derive(Clone, Copy, Debug)]
struct Peak {
    /// The denser peak that it is joined to at its saddle; for the densest of an island, one of the nearest larger island.
    parent: Option<u32>,
    /// The logarithm of how many times as dense as its saddle it is; infinite where there is no way to the parent.
    prominence: f64,
}

impl DensityTree {
    /// Of the places of a map, with a tree over them.
    pub(crate) fn new(y: &Matrix, tree: &KdTree) -> Self {
        if y.rows() <= SAMPLE {
            return Self::of_all(y, tree);
        }
        let chosen = Random::new(0).sample(y.rows(), SAMPLE);
        let sample = y.select(&chosen);
        let sample_tree = KdTree::new(sample.data(), y.cols());
        let Self { peaks, of_place } = Self::of_all(&sample, &sample_tree);
        let nearest = |row: usize| {
            let found = sample_tree.nearest(y.row(row), 1, None);
            found.first().map_or(0, |(_, nearest)| of_place[*nearest as usize])
        };
        Self { peaks, of_place: (0..y.rows()).into_par_iter().map(nearest).collect() }
    }

    fn of_all(y: &Matrix, tree: &KdTree) -> Self {
        let near = Neighbourhoods::new(y, tree);
        let mut climb = Climb::new(near.densities(), &near);
        climb.run();
        let (mut peaks, of_place) = climb.peaks();
        islands::join(&mut peaks, &of_place, y, tree);
        Self { peaks, of_place }
    }
}

/// For each place the places around it, as far as there is no gap.
struct Neighbourhoods {
    /// Places, `around` for each, nearest first.
    near: Vec<u32>,
    around: usize,
    /// How many of them there are before a gap.
    lengths: Vec<u32>,
    /// The logarithm of the density at each place, but for a constant.
    log_density: Vec<f64>,
}

impl Neighbourhoods {
    fn new(y: &Matrix, tree: &KdTree) -> Self {
        let (places, dims) = (y.rows(), y.cols() as f64);
        let wanted = (AROUND_ROOT * (places as f64).sqrt()).round() as usize;
        // A single place has none around it, and still a slot of its own.
        let around = wanted.clamp(*AROUND.start(), *AROUND.end()).min(places.saturating_sub(1)).max(1);
        let finest = (FINEST * extent(y)).powi(2).max(f64::MIN_POSITIVE);
        let mut near = vec![0; places * around];
        let (lengths, log_density) = (0..places)
            .into_par_iter()
            .zip(near.par_chunks_mut(around))
            .map(|(place, near)| {
                let found = tree.nearest(y.row(place), around, Some(place as u32));
                let distances2: Vec<f64> = found.iter().map(|(d2, _)| d2.max(finest)).collect();
                near.iter_mut().zip(&found).for_each(|(slot, (_, other))| *slot = *other);
                let length = before_gap(&distances2, dims);
                if length == 0 {
                    return (0, 0.0);
                }
                let mean = distances2[..length].iter().sum::<f64>() / length as f64;
                (length as u32, (length as f64).ln() - 0.5 * dims * mean.ln())
            })
            .unzip();
        Self { near, around, lengths, log_density }
    }

    fn of(&self, place: u32) -> &[u32] {
        let start = place as usize * self.around;
        &self.near[start..start + self.lengths[place as usize] as usize]
    }

    /// The logarithm of the density, averaged over neighbourhoods: chance makes fewer peaks, and no average reaches across a
    /// gap.
    fn densities(&self) -> Vec<f64> {
        let mut density = self.log_density.clone();
        for _ in 0..SMOOTHINGS {
            let smooth = |place: u32| {
                let near = self.of(place);
                let sum: f64 = near.iter().map(|&other| density[other as usize]).sum();
                (density[place as usize] + sum) / (near.len() + 1) as f64
            };
            density = (0..density.len() as u32).into_par_iter().map(smooth).collect();
        }
        density
    }
}

/// How many of the nearest come before a gap. Of places strewn evenly the next is more than r times as far as the j-th with
/// chance r^(-j D).
fn before_gap(distances2: &[f64], dims: f64) -> usize {
    let is_gap =
        |&j: &usize| 0.5 * dims * j as f64 * (distances2[j] / distances2[j - 1]).ln() > -GAP_CHANCE.ln();
    (NEAREST..distances2.len()).find(is_gap).unwrap_or(distances2.len())
}

fn extent(y: &Matrix) -> f64 {
    let side = |d: usize| {
        let along = || y.data().iter().skip(d).step_by(y.cols()).map(|&v| f64::from(v));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    (0..y.cols()).map(side).fold(0.0, f64::max)
}

/// From the densest place to the sparsest: peaks, and where their slopes meet.
struct Climb<'a> {
    near: &'a Neighbourhoods,
    density: Vec<f64>,
    /// Places, the densest first, and where in this order each is.
    order: Vec<u32>,
    rank: Vec<u32>,
    /// The peak that each place belongs to.
    peak: Vec<u32>,
    /// Places whose slopes have met, as a forest.
    joined: Vec<u32>,
    /// For each peak that ended, its parent and prominence.
    ended: Vec<Option<(u32, f64)>>,
}

impl<'a> Climb<'a> {
    fn new(density: Vec<f64>, near: &'a Neighbourhoods) -> Self {
        let count = density.len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by(|&a, &b| density[b as usize].total_cmp(&density[a as usize]).then(a.cmp(&b)));
        let mut rank = vec![0; density.len()];
        (0..).zip(&order).for_each(|(at, &place)| rank[place as usize] = at);
        let joined = (0..count).collect();
        let ended = vec![None; density.len()];
        Self { near, order, rank, peak: vec![0; density.len()], joined, ended, density }
    }

    fn run(&mut self) {
        for at in 0..self.order.len() {
            self.add(self.order[at]);
        }
    }

    /// Adds the next place: it belongs with the densest place that has it for a neighbour, too, and joins all of these.
    fn add(&mut self, place: u32) {
        let near = self.near;
        let rank = |other: u32| self.rank[other as usize];
        let denser: Vec<u32> =
            near.of(place).iter().copied().filter(|&other| rank(other) < rank(place)).collect();
        let Some(&nearest) = denser.first() else {
            self.peak[place as usize] = place;
            return;
        };
        let mut mutual: Vec<u32> =
            denser.into_iter().filter(|&other| near.of(other).contains(&place)).collect();
        mutual.sort_unstable_by_key(|&other| rank(other));
        // A place beside a cluster that does not see it belongs there but is no way into it.
        let first = mutual.first().copied().unwrap_or(nearest);
        self.peak[place as usize] = self.peak[first as usize];
        self.joined[place as usize] = root(&mut self.joined, first);
        for other in mutual {
            let (a, b) = (root(&mut self.joined, place), root(&mut self.joined, other));
            if a == b {
                continue;
            }
            let (higher, lower) = if self.rank[a as usize] < self.rank[b as usize] { (a, b) } else { (b, a) };
            let prominence = self.density[lower as usize] - self.density[place as usize];
            self.ended[lower as usize] = Some((higher, prominence));
            self.joined[lower as usize] = higher;
        }
    }

    /// The peaks in order, and the peak of each place.
    fn peaks(self) -> (Vec<Peak>, Vec<u32>) {
        let tops: Vec<u32> =
            self.order.iter().copied().filter(|&place| self.peak[place as usize] == place).collect();
        let mut number = vec![0; self.order.len()];
        (0..).zip(&tops).for_each(|(at, &place)| number[place as usize] = at);
        let peak = |&place: &u32| match self.ended[place as usize] {
            Some((parent, prominence)) => Peak { parent: Some(number[parent as usize]), prominence },
            None => Peak { parent: None, prominence: f64::INFINITY },
        };
        let of_place = self.peak.iter().map(|&place| number[place as usize]).collect();
        (tops.iter().map(peak).collect(), of_place)
    }
}

/// The root of a tree of joined things, whose paths are shortened on the way.
fn root(parent: &mut [u32], at: u32) -> u32 {
    let mut top = at;
    while parent[top as usize] != top {
        top = parent[top as usize];
    }
    let mut walk = at;
    while parent[walk as usize] != top {
        walk = std::mem::replace(&mut parent[walk as usize], top);
    }
    top
}
