//! Whether a cluster still gets its share of the arrivals: one e-detector for each cluster.
//!
//! The share is learned from the stream. The bet is that it fell to a part of it: an arrival elsewhere then counts
//! (1 - part x share) / (1 - share), one in the cluster counts `part`. Beginnings are weighted by the share, and the
//! shares of all clusters sum to 1, so that all clusters together have one false alarm in the time that is allowed for.
//! For a share that is not less than it is taken to be, the mean of a step is at most 1; so the share is taken to be
//! less than it was seen to be: by [`DEVIATIONS`] standard deviations, and by up to a half ([`KEPT`]) where it is
//! large, because there a cluster that falls to a half is easily told from one that does not. It is learned when the
//! cluster gets an arrival and not between, so that a cluster needs no look while nothing comes to it: the arrival that
//! will tell of it is known beforehand ([`Cluster::due`]).

use crate::live::event::Evidence;
use crate::live::restart::MOST_COUNTED;
use serde::{Deserialize, Serialize};

/// The parts of what it is taken to be that a share may have fallen to.
const PARTS: [f64; 2] = [0.02, 0.2];
/// How much less than it was seen to be a share is taken to be.
const DEVIATIONS: f64 = 1.5;
/// A cluster that gets all arrivals keeps its share until it falls to this part; one that gets few, until it falls at all.
const KEPT: f64 = 0.5;
/// A share is learned from so many arrivals in the cluster at least.
const LEAST: f64 = 5.0;
/// Counts are halved when there are so many arrivals; old streams are forgotten.
const LEARNED: f64 = 200_000.0;
/// The return of a cluster is told at this e-value.
const BACK: f64 = 300.0;
/// Against the share having stayed at this part.
const GONE: f64 = 0.2;

/// What is known of the arrivals in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::live) struct Cluster {
    /// Arrivals in it, and in all since the first arrival of all.
    seen: f64,
    all: f64,
    sums: [f64; 2],
    /// The number of the arrival up to which that is so.
    at: u64,
    /// The share that a step counts with.
    share: f64,
    run: ShareEvidence,
    told: Option<ReportedDecline>,
}

/// Arrivals since the most likely beginning of the gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ShareEvidence {
    seen: u64,
    from: u64,
    since: f64,
    /// Of the e-values since then.
    #[serde(default)]
    product: f64,
}

/// A cluster that was told to vanish.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct ReportedDecline {
    share: f64,
    sum: f64,
    run: ShareEvidence,
}

impl Cluster {
    /// Whether a kept one counts what can have been.
    pub(in crate::live) fn is_countable(&self) -> bool {
        let told = self.told.map_or(0, |told| told.run.seen);
        [self.at, self.run.seen, self.run.from, told].into_iter().all(|count| count <= MOST_COUNTED)
    }

    /// Arrival number `now`, at time `t`, is in this cluster. Tells that a cluster is back.
    pub(in crate::live) fn arrive(&mut self, now: u64, t: f64) -> Option<Evidence> {
        let back = self.told.and_then(|told| self.step_back(told, now, t));
        let gap = now.saturating_sub(self.at + 1);
        if self.told.is_none() && self.share > 0.0 {
            for (sum, part) in self.sums.iter_mut().zip(PARTS) {
                *sum = (grown(*sum, part, self.share, gap) + self.share) * part;
            }
        }
        let [_, part] = PARTS;
        let product = self.run.product.max(1.0) * step(part, self.share).powf(gap as f64) * part;
        self.run = match product > 1.0 {
            true => ShareEvidence { seen: self.run.seen + 1, product: product.min(1e300), ..self.run },
            false => ShareEvidence { from: now, since: t, ..ShareEvidence::default() },
        };
        self.learn(now);
        back
    }

    fn learn(&mut self, now: u64) {
        if self.told.is_none() {
            self.all += now.saturating_sub(self.at) as f64;
            self.seen += 1.0;
        }
        self.at = now;
        if self.all > LEARNED {
            (self.seen, self.all) = (0.5 * self.seen, 0.5 * self.all);
        }
        let kept = 1.0 - (1.0 - KEPT) * self.seen / self.all.max(1.0);
        let least = (self.seen - DEVIATIONS * self.seen.sqrt()).min(kept * self.seen);
        self.share = if self.seen < LEAST { 0.0 } else { (least / self.all.max(1.0)).clamp(0.0, 0.999) };
    }

