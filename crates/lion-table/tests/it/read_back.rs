//! Columns read back by name, whoever wrote them.

use crate::memory::peak;
use crate::output::{WHOLE, fields, rows, written};
use crate::written::*;
use arrow_array::types::Int32Type;
use arrow_array::*;
use lion_table::{Column, Field, Kind, Writer, read_columns};
use parquet::basic::Compression;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

#[test]
fn columns_that_cannot_be_read_back() {
    let folder = WrittenFolder::new();
    let said = |path: &Path, field: Field| {
        let sentence = read_columns(path, &[field]).unwrap_err().to_string();
        sentence.split_once("/t.").unwrap().1.split_once([' ', ',']).unwrap().1.trim_start().to_owned()
    };
    for name in WHOLE {
        let path = folder.path().join(name);
        written(&path, &[rows(0..3)]);
        assert_eq!(
            said(&path, Field::new("z", Kind::F32)),
            "has no column z; the columns there are: id, x, y, off_plane, nearest_id, neighbours, group",
            "{name}"
        );
        assert_eq!(
            said(&path, Field::new("group", Kind::U64)).split_once(", ").unwrap().1,
            "column group is empty; every value must be a finite number: fill it or remove the row",
            "{name}"
        );
        let sentence = said(&path, Field::new("id", Kind::F32));
        assert!(sentence.contains("column id holds \"row 0\", which is not a number"), "{name}: {sentence}");
        let sentence = said(&path, Field::nullable("group", Kind::U32));
        let whole = format!(
            "column group holds \"{}\" where a whole number from 0 to 4294967295 belongs; correct it",
            u64::MAX - 1
        );
        assert!(sentence.ends_with(&whole), "{name}: {sentence}");
    }
}

#[test]
fn columns_as_other_programs_write_them() {
    let folder = WrittenFolder::new();
    let fields = [Field::nullable("group", Kind::U64), Field::new("x", Kind::F32)];
    let expected: [Column; 2] = [vec![None, Some(3_u64)].into(), vec![0.5_f32, 2.0].into()];
    for (name, text) in [
        ("t.csv", "x,extra,group\n0.5,?,NA\n2,?,3.0\n"),
        ("t.csv", "\u{feff}group;x\r\n;0.5\r\n3;2e0\r\n"),
        ("t.csv", "0,group,x\n1,,0.5\n2,3,2\n"),
        ("t.jsonl", "{\"x\":0.5,\"group\":null,\"y\":[]}\n{\"group\":3.0,\"x\":2}\n"),
        ("t.jsonl", "{\"x\":0.5,\"group\":null}\n\n{\"x\":2,\"group\":3}"),
    ] {
        assert_eq!(read_columns(&folder.file(name, text), &fields).unwrap(), expected, "{text}");
    }
    let said = |name: &str, text: &str| {
        let sentence = read_columns(&folder.file(name, text), &fields).unwrap_err().to_string();
        sentence.split_once("/t.").unwrap().1.to_owned()
    };
    let number = "where a whole number from 0 to 18446744073709551615 belongs; correct it";
    assert_eq!(
        said("t.csv", "x,group\n1,1.5\n"),
        format!("csv, row 0 (line 2), column group holds \"1.5\" {number}")
    );
    assert_eq!(
        said("t.jsonl", "{\"x\":1,\"group\":-1}\n"),
        format!("jsonl, row 0 (line 1), column group holds \"-1\" {number}")
    );
    assert_eq!(
        said("t.csv", "x,group\n1\n"),
        "csv, row 0 (line 2) has length 1 instead of 2; every row must have the same number of values: correct it or remove it"
    );
    assert_eq!(said("t.csv", "x,x,group\n1,2,3\n"), "csv has more than one column x; rename one of them");
    assert_eq!(said("t.csv", ""), "csv has no rows of data");
    assert_eq!(
        said("t.jsonl", "{\"x\":1,\"group\":1}\n{\"x\":1,\"x\":2}\n"),
        "jsonl, row 1 (line 2), column x is there twice; every field may have one value per row"
    );
    assert_eq!(
        said("t.jsonl", "[1,2]\n"),
        "jsonl, row 0 (line 1) is not a JSON object or array of numbers: its values have no names"
    );
    assert_eq!(
        said("t.jsonl", "{\"x\":[1],\"group\":1}\n"),
        "jsonl has lists in column x, where numbers or text belong"
    );
    assert!(said("t.csv", "x,group\n1e99,1\n").contains("column x is 1e99, too large for a 32-bit float"));
}

#[test]
fn columns_of_types_that_are_not_written_here() {
    let folder = WrittenFolder::new();
    let kinds: DictionaryArray<Int32Type> = ["u", "v"].into_iter().collect();
    let batch = batch(vec![
        ("kind", Arc::new(kinds) as ArrayRef),
        ("x", Arc::new(Float64Array::from(vec![0.5, 1e-3]))),
        ("n", Arc::new(Int8Array::from(vec![1, 2]))),
        ("group", Arc::new(NullArray::new(2))),
        ("date", Arc::new(Date32Array::from(vec![1, 2]))),
    ]);
    let fields = [
        Field::new("n", Kind::U64),
        Field::new("kind", Kind::Text),
        Field::new("x", Kind::F32),
        Field::nullable("group", Kind::U64),
    ];
    let expected: Vec<Column> = vec![
        vec![1_u64, 2].into(),
        vec!["u".to_owned(), "v".to_owned()].into(),
        vec![0.5_f32, 1e-3].into(),
        vec![None::<u64>, None].into(),
    ];
    for path in [
        folder.file("t.arrow", arrow_file(std::slice::from_ref(&batch), None)),
        folder.file("stream", arrow_stream(std::slice::from_ref(&batch))),
        folder.file("t.parquet", parquet(std::slice::from_ref(&batch), Compression::SNAPPY, 1)),
    ] {
        assert_eq!(read_columns(&path, &fields).unwrap(), expected, "{path:?}");
        let refused = read_columns(&path, &[Field::nullable("date", Kind::Text)]).unwrap_err().to_string();
        assert!(
            refused.ends_with("has values of type Date32 in column date, where numbers or text belong"),
            "{refused}"
        );
    }
}

