//! How the live map is doing, at a glance.

use super::Live;
use super::event::{Evidence, Gathered, NewCluster, Shifted, Staleness, Vanishing, Why};
use super::watch::{ReportedShift, Vanished};
use super::window::Window;
use serde::{Deserialize, Serialize};

/// How the live map is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Points that are there.
    pub points: u64,
    /// How many of them are outliers.
    pub outliers: u64,
    /// Groups of outliers.
    pub groups: u64,
    /// New clusters.
    pub forming: Vec<Forming>,
    /// Clusters that no longer have what they had.
    pub vanishing: Vec<Vanishing>,
    /// Clusters whose arrivals are no longer like their rows.
    #[serde(default)]
    pub shifted: Vec<Shifted>,
    /// What shows that the map is stale; none while it is not.
    #[serde(default)]
    pub stale: Option<Staleness>,
    /// What shows that there are more outliers than chance explains; none while there are not.
    #[serde(default)]
    pub excess: Option<Evidence>,
    /// One false alarm of each kind may come in so many arrivals, in the mean.
    #[serde(default)]
    pub false_alarms: f64,
    /// Seconds of the window.
    pub window: f64,
    /// Rows that arrived in it.
    pub arrivals: u64,
    /// Arrivals per second.
    pub rate: f64,
    /// The share of outliers among the arrivals.
    pub outlier_share: f64,
    /// The share that the radius promises for rows like the map's own; none if the radius is a number.
    pub promised: Option<f64>,
    /// From 0, arrivals are like the map's own rows, to 1, all are stranger than any.
    pub staleness: f64,
    /// The clusters of the map.
    pub clusters: Vec<ClusterHealth>,
    /// The window in parts, oldest first.
    pub series: HealthSeries,
}

/// A new cluster as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forming {
    /// Which.
    #[serde(flatten)]
    pub cluster: NewCluster,
    /// When it was told.
    pub since: f64,
    /// What showed it.
    #[serde(default)]
    pub evidence: Evidence,
}

/// A cluster of the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterHealth {
    /// Its name.
    pub name: String,
    /// Points in it.
    pub live: u64,
    /// Arrivals in it within the window.
    pub seen: u64,
    /// The share of the arrivals that it is expected to get, learned from the stream; none before it is known.
    pub share_before: Option<f64>,
}

/// The window in parts, oldest first: one value each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthSeries {
    /// When the part begins.
    pub t: Vec<f64>,
    /// Arrivals.
    pub arrivals: Vec<u64>,
    /// Outliers among them.
    pub outliers: Vec<u64>,
    /// Their staleness; none without arrivals.
    pub staleness: Vec<Option<f64>>,
}

impl Live {
    /// How it is doing, as of the latest change.
    pub fn health(&self) -> Health {
        self.health_of(&self.window, self.now)
    }

    /// How it is doing if nothing has happened since the latest change, and it is `now`: arrivals leave the window.
    /// Alarms stay as they are; only changes tell of those.
    pub fn health_at(&self, now: f64) -> Health {
        if self.last == 0 || now.is_nan() || now <= self.now {
            return self.health();
        }
        let mut window = self.window.clone();
        window.advance(now);
        self.health_of(&window, now)
    }

    fn health_of(&self, window: &Window, now: f64) -> Health {
        let arrivals = window.arrivals();
        Health {
            points: self.points.len() as u64,
            outliers: self.outliers.len() as u64,
            groups: self.outliers.groups().len() as u64,
            forming: self.announced.forming.keys().filter_map(|&family| self.forming(family)).collect(),
            vanishing: self
                .announced
                .vanishing
                .iter()
                .map(|(&cluster, why)| self.vanishing(cluster, why, false))
                .collect(),
            shifted: self
                .announced
                .shifted
                .iter()
                .map(|(&cluster, told)| self.shifted(cluster, told))
                .collect(),
            stale: self.announced.stale.map(|ReportedShift { score, evidence }| Staleness {
                staleness: window.staleness(),
                arrivals,
                score,
                evidence,
            }),
            excess: self.announced.excess.map(|told| told.evidence),
            false_alarms: self.learned.limit,
            window: self.options.window,
            arrivals,
            rate: window.rate(now),
            outlier_share: window.outliers() as f64 / arrivals.max(1) as f64,
            promised: self.lion.promised(),
            staleness: window.staleness(),
            clusters: self
                .known
                .clusters
                .names
                .iter()
                .enumerate()
                .map(|(at, name)| ClusterHealth {
                    name: name.clone(),
                    live: window.live(at),
                    seen: window.seen(at),
                    share_before: self.learned.gaps[at].share(),
                })
                .collect(),
            series: series(window),
        }
    }

    fn forming(&self, family: u64) -> Option<Forming> {
        let Gathered { cluster, evidence, .. } = self.gathered(family)?;
        Some(Forming { cluster, since: self.announced.forming.get(&family)?.told, evidence })
    }

    fn shifted(&self, cluster: u32, told: &ReportedShift) -> Shifted {
        let ReportedShift { score, evidence } = *told;
        Shifted { cluster: self.known.clusters.name(cluster).to_string(), score, evidence }
    }

    /// What a vanishing cluster has and should have: as it was told, or since.
    pub(super) fn vanishing(&self, cluster: u32, why: &Vanished, told: bool) -> Vanishing {
        let (at, evidence) = (cluster as usize, why.evidence);
        let missing = self.learned.gaps[at].missing(self.learned.arrivals);
        let (seen, expected) = match (why.why, missing) {
            (Why::Left, _) => (self.window.live(at), evidence.expected),
            (Why::Arrivals, Some((seen, expected))) if !told => {
                (seen + evidence.seen, expected + evidence.expected)
            }
            (Why::Arrivals, _) => (evidence.seen, evidence.expected),
        };
        let cluster = self.known.clusters.name(cluster).to_string();
        Vanishing { cluster, expected, seen, why: why.why, evidence }
    }
}

fn series(window: &Window) -> HealthSeries {
    let mut series = HealthSeries::default();
    for (t, bucket) in window.series() {
        series.t.push(t);
        series.arrivals.push(bucket.map_or(0, |bucket| bucket.arrivals));
        series.outliers.push(bucket.map_or(0, |bucket| bucket.outliers));
        let stale = bucket.filter(|bucket| bucket.arrivals > 0).map(|bucket| bucket.staleness());
        series.staleness.push(stale);
    }
    series
}