    /// The number of the arrival that tells, if the cluster gets none until then.
    pub(in crate::live) fn due(&self, limit: f64) -> Option<u64> {
        let mut low = self.look(limit)?.saturating_sub(self.at);
        let mut high = low.max(1);
        while self.sum(high) < limit {
            high = high.checked_mul(2)?;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.sum(middle) >= limit { high = middle } else { low = middle + 1 }
        }
        Some(self.at.saturating_add(low))
    }

    /// A number that this arrival has at least: quick to find.
    pub(in crate::live) fn look(&self, limit: f64) -> Option<u64> {
        if self.share <= 0.0 || self.told.is_some() {
            return None;
        }
        // As if both sums grew as fast as the one that grows faster, from the larger.
        let each = step(PARTS[0], self.share);
        let slowest = step(PARTS[1], self.share);
        let begun = self.sums[0].max(self.sums[1]) + self.share * slowest / (slowest - 1.0);
        let gap = ((limit / begun).ln() / each.ln()).max(0.0).floor();
        (gap < 1e15).then(|| self.at.saturating_add(gap as u64))
    }

    fn sum(&self, gap: u64) -> f64 {
        let each = self.sums.iter().zip(PARTS).map(|(sum, part)| grown(*sum, part, self.share, gap));
        each.sum::<f64>() / PARTS.len() as f64
    }

    /// The cluster is told to vanish at arrival `now`.
    pub(in crate::live) fn tell(&mut self, now: u64) -> Evidence {
        let of = now.saturating_sub(self.run.from);
        let share = self.seen / self.all.max(1.0);
        let gap = Evidence {
            seen: self.run.seen,
            of,
            expected: share * of as f64,
            e_value: self.sum(now.saturating_sub(self.at)),
            since: self.run.since,
        };
        self.told = Some(ReportedDecline {
            share,
            sum: 0.0,
            run: ShareEvidence { from: now, since: self.run.since, ..ShareEvidence::default() },
        });
        (self.sums, self.at) = ([0.0; 2], now);
        gap
    }

    /// Arrivals since it was told to vanish: how many in it, and of how many, and how many were expected.
    pub(in crate::live) fn missing(&self, now: u64) -> Option<(u64, f64)> {
        let told = self.told?;
        Some((told.run.seen, told.share * now.saturating_sub(told.run.from) as f64))
    }

    /// The share that it had of the arrivals.
    pub(in crate::live) fn share(&self) -> Option<f64> {
        (self.seen >= LEAST).then(|| self.seen / self.all.max(1.0))
    }

    fn step_back(&mut self, mut told: ReportedDecline, now: u64, t: f64) -> Option<Evidence> {
        let gap = now.saturating_sub(self.at + 1);
        let (share, low) = (told.share, GONE * told.share);
        // Beginnings are arrivals in the cluster: before one there is nothing to show.
        told.sum = (told.sum * ((1.0 - share) / (1.0 - low)).powf(gap as f64) + 1.0) / GONE;
        if told.sum <= 1.0 / GONE + 1e-9 || told.run.seen == 0 {
            told.run = ShareEvidence { from: now.saturating_sub(1), since: t, ..ShareEvidence::default() };
        }
        told.run.seen += 1;
        if told.sum < BACK {
            self.told = Some(told);
            return None;
        }
        let of = now.saturating_sub(told.run.from);
        let gap = Evidence {
            seen: told.run.seen,
            of,
            expected: share * of as f64,
            e_value: told.sum,
            since: told.run.since,
        };
        self.told = None;
        self.sums = [0.0; 2];
        Some(gap)
    }
}

/// A sum of e-values after `gap` arrivals elsewhere.
fn grown(sum: f64, part: f64, share: f64, gap: u64) -> f64 {
    let each = step(part, share);
    let power = each.powf(gap as f64);
    (sum * power + share * each * (power - 1.0) / (each - 1.0)).min(1e300)
}

