//! A history as one page: what is in it is what the store has.

use crate::common::{arrival, at, delete, events, lion, scrambled, submit, upsert, wait};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lion_server::{
    Recording, Retain, Service, Settings, StoreError, StoredEvents, UpdateRequest, UpdateState,
};
use lion_tsne::live::{Arrival, Change, Event, Live, LiveOptions};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a page holds, unpacked: the header, and the columns by name.
struct Unpacked {
    header: Value,
    columns: HashMap<String, Vec<u8>>,
}

impl Unpacked {
    fn new(page: &str) -> Self {
        let (_, data) = page.split_once(r#"<script id="recording" type="text/plain">"#).unwrap();
        let packed = BASE64_STANDARD.decode(data.split_once("</script>").unwrap().0).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let start = 4 + u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..start]).unwrap();
        let column = |entry: &Value| {
            let from = start + entry["offset"].as_u64().unwrap() as usize;
            let part = bytes[from..from + entry["length"].as_u64().unwrap() as usize].to_vec();
            (entry["name"].as_str().unwrap().to_owned(), part)
        };
        let columns = header["columns"].as_array().unwrap().iter().map(column).collect();
        Self { header, columns }
    }

    /// The values of a column, whose first bytes lie before all second ones, and so on.
    fn values<const N: usize>(&self, name: &str) -> impl Iterator<Item = [u8; N]> + '_ {
        let bytes = &self.columns[name];
        let count = bytes.len() / N;
        (0..count).map(move |k| std::array::from_fn(|byte| bytes[byte * count + k]))
    }

    fn count(&self, name: &str) -> u64 {
        self.header[name].as_u64().unwrap()
    }

    /// Every event as far as a recording has it, with what was before.
    fn events(&self) -> Vec<Value> {
        let texts: Vec<String> = serde_json::from_slice(&self.columns["texts"]).unwrap();
        let whole =
            |name: &str| self.values::<4>(name).map(u32::from_le_bytes).collect::<Vec<_>>().into_iter();
        let (mut id, mut group, mut cluster) = (whole("id"), whole("group"), whole("cluster"));
        let (mut label, mut nearest) = (whole("label"), whole("nearest"));
        let float =
            |name: &str| self.values::<4>(name).map(f32::from_le_bytes).collect::<Vec<_>>().into_iter();
        let (mut x, mut y, mut score) = (float("x"), float("y"), float("score"));
        let mut verdict = self.columns["verdict"].iter();
        let (verdicts, kinds) = (&self.header["verdicts"], &self.header["kinds"]);
        let text = |code: u32| code.checked_sub(1).map(|at| texts[at as usize].as_str());
        let mut place = || {
            json!({
                "x": x.next().unwrap(), "y": y.next().unwrap(), "score": score.next().unwrap(),
                "verdict": verdicts[usize::from(*verdict.next().unwrap())], "group": group.next().unwrap().checked_sub(1),
                "cluster": text(cluster.next().unwrap()), "label": text(label.next().unwrap()),
            })
        };
        let mut notices = self.header["notices"].as_array().unwrap().iter();
        let mut times = self.values::<8>("t").map(f64::from_le_bytes);
        let mut told = self.columns["kind"].iter();
        let mut all: Vec<Value> = Vec::new();
        for stretch in self.header["stretches"].as_array().unwrap() {
            let mut points: HashMap<String, Value> = HashMap::new();
            for _ in 0..stretch["points"].as_u64().unwrap() {
                points.insert(text(id.next().unwrap()).unwrap().into(), place());
            }
            for _ in 0..stretch["events"].as_u64().unwrap() {
                let (n, t, kind) =
                    (self.count("first") + all.len() as u64, times.next().unwrap(), *told.next().unwrap());
                if kind == u8::MAX {
                    all.push(notices.next().unwrap().clone());
                    continue;
                }
                let (kind, id) = (&kinds[usize::from(kind)], text(id.next().unwrap()).unwrap());
                let mut event = json!({ "n": n, "t": t, "kind": kind, "id": id, "from": points.remove(id) });
                if kind != "removed" {
                    let now = place();
                    points.insert(id.into(), now.clone());
                    if now["verdict"] == "outlier" {
                        event["nearest"] = nearest.next().unwrap().into();
                    }
                    event.as_object_mut().unwrap().extend(now.as_object().unwrap().clone());
                }
                all.push(event);
            }
        }
        let left =
            [id.len(), group.len(), cluster.len(), label.len(), nearest.len(), x.len(), y.len(), score.len()];
        assert_eq!((left, verdict.len(), told.len(), notices.len()), ([0; 8], 0, 0, 0), "all of it was read");
        all
    }
}

