//! What changed between two stretches of time: who came, who left, and which parts of the map gained or lost share.
//!
//! A point counts once in a stretch, at the last place that it was given there. If that was on an earlier version of the
//! map, it is where it is now on the current one. Where it was given again since, or removed, its row of then is not known any more:
//! it is left out, and counted as such. Any guess at its place would make the samples differ by the guess. A point that was taken
//! into the map is an outlier if its row would be one that is new: the verdict `exact` would make earlier samples have fewer.

use crate::map_version::MapVersion;
use crate::notes::{Notes, Titled};
use crate::store::{ChangeKey, StoreError, Versions, changes_between, changes_of, current_points};
use lion_tsne::lion::{Place, Verdict};
use lion_tsne::live::{
    Clusters, MapPosition, Point, RegionChange, SHARE_LEVEL, SamplePoint, ShareChange, ShareComparison,
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::str::FromStr;

/// The most newcomers, and the most of those who left, that are listed.
const LISTED: usize = 1000;

/// A stretch of time, in seconds: from the first up to but without the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

impl Stretch {
    fn has(&self, t: f64) -> bool {
        (self.from..self.to).contains(&t)
    }
}

impl FromStr for Stretch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ends = text.split_once(',').and_then(|(from, to)| Some((number(from)?, number(to)?)));
        let (from, to) =
            ends.ok_or_else(|| format!("{text:?} is no stretch of time: it must be two times, FROM,TO"))?;
        Ok(Self { from, to })
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Why two stretches were not compared. The text of each is one sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum CompareRefused {
    /// They are no two stretches, one after another.
    #[error("{0}")]
    Stretches(String),
    /// The map was switched to another version at this moment.
    #[error("the map has just been updated: ask again")]
    Switched,
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Two stretches of time, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of the map on which they are.
    pub version: u64,
    /// The first.
    pub a: StretchCounts,
    /// The second.
    pub b: StretchCounts,
    /// The test that says what is beyond chance.
    pub test: String,
    /// Its family-wise error rate.
    pub level: f64,
    /// Outliers, wherever they are.
    pub outliers: ShareChange,
    /// All clusters.
    pub clusters: Vec<ClusterChange>,
    /// Parts of the map.
    pub regions: Vec<RegionChange>,
    /// Points that are there at the end of the second but were not at the end of the first.
    pub newcomers: ListedPoints,
    /// Points that were there at the end of the first and were removed until the end of the second, as they were.
    pub left: ListedPoints,
}

/// A stretch, and what was given in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StretchCounts {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Points that were given, and whose place on the current map is known.
    pub points: usize,
    /// Points that were given before the map was updated, and again since or removed.
    pub left_out: usize,
    /// How often points were given.
    pub events: usize,
}

/// A cluster, and how its share changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterChange {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// Its middle.
    #[serde(flatten)]
    pub at: Option<MapPosition>,
    /// Its shares.
    #[serde(flatten)]
    pub shares: ShareChange,
}

/// Points, of which the latest are listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListedPoints {
    /// How many there are.
    pub count: usize,
    /// The latest, the last first.
    pub points: Vec<ListedPoint>,
}

/// A point that came or left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedPoint {
    /// Its id.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
    /// Its cluster.
    pub cluster: Option<String>,
    /// Its verdict.
    pub verdict: Verdict,
    /// When it came or left.
    pub t: f64,
    /// The version of the map that place, cluster and verdict are of: the current one, or that of the time of a point whose row
    /// is not known any more.
    pub version: u64,
    /// Where it is or was.
    #[serde(flatten)]
    pub at: MapPosition,
}

/// A change of a point, as the log has it. Without `x` it was removed.
#[derive(Deserialize)]
pub(crate) struct LoggedChange {
    n: u64,
    t: f64,
    id: String,
    label: Option<String>,
    cluster: Option<String>,
    verdict: Option<Verdict>,
    x: Option<f32>,
    y: Option<f32>,
    z: Option<f32>,
    from: Option<Was>,
}

