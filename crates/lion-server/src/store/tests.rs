//! What a store promises of its file, below what services see of it.

use super::versions::{Switching, is_version_file, map_file, tidy_files};
use super::*;
use rusqlite::ErrorCode;
use rusqlite::ffi;
use std::fs;

fn open(path: Option<&Path>) -> Store {
    Store::open(Arc::new(Location::new(path).unwrap()), "some map", None).unwrap()
}

/// Keeps nothing but these bytes.
fn keep(store: &mut Store, aux: &[u8]) {
    let notes = NotesChanged::default();
    let commit = Commit {
        events: &[],
        previous: &[],
        slabs: &[],
        gone: &[],
        points: &[],
        groups: &[],
        switch: None::<Switching<'_>>,
        notes: &notes,
        aux,
        last: 0,
        now: 0.0,
    };
    store.commit(&commit).unwrap();
}

#[test]
fn commits_wait_for_the_disk_unless_the_store_is_temporary() {
    let folder = tempfile::tempdir().unwrap();
    let synchronous = |path: Option<&Path>| {
        let store = open(path);
        let number =
            |name| store.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let mode: String =
            store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        (mode, number("synchronous"), number("wal_autocheckpoint"), number("journal_size_limit"))
    };
    let (off, full) = (0, 2);
    let limit = WAL_BYTES as i64;
    assert_eq!(synchronous(Some(&folder.path().join("live.db"))), ("wal".into(), full, 0, limit));
    assert_eq!(synchronous(None), ("wal".into(), off, 0, limit));
}

#[test]
fn a_log_that_has_grown_is_moved_into_the_file_and_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let mut store = open(Some(&path));
    let sizes = || (fs::metadata(&path).unwrap().len(), fs::metadata(log_of(&path)).unwrap().len());
    let (file, _) = sizes();
    keep(&mut store, &[1; 100_000]);
    store.tidy();
    assert_eq!(sizes().0, file, "a small log is left as it is");
    for round in 0..6 {
        keep(&mut store, &vec![round; 9 << 20]);
        store.tidy();
    }
    let (file, log) = sizes();
    assert!(file > 9 << 20 && log < 32 << 20, "{file} bytes, and {log} in the log of 54 MB");
    assert_eq!(store.location.bytes(), file + log);
    store.close();
    assert!(fs::metadata(log_of(&path)).map_or(0, |log| log.len()) == 0);
    assert!(open(None).location.is_temporary() && !open(Some(&path)).location.is_temporary());
}

#[test]
fn what_sqlite_says_is_said_in_one_sentence() {
    let said = |code: i32| {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let error = StoreError::from_sqlite(Path::new("live.db"), &error);
        (error.is_full(), error.to_string())
    };
    let locked = "live.db: another program has locked this store: close what has it open and try again";
    let unwritable = "live.db: may not be written to: change its permissions or name another file";
    for (code, sentence) in [
        (ffi::SQLITE_BUSY, locked),
        (ffi::SQLITE_LOCKED, locked),
        (
            ffi::SQLITE_NOTADB,
            "live.db: this is not a store of live points: name one that `lion serve --store` made, or, to serve, a file that is not there yet",
        ),
        (
            ffi::SQLITE_CORRUPT,
            "live.db: this store is damaged (its pages do not fit together): bring it back from a copy, or name another file",
        ),
        (ffi::SQLITE_FULL, "live.db: the disk is full: make room on it and send the points again"),
        (
            ffi::SQLITE_IOERR,
            "live.db: the system refused to read or write it: is the disk full, or at fault?",
        ),
        (ffi::SQLITE_CANTOPEN, "live.db: cannot be opened: is the folder there, and may it be written to?"),
        (ffi::SQLITE_READONLY, unwritable),
        (ffi::SQLITE_PERM, unwritable),
    ] {
        assert_eq!(said(code), (code == ffi::SQLITE_FULL, sentence.to_owned()));
    }
    assert!(said(ffi::SQLITE_NOMEM).1.starts_with("live.db: cannot be read or written: "));
    // A column that holds what it never should is no fault of SQLite.
    let own = rusqlite::Error::IntegralValueOutOfRange(0, -1);
    assert_eq!(own.sqlite_error_code(), None::<ErrorCode>);
    assert!(matches!(StoreError::from_sqlite(Path::new("live.db"), &own), StoreError::Damaged { .. }));
}

