//! The Gaussian around a row, as wide as the perplexity asks for, and how it changes when one more row joins the others.
//!
//! The perplexity is that of van der Maaten and Hinton (2008), "Visualizing Data using t-SNE"; the update when a row
//! joins is ours.

use super::LANES;
use lion_tsne::numerics::{entropy, exp, find_log_beta, sum_lanes, vectorized};

/// The Gaussian of a row i over the others: ln p(j|i) = -beta (d - nearest) - log_sum, d the squared distance to j.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussian {
    /// 1/2σ².
    pub(crate) beta: f64,
    /// The least squared distance: taken off all others, so that no power of e overflows or vanishes.
    pub(crate) nearest: f64,
    /// ln Σ exp(-beta (d - nearest)).
    pub(crate) log_sum: f64,
}

impl Gaussian {
    /// The gaussian over rows at these squared distances whose entropy is `target`, searched from a start.
    pub(crate) fn search(distances2: &[f64], start: f64, target: f64) -> Self {
        let nearest = distances2.iter().copied().fold(f64::INFINITY, f64::min);
        let entropy = |beta: f64| Sums::at(distances2, nearest, beta).entropy(beta);
        let mut log_beta = find_log_beta(start, target, entropy);
        // One more step of Newton's method: the gaussians of N + 1 points start from here, and should find nothing left to do.
        let (found, slope) = entropy(log_beta.exp());
        if slope < -1e-6 && (found - target).abs() < 1e-8 {
            log_beta += (target - found) / slope;
        }
        let beta = log_beta.exp();
        Self { beta, nearest, log_sum: Sums::at(distances2, nearest, beta).0[0].ln() }
    }

    /// p(j|i) of the row at this squared distance.
    pub(crate) fn share(&self, distance2: f64) -> f64 {
        (-self.beta * (distance2 - self.nearest) - self.log_sum).exp()
    }
}

/// Where a search starts that knows nothing: at the inverse of the mean distance less the nearest.
pub(crate) fn cold_start(distances2: &[f64]) -> f64 {
    let nearest = distances2.iter().copied().fold(f64::INFINITY, f64::min);
    let spread = distances2.iter().map(|d| d - nearest).sum::<f64>() / distances2.len() as f64;
    if spread > 0.0 { -spread.ln() } else { 0.0 }
}

/// Σ w, Σ w d and Σ w d², w = exp(-beta d), where d are squared distances less the nearest.
struct Sums([f64; 3]);

impl Sums {
    fn at(distances2: &[f64], nearest: f64, beta: f64) -> Self {
        vectorized(
            #[inline(always)]
            || {
                let mut sums = [[0.0; LANES]; 3];
                in_lanes(
                    distances2,
                    #[inline(always)]
                    |distances2, counts| {
                        for lane in 0..LANES {
                            let d = distances2[lane] - nearest;
                            let [w] = exp([-beta * d]);
                            let w = w * counts[lane];
                            sums[0][lane] += w;
                            sums[1][lane] += w * d;
                            sums[2][lane] += w * d * d;
                        }
                    },
                );
                Self(sums.map(sum_lanes))
            },
        )
    }

    fn entropy(&self, beta: f64) -> (f64, f64) {
        entropy(&self.0, beta)
    }
}

/// Works on whole lanes of numbers; with them goes 1 for those that count, and 0 for those that fill up the last ones.
#[inline(always)]
fn in_lanes(values: &[f64], mut work: impl FnMut(&[f64; LANES], &[f64; LANES])) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        work(chunk, &[1.0; LANES]);
    }
    if let Some(&first) = rest.first() {
        let (mut chunk, mut counts) = ([first; LANES], [0.0; LANES]);
        chunk[..rest.len()].copy_from_slice(rest);
        counts[..rest.len()].fill(1.0);
        work(&chunk, &counts);
    }
}

/// Moments known of each row.
const MOMENTS: usize = 8;
/// The most by which a gaussian that is not searched among all rows may miss the entropy.
const MISSED: f64 = 1e-10;

/// The gaussian of a row of the map, and how the other rows are spread under it: enough to have the gaussian with one more row
/// among them without looking at them again.
pub(crate) struct KnownGaussian {
    pub(super) gaussian: Gaussian,
    /// The mean squared distance by p(j|i).
    mean: f64,
    /// The entropy of p(j|i).
    entropy: f64,
    /// The means of u^k by p(j|i), u = beta (d - mean).
    moments: [f64; MOMENTS + 1],
}

