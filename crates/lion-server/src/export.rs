//! The events of a store, read while a service may be writing to it.

use crate::compare::{CompareRefused, Comparison, Stretch, compare};
use crate::map_version::MapVersion;
use crate::store::{
    StoreError, Versions, check_to_read, event_text, load, logged_after, map_of, open_to_read,
};
use lion_tsne::live::{Live, LiveOptions};
use lion_tsne::{Lion, LionOptions};
use rusqlite::{Connection, Row};
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

/// A store that is opened to read its events. The service that writes to it may go on; what it commits meanwhile is
/// read, too.
pub struct StoredEvents {
    connection: Connection,
    path: PathBuf,
    map: Option<String>,
}

impl StoredEvents {
    /// Opens a store. Nothing in it is changed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_to_read(path)?;
        check_to_read(&connection, path)?;
        let map = map_of(&connection).map_err(|e| StoreError::from_sqlite(path, &e))?;
        Ok(Self { connection, path: path.into(), map })
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
        let known = Versions::read(&self.connection, &self.path);
        let known = known.map_err(|e| StoreError::from_sqlite(&self.path, &e))?;
        let current = known.get(known.version).filter(|_| !known.switches.is_empty()).cloned();
        let map = current.map(|record| MapVersion::open(&self.path, record, &LionOptions::default()));
        compare(&self.connection, &self.path, map.transpose()?.as_ref(), [a, b])
    }

    /// When the first event that is kept and the last one were; none if there are none.
    pub fn times(&self) -> Result<Option<(f64, f64)>, StoreError> {
        let select = "SELECT min(t), max(t) FROM events";
        let times = self.connection.query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (first, last): (Option<f64>, Option<f64>) =
            times.map_err(|e| StoreError::from_sqlite(&self.path, &e))?;
        Ok(first.zip(last))
    }

    /// At most `limit` events after the one numbered `after`, in order; none at the end. Begin with 0.
    pub fn after(&self, after: u64, limit: usize) -> Result<Vec<Logged>, StoreError> {
        let events = logged_after(&self.connection, after, limit, logged);
        events.map_err(|e| StoreError::from_sqlite(&self.path, &e))
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
        n: row.get::<_, i64>(0)? as u64,
        json: event_text(row, 1)?.to_owned(),
        t: row.get(2)?,
        kind: row.get(3)?,
        id: row.get(4)?,
    })
}
