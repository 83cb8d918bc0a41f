//! The dashboard and the description of the API: files that are part of the program.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lion_tsne::lion::{ColumnValues, PlacementColumn};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

pub(crate) const INDEX: &str = include_str!("../../../../web/dist/index.html");
pub(crate) const SCRIPT: &str = include_str!("../../../../web/dist/app.js");
pub(crate) const STYLE: &str = include_str!("../../../../web/dist/app.css");
/// The description of the API. The columns of placements are put in where it says `$columns` and `$names`.
static OPENAPI: LazyLock<String> = LazyLock::new(|| {
    let listed = |columns: Vec<String>| columns.join(", ");
    let of_events = PlacementColumn::in_events(3).filter(|column| column.name != "id");
    let names = PlacementColumn::beside_labels(2).map(|column| format!("\"{}\"", column.name));
    include_str!("openapi.json")
        .replace(
            r#""$columns": "of tables""#,
            &listed(PlacementColumn::beside_labels(3).map(property).collect()),
        )
        .replace(r#""$columns": "of events""#, &listed(of_events.map(property).collect()))
        .replace(r#""$names""#, &listed(names.collect()))
});

/// A column as JSON Schema describes it.
fn property(column: &PlacementColumn) -> String {
    let name = column.name;
    let kind = match column.values {
        ColumnValues::Text(_) if !column.words.is_empty() => {
            format!(r#"{{"type": "string", "enum": ["{}"]}}"#, column.words.join(r#"", ""#))
        }
        ColumnValues::Text(_) => r#"{"type": "string"}"#.into(),
        ColumnValues::F32(_) | ColumnValues::F64(_) => r#"{"type": "number"}"#.into(),
        ColumnValues::U32(_) | ColumnValues::U64(_) => r#"{"type": "integer", "minimum": 0}"#.to_owned(),
    };
    match column.optional {
        true => format!(r#""{name}": {{"oneOf": [{kind}, {{"type": "null"}}]}}"#),
        false => format!(r#""{name}": {kind}"#),
    }
}

pub(super) async fn index(headers: HeaderMap) -> Response {
    asset(&headers, INDEX.as_bytes(), "text/html; charset=utf-8")
}

pub(super) async fn script(headers: HeaderMap) -> Response {
    asset(&headers, SCRIPT.as_bytes(), "text/javascript; charset=utf-8")
}

pub(super) async fn style(headers: HeaderMap) -> Response {
    asset(&headers, STYLE.as_bytes(), "text/css; charset=utf-8")
}

pub(super) async fn maps_style(headers: HeaderMap) -> Response {
    asset(&headers, include_bytes!("maps.css"), "text/css; charset=utf-8")
}

pub(super) async fn openapi(headers: HeaderMap) -> Response {
    asset(&headers, OPENAPI.as_bytes(), "application/json")
}

fn asset(headers: &HeaderMap, content: &'static [u8], kind: &'static str) -> Response {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    not_modified(headers, &tag).unwrap_or_else(|| tagged(&tag, kind, content))
}

/// The answer to a browser that has the content of this tag already.
pub(super) fn not_modified(headers: &HeaderMap, tag: &str) -> Option<Response> {
    let known = headers.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    let known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag);
    known.then(|| (StatusCode::NOT_MODIFIED, keep(tag)).into_response())
}

/// Content that a browser may keep, and asks for again by its tag.
pub(super) fn tagged(tag: &str, kind: &'static str, content: impl IntoResponse) -> Response {
    // The content comes first: it brings a content type of its own, which is not the right one.
    let mut response = (keep(tag), content).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn keep(tag: &str) -> [(header::HeaderName, &str); 2] {
    [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache")]
}
