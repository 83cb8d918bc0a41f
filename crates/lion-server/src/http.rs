//! The service over HTTP: routes, what is checked before them, and what is counted around them.

mod answer;
mod assets;
mod compare;
mod error;
mod events;
mod explain;
mod guard;
mod intake;
mod live;
mod map;
mod maps;
mod notes;
mod shown;
mod tokens;
mod versions;

pub(crate) use answer::{cluster_name, live_text};
pub(crate) use assets::{INDEX, SCRIPT, STYLE};
pub use guard::Hosts;
pub(crate) use guard::PROTECTION;
pub(crate) use map::{describe, plain_columns};
pub use maps::{check_map_names, maps_app};
pub use tokens::{Role, Tokens};

use crate::alerts::Rules;
use crate::changes::RowShape;
use crate::listen::{Seat, SeatedBody, Tls};
use crate::metrics::Metrics;
use crate::service::Service;
use crate::stop::Stop;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use error::Problem;
use intake::Intake;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

/// How the service is offered.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// What the map is called. Tokens may be for some maps only.
    pub name: String,
    /// Without it nothing but `/healthz` is answered; `None` asks for none, which only a loopback address may do.
    pub tokens: Option<Tokens>,
    /// The names by which the service may be called.
    pub hosts: Hosts,
    /// The certificate, if callers are to come by https.
    pub tls: Option<Tls>,
    /// The most bytes in a body.
    pub max_body: usize,
    /// The most rows in a body.
    pub max_rows: usize,
    /// The most connections at a time; half of them may listen to events.
    pub connections: usize,
    /// How long a request may take, its body included. Listening is not limited.
    pub request_time: Duration,
    /// How long a body may pause.
    pub body_time: Duration,
    /// How long a handshake and the head of a request may take, and how long a connection may be idle before one.
    pub header_time: Duration,
    /// How long a caller may refuse to take what is sent to it.
    pub write_time: Duration,
    /// How long requests may go on when the service stops.
    pub grace: Duration,
    /// What webhooks are called for, as pages are told.
    pub alerts: Rules,
    /// Ends those who listen.
    pub stop: Stop,
}

impl HttpConfig {
    /// The usual limits for a service that is called by `hosts`: an address, or names of its own.
    pub fn new(name: impl Into<String>, hosts: impl Into<Hosts>) -> Self {
        Self {
            name: name.into(),
            tokens: None,
            hosts: hosts.into(),
            tls: None,
            max_body: 64 << 20,
            max_rows: 100_000,
            connections: 1024,
            request_time: Duration::from_secs(60),
            body_time: Duration::from_secs(10),
            header_time: Duration::from_secs(15),
            write_time: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            alerts: Rules::default(),
            stop: Stop::default(),
        }
    }
}

/// What every route knows. Clones are the same.
#[derive(Clone)]
struct App(Arc<AppInner>);

struct AppInner {
    service: Service,
    config: HttpConfig,
    metrics: Metrics,
    intake: Intake,
    map: map::Answers,
    listeners: AtomicUsize,
    /// All points as they were after an event, written out.
    live: tokio::sync::Mutex<Option<(u64, Bytes)>>,
}

impl std::ops::Deref for App {
    type Target = AppInner;

    fn deref(&self) -> &AppInner {
        &self.0
    }
}

/// Every route but the parts of the dashboard, as `/openapi.json` describes them.
const ROUTES: &[(Method, &str)] = &[
    (Method::GET, "/"),
    (Method::GET, "/healthz"),
    (Method::GET, "/metrics"),
    (Method::GET, "/openapi.json"),
    (Method::GET, "/api/map"),
    (Method::GET, "/api/map/points"),
    (Method::GET, "/api/map/columns"),
    (Method::GET, "/api/map/rows/{number}"),
    (Method::GET, "/api/map/shown"),
    (Method::GET, "/api/map/versions"),
    (Method::GET, "/api/map/switches/{event}"),
    (Method::GET, "/api/map/update"),
    (Method::POST, "/api/map/update"),
    (Method::DELETE, "/api/map/update"),
    (Method::POST, "/api/map/revert"),
    (Method::GET, "/api/live"),
    (Method::GET, "/api/health"),
    (Method::GET, "/api/history"),
    (Method::GET, "/api/compare"),
    (Method::GET, "/api/explain"),
    (Method::POST, "/api/explain"),
    (Method::GET, "/api/events"),
    (Method::POST, "/api/points"),
    (Method::PUT, "/api/points"),
    (Method::PUT, "/api/clusters/{id}"),
    (Method::GET, "/api/notices"),
    (Method::POST, "/api/notices/{id}"),
    (Method::GET, "/api/points/{id}"),
    (Method::DELETE, "/api/points/{id}"),
];

