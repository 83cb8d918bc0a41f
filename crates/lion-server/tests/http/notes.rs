//! Titles of clusters and groups, and what people think of alarms.

use super::map::is_described;
use super::{Answer, call, config, get, post, request};
use axum::Router;
use lion_server::{Service, Settings, StoredEvents, app};
use lion_tsne::{Lion, LionOptions};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

async fn ask(app: &Router, method: &str, path: &str, body: Value) -> Answer {
    call(app, request(method, path, "application/json", body.to_string())).await
}

fn at(path: &Path) -> (Service, Router) {
    let lion = Lion::new(super::grid(), &LionOptions::default()).expect("a map to place into");
    let settings = Settings { store: Some(path.into()), ..Settings::default() };
    let service = Service::start(Arc::new(lion), &settings).expect("a service");
    (service.clone(), app(service, config()))
}

/// Sixty outliers in one place, most of them with a label, so that a cluster forms.
async fn gather(app: &Router) {
    for i in 0..60 {
        let label = (i % 6 != 0).then_some("zero");
        let body =
            json!([{ "id": format!("z{i}"), "x": [40.0 + 0.01 * f64::from(i), 40.0], "label": label }]);
        assert_eq!(post(app, body.to_string()).await.status, 200);
    }
}

#[tokio::test]
async fn clusters_and_groups_are_renamed_and_stay_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (service, app) = at(&path);
    post(&app, r#"[{"id":"far","x":[-40,-40],"label":"odd"}]"#).await;
    let group = get(&app, "/api/live").await.json()["groups"][0].clone();
    assert_eq!((&group["title"], &group["labels"]), (&Value::Null, &json!([{ "label": "odd", "count": 1 }])));
    let id = group["id"].as_str().unwrap();

    let renamed =
        ask(&app, "PUT", "/api/clusters/left", json!({ "name": " The left ", "who": "anna" })).await;
    is_described(&app, "put", "/api/clusters/{id}", &renamed).await;
    assert_eq!(renamed.json(), json!({ "id": "left", "title": "The left", "event": 2 }));
    assert_eq!(
        ask(&app, "PUT", &format!("/api/clusters/{id}"), json!({ "name": "Odd ones" })).await.status,
        200
    );
    let event = get(&app, "/api/history?after=1&limit=1").await.json()["events"][0].clone();
    for (name, value) in [("kind", "renamed"), ("cluster", "left"), ("title", "The left"), ("who", "anna")] {
        assert_eq!(event[name], value);
    }
    for (bad, status) in [
        (ask(&app, "PUT", "/api/clusters/nobody", json!({ "name": "x" })).await, 404),
        (ask(&app, "PUT", "/api/clusters/group-77", json!({ "name": "x" })).await, 404),
        (ask(&app, "PUT", "/api/clusters/left", json!({ "name": "x".repeat(300) })).await, 422),
        (ask(&app, "PUT", "/api/clusters/left", json!({ "name": "a\u{7}b" })).await, 422),
        (ask(&app, "PUT", "/api/clusters/left", json!({ "title": "x" })).await, 422),
        (ask(&app, "PUT", "/api/clusters/left", json!({})).await, 422),
        (ask(&app, "PUT", "/api/clusters/left", json!(["x", null])).await, 422),
        (ask(&app, "PUT", "/api/clusters/left", json!({ "name": "x", "kind": "group" })).await, 404),
        (
            ask(&app, "PUT", &format!("/api/clusters/{id}"), json!({ "name": "x", "kind": "cluster" })).await,
            404,
        ),
        (call(&app, request("PUT", "/api/clusters/left", "application/json", "")).await, 400),
    ] {
        assert_eq!(bad.refusal().0, status);
    }
    service.stop().await;
    drop(app);

    let (service, app) = at(&path);
    let titles = |map: &Value| {
        map["clusters"].as_array().unwrap().iter().map(|c| c["title"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&get(&app, "/api/map").await.json()), [json!("The left"), Value::Null]);
    assert_eq!(get(&app, "/api/live").await.json()["groups"][0]["title"], "Odd ones");
    assert_eq!(
        ask(&app, "PUT", "/api/clusters/left", json!({ "name": null })).await.json()["title"],
        Value::Null
    );
    assert_eq!(titles(&get(&app, "/api/map").await.json()), [Value::Null, Value::Null]);
    service.stop().await;
    let kinds: Vec<String> =
        StoredEvents::open(&path).unwrap().events().map(|event| event.unwrap().kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "renamed").count(), 3);
}

#[tokio::test]
async fn alarms_are_acknowledged_and_dismissed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (service, app) = at(&path);
    gather(&app).await;
    let notices = get(&app, "/api/notices").await;
    is_described(&app, "get", "/api/notices", &notices).await;
    let notices = notices.json()["notices"].clone();
    let forming =
        notices.as_array().unwrap().iter().find(|notice| notice["kind"] == "forming").expect("it forms");
    assert_eq!((&forming["state"], &forming["ended"]), (&json!("open"), &Value::Null));
    let id = forming["id"].as_u64().unwrap();
    let told = get(&app, &format!("/api/history?after={}&limit=1", id - 1)).await.json()["events"][0].clone();
    assert_eq!((&told["kind"], &told["labels"][0]["label"]), (&json!("forming"), &json!("zero")));

    let body = json!({ "state": "acknowledged", "who": "anna", "note": "known" });
    let noted = ask(&app, "POST", &format!("/api/notices/{id}"), body).await;
    is_described(&app, "post", "/api/notices/{id}", &noted).await;
    let noted = noted.json();
    assert_eq!(
        (&noted["state"], &noted["who"], &noted["note"]),
        (&json!("acknowledged"), &json!("anna"), &json!("known"))
    );
    assert!(noted["at"].as_f64().unwrap() > 1e9);
    for (path, body, status) in [
        ("/api/notices/1", json!({ "state": "open" }), 404),
        ("/api/notices/x", json!({ "state": "open" }), 400),
        ("/api/notices/1", json!({ "state": "ignored" }), 422),
    ] {
        assert_eq!(ask(&app, "POST", path, body).await.refusal().0, status, "{path}");
    }
    service.stop().await;
    drop(app);

    // It is remembered, and ends with the version of the map that takes the cluster in; its title goes over.
    let (service, app) = at(&path);
    let group = forming["group"].as_u64().unwrap();
    let notice = async |app: &Router| {
        let notices = get(app, "/api/notices").await.json()["notices"].clone();
        notices
            .as_array()
            .unwrap()
            .iter()
            .find(|notice| notice["id"] == id)
            .expect("it is remembered")
            .clone()
    };
    assert_eq!(notice(&app).await["state"], "acknowledged");
    ask(&app, "PUT", &format!("/api/clusters/group-{group}"), json!({ "name": "Zeros" })).await;
    assert_eq!(ask(&app, "POST", "/api/map/update", json!({ "groups": [group] })).await.status, 202);
    let done = super::versions::ended(&app).await;
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(notice(&app).await["ended"], done["event"]);
    let clusters = get(&app, "/api/map").await.json()["clusters"].clone();
    let born =
        clusters.as_array().unwrap().iter().find(|c| c["name"] == "zero").expect("a cluster of its label");
    assert_eq!((&born["title"], born["rows"].as_u64().unwrap() >= 50), (&json!("Zeros"), true));
    service.stop().await;
}
