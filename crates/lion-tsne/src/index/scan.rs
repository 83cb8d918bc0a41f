//! Every distance between a block of queries and a packed set of rows, as a matrix product whose results are
//! looked at while they are still in registers. This is where the exact search spends its time. Ours.

use pulp::{Simd, WithSimd};
use std::ops::Range;
use std::sync::Arc;

/// Rows in one packed panel. A panel holds its rows column by column, so one step of the product reads
/// `PANEL` neighbouring floats.
pub(super) const PANEL: usize = 32;

/// Query rows that share one pass over a panel: as many accumulators as the widest registers hold.
const WIDE: usize = 12;
/// The same for machines with sixteen registers.
const NARROW: usize = 6;
/// The same where there are no more queries than this: places without a query cost as much as those with one.
const FEW: usize = 4;

/// Panels that are visited by every query of a block before the next ones are fetched: they stay in the
/// second-level cache.
const CHUNK_BYTES: usize = 256 << 10;

/// Rows laid out for `scan`, with their squared lengths.
pub(super) struct Packed {
    cols: usize,
    rows: usize,
    /// `[panel][column][row in panel]`, at `place` of an array that sets of rows may share.
    panels: Arc<Vec<f32>>,
    place: Range<usize>,
    /// Squared length of each row; infinite where the last panel has no row, so that none is ever near.
    norms: Vec<f32>,
    longest: f32,
}

impl Packed {
    /// Packs the rows of a row-major array less their centre.
    pub(super) fn centred(data: &[f32], centre: &[f32]) -> Self {
        let mut panels = Vec::new();
        let one = Self::append(data, centre, &mut panels);
        Self { panels: Arc::new(panels), ..one }
    }

    /// The same for sets of so many rows each, one after another. They share one array: thousands of small ones would stay with the
    /// allocator when they are freed.
    pub(super) fn centred_sets(data: &[f32], centre: &[f32], sizes: &[usize]) -> Vec<Self> {
        let cols = centre.len();
        let count: usize = sizes.iter().map(|rows| rows.div_ceil(PANEL)).sum();
        let mut panels = Vec::with_capacity(count * cols * PANEL);
        let (mut sets, mut rest) = (Vec::with_capacity(sizes.len()), data);
        for &rows in sizes {
            let (own, others) = rest.split_at(rows * cols);
            sets.push(Self::append(own, centre, &mut panels));
            rest = others;
        }
        let panels = Arc::new(panels);
        sets.into_iter().map(|set| Self { panels: panels.clone(), ..set }).collect()
    }

    /// Packs rows behind others; the array is not yet part of what is returned.
    fn append(data: &[f32], centre: &[f32], all: &mut Vec<f32>) -> Self {
        let cols = centre.len();
        let rows = data.len() / cols.max(1);
        let count = rows.div_ceil(PANEL);
        let place = all.len()..all.len() + count * cols * PANEL;
        all.resize(place.end, 0.0);
        let panels = &mut all[place.clone()];
        let mut norms = vec![f32::INFINITY; count * PANEL];
        let mut centred = vec![0.0; cols];
        for (i, row) in data.chunks_exact(cols).enumerate() {
            centred.iter_mut().zip(row.iter().zip(centre)).for_each(|(to, (v, m))| *to = v - m);
            let panel = &mut panels[i / PANEL * cols * PANEL..][..cols * PANEL];
            for (slot, &value) in panel[i % PANEL..].iter_mut().step_by(PANEL).zip(&centred) {
                *slot = value;
            }
            norms[i] = squared_length(&centred);
        }
        let longest = norms[..rows].iter().copied().fold(0.0, f32::max);
        Self { cols, rows, panels: Arc::default(), place, norms, longest }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The longest squared length of a row.
    pub(super) fn longest(&self) -> f32 {
        self.longest
    }
}

/// What a query does with the rows that come within its reach.
pub(super) trait Collect {
    /// Rows farther than this (squared) need not be shown.
    fn reach(&self) -> f32;
    /// Looks at neighbouring rows from number `row` on, one of which at least is within reach. A squared distance
    /// is `values[lane] + length`, give or take rounding.
    fn take<S: Simd>(&mut self, simd: S, values: &[f32], length: f32, row: u32);
}

impl<C: Collect> Collect for &mut C {
    #[inline(always)]
    fn reach(&self) -> f32 {
        (**self).reach()
    }

    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, values: &[f32], length: f32, row: u32) {
        (**self).take(simd, values, length, row);
    }
}

/// Shows to each of `collectors` the rows of `packed` within its reach; one collector for each row of `queries`.
/// `first` is added to the row numbers.
pub(super) fn scan<C: Collect>(queries: &[f32], packed: &Packed, first: u32, collectors: &mut [C]) {
    let arch = crate::vectorized::arch();
    arch.dispatch(Scan { queries, packed, first, collectors });
}

