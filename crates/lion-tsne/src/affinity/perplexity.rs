//! The perplexity search: how wide the Gaussian around a row is, and what its neighbours weigh by it. Newton's method on
//! the logarithm of its width is ours.

use pulp::{Simd, WithSimd};

/// Numbers in the widest register: what is worked on is filled up to whole ones.
const LANES: usize = 8;

/// Fills `weights` with p(j|i) ∝ exp(-d²/2σ²), σ such that their entropy is ln(perplexity). The distances are squared
/// and ascending. Where no σ can do that (more than `perplexity` rows at the nearest distance), the nearest share
/// all the weight.
pub fn perplexity_weights(distances2: &[f32], perplexity: f64, weights: &mut [f64]) {
    let nearest = f64::from(distances2.first().copied().unwrap_or(0.0));
    // Whole registers; those that fill up the last are farther than anything, and have no weight.
    let filled = distances2.len().next_multiple_of(LANES);
    let mut scratch = vec![f64::from(f32::MAX); 2 * filled];
    let (beyond, raw) = scratch.split_at_mut(filled);
    let mut spread = 0.0;
    for (beyond, &distance2) in beyond.iter_mut().zip(distances2) {
        *beyond = f64::from(distance2) - nearest;
        spread += *beyond;
    }
    spread /= distances2.len() as f64;
    // Where distances grow evenly from 0 to twice their mean, the entropy is the target near beta = e k / (2 perplexity
    // mean). Those of real rows do so nearly, and three steps are left instead of seven.
    let evenly = std::f64::consts::E * distances2.len() as f64 / (2.0 * perplexity);
    let start = if spread > 0.0 { (evenly / spread).ln() } else { 0.0 };
    find_log_beta(start, perplexity.ln(), |beta| {
        let sums = crate::vectorized::arch().dispatch(WeightSums { beyond, beta, weights: raw });
        entropy(&sums, beta)
    });
    let sum: f64 = raw[..weights.len()].iter().sum();
    weights.iter_mut().zip(raw).for_each(|(weight, raw)| *weight = *raw / sum);
}

/// The ln(beta), beta = 1/2σ², at which the entropy is `target` to 1e-9, from a start. `entropy` tells it and its
/// derivative by ln(beta). Where none will do, the last that was tried.
pub fn find_log_beta(start: f64, target: f64, mut entropy: impl FnMut(f64) -> (f64, f64)) -> f64 {
    // By Newton's method, kept inside a bracket that halves otherwise.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut log_beta = start;
    for _ in 0..100 {
        let (entropy, slope) = entropy(log_beta.exp());
        let error = entropy - target;
        if error.abs() < 1e-9 {
            break;
        }
        if error > 0.0 {
            low = log_beta
        } else {
            high = log_beta
        }
        let newton = log_beta - error / slope;
        // Where the entropy hardly changes Newton's method goes astray.
        let next = if slope < -1e-12 && newton > low.max(-700.0) && newton < high.min(700.0) {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else if error > 0.0 {
            log_beta + 2.0
        } else {
            log_beta - 2.0
        };
        if !(-700.0..700.0).contains(&next) {
            break;
        }
        log_beta = next;
    }
    log_beta
}

/// Leaves the weights w = exp(-beta d) behind, not normalised, and gives Σ w, Σ w d and Σ w d², where d are squared
/// distances less the nearest.
struct WeightSums<'a> {
    beyond: &'a [f64],
    beta: f64,
    weights: &'a mut [f64],
}

impl WithSimd for WeightSums<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; 3] {
        let (beyond, _) = S::as_simd_f64s(self.beyond);
        let (weights, _) = S::as_mut_simd_f64s(self.weights);
        let slope = simd.splat_f64s(-self.beta);
        let mut sums = [simd.splat_f64s(0.0); 3];
        for (&d, weight) in beyond.iter().zip(weights) {
            let w = exp_of_register(simd, simd.mul_f64s(slope, d));
            let first = simd.mul_f64s(w, d);
            sums[0] = simd.add_f64s(sums[0], w);
            sums[1] = simd.add_f64s(sums[1], first);
            sums[2] = simd.mul_add_f64s(first, d, sums[2]);
            *weight = w;
        }
        // Not by `map`: what is not inlined has no registers of this width.
        [simd.reduce_sum_f64s(sums[0]), simd.reduce_sum_f64s(sums[1]), simd.reduce_sum_f64s(sums[2])]
    }
}

/// The entropy of weights w = exp(-beta d) by Σ w, Σ w d and Σ w d², and its derivative by ln(beta).
pub fn entropy([sum, first, second]: &[f64; 3], beta: f64) -> (f64, f64) {
    let mean = first / sum;
    let variance = (second / sum - mean * mean).max(0.0);
    (sum.ln() + beta * mean, -beta * beta * variance)
}

