//! `kill -9` while points come in: nothing that was acknowledged is lost, nothing is there twice, and the history told
//! again is the same, bit by bit.

use crate::serve::TestServer;
use crate::stream::folder_with_map;
use crate::tools::Finished;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// How often it is killed, and how many send meanwhile.
const KILLS: u64 = 10;
const SENDERS: u64 = 3;

/// The row of version `version` of a point: known without remembering it.
fn row(id: &str, version: u64) -> [f32; 4] {
    let mut state = id.bytes().fold(version.wrapping_mul(0x9e37_79b9_7f4a_7c15), |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
    });
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f32 % 256.0
    };
    // Some far from everything, most within the map's range.
    let far = if next() < 8.0 { 700.0 } else { 0.0 };
    [next() + far, next(), next(), next()]
}

/// Sends until there is no answer: a few new points and a new version of an old one at a time. What was acknowledged, by
/// the numbers of events, goes into `known`.
fn send(server: &TestServer, sender: u64, round: u64, known: &Mutex<BTreeMap<u64, String>>) {
    for request in 0.. {
        let id = |number: u64| format!("{sender}-{}", number % 40);
        let version = round * 10_000 + request;
        let point = |id: String| json!({"id": id, "x": row(&id, version), "label": version.to_string()});
        let body = json!([point(id(request)), point(id(request * 7 + 1)), point(id(request * 3 + 2))]);
        let Ok((status, answer)) = server.try_call("POST", "/api/points", &body.to_string()) else { return };
        assert_eq!(status, 200, "{answer}");
        let placed: Vec<Value> = serde_json::from_str(&answer).unwrap();
        assert_eq!(placed.len(), 3);
        let mut known = known.lock().unwrap();
        for point in placed {
            let old = known.insert(point["event"].as_u64().unwrap(), point["id"].as_str().unwrap().into());
            assert_eq!(old, None, "an event was acknowledged twice");
        }
    }
}

#[test]
fn what_was_acknowledged_survives() {
    let folder = folder_with_map();
    let known = Mutex::new(BTreeMap::new());
    for round in 0..KILLS {
        let server = TestServer::start(&folder, "serve trees.lion --store s.db");
        std::thread::scope(|scope| {
            for sender in 0..SENDERS {
                let (server, known) = (&server, &known);
                scope.spawn(move || send(server, sender, round, known));
            }
            std::thread::sleep(Duration::from_millis(60 + round * 37 % 200));
            server.signal("-KILL");
        });
        server.kill();
    }
    let known = known.into_inner().unwrap();
    assert!(known.len() > 100, "only {} were acknowledged", known.len());

    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    let live = server.json("/api/live");
    folder.json("export s.db -o e.jsonl");
    server.kill();
    let told = String::from_utf8(folder.read("e.jsonl")).unwrap();
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (n, event) in (1..).zip(&events) {
        assert_eq!(event["n"], n, "the numbers have a gap");
    }
    for (n, id) in &known {
        assert_eq!(events[*n as usize - 1]["id"], **id, "event {n} is not what was acknowledged");
    }
    let ids: Vec<&str> =
        live["points"]["id"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let different: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), different.len(), "a point is there twice");
    assert!(known.values().all(|id| different.contains(id.as_str())), "a point is lost");

    // The same changes at once, by a program that was never killed: the same events.
    let change = |event: &Value| {
        let (id, label) = (event["id"].as_str()?, event["label"].as_str()?);
        let x = row(id, label.parse().unwrap());
        Some(format!("{}\n", json!({"id": id, "x": x, "label": label, "t": event["t"]})))
    };
    let changes: String = events.iter().filter_map(change).collect();
    folder.write("changes.jsonl", changes);
    let mut stream = folder.command("stream trees.lion -q");
    stream.stdin(std::fs::File::open(folder.path("changes.jsonl")).unwrap());
    let again = Finished::of(stream);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    for (line, (ours, theirs)) in (1..).zip(again.stdout.lines().zip(told.lines())) {
        assert_eq!(ours, theirs, "event {line}");
    }
    assert_eq!(again.stdout.lines().count(), events.len());
}
