//! Each format gives back what was written.

use crate::written::*;
use arrow_array::builder::{
    FixedSizeListBuilder, Float32Builder, Float64Builder, LargeListBuilder, ListBuilder,
};
use arrow_array::types::{Float16Type, Int32Type};
use arrow_array::*;
use lion_table::{BATCH_ROWS, Format, ReadOptions, Table, open, parse, parse_batches, read, survey_bytes};
use parquet::basic::Compression;
use std::sync::Arc;

fn plain(bytes: &[u8], format: Format) -> Table {
    parse(bytes, format, &ReadOptions::default()).unwrap()
}

/// A table of many rows, more than a batch, with values that `f32` holds exactly.
fn numbers(rows: usize, cols: usize) -> Vec<f32> {
    (0..rows * cols).map(|i| (i % 4099) as f32 * 0.25 - 7.0).collect()
}

#[test]
fn npy_of_every_type_and_order() {
    macro_rules! check {
        ($($type:ty, $letter:literal;)*) => {$(
            let values: [$type; 6] = [1, 2, 3, 4, 5, 6].map(|v| v as $type);
            for (version, big, fortran) in [(1, false, false), (2, true, false), (3, false, true), (1, true, true)] {
                let body: Vec<u8> = values
                    .iter()
                    .flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() })
                    .collect();
                let descr = format!("{}{}", if big { '>' } else { '<' }, $letter);
                let table = plain(&npy(version, &descr, fortran, "(3, 2)", &body), Format::Npy);
                let expected = if fortran { [1., 4., 2., 5., 3., 6.] } else { [1., 2., 3., 4., 5., 6.] };
                assert_eq!(table.data, expected, "{descr} {fortran}");
                assert_eq!((table.rows, table.cols), (3, 2));
                assert_eq!(table.columns, ["c1", "c2"]);
            }
        )*};
    }
    check! {
        i8, "i1"; i16, "i2"; i32, "i4"; i64, "i8"; u8, "u1"; u16, "u2"; u32, "u4"; u64, "u8"; f32, "f4"; f64, "f8";
    }
    let halves: Vec<u8> =
        [1.5, -2.0].into_iter().flat_map(|v| half::f16::from_f32(v).to_le_bytes()).collect();
    assert_eq!(plain(&npy(1, "<f2", false, "(1, 2)", &halves), Format::Npy).data, [1.5, -2.0]);
    assert_eq!(plain(&npy(1, "|b1", false, "(2, 1)", &[0, 1]), Format::Npy).data, [0.0, 1.0]);
}

#[test]
fn npy_in_batches_is_npy_at_once() {
    let (rows, cols) = (2 * BATCH_ROWS + 17, 3);
    let values = numbers(rows, cols);
    let folder = WrittenFolder::new();
    let mut turned = Vec::new();
    for c in 0..cols {
        turned.extend((0..rows).flat_map(|r| values[r * cols + c].to_le_bytes()));
    }
    let shape = format!("({rows}, {cols})");
    for (name, bytes) in [
        ("c.npy", npy_f32(rows, cols, &values)),
        ("f.npy", npy(2, "<f4", true, &shape, &turned)),
        ("c.npy.gz", gz(&npy_f32(rows, cols, &values))),
        ("f.npy.gz", gz(&npy(2, "<f4", true, &shape, &turned))),
        ("nameless", npy_f32(rows, cols, &values)),
    ] {
        let path = folder.file(name, bytes);
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().data, values, "{name}");
        let batches: Vec<Table> =
            open(&path, &ReadOptions::default()).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(batches.iter().map(|b| b.rows).collect::<Vec<_>>(), [BATCH_ROWS, BATCH_ROWS, 17]);
        assert_eq!(batches.concat_data(), values, "{name}");
    }
}

trait ConcatData {
    fn concat_data(&self) -> Vec<f32>;
}

impl ConcatData for Vec<Table> {
    fn concat_data(&self) -> Vec<f32> {
        self.iter().flat_map(|table| table.data.iter().copied()).collect()
    }
}

#[test]
fn what_npy_holds_beside_its_rows_is_told() {
    let buffers = |fortran| {
        let bytes = npy(1, "<f4", fortran, "(100, 3)", &[0; 1200]);
        parse_batches(&bytes, Format::Npy, &ReadOptions::default()).unwrap().buffers()
    };
    assert_eq!((buffers(false), buffers(true)), (1 << 18, (1 << 18) + 1200));
}

