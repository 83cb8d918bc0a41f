//! Parametric t-SNE: a network that makes a map of its own. Layers of logistic units begin as
//! restricted Boltzmann machines; then all of it descends the KL divergence of batches of rows.
//!
//! Where this differs from the paper of 2009: the layer of places begins with small random weights, as maps do, and not as a
//! machine of its own; the descent is Adam's, not that of conjugate gradients; and it begins with affinities exaggerated, as
//! t-SNE does.
//!
//! Source: van der Maaten (2009), "Learning a Parametric Embedding by Preserving Local Structure".

mod batch;
mod rbm;
#[cfg(test)]
mod tests;

use super::dense::{Activation, Adam, DenseLayer, DenseLayers, Passes, parts};
use super::{PlacingMethod, Training};
use batch::BatchAffinities;
use lion_tsne::memory::check_memory;
use lion_tsne::numerics::{Random, Reflection, Similarity};
use lion_tsne::{Error, Matrix, Observer, Progress, Result, Stage};
use rbm::Rbm;

/// Adam's step length.
const RATE: f64 = 0.003;
/// What affinities are multiplied by at first, and for which share of the epochs.
const EXAGGERATION: f32 = 4.0;
const EXAGGERATED: f64 = 0.2;
/// The deviation of the first weights of the layer of places: the map begins small.
const DEVIATION: f64 = 0.01;

/// Parametric t-SNE and how it is trained. It needs many rows (the paper found it of no use for 2500) and the memory for
/// the affinities of all pairs of each batch, 4 x rows x batch bytes; placing does not depend on the number of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parametric {
    /// Units of the three hidden layers.
    pub layers: [usize; 3],
    /// What the hidden units make of their inputs. Only logistic ones are pre-trained.
    pub activation: Activation,
    /// Dimensions of the places, 1 to 3.
    pub dims: usize,
    /// Effective number of neighbours within a batch.
    pub perplexity: f64,
    /// How often the rows are gone through to pre-train each layer.
    pub pretraining_epochs: usize,
    /// How often they are gone through to train the whole.
    pub epochs: usize,
    /// Rows of a batch, at most: affinities are those within it. Large batches make better maps than many steps do.
    pub batch: usize,
}

impl Default for Parametric {
    fn default() -> Self {
        Self {
            layers: [500, 500, 2000],
            activation: Activation::Logistic,
            dims: 2,
            perplexity: 30.0,
            pretraining_epochs: 5,
            epochs: 50,
            batch: 5000,
        }
    }
}

impl Parametric {
    /// Trains on rows. The observer is told of epochs, those of pre-training first; then also of the KL divergence of the
    /// first batch.
    pub fn train(&self, x: &Matrix, seed: u64, observer: &mut Observer<'_>) -> Result<ParametricNetwork> {
        self.check(x)?;
        let needed = self.memory(x.rows(), x.cols());
        check_memory("parametric t-SNE", needed, "take smaller batches, or fewer rows")?;
        let range = ValueRange::of(x);
        let mut random = Random::new(seed);
        let rows = range.shuffled(x, &mut random);
        let mut told = EpochProgress { observer, done: 0, total: self.total() };
        let layers = self.pretrain(&rows, &mut random, &mut told)?;
        let layers = self.descend(&rows, layers, &mut told)?;
        layers.check_finite()?;
        Ok(ParametricNetwork { range, layers })
    }

    /// Refuses what cannot be trained.
    fn check(&self, x: &Matrix) -> Result<()> {
        let refuse = |name, problem: String| Err(Error::Parameter { name, problem });
        if let Some(units) = self.layers.iter().find(|units| !(1..=1 << 14).contains(*units)) {
            return refuse("layers", format!("of {units} units cannot be, they must have from 1 to 16384"));
        }
        if !(1..=3).contains(&self.dims) {
            return refuse("dims", format!("is {}, and must be 1, 2 or 3", self.dims));
        }
        if self.epochs == 0 {
            return refuse("epochs", "is 0, and must be at least 1".into());
        }
        if self.batch == 0 {
            return refuse("batch", "is 0, and must be at least 4".into());
        }
        let smallest = parts(x.rows(), self.batch).last().map_or(0, |rows| rows.len());
        let most = (smallest.saturating_sub(1) / 3) as f64;
        if !(self.perplexity >= 1.0 && self.perplexity <= most) {
            return refuse(
                "perplexity",
                format!(
                    "is {}, and must be from 1 to {most} for batches of {smallest} rows",
                    self.perplexity
                ),
            );
        }
        x.check_finite()
    }

