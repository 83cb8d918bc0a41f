//! `lion serve --update-when`: a real service that updates its map by itself.

use crate::serve::TestServer;
use crate::stream::{folder_with_map, put};
use crate::tools::LONG;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Points like the map's rows, in one request: none comes after the time of an update.
fn usual(server: &TestServer, count: u16) {
    let point = |i: u16| put(&format!("usual-{i}"), [35.0 + 0.1 * f32::from(i), 36.0, 34.0, 35.0]);
    let points: Vec<String> = (0..count).map(|i| point(i).trim_end().to_owned()).collect();
    assert_eq!(server.call("POST", "/api/points", &format!("[{}]", points.join(","))).0, 200);
}

/// Waits until the map is in another version than the first; gives the event that told of it.
fn updated(server: &TestServer) -> Value {
    let begun = Instant::now();
    while server.json("/api/map")["version"] == 1 {
        assert!(begun.elapsed() < LONG, "{}", server.json("/api/map/update"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let events = server.json("/api/history?after=0&limit=10000")["events"].take();
    let told = events.as_array().unwrap().iter().filter(|event| event["kind"] == "map-updated");
    let told: Vec<&Value> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    told[0].clone()
}

/// Nothing more is updated while nothing more comes.
fn stays(server: &TestServer) {
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(server.json("/api/map/versions")["switches"].as_array().unwrap().len(), 1);
}

#[test]
fn a_forming_cluster_is_taken_in_without_being_asked() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db --update-when forming");
    usual(&server, 12);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.json("/api/map/update"), json!({ "state": "none" }), "nothing forms yet");
    for i in 0..20 {
        let step = 0.1 * i as f32;
        assert_eq!(server.call("POST", "/api/points", &put(&format!("far-{i}"), [900.0 + step; 4])).0, 200);
    }
    let told = updated(&server);
    assert_eq!(told["who"], "--update-when");
    assert_eq!(told["groups"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["clusters"]["born"].as_array().unwrap().len(), 1, "{told}");
    let (map, live) = (server.json("/api/map"), server.json("/api/live"));
    assert_eq!((map["version"].as_u64(), live["points"]["id"].as_array().unwrap().len()), (Some(2), 32));
    // Only the outliers were taken in: more of them may have come while the map was made.
    let rows = map["rows"].as_u64().unwrap();
    assert!((130..=140).contains(&rows), "{rows} rows");
    stays(&server);
}

/// Who goes back does not want what was taken in; what forms later is another matter.
#[test]
fn what_somebody_let_out_again_stays_out() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db --update-when forming");
    usual(&server, 12);
    let far = |name: &str, at: f32| {
        for i in 0..20 {
            let row = [at + 0.1 * i as f32; 4];
            assert_eq!(server.call("POST", "/api/points", &put(&format!("{name}-{i}"), row)).0, 200);
        }
    };
    far("far", 900.0);
    updated(&server);
    assert_eq!(server.call("POST", "/api/map/revert", "{}").0, 202);
    std::thread::sleep(Duration::from_millis(3500));
    let switches = || server.json("/api/map/versions")["switches"].as_array().unwrap().len();
    assert_eq!((switches(), &server.json("/api/map")["version"]), (2, &json!(1)));
    assert_eq!(server.json("/api/health")["forming"].as_array().unwrap().len(), 1, "it is told of");
    far("farther", -5000.0);
    let begun = Instant::now();
    while switches() < 3 {
        assert!(begun.elapsed() < LONG, "{}", server.json("/api/map/update"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let rows = server.json("/api/map")["rows"].as_u64().unwrap();
    assert!((130..=140).contains(&rows), "{rows} rows: those of the later cluster alone");
}

#[test]
fn all_points_are_taken_in_from_time_to_time() {
    let folder = folder_with_map();
    let server =
        TestServer::start_with(&folder, "serve trees.lion --store s.db", &["--update-when", "every 3s"]);
    usual(&server, 12);
    assert_eq!(server.json("/api/map")["version"], 1, "it is not time yet");
    let told = updated(&server);
    assert_eq!((&told["who"], &told["groups"]), (&json!("--update-when"), &Value::Null));
    assert_eq!(server.json("/api/map")["rows"], 132);
    stays(&server);
    // What comes later is taken in the next time.
    assert_eq!(server.call("POST", "/api/points", &put("later", [36.5; 4])).0, 200);
    let begun = Instant::now();
    while server.json("/api/map")["rows"] != 133 {
        assert!(begun.elapsed() < LONG, "{}", server.json("/api/map/update"));
        std::thread::sleep(Duration::from_millis(50));
    }
    // A service that is started again does not begin to count anew.
    let (last, versions) = (server.json("/api/live")["last"].clone(), server.json("/api/map/versions"));
    server.kill();
    let server =
        TestServer::start_with(&folder, "serve trees.lion --store s.db", &["--update-when", "every 1h"]);
    stays_as(&server, &last, &versions);
}

fn stays_as(server: &TestServer, last: &Value, versions: &Value) {
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!((&server.json("/api/live")["last"], &server.json("/api/map/versions")), (last, versions));
}

#[test]
fn a_stale_map_is_updated() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db --update-when stale");
    usual(&server, 12);
    // Each far from the map and from all others: nothing forms.
    for i in 0..60 {
        let row = [0, 1, 2, 3].map(|d| if i % 4 == d { 900.0 + 400.0 * i as f32 } else { 35.0 });
        assert_eq!(server.call("POST", "/api/points", &put(&format!("odd-{i}"), row)).0, 200);
    }
    let told = updated(&server);
    assert_eq!((&told["who"], &told["groups"]), (&json!("--update-when"), &Value::Null));
    assert!(server.json("/api/map")["rows"].as_u64().unwrap() > 132);
}
