//! Adam, the way of descent that scales each weight's steps by what its gradients have been.
//!
//! Source: Kingma and Ba (2015), "Adam: a method for stochastic optimization".

use super::passes::Gradient;
use super::{DenseLayer, DenseLayers};
use lion_tsne::numerics::vectorized;
use rayon::prelude::*;

const DECAY: [f32; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;
/// Weights that a thread takes at a time.
const CHUNK: usize = 1 << 14;
/// What is smaller is taken for zero: numbers on their way to it would slow the arithmetic down.
const NOTHING: f32 = 1e-30;

/// The state of a descent: the mean gradient and the mean squared gradient of every weight.
pub(in crate::baseline) struct Adam {
    /// The step length.
    pub(in crate::baseline) rate: f64,
    steps: i32,
    moments: Vec<[Gradient; 2]>,
}

impl Adam {
    pub(in crate::baseline) fn new(layers: &DenseLayers, rate: f64) -> Self {
        let moments = layers.0.iter().map(|layer| [Gradient::of(layer), Gradient::of(layer)]).collect();
        Self { rate, steps: 0, moments }
    }

    /// Goes one step down.
    pub(in crate::baseline) fn step(
        &mut self,
        layers: &mut DenseLayers,
        gradients: &[Gradient],
        parallel: bool,
    ) {
        self.steps += 1;
        let scale = AdamScale::at(self.rate, self.steps);
        for ((layer, gradient), [first, second]) in layers.0.iter_mut().zip(gradients).zip(&mut self.moments)
        {
            let DenseLayer { weights, bias, .. } = layer;
            scale.descend(bias, &gradient.bias, &mut first.bias, &mut second.bias);
            let [first, second] = [&mut first.weights, &mut second.weights];
            if !parallel {
                scale.descend(weights, &gradient.weights, first, second);
                continue;
            }
            let moments = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
            let weights = weights.par_chunks_mut(CHUNK).zip(gradient.weights.par_chunks(CHUNK));
            weights.zip(moments).for_each(|((weights, gradient), (first, second))| {
                scale.descend(weights, gradient, first, second);
            });
        }
    }
}

/// The step length and the smallest divisor, both corrected for moments that began at zero.
struct AdamScale {
    rate: f32,
    epsilon: f32,
}

impl AdamScale {
    fn at(rate: f64, step: i32) -> Self {
        let [first, second] = DECAY.map(|decay| 1.0 - f64::from(decay).powi(step));
        Self { rate: (rate * second.sqrt() / first) as f32, epsilon: (EPSILON * second.sqrt()) as f32 }
    }

    fn descend(&self, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        vectorized(
            #[inline(always)]
            || {
                let moments = first.iter_mut().zip(second.iter_mut());
                for ((weight, &g), (first, second)) in weights.iter_mut().zip(gradient).zip(moments) {
                    let m = DECAY[0] * *first + (1.0 - DECAY[0]) * g;
                    let v = DECAY[1] * *second + (1.0 - DECAY[1]) * (g * g);
                    *first = if m.abs() < NOTHING { 0.0 } else { m };
                    *second = if v < NOTHING { 0.0 } else { v };
                    *weight -= self.rate * *first / (second.sqrt() + self.epsilon);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_as_by_hand() {
        let (mut weight, mut first, mut second) = ([0.5f32], [0.0f32], [0.0f32]);
        // m = 0.2, v = 0.004; corrected 2 and 4: the first step is the rate, whatever the gradient.
        AdamScale::at(0.001, 1).descend(&mut weight, &[2.0], &mut first, &mut second);
        assert!((weight[0] - 0.499).abs() < 1e-7, "{}", weight[0]);
        // m = 0.9 x 0.2 - 0.1 = 0.08, / 0.19 = 0.421053; v = 0.999 x 0.004 + 0.001 = 0.004996, / 0.001999 = 2.49925;
        // 0.421053 / √2.49925 = 0.266338.
        AdamScale::at(0.001, 2).descend(&mut weight, &[-1.0], &mut first, &mut second);
        assert!((weight[0] - (0.499 - 0.000_266_338)).abs() < 1e-7, "{}", weight[0]);
    }
}
