//! A live map: points with ids that appear, change and leave, and what is to be told of each change.
//!
//! The base map never changes. [`Live::apply`] takes changes and answers with what came of them ([`Applied`]): exactly one
//! [`Event`] for each change, and alarms, all numbered without gaps, and the points and groups that are no longer as they were. Alarms are tests with a stated rate of false ones ([`FalseAlarms`]), and each carries
//! its [`Evidence`]. What it tells depends on the changes in their order
//! alone, not on how they are cut into batches, on threads or on clocks. What a store keeps of it ([`Live::points`],
//! [`Live::groups`], [`Live::aux`]) makes the same live map again ([`Live::restore`]).
//!
//! ```
//! use lion_tsne::live::{Arrival, Change, Live, LiveOptions};
//! use lion_tsne::{Fit, Lion, LionOptions, Matrix, ignore};
//! use std::sync::Arc;
//!
//! # fn main() -> lion_tsne::Result<()> {
//! let grid = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
//! let rows = Matrix::new(100, 2, grid.clone().flatten().collect())?;
//! let places = Matrix::new(100, 2, grid.flatten().map(|v| 10.0 * v).collect())?;
//! let lion = Lion::new(Fit::default().adopt(rows, places, &mut ignore)?, &LionOptions::default())?;
//!
//! let mut live = Live::new(Arc::new(lion), LiveOptions::default())?;
//! let at = |x: f32, y: f32| {
//!     Change::Upsert(Arrival { id: "a".into(), row: vec![x, y], label: None, t: None })
//! };
//! let applied = live.apply(vec![at(3.5, 4.5), at(3.7, 4.5), at(50.0, 50.0), at(3.5, 4.5)])?;
//! let kinds: Vec<&str> = applied.events.iter().map(|event| event.kind()).collect();
//! assert_eq!(kinds, ["appeared", "moved", "became-outlier", "returned"]);
//! # Ok(())
//! # }
//! ```

mod alarms;
mod applied;
mod clusters;
mod event;
mod health;
mod outlier_index;
mod outliers;
mod points;
mod reference;
mod restart;
mod shares;
mod versions;
mod watch;
mod window;

pub use alarms::FalseAlarms;
pub use applied::{Applied, ChangedPoint};
pub use clusters::Clusters;
pub(crate) use clusters::{MOST_LABELS, central_rows};
pub use event::{
    Before, ClusterBorn, ClusterGone, ClusterMoved, ClustersUpdated, Event, Evidence, Gathered, LabelCount,
    MapPosition, MapUpdated, NewCluster, NoticeNoted, NoticeState, Renamed, Shifted, Sighting, Staleness,
    Vanishing, What, Why,
};
pub use health::{ClusterHealth, Forming as FormingCluster, Health, HealthSeries};
pub use outliers::OutlierGroup;
pub use points::Point;
pub use restart::SavedGroup;
pub use shares::{LEVEL as SHARE_LEVEL, RegionChange, SamplePoint, ShareChange, ShareComparison, ShareTrend};
pub use versions::{ClusterMatches, SettledRow};

use crate::error::{Error, Result};
use crate::lion::{Lion, PendingOutlier, Placement, Resolved, Verdict};
use crate::map::Map;
use crate::matrix::Matrix;
use alarms::{Learned, has_turn};
use outliers::{LiveOutliers, PlacedOutlier};
use points::Points;
use rayon::prelude::*;
use reference::MapReference;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use watch::{Announced, Arrived};
use window::Window;

/// The longest id, in bytes.
const LONGEST_ID: usize = 256;
/// The latest time that can be told apart from the next, in seconds.
const LATEST: f64 = 1e15;

/// Labels of a group that are told, at most.
pub const LABELS: usize = 3;

/// What a live map shows and tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveOptions {
    /// Seconds of the window that [`Health`] shows. No alarm depends on it.
    pub window: f64,
    /// How often a false alarm of each kind may come.
    pub false_alarms: FalseAlarms,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { window: 300.0, false_alarms: FalseAlarms::default() }
    }
}

