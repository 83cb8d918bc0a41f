//! Every refusal, in its full sentence.

use crate::written::*;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::*;
use lion_table::{Format, ReadOptions, parse, read, survey_bytes};
use parquet::basic::Compression;
use std::path::Path;
use std::sync::Arc;

fn said_with(bytes: &[u8], format: Format, options: &ReadOptions) -> String {
    parse(bytes, format, options).unwrap_err().to_string().replace("the given bytes", "F")
}

fn said(bytes: impl AsRef<[u8]>, format: Format) -> String {
    said_with(bytes.as_ref(), format, &ReadOptions::default())
}

#[test]
fn text_in_another_encoding() {
    assert_eq!(
        said(b"name,a\nM\xfcnchen,1\n", Format::Csv),
        "F cannot be read: line 2 is not UTF-8 text after \"M\"; convert the file, for example with: iconv -f windows-1252 -t utf-8"
    );
}

#[test]
fn labels_and_lines_in_another_encoding() {
    let advice = "convert the file, for example with: iconv -f windows-1252 -t utf-8";
    assert_eq!(
        lion_table::parse_labels(b"B\xf6r\nB\xe4r\n", Format::Csv).unwrap_err().to_string(),
        format!("the given bytes cannot be read: line 1 is not UTF-8 text after \"B\"; {advice}")
    );
    assert_eq!(
        said(b"{\"a\": 1}\n{\"M\xfcnchen\": 1}\n", Format::Jsonl),
        format!("F cannot be read: line 2 is not UTF-8 text after \"{{\\\"M\"; {advice}")
    );
    let wide: Vec<u8> = "a,b\n1,2\n".bytes().flat_map(|byte| [0, byte]).collect();
    assert_eq!(
        said(wide, Format::Csv),
        "F is UTF-16BE text; convert it to UTF-8, for example with: iconv -f utf-16be -t utf-8"
    );
}

#[test]
fn files_that_cannot_be_opened() {
    let sentence = |path: &Path| read(path, &ReadOptions::default()).unwrap_err().to_string();
    let folder = WrittenFolder::new();
    assert_eq!(sentence(Path::new("nowhere/t.csv")), "nowhere/t.csv: there is no such file");
    assert_eq!(
        sentence(folder.path()),
        format!("{} is a directory; name a table file in it", folder.path().display())
    );
    let named = folder.path().join("dir.parquet");
    std::fs::create_dir(&named).unwrap();
    assert_eq!(sentence(&named), format!("{} is a directory; name a table file in it", named.display()));
    for (name, bytes) in [("t.dat", &b"\x01\x02\x03"[..]), ("t", b"hello"), ("empty", b"")] {
        let path = folder.file(name, bytes);
        assert_eq!(
            sentence(&path),
            format!(
                "{}: neither its name nor its first bytes tell what kind of table it is; name it .npy, .csv, .csv.gz, .parquet, .arrow, .feather, .jsonl, .json or …-idx3-ubyte",
                path.display()
            )
        );
    }
}

#[test]
fn empty_tables() {
    for (bytes, format) in [
        (Vec::new(), Format::Csv),
        (b"a,b\n".to_vec(), Format::Csv),
        (b"\n\n".to_vec(), Format::Jsonl),
        (npy_f32(0, 3, &[]), Format::Npy),
        (idx(8, &[0, 28, 28], &[]), Format::Idx),
        (arrow_file(&[floats(&[])], None), Format::Arrow),
        (parquet(&[floats(&[])], Compression::SNAPPY, 10), Format::Parquet),
    ] {
        assert_eq!(said(bytes, format), "F has no rows of data", "{format:?}");
    }
}

fn floats(values: &[Option<f64>]) -> RecordBatch {
    batch(vec![("a", Arc::new(Float64Array::from(values.to_vec())))])
}

