//! Forward and backward through layers, for a batch of rows.
//!
//! The rows are cut into blocks by their number alone. A block goes through all layers and back on one thread, where it
//! stays in the cache; then the gradients are worked out in tiles of the weights, each summing over the blocks in their
//! order. So the bits do not depend on the threads, and nothing is allocated after the first step but the list of tiles.
//!
//! Source: Rumelhart, Hinton and Williams (1986), "Learning representations by back-propagating errors".

use super::{
    DenseLayer, DenseLayers, Dropout, PATTERN, WeightTile, for_each, multiply, parts, view, view_mut,
};
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use lion_tsne::numerics::vectorized;
use std::ops::Range;

/// Rows of a block, at most.
const BLOCK: usize = 256;
/// Inputs and outputs of a tile of weights, at most.
const TILE: [usize; 2] = [256, 256];

/// The gradient of one layer's weights, or anything else that there is one of for each weight.
pub(in crate::baseline) struct Gradient {
    pub(in crate::baseline) weights: Vec<f32>,
    pub(in crate::baseline) bias: Vec<f32>,
}

impl Gradient {
    /// Zeros for each weight of a layer.
    pub(in crate::baseline) fn of(layer: &DenseLayer) -> Self {
        Self { weights: vec![0.0; layer.weights.len()], bias: vec![0.0; layer.bias.len()] }
    }
}

/// What a batch of rows leaves in the layers as it goes forward and backward.
pub(in crate::baseline) struct Passes {
    blocks: Vec<RowBlock>,
    pub(in crate::baseline) gradients: Vec<Gradient>,
    parallel: bool,
}

struct RowBlock {
    rows: Range<usize>,
    /// What each layer puts out, after dropout.
    outputs: Vec<Vec<f32>>,
    /// The derivative of the loss by the sums of each layer.
    errors: Vec<Vec<f32>>,
    /// The sums of the errors over the rows.
    bias: Vec<Vec<f32>>,
    /// Factors of dropout for one row.
    factors: Vec<f32>,
    loss: f64,
}

impl Passes {
    /// For batches of so many rows, on all threads or on this one alone.
    pub(in crate::baseline) fn new(layers: &DenseLayers, rows: usize, parallel: bool) -> Self {
        let blocks = parts(rows, BLOCK).into_iter().map(|rows| RowBlock::new(layers, rows)).collect();
        Self { blocks, gradients: layers.0.iter().map(Gradient::of).collect(), parallel }
    }

    /// How many rows it is for.
    pub(in crate::baseline) fn rows(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.rows.end)
    }

    /// The gradients of the mean squared difference to the targets, over rows and columns; and that mean.
    pub(in crate::baseline) fn squared_error(
        &mut self,
        layers: &DenseLayers,
        x: &[f32],
        targets: &[f32],
        dropout: Option<Dropout>,
    ) -> f64 {
        for_each(&mut self.blocks, self.parallel, |block| {
            block.forward(layers, x, dropout);
            block.differences(targets);
            block.backward(layers, dropout);
        });
        self.add_up(layers, x);
        self.blocks.iter().map(|block| block.loss).sum::<f64>() / targets.len() as f64
    }

    /// Goes forward, without dropout, and leaves the outputs of the last layer in `out`.
    pub(in crate::baseline) fn forward(&mut self, layers: &DenseLayers, x: &[f32], out: &mut [f32]) {
        for_each(&mut self.blocks, self.parallel, |block| block.forward(layers, x, None));
        let mut rest = out;
        for outputs in self.blocks.iter().filter_map(|block| block.outputs.last()) {
            let (here, after) = rest.split_at_mut(outputs.len());
            here.copy_from_slice(outputs);
            rest = after;
        }
    }

    /// Goes backward after `forward`: from the derivative of a loss by the outputs to the gradients. The last layer must
    /// be linear.
    pub(in crate::baseline) fn backward(&mut self, layers: &DenseLayers, x: &[f32], errors: &[f32]) {
        for_each(&mut self.blocks, self.parallel, |block| {
            if let Some(last) = block.errors.last_mut() {
                let width = last.len() / block.rows.len();
                last.copy_from_slice(&errors[block.rows.start * width..block.rows.end * width]);
            }
            block.backward(layers, None);
        });
        self.add_up(layers, x);
    }

    /// The gradients, from what each block has left in the layers.
    fn add_up(&mut self, layers: &DenseLayers, x: &[f32]) {
        let blocks = &self.blocks;
        let mut tiles: Vec<(usize, WeightTile<'_>)> = Vec::new();
        for (l, (layer, gradient)) in layers.0.iter().zip(&mut self.gradients).enumerate() {
            gradient.bias.fill(0.0);
            for block in blocks {
                gradient.bias.iter_mut().zip(&block.bias[l]).for_each(|(sum, part)| *sum += part);
            }
            let cut = WeightTile::cut(view_mut(&mut gradient.weights, layer.outputs), TILE);
            tiles.extend(cut.into_iter().map(|tile| (l, tile)));
        }
        for_each(&mut tiles, self.parallel, |(l, tile)| {
            let DenseLayer { inputs, outputs, .. } = layers.0[*l];
            for (number, block) in blocks.iter().enumerate() {
                let left = view(block.input(*l, x, inputs), inputs);
                let left = left.subcols(tile.inputs.start, tile.inputs.len()).transpose();
                let right = view(&block.errors[*l], outputs);
                let right = right.subcols(tile.outputs.start, tile.outputs.len());
                let accum = if number == 0 { Accum::Replace } else { Accum::Add };
                matmul(tile.values.as_mut(), accum, left, right, 1.0, Par::Seq);
            }
        });
    }
}

