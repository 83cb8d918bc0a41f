//! Bad work and bad stores get one clear sentence, and nothing else suffers.

use crate::common::{arrival, at, delete, events, kept, lion, lion_of, submit, upsert, wait};
use lion_server::{Refused, Service, Settings, StoreError, StoredEvents, Work};
use lion_tsne::live::{Arrival, Change};
use rusqlite::Connection;
use std::path::Path;

/// What is said of a store that cannot be opened; it names the file.
fn refusal(path: &Path, side: usize) -> (StoreError, String) {
    let error = Service::start(lion_of(side), &at(path)).err().expect("it is refused");
    let said = error.to_string();
    assert!(said.starts_with(&path.display().to_string()) && !said.contains('\n'), "{said}");
    (error, said)
}

fn bad(id: &str, row: Vec<f32>) -> Change {
    Change::Upsert(Arrival { id: id.into(), row, label: None, t: None })
}

#[test]
fn bad_work_among_good_is_refused_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, vec![upsert("a", 1)]).unwrap();
    let works = [
        vec![upsert("b", 2)],
        vec![upsert("c", 3), bad("d", vec![1.0, f32::NAN])],
        vec![upsert("b", 4), delete("a")],
        vec![upsert("e", 5), delete("nobody")],
        vec![bad("f", vec![1.0])],
        vec![],
        vec![bad("", vec![1.0, 1.0])],
        vec![upsert("g", 6)],
    ];
    let answers = wait(async {
        let mut tasks = tokio::task::JoinSet::new();
        for (number, changes) in works.into_iter().enumerate() {
            let service = service.clone();
            tasks.spawn(async move { (number, service.submit(Work::Changes(changes)).await) });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(number, _)| *number);
        answers.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>()
    });
    let row_of = |at: usize| match &answers[at] {
        Err(Refused::Unprocessable { row, problem }) => (*row, problem.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(answers[0].as_ref().unwrap().events[0].id(), Some("b"));
    assert_eq!(row_of(1).0, 1);
    assert!(row_of(1).1.contains("row 1, column x[2] is NaN"), "{}", row_of(1).1);
    assert_eq!(answers[2].as_ref().unwrap().events.len(), 2);
    assert_eq!(answers[3].as_ref().unwrap().absent, [(1, "nobody".to_owned())]);
    assert!(row_of(4).1.contains("1 values"), "{}", row_of(4).1);
    assert!(answers[5].as_ref().unwrap().events.is_empty());
    assert_eq!(row_of(6).0, 0);
    assert_eq!(answers[7].as_ref().unwrap().events[0].id(), Some("g"));
    let mut ids: Vec<String> = service.view().points().map(|point| point.id.clone()).collect();
    ids.sort();
    assert_eq!(ids, ["b", "e", "g"]);
    assert_eq!(events(&path, 1).len(), 6);
    // A snapshot is refused as a whole, too.
    let snapshot = vec![arrival("x", 1), Arrival { row: vec![f32::INFINITY, 0.0], ..arrival("y", 2) }];
    let refused = wait(service.submit(Work::Snapshot(snapshot))).unwrap_err();
    assert!(matches!(refused, Refused::Unprocessable { row: 1, .. }), "{refused:?}");
    assert_eq!(service.view().len(), 3);
}

#[test]
fn a_full_queue_says_so_at_once() {
    let service = Service::start(lion(), &Settings { queue: 100, ..Settings::default() }).unwrap();
    let work = |k: u64| Work::Changes((0..60).map(|i| upsert(&format!("p{i}"), 60 * k + i)).collect());
    let answers = wait(async {
        let mut tasks = tokio::task::JoinSet::new();
        for k in 0..50 {
            let service = service.clone();
            tasks.spawn(async move { service.submit(work(k)).await });
        }
        tasks.join_all().await
    });
    let busy = answers.iter().filter(|answer| matches!(answer, Err(Refused::Busy { waiting: 60 }))).count();
    let done = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(busy > 0 && done > 0 && busy + done == 50, "{busy} busy, {done} done");
    // Larger work than the queue holds is taken when nothing waits.
    submit(&service, (0..300).map(|k| upsert("a", k)).collect()).unwrap();
}

#[test]
fn after_the_end_work_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    let other = service.clone();
    wait(async {
        let last = tokio::spawn({
            let service = service.clone();
            async move { service.submit(Work::Changes(vec![upsert("a", 1)])).await }
        });
        tokio::task::yield_now().await;
        service.stop().await;
        last.await.unwrap().expect("what was waiting is done");
    });
    assert!(!other.is_ready());
    assert_eq!(submit(&other, vec![upsert("b", 1)]).unwrap_err(), Refused::Stopping);
    let log = folder.path().join("live.db-wal");
    assert_eq!(log.metadata().map_or(0, |log| log.len()), 0, "the log was moved into the file");
    assert_eq!(other.view().len(), 1);
    assert!(wait(other.point("a")).is_ok(), "what is there can be read to the end");
}

