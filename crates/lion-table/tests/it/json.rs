//! JSON: one array of rows is read as its rows on lines of their own are.

use lion_recipe::Scale;
use lion_table::{Format, Plan, PlanOptions, ReadOptions, Table, column_names, parse, read, survey_bytes};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::written::{WrittenFolder, gz};

fn options() -> ReadOptions {
    ReadOptions { label: Some("t".into()), exclude: vec!["o".into()], ..ReadOptions::default() }
}

/// Anything that JSON can hold, with the signs in its texts that divide it elsewhere.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[\\[\\]{},:\"\\\\ a\n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[\\[\\]{},\"\\\\]{0,3}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn an_array_of_rows_is_its_rows(
        rows in prop::collection::vec((-1000..1000i32, "[\\[\\]{},:\"\\\\ aé\n]{0,6}", any_json()), 1..6),
        space in prop::sample::select(vec!["", " ", "\n", "\r\n\t"]),
        pretty in any::<bool>(),
    ) {
        let rows: Vec<Value> = rows.into_iter().map(|(a, t, o)| json!({"a": a, "t": t, "o": o})).collect();
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let item = |row: &Value| if pretty { serde_json::to_string_pretty(row).unwrap() } else { row.to_string() };
        let items: Vec<String> = rows.iter().map(item).collect();
        let array = format!("{space}[{space}{}{space}]{space}", items.join(&format!("{space},{space}")));
        let from_lines = parse(lines.as_bytes(), Format::Jsonl, &options()).unwrap();
        prop_assert_eq!(&parse(array.as_bytes(), Format::Json, &options()).unwrap(), &from_lines);
        // What is called JSON may have a row on each line, too.
        prop_assert_eq!(&parse(lines.as_bytes(), Format::Json, &options()).unwrap(), &from_lines);
        let numbers: Vec<f32> = rows.iter().map(|row| row["a"].as_i64().unwrap() as f32).collect();
        let texts: Vec<&str> = rows.iter().map(|row| row["t"].as_str().unwrap()).collect();
        prop_assert_eq!((from_lines.data, from_lines.labels.unwrap()), (numbers, texts.iter().map(|&t| t.to_owned()).collect()));
        // An array that breaks off anywhere is refused.
        let end = array.trim_end().len() - 1;
        for end in [end, end / 2, end / 3].into_iter().filter(|&end| array.is_char_boundary(end)) {
            prop_assert!(parse(&array.as_bytes()[..end], Format::Json, &options()).is_err());
        }
    }
}

fn plain(text: &str, format: Format) -> Result<Table, String> {
    let refused = |error: lion_table::Error| error.to_string().replace("the given bytes", "F");
    parse(text.as_bytes(), format, &ReadOptions::default()).map_err(refused)
}

#[test]
fn rows_that_are_wrong_are_told_with_their_lines() {
    let array = "[\n  {\"a\": 1},\n  {\"a\": 2},\n  {\"a\": \"x\"},\n  {\"a\": 4}\n]\n";
    let lines = "\n{\"a\": 1}\n{\"a\": 2}\n{\"a\": \"x\"}\n";
    for (text, format) in [(array, Format::Json), (lines, Format::Jsonl), (lines, Format::Json)] {
        let said = plain(text, format).unwrap_err();
        assert!(said.starts_with("F, row 2 (line 4), column a holds \"x\", which is not a number"), "{said}");
    }
    assert_eq!(
        plain("[{\"a\": 1},\n{\"a\": 1 2}]", Format::Json).unwrap_err(),
        "F, row 1 (line 2) is not a JSON object or array of numbers: expected `,` or `}` at character 9"
    );
    assert_eq!(
        plain("[[1, 2], {\"a\": 1}]", Format::Json).unwrap_err(),
        "F, row 1 (line 1) is not a JSON object or array of numbers: it is not like the first row"
    );
    for unlike in ["{\"a\": 1}\n[2]\n", "[1]\n{\"c1\": 2}\n"] {
        let said = plain(unlike, Format::Jsonl).unwrap_err();
        assert!(
            said.starts_with("F, row 1 (line 2) is not") && said.ends_with("it is not like the first row"),
            "{said}"
        );
    }
    for empty in ["", " \n ", "[]", "[ \n]"] {
        assert_eq!(plain(empty, Format::Json).unwrap_err(), "F has no rows of data", "{empty:?}");
    }
}

