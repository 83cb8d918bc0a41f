//! Whether the first row of a CSV file names the columns, and text files that are something else than they seem.

use crate::written::*;
use lion_table::{Format, Header, ReadOptions, Table, parse, parse_labels, read, survey_bytes};
use parquet::basic::Compression;

fn csv(text: &str, header: Header) -> Result<Table, String> {
    with(text, &ReadOptions { header, ..ReadOptions::default() })
}

fn with(text: &str, options: &ReadOptions) -> Result<Table, String> {
    parse(text.as_bytes(), Format::Csv, options)
        .map_err(|error| error.to_string().replace("the given bytes", "F"))
}

fn unclear(why: &str) -> String {
    format!("F: line 1 {why}; say --header yes if it names the columns or --header no if it is a row of data")
}

#[test]
fn numbers_are_data_and_names_are_a_header() {
    for text in ["5,6,7\n1,2,3\n", "1,2,3\n4,5,6\n", "0,1\n2,3\n", "0.0,1.0,2.0\n1,2,3\n", "0,1,3\n1,2,3\n"] {
        assert_eq!(csv(text, Header::Auto).unwrap().rows, 2, "{text}");
    }
    for text in ["a,b,c\n1,2,3\n", ",a,b\n1,2,3\n", "a,,NA\n1,2,3\n"] {
        assert_eq!(csv(text, Header::Auto).unwrap().rows, 1, "{text}");
    }
    // A hole in data stays one.
    assert_eq!(
        csv("1,,3\n1,2,3\n", Header::Auto).unwrap_err(),
        "F, row 0 (line 1), column c2 is empty; every value must be a finite number: fill it or remove the row"
    );
    assert_eq!(
        csv("1,nan,3\n1,2,3\n", Header::Auto).unwrap_err(),
        "F, row 0 (line 1), column c2 is NaN; every value must be a finite number: fill it or remove the row"
    );
}

#[test]
fn names_beside_numbers_are_not_guessed() {
    let why = "mixes names (\"id\") and numbers (\"2020\")";
    assert_eq!(csv("id,x1,2020\n1,2,3\n", Header::Auto).unwrap_err(), unclear(why));
    let why = "mixes names (\"1.2.3\") and numbers (\"1\")";
    assert_eq!(csv("1,1.2.3\n4,5\n", Header::Auto).unwrap_err(), unclear(why));
    let table = csv("id,x1,2020\n1,2,3\n", Header::Yes).unwrap();
    assert_eq!((table.rows, table.columns), (1, vec!["id".into(), "x1".into(), "2020".into()]));
    assert_eq!(
        csv("1,1.2.3\n4,5\n", Header::No).unwrap_err(),
        "F: column c2 holds text (\"1.2.3\" in row 0), not numbers; use it with --id c2 or --label c2, or leave it out with --exclude c2"
    );
}

#[test]
fn column_numbers_are_not_guessed() {
    let why = "counts from 0 on, as column numbers do";
    for text in ["0,1,2\n5,6,7\n", ",0,1\n0,6,7\n"] {
        assert_eq!(csv(text, Header::Auto).unwrap_err(), unclear(why), "{text}");
    }
    let table = csv("0,1,2\n5,6,7\n", Header::Yes).unwrap();
    assert_eq!((table.rows, table.columns), (1, vec!["0".into(), "1".into(), "2".into()]));
    let table = csv(",0,1\n0,6,7\n", Header::Yes).unwrap();
    assert_eq!((table.columns, table.data), (vec!["0".into(), "1".into()], vec![6.0, 7.0]));
    let table = csv("0,1,2\n5,6,7\n", Header::No).unwrap();
    assert_eq!((table.rows, table.data), (2, vec![0.0, 1.0, 2.0, 5.0, 6.0, 7.0]));
}

#[test]
fn columns_asked_for_settle_it() {
    let label = |name: &str| ReadOptions { label: Some(name.into()), ..ReadOptions::default() };
    // By a name in the row.
    let table = with("id,2019,2020\n1,2,3\n", &label("2020")).unwrap();
    assert_eq!((table.columns, table.labels.unwrap()), (vec!["id".into(), "2019".into()], vec!["3".into()]));
    let exclude = ReadOptions { exclude: vec!["0".into()], ..ReadOptions::default() };
    assert_eq!(with("0,1,2\n5,6,7\n", &exclude).unwrap().data, [6.0, 7.0]);
    let columns = ReadOptions { columns: Some(vec!["2".into()]), ..ReadOptions::default() };
    assert_eq!(with("0,1,2\n5,6,7\n", &columns).unwrap().data, [7.0]);
    // By number: the text is a label, and the first row is not lost.
    let table = with("5.1,3.5,setosa\n7,3.2,versicolor\n", &label("c3")).unwrap();
    assert_eq!((table.rows, table.labels.unwrap()), (2, vec!["setosa".into(), "versicolor".into()]));
    assert_eq!(with("0,1,2\n5,6,7\n", &label("c1")).unwrap().rows, 2);
    // By number although all columns have names.
    assert_eq!(
        with("a,b\n1,2\n", &label("c1")).unwrap_err(),
        "F has no column c1; the columns there are: a, b"
    );
}

