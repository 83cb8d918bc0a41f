//! The routes of the map itself. A version of it never changes: each answer is made once and has a tag.

use super::App;
use super::answer::{cluster_name, json, near};
use super::assets::{not_modified, tagged};
use super::error::Problem;
use super::guard::Caller;
use super::shown;
use super::tokens::Role;
use crate::plain_columns::PlainColumns;
use crate::{MapVersion, Titled, UpdateState};
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::live::Clusters;
use lion_tsne::map::ShownColumn;
use lion_tsne::{Lion, Map};
use serde::Deserialize;
use serde_json::{Value, json as object};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many of the nearest rows are shown.
pub(super) const NEAR: usize = 5;

/// Versions of the map whose answers are kept.
const KEPT: usize = 3;

/// What was asked for before.
#[derive(Default)]
pub(super) struct Answers {
    /// The latest last.
    kept: Mutex<Vec<Arc<VersionAnswers>>>,
    /// Held by who opens a version: those who wait find it opened.
    opening: tokio::sync::Mutex<()>,
}

/// A version of the map, and what was asked of it before.
pub(super) struct VersionAnswers {
    version: MapVersion,
    summary: OnceLock<Value>,
    columns: OnceLock<Bytes>,
    /// What its clusters are.
    pub(super) explained: OnceLock<Result<Bytes, String>>,
}

impl VersionAnswers {
    pub(super) fn version(&self) -> &MapVersion {
        &self.version
    }

    pub(super) fn lion(&self) -> &Lion {
        &self.version.lion
    }

    pub(super) fn tag(&self, what: &str) -> String {
        format!("\"{}-{what}-{}\"", self.version.record.checksum, env!("CARGO_PKG_VERSION"))
    }
}

/// Which version is asked for; the current one unless it says so.
#[derive(Deserialize)]
pub(super) struct VersionQuery {
    version: Option<u64>,
}

/// The version that an address names.
pub(super) type Wanted = Result<Query<VersionQuery>, QueryRejection>;

impl App {
    /// The answers of a version.
    pub(super) async fn answers(&self, wanted: Wanted) -> Result<Arc<VersionAnswers>, Problem> {
        let Query(VersionQuery { version }) =
            wanted.map_err(|_| Problem::bad_request("version must be the number of a version of the map"))?;
        let number = version.unwrap_or_else(|| self.service.view().map().number());
        if let Some(known) = self.map.get(number) {
            return Ok(known);
        }
        // The current one is open.
        let is_current = number == self.service.view().map().number();
        let _opening = if is_current { None } else { Some(self.map.opening.lock().await) };
        if let Some(known) = self.map.get(number) {
            return Ok(known);
        }
        let version = self.service.version(number).await?;
        let version = version.ok_or_else(|| {
            Problem::not_found(format!(
                "version {number} of the map is not kept: /api/map/versions lists them"
            ))
        })?;
        let answers = Arc::new(VersionAnswers {
            version,
            summary: OnceLock::new(),
            columns: OnceLock::new(),
            explained: OnceLock::new(),
        });
        self.map.keep(Arc::clone(&answers));
        Ok(answers)
    }
}

impl Answers {
    fn get(&self, number: u64) -> Option<Arc<VersionAnswers>> {
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.version.number() == number).cloned()
    }

    fn keep(&self, answers: Arc<VersionAnswers>) {
        let mut known = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        known.push(answers);
        if known.len() > KEPT {
            known.remove(0);
        }
    }
}

/// Runs what takes a while in a large map where it holds up nobody.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the map could not be read");
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// What the map is, and which events there are.
pub(super) async fn summary(
    State(app): State<App>,
    role: Option<Extension<Caller>>,
    wanted: Wanted,
) -> Result<Response, Problem> {
    let answers = app.answers(wanted).await?;
    let names = Arc::clone(&answers.version.clusters);
    let mut summary = aside({
        let app = app.clone();
        move || answers.summary.get_or_init(|| make_summary(&app, &answers.version)).clone()
    })
    .await?;
    let notes = app.service.view().notes().clone();
    for (at, name) in names.names.iter().enumerate() {
        summary["clusters"][at]["title"] = notes.title(&Titled::Cluster(name.clone())).into();
    }
    summary["first"] = app.service.first().into();
    summary["last"] = app.service.last().into();
    summary["window"] = app.service.view().health().window.into();
    summary["role"] = role.map_or(Role::Admin, |Extension(Caller(role))| role).as_str().into();
    summary["revert_to"] = app.service.revert_to().into();
    summary["updating"] = (app.service.update_status().state == UpdateState::Running).into();
    Ok(json(&summary))
}

