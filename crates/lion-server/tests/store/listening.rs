//! Who listens hears every event once, however slow.

use crate::common::{lion, submit, upsert, wait};
use lion_server::{FeedBatch, Missed, Retain, Service, Settings};
use std::time::Duration;

#[test]
fn a_slow_listener_catches_up_from_the_store() {
    // Memory for a handful of events.
    let service = Service::start(lion(), &Settings { ring: 4096, ..Settings::default() }).unwrap();
    for k in 0..3000 / 50 {
        submit(&service, (0..50).map(|i| upsert(&format!("p{i}"), 50 * k + i)).collect()).unwrap();
    }
    assert!(matches!(service.feed().after(10), FeedBatch::TooOld));
    let last = service.view().last();
    let (mut heard, mut calls) = (0, 0);
    wait(async {
        while heard < last {
            for run in service.next(heard).await.unwrap() {
                let frames = String::from_utf8(run.frames().to_vec()).unwrap();
                let mut told = frames.split_terminator("\n\n");
                for (n, json) in run.events() {
                    heard += 1;
                    assert_eq!(n, heard);
                    let json = std::str::from_utf8(&json).unwrap();
                    assert!(json.starts_with(&format!("{{\"n\":{n},")), "{json}");
                    assert_eq!(told.next(), Some(format!("id: {n}\ndata: {json}").as_str()));
                }
                assert_eq!((told.next(), run.last()), (None, heard));
            }
            calls += 1;
        }
    });
    assert!(calls > 2, "it came in portions");
}

#[test]
fn listeners_wait_and_hear_what_comes() {
    let service = Service::start(lion(), &Settings::default()).unwrap();
    let nothing =
        wait(async { tokio::time::timeout(Duration::from_millis(20), service.next(0)).await.is_err() });
    assert!(nothing, "there is nothing to hear yet");
    wait(async {
        let listener = tokio::spawn({
            let service = service.clone();
            async move { service.next(0).await.unwrap()[0].events().next().unwrap().0 }
        });
        tokio::task::yield_now().await;
        service.submit(lion_server::Work::Changes(vec![upsert("a", 1)])).await.unwrap();
        assert_eq!(listener.await.unwrap(), 1);
    });
}

#[test]
fn what_is_no_longer_kept_is_said_to_be_gone() {
    let settings = Settings { ring: 1, retain: Some(Retain::Events(100)), ..Settings::default() };
    let service = Service::start(lion(), &settings).unwrap();
    for k in 0..60 {
        submit(&service, (0..10).map(|i| upsert(&format!("p{i}"), 10 * k + i)).collect()).unwrap();
    }
    let first = service.first();
    assert!(first > 300, "{first}");
    assert_eq!(wait(service.next(5)).unwrap_err(), Missed::Gone { after: 5, first });
    assert_eq!(wait(service.history(0, 10)).unwrap_err(), Missed::Gone { after: 0, first });
    assert_eq!(wait(service.next(first - 1)).unwrap()[0].events().next().unwrap().0, first);
    let all = wait(service.history(first - 1, 10_000)).unwrap();
    let last = service.view().last();
    assert_eq!(all.len() as u64, last + 1 - first);
    assert_eq!(wait(service.history_before(last + 1, 3)).unwrap(), all[all.len() - 3..]);
    assert_eq!(wait(service.history_before(first + 2, 100)).unwrap(), all[..2]);
    assert_eq!(wait(service.history_before(u64::MAX, 1)).unwrap(), all[all.len() - 1..]);
    assert!(wait(service.history(last, 10)).unwrap().is_empty());
    assert!(wait(service.history(u64::MAX, 10)).unwrap().is_empty());
}
