//! How the live map is doing, at a glance.

use super::event::{At, Vanishing, Why};
use super::window::Window;
use super::{Live, VanishedBy};
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
    /// Groups that are new clusters.
    pub forming: Vec<Forming>,
    /// Clusters that no longer have what they had.
    pub vanishing: Vec<Vanishing>,
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
    pub series: Series,
}

/// A group of outliers that is a new cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forming {
    /// The group.
    pub group: u64,
    /// Its members.
    pub size: u64,
    /// Its position.
    #[serde(flatten)]
    pub at: At,
    /// When it was first called one.
    pub since: f64,
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
    /// Its share of the arrivals in clusters before the window.
    pub share_before: Option<f64>,
}

/// The window in parts, oldest first: one value each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
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

    /// How it is doing if nothing has happened since the latest change, and it is `now`: arrivals leave the window. What was
    /// told to form or to vanish still does; only changes tell of that.
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
            outliers: self.strangers.len() as u64,
            groups: self.strangers.groups().len() as u64,
            forming: self
                .announced
                .forming
                .iter()
                .filter_map(|(&group, known)| {
                    let group = self.strangers.group(group)?;
                    let size = group.members.len() as u64;
                    Some(Forming { group: group.number, size, at: group.position.into(), since: known.since })
                })
                .collect(),
            vanishing: self
                .announced
                .vanishing
                .iter()
                .map(|(&cluster, by)| self.vanishing(cluster, by))
                .collect(),
            window: self.options.window,
            arrivals,
            rate: window.rate(now),
            outlier_share: window.outliers() as f64 / arrivals.max(1) as f64,
            promised: self.lion.promised(),
            staleness: window.staleness(),
            clusters: self
                .clusters
                .names
                .iter()
                .enumerate()
                .map(|(at, name)| ClusterHealth {
                    name: name.clone(),
                    live: window.live(at),
                    seen: window.seen(at),
                    share_before: window.share_before(at),
                })
                .collect(),
            series: series(window),
        }
    }

    /// What a vanishing cluster has, and what it should have.
    pub(super) fn vanishing(&self, cluster: u32, by: &VanishedBy) -> Vanishing {
        let at = cluster as usize;
        let (expected, seen, why) = match *by {
            VanishedBy::Arrivals { share } => {
                (share * self.window.seen_in_all() as f64, self.window.seen(at), Why::Arrivals)
            }
            VanishedBy::Left { from } => (from as f64, self.window.live(at), Why::Left),
        };
        Vanishing { cluster: self.clusters.name(cluster).to_string(), expected, seen, why }
    }
}

fn series(window: &Window) -> Series {
    let mut series = Series::default();
    for (t, bucket) in window.series() {
        series.t.push(t);
        series.arrivals.push(bucket.map_or(0, |bucket| bucket.arrivals));
        series.outliers.push(bucket.map_or(0, |bucket| bucket.outliers));
        let stale = bucket.filter(|bucket| bucket.arrivals > 0).map(|bucket| bucket.staleness());
        series.staleness.push(stale);
    }
    series
}
