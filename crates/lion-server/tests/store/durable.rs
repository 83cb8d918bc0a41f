//! Acknowledged is on disk.

use crate::common::{TestClock, arrival, at, delete, events, kept, lion, submit, upsert, wait};
use lion_server::{Refused, Service, Settings, StoredEvents, Work};
use lion_tsne::live::{Arrival, Change, Event, Live, LiveOptions};
use std::path::Path;

/// A stream with everything in it: new points, changed ones, outliers, removed ones that come back.
fn stream(from: u64, to: u64) -> Vec<Change> {
    (from..to)
        .map(|k| match k % 10 {
            9 => delete(&format!("p{}", (k - 5) % 40)),
            _ => upsert(&format!("p{}", k % 40), k),
        })
        .collect()
}

/// The changes that the log says happened.
fn replayed(path: &Path, rows: impl Fn(u64) -> Vec<f32>) -> Live {
    let mut live = Live::new(lion(), LiveOptions::default()).unwrap();
    for logged in events(path, 1) {
        let event: Event = serde_json::from_str(&logged.json).unwrap();
        let (Some(id), t) = (event.id().map(String::from), Some(event.t)) else { continue };
        let change = match event.sighting() {
            None => Change::Delete { id, t },
            Some(now) => {
                let k = now.label.as_ref().unwrap().parse().unwrap();
                Change::Upsert(Arrival { id, row: rows(k), label: now.label.clone(), t })
            }
        };
        live.apply(vec![change]).unwrap();
    }
    live
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (path, lion) = (folder.path().join("live.db"), lion());
    let mut last = 0;
    let clock = TestClock::default();
    for (from, to) in [(0, 1), (1, 130), (130, 131), (131, 400)] {
        clock.set(1000 + from);
        let service = Service::start(lion.clone(), &clock.settings(&path)).unwrap();
        assert_eq!((service.view().last(), service.feed().last()), (last, last));
        let receipt = submit(&service, stream(from, to)).unwrap();
        assert_eq!(receipt.events.len() as u64, to - from);
        last = receipt.last;
        // Dropped, not stopped: nothing is written after the answer.
    }
    let live = kept(&path, &lion);
    assert_eq!(live.last(), last);
    assert_eq!(live.digest(), replayed(&path, crate::common::row).digest());
    assert_eq!(events(&path, 1).len() as u64, last);
    assert!(live.groups().len() > 2 && live.points().len() > 20, "the stream is not dull");

    let service = Service::start(lion, &clock.settings(&path)).unwrap();
    let view = service.view();
    assert!(view.points().map(|point| &**point).eq(live.points()));
    assert_eq!(view.groups().len(), live.groups().len());
    assert_eq!(**view.health(), live.health());
}

#[test]
fn how_work_is_cut_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::default();
    clock.set(1000);
    let digests = [1, 7, 300].map(|portion| {
        let path = folder.path().join(format!("{portion}.db"));
        let service = Service::start(lion(), &clock.settings(&path)).unwrap();
        for changes in stream(0, 300).chunks(portion) {
            submit(&service, changes.to_vec()).unwrap();
        }
        wait(service.stop());
        (kept(&path, &lion()).digest(), events(&path, 1))
    });
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
}

#[test]
fn many_submitters_share_commits_and_each_gets_its_own_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    let receipts = wait(async {
        let mut tasks = tokio::task::JoinSet::new();
        for who in 0..16 {
            let service = service.clone();
            tasks.spawn(async move {
                let mut receipts = Vec::new();
                for k in 0..20 {
                    let (id, k) = (format!("{who}-{}", k % 7), who * 1000 + k);
                    let receipt = service.submit(Work::Changes(vec![upsert(&id, k)])).await.unwrap();
                    assert_eq!(receipt.events.len(), 1);
                    assert_eq!(receipt.events[0].id(), Some(id.as_str()));
                    assert!(receipt.last >= receipt.events[0].n);
                    // What was answered is seen at once.
                    assert!(service.view().last() >= receipt.last);
                    receipts.push((receipt.events[0].n, k.to_string()));
                }
                receipts
            });
        }
        tasks.join_all().await.concat()
    });
    let log = events(&path, 1);
    for (n, label) in &receipts {
        let event: Event = serde_json::from_str(&log[*n as usize - 1].json).unwrap();
        assert_eq!(event.sighting().unwrap().label.as_ref(), Some(label));
    }
    let stats = service.stats();
    let commits: u64 = stats.commits.iter().sum();
    assert_eq!((stats.arrivals, stats.removals, stats.queue_rows), (320, 0, 0));
    assert!(commits < 200, "{commits} commits for 320 works of 16 submitters");
}