/// A point before a change.
#[derive(Deserialize)]
struct Was {
    label: Option<String>,
    cluster: Option<String>,
    verdict: Verdict,
    #[serde(flatten)]
    at: MapPosition,
}

impl LoggedChange {
    /// Where it has put the point; none if it removed it.
    fn at(&self) -> Option<MapPosition> {
        Some(MapPosition { x: self.x?, y: self.y?, z: self.z })
    }

    /// The point as it is after the change, or as it was before it was removed; on the current map if it is there still.
    fn listed(&self, versions: &Versions, current: Option<&CurrentMap<'_>>) -> Option<ListedPoint> {
        let (label, cluster, verdict, at) = match (self.at(), self.verdict, &self.from) {
            (Some(at), Some(verdict), _) => (&self.label, &self.cluster, verdict, at),
            (_, _, Some(was)) => (&was.label, &was.cluster, was.verdict, was.at),
            _ => return None,
        };
        let (id, label, version) = (self.id.clone(), label.clone(), versions.at(self.n));
        let then = ListedPoint { id, label, cluster: cluster.clone(), verdict, t: self.t, version, at };
        let Some((map, point)) = current.and_then(|map| Some((map.version, map.still(self)?))) else {
            return Some(then);
        };
        Some(ListedPoint {
            cluster: point.cluster.map(|cluster| map.clusters.name(cluster).to_owned()),
            verdict: point.placement.verdict,
            version: map.number(),
            at: point.placement.place.into(),
            ..then
        })
    }
}

/// What happened to points in two stretches and between them, by the numbers of events.
#[derive(Default)]
struct Happened {
    /// The last change of each point in each stretch that has put it somewhere.
    seen: [HashMap<String, u64>; 2],
    events: [usize; 2],
    /// For each point that changed after the first stretch: whether it was there at its end, and whether it is there after its
    /// last change, by number.
    after: HashMap<String, (bool, bool, u64)>,
}

impl Happened {
    fn add(&mut self, change: &ChangeKey<'_>, [a, b]: [Stretch; 2]) {
        if change.t >= a.to {
            let now = (change.was_there, change.is_there, change.n);
            match self.after.get_mut(change.id) {
                Some(known) => *known = (known.0, now.1, now.2),
                None => drop(self.after.insert(change.id.to_owned(), now)),
            }
        }
        let at = [a, b].iter().position(|stretch| stretch.has(change.t));
        if let Some(at) = at.filter(|_| change.is_there) {
            self.events[at] += 1;
            match self.seen[at].get_mut(change.id) {
                Some(known) => *known = change.n,
                None => drop(self.seen[at].insert(change.id.to_owned(), change.n)),
            }
        }
    }

    /// The last changes of points that were there after the first stretch or not, and are there now or not: the latest first.
    fn changed(&self, was_there: bool, is_there: bool) -> Vec<u64> {
        let such = self.after.values().filter(|&&(was, is, _)| (was, is) == (was_there, is_there));
        let mut numbers: Vec<u64> = such.map(|&(.., n)| n).collect();
        numbers.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
        numbers
    }
}

/// The changes that are looked at more closely.
struct Changes {
    /// Of each stretch, in order.
    seen: [Vec<LoggedChange>; 2],
    /// Points that came after the first stretch and are there, and how many there are; then those that left.
    listed: [(usize, Vec<LoggedChange>); 2],
}

impl Changes {
    fn read(moment: &Connection, happened: &Happened) -> rusqlite::Result<Self> {
        let seen = |at: usize| {
            let mut numbers: Vec<u64> = happened.seen[at].values().copied().collect();
            numbers.sort_unstable();
            changes_of(moment, numbers.into_iter())
        };
        let listed = |was_there: bool| {
            let numbers = happened.changed(was_there, !was_there);
            Ok::<_, rusqlite::Error>((numbers.len(), changes_of(moment, numbers.into_iter().take(LISTED))?))
        };
        Ok(Self { seen: [seen(0)?, seen(1)?], listed: [listed(false)?, listed(true)?] })
    }

