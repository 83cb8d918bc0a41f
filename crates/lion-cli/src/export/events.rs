//! The events of a store as a table.

use crate::output;
use crate::place::{field, values};
use crate::summary::counted;
use anyhow::{Context, Result};
use lion_server::{Logged, StoreError, StoredEvents};
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::lion::PlacementColumn;
use lion_tsne::live::{
    Before, Event, Evidence, MapPosition, MapUpdated, NoticeNoted, Renamed, Sighting, What, Why,
};
use serde::Serialize;
use std::path::Path;

/// Events written at a time.
const TOGETHER: usize = 4096;

/// The part of the JSON object about events.
#[derive(Serialize)]
pub(super) struct ExportedEvents {
    file: String,
    events: u64,
    /// Null if there are none.
    first: Option<u64>,
    last: Option<u64>,
}

/// Writes the events of a store.
pub(super) fn write(store: &StoredEvents, path: &Path) -> Result<ExportedEvents> {
    let (mut events, mut first, mut last) = (0, None, None);
    let counted = store.events().inspect(|event| {
        if let Ok(event) = event {
            events += 1;
            first = first.or(Some(event.n));
            last = Some(event.n);
        }
    });
    let is_lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
    if is_lines {
        lines(counted, path)?
    } else {
        table(counted, path)?
    }
    Ok(ExportedEvents { file: path.display().to_string(), events, first, last })
}

impl ExportedEvents {
    pub(super) fn in_words(&self) -> String {
        let Self { file, events, first, last } = self;
        match (first, last) {
            (Some(first), Some(last)) => {
                format!("{file}: {}, {first} to {last}\n", counted(*events, "event"))
            }
            _ => format!("{file}: no events\n"),
        }
    }
}

