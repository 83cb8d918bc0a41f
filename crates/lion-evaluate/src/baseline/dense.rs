//! Dense layers of neurons on matrix products: what the networks that place rows are made of.

mod activation;
mod adam;
mod noise;
#[cfg(test)]
pub(super) mod oracle;
mod passes;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub(super) use adam::Adam;
pub(super) use noise::{Dropout, PATTERN, uniforms};
pub(super) use passes::Passes;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use lion_tsne::numerics::Random;
use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that are placed together. A lone row is placed among as many rows of zeros: products of other shapes may round
/// otherwise.
const PLACED: usize = 64;

/// One layer: activation(x W + b).
#[derive(Clone)]
pub(super) struct DenseLayer {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) activation: Activation,
    /// `inputs` x `outputs`, row after row.
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl DenseLayer {
    /// Weights uniform within ±√(6 / (inputs + outputs)), as Glorot and Bengio have it; no bias.
    pub(super) fn glorot(inputs: usize, outputs: usize, activation: Activation, random: &mut Random) -> Self {
        let reach = (6.0 / (inputs + outputs) as f64).sqrt();
        let weights = (0..inputs * outputs).map(|_| (reach * (2.0 * random.uniform() - 1.0)) as f32);
        Self { inputs, outputs, activation, weights: weights.collect(), bias: vec![0.0; outputs] }
    }

    /// The outputs for some rows, without dropout.
    fn apply(&self, rows: &[f32], out: &mut [f32]) {
        multiply(view_mut(out, self.outputs), view(rows, self.inputs), view(&self.weights, self.outputs));
        self.activation.activate(out, &self.bias);
    }
}

/// Layers, each of which reads what the one before it has put out.
#[derive(Clone)]
pub(super) struct DenseLayers(pub(super) Vec<DenseLayer>);

impl DenseLayers {
    /// The outputs for rows of any number, row after row: each depends on its row alone, to the last bit.
    pub(super) fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else {
            return rows.to_vec();
        };
        let widest = self.0.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(0);
        let count = rows.len() / first.inputs;
        let mut places = vec![0.0; count * last.outputs];
        let blocks = places.par_chunks_mut(PLACED * last.outputs).zip(rows.par_chunks(PLACED * first.inputs));
        blocks.for_each_init(
            || [vec![0.0; PLACED * widest], vec![0.0; PLACED * widest]],
            |[here, there], (places, rows)| {
                here[..rows.len()].copy_from_slice(rows);
                here[rows.len()..PLACED * first.inputs].fill(0.0);
                for layer in &self.0 {
                    layer.apply(&here[..PLACED * layer.inputs], &mut there[..PLACED * layer.outputs]);
                    std::mem::swap(here, there);
                }
                places.copy_from_slice(&here[..places.len()]);
            },
        );
        places
    }

    /// Refuses what training has made if it is not numbers.
    pub(super) fn check_finite(&self) -> Result<()> {
        let finite =
            |layer: &DenseLayer| layer.weights.iter().chain(&layer.bias).all(|weight| weight.is_finite());
        match self.0.iter().all(finite) {
            true => Ok(()),
            false => Err(Error::Data(
                "training the network went beyond all numbers: scale the columns of the rows to about 1"
                    .into(),
            )),
        }
    }

    /// Refuses rows that are not as wide as those it was trained on.
    pub(super) fn check_width(&self, rows: &Matrix) -> Result<()> {
        match self.0.first() {
            Some(first) if first.inputs != rows.cols() => Err(Error::Data(format!(
                "the rows have {} columns, and the network was trained on {}",
                rows.cols(),
                first.inputs
            ))),
            _ => Ok(()),
        }
    }
}

/// Row-major values as a matrix of so many columns.
pub(super) fn view(values: &[f32], cols: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(values, values.len() / cols, cols)
}

/// The same, to be changed.
pub(super) fn view_mut(values: &mut [f32], cols: usize) -> MatMut<'_, f32> {
    let rows = values.len() / cols;
    MatMut::from_row_major_slice_mut(values, rows, cols)
}

/// out = left x right, on this thread.
pub(super) fn multiply(out: MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
}

/// Works through items on all threads, or on this one where others have work of their own.
pub(super) fn for_each<T: Send>(items: &mut [T], parallel: bool, work: impl Fn(&mut T) + Sync + Send) {
    match parallel {
        true => items.par_iter_mut().with_max_len(1).for_each(work),
        false => items.iter_mut().for_each(work),
    }
}

/// A part of a matrix of weights, or of whatever there is one of for each weight.
pub(super) struct WeightTile<'a> {
    pub(super) inputs: Range<usize>,
    pub(super) outputs: Range<usize>,
    pub(super) values: MatMut<'a, f32>,
}

impl<'a> WeightTile<'a> {
    /// Cuts a matrix into tiles of at most so many rows and columns.
    pub(super) fn cut(matrix: MatMut<'a, f32>, [rows, cols]: [usize; 2]) -> Vec<Self> {
        let (mut tiles, mut below) = (Vec::new(), matrix);
        for inputs in parts(below.nrows(), rows) {
            let (mut right, rest) = below.split_at_row_mut(inputs.len());
            for outputs in parts(right.ncols(), cols) {
                let (values, rest) = right.split_at_col_mut(outputs.len());
                tiles.push(Self { inputs: inputs.clone(), outputs, values });
                right = rest;
            }
            below = rest;
        }
        tiles
    }

    /// One row of the tile.
    pub(super) fn row(&mut self, row: usize) -> &mut [f32] {
        match self.values.as_mut().row_mut(row).try_as_row_major_mut() {
            Some(row) => row.as_slice_mut(),
            None => &mut [],
        }
    }
}

/// `0..len` in near-equal parts of at most `most`: by the size of the data, never by the number of threads.
pub(super) fn parts(len: usize, most: usize) -> Vec<Range<usize>> {
    let step = len.div_ceil(len.div_ceil(most).max(1)).max(1);
    (0..len).step_by(step).map(|start| start..(start + step).min(len)).collect()
}
