//! The upper tail of the beta-binomial distribution, summed term by term.

/// The probability of at least `k` successes of `n`, where the chance of success is Beta(a, b) distributed. 1 where `k` is
/// no more than is expected.
pub(in crate::live) fn beta_binomial(k: u64, n: u64, a: f64, b: f64) -> f64 {
    let (few, all) = (k as f64, n as f64);
    if k > n {
        return 0.0;
    }
    if few <= all * a / (a + b) {
        return 1.0;
    }
    let choose = ln_gamma(all + 1.0) - ln_gamma(few + 1.0) - ln_gamma(all - few + 1.0);
    let mut term = (choose + ln_beta(few + a, all - few + b) - ln_beta(a, b)).exp();
    let (mut sum, mut i) = (term, few);
    while i < all && term > 1e-12 * sum {
        term *= (all - i) * (a + i) / ((i + 1.0) * (b + all - i - 1.0));
        sum += term;
        i += 1.0;
    }
    sum.min(1.0)
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the gamma function of a positive number: Stirling's series, from 8 on.
pub(in crate::live) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.918_938_533_204_672_7 + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_function() {
        assert!((ln_gamma(1.0)).abs() < 1e-10 && (ln_gamma(2.0)).abs() < 1e-10);
        assert!((ln_gamma(11.0) - 3_628_800.0f64.ln()).abs() < 1e-10);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-9);
    }

    /// Of a + b - 1 + n rows in any order, the chance that at least k of n come before the a-th of the others.
    #[test]
    fn as_counted_over_all_orders() {
        // Beta(1, 4): before the first of 4 others, 2 of 3.
        let before_first = (3.0 / 7.0) * (2.0 / 6.0);
        assert!((beta_binomial(2, 3, 1.0, 4.0) - before_first).abs() < 1e-12);
        // Before the second of 4 others, all of 3: orders in which at most one other is before the last of the three.
        let before_second = 1.0 / 35.0 + 3.0 / 35.0;
        assert!((beta_binomial(3, 3, 2.0, 3.0) - before_second).abs() < 1e-12);
        assert_eq!(beta_binomial(0, 10, 1.0, 5.0), 1.0);
        // 2.5 are expected.
        assert_eq!(beta_binomial(2, 10, 3.0, 9.0), 1.0);
        assert!(beta_binomial(3, 10, 3.0, 9.0) < 1.0);
        assert_eq!(beta_binomial(4, 3, 1.0, 5.0), 0.0);
    }

    #[test]
    fn far_out_the_tail_is_small_and_not_zero() {
        let p = beta_binomial(12, 300, 1.0, 10_000.0);
        let about = (300.0f64 / 10_300.0).powi(12);
        assert!(p > 0.5 * about && p < 2.0 * about, "{p} {about}");
    }
}
