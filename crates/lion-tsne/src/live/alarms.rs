//! Alarms as tests: what is decided by evidence, and how often by chance alone.
//!
//! [`drift`] says whether scores are what they were, for the map and for each cluster; [`gather`] whether outliers are
//! a new cluster; [`vanish`] and [`leave`] whether a cluster loses its arrivals or its points. Each kind has at most
//! one false alarm in the time that is allowed for, in the mean and however long one watches, while rows come as the
//! map's own did: in any order (exchangeable). None of them knows a clock: the same rows tell the same at one a minute
//! and at a thousand a second.
//!
//! What counts as evidence: a row of a new point. A point that is sent again counts if all others had their turn in
//! between, by events and up to [`TURN`] of them, and, where scores are judged, if its score was ordinary before. So a
//! point that is sent again and again shows nothing, and points that are always strange show it once.

pub(super) mod drift;
pub(super) mod gather;
pub(super) mod leave;
mod rate;
pub(super) mod tail;
pub(super) mod vanish;

pub use rate::FalseAlarms;

use super::clusters::{Clusters, Voters};
use super::restart::MOST_COUNTED;
use crate::index::squared_distance;
use crate::lion::Lion;
use crate::random::Random;
use drift::{BINS, Detector, EDGES, Null};
use leave::Leaving;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use vanish::Cluster;

/// A point counts again after so many events at most.
const TURN: u64 = 1000;
/// A cluster with fewer rows in the map is not judged by their scores.
const ROWS: usize = 50;
/// Rows by which the width of clusters is known.
const SAMPLE: usize = 1024;
/// Arrivals after which a limit of time is made one of arrivals again.
const EVERY: u64 = 256;
/// So many stretches of arrivals say how fast they come.
const STRETCHES: usize = 9;

/// All that alarms know of the map; nothing of it changes.
pub(super) struct AlarmReference {
    pub(super) edges: [f64; EDGES],
    pub(super) map: Null,
    /// The clusters whose scores are judged.
    pub(super) clusters: Vec<Option<Null>>,
    pub(super) alpha: f64,
    /// Rows of the map.
    pub(super) rows: usize,
    /// The distance of two rows of a cluster, as a median.
    pub(super) width: f64,
    /// Nine of ten pairs are no farther apart: a new cluster is taken to be as wide.
    pub(super) reach: f64,
    /// The map's own outlying rows.
    outlier_rows: Vec<f32>,
    cols: usize,
}

/// All that alarms have learned of the stream. A store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Learned {
    /// Arrivals that counted.
    pub(super) arrivals: u64,
    /// When the latest stretch of [`EVERY`] arrivals began.
    pub(super) start: Option<f64>,
    /// How long the stretches before it took, up to [`STRETCHES`] of them.
    #[serde(default)]
    pub(super) stretches: VecDeque<f64>,
    /// Arrivals in which one false alarm may come.
    pub(super) limit: f64,
    /// Levels that tests of outliers may spend.
    pub(super) saved: f64,
    pub(super) scores: Detector,
    pub(super) outliers: Detector,
    pub(super) clusters: Vec<Detector>,
    pub(super) gaps: Vec<Cluster>,
    pub(super) leaving: Vec<Leaving>,
    /// Outliers that were points before, by the events that they appeared by: the events by which they became outliers.
    pub(super) since: BTreeMap<u64, u64>,
}

impl AlarmReference {
    pub(super) fn new(lion: &Lion, clusters: &Clusters, voters: &Voters) -> Self {
        let (alpha, own) = (alpha(lion), own_scores(lion));
        let own = own.as_ref();
        let edges = drift::edges(alpha);
        // By the rows around each, as of arrivals: where labels overlap, that is not its own.
        let cluster_of = voters.clusters_of(lion.map());
        let judged = (0..clusters.names.len() as u32).map(|cluster| {
            let own = || own.iter().zip(&cluster_of).filter(move |(_, of)| **of == Some(cluster));
            let ordinary = || own().map(|(score, _)| f64::from(*score)).filter(move |score| *score > alpha);
            (ordinary().count() >= ROWS).then(|| Null::of(ordinary(), &edges))
        });
        let clusters = judged.collect();
        let x = lion.map().x();
        let outliers = (0..x.rows().min(own.len())).filter(|&row| f64::from(own[row]) <= alpha);
        let outlier_rows = outliers.flat_map(|row| x.row(row)).copied().collect();
        let map = Null::uniform(calibration(lion), &edges);
        let [width, reach] = widths(lion, &cluster_of, [0.5, 0.9]);
        Self { edges, map, clusters, alpha, rows: own.len(), width, reach, outlier_rows, cols: x.cols() }
    }