/// Events with these times, from number 5 on; every other one of a point, which some remove.
fn logged(connection: &Connection, times: &[f64]) {
    for (n, t) in (5..).zip(times) {
        let kind = if n % 3 == 0 { "removed" } else { "updated" };
        let id = (n % 2 == 0).then(|| format!("p{}", n % 4));
        let previous = (n > 8).then_some(n - 4);
        let json = format!("{{\"n\":{n}}}");
        let insert = "INSERT INTO events (n, t, kind, id, previous, json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        connection.execute(insert, params![n, t, kind, id, previous, json]).unwrap();
    }
}

#[test]
fn changes_between_two_times_are_found_as_by_looking_at_all() {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, Path::new("some.db"), schema::STEPS).unwrap();
    let found = |connection: &Connection, from: f64, to: f64| {
        let mut found = Vec::new();
        let visit = |key: &ChangeKey<'_>| {
            found.push((key.n, key.t, key.id.to_owned(), key.was_there, key.is_there));
        };
        changes_between(connection, from, to, visit).unwrap();
        found
    };
    assert!(found(&connection, 0.0, 1e9).is_empty());
    // Several at one time, and times between which nothing is.
    let times: Vec<f64> = (0..40).map(|k: u32| f64::from(k / 3 + k / 10 * 5)).collect();
    logged(&connection, &times);
    let moments: Vec<f64> = (-1..=36).flat_map(|t| [f64::from(t), f64::from(t) + 0.5]).collect();
    for &from in &moments {
        for &to in &moments {
            let expected: Vec<_> = (5..)
                .zip(&times)
                .filter(|&(n, &t)| n % 2 == 0 && from <= t && t < to)
                .map(|(n, &t)| (n, t, format!("p{}", n % 4), n > 8, n % 3 != 0))
                .collect();
            assert_eq!(found(&connection, from, to), expected, "{from} to {to}");
        }
    }
}

#[test]
fn a_log_is_read_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let store = open(Some(&path));
    logged(&store.connection, &[0.0; 30]);
    let readers = Readers::new(store.location.clone());
    let numbers = |found: Result<Vec<(u64, bytes::Bytes)>, StoreError>| {
        let found = found.unwrap();
        assert!(found.iter().all(|(n, json)| format!("{{\"n\":{n}}}").as_bytes() == json));
        found.into_iter().map(|(n, _)| n).collect::<Vec<_>>()
    };
    assert_eq!(numbers(readers.after(0, 3)), [5, 6, 7]);
    assert_eq!(numbers(readers.after(32, 30)), [33, 34]);
    assert_eq!(numbers(readers.after(34, 30)), [0; 0]);
    assert_eq!(numbers(readers.before(8, 2)), [6, 7]);
    assert_eq!(numbers(readers.before(7, 30)), [5, 6]);
    assert_eq!(numbers(readers.before(5, 30)), [0; 0]);
    // Numbers beyond those of SQLite are beyond all events.
    assert_eq!(numbers(readers.after(u64::MAX, 30)), [0; 0]);
    assert_eq!(numbers(readers.before(u64::MAX, 2)), [33, 34]);
    let after = logged_after(&store.connection, 30, 3, |row| number(row, 0)).unwrap();
    assert_eq!(after, [31, 32, 33]);

    // Large ones come a few at a time, and at least one.
    let large = |megabytes: usize| format!("\"{}\"", "x".repeat(megabytes << 20));
    for (n, megabytes) in [(35, 1), (36, 1), (37, 5), (38, 0)] {
        let insert = "INSERT INTO events (n, t, kind, json) VALUES (?1, 0, 'updated', ?2)";
        store.connection.execute(insert, params![n, large(megabytes)]).unwrap();
    }
    let large = |after| readers.after(after, 10).unwrap().into_iter().map(|(n, _)| n).collect::<Vec<_>>();
    assert_eq!((large(34), large(36), large(37)), (vec![35, 36], vec![37], vec![38]));
}

#[test]
fn a_path_without_a_store_is_told_for_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "no store").unwrap();
    let said = |path: &Path| open_to_read(path).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said(&folder.path().join("live.db")).ends_with("live.db: there is no such store"));
    assert!(said(folder.path()).ends_with(": is a folder: name a store in it"));
    let inside = said(&file.join("live.db"));
    assert!(inside.contains("cannot be opened: is the folder there"), "{inside}");
    assert_eq!(said(&file), "", "what is in it is found out later");
}

#[test]
fn a_connection_that_failed_is_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(Some(&folder.path().join("live.db")));
    logged(&store.connection, &[0.0; 3]);
    let readers = Readers::new(store.location.clone());
    let idle = || readers.idle.lock().unwrap().len();
    readers.after(0, 10).unwrap();
    readers.after(0, 10).unwrap();
    assert_eq!(idle(), 1, "one is enough where one asks after the other");
    store.connection.execute("UPDATE events SET json = '{' WHERE n = 6", []).unwrap();
    let said = readers.after(0, 10).unwrap_err().to_string();
    assert!(said.contains("event 6 is not what was written"), "{said}");
    assert_eq!(idle(), 0);
    assert_eq!(readers.after(6, 10).unwrap().len(), 1);
}