fn make_summary(app: &App, version: &MapVersion) -> Value {
    let (mut summary, alerts) = (describe(&app.config.name, version), &app.config.alerts);
    summary["alerts"] = object!({
        "staleness": alerts.staleness,
        "outlier_rate": alerts.outlier_rate,
        "new_cluster": alerts.new_cluster,
    });
    summary
}

/// What a version of the map is, as pages are told.
pub(crate) fn describe(name: &str, version: &MapVersion) -> Value {
    let MapVersion { lion, clusters, record } = version;
    let map = lion.map();
    object!({
        "name": name,
        "rows": map.rows(),
        "columns": map.preprocess().input_dims(),
        "components": map.preprocess().output_dims(),
        "places": map.dims(),
        "metric": map.preprocess().metric(),
        "perplexity": map.perplexity(),
        "kl": map.provenance().kl,
        "r_x": lion.r_x(),
        "r_y": lion.r_y(),
        "r_close": lion.r_close(),
        "power": lion.power(),
        "radius": lion.radius().to_string(),
        "verdict": lion.verdict_rule(),
        "alpha": lion.alpha(),
        "promised": lion.promised(),
        "version": record.version,
        "parent": record.parent,
        "checksum": record.checksum,
        "clusters": cluster_list(clusters, map.dims()),
        "clusters_from": if clusters.from_labels { "labels" } else { "density" },
        "image": map.image().map(|image| {
            object!({ "width": image.width, "height": image.height, "channels": image.channels })
        }),
        "shown": map.shown().map_or(Vec::new(), |shown| {
            let column = |column: &ShownColumn| object!({ "name": column.name, "kind": column.kind.as_str() });
            shown.columns().iter().map(column).collect()
        }),
        "bounds": bounds(map),
        "program": env!("CARGO_PKG_VERSION"),
    })
}

fn cluster_list(clusters: &Clusters, dims: usize) -> Vec<Value> {
    let parts = clusters.names.iter().zip(&clusters.rows).zip(&clusters.centres);
    let cluster = |((name, rows), centre): ((&String, &_), &lion_tsne::lion::Place)| {
        let mut cluster = object!({ "name": name, "rows": rows, "x": centre[0], "y": centre[1] });
        if dims == 3 {
            cluster["z"] = centre[2].into();
        }
        cluster
    };
    parts.map(cluster).collect()
}

/// The least and greatest coordinates: x0, y0, x1, y1, with z0 after y0 and z1 last in space.
fn bounds(map: &Map) -> Vec<f32> {
    let dims = map.dims();
    let mut bounds = [vec![f32::INFINITY; dims], vec![f32::NEG_INFINITY; dims]];
    for place in map.y().data().chunks_exact(dims) {
        for (d, &at) in place.iter().enumerate() {
            bounds[0][d] = bounds[0][d].min(at);
            bounds[1][d] = bounds[1][d].max(at);
        }
    }
    bounds.concat()
}

/// An answer, or why there is none.
type Answered = Result<Response, Problem>;

/// Ids, places, labels and clusters of the rows as an Arrow stream.
pub(super) async fn points(State(app): State<App>, wanted: Wanted, headers: HeaderMap) -> Answered {
    let answers = app.answers(wanted).await?;
    aside(move || {
        let tag = answers.tag("points");
        if let Some(known) = not_modified(&headers, &tag) {
            return Ok(known);
        }
        let stream = arrow_stream(&answers.version.lion, &answers.version.clusters);
        let stream =
            stream.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(tagged(&tag, "application/vnd.apache.arrow.stream", stream))
    })
    .await?
}

/// Rows in one batch of the stream.
const BATCH: usize = 65_536;

