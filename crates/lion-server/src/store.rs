//! The file that keeps the live map: an SQLite database in WAL mode, written by one connection.
//!
//! A commit returns when its bytes are on the disk itself. The events are a log that only grows at its end (and is pruned
//! at its beginning); each names the event before it of the same point, so a point's history needs no index.

mod error;
mod notes;
mod reader;
mod rows;
mod schema;
mod stretch;
mod versions;

pub use error::StoreError;
pub(crate) use notes::read as read_notes;
pub use reader::PointRecord;
pub(crate) use reader::{GivenRow, Readers, before_switch, event_text, logged_after, open_to_read};
pub(crate) use rows::{each_point, has_labels, number};
pub(crate) use stretch::{ChangeKey, changes_between, changes_of, current_points};
pub use versions::is_version_file;
pub use versions::{SwitchRecord, VersionRecord, Versions};
pub(crate) use versions::{Switching, is_kept, map_file, map_of, tidy_files};

use crate::feed::Slab;
use crate::notes::{Notes, NotesChanged};
use crate::settings::Retain;
use lion_tsne::Lion;
use lion_tsne::live::{Event, Live, LiveOptions, OutlierGroup, Point};
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long another program may hold a lock before that is an error.
const PATIENCE: Duration = Duration::from_secs(1);
/// Stores up to this size are checked page by page when they are opened; larger ones without their events, which are
/// most of it.
const CHECKED_WHOLE: i64 = 256 << 20;
/// The log of pages yet to be moved into the file may grow to this many bytes before they are.
const WAL_BYTES: u64 = 16 << 20;
/// Fewer events than this are not worth pruning.
const PRUNED_AT_ONCE: u64 = 64;

/// Where a store lies.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    /// Deleted with all that is in it when nobody needs the store any more.
    temporary: Option<tempfile::TempDir>,
}

impl Location {
    /// The file that was asked for, or a temporary one.
    pub(crate) fn new(path: Option<&Path>) -> Result<Self, StoreError> {
        if let Some(path) = path {
            return Ok(Self { path: path.into(), temporary: None });
        }
        let folder = tempfile::Builder::new().prefix("lion-").tempdir();
        let folder =
            folder.map_err(|e| StoreError::Io { path: std::env::temp_dir(), problem: e.to_string() })?;
        Ok(Self { path: folder.path().join("live.db"), temporary: Some(folder) })
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Bytes of the store, with its log.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        size(&self.path) + size(&log_of(&self.path))
    }
}

/// The writing side of a store. There is one for each file, in all programs.
pub(crate) struct Store {
    connection: Connection,
    location: Arc<Location>,
    retain: Option<Retain>,
    /// The first event that is kept.
    first: u64,
    /// The version of the map that it was on when it was opened.
    version: VersionRecord,
    /// Released when the store is dropped, after the connection.
    _lock: File,
}

/// What one commit changes.
pub(crate) struct Commit<'a> {
    /// The events in order, and for each the one before it of the same point.
    pub(crate) events: &'a [Event],
    pub(crate) previous: &'a [Option<u64>],
    /// The same events written out.
    pub(crate) slabs: &'a [Arc<Slab>],
    /// Points that are no more, by their first event.
    pub(crate) gone: &'a [u64],
    /// Points that are new or have changed.
    pub(crate) points: &'a [StoredPoint<'a>],
    /// Groups that may have changed: what they are now.
    pub(crate) groups: &'a [(u64, Option<&'a OutlierGroup>)],
    /// Another version of the map, if the commit switches to one.
    pub(crate) switch: Option<Switching<'a>>,
    /// What people said, as far as it changed.
    pub(crate) notes: &'a NotesChanged,
    /// Everything else.
    pub(crate) aux: &'a [u8],
    pub(crate) last: u64,
    pub(crate) now: f64,
}

/// A point as it is to be kept.
pub(crate) struct StoredPoint<'a> {
    pub(crate) point: Arc<Point>,
    /// The row as it was given, little-endian, if it is another.
    pub(crate) row: Option<&'a [u8]>,
    pub(crate) is_new: bool,
}

