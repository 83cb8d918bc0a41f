//! How a map's places repel a row that joins them.
//!
//! In t-SNE's gradient of N points, row i is pulled by Σ pij (yi - yj) / w and pushed by Σ (yi - yj) / (Z w²), with
//! w = 1 + |yi - yj|². The weights of one row's neighbours sum to 1 and those of a row in P to about 1/N, so the push
//! that goes with the former is N / Z times the slope of φ(y) = Σ 1 / (1 + |y - yj|²), halved. Rows that are equal were
//! one row in the fit and count once, in N, in Z and in φ. Ours.

use super::descent::{DescentLane, potential};
use crate::matrix::Matrix;
use crate::tsne::{Potential, Taylor, Tree};
use rayon::prelude::*;

/// Up to so many places are summed one by one.
const FEW: usize = 512;
/// Clusters of places seen under less than this angle count as one place, where there is no grid.
const THETA: f64 = 0.4;
/// Where a place feels less than this of all others, Z / N, the map is in units that the kernel cannot tell.
const LEAST_FELT: f64 = 1e-3;
/// Where it feels more than this share of them, Z / N², the map is narrower than the kernel, and t-SNE would let it grow.
const MOST_SHARED: f64 = 0.5;

/// The repulsion of a map's places.
pub(crate) struct RepulsionField {
    source: RepulsionSource,
    /// N / Z.
    strength: f32,
    /// N / Z times φ at each row's place.
    at_rows: Vec<f32>,
}

enum RepulsionSource {
    /// Splines on a grid, of maps in the plane.
    Grid(Box<Potential>),
    /// All places.
    Few(Vec<DescentLane>),
    /// Trees, of maps on a line and in space, and of maps too wide for a grid.
    Line(Box<Tree<1>>),
    Plane(Box<Tree<2>>),
    Space(Box<Tree<3>>),
}

impl RepulsionField {
    /// Nothing where the map's places are so close together or so far apart that the kernel 1 / (1 + d²) has no
    /// meaning: such a map is not one of t-SNE, or is in other units. Works on the threads of the pool it is called in.
    pub(crate) fn new(y: &Matrix) -> Option<Self> {
        let (source, at_rows, z) = match y.cols() {
            _ if y.rows() <= FEW => few(y),
            1 => with_tree(y, RepulsionSource::Line),
            3 => with_tree(y, RepulsionSource::Space),
            _ => plane(y),
        };
        let rows = y.rows() as f64;
        let strength = (rows / z) as f32;
        let has_meaning = z >= LEAST_FELT * rows && z <= MOST_SHARED * rows * (rows - 1.0);
        has_meaning.then(|| Self {
            source,
            strength,
            at_rows: at_rows.iter().map(|v| v * strength).collect(),
        })
    }

    /// The same at a share of its strength, no more than all of it; nothing where that is next to nothing.
    pub(crate) fn weakened(mut self, share: f32) -> Option<Self> {
        /// A weaker repulsion moves no row that one could see.
        const LEAST: f32 = 0.05;
        if share.is_nan() || share < LEAST {
            return None;
        }
        let share = share.min(1.0);
        self.strength *= share;
        self.at_rows.iter_mut().for_each(|v| *v *= share);
        Some(self)
    }

    /// About how many bytes making it takes.
    pub(crate) fn memory(y: &Matrix) -> u64 {
        let rows = y.rows() as u64;
        let grid = if y.cols() == 2 { Potential::memory(y.data().as_chunks().0) } else { None };
        4 * rows + grid.unwrap_or(60 * rows)
    }

    /// N / Z.
    pub(crate) fn strength(&self) -> f32 {
        self.strength
    }

    /// N / Z times φ at a row's place.
    #[inline(always)]
    pub(crate) fn at_row(&self, row: u32) -> f32 {
        self.at_rows[row as usize]
    }

    /// Whether what repels is to be gathered anew for each row.
    pub(crate) fn depends_on_row(&self) -> bool {
        matches!(
            self.source,
            RepulsionSource::Line(_) | RepulsionSource::Plane(_) | RepulsionSource::Space(_)
        )
    }

