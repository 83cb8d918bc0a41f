//! A store, read while a service may be writing to it.

use crate::compare::{CompareRefused, Comparison, Stretch, compare};
use crate::map_version::{MapVersion, find_map};
use crate::notes::Notes;
use crate::store::{self, StoreError, VersionRecord, Versions};
use crate::store::{check_to_read, event_text, load, logged_after, map_of, open_to_read};
use lion_tsne::live::{Live, LiveOptions, Point};
use lion_tsne::{Lion, LionOptions, Map};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An event as a store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// Its number.
    pub n: u64,
    /// When, in seconds.
    pub t: f64,
    /// Its kind, e.g. `moved`.
    pub kind: String,
    /// The point that it is about, if any.
    pub id: Option<String>,
    /// All of it, as one line.
    pub json: String,
}

/// A store that is opened to read its events, points and versions. The service that writes to it may go on; what it commits
/// meanwhile is read, too, but for what is read at one [`moment`](Self::moment).
pub struct StoredEvents {
    connection: Connection,
    path: PathBuf,
    map: Option<String>,
    /// The version of its tables.
    tables: usize,
}

/// While it lives, a store is read as it is now.
pub struct Moment<'a>(#[expect(dead_code, reason = "ends when it is dropped")] Transaction<'a>);

impl StoredEvents {
    /// Opens a store. Nothing in it is changed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_to_read(path)?;
        let tables = check_to_read(&connection, path)?;
        let map = map_of(&connection).map_err(|e| StoreError::from_sqlite(path, &e))?;
        Ok(Self { connection, path: path.into(), map, tables })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Holds the store as it is now, for who reads it until this is dropped. The service is not held up.
    pub fn moment(&self) -> Result<Moment<'_>, StoreError> {
        if !store::is_latest(self.tables) {
            return Err(StoreError::Older(self.path.clone()));
        }
        self.connection.unchecked_transaction().map(Moment).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }

    /// The versions of its map, and the switches between them.
    pub fn versions(&self) -> Result<Versions, StoreError> {
        Versions::read(&self.connection, &self.path).map_err(|e| self.failed(&e))
    }

    /// The version of its map that the points are in.
    pub fn current(&self) -> Result<VersionRecord, StoreError> {
        let known = self.versions()?;
        known.current().cloned().ok_or_else(|| self.damaged("it knows no version of its map"))
    }

    /// What people said.
    pub(crate) fn notes(&self) -> Result<Notes, StoreError> {
        store::read_notes(&self.connection).map_err(|e| self.failed(&e))
    }

    /// The points just before a switch, as text.
    pub(crate) fn before_switch(&self, event: u64) -> Result<Option<String>, StoreError> {
        store::before_switch(&self.connection, event, |text| Ok(text.to_owned())).map_err(|e| self.failed(&e))
    }

    /// The map of a version: the file `given`, or one beside the store.
    pub fn find_map(&self, version: &VersionRecord, given: Option<&Path>) -> Result<Map, StoreError> {
        find_map(&self.path, version, given)
    }

    /// Whether any point has a label.
    pub fn has_labels(&self) -> Result<bool, StoreError> {
        store::has_labels(&self.connection).map_err(|e| self.failed(&e))
    }

    /// Shows each point, in the order in which they appeared, with its row as it was given.
    pub fn each_point<E: From<StoreError>>(
        &self,
        show: impl FnMut(Point, Vec<f32>) -> Result<(), E>,
    ) -> Result<(), E> {
        store::each_point(&self.connection, show).map_err(|e| self.failed(&e))?
    }

    pub(crate) fn damaged(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), problem: problem.into() }
    }

    /// The checksum of the map that the store belongs to.
    pub fn map(&self) -> Option<&str> {
        self.map.as_deref()
    }

    /// The live map as it is after the last commit. The service that writes to the store does not notice.
    pub fn live(&self, lion: Arc<Lion>, options: LiveOptions) -> Result<Live, StoreError> {
        let ours = lion.map().checksum()?;
        match &self.map {
            Some(theirs) if *theirs != ours => {
                Err(StoreError::OtherMap { path: self.path.clone(), theirs: theirs.clone(), ours })
            }
            _ => load(&self.connection, &self.path, lion, options),
        }
    }

    /// What changed between two stretches of time. Where the map was updated meanwhile, its current version must lie beside
    /// the store.
    pub fn compare(&self, a: Stretch, b: Stretch) -> Result<Comparison, CompareRefused> {
        let known = Versions::read(&self.connection, &self.path).map_err(|e| self.failed(&e))?;
        let current = known.get(known.version).filter(|_| !known.switches.is_empty()).cloned();
        let map = current.map(|record| MapVersion::open(&self.path, record, &LionOptions::default()));
        compare(&self.connection, &self.path, map.transpose()?.as_ref(), [a, b])
    }

    /// When the first event that is kept and the last one were; none if there are none.
    pub fn times(&self) -> Result<Option<(f64, f64)>, StoreError> {
        // Times never go back.
        let end = |order: &str| {
            let select = format!("SELECT t FROM events ORDER BY n {order} LIMIT 1");
            self.connection.query_row(&select, [], |row| row.get(0)).optional().map_err(|e| self.failed(&e))
        };
        Ok(end("ASC")?.zip(end("DESC")?))
    }

    /// At most `limit` events after the one numbered `after`, in order; none at the end. Begin with 0.
    pub fn after(&self, after: u64, limit: usize) -> Result<Vec<Logged>, StoreError> {
        logged_after(&self.connection, after, limit, logged).map_err(|e| self.failed(&e))
    }

    /// All events in order, read by portions.
    pub fn events(&self) -> impl Iterator<Item = Result<Logged, StoreError>> + '_ {
        let mut cursor = 0;
        let mut portion = Vec::new().into_iter();
        let mut failed = false;
        std::iter::from_fn(move || {
            if portion.len() == 0 && !failed {
                match self.after(cursor, PORTION) {
                    Ok(events) => portion = events.into_iter(),
                    Err(e) => {
                        failed = true;
                        return Some(Err(e));
                    }
                }
            }
            let event: Logged = portion.next()?;
            cursor = event.n;
            Some(Ok(event))
        })
    }
}

/// Events read at once.
const PORTION: usize = 4096;

fn logged(row: &Row<'_>) -> rusqlite::Result<Logged> {
    Ok(Logged {
        n: store::number(row, 0)?,
        json: event_text(row, 1)?.to_owned(),
        t: row.get(2)?,
        kind: row.get(3)?,
        id: row.get(4)?,
    })
}