impl Store {
    /// Opens a store of a map, or makes it. The checksum is that of any version of its map.
    pub(crate) fn open(
        location: Arc<Location>,
        checksum: &str,
        retain: Option<Retain>,
    ) -> Result<Self, StoreError> {
        let path = location.path.as_path();
        let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
        let is_new = !path.exists();
        if !is_new {
            leave_alone(path)?;
        }
        let lock = lock(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        // Before anything is written: the file may be somebody else's.
        schema::check(&connection, path, schema::STEPS)?;
        configure(&connection, path, location.is_temporary())?;
        schema::migrate(&mut connection, path, schema::STEPS)?;
        if is_new && !location.is_temporary() {
            sync_folder(path)?;
        }
        let version = versions::belong(&mut connection, path, checksum)?;
        check_pages(&connection, path)?;
        let first = check_log(&connection, path)?;
        let mut store = Self { connection, location: location.clone(), retain, first, version, _lock: lock };
        // What a crash left in the log is in the file from now on, and need not be gone through again.
        store.checkpoint("TRUNCATE");
        store.tidy_maps();
        Ok(store)
    }

    /// The version of the map that it was on when it was opened.
    pub(crate) fn version(&self) -> &VersionRecord {
        &self.version
    }

    /// What people said.
    pub(crate) fn notes(&self) -> Result<Notes, StoreError> {
        notes::read(&self.connection).map_err(|e| StoreError::from_sqlite(&self.location.path, &e))
    }

    /// The row of a point as it was given.
    pub(crate) fn row(&self, first: u64) -> Result<Vec<f32>, StoreError> {
        rows::given_row(&self.connection, first).map_err(|e| StoreError::from_sqlite(&self.location.path, &e))
    }

    /// Deletes the files of versions that are not kept.
    pub(crate) fn tidy_maps(&self) {
        if let Ok(known) = Versions::read(&self.connection, &self.location.path) {
            tidy_files(&self.location.path, &known);
        }
    }

    /// The live map as it was after the last commit.
    pub(crate) fn load(&self, lion: Arc<Lion>, options: LiveOptions) -> Result<Live, StoreError> {
        load(&self.connection, &self.location.path, lion, options)
    }

    /// Keeps what changed: all of it, durably, or nothing.
    pub(crate) fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        match self.try_commit(commit) {
            Ok(first) => {
                self.first = first;
                Ok(())
            }
            Err(e) => Err(StoreError::from_sqlite(&self.location.path, &e)),
        }
    }

    fn try_commit(&mut self, commit: &Commit<'_>) -> rusqlite::Result<u64> {
        let cut = self.cut(commit)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        rows::insert_events(&transaction, commit)?;
        rows::write_points(&transaction, commit)?;
        if let Some(switch) = &commit.switch {
            versions::write(&transaction, switch)?;
        }
        rows::write_groups(&transaction, commit)?;
        notes::write(&transaction, commit.notes)?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO state (one, last, aux) VALUES (1, ?1, ?2)")?
            .execute(params![commit.last as i64, commit.aux])?;
        if cut > self.first {
            transaction.prepare_cached("DELETE FROM events WHERE n < ?1")?.execute([cut as i64])?;
            versions::prune(&transaction, cut)?;
        }
        transaction.commit()?;
        Ok(cut)
    }

    /// The first event to keep after a commit. Pruning keeps pace with what comes, and does not hold it up: a commit
    /// prunes at most a few times as many events as it adds.
    fn cut(&self, commit: &Commit<'_>) -> rusqlite::Result<u64> {
        let most = self.first + 4 * commit.events.len() as u64 + PRUNED_AT_ONCE;
        let cut = match self.retain {
            None => self.first,
            Some(Retain::Events(kept)) => (commit.last + 1).saturating_sub(kept).min(most),
            Some(Retain::Seconds(age)) => {
                let young = "SELECT n FROM events WHERE n >= ?1 AND n < ?2 AND t >= ?3 ORDER BY n LIMIT 1";
                let mut young = self.connection.prepare_cached(young)?;
                let young = young
                    .query_row(params![self.first as i64, most as i64, commit.now - age], |row| row.get(0));
                let seen = (commit.last + 1 - commit.events.len() as u64).min(most);
                young.optional()?.map_or(seen, |n: i64| n as u64)
            }
        };
        Ok(if cut < self.first + PRUNED_AT_ONCE { self.first } else { cut })
    }

    /// The first event that is kept; one more than the last if none is.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// What is said of an event that cannot be written out.
    pub(crate) fn unwritable(&self, error: &serde_json::Error) -> StoreError {
        StoreError::Io {
            path: self.location.path.clone(),
            problem: format!("an event cannot be written: {error}"),
        }
    }

    /// Moves pages from the log into the file if there are many. After a commit was answered, so that nobody waits.
    pub(crate) fn tidy(&mut self) {
        if std::fs::metadata(log_of(&self.location.path)).is_ok_and(|log| log.len() > WAL_BYTES) {
            self.checkpoint("PASSIVE");
        }
    }

    /// Lets the file grow by no more than so many pages, as if the disk were full then.
    #[cfg(test)]
    pub(crate) fn limit(&self, more: i64) {
        let pages: i64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        self.connection.pragma_update_and_check(None, "max_page_count", pages + more, |_| Ok(())).unwrap();
    }

    /// Moves all pages into the file and empties the log.
    pub(crate) fn close(mut self) {
        self.checkpoint("TRUNCATE");
    }

    fn checkpoint(&mut self, kind: &str) {
        // What cannot be moved stays in the log, where it is just as safe.
        let moved = self.connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()));
        if let Err(e) = moved {
            tracing::warn!("{}: its log could not be emptied: {e}", self.location.path.display());
        }
    }
}

/// The log of pages yet to be moved into a store.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.to_path_buf().into_os_string();
    log.push("-wal");
    log.into()
}

