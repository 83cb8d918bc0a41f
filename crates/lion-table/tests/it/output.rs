//! What is written, read back by this crate and by an independent look at the bytes.

use crate::memory::peak;
use crate::written::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use lion_table::{
    Column, Error, Field, Kind, OutputFormat, ReadOptions, Writer, Written, check_output, column_names, read,
    read_columns,
};
use std::fs;
use std::path::Path;

/// The formats that keep every column.
pub(crate) const WHOLE: [&str; 6] = ["t.parquet", "t.arrow", "t.feather", "t.csv", "t.csv.gz", "t.jsonl"];

pub(crate) fn fields() -> Vec<Field> {
    vec![
        Field::new("id", Kind::Text),
        Field::new("x", Kind::F32),
        Field::new("y", Kind::F32),
        Field::nullable("off_plane", Kind::F64),
        Field::nullable("nearest_id", Kind::Text),
        Field::new("neighbours", Kind::U32),
        Field::nullable("group", Kind::U64),
    ]
}

/// Rows of every kind of value, with nulls, with the largest and the smallest.
pub(crate) fn rows(range: std::ops::Range<usize>) -> Vec<Column> {
    let floats = [0.1_f32, -0.0, 1.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, -16_777_216.0, 3.402_823e-5];
    let doubles = [0.1, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0, 9_007_199_254_740_993.0];
    let all = |value: &dyn Fn(usize) -> f32| range.clone().map(value).collect::<Vec<_>>();
    vec![
        range.clone().map(|row| format!("row {row}")).collect::<Vec<_>>().into(),
        all(&|row| floats[row % floats.len()]).into(),
        all(&|row| (row as f32).sin()).into(),
        range
            .clone()
            .map(|row| (row % 3 > 0).then(|| doubles[row % doubles.len()]))
            .collect::<Vec<_>>()
            .into(),
        range.clone().map(|row| (row % 5 > 0).then(|| format!("n{}", row / 2))).collect::<Vec<_>>().into(),
        range.clone().map(|row| u32::MAX - row as u32).collect::<Vec<_>>().into(),
        range.map(|row| (row % 2 > 0).then_some(u64::MAX - row as u64)).collect::<Vec<_>>().into(),
    ]
}

pub(crate) fn written(path: &Path, batches: &[Vec<Column>]) -> Written {
    let mut writer = Writer::create(path, fields(), &["x", "y"]).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap()
}

#[test]
fn every_value_comes_back_in_every_format() {
    let folder = WrittenFolder::new();
    for name in WHOLE {
        for count in [0, 1, 70_000] {
            let path = folder.path().join(name);
            let batch = rows(0..count);
            let done = written(&path, std::slice::from_ref(&batch));
            assert_eq!(
                done,
                Written { rows: count as u64, bytes: fs::metadata(&path).unwrap().len() },
                "{name}"
            );
            // Bits, as equality would take -0 for 0.
            let back = read_columns(&path, &fields()).unwrap();
            assert_eq!(format!("{back:?}"), format!("{batch:?}"), "{name}, {count} rows");
            // Lines of JSON have their names in each of them.
            if count > 0 {
                let names: Vec<String> = fields().into_iter().map(|field| field.name).collect();
                assert_eq!(column_names(&path).unwrap(), names, "{name}");
            }
        }
        // In another order, and as text.
        let path = folder.path().join(name);
        let back = read_columns(&path, &[Field::nullable("group", Kind::Text), Field::new("id", Kind::Text)])
            .unwrap();
        let Column::Text(groups) = &back[0] else { panic!("{name}: not text") };
        assert_eq!(groups[..2], [None, Some((u64::MAX - 1).to_string())], "{name}");
        assert_eq!(back[1], rows(0..70_000)[0]);
        // As a table of numbers.
        let options =
            ReadOptions { columns: Some(vec!["y".into()]), id: Some("id".into()), ..ReadOptions::default() };
        let table = read(&path, &options).unwrap();
        assert_eq!((table.rows, table.data[1]), (70_000, 1_f32.sin()), "{name}");
        assert_eq!(table.ids.unwrap()[69_999], "row 69999");
    }
}

