//! Sums of two `f64`, for differences of large numbers that are nearly equal (Dekker 1971, A Floating-Point Technique for Extending
//! the Available Precision).

use std::ops::{Add, Mul, Neg, Sub};

/// A number as the sum of a large part and a small one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Double {
    pub(super) high: f64,
    low: f64,
}

impl Double {
    /// A whole number times a power of two.
    pub(super) fn scaled(whole: i128, power: i32) -> Self {
        let high = whole as f64;
        let low = whole.wrapping_sub(high as i128) as f64;
        let unit = 2f64.powi(power);
        Self { high: high * unit, low: low * unit }
    }

    /// The sum of two numbers, the first of them larger.
    fn normal(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }

    pub(super) fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let left = self - Self::product(high, divisor);
        Self::normal(high, left.high / divisor)
    }

    /// The product of two numbers, without an error.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (other.high - part);
        Self::normal(sum, lost + self.low + other.low)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let Self { high, low } = Self::product(self.high, other.high);
        Self::normal(high, low + self.high * other.low + self.low * other.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_number_loses_is_kept() {
        let large = Double::scaled((1 << 100) + 7, -3);
        let rest = large - Double::scaled(1 << 100, -3);
        assert_eq!(rest.high, 7.0 / 8.0);
        let third = Double::scaled(1, 0).over(3.0);
        let one = third * Double::scaled(3, 0);
        assert!((one - Double::scaled(1, 0)).high.abs() < 1e-30, "{one:?}");
        let square = Double::scaled((1 << 40) + 1, 0) * Double::scaled((1 << 40) + 1, 0);
        assert_eq!((square - Double::scaled((1 << 80) + (1 << 41), 0)).high, 1.0);
    }
}
