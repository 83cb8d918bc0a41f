//! What browsers are told of every kind of answer: whatever is asked, by whom, and whoever answers.

use crate::port::{Port, all};
use crate::tls::Certificate;
use crate::{app, call, config, get, grid, plain, request, service};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use lion_server::{HttpConfig, Service, Settings, Tokens, maps_app};
use lion_tsne::{Lion, LionOptions};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::ServiceExt;

const TOKEN: &str = "0123456789abcdef";

/// Statuses of answers, each of which had the headers.
#[derive(Default)]
struct Seen(BTreeSet<u16>);

impl Seen {
    /// Looks at the head of an answer alone: that of a stream of events has no end.
    async fn ask(&mut self, app: &Router, request: Request<Body>) {
        let what = format!("{} {}", request.method(), request.uri());
        let answer = app.clone().oneshot(request).await.expect("an answer");
        check(answer.headers(), &format!("{what}: {}", answer.status()));
        self.0.insert(answer.status().as_u16());
    }

    async fn get(&mut self, app: &Router, path: &str) {
        self.ask(app, request("GET", path, "", Body::empty())).await;
    }

    async fn post(&mut self, app: &Router, kind: &str, body: impl Into<Body>) {
        self.ask(app, request("POST", "/api/points", kind, body)).await;
    }
}

fn check(headers: &HeaderMap, what: &str) {
    let value = |name: &str| headers.get(name).map_or("", |value| value.to_str().expect("text"));
    let policy = value("content-security-policy");
    for part in ["default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{what}: {part} is not in {policy:?}");
    }
    assert!(!policy.contains("unsafe"), "{what}: {policy}");
    for (name, expected) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(value(name), expected, "{what}: {name}");
    }
    assert!(!value("cache-control").is_empty(), "{what}: caches are told nothing");
    assert!(headers.get("access-control-allow-origin").is_none(), "{what}: another site may read it");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_every_route_by_every_method() {
    let (_service, app) = plain();
    let mut seen = Seen::default();
    let description = get(&app, "/openapi.json").await.json();
    let described = description["paths"].as_object().expect("it has paths").keys().map(String::as_str);
    for path in described.chain(["/app.js", "/app.css", "/nothing", "/api/map/shown?rows=0"]) {
        let address = path.replace("{number}", "1").replace("{id}", "1").replace("{event}", "1");
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            let body = r#"[{"id":"1","x":[1,1]}]"#;
            seen.ask(&app, request(method, &address, "application/json", body)).await;
        }
    }
    let mut again = request("GET", "/app.js", "", Body::empty());
    again.headers_mut().insert("if-none-match", get(&app, "/app.js").await.headers["etag"].clone());
    seen.ask(&app, again).await;
    for status in [200, 304, 404, 405] {
        assert!(seen.0.contains(&status), "no answer was {status}: {:?}", seen.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_every_refusal() {
    let mut seen = Seen::default();
    let limits = HttpConfig { max_body: 1000, request_time: Duration::from_millis(50), ..config() };
    let strict = app(service(), limits);
    seen.post(&strict, "application/json", "nonsense").await;
    seen.post(&strict, "application/json", r#"[{"id":"a","x":[1]}]"#).await;
    seen.post(&strict, "application/json", vec![b' '; 2000]).await;
    seen.post(&strict, "text/plain", "a").await;
    let endless = futures_util::stream::pending::<Result<Bytes, Infallible>>();
    seen.post(&strict, "application/json", Body::from_stream(endless)).await;
    seen.ask(&strict, request("POST", "/api/map/revert", "application/json", "")).await;
    for foreign in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let mut from = request("GET", "/api/live", "", Body::empty());
        from.headers_mut().insert(foreign.0, foreign.1.parse().expect("a value"));
        seen.ask(&strict, from).await;
    }
    let guarded = app(service(), HttpConfig { tokens: Tokens::new(TOKEN).ok(), ..config() });
    seen.get(&guarded, "/api/live").await;
    seen.get(&guarded, &format!("/?token={TOKEN}")).await;
    let (service, stopped) = plain();
    service.stop().await;
    seen.post(&stopped, "application/json", r#"[{"id":"a","x":[1,2]}]"#).await;
    seen.get(&stopped, "/healthz").await;
    let expected = [200, 400, 401, 403, 408, 409, 413, 415, 422, 503];
    assert_eq!(seen.0.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_is_of_no_map() {
    let tokens = Tokens::new(&format!("read {TOKEN} oaks")).expect("a token file");
    let shared = HttpConfig { tokens: Some(tokens), ..config() };
    let lion = Lion::new(grid(), &LionOptions::default()).expect("a map to place into");
    let service = Service::start(Arc::new(lion), &Settings::default()).expect("a service");
    let map = (service, HttpConfig { name: "oaks".into(), ..shared.clone() });
    let app = maps_app(vec![map], shared).expect("a name");
    let mut seen = Seen::default();
    for path in
        ["/", "/maps.css", "/api/maps", "/healthz", "/nothing", "/m/oaks", "/m/oaks/healthz", "/m/firs/"]
    {
        seen.get(&app, path).await;
        let mut known = request("GET", path, "", Body::empty());
        known.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().expect("a value"));
        seen.ask(&app, known).await;
    }
    assert_eq!(seen.0.into_iter().collect::<Vec<_>>(), [200, 308, 401, 404]);
}

/// The head of an answer as it came.
fn head(answer: &str) -> (&str, HeaderMap) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {answer:?}"));
    let (status, lines) = head.split_once("\r\n").expect("a status and headers");
    let headers: HeaderMap = lines
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
        .collect();
    let length = headers["content-length"].to_str().expect("text");
    assert_eq!(length, body.len().to_string(), "{answer}");
    serde_json::from_str::<serde_json::Value>(body).expect("it is JSON");
    (status, headers)
}

/// Who is turned away before HTTP is spoken is told by no router.
#[tokio::test(flavor = "multi_thread")]
async fn of_what_the_port_says_itself() {
    const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let certificate = Certificate::new();
    let secure = certificate.port(|_| ()).await;
    let answer = all(secure.send(HEALTH).await).await;
    let (status, headers) = head(&answer);
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    check(&headers, status);
    secure.close().await;

    let port = Port::open(service(), |config| config.connections = 1).await;
    let mut held = port.send(HEALTH).await;
    let mut begin = [0; 15];
    tokio::io::AsyncReadExt::read_exact(&mut held, &mut begin).await.expect("an answer");
    let answer = all(port.send(HEALTH).await).await;
    let (status, headers) = head(&answer);
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
    assert_eq!(headers["retry-after"], "1");
    check(&headers, status);
    drop(held);
    port.close().await;
}

/// What the router sends is what arrives.
#[tokio::test(flavor = "multi_thread")]
async fn of_an_answer_over_a_port() {
    let (_service, app) = plain();
    let answer = call(&app, request("GET", "/healthz", "", Body::empty())).await;
    let port = Port::open(service(), |_| ()).await;
    let text =
        all(port.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await).await;
    for name in answer.headers.keys() {
        let line = format!("\r\n{name}: {}\r\n", answer.header(name.as_str()));
        assert!(text.contains(&line), "{line:?} is not in {text}");
    }
    port.close().await;
}