#[test]
fn idx_images_are_rows_of_pixels() {
    let pixels: Vec<u8> = (0..2 * 2 * 3).map(|i| i * 20).collect();
    let bytes = idx(8, &[2, 2, 3], &pixels);
    let expected: Vec<f32> = pixels.iter().map(|&p| f32::from(p)).collect();
    let folder = WrittenFolder::new();
    for path in [
        folder.file("train-images-idx3-ubyte", &bytes),
        folder.file("train-images.idx3-ubyte", &bytes),
        folder.file("t10k-images-idx3-ubyte.gz", gz(&bytes)),
        folder.file("images", &bytes),
    ] {
        let table = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((table.rows, table.cols), (2, 6));
        assert_eq!(table.data, expected);
    }
    let floats: Vec<u8> = [0.5_f32, -1.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(plain(&idx(13, &[1, 2], &floats), Format::Idx).data, [0.5, -1.0]);
}

#[test]
fn csv_with_and_without_header() {
    let table = plain(b"a,b\n1,2\n3, 4.5 \n", Format::Csv);
    assert_eq!((table.columns, table.data), (vec!["a".into(), "b".into()], vec![1.0, 2.0, 3.0, 4.5]));
    let table = plain(b"1,2\r\n3,-4e-1", Format::Csv);
    assert_eq!((table.columns, table.data), (vec!["c1".into(), "c2".into()], vec![1.0, 2.0, 3.0, -0.4]));
    assert_eq!(plain(b"a;b\n1;2\n", Format::Csv).data, [1.0, 2.0]);
    // Commas in names, in texts and in numbers do not hide what stands between cells.
    let columns =
        |text: &str| survey_bytes(text.as_bytes(), Format::Csv, &ReadOptions::default()).unwrap().columns;
    let names = |text: &str| columns(text).into_iter().map(|column| column.name).collect::<Vec<_>>();
    assert_eq!(names("size (m, cm);n;m\n1,5;2,5;1\n2;3;4\n"), ["size (m, cm)", "n", "m"]);
    assert_eq!(names("a, b;c\n1,5;2\n2,5;3\n"), ["a, b", "c"]);
    assert_eq!(names("a, b\tc\nx, y\t3\n"), ["a, b", "c"]);
    assert_eq!(names("a,b\n\"1;2\",3\n4;5,6\n"), ["a", "b"]);
    assert_eq!(names("id,\"b;c\"\n1,x;y\n2,z;w\n"), ["id", "b;c"]);
    // Rows of several lengths leave the first to decide.
    let ragged = parse(b"a, b;c;d\n1;2\n", Format::Csv, &ReadOptions::default()).unwrap_err();
    assert!(ragged.to_string().contains("length 2 instead of 3"));
    assert_eq!(plain(b"a\tb\n1\t2\n", Format::Csv).columns, ["a", "b"]);
    assert_eq!(plain(b"\xef\xbb\xbfa,b\n1,2\n", Format::Csv).columns, ["a", "b"]);
    assert_eq!(plain(b"\"a, b\",\"c\"\"d\"\n\"1\",2\n", Format::Csv).columns, ["a, b", "c\"d"]);
}

#[test]
fn the_index_that_pandas_writes_is_no_feature() {
    let table = plain(b",a,\n0,1,2\n1,3,4\n", Format::Csv);
    assert_eq!(table.columns, ["a", "c3"]);
    let options = ReadOptions { id: Some("c1".into()), ..ReadOptions::default() };
    assert_eq!(parse(b",a\n0,1\n1,3\n", Format::Csv, &options).unwrap().ids.unwrap(), ["0", "1"]);
    let index: ArrayRef = Arc::new(Int64Array::from(vec![5, 9]));
    let a: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let bytes = arrow_file(&[batch(vec![("a", a), ("__index_level_0__", index)])], None);
    assert_eq!(plain(&bytes, Format::Arrow).columns, ["a"]);
}

#[test]
fn csv_streams_the_same_from_file_and_gzip() {
    let (rows, cols) = (3 * BATCH_ROWS + 5, 4);
    let values = numbers(rows, cols);
    let mut text = String::from("a,b,c,d\n");
    for row in values.chunks(cols) {
        text.push_str(&row.iter().map(f32::to_string).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    let folder = WrittenFolder::new();
    for path in [folder.file("t.csv", &text), folder.file("t.csv.gz", gz(text.as_bytes()))] {
        let table = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(table.rows, rows);
        assert_eq!(table.data, values);
        let batches: Vec<Table> =
            open(&path, &ReadOptions::default()).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(batches.concat_data(), values);
    }
}

#[test]
fn jsonl_of_objects_arrays_and_lists() {
    let table = plain(b"{\"b\":1,\"a\":2.5}\n\n{\"a\":4,\"b\":true}\n", Format::Jsonl);
    assert_eq!((table.columns, table.data), (vec!["b".into(), "a".into()], vec![1.0, 2.5, 1.0, 4.0]));
    let table = plain(b"[1,2]\n[3,4]", Format::Jsonl);
    assert_eq!((table.columns, table.data), (vec!["c1".into(), "c2".into()], vec![1.0, 2.0, 3.0, 4.0]));
    let options =
        ReadOptions { id: Some("id".into()), label: Some("label".into()), ..ReadOptions::default() };
    let lines = b"{\"id\":\"p\",\"x\":[1,2],\"label\":7.0}\n{\"id\":\"q\",\"x\":[3,4],\"label\":null}\n";
    let folder = WrittenFolder::new();
    for path in [folder.file("t.jsonl", lines), folder.file("t.jsonl.gz", gz(lines)), folder.file("t", lines)]
    {
        let table = read(&path, &options).unwrap();
        assert_eq!((table.columns, table.data), (vec!["x[1]".into(), "x[2]".into()], vec![1., 2., 3., 4.]));
        assert_eq!(table.ids.unwrap(), ["p", "q"]);
        assert_eq!(table.labels.unwrap(), ["7", ""]);
    }
}

fn every_number_type() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("i8", Arc::new(Int8Array::from(vec![-1, 2]))),
        ("i16", Arc::new(Int16Array::from(vec![-3, 4]))),
        ("i32", Arc::new(Int32Array::from(vec![-5, 6]))),
        ("i64", Arc::new(Int64Array::from(vec![-7, 8]))),
        ("u8", Arc::new(UInt8Array::from(vec![1, 2]))),
        ("u16", Arc::new(UInt16Array::from(vec![3, 4]))),
        ("u32", Arc::new(UInt32Array::from(vec![5, 6]))),
        ("u64", Arc::new(UInt64Array::from(vec![7, 8]))),
        (
            "f16",
            Arc::new(PrimitiveArray::<Float16Type>::from(vec![half::f16::from_f32(0.5), half::f16::ONE])),
        ),
        ("f32", Arc::new(Float32Array::from(vec![0.25, -0.25]))),
        ("f64", Arc::new(Float64Array::from(vec![1e3, -1e-3]))),
        ("bool", Arc::new(BooleanArray::from(vec![true, false]))),
        ("dec", Arc::new(Decimal128Array::from(vec![125, -50]).with_precision_and_scale(10, 2).unwrap())),
    ]
}

const EVERY_NUMBER: [f32; 26] = [
    -1., -3., -5., -7., 1., 3., 5., 7., 0.5, 0.25, 1e3, 1., 1.25, 2., 4., 6., 8., 2., 4., 6., 8., 1., -0.25,
    -1e-3, 0., -0.5,
];

#[test]
fn arrow_and_parquet_columns_of_every_number_type() {
    let batch = batch(every_number_type());
    for bytes in [
        arrow_file(std::slice::from_ref(&batch), None),
        arrow_file(std::slice::from_ref(&batch), Some(arrow_ipc::CompressionType::LZ4_FRAME)),
        arrow_file(std::slice::from_ref(&batch), Some(arrow_ipc::CompressionType::ZSTD)),
        arrow_stream(std::slice::from_ref(&batch)),
    ] {
        assert_eq!(plain(&bytes, Format::Arrow).data, EVERY_NUMBER);
    }
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
    ] {
        let bytes = parquet(std::slice::from_ref(&batch), compression, 1000);
        assert_eq!(plain(&bytes, Format::Parquet).data, EVERY_NUMBER, "{compression}");
    }
}