#[test]
fn one_store_has_one_service() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let first = Service::start(lion(), &at(&path)).unwrap();
    let (error, said) = refusal(&path, 12);
    assert!(matches!(error, StoreError::InUse(_)), "{said}");
    submit(&first, vec![upsert("a", 1)]).expect("the first goes on");
    drop(first);
    assert_eq!(Service::start(lion(), &at(&path)).unwrap().view().len(), 1);
}

#[test]
fn stores_of_other_maps_and_other_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    submit(&Service::start(lion(), &at(&path)).unwrap(), vec![upsert("a", 1)]).unwrap();
    let (error, said) = refusal(&path, 9);
    assert!(matches!(error, StoreError::OtherMap { .. }), "{said}");
    assert!(StoredEvents::open(&path).unwrap().live(lion_of(9), Settings::default().live).is_err());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let (error, said) = refusal(&path, 12);
    assert!(matches!(error, StoreError::Newer { found: 9, .. }), "{said}");
    assert!(matches!(StoredEvents::open(&path), Err(StoreError::Newer { .. })));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(Service::start(lion(), &at(&path)).unwrap().view().len(), 1);
}

/// Makes a store with so many points, as the first version of the tables had it. Gives the digest of its live map.
pub(crate) fn downgraded(path: &Path, points: u64) -> u64 {
    let service = Service::start(lion(), &at(path)).unwrap();
    submit(&service, (0..points).map(|k| upsert(&format!("p{k}"), k)).collect()).unwrap();
    wait(service.stop());
    let digest = kept(path, &lion()).digest();
    let connection = Connection::open(path).unwrap();
    let older = "ALTER TABLE points ADD COLUMN row BLOB NOT NULL DEFAULT x'';
        UPDATE points SET row = (SELECT row FROM given_rows WHERE given_rows.first = points.first);
        DROP TABLE given_rows; DROP TABLE versions; DROP TABLE switches; DROP TABLE titles; DROP TABLE notices;
        DELETE FROM meta WHERE key = 'version'; PRAGMA user_version = 1;";
    connection.execute_batch(older).unwrap();
    digest
}

#[test]
fn an_older_store_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let digest = downgraded(&path, 30);
    let service = Service::start(lion(), &at(&path)).unwrap();
    assert_eq!((service.view().len(), service.view().map().number()), (30, 1));
    assert_eq!(digest, kept(&path, &lion()).digest(), "nothing else has changed");
    submit(&service, vec![upsert("p3", 99)]).unwrap();
    submit(&service, vec![upsert("p3", 3)]).unwrap();
    assert_eq!(wait(service.point("p3")).unwrap().row, crate::common::row(3));
    drop(service);
    assert_ne!(digest, kept(&path, &lion()).digest(), "it goes on");
}

#[test]
fn the_files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "Dear diary, today I did not write a database. ".repeat(40)).unwrap();
    let (error, said) = refusal(&text, 12);
    assert!(matches!(error, StoreError::NotAStore(_)), "{said}");
    let cats = folder.path().join("cats.db");
    Connection::open(&cats).unwrap().execute_batch("CREATE TABLE cats (name TEXT)").unwrap();
    let before = std::fs::read(&cats).unwrap();
    let (error, said) = refusal(&cats, 12);
    assert!(matches!(error, StoreError::NotAStore(_)), "{said}");
    assert_eq!(std::fs::read(&cats).unwrap(), before);
    assert!(matches!(StoredEvents::open(&cats), Err(StoreError::NotAStore(_))));
    let beside = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(beside, 2, "nothing is left beside them");
    let (_, said) = refusal(&folder.path().join("missing/live.db"), 12);
    assert!(said.ends_with("is the folder there, and may it be written to?"), "{said}");
    assert!(StoredEvents::open(&folder.path().join("missing.db")).is_err());
    assert!(!folder.path().join("missing.db").exists(), "reading makes nothing");
}

