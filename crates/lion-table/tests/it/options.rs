//! Which columns become features, ids and labels.

use crate::written::*;
use arrow_array::*;
use lion_table::{Format, ReadOptions, Table, parse};
use parquet::basic::Compression;
use proptest::prelude::*;
use std::sync::Arc;

/// The same table of four columns, `a`, `b`, `c` numbers and `s` text, in three formats.
fn three_ways() -> Vec<(Vec<u8>, Format)> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(Int64Array::from(vec![1, 2]))),
        ("s", Arc::new(StringArray::from(vec!["x", "y"]))),
        ("b", Arc::new(Float64Array::from(vec![0.5, 1.5]))),
        ("c", Arc::new(UInt8Array::from(vec![7, 8]))),
    ];
    let batch = batch(columns);
    vec![
        (b"a,s,b,c\n1,x,0.5,7\n2,y,1.5,8\n".to_vec(), Format::Csv),
        (
            b"{\"a\":1,\"s\":\"x\",\"b\":0.5,\"c\":7}\n{\"c\":8,\"b\":1.5,\"s\":\"y\",\"a\":2}\n".to_vec(),
            Format::Jsonl,
        ),
        (arrow_file(std::slice::from_ref(&batch), None), Format::Arrow),
        (parquet(&[batch], Compression::SNAPPY, 1), Format::Parquet),
    ]
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn id_label_group_columns_and_exclude_in_every_format() {
    let cases = [
        ([Some("s"), Some("c"), None], None, &[][..], &["a", "b"][..], &[1.0, 0.5, 2.0, 1.5][..]),
        ([Some("a"), Some("s"), None], None, &["c"], &["b"], &[0.5, 1.5]),
        ([None; 3], Some(&["c", "a"][..]), &[], &["c", "a"], &[7.0, 1.0, 8.0, 2.0]),
        ([None, Some("c"), None], Some(&["c", "a", "a", "b"]), &["b"], &["a"], &[1.0, 2.0]),
        ([Some("a"), Some("a"), None], None, &["s"], &["b", "c"], &[0.5, 7.0, 1.5, 8.0]),
        ([Some("a"), Some("c"), Some("s")], None, &[], &["b"], &[0.5, 1.5]),
        ([None, Some("s"), Some("s")], Some(&["s", "b"]), &[], &["b"], &[0.5, 1.5]),
        ([None, None, Some("a")], None, &["s"], &["b", "c"], &[0.5, 7.0, 1.5, 8.0]),
    ];
    for ([id, label, group], columns, exclude, names, data) in cases {
        let options = ReadOptions {
            id: id.map(str::to_owned),
            label: label.map(str::to_owned),
            group: group.map(str::to_owned),
            columns: columns.map(strings),
            exclude: strings(exclude),
            ..ReadOptions::default()
        };
        let text = |column: Option<&str>| {
            column.map(|c| {
                strings(match c {
                    "a" => &["1", "2"],
                    "s" => &["x", "y"],
                    _ => &["7", "8"],
                })
            })
        };
        let expected = Table {
            rows: 2,
            cols: names.len(),
            data: data.to_vec(),
            columns: strings(names),
            ids: text(id),
            labels: text(label),
            groups: text(group),
        };
        for (bytes, format) in three_ways() {
            assert_eq!(parse(&bytes, format, &options).unwrap(), expected, "{format:?} {options:?}");
        }
    }
}

#[test]
fn nameless_columns_go_by_number() {
    let values = [1.0, 7.0, 3.0, 2.0, 8.5, 4.0];
    let turned: Vec<u8> = [1.0_f32, 2.0, 7.0, 8.5, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let name = |name: &str| Some(name.to_owned());
    let options =
        ReadOptions { id: name("c1"), label: name("c2"), group: name("c2"), ..ReadOptions::default() };
    for bytes in [npy_f32(2, 3, &values), npy(1, "<f4", true, "(2, 3)", &turned)] {
        let table = parse(&bytes, Format::Npy, &options).unwrap();
        assert_eq!((table.columns, table.data), (strings(&["c3"]), vec![3.0, 4.0]));
        assert_eq!(table.ids.unwrap(), ["1", "2"]);
        assert_eq!(table.labels.unwrap(), ["7", "8.5"]);
        assert_eq!(table.groups.unwrap(), ["7", "8.5"]);
    }
}

#[test]
fn large_ids_keep_every_digit() {
    let ids = [i64::MAX, i64::MAX - 1];
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let expected = ids.map(|id| id.to_string());
    let csv = format!("id,a\n{},1\n{},1\n", ids[0], ids[1]);
    assert_eq!(parse(csv.as_bytes(), Format::Csv, &options).unwrap().ids.unwrap(), expected);
    let jsonl = format!("{{\"id\":{},\"a\":1}}\n{{\"id\":{},\"a\":1}}\n", ids[0], ids[1]);
    assert_eq!(parse(jsonl.as_bytes(), Format::Jsonl, &options).unwrap().ids.unwrap(), expected);
    let batch = batch(vec![
        ("id", Arc::new(Int64Array::from(ids.to_vec())) as ArrayRef),
        ("a", Arc::new(Int64Array::from(vec![1, 1]))),
    ]);
    let bytes = parquet(&[batch], Compression::SNAPPY, 10);
    assert_eq!(parse(&bytes, Format::Parquet, &options).unwrap().ids.unwrap(), expected);
    let body: Vec<u8> = ids.iter().flat_map(|id| [*id, 0]).flat_map(i64::to_le_bytes).collect();
    let options = ReadOptions { id: Some("c1".into()), ..ReadOptions::default() };
    let bytes = npy(1, "<i8", false, "(2, 2)", &body);
    assert_eq!(parse(&bytes, Format::Npy, &options).unwrap().ids.unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is chosen, all formats agree on the table or on the refusal.
    #[test]
    fn formats_agree_on_every_choice(
        id in prop::option::of(0..5_usize),
        label in prop::option::of(0..5_usize),
        group in prop::option::of(0..5_usize),
        columns in prop::option::of(prop::collection::vec(0..5_usize, 0..4)),
        exclude in prop::collection::vec(0..4_usize, 0..3),
    ) {
        let name = |c: usize| ["a", "s", "b", "c", "nowhere"][c].to_owned();
        let options = ReadOptions {
            id: id.map(name),
            label: label.map(name),
            group: group.map(name),
            columns: columns.map(|columns| columns.into_iter().map(name).collect()),
            exclude: exclude.into_iter().map(name).collect(),
            ..ReadOptions::default()
        };
        let results: Vec<_> = three_ways()
            .into_iter()
            // Text columns are described by their first cell where there is no schema.
            .map(|(bytes, format)| {
                parse(&bytes, format, &options).map_err(|e| e.to_string().replace(" (\"x\" in row 0)", ""))
            })
            .collect();
        for result in &results[1..] {
            prop_assert_eq!(result, &results[0]);
        }
    }
}

#[test]
fn ids_may_repeat_where_that_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.csv");
    std::fs::write(&file, "id,a\nx,1\nx,2\n").expect("written");
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let open = || lion_table::open(&file, &options).expect("opened");
    assert!(open().any(|batch| batch.is_err()));
    let tables: Vec<Table> = open().with_repeated_ids().collect::<Result<_, _>>().expect("read");
    assert_eq!(tables[0].ids.as_deref(), Some(&strings(&["x", "x"])[..]));
}
