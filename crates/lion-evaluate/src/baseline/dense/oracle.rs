//! The same layers in double precision and plain loops: what the tests of gradients compare with.

use super::{Activation, DenseLayers, Dropout, PATTERN};

/// A network whose weights can be nudged one at a time.
pub(in crate::baseline) struct OracleNetwork<'a> {
    layers: &'a DenseLayers,
    pub(in crate::baseline) weights: Vec<Vec<f64>>,
    pub(in crate::baseline) bias: Vec<Vec<f64>>,
    dropout: Option<Dropout>,
}

impl<'a> OracleNetwork<'a> {
    pub(in crate::baseline) fn new(layers: &'a DenseLayers, dropout: Option<Dropout>) -> Self {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        Self {
            layers,
            weights: layers.0.iter().map(|layer| wide(&layer.weights)).collect(),
            bias: layers.0.iter().map(|layer| wide(&layer.bias)).collect(),
            dropout,
        }
    }

    /// The outputs for rows, row after row.
    pub(in crate::baseline) fn outputs(&self, x: &[f32]) -> Vec<f64> {
        let width = self.layers.0[0].inputs;
        x.chunks_exact(width).enumerate().flat_map(|(row, x)| self.row(row, x)).collect()
    }

    fn row(&self, row: usize, x: &[f32]) -> Vec<f64> {
        let mut values: Vec<f64> = x.iter().map(|&value| f64::from(value)).collect();
        for (l, layer) in self.layers.0.iter().enumerate() {
            let mut factors = vec![1.0f32; layer.outputs.next_multiple_of(PATTERN)];
            if let Some(dropout) = self.dropout.filter(|_| l + 1 < self.layers.0.len()) {
                dropout.factors(l, row, &mut factors);
            }
            let sum = |o: usize| {
                let products = values
                    .iter()
                    .enumerate()
                    .map(|(i, value)| value * self.weights[l][i * layer.outputs + o]);
                self.bias[l][o] + products.sum::<f64>()
            };
            values = (0..layer.outputs)
                .map(|o| f64::from(factors[o]) * activate(layer.activation, sum(o)))
                .collect();
        }
        values
    }

    /// The derivatives of a loss by every weight and every bias of a layer, by central differences.
    pub(in crate::baseline) fn gradient(
        &mut self,
        layer: usize,
        loss: &dyn Fn(&Self) -> f64,
    ) -> (Vec<f64>, Vec<f64>) {
        const STEP: f64 = 1e-6;
        let weights = (0..self.weights[layer].len()).map(|i| {
            let kept = self.weights[layer][i];
            let [above, below] = [STEP, -STEP].map(|step| {
                self.weights[layer][i] = kept + step;
                loss(self)
            });
            self.weights[layer][i] = kept;
            (above - below) / (2.0 * STEP)
        });
        let weights = weights.collect();
        let bias = (0..self.bias[layer].len()).map(|i| {
            let kept = self.bias[layer][i];
            let [above, below] = [STEP, -STEP].map(|step| {
                self.bias[layer][i] = kept + step;
                loss(self)
            });
            self.bias[layer][i] = kept;
            (above - below) / (2.0 * STEP)
        });
        (weights, bias.collect())
    }
}

fn activate(activation: Activation, sum: f64) -> f64 {
    match activation {
        Activation::Relu => sum.max(0.0),
        Activation::Tanh => sum.tanh(),
        Activation::Logistic => 1.0 / (1.0 + (-sum).exp()),
        Activation::Linear => sum,
    }
}

/// Asserts that gradients are those found by differences, within what single precision allows.
pub(in crate::baseline) fn assert_close(what: &str, ours: &[f32], measured: &[f64]) {
    assert_eq!(ours.len(), measured.len());
    let size = (measured.iter().map(|v| v * v).sum::<f64>() / measured.len() as f64).sqrt();
    assert!(size > 1e-9, "{what}: there is nothing to compare");
    for (i, (&ours, measured)) in ours.iter().zip(measured).enumerate() {
        let difference = (f64::from(ours) - measured).abs();
        assert!(difference < 1e-4 * size.max(measured.abs()), "{what} {i}: {ours}, measured {measured}");
    }
}
