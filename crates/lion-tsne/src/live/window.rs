//! What happened lately, in buckets of time: small, whatever the number of points.

use super::restart::MOST_COUNTED;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Buckets of a window.
pub(super) const BUCKETS: i64 = 30;
/// Bins of the shares by which staleness is judged.
const BINS: usize = 100;

/// What happened in one part of the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bucket {
    /// It begins at so many widths.
    pub(super) number: i64,
    pub(super) arrivals: u64,
    pub(super) outliers: u64,
    /// How many arrivals had a distance share in each bin.
    shares: Vec<u64>,
    /// Arrivals in each cluster.
    clusters: Vec<u64>,
}

impl Bucket {
    pub(super) fn staleness(&self) -> f64 {
        staleness(&self.shares)
    }

    /// Everything that it counts.
    fn counts(&self) -> impl Iterator<Item = u64> {
        [self.arrivals, self.outliers].into_iter().chain(self.shares.iter().chain(&self.clusters).copied())
    }
}

/// What a store keeps of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WindowParts {
    seconds: f64,
    start: Option<f64>,
    buckets: Vec<Bucket>,
}

/// The last buckets, and sums over them.
#[derive(Clone, Debug)]
pub(super) struct Window {
    seconds: f64,
    /// When the first change was.
    start: Option<f64>,
    /// Oldest first. Parts in which nothing happened have none.
    buckets: VecDeque<Bucket>,
    /// Points in each cluster now.
    live: Vec<u64>,
    // Sums over the buckets.
    arrivals: u64,
    outliers: u64,
    shares: Vec<u64>,
    seen: Vec<u64>,
}

impl Window {
    pub(super) fn new(seconds: f64, clusters: usize) -> Self {
        let none = vec![0; clusters];
        Self {
            seconds,
            start: None,
            buckets: VecDeque::new(),
            live: none.clone(),
            arrivals: 0,
            outliers: 0,
            shares: vec![0; BINS],
            seen: none,
        }
    }

    fn width(&self) -> f64 {
        self.seconds / BUCKETS as f64
    }

    /// Time has come to `now`: older buckets leave the window.
    pub(super) fn advance(&mut self, now: f64) {
        self.start.get_or_insert(now);
        let number = (now / self.width()).floor() as i64;
        if self.buckets.back().is_some_and(|bucket| bucket.number >= number) {
            return;
        }
        self.buckets.push_back(Bucket {
            number,
            arrivals: 0,
            outliers: 0,
            shares: vec![0; BINS],
            clusters: vec![0; self.live.len()],
        });
        while self.buckets.front().is_some_and(|bucket| bucket.number <= number.saturating_sub(BUCKETS)) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some(bucket) = self.buckets.pop_front() else { return };
        self.arrivals -= bucket.arrivals;
        self.outliers -= bucket.outliers;
        self.shares.iter_mut().zip(&bucket.shares).for_each(|(sum, count)| *sum -= count);
        self.seen.iter_mut().zip(&bucket.clusters).for_each(|(sum, count)| *sum -= count);
    }

    /// A row arrived, with a score: the share of the map's own rows that are as strange.
    pub(super) fn arrive(&mut self, share: f64, cluster: Option<u32>, outlier: bool) {
        let Some(bucket) = self.buckets.back_mut() else { return };
        bucket.arrivals += 1;
        self.arrivals += 1;
        self.judge(self.buckets.len() - 1, share, cluster, outlier);
    }

    /// Goes on from the window of another version of the map. How many rows arrived when stays; how they were judged does
    /// not, but for the points that are still there ([`Self::judged_again`]).
    pub(super) fn go_on_from(&mut self, other: &Self) {
        self.start = other.start;
        self.arrivals = other.arrivals;
        let clusters = self.live.len();
        self.buckets = other
            .buckets
            .iter()
            .map(|bucket| Bucket {
                number: bucket.number,
                arrivals: bucket.arrivals,
                outliers: 0,
                shares: vec![0; BINS],
                clusters: vec![0; clusters],
            })
            .collect();
    }

    /// A point that arrived at `t` is judged by another version of the map.
    pub(super) fn judged_again(&mut self, t: f64, share: f64, cluster: Option<u32>, outlier: bool) {
        self.pass(None, cluster);
        let number = (t / self.width()).floor() as i64;
        let Ok(at) = self.buckets.binary_search_by_key(&number, |bucket| bucket.number) else { return };
        self.judge(at, share, cluster, outlier);
    }

