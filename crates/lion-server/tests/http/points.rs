//! Points come, change and go, and can be looked at.

use crate::{call, get, plain, post, request};
use axum::body::Body;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn placements_come_in_the_order_sent() {
    let (_service, app) = plain();
    let body = r#"[{"id":"a","x":[3.5,4.5],"label":"new"},{"id":7,"x":[50,50]},{"id":"a","x":[3.7,4.5]},{"delete":"a"}]"#;
    let answer = post(&app, body).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    assert_eq!(answer.header("content-type"), "application/json");
    let placed = answer.json();
    let column =
        |name: &str| placed.as_array().unwrap().iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("id"), ["a", "7", "a", "a"]);
    assert_eq!(column("kind"), ["appeared", "appeared", "moved", "removed"]);
    assert_eq!(column("event"), [1, 2, 3, 4]);
    assert_eq!(column("verdict")[..3], ["interpolated", "outlier", "interpolated"]);
    assert_eq!(placed[0]["cluster"], "left");
    assert_eq!(placed[1]["group"], 0);
    assert!(placed[0]["nearest_id"].as_str().unwrap().starts_with("row-"));
    for name in ["x", "y", "score", "nearest_distance", "neighbours"] {
        assert!(placed[0][name].is_number(), "{name}");
    }
    assert!(placed[0]["off_plane"].is_null());
    assert_eq!(placed[3], json!({ "id": "a", "kind": "removed", "event": 4 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_point_lines_and_nothing() {
    let (_service, app) = plain();
    let one = post(&app, r#"{"id":"é","x":[1,1],"t":12.5,"label":null}"#).await.json();
    assert_eq!((&one[0]["id"], &one[0]["verdict"]), (&json!("é"), &json!("exact")));
    let lines = "\n{\"id\":\"b\",\"x\":[1,2]}\r\n\n{\"delete\":\"é\"}\n";
    let lines =
        call(&app, request("POST", "/api/points", "application/x-ndjson; charset=utf-8", lines)).await;
    assert_eq!(lines.json()[1]["kind"], "removed");
    for (kind, body) in [("application/json", "[]"), ("application/x-ndjson", "")] {
        let answer = call(&app, request("POST", "/api/points", kind, body)).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!([])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_removes_what_is_not_in_it() {
    let (service, app) = plain();
    post(&app, r#"[{"id":"a","x":[1,1]},{"id":"b","x":[2,2]},{"id":"c","x":[3,3]}]"#).await;
    let body = r#"[{"id":"b","x":[2,2]},{"id":"d","x":[4,4]}]"#;
    let answer = call(&app, request("PUT", "/api/points", "application/json", body)).await.json();
    let kinds: Vec<(&str, &str)> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), row["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(kinds, [("b", "stayed"), ("d", "appeared"), ("a", "removed"), ("c", "removed")]);
    assert_eq!(service.view().len(), 2);
    let empty = call(&app, request("PUT", "/api/points", "application/json", "[]")).await;
    assert_eq!(empty.json().as_array().unwrap().len(), 2);
    assert!(service.view().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_point_can_be_looked_at_and_removed() {
    let (_service, app) = plain();
    post(&app, r#"[{"id":"a/b c","x":[3.5,4.5],"label":"3"},{"id":"a/b c","x":[3.6,4.5]}]"#).await;
    let record = get(&app, "/api/points/a%2Fb%20c").await.json();
    assert_eq!(record["point"]["id"], "a/b c");
    assert_eq!((&record["point"]["first"], &record["point"]["last"]), (&json!(1), &json!(2)));
    assert_eq!(record["point"]["label"], "3");
    assert_eq!(record["row"][1], 4.5);
    assert!(record["picture"].is_null());
    assert_eq!(record["nearest"].as_array().unwrap().len(), 5);
    assert_eq!(record["nearest"][0]["id"], "row-44");
    let kinds: Vec<&Value> =
        record["history"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["appeared", "moved"]);
    let removed = call(&app, request("DELETE", "/api/points/a%2Fb%20c", "", Body::empty())).await;
    assert_eq!(removed.json(), json!({ "removed": "a/b c", "event": 3 }));
    assert_eq!(get(&app, "/api/points/a%2Fb%20c").await.refusal().0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_points_are_columns_of_one_length() {
    let (_service, app) = plain();
    post(&app, r#"[{"id":"a","x":[3.5,4.5]},{"id":"b","x":[50,50],"label":"q"},{"id":"c","x":[50,50.1]}]"#)
        .await;
    let live = get(&app, "/api/live").await.json();
    assert_eq!(live["last"], 3);
    let points = live["points"].as_object().unwrap();
    let names = ["cluster", "first", "group", "id", "label", "last", "score", "t", "verdict", "x", "y"];
    let mut found: Vec<&str> = points.keys().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, names);
    assert!(points.values().all(|column| column.as_array().unwrap().len() == 3));
    assert_eq!(points["label"], json!([null, "q", null]));
    assert_eq!(points["cluster"], json!(["left", null, null]));
    assert_eq!(points["verdict"], json!(["interpolated", "outlier", "outlier"]));
    let group = &live["groups"][0];
    assert_eq!((&group["size"], &group["forming"]), (&json!(2), &json!(false)));
    assert!(group["x"].is_number() && group["number"].is_number());
    assert_eq!(live["health"]["points"], 3);
    assert_eq!(get(&app, "/api/health").await.json()["outliers"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn history_goes_both_ways() {
    let (_service, app) = plain();
    let points: Vec<Value> = (0..20).map(|i| json!({ "id": i, "x": [i % 10, 3] })).collect();
    post(&app, json!(points).to_string()).await;
    let numbers = async |query: &str| {
        let page = get(&app, &format!("/api/history{query}")).await.json();
        assert_eq!((&page["first"], &page["last"]), (&json!(1), &json!(20)));
        page["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["n"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers("?after=3&limit=4").await, [4, 5, 6, 7]);
    assert_eq!(numbers("?before=3&limit=4").await, [1, 2]);
    assert_eq!(numbers("?before=21&limit=2").await, [19, 20]);
    assert_eq!(numbers("").await.len(), 20);
    assert!(numbers("?after=20").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_happens() {
    let (_service, app) = plain();
    post(&app, r#"[{"id":"a","x":[3.5,4.5]},{"id":"b","x":[50,50]}]"#).await;
    post(&app, "nonsense").await;
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    post(&app, r#"[{"id":"c","x":[3.5,4.5]},{"id":"d","x":[3.5,4.5]}]"#).await;
    post(&app, r#"[{"delete":"d"},{"delete":"nobody"},{"id":"c","x":[3.5,4]}]"#).await;
    let answer = get(&app, "/metrics").await;
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    assert!(value("lion_store_bytes").unwrap() > 1e4 && value("lion_last_event_seconds").unwrap() > 1e9);
    assert!(value("lion_resident_bytes").unwrap() > 1e6 || !cfg!(target_os = "linux"));
    for line in [
        "lion_points 3",
        "lion_outliers 1",
        "lion_events_total 6",
        "lion_arrivals_total 5",
        "lion_removals_total 1",
        "lion_queue_rows 0",
        "lion_listeners 0",
        "lion_responses_total{status=\"400\"} 1",
        "lion_responses_total{status=\"200\"} 3",
        "lion_request_seconds_count{method=\"POST\",route=\"/api/points\"} 4",
        "lion_request_seconds_bucket{method=\"POST\",route=\"/api/points\",le=\"+Inf\"} 4",
        "# TYPE lion_commit_seconds histogram",
        "lion_commit_seconds_count 3",
        "lion_webhook_failures_total 0",
        "lion_map_version 1",
        "lion_map_updating 0",
        concat!("lion_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    // Buckets only grow, and every line is a comment or a name with a number.
    let buckets = text.lines().filter(|line| line.starts_with("lion_commit_seconds_bucket"));
    let counts: Vec<u64> = buckets.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(counts.len() > 3 && counts.is_sorted(), "{counts:?}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok()), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_point_that_is_not_there_can_be_removed_in_a_batch() {
    let (service, app) = plain();
    let body = r#"[{"delete":"nobody"},{"id":"a","x":[1,2]},{"delete":"a"},{"delete":"a"},{"id":"b","x":[3,4]},{"delete":"x"}]"#;
    let answer = post(&app, body).await;
    assert_eq!(answer.status, 200);
    let kinds: Vec<String> = answer
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|placed| {
            format!(
                "{} {} {}",
                placed["id"].as_str().unwrap(),
                placed["kind"].as_str().unwrap(),
                placed["event"]
            )
        })
        .collect();
    let expected = [
        "nobody absent null",
        "a appeared 1",
        "a removed 2",
        "a absent null",
        "b appeared 3",
        "x absent null",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((service.last(), service.view().len()), (3, 1));
    assert_eq!(post(&app, r#"[{"delete":"nobody"}]"#).await.status, 200, "again and again");
    assert_eq!(service.last(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_sender_is_only_its_points_own() {
    let (_service, app) = plain();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let ahead = format!(r#"[{{"id":"ahead","x":[1,2],"t":{}}}]"#, now + 82_800.0);
    assert_eq!(post(&app, ahead).await.status, 200);
    post(&app, r#"[{"id":"old","x":[1,2],"t":1000}]"#).await;
    post(&app, r#"[{"id":"plain","x":[1,2]}]"#).await;
    for event in get(&app, "/api/history").await.json()["events"].as_array().unwrap() {
        let t = event["t"].as_f64().unwrap();
        assert!((t - now).abs() < 600.0, "{event}");
    }
    let t = |answer: serde_json::Value| answer["point"]["t"].as_f64().unwrap();
    assert!(t(get(&app, "/api/points/ahead").await.json()) < now + 600.0);
    assert_eq!(t(get(&app, "/api/points/old").await.json()), 1000.0);
}
