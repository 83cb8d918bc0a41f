//! The history of a live map as one page that needs no server.
//!
//! A history is cut into stretches, each on one version of the map. A stretch begins with the points that are there and goes on
//! with events; what an event says of before follows from those two, and is not written a second time.

mod encode;
mod page;

use crate::http::cluster_name;
use crate::map_version::MapVersion;
use crate::notes::Notes;
use crate::store::{StoreError, VersionRecord, Versions};
use crate::{Logged, StoredEvents};
use lion_tsne::live::{Before, Event, Live, LiveOptions, MapPosition, Point, What};
use lion_tsne::{Lion, LionOptions, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Points by id.
type Points = BTreeMap<String, Before>;

/// What happened on one version of the map.
struct Stretch {
    version: u64,
    /// The points at its beginning; after the switch, if it begins with one.
    start: Points,
    events: Vec<Event>,
}

/// A step that a slider stops at.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RecordedStep {
    /// What it is called.
    pub name: String,
    /// The number of its last event; that of the step before if nothing happened in it.
    pub last: u64,
}

/// A history with the maps that it happened on.
pub struct Recording {
    name: String,
    versions: Vec<MapVersion>,
    stretches: Vec<Stretch>,
    steps: Option<Vec<RecordedStep>>,
    notes: Notes,
    window: f64,
}

impl Recording {
    /// The history that a store keeps, as it is now. Its maps are found by [`StoredEvents::find_map`].
    pub fn of_store(store: &StoredEvents, name: &str, given: Option<&Path>) -> Result<Self, StoreError> {
        let _moment = store.moment()?;
        let known = store.versions()?;
        let mut stretches = stretches(store, &known)?;
        let needed = |record: &&VersionRecord| stretches.iter().any(|part| part.version == record.version);
        let version = |record: &VersionRecord| open(store, record, given);
        let versions = known.versions.iter().filter(needed).map(version).collect::<Result<Vec<_>, _>>()?;
        let mut end = current_points(store, &known, &versions)?;
        for stretch in stretches.iter_mut().rev() {
            stretch.start = undone(end, &stretch.events);
            end = match stretch.events.first() {
                Some(Event { n, what: What::MapUpdated(_), .. }) => points_before(store, *n)?,
                _ => Points::new(),
            };
        }
        let (notes, window) = (store.notes()?, LiveOptions::default().window);
        Ok(Self { name: name.into(), versions, stretches, steps: None, notes, window })
    }

    /// Events on one map, in order, and the steps that they are to be shown in; each event is a step of its own without any.
    pub fn of_events(
        name: &str,
        lion: Arc<Lion>,
        events: Vec<Event>,
        steps: Option<Vec<RecordedStep>>,
    ) -> Result<Self, lion_tsne::Error> {
        let checksum = lion.map().checksum()?;
        let record = VersionRecord { version: 1, parent: None, checksum, prefix: String::new(), kept: true };
        let options = LiveOptions::default();
        let version = MapVersion::new(record, &Live::new(lion, options)?);
        let start = undone(Points::new(), &events);
        Ok(Self {
            name: name.into(),
            versions: vec![version],
            stretches: vec![Stretch { version: 1, start, events }],
            steps,
            notes: Notes::default(),
            window: options.window,
        })
    }

    /// How many events it has.
    pub fn events(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.events.len()).sum()
    }

    /// How many versions of the map.
    pub fn versions(&self) -> usize {
        self.versions.len()
    }
}

/// A version of the map of a store.
fn open(
    store: &StoredEvents,
    record: &VersionRecord,
    given: Option<&Path>,
) -> Result<MapVersion, StoreError> {
    let lion = Arc::new(Lion::new(store.find_map(record, given)?, &LionOptions::default())?);
    Ok(MapVersion::new(record.clone(), &Live::new(lion, LiveOptions::default())?))
}

