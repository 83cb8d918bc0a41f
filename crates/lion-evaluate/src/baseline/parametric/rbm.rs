//! Restricted Boltzmann machines, trained by contrastive divergence: they find the weights that layers of logistic units
//! begin with.
//!
//! Sources: Hinton (2002), "Training products of experts by minimizing contrastive divergence"; van der Maaten (2009),
//! "Learning a Parametric Embedding by Preserving Local Structure", for the settings.

use crate::baseline::dense::{
    Activation, DenseLayer, PATTERN, WeightTile, for_each, uniforms, view, view_mut,
};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatRef, Par};
use lion_tsne::numerics::Random;

/// Rows of a mini-batch.
const BATCH: usize = 100;
const RATE: f32 = 0.1;
/// The share of the last step that the next one keeps: in the first epochs, and later.
const MOMENTUM: [f32; 2] = [0.5, 0.9];
const FIRST_EPOCHS: usize = 5;
const WEIGHT_DECAY: f32 = 0.0002;
/// The deviation of the first weights.
const DEVIATION: f64 = 0.1;
/// Units that one thread works out at a time; a whole number of patterns of random numbers.
const UNITS: usize = 8 * PATTERN;

/// A layer of hidden units and what is needed to train it.
pub(super) struct Rbm {
    layer: DenseLayer,
    visible_bias: Vec<f32>,
    velocity: Vec<f32>,
    hidden_velocity: Vec<f32>,
    visible_velocity: Vec<f32>,
    /// Chances of the hidden units given the rows, states drawn from them, rows given those states, and hidden units
    /// given those rows.
    hidden: Vec<f32>,
    states: Vec<f32>,
    visible: Vec<f32>,
    again: Vec<f32>,
    random: Random,
    epochs: usize,
}

impl Rbm {
    pub(super) fn new(visible: usize, hidden: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let weights = (0..visible * hidden).map(|_| (DEVIATION * random.gaussian()) as f32).collect();
        let layer = DenseLayer {
            inputs: visible,
            outputs: hidden,
            activation: Activation::Logistic,
            weights,
            bias: vec![0.0; hidden],
        };
        Self {
            layer,
            visible_bias: vec![0.0; visible],
            velocity: vec![0.0; visible * hidden],
            hidden_velocity: vec![0.0; hidden],
            visible_velocity: vec![0.0; visible],
            hidden: vec![0.0; BATCH * hidden],
            states: vec![0.0; BATCH * hidden],
            visible: vec![0.0; BATCH * visible],
            again: vec![0.0; BATCH * hidden],
            random,
            epochs: 0,
        }
    }

    /// Goes once through all rows; returns the mean squared difference between them and what was made of them.
    pub(super) fn epoch(&mut self, rows: &[f32]) -> f64 {
        let momentum = MOMENTUM[usize::from(self.epochs >= FIRST_EPOCHS)];
        let mut squares = 0.0;
        for batch in rows.chunks(BATCH * self.layer.inputs) {
            self.diverge(batch);
            squares += self.learn(batch, momentum);
        }
        self.epochs += 1;
        squares / rows.len() as f64
    }

    /// The layer as trained so far.
    pub(super) fn into_layer(self) -> DenseLayer {
        self.layer
    }

    /// From rows to hidden units, back to rows, and to hidden units again.
    fn diverge(&mut self, batch: &[f32]) {
        let DenseLayer { inputs, outputs, ref weights, ref bias, .. } = self.layer;
        let count = batch.len() / inputs;
        let key = self.random.bits();
        let weights = view(weights, outputs);
        let [hidden, states, again] = [&mut self.hidden, &mut self.states, &mut self.again];
        let hidden = &mut hidden[..count * outputs];
        infer(hidden, Some((&mut states[..count * outputs], key)), view(batch, inputs), weights, bias);
        let visible = &mut self.visible[..batch.len()];
        infer(
            visible,
            None,
            view(&states[..count * outputs], outputs),
            weights.transpose(),
            &self.visible_bias,
        );
        infer(&mut again[..count * outputs], None, view(visible, inputs), weights, bias);
    }

    /// Moves the weights towards what the rows say and away from what the machine makes of them.
    fn learn(&mut self, batch: &[f32], momentum: f32) -> f64 {
        let DenseLayer { inputs, outputs, weights, bias, .. } = &mut self.layer;
        let count = batch.len() / *inputs;
        let (hidden, again) = (&self.hidden[..count * *outputs], &self.again[..count * *outputs]);
        let visible = &self.visible[..batch.len()];
        let rate = RATE / count as f32;
        let mut tiles: Vec<(WeightTile<'_>, WeightTile<'_>)> =
            WeightTile::cut(view_mut(&mut self.velocity, *outputs), [UNITS; 2])
                .into_iter()
                .zip(WeightTile::cut(view_mut(weights, *outputs), [UNITS; 2]))
                .collect();
        for_each(&mut tiles, true, |(velocity, weights)| {
            for row in 0..velocity.inputs.len() {
                for (v, w) in velocity.row(row).iter_mut().zip(weights.row(row)) {
                    *v = momentum * *v - RATE * WEIGHT_DECAY * *w;
                }
            }
            for (left, right, rate) in [(batch, hidden, rate), (visible, again, -rate)] {
                let left = view(left, *inputs).subcols(velocity.inputs.start, velocity.inputs.len());
                let right = view(right, *outputs).subcols(velocity.outputs.start, velocity.outputs.len());
                matmul(velocity.values.as_mut(), Accum::Add, left.transpose(), right, rate, Par::Seq);
            }
            for row in 0..velocity.inputs.len() {
                weights.row(row).iter_mut().zip(velocity.row(row)).for_each(|(w, v)| *w += *v);
            }
        });
        nudge(bias, &mut self.hidden_velocity, hidden, again, momentum, rate);
        nudge(&mut self.visible_bias, &mut self.visible_velocity, batch, visible, momentum, rate);
        batch.iter().zip(visible).map(|(a, b)| f64::from((a - b) * (a - b))).sum()
    }
}