/// The events as they were told.
fn lines(events: impl Iterator<Item = Result<Logged, StoreError>>, path: &Path) -> Result<()> {
    output::replace_with(path, |out| {
        for event in events {
            out.write_all(event?.json.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// A row for each, with all columns that any kind has.
fn table(events: impl Iterator<Item = Result<Logged, StoreError>>, path: &Path) -> Result<()> {
    let mut rows = EventRows::default();
    let mut writer = Writer::create(path, EventRows::fields(), &["x", "y", "z"])?;
    let mut events = events.peekable();
    while let Some(event) = events.next() {
        let event = event?;
        let known: Event = serde_json::from_str(&event.json)
            .with_context(|| format!("event {} of the store cannot be read", event.n))?;
        rows.add(known);
        if rows.len() == TOGETHER || events.peek().is_none() {
            writer.write(&std::mem::take(&mut rows).columns())?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// Makes a struct of columns: what they are called, their kinds, and how they become a batch.
macro_rules! columns {
    ($struct:ident: $($name:ident: $type:ty = $field:expr),* $(,)?) => {
        /// Columns of events.
        #[derive(Default)]
        struct $struct { $($name: Vec<$type>),* }

        impl $struct {
            fn fields() -> Vec<Field> {
                vec![$($field),*]
            }

            fn columns(self) -> Vec<Column> {
                vec![$(self.$name.into()),*]
            }
        }
    };
}

columns! {
    EventHead:
    n: u64 = Field::new("n", Kind::U64),
    t: f64 = Field::new("t", Kind::F64),
    kind: String = Field::new("kind", Kind::Text),
    id: Option<String> = Field::nullable("id", Kind::Text),
    label: Option<String> = Field::nullable("label", Kind::Text),
    x: Option<f32> = Field::nullable("x", Kind::F32),
    y: Option<f32> = Field::nullable("y", Kind::F32),
    z: Option<f32> = Field::nullable("z", Kind::F32),
}

columns! {
    EventTail:
    group: Option<u64> = Field::nullable("group", Kind::U64),
    cluster: Option<String> = Field::nullable("cluster", Kind::Text),
    distance: Option<f64> = Field::nullable("distance", Kind::F64),
    from_t: Option<f64> = Field::nullable("from_t", Kind::F64),
    from_x: Option<f32> = Field::nullable("from_x", Kind::F32),
    from_y: Option<f32> = Field::nullable("from_y", Kind::F32),
    from_z: Option<f32> = Field::nullable("from_z", Kind::F32),
    from_verdict: Option<String> = Field::nullable("from_verdict", Kind::Text),
    from_score: Option<f64> = Field::nullable("from_score", Kind::F64),
    from_group: Option<u64> = Field::nullable("from_group", Kind::U64),
    from_cluster: Option<String> = Field::nullable("from_cluster", Kind::Text),
    from_label: Option<String> = Field::nullable("from_label", Kind::Text),
    size: Option<u64> = Field::nullable("size", Kind::U64),
    expected: Option<f64> = Field::nullable("expected", Kind::F64),
    seen: Option<u64> = Field::nullable("seen", Kind::U64),
    why: Option<String> = Field::nullable("why", Kind::Text),
    staleness: Option<f64> = Field::nullable("staleness", Kind::F64),
    arrivals: Option<u64> = Field::nullable("arrivals", Kind::U64),
    of: Option<u64> = Field::nullable("of", Kind::U64),
    e_value: Option<f64> = Field::nullable("e_value", Kind::F64),
    since: Option<f64> = Field::nullable("since", Kind::F64),
    version: Option<u64> = Field::nullable("version", Kind::U64),
    from_version: Option<u64> = Field::nullable("from_version", Kind::U64),
    born: Option<String> = Field::nullable("born", Kind::Text),
    gone: Option<String> = Field::nullable("gone", Kind::Text),
    moved: Option<String> = Field::nullable("moved", Kind::Text),
    title: Option<String> = Field::nullable("title", Kind::Text),
    notice: Option<u64> = Field::nullable("notice", Kind::U64),
    state: Option<String> = Field::nullable("state", Kind::Text),
    note: Option<String> = Field::nullable("note", Kind::Text),
    who: Option<String> = Field::nullable("who", Kind::Text),
}

/// Columns of events: those of placements, of events that tell of one, are between the others.
#[derive(Default)]
struct EventRows {
    head: EventHead,
    sightings: Vec<Option<Sighting>>,
    tail: EventTail,
}

impl EventRows {
    /// The columns of placements that other events cannot fill in their own way.
    fn said() -> impl Iterator<Item = &'static PlacementColumn> {
        let own: Vec<Field> = EventHead::fields().into_iter().chain(EventTail::fields()).collect();
        PlacementColumn::beside_labels(3)
            .filter(move |column| own.iter().all(|field| field.name != column.name))
    }

    fn fields() -> Vec<Field> {
        let said = Self::said().map(|column| Field { nullable: true, ..field(column) });
        EventHead::fields().into_iter().chain(said).chain(EventTail::fields()).collect()
    }

    fn columns(self) -> Vec<Column> {
        let rows: Vec<_> =
            self.sightings.iter().map(|sighting| sighting.as_ref().map(Sighting::row)).collect();
        let said = Self::said().map(|column| values(column, &rows));
        self.head.columns().into_iter().chain(said).chain(self.tail.columns()).collect()
    }
}

/// What the kinds of events tell, side by side.
#[derive(Default)]
struct EventColumns {
    sighting: Option<Sighting>,
    id: Option<String>,
    at: Option<MapPosition>,
    group: Option<u64>,
    cluster: Option<String>,
    from: Option<Before>,
    size: Option<u64>,
    expected: Option<f64>,
    seen: Option<u64>,
    why: Option<Why>,
    staleness: Option<f64>,
    arrivals: Option<u64>,
    evidence: Option<Evidence>,
    updated: Option<MapUpdated>,
    title: Option<String>,
    notice: Option<NoticeNoted>,
    who: Option<String>,
}

impl From<What> for EventColumns {
    fn from(what: What) -> Self {
        let empty = Self::default();
        match what {
            What::Appeared(s) | What::JoinedGroup(s) | What::BecameOutlier(s) | What::Returned(s) => {
                Self::of(s)
            }
            What::ChangedCluster(s) | What::Moved(s) | What::Stayed(s) => Self::of(s),
            What::Removed { id, from } => Self { id: Some(id), from: Some(from), ..empty },
            What::Forming(gathered) | What::Dissolved(gathered) => Self {
                group: Some(gathered.cluster.group),
                size: Some(gathered.cluster.size),
                at: Some(gathered.cluster.at),
                ..Self::shown(gathered.evidence)
            },
            What::Vanishing(vanishing) => Self {
                cluster: Some(vanishing.cluster),
                why: Some(vanishing.why),
                ..Self::shown(vanishing.evidence)
            },
            What::Recovered { cluster, evidence } => Self { cluster: Some(cluster), ..Self::shown(evidence) },
            What::ClusterStale(shifted) | What::ClusterFresh(shifted) => {
                Self { cluster: Some(shifted.cluster), ..Self::shown(shifted.evidence) }
            }
            What::Stale(how) | What::Fresh(how) => Self {
                staleness: Some(how.staleness),
                arrivals: Some(how.arrivals),
                ..Self::shown(how.evidence)
            },
            What::MapUpdated(mut updated) => {
                Self { who: updated.who.take(), updated: Some(updated), ..empty }
            }
            What::Renamed(Renamed { cluster, group, title, who, .. }) => {
                Self { cluster, group, title, who, ..empty }
            }
            What::Notice(mut notice) => Self { who: notice.who.take(), notice: Some(notice), ..empty },
        }
    }
}

impl EventColumns {
    fn shown(evidence: Evidence) -> Self {
        let (expected, seen) = (Some(evidence.expected), Some(evidence.seen));
        Self { expected, seen, evidence: Some(evidence), ..Self::default() }
    }

    fn of(mut sighting: Sighting) -> Self {
        Self {
            id: Some(std::mem::take(&mut sighting.id)),
            at: Some(sighting.at()),
            group: sighting.placement.group,
            cluster: sighting.cluster.take(),
            from: sighting.from.take(),
            sighting: Some(sighting),
            ..Self::default()
        }
    }
}

impl EventRows {
    fn len(&self) -> usize {
        self.head.n.len()
    }

    fn add(&mut self, event: Event) {
        self.head.n.push(event.n);
        self.head.t.push(event.t);
        self.head.kind.push(event.kind().to_owned());
        let told: EventColumns = event.what.into();
        let EventColumns { sighting, id, at, group, cluster, from, size, expected, seen, why, .. } = told;
        let (staleness, arrivals, evidence) = (told.staleness, told.arrivals, told.evidence);
        self.add_update(told.updated);
        self.tail.title.push(told.title);
        self.tail.notice.push(told.notice.as_ref().map(|noted| noted.notice));
        self.tail.state.push(told.notice.as_ref().map(|noted| noted.state.to_string()));
        self.tail.note.push(told.notice.and_then(|noted| noted.note));
        self.tail.who.push(told.who);
        self.head.id.push(id);
        self.head.x.push(at.map(|at| at.x));
        self.head.y.push(at.map(|at| at.y));
        self.head.z.push(at.and_then(|at| at.z));
        self.tail.group.push(group);
        self.tail.cluster.push(cluster);
        self.tail.size.push(size);
        self.tail.expected.push(expected);
        self.tail.seen.push(seen);
        self.tail.why.push(why.map(|why| why.to_string()));
        self.tail.staleness.push(staleness);
        self.tail.arrivals.push(arrivals);
        self.tail.of.push(evidence.map(|evidence| evidence.of));
        self.tail.e_value.push(evidence.map(|evidence| evidence.e_value));
        self.tail.since.push(evidence.map(|evidence| evidence.since));
        self.head.label.push(sighting.as_ref().and_then(|sighting| sighting.label.clone()));
        self.tail.distance.push(sighting.as_ref().and_then(|sighting| sighting.distance));
        self.sightings.push(sighting);
        self.add_before(from);
    }

    /// Clusters are lists of names as JSON has them: a name may hold any sign.
    fn add_update(&mut self, updated: Option<MapUpdated>) {
        let names = |names: Vec<&str>| serde_json::Value::from(names).to_string();
        let clusters = updated.as_ref().map(|updated| &updated.clusters);
        let born =
            clusters.map(|clusters| clusters.born.iter().map(|cluster| cluster.name.as_str()).collect());
        let gone =
            clusters.map(|clusters| clusters.gone.iter().map(|cluster| cluster.name.as_str()).collect());
        let moved =
            clusters.map(|clusters| clusters.moved.iter().map(|cluster| cluster.name.as_str()).collect());
        self.tail.version.push(updated.as_ref().map(|updated| updated.version));
        self.tail.from_version.push(updated.as_ref().map(|updated| updated.from));
        self.tail.born.push(born.map(names));
        self.tail.gone.push(gone.map(names));
        self.tail.moved.push(moved.map(names));
    }

    fn add_before(&mut self, from: Option<Before>) {
        self.tail.from_t.push(from.as_ref().map(|from| from.t));
        self.tail.from_x.push(from.as_ref().map(|from| from.at.x));
        self.tail.from_y.push(from.as_ref().map(|from| from.at.y));
        self.tail.from_z.push(from.as_ref().and_then(|from| from.at.z));
        self.tail.from_verdict.push(from.as_ref().map(|from| from.verdict.to_string()));
        self.tail.from_score.push(from.as_ref().map(|from| from.score));
        self.tail.from_group.push(from.as_ref().and_then(|from| from.group));
        self.tail.from_cluster.push(from.as_ref().and_then(|from| from.cluster.clone()));
        self.tail.from_label.push(from.and_then(|from| from.label));
    }
}