#[test]
fn commas_too_many_are_no_rows() {
    assert_eq!(plain("[,{\"a\": 1},,\n{\"a\": 2},]", Format::Json).unwrap().data, [1.0, 2.0]);
    assert_eq!(plain("\u{feff}[{\"a\": 1}]", Format::Json).unwrap().data, [1.0]);
    assert_eq!(plain("\u{feff}{\"a\": 1}\n{\"a\": 2}", Format::Json).unwrap().data, [1.0, 2.0]);
}

#[test]
fn names_tell_formats_with_any_case_and_compression() {
    let folder = WrittenFolder::new();
    let (lines, array, csv) = ("{\"a\": 1}\n{\"a\": 2}\n", "[{\"a\": 1}, {\"a\": 2}]", "a\n1\n2\n");
    for (name, text) in [
        ("t.jsonl", lines),
        ("t.ndjson", lines),
        ("t.json", lines),
        ("t.json", array),
        ("t.JSON", array),
        ("t.csv", csv),
        ("t.tsv", csv),
        ("t.TXT", csv),
        ("t.old.csv", csv),
    ] {
        for (path, bytes) in
            [(name.to_owned(), text.as_bytes().to_vec()), (format!("{name}.gz"), gz(text.as_bytes()))]
        {
            let path = folder.file(&path, bytes);
            let table = read(&path, &ReadOptions::default()).unwrap();
            assert_eq!((table.columns, table.data), (vec!["a".to_owned()], vec![1.0, 2.0]), "{path:?}");
            assert_eq!(column_names(&path).unwrap(), ["a"]);
        }
    }
}

#[test]
fn a_column_may_be_found_late() {
    let rows = "{\"x\": 1}\n{\"x\": 2, \"y\": 5, \"kind\": \"u\"}\n{\"kind\": \"v\", \"y\": 6, \"x\": 3}\n\
                {\"kind\": \"u\", \"x\": 4}\n{\"kind\": \"v\", \"x\": 4, \"y\": 8}\n";
    let array = format!("[{}]", rows.trim_end().replace('\n', ","));
    for (text, format) in [(rows, Format::Jsonl), (&array, Format::Json)] {
        let survey = survey_bytes(text.as_bytes(), format, &ReadOptions::default()).unwrap();
        assert_eq!(
            survey.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
            ["x", "y", "kind"]
        );
        let choice = PlanOptions { scale: Scale::None, ..PlanOptions::default() };
        let plan = Plan::new(&survey, &ReadOptions::default(), &choice);
        let table = parse(text.as_bytes(), format, &plan.options).unwrap();
        assert_eq!(table.columns, ["x", "y", "kind=u", "kind=v", "kind (missing)", "kind (other)"]);
        let expected = [
            [1.0, 6.0, 0.0, 0.0, 1.0, 0.0],
            [2.0, 5.0, 1.0, 0.0, 0.0, 0.0],
            [3.0, 6.0, 0.0, 1.0, 0.0, 0.0],
            [4.0, 6.0, 1.0, 0.0, 0.0, 0.0],
            [4.0, 8.0, 0.0, 1.0, 0.0, 0.0],
        ];
        assert_eq!(table.data, expected.concat());
    }
}

