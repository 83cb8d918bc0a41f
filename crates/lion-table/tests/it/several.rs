//! Several files that make one table.

use crate::written::{WrittenFolder, arrow_stream, batch, gz, npy_f32};
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use lion_recipe::Missing;
use lion_table::{
    BATCH_ROWS, Column, Error, Field, Kind, Plan, PlanOptions, ReadOptions, Table, Writer, expected_rows,
    open_all, survey,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
fn other_columns_are_refused_before_anything_is_read() {
    for (second, says) in [("a,c\n1,2\n", "has a column c where"), ("a\n1\n", "has 1 columns where")] {
        let (_folder, paths) = files(&["a,b\n1,2\n", second]);
        let error = open_all(&paths, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("1.csv ") && error.contains(says), "{error}");
    }
}

#[test]
fn ids_are_unique_over_all() {
    let (_folder, paths) = files(&["id,a\nw,1\nx,1\n", "id,a\nx,2\n"]);
    let whole = open_all(&paths, &by_id()).unwrap().into_table().unwrap_err();
    let mut parts = open_all(&paths, &by_id()).unwrap();
    assert!(parts.next().unwrap().is_ok());
    for error in [whole, parts.next().unwrap().unwrap_err()] {
        assert!(matches!(error, Error::DuplicateId { .. }));
        let said = error.to_string();
        assert!(
            said.contains("0.csv, row 1 (line 3) and ")
                && said.contains("1.csv, row 0 (line 2) have the same"),
            "{said}"
        );
    }
    assert!(open_all(&paths, &by_id()).unwrap().with_repeated_ids().into_table().is_ok());
}

#[test]
fn a_missing_file_is_named_before_anything_is_read() {
    let (folder, mut paths) = files(&["a\n1\n"]);
    paths.push(folder.path().join("none.csv"));
    let error = open_all(&paths, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("none.csv: there is no such file"), "{error}");
    assert!(open_all(&[], &ReadOptions::default()).is_err());
}

#[test]
fn rows_are_found_in_their_files() {
    let (_folder, paths) = files(&["a\n1\n2\n", "a\n3\n", "a\n4\n5\n"]);
    let (table, origins) = open_all(&paths, &ReadOptions::default()).unwrap().into_table_of_files().unwrap();
    assert_eq!(table.rows, 5);
    for (row, (file, inside)) in [(0, ("0.csv", 0)), (1, ("0.csv", 1)), (2, ("1.csv", 0)), (4, ("2.csv", 1))]
    {
        let found = origins.cell(row, "a");
        let place = (found.row, found.line, found.column.as_str());
        assert!(found.file.ends_with(file), "{row}: {found}");
        assert_eq!(place, (inside, Some(inside as u64 + 2), "a"));
    }
    let mut batches = open_all(&paths, &ReadOptions::default()).unwrap();
    let mut befores = Vec::new();
    while let Some(batch) = batches.next() {
        assert!(batch.is_ok());
        befores.push(batches.origin().before);
    }
    assert_eq!(befores, [0, 2, 3]);
    let (_folder, paths) = files(&["a\n1\n2\n", "a\n3\nx\n"]);
    let error = open_all(&paths, &ReadOptions::default()).unwrap().into_table().unwrap_err().to_string();
    assert!(error.contains("1.csv, row 1 (line 3), column a"), "{error}");
}

/// Wide Parquet files and npy files in Fortran order have ways of their own to be read whole.
#[test]
fn every_format_goes_on_where_the_last_file_ended() {
    const COLS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for file in 0..3 {
        let path = folder.path().join(format!("{file}.parquet"));
        let mut fields = vec![Field::new("id", Kind::Text)];
        fields.extend((0..COLS).map(|c| Field::new(format!("f{c}"), Kind::F32)));
        let mut columns =
            vec![Column::from((0..5).map(|row| format!("r{}", file * 5 + row)).collect::<Vec<_>>())];
        let values = |c: usize| (0..5).map(|row| (file * 5 + row + 100 * c) as f32).collect::<Vec<_>>();
        columns.extend((0..COLS).map(|c| Column::from(values(c))));
        let mut writer = Writer::create(&path, fields, &[]).unwrap();
        writer.write(&columns).unwrap();
        writer.finish().unwrap();
        paths.push(path);
    }
    let opened = open_all(&paths, &by_id()).unwrap();
    assert_eq!(opened.row_count(), Some(15));
    let table = opened.into_table().unwrap();
    assert_eq!((table.rows, table.row(13).unwrap()[2]), (15, 213.0));
    assert_eq!(table.ids.unwrap()[14], "r14");

    let turned = |values: &[f32]| {
        let mut header =
            format!("{{'descr': '<f4', 'fortran_order': True, 'shape': ({}, 2), }}", values.len() / 2);
        header.push_str(&" ".repeat(128 - 11 - header.len()));
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    };
    let paths = [folder.path().join("a.npy"), folder.path().join("b.npy")];
    std::fs::write(&paths[0], turned(&[1.0, 3.0, 2.0, 4.0])).unwrap();
    std::fs::write(&paths[1], turned(&[5.0, 6.0])).unwrap();
    let table = open_all(&paths, &ReadOptions::default()).unwrap().into_table().unwrap();
    assert_eq!((table.rows, table.data), (3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
}

#[test]
fn how_many_rows_there_will_be_is_told_or_estimated() {
    let folder = WrittenFolder::new();
    let (rows, cols) = (16 * BATCH_ROWS, 16);
    let values: Vec<f32> = (0..(rows * cols) as u32).map(|v| v.wrapping_mul(2_654_435_761) as f32).collect();
    let npy = npy_f32(rows, cols, &values);
    let plain = ReadOptions::default();
    let expected =
        |path: &Path, options: &ReadOptions| expected_rows(&[path.to_path_buf()], options).unwrap().unwrap();
    assert_eq!(expected(&folder.file("t.npy", &npy), &plain), rows);
    // Of these it is an estimate from the first rows, and a coarse one: counting them would mean to read them all.
    let is_estimate = |found: usize| {
        assert!(found != rows && (rows / 8..2 * rows).contains(&found), "{found} of {rows}");
    };
    is_estimate(expected(&folder.file("t.npy.gz", gz(&npy)), &plain));
    let kinds: StringArray = (0..rows).map(|row| Some(["red", "blue"][row % 2])).collect();
    let x: Float32Array = values[..rows].iter().map(|&v| Some(v)).collect();
    let all = batch(vec![("x", Arc::new(x) as ArrayRef), ("kind", Arc::new(kinds))]);
    let batches: Vec<RecordBatch> = (0..64).map(|part| all.slice(part * rows / 64, rows / 64)).collect();
    let path = folder.file("t.arrow", arrow_stream(&batches));
    let survey = survey(std::slice::from_ref(&path), &plain).unwrap();
    let plan = Plan::new(&survey, &plain, &PlanOptions::default());
    assert!(plan.recipe().is_some());
    is_estimate(expected(&path, &plan.options));
}

/// A row that is left out keeps its number, which is one of the whole table.
#[test]
fn rows_are_numbered_through_all_files() {
    let (_folder, paths) = files(&["x,k\n1,u\n,v\n3,u\n", "x,k\n,u\n5,v\n"]);
    let options = ReadOptions::default();
    let survey = survey(&paths, &options).unwrap();
    let choice = PlanOptions { missing: Some(Missing::Drop), ..PlanOptions::default() };
    let plan = Plan::new(&survey, &options, &choice);
    let table = open_all(&paths, &plan.options).unwrap().into_table().unwrap();
    assert_eq!((table.rows, table.ids.unwrap()), (3, ["0", "2", "4"].map(str::to_owned).to_vec()));
}
