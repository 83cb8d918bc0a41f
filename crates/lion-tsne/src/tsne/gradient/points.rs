//! Between points and grid: charges out to the nodes, potential and slope back.

use super::f32x8::{F32x8, LANES, Lanes};
use super::fft::{Frame, PlanePoint};
use super::spline::{Splines, WIDTH};
use pulp::{Simd, WithSimd};

/// Adds the charges of some points to the nodes around them.
pub(super) struct Spread<'a> {
    pub(super) splines: &'a Splines,
    pub(super) points: &'a [PlanePoint],
    /// Grid row at which `nodes` begin.
    pub(super) first_row: usize,
    pub(super) width: usize,
    pub(super) nodes: &'a mut [f32],
}

impl WithSimd for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for point in self.points {
            let (column, row) = (point.x as usize, point.y as usize);
            let across = self.splines.weights(simd, point.x - column as f32 - 0.5);
            let mut down = [0.0; LANES];
            self.splines.weights(simd, point.y - row as f32 - 0.5).store(&mut down);
            let from = (row - self.first_row) * self.width + column;
            for (r, &weight) in down[..WIDTH].iter().enumerate() {
                if let Some(nodes) = lanes_mut(self.nodes, from + r * self.width) {
                    across.times_plus(simd, F32x8::splat(simd, weight), F32x8::load(nodes)).store(nodes);
                }
            }
        }
    }
}

/// What reading back needs to know.
pub(super) struct Read<'a> {
    pub(super) splines: &'a Splines,
    pub(super) frame: &'a Frame,
    pub(super) width: usize,
    pub(super) nodes: &'a [f32],
    pub(super) near: &'a [Lanes; WIDTH],
}

/// Reads the repulsion of some points; answers the sum of their potentials.
pub(super) struct Gather<'a> {
    pub(super) read: &'a Read<'a>,
    pub(super) y: &'a [[f32; 2]],
    pub(super) forces: &'a mut [[f32; 2]],
}

impl WithSimd for Gather<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let scale = (-0.5 / self.read.frame.spacing) as f32;
        let mut sum = 0.0;
        for (force, &place) in self.forces.iter_mut().zip(self.y) {
            let [potential, across, down] = self.read.at(simd, place);
            *force = [across * scale, down * scale];
            sum += f64::from(potential);
        }
        sum
    }
}

impl Read<'_> {
    /// Potential, slope across, slope down at a place, in units of the grid.
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, place: [f32; 2]) -> [f32; 3] {
        let [x, y] = self.frame.place(place);
        let (column, row) = (x as usize, y as usize);
        let (u, v) = (x - column as f32 - 0.5, y - row as f32 - 0.5);
        let splines = self.splines;
        let from = row * self.width + column;
        let all = sums(
            simd,
            [splines.weights(simd, u), splines.slopes(simd, u)],
            [splines.weights(simd, v), splines.slopes(simd, v)],
            |r| lanes(self.nodes, from + r * self.width).unwrap_or(&[0.0; LANES]),
        );
        // What the point's own charge adds has no business here, and would hold it in the middle of its cell.
        let own = sums(
            simd,
            [splines.lags(simd, u), splines.lag_slopes(simd, u)],
            [splines.lags(simd, v), splines.lag_slopes(simd, v)],
            |r| &self.near[r],
        );
        [all[0] - own[0], all[1] - own[1], all[2] - own[2]]
    }
}

/// Σ over the nodes with the products of: both weights; slope across and weight down; weight across and slope down.
#[inline(always)]
fn sums<'n, S: Simd>(
    simd: S,
    [across, across_slopes]: [F32x8<S>; 2],
    [down, down_slopes]: [F32x8<S>; 2],
    row: impl Fn(usize) -> &'n Lanes,
) -> [f32; 3] {
    let mut weights = [[0.0; LANES]; 2];
    down.store(&mut weights[0]);
    down_slopes.store(&mut weights[1]);
    let mut potential = F32x8::splat(simd, 0.0);
    let mut slope = F32x8::splat(simd, 0.0);
    for r in 0..WIDTH {
        let nodes = F32x8::load(row(r));
        potential = nodes.times_plus(simd, F32x8::splat(simd, weights[0][r]), potential);
        slope = nodes.times_plus(simd, F32x8::splat(simd, weights[1][r]), slope);
    }
    [
        across.times(simd, potential).sum(simd),
        across_slopes.times(simd, potential).sum(simd),
        across.times(simd, slope).sum(simd),
    ]
}

#[inline(always)]
pub(super) fn lanes(nodes: &[f32], from: usize) -> Option<&Lanes> {
    nodes.get(from..)?.first_chunk()
}

#[inline(always)]
fn lanes_mut(nodes: &mut [f32], from: usize) -> Option<&mut Lanes> {
    nodes.get_mut(from..)?.first_chunk_mut()
}
