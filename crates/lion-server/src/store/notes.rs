//! What people said, as rows of the tables, and back.

use super::rows::parsed;
use crate::notes::{Notes, NotesChanged, Notice, Titled};
use rusqlite::types::Type;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Keeps what changed.
pub(super) fn write(connection: &Connection, changed: &NotesChanged) -> rusqlite::Result<()> {
    for (of, title) in &changed.titles {
        match title {
            Some(title) => connection
                .prepare_cached("INSERT OR REPLACE INTO titles (target, title) VALUES (?1, ?2)")?
                .execute(params![of.key(), title])?,
            None => connection.prepare_cached("DELETE FROM titles WHERE target = ?1")?.execute([of.key()])?,
        };
    }
    for (id, notice) in &changed.notices {
        match notice {
            Some(notice) => {
                let json = serde_json::to_string(notice)
                    .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
                connection
                    .prepare_cached("INSERT OR REPLACE INTO notices (event, json) VALUES (?1, ?2)")?
                    .execute(params![*id as i64, json])?
            }
            None => {
                connection.prepare_cached("DELETE FROM notices WHERE event = ?1")?.execute([*id as i64])?
            }
        };
    }
    Ok(())
}

/// All that people said.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Notes> {
    let mut select = connection.prepare("SELECT target, title FROM titles")?;
    let titles = select.query_map([], |row| {
        let key: String = row.get(0)?;
        let of = Titled::from_key(&key).ok_or_else(|| {
            let problem = format!("a title is of {key:?}, which is neither a cluster nor a group");
            rusqlite::Error::FromSqlConversionFailure(0, Type::Text, problem.into())
        })?;
        Ok((of, row.get(1)?))
    })?;
    let titles = titles.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
    let mut select = connection.prepare("SELECT json FROM notices")?;
    let notices = select.query_map([], |row| parsed::<Notice>(row, 0).map(|notice| (notice.id, notice)))?;
    Ok(Notes::new(titles, notices.collect::<rusqlite::Result<BTreeMap<_, _>>>()?))
}
