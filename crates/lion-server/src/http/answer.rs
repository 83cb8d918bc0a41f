//! What the routes answer, as JSON.

use crate::http::error::Problem;
use crate::http::notes::group_id;
use crate::view::View;
use crate::{Missed, Receipt, Refused, Titled};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use lion_tsne::Lion;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::live::{Clusters, Event, LabelCount, Point, Sighting};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The placement of one change, or that a point was removed.
struct PlacedAnswer<'a> {
    event: &'a Event,
    sighting: Option<&'a Sighting>,
    id: &'a str,
}

impl Serialize for PlacedAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        match self.sighting {
            Some(sighting) => {
                let (row, dims) = (sighting.row(), sighting.placement.place.len());
                for column in PlacementColumn::beside_labels(dims) {
                    column.add_to(&mut object, &row)?;
                }
                object.serialize_entry("cluster", &sighting.cluster)?;
            }
            None => object.serialize_entry("id", self.id)?,
        }
        object.serialize_entry("kind", self.event.kind())?;
        object.serialize_entry("event", &self.event.n)?;
        object.end()
    }
}

/// A point that was to be removed and was not there.
#[derive(serde::Serialize)]
struct AbsentAnswer<'a> {
    id: &'a str,
    kind: &'static str,
    event: Option<u64>,
}

/// What came of each change, in the order in which they were sent. What a window of time shows is no placement.
pub(super) fn placements(receipt: &Receipt) -> Response {
    struct All<'a>(&'a Receipt);
    impl Serialize for All<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Receipt { events, absent, .. } = self.0;
            let mut list = serializer.serialize_seq(None)?;
            let (mut events, mut absent) = (events.iter().filter_map(placed), absent.iter().peekable());
            for number in 0.. {
                if let Some((_, id)) = absent.next_if(|(at, _)| *at == number) {
                    list.serialize_element(&AbsentAnswer { id, kind: "absent", event: None })?;
                } else if let Some(placed) = events.next() {
                    list.serialize_element(&placed)?;
                } else {
                    break;
                }
            }
            list.end()
        }
    }
    json(&All(receipt))
}

fn placed(event: &Event) -> Option<PlacedAnswer<'_>> {
    Some(PlacedAnswer { event, sighting: event.sighting(), id: event.id()? })
}

/// A JSON answer.
pub(super) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => json_text(text),
        Err(error) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// An answer that is JSON already.
pub(super) fn json_text(text: impl Into<Bytes>) -> Response {
    let text: Bytes = text.into();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// The JSON of `before`, an array of texts that are JSON already, and what else belongs to it.
pub(super) fn with_events(events: &[Bytes], first: u64, last: u64) -> Vec<u8> {
    let mut text = Vec::with_capacity(64 + events.iter().map(|event| event.len() + 1).sum::<usize>());
    text.extend_from_slice(b"{\"events\":");
    join(&mut text, events);
    text.extend_from_slice(format!(",\"first\":{first},\"last\":{last}}}").as_bytes());
    text
}

/// Adds an array of texts that are JSON already.
pub(super) fn join(text: &mut Vec<u8>, items: &[Bytes]) {
    text.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        text.extend_from_slice(item);
    }
    text.push(b']');
}

/// All points as columns, the groups, and what is watched, as text.
pub(crate) fn live_text(view: &View) -> Result<String, serde_json::Error> {
    serde_json::to_string(&LiveAnswer(view))
}

struct LiveAnswer<'a>(&'a View);

impl Serialize for LiveAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.0;
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("last", &view.last())?;
        map.serialize_entry("version", &view.map().number())?;
        map.serialize_entry("points", &AnswerColumns(view))?;
        map.serialize_entry("groups", &GroupsAnswer(view))?;
        map.serialize_entry("health", &**view.health())?;
        map.end()
    }
}

/// The points of a view, column by column.
struct AnswerColumns<'a>(&'a View);