/// Many rows of many columns, an id, and labels as categories, in several batches.
fn wide(rows: usize, cols: usize) -> (Vec<f32>, Vec<RecordBatch>) {
    let values = numbers(rows, cols);
    let names: Vec<String> = (0..cols).map(|c| format!("f{c}")).collect();
    let part = |range: std::ops::Range<usize>| {
        let ids: StringArray = range.clone().map(|r| Some(format!("row{r}"))).collect();
        let labels: DictionaryArray<Int32Type> = range.clone().map(|r| ["cat", "dog"][r % 2]).collect();
        let mut columns: Vec<(&str, ArrayRef)> = vec![("id", Arc::new(ids))];
        for (c, name) in names.iter().enumerate() {
            let column: Float32Array = range.clone().map(|r| Some(values[r * cols + c])).collect();
            columns.push((name, Arc::new(column)));
        }
        columns.push(("kind", Arc::new(labels)));
        batch(columns)
    };
    let batches = (0..rows).step_by(3000).map(|start| part(start..(start + 3000).min(rows))).collect();
    (values, batches)
}

#[test]
fn wide_arrow_and_parquet_stream_as_they_read() {
    let (rows, cols) = (2 * BATCH_ROWS + 100, 37);
    let (values, batches) = wide(rows, cols);
    let kind = Some("kind".to_owned());
    let options =
        ReadOptions { id: Some("id".into()), label: kind.clone(), group: kind, ..ReadOptions::default() };
    let folder = WrittenFolder::new();
    let arrow = arrow_file(&batches, None);
    let parquet = parquet(&batches, Compression::SNAPPY, 5000);
    for path in [
        folder.file("t.arrow", &arrow),
        folder.file("t.feather", &arrow),
        folder.file("t.arrows", arrow_stream(&batches)),
        folder.file("arrow", &arrow),
        folder.file("t.parquet", &parquet),
        folder.file("parquet", &parquet),
    ] {
        let table = read(&path, &options).unwrap();
        assert_eq!((table.rows, table.cols), (rows, cols));
        assert_eq!(table.data, values, "{}", path.display());
        assert_eq!(table.ids.as_ref().unwrap()[rows - 1], format!("row{}", rows - 1));
        assert_eq!(table.labels.as_ref().unwrap()[..2], ["cat", "dog"]);
        assert_eq!(table.groups, table.labels);
        let batches: Vec<Table> = open(&path, &options).unwrap().collect::<Result<_, _>>().unwrap();
        assert!(batches.iter().all(|batch| batch.rows <= BATCH_ROWS));
        assert_eq!(batches.concat_data(), values);
        let ids: Vec<String> = batches.iter().flat_map(|batch| batch.ids.clone().unwrap()).collect();
        assert_eq!(Some(ids), table.ids);
    }
}

