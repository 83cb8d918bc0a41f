//! Old events go, points stay, numbers go on.

use crate::common::{TestClock, at, delete, events, kept, lion, submit, upsert};
use lion_server::{Retain, Service, Settings};

#[test]
fn the_latest_events_are_kept_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let settings = Settings { retain: Some(Retain::Events(200)), ..at(&path) };
    let service = Service::start(lion(), &settings).unwrap();
    for k in 0..50 {
        let changes = (0..20).map(|i| upsert(&format!("p{i}"), 20 * k + i)).collect();
        let last = submit(&service, changes).unwrap().last;
        let first = service.first();
        assert!(last + 1 - first >= last.min(200) && last + 1 - first < 300, "{first} to {last}");
    }
    let (first, digest) = (service.first(), kept(&path, &lion()).digest());
    wait_and_reopen(service, &settings, first);
    assert_eq!(kept(&path, &lion()).digest(), digest);
    let log = events(&path, first);
    assert_eq!(log.last().unwrap().n, kept(&path, &lion()).last());
}

fn wait_and_reopen(service: Service, settings: &Settings, first: u64) {
    crate::common::wait(service.stop());
    let service = Service::start(lion(), settings).unwrap();
    assert_eq!((service.first(), service.view().len()), (first, 20));
}

#[test]
fn the_latest_events_are_kept_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let clock = TestClock::default();
    let settings = Settings { retain: Some("1m".parse().unwrap()), ..clock.settings(&path) };
    let service = Service::start(lion(), &settings).unwrap();
    for k in 0..300 {
        clock.set(1000 + k);
        submit(&service, (0..4).map(|i| upsert(&format!("p{i}"), 4 * k + i)).collect()).unwrap();
    }
    let log = events(&path, service.first());
    // Whole portions are pruned, so a little more than asked for is there.
    assert!(log[0].t > 1200.0 && log[0].t <= 1299.0 - 60.0, "{}", log[0].t);
    assert_eq!(log.last().unwrap().t, 1299.0);
    // After a long silence all but the newest are old.
    clock.set(9000);
    submit(&service, vec![upsert("p0", 1)]).unwrap();
    let then = service.first();
    submit(&service, (0..40).map(|k| upsert("p0", k)).collect()).unwrap();
    assert!(then > log[0].n || service.first() > log[0].n);
    submit(&service, vec![delete("p3")]).unwrap();
    assert_eq!(service.view().len(), 3);
    events(&path, service.first());
}

/// However old all else is, what was acknowledged last is there.
#[test]
fn a_batch_after_a_silence_is_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let clock = TestClock::default();
    let settings = Settings { retain: Some("1m".parse().unwrap()), ..clock.settings(&path) };
    let service = Service::start(lion(), &settings).unwrap();
    clock.set(1000);
    submit(&service, (0..100).map(|k| upsert("p0", k)).collect()).unwrap();
    clock.set(9000);
    let last = submit(&service, (0..40).map(|k| upsert("p1", k)).collect()).unwrap().last;
    assert_eq!((service.first(), events(&path, service.first()).len()), (last - 39, 40));
}
