//! The reading side: a few connections that see what is committed, and never make the writer wait.

use super::rows::{given, given_row, number, parsed};
use super::versions::{Versions, current_version};
use super::{Location, PATIENCE, StoreError};
use bytes::Bytes;
use lion_tsne::live::Point;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Connections kept for the next reader.
const IDLE: usize = 4;

/// Connections that read a store.
pub(crate) struct Readers {
    location: Arc<Location>,
    pub(super) idle: Mutex<Vec<Connection>>,
}

/// A point with what happened to it.
#[derive(Clone, Debug)]
pub struct PointRecord {
    /// The point as it is.
    pub point: Point,
    /// Its row as it was given.
    pub row: Vec<f32>,
    /// The JSON of its latest events, at most 100, oldest first.
    pub history: Vec<Bytes>,
    /// The version of the map that it is in.
    pub version: u64,
}

/// The row of a point as it was given, by the event that gave it.
pub(crate) struct GivenRow {
    pub(crate) last: u64,
    pub(crate) row: Vec<f32>,
}

impl Readers {
    pub(crate) fn new(location: Arc<Location>) -> Self {
        Self { location, idle: Mutex::new(Vec::new()) }
    }

    /// At most `limit` events after `after`, oldest first.
    pub(crate) fn after(&self, after: u64, limit: usize) -> Result<Vec<(u64, Bytes)>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(AFTER)?;
            bounded(select.query_map(params![signed(after), limit as i64], numbered)?)
        })
    }

    /// The `limit` events before `before`, oldest first.
    pub(crate) fn before(&self, before: u64, limit: usize) -> Result<Vec<(u64, Bytes)>, StoreError> {
        self.read(|connection| {
            let select = "SELECT n, json FROM events WHERE n < ?1 ORDER BY n DESC LIMIT ?2";
            let mut select = connection.prepare_cached(select)?;
            let events = select.query_map(params![signed(before), limit as i64], numbered)?;
            let mut events = bounded(events)?;
            events.reverse();
            Ok(events)
        })
    }

    /// A point with its row and at most `limit` of its events.
    pub(crate) fn point(&self, id: &str, limit: usize) -> Result<Option<PointRecord>, StoreError> {
        self.read(|connection| {
            // One transaction: all of it is of the same moment.
            let moment = connection.unchecked_transaction()?;
            let mut select = moment.prepare_cached("SELECT json FROM points WHERE id = ?1")?;
            let found = select.query_row([id], |row| parsed::<Point>(row, 0)).optional()?;
            let Some(point) = found else { return Ok(None) };
            let row = given_row(&moment, point.first)?;
            let version = current_version(&moment)?;
            let mut select = moment.prepare_cached("SELECT previous, json FROM events WHERE n = ?1")?;
            let (mut history, mut next) = (Vec::new(), Some(point.last as i64));
            while let Some(n) = next
                && history.len() < limit
            {
                let event = select.query_row([n], |row| Ok((row.get::<_, Option<i64>>(0)?, text(row, 1)?)));
                let Some((previous, json)) = event.optional()? else { break };
                history.push(json);
                next = previous;
            }
            history.reverse();
            Ok(Some(PointRecord { point, row, history, version }))
        })
    }

    /// The rows of points, by their first events; those that are there.
    pub(crate) fn rows(&self, points: &[u64]) -> Result<Vec<(u64, GivenRow)>, StoreError> {
        self.read(|connection| {
            // One transaction: a row is that of the event beside it.
            let moment = connection.unchecked_transaction()?;
            let select = "SELECT points.json, given_rows.row FROM points JOIN given_rows USING (first) WHERE first = ?1";
            let mut select = moment.prepare_cached(select)?;
            let mut found = Vec::with_capacity(points.len());
            for &first in points {
                let row = |row: &Row<'_>| {
                    Ok(GivenRow { last: parsed::<Point>(row, 0)?.last, row: given(row, 1)? })
                };
                found.extend(select.query_row([signed(first)], row).optional()?.map(|row| (first, row)));
            }
            Ok(found)
        })
    }

    /// All versions of the map that there were, and the switches between them.
    pub(crate) fn versions(&self) -> Result<Versions, StoreError> {
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            Versions::read(&moment, &self.location.path)
        })
    }

    /// The points as they were just before a switch, as text.
    pub(crate) fn before_switch(&self, event: u64) -> Result<Option<Bytes>, StoreError> {
        let bytes = |text: &str| Ok(Bytes::copy_from_slice(text.as_bytes()));
        self.read(|connection| before_switch(connection, event, bytes))
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let path = &self.location.path;
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => open_to_read(path)?,
        };
        let answer = query(&connection).map_err(|e| StoreError::from_sqlite(path, &e));
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // One that failed may be at fault itself.
        if answer.is_ok() && idle.len() < IDLE {
            idle.push(connection);
        }
        answer
    }
}

/// What `take` makes of the points as they were just before a switch, which are text.
pub(crate) fn before_switch<T>(
    connection: &Connection,
    event: u64,
    take: impl FnOnce(&str) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let mut select = connection.prepare_cached("SELECT points FROM switches WHERE event = ?1")?;
    select.query_row([signed(event)], |row| take(row.get_ref(0)?.as_str()?)).optional()
}

/// A connection that can write nothing.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let problem = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("there is no such store"),
        Ok(there) if there.is_dir() => Some("is a folder: name a store in it"),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(StoreError::Io { path: path.into(), problem: problem.into() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    Ok(connection)
}

/// Events after one, oldest first.
const AFTER: &str = "SELECT n, json, t, kind, id FROM events WHERE n > ?1 ORDER BY n LIMIT ?2";

/// Bytes after which no more events are read at once, so that who asks for many and takes them slowly holds little.
const MOST_BYTES: usize = 2 << 20;

/// Events until there are many bytes of them.
fn bounded(
    events: impl Iterator<Item = rusqlite::Result<(u64, Bytes)>>,
) -> rusqlite::Result<Vec<(u64, Bytes)>> {
    let (mut taken, mut bytes) = (Vec::new(), 0);
    for event in events {
        let event = event?;
        bytes += event.1.len();
        taken.push(event);
        if bytes >= MOST_BYTES {
            break;
        }
    }
    Ok(taken)
}

/// At most `limit` events after `after`, oldest first. The row's columns are n, json, t, kind and id.
pub(crate) fn logged_after<T>(
    connection: &Connection,
    after: u64,
    limit: usize,
    as_event: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut select = connection.prepare_cached(AFTER)?;
    select.query_map(params![signed(after), limit as i64], as_event)?.collect()
}

fn numbered(row: &Row<'_>) -> rusqlite::Result<(u64, Bytes)> {
    Ok((number(row, 0)?, text(row, 1)?))
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Bytes> {
    Ok(Bytes::copy_from_slice(event_text(row, column)?.as_bytes()))
}

/// The text of an event. What a failing disk made of it must not be passed on as JSON.
pub(crate) fn event_text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a str> {
    let text = row.get_ref(column)?.as_str()?;
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let n = row.get::<_, i64>(0).unwrap_or_default();
            let problem = format!("event {n} is not what was written: {error}");
            Err(rusqlite::Error::FromSqlConversionFailure(
                column,
                rusqlite::types::Type::Text,
                problem.into(),
            ))
        }
    }
}

/// Numbers beyond what SQLite holds are beyond all events, too.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
