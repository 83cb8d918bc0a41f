//! Random numbers by the million, cheaply: dropout, and the states of binary units.
//!
//! Source: Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov (2014), "Dropout: a simple way to prevent
//! neural networks from overfitting". The pattern of 16-bit numbers is ours.

use lion_tsne::numerics::{Random, vectorized};

/// Random numbers are made in patterns of so many.
pub(in crate::baseline) const PATTERN: usize = 32;
const WORDS: usize = PATTERN / 4;

/// Fills whole patterns with numbers uniform in 0..1 that depend on the key alone. Each has 16 bits: four come from one
/// word of the generator.
pub(in crate::baseline) fn uniforms(key: u64, out: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            let mut random = Random::new(key);
            for pattern in out.as_chunks_mut::<PATTERN>().0 {
                let mut words = [0u64; WORDS];
                for word in &mut words {
                    *word = random.bits();
                }
                for part in 0..4 {
                    for word in 0..WORDS {
                        let bits = (words[word] >> (16 * part)) as u32 & 0xffff;
                        pattern[part * WORDS + word] = (bits as f32 + 0.5) * (1.0 / 65536.0);
                    }
                }
            }
        },
    );
}

/// Which outputs of hidden layers are left out in one step of training; the others are scaled up for them.
#[derive(Clone, Copy)]
pub(in crate::baseline) struct Dropout {
    pub(in crate::baseline) rate: f32,
    /// Another one for each step.
    pub(in crate::baseline) key: u64,
}

impl Dropout {
    /// What each output of a row is multiplied by: 0, or what makes up for the zeros. The first `outputs` numbers count.
    pub(in crate::baseline) fn factors(&self, layer: usize, row: usize, factors: &mut [f32]) {
        let place = ((layer as u64) << 48) + row as u64;
        uniforms(Random::new(self.key.wrapping_add(place)).bits(), factors);
        let (rate, kept) = (self.rate, self.kept());
        vectorized(
            #[inline(always)]
            || {
                for factor in factors.iter_mut() {
                    *factor = if *factor < rate { 0.0 } else { kept };
                }
            },
        );
    }

    /// What the outputs that stay are multiplied by.
    pub(in crate::baseline) fn kept(&self) -> f32 {
        1.0 / (1.0 - self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_and_never_the_same() {
        let mut numbers = vec![0.0; 64 * PATTERN];
        let mut counts = [0; 16];
        for key in 0..100 {
            uniforms(Random::new(key).bits(), &mut numbers);
            numbers.iter().for_each(|u| counts[(u * 16.0) as usize] += 1);
        }
        let expected = numbers.len() as f64 * 100.0 / 16.0;
        let chi2: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi2 < 40.0, "chi² of 15 degrees is {chi2}");
    }

    #[test]
    fn as_many_dropped_as_asked_for() {
        for rate in [0.1f32, 0.25, 0.5, 0.9] {
            let dropout = Dropout { rate, key: 5 };
            let mut factors = vec![0.0; 512];
            let (mut sum, mut dropped) = (0.0, 0);
            for row in 0..400 {
                dropout.factors(row % 2, row, &mut factors);
                sum += factors.iter().sum::<f32>() / 512.0 / 400.0;
                dropped += factors.iter().filter(|factor| **factor == 0.0).count();
            }
            assert!((dropped as f32 / (512.0 * 400.0) - rate).abs() < 0.005);
            assert!((sum - 1.0).abs() < 0.03, "the mean factor is {sum}");
        }
    }
}
