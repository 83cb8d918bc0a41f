//! The tables, and how older stores become newer ones. What they mean is in docs/format.md.

use super::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Says in the file's header that it is a store: `LION`.
const APPLICATION: i64 = 0x4C49_4F4E;

/// Step k makes version k + 1 from version k. Version 0 is an empty file. A step that was released never changes.
pub(super) const STEPS: &[&str] = &["
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL, aux BLOB NOT NULL) STRICT;
CREATE TABLE events (
    n INTEGER PRIMARY KEY, t REAL NOT NULL, kind TEXT NOT NULL, id TEXT, previous INTEGER, json TEXT NOT NULL
) STRICT;
CREATE TABLE points (
    first INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL, row BLOB NOT NULL
) STRICT;
CREATE TABLE outlier_groups (
    number INTEGER PRIMARY KEY, i INTEGER NOT NULL, j INTEGER NOT NULL, k INTEGER NOT NULL
) STRICT;
", "
CREATE TABLE given_rows (first INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT;
INSERT INTO given_rows SELECT first, row FROM points;
ALTER TABLE points DROP COLUMN row;
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, parent INTEGER, checksum TEXT NOT NULL, prefix TEXT NOT NULL
) STRICT;
INSERT INTO versions SELECT 1, NULL, value, '' FROM meta WHERE key = 'map';
INSERT INTO meta SELECT 'version', '1' FROM meta WHERE key = 'map';
CREATE TABLE switches (
    event INTEGER PRIMARY KEY, t REAL NOT NULL, old INTEGER NOT NULL, new INTEGER NOT NULL, points TEXT NOT NULL
) STRICT;
CREATE TABLE titles (target TEXT PRIMARY KEY, title TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE notices (event INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
"];

/// Makes the tables of an empty file, or brings those of an older store up to date; all of it or nothing.
pub(super) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let version = check(connection, path, steps)?;
    if version == steps.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for step in &steps[version..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// The version of a store; refuses what is none, or a newer one.
pub(super) fn check(connection: &Connection, path: &Path, steps: &[&str]) -> Result<usize, StoreError> {
    let failed = |e: rusqlite::Error| StoreError::from_sqlite(path, &e);
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let (application, found) = (number("application_id")?, number("user_version")?);
    let tables = "SELECT count(*) FROM sqlite_schema";
    let empty = connection.query_row(tables, [], |row| row.get::<_, i64>(0)).map_err(failed)? == 0;
    let known = steps.len() as i64;
    match usize::try_from(found) {
        Ok(0) if application == 0 && empty => Ok(0),
        _ if application != APPLICATION => Err(StoreError::NotAStore(path.into())),
        Ok(version) if version > steps.len() => Err(StoreError::Newer { path: path.into(), found, known }),
        Ok(version) if version > 0 => Ok(version),
        _ => Err(StoreError::Damaged { path: path.into(), problem: format!("its version is {found}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[&str] = &["CREATE TABLE a (v INTEGER) STRICT"];
    const NEW: &[&str] = &[OLD[0], "ALTER TABLE a ADD COLUMN w INTEGER", "UPDATE a SET w = v + 1"];

    fn path() -> &'static Path {
        Path::new("some.db")
    }

    #[test]
    fn each_step_is_taken_once_and_keeps_what_is_there() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, path(), OLD).unwrap();
        connection.execute("INSERT INTO a VALUES (41)", []).unwrap();
        migrate(&mut connection, path(), OLD).unwrap();
        for _ in 0..2 {
            migrate(&mut connection, path(), NEW).unwrap();
            let both =
                connection.query_row("SELECT v, w FROM a", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
            assert_eq!(both, (41, 42));
        }
        let said = migrate(&mut connection, path(), OLD).unwrap_err().to_string();
        assert_eq!(
            said,
            "some.db: this store has version 3 and this program knows up to 1: use a newer program"
        );
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, path(), OLD).unwrap();
        let bad = [OLD[0], "CREATE TABLE b (v INTEGER)", "CREATE TABLE a (v INTEGER)"];
        migrate(&mut connection, path(), &bad).unwrap_err();
        assert_eq!(check(&connection, path(), OLD).unwrap(), 1);
        assert!(connection.prepare("SELECT * FROM b").is_err());
    }

    #[test]
    fn the_databases_of_others_are_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE cats (name TEXT)").unwrap();
        let refused = migrate(&mut connection, path(), STEPS).unwrap_err();
        assert!(matches!(refused, StoreError::NotAStore(_)), "{refused}");
    }
}
