//! Any request is answered, or refused with a status and a sentence: never a panic, never an error of the service, and nothing but
//! a refusal for who shows no token.
//!
//! Parser: lion-server/src/http.rs, lion-server/src/http/guard.rs, lion-server/src/http/map.rs, lion-server/src/http/live.rs, lion-server/src/http/events.rs, lion-server/src/http/compare.rs, lion-server/src/http/explain.rs, lion-server/src/http/shown.rs, lion-server/src/http/notes.rs, lion-server/src/http/intake.rs

#![no_main]

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use lion_fuzz::maps::{SQUARES, gathering};
use lion_server::{HttpConfig, Retain, Router, Service, Settings, Tokens, Work, app};
use lion_tsne::live::{Arrival, Change};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

/// What one must show to call the second of the two.
const TOKEN: &str = "0123456789abcdef";

struct Served {
    runtime: Runtime,
    open: Router,
    guarded: Router,
}

/// A service with points and groups: once for everybody and once with a token.
static SERVED: LazyLock<Served> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let settings = Settings { retain: Some(Retain::Events(1000)), ..Settings::default() };
    let service = Service::start(Arc::clone(&SQUARES), &settings).expect("a service");
    let arrival = |(id, row)| Change::Upsert(Arrival { id, row, label: None, t: None });
    let arrivals = gathering().1.into_iter().map(arrival).collect();
    runtime.block_on(service.submit(Work::Changes(arrivals))).expect("rows of the map");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 7878));
    let open = app(service.clone(), HttpConfig::new("squares", address));
    let tokens = Some(Tokens::new(TOKEN).expect("a token"));
    let guarded = app(service, HttpConfig { tokens, ..HttpConfig::new("squares", address) });
    Served { runtime, open, guarded }
});

fuzz_target!(|bytes: &[u8]| {
    let (Some(first), Some(second)) = (request(bytes), request(bytes)) else { return };
    let Served { runtime, open, guarded } = &*SERVED;
    let is_open_to_all = first.uri().path() == "/healthz";
    runtime.block_on(async {
        answer(open, first).await;
        let status = answer(guarded, second).await;
        let refused =
            [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        let knows_token = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(refused || is_open_to_all || knows_token, "{status} without a token");
    });
});

/// A method and an address, a header a line, an empty line, the body. None where a server would have refused it before, or where it
/// would make the service another one for the inputs that follow.
fn request(bytes: &[u8]) -> Option<Request<Body>> {
    let end = bytes.windows(2).position(|window| window == b"\n\n");
    let (head, body) = end.map_or((bytes, &b""[..]), |at| (&bytes[..at], &bytes[at + 2..]));
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.next()?;
    let (method, address) = first.split_at(first.iter().position(|&byte| byte == b' ')?);
    let (method, uri) = (Method::from_bytes(method).ok()?, Uri::try_from(&address[1..]).ok()?);
    let changes = ["/api/points", "/api/map"].iter().any(|path| uri.path().starts_with(path));
    if changes && (method == Method::POST || method == Method::PUT || method == Method::DELETE) {
        return None;
    }
    let mut request = Request::new(Body::from(body.to_vec()));
    (*request.method_mut(), *request.uri_mut()) = (method, uri);
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    Some(request)
}

/// The status of the answer, which is whole and says what is wrong if something is.
async fn answer(app: &Router, request: Request<Body>) -> StatusCode {
    let has_body = request.method() != Method::HEAD;
    let (parts, mut body) = app.clone().oneshot(request).await.expect("an answer").into_parts();
    assert!(!parts.status.is_server_error(), "{}", parts.status);
    assert!(parts.headers.contains_key("content-security-policy"));
    if parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream") {
        // Whoever listens is told of what comes, without end.
        let _ = body.frame().await;
        return parts.status;
    }
    let body = body.collect().await.expect("a whole body").to_bytes();
    if parts.status.is_client_error() && has_body {
        let refusal: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert!(
            refusal["error"].is_string() && refusal["detail"].as_str().is_some_and(|said| !said.is_empty())
        );
    }
    parts.status
}