/// A row that arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The point that it is.
    pub id: String,
    /// The row as it was given, before preprocessing.
    pub row: Vec<f32>,
    /// The label of the point; without one it keeps the label it has.
    pub label: Option<String>,
    /// When, in seconds; without it one second after the change before.
    pub t: Option<f64>,
}

/// What may happen to a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It appears, or is another row now.
    Upsert(Arrival),
    /// It leaves.
    Delete {
        /// Which.
        id: String,
        /// When, in seconds; without it one second after the change before.
        t: Option<f64>,
    },
}

impl Change {
    /// The point that it is about.
    pub fn id(&self) -> &str {
        match self {
            Self::Upsert(arrival) => &arrival.id,
            Self::Delete { id, .. } => id,
        }
    }

    fn t(&self) -> Option<f64> {
        match self {
            Self::Upsert(arrival) => arrival.t,
            Self::Delete { t, .. } => *t,
        }
    }
}

/// What the time of a live map is.
#[derive(Clone, Copy)]
enum Clock {
    /// That of each change.
    OfChanges,
    /// This one.
    At(f64),
}

impl Clock {
    fn time_of(self, change: &Change) -> Option<f64> {
        match self {
            Self::OfChanges => change.t(),
            Self::At(now) => Some(now),
        }
    }
}

/// What people do that is to be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A cluster or a group of outliers is called otherwise.
    Renamed(Renamed),
    /// An alarm was looked at.
    Notice(NoticeNoted),
}

/// A map and the points in it.
pub struct Live {
    lion: Arc<Lion>,
    options: LiveOptions,
    known: MapReference,
    points: Points,
    outliers: LiveOutliers,
    window: Window,
    /// What alarms have learned of the stream, and have told.
    learned: Learned,
    announced: Announced,
    /// No cluster can be told to vanish before this arrival.
    look: u64,
    last: u64,
    now: f64,
}

/// A row of which all is known that does not depend on other points.
type ResolvedInCluster = (Resolved, Option<u32>);

impl Live {
    /// Refuses a map that points cannot live on: events and pictures of them need two coordinates.
    pub fn check_map(map: &Map) -> Result<()> {
        match map.dims() {
            1 => Err(Error::Data(
                "a live map has 2 or 3 dimensions, and this map has 1: fit the rows again with 2".into(),
            )),
            _ => Ok(()),
        }
    }

    /// A map without points.
    pub fn new(lion: Arc<Lion>, options: LiveOptions) -> Result<Self> {
        let refuse = |name, problem: String| Err(Error::Parameter { name, problem });
        if !(options.window > 0.0 && options.window <= LATEST) {
            return refuse("window", format!("must be a number of seconds above 0, not {}", options.window));
        }
        if let Err(problem) = options.false_alarms.check() {
            return refuse("false alarms", problem);
        }
        Self::check_map(lion.map())?;
        let known = lion.install(|| MapReference::new(&lion));
        let clusters = known.clusters.names.len();
        let window = Window::new(options.window, clusters);
        let learned = Learned::new(clusters, options.false_alarms);
        let (points, announced) = (Points::default(), Announced::default());
        let outliers = LiveOutliers::new(&lion);
        let (last, now, look) = (0, 0.0, 0);
        Ok(Self { lion, options, known, points, outliers, window, learned, announced, look, last, now })
    }

    /// Applies changes one after another; all of them or, if one is refused, none. The error says which. The time of a change
    /// is that of the live map from then on.
    pub fn apply(&mut self, changes: Vec<Change>) -> Result<Applied> {
        self.apply_by(changes, Clock::OfChanges)
    }

    /// Applies changes at a time that their sender has no say in: all events are of `now`. The time of a change is only its
    /// point's own ([`Point::t`]), which never goes back and never lies ahead. Points that are to leave and are not there change
    /// nothing: [`Applied::absent`] says which.
    pub fn apply_at(&mut self, changes: Vec<Change>, now: f64) -> Result<Applied> {
        self.apply_by(changes, Clock::At(now))
    }

