//! Several files that make one table.

use lion_table::{Error, ReadOptions, Table, open_all};
use std::path::PathBuf;

fn files(contents: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = contents.iter().enumerate().map(|(i, content)| {
        let path = folder.path().join(format!("{i}.csv"));
        std::fs::write(&path, content).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn by_id() -> ReadOptions {
    ReadOptions { id: Some("id".into()), ..ReadOptions::default() }
}

#[test]
fn as_one_table_whole_and_in_batches() {
    let (_folder, paths) = files(&["id,a\nx,1\ny,2\n", "id,a\nz,3\n"]);
    let table = open_all(&paths, &by_id()).unwrap().into_table().unwrap();
    assert_eq!((table.rows, table.data), (3, vec![1.0, 2.0, 3.0]));
    let batches: Vec<Table> = open_all(&paths, &by_id()).unwrap().map(Result::unwrap).collect();
    let ids: Vec<String> = batches.iter().flat_map(|batch| batch.ids.clone().unwrap()).collect();
    assert_eq!(
        (ids, table.ids.unwrap()),
        (vec!["x".into(), "y".into(), "z".into()], vec!["x".to_owned(), "y".into(), "z".into()])
    );
}

#[test]
fn other_columns_are_refused() {
    for (second, says) in [("a,c\n1,2\n", "has a column c where"), ("a\n1\n", "has 1 columns where")] {
        let (_folder, paths) = files(&["a,b\n1,2\n", second]);
        let error = open_all(&paths, &ReadOptions::default()).unwrap().into_table().unwrap_err().to_string();
        assert!(error.contains("1.csv ") && error.contains(says), "{error}");
    }
}

#[test]
fn ids_are_unique_over_all() {
    let (_folder, paths) = files(&["id,a\nx,1\n", "id,a\nx,2\n"]);
    let whole = open_all(&paths, &by_id()).unwrap().into_table().unwrap_err();
    assert!(matches!(whole, Error::DuplicateId { .. }));
    let mut parts = open_all(&paths, &by_id()).unwrap();
    assert!(parts.next().unwrap().is_ok());
    assert!(matches!(parts.next().unwrap().unwrap_err(), Error::DuplicateId { .. }));
}

#[test]
fn a_missing_file_is_named_when_its_turn_comes() {
    let (folder, mut paths) = files(&["a\n1\n"]);
    paths.push(folder.path().join("none.csv"));
    let error = open_all(&paths, &ReadOptions::default()).unwrap().into_table().unwrap_err().to_string();
    assert!(error.contains("none.csv: there is no such file"), "{error}");
    assert!(open_all(&[], &ReadOptions::default()).is_err());
}