    /// Whether any is from before an event.
    fn any_before(&self, event: u64) -> bool {
        let listed = self.listed.iter().map(|(_, changes)| changes);
        self.seen.iter().chain(listed).flatten().any(|change| change.n < event)
    }
}

/// The map that points are on now, for events from before it was.
struct CurrentMap<'a> {
    version: &'a MapVersion,
    /// The event since which it is.
    since: u64,
    /// Points as they are now, if any event is from before.
    points: HashMap<String, Point>,
}

impl CurrentMap<'_> {
    /// A point that a change from before this map has put where it was, if it was not given again since.
    fn still(&self, change: &LoggedChange) -> Option<&Point> {
        self.points.get(&change.id).filter(|point| change.n < self.since && point.last == change.n)
    }

    /// Where a point was, on this map; none if that is not known any more.
    fn sample(&self, change: &LoggedChange, clusters: &HashMap<&str, u32>) -> Option<SamplePoint> {
        if change.n >= self.since {
            return sample(change, clusters);
        }
        let point = self.still(change)?;
        let outlier = self.is_outlier(point);
        let cluster = point.cluster.filter(|_| !outlier);
        Some(SamplePoint { place: point.placement.place, cluster, outlier })
    }

    /// Whether a point is an outlier of this map. One that was taken into it is judged as if it were new, as those are that came
    /// since: its own row lies at distance 0.
    fn is_outlier(&self, point: &Point) -> bool {
        let MapVersion { lion, .. } = self.version;
        let row = point.placement.nearest as usize;
        let is_taken_in = point.placement.verdict == Verdict::Exact
            && row < lion.map().rows()
            && lion.map().id(row) == self.version.row_id(&point.id);
        if is_taken_in { lion.is_outlier_row(row) } else { point.is_outlier() }
    }
}

/// Where a change has put a point, on the map of that time.
fn sample(change: &LoggedChange, clusters: &HashMap<&str, u32>) -> Option<SamplePoint> {
    let MapPosition { x, y, z } = change.at()?;
    let place: Place = [x, y].into_iter().chain(z).collect::<Vec<_>>().try_into().ok()?;
    let cluster = change.cluster.as_deref().and_then(|name| clusters.get(name).copied());
    Some(SamplePoint { place, cluster, outlier: change.verdict == Some(Verdict::Outlier) })
}

/// What a comparison reads of a store, beside the changes.
pub(crate) struct ComparedStore {
    pub(crate) versions: Versions,
    pub(crate) notes: Notes,
    /// The first event that is kept, and when it was.
    pub(crate) first: Option<(u64, f64)>,
}

/// Compares two stretches of a store. `map` is the current version; without it there must have been no switch.
pub(crate) fn compare(
    connection: &Connection,
    path: &Path,
    map: Option<&MapVersion>,
    [a, b]: [Stretch; 2],
) -> Result<Comparison, CompareRefused> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    // One transaction: all of it is of the same moment.
    let moment = &connection.unchecked_transaction().map_err(failed)?;
    let store = ComparedStore::read(moment, path).map_err(failed)?;
    if map.is_some_and(|map| map.number() != store.versions.version) {
        return Err(CompareRefused::Switched);
    }
    check([a, b], &store)?;
    let mut happened = Happened::default();
    changes_between(moment, a.from, b.to, |change| happened.add(change, [a, b])).map_err(failed)?;
    for (name, stretch, seen) in [("a", a, &happened.seen[0]), ("b", b, &happened.seen[1])] {
        if seen.is_empty() {
            let Stretch { from, to } = stretch;
            let problem =
                format!("no point was given in {name}, from {from} to {to}: choose another stretch");
            return Err(CompareRefused::Stretches(problem));
        }
    }
    let (changes, since) = (Changes::read(moment, &happened).map_err(failed)?, store.versions.since());
    let points = match changes.any_before(since) {
        true => current_points(moment).map_err(failed)?,
        false => Vec::new(),
    };
    let points = points.into_iter().map(|point| (point.id.clone(), point)).collect();
    let current = map.map(|version| CurrentMap { version, since, points });
    let found = Comparison::new(&store, current.as_ref(), &changes, happened.events, [a, b]);
    for (name, StretchCounts { points, left_out, .. }) in [("a", found.a), ("b", found.b)] {
        if points == 0 {
            return Err(CompareRefused::Stretches(format!(
                "all {left_out} points of {name} are from before the map was updated, and were given again since or removed: where they \
                 were on this map is not known; choose a later stretch"
            )));
        }
    }
    Ok(found)
}