#[test]
fn a_damaged_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, (0..500).map(|k| upsert(&format!("p{k}"), k)).collect()).unwrap();
    wait(service.stop());
    let whole = std::fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    // Each page in turn is overwritten, the first too; the file is cut off; a point is changed by hand.
    for page in (0..pages).step_by(7) {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..2000].fill(0xA5);
        std::fs::write(&path, bytes).unwrap();
        let (error, said) = refusal(&path, 12);
        assert!(
            matches!(error, StoreError::Damaged { .. } | StoreError::NotAStore(_)),
            "page {page}: {said}"
        );
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (error, said) = refusal(&path, 12);
    assert!(matches!(error, StoreError::Damaged { .. }), "{said}");
    let by_hand = [
        "UPDATE points SET json = 'no' WHERE first = 3",
        "UPDATE given_rows SET row = x'010203'",
        "DELETE FROM given_rows",
        "DELETE FROM outlier_groups",
        "DELETE FROM events WHERE n > 400",
        "UPDATE state SET aux = x'00'",
        "UPDATE state SET last = -1",
        "UPDATE versions SET parent = -1",
        "UPDATE outlier_groups SET number = -1 - number",
        "UPDATE events SET n = 9223372036854775807 WHERE n = 500",
        // A few bytes that would be a table of millions of positions.
        "UPDATE state SET aux = CAST(json_set(CAST(aux AS TEXT), '$.next_group', 140737488355328, '$.ring', 800000) AS BLOB)",
    ];
    for change in by_hand {
        std::fs::write(&path, &whole).unwrap();
        assert!(Connection::open(&path).unwrap().execute(change, []).unwrap() > 0, "{change}");
        let (error, said) = refusal(&path, 12);
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {said}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(kept(&path, &lion()).points().len(), 500);
}

#[test]
fn a_store_that_another_program_locks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, vec![upsert("a", 1)]).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = submit(&service, vec![upsert("b", 2)]).unwrap_err();
    assert!(
        matches!(&refused, Refused::Store { full: false, problem } if problem.contains("locked")),
        "{refused:?}"
    );
    assert!(!service.is_ready());
    other.execute_batch("COMMIT").unwrap();
    let receipt = submit(&service, vec![upsert("b", 2)]).unwrap();
    assert_eq!(receipt.events[0].n, 2, "refused work took no number");
    assert!(service.is_ready());
    drop(service);
    assert_eq!(events(&path, 1).len(), 2);
}

#[test]
fn one_wrong_time_does_not_stop_the_clock() {
    let service = Service::start(lion(), &Settings::default()).unwrap();
    let at = |t: f64| Arrival { t: Some(t), ..arrival("a", 1) };
    for work in
        [Work::Changes(vec![upsert("b", 2), Change::Upsert(at(1.8e12))]), Work::Snapshot(vec![at(1e14)])]
    {
        let refused = wait(service.submit(work)).unwrap_err();
        let Refused::Unprocessable { problem, .. } = &refused else { panic!("{refused:?}") };
        assert!(problem.contains("more than a day ahead of the clock"), "{problem}");
    }
    assert!(service.view().is_empty());
    // Any time that was is welcome.
    submit(&service, vec![Change::Upsert(at(12.5))]).unwrap();
}

#[test]
fn an_altered_event_is_not_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let service = Service::start(lion(), &at(&path)).unwrap();
    submit(&service, (0..20).map(|i| upsert(&format!("p{i}"), i)).collect()).unwrap();
    wait(service.stop());
    let broken = "UPDATE events SET json = replace(json, '\"n\":7,', '\"n\"}7,') WHERE n = 7";
    assert_eq!(Connection::open(&path).unwrap().execute(broken, []).unwrap(), 1);
    let archive = StoredEvents::open(&path).unwrap();
    let error = archive.events().find_map(Result::err).expect("it is found").to_string();
    assert!(error.contains("event 7 is not what was written"), "{error}");
    let service = Service::start(lion(), &at(&path)).unwrap();
    let error = wait(service.history(0, 100)).unwrap_err().to_string();
    assert!(error.contains("event 7 is not what was written"), "{error}");
    assert_eq!(wait(service.history(7, 100)).unwrap().len() as u64, service.view().last() - 7);
}