/// How many numbers there are is said by the first list that there is.
#[test]
fn batches_without_rows_come_before_others() {
    let mut lists = ListBuilder::new(Float64Builder::new());
    lists.append_value([Some(1.0), Some(2.0)]);
    let all = batch(vec![("x", Arc::new(lists.finish()) as ArrayRef)]);
    let bytes = arrow_file(&[all.slice(0, 0), all], None);
    assert_eq!(plain(&bytes, Format::Arrow).data, [1.0, 2.0]);
}

#[test]
fn lists_of_every_kind() {
    let mut list = ListBuilder::new(Float64Builder::new());
    let mut large = LargeListBuilder::new(Float32Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 3);
    for row in [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] {
        list.append_value(row.map(Some));
        large.append_value(row.map(|v| Some(v as f32)));
        fixed.values().append_slice(&row.map(|v| v as f32));
        fixed.append(true);
    }
    let (list, large, fixed) = (list.finish(), large.finish(), fixed.finish());
    for column in [Arc::new(list) as ArrayRef, Arc::new(large), Arc::new(fixed)] {
        let label: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let batch = batch(vec![("x", column), ("label", label)]);
        let options = ReadOptions { label: Some("label".into()), ..ReadOptions::default() };
        // Two batches, so that the second starts in the middle of nothing.
        for (bytes, format) in [
            (arrow_file(&[batch.clone(), batch.slice(1, 1)], None), Format::Arrow),
            (parquet(&[batch.clone(), batch.slice(1, 1)], Compression::SNAPPY, 2), Format::Parquet),
        ] {
            let table = parse(&bytes, format, &options).unwrap();
            assert_eq!(table.columns, ["x[1]", "x[2]", "x[3]"]);
            assert_eq!(table.data, [1., 2., 3., 4., 5., 6., 4., 5., 6.]);
            assert_eq!(table.labels.unwrap(), ["7", "8", "8"]);
        }
    }
}

#[test]
fn a_table_is_held_once() {
    let (rows, cols) = (40 * BATCH_ROWS, 20);
    let values = numbers(rows, cols);
    let mut text = String::new();
    for row in values.chunks(cols) {
        text.push_str(&row.iter().map(f32::to_string).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    let (_, batches) = wide(rows, cols);
    let folder = WrittenFolder::new();
    let held = rows * cols * 4;
    let exclude = ReadOptions { exclude: vec!["id".into(), "kind".into()], ..ReadOptions::default() };
    for (path, options) in [
        (folder.file("t.csv", text), ReadOptions::default()),
        (folder.file("t.npy", npy_f32(rows, cols, &values)), ReadOptions::default()),
        (folder.file("t.parquet", parquet(&batches, Compression::SNAPPY, 1 << 20)), exclude.clone()),
        (folder.file("t.arrow", arrow_file(&batches, None)), exclude),
    ] {
        let (peak, table) = crate::memory::peak(|| read(&path, &options).unwrap());
        assert_eq!(table.data, values);
        assert!(peak < held + held / 2, "{} held {peak} bytes for a table of {held}", path.display());
    }
}
