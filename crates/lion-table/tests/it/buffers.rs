//! What reading holds beside the rows, and that no more is held than is told.

use arrow_array::{ArrayRef, Float32Array, StringArray};
use lion_table::{Format, ReadOptions, open, parse_batches};
use parquet::basic::Compression;
use std::sync::Arc;

use crate::memory::peak;
use crate::written::{WrittenFolder, batch, npy_f32, parquet};

#[test]
fn arrays_are_decoded_in_portions() {
    let folder = WrittenFolder::new();
    // Long rows and short ones: about 8 MB each.
    for (rows, cols) in [(4000, 500), (500_000, 4), (20, 100_000)] {
        let path = folder.file("t.npy", npy_f32(rows, cols, &vec![1.5; rows * cols]));
        for options in
            [ReadOptions::default(), ReadOptions { exclude: vec!["c1".into()], ..ReadOptions::default() }]
        {
            let buffers = open(&path, &options).unwrap().buffers();
            // Beside them, what the file is read through, and the names of columns.
            let (names, through) = (200 * cols, 600 << 10);
            let (held, whole) = peak(|| open(&path, &options).unwrap().into_table().unwrap());
            assert_eq!(whole.rows, rows);
            let row = 4 * cols;
            assert!(
                held < 4 * whole.data.len() + buffers.max(2 * row) + through + names,
                "{held} for {rows} x {cols}"
            );
        }
    }
}

#[test]
fn parquet_tells_the_pages_of_its_columns() {
    let rows = 100_000_u32;
    let value = |row: u32| row.wrapping_mul(2_654_435_761) as f32;
    let numbers = |add: u32| {
        Arc::new((0..rows).map(|row| Some(value(row + add))).collect::<Float32Array>()) as ArrayRef
    };
    let texts: StringArray = (0..rows).map(|row| Some(format!("{:0>40}", value(row)))).collect();
    let all = batch(vec![("a", numbers(0)), ("b", numbers(7)), ("text", Arc::new(texts) as ArrayRef)]);
    let whole = parquet(std::slice::from_ref(&all), Compression::SNAPPY, 1 << 20);
    let halves = parquet(&[all], Compression::SNAPPY, 50_000);
    let buffers = |bytes: &[u8], columns: &[&str], label: Option<&str>| {
        let options = ReadOptions {
            columns: Some(columns.iter().map(|&name| name.to_owned()).collect()),
            label: label.map(str::to_owned),
            ..ReadOptions::default()
        };
        parse_batches(bytes, Format::Parquet, &options).unwrap().buffers() - (1 << 20)
    };
    // A column of 400 kB is held as it is; of one of 4 MB a few pages.
    let one = buffers(&whole, &["a"], None);
    assert!((400_000..900_000).contains(&one), "{one}");
    assert_eq!(buffers(&whole, &["a", "b"], None), one + buffers(&whole, &["b"], None));
    let text = buffers(&whole, &["a"], Some("text")) - one;
    assert!((1 << 20..4 << 20).contains(&text), "{text}");
    // Of several row groups the largest counts, for one is read after the other.
    let half = buffers(&halves, &["a"], None);
    assert!(half < 3 * one / 4, "{half} of {one}");
}