impl KnownGaussian {
    /// Of a row that has the others at these squared distances.
    pub(crate) fn new(distances2: &[f64], target: f64) -> Self {
        let gaussian = Gaussian::search(distances2, cold_start(distances2), target);
        let sums = Sums::at(distances2, gaussian.nearest, gaussian.beta);
        let from_nearest = sums.0[1] / sums.0[0];
        let mean = gaussian.nearest + from_nearest;
        Self {
            gaussian,
            mean,
            entropy: gaussian.log_sum + gaussian.beta * from_nearest,
            moments: moments(distances2, &gaussian, mean),
        }
    }

    pub(crate) fn beta(&self) -> f64 {
        self.gaussian.beta
    }

    /// The same gaussian with one more row under it: σ is kept.
    pub(crate) fn with(&self, distance2: f64) -> Gaussian {
        let Gaussian { beta, nearest: old, log_sum } = self.gaussian;
        let nearest = old.min(distance2);
        let (others, newcomer) = (log_sum - beta * (old - nearest), -beta * (distance2 - nearest));
        let most = others.max(newcomer);
        Gaussian { beta, nearest, log_sum: most + (-(others - newcomer).abs()).exp().ln_1p() }
    }

    /// The gaussian over the others and one more row whose entropy is `target` again: σ is searched anew. With beta grown to
    /// (1 + e) beta, the others weigh p exp(-e u), whose sums are series in e and the known moments. Nothing where those
    /// series may miss too much; then the others have to be looked at.
    pub(crate) fn adapted(&self, distance2: f64, target: f64) -> Option<Gaussian> {
        let Gaussian { beta, nearest: old, .. } = self.gaussian;
        let u = beta * (distance2 - self.mean);
        let mut e = 0.0;
        for _ in 0..20 {
            let newcomer = (-(1.0 + e) * u - self.entropy).exp();
            let [zeroth, first, second] = self.series(e)?;
            let total = zeroth + newcomer;
            let mean = (first + newcomer * u) / total;
            let variance = (second + newcomer * u * u) / total - mean * mean;
            let error = self.entropy + total.ln() + (1.0 + e) * mean - target;
            if error.abs() <= 0.1 * MISSED {
                let (beta, nearest) = ((1.0 + e) * beta, old.min(distance2));
                let log_sum = self.entropy + total.ln() - beta * (self.mean - nearest);
                return Some(Gaussian { beta, nearest, log_sum });
            }
            e += error / ((1.0 + e) * variance);
        }
        None
    }

    /// Σ p exp(-e u), Σ p u exp(-e u) and Σ p u² exp(-e u), where e is not below 0 and so small that what the series leave
    /// out does not count.
    fn series(&self, e: f64) -> Option<[f64; 3]> {
        if !(0.0..1.0).contains(&e) {
            return None;
        }
        let (mut sums, mut factor) = ([0.0; 3], 1.0);
        for k in 0..MOMENTS {
            // factor is (-e)^k / k!.
            for (shift, sum) in sums.iter_mut().enumerate() {
                if k + shift < MOMENTS {
                    *sum += factor * self.moments[k + shift];
                }
            }
            if k + 1 < MOMENTS {
                factor *= -e / (k + 1) as f64;
            }
        }
        // By Taylor's theorem the second sum, the one that needs most, misses e^7 E[u^8 exp(-e' u)] / 7!, e' between 0
        // and e, and no u is below that of the nearest row.
        let lowest = self.gaussian.beta * (self.mean - self.gaussian.nearest);
        let missed = factor.abs() * self.moments[MOMENTS] * (e * lowest).exp();
        // The entropy takes that sum (1 + e) times, and the first sum, which misses less, once.
        (e == 0.0 || 3.0 * missed < MISSED).then_some(sums)
    }
}

fn moments(distances2: &[f64], gaussian: &Gaussian, mean: f64) -> [f64; MOMENTS + 1] {
    let sums = vectorized(
        #[inline(always)]
        || {
            let mut sums = [[0.0; LANES]; MOMENTS + 1];
            in_lanes(
                distances2,
                #[inline(always)]
                |distances2, counts| {
                    let (mut power, mut u) = ([0.0; LANES], [0.0; LANES]);
                    for lane in 0..LANES {
                        let [w] = exp([-gaussian.beta * (distances2[lane] - gaussian.nearest)]);
                        power[lane] = w * counts[lane];
                        u[lane] = gaussian.beta * (distances2[lane] - mean);
                    }
                    for sums in &mut sums {
                        for lane in 0..LANES {
                            sums[lane] += power[lane];
                            power[lane] *= u[lane];
                        }
                    }
                },
            );
            sums.map(sum_lanes)
        },
    );
    let mut moments = sums.map(|sum| sum / sums[0]);
    // It is, but for rounding.
    moments[1] = 0.0;
    moments
}
