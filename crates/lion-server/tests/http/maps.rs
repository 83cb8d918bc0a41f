//! Several maps in one server, and tokens that allow some of it.

use super::{Answer, call, config, get, grid, service};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use lion_server::{HttpConfig, Service, Settings, Tokens, maps_app};
use lion_tsne::{Lion, LionOptions};
use serde_json::json;
use std::sync::Arc;

const READ: &str = "read-read-read-read";
const WRITE: &str = "write-write-write-write";
const ADMIN: &str = "admin-admin-admin-admin";

/// Two maps; tokens to read both, to write in one, and to do everything in the other.
fn two(tokens: bool) -> Router {
    let text = format!("read {READ}\nwrite {WRITE} oaks\nadmin {ADMIN} firs\n");
    let shared = HttpConfig { tokens: tokens.then(|| Tokens::new(&text).unwrap()), ..config() };
    let map = |name: &str| (service(), HttpConfig { name: name.into(), ..shared.clone() });
    maps_app(vec![map("oaks"), map("firs")], shared.clone()).unwrap()
}

async fn with(app: &Router, method: &str, path: &str, token: &str, body: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request =
        request.header("authorization", format!("Bearer {token}")).header("content-type", "application/json");
    call(app, request.body(Body::from(body.to_owned())).unwrap()).await
}

const POINT: &str = r#"[{"id":"a","x":[1,2]}]"#;

#[tokio::test]
async fn each_map_has_its_own_points_under_its_name() {
    let app = two(false);
    assert_eq!(with(&app, "POST", "/m/oaks/api/points", "", POINT).await.status, 200);
    assert_eq!(get(&app, "/m/oaks/api/map?version=1").await.json()["name"], "oaks");
    for (name, points) in [("oaks", 1), ("firs", 0)] {
        let live = get(&app, &format!("/m/{name}/api/live")).await.json();
        assert_eq!(live["points"]["id"].as_array().unwrap().len(), points, "{name}");
    }
    let maps = get(&app, "/api/maps").await.json()["maps"].clone();
    assert_eq!((&maps[0]["name"], &maps[0]["url"]), (&json!("firs"), &json!("m/firs/")));
    assert_eq!(
        (&maps[1]["points"], &maps[1]["rows"], &maps[1]["version"]),
        (&json!(1), &json!(100), &json!(1))
    );
    let page = get(&app, "/").await;
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(page.contains("<a href=\"m/oaks/\">oaks</a><td>100<td>1<td>0<td>1"), "{page}");
    assert_eq!(get(&app, "/maps.css").await.status, 200);
    assert!(String::from_utf8(get(&app, "/m/firs/").await.body.to_vec()).unwrap().contains("app.js"));
    let moved = get(&app, "/m/firs?token=x").await;
    assert_eq!(
        (moved.status.as_u16(), moved.headers["location"].to_str().unwrap()),
        (308, "./firs/?token=x")
    );
    for nothing in
        ["/m/birches/api/live", "/m/birches/", "/m//", "/api/live", "/m/oaks/nothing", "/m/../api/live"]
    {
        assert_eq!(get(&app, nothing).await.refusal().0, 404, "{nothing}");
    }
    assert_eq!(get(&app, "/healthz").await.status, 200);
    assert_eq!(get(&app, "/m/oaks/healthz").await.status, 200);
    let metrics = String::from_utf8(get(&app, "/m/oaks/metrics").await.body.to_vec()).unwrap();
    assert!(metrics.contains("/api/points"), "requests of a map are counted by their routes: {metrics}");
}

#[tokio::test]
async fn a_token_allows_its_role_in_its_maps() {
    let app = two(true);
    for (token, path, method, status) in [
        ("", "/m/oaks/api/live", "GET", 401),
        ("", "/m/birches/api/live", "GET", 401),
        ("", "/m/birches", "GET", 308),
        ("", "/m/oaks/healthz", "GET", 401),
        ("", "/m/birches/healthz", "GET", 401),
        (READ, "/m/oaks/healthz", "GET", 200),
        // Whose token is for another map does not learn either which maps there are.
        (WRITE, "/m/firs/healthz", "GET", 401),
        (WRITE, "/m/birches/api/live", "GET", 401),
        (READ, "/m/birches/api/live", "GET", 404),
        ("", "/api/maps", "GET", 401),
        ("", "/", "GET", 401),
        (READ, "/m/oaks/api/live", "GET", 200),
        (READ, "/m/firs/api/live", "GET", 200),
        (READ, "/m/oaks/api/points", "POST", 403),
        (WRITE, "/m/oaks/api/points", "POST", 200),
        (WRITE, "/m/oaks/api/map/update", "POST", 403),
        (WRITE, "/m/firs/api/live", "GET", 401),
        (ADMIN, "/m/firs/api/points", "POST", 200),
        (ADMIN, "/m/firs/api/map/revert", "POST", 409),
        (ADMIN, "/m/oaks/api/live", "GET", 401),
    ] {
        let body = if path.ends_with("points") { POINT } else { "" };
        let answer = with(&app, method, path, token, body).await;
        assert_eq!(answer.status.as_u16(), status, "{token} {method} {path}: {:?}", answer.body);
    }
    let names = |answer: Answer| -> Vec<String> {
        answer.json()["maps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|map| map["name"].as_str().unwrap().into())
            .collect()
    };
    assert_eq!(names(with(&app, "GET", "/api/maps", READ, "").await), ["firs", "oaks"]);
    assert_eq!(names(with(&app, "GET", "/api/maps", WRITE, "").await), ["oaks"]);
    let role = with(&app, "GET", "/m/oaks/api/map", WRITE, "").await.json()["role"].clone();
    assert_eq!(role, "write");
    // A token in the address becomes a cookie, for all maps or for one.
    for (path, token) in [("/", READ), ("/m/firs/", ADMIN)] {
        let welcome = with(&app, "GET", &format!("{path}?token={token}"), "", "").await;
        let cookie = welcome.headers["set-cookie"].to_str().unwrap();
        assert_eq!(
            (welcome.status, cookie.contains(token), cookie.contains("Path")),
            (StatusCode::OK, true, false)
        );
    }
    assert_eq!(with(&app, "GET", &format!("/m/oaks/?token={ADMIN}"), "", "").await.status, 401);
}

#[tokio::test]
async fn names_that_are_no_part_of_an_address_are_refused() {
    let map = |name: &str| {
        let lion = Lion::new(grid(), &LionOptions::default()).unwrap();
        let service = Service::start(Arc::new(lion), &Settings::default()).unwrap();
        (service, HttpConfig { name: name.into(), ..config() })
    };
    for bad in ["", "a/b", "..", ".hidden", "a b", "<b>", "é", &"x".repeat(65)] {
        let problem = maps_app(vec![map(bad)], config()).unwrap_err();
        assert!(problem.contains("--map NAME=FILE"), "{bad}: {problem}");
    }
    assert!(maps_app(vec![map("a"), map("a")], config()).unwrap_err().contains("two maps are called a"));
}
