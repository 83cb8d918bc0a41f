//! Tables of an earlier version become those of this one while the program is killed: all of them or none, and nothing is
//! lost.
//!
//! `LION_MIGRATION_CRASHES=200` kills two hundred times.

use crate::common::{at, kept, lion, scrambled, wait};
use crate::refusing::downgraded;
use lion_server::{Service, StoreError, StoredEvents};
use rusqlite::Connection;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The store that a child is to open.
const CHILD: &str = "LION_MIGRATION_CHILD";
/// So many points that their rows take a while to move.
const POINTS: u64 = 4000;

/// Looks at a store that was being brought up to date: its tables are those of one version, and it goes on as the live map
/// with this digest. Gives the version.
pub(crate) fn looked_at(path: &Path, digest: u64) -> i64 {
    let version = version(path);
    let archive = StoredEvents::open(path).unwrap();
    let is_old = matches!(archive.moment(), Err(StoreError::Older(_)));
    assert_eq!(is_old, version == 1, "version {version}");
    wait(Service::start(lion(), &at(path)).unwrap().stop());
    assert_eq!(kept(path, &lion()).digest(), digest, "points of version {version} are lost");
    let log = Connection::open(path).unwrap();
    let events: i64 = log.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(events as u64, kept(path, &lion()).last());
    version
}

/// The version of a store, whose tables must be those of that version.
fn version(path: &Path) -> i64 {
    let store = Connection::open(path).unwrap();
    let count = |select: &str| store.query_row(select, [], |row| row.get::<_, i64>(0)).unwrap();
    let version = count("PRAGMA user_version");
    let rows_in_points = count("SELECT count(*) FROM pragma_table_info('points') WHERE name = 'row'");
    let new = "('given_rows', 'versions', 'switches', 'titles', 'notices')";
    let new_tables =
        count(&format!("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN {new}"));
    let expected = [(1, 0), (0, 5)][version as usize - 1];
    assert_eq!((rows_in_points, new_tables), expected, "tables of version {version}");
    version
}

#[test]
fn a_killed_migration_leaves_one_version_whole() {
    if let Ok(path) = std::env::var(CHILD) {
        return wait(Service::start(lion(), &at(Path::new(&path))).unwrap().stop());
    }
    let kills = std::env::var("LION_MIGRATION_CRASHES").map_or(20, |kills| kills.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let digest = downgraded(&path, POINTS);
    let old = std::fs::read(&path).unwrap();
    let whole = opened(&path, None);
    let mut found = [0; 2];
    for round in 0..kills {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("live.db{end}")));
        }
        std::fs::write(&path, &old).unwrap();
        // Sooner or later than a whole run takes.
        let after = whole.mul_f64((scrambled(round) % 1200) as f64 / 1000.0);
        opened(&path, Some(after));
        found[looked_at(&path, digest) as usize - 1] += 1;
    }
    println!("{kills} kills: {} stores of version 1, {} of version 2, none lost", found[0], found[1]);
    assert!(found.iter().all(|&stores| stores > 0), "{found:?}: no kill came before the end, or all did");
}

/// Lets a child open a store, for so long or to its end. Gives how long it took.
fn opened(path: &Path, until: Option<Duration>) -> Duration {
    let begun = Instant::now();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "migrating::a_killed_migration_leaves_one_version_whole", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    if let Some(until) = until {
        std::thread::sleep(until);
        // It may have come to its end by now.
        let _ = child.kill();
    }
    let status = child.wait().unwrap();
    assert!(until.is_some() || status.success(), "{status}");
    begun.elapsed()
}