    /// Counts what is said of a row that arrived in a bucket.
    fn judge(&mut self, at: usize, share: f64, cluster: Option<u32>, outlier: bool) {
        let bucket = &mut self.buckets[at];
        let bin = ((share * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
        bucket.shares[bin] += 1;
        self.shares[bin] += 1;
        bucket.outliers += u64::from(outlier);
        self.outliers += u64::from(outlier);
        if let Some(cluster) = cluster {
            bucket.clusters[cluster as usize] += 1;
            self.seen[cluster as usize] += 1;
        }
    }

    /// A point went from one cluster to another, or came, or left.
    pub(super) fn pass(&mut self, from: Option<u32>, to: Option<u32>) {
        if from == to {
            return;
        }
        if let Some(from) = from {
            self.live[from as usize] -= 1;
        }
        if let Some(to) = to {
            self.live[to as usize] += 1;
        }
    }

    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    pub(super) fn outliers(&self) -> u64 {
        self.outliers
    }

    /// How far the arrivals are from being like the map's own rows.
    pub(super) fn staleness(&self) -> f64 {
        staleness(&self.shares)
    }

    /// Arrivals in a cluster.
    pub(super) fn seen(&self, cluster: usize) -> u64 {
        self.seen[cluster]
    }

    /// Points in a cluster now.
    pub(super) fn live(&self, cluster: usize) -> u64 {
        self.live[cluster]
    }

    /// Arrivals per second.
    pub(super) fn rate(&self, now: f64) -> f64 {
        let (Some(start), Some(latest)) = (self.start, self.buckets.back()) else { return 0.0 };
        let begin = latest.number.saturating_sub(BUCKETS - 1) as f64 * self.width();
        self.arrivals as f64 / (now - start.max(begin)).max(1.0)
    }

    /// Every bucket of the window, oldest first: when it begins, and what happened if anything did.
    pub(super) fn series(&self) -> impl Iterator<Item = (f64, Option<&Bucket>)> {
        let latest = self.buckets.back().map(|bucket| bucket.number);
        let numbers = latest.into_iter().flat_map(|latest| latest.saturating_sub(BUCKETS - 1)..=latest);
        numbers.map(|number| {
            let bucket = self.buckets.iter().find(|bucket| bucket.number == number);
            (number as f64 * self.width(), bucket)
        })
    }

    pub(super) fn parts(&self) -> WindowParts {
        WindowParts {
            seconds: self.seconds,
            start: self.start,
            buckets: self.buckets.iter().cloned().collect(),
        }
    }

    /// Goes on from what was kept, with so many points in each cluster. A window of another length begins anew.
    pub(super) fn resume(&mut self, parts: WindowParts, live: Vec<u64>) -> Result<(), &'static str> {
        let clusters = self.live.len();
        let fits = |b: &Bucket| {
            b.shares.len() == BINS && b.clusters.len() == clusters && b.counts().all(|n| n <= MOST_COUNTED)
        };
        let ascending = parts.buckets.windows(2).all(|pair| pair[0].number < pair[1].number);
        if !parts.buckets.iter().all(fits) || !ascending || parts.buckets.len() > BUCKETS as usize {
            return Err("has a window that does not fit the map's clusters");
        }
        self.start = parts.start;
        self.live = live;
        for bucket in parts.buckets {
            self.arrivals += bucket.arrivals;
            self.outliers += bucket.outliers;
            self.shares.iter_mut().zip(&bucket.shares).for_each(|(sum, count)| *sum += count);
            self.seen.iter_mut().zip(&bucket.clusters).for_each(|(sum, count)| *sum += count);
            self.buckets.push_back(bucket);
        }
        if parts.seconds != self.seconds {
            while !self.buckets.is_empty() {
                self.drop_oldest();
            }
        }
        Ok(())
    }
}

/// The greatest amount by which the share of arrivals up to a bin exceeds what rows like the map's own would have there.
fn staleness(shares: &[u64]) -> f64 {
    let all: u64 = shares.iter().sum();
    if all == 0 {
        return 0.0;
    }
    let (mut sum, mut most) = (0, 0.0f64);
    for (bin, count) in shares.iter().enumerate() {
        sum += count;
        most = most.max(sum as f64 / all as f64 - (bin + 1) as f64 / BINS as f64);
    }
    most
}
