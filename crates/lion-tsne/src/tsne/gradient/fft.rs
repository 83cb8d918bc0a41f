//! Repulsion by a grid (2-D): the whole of it is one potential and its slope.
//!
//! With φ(y) = Σj 1 / (1 + |y - yj|²), the repulsion Σj (yi - yj) / (1 + |yi - yj|²)² is -∇φ(yi) / 2 and Z is Σ φ(yi) - N:
//! one convolution answers both, where interpolating the force itself takes four. The kernel is interpolated between
//! the nodes of a grid by B-splines, on the side of the sources and on the side of the targets; the splines'
//! own blur is divided out in frequency space. The slope comes from the splines' derivatives. Interpolation on a grid is of
//! Linderman, Rachh, Hoskins, Steinerberger & Kluger 2019, Fast Interpolation-Based t-SNE (FIt-SNE); one potential,
//! B-splines and the division of their blur are as in smooth particle-mesh Ewald (Essmann et al. 1995).

use super::f32x8::{LANES, dispatch};
use super::points::{Gather, Read, Spread};
use super::spline::{Splines, WIDTH};
use super::transform::Transform;
use rayon::prelude::*;

/// Distance between nodes where the map is wide: the kernel has width 1, and this resolves it (see the tests for
/// how well).
pub(super) const SPACING: f64 = 0.4;
/// The same where a rough repulsion will do: on the way, not where a map comes to rest.
const COARSE: f64 = 2.0 * SPACING;
/// A map narrower than this many nodes gets a finer grid instead of a smaller one.
const NODES: usize = 40;
/// Nodes between the first that a point touches and the one before it.
const BEFORE: f64 = (WIDTH / 2 - 1) as f64;
/// Rows of the grid in one band. A point touches its own band and the next one, so every other band can be filled at
/// the same time.
const BAND: usize = 8;

/// Where the grid of an iteration begins: the points of an even, additive sequence (Roberts 2018, The Unreasonable Effectiveness of
/// Quasirandom Sequences). On a coarse grid that always began at the lowest places, the rows there would meet the same error at each
/// iteration, and momentum would carry them out of the map.
fn shift(iteration: usize) -> [f64; 2] {
    const PLASTIC: f64 = 1.324_717_957_244_746;
    [1.0 / PLASTIC, 1.0 / (PLASTIC * PLASTIC)].map(|step| (iteration as f64 * step).fract())
}

/// A grid that is kept from one iteration to the next.
pub(crate) struct Grid {
    /// The largest distance between nodes.
    spacing: f64,
    /// How far it begins before the map, in nodes.
    shift: [f64; 2],
    splines: Splines,
    transform: Option<Transform>,
    /// Potential (or charge) at the nodes, row after row.
    nodes: Vec<f32>,
    /// Points in the order of their bands: place in units of the grid.
    sorted: Vec<PlanePoint>,
    unsorted: Vec<PlanePoint>,
    /// Where each band's points begin in `sorted`.
    bands: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct PlanePoint {
    pub(super) x: f32,
    pub(super) y: f32,
}

/// Where the grid lies.
pub(super) struct Frame {
    origin: [f32; 2],
    pub(super) spacing: f64,
    /// Nodes needed along each axis.
    nodes: [usize; 2],
}

impl Frame {
    /// A grid that holds these places and a margin around them, with nodes at most `widest` apart. It begins `shift` nodes before
    /// them, less than one.
    pub(super) fn around(y: &[[f32; 2]], margin: f32, widest: f64, shift: [f64; 2]) -> Self {
        let (low, high) = bounds(y);
        let (low, high) = (low.map(|v| v - margin), high.map(|v| v + margin));
        let spans = [0, 1].map(|d| f64::from(high[d]) - f64::from(low[d]));
        let span = spans[0].max(spans[1]).max(1e-30);
        // Rounded up to half a power of two, so that a growing map keeps its kernel for a while.
        let fine = ((span / (NODES - LANES) as f64).log2() * 2.0).ceil() / 2.0;
        let spacing = fine.exp2().min(widest);
        let nodes = [0, 1].map(|d| (spans[d] / spacing + shift[d]).ceil() as usize + LANES + 1);
        let origin = [0, 1].map(|d| (f64::from(low[d]) - spacing * (BEFORE + 0.5 + shift[d])) as f32);
        Self { origin, spacing, nodes }
    }

    /// Nodes needed along each axis.
    pub(super) fn nodes(&self) -> [usize; 2] {
        self.nodes
    }

    /// Where a place lies in units of the grid: its first node and how far past it.
    #[inline(always)]
    pub(super) fn place(&self, place: [f32; 2]) -> [f32; 2] {
        self.unbounded(place).map(|v| v.max(0.0))
    }

    /// The same, below 0 where the place is beyond the first node.
    #[inline(always)]
    pub(super) fn unbounded(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let scale = (1.0 / self.spacing) as f32;
        [(x - self.origin[0]) * scale - BEFORE as f32, (y - self.origin[1]) * scale - BEFORE as f32]
    }
}

impl Grid {
    pub(crate) fn new() -> Self {
        Self {
            spacing: SPACING,
            shift: [0.0; 2],
            splines: Splines::new(),
            transform: None,
            nodes: Vec::new(),
            sorted: Vec::new(),
            unsorted: Vec::new(),
            bands: Vec::new(),
        }
    }