#[test]
fn values_that_are_no_finite_numbers() {
    let nan = "is NaN; every value must be a finite number: fill it or remove the row";
    let inf = "is inf; every value must be a finite number: fill it or remove the row";
    let empty = "is empty; every value must be a finite number: fill it or remove the row";
    let large = "is 1e300, too large for a 32-bit float; scale the column down";
    let csv = |cell: &str| said(format!("a,b\n\n1,2\n3,{cell}\n"), Format::Csv);
    assert_eq!(csv("nan"), format!("F, row 1 (line 4), column b {nan}"));
    assert_eq!(csv("inf"), format!("F, row 1 (line 4), column b {inf}"));
    assert_eq!(csv(""), format!("F, row 1 (line 4), column b {empty}"));
    assert_eq!(csv(" NA "), format!("F, row 1 (line 4), column b {empty}"));
    assert_eq!(csv("1e300"), format!("F, row 1 (line 4), column b {large}"));
    assert_eq!(
        csv("abc"),
        "F, row 1 (line 4), column b holds \"abc\", which is not a number; correct it or leave the column out with --exclude"
    );
    let jsonl = |value: &str| said(format!("{{\"a\":1}}\n{{\"a\":{value}}}\n"), Format::Jsonl);
    assert_eq!(jsonl("null"), format!("F, row 1 (line 2), column a {empty}"));
    assert_eq!(jsonl("1e300"), format!("F, row 1 (line 2), column a {large}"));
    assert_eq!(
        jsonl("\"x\""),
        "F, row 1 (line 2), column a holds \"x\", which is not a number; correct it or leave the column out with --exclude"
    );
    assert_eq!(
        said("{\"b\":1,\"a\":1}\n{\"b\":1}", Format::Jsonl),
        format!("F, row 1 (line 2), column a {empty}")
    );
    let doubles =
        |value: f64| [1.0, 2.0, 3.0, value].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    for (value, sentence) in [(f64::NAN, nan), (f64::INFINITY, inf), (1e300, large)] {
        let expected = format!("F, row 1, column c2 {sentence}");
        assert_eq!(said(npy(1, "<f8", false, "(2, 2)", &doubles(value)), Format::Npy), expected);
        assert_eq!(said(npy(1, "<f8", true, "(2, 2)", &doubles(value)), Format::Npy), expected);
        let expected = format!("F, row 1, column a {sentence}");
        let batch = floats(&[Some(1.0), Some(value)]);
        assert_eq!(said(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow), expected);
        assert_eq!(said(parquet(&[batch], Compression::SNAPPY, 1), Format::Parquet), expected);
    }
    let batch = floats(&[Some(1.0), None]);
    let expected = format!("F, row 1, column a {empty}");
    assert_eq!(said(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow), expected);
    assert_eq!(said(parquet(&[batch], Compression::SNAPPY, 10), Format::Parquet), expected);
}

#[test]
fn a_bad_value_in_a_wide_parquet_file_is_found_by_name() {
    let column = |bad: bool| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(
            (0..5000).map(|r| if bad && r == 4500 { f32::NAN } else { 1.0 }),
        ))
    };
    let names: Vec<String> = (0..40).map(|c| format!("f{c}")).collect();
    let columns = names.iter().enumerate().map(|(c, name)| (name.as_str(), column(c == 33))).collect();
    assert_eq!(
        said(parquet(&[batch(columns)], Compression::SNAPPY, 2000), Format::Parquet),
        "F, row 4500, column f33 is NaN; every value must be a finite number: fill it or remove the row"
    );
}

#[test]
fn ragged_rows() {
    assert_eq!(
        said("a,b\n1,2\n3\n", Format::Csv),
        "F, row 1 (line 3) has length 1 instead of 2; every row must have the same number of values: correct it or remove it"
    );
    assert_eq!(
        said("[1,2]\n[1,2,3]\n", Format::Jsonl),
        "F, row 1 (line 2) has length 3 instead of 2; every row must have the same number of values: correct it or remove it"
    );
    assert_eq!(
        said("{\"x\":[1,2]}\n{\"x\":[1]}\n", Format::Jsonl),
        "F, row 1 (line 2) has length 1 instead of 2; every row must have the same number of values: correct it or remove it"
    );
    assert_eq!(
        said("{\"a\":1}\n{\"a\":1,\"b\":2}\n", Format::Jsonl),
        "F, row 1 (line 2), column b is a field that the first row does not have; every row must have the same fields"
    );
    let mut list = ListBuilder::new(Float64Builder::new());
    list.append_value([Some(1.0), Some(2.0)]);
    list.append_value([Some(1.0)]);
    let batch = batch(vec![("x", Arc::new(list.finish()) as ArrayRef)]);
    let expected = "F, row 1 has length 1 instead of 2; every row must have the same number of values: correct it or remove it";
    assert_eq!(said(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow), expected);
    assert_eq!(said(parquet(&[batch], Compression::SNAPPY, 10), Format::Parquet), expected);
}