/// The live map as a store has it.
pub(crate) fn load(
    connection: &Connection,
    path: &Path,
    lion: Arc<Lion>,
    options: LiveOptions,
) -> Result<Live, StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    // One transaction: all of it is of the same moment.
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let aux = moment.query_row("SELECT aux FROM state", [], |row| row.get::<_, Vec<u8>>(0)).optional();
    let Some(aux) = aux.map_err(failed)? else { return Ok(Live::new(lion, options)?) };
    let groups = rows::groups(&moment).map_err(failed)?;
    let points = rows::points(&moment).map_err(failed)?;
    // Options that are refused are not the store's fault; what it holds is.
    Live::restore(lion, options, &aux, points, groups).map_err(|e| match e {
        e @ lion_tsne::Error::Parameter { .. } => e.into(),
        e => StoreError::Damaged { path: path.into(), problem: e.to_string() },
    })
}

/// Refuses the files of others before anything is written to them or beside them.
fn leave_alone(path: &Path) -> Result<(), StoreError> {
    match open_to_read(path).and_then(|connection| schema::check(&connection, path, schema::STEPS)) {
        Err(error @ (StoreError::NotAStore(_) | StoreError::Newer { .. })) => Err(error),
        // Whatever else is wrong is found again.
        _ => Ok(()),
    }
}

/// Takes the lock of a store. It is a file beside the store: SQLite's own locks are let go whenever any part of a
/// program closes the file.
fn lock(path: &Path) -> Result<File, StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-lock");
    let io = |e: std::io::Error| StoreError::Io {
        path: path.into(),
        problem: format!("cannot be opened ({e}): is the folder there, and may it be written to?"),
    };
    let file = File::options().create(true).truncate(false).write(true).open(&beside).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(path.into())),
        Err(TryLockError::Error(e)) => Err(io(e)),
    }
}

/// How the connection writes. A temporary store is gone after a crash anyhow, and need not wait for the disk.
fn configure(connection: &Connection, path: &Path, is_temporary: bool) -> Result<(), StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let mode = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))
        .map_err(failed)?;
    if mode != "wal" {
        let problem = format!(
            "this file system allows no log beside a store (mode {mode:?}): name a file on a local disk"
        );
        return Err(StoreError::Io { path: path.into(), problem });
    }
    let synchronous = if is_temporary { "OFF" } else { "FULL" };
    let settings = [
        ("synchronous", synchronous),
        ("fullfsync", "1"),
        // Pages are moved between commits, never within one that somebody waits for.
        ("wal_autocheckpoint", "0"),
        ("cache_size", "-65536"),
        ("temp_store", "MEMORY"),
    ];
    settings
        .iter()
        .try_for_each(|(name, value)| connection.pragma_update(None, name, value))
        .map_err(failed)?;
    // So that a log that is larger has that much in it, and is not just a large file that was emptied.
    connection
        .pragma_update_and_check(None, "journal_size_limit", WAL_BYTES as i64, |_| Ok(()))
        .map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// A new file is there after a power cut only if its folder says so.
fn sync_folder(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| StoreError::Io { path: folder.into(), problem: e.to_string() })
}

/// Refuses what cannot be read as a store; gives the version of its tables.
pub(crate) fn check_to_read(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    match schema::check(connection, path, schema::STEPS)? {
        0 => Err(StoreError::NotAStore(path.into())),
        version => Ok(version),
    }
}

/// Whether tables of this version are those that this program writes.
pub(crate) fn is_latest(tables: usize) -> bool {
    tables == schema::STEPS.len()
}

/// Whether pages and tables are whole.
fn check_pages(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let small = number("page_count")? * number("page_size")? <= CHECKED_WHOLE;
    let checks: &[&str] = match small {
        true => &["PRAGMA quick_check(1)"],
        false => &[
            "PRAGMA quick_check(meta)",
            "PRAGMA quick_check(state)",
            "PRAGMA quick_check(points)",
            "PRAGMA quick_check(given_rows)",
        ],
    };
    for check in checks {
        let said = connection.query_row(check, [], |row| row.get::<_, String>(0)).map_err(failed)?;
        if said != "ok" {
            let problem = said.replace('\n', ", ");
            return Err(StoreError::Damaged { path: path.into(), problem });
        }
    }
    Ok(())
}

/// Whether the log ends where the state says; gives the first event that is kept.
fn check_log(connection: &Connection, path: &Path) -> Result<u64, StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let last = connection.query_row("SELECT last FROM state", [], |row| rows::number(row, 0)).optional();
    let last = last.map_err(failed)?.unwrap_or(0);
    let end = |which| connection.query_row(which, [], |row| rows::optional_number(row, 0)).map_err(failed);
    let (first, end) = (end("SELECT min(n) FROM events")?, end("SELECT max(n) FROM events")?);
    match (first, end) {
        (Some(first), Some(end)) if end == last && first > 0 => Ok(first),
        (None, None) => Ok(last + 1),
        _ => {
            let problem = format!("its events end with {} and its points with {last}", end.unwrap_or(0));
            Err(StoreError::Damaged { path: path.into(), problem })
        }
    }
}

#[cfg(test)]
mod tests;
