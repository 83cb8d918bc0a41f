//! A service that is killed while its map is updated, again and again: on restart it is on one version or the other, whole,
//! and nothing acknowledged is lost.
//!
//! `LION_UPDATE_CRASHES=1000` kills a thousand times.

use crate::common::{arrival, at, events, lion, row, scrambled, wait};
use lion_server::{Service, UpdateRefused, UpdateRequest, UpdateState, Work};
use lion_tsne::live::{Change, Event};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The store that a child is to work on, and the number of its first change.
const CHILD: &str = "LION_UPDATE_CHILD";
const FROM: &str = "LION_UPDATE_FROM";
/// Changes that a child may make at most; numbers do not come back.
pub(crate) const CHANGES: u64 = 100_000;

/// Places points and updates the map, or goes back, one after the other. Tells of each change that was acknowledged, and of
/// each switch that begins, when those before it are done. Ends after so many switches, or with the changes.
pub(crate) fn work(path: &Path, changes: Range<u64>, most: u64, mut tell: impl FnMut(String)) {
    let service = Service::start(lion(), &at(path)).unwrap();
    tell("\nready\n".into());
    let mut switches = 0;
    for k in changes {
        let change = Change::Upsert(arrival(&format!("p{}", scrambled(k) % 60), k));
        let receipt = wait(service.submit(Work::Changes(vec![change]))).unwrap();
        tell(format!("ack {} {k}\n", receipt.events[0].n));
        let status = service.update_status();
        if status.state == UpdateState::Running {
            // Leaves it some of a slow machine.
            std::thread::sleep(Duration::from_millis(5));
            continue;
        }
        assert_ne!(status.state, UpdateState::Failed, "{status:?}");
        if switches == most {
            return wait(service.stop());
        }
        let begun = match scrambled(k).is_multiple_of(3) {
            true => service.revert(None),
            false => service.update(UpdateRequest::default()),
        };
        match begun {
            Ok(_) => {
                switches += 1;
                tell(format!("switch {switches}\n"));
            }
            Err(UpdateRefused::First | UpdateRefused::Nothing) => (),
            Err(refused) => panic!("{refused}"),
        }
    }
}

/// As a child this works until it is killed.
#[test]
fn working() {
    if let (Ok(path), Ok(from)) = (std::env::var(CHILD), std::env::var(FROM)) {
        // Past the test harness, which would keep what is printed to itself.
        let tell = |line: String| std::io::stdout().write_all(line.as_bytes()).unwrap();
        let from: u64 = from.parse().unwrap();
        work(Path::new(&path), from..from + CHANGES, u64::MAX, tell);
    }
}

#[test]
fn a_killed_update_leaves_one_version_whole() {
    let kills = std::env::var("LION_UPDATE_CRASHES").map_or(24, |kills| kills.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (mut known, mut pace) = (HashMap::new(), Duration::ZERO);
    let (mut done, mut switched) = (0, 0);
    for round in 0..kills {
        // In the first, the second or the third switch of the child, or soon after it.
        let switches = 3 - round % 3;
        killed(&path, round, switches, &mut known, &mut pace);
        done += switches - 1;
        switched = looked_at(&path, &known);
        assert!(switched >= done, "{switched} switches of {done} that were done");
    }
    assert!(known.len() as u64 > kills, "{} changes", known.len());
    println!("{kills} kills, {} changes acknowledged, {switched} switches", known.len());
}

/// Starts a child and kills it at a random moment after it has begun so many switches. What it acknowledged is known then, by
/// event. `pace` is the time that a switch takes on this machine.
fn killed(path: &Path, round: u64, switches: u64, known: &mut HashMap<u64, u64>, pace: &mut Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "updating::working", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .env(FROM, (round * CHANGES).to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let (mut lines, mut begun, mut count) = (Vec::new(), Instant::now(), 0);
    while count < switches {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "the child ended by itself");
        if line.starts_with("switch") {
            if count > 0 {
                *pace = begun.elapsed();
            }
            (begun, count) = (Instant::now(), count + 1);
        }
        lines.push(line);
    }
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        // The last line may be cut off, and then it was not said.
        while said.read_line(&mut line).is_ok_and(|bytes| bytes > 0) && line.ends_with('\n') {
            lines.push(std::mem::take(&mut line));
        }
        lines
    });
    std::thread::sleep(*pace * (scrambled(round ^ 0xBEEF) % 120) as u32 / 100);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "it was killed, it did not end");
    known.extend(reader.join().unwrap().iter().filter_map(|line| acknowledged(line)));
}