/// The e-value of an arrival elsewhere.
fn step(part: f64, share: f64) -> f64 {
    (1.0 - part * share) / (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Each arrival elsewhere multiplies the sum, and may begin a gap of its own.
    #[test]
    fn a_sum_grows_as_if_step_by_step() {
        for (sum, part, share) in [(0.0, 0.02, 0.1), (3.0, 0.2, 0.4), (0.5, 0.02, 0.9)] {
            let each = step(part, share);
            let mut truth: f64 = sum;
            for gap in 0..40 {
                let found = grown(sum, part, share, gap);
                assert!((found - truth).abs() <= 1e-9 * truth, "{found} {truth}");
                truth = (truth + share) * each;
            }
        }
    }

    /// After a long gap the evidence of a return begins anew.
    #[test]
    fn a_return_counts_from_its_beginning() {
        let told = |now: u64| {
            let run = ShareEvidence { seen: 3, ..ShareEvidence::default() };
            let mut cluster = Cluster { at: 100, ..Cluster::default() };
            assert!(cluster.step_back(ReportedDecline { share: 0.5, sum: 20.0, run }, now, 7.0).is_none());
            cluster.told.map(|told| (told.run.seen, told.run.from, told.run.since))
        };
        assert_eq!(told(101), Some((4, 0, 0.0)));
        assert_eq!(told(1000), Some((1, 999, 7.0)));
    }

    /// Clusters with these shares get so many arrivals; how many are told to vanish.
    fn told(shares: &[f64], arrivals: u64, limit: f64, random: &mut Random) -> usize {
        let mut clusters = vec![Cluster::default(); shares.len()];
        let mut told = 0;
        for now in 1..=arrivals {
            let mut left = random.uniform();
            let at = shares.iter().position(|share| {
                left -= share;
                left <= 0.0
            });
            clusters[at.unwrap_or(0)].arrive(now, now as f64);
            for cluster in &mut clusters {
                if cluster.look(limit).is_some_and(|look| look <= now) && cluster.due(limit) == Some(now) {
                    cluster.tell(now);
                    told += 1;
                }
            }
        }
        told
    }

    /// All clusters together have one false alarm in the limit: 200 000 arrivals at a limit of 2000 have at most 100,
    /// give or take three standard errors of 10.
    #[test]
    fn false_alarms_are_as_rare_as_is_promised() {
        let mut random = Random::new(1);
        for shares in [vec![0.1; 10], vec![0.5, 0.3, 0.15, 0.04, 0.01], vec![0.02; 50], vec![0.95, 0.05]] {
            let told: usize = (0..10).map(|_| told(&shares, 20_000, 2000.0, &mut random)).sum();
            assert!(told <= 130, "{told} of {shares:?}");
        }
    }

    #[test]
    fn a_cluster_that_stops_is_told_in_time_and_its_return_too() {
        let mut random = Random::new(2);
        let limit = 300_000.0;
        for share in [0.5, 0.1, 0.03] {
            let needed = f64::ln(100_000.0) / share;
            for _ in 0..20 {
                let mut cluster = Cluster::default();
                let before = (200.0 / share) as u64;
                (1..=before)
                    .filter(|_| random.uniform() < share)
                    .for_each(|now| _ = cluster.arrive(now, 0.0));
                let due = cluster.due(limit).unwrap();
                assert!(((due - before) as f64) < 3.0 * needed, "{due} {before} {share}");
                // One earlier there is not enough to show, and the quick bound is no later.
                assert!(cluster.sum(due - cluster.at) >= limit && cluster.sum(due - cluster.at - 1) < limit);
                assert!(cluster.look(limit).unwrap() <= due);
                let gap = cluster.tell(due);
                assert!(gap.e_value >= limit && gap.expected > 5.0 * (gap.seen as f64 + 0.5), "{gap:?}");
                let back = (due + 1..due + (60.0 / share) as u64)
                    .find_map(|now| (random.uniform() < share).then(|| cluster.arrive(now, 0.0))?);
                assert!(back.is_some_and(|back| back.seen >= 3 && back.e_value >= BACK), "{back:?}");
            }
        }
    }

    #[test]
    fn half_of_a_large_share_is_not_gone() {
        let mut random = Random::new(4);
        for share in [0.6, 0.99] {
            let mut cluster = Cluster::default();
            (1..=5000).filter(|_| random.uniform() < share).for_each(|now| _ = cluster.arrive(now, 0.0));
            for now in 5001..=7000 {
                if random.uniform() < 0.5 * share {
                    cluster.arrive(now, 0.0);
                }
                assert!(cluster.due(3e5).is_none_or(|due| due > now), "{now} of {share}");
            }
        }
    }
}
