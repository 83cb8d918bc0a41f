//! Dot products of rows with the components, summed in one fixed order per row, whatever rows are beside it.
//!
//! A general matrix product picks its kernel by the shape of the whole batch, and with it the order of
//! summation. Here the order is written out: f32 sums over `DEPTH` columns, added up in f64.

use crate::matrix::Matrix;

/// Rows that share one reading of the weights.
pub(super) const ROWS: usize = 4;
/// Components computed side by side.
const LANES: usize = 16;
/// Columns summed in f32 before the sum joins the f64 one.
const DEPTH: usize = 128;

/// The components, reordered so that one column's weights for `LANES` components lie together.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    dims: usize,
    components: usize,
    panels: Vec<f32>,
}

impl Weights {
    pub(super) fn new(components: &Matrix) -> Self {
        let (k, dims) = (components.rows(), components.cols());
        let mut panels = vec![0.0; k.div_ceil(LANES) * LANES * dims];
        for c in 0..k {
            let panel = &mut panels[c / LANES * LANES * dims..];
            for (j, &weight) in components.row(c).iter().enumerate() {
                panel[j * LANES + c % LANES] = weight;
            }
        }
        Self { dims, components: k, panels }
    }

    /// Multiplies centred rows (up to `ROWS` of them, one after another) into `out`.
    pub(super) fn multiply(&self, rows: &[f32], out: &mut [f32]) {
        crate::vectorized::arch().dispatch(Multiply { weights: self, rows, out });
    }

    #[inline(always)]
    fn multiply_block<const R: usize>(&self, rows: &[f32], out: &mut [f32]) {
        for (p, panel) in self.panels.chunks_exact(LANES * self.dims).enumerate() {
            let (panel, _) = panel.as_chunks::<LANES>();
            let mut total = [[0.0f64; LANES]; R];
            for (d, weights) in panel.chunks(DEPTH).enumerate() {
                let slices = std::array::from_fn(|r| &rows[r * self.dims + d * DEPTH..][..weights.len()]);
                let sums = multiply_depth::<R>(slices, weights);
                for (total, sum) in total.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    *total += f64::from(*sum);
                }
            }
            let first = p * LANES;
            let lanes = LANES.min(self.components - first);
            for (r, total) in total.iter().enumerate() {
                let out = &mut out[r * self.components + first..][..lanes];
                out.iter_mut().zip(total).for_each(|(out, total)| *out = *total as f32);
            }
        }
    }
}

/// One call of `Weights::multiply`, compiled for each kind of vector unit: a closure need not be inlined, this is.
struct Multiply<'a> {
    weights: &'a Weights,
    rows: &'a [f32],
    out: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { weights, rows, out } = self;
        if rows.len() == ROWS * weights.dims {
            weights.multiply_block::<ROWS>(rows, out);
        } else {
            for (row, out) in rows.chunks_exact(weights.dims).zip(out.chunks_exact_mut(weights.components)) {
                weights.multiply_block::<1>(row, out);
            }
        }
    }
}

/// The f32 part of the sum. Products and sums are separate operations, never fused, so every machine computes
/// the same bits.
#[inline(always)]
fn multiply_depth<const R: usize>(rows: [&[f32]; R], weights: &[[f32; LANES]]) -> [[f32; LANES]; R] {
    let mut sums = [[0.0f32; LANES]; R];
    for (j, weights) in weights.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let value = row[j];
            for lane in 0..LANES {
                sums[lane] += value * weights[lane];
            }
        }
    }
    sums
}
