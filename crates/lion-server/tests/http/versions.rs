//! Versions of the map: updates, cancelling, going back, and what is told of it.

use super::map::is_described;
use super::port::LONG;
use super::{Answer, call, config, get, post, request, service};
use axum::Router;
use lion_server::{Retain, Service, Settings, app};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

async fn ask(app: &Router, method: &str, path: &str, body: &str) -> Answer {
    call(app, request(method, path, "application/json", body.to_owned())).await
}

fn fresh() -> (Service, Router) {
    let service = service();
    (service.clone(), app(service, config()))
}

/// Waits until no update is under way; its status then.
pub(super) async fn ended(app: &Router) -> Value {
    let begun = Instant::now();
    loop {
        let status = get(app, "/api/map/update").await.json();
        if status["state"] != "running" {
            return status;
        }
        assert!(begun.elapsed() < LONG, "{status}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Twenty points close to each other and far from the map, and three in it.
pub(super) fn points() -> String {
    let far = (0..20).map(|i| json!({ "id": format!("far-{i}"), "x": [40.0 + 0.1 * f64::from(i % 5), 40.0 + 0.1 * f64::from(i / 5)] }));
    let near = (0..3).map(|i| json!({ "id": format!("near-{i}"), "x": [2.5 + f64::from(i), 3.5] }));
    Value::from(far.chain(near).collect::<Vec<_>>()).to_string()
}

#[tokio::test]
async fn points_are_taken_into_the_map_and_back() {
    let (_service, app) = fresh();
    assert_eq!(get(&app, "/api/map/update").await.json(), json!({ "state": "none" }));
    assert_eq!(ask(&app, "POST", "/api/map/revert", "").await.refusal().0, 409);
    for (body, status) in
        [(r#"{"who": "#, 400), ("[1", 400), ("[]", 422), ("null", 422), (r#"{"who": 1}"#, 422)]
    {
        assert_eq!(ask(&app, "POST", "/api/map/revert", body).await.refusal().0, status, "{body}");
    }
    assert_eq!(ask(&app, "DELETE", "/api/map/update", "").await.refusal().0, 409);
    assert_eq!(ask(&app, "POST", "/api/map/update", "").await.refusal().0, 422, "no points");
    assert_eq!(post(&app, points()).await.status, 200);
    let before = get(&app, "/api/live").await.json();
    let last = before["last"].as_u64().unwrap();

    let begun = ask(&app, "POST", "/api/map/update", r#"{"who":"anna"}"#).await;
    assert_eq!((begun.status.as_u16(), &begun.json()["state"]), (202, &json!("running")));
    is_described(&app, "post", "/api/map/update", &begun).await;
    let done = ended(&app).await;
    is_described(&app, "get", "/api/map/update", &get(&app, "/api/map/update").await).await;
    assert_eq!(
        (&done["state"], &done["version"], &done["event"]),
        (&json!("done"), &json!(2), &json!(last + 1))
    );

    let map = get(&app, "/api/map").await.json();
    assert_eq!((&map["version"], &map["parent"], &map["rows"]), (&json!(2), &json!(1), &json!(123)));
    assert_eq!(map["revert_to"], 1);
    let live = get(&app, "/api/live").await.json();
    assert_eq!((&live["version"], &live["last"]), (&json!(2), &json!(last + 1)));
    for column in ["id", "label", "t", "first", "last"] {
        assert_eq!(live["points"][column], before["points"][column], "{column}");
    }
    assert!(live["points"]["verdict"].as_array().unwrap().iter().all(|verdict| verdict == "exact"));
    assert_eq!(live["groups"], json!([]));

    let history = get(&app, &format!("/api/history?after={last}")).await.json();
    let told = &history["events"][0];
    assert_eq!(
        (&told["kind"], &told["who"], &told["from"]),
        (&json!("map-updated"), &json!("anna"), &json!(1))
    );
    assert_eq!((&told["added"], &told["taken_in"], &told["outliers"]), (&json!(23), &json!(23), &json!(0)));
    assert_eq!(told["checksum"], map["checksum"]);
    assert_eq!(get(&app, "/api/map?version=1").await.json()["checksum"], told["parent"]);
    let switch = get(&app, &format!("/api/map/switches/{}", last + 1)).await;
    is_described(&app, "get", "/api/map/switches/{event}", &switch).await;
    assert_eq!(switch.json()["points"], before["points"]);
    assert_eq!(get(&app, "/api/map/switches/1").await.refusal().0, 404);
    assert_eq!(get(&app, "/api/map?version=7").await.refusal().0, 404);
    assert_eq!(get(&app, "/api/points/far-3").await.json()["point"]["verdict"], "exact");
    assert_eq!(ask(&app, "POST", "/api/map/update", "").await.refusal().0, 422, "all are rows already");

    assert_eq!(ask(&app, "POST", "/api/map/revert", "").await.status, 202);
    let done = ended(&app).await;
    assert_eq!(
        (&done["state"], &done["kind"], &done["version"]),
        (&json!("done"), &json!("revert"), &json!(1))
    );
    let back = get(&app, "/api/live").await.json();
    let events = get(&app, &format!("/api/history?after={}", last + 1)).await.json()["events"].clone();
    let kinds: Vec<&str> =
        events.as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["map-updated", "forming"], "the group forms again");
    assert_eq!((&back["version"], &back["last"]), (&json!(1), &json!(last + 3)));
    for column in ["verdict", "cluster", "score", "x", "y"] {
        assert_eq!(back["points"][column], before["points"][column], "{column}");
    }
    let versions = get(&app, "/api/map/versions").await.json();
    assert_eq!(versions["version"], 1);
    assert!(versions["versions"].as_array().unwrap().iter().all(|version| version["kept"] == true));
    assert_eq!(get(&app, "/api/map").await.json()["revert_to"], Value::Null);
    assert_eq!(versions["switches"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn only_the_groups_that_are_named_are_taken_in() {
    let (_service, app) = fresh();
    post(&app, points()).await;
    post(&app, r#"[{"id":"lone","x":[-50,-50]}]"#).await;
    let live = get(&app, "/api/live").await.json();
    let at =
        |id: &str| live["points"]["id"].as_array().unwrap().iter().position(|known| known == id).unwrap();
    let groups = &live["points"]["group"];
    let (far, lone) = (groups[at("far-0")].as_u64().unwrap(), groups[at("lone")].as_u64().unwrap());
    assert_eq!(ask(&app, "POST", "/api/map/update", r#"{"groups":[999]}"#).await.refusal().0, 404);
    assert_eq!(ask(&app, "POST", "/api/map/update", r#"{"group":[1]}"#).await.refusal().0, 422);
    assert_eq!(ask(&app, "POST", "/api/map/update", "{").await.refusal().0, 400);
    let begun = ask(&app, "POST", "/api/map/update", &json!({ "groups": [far] }).to_string()).await;
    assert_eq!(begun.status, 202, "{:?}", begun.body);
    assert_eq!(ended(&app).await["state"], "done");
    let live = get(&app, "/api/live").await.json();
    let at =
        |id: &str| live["points"]["id"].as_array().unwrap().iter().position(|known| known == id).unwrap();
    let verdict = |id: &str| live["points"]["verdict"][at(id)].clone();
    assert_eq!(
        (verdict("far-0"), verdict("lone"), verdict("near-1")),
        (json!("exact"), json!("outlier"), json!("interpolated"))
    );
    assert_eq!(live["points"]["group"][at("lone")], lone, "a group that stays keeps its number");
    assert_eq!(get(&app, "/api/map").await.json()["rows"], 120);
}

#[tokio::test]
async fn an_update_is_cancelled_and_points_go_on_meanwhile() {
    let (service, app) = fresh();
    // So many that it takes a while.
    let many: Vec<Value> = (0..2000)
        .map(|i| json!({ "id": format!("p{i}"), "x": [f64::from(i % 97) / 10.0, f64::from(i % 89) / 9.0] }))
        .collect();
    assert_eq!(post(&app, Value::from(many).to_string()).await.status, 200);
    assert_eq!(ask(&app, "POST", "/api/map/update", "{}").await.status, 202);
    assert_eq!(ask(&app, "POST", "/api/map/update", "{}").await.refusal().0, 409);
    assert_eq!(ask(&app, "POST", "/api/map/revert", "{}").await.refusal().0, 409);
    assert_eq!(post(&app, r#"[{"id":"meanwhile","x":[1,1]}]"#).await.status, 200);
    assert_eq!(get(&app, "/api/map").await.json()["updating"], true);
    assert_eq!(ask(&app, "DELETE", "/api/map/update", "").await.status, 200);
    let status = ended(&app).await;
    assert_eq!(status["state"], "cancelled", "{status}");
    assert_eq!((service.view().map().number(), service.view().len()), (1, 2001));
    // And again, to its end, with points that come and go meanwhile.
    assert_eq!(ask(&app, "POST", "/api/map/update", "{}").await.status, 202);
    let mut came = 0;
    while get(&app, "/api/map/update").await.json()["state"] == "running" {
        let body = json!([{ "id": format!("new-{came}"), "x": [3.3, 4.4] }, { "id": "p7", "x": [60.0, f64::from(came)] }]);
        assert_eq!(post(&app, body.to_string()).await.status, 200);
        came += 1;
        // Leaves the update some of a slow machine.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let view = service.view();
    assert_eq!((view.map().number(), view.len()), (2, 2001 + came as usize));
    let last = view.points().find(|point| point.id == "p7").unwrap();
    assert_eq!(
        last.placement.verdict.as_str(),
        "outlier",
        "it is where it was sent last, not where it was taken in"
    );
}

/// A service of rows that have labels, at a store if one is given.
fn service_of(rows: Rows, pca: PcaChoice, settings: &Settings) -> (Service, Router) {
    let fit = Fit { pca, iterations: Some(50), perplexity: Some(10.0), ..Fit::default() };
    let map = fit.run(rows, &mut ignore).expect("a map");
    let lion = Lion::new(map, &LionOptions::default()).expect("a map to place into");
    let service = Service::start(Arc::new(lion), settings).expect("a service");
    (service.clone(), app(service, config()))
}

/// Numbers in [-1, 1) that look random.
fn noise(k: u32) -> f32 {
    (k.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

#[tokio::test]
async fn a_new_cluster_gets_a_name_that_no_other_has() {
    let data = (0..200).flat_map(|i| [noise(2 * i), noise(2 * i + 1)]).collect();
    // Whatever number the new cluster has, there is one of this name.
    let labels = (0..200).map(|i| format!("group {}", i % 40)).collect();
    let rows = Rows { data: Matrix::new(200, 2, data).unwrap(), ids: None, labels: Some(labels) };
    let (_service, app) = service_of(rows, PcaChoice::None, &Settings::default());
    for i in 0..40 {
        let body = json!([{ "id": format!("far-{i}"), "x": [40.0 + 0.01 * f64::from(i), 40.0] }]);
        assert_eq!(post(&app, body.to_string()).await.status, 200);
    }
    assert_eq!(ask(&app, "POST", "/api/map/update", "").await.status, 202);
    assert_eq!(ended(&app).await["state"], "done");
    let map = get(&app, "/api/map").await.json();
    let names: Vec<&str> =
        map["clusters"].as_array().unwrap().iter().map(|cluster| cluster["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 41);
    assert_eq!(names.iter().filter(|name| name.ends_with(" (2)")).count(), 1, "{names:?}");
}

#[tokio::test]
async fn an_update_that_loses_the_calibration_says_so() {
    let data = (0..300).flat_map(|i| {
        let [a, b] = [noise(2 * i), noise(2 * i + 1)];
        [a, b, a + b + 0.3 * noise(7 * i), a - b, 0.3 * noise(11 * i)]
    });
    let rows = Rows { data: Matrix::new(300, 5, data.collect()).unwrap(), ids: None, labels: None };
    let (_service, app) = service_of(rows, PcaChoice::Components(2), &Settings::default());
    assert!(get(&app, "/api/map").await.json()["promised"].is_f64());
    let off =
        (0..60).map(|i| json!({ "id": format!("off-{i}"), "x": [0, 0, 0, 0, 9.0 + f64::from(noise(i))] }));
    assert_eq!(post(&app, Value::from(off.collect::<Vec<_>>()).to_string()).await.status, 200);
    assert_eq!(ask(&app, "POST", "/api/map/update", "").await.status, 202);
    let done = ended(&app).await;
    let told = get(&app, &format!("/api/history?after={}", done["event"].as_u64().unwrap() - 1)).await.json();
    assert_eq!(get(&app, "/api/map").await.json()["promised"], Value::Null);
    assert_eq!(told["events"][0]["calibration_lost"], true, "{told}");
}

#[tokio::test]
async fn versions_that_are_not_kept_are_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    let data = (0..100).flat_map(|i| [noise(2 * i), noise(2 * i + 1)]).collect();
    let rows = Rows { data: Matrix::new(100, 2, data).unwrap(), ids: None, labels: None };
    let store = Some(folder.path().join("live.db"));
    let settings = Settings { store, retain: Some(Retain::Events(10)), ..Settings::default() };
    let (_service, app) = service_of(rows, PcaChoice::None, &settings);
    for round in 0..3 {
        let arrivals =
            (0..300).map(|i| json!({ "id": format!("p{i}"), "x": [noise(900 * round + i), noise(i + 17)] }));
        assert_eq!(post(&app, Value::from(arrivals.collect::<Vec<_>>()).to_string()).await.status, 200);
        assert_eq!(ask(&app, "POST", "/api/map/update", "").await.status, 202);
        assert_eq!(ended(&app).await["state"], "done");
    }
    let kept = |versions: &Value| {
        let all = versions["versions"].as_array().unwrap().iter();
        all.map(|version| version["kept"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    let versions = get(&app, "/api/map/versions").await;
    is_described(&app, "get", "/api/map/versions", &versions).await;
    assert_eq!(kept(&versions.json()), [false, false, true, true]);
    assert_eq!(get(&app, "/api/map?version=2").await.refusal().0, 404);
    assert_eq!(ask(&app, "POST", "/api/map/revert", "").await.status, 202);
    assert_eq!(ended(&app).await["version"], 3);
    let (status, _, sentence) = ask(&app, "POST", "/api/map/revert", "").await.refusal();
    assert_eq!(
        (status, sentence.contains("version 2 of the map is not kept any more")),
        (409, true),
        "{sentence}"
    );
    assert_eq!(get(&app, "/api/map").await.json()["revert_to"], Value::Null);
}