    /// About how many bytes training takes.
    pub(super) fn memory(&self, rows: usize, cols: usize) -> u64 {
        let batch = self.batch.min(rows) as u64;
        let (n, k, [a, b, c]) = (rows as u64, cols as u64, self.layers.map(|units| units as u64));
        let weights = k * a + a * b + b * c;
        // All affinities, and those of one batch once more; the rows, and what two layers make of them.
        4 * (n * batch + batch * batch + n * (k + a + b) + batch * 2 * (a + b + c) + 4 * weights)
    }

    /// How many flops one epoch takes, without the affinities: the larger part of training.
    pub fn flops(&self, rows: usize, cols: usize) -> f64 {
        let [k, a, b, c, d] =
            [cols, self.layers[0], self.layers[1], self.layers[2], self.dims].map(|units| units as f64);
        rows as f64 * (4.0 * k * a + 6.0 * (a * b + b * c + c * d))
    }

    fn pretrains(&self) -> bool {
        self.activation == Activation::Logistic && self.pretraining_epochs > 0
    }

    fn total(&self) -> u64 {
        let before = if self.pretrains() { self.layers.len() * self.pretraining_epochs } else { 0 };
        (before + self.epochs) as u64
    }

    /// The layers as training begins with them.
    fn pretrain(
        &self,
        rows: &Matrix,
        random: &mut Random,
        told: &mut EpochProgress<'_, '_>,
    ) -> Result<DenseLayers> {
        let mut layers = Vec::with_capacity(4);
        let mut width = rows.cols();
        let mut made: Option<Vec<f32>> = None;
        for units in self.layers {
            if !self.pretrains() {
                layers.push(DenseLayer::glorot(width, units, self.activation, random));
                width = units;
                continue;
            }
            let seen = made.as_deref().unwrap_or(rows.data());
            let mut rbm = Rbm::new(width, units, random.bits());
            for _ in 0..self.pretraining_epochs {
                rbm.epoch(seen);
                told.step(None)?;
            }
            layers.push(rbm.into_layer());
            width = units;
            if layers.len() < self.layers.len() {
                made = Some(DenseLayers(layers[layers.len() - 1..].to_vec()).apply(seen));
            }
        }
        let weights = (0..width * self.dims).map(|_| (DEVIATION * random.gaussian()) as f32).collect();
        let (inputs, outputs, activation) = (width, self.dims, Activation::Linear);
        layers.push(DenseLayer { inputs, outputs, activation, weights, bias: vec![0.0; outputs] });
        Ok(DenseLayers(layers))
    }

    /// Descends the KL divergence, batch after batch.
    fn descend(
        &self,
        rows: &Matrix,
        mut layers: DenseLayers,
        told: &mut EpochProgress<'_, '_>,
    ) -> Result<DenseLayers> {
        let cols = rows.cols();
        let (mut scratch, mut batches) = (Vec::new(), Vec::new());
        for part in parts(rows.rows(), self.batch) {
            let x = &rows.data()[part.start * cols..part.end * cols];
            batches.push((x, BatchAffinities::new(x, cols, self.perplexity, &mut scratch)));
        }
        drop(scratch);
        // All batches have the same number of rows, but for the last.
        let mut passes: Vec<Passes> = Vec::new();
        for (_, batch) in &batches {
            if passes.last().is_none_or(|passes| passes.rows() != batch.rows()) {
                passes.push(Passes::new(&layers, batch.rows(), true));
            }
        }
        let mut adam = Adam::new(&layers, RATE);
        let (mut y, mut errors) = (Vec::new(), Vec::new());
        for epoch in 0..self.epochs {
            let (rate, exaggeration) = self.schedule(epoch);
            adam.rate = rate;
            let mut kl = None;
            for (x, batch) in &batches {
                let same = passes.iter_mut().find(|passes| passes.rows() == batch.rows());
                let Some(passes) = same else { continue };
                y.resize(batch.rows() * self.dims, 0.0);
                errors.resize(batch.rows() * self.dims, 0.0);
                passes.forward(&layers, x, &mut y);
                let z = batch.gradient(&y, exaggeration, &mut errors);
                kl = kl.or_else(|| Some(batch.kl(&y, z)));
                passes.backward(&layers, x, &errors);
                adam.step(&mut layers, &passes.gradients, true);
            }
            told.step(kl)?;
        }
        Ok(layers)
    }

