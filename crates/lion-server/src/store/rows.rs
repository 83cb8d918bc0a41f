//! Events, points and groups as rows of the tables, and back.

use super::{Commit, StoredPoint};
use lion_tsne::live::{Point, SavedGroup};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;

/// Appends the events of a commit.
pub(super) fn insert_events(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    let insert = "INSERT INTO events (n, t, kind, id, previous, json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(insert)?;
    let written = commit.slabs.iter().flat_map(|slab| slab.texts());
    for ((event, previous), json) in commit.events.iter().zip(commit.previous).zip(written) {
        let previous = previous.map(|n| n as i64);
        insert.execute(params![event.n as i64, event.t, event.kind(), event.id(), previous, text(json)?])?;
    }
    Ok(())
}

/// Removes points that are gone, then adds and changes others: an id may have gone and come back.
pub(super) fn write_points(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM points WHERE first = ?1")?;
    let mut delete_row = connection.prepare_cached("DELETE FROM given_rows WHERE first = ?1")?;
    for &first in commit.gone {
        delete.execute([first as i64])?;
        delete_row.execute([first as i64])?;
    }
    let mut insert = connection.prepare_cached("INSERT INTO points (json, first, id) VALUES (?1, ?2, ?3)")?;
    let mut update = connection.prepare_cached("UPDATE points SET json = ?1 WHERE first = ?2")?;
    let put_row = "INSERT OR REPLACE INTO given_rows (first, row) VALUES (?1, ?2)";
    let mut put_row = connection.prepare_cached(put_row)?;
    let mut json = Vec::new();
    for StoredPoint { point, row, is_new } in commit.points {
        json.clear();
        serde_json::to_writer(&mut json, &**point).map_err(unwritable)?;
        let (json, first) = (text(&json)?, point.first as i64);
        match is_new {
            true => insert.execute(params![json, first, point.id])?,
            false => update.execute(params![json, first])?,
        };
        if let Some(row) = row {
            put_row.execute(params![first, row])?;
        }
    }
    Ok(())
}

/// Adds the groups that are there and removes those that are not. A group never changes its cell.
pub(super) fn write_groups(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM outlier_groups WHERE number = ?1")?;
    let add = "INSERT OR IGNORE INTO outlier_groups (number, i, j, k) VALUES (?1, ?2, ?3, ?4)";
    let mut add = connection.prepare_cached(add)?;
    for &(number, group) in commit.groups {
        match group.map(|group| group.cell) {
            None => delete.execute([number as i64])?,
            Some([i, j, k]) => add.execute([number as i64, i, j, k])?,
        };
    }
    Ok(())
}

/// All groups.
pub(super) fn groups(connection: &Connection) -> rusqlite::Result<Vec<SavedGroup>> {
    let mut select = connection.prepare("SELECT number, i, j, k FROM outlier_groups ORDER BY number")?;
    let group = |row: &Row<'_>| {
        Ok(SavedGroup { number: number(row, 0)?, cell: [row.get(1)?, row.get(2)?, row.get(3)?] })
    };
    select.query_map([], group)?.collect()
}

/// All points in the order in which they appeared, with the rows of those that are outliers.
pub(super) fn points(connection: &Connection) -> rusqlite::Result<Vec<(Point, Option<Vec<f32>>)>> {
    let mut select = connection.prepare("SELECT json FROM points ORDER BY first")?;
    let point = |row: &Row<'_>| {
        let point: Point = parsed(row, 0)?;
        let given = if point.is_outlier() { Some(given_row(connection, point.first)?) } else { None };
        Ok((point, given))
    };
    select.query_map([], point)?.collect()
}

/// Whether any point has a label.
pub(crate) fn has_labels(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM points WHERE json_extract(json, '$.label') IS NOT NULL)";
    connection.query_row(any, [], |row| row.get(0))
}

/// Shows each point with its row as it was given, in the order in which they appeared, until somebody has seen enough.
pub(crate) fn each_point<E>(
    connection: &Connection,
    mut show: impl FnMut(Point, Vec<f32>) -> Result<(), E>,
) -> rusqlite::Result<Result<(), E>> {
    let select =
        "SELECT points.json, given_rows.row FROM points JOIN given_rows USING (first) ORDER BY first";
    let mut select = connection.prepare(select)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(enough) = show(parsed(row, 0)?, given(row, 1)?) {
            return Ok(Err(enough));
        }
    }
    Ok(Ok(()))
}

/// The row of a point as it was given.
pub(super) fn given_row(connection: &Connection, first: u64) -> rusqlite::Result<Vec<f32>> {
    let mut select = connection.prepare_cached("SELECT row FROM given_rows WHERE first = ?1")?;
    select.query_row([first as i64], |row| given(row, 0))
}

/// A number that is none below 0: where one is, the store is damaged.
pub(crate) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// The same of a column that may be empty.
pub(super) fn optional_number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    row.get::<_, Option<i64>>(column)?.map(|_| number(row, column)).transpose()
}

/// What is in a column of JSON.
pub(super) fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

/// The numbers of a row as it was given.
pub(super) fn given(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<f32>> {
    let bytes = row.get_ref(column)?.as_blob()?;
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        let problem = format!("a row of {} bytes is not made of 32-bit numbers", bytes.len());
        return Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, problem.into()));
    }
    Ok(numbers.iter().map(|&number| f32::from_le_bytes(number)).collect())
}

fn text(bytes: &[u8]) -> rusqlite::Result<&str> {
    Ok(std::str::from_utf8(bytes)?)
}

fn unwritable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
