//! The versions of the map that a store has been on, and the files that keep them.
//!
//! Version 1 is the map that the store was made for. The file of a version is whole on the disk before the transaction that
//! names it; a file that no transaction names is left over from a crash and goes.

use super::StoreError;
use super::rows::{number, optional_number};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A version of the map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionRecord {
    /// Its number.
    pub version: u64,
    /// The version that it was made from; none of the first.
    pub parent: Option<u64>,
    /// The checksum of its map.
    pub checksum: String,
    /// What the ids of points are preceded by where they are ids of rows: rows that nobody named have numbers as ids, which
    /// a point may have by chance.
    #[serde(skip)]
    pub(crate) prefix: String,
    /// Whether its map is kept: it can be looked at and gone back to.
    pub kept: bool,
}

/// A change from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SwitchRecord {
    /// The event that tells of it.
    pub event: u64,
    /// When.
    pub t: f64,
    /// The version before.
    pub from: u64,
    /// The version after.
    pub to: u64,
}

/// All versions, and which is current.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versions {
    /// The current one.
    pub version: u64,
    /// By number.
    pub versions: Vec<VersionRecord>,
    /// By event.
    pub switches: Vec<SwitchRecord>,
}

impl Versions {
    /// As the store at a path has them.
    pub(crate) fn read(connection: &Connection, path: &Path) -> rusqlite::Result<Self> {
        let mut select = connection
            .prepare_cached("SELECT version, parent, checksum, prefix FROM versions ORDER BY version")?;
        let current = current_version(connection)?;
        let mut versions: Vec<VersionRecord> =
            select.query_map([], version)?.collect::<rusqlite::Result<_>>()?;
        for known in &mut versions {
            known.kept = known.version == current || is_kept(path, known.version);
        }
        let mut select =
            connection.prepare_cached("SELECT event, t, old, new FROM switches ORDER BY event")?;
        let switch = |row: &Row<'_>| {
            Ok(SwitchRecord {
                event: number(row, 0)?,
                t: row.get(1)?,
                from: number(row, 2)?,
                to: number(row, 3)?,
            })
        };
        let switches = select.query_map([], switch)?.collect::<rusqlite::Result<_>>()?;
        Ok(Self { version: current, versions, switches })
    }

    /// One of them.
    pub(crate) fn get(&self, version: u64) -> Option<&VersionRecord> {
        self.versions.iter().find(|known| known.version == version)
    }

    /// The one that the points are in.
    pub(crate) fn current(&self) -> Option<&VersionRecord> {
        self.get(self.version)
    }

    /// The event since which the points are in the current version; 0 if they always were.
    pub(crate) fn since(&self) -> u64 {
        self.switches.last().map_or(0, |switch| switch.event)
    }

    /// The version that the points were in after an event.
    pub(crate) fn at(&self, event: u64) -> u64 {
        let next = self.switches.partition_point(|switch| switch.event <= event);
        self.switches.get(next).map_or(self.version, |switch| switch.from)
    }

    /// A number that no version has.
    pub(crate) fn next(&self) -> u64 {
        self.versions.iter().map(|known| known.version).max().unwrap_or(0) + 1
    }
}

fn version(row: &Row<'_>) -> rusqlite::Result<VersionRecord> {
    Ok(VersionRecord {
        version: number(row, 0)?,
        parent: optional_number(row, 1)?,
        checksum: row.get(2)?,
        prefix: row.get(3)?,
        kept: false,
    })
}

/// The number of the current version.
pub(super) fn current_version(connection: &Connection) -> rusqlite::Result<u64> {
    let select = "SELECT value FROM meta WHERE key = 'version'";
    let version = connection.query_row(select, [], |row| row.get::<_, String>(0)).optional()?;
    Ok(version.and_then(|version| version.parse().ok()).unwrap_or(1))
}

/// The checksum of the map that a store is on.
pub(crate) fn map_of(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT value FROM meta WHERE key = 'map'", [], |row| row.get(0)).optional()
}