    fn apply_by(&mut self, changes: Vec<Change>, clock: Clock) -> Result<Applied> {
        self.check(&changes, clock)?;
        let mut judged = self.judge(&changes)?.into_iter();
        let mut applied = Applied::with_capacity(changes.len());
        for (number, change) in changes.into_iter().enumerate() {
            if matches!(&change, Change::Delete { id, .. } if self.points.get(id).is_none()) {
                applied.absent.push(number);
                continue;
            }
            self.tick(clock.time_of(&change));
            match change {
                Change::Delete { id, .. } => self.delete(id, &mut applied),
                Change::Upsert(arrival) => {
                    if let Some(judged) = judged.next() {
                        self.upsert(arrival, judged, clock, &mut applied);
                    }
                }
            }
            self.watch_families(&mut applied);
        }
        Ok(applied)
    }

    /// Applies a whole snapshot: its rows first, then every point that is not in it leaves, the earliest first. All of it
    /// is at time `t`, but for rows that have a time of their own; without any, one second after the change before.
    pub fn snapshot(&mut self, arrivals: Vec<Arrival>, t: Option<f64>) -> Result<Applied> {
        let t = Some(t.unwrap_or_else(|| self.after()));
        let timed = arrivals.into_iter().map(|arrival| Arrival { t: arrival.t.or(t), ..arrival }).collect();
        let changes = self.as_changes(timed, t);
        self.apply(changes)
    }

    /// Applies a whole snapshot as [`Live::apply_at`] applies changes.
    pub fn snapshot_at(&mut self, arrivals: Vec<Arrival>, now: f64) -> Result<Applied> {
        let changes = self.as_changes(arrivals, None);
        self.apply_at(changes, now)
    }

    /// A snapshot as changes; those who leave do so at `t`.
    fn as_changes(&self, arrivals: Vec<Arrival>, t: Option<f64>) -> Vec<Change> {
        let there: HashSet<&str> = arrivals.iter().map(|arrival| arrival.id.as_str()).collect();
        let gone = self.points.iter().filter(|point| !there.contains(point.id.as_str()));
        let gone: Vec<Change> = gone.map(|point| Change::Delete { id: point.id.clone(), t }).collect();
        arrivals.into_iter().map(Change::Upsert).chain(gone).collect()
    }

    /// Tells of what people did, at time `now`.
    pub fn note(&mut self, note: Note, now: f64) -> Applied {
        let mut applied = Applied::with_capacity(1);
        self.tick(Some(now));
        let what = match note {
            Note::Renamed(renamed) => What::Renamed(renamed),
            Note::Notice(notice) => What::Notice(notice),
        };
        self.tell_of_point(what, None, &mut applied);
        applied
    }

    /// Refuses changes that cannot be applied, but for what is in their rows.
    fn check(&self, changes: &[Change], clock: Clock) -> Result<()> {
        let width = self.lion.map().preprocess().input_dims();
        // Whether points that earlier changes are about are there after them.
        let mut there: HashMap<&str, bool> = HashMap::new();
        let deletes = changes.iter().any(|change| matches!(change, Change::Delete { .. }));
        for (row, change) in changes.iter().enumerate() {
            let refuse = |problem: String| Err(Error::Change { row, problem });
            let id = change.id();
            if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(char::is_control) {
                let problem = "must have 1 to 256 bytes, none of them a control character";
                return refuse(format!("the id {:?} {problem}", id.chars().take(40).collect::<String>()));
            }
            if change.t().is_some_and(|t| !(-LATEST..=LATEST).contains(&t)) {
                return refuse("t must be a finite number of seconds, at most 1e15".into());
            }
            match change {
                Change::Upsert(arrival) if arrival.row.len() != width => {
                    let given = arrival.row.len();
                    return refuse(format!("it has {given} values, and the map takes {width}"));
                }
                Change::Delete { .. }
                    if matches!(clock, Clock::OfChanges)
                        && !there.get(id).copied().unwrap_or_else(|| self.points.get(id).is_some()) =>
                {
                    return Err(Error::NoPoint { row, id: id.to_string() });
                }
                _ if deletes => _ = there.insert(id, matches!(change, Change::Upsert(_))),
                _ => {}
            }
        }
        Ok(())
    }