/// The event and the number of a change that a line of a child acknowledges.
pub(crate) fn acknowledged(line: &str) -> Option<(u64, u64)> {
    let (n, k) = line.strip_prefix("ack ")?.trim_end().split_once(' ')?;
    Some((n.parse().ok()?, k.parse().ok()?))
}

/// Opens the store as a new service would, and compares it with what is known. Gives how many switches there were.
pub(crate) fn looked_at(path: &Path, known: &HashMap<u64, u64>) -> u64 {
    let service = Service::start(lion(), &at(path)).unwrap();
    let (view, map) = (service.view(), service.view().map().clone());
    let (mut latest, mut version, mut switches) = (HashMap::new(), 1, 0);
    for logged in events(path, 1) {
        let event: Event = serde_json::from_str(&logged.json).unwrap();
        if let lion_tsne::live::What::MapUpdated(updated) = &event.what {
            assert_eq!(updated.from, version, "versions follow each other");
            version = updated.version;
            switches += 1;
        }
        if let Some(now) = event.sighting() {
            let k: u64 = now.label.as_ref().unwrap().parse().unwrap();
            assert!(known.get(&event.n).is_none_or(|acknowledged| *acknowledged == k));
            latest.insert(now.id.clone(), k);
        }
    }
    assert!(known.keys().all(|&n| n <= view.last()), "acknowledged and lost");
    assert_eq!((map.number(), view.len()), (version, latest.len()));
    // Every point is where the map of this version puts its latest row.
    for point in view.points() {
        let placed = map.lion.place_row(&row(latest[&point.id])).unwrap();
        assert_eq!(point.placement.verdict, placed.verdict, "{} in version {version}", point.id);
        if !point.is_outlier() {
            assert_eq!(point.placement.place, placed.place, "{} in version {version}", point.id);
        }
    }
    wait(service.stop());
    switches
}

#[test]
fn a_store_goes_on_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    let changes = (0..40).map(|k| Change::Upsert(arrival(&format!("p{k}"), k))).collect();
    wait(service.submit(Work::Changes(changes))).unwrap();
    service.update(UpdateRequest::default()).unwrap();
    while service.update_status().state == UpdateState::Running {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (checksum, places) = (service.view().map().record.checksum.clone(), placements(&service));
    assert_eq!(service.view().map().number(), 2, "{:?}", service.update_status());
    wait(service.stop());
    // Given the map that the store was made for, or any other version of it.
    for _ in 0..2 {
        let service = Service::start(lion(), &at(&path)).unwrap();
        assert_eq!(service.view().map().record.checksum, checksum);
        assert_eq!(placements(&service), places);
        wait(service.stop());
    }
    let file = folder.path().join("live.db.map-2.lion");
    let left_over = folder.path().join("live.db.map-9.lion");
    std::fs::copy(&file, &left_over).unwrap();
    std::fs::remove_file(&file).unwrap();
    let Err(refused) = Service::start(lion(), &at(&path)) else { panic!("a version without its map") };
    let refused = refused.to_string();
    assert!(refused.contains("live.db.map-2.lion: version 2 of the map cannot be read"), "{refused}");
    assert!(!left_over.exists(), "a file that no version names is left over from a crash");
}

fn placements(service: &Service) -> Vec<String> {
    service.view().points().map(|point| serde_json::to_string(&**point).unwrap()).collect()
}