    /// Whether nodes may be twice as far apart: at which iteration, if they may.
    pub(crate) fn coarsen(&mut self, iteration: Option<usize>) {
        self.spacing = if iteration.is_some() { COARSE } else { SPACING };
        self.shift = iteration.map_or([0.0; 2], shift);
    }

    /// A grid for these places and a margin around them.
    pub(super) fn frame(&self, y: &[[f32; 2]], margin: f32) -> Frame {
        Frame::around(y, margin, self.spacing, self.shift)
    }

    /// What `repel` would take, in units of one pair compared: measured, and rough.
    pub(crate) fn cost(&self, y: &[[f32; 2]]) -> f64 {
        let [width, height] = self.frame(y, 0.0).nodes;
        25.0 * (4 * width * height) as f64 + 160.0 * y.len() as f64
    }

    /// Fills `forces` with each row's repulsion and returns Z.
    pub(crate) fn repel(&mut self, y: &[[f32; 2]], forces: &mut [[f32; 2]]) -> f64 {
        self.repel_in(&self.frame(y, 0.0), y, forces)
    }

    /// The same on a given grid, whose nodes then have the potential.
    pub(super) fn repel_in(&mut self, frame: &Frame, y: &[[f32; 2]], forces: &mut [[f32; 2]]) -> f64 {
        // An old one that does not fit is gone before there is a new one.
        let kept = self.transform.take().filter(|kept| kept.fits(frame.nodes, frame.spacing));
        let mut transform = kept.unwrap_or_else(|| Transform::new(frame.nodes, frame.spacing));
        let [width, height] = transform.nodes();
        self.sort_into_bands(frame, height, y);
        self.nodes.clear();
        self.nodes.resize(width * height, 0.0);
        self.spread(width);
        transform.convolve(&mut self.nodes);
        let read = Read { splines: &self.splines, frame, width, nodes: &self.nodes, near: transform.near() };
        let potential = gather(&read, y, forces);
        let rows = y.len() as f64;
        let z = potential + rows * (rows - 1.0) * transform.floor();
        self.transform = Some(transform);
        z
    }

    /// The potential at the nodes, as the last call left it, with the nodes along each axis and what is to be added for
    /// each row.
    pub(super) fn into_potential(self) -> (Splines, Vec<f32>, [usize; 2], f64) {
        let (nodes, floor) = self.transform.map_or(([0, 0], 0.0), |kept| (kept.nodes(), kept.floor()));
        (self.splines, self.nodes, nodes, floor)
    }

    /// Orders the points by the band of the grid that they touch first; within a band by number.
    fn sort_into_bands(&mut self, frame: &Frame, height: usize, y: &[[f32; 2]]) {
        let count = height.div_ceil(BAND);
        self.sorted.resize(y.len(), PlanePoint::default());
        self.unsorted.resize(y.len(), PlanePoint::default());
        self.bands.clear();
        self.bands.resize(count + 1, 0);
        let points = self.unsorted.par_iter_mut().zip(y.par_iter()).with_min_len(2048);
        points.for_each(|(point, &place)| {
            let [x, y] = frame.place(place);
            *point = PlanePoint { x, y };
        });
        for point in &self.unsorted {
            self.bands[point.band() + 1] += 1;
        }
        for band in 0..count {
            self.bands[band + 1] += self.bands[band];
        }
        let mut next = self.bands.clone();
        for &point in &self.unsorted {
            let slot = &mut next[point.band()];
            self.sorted[*slot] = point;
            *slot += 1;
        }
    }

    /// Adds each point's charge to the nodes around it.
    fn spread(&mut self, width: usize) {
        let (splines, sorted, bands) = (&self.splines, &self.sorted, &self.bands);
        // A piece is an even band and the odd one after it; its points of the even band touch nothing else. Shifted by
        // one band, the pieces serve the odd bands and the even ones after them.
        let piece = 2 * BAND * width;
        for odd in [0, 1] {
            let nodes = self.nodes.get_mut(odd * BAND * width..).unwrap_or_default();
            nodes.par_chunks_mut(piece).enumerate().for_each(|(at, nodes)| {
                let band = 2 * at + odd;
                if let Some(&[first, end]) = bands.get(band..band + 2).and_then(|b| b.first_chunk()) {
                    let points = &sorted[first..end];
                    dispatch(Spread { splines, points, first_row: band * BAND, width, nodes });
                }
            });
        }
    }
}

impl PlanePoint {
    #[inline(always)]
    fn band(&self) -> usize {
        self.y as usize / BAND
    }
}

/// Points that one task reads back.
const BLOCK: usize = 1024;

/// Reads potential and slope at each point; returns the sum of the potentials.
fn gather(read: &Read, y: &[[f32; 2]], forces: &mut [[f32; 2]]) -> f64 {
    let mut sums = vec![0.0f64; y.len().div_ceil(BLOCK)];
    let blocks = forces.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).zip(&mut sums);
    blocks.for_each(|((forces, y), sum)| *sum = dispatch(Gather { read, y, forces }));
    sums.iter().sum()
}

fn bounds(y: &[[f32; 2]]) -> ([f32; 2], [f32; 2]) {
    let wider = |(low, high): ([f32; 2], [f32; 2]), (a, b): ([f32; 2], [f32; 2])| {
        ([low[0].min(a[0]), low[1].min(a[1])], [high[0].max(b[0]), high[1].max(b[1])])
    };
    let nothing = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    y.par_chunks(4096)
        .map(|y| y.iter().fold(nothing, |all, &place| wider(all, (place, place))))
        .reduce(|| nothing, wider)
}