    /// How far the map's own outlying rows are from a row, ascending; those within a radius.
    pub(super) fn own(&self, row: &[f32], radius: f64) -> Vec<f32> {
        let rows = self.outlier_rows.chunks_exact(self.cols.max(1));
        let distances = rows.map(|own| squared_distance(row, own).sqrt());
        let mut near: Vec<f32> = distances.filter(|distance| f64::from(*distance) <= radius).collect();
        near.sort_unstable_by(f32::total_cmp);
        near
    }

    /// The bin of a score.
    pub(super) fn bin(&self, score: f64) -> usize {
        drift::bin(&self.edges, score)
    }
}

/// The share of rows like the map's own that are called outliers; 1 % where nobody knows one.
fn alpha(lion: &Lion) -> f64 {
    lion.nominal_share().unwrap_or(0.01).clamp(1e-6, 0.5)
}

/// The scores of the map's own rows, as if each were new. By the paper's rule, by the distances to their nearest rows.
fn own_scores(lion: &Lion) -> Cow<'_, [f32]> {
    match lion.own_scores() {
        [] => {
            let nn_x = lion.map().lion().map_or(&[][..], |lion| &lion.nn_x);
            nn_x.iter().map(|distance| lion.distance_share(*distance) as f32).collect()
        }
        own => own.into(),
    }
}

/// Quantiles of the distances of rows of one cluster, by pairs of a sample.
fn widths<const N: usize>(lion: &Lion, cluster_of: &[Option<u32>], quantiles: [f64; N]) -> [f64; N] {
    let x = lion.map().x();
    let mut before = BTreeMap::new();
    let pair = |row: u32| {
        let row = row as usize;
        let other = before.insert(cluster_of[row]?, row)?;
        Some(squared_distance(x.row(row), x.row(other)).sqrt())
    };
    let mut distances: Vec<f32> =
        Random::new(0).sample(x.rows(), SAMPLE).into_iter().filter_map(pair).collect();
    distances.sort_unstable_by(f32::total_cmp);
    let at = |quantile: f64| distances.get((quantile * distances.len() as f64) as usize);
    quantiles.map(|quantile| at(quantile).copied().map_or(0.0, f64::from))
}

/// The rows that p-values count. By the paper's rule, all rows of the map.
fn calibration(lion: &Lion) -> usize {
    match lion.calibration_rows() {
        0 => lion.map().x().rows(),
        rows => rows,
    }
}

impl Learned {
    pub(super) fn new(clusters: usize, allowed: FalseAlarms) -> Self {
        Self {
            limit: allowed.arrivals(0, 0.0),
            clusters: vec![Detector::default(); clusters],
            gaps: vec![Cluster::default(); clusters],
            leaving: vec![Leaving::default(); clusters],
            ..Self::default()
        }
    }

    /// Whether it is of a map with so many clusters, and counts what can have been.
    pub(super) fn fits(&self, clusters: usize) -> bool {
        [self.clusters.len(), self.gaps.len(), self.leaving.len()] == [clusters; 3]
            && self.arrivals <= MOST_COUNTED
            && self.gaps.iter().all(Cluster::is_countable)
            && self.clusters.iter().chain([&self.scores, &self.outliers]).all(Detector::is_countable)
    }

    /// One more arrival counts; says whether the limit is another now.
    pub(super) fn count(&mut self, now: f64, allowed: FalseAlarms) -> bool {
        let start = *self.start.get_or_insert(now);
        self.arrivals += 1;
        self.saved += 1.0;
        if !self.arrivals.is_multiple_of(EVERY) {
            return false;
        }
        self.start = Some(now);
        self.stretches.push_back(now - start);
        if self.stretches.len() > STRETCHES {
            self.stretches.pop_front();
        }
        let limit = allowed.arrivals(EVERY, self.usual_stretch());
        std::mem::replace(&mut self.limit, limit) != limit
    }

    /// How long a stretch takes, as a median: one wrong time, or one pause, changes nothing.
    fn usual_stretch(&self) -> f64 {
        let mut taken: Vec<f64> = self.stretches.iter().copied().filter(|taken| *taken > 0.0).collect();
        taken.sort_unstable_by(f64::total_cmp);
        taken.get(taken.len() / 2).copied().unwrap_or(0.0)
    }
}

/// Whether a point that is sent again counts: by the events since it last was, and the points that are there.
pub(super) fn has_turn(events: u64, points: usize) -> bool {
    events >= (points as u64).clamp(2, TURN)
}

/// Whether the score of a point that is sent again may count.
pub(super) fn was_ordinary(bin: usize) -> bool {
    bin == BINS - 1
}
