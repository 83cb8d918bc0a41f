//! The potential φ(y) = Σj 1 / (1 + |y - yj|²) of a plane map's places, read at any place from the grid that also gives
//! their repulsion.

use super::f32x8::{F32x8, LANES, dispatch};
use super::fft::{Frame, Grid, SPACING};
use super::points::lanes;
use super::spline::{Splines, WIDTH};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Room around the places, in units of the map: rows at the border go a little beyond it.
const MARGIN: f32 = 4.0;
/// Nodes at most; wider maps have no grid.
const MOST_NODES: usize = 1 << 20;
/// Rows that one task reads the potential of.
const BLOCK: usize = 1024;

/// A function at a place to second order: its value, gradient and Hessian.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taylor<const D: usize> {
    pub(crate) value: f32,
    pub(crate) gradient: [f32; D],
    pub(crate) hessian: [[f32; D]; D],
}

/// φ on a grid.
pub(crate) struct Potential {
    splines: Splines,
    frame: Frame,
    /// Nodes along each axis.
    size: [usize; 2],
    nodes: Vec<f32>,
    /// What the grid leaves out: the kernel's floor, once for each row.
    floor: f32,
    z: f64,
}

impl Potential {
    /// Nothing where the map is too wide for a grid.
    pub(crate) fn new(y: &[[f32; 2]]) -> Option<Self> {
        let frame = frame(y)?;
        let mut grid = Grid::new();
        let z = grid.repel_in(&frame, y, &mut vec![[0.0; 2]; y.len()]);
        let (splines, nodes, size, floor) = grid.into_potential();
        Some(Self { splines, frame, size, nodes, floor: (y.len() as f64 * floor) as f32, z })
    }

    /// About how many bytes making it takes, of which it keeps a few.
    pub(crate) fn memory(y: &[[f32; 2]]) -> Option<u64> {
        // The kernel's transform in f64 is four times the grid and complex, half of it kept; its result, the spectrum
        // and the columns are of f32.
        frame(y).map(|frame| 70 * (frame.nodes()[0] * frame.nodes()[1]) as u64 + 24 * y.len() as u64)
    }

    /// Z: Σ φ over the places, less the 1 of each itself.
    pub(crate) fn z(&self) -> f64 {
        self.z
    }

    /// φ at each of the places.
    pub(crate) fn at_each(&self, y: &[[f32; 2]]) -> Vec<f32> {
        let mut potentials = vec![0.0; y.len()];
        let blocks = potentials.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK));
        blocks.for_each(|(potentials, y)| {
            for (potential, &place) in potentials.iter_mut().zip(y) {
                *potential = self.at(place).map_or(0.0, |found| found.value);
            }
        });
        potentials
    }

    /// φ and its derivatives at a place; nothing beyond the grid.
    #[inline]
    pub(crate) fn at(&self, place: [f32; 2]) -> Option<Taylor<2>> {
        let [x, y] = self.frame.unbounded(place);
        let [width, height] = self.size;
        let inside = |at: f32, nodes: usize| at >= 0.0 && at < nodes.saturating_sub(LANES) as f32;
        (inside(x, width) && inside(y, height)).then(|| dispatch(PotentialAt { of: self, x, y }))
    }
}

fn frame(y: &[[f32; 2]]) -> Option<Frame> {
    let frame = Frame::around(y, MARGIN, SPACING, [0.0; 2]);
    let [width, height] = frame.nodes();
    (width.saturating_mul(height) <= MOST_NODES).then_some(frame)
}

/// A place in units of the grid.
struct PotentialAt<'a> {
    of: &'a Potential,
    x: f32,
    y: f32,
}

impl WithSimd for PotentialAt<'_> {
    type Output = Taylor<2>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Taylor<2> {
        let Potential { splines, frame, size, nodes, floor, .. } = self.of;
        let (column, row) = (self.x as usize, self.y as usize);
        let (u, v) = (self.x - column as f32 - 0.5, self.y - row as f32 - 0.5);
        let mut down = [[0.0; LANES]; 3];
        splines.weights(simd, v).store(&mut down[0]);
        splines.slopes(simd, v).store(&mut down[1]);
        splines.curvatures(simd, v).store(&mut down[2]);
        // Value, slope and curvature down, for each column.
        let mut along = [F32x8::splat(simd, 0.0); 3];
        for r in 0..WIDTH {
            let nodes = lanes(nodes, (row + r) * size[0] + column).unwrap_or(&[0.0; LANES]);
            let nodes = F32x8::load(nodes);
            for (along, down) in along.iter_mut().zip(&down) {
                *along = nodes.times_plus(simd, F32x8::splat(simd, down[r]), *along);
            }
        }
        let across = [splines.weights(simd, u), splines.slopes(simd, u), splines.curvatures(simd, u)];
        let scale = (1.0 / frame.spacing) as f32;
        let mixed = sum(simd, across[1], along[1]) * scale * scale;
        let [right, down] = [sum(simd, across[2], along[0]), sum(simd, across[0], along[2])];
        Taylor {
            value: sum(simd, across[0], along[0]) + floor,
            gradient: [sum(simd, across[1], along[0]) * scale, sum(simd, across[0], along[1]) * scale],
            hessian: [[right * scale * scale, mixed], [mixed, down * scale * scale]],
        }
    }
}

/// The sum of products. A function, because a closure would not be inlined, and would get its registers through memory.
#[inline(always)]
fn sum<S: Simd>(simd: S, a: F32x8<S>, b: F32x8<S>) -> f32 {
    a.times(simd, b).sum(simd)
}