impl RowBlock {
    fn new(layers: &DenseLayers, rows: Range<usize>) -> Self {
        let fields = |count: usize| -> Vec<Vec<f32>> {
            layers.0.iter().map(|layer| vec![0.0; count * layer.outputs]).collect()
        };
        let widest = layers.0.iter().map(|layer| layer.outputs).max().unwrap_or(0);
        Self {
            outputs: fields(rows.len()),
            errors: fields(rows.len()),
            bias: fields(1),
            factors: vec![0.0; widest.next_multiple_of(PATTERN)],
            rows,
            loss: 0.0,
        }
    }

    /// What a layer reads: the rows, or what the layer before has put out.
    fn input<'a>(&'a self, layer: usize, x: &'a [f32], inputs: usize) -> &'a [f32] {
        match layer {
            0 => &x[self.rows.start * inputs..self.rows.end * inputs],
            _ => &self.outputs[layer - 1],
        }
    }

    fn forward(&mut self, layers: &DenseLayers, x: &[f32], dropout: Option<Dropout>) {
        for (l, layer) in layers.0.iter().enumerate() {
            // Taken out, so that the layer before can be read.
            let mut out = std::mem::take(&mut self.outputs[l]);
            layer.apply(self.input(l, x, layer.inputs), &mut out);
            if let Some(dropout) = dropout.filter(|_| l + 1 < layers.0.len()) {
                self.drop_out(l, &dropout, &mut out, layer.outputs);
            }
            self.outputs[l] = out;
        }
    }

    /// Multiplies the rows of a layer by the factors of dropout, which are the same whenever they are asked for.
    fn drop_out(&mut self, layer: usize, dropout: &Dropout, values: &mut [f32], width: usize) {
        let factors = &mut self.factors[..width.next_multiple_of(PATTERN)];
        for (row, values) in self.rows.clone().zip(values.chunks_exact_mut(width)) {
            dropout.factors(layer, row, factors);
            vectorized(
                #[inline(always)]
                || values.iter_mut().zip(&*factors).for_each(|(value, factor)| *value *= factor),
            );
        }
    }

    /// The squared differences of outputs and targets, and their derivatives; the mean is over all targets.
    fn differences(&mut self, targets: &[f32]) {
        let (Some(outputs), Some(errors)) = (self.outputs.last(), self.errors.last_mut()) else { return };
        let width = outputs.len() / self.rows.len();
        let scale = 2.0 / targets.len() as f32;
        let targets = &targets[self.rows.start * width..self.rows.end * width];
        self.loss = 0.0;
        for ((error, output), target) in errors.iter_mut().zip(outputs).zip(targets) {
            let difference = output - target;
            self.loss += f64::from(difference) * f64::from(difference);
            *error = scale * difference;
        }
    }

    /// From the errors of the last layer to those of the others.
    fn backward(&mut self, layers: &DenseLayers, dropout: Option<Dropout>) {
        for l in (0..layers.0.len()).rev() {
            let layer = &layers.0[l];
            sum_rows(&self.errors[l], &mut self.bias[l]);
            if l == 0 {
                break;
            }
            let mut errors = std::mem::take(&mut self.errors[l - 1]);
            let weights = view(&layer.weights, layer.outputs).transpose();
            multiply(view_mut(&mut errors, layer.inputs), view(&self.errors[l], layer.outputs), weights);
            let before = layers.0[l - 1].activation;
            before.slope(&mut errors, &self.outputs[l - 1], dropout.map_or(1.0, |dropout| dropout.kept()));
            if let Some(dropout) = dropout {
                self.drop_out(l - 1, &dropout, &mut errors, layer.inputs);
            }
            self.errors[l - 1] = errors;
        }
    }
}

/// The sum of rows, in their order.
fn sum_rows(rows: &[f32], sums: &mut [f32]) {
    sums.fill(0.0);
    vectorized(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(sums.len()) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        },
    );
}