/// The events of a store, cut where the version of the map changes. The starts are empty.
fn stretches(store: &StoredEvents, known: &Versions) -> Result<Vec<Stretch>, StoreError> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut is_first = true;
    for event in store.events() {
        let Logged { n, json, .. } = event?;
        let event: Event = serde_json::from_str(&json)
            .map_err(|error| store.damaged(format!("event {n} cannot be read: {error}")))?;
        let mut begin =
            |version| stretches.push(Stretch { version, start: Points::new(), events: Vec::new() });
        if is_first {
            // Before a switch there is another version, also if it is the first event that is kept.
            begin(known.switches.first().map_or(known.version, |switch| switch.from));
        }
        if let What::MapUpdated(updated) = &event.what {
            begin(updated.version);
        }
        is_first = false;
        if let Some(stretch) = stretches.last_mut() {
            stretch.events.push(event);
        }
    }
    if stretches.is_empty() { Err(StoreError::Empty(store.path().into())) } else { Ok(stretches) }
}

/// The points of a store.
fn current_points(
    store: &StoredEvents,
    known: &Versions,
    versions: &[MapVersion],
) -> Result<Points, StoreError> {
    let current = versions.iter().find(|version| version.number() == known.version);
    let current = current.ok_or_else(|| store.damaged("its events end on another version of the map"))?;
    let mut points = Points::new();
    store.each_point(|point, _| {
        let Point { id, label, placement, cluster, t, .. } = point;
        let cluster = cluster_name(&current.clusters, cluster).map(str::to_owned);
        let (at, verdict, score) = (placement.place.into(), placement.verdict, placement.score);
        points.insert(id, Before { t, at, verdict, score, group: placement.group, cluster, label });
        Ok::<(), StoreError>(())
    })?;
    Ok(points)
}

/// The points before a switch as a store has them.
#[derive(Deserialize)]
struct SwitchPoints {
    points: PointColumns,
}

#[derive(Deserialize)]
struct PointColumns {
    id: Vec<String>,
    label: Vec<Option<String>>,
    x: Vec<f32>,
    y: Vec<f32>,
    z: Option<Vec<f32>>,
    verdict: Vec<Verdict>,
    score: Vec<f64>,
    group: Vec<Option<u64>>,
    cluster: Vec<Option<String>>,
    t: Vec<f64>,
}

/// The points just before the switch that an event tells of.
fn points_before(store: &StoredEvents, event: u64) -> Result<Points, StoreError> {
    let text = store.before_switch(event)?;
    let text = text.ok_or_else(|| store.damaged(format!("the points before event {event} are missing")))?;
    let SwitchPoints { points: columns } = serde_json::from_str(&text)
        .map_err(|error| store.damaged(format!("the points before event {event} cannot be read: {error}")))?;
    let PointColumns { id, label, x, y, z, verdict, score, group, cluster, t } = columns;
    let lengths = [label.len(), x.len(), y.len(), verdict.len(), score.len(), group.len(), cluster.len()];
    let whole = lengths.iter().chain(z.as_ref().map(Vec::len).iter()).all(|&length| length == id.len());
    if !whole || t.len() != id.len() {
        return Err(store.damaged(format!("the points before event {event} are not whole")));
    }
    let point = |(k, id): (usize, String)| {
        let at = MapPosition { x: x[k], y: y[k], z: z.as_ref().map(|z| z[k]) };
        let (group, cluster, label) = (group[k], cluster[k].clone(), label[k].clone());
        (id, Before { t: t[k], at, verdict: verdict[k], score: score[k], group, cluster, label })
    };
    Ok(id.into_iter().enumerate().map(point).collect())
}

/// The points before some events, given those after them.
fn undone(mut points: Points, events: &[Event]) -> Points {
    for event in events.iter().rev() {
        let (id, from) = match (&event.what, event.sighting()) {
            (What::Removed { id, from }, _) => (id, Some(from)),
            (_, Some(sighting)) => (&sighting.id, sighting.from.as_ref()),
            _ => continue,
        };
        match from {
            Some(from) => points.insert(id.clone(), from.clone()),
            None => points.remove(id),
        };
    }
    points
}
