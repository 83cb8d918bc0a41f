//! What a comparison of two stretches of time reads.

use super::notes;
use super::rows::{number, parsed};
use super::versions::current_version;
use crate::compare::{ComparedStore, LoggedChange};
use lion_tsne::live::Point;
use rusqlite::{Connection, OptionalExtension, params};

impl ComparedStore {
    /// As a store has it at this moment.
    pub(crate) fn read(moment: &Connection) -> rusqlite::Result<Self> {
        let since = "SELECT coalesce(max(event), 0) FROM switches";
        let first = "SELECT n, t FROM events ORDER BY n LIMIT 1";
        Ok(Self {
            version: current_version(moment)?,
            notes: notes::read(moment)?,
            since: moment.query_row(since, [], |row| number(row, 0))?,
            first: moment.query_row(first, [], |row| Ok((number(row, 0)?, row.get(1)?))).optional()?,
        })
    }
}

/// Visits all changes of points from one time up to another, in order.
pub(crate) fn changes_between(
    moment: &Connection,
    from: f64,
    to: f64,
    mut visit: impl FnMut(LoggedChange),
) -> rusqlite::Result<()> {
    // Times need not be in the order of events: all are looked at.
    let select = "SELECT json FROM events WHERE t >= ?1 AND t < ?2 AND id IS NOT NULL ORDER BY n";
    let mut select = moment.prepare_cached(select)?;
    let mut rows = select.query(params![from, to])?;
    while let Some(row) = rows.next()? {
        visit(parsed(row, 0)?);
    }
    Ok(())
}

/// All points as they are.
pub(crate) fn current_points(moment: &Connection) -> rusqlite::Result<Vec<Point>> {
    moment.prepare("SELECT json FROM points")?.query_map([], |row| parsed(row, 0))?.collect()
}