struct Scan<'a, C> {
    queries: &'a [f32],
    packed: &'a Packed,
    first: u32,
    collectors: &'a mut [C],
}

impl<C: Collect> WithSimd for Scan<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.collectors.len() {
            1 => self.run::<S, 1>(simd),
            2..=FEW => self.run::<S, FEW>(simd),
            _ if S::F32_LANES >= 16 => self.run::<S, WIDE>(simd),
            _ => self.run::<S, NARROW>(simd),
        }
    }
}

impl<C: Collect> Scan<'_, C> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let cols = self.packed.cols;
        let tiles = pack_queries::<R>(self.queries, cols);
        let lengths: Vec<f32> = self.queries.chunks_exact(cols).map(squared_length).collect();
        let panels_per_chunk = (CHUNK_BYTES / (cols * PANEL * 4)).max(1);
        let chunks = self.packed.panels[self.packed.place.clone()].chunks(panels_per_chunk * cols * PANEL);
        let norms = self.packed.norms.chunks(panels_per_chunk * PANEL);
        let mut base = self.first;
        for (panels, norms) in chunks.zip(norms) {
            let blocks = self.collectors.chunks_mut(R).zip(lengths.chunks(R));
            for ((collectors, lengths), tile) in blocks.zip(tiles.chunks_exact(cols * R)) {
                let (tile, _) = tile.as_chunks::<R>();
                let (norms, _) = norms.as_chunks::<PANEL>();
                for (p, (panel, norms)) in panels.chunks_exact(cols * PANEL).zip(norms).enumerate() {
                    let (panel, _) = panel.as_chunks::<PANEL>();
                    let row = base + (p * PANEL) as u32;
                    for offset in (0..PANEL).step_by(2 * S::F32_LANES) {
                        let sums = product::<S, R>(simd, tile, panel, norms, offset);
                        show::<S, C, R>(simd, &sums, row + offset as u32, lengths, collectors);
                    }
                }
            }
            base += norms.len() as u32;
        }
    }
}

/// |row|² - 2 query·row for `R` queries and two registers of rows.
#[inline(always)]
fn product<S: Simd, const R: usize>(
    simd: S,
    tile: &[[f32; R]],
    panel: &[[f32; PANEL]],
    norms: &[f32; PANEL],
    offset: usize,
) -> [[S::f32s; 2]; R] {
    let (start, _) = S::as_simd_f32s(&norms[offset..offset + 2 * S::F32_LANES]);
    let mut sums = [[start[0], start[1]]; R];
    for (queries, rows) in tile.iter().zip(panel) {
        let (rows, _) = S::as_simd_f32s(&rows[offset..offset + 2 * S::F32_LANES]);
        for r in 0..R {
            let query = simd.splat_f32s(queries[r]);
            sums[r][0] = simd.mul_add_f32s(query, rows[0], sums[r][0]);
            sums[r][1] = simd.mul_add_f32s(query, rows[1], sums[r][1]);
        }
    }
    sums
}

/// Hands over what is within reach; nearly always there is nothing, and that costs two comparisons a query.
#[inline(always)]
fn show<S: Simd, C: Collect, const R: usize>(
    simd: S,
    sums: &[[S::f32s; 2]; R],
    row: u32,
    lengths: &[f32],
    collectors: &mut [C],
) {
    for ((collector, &length), pair) in collectors.iter_mut().zip(lengths).zip(sums) {
        let reach = simd.splat_f32s(collector.reach() - length);
        let low = simd.less_than_or_equal_f32s(pair[0], reach);
        let high = simd.less_than_or_equal_f32s(pair[1], reach);
        if simd.first_true_m32s(simd.or_m32s(low, high)) < S::F32_LANES {
            // A copy: were the sums themselves lent, they would be kept in memory all through the product.
            let values = *pair;
            collector.take(simd, bytemuck::cast_slice::<S::f32s, f32>(&values), length, row);
        }
    }
}

/// Queries times -2, in tiles of `R`, column by column; the last tile is filled up with zeros.
fn pack_queries<const R: usize>(queries: &[f32], cols: usize) -> Vec<f32> {
    let rows = queries.len() / cols;
    let mut tiles = vec![0.0; rows.div_ceil(R) * R * cols];
    for (i, row) in queries.chunks_exact(cols).enumerate() {
        let tile = &mut tiles[i / R * R * cols..];
        for (c, &value) in row.iter().enumerate() {
            tile[c * R + i % R] = -2.0 * value;
        }
    }
    tiles
}

/// Sum of squares, always in the same order.
pub(super) fn squared_length(row: &[f32]) -> f32 {
    row.iter().map(|v| v * v).sum()
}

/// The distance that counts: differences first, so that nothing cancels; the same order whatever the machine's
/// registers.
#[inline(always)]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            let difference = a[lane] - b[lane];
            sums[lane] += difference * difference;
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        let difference = a - b;
        sums[lane] += difference * difference;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
