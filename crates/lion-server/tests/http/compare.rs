//! Two stretches of time, compared.

use super::map::is_described;
use super::versions::{ended, points};
use super::{call, config, get, grid, post, request};
use axum::Router;
use lion_server::{Clock, Comparison, Service, Settings, StoredEvents, Stretch, app};
use lion_tsne::{Lion, LionOptions};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A service whose clock is set by hand, in seconds.
fn at(path: &Path) -> (Service, Router, Arc<AtomicU64>) {
    let lion = Lion::new(grid(), &LionOptions::default()).expect("a map to place into");
    let seconds = Arc::new(AtomicU64::new(1000));
    let clock = seconds.clone();
    let settings = Settings {
        store: Some(path.into()),
        clock: Clock::new(move || clock.load(Ordering::Relaxed) as f64),
        ..Settings::default()
    };
    let service = Service::start(Arc::new(lion), &settings).expect("a service");
    (service.clone(), app(service, config()), seconds)
}

/// Points of one second: `left` of ten lie on the left of the map, the others on the right.
async fn some(app: &Router, name: &str, left: u32) {
    let point = |i: u32| {
        let x = if i % 10 < left { 1.5 } else { 7.5 } + f64::from(i / 10 % 3);
        json!({ "id": format!("{name}{i}"), "x": [x.min(8.5), 0.5 + f64::from(i % 8)] })
    };
    let body = Value::from((0..200).map(point).collect::<Vec<_>>());
    assert_eq!(post(app, body.to_string()).await.status, 200);
}

fn change(found: &Value, cluster: &str) -> Value {
    let clusters = found["clusters"].as_array().unwrap();
    clusters.iter().find(|known| known["name"] == cluster).unwrap()["change"].clone()
}

#[tokio::test]
async fn what_gained_and_lost_share_is_told_with_who_came_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (_service, app, seconds) = at(&path);
    for (t, name, left) in [(1000, "a", 8), (1010, "b", 8), (1020, "c", 2)] {
        seconds.store(t, Ordering::Relaxed);
        some(&app, name, left).await;
    }
    seconds.store(1025, Ordering::Relaxed);
    let gone = json!([{ "delete": "a3" }, { "delete": "c4" }]);
    assert_eq!(post(&app, gone.to_string()).await.status, 200);

    let alike = get(&app, "/api/compare?a=1000,1010&b=1010,1020").await;
    is_described(&app, "get", "/api/compare", &alike).await;
    let alike = alike.json();
    assert_eq!((change(&alike, "left"), change(&alike, "right")), (Value::Null, Value::Null));
    assert!(alike["regions"].as_array().unwrap().iter().all(|region| region["change"].is_null()));
    assert_eq!(
        (&alike["a"]["points"], &alike["newcomers"]["count"], &alike["left"]["count"]),
        (&json!(200), &json!(200), &json!(0))
    );

    let other = get(&app, "/api/compare?a=1000,1010&b=1020,1030").await.json();
    assert_eq!((change(&other, "left"), change(&other, "right")), (json!("lost"), json!("gained")));
    assert_eq!(other["outliers"]["change"], Value::Null);
    let shaded = other["regions"].as_array().unwrap().iter().filter(|region| region["change"] == "gained");
    assert!(
        shaded.clone().count() > 0 && shaded.clone().all(|region| region["min"][0].as_f64().unwrap() > 50.0)
    );
    // b came between the two; one of c left again, one of a left for good.
    assert_eq!((&other["newcomers"]["count"], &other["left"]["count"]), (&json!(399), &json!(1)));
    assert_eq!(
        (&other["left"]["points"][0]["id"], &other["left"]["points"][0]["t"]),
        (&json!("a3"), &json!(1025.0))
    );
    assert_eq!(other["newcomers"]["points"][0]["id"], "c199", "the latest first");

    let stretches = |text: &str| text.parse::<Stretch>().unwrap();
    let read =
        StoredEvents::open(&path).unwrap().compare(stretches("1000,1010"), stretches("1020,1030")).unwrap();
    let read = through_text(&read);
    assert_eq!((&read["newcomers"], &read["regions"]), (&other["newcomers"], &other["regions"]));
}

