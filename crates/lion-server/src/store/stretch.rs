//! What a comparison of two stretches of time reads.

use super::notes;
use super::rows::{number, parsed};
use super::versions::Versions;
use crate::compare::{ComparedStore, LoggedChange};
use lion_tsne::live::Point;
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

impl ComparedStore {
    /// As the store at a path has it at this moment.
    pub(crate) fn read(moment: &Connection, path: &Path) -> rusqlite::Result<Self> {
        let first = "SELECT n, t FROM events ORDER BY n LIMIT 1";
        Ok(Self {
            versions: Versions::read(moment, path)?,
            notes: notes::read(moment)?,
            first: moment.query_row(first, [], |row| Ok((number(row, 0)?, row.get(1)?))).optional()?,
        })
    }
}

/// A change of a point, without what it says.
pub(crate) struct ChangeKey<'a> {
    pub(crate) n: u64,
    pub(crate) t: f64,
    pub(crate) id: &'a str,
    /// Whether the point was there before.
    pub(crate) was_there: bool,
    /// Whether it is there after it.
    pub(crate) is_there: bool,
}

/// Visits all changes of points from one time up to another, in order.
pub(crate) fn changes_between(
    moment: &Connection,
    from: f64,
    to: f64,
    mut visit: impl FnMut(&ChangeKey<'_>),
) -> rusqlite::Result<()> {
    let select = "SELECT n, t, id, previous IS NOT NULL, kind <> 'removed' FROM events \
                  WHERE n >= ?1 AND n < ?2 AND id IS NOT NULL ORDER BY n";
    let mut select = moment.prepare_cached(select)?;
    let mut rows = select.query(params![first_since(moment, from)?, first_since(moment, to)?])?;
    while let Some(row) = rows.next()? {
        visit(&ChangeKey {
            n: number(row, 0)?,
            t: row.get(1)?,
            id: row.get_ref(2)?.as_str()?,
            was_there: row.get(3)?,
            is_there: row.get(4)?,
        });
    }
    Ok(())
}

/// The number of the first event at a time or after it; one more than the last if there is none. The times of events never go
/// back and their numbers have no gaps, so halving finds it, and no index has to be kept.
fn first_since(moment: &Connection, t: f64) -> rusqlite::Result<i64> {
    let end = |which| moment.query_row(which, [], |row| row.get::<_, Option<i64>>(0));
    let (low, high) = (end("SELECT min(n) FROM events")?, end("SELECT max(n) FROM events")?);
    // Numbers begin with 1; in a damaged store they may be any.
    let (low, high) = (low.map(|first| first.max(0)), high.map(|last| last.saturating_add(1)));
    let (Some(mut low), Some(mut high)) = (low, high) else { return Ok(0) };
    let mut time = moment.prepare_cached("SELECT t FROM events WHERE n = ?1")?;
    while low < high {
        let middle = low + (high - low) / 2;
        match time.query_row([middle], |row| row.get::<_, f64>(0))? < t {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}

/// Changes by their numbers, in the order of these.
pub(crate) fn changes_of(
    moment: &Connection,
    numbers: impl Iterator<Item = u64>,
) -> rusqlite::Result<Vec<LoggedChange>> {
    let mut select = moment.prepare_cached("SELECT json FROM events WHERE n = ?1")?;
    numbers.map(|n| select.query_row([n as i64], |row| parsed(row, 0))).collect()
}

/// All points as they are.
pub(crate) fn current_points(moment: &Connection) -> rusqlite::Result<Vec<Point>> {
    moment.prepare("SELECT json FROM points")?.query_map([], |row| parsed(row, 0))?.collect()
}
