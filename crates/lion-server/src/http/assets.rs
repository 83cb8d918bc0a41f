//! The dashboard and the description of the API: files that are part of the program.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::hash::{DefaultHasher, Hash, Hasher};

const INDEX: &[u8] = include_bytes!("../../../../web/dist/index.html");
const SCRIPT: &[u8] = include_bytes!("../../../../web/dist/app.js");
const STYLE: &[u8] = include_bytes!("../../../../web/dist/app.css");
const OPENAPI: &[u8] = include_bytes!("openapi.json");

pub(super) async fn index(headers: HeaderMap) -> Response {
    asset(&headers, INDEX, "text/html; charset=utf-8")
}

pub(super) async fn script(headers: HeaderMap) -> Response {
    asset(&headers, SCRIPT, "text/javascript; charset=utf-8")
}

pub(super) async fn style(headers: HeaderMap) -> Response {
    asset(&headers, STYLE, "text/css; charset=utf-8")
}

pub(super) async fn openapi(headers: HeaderMap) -> Response {
    asset(&headers, OPENAPI, "application/json")
}

fn asset(headers: &HeaderMap, content: &'static [u8], kind: &'static str) -> Response {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    tagged(headers, &format!("\"{:016x}\"", hasher.finish()), || ([(header::CONTENT_TYPE, kind)], content))
}

/// An answer that a browser may keep, and asks for again only by its tag.
pub(super) fn tagged<R: IntoResponse>(headers: &HeaderMap, tag: &str, content: impl FnOnce() -> R) -> Response {
    let keep = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache")];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, keep).into_response();
    }
    (keep, content()).into_response()
}