fn arrow_stream(lion: &Lion, clusters: &Clusters) -> Result<Vec<u8>, ArrowError> {
    let (map, mut bytes) = (lion.map(), Vec::new());
    let first = arrow_batch(map, clusters, 0..map.rows().min(BATCH))?;
    let mut writer = StreamWriter::try_new(&mut bytes, first.schema_ref())?;
    writer.write(&first)?;
    for start in (BATCH..map.rows()).step_by(BATCH) {
        writer.write(&arrow_batch(map, clusters, start..map.rows().min(start + BATCH))?)?;
    }
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

fn arrow_batch(
    map: &Map,
    clusters: &Clusters,
    rows: std::ops::Range<usize>,
) -> Result<RecordBatch, ArrowError> {
    let ids: StringArray = rows.clone().map(|row| Some(map.id(row))).collect();
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![("id", Arc::new(ids), false)];
    for (d, name) in ["x", "y", "z"].into_iter().enumerate().take(map.dims()) {
        let values: Float32Array = rows.clone().map(|row| map.place(row)[d]).collect::<Vec<_>>().into();
        columns.push((name, Arc::new(values), false));
    }
    let labels: StringArray = rows.clone().map(|row| map.labels().map(|labels| labels.get(row))).collect();
    columns.push(("label", Arc::new(labels), true));
    let cluster: UInt32Array = rows.map(|row| clusters.of_row[row]).collect();
    columns.push(("cluster", Arc::new(cluster), true));
    RecordBatch::try_from_iter_with_nullable(columns)
}

/// Places, clusters and ids of the rows as plain columns, for a browser that has no reader of Arrow.
pub(super) async fn columns(State(app): State<App>, wanted: Wanted, headers: HeaderMap) -> Answered {
    let answers = app.answers(wanted).await?;
    aside(move || {
        let tag = answers.tag("columns");
        let MapVersion { lion, clusters, .. } = &answers.version;
        not_modified(&headers, &tag).unwrap_or_else(|| {
            let columns = answers.columns.get_or_init(|| plain_columns(lion.map(), clusters).into());
            tagged(&tag, "application/octet-stream", columns.clone())
        })
    })
    .await
}

/// In this column a row without a cluster.
const NO_CLUSTER: u32 = u32::MAX;

/// Places, clusters and ids of the rows.
pub(crate) fn plain_columns(map: &Map, clusters: &Clusters) -> Vec<u8> {
    let rows = map.rows();
    let mut columns = PlainColumns::default();
    for (d, name) in PlacementColumn::coordinates(map.dims()).iter().enumerate() {
        columns.add(name, "f32", (0..rows).flat_map(|row| map.place(row)[d].to_le_bytes()));
    }
    let of_row = clusters.of_row.iter();
    columns.add("cluster", "u32", of_row.flat_map(|cluster| cluster.unwrap_or(NO_CLUSTER).to_le_bytes()));
    if map.has_ids() {
        // Names may hold anything, but a line end among them would shift all that follow.
        let ids = (0..rows).map(|row| map.id(row).replace(['\n', '\r'], " "));
        columns.add("ids", "utf8", ids.collect::<Vec<_>>().join("\n").into_bytes());
    }
    columns.finish([("rows".to_owned(), rows.into())].into_iter().collect())
}

/// One row of the map, and those nearest to it.
pub(super) async fn row(
    State(app): State<App>,
    number: Result<Path<usize>, PathRejection>,
    wanted: Wanted,
) -> Result<Response, Problem> {
    let answers = app.answers(wanted).await?;
    let rows = answers.version.lion.map().rows();
    let Path(number) =
        number.map_err(|_| Problem::bad_request("the number of a row must be a whole number"))?;
    if number >= rows {
        return Err(Problem::not_found(format!(
            "there is no row {number}: the map has {rows} rows, counted from 0"
        )));
    }
    aside(move || row_answer(&answers.version, number)).await?
}

fn row_answer(version: &MapVersion, number: usize) -> Result<Response, Problem> {
    let MapVersion { lion, clusters, .. } = version;
    let map = lion.map();
    let nearest = lion.nearest_of(number, NEAR);
    let nearest =
        nearest.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let place = map.place(number);
    let mut answer = object!({
        "number": number,
        "id": map.id(number),
        "label": map.labels().map(|labels| labels.get(number)),
        "cluster": cluster_name(clusters, clusters.of_row[number]),
        "x": place[0],
        "y": place[1],
        "picture": picture(map.picture(number)),
        "nearest": near(lion, nearest),
        "shown": shown::fields(map, number)?,
        "values": shown::own_values(map, number),
    });
    if let Some(&z) = place.get(2) {
        answer["z"] = z.into();
    }
    Ok(json(&answer))
}

/// The bytes of a picture as JSON can hold them.
pub(super) fn picture(bytes: Option<&[u8]>) -> Option<Cow<'static, str>> {
    bytes.map(|bytes| BASE64_STANDARD.encode(bytes).into())
}