#[tokio::test]
async fn stretches_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, app, _) = at(&folder.path().join("live.db"));
    some(&app, "a", 5).await;
    for (asked, status, said) in [
        ("", 400, "a=FROM,TO"),
        ("?a=1,2", 400, "a=FROM,TO"),
        ("?a=1,2&b=3", 400, "b: \"3\" is no stretch of time"),
        ("?a=1,nan&b=3,4", 400, "is no stretch of time"),
        ("?a=2,1&b=3,4", 422, "it must end after it begins"),
        ("?a=1,4&b=3,5", 422, "a must end before b begins"),
        ("?a=1,2&b=1000,2000", 422, "no point was given in a"),
        ("?a=0,1001&b=1001,2000", 422, "no point was given in b"),
    ] {
        let (found, _, sentence) = get(&app, &format!("/api/compare{asked}")).await.refusal();
        assert_eq!((found, sentence.contains(said)), (status, true), "{asked}: {sentence}");
    }
}

/// As a client gets it.
fn through_text(found: &Comparison) -> Value {
    serde_json::from_str(&serde_json::to_string(found).unwrap()).unwrap()
}

/// Points from before an update are where they are now; those that were given again since are left out.
#[tokio::test]
async fn versions_are_crossed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (_service, app, seconds) = at(&path);
    some(&app, "a", 5).await;
    assert_eq!(post(&app, points()).await.status, 200);
    seconds.store(1010, Ordering::Relaxed);
    assert_eq!(call(&app, request("POST", "/api/map/update", "application/json", "")).await.status, 202);
    assert_eq!(ended(&app).await["state"], "done");
    seconds.store(1020, Ordering::Relaxed);
    some(&app, "b", 5).await;
    assert_eq!(post(&app, r#"[{"id":"a7","x":[1,2]},{"delete":"a8"}]"#).await.status, 200);
    let asked = "/api/compare?a=1000,1010&b=1020,1030";
    let found = get(&app, asked).await.json();
    assert_eq!(
        (&found["version"], &found["a"]["points"], &found["a"]["left_out"]),
        (&json!(2), &json!(221), &json!(2))
    );
    assert_eq!((&found["b"]["points"], &found["b"]["left_out"]), (&json!(201), &json!(0)));
    // The twenty outliers of the first stretch are a cluster now, of which none came in the second.
    assert_eq!(found["outliers"]["a"], 0, "{}", found["outliers"]);
    let changed: Vec<&Value> =
        found["clusters"].as_array().unwrap().iter().filter(|known| !known["change"].is_null()).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!((&changed[0]["a"], &changed[0]["change"]), (&json!(20), &json!("lost")));
    let read = StoredEvents::open(&path)
        .unwrap()
        .compare("1000,1010".parse().unwrap(), "1020,1030".parse().unwrap());
    assert_eq!(through_text(&read.unwrap()), found);
    seconds.store(1040, Ordering::Relaxed);
    some(&app, "a", 5).await;
    let far = (0..20)
        .map(|i| json!({ "delete": format!("far-{i}") }))
        .chain((0..3).map(|i| json!({ "delete": format!("near-{i}") })));
    post(&app, Value::from(far.collect::<Vec<_>>()).to_string()).await;
    let (status, _, sentence) = get(&app, asked).await.refusal();
    assert_eq!((status, sentence.contains("all 223 points of a")), (422, true), "{sentence}");
}

/// Points that are alike before and after an update: those that were taken in are rows, and would still be outliers if they
/// came now.
#[tokio::test]
async fn an_update_makes_no_sample_poorer_in_outliers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (_service, app, seconds) = at(&path);
    // Each far from the map and from all others.
    let strangers = |name: &str, begin: i32| {
        let at = |i: i32| [f64::from(1000 * (begin + 2 * i)), f64::from(700 * (i % 5 - 2))];
        let some = (0..20).map(move |i| json!({ "id": format!("{name}-far-{i}"), "x": at(i) }));
        Value::from(some.collect::<Vec<_>>()).to_string()
    };
    some(&app, "a", 5).await;
    assert_eq!(post(&app, strangers("a", 1)).await.status, 200);
    seconds.store(1010, Ordering::Relaxed);
    assert_eq!(call(&app, request("POST", "/api/map/update", "application/json", "")).await.status, 202);
    assert_eq!(ended(&app).await["state"], "done");
    seconds.store(1020, Ordering::Relaxed);
    some(&app, "b", 5).await;
    assert_eq!(post(&app, strangers("b", 2)).await.status, 200);
    let found = get(&app, "/api/compare?a=1000,1010&b=1020,1030").await.json();
    assert_eq!((&found["a"]["points"], &found["b"]["points"]), (&json!(220), &json!(220)));
    let outliers = &found["outliers"];
    assert!(outliers["a"].as_u64() > Some(0) && outliers["change"].is_null(), "{outliers}");
    let read = StoredEvents::open(&path)
        .unwrap()
        .compare("1000,1010".parse().unwrap(), "1020,1030".parse().unwrap());
    assert_eq!(through_text(&read.unwrap()), found);
}

