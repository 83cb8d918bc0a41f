//! Outside bytes of any kind: never a panic, never more memory than a small multiple of the input.

use crate::memory::peak;
use crate::written::*;
use arrow_array::types::Int32Type;
use arrow_array::*;
use lion_table::{Format, ReadOptions, parse, parse_labels};
use parquet::basic::Compression;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

const FORMATS: [Format; 6] =
    [Format::Npy, Format::Csv, Format::Parquet, Format::Arrow, Format::Jsonl, Format::Idx];

/// Buffers that are there for any input, however small.
const FIXED: usize = 4 << 20;

/// A byte can be a whole cell, which then has a value and, in the first row, a column with a name.
const PER_BYTE: usize = 256;

fn parse_within_bounds(bytes: &[u8], format: Format) {
    let options = ReadOptions { label: Some("c1".into()), ..ReadOptions::default() };
    for options in [ReadOptions::default(), options] {
        let (peak, result) = peak(|| parse(bytes, format, &options));
        assert!(peak <= FIXED + PER_BYTE * bytes.len(), "{format:?}: {peak} bytes for {}", bytes.len());
        if let Ok(table) = result {
            assert_eq!(table.data.len(), table.rows * table.cols);
            assert_eq!(table.columns.len(), table.cols);
            assert!(table.rows > 0 && table.cols > 0 && table.data.iter().all(|value| value.is_finite()));
        }
    }
    let (peak, _) = peak(|| parse_labels(bytes, format));
    assert!(peak <= FIXED + PER_BYTE * bytes.len(), "labels of {format:?}: {peak} bytes for {}", bytes.len());
}

/// One sound file per way of writing, to be altered.
static SOUND: LazyLock<Vec<(Vec<u8>, Format)>> = LazyLock::new(|| {
    let kinds: DictionaryArray<Int32Type> = ["u", "v", "u"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("c1", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("c2", Arc::new(Float32Array::from(vec![0.5, 1.5, 2.5]))),
        ("c3", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ];
    let mut texts = columns.clone();
    texts[0] = ("c1", Arc::new(kinds));
    let lists = vec![
        ("c1", Arc::new(StringViewArray::from(vec!["a", "b"])) as ArrayRef),
        (
            "x",
            Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
                [Some([Some(1), Some(2)]), Some([Some(3), Some(4)])],
                2,
            )),
        ),
    ];
    let mut files = vec![
        (npy_f32(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Format::Npy),
        (npy(2, ">f8", true, "(2, 2)", &[0; 32]), Format::Npy),
        (npy(3, "<U2", false, "(2,)", &[65, 0, 0, 0, 0, 0, 0, 0, 66, 0, 0, 0, 0, 0, 0, 0]), Format::Npy),
        (idx(8, &[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]), Format::Idx),
        (idx(14, &[2], &[0; 16]), Format::Idx),
        (b"c1,c2,c3\n1,2,3\n\"4\",5,6\n".to_vec(), Format::Csv),
        (gz(b"c1;c2\n1;2\n3;4\n"), Format::Csv),
        (b"{\"c1\":1,\"c2\":2}\n{\"c2\":3,\"c1\":4}\n".to_vec(), Format::Jsonl),
        (b"{\"c1\":\"a\",\"x\":[1,2]}\n[1,2]\n".to_vec(), Format::Jsonl),
    ];
    for columns in [columns, texts, lists] {
        let batch = batch(columns);
        let zstd = Compression::ZSTD(Default::default());
        files.push((parquet(std::slice::from_ref(&batch), zstd, 2), Format::Parquet));
        files.push((parquet(std::slice::from_ref(&batch), Compression::SNAPPY, 2), Format::Parquet));
        files.push((arrow_stream(std::slice::from_ref(&batch)), Format::Arrow));
        for compression in
            [None, Some(arrow_ipc::CompressionType::LZ4_FRAME), Some(arrow_ipc::CompressionType::ZSTD)]
        {
            files.push((arrow_file(std::slice::from_ref(&batch), compression), Format::Arrow));
        }
    }
    files
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), format in 0..6_usize) {
        parse_within_bounds(&bytes, FORMATS[format]);
    }

    #[test]
    fn any_text(text in "[0-9a-e.,\"\\n\\[\\]{}: -]{0,80}", format in 0..2_usize) {
        parse_within_bounds(text.as_bytes(), [Format::Csv, Format::Jsonl][format]);
    }

    #[test]
    fn altered_files(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (mut bytes, format) = SOUND[which.index(SOUND.len())].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        parse_within_bounds(&bytes, format);
    }

    #[test]
    fn every_float_comes_back_as_it_was_written(
        cols in 1..6_usize,
        rows in 1..12_usize,
        values in prop::collection::vec(-1e30_f32..1e30, 60),
    ) {
        let values = &values[..rows * cols];
        let table = parse(&npy_f32(rows, cols, values), Format::Npy, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&table.data, values);
        let text: String = values.chunks(cols)
            .map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n")
            .collect();
        let table = parse(text.as_bytes(), Format::Csv, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&table.data, values);
        let lines: String = values.chunks(cols)
            .map(|row| format!("[{}]\n", row.iter().map(f32::to_string).collect::<Vec<_>>().join(",")))
            .collect();
        let table = parse(lines.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap();
        prop_assert_eq!(&table.data, values);
    }
}
