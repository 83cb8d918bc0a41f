//! Arrow streams before they are decoded, and those that break off.

use crate::written::*;
use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::CompressionType;
use lion_table::{Format, Outline, ReadOptions, outline, parse};
use std::sync::Arc;

fn constant(rows: usize) -> RecordBatch {
    batch(vec![
        ("a", Arc::new(Float32Array::from(vec![1.0; rows])) as ArrayRef),
        ("b", Arc::new(Int64Array::from(vec![7; rows]))),
    ])
}

fn told(columns: &[&str], rows: u64, bytes: u64) -> Outline {
    Outline { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows, bytes }
}

#[test]
fn the_outline_tells_what_decoding_would_cost() {
    // 12 bytes a row, whatever they are compressed to.
    let batches = [constant(1000), constant(3000)];
    for codec in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let bytes = arrow_file(&batches, Some(codec));
        assert!(bytes.len() < 12_000, "it is compressed");
        assert_eq!(outline(&bytes).unwrap(), told(&["a", "b"], 4000, 48_000));
    }
    // 64 bytes are what parts of a body are filled up to.
    let plain = outline(&arrow_file(&batches, None)).unwrap();
    assert_eq!((plain.rows, plain.columns.len()), (4000, 2));
    assert!((48_000..48_000 + 4 * 64).contains(&plain.bytes), "{}", plain.bytes);
    // Two bytes grow when they are compressed, so they stand as they are behind a length.
    let tiny = batch(vec![("x", Arc::new(Int16Array::from(vec![5])) as ArrayRef)]);
    let tiny = outline(&arrow_file(&[tiny], Some(CompressionType::ZSTD))).unwrap();
    assert_eq!(tiny, told(&["x"], 1, 10));
    // Those of a dictionary count, and its entries are no rows.
    let kinds: DictionaryArray<Int8Type> = (0..100).map(|row| ["red", "blue"][row % 2]).collect();
    let kinds = batch(vec![("k", Arc::new(kinds) as ArrayRef)]);
    let found = outline(&arrow_stream(&[kinds])).unwrap();
    assert_eq!((found.rows, found.columns), (100, vec!["k".to_owned()]));
    assert!((119..119 + 4 * 64).contains(&found.bytes), "{}", found.bytes);
    // A column of gaps has any number of rows and no bytes.
    let gaps = batch(vec![("g", Arc::new(NullArray::new(1 << 40)) as ArrayRef)]);
    assert_eq!(outline(&arrow_stream(&[gaps])).unwrap(), told(&["g"], 1 << 40, 0));
}

#[test]
fn a_stream_that_breaks_off_is_never_taken_for_a_whole_one() {
    for (whole, head) in [
        (arrow_stream(&[constant(3), constant(2)]), "stream"),
        (arrow_file(&[constant(3), constant(2)], None), "file"),
    ] {
        let all = parse(&whole, Format::Arrow, &ReadOptions::default()).unwrap();
        assert_eq!(all.rows, 5);
        let mut read = Vec::new();
        for end in 0..whole.len() {
            let part = &whole[..end];
            let rows = parse(part, Format::Arrow, &ReadOptions::default()).map(|table| table.rows);
            if let Ok(rows) = rows {
                assert_eq!(outline(part).unwrap().rows, rows as u64, "{head} {end}");
                read.push(rows);
            }
        }
        // Between messages a stream may end: nothing in it says how many there are.
        read.dedup();
        assert_eq!(read, [3, 5], "{head}");
    }
}

#[test]
fn zeros_before_the_first_message_are_skipped_as_far_as_writers_align() {
    let bytes = arrow_file(&[constant(2)], None);
    let (magic, rest) = bytes.split_at(8);
    for more in [0, 8, 64, 72] {
        let padded = [magic, &vec![0; more], rest].concat();
        assert_eq!(parse(&padded, Format::Arrow, &ReadOptions::default()).unwrap().rows, 2, "{more}");
    }
}

/// A length in the bytes of a file, replaced by another wherever it stands.
fn replaced(bytes: &[u8], from: i64, to: i64) -> Vec<u8> {
    let (from, to) = (from.to_le_bytes(), to.to_le_bytes());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == from).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at..at + 8].copy_from_slice(&to));
    bytes
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let rows = 98_761;
    let said = |bytes: &[u8]| {
        let parsed = parse(bytes, Format::Arrow, &ReadOptions::default()).unwrap_err().to_string();
        assert_eq!(outline(bytes).unwrap_err().to_string(), parsed);
        parsed
    };
    let plain = arrow_stream(&[constant(rows)]);
    let promise = "the given bytes is not a whole Arrow file: a message promises more than it holds";
    // The bytes of a column, and the rows.
    assert_eq!(said(&replaced(&plain, 4 * rows as i64, 1 << 40)), promise);
    assert_eq!(said(&replaced(&plain, rows as i64, -1)), promise);
    // Gaps: more than rows, and fewer than none.
    let gaps = 54_321;
    let column: Float32Array = (0..rows).map(|row| (row >= gaps).then_some(1.0)).collect();
    let gapped = arrow_stream(&[batch(vec![("a", Arc::new(column) as ArrayRef)])]);
    for count in [rows as i64 + 1, -1] {
        assert_eq!(said(&replaced(&gapped, gaps as i64, count)), promise);
    }
    // What a codec cannot make of so few bytes.
    for codec in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let compressed = arrow_file(&[constant(rows)], Some(codec));
        assert_eq!(said(&replaced(&compressed, 4 * rows as i64, 1 << 40)), promise);
    }
}