/// Refuses what are no two stretches, one after another, of which all is known.
fn check([a, b]: [Stretch; 2], store: &ComparedStore) -> Result<(), CompareRefused> {
    let refuse = |problem: String| Err(CompareRefused::Stretches(problem));
    for (name, Stretch { from, to }) in [("a", a), ("b", b)] {
        if from >= to {
            return refuse(format!("{name} begins at {from} and ends at {to}: it must end after it begins"));
        }
    }
    if a.to > b.from {
        return refuse(format!("a ends at {} and b begins at {}: a must end before b begins", a.to, b.from));
    }
    match store.first {
        Some((n, t)) if n > 1 && a.from < t => refuse(format!(
            "events before {t} are not kept any more, and a begins at {}: let it begin later",
            a.from
        )),
        _ => Ok(()),
    }
}

impl Comparison {
    fn new(
        store: &ComparedStore,
        current: Option<&CurrentMap<'_>>,
        changes: &Changes,
        events: [usize; 2],
        [a, b]: [Stretch; 2],
    ) -> Self {
        let names = cluster_names(current, changes);
        let numbers: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
        let of = |change: &LoggedChange| match current {
            Some(current) => current.sample(change, &numbers),
            None => sample(change, &numbers),
        };
        let [first, second] =
            [0, 1].map(|at: usize| changes.seen[at].iter().filter_map(of).collect::<Vec<SamplePoint>>());
        let found = ShareComparison::new(&first, &second, names.len());
        let centres = current.map(|current| &current.version.clusters.centres);
        let cluster = |(at, (name, shares)): (usize, (String, ShareChange))| ClusterChange {
            title: store.notes.title(&Titled::Cluster(name.clone())).map(str::to_owned),
            at: centres.map(|centres| centres[at].into()),
            name,
            shares,
        };
        let [newcomers, left] = changes.listed.each_ref().map(|(count, changes)| ListedPoints {
            count: *count,
            points: changes.iter().filter_map(|change| change.listed(&store.versions, current)).collect(),
        });
        let counts = |at: usize, Stretch { from, to }: Stretch, points: &[SamplePoint]| StretchCounts {
            from,
            to,
            points: points.len(),
            left_out: changes.seen[at].len() - points.len(),
            events: events[at],
        };
        Self {
            version: store.versions.version,
            a: counts(0, a, &first),
            b: counts(1, b, &second),
            test: format!(
                "Fisher's exact test, two-sided, with Holm's correction over {} tests",
                found.tests
            ),
            level: SHARE_LEVEL,
            outliers: found.outliers,
            clusters: names.into_iter().zip(found.clusters).enumerate().map(cluster).collect(),
            regions: found.regions,
            newcomers,
            left,
        }
    }
}

/// The names of all clusters of the map, or where there is no map, of those that points were in.
fn cluster_names(current: Option<&CurrentMap<'_>>, changes: &Changes) -> Vec<String> {
    match current {
        Some(current) => {
            let Clusters { names, .. } = &*current.version.clusters;
            names.clone()
        }
        None => {
            let seen = changes.seen.iter().flatten();
            seen.filter_map(|change| change.cluster.clone()).collect::<BTreeSet<_>>().into_iter().collect()
        }
    }
}
