//! A small generator whose numbers are the same everywhere and for ever: results are named by their seed. SplitMix64 is of
//! Steele, Lea & Flood 2014, Fast Splittable Pseudorandom Number Generators; Gaussian numbers are by Box & Muller 1958.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1, never 0.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform in 0..1, perhaps 0: the 24 bits that such an `f32` has.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Uniform below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Gaussian with mean 0 and deviation 1.
    pub fn gaussian(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The numbers below `n` in random order.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }

    /// `count` different numbers below `n`, ascending.
    pub fn sample(&mut self, n: usize, count: usize) -> Vec<u32> {
        // Each number is taken with the chance that fills the rest exactly.
        let mut wanted = count.min(n);
        let mut taken = Vec::with_capacity(wanted);
        for i in 0..n {
            if wanted > 0 && self.below(n - i) < wanted {
                taken.push(i as u32);
                wanted -= 1;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn known_numbers() {
        // The published first output of SplitMix64 for seed 1234567.
        assert_eq!(Random::new(1_234_567).bits(), 6_457_827_717_110_365_317);
    }

    #[test]
    fn gaussian_moments() {
        let mut random = Random::new(1);
        let values: Vec<f64> = (0..100_000).map(|_| random.gaussian()).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "mean {mean}, variance {variance}");
    }

    #[test]
    fn samples_are_distinct_and_full() {
        for (n, count) in [(10, 3), (10, 10), (10, 20), (1, 1), (0, 5)] {
            let sample = Random::new(7).sample(n, count);
            assert_eq!(sample.len(), count.min(n));
            assert!(sample.windows(2).all(|w| w[0] < w[1]) && sample.iter().all(|&i| (i as usize) < n));
        }
    }
}