/// Added and taken away again, it leaves a whole number, which is then found in the lowest bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts: the first times any exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// 1 / n! from 12 down to 0.
const SERIES: [f64; 13] = {
    let mut series = [1.0; 13];
    let mut n = 1;
    while n < 13 {
        series[12 - n] = series[13 - n] / n as f64;
        n += 1;
    }
    series
};
/// Below this, powers of e are no normal numbers.
const LEAST_POWER: f64 = -708.0;

/// e to powers from 0 downwards, to the last digit or two; each step is taken for all of them, so that they go side by
/// side in registers.
#[inline(always)]
pub fn exp<const LANES: usize>(powers: [f64; LANES]) -> [f64; LANES] {
    let powers = powers.map(|power| power.max(LEAST_POWER));
    let shifted = powers.map(|power| power * std::f64::consts::LOG2_E + WHOLE);
    let mut r = [0.0; LANES];
    for lane in 0..LANES {
        let exponent = shifted[lane] - WHOLE;
        r[lane] = powers[lane] - exponent * LN_2[0] - exponent * LN_2[1];
    }
    let mut sums = [0.0; LANES];
    for term in SERIES {
        for lane in 0..LANES {
            sums[lane] = sums[lane] * r[lane] + term;
        }
    }
    std::array::from_fn(|lane| {
        f64::from_bits(sums[lane].to_bits().wrapping_add(shifted[lane].to_bits() << 52))
    })
}

/// The same for one register.
#[inline(always)]
fn exp_of_register<S: Simd>(simd: S, powers: S::f64s) -> S::f64s {
    let powers = simd.max_f64s(powers, simd.splat_f64s(LEAST_POWER));
    let whole = simd.splat_f64s(WHOLE);
    let shifted = simd.mul_add_f64s(powers, simd.splat_f64s(std::f64::consts::LOG2_E), whole);
    let exponent = simd.sub_f64s(shifted, whole);
    let r = simd.mul_add_f64s(exponent, simd.splat_f64s(-LN_2[0]), powers);
    let r = simd.mul_add_f64s(exponent, simd.splat_f64s(-LN_2[1]), r);
    let mut sum = simd.splat_f64s(SERIES[0]);
    for &term in &SERIES[1..] {
        sum = simd.mul_add_f64s(sum, r, simd.splat_f64s(term));
    }
    // The lowest bits become the exponent's: 52 places to the left.
    let exponent = simd.mul_u64s(simd.transmute_u64s_f64s(shifted), simd.splat_u64s(1 << 52));
    simd.transmute_f64s_u64s(simd.add_u64s(simd.transmute_u64s_f64s(sum), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_e() {
        for i in 0..70_000 {
            let power = -f64::from(i) * 0.01;
            let [found] = exp([power]);
            assert!((found / power.exp() - 1.0).abs() < 1e-14, "{power}: {found} for {}", power.exp());
        }
        assert_eq!(exp([0.0]), [1.0]);
        assert!(exp([f64::NEG_INFINITY])[0] < 1e-300);
    }

    #[test]
    fn powers_of_e_in_registers() {
        let beyond: Vec<f64> = (0..70_800).map(|i| f64::from(i) * 0.01).collect();
        let mut weights = vec![0.0; beyond.len()];
        let sums = crate::vectorized::arch().dispatch(WeightSums {
            beyond: &beyond,
            beta: 1.0,
            weights: &mut weights,
        });
        for (d, &found) in beyond.iter().zip(&weights) {
            let truth = (-d).exp();
            assert!((found / truth - 1.0).abs() < 1e-14, "-{d}: {found} for {truth}");
        }
        let moment = |power: i32| beyond.iter().map(|d| (-d).exp() * d.powi(power)).sum::<f64>();
        for (power, sum) in (0..).zip(sums) {
            assert!((sum / moment(power) - 1.0).abs() < 1e-12, "moment {power}: {sum}");
        }
    }

    /// Whatever the distances look like, and however many fill the last register.
    #[test]
    fn weights_have_the_perplexity() {
        let shapes: [fn(f64) -> f64; 4] = [|t| t, |t| t * t, |t| t.sqrt(), |t| 1e3 + t.powi(8)];
        for shape in shapes {
            for count in [31, 32, 33, 90, 95] {
                let distances: Vec<f32> = (0..count).map(|i| shape(f64::from(i + 1)) as f32).collect();
                for perplexity in [2.0, 10.0, 29.0] {
                    let mut weights = vec![0.0; distances.len()];
                    perplexity_weights(&distances, perplexity, &mut weights);
                    let entropy: f64 = weights.iter().filter(|w| **w > 0.0).map(|w| -w * w.ln()).sum();
                    assert!(
                        (entropy.exp() / perplexity - 1.0).abs() < 1e-8,
                        "{count} for {perplexity}: {entropy}"
                    );
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