fn record(version: u64, parent: Option<u64>) -> VersionRecord {
    let (checksum, prefix) = (format!("checksum {version}"), String::new());
    VersionRecord { version, parent, checksum, prefix, kept: true }
}

#[test]
fn an_event_tells_its_version_of_the_map() {
    let switch = |event, from, to| SwitchRecord { event, t: 0.0, from, to };
    let versions = Versions {
        version: 2,
        versions: vec![record(1, None), record(2, Some(1)), record(7, Some(2))],
        switches: vec![switch(10, 1, 2), switch(20, 2, 7), switch(30, 7, 2)],
    };
    for (event, version) in [(0, 1), (9, 1), (10, 2), (19, 2), (20, 7), (29, 7), (30, 2), (31, 2), (99, 2)] {
        assert_eq!(versions.at(event), version, "{event}");
    }
    assert_eq!((versions.since(), versions.next()), (30, 8));
    assert_eq!(versions.current(), Some(&record(2, Some(1))));
    assert_eq!((versions.get(7), versions.get(3)), (Some(&record(7, Some(2))), None));
    let new = Versions { version: 1, versions: vec![record(1, None)], switches: Vec::new() };
    assert_eq!((new.at(0), new.at(99), new.since(), new.next()), (1, 1, 0, 2));
}

#[test]
fn files_of_versions_that_nobody_can_ask_for_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("live.db");
    for version in 1..=8 {
        fs::write(map_file(&store, version), "a map").unwrap();
    }
    let others =
        ["live.db", "live.db.map-x.lion", "live.db.map-9.old", "other.db.map-3.lion", "live.db.map-.lion"];
    others.iter().for_each(|name| fs::write(folder.path().join(name), "other").unwrap());
    let known = Versions {
        version: 5,
        versions: (1..=6).map(|version| record(version, version.checked_sub(1))).collect(),
        switches: vec![SwitchRecord { event: 3, t: 0.0, from: 2, to: 7 }],
    };
    tidy_files(&store, &known);
    // The current one, its parent, and those that a switch leads from and to.
    let kept: Vec<u64> = (1..=8).filter(|&version| is_kept(&store, version)).collect();
    assert_eq!(kept, [2, 4, 5, 7]);
    assert!(others.iter().all(|name| folder.path().join(name).exists()));
}

#[test]
fn the_file_of_a_version_is_known_by_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let is = |name: &str| is_version_file(&folder.path().join(name));
    assert!(!is("live.db.map-2.lion"), "there is no store");
    fs::write(folder.path().join("live.db"), "").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    assert!(is("live.db.map-2.lion") && is("live.db.map-10.lion"));
    for other in [
        "live.db",
        "live.db.map-2",
        "live.db.map-x.lion",
        "live.db.map-2.lion.old",
        "2.lion",
        "folder.map-2.lion",
    ] {
        assert!(!is(other), "{other}");
    }
}

#[test]
fn a_store_with_an_impossible_version_is_damaged() {
    let connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "application_id", 0x4C49_4F4E).unwrap();
    let check = |version: i64| {
        connection.pragma_update(None, "user_version", version).unwrap();
        schema::check(&connection, Path::new("some.db"), schema::STEPS).map_err(|error| error.to_string())
    };
    assert_eq!((check(1), check(2)), (Ok(1), Ok(2)));
    for version in [0, -3] {
        let said = check(version).unwrap_err();
        assert!(
            said.starts_with(&format!("some.db: this store is damaged (its version is {version})")),
            "{said}"
        );
    }
    assert!(check(3).unwrap_err().contains("this store has version 3 and this program knows up to 2"));
    // An empty file is one to begin with, unless it says that it is of another program.
    let empty = Connection::open_in_memory().unwrap();
    assert_eq!(schema::check(&empty, Path::new("some.db"), schema::STEPS).unwrap(), 0);
    empty.pragma_update(None, "application_id", 7).unwrap();
    let other = schema::check(&empty, Path::new("some.db"), schema::STEPS);
    assert!(matches!(other, Err(StoreError::NotAStore(_))));
    let mut tables = Connection::open_in_memory().unwrap();
    tables.execute_batch("CREATE TABLE t (v INTEGER)").unwrap();
    assert!(schema::migrate(&mut tables, Path::new("some.db"), schema::STEPS).is_err());
}