#[test]
fn npy_holds_the_coordinates() {
    let folder = WrittenFolder::new();
    let path = folder.path().join("t.npy");
    for count in [0, 3, 70_000] {
        let done = written(&path, &[rows(0..count)]);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(done, Written { rows: count as u64, bytes: bytes.len() as u64 });
        let (header, body) = bytes.split_at(128);
        assert_eq!(header[..10], *b"\x93NUMPY\x01\x00\x76\x00");
        let dictionary = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 2), }}");
        assert_eq!(header[10..], *format!("{dictionary:<117}\n").as_bytes());
        let values: Vec<f32> = body.as_chunks().0.iter().map(|&part| f32::from_le_bytes(part)).collect();
        let (Column::F32(x), Column::F32(y)) = (&rows(0..count)[1], &rows(0..count)[2]) else { panic!() };
        let pairs: Vec<f32> = x.iter().zip(y).flat_map(|(x, y)| [x.unwrap(), y.unwrap()]).collect();
        assert_eq!(values, pairs);
        if count > 0 {
            assert_eq!(read(&path, &ReadOptions::default()).unwrap().data, pairs);
        }
    }
    assert!(
        read_columns(&path, &fields())
            .unwrap_err()
            .to_string()
            .ends_with("t.npy has no columns with names; use .parquet, .arrow, .csv or .jsonl")
    );
    let sentence = |fields: Vec<Field>, coordinates: &[&str]| {
        let refused = Writer::create(&path, fields, coordinates).unwrap_err().to_string();
        refused.split_once("t.npy ").unwrap().1.to_owned()
    };
    assert_eq!(
        sentence(fields(), &[]),
        "cannot take these columns: an npy file holds coordinates alone, and there are none"
    );
    for wrong in ["z", "id", "off_plane", "neighbours"] {
        assert_eq!(
            sentence(fields(), &["x", wrong]),
            format!("cannot take these columns: there is no column {wrong} of 32-bit floats without nulls")
        );
    }
}

#[test]
fn text_formats_look_as_they_should() {
    let folder = WrittenFolder::new();
    let batch: Vec<Column> = vec![
        vec!["a".to_owned(), "b,\"c\"\nd".into(), String::new()].into(),
        vec![0.1_f32, 1.0, 1e30].into(),
        vec![-0.0_f32, 1e-7, 16_777_216.0].into(),
        vec![Some(0.5), None, Some(1e300)].into(),
        vec![None, Some(" e ".to_owned()), Some("é".into())].into(),
        vec![0_u32, 1, 2].into(),
        vec![Some(u64::MAX), None, Some(0)].into(),
    ];
    let path = folder.path().join("t.csv");
    written(&path, std::slice::from_ref(&batch));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "id,x,y,off_plane,nearest_id,neighbours,group\n\
         a,0.1,-0.0,0.5,,0,18446744073709551615\n\
         \"b,\"\"c\"\"\nd\",1.0,1e-7,,\" e \",1,\n\
         \"\",1e30,16777216.0,1e300,é,2,0\n"
    );
    let path = folder.path().join("t.jsonl");
    written(&path, &[batch]);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        r#"{"id":"a","x":0.1,"y":-0.0,"off_plane":0.5,"nearest_id":null,"neighbours":0,"group":18446744073709551615}
{"id":"b,\"c\"\nd","x":1.0,"y":1e-7,"off_plane":null,"nearest_id":" e ","neighbours":1,"group":null}
{"id":"","x":1e30,"y":16777216.0,"off_plane":1e300,"nearest_id":"é","neighbours":2,"group":0}
"#
    );
}

#[test]
fn arrow_and_parquet_have_the_right_schema() {
    let folder = WrittenFolder::new();
    let (parquet, arrow) = (folder.path().join("t.parquet"), folder.path().join("t.arrow"));
    for path in [&parquet, &arrow] {
        written(path, &[rows(0..200_000)]);
    }
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(
        fs::File::open(&parquet).unwrap(),
    )
    .unwrap();
    // Neither one group for all rows nor one for each write.
    let groups = reader.metadata().row_groups();
    assert_eq!(
        groups.iter().map(|group| group.num_rows()).collect::<Vec<_>>(),
        [65_536, 65_536, 65_536, 3392]
    );
    let from_parquet: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let reader = arrow_ipc::reader::FileReader::try_new(fs::File::open(&arrow).unwrap(), None).unwrap();
    assert_eq!(reader.num_batches(), 4);
    let from_arrow: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    for batch in [&from_parquet[0], &from_arrow[0]] {
        let schema: Vec<String> = batch
            .schema()
            .fields()
            .iter()
            .map(|field| format!("{} {} {}", field.name(), field.data_type(), field.is_nullable()))
            .collect();
        assert_eq!(
            schema,
            [
                "id Utf8 false",
                "x Float32 false",
                "y Float32 false",
                "off_plane Float64 true",
                "nearest_id Utf8 true",
                "neighbours UInt32 false",
                "group UInt64 true"
            ]
        );
        assert_eq!(batch.column(0).as_string::<i32>().value(1), "row 1");
        assert_eq!(batch.column(2).as_primitive::<Float32Type>().value(1), 1_f32.sin());
        let groups = batch.column(6).as_primitive::<UInt64Type>();
        assert!(groups.is_null(0) && groups.value(1) == u64::MAX - 1);
    }
}

