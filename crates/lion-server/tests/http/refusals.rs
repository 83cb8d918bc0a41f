//! What is refused, with which status and which sentence.

use crate::{Answer, app, call, config, get, plain, post, request, service};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use lion_server::{Hosts, Tokens};
use lion_server::{HttpConfig, Settings};
use std::sync::Arc;

fn assert_refused(answer: &Answer, status: u16, word: &str, parts: &[&str]) {
    let (found, error, detail) = answer.refusal();
    assert_eq!((found, error.as_str()), (status, word), "{detail}");
    for part in parts {
        assert!(detail.contains(part), "{part:?} is not in {detail:?}");
    }
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_no_rows_of_this_map() {
    let (service, app) = plain();
    let long = "i".repeat(257);
    let longest = format!(r#"{{"id":"{}","x":[1,2]}}"#, "i".repeat(1 << 20));
    let cases: &[(&str, u16, &[&str])] = &[
        (r#"[{"id":"a","x":[1,2]},{"id":"b","x":[1]}]"#, 422, &["row 1", "1 values", "have 2"]),
        (r#"[{"id":"a","x":[1,2,3,4]}]"#, 422, &["row 0", "4 values"]),
        (r#"[{"id":"a","x":[1,2]},{"id":"b","x":[1,null]}]"#, 422, &["row 1, column height", "null"]),
        (r#"[{"id":"a","x":[NaN,2]}]"#, 422, &["row 0, column width", "NaN"]),
        (r#"[{"id":"a","x":[1, -Infinity]}]"#, 422, &["row 0, column height", "-Infinity"]),
        (r#"[{"id":"a","x":[1e39,2]}]"#, 422, &["row 0, column width", "1e39", "32-bit"]),
        (r#"[{"id":"a","x":[1e999,2]}]"#, 422, &["row 0, column width", "32-bit"]),
        (r#"[{"id":"a","x":[1e30,2]}]"#, 422, &["row 0, column width", "1e15"]),
        (r#"[{"id":"a","x":["1",2]}]"#, 422, &["row 0, column width", "\"1\"", "not a number"]),
        (r#"[{"id":"a","x":[[1],2]}]"#, 422, &["row 0, column width", "sequence"]),
        (r#"[{"id":"a","x":"no"}]"#, 422, &["row 0, field x", "list of numbers"]),
        (r#"[{"id":"a"}]"#, 422, &["row 0", "no x"]),
        (r#"[{"x":[1,2]}]"#, 422, &["row 0", "no id"]),
        (r#"[{"id":"","x":[1,2]}]"#, 422, &["row 0, field id", "empty"]),
        (r#"[{"id":"a\u0007","x":[1,2]}]"#, 422, &["row 0, field id", "control"]),
        (r#"[{"id":null,"x":[1,2]}]"#, 422, &["row 0, field id", "null"]),
        (r#"[{"id":"a","x":[1,2],"t":"now"}]"#, 422, &["row 0, field t"]),
        (r#"[{"id":"a","x":[1,2],"t":NaN}]"#, 422, &["row 0, field t", "NaN"]),
        (r#"[{"id":"a","x":[1,2],"t":1e300}]"#, 422, &["row 0"]),
        (r#"[{"id":"a","x":[1,2],"colour":1}]"#, 422, &["row 0", "\"colour\""]),
        (r#"[{"id":"a","id":"b","x":[1,2]}]"#, 422, &["row 0, field id", "twice"]),
        (r#"[{"delete":"a","x":[1,2]}]"#, 422, &["row 0", "delete"]),
        (r#"[1]"#, 422, &["row 0"]),
        (r#"[{"id":"a","x":[1,2]}"#, 400, &["row 1"]),
        (r#"[{"id":"a","x":[1,2]}] x"#, 400, &[]),
        (r#"[{"id":"a" "x":[1,2]}]"#, 400, &["row 0"]),
        ("", 400, &["JSON array"]),
        ("nonsense", 400, &["JSON array"]),
        ("\u{0}\u{1}", 400, &["JSON array"]),
    ];
    for (body, status, parts) in cases {
        let word = match status {
            400 => "bad-request",
            _ => "unprocessable",
        };
        assert_refused(&post(&app, *body).await, *status, word, parts);
    }
    let too_long = post(&app, format!(r#"{{"id":"{long}","x":[1,2]}}"#)).await;
    assert_refused(&too_long, 422, "unprocessable", &["row 0, field id", "257 bytes", "256"]);
    assert_refused(&post(&app, longest).await, 422, "unprocessable", &["1048576 bytes"]);
    let deep = format!("[{}", r#"{"id":"a","x":"#.to_owned() + &"[".repeat(100_000));
    assert_eq!(post(&app, deep).await.refusal().0, 422);
    // Nothing of a refused body was done.
    assert_eq!((service.feed().last(), service.view().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_named() {
    let (_service, app) = plain();
    let body = "{\"id\":\"a\",\"x\":[1,2]}\n\n{\"id\":\"b\",\"x\":[1,}";
    let answer = call(&app, request("POST", "/api/points", "application/x-ndjson", body)).await;
    assert_refused(&answer, 400, "bad-request", &["row 1 (line 3), column height"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_hold_each_point_once() {
    let (_service, app) = plain();
    let put =
        async |body: &'static str| call(&app, request("PUT", "/api/points", "application/json", body)).await;
    let twice = put(r#"[{"id":"a","x":[1,2]},{"id":"b","x":[1,2]},{"id":"a","x":[3,4]}]"#).await;
    assert_refused(&twice, 409, "conflict", &["rows 0 and 2", "\"a\""]);
    assert_refused(&put(r#"[{"delete":"a"}]"#).await, 422, "unprocessable", &["row 0", "snapshot"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_types_and_encodings() {
    let (_service, app) = plain();
    for kind in ["", "text/plain", "application/xml", "multipart/form-data; boundary=x"] {
        let answer = call(&app, request("POST", "/api/points", kind, "[]")).await;
        assert_refused(&answer, 415, "unsupported-media-type", &["application/x-ndjson"]);
    }
    let mut zipped = request("POST", "/api/points", "application/json", "[]");
    zipped.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    assert_refused(&call(&app, zipped).await, 415, "unsupported-media-type", &["gzip"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_there() {
    let (_service, app) = plain();
    assert_refused(&get(&app, "/nothing").await, 404, "not-found", &["/openapi.json"]);
    assert_refused(&get(&app, "/api/points/nobody").await, 404, "not-found", &["\"nobody\""]);
    assert_refused(&get(&app, "/api/map/rows/100").await, 404, "not-found", &["100 rows"]);
    assert_refused(&get(&app, "/api/map/rows/-1").await, 400, "bad-request", &["whole number"]);
    assert_refused(&get(&app, "/api/points/%FF").await, 400, "bad-request", &["UTF-8"]);
    assert_refused(&get(&app, "/api/points/a%07").await, 400, "bad-request", &["control"]);
    assert_refused(&get(&app, "/api/history?after=x").await, 400, "bad-request", &["after=N"]);
    assert_refused(&get(&app, "/api/history?after=1&before=2").await, 400, "bad-request", &["not for both"]);
    let removed = call(&app, request("DELETE", "/api/points/nobody", "", Body::empty())).await;
    assert_refused(&removed, 404, "not-found", &["\"nobody\""]);
    let patched = call(&app, request("PATCH", "/api/points", "", Body::empty())).await;
    assert_refused(&patched, 405, "method-not-allowed", &["PATCH"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_at_once() {
    let app = app(service(), HttpConfig { max_body: 2000, max_rows: 3, ..config() });
    let row = r#"{"id":"a","x":[1,2]}"#;
    let many = post(&app, format!("[{}]", [row; 4].join(","))).await;
    assert_refused(&many, 413, "too-large", &["more than 3 rows"]);
    let lines = call(&app, request("POST", "/api/points", "application/x-ndjson", [row; 4].join("\n"))).await;
    assert_refused(&lines, 413, "too-large", &["more than 3 rows"]);
    let mut large = request("POST", "/api/points", "application/json", vec![b' '; 2001]);
    assert_refused(&call(&app, large).await, 413, "too-large", &["more than 2000 bytes"]);
    // What says beforehand how long it is, is not even read.
    large = request("POST", "/api/points", "application/json", Body::empty());
    large.headers_mut().insert("content-length", "99999999999".parse().unwrap());
    assert_refused(&call(&app, large).await, 413, "too-large", &["more than 2000 bytes"]);
    assert_eq!(post(&app, format!("[{}]", [row; 3].join(","))).await.status, 200);
}

/// A queue of a few rows is full at once when many callers come together.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_said_to_be_full() {
    let lion = lion_tsne::Lion::new(crate::grid(), &lion_tsne::LionOptions::default()).unwrap();
    let settings = Settings { queue: 2, ..Settings::default() };
    let service = lion_server::Service::start(Arc::new(lion), &settings).unwrap();
    let app = app(service, config());
    let rows: Vec<String> = (0..50).map(|i| format!(r#"{{"id":"{i}","x":[1,2]}}"#)).collect();
    let body = format!("[{}]", rows.join(","));
    let calls = (0..32).map(|_| {
        let (app, body) = (app.clone(), body.clone());
        tokio::spawn(async move { post(&app, body).await })
    });
    let mut answers = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        answers.push(call.await.unwrap());
    }
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty());
    assert_refused(refused[0], 429, "busy", &["try again"]);
    assert_eq!(refused[0].header("retry-after"), "1");
    assert!(answers.iter().all(|answer| answer.status == 429 || answer.status == 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_stopped_says_so() {
    let (service, app) = plain();
    service.stop().await;
    assert_refused(&post(&app, r#"{"id":"a","x":[1,2]}"#).await, 503, "unavailable", &["stopping"]);
    assert_eq!(get(&app, "/healthz").await.status, 503);
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn guarded() -> Router {
    let config = HttpConfig { tokens: Some(Tokens::new(TOKEN).unwrap()), ..config() };
    app(service(), config)
}

async fn with(app: &Router, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    call(app, request.body(Body::from("[]")).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_nothing_is_told() {
    let app = guarded();
    let host = ("host", "localhost:7878");
    let wrong = TOKEN.replace('0', "1");
    for headers in [
        &[host][..],
        &[host, ("authorization", "Bearer wrong")],
        &[host, ("authorization", &format!("Bearer {wrong}"))],
        &[host, ("authorization", &format!("Basic {TOKEN}"))],
        &[host, ("cookie", &format!("lion-7878={wrong}"))],
        &[host, ("cookie", &format!("lion-1={TOKEN}"))],
    ] {
        for (method, path) in [
            ("GET", "/"),
            ("GET", "/app.js"),
            ("GET", "/metrics"),
            ("GET", "/api/live"),
            ("GET", "/api/events"),
            ("POST", "/api/points"),
            ("GET", "/nothing"),
            ("GET", "/openapi.json"),
        ] {
            let answer = with(&app, method, path, headers).await;
            assert_refused(&answer, 401, "unauthorized", &["Authorization: Bearer"]);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    assert_refused(&with(&app, "GET", &format!("/?token={wrong}"), &[host]).await, 401, "unauthorized", &[]);
    // A token in any other address would end up in logs.
    assert_eq!(with(&app, "GET", &format!("/api/live?token={TOKEN}"), &[host]).await.status, 401);
    assert_eq!(with(&app, "GET", "/healthz", &[]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_token_everything_is() {
    let app = guarded();
    let host = ("host", "localhost:7878");
    for scheme in ["Bearer", "bearer"] {
        let bearer = format!("{scheme} {TOKEN}");
        assert_eq!(with(&app, "GET", "/api/live", &[host, ("authorization", &bearer)]).await.status, 200);
    }
    let welcome = with(&app, "GET", &format!("/?token={TOKEN}"), &[host]).await;
    assert_eq!(welcome.status, 200);
    let cookie = welcome.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("Path="),
        "{cookie}"
    );
    assert_eq!(welcome.header("cache-control"), "no-store");
    // A proxy may have put it under a path of its own.
    let page = String::from_utf8_lossy(&welcome.body);
    assert!(page.contains("url=./\"") && page.contains("href=\"./\"") && !page.contains("=/"), "{page}");
    let cookie = format!("other=1; {}", cookie.split(';').next().unwrap());
    for path in ["/", "/app.js", "/api/live"] {
        assert_eq!(with(&app, "GET", path, &[host, ("cookie", &cookie)]).await.status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_names_and_pages_are_kept_out() {
    let (_service, app) = plain();
    let host = ("host", "127.0.0.1:7878");
    let json = ("content-type", "application/json");
    for foreign in ["evil.example", "evil.example:7878", "127.0.0.1.evil.example", "192.168.0.9", ""] {
        for path in ["/", "/api/live", "/metrics", "/nothing"] {
            let answer = with(&app, "GET", path, &[("host", foreign)]).await;
            assert_refused(&answer, 403, "forbidden", &["--allow-host"]);
        }
    }
    assert_eq!(with(&app, "GET", "/api/live", &[]).await.status, 400);
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost:7878",
        "http://127.0.0.1:1",
        "https://127.0.0.1.evil.example",
    ] {
        let answer = with(&app, "POST", "/api/points", &[host, json, ("origin", origin)]).await;
        assert_refused(&answer, 403, "forbidden", &["another site"]);
        assert!(answer.headers.get("access-control-allow-origin").is_none());
    }
    let own = with(&app, "POST", "/api/points", &[host, json, ("origin", "http://127.0.0.1:7878")]).await;
    assert_eq!(own.status, 200);
    assert_eq!(with(&app, "GET", "/api/live", &[host, ("sec-fetch-site", "cross-site")]).await.status, 403);
    assert_eq!(with(&app, "GET", "/", &[host, ("sec-fetch-site", "cross-site")]).await.status, 200);
    // A name that was allowed is one of the service's own.
    let hosts = Hosts::new("127.0.0.1:7878".parse().unwrap()).allow("map.example");
    let named = crate::app(service(), HttpConfig { hosts, ..config() });
    assert_eq!(with(&named, "GET", "/api/live", &[("host", "map.example")]).await.status, 200);
}
