//! What a neuron makes of the sum of its inputs.

use lion_tsne::numerics::vectorized;

/// What a neuron makes of the sum of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// max(0, x), the rectified linear unit.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e^-x).
    Logistic,
    /// The sum itself.
    Linear,
}

lion_tsne::named!(Activation, "activation": Relu = "relu", Tanh = "tanh", Logistic = "logistic", Linear = "linear");

impl Activation {
    /// Turns sums into outputs, row by row of `bias`, which is added first.
    pub(crate) fn activate(self, rows: &mut [f32], bias: &[f32]) {
        match self {
            Self::Relu => each(
                rows,
                bias,
                #[inline(always)]
                |sum, b| (sum + b).max(0.0),
            ),
            Self::Tanh => each(
                rows,
                bias,
                #[inline(always)]
                |sum, b| tanh(sum + b),
            ),
            Self::Logistic => each(
                rows,
                bias,
                #[inline(always)]
                |sum, b| logistic(sum + b),
            ),
            Self::Linear => each(
                rows,
                bias,
                #[inline(always)]
                |sum, b| sum + b,
            ),
        }
    }

    /// Multiplies errors by the slope of the activation at the sums that gave these outputs, which were multiplied by
    /// `factor` since.
    pub(crate) fn slope(self, errors: &mut [f32], outputs: &[f32], factor: f32) {
        let back = 1.0 / factor;
        match self {
            Self::Relu => each(
                errors,
                outputs,
                #[inline(always)]
                |d, a| if a > 0.0 { d } else { 0.0 },
            ),
            Self::Tanh => each(
                errors,
                outputs,
                #[inline(always)]
                |d, a| d * (1.0 - (a * back) * (a * back)),
            ),
            Self::Logistic => each(
                errors,
                outputs,
                #[inline(always)]
                |d, a| d * (a * back) * (1.0 - a * back),
            ),
            Self::Linear => {}
        }
    }
}

/// value = f(value, other), `others` being repeated for every row of them.
fn each(values: &mut [f32], others: &[f32], f: impl Fn(f32, f32) -> f32) {
    vectorized(
        #[inline(always)]
        || {
            for row in values.chunks_exact_mut(others.len()) {
                for (value, &other) in row.iter_mut().zip(others) {
                    *value = f(*value, other);
                }
            }
        },
    );
}

/// To about 1e-7.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exp(2.0 * x))
}

/// To about 1e-7.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// e^x to about 2e-7 of itself, in plain arithmetic so that it runs in lanes; beyond ±87 as at ±87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Added and taken away again, it leaves a whole number, which is then found in the lowest bits.
    const WHOLE: f32 = 12_582_912.0;
    /// ln 2 in two parts: the first times any exponent is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + WHOLE;
    let exponent = shifted - WHOLE;
    let r = x - exponent * LN_2[0] - exponent * LN_2[1];
    let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
    let power = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * tail)));
    f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_double_precision() {
        for step in -40_000..40_000 {
            let x = step as f32 * 1e-3;
            let wide = f64::from(x);
            let e = f64::from(exp(x));
            assert!((e / wide.exp() - 1.0).abs() < 4e-7, "e^{x} = {}, not {e}", wide.exp());
            assert!((f64::from(tanh(x)) - wide.tanh()).abs() < 2e-7, "tanh {x}");
            assert!((f64::from(logistic(x)) - 1.0 / (1.0 + (-wide).exp())).abs() < 2e-7, "logistic {x}");
        }
        for x in [-1e30, -500.0, -87.5, 87.5, 500.0, 1e30] {
            assert_eq!(tanh(x), x.signum());
            assert!((logistic(x) - if x > 0.0 { 1.0 } else { 0.0 }).abs() < 1e-30);
        }
    }

    #[test]
    fn slopes_are_those_of_the_activations() {
        for activation in [Activation::Relu, Activation::Tanh, Activation::Logistic, Activation::Linear] {
            for x in [-2.0f32, -0.3, 0.4, 1.7] {
                let at = |x: f32| {
                    let mut out = [x];
                    activation.activate(&mut out, &[0.25]);
                    out[0]
                };
                let mut slope = [1.0];
                activation.slope(&mut slope, &[3.0 * at(x)], 3.0);
                let measured = (at(x + 0.01) - at(x - 0.01)) / 0.02;
                assert!((slope[0] - measured).abs() < 1e-3, "{activation} at {x}: {} {measured}", slope[0]);
            }
        }
    }
}
