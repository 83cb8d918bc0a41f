//! What one pass over numbers tells: how many, their mean and spread, their range, and a sample of them for medians.

use std::collections::BinaryHeap;

/// Values that are kept for medians, unless fewer are asked for: of more rows a sample is, chosen by a hash of the row's number, so
/// that it depends on neither batches nor order.
const SAMPLE: usize = 1 << 14;

/// A summary of numbers, all of them finite.
#[derive(Clone, Debug)]
pub struct Numbers {
    count: u64,
    mean: f64,
    /// The sum of squared differences from the mean (Welford 1962): a column at 1e9 keeps its spread.
    squares: f64,
    min: f64,
    max: f64,
    /// Rows of the least hashes, with their values: a heap whose largest hash is on top.
    sample: BinaryHeap<Sampled>,
    /// How many of them, at most.
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sampled {
    hash: u64,
    value: f64,
}

impl Eq for Sampled {}

impl Ord for Sampled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.hash.cmp(&other.hash).then(self.value.total_cmp(&other.value))
    }
}

impl PartialOrd for Sampled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Numbers {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0, mean: 0.0, squares: 0.0, min, max, sample: BinaryHeap::new(), most: SAMPLE }
    }
}

impl Numbers {
    /// The same with at most so many values for medians: a wide table has a summary for each column.
    #[must_use]
    pub fn with_sample(self, most: usize) -> Self {
        Self { most: most.clamp(1, SAMPLE), ..self }
    }

    /// Adds the value of a row.
    pub fn add(&mut self, row: u64, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let hash = hash(row);
        if self.sample.len() < self.most {
            self.sample.push(Sampled { hash, value });
        } else if self.sample.peek().is_some_and(|largest| hash < largest.hash) {
            self.sample.pop();
            self.sample.push(Sampled { hash, value });
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 of none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation; 0 of fewer than two.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares.max(0.0) / (self.count - 1) as f64).sqrt() }
    }

    /// The least and the largest; nothing of none.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    /// Quantiles of them, linear between order statistics; those of a sample where there are many. 0 of none.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let mut values: Vec<f64> = self.sample.iter().map(|sampled| sampled.value).collect();
        values.sort_unstable_by(f64::total_cmp);
        shares.map(|share| {
            let Some(last) = values.len().checked_sub(1) else { return 0.0 };
            let at = share * last as f64;
            let below = values[at.floor() as usize];
            below + (values[at.ceil() as usize] - below) * at.fract()
        })
    }

    /// Whether 32-bit floats would lose most of how they vary.
    pub fn is_lost_in_f32(&self) -> bool {
        let largest = self.min.abs().max(self.max.abs());
        // Of none the largest is below the least.
        self.max > self.min && self.max - self.min < largest * f64::from(f32::EPSILON) * STEPS
    }
}

/// So many different values a 32-bit float must be able to tell within the range of a column.
const STEPS: f64 = 64.0;

/// SplitMix64 (Steele, Lea and Flood 2014): rows in order become numbers without any.
fn hash(row: u64) -> u64 {
    let mut z = row.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = f64>) -> Numbers {
        let mut numbers = Numbers::default();
        values.enumerate().for_each(|(row, value)| numbers.add(row as u64, value));
        numbers
    }

    #[test]
    fn moments_and_quantiles_are_right_far_from_zero() {
        let numbers = of((0..101).map(|v| 1e9 + f64::from(v)));
        assert_eq!(numbers.quantiles([0.0, 0.25, 0.5, 1.0]), [1e9, 1e9 + 25.0, 1e9 + 50.0, 1e9 + 100.0]);
        assert!((numbers.mean() - 1e9 - 50.0).abs() < 1e-6);
        assert!((numbers.deviation() - 29.3).abs() < 0.01);
        assert_eq!(numbers.range(), Some((1e9, 1e9 + 100.0)));
        // 1e9 has steps of 64 in f32.
        assert!(numbers.is_lost_in_f32());
        assert!(!of((0..101).map(f64::from)).is_lost_in_f32());
    }

    #[test]
    fn medians_of_many_are_those_of_a_sample() {
        let numbers = of((0..300_000).map(f64::from));
        let [median] = numbers.quantiles([0.5]);
        assert!((median - 150_000.0).abs() < 3000.0, "{median}");
    }
}