#[test]
fn lists_with_holes() {
    let mut list = ListBuilder::new(Float64Builder::new());
    list.append_value([Some(1.0), Some(2.0)]);
    list.append_value([Some(1.0), None]);
    let mut missing = ListBuilder::new(Float64Builder::new());
    missing.append_value([Some(1.0)]);
    missing.append_null();
    for (list, place) in [(list.finish(), ", column x[2]"), (missing.finish(), "")] {
        let batch = batch(vec![("x", Arc::new(list) as ArrayRef)]);
        let expected = format!(
            "F, row 1{place} is empty; every value must be a finite number: fill it or remove the row"
        );
        assert_eq!(said(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow), expected);
        assert_eq!(said(parquet(&[batch], Compression::SNAPPY, 10), Format::Parquet), expected);
    }
}

#[test]
fn all_columns_of_something_else_are_named_at_once() {
    assert_eq!(
        said("a,kind,age\n1,oak,old\n", Format::Csv),
        "F: these columns hold no numbers: kind (text (\"oak\" in row 0)), age (text (\"old\" in row 0)); use one with --id and one with --label, and leave the others out with --exclude kind,age"
    );
}

#[test]
fn json_in_another_encoding_is_told() {
    let text = "[{\"a\": 1}, {\"a\": 2}]";
    let marked = "\u{feff}".to_owned() + text;
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (bytes, encoding) in [(utf16(text), "UTF-16LE"), (utf16(&marked), "UTF-16")] {
        let from = encoding.to_lowercase();
        let expected =
            format!("F is {encoding} text; convert it to UTF-8, for example with: iconv -f {from} -t utf-8");
        assert_eq!(said(&bytes, Format::Json), expected);
        assert_eq!(said(&bytes, Format::Csv), expected);
    }
    assert!(said(b"[{\"a\": \"M\xfcnchen\"}]", Format::Json).contains("line 1 is not UTF-8 text after"));
    assert_eq!(parse(marked.as_bytes(), Format::Json, &ReadOptions::default()).unwrap().data, [1.0, 2.0]);
}

#[test]
fn columns_that_hold_something_else() {
    let advice = "not numbers; use it with --id kind or --label kind, or leave it out with --exclude kind";
    assert_eq!(
        said("a,kind\n1,oak\n", Format::Csv),
        format!("F: column kind holds text (\"oak\" in row 0), {advice}")
    );
    assert_eq!(
        said("{\"a\":1,\"kind\":\"oak\"}", Format::Jsonl),
        format!("F: column kind holds text (\"oak\" in row 0), {advice}")
    );
    let text: ArrayRef = Arc::new(StringArray::from(vec!["oak"]));
    let date: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    for (column, what) in [(text, "text"), (date, "values of type Date32")] {
        let batch = batch(vec![("kind", column)]);
        let expected = format!("F: column kind holds {what}, {advice}");
        assert_eq!(said(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow), expected);
        assert_eq!(said(parquet(&[batch], Compression::SNAPPY, 10), Format::Parquet), expected);
    }
    let runs: Int32RunArray = ["oak", "oak", "elm"].into_iter().collect();
    assert_eq!(
        said(arrow_stream(&[batch(vec![("kind", Arc::new(runs) as ArrayRef)])]), Format::Arrow),
        "F has a column kind of a type that is not known here"
    );
    // The first row says how many numbers a list has.
    assert_eq!(
        said("{\"x\":[]}\n{\"x\":[1,2]}\n", Format::Jsonl),
        "F has no numeric column left to use; the columns there are: x"
    );
    assert_eq!(
        said("{\"a\":1,\"x\":[1,2]}", Format::Jsonl),
        "F: column x holds a list of numbers per row and column a is a feature too; choose one with --columns x or leave one out with --exclude a"
    );
}

#[test]
fn columns_that_are_not_there() {
    let options = ReadOptions { id: Some("z".into()), ..ReadOptions::default() };
    assert_eq!(
        said_with(b"a,b\n1,2\n", Format::Csv, &options),
        "F has no column z; the columns there are: a, b"
    );
    let wide = npy_f32(1, 12, &[0.0; 12]);
    assert_eq!(
        said_with(&wide, Format::Npy, &options),
        "F has no column z; the columns there are: c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, … (12 in all)"
    );
    let options = ReadOptions { columns: Some(vec!["a".into()]), ..ReadOptions::default() };
    assert_eq!(
        said_with(b"a,a\n1,2\n", Format::Csv, &options),
        "F has more than one column a; rename one of them"
    );
    let options = ReadOptions { exclude: vec!["a".into()], ..ReadOptions::default() };
    assert_eq!(
        said_with(b"a\n1\n", Format::Csv, &options),
        "F has no numeric column left to use; the columns there are: a"
    );
    let options = ReadOptions { label: Some("x".into()), ..ReadOptions::default() };
    assert_eq!(
        said_with(b"{\"a\":1,\"x\":[1,2]}", Format::Jsonl, &options),
        "F has lists of numbers in column x, which can be neither id nor label"
    );
}