    /// Settles all rows at once, each by itself, and finds their clusters.
    fn judge(&self, changes: &[Change]) -> Result<Vec<ResolvedInCluster>> {
        let rows: Vec<(usize, &[f32])> = changes
            .iter()
            .enumerate()
            .filter_map(|(number, change)| match change {
                Change::Upsert(arrival) => Some((number, arrival.row.as_slice())),
                Change::Delete { .. } => None,
            })
            .collect();
        if let [(number, row)] = rows[..] {
            let resolved = self.lion.resolve_row(row).map_err(|error| refused(number, error))?;
            return Ok(vec![self.with_cluster(resolved)]);
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let data: Vec<f32> = rows.iter().flat_map(|(_, row)| *row).copied().collect();
        let matrix = Matrix::new(rows.len(), data.len() / rows.len(), data)?;
        match self.lion.resolve(&matrix) {
            Ok(resolved) => Ok(self.lion.install(|| {
                resolved
                    .into_par_iter()
                    .with_min_len(64)
                    .map(|resolved| self.with_cluster(resolved))
                    .collect()
            })),
            // Which row it was is found by asking one after another.
            Err(error) => Err(rows
                .iter()
                .find_map(|&(number, row)| Some(refused(number, self.lion.resolve_row(row).err()?)))
                .unwrap_or(error)),
        }
    }

    fn with_cluster(&self, resolved: Resolved) -> ResolvedInCluster {
        let cluster = match &resolved {
            Resolved::Placed(placement) => self.known.voters.cluster(&placement.place),
            Resolved::Outlier(_) => None,
        };
        (resolved, cluster)
    }

    /// The time of a change that has none.
    fn after(&self) -> f64 {
        if self.last == 0 { 0.0 } else { self.now + 1.0 }
    }

    /// Time goes on, and never back.
    fn tick(&mut self, t: Option<f64>) {
        self.now = match t {
            None => self.after(),
            Some(t) if self.last == 0 => t,
            Some(t) => t.max(self.now),
        };
        self.window.advance(self.now);
    }

    fn delete(&mut self, id: String, applied: &mut Applied) {
        let Some(point) = self.points.remove(&id) else { return };
        self.leave(&point);
        let from = self.before(&point);
        applied.changed(id.clone(), Some(point.first), None);
        self.tell_of_point(What::Removed { id, from }, Some(point.last), applied);
        self.watch_removed(point.cluster, applied);
    }

    fn leave(&mut self, point: &Point) {
        if let Some(group) = point.placement.group {
            self.outliers.leave(point.first, group);
            self.learned.since.remove(&point.first);
        }
    }

    /// Puts a point where it belongs.
    fn upsert(&mut self, arrival: Arrival, judged: ResolvedInCluster, clock: Clock, applied: &mut Applied) {
        let Arrival { id, row, label, t: own } = arrival;
        let (resolved, cluster) = judged;
        let old = self.points.get(&id).cloned();
        let number = self.last + 1;
        let first = old.as_ref().map_or(number, |old| old.first);
        let PlacedOutlier { placement, joined } = match resolved {
            Resolved::Placed(placement) => {
                old.iter().for_each(|old| self.leave(old));
                PlacedOutlier { placement, joined: false }
            }
            Resolved::Outlier(outlier) => self.place_outlier((first, number, &id), outlier, old.as_ref()),
        };
        let outlier = placement.verdict == Verdict::Outlier;
        self.window.arrive(placement.score, cluster, outlier);
        let label = label.or_else(|| old.as_ref().and_then(|old| old.label.clone()));
        let arrived = Arrived {
            first,
            cluster,
            score: placement.score,
            group: placement.group,
            before: old.as_ref().map(|old| (old.cluster, old.placement.score, old.is_outlier())),
            // Every point counts once, and again when the others have had their turn.
            counts: old.as_ref().is_none_or(|old| has_turn(number - old.last, self.points.len())),
        };
        let t = match clock {
            Clock::OfChanges => self.now,
            Clock::At(_) => {
                let t = own.unwrap_or(self.now);
                old.as_ref().map_or(t, |old| t.max(old.t)).min(self.now)
            }
        };
        let point = Point { id, label, placement, cluster, t, first, last: number };
        let tell = kind(old.as_ref(), &point, joined);
        let sighting = self.sighting(&point, old.as_ref());
        applied.changed(point.id.clone(), old.as_ref().map(|old| old.first), Some(row));
        self.points.put(point);
        self.tell_of_point(tell(sighting), old.map(|old| old.last), applied);
        self.watch(&arrived, applied);
    }

    /// Places an outlier that appeared by event `first` and is told of by event `number`.
    fn place_outlier(
        &mut self,
        (first, number, id): (u64, u64, &str),
        outlier: PendingOutlier,
        old: Option<&Point>,
    ) -> PlacedOutlier {
        let at = old.filter(|old| old.is_outlier()).map(|old| &old.placement);
        let since = self.outliers.since(first).unwrap_or(number);
        if since != first {
            self.learned.since.insert(first, since);
        }
        self.outliers.place(&self.lion, (first, since, id), outlier, at)
    }

    fn sighting(&self, point: &Point, old: Option<&Point>) -> Sighting {
        let placement = point.placement.clone();
        Sighting {
            id: point.id.clone(),
            label: point.label.clone(),
            nearest_id: self.lion.map().id(placement.nearest as usize).into_owned(),
            cluster: point.cluster.map(|cluster| self.known.clusters.name(cluster).to_string()),
            distance: old.map(|old| distance(&old.placement.place, &placement.place)),
            from: old.map(|old| self.before(old)),
            placement,
        }
    }

    fn before(&self, point: &Point) -> Before {
        let Placement { place, verdict, score, group, .. } = point.placement;
        let cluster = point.cluster.map(|cluster| self.known.clusters.name(cluster).to_string());
        Before { t: point.t, at: place.into(), verdict, score, group, cluster, label: point.label.clone() }
    }

    /// A point by its id.
    pub fn point(&self, id: &str) -> Option<&Point> {
        self.points.get(id)
    }

    /// Every point, in the order in which they appeared.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &Point> {
        self.points.iter()
    }

