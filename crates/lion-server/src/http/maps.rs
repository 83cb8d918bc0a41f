//! Several maps in one server: a page to choose from, and every map under `/m/{name}/` with all its routes.

use super::answer::json;
use super::error::Problem;
use super::guard::{self, guarded};
use super::{HttpConfig, app, assets};
use crate::service::Service;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// The most characters in the name of a map.
const LONGEST_NAME: usize = 64;

/// The maps of a server, by name.
struct Maps {
    maps: BTreeMap<String, ServedMap>,
    /// How the server is offered: the limits are those of the maps.
    config: HttpConfig,
}

struct ServedMap {
    service: Service,
    routes: TowerToHyperService<Router>,
}

/// Several services as routes, each called as its configuration says. `config` is for what is of no map.
pub fn maps_app(maps: Vec<(Service, HttpConfig)>, config: HttpConfig) -> Result<Router, String> {
    check_map_names(maps.iter().map(|(_, own)| own.name.as_str()))?;
    let served = |(service, own): (Service, HttpConfig)| {
        let name = own.name.clone();
        let routes = TowerToHyperService::new(app(service.clone(), own));
        (name, ServedMap { service, routes })
    };
    let maps = Arc::new(Maps { maps: maps.into_iter().map(served).collect(), config });
    let of_no_map = Router::new()
        .route("/", get(page))
        .route("/maps.css", get(assets::maps_style))
        .route("/api/maps", get(list))
        .layer(middleware::from_fn_with_state(maps.clone(), check));
    let all = Router::new().merge(of_no_map).route("/healthz", get(healthz)).fallback(pass_on);
    Ok(all.layer(middleware::map_response(guard::protect)).with_state(maps))
}

/// Refuses names that maps of one server cannot have. Worth knowing before a store is made of each name.
pub fn check_map_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for name in names {
        check_name(name)?;
        if !known.insert(name) {
            return Err(format!("two maps are called {name}: name them with --map NAME=FILE"));
        }
    }
    Ok(())
}

/// Names are part of addresses, as they are.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match name.chars().all(plain) && !name.starts_with('.') && (1..=LONGEST_NAME).contains(&name.len()) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} cannot be the name of a map, which is part of its address: give one of letters, digits and -._ with \
             --map NAME=FILE"
        )),
    }
}

async fn check(State(maps): State<Arc<Maps>>, request: Request, next: Next) -> Response {
    guarded(&maps.config, None, request, next).await
}

/// Hands a request to the map that its address names.
async fn pass_on(State(maps): State<Arc<Maps>>, mut request: Request) -> Response {
    let path = request.uri().path();
    let Some(rest) = path.strip_prefix("/m/") else {
        let problem = "there is nothing at this address: /api/maps lists the maps, and each has its routes under /m/{name}/";
        return Problem::not_found(problem).into_response();
    };
    let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    // Links of the page are relative to its folder, and so is this one: a proxy may have put all of it under a path of its own.
    let Some((name, rest)) = rest.split_once('/') else {
        let place = format!("./{rest}/{query}");
        return (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, place)]).into_response();
    };
    let Some(map) = maps.maps.get(name) else { return maps.no_such_map(request.headers(), name) };
    // Each map would say without a token whether it can work, and so that there is one of this name.
    if rest == "healthz" && !maps.may_look(request.headers(), name) {
        return guard::no_token().into_response();
    }
    let Ok(within) = PathAndQuery::try_from(format!("/{rest}{query}")) else {
        return Problem::bad_request("the address cannot be read").into_response();
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(within);
    match Uri::from_parts(parts) {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return Problem::bad_request("the address cannot be read").into_response(),
    }
    let Ok(response) = map.routes.call(request).await;
    response
}

async fn healthz(State(maps): State<Arc<Maps>>) -> Response {
    let ready = maps.maps.values().all(|map| map.service.is_ready()) && !maps.config.stop.is_stopped();
    match ready {
        true => "ready\n".into_response(),
        false => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the service is stopping, or a store fails: see its log",
        )
        .into_response(),
    }
}

/// A map as it is now.
#[derive(Serialize)]
struct MapState {
    name: String,
    /// Where its dashboard is, from here.
    url: String,
    rows: usize,
    version: u64,
    points: usize,
    outliers: u64,
    /// New clusters that form.
    forming: usize,
    stale: bool,
}

impl Maps {
    /// Whether a caller may look at the map of this name, or might if there were one.
    fn may_look(&self, headers: &HeaderMap, name: &str) -> bool {
        let shown = || guard::shown(headers, &self.config.hosts.cookie);
        self.config.tokens.as_ref().is_none_or(|tokens| tokens.role(shown(), Some(name)).is_some())
    }

    /// Who has no token for all maps does not learn which others there are.
    fn no_such_map(&self, headers: &HeaderMap, name: &str) -> Response {
        match self.may_look(headers, name) {
            true => Problem::not_found("there is no map of this name: /api/maps lists them").into_response(),
            false => guard::no_token().into_response(),
        }
    }

    /// The maps that a caller may look at.
    fn states(&self, headers: &HeaderMap) -> Vec<MapState> {
        let state = |(name, map): (&String, &ServedMap)| {
            let view = map.service.view();
            let health = view.health();
            MapState {
                name: name.clone(),
                url: format!("m/{name}/"),
                rows: view.map().lion.map().rows(),
                version: view.map().number(),
                points: view.len(),
                outliers: health.outliers,
                forming: health.forming.len(),
                stale: health.stale.is_some(),
            }
        };
        self.maps.iter().filter(|(name, _)| self.may_look(headers, name)).map(state).collect()
    }
}

async fn list(State(maps): State<Arc<Maps>>, headers: HeaderMap) -> Response {
    json(&serde_json::json!({ "maps": maps.states(&headers) }))
}

/// The page: names hold nothing that HTML would take for its own.
async fn page(State(maps): State<Arc<Maps>>, headers: HeaderMap) -> Html<String> {
    let mut rows = String::new();
    for MapState { name, url, rows: count, version, points, outliers, forming, stale } in
        maps.states(&headers)
    {
        let state = match (stale, forming) {
            (true, _) => "stale",
            (false, 0) => "",
            (false, 1) => "a cluster is forming",
            (false, _) => "clusters are forming",
        };
        // Nothing can go wrong when a text grows.
        let _ = write!(
            rows,
            "<tr><th scope=row><a href=\"{url}\">{name}</a><td>{count}<td>{points}<td>{outliers}<td>{version}<td>{state}"
        );
    }
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>LION-tSNE</title>\
         <meta name=viewport content=\"width=device-width\"><meta http-equiv=refresh content=10>\
         <link rel=stylesheet href=maps.css><h1>Maps</h1><table><thead><tr><th scope=col>Map<th scope=col>Rows\
         <th scope=col>Live points<th scope=col>Outliers<th scope=col>Version<th scope=col>State<tbody>{rows}</table>"
    ))
}
