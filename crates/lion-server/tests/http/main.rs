//! The service over HTTP: every route and every refusal, without a port where that will do, else on the loopback address.

mod bodies;
mod compare;
mod deploy;
mod explain;
mod headers;
mod map;
mod maps;
mod notes;
mod points;
mod port;
mod refusals;
mod stream;
mod tls;
#[cfg(unix)]
mod unix_socket;
mod versions;
mod webhook;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use lion_server::{HttpConfig, Service, Settings, app};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, Rows, ignore};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tower::ServiceExt;

/// A grid of 10 x 10 rows, whose places are ten times as far apart.
fn grid() -> Map {
    let grid = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
    let rows = Matrix::new(100, 2, grid.clone().flatten().collect()).expect("a matrix");
    let places = Matrix::new(100, 2, grid.flatten().map(|v| 10.0 * v).collect()).expect("a matrix");
    let rows = Rows {
        data: rows,
        ids: Some((0..100).map(|i| format!("row-{i}")).collect()),
        labels: Some((0..100).map(|i| if i % 10 < 5 { "left" } else { "right" }.to_owned()).collect()),
    };
    let map = Fit::default().adopt(rows, places, &mut ignore).expect("a map");
    map.with_columns(&["width".to_owned(), "height".to_owned()]).expect("two names")
}

fn service() -> Service {
    let lion = Lion::new(grid(), &LionOptions::default()).expect("a map to place into");
    Service::start(Arc::new(lion), &Settings::default()).expect("a service")
}

fn config() -> HttpConfig {
    HttpConfig::new("grid", "127.0.0.1:7878".parse::<SocketAddr>().expect("an address"))
}

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The word and the sentence of a refusal.
    fn refusal(&self) -> (u16, String, String) {
        let json = self.json();
        let text = |name: &str| json[name].as_str().expect("a text").to_owned();
        (self.status.as_u16(), text("error"), text("detail"))
    }
}

async fn call(app: &Router, request: Request<Body>) -> Answer {
    let (parts, body) = app.clone().oneshot(request).await.expect("an answer").into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

fn request(method: &str, path: &str, kind: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost:7878");
    request.header("content-type", kind).body(body.into()).expect("a request")
}

async fn get(app: &Router, path: &str) -> Answer {
    call(app, request("GET", path, "", Body::empty())).await
}

async fn post(app: &Router, body: impl Into<Body>) -> Answer {
    call(app, request("POST", "/api/points", "application/json", body)).await
}

/// A service without a port.
fn plain() -> (Service, Router) {
    let service = service();
    (service.clone(), app(service, config()))
}