    /// Every group of outliers, by number.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &OutlierGroup> {
        self.outliers.groups()
    }

    /// A group of outliers by its number.
    pub fn group(&self, number: u64) -> Option<&OutlierGroup> {
        self.outliers.group(number)
    }

    /// The labels that most members of a group have, at most [`LABELS`] of them, the most frequent first.
    pub fn labels_of(&self, group: &OutlierGroup) -> Vec<LabelCount> {
        self.label_counts(group.members.values())
    }

    fn label_counts<'a>(&self, ids: impl Iterator<Item = &'a String>) -> Vec<LabelCount> {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for label in ids.filter_map(|id| self.points.get(id)?.label.as_deref()) {
            *counts.entry(label).or_default() += 1;
        }
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counts.truncate(LABELS);
        counts.into_iter().map(|(label, count)| LabelCount { label: label.to_owned(), count }).collect()
    }

    /// The clusters of the map.
    pub fn clusters(&self) -> &Clusters {
        &self.known.clusters
    }

    /// The map, ready for placing.
    pub fn lion(&self) -> &Arc<Lion> {
        &self.lion
    }

    /// How it looks at time.
    pub fn options(&self) -> &LiveOptions {
        &self.options
    }

    /// The number of the latest event; 0 before the first.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The time of the latest change, in seconds.
    pub fn now(&self) -> f64 {
        self.now
    }
}

/// What matters most about a change.
fn kind(old: Option<&Point>, new: &Point, joined: bool) -> fn(Sighting) -> What {
    let Some(old) = old else {
        return if joined { What::JoinedGroup } else { What::Appeared };
    };
    match (old.is_outlier(), new.is_outlier()) {
        (false, true) => What::BecameOutlier,
        (true, false) => What::Returned,
        (true, true) if joined => What::JoinedGroup,
        (false, false) if old.cluster != new.cluster => What::ChangedCluster,
        _ if old.placement.place != new.placement.place => What::Moved,
        _ => What::Stayed,
    }
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}

/// What is wrong with the row of a change, by the number of the change.
fn refused(row: usize, error: Error) -> Error {
    match error {
        Error::Unusable { row: Some(_), column, fault } => Error::Unusable { row: Some(row), column, fault },
        other => Error::Change { row, problem: other.to_string() },
    }
}