#[test]
fn ids_that_name_no_row() {
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let said = |text: &str| said_with(text.as_bytes(), Format::Csv, &options);
    assert_eq!(
        said("id,a\nx,1\ny,2\nx,3\n"),
        "F: row 0 (line 2) and row 2 (line 4) have the same id \"x\"; ids must be unique"
    );
    assert_eq!(
        said("id,a\nx,1\n,2\n"),
        "F, row 1 (line 3), column id is empty; every row needs an id of its own"
    );
    let folder = WrittenFolder::new();
    let mut text = String::from("id,a\n");
    (0..5000).for_each(|row| text.push_str(&format!("{},1\n", row % 4999)));
    let path = folder.file("t.csv", text);
    let last = lion_table::open(&path, &options).unwrap().last().unwrap();
    let sentence = last.unwrap_err().to_string();
    assert!(
        sentence
            .ends_with("t.csv: row 0 and row 4999 (line 5001) have the same id \"0\"; ids must be unique"),
        "{sentence}"
    );
}

#[test]
fn npy_files_that_are_not_whole_or_not_suitable() {
    let whole = npy_f32(2, 2, &[1.0; 4]);
    let promise = |rows, cols| {
        format!(
            "F is not a whole npy file: its header promises {rows} rows of {cols} numbers, more than the file holds"
        )
    };
    assert_eq!(said(b"PK..", Format::Npy), "F is not a whole npy file: it does not start as one");
    assert_eq!(said(&whole[..40], Format::Npy), "F is not a whole npy file: it breaks off in its header");
    assert_eq!(
        said(b"\x93NUMPY\x09\x00aaaa", Format::Npy),
        "F is not a whole npy file: only versions 1, 2 and 3 of the format are known"
    );
    assert_eq!(
        said(b"\x93NUMPY\x01\x00\x04\x00{}  ", Format::Npy),
        "F is not a whole npy file: its header is not the dictionary of descr, fortran_order and shape that it should be"
    );
    let unordered = String::from_utf8_lossy(&whole[10..]).replace("False", "maybe").into_bytes();
    assert_eq!(
        said([&whole[..10], &unordered].concat(), Format::Npy),
        "F is not a whole npy file: its header is not the dictionary of descr, fortran_order and shape that it should be"
    );
    assert_eq!(said(&whole[..whole.len() - 1], Format::Npy), promise("2", "2"));
    assert_eq!(said(gz(&whole[..whole.len() - 1]), Format::Npy), promise("2", "2"));
    for fortran in [false, true] {
        for (rows, cols) in
            [("2000000000", "2000000000"), ("9999999999999", "9999999999999"), ("1", "99999999999")]
        {
            let hostile = npy(1, "<f4", fortran, &format!("({rows}, {cols})"), &[0; 16]);
            assert_eq!(said(&hostile, Format::Npy), promise(rows, cols));
            assert_eq!(said(gz(&hostile), Format::Npy), promise(rows, cols));
        }
    }
    assert_eq!(
        said(npy(1, "<f4", false, "(4,)", &[0; 16]), Format::Npy),
        "F holds a 1-dimensional array; reshape it to 2 dimensions, rows and columns"
    );
    assert_eq!(
        said(npy(1, "<c8", false, "(1, 2)", &[0; 16]), Format::Npy),
        "F holds items of type <c8; save it with a real number type"
    );
    assert_eq!(
        said(npy(1, "<U4", false, "(1, 1)", &[0; 16]), Format::Npy),
        "F holds text; save an array of numbers"
    );
    assert_eq!(
        said(npy(1, "<f4", false, "(4, 0)", &[]), Format::Npy),
        "F has no numeric column left to use; the columns there are: none"
    );
}

