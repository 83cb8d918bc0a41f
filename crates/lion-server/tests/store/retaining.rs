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

/// Who keeps more from now on gets nothing back, and is told so.
#[test]
fn events_that_are_gone_stay_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let work = |k: u64| (0..40).map(|i| upsert(&format!("p{i}"), 40 * k + i)).collect();
    let few = Settings { retain: Some(Retain::Events(50)), ..at(&path) };
    let service = Service::start(lion(), &few).unwrap();
    (0..10).for_each(|k| drop(submit(&service, work(k)).unwrap()));
    let first = service.first();
    assert!(first > 200);
    crate::common::wait(service.stop());
    for retain in [Some(Retain::Events(100_000)), Some(Retain::Seconds(1e9)), None] {
        let service = Service::start(lion(), &Settings { retain, ..at(&path) }).unwrap();
        for k in 10..14 {
            let last = submit(&service, work(k)).unwrap().last;
            assert_eq!((service.first(), events(&path, first).len() as u64), (first, last + 1 - first));
        }
        crate::common::wait(service.stop());
    }
}

/// Whoever sends one event does not wait until a thousand are deleted.
#[test]
fn a_commit_prunes_few_events_more_than_it_adds() {
    for retain in [Retain::Events(100), Retain::Seconds(60.0)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("live.db");
        let clock = TestClock::default();
        clock.set(1000);
        let service = Service::start(lion(), &clock.settings(&path)).unwrap();
        (0..3).for_each(|k| {
            submit(&service, (0..500).map(|i| upsert(&format!("p{i}"), 500 * k + i)).collect()).unwrap();
        });
        crate::common::wait(service.stop());
        clock.set(9000);
        let settings = Settings { retain: Some(retain), ..clock.settings(&path) };
        let service = Service::start(lion(), &settings).unwrap();
        let (mut first, mut last) = (service.first(), 0);
        assert_eq!(first, 1);
        for k in 0..40 {
            last = submit(&service, vec![upsert("p0", k)]).unwrap().last;
            let step = service.first() - first;
            assert!(step == 0 || (64..=68).contains(&step), "{step} events at once");
            first = service.first();
        }
        assert!((100..164).contains(&(last + 1 - first)) || retain == Retain::Seconds(60.0) && first > 1436);
        events(&path, first);
    }
}