#[test]
fn ids_and_labels_of_rows_that_a_recipe_makes() {
    let rows = "{\"id\": 7, \"kind\": \"u\", \"l\": true}\n{\"id\": \"b\", \"kind\": \"v\"}\n\
                {\"id\": 2.5, \"kind\": \"u\", \"l\": null}\n{\"id\": 8, \"kind\": \"v\", \"l\": \"x\"}\n";
    let options = ReadOptions { id: Some("id".into()), label: Some("l".into()), ..ReadOptions::default() };
    let survey = survey_bytes(rows.as_bytes(), Format::Jsonl, &options).unwrap();
    assert!(!survey.nameless);
    let plan = Plan::new(&survey, &options, &PlanOptions::default());
    let table = parse(rows.as_bytes(), Format::Jsonl, &plan.options).unwrap();
    assert_eq!(table.ids.unwrap(), ["7", "b", "2.5", "8"]);
    assert_eq!(table.labels.unwrap(), ["true", "", "", "x"]);
    assert_eq!(table.columns, ["kind=u", "kind=v", "kind (other)"]);
}

#[test]
fn a_look_at_all_rows_refuses_those_that_are_not_like_the_first() {
    let look = |text: &str| {
        let survey = survey_bytes(text.as_bytes(), Format::Jsonl, &ReadOptions::default());
        survey
            .map(|survey| (survey.rows, survey.columns.len(), survey.nameless))
            .map_err(|error| error.to_string())
    };
    assert_eq!(look("[1, null]\n[3, 4]\n"), Ok((2, 2, true)));
    assert_eq!(look("{\"a\": 1}\n{\"b\": 2}\n"), Ok((2, 2, false)));
    let row = "the given bytes, row 1 (line 2)";
    for (text, problem) in [
        ("[1, 2]\n[3]\n", "has length 1 instead of 2"),
        ("[1, 2]\n[3, 4, 5]\n", "has length 3 instead of 2"),
        ("[1, 2]\n{\"a\": 1}\n", "is not a JSON object or array of numbers: it is not like the first row"),
        ("{\"a\": 1}\n[1]\n", "is not a JSON object or array of numbers: it is not like the first row"),
        ("{\"a\": 1}\n1\n", "is not a JSON object or array of numbers: it is a single value"),
        ("{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n", "column a is there twice"),
    ] {
        let said = look(text).unwrap_err();
        assert!(said.starts_with(row) && said.contains(problem), "{said}");
    }
}

#[test]
fn a_column_of_a_recipe_may_be_missing_in_objects_and_not_in_arrays() {
    let plan = |text: &str| {
        let survey = survey_bytes(text.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap();
        Plan::new(
            &survey,
            &ReadOptions::default(),
            &PlanOptions { scale: Scale::None, ..PlanOptions::default() },
        )
    };
    let arrays = plan("[1, 2, \"u\"]\n[3, null, \"v\"]\n[3, 5, \"u\"]\n[3, 5, \"v\"]\n");
    let said = parse(b"[1, 2]\n[3, 4]\n", Format::Jsonl, &arrays.options).unwrap_err().to_string();
    assert_eq!(said, "the given bytes has no column c3; the columns there are: c1, c2");
    let objects = plan(
        "{\"a\": 1, \"k\": \"u\"}\n{\"a\": 2, \"k\": \"v\"}\n{\"k\": \"u\"}\n{\"a\": 3, \"k\": \"v\"}\n",
    );
    assert_eq!(
        parse(b"{\"k\": \"v\"}\n", Format::Jsonl, &objects.options).unwrap().data,
        [2.0, 0.0, 1.0, 0.0]
    );
}

#[test]
fn numbers_in_quotes_are_read_by_a_plan() {
    let rows = "{\"a\": 1, \"x\": \"1.5\"}\n{\"a\": 2, \"x\": \"2\"}\n{\"a\": 3, \"x\": \"-4\"}\n";
    let survey = survey_bytes(rows.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap();
    assert_eq!(survey.columns.iter().map(|column| column.is_plain).collect::<Vec<_>>(), [true, false]);
    let choice = PlanOptions { scale: Scale::None, ..PlanOptions::default() };
    let plan = Plan::new(&survey, &ReadOptions::default(), &choice);
    let table = parse(rows.as_bytes(), Format::Jsonl, &plan.options).unwrap();
    assert_eq!(table.data, [1.0, 1.5, 2.0, 2.0, 3.0, -4.0]);
}