#[test]
fn other_formats_ask_for_no_header() {
    for header in [Header::Auto, Header::Yes, Header::No] {
        let options = ReadOptions { header, ..ReadOptions::default() };
        assert_eq!(parse(&npy_f32(2, 1, &[1.0, 2.0]), Format::Npy, &options).unwrap().rows, 2);
        assert_eq!(parse(b"[0,1,2]\n[1,2,3]\n", Format::Jsonl, &options).unwrap().rows, 2);
    }
}

#[test]
fn binary_files_with_the_name_of_a_text_file() {
    let column: arrow_array::ArrayRef = std::sync::Arc::new(arrow_array::Float32Array::from(vec![1.0, 2.0]));
    let batch = batch(vec![("a", column)]);
    let files = [
        (npy_f32(2, 2, &[1.0; 4]), "an npy file", ".npy"),
        (parquet(std::slice::from_ref(&batch), Compression::SNAPPY, 2), "a Parquet file", ".parquet"),
        (arrow_file(std::slice::from_ref(&batch), None), "an Arrow file", ".arrow"),
        (arrow_stream(&[batch]), "an Arrow file", ".arrow"),
        (idx(8, &[2, 2, 2], &[0; 8]), "an IDX file", "-idx3-ubyte"),
    ];
    let folder = WrittenFolder::new();
    for (bytes, looks, ending) in files {
        for (name, bytes) in [
            ("t.csv", bytes.clone()),
            ("t.jsonl", bytes.clone()),
            ("t.txt", bytes.clone()),
            ("t.csv.gz", gz(&bytes)),
        ] {
            let path = folder.file(name, bytes);
            let sentence = format!(
                "{} looks like {looks}, whatever its name says; give it a name that ends in {ending}",
                path.display()
            );
            assert_eq!(read(&path, &ReadOptions::default()).unwrap_err().to_string(), sentence);
            if !name.ends_with("jsonl") {
                assert_eq!(lion_table::read_labels(&path).unwrap_err().to_string(), sentence);
            }
        }
    }
}

#[test]
fn lines_that_end_with_carriage_returns_alone() {
    let sentence = "F ends its lines with carriage returns alone, as old Macs did; replace them by line feeds, for example with: tr '\\r' '\\n'";
    for text in ["a,b\r1,2\r3,4\r", "1,2\r3,4", "\"a\rb\",c\r1,2\r"] {
        assert_eq!(csv(text, Header::Auto).unwrap_err(), sentence, "{text:?}");
    }
    let labels = parse_labels(b"x\ry\rz\r", Format::Csv).unwrap_err().to_string();
    assert_eq!(labels.replace("the given bytes", "F"), sentence);
    for text in ["a,b\r\n1,2\r\n", "a,b\r\r\n1,2\r\r\n", "\"a\rb\",c\n1,2\n", "a,b\n1,2\r", "1,2\r"] {
        assert_eq!(csv(text, Header::Auto).unwrap().rows, 1, "{text:?}");
    }
}

#[test]
fn json_lines_with_a_mark_before_them() {
    for text in
        ["\u{feff}[1,2]\n[3,4]\n", "\u{feff}\n[1,2]\r\n[3,4]", "\u{feff}{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}"]
    {
        let table = parse(text.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap();
        assert_eq!(table.data, [1.0, 2.0, 3.0, 4.0], "{text:?}");
    }
    // Only there: elsewhere it is no JSON.
    assert!(parse("[1]\n\u{feff}[2]\n".as_bytes(), Format::Jsonl, &ReadOptions::default()).is_err());
}

#[test]
fn fields_that_are_there_twice() {
    let said = |text: &str| {
        let refused = parse(text.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap_err();
        refused.to_string().replace("the given bytes", "F")
    };
    let twice = "is there twice; every field may have one value per row";
    assert_eq!(said("{\"a\":1,\"b\":2,\"a\":3}\n"), format!("F, row 0 (line 1), column a {twice}"));
    assert_eq!(
        said("{\"a\":1,\"b\":2}\n\n{\"a\":1,\"b\":2,\"b\":2}\n"),
        format!("F, row 1 (line 3), column b {twice}")
    );
    // Null is a value.
    assert_eq!(
        said("{\"a\":1,\"b\":2}\n{\"a\":null,\"b\":2,\"a\":1}\n"),
        format!("F, row 1 (line 2), column a {twice}")
    );
}

/// Numbers with decimal commas and units are no names.
#[test]
fn a_first_row_of_numbers_in_other_styles() {
    let columns = |text: &str| {
        let survey = survey_bytes(text.as_bytes(), Format::Csv, &ReadOptions::default()).unwrap();
        (survey.rows, survey.columns.into_iter().map(|column| column.name).collect::<Vec<_>>())
    };
    let two = || vec!["c1".to_owned(), "c2".to_owned()];
    assert_eq!(columns("2,12;0,10\n1,50;0,20\n"), (2, two()));
    assert_eq!(columns("1,5\t2,5\n2,5\t3,5\n"), (2, two()));
    assert_eq!(columns("€0,50;12 %\n€1,00;3 %\n"), (2, two()));
    assert_eq!(columns("\"1,234.5\",$3\n\"2,234.5\",$4\n"), (2, two()));
    let mixed = survey_bytes(b"id;2,5\n1;2\n", Format::Csv, &ReadOptions::default()).unwrap_err();
    assert!(mixed.to_string().contains("mixes names (\"id\") and numbers (\"2,5\")"), "{mixed}");
}
