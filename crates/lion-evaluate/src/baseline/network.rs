//! Neural networks that learn the way from rows to places: the paper's approximation.
//!
//! What the paper says: hidden layers of the same size, ReLU or tanh, dropout, the squared distance as the loss, Adam,
//! all rows as one batch, 5000 epochs. Where it is silent: the output layer is linear, rows go in and places come out
//! as they are, weights begin as Glorot and Bengio have it and biases at zero, dropout is of the outputs of every hidden
//! layer and none of the inputs, and Adam has the parameters of its authors.
//!
//! Sources: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the networks; Glorot and Bengio (2010), "Understanding the difficulty of training
//! deep feedforward neural networks", for the first weights.

mod grid;
#[cfg(test)]
mod tests;

pub use grid::{GridPoint, grid_search, validate_network};

use super::dense::{Activation, Adam, DenseLayer, DenseLayers, Dropout, Passes};
use super::{PlacingMethod, Training};
use lion_tsne::numerics::Random;
use lion_tsne::{Error, Matrix, Observer, Progress, Result, Stage};
use std::fmt;

/// Adam's step length.
const RATE: f64 = 0.001;
/// How often a training reports, at most.
const REPORTS: usize = 100;
/// Keeps the dropout of a seed apart from its weights.
const DROPOUT: u64 = 0x6472_6f70_6f75_7421;

/// A neural network from rows to places, and how long it is trained. Training costs 6 flops for each weight, row and
/// epoch; placing costs 2 for each weight, whatever the number of rows in the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Hidden layers.
    pub layers: usize,
    /// Neurons in each of them.
    pub nodes: usize,
    /// What they make of their inputs.
    pub activation: Activation,
    /// The share of their outputs that is left out in each step of training.
    pub dropout: f64,
    /// How often all rows are gone through.
    pub epochs: usize,
}

impl Network {
    /// The three that the paper compares with.
    pub const PAPER: [Self; 3] = [
        Self { layers: 2, nodes: 250, activation: Activation::Relu, dropout: 0.25, epochs: 5000 },
        Self { layers: 2, nodes: 500, activation: Activation::Relu, dropout: 0.5, epochs: 5000 },
        Self { layers: 1, nodes: 500, activation: Activation::Tanh, dropout: 0.0, epochs: 5000 },
    ];

    /// The 160 that the paper chose them from: one and two layers of 50 to 500 nodes, both activations, four rates of
    /// dropout.
    pub fn grid(epochs: usize) -> Vec<Self> {
        let mut grid = Vec::with_capacity(160);
        for layers in 1..=2 {
            for nodes in (50..=500).step_by(50) {
                for activation in [Activation::Relu, Activation::Tanh] {
                    for dropout in [0.0, 0.1, 0.25, 0.5] {
                        grid.push(Self { layers, nodes, activation, dropout, epochs });
                    }
                }
            }
        }
        grid
    }

    /// Refuses what cannot be trained.
    fn check(&self) -> Result<()> {
        let refuse = |name, problem: String| Err(Error::Parameter { name, problem });
        match *self {
            Self { layers, .. } if !(1..=16).contains(&layers) => {
                refuse("layers", format!("is {layers}, and must be from 1 to 16"))
            }
            Self { nodes, .. } if !(1..=1 << 14).contains(&nodes) => {
                refuse("nodes", format!("is {nodes}, and must be from 1 to 16384"))
            }
            Self { dropout, .. } if !(0.0..=0.99).contains(&dropout) => {
                refuse("dropout", format!("is {dropout}, and must be from 0 to 0.99"))
            }
            Self { epochs: 0, .. } => refuse("epochs", "is 0, and must be at least 1".into()),
            _ => Ok(()),
        }
    }

    /// About how many bytes training takes.
    pub(super) fn memory(&self, rows: usize, cols: usize) -> u64 {
        let (n, k, layers, nodes) = (rows as u64, cols as u64, self.layers as u64, self.nodes as u64);
        let weights = (k + 3) * nodes + layers.saturating_sub(1) * nodes * nodes;
        4 * (2 * n * (layers * nodes + 3) + 4 * weights)
    }

    /// How many flops one epoch takes for so many rows: the larger part of training.
    pub fn flops(&self, rows: usize, cols: usize, dims: usize) -> f64 {
        let nodes = self.nodes as f64;
        let hidden = (self.layers as f64 - 1.0) * nodes * nodes;
        // Forward and both ways back, but no error is handed on to the rows themselves.
        rows as f64 * (6.0 * (hidden + nodes * dims as f64) + 4.0 * nodes * cols as f64)
    }

    /// Before training.
    fn begin(&self, inputs: usize, outputs: usize, seed: u64) -> DenseLayers {
        let mut random = Random::new(seed);
        let mut layers = Vec::with_capacity(self.layers + 1);
        let mut width = inputs;
        for _ in 0..self.layers {
            layers.push(DenseLayer::glorot(width, self.nodes, self.activation, &mut random));
            width = self.nodes;
        }
        layers.push(DenseLayer::glorot(width, outputs, Activation::Linear, &mut random));
        DenseLayers(layers)
    }

    /// Trains on all rows at once, as often as `epochs` says. `proceed` is told of epochs done, about a hundred times,
    /// and may answer that it is enough. The bits are the same on all threads (`parallel`) and on this one.
    fn train(
        &self,
        x: &Matrix,
        y: &Matrix,
        seed: u64,
        parallel: bool,
        proceed: &mut dyn FnMut(usize) -> bool,
    ) -> Result<DenseLayers> {
        self.check()?;
        let mut layers = self.begin(x.cols(), y.cols(), seed);
        let mut passes = Passes::new(&layers, x.rows(), parallel);
        let mut adam = Adam::new(&layers, RATE);
        let mut keys = Random::new(seed ^ DROPOUT);
        let every = self.epochs.div_ceil(REPORTS);
        for epoch in 0..self.epochs {
            let key = keys.bits();
            let dropout = (self.dropout > 0.0).then_some(Dropout { rate: self.dropout as f32, key });
            passes.squared_error(&layers, x.data(), y.data(), dropout);
            adam.step(&mut layers, &passes.gradients, parallel);
            let done = epoch + 1;
            if (done % every == 0 || done == self.epochs) && !proceed(done) {
                return Err(Error::Stopped(Stage::Build));
            }
        }
        layers.check_finite()?;
        Ok(layers)
    }
}

impl fmt::Display for Network {
    /// The paper's three by their short names, others with all that makes them: `nn-1x50-tanh-d0.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nn-{}x{}", self.layers, self.nodes)?;
        if self.activation != Activation::Relu {
            write!(f, "-{}", self.activation)?;
        }
        let papers = Self::PAPER.contains(&Self { epochs: Self::PAPER[0].epochs, ..*self });
        if papers { Ok(()) } else { write!(f, "-d{}", self.dropout) }
    }
}

/// A network that was trained on a map.
pub(super) struct TrainedNetwork {
    layers: DenseLayers,
    dims: usize,
}

impl TrainedNetwork {
    pub(super) fn new(
        training: &Training<'_>,
        network: &Network,
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let mut proceed = |done: usize| {
            observer(&Progress::of(Stage::Build, done as u64, network.epochs as u64)).is_continue()
        };
        let layers = network.train(training.x, training.y, training.seed, true, &mut proceed)?;
        Ok(Self { layers, dims: training.y.cols() })
    }
}

impl PlacingMethod for TrainedNetwork {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        self.layers.check_width(rows)?;
        Matrix::new(rows.rows(), self.dims, self.layers.apply(rows.data()))
    }
}