/// Who came before an update and is still there is listed on the new map; of who left, only the place of then is known.
#[tokio::test]
async fn points_that_came_and_left_before_an_update_say_which_map_they_are_on() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, app, seconds) = at(&folder.path().join("live.db"));
    some(&app, "a", 5).await;
    seconds.store(1005, Ordering::Relaxed);
    assert_eq!(post(&app, points()).await.status, 200);
    assert_eq!(post(&app, r#"{"delete":"a3"}"#).await.status, 200);
    seconds.store(1010, Ordering::Relaxed);
    assert_eq!(call(&app, request("POST", "/api/map/update", "application/json", "")).await.status, 202);
    assert_eq!(ended(&app).await["state"], "done");
    seconds.store(1020, Ordering::Relaxed);
    some(&app, "b", 5).await;
    assert_eq!(post(&app, r#"{"delete":"a4"}"#).await.status, 200);
    let found = get(&app, "/api/compare?a=1000,1001&b=1020,1030").await.json();
    let left = found["left"]["points"].as_array().unwrap();
    let versions: Vec<_> = left.iter().map(|point| (point["id"].clone(), point["version"].clone())).collect();
    assert_eq!(versions, [(json!("a4"), json!(2)), (json!("a3"), json!(1))]);
    let newcomers = found["newcomers"]["points"].as_array().unwrap();
    assert_eq!(newcomers.len(), 223);
    let live = get(&app, "/api/live").await.json();
    for point in newcomers {
        let at = live["points"]["id"].as_array().unwrap().iter().position(|id| *id == point["id"]).unwrap();
        let now = |name: &str| &live["points"][name][at];
        assert_eq!(point["version"], 2);
        for name in ["x", "y", "verdict"] {
            assert_eq!(&point[name], now(name), "{name} of {}", point["id"]);
        }
    }
}

/// Events are found by their times without looking at all of them: at and between all times, and beyond both ends.
#[tokio::test]
async fn stretches_begin_and_end_with_the_events_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let (_service, app, seconds) = at(&folder.path().join("live.db"));
    let counts = [3, 1, 4, 1, 5];
    for (second, count) in (1000..).zip(counts) {
        seconds.store(second, Ordering::Relaxed);
        let some = (0..count).map(|i| json!({ "id": format!("{second}-{i}"), "x": [1.5, f64::from(i)] }));
        post(&app, Value::from(some.collect::<Vec<_>>()).to_string()).await;
    }
    for middle in 1..5usize {
        for (edge, from, to) in [(0.0, 0.0, 9999.0), (-0.5, 999.5, 1004.5)] {
            let middle_t = 1000.0 + middle as f64 + edge;
            let found =
                get(&app, &format!("/api/compare?a={from},{middle_t}&b={middle_t},{to}")).await.json();
            let sum = |counts: &[i32]| json!(counts.iter().sum::<i32>());
            assert_eq!(found["a"]["events"], sum(&counts[..middle]), "until {middle_t}");
            assert_eq!(found["b"]["events"], sum(&counts[middle..]), "from {middle_t}");
        }
    }
}

/// However many ask at once, one comparison at a time reads the store and holds what it read.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn comparisons_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (_service, app, seconds) = at(&path);
    for batch in 0..20 {
        seconds.store(1000 + batch, Ordering::Relaxed);
        some(&app, &format!("{batch}-"), 5).await;
    }
    let open = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|open| open == path)).count()
    };
    let before = open();
    let asked = || {
        let app = app.clone();
        tokio::spawn(async move { get(&app, "/api/compare?a=1000,1010&b=1010,1020").await.status })
    };
    let asked: Vec<_> = (0..40).map(|_| asked()).collect();
    let mut most = 0;
    while !asked.iter().all(|asked| asked.is_finished()) {
        most = most.max(open());
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    for asked in asked {
        assert_eq!(asked.await.unwrap(), 200);
    }
    assert!(most > before && most <= before + 1, "{most} connections, {before} before");
}