/// The chances of units to be on, and states drawn from them where asked for.
fn infer(
    chances: &mut [f32],
    states: Option<(&mut [f32], u64)>,
    given: MatRef<'_, f32>,
    weights: MatRef<'_, f32>,
    bias: &[f32],
) {
    let (rows, units) = (given.nrows(), bias.len());
    let chances = WeightTile::cut(view_mut(chances, units), [rows, UNITS]);
    let key = states.as_ref().map_or(0, |(_, key)| *key);
    let states: Vec<Option<WeightTile<'_>>> = match states {
        Some((states, _)) => {
            WeightTile::cut(view_mut(states, units), [rows, UNITS]).into_iter().map(Some).collect()
        }
        None => chances.iter().map(|_| None).collect(),
    };
    let mut tiles: Vec<(WeightTile<'_>, Option<WeightTile<'_>>)> = chances.into_iter().zip(states).collect();
    for_each(&mut tiles, true, |(chances, states)| {
        let range = chances.outputs.clone();
        let weights = weights.subcols(range.start, range.len());
        matmul(chances.values.as_mut(), Accum::Replace, given, weights, 1.0, Par::Seq);
        let mut thresholds = [0.0; UNITS];
        for row in 0..rows {
            Activation::Logistic.activate(chances.row(row), &bias[range.clone()]);
            let Some(states) = states else { continue };
            let place = ((range.start as u64) << 32) + row as u64;
            uniforms(Random::new(key.wrapping_add(place)).bits(), &mut thresholds);
            let drawn = states.row(row).iter_mut().zip(&*chances.row(row)).zip(&thresholds);
            drawn.for_each(|((state, chance), threshold)| *state = f32::from(u8::from(threshold < chance)));
        }
    });
}

/// A step of biases: by the sums of what was given less the sums of what was made of it.
fn nudge(bias: &mut [f32], velocity: &mut [f32], given: &[f32], made: &[f32], momentum: f32, rate: f32) {
    velocity.iter_mut().for_each(|v| *v *= momentum);
    for (given, made) in given.chunks_exact(bias.len()).zip(made.chunks_exact(bias.len())) {
        for ((v, g), m) in velocity.iter_mut().zip(given).zip(made) {
            *v += rate * (g - m);
        }
    }
    bias.iter_mut().zip(velocity).for_each(|(b, v)| *b += *v);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are one of four patterns each, with a little noise.
    fn patterns(rows: usize, cols: usize) -> Vec<f32> {
        let mut random = Random::new(4);
        let patterns: Vec<bool> = (0..4 * cols).map(|_| random.uniform() < 0.3).collect();
        let value = |at: usize| {
            let on = patterns[at / cols % 4 * cols + at % cols] != (random.uniform() < 0.02);
            if on { 0.9 } else { 0.05 }
        };
        (0..rows * cols).map(value).collect()
    }

    #[test]
    fn contrastive_divergence_learns_the_rows() {
        let rows = patterns(330, 40);
        let mut rbm = Rbm::new(40, 30, 1);
        let first = rbm.epoch(&rows);
        let last = (0..25).fold(0.0, |_, _| rbm.epoch(&rows));
        assert!(last < 0.2 * first && last < 0.03, "from {first} to {last}");
    }

    /// One step against plain sums in double precision; the states are those that were drawn.
    #[test]
    fn a_step_is_the_difference_of_two_correlations() {
        let rows = patterns(20, 7);
        let mut rbm = Rbm::new(7, 5, 2);
        let before = rbm.layer.weights.clone();
        rbm.diverge(&rows);
        let logistic = |sum: f64| 1.0 / (1.0 + (-sum).exp());
        let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
        let (w, v0, states) = (wide(&before), wide(&rows), wide(&rbm.states));
        let up = |v: &[f64], r: usize, h: usize| logistic((0..7).map(|i| v[r * 7 + i] * w[i * 5 + h]).sum());
        let down = |at: usize| logistic((0..5).map(|h| states[at / 7 * 5 + h] * w[at % 7 * 5 + h]).sum());
        let v1: Vec<f64> = (0..140).map(down).collect();
        assert!(states[..100].iter().all(|s| *s == 0.0 || *s == 1.0));
        rbm.learn(&rows, 0.5);
        for (i, h) in [(0, 0), (6, 4), (3, 2)] {
            let term = |r: usize| v0[r * 7 + i] * up(&v0, r, h) - v1[r * 7 + i] * up(&v1, r, h);
            let step = 0.1 * ((0..20).map(term).sum::<f64>() / 20.0 - 0.0002 * w[i * 5 + h]);
            let ours = f64::from(rbm.layer.weights[i * 5 + h]) - w[i * 5 + h];
            assert!((ours - step).abs() < 1e-6, "{i}, {h}: {ours}, not {step}");
        }
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let rows = patterns(150, 300);
        let train = || {
            let mut rbm = Rbm::new(300, 270, 3);
            let errors: Vec<f64> = (0..3).map(|_| rbm.epoch(&rows)).collect();
            assert!(errors[2] < errors[0]);
            rbm.into_layer().weights
        };
        let [one, two, three] = [1, 2, 3].map(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(train)
        });
        assert!(one == two && two == three);
    }
}