/// An event of a store as far as a recording has it.
fn recorded(event: &Value) -> Value {
    if event["id"].is_null() {
        return event.clone();
    }
    let rounded = |value: &Value| json!(value.as_f64().unwrap() as f32);
    let place = |from: &Value| {
        json!({
            "x": rounded(&from["x"]), "y": rounded(&from["y"]), "score": rounded(&from["score"]), "verdict": from["verdict"],
            "group": from["group"], "cluster": from["cluster"], "label": from["label"],
        })
    };
    let from = if event["from"].is_null() { Value::Null } else { place(&event["from"]) };
    let mut kept =
        json!({ "n": event["n"], "t": event["t"], "kind": event["kind"], "id": event["id"], "from": from });
    if event["kind"] != "removed" {
        kept.as_object_mut().unwrap().extend(place(event).as_object().unwrap().clone());
        if event["verdict"] == "outlier" {
            kept["nearest"] = event["nearest"].clone();
        }
    }
    kept
}

fn page(path: &Path) -> Result<String, StoreError> {
    Ok(Recording::of_store(&StoredEvents::open(path)?, "made", None)?.page().unwrap())
}

/// Compares a page with what its store has.
fn check(page: &str, path: &Path, first: u64) -> Unpacked {
    let unpacked = Unpacked::new(page);
    let found = unpacked.events();
    let stored = events(path, first);
    assert_eq!(found.len(), stored.len());
    for (found, stored) in found.iter().zip(&stored) {
        let stored: Value = serde_json::from_str(&stored.json).unwrap();
        assert_eq!(*found, recorded(&stored), "{stored}");
    }
    unpacked
}

/// Some changes: points come, come again, and every ninth leaves.
fn work(service: &Service, from: u64, many: u64) {
    for k in from..from + many {
        let id = format!("p{}", scrambled(k) % 40);
        let change = if k.is_multiple_of(9) { delete(&id) } else { upsert(&id, k) };
        submit(service, vec![change]).unwrap();
    }
}

fn settled(service: &Service) {
    while service.update_status().state == UpdateState::Running {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(service.update_status().state, UpdateState::Done, "{:?}", service.update_status());
}

#[test]
fn a_page_has_the_events_of_its_store_on_the_maps_of_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    work(&service, 0, 150);
    service.update(UpdateRequest::default()).unwrap();
    settled(&service);
    work(&service, 1000, 90);
    service.revert(Some("anna".into())).unwrap();
    settled(&service);
    work(&service, 2000, 60);
    // The service goes on meanwhile.
    let page = page(&path).unwrap();
    let unpacked = check(&page, &path, 1);
    let versions: Vec<u64> = unpacked.header["stretches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["version"].as_u64().unwrap())
        .collect();
    assert_eq!(versions, [1, 2, 1]);
    let points = |k: usize| unpacked.header["stretches"][k]["points"].as_u64().unwrap();
    assert!(points(0) == 0 && points(1) > 20 && points(2) > 20, "{}", unpacked.header["stretches"]);
    assert!(unpacked.columns.contains_key("map 1") && unpacked.columns.contains_key("map 2"));
    assert_eq!(unpacked.header["versions"][1]["parent"], 1);
    wait(service.stop());
}

#[test]
fn a_page_fetches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    lion().map().save(folder.path().join("made.lion")).unwrap();
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, vec![upsert("</script><b>", 1)]).unwrap();
    let page = page(&path).unwrap();
    assert!(
        !page.contains(" src=") && !page.contains("<link rel=\"stylesheet\""),
        "all of it is in the page"
    );
    assert_eq!(page.matches("</script>").count(), 2, "the recording and the program");
    assert!(page.contains("default-src 'none'"));
    assert_eq!(Unpacked::new(&page).events()[0]["id"], "</script><b>");
    // The same history is the same page.
    assert_eq!(page, self::page(&path).unwrap());
}

