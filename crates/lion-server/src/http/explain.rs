//! What clusters and selected points are: the columns, words and rows that set them apart.

use super::App;
use super::answer::json;
use super::assets::{not_modified, tagged};
use super::error::Problem;
use super::map::{VersionAnswers, Wanted, aside};
use crate::view::View;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use lion_tsne::Map;
use lion_tsne::explain::{
    Column, ExplainOptions, ExplainSummary, Explanation, explain, explain_points, leave_out_labels,
    map_columns, text_from,
};
use lion_tsne::live::Clusters;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

/// All clusters of the map, level by level, as `lion explain --json` tells of them. Those that live points are counted by say so.
pub(super) async fn clusters(
    State(app): State<App>,
    wanted: Wanted,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let answers = app.answers(wanted).await?;
    aside(move || {
        let tag = answers.tag("explain");
        if let Some(known) = not_modified(&headers, &tag) {
            return Ok(known);
        }
        match answers.explained.get_or_init(|| told(&answers).map_err(|error| error.to_string())) {
            Ok(bytes) => Ok(tagged(&tag, "application/json", bytes.clone())),
            Err(problem) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, problem.clone())),
        }
    })
    .await?
}

fn columns(map: &Map) -> lion_tsne::Result<Vec<Column<'_>>> {
    let mut columns = map_columns(map)?;
    leave_out_labels(&mut columns, map);
    text_from(&mut columns, None)?;
    Ok(columns)
}

fn told(answers: &VersionAnswers) -> lion_tsne::Result<bytes::Bytes> {
    let version = answers.version();
    let map = version.lion.map();
    let found = explain(map, &columns(map)?, &ExplainOptions::default())?;
    let mut summary = serde_json::to_value(ExplainSummary::new(map, &found))
        .map_err(|error| lion_tsne::Error::Data(error.to_string()))?;
    let names = live_names(&found, &version.clusters);
    for (cluster, name) in found.clusters.iter().zip(names) {
        summary["clusters"][cluster.id as usize]["cluster"] = name.into();
        summary["clusters"][cluster.id as usize]["named"] = cluster.is_named().into();
    }
    Ok(summary.to_string().into())
}

/// For each explained cluster the name by which live points and `/api/map` know it: those of the usual level have one.
fn live_names<'a>(found: &Explanation, clusters: &'a Clusters) -> Vec<Option<&'a str>> {
    let mut names = vec![None; found.clusters.len()];
    for (explained, known) in found.levels[found.usual].iter().zip(&clusters.of_row) {
        if let (Some(id), Some(at)) = (explained, known) {
            names[*id as usize].get_or_insert(clusters.names[*at as usize].as_str());
        }
    }
    names
}

/// What is to be explained.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SelectionBody {
    /// Numbers of rows of the map.
    rows: Vec<u32>,
    /// Ids of live points.
    ids: Vec<String>,
    /// All rows and live points inside of this line, in the plane of the map.
    polygon: Vec<[f64; 2]>,
}

/// What some rows of the map and live points have in common, against the other rows of the map: one cluster of
/// `lion explain --json`.
pub(super) async fn selection(
    State(app): State<App>,
    wanted: Wanted,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let fields = "the body must have rows, numbers of rows of the map, or ids, of live points, or polygon, a list of [x, y]";
    let body: Option<SelectionBody> = app.intake.large(&headers, body, fields).await?;
    let SelectionBody { mut rows, ids, polygon } = body.ok_or_else(|| Problem::bad_request(fields))?;
    let answers = app.answers(wanted).await?;
    let view = app.service.view();
    let mut points = firsts(&view, &ids)?;
    if !polygon.is_empty() {
        let is_inside = polygon_test(answers.lion().map(), polygon)?;
        let map = answers.lion().map();
        rows.extend((0..map.rows() as u32).filter(|&row| is_inside(map.place(row as usize))));
        points.extend(view.points().filter(|p| is_inside(&p.placement.place)).map(|p| p.first));
    }
    let known: HashSet<u64> = points.iter().copied().collect();
    let given = app.service.given_rows(known.into_iter().collect()).await?;
    aside(move || explained(answers.lion().map(), &rows, &given)).await?
}

fn explained(map: &Map, rows: &[u32], given: &[Vec<f32>]) -> Result<Response, Problem> {
    let wrong = |error: lion_tsne::Error| Problem::unprocessable(error.to_string());
    let columns =
        columns(map).map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let found = explain_points(map, &columns, rows, given, &ExplainOptions::default()).map_err(wrong)?;
    let summary = ExplainSummary::of_selection(map, &found);
    let mut cluster: Value = serde_json::to_value(&summary.clusters[0])
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    cluster["share"] = (found.size as f64 / (map.rows() + given.len()) as f64).into();
    if rows.is_empty() {
        cluster["centre"] = Value::Null;
    }
    Ok(json(&cluster))
}

/// The first events of live points.
fn firsts(view: &View, ids: &[String]) -> Result<Vec<u64>, Problem> {
    let mut wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let firsts: Vec<u64> =
        view.points().filter(|point| wanted.remove(point.id.as_str())).map(|point| point.first).collect();
    match wanted.into_iter().min() {
        Some(id) => Err(Problem::not_found(format!("there is no live point {id:?}"))),
        None => Ok(firsts),
    }
}

/// Whether a place lies inside of a line: a ray to the right crosses it an odd number of times.
fn polygon_test(map: &Map, corners: Vec<[f64; 2]>) -> Result<impl Fn(&[f32]) -> bool, Problem> {
    if map.dims() != 2 {
        return Err(Problem::unprocessable(
            "a polygon needs a map in the plane: send rows and ids".to_owned(),
        ));
    }
    if corners.len() < 3 || corners.iter().flatten().any(|value| !value.is_finite()) {
        return Err(Problem::unprocessable("a polygon needs at least three corners".to_owned()));
    }
    Ok(move |place: &[f32]| {
        let (x, y) = (f64::from(place[0]), f64::from(place[1]));
        let mut inside = false;
        for (k, a) in corners.iter().enumerate() {
            let b = &corners[(k + corners.len() - 1) % corners.len()];
            if (a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] {
                inside = !inside;
            }
        }
        inside
    })
}
