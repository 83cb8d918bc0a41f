//! Whether points leave a cluster more than others: an e-detector for each cluster.
//!
//! A point that is removed is any of those that are there, while nothing is wrong; so a cluster's chance to lose one is its
//! share of the points. The bet is that its odds are [`ODDS`] times as high. A point that changes its cluster leaves one as
//! often as it comes to it; the bet is that it leaves in nine of ten cases. Ordinary turnover and a map that is emptied
//! show nothing by that.

use serde::{Deserialize, Serialize};

/// The odds of a point to leave, beside those of points of other clusters.
const ODDS: f64 = 10.0;
/// The share of moves that leave.
const OUT: f64 = 0.9;
/// A cluster vanishes if so few of its points are left.
const LEFT: f64 = 0.25;
/// So few points are no cluster that can be left.
const LEAST: u64 = 8;

/// What is known of the points that leave a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::live) struct Leaving {
    sum: f64,
    /// Points that were there when the bet had nothing to show.
    from: u64,
    since: f64,
}

/// A cluster that its points leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) struct Left {
    pub(in crate::live) from: u64,
    pub(in crate::live) e_value: f64,
    pub(in crate::live) since: f64,
}

impl Leaving {
    /// A point was removed, from this cluster (`own`) or another; before it, the cluster had `live` of `all` points. `weight`
    /// is what a beginning counts.
    pub(in crate::live) fn removed(&mut self, own: bool, live: u64, all: u64, t: f64, weight: f64) {
        let share = live as f64 / all.max(1) as f64;
        let bet = ODDS * share / (1.0 + (ODDS - 1.0) * share);
        let e_value = match own {
            _ if live == 0 || live >= all => return,
            true => bet / share,
            false => (1.0 - bet) / (1.0 - share),
        };
        self.step(e_value, live, t, weight);
    }

    /// A point came from another cluster (`own`), or went there; before it, the cluster had `live` points.
    pub(in crate::live) fn moved(&mut self, out: bool, live: u64, t: f64, weight: f64) {
        self.step(2.0 * if out { OUT } else { 1.0 - OUT }, live, t, weight);
    }

    fn step(&mut self, e_value: f64, live: u64, t: f64, weight: f64) {
        if self.sum <= weight {
            (self.from, self.since) = (live, t);
        }
        self.sum = ((self.sum + weight) * e_value).min(1e300);
    }

    /// Whether that is to be told, with `live` points left.
    pub(in crate::live) fn left(&self, live: u64, limit: f64) -> Option<Left> {
        let few = self.from >= LEAST && live as f64 <= LEFT * self.from as f64;
        let Self { sum, from, since } = *self;
        (few && sum >= limit).then_some(Left { from, e_value: sum, since })
    }

    /// It was told.
    pub(in crate::live) fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Points come and go, of five clusters: 200 000 of them at a limit of 2000 have at most 100 false alarms, and hardly
    /// any cluster is ever left by three quarters of its points.
    #[test]
    fn ordinary_turnover_shows_nothing() {
        let mut random = Random::new(6);
        let mut live = [100u64; 5];
        let mut leaving = [Leaving::default(); 5];
        let (mut strong, mut told) = (0, 0);
        for at in 0..200_000 {
            let all: u64 = live.iter().sum();
            let mut number = random.below(all as usize) as u64;
            let gone = live.iter().position(|&live| {
                let found = number < live;
                number = number.saturating_sub(live);
                found
            });
            let gone = gone.unwrap_or(0);
            for (at, one) in leaving.iter_mut().enumerate() {
                one.removed(at == gone, live[at], all, 0.0, 0.2);
            }
            live[gone] -= 1;
            live[random.below(5)] += 1;
            for (one, &live) in leaving.iter_mut().zip(&live) {
                told += usize::from(one.left(live, 2000.0).is_some());
                if one.sum >= 2000.0 {
                    strong += 1;
                    one.end();
                }
            }
            assert!(told <= 5, "{at}");
        }
        assert!(strong <= 130, "{strong}");
    }

    #[test]
    fn points_that_leave_one_cluster_are_told_and_a_map_that_is_emptied_is_not() {
        let mut leaving = Leaving::default();
        for gone in 0..30 {
            leaving.removed(true, 40 - gone, 400 - gone, 1.0, 0.1);
        }
        let left = leaving.left(10, 300_000.0).unwrap();
        assert!((left.from, left.since) == (40, 1.0) && left.e_value > 300_000.0);
        assert_eq!(leaving.left(11, 300_000.0), None, "more than a quarter is left");
        let mut leaving = Leaving::default();
        for gone in 0..40u64 {
            for other in 0..10 {
                leaving.removed(other == 0, 40 - gone, 400 - 10 * gone - other, 1.0, 0.1);
            }
        }
        assert_eq!(leaving.left(0, 300_000.0), None);
    }
}