#[test]
fn what_was_there_before_the_first_event_that_is_kept_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    lion().map().save(folder.path().join("made.lion")).unwrap();
    let settings = Settings { retain: Some(Retain::Events(100)), ..at(&path) };
    let service = Service::start(lion(), &settings).unwrap();
    work(&service, 0, 600);
    wait(service.stop());
    let first = StoredEvents::open(&path).unwrap().after(0, 1).unwrap()[0].n;
    assert!(first > 300);
    let unpacked = check(&page(&path).unwrap(), &path, first);
    assert!(unpacked.header["stretches"][0]["points"].as_u64().unwrap() > 20);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    let said = |path: &Path| page(path).unwrap_err().to_string();
    assert!(said(&path).contains("this store has no events yet"), "{}", said(&path));
    submit(&service, vec![upsert("a", 1)]).unwrap();
    wait(service.stop());
    // Maps of others beside it are not its own.
    std::fs::write(folder.path().join("broken.lion"), "no map").unwrap();
    crate::common::lion_of(9).map().save(folder.path().join("other.lion")).unwrap();
    assert!(said(&path).contains("version 1 of its map (checksum"), "{}", said(&path));
    assert!(said(&path).contains("--map"));
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    lion().map().save(elsewhere.join("made.lion")).unwrap();
    let store = StoredEvents::open(&path).unwrap();
    assert!(Recording::of_store(&store, "made", Some(&elsewhere.join("made.lion"))).is_ok());
    assert!(said(&folder.path().join("broken.lion")).contains("this is not a store"));
}

/// Ids that do not compress, a change of place in every event, and labels: as large as a history gets.
#[test]
fn a_hundred_thousand_events_stay_under_ten_megabytes() {
    let lion = lion();
    let mut live = Live::new(lion.clone(), LiveOptions::default()).unwrap();
    let id = |k: u64| format!("{:016x}-{:016x}", scrambled(k), scrambled(k + (1 << 40)));
    let change = |k: u64| {
        let t = 1.7e9 + k as f64 * 0.731_234_567 + scrambled(k) as f64 / u64::MAX as f64;
        let label = Some(format!("label {}", scrambled(k) % 50));
        // Half of them come once more.
        let who = if k.is_multiple_of(4) { k / 4 * 3 } else { k };
        Change::Upsert(Arrival { t: Some(t), label, ..arrival(&id(who), k) })
    };
    let mut events: Vec<Event> = Vec::new();
    for part in 0..50 {
        events.extend(live.apply((part * 2000..(part + 1) * 2000).map(change).collect()).unwrap().events);
    }
    let many = events.len();
    assert!(many >= 100_000);
    let expected: Vec<Value> =
        events.iter().step_by(997).map(|event| recorded(&serde_json::to_value(event).unwrap())).collect();
    let begun = Instant::now();
    let page = Recording::of_events("made", lion, events, None).unwrap().page().unwrap();
    let took = begun.elapsed();
    println!("{many} events: {} bytes in {took:?}", page.len());
    assert!(page.len() < 10_000_000, "{} bytes", page.len());
    assert!(took < Duration::from_secs(300), "{took:?}");
    let found: Vec<Value> = Unpacked::new(&page).events().into_iter().step_by(997).collect();
    assert_eq!(found, expected);
}

#[test]
fn steps_are_told() {
    let lion = lion();
    let mut live = Live::new(lion.clone(), LiveOptions::default()).unwrap();
    let (mut events, mut steps) = (Vec::new(), Vec::new());
    for (t, ids) in [(1.0, 0..8), (2.0, 4..12), (3.0, 8..9)] {
        let arrivals = ids.map(|k| arrival(&format!("p{k}"), k)).collect();
        events.extend(live.snapshot(arrivals, Some(t)).unwrap().events);
        steps.push(lion_server::RecordedStep { name: format!("day {t}"), last: live.last() });
    }
    let recording = Recording::of_events("made", lion, events, Some(steps)).unwrap();
    let unpacked = Unpacked::new(&recording.page().unwrap());
    let lasts: Vec<u64> = unpacked.header["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["last"].as_u64().unwrap())
        .collect();
    assert_eq!(lasts[2], recording.events() as u64);
    let gone = |from: u64, to: u64| {
        let events = unpacked.events();
        events
            .iter()
            .filter(|e| e["kind"] == "removed" && (from..=to).contains(&e["n"].as_u64().unwrap()))
            .count()
    };
    assert_eq!((gone(1, lasts[0]), gone(lasts[0] + 1, lasts[1]), gone(lasts[1] + 1, lasts[2])), (0, 4, 7));
}