#[test]
fn the_same_rows_make_the_same_bytes_however_they_came() {
    let folder = WrittenFolder::new();
    let whole = 150_000;
    for name in WHOLE.into_iter().chain(["t.npy"]) {
        let path = folder.path().join(name);
        written(&path, &[rows(0..whole)]);
        let expected = fs::read(&path).unwrap();
        let mut batches = vec![rows(0..0)];
        let mut start = 0;
        for step in [1, 2, 65_533, 1, 0, 70_000, 3].into_iter().cycle() {
            let end = (start + step).min(whole);
            batches.push(rows(start..end));
            start = end;
            if start == whole {
                break;
            }
        }
        written(&path, &batches);
        assert!(fs::read(&path).unwrap() == expected, "{name}");
    }
}

#[test]
fn long_texts_make_small_chunks_that_depend_on_the_rows_alone() {
    let folder = WrittenFolder::new();
    let path = folder.path().join("t.parquet");
    let long = |row: usize| format!("{row}{}", "ab".repeat(1 << 20));
    let texts: Vec<String> = (0..40).map(long).collect();
    let write = |batches: &[&[String]]| {
        let mut writer = Writer::create(&path, vec![Field::new("id", Kind::Text)], &[]).unwrap();
        batches.iter().for_each(|batch| writer.write(&[batch.to_vec().into()]).unwrap());
        writer.finish().unwrap();
        fs::read(&path).unwrap()
    };
    let at_once = write(&[&texts]);
    assert!(at_once == write(&[&texts[..3], &texts[3..30], &texts[30..]]));
    assert_eq!(read_columns(&path, &[Field::new("id", Kind::Text)]).unwrap(), [texts.into()]);
    let groups =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(at_once));
    assert_eq!(groups.unwrap().metadata().num_row_groups(), 3);
}

#[test]
fn memory_does_not_grow_with_the_rows() {
    let folder = WrittenFolder::new();
    let batch = rows(0..4096);
    for name in WHOLE.into_iter().chain(["t.npy"]) {
        let needed = [20, 100].map(|batches| {
            let path = folder.path().join(name);
            let write = || {
                let mut writer = Writer::create(&path, fields(), &["x", "y"]).unwrap();
                (0..batches).for_each(|_| writer.write(&batch).unwrap());
                writer.finish().unwrap()
            };
            let (peak, done) = peak(write);
            assert_eq!(done.rows, batches * 4096);
            peak
        });
        // The footers of Parquet and Arrow list their groups.
        assert!(needed[1] < needed[0] + (1 << 20), "{name}: {needed:?}");
        assert!(needed[1] < 64 << 20, "{name}: {needed:?}");
    }
}

/// What is in a folder, by name.
fn listed(folder: &WrittenFolder) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_writer_that_is_dropped_leaves_the_old_file_and_nothing_else() {
    for name in WHOLE.into_iter().chain(["t.npy"]) {
        let folder = WrittenFolder::new();
        let path = folder.file(name, "old");
        let mut writer = Writer::create(&path, fields(), &["x", "y"]).unwrap();
        writer.write(&rows(0..70_000)).unwrap();
        assert_eq!(listed(&folder).len(), 2, "{name}");
        assert!(listed(&folder)[0].starts_with(".lion-") && listed(&folder)[0].ends_with(".tmp"));
        drop(writer);
        assert_eq!((listed(&folder), fs::read(&path).unwrap()), (vec![name.to_owned()], b"old".to_vec()));
        written(&path, &[rows(0..2)]);
        assert_eq!(listed(&folder), [name]);
        assert_ne!(fs::read(&path).unwrap(), b"old");
    }
}

#[cfg(unix)]
#[test]
fn links_stay_and_permissions_are_the_usual() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, elsewhere) = (WrittenFolder::new(), WrittenFolder::new());
    let target = elsewhere.file("real.dat", "old");
    let link = folder.path().join("t.csv");
    symlink(&target, &link).unwrap();
    written(&link, &[rows(0..1)]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with("id,x,y"));
    assert_eq!(
        (listed(&folder), listed(&elsewhere)),
        (vec!["t.csv".to_owned()], vec!["real.dat".to_owned()])
    );
    // As any new file has them.
    let plain = folder.file("plain", "");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&target), mode(&plain));
}