    /// Gathers what repels a row around a place, where that differs from row to row.
    pub(super) fn gather<const D: usize>(&self, place: &[f32; D], sources: &mut Vec<DescentLane>) {
        match &self.source {
            RepulsionSource::Grid(_) | RepulsionSource::Few(_) => {}
            RepulsionSource::Line(tree) => gather(tree, place, sources),
            RepulsionSource::Plane(tree) => gather(tree, place, sources),
            RepulsionSource::Space(tree) => gather(tree, place, sources),
        }
    }

    /// φ at a place, by what was gathered near it.
    #[inline]
    pub(super) fn potential<const D: usize>(
        &self,
        place: &[f32; D],
        sources: &[DescentLane],
        y: &Matrix,
    ) -> Taylor<D> {
        match &self.source {
            RepulsionSource::Grid(grid) => match grid.at(resized(place)) {
                Some(found) => Taylor {
                    value: found.value,
                    gradient: resized(&found.gradient),
                    hessian: std::array::from_fn(|d| found.hessian.get(d).map_or([0.0; D], resized)),
                },
                // Beyond the grid, which is rare, every place is looked at.
                None => potential(&lanes(y), place),
            },
            RepulsionSource::Few(lanes) => potential(lanes, place),
            RepulsionSource::Line(_) | RepulsionSource::Plane(_) | RepulsionSource::Space(_) => {
                potential(sources, place)
            }
        }
    }
}

/// An array of another length, filled up with 0: a grid is of the plane, where both are 2.
#[inline(always)]
fn resized<T: Copy + Default, const A: usize, const B: usize>(from: &[T; A]) -> [T; B] {
    std::array::from_fn(|d| from.get(d).copied().unwrap_or_default())
}

fn few(y: &Matrix) -> (RepulsionSource, Vec<f32>, f64) {
    let lanes = lanes(y);
    let at = |place: &[f32]| match *place {
        [a] => potential(&lanes, &[a]).value,
        [a, b] => potential(&lanes, &[a, b]).value,
        _ => potential(&lanes, &[place[0], place[1], place[2]]).value,
    };
    let at_rows: Vec<f32> = y.data().par_chunks_exact(y.cols()).map(at).collect();
    let z = without_own(&at_rows);
    (RepulsionSource::Few(lanes), at_rows, z)
}

fn plane(y: &Matrix) -> (RepulsionSource, Vec<f32>, f64) {
    let places = y.data().as_chunks().0;
    match Potential::new(places) {
        Some(grid) => {
            let (at_rows, z) = (grid.at_each(places), grid.z());
            (RepulsionSource::Grid(Box::new(grid)), at_rows, z)
        }
        None => with_tree(y, RepulsionSource::Plane),
    }
}

fn with_tree<const D: usize>(
    y: &Matrix,
    source: impl FnOnce(Box<Tree<D>>) -> RepulsionSource,
) -> (RepulsionSource, Vec<f32>, f64) {
    let mut tree = Box::new(Tree::new(THETA));
    let at_rows = tree.potentials(y.data().as_chunks().0);
    let z = without_own(&at_rows);
    (source(tree), at_rows, z)
}

/// Z: each place meets itself once, at 1.
fn without_own(at_rows: &[f32]) -> f64 {
    at_rows.iter().map(|&v| f64::from(v) - 1.0).sum()
}

fn lanes(y: &Matrix) -> Vec<DescentLane> {
    let mut lanes = Vec::new();
    DescentLane::fill(&mut lanes, y.data().chunks_exact(y.cols()).map(|place| (place, 1.0)));
    lanes
}

fn gather<const D: usize, const E: usize>(tree: &Tree<E>, place: &[f32; D], sources: &mut Vec<DescentLane>) {
    let mut found = Vec::new();
    tree.sources(&resized(place), |place, count, _| found.push((*place, count)));
    DescentLane::fill(sources, found.iter().map(|(place, count)| (&place[..], *count)));
}