impl Serialize for AnswerColumns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.0;
        let (clusters, places) = (&view.map().clusters, view.map().lion.map().dims());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &column(view, |point| point.id.as_str()))?;
        map.serialize_entry("label", &column(view, |point| point.label.as_deref()))?;
        for (at, name) in PlacementColumn::coordinates(places).iter().enumerate() {
            map.serialize_entry(name, &column(view, move |point| point.placement.place[at]))?;
        }
        map.serialize_entry("verdict", &column(view, |point| point.placement.verdict.as_str()))?;
        map.serialize_entry("score", &column(view, |point| point.placement.score))?;
        map.serialize_entry("group", &column(view, |point| point.placement.group))?;
        map.serialize_entry("cluster", &column(view, move |point| cluster_name(clusters, point.cluster)))?;
        map.serialize_entry("t", &column(view, |point| point.t))?;
        map.serialize_entry("first", &column(view, |point| point.first))?;
        map.serialize_entry("last", &column(view, |point| point.last))?;
        map.end()
    }
}

/// One column: a value of each point.
struct AnswerColumn<'a, F>(&'a View, F);

fn column<'a, T, F: Fn(&'a Point) -> T>(view: &'a View, value: F) -> AnswerColumn<'a, F> {
    AnswerColumn(view, value)
}

impl<'a, T: Serialize, F: Fn(&'a Point) -> T> Serialize for AnswerColumn<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.points().map(|point| (self.1)(point)))
    }
}

struct GroupsAnswer<'a>(&'a View);

impl Serialize for GroupsAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct GroupAnswer<'a> {
            number: u64,
            id: String,
            title: Option<&'a str>,
            labels: &'a [LabelCount],
            x: f32,
            y: f32,
            #[serde(skip_serializing_if = "Option::is_none")]
            z: Option<f32>,
            size: usize,
            forming: bool,
        }
        serializer.collect_seq(self.0.groups().iter().map(|group| GroupAnswer {
            number: group.number,
            id: group_id(group.number),
            title: self.0.notes().title(&Titled::Group(group.number)),
            labels: &group.labels,
            x: group.position.first().copied().unwrap_or_default(),
            y: group.position.get(1).copied().unwrap_or_default(),
            z: group.position.get(2).copied(),
            size: group.size,
            forming: group.forming,
        }))
    }
}

/// The name of a cluster by its number.
pub(crate) fn cluster_name(clusters: &Clusters, number: Option<u32>) -> Option<&str> {
    clusters.names.get(number? as usize).map(String::as_str)
}

/// A row of the map that is near something.
#[derive(serde::Serialize)]
pub(super) struct NearAnswer<'a> {
    id: std::borrow::Cow<'a, str>,
    number: u32,
    label: Option<&'a str>,
    distance: f32,
}

/// Rows of the map by number and distance, as people know them.
pub(super) fn near(lion: &Lion, rows: Vec<(u32, f32)>) -> Vec<NearAnswer<'_>> {
    let map = lion.map();
    let near = |(number, distance): (u32, f32)| NearAnswer {
        id: map.id(number as usize),
        number,
        label: map.labels().map(|labels| labels.get(number as usize)),
        distance,
    };
    rows.into_iter().map(near).collect()
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let detail = refused.to_string();
        match refused {
            Refused::Busy { .. } => Self::busy(detail),
            Refused::Unprocessable { .. } => Self::unprocessable(detail),
            Refused::NotFound { .. } => Self::not_found(detail),
            Refused::Store { full: true, .. } => Self::new(StatusCode::INSUFFICIENT_STORAGE, detail),
            Refused::Store { .. } | Refused::Stopping => Self::new(StatusCode::SERVICE_UNAVAILABLE, detail),
        }
    }
}

impl From<Missed> for Problem {
    fn from(missed: Missed) -> Self {
        match missed {
            Missed::Gone { .. } => Self::gone(missed.to_string()),
            Missed::Store(problem) => Self::new(StatusCode::SERVICE_UNAVAILABLE, problem),
        }
    }
}
