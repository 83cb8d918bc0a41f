//! What clusters and selections are.

use super::map::is_described;
use super::{Answer, call, config, get, post, request};
use axum::Router;
use lion_server::{Service, Settings, app};
use lion_tsne::explain::{ExplainOptions, ExplainSummary, explain_selection, map_columns};
use lion_tsne::map::{ShownColumns, ShownValues};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, Rows, ignore};
use serde_json::{Value, json};
use std::sync::Arc;

/// Three clouds of 60 rows each, which differ in their width and in the words of a shown text.
fn clouds() -> Map {
    let wave = |row: usize, by: usize| (row * by % 61) as f32 / 61.0;
    let cloud = |row: usize| (row % 3) as f32;
    let rows: Vec<f32> = (0..180).flat_map(|row| [4.0 * cloud(row) + wave(row, 7), wave(row, 11)]).collect();
    let places = (0..180).flat_map(|row| [50.0 * cloud(row) + 9.0 * wave(row, 13), 9.0 * wave(row, 17)]);
    let rows = Rows { data: Matrix::new(180, 2, rows).unwrap(), ids: None, labels: None };
    let places = Matrix::new(180, 2, places.collect()).unwrap();
    let words = ["the moon and its orbit", "a goal of the team", "the butter in the oven"];
    let text = |row: usize| Some(format!("{} {row}", words[row % 3]));
    let shown = ShownColumns::new(vec![("text".into(), ShownValues::Text((0..180).map(text).collect()))]);
    let map = Fit::default().adopt(rows, places, &mut ignore).unwrap();
    let map = map.with_columns(&["width".to_owned(), "height".to_owned()]).unwrap();
    map.with_shown(shown.unwrap()).unwrap()
}

fn serve() -> (Service, Router) {
    let lion = Lion::new(clouds(), &LionOptions::default()).unwrap();
    let service = Service::start(Arc::new(lion), &Settings::default()).unwrap();
    (service.clone(), app(service, config()))
}

async fn ask(app: &Router, body: &Value) -> Answer {
    call(app, request("POST", "/api/explain", "application/json", body.to_string())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_have_names_that_points_know_them_by() {
    let (_service, app) = serve();
    let answer = get(&app, "/api/explain").await;
    assert_eq!(answer.status, 200);
    is_described(&app, "get", "/api/explain", &answer).await;
    let known = get(&app, "/api/map").await.json();
    let told = answer.json();
    for cluster in known["clusters"].as_array().unwrap() {
        let same = |one: &&Value| one["cluster"] == cluster["name"];
        let explained = told["clusters"].as_array().unwrap().iter().find(same).unwrap();
        assert_eq!((&explained["size"], &explained["named"]), (&cluster["rows"], &json!(true)));
    }
    let names: Vec<&str> =
        told["clusters"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.contains("moon")), "{names:?}");
    let mut again = request("GET", "/api/explain", "", axum::body::Body::empty());
    again.headers_mut().insert("if-none-match", answer.headers["etag"].clone());
    assert_eq!(call(&app, again).await.status, 304);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_what_the_library_says_of_it() {
    let (_service, app) = serve();
    let rows: Vec<u32> = (0..60).map(|k| 3 * k + 2).collect();
    let answer = ask(&app, &json!({ "rows": rows })).await;
    assert_eq!(answer.status, 200);
    is_described(&app, "post", "/api/explain", &answer).await;
    let map = clouds();
    let found =
        explain_selection(&map, &map_columns(&map).unwrap(), &rows, &ExplainOptions::default()).unwrap();
    let wanted = serde_json::to_value(&ExplainSummary::of_selection(&map, &found).clusters[0]).unwrap();
    assert_eq!(answer.json(), wanted);
    assert_eq!(
        (&wanted["columns"][0]["column"], &wanted["keywords"][0]),
        (&json!("width"), &json!("butter"))
    );
    // The same rows by a line around them.
    let around = json!({ "polygon": [[95, -5], [120, -5], [120, 20], [95, 20]] });
    assert_eq!(ask(&app, &around).await.json(), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn live_points_count_in_the_columns_of_the_map() {
    let (_service, app) = serve();
    let points: Vec<Value> =
        (0..40).map(|k| json!({ "id": format!("p{k}"), "x": [30.0 + 0.01 * f64::from(k), 0.5] })).collect();
    assert_eq!(post(&app, json!(points).to_string()).await.status, 200);
    let ids: Vec<String> = (0..40).map(|k| format!("p{k}")).collect();
    let answer = ask(&app, &json!({ "ids": ids })).await;
    is_described(&app, "post", "/api/explain", &answer).await;
    let told = answer.json();
    assert_eq!((&told["size"], &told["centre"], &told["keywords"]), (&json!(40), &Value::Null, &json!([])));
    let width = &told["columns"][0];
    assert_eq!(width["column"], "width");
    assert!((width["inside"].as_f64().unwrap() - 30.195).abs() < 1e-4, "{width}");
    assert!(width["outside"].as_f64().unwrap() < 9.0 && width["effect"].as_f64().unwrap() > 1.0, "{width}");
    let both = ask(&app, &json!({ "ids": ids, "rows": [0, 3, 6] })).await.json();
    assert_eq!((&both["size"], both["typical"].as_array().unwrap().len()), (&json!(43), 3));
    assert!(both["columns"][0]["effect"].as_f64() < width["effect"].as_f64());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_explained_is_refused() {
    let (_service, app) = serve();
    for (body, status, words) in [
        (json!({}), 422, "no row is selected"),
        (json!({ "rows": [999] }), 422, "row 999 is selected, and the map has 180 rows"),
        (json!({ "rows": [-1] }), 422, "the body must have rows"),
        (json!({ "ids": ["nobody"] }), 404, "there is no live point"),
        (json!({ "polygon": [[0, 0], [1, 1]] }), 422, "at least three corners"),
        (json!({ "polygon": [[900, 900], [901, 900], [901, 901]] }), 422, "no row is selected"),
        (json!({ "row": [1] }), 422, "the body must have rows"),
    ] {
        let answer = ask(&app, &body).await;
        let (found, _, detail) = answer.refusal();
        assert!(found == status && detail.contains(words), "{body}: {found} {detail}");
        is_described(&app, "post", "/api/explain", &answer).await;
    }
    assert_eq!(get(&app, "/api/explain?version=7").await.status, 404);
}