/// The cells of CSV as RFC 4180 has it, by the plainest of all readers.
fn rfc_4180(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let record = records.last_mut().unwrap();
        let cell = record.last_mut().unwrap();
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.push(characters.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\n' if !quoted => records.push(vec![String::new()]),
            character => cell.push(character),
        }
    }
    assert_eq!(records.pop(), Some(vec![String::new()]), "the last line has an end");
    records
}

/// A sound file of each format.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = WrittenFolder::new();
    let sound = |name: &&str| {
        let path = folder.path().join(name);
        written(&path, &[rows(0..5)]);
        fs::read(&path).unwrap()
    };
    WHOLE.iter().map(sound).collect()
});

/// A row of every kind of value.
type ReadBackRow = (String, Option<String>, f32, Option<f64>, Option<u64>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn awkward_values_come_back(
        rows in prop::collection::vec(
            (
                prop_oneof!["[\",;\t\r\n\u{feff} a\u{0}\\\\'é{}\\[\\]]{0,6}", any::<String>()],
                prop::option::of("[\",\r\n a]{1,4}"),
                any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite()),
                prop::option::of(any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite())),
                prop::option::of(any::<u64>()),
            ),
            0..8,
        ),
        split in any::<prop::sample::Index>(),
    ) {
        let fields = [
            Field::new("t", Kind::Text),
            Field::nullable("u", Kind::Text),
            Field::new("x", Kind::F32),
            Field::nullable("d", Kind::F64),
            Field::nullable("n", Kind::U64),
        ];
        let columns = |rows: &[ReadBackRow]| -> Vec<Column> {
            vec![
                rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>().into(),
                rows.iter().map(|row| row.1.clone()).collect::<Vec<_>>().into(),
                rows.iter().map(|row| row.2).collect::<Vec<_>>().into(),
                rows.iter().map(|row| row.3).collect::<Vec<_>>().into(),
                rows.iter().map(|row| row.4).collect::<Vec<_>>().into(),
            ]
        };
        let folder = WrittenFolder::new();
        let split = split.index(rows.len() + 1);
        for name in WHOLE {
            let path = folder.path().join(name);
            let mut writer = Writer::create(&path, fields.to_vec(), &[]).unwrap();
            writer.write(&columns(&rows[..split])).unwrap();
            writer.write(&columns(&rows[split..])).unwrap();
            writer.finish().unwrap();
            let back = read_columns(&path, &fields).unwrap();
            prop_assert_eq!(format!("{:?}", back), format!("{:?}", columns(&rows)), "{}", name);
        }
        let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
        for (cells, row) in rfc_4180(&text)[1..].iter().zip(&rows) {
            prop_assert_eq!(&cells[0], &row.0);
            prop_assert_eq!(&cells[1], row.1.as_deref().unwrap_or_default());
            prop_assert_eq!(cells[2].parse::<f32>().unwrap().to_bits(), row.2.to_bits());
            prop_assert_eq!(cells[3].parse().ok().map(f64::to_bits), row.3.map(f64::to_bits));
            prop_assert_eq!(cells[4].parse().ok(), row.4);
        }
        let text = fs::read_to_string(folder.path().join("t.jsonl")).unwrap();
        for (line, row) in text.split_terminator('\n').zip(&rows) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(line["t"].as_str(), Some(row.0.as_str()));
            prop_assert_eq!(line["u"].as_str(), row.1.as_deref());
            prop_assert_eq!(line["x"].as_f64().map(|x| x as f32), Some(row.2));
            prop_assert_eq!(line["d"].as_f64().map(f64::to_bits), row.3.map(f64::to_bits));
            prop_assert_eq!(line["n"].as_u64(), row.4);
        }
    }

    /// Altered or broken off: columns of one length, or a refusal, and never more memory than the bytes can claim.
    #[test]
    fn altered_files(
        which in 0..WHOLE.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = SOUND[which].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        let folder = WrittenFolder::new();
        let path = folder.file(WHOLE[which], &bytes);
        let (peak, columns) = peak(|| read_columns(&path, &fields()));
        prop_assert!(peak < 8 << 20, "{} bytes for {}", peak, bytes.len());
        if let Ok(columns) = columns {
            prop_assert!(columns.iter().all(|column| column.len() == columns[0].len()));
        }
    }

    /// A column alone, whose nulls must not become blank lines.
    #[test]
    fn one_column_keeps_all_rows(values in prop::collection::vec(prop::option::of("[;\\t,a]{1,3}"), 0..6)) {
        let folder = WrittenFolder::new();
        let fields = [Field::nullable("a;b", Kind::Text)];
        for name in WHOLE {
            let path = folder.path().join(name);
            let mut writer = Writer::create(&path, fields.to_vec(), &[]).unwrap();
            writer.write(&[values.clone().into()]).unwrap();
            writer.finish().unwrap();
            prop_assert_eq!(read_columns(&path, &fields).unwrap(), [values.clone().into()], "{}", name);
        }
    }
}