    /// Step length and exaggeration of an epoch: affinities are exaggerated at first, so that clusters find together, and
    /// steps become shorter in the second half, so that the batches agree in the end.
    fn schedule(&self, epoch: usize) -> (f64, f32) {
        let share = epoch as f64 / self.epochs as f64;
        let exaggeration = if share < EXAGGERATED { EXAGGERATION } else { 1.0 };
        (RATE * (2.0 * (1.0 - share)).min(1.0), exaggeration)
    }
}

/// Who is told of epochs.
struct EpochProgress<'a, 'b> {
    observer: &'a mut Observer<'b>,
    done: u64,
    total: u64,
}

impl EpochProgress<'_, '_> {
    fn step(&mut self, kl: Option<f64>) -> Result<()> {
        self.done += 1;
        let progress = Progress { kl, ..Progress::of(Stage::Build, self.done, self.total) };
        match (self.observer)(&progress).is_continue() {
            true => Ok(()),
            false => Err(Error::Stopped(Stage::Build)),
        }
    }
}

/// How values become numbers from 0 to 1, which is what logistic units deal in. Values that are so already stay as they
/// are; others are moved and scaled all alike, so that distances keep their proportions.
#[derive(Clone, Copy)]
struct ValueRange {
    low: f32,
    scale: f32,
}

impl ValueRange {
    fn of(x: &Matrix) -> Self {
        let low = x.data().iter().copied().fold(f32::INFINITY, f32::min);
        let high = x.data().iter().copied().fold(f32::NEG_INFINITY, f32::max);
        match high - low {
            _ if low >= 0.0 && high <= 1.0 => Self { low: 0.0, scale: 1.0 },
            width if width > 0.0 && width.is_finite() => Self { low, scale: 1.0 / width },
            _ => Self { low, scale: 1.0 },
        }
    }

    fn apply(&self, rows: &[f32]) -> Vec<f32> {
        rows.iter().map(|value| (value - self.low) * self.scale).collect()
    }

    /// The rows in random order, so that batches are alike.
    fn shuffled(&self, x: &Matrix, random: &mut Random) -> Matrix {
        let mut order: Vec<u32> = (0..x.rows() as u32).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let mut rows = x.select(&order);
        rows.data_mut().iter_mut().for_each(|value| *value = (*value - self.low) * self.scale);
        rows
    }
}

/// A trained network: it gives any row a place in a map of its own.
#[derive(Clone)]
pub struct ParametricNetwork {
    range: ValueRange,
    layers: DenseLayers,
}

impl ParametricNetwork {
    /// The places of rows, which have the columns of those it was trained on. Each depends on its row alone: the same
    /// bits in any batch.
    pub fn places(&self, rows: &Matrix) -> Result<Matrix> {
        self.layers.check_width(rows)?;
        let dims = self.layers.0.last().map_or(0, |layer| layer.outputs);
        Matrix::new(rows.rows(), dims, self.layers.apply(&self.range.apply(rows.data())))
    }
}

/// Parametric t-SNE of a map's rows, its own map turned and scaled onto theirs.
pub(super) struct Turned {
    network: ParametricNetwork,
    /// How far places are off, as a share of how far places lie from their middle.
    off: f64,
}

impl Turned {
    pub(super) fn new(
        training: &Training<'_>,
        parametric: &Parametric,
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let parametric = Parametric { dims: training.y.cols(), ..*parametric };
        let mut network = parametric.train(training.x, training.seed, observer)?;
        let own = network.places(training.x)?;
        let similarity = Similarity::between(&own, training.y, Reflection::Allowed)?;
        if let Some(last) = network.layers.0.last_mut() {
            fold_into(&similarity, last);
        }
        Ok(Self { network, off: similarity.residual })
    }
}

/// Makes a linear layer give places of the map that the similarity aims at.
fn fold_into(similarity: &Similarity, layer: &mut DenseLayer) {
    for weights in layer.weights.chunks_exact_mut(layer.outputs) {
        let turned = similarity.turned(&weights.iter().map(|w| f64::from(*w)).collect::<Vec<f64>>());
        weights.iter_mut().zip(turned).for_each(|(weight, turned)| *weight = turned as f32);
    }
    let bias: Vec<f32> = similarity.apply(&layer.bias);
    layer.bias.copy_from_slice(&bias);
}

impl PlacingMethod for Turned {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        self.network.places(rows)
    }

    fn notes(&self) -> Vec<String> {
        vec![format!(
            "the network makes a map of its own, turned and scaled onto this one: places agree with it only roughly, \
             they are off by {:.0} % of the map's radius",
            100.0 * self.off
        )]
    }
}