/// The service as routes, ready for [`serve`](crate::serve) or for a test without any port.
pub fn app(service: Service, config: HttpConfig) -> Router {
    let lion = service.lion();
    let map = lion.map();
    let shape = RowShape {
        width: map.preprocess().input_dims(),
        columns: map.columns().map(|names| names.map(str::to_owned).collect()),
        recipe: map.recipe().cloned().map(std::sync::Arc::new),
        rows: config.max_rows,
        // An uncompressed table is as long as its values; a compressed one may be a few times as long as it is sent.
        bytes: config.max_body.saturating_mul(4),
    };
    let app = App(Arc::new(AppInner {
        metrics: Metrics::new(ROUTES),
        intake: Intake::new(shape, config.max_body, config.body_time),
        map: map::Answers::default(),
        listeners: AtomicUsize::new(0),
        live: tokio::sync::Mutex::default(),
        service,
        config,
    }));
    let point = get(live::point).delete(live::delete);
    let update = get(versions::status).post(versions::update).delete(versions::cancel);
    Router::new()
        .route("/", get(assets::index))
        .route("/app.js", get(assets::script))
        .route("/app.css", get(assets::style))
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(assets::openapi))
        .route("/api/map", get(map::summary))
        .route("/api/map/points", get(map::points))
        .route("/api/map/columns", get(map::columns))
        .route("/api/map/rows/{number}", get(map::row))
        .route("/api/map/shown", get(shown::of_rows))
        .route("/api/map/versions", get(versions::versions))
        .route("/api/map/switches/{event}", get(versions::before_switch))
        .route("/api/map/update", update)
        .route("/api/map/revert", axum::routing::post(versions::revert))
        .route("/api/live", get(live::live))
        .route("/api/health", get(live::health))
        .route("/api/history", get(live::history))
        .route("/api/compare", get(compare::compare))
        .route("/api/explain", get(explain::clusters).post(explain::selection))
        .route("/api/events", get(events::listen))
        .route("/api/points", axum::routing::post(live::upsert).put(live::snapshot))
        .route("/api/points/{id}", point)
        .route("/api/clusters/{id}", axum::routing::put(notes::rename))
        .route("/api/notices", get(notes::notices))
        .route("/api/notices/{id}", axum::routing::post(notes::note))
        .method_not_allowed_fallback(wrong_method)
        .fallback(no_such_route)
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .layer(middleware::from_fn_with_state(app.clone(), watch))
        .layer(middleware::map_response(guard::protect))
        .with_state(app)
}

/// Counts a request, says what came of it, and ends it when it takes too long.
async fn watch(State(app): State<App>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let request = match request.extensions().get::<Arc<Seat>>().cloned() {
        Some(seat) => request.map(|body| SeatedBody::wrap(body, seat)),
        None => request,
    };
    let response = match tokio::time::timeout(app.config.request_time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let seconds = app.config.request_time.as_secs();
            let problem = format!("the request took longer than {seconds} seconds: send less at a time");
            Problem::new(StatusCode::REQUEST_TIMEOUT, problem).into_response()
        }
    };
    let (status, seconds) = (response.status().as_u16(), begin.elapsed().as_secs_f64());
    app.metrics.count(&method, route, status, seconds);
    match status {
        500.. => tracing::warn!(%method, route, status, seconds, "a request failed"),
        400.. => tracing::info!(%method, route, status, seconds, "a request was refused"),
        _ => tracing::debug!(%method, route, status, seconds, "a request was answered"),
    }
    response
}

async fn healthz(State(app): State<App>) -> Response {
    if app.service.is_ready() && !app.config.stop.is_stopped() {
        return "ready\n".into_response();
    }
    let problem = "the service is stopping, or its store fails: see its log";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, problem).into_response()
}

async fn metrics(State(app): State<App>) -> Response {
    let listeners = app.listeners.load(std::sync::atomic::Ordering::Relaxed);
    let text = app.metrics.text(&app.service, listeners);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn no_such_route() -> Problem {
    Problem::not_found("there is nothing at this address; /openapi.json says what there is")
}

async fn wrong_method(method: Method) -> Problem {
    let problem = format!("{method} cannot be done at this address; /openapi.json says what can");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes that the description leaves out, and descriptions without a route.
    #[test]
    fn every_route_is_described() {
        let description: serde_json::Value =
            serde_json::from_slice(include_bytes!("http/openapi.json")).expect("it is JSON");
        let described =
            description["paths"].as_object().expect("it has paths").iter().flat_map(|(path, methods)| {
                let methods = methods.as_object().expect("a path has methods").keys();
                methods.map(move |method| format!("{} {path}", method.to_uppercase()))
            });
        let mut described: Vec<String> = described.collect();
        let mut routes: Vec<String> =
            ROUTES.iter().map(|(method, path)| format!("{method} {path}")).collect();
        described.sort();
        routes.sort();
        assert_eq!(described, routes);
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}
