//! The routes of what is alive: points come, change and go, and can be looked at.

use super::answer::{cluster_name, join, json, json_text, live_text, near, placements, with_events};
use super::error::Problem;
use super::{App, map, shown};
use crate::changes::{check_id, snapshot_of};
use crate::{MapVersion, PointRecord, Refused, Work};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use lion_tsne::lion::{PlacedRow, PlacementColumn};
use lion_tsne::live::{Change, Point};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::json as object;

/// Places points, or removes them, in the order in which they come.
pub(super) async fn upsert(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut taken = app.intake.changes(&headers, body).await?;
    let changes = std::mem::take(&mut taken.changes);
    if changes.is_empty() {
        return Ok(json(&object!([])));
    }
    Ok(placements(&app.service.submit(Work::Changes(changes)).await?))
}

/// Takes a whole snapshot: its points are placed, all others removed.
pub(super) async fn snapshot(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut taken = app.intake.changes(&headers, body).await?;
    let arrivals = snapshot_of(std::mem::take(&mut taken.changes))?;
    Ok(placements(&app.service.submit(Work::Snapshot(arrivals)).await?))
}

type Id = Result<Path<String>, PathRejection>;

fn id_of(path: Id) -> Result<String, Problem> {
    let Path(id) = path.map_err(|_| Problem::bad_request("the id in the address is not UTF-8"))?;
    check_id(&id).map_err(|problem| Problem::bad_request(format!("the id in the address {problem}")))?;
    Ok(id)
}

/// Removes a point.
pub(super) async fn delete(State(app): State<App>, path: Id) -> Result<Response, Problem> {
    let id = id_of(path)?;
    let receipt = app.service.submit(Work::Changes(vec![Change::Delete { id: id.clone(), t: None }])).await?;
    let Some(event) = receipt.events.first().map(|event| event.n) else {
        return Err(Refused::NotFound { id }.into());
    };
    Ok(json(&object!({ "removed": id, "event": event })))
}

/// A point, what happened to it, and what is near it.
pub(super) async fn point(State(app): State<App>, path: Id) -> Result<Response, Problem> {
    let record = app.service.point(&id_of(path)?).await?;
    let version = app.service.version(record.version).await?;
    let version = version.ok_or_else(|| Problem::not_found("the map of this point was replaced just now"))?;
    // Looking for the nearest rows takes a while in a large map.
    map::aside(move || point_answer(&version, &record)).await?
}

/// A point as an event tells it.
struct PointAnswer<'a> {
    row: PlacedRow<'a>,
    point: &'a Point,
    cluster: Option<&'a str>,
}

impl Serialize for PointAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        let dims = self.row.placement.place.len();
        for column in PlacementColumn::in_events(dims) {
            column.add_to(&mut object, &self.row)?;
        }
        object.serialize_entry("label", &self.point.label)?;
        object.serialize_entry("t", &self.point.t)?;
        object.serialize_entry("cluster", &self.cluster)?;
        object.serialize_entry("first", &self.point.first)?;
        object.serialize_entry("last", &self.point.last)?;
        object.end()
    }
}

fn point_answer(version: &MapVersion, record: &PointRecord) -> Result<Response, Problem> {
    let (lion, point) = (&version.lion, &record.point);
    let point = PointAnswer {
        row: PlacedRow::new(lion.map(), &point.id, &point.placement),
        point,
        cluster: cluster_name(&version.clusters, point.cluster),
    };
    let nearest =
        lion.nearest(&record.row, map::NEAR).map_err(|error| Problem::unprocessable(error.to_string()))?;
    let rest = object!({
        "row": record.row,
        "values": shown::values(lion.map(), &record.row),
        "picture": map::picture(lion.map().as_picture(&record.row).as_deref()),
        "nearest": near(lion, nearest),
        "point": point,
    });
    // The events are JSON already: they go in front of the rest.
    let mut text = b"{\"history\":".to_vec();
    join(&mut text, &record.history);
    text.push(b',');
    text.extend_from_slice(&rest.to_string().as_bytes()[1..]);
    Ok(json_text(text))
}

/// All points as they are, with what is watched. Many who ask at the same time share one answer, which may be large.
pub(super) async fn live(State(app): State<App>) -> Result<Response, Problem> {
    let mut kept = app.live.lock().await;
    let view = app.service.view();
    if let Some((_, text)) = kept.as_ref().filter(|(last, _)| *last == view.last()) {
        return Ok(json_text(text.clone()));
    }
    let last = view.last();
    let text = map::aside(move || live_text(&view)).await?;
    let text = text.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let (_, text) = kept.insert((last, text.into()));
    Ok(json_text(text.clone()))
}

/// What is watched.
pub(super) async fn health(State(app): State<App>) -> Response {
    json(&**app.service.view().health())
}

/// A part of the history: what follows an event, or what comes before one.
#[derive(Deserialize)]
pub(super) struct HistoryQuery {
    after: Option<u64>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// The most events in one answer.
const MOST_EVENTS: usize = 10_000;

pub(super) async fn history(
    State(app): State<App>,
    part: Result<Query<HistoryQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(part) = part.map_err(|_| {
        Problem::bad_request("the query may have after=N or before=N, and limit=M, all whole numbers")
    })?;
    let limit = part.limit.unwrap_or(1000).min(MOST_EVENTS);
    let events = match (part.after, part.before) {
        (Some(_), Some(_)) => {
            return Err(Problem::bad_request("ask for after=N or for before=N, not for both"));
        }
        (after, None) => {
            app.service.history(after.unwrap_or(app.service.first().saturating_sub(1)), limit).await?
        }
        (None, Some(before)) => app.service.history_before(before, limit).await?,
    };
    Ok(json_text(with_events(&events, app.service.first(), app.service.last())))
}