#[test]
fn a_snapshot_is_all_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, stream(0, 60)).unwrap();
    let before = service.view();
    let arrivals = vec![arrival("p3", 900), arrival("new", 901)];
    let receipt = wait(service.submit(Work::Snapshot(arrivals))).unwrap();
    let kinds: Vec<&str> = receipt.events.iter().map(|event| event.kind()).collect();
    assert_eq!(receipt.events.len(), 2 + before.len() - 1);
    assert!(kinds[2..].iter().all(|kind| *kind == "removed"), "{kinds:?}");
    let ids: Vec<String> = service.view().points().map(|point| point.id.clone()).collect();
    assert_eq!(ids, ["p3", "new"]);
    let times: Vec<f64> = receipt.events.iter().map(|event| event.t).collect();
    assert!(times.iter().all(|t| *t == times[0]), "they leave as the others arrive: {times:?}");
    // Who looked before still sees what was there.
    assert!(before.len() > 30 && before.points().count() == before.len());

    let receipt = wait(service.submit(Work::Snapshot(vec![]))).unwrap();
    assert_eq!(receipt.events.len(), 2);
    assert!(receipt.events[0].t > 1e9, "an empty one has the time of the clock");
    assert!(service.view().is_empty() && service.view().groups().is_empty());
    drop(service);
    assert_eq!(kept(&path, &lion()).digest(), replayed(&path, crate::common::row).digest());
}

#[test]
fn a_point_has_its_row_and_its_history() {
    let service = Service::start(lion(), &Settings::default()).unwrap();
    assert!(service.is_temporary());
    for k in 0..150 {
        submit(&service, vec![upsert("a", k), upsert(&format!("b{k}"), k)]).unwrap();
    }
    let record = wait(service.point("a")).unwrap();
    assert_eq!(record.row, crate::common::row(149));
    assert_eq!(record.point.label.as_deref(), Some("149"));
    let history: Vec<Event> =
        record.history.iter().map(|json| serde_json::from_slice(json).unwrap()).collect();
    assert_eq!(history.len(), 100);
    assert!(history.iter().all(|event| event.id() == Some("a")));
    let labels = history.iter().map(|event| event.sighting().unwrap().label.clone().unwrap());
    assert!(labels.eq((50..150).map(|k| k.to_string())));

    submit(&service, vec![delete("a"), upsert("a", 7)]).unwrap();
    let again = wait(service.point("a")).unwrap();
    assert_eq!((again.history.len(), again.row), (1, crate::common::row(7)));
    submit(&service, vec![delete("a")]).unwrap();
    assert_eq!(wait(service.point("a")).unwrap_err(), Refused::NotFound { id: "a".into() });
    let path = service.store().to_path_buf();
    assert!(path.exists());
    wait(service.stop());
    assert!(!path.exists(), "a temporary store is deleted at the end");
}

#[test]
fn a_store_is_read_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, stream(0, 20)).unwrap();
    let archive = StoredEvents::open(&path).unwrap();
    assert_eq!(archive.map(), Some(lion().map().checksum().unwrap().as_str()));
    let seen = archive.after(0, 1000).unwrap();
    submit(&service, stream(20, 40)).unwrap();
    let all: Vec<_> = archive.events().map(Result::unwrap).collect();
    assert!(all.len() >= seen.len() + 20 && all.starts_with(&seen));
    assert_eq!(all.last().unwrap().n, service.view().last());
    let last = all.last().unwrap();
    let event: Event = serde_json::from_str(&last.json).unwrap();
    assert_eq!(
        (event.n, event.t, event.kind(), event.id()),
        (last.n, last.t, &*last.kind, last.id.as_deref())
    );
    assert_eq!(archive.live(lion(), LiveOptions::default()).unwrap().last(), last.n);
}

#[test]
fn the_time_for_which_a_service_was_down_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let clock = TestClock::default();
    clock.set(1000);
    let service = Service::start(lion(), &clock.settings(&path)).unwrap();
    submit(&service, stream(0, 100)).unwrap();
    assert_eq!((service.view().health().arrivals, service.view().health().rate > 10.0), (90, true));
    // Dropped as by a crash, and started again an hour later.
    drop(service);
    clock.set(1000 + 3600);
    let service = Service::start(lion(), &clock.settings(&path)).unwrap();
    let health = service.view().health().clone();
    assert_eq!((health.arrivals, health.rate, health.points > 20), (0, 0.0, true));
    submit(&service, vec![upsert("new", 5)]).unwrap();
    assert!(service.view().health().rate < 0.01, "{}", service.view().health().rate);
}

/// Back by an hour, ahead by ten years, and to the beginning: while it runs, and while it does not.
#[test]
fn a_clock_that_jumps_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("live.db"), TestClock::default());
    let year = 31_536_000;
    let (mut k, mut last) = (0, 0);
    for times in [[2_000_000_000, 1_999_996_400], [0, 2_000_000_000 + 10 * year], [2_000_000_000, 1_000]] {
        clock.set(times[0]);
        let service = Service::start(lion(), &clock.settings(&path)).unwrap();
        assert_eq!(service.view().last(), last);
        for (at, seconds) in times.into_iter().cycle().take(6).enumerate() {
            clock.set(seconds + at as u64);
            let receipt = submit(&service, stream(k, k + 30)).unwrap();
            assert_eq!(receipt.events.len(), 30);
            (k, last) = (k + 30, receipt.last);
        }
    }
    let log = events(&path, 1);
    let times: Vec<f64> =
        log.iter().map(|logged| serde_json::from_str::<Event>(&logged.json).unwrap().t).collect();
    assert!(times.is_sorted() && times.last() > times.first(), "an event is before the one that it follows");
    assert!(log.len() as u64 == last && last >= k);
    assert_eq!(kept(&path, &lion()).digest(), replayed(&path, crate::common::row).digest());
}