/// Gives the version that a store is on. Refuses the store of another map; a store that belongs to none belongs to this
/// one from now on. Any version will do: the map that a store was made for stays its name.
pub(super) fn belong(
    connection: &mut Connection,
    path: &Path,
    checksum: &str,
) -> Result<VersionRecord, StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    if map_of(connection).map_err(failed)?.is_none() {
        begin(connection, checksum).map_err(failed)?;
    }
    let known = Versions::read(connection, path).map_err(failed)?;
    if !known.versions.iter().any(|version| version.checksum == checksum) {
        let theirs = map_of(connection).map_err(failed)?.unwrap_or_default();
        return Err(StoreError::OtherMap { path: path.into(), theirs, ours: checksum.into() });
    }
    known.get(known.version).cloned().ok_or_else(|| StoreError::Damaged {
        path: path.into(),
        problem: format!("it is on version {} of its map, which it does not know", known.version),
    })
}

/// Notes the map that a new store is for.
fn begin(connection: &mut Connection, checksum: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let meta = "INSERT INTO meta (key, value) VALUES (?1, ?2)";
    transaction.execute(meta, ["map", checksum])?;
    transaction.execute(meta, ["version", "1"])?;
    let version = "INSERT INTO versions (version, parent, checksum, prefix) VALUES (1, NULL, ?1, '')";
    transaction.execute(version, [checksum])?;
    transaction.commit()
}

/// What a commit changes if it switches to another version.
pub(crate) struct Switching<'a> {
    pub(crate) to: &'a VersionRecord,
    pub(crate) from: u64,
    pub(crate) event: u64,
    pub(crate) t: f64,
    /// The points as they were before, as text.
    pub(crate) points: &'a str,
}

/// Notes a switch.
pub(super) fn write(transaction: &Transaction<'_>, switch: &Switching<'_>) -> rusqlite::Result<()> {
    let Switching { to, from, event, t, points } = switch;
    let parent = to.parent.map(|parent| parent as i64);
    transaction.execute(
        "INSERT OR IGNORE INTO versions (version, parent, checksum, prefix) VALUES (?1, ?2, ?3, ?4)",
        params![to.version as i64, parent, to.checksum, to.prefix],
    )?;
    let meta = "UPDATE meta SET value = ?2 WHERE key = ?1";
    transaction.execute(meta, ["map", to.checksum.as_str()])?;
    transaction.execute(meta, ["version", to.version.to_string().as_str()])?;
    transaction.execute(
        "INSERT INTO switches (event, t, old, new, points) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![*event as i64, t, *from as i64, to.version as i64, points],
    )?;
    // All groups are written anew: their positions are those of another map.
    transaction.execute("DELETE FROM outlier_groups", [])?;
    Ok(())
}

/// Forgets switches whose events are gone.
pub(super) fn prune(transaction: &Transaction<'_>, first: u64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM switches WHERE event < ?1")?.execute([first as i64])?;
    Ok(())
}

/// The file of a version of the map that a store is on.
pub(crate) fn map_file(store: &Path, version: u64) -> PathBuf {
    let mut beside = store.as_os_str().to_owned();
    beside.push(format!(".map-{version}.lion"));
    beside.into()
}

/// Whether a file is that of a version which a store beside it keeps.
pub fn is_version_file(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy());
    let parts = name.as_deref().and_then(|name| name.rsplit_once(".map-"));
    let store =
        parts.filter(|(_, rest)| number_of(rest).is_some()).map(|(store, _)| file.with_file_name(store));
    store.is_some_and(|store| store.is_file())
}

/// The version in `2.lion`, which is how the name of its file ends.
fn number_of(rest: &str) -> Option<u64> {
    rest.strip_suffix(".lion")?.parse().ok()
}

/// Whether the file of a version is there.
pub(crate) fn is_kept(store: &Path, version: u64) -> bool {
    map_file(store, version).exists()
}

/// Deletes the files of versions that nobody can ask for any more: not the current one nor its parent, and none that a
/// switch which is kept leads from or to. What a crash left over goes, too.
pub(crate) fn tidy_files(store: &Path, known: &Versions) {
    let mut kept: BTreeSet<u64> = known.switches.iter().flat_map(|switch| [switch.from, switch.to]).collect();
    kept.insert(known.version);
    kept.extend(known.get(known.version).and_then(|version| version.parent));
    let Some(name) = store.file_name().map(|name| name.to_string_lossy().into_owned()) else { return };
    let Ok(entries) = std::fs::read_dir(lion_replace::folder_of(store)) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let version = file.strip_prefix(&name).and_then(|rest| number_of(rest.strip_prefix(".map-")?));
        if version.is_some_and(|version| !kept.contains(&version)) {
            // What cannot be deleted is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