#[test]
fn idx_files_that_are_not_whole_or_not_suitable() {
    assert_eq!(said(b"\0\0", Format::Idx), "F is not a whole IDX file: it breaks off in its header");
    assert_eq!(
        said(b"\0\0\x08\x03\0\0", Format::Idx),
        "F is not a whole IDX file: it breaks off in its header"
    );
    assert_eq!(said(b"abcdef", Format::Idx), "F is not a whole IDX file: it does not start as one");
    assert_eq!(
        said(b"\0\0\x07\x01\0\0\0\0", Format::Idx),
        "F is not a whole IDX file: its header names no known type of number"
    );
    assert_eq!(
        said(idx(8, &[u32::MAX, u32::MAX, 1], &[1]), Format::Idx),
        "F is not a whole IDX file: its header promises 4294967295 rows of 4294967295 numbers, more than the file holds"
    );
    assert_eq!(
        said(idx(8, &[1, u32::MAX, u32::MAX, u32::MAX], &[1]), Format::Idx),
        "F is not a whole IDX file: its header promises rows longer than any file"
    );
    assert_eq!(
        said(idx(8, &[3], &[1, 2, 3]), Format::Idx),
        "F holds one number per row, as labels do; pass it with --labels"
    );
}

#[test]
fn other_files_that_are_not_whole() {
    assert_eq!(
        said("{\"a\":1}\n{\"a\":NaN}\n", Format::Jsonl),
        "F, row 1 (line 2) is not a JSON object or array of numbers: expected value at character 6"
    );
    assert_eq!(
        said("[1]\n7\n", Format::Jsonl),
        "F, row 1 (line 2) is not a JSON object or array of numbers: it is not like the first row"
    );
    assert_eq!(
        said("7\n", Format::Jsonl),
        "F, row 0 (line 1) is not a JSON object or array of numbers: it is a single value"
    );
    let many: String = (0..90_000).map(|i| format!("{},{}\n", i * 7919 % 99_991, i)).collect();
    let zipped = gz(many.as_bytes());
    assert_eq!(
        said(&zipped[..zipped.len() / 2], Format::Csv),
        "F is not a whole gzip file: it breaks off before its end"
    );
    let batch = floats(&[Some(1.0), Some(2.0)]);
    let arrow = arrow_file(std::slice::from_ref(&batch), None);
    assert_eq!(said(b"ARROW1\0\0", Format::Arrow), "F is not a whole Arrow file: it has no schema");
    assert_eq!(
        said(&arrow[..100], Format::Arrow),
        "F is not a whole Arrow file: it breaks off before its end"
    );
    assert_eq!(
        said(b"FEA1....", Format::Arrow),
        "F is of version 1 of the Feather format; write it again as version 2"
    );
    let parquet = parquet(&[batch], Compression::SNAPPY, 10);
    let sentence = said(&parquet[..parquet.len() - 5], Format::Parquet);
    assert_eq!(
        sentence,
        "F is not a whole Parquet file: Parquet error: Invalid Parquet file. Corrupt footer"
    );
}

/// Without columns, or with nothing but gaps in them, any number of rows takes no bytes.
#[test]
fn rows_that_an_arrow_file_only_claims() {
    const CLAIMED: usize = 1 << 40;
    let none = Arc::new(arrow_schema::Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(CLAIMED));
    let without_columns = RecordBatch::try_new_with_options(none, Vec::new(), &options).unwrap();
    let gaps = batch(vec![("a", Arc::new(NullArray::new(CLAIMED)) as ArrayRef)]);
    let options = ReadOptions { label: Some("a".into()), ..ReadOptions::default() };
    for batch in [without_columns, gaps] {
        for bytes in [arrow_stream(std::slice::from_ref(&batch)), arrow_file(&[batch], None)] {
            let surveyed = survey_bytes(&bytes, Format::Arrow, &ReadOptions::default()).unwrap_err();
            assert_eq!(
                surveyed.to_string(),
                format!("the given bytes claims {CLAIMED} rows and has no values for them")
            );
            assert!(parse(&bytes, Format::Arrow, &options).is_err());
            assert!(lion_table::parse_labels(&bytes, Format::Arrow).is_err());
        }
    }
}

/// A column that cannot be read as cells is not decoded, so a file may claim any number of rows of it: one is enough to see
/// what is there.
#[test]
fn rows_without_a_column_that_is_decoded() {
    let bytes = Arc::new(BinaryArray::from(vec![&b"x"[..]; 5000])) as ArrayRef;
    for bytes in [
        arrow_stream(&[batch(vec![("a", Arc::clone(&bytes))])]),
        parquet(&[batch(vec![("a", bytes)])], Compression::SNAPPY, 5000),
    ] {
        let format = if bytes.starts_with(b"PAR1") { Format::Parquet } else { Format::Arrow };
        let survey = survey_bytes(&bytes, format, &ReadOptions::default()).unwrap();
        assert_eq!((survey.rows, survey.columns.len()), (1, 1));
    }
}
