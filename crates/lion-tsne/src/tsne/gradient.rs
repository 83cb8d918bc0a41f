//! The two halves of the gradient. Attraction runs over the affinities; repulsion over all pairs, by one of three
//! methods that answer the same question: for each row, Σj (yi - yj) / (1 + |yi - yj|²)², and Z = Σij 1 / (1 + |yi - yj|²)
//! over i ≠ j.

mod attract;
mod barnes_hut;
mod exact;
mod f32x8;
mod fft;
mod points;
mod potential;
mod spline;
mod transform;
mod turns;

#[cfg(test)]
mod tests;

pub(crate) use attract::{attract, attract_in_turn, attract_rows, attraction_energy, energy_at, entropy};
pub(crate) use barnes_hut::Tree;
use exact::exact;
use fft::Grid;
pub(crate) use potential::{Potential, Taylor};
pub(crate) use turns::Turns;

/// A way to compute the repulsion, with what it keeps from one iteration to the next.
pub(crate) enum Repulsion<const D: usize> {
    /// Every pair.
    Exact,
    /// A tree; clusters seen under less than the given angle count as one point.
    BarnesHut(Box<Tree<D>>),
    /// A grid; plane maps only.
    Fft(Box<Grid>),
    /// Every pair or the grid, whichever takes less time for the map as it is now; plane maps only.
    Quicker(Box<Grid>),
}

impl<const D: usize> Repulsion<D> {
    /// By a tree with opening angle `theta`.
    pub(crate) fn barnes_hut(theta: f64) -> Self {
        Self::BarnesHut(Box::new(Tree::new(theta)))
    }

    /// By a grid.
    pub(crate) fn fft() -> Self {
        Self::Fft(Box::new(Grid::new()))
    }

    /// By every pair or by a grid.
    pub(crate) fn quicker() -> Self {
        Self::Quicker(Box::new(Grid::new()))
    }

    /// On a grid of half as many nodes along each axis, which lies elsewhere at each iteration; or on the whole one again. Other
    /// methods have no grid.
    pub(crate) fn coarsen(&mut self, iteration: Option<usize>) {
        if let Self::Fft(grid) | Self::Quicker(grid) = self {
            grid.coarsen(iteration);
        }
    }

    /// For the KL divergence of a finished map: the whole grid, or a tree with half of the opening angle. With all of it the
    /// normalisation is off by up to a hundredth, always to one side, which is much of a small KL divergence.
    pub(crate) fn refine(&mut self) {
        self.coarsen(None);
        if let Self::BarnesHut(tree) = self {
            **tree = tree.with_half_the_angle();
        }
    }

    /// Fills `forces` with each row's repulsion and returns Z.
    pub(crate) fn repel(&mut self, y: &[[f32; D]], forces: &mut [[f32; D]]) -> f64 {
        match self {
            Self::Exact => exact(y, forces),
            Self::BarnesHut(tree) => tree.repel(y, forces),
            Self::Quicker(grid) if (y.len() * y.len()) as f64 <= grid.cost(in_plane(y)) => exact(y, forces),
            Self::Fft(grid) | Self::Quicker(grid) => {
                grid.repel(in_plane(y), bytemuck::cast_slice_mut(forces.as_flattened_mut()))
            }
        }
    }
}

/// A map with D = 2 is a plane map; the grid knows no other.
fn in_plane<const D: usize>(y: &[[f32; D]]) -> &[[f32; 2]] {
    bytemuck::cast_slice(y.as_flattened())
}