#[test]
fn names_and_folders_that_cannot_be_written() {
    let formats = [
        ("a.parquet", OutputFormat::Parquet),
        ("a.ARROW", OutputFormat::Arrow),
        ("a.feather", OutputFormat::Arrow),
        ("-", OutputFormat::Csv),
        ("a.b.csv", OutputFormat::Csv),
        ("a.csv.gz", OutputFormat::CsvGz),
        ("a.jsonl", OutputFormat::Jsonl),
        ("no/such/folder/a.npy", OutputFormat::Npy),
    ];
    for (name, format) in formats {
        assert_eq!(check_output(Path::new(name)).unwrap(), format);
    }
    for name in ["a", "a.txt", "csv", "a.gz", "a.parquet.gz", "a.json", "a.csv.", "..", "a.xlsx"] {
        let expected = match name {
            ".." => ".. is a directory; name a table file in it".to_owned(),
            name => format!(
                "{name}: its name does not tell what kind of table to write; end it in .parquet, .arrow, .feather, .csv, .csv.gz, .jsonl or .npy, or give - for CSV on standard output"
            ),
        };
        assert_eq!(check_output(Path::new(name)).unwrap_err().to_string(), expected);
        assert_eq!(Writer::create(Path::new(name), fields(), &[]).unwrap_err().to_string(), expected);
    }
    let refused = Writer::create(Path::new("no/such/folder/a.csv"), fields(), &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no/such/folder/a.csv cannot be written, its folder does not exist: make the folder first"
    );
    let folder = WrittenFolder::new();
    let named = folder.path().join("t.csv");
    fs::create_dir(&named).unwrap();
    let refused = Writer::create(&named, fields(), &[]).unwrap_err();
    assert_eq!(refused.to_string(), format!("{} is a directory; name a table file in it", named.display()));
}

/// A folder in which not even root can make a file.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_refuses() {
    let refused = Writer::create(Path::new("/proc/self/t.csv"), fields(), &[]).unwrap_err();
    let sentence = refused.to_string();
    assert!(matches!(refused, Error::Unwritable { .. }), "{sentence}");
    assert!(sentence.starts_with("/proc/self/t.csv cannot be written: "), "{sentence}");
    assert!(!sentence.contains(".lion-"), "{sentence}");
}

#[test]
fn batches_that_do_not_fit() {
    let folder = WrittenFolder::new();
    let path = folder.path().join("t.csv");
    let fields = vec![Field::new("a", Kind::F32), Field::nullable("b", Kind::U32)];
    let mut writer = Writer::create(&path, fields, &[]).unwrap();
    writer.write(&[vec![1.0_f32].into(), vec![2_u32].into()]).unwrap();
    let mut refused = |batch: &[Column]| {
        let sentence = writer.write(batch).unwrap_err().to_string();
        sentence.strip_prefix(&path.display().to_string()).unwrap().to_owned()
    };
    let ones: Column = vec![1.0_f32, 1.0].into();
    assert_eq!(refused(&[]), " cannot take these columns: 0 columns were given for 2 fields");
    assert_eq!(
        refused(&[ones.clone(), vec![1_u32].into()]),
        " cannot take these columns: column b has 1 rows where the first has 2"
    );
    assert_eq!(
        refused(&[ones.clone(), vec![1_u64, 2].into()]),
        " cannot take these columns: column b holds U64 instead of U32"
    );
    assert_eq!(
        refused(&[vec![Some(1.0_f32), None].into(), vec![Some(1_u32), None].into()]),
        " cannot take these columns: row 2 has nothing in column a"
    );
    assert_eq!(
        refused(&[vec![1.0, f32::NAN].into(), vec![1_u32, 2].into()]),
        ", row 2, column a is NaN; every value must be a finite number: fill it or remove the row"
    );
    // Nothing of what was refused is written, and the writer goes on.
    writer.write(&[vec![3.0_f32].into(), vec![None::<u32>].into()]).unwrap();
    assert_eq!(writer.finish().unwrap().rows, 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b\n1.0,2\n3.0,\n");
    let sentence = |fields: Vec<Field>| Writer::create(&path, fields, &[]).unwrap_err().to_string();
    assert!(sentence(vec![]).ends_with("cannot take these columns: there are none"));
    let twice = vec![Field::new("a", Kind::F32), Field::new("a", Kind::Text)];
    assert!(sentence(twice).ends_with("cannot take these columns: two columns have the name a"));
}
