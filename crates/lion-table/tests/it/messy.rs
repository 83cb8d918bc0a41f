//! Tables as people have them: what each column is found to be, what becomes of it, and what is refused.

use crate::written::{arrow_file, batch, npy_f32, parquet};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Date32Array, DictionaryArray, Float64Array, StringArray};
use lion_recipe::{Kind, Missing, Scale};
use lion_table::{
    Format, Found, NumberStyle, Plan, PlanOptions, ReadOptions, Survey, Treatment, parse, parse_batches,
    survey_bytes,
};
use parquet::basic::Compression;
use proptest::prelude::*;
use std::sync::Arc;

fn csv(text: &str) -> Survey {
    survey_bytes(text.as_bytes(), Format::Csv, &ReadOptions::default()).unwrap()
}

fn plan_of(text: &str, choice: &PlanOptions) -> Plan {
    Plan::new(&csv(text), &ReadOptions::default(), choice)
}

/// A column of these cells beside one of numbers; its kind, or what else it is.
fn found(cells: &[&str]) -> String {
    let rows: String = cells.iter().enumerate().map(|(row, cell)| format!("{row};{cell}\n")).collect();
    let survey = csv(&format!("n;x\n{rows}"));
    match &survey.columns[1].found {
        Found::Values(summary) => summary.kind.to_string(),
        Found::Text { dates: true, .. } => "unclear dates".into(),
        Found::Text { .. } => "text".into(),
        Found::Empty => "empty".into(),
        Found::Faulty { kind, count, .. } => format!("{count} no {kind}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn kinds_are_what_the_cells_say() {
    assert_eq!(found(&["1", "2.5", "-3e2"]), "number");
    assert_eq!(found(&["0", "1", "1"]), "number");
    assert_eq!(found(&["1", "", "NA", "NaN", "null", "-"]), "number");
    assert_eq!(found(&["1,5", "2,25", "3"]), "number");
    assert_eq!(found(&["1.234,5", "2.000", "17"]), "number");
    assert_eq!(found(&["true", "False", "TRUE"]), "boolean");
    assert_eq!(found(&["y", "n", "", "y"]), "boolean");
    assert_eq!(found(&["f", "f", "f"]), "category");
    assert_eq!(found(&["yes", "no", "maybe", "no", "yes", "maybe"]), "category");
    assert_eq!(found(&["2024-01-31", "2023-12-01", ""]), "date");
    assert_eq!(found(&["31.1.2024", "1.12.2023"]), "date");
    assert_eq!(found(&["1/31/2024", "2/1/2024"]), "date");
    assert_eq!(found(&["31/1/2024", "2/1/2024"]), "date");
    assert_eq!(found(&["1/3/2024", "2/1/2024", "5/6/2023"]), "unclear dates");
    assert_eq!(found(&["red", "blue", "red", "red", "blue"]), "category");
    assert_eq!(found(&["Ann", "Bob", "Cid", "Dan", "Eve"]), "text");
    assert_eq!(found(&["", "NA", "-"]), "empty");
    // A few bad cells do not make a category of numbers.
    assert_eq!(found(&["1", "2", "3", "4", "x"]), "1 no number");
    assert_eq!(found(&["1", "2", "3", "inf"]), "1 no number");
    assert_eq!(found(&["2024-01-31", "2023-12-01", "soon"]), "1 no date");
    // Numbers among texts are texts.
    assert_eq!(found(&["12", "12a", "a", "a", "12", "12a", "a"]), "category");
}

#[test]
fn commas_mean_what_the_file_lets_them_mean() {
    let style = |text: &str| csv(text).columns[1].reading.numbers;
    assert_eq!(style("n;x\n1;1,5\n2;2,5\n"), NumberStyle::DecimalComma);
    assert_eq!(style("n;x\n1;1,234\n2;2,500\n"), NumberStyle::DecimalComma);
    assert_eq!(style("n,x\n1,\"1,234.5\"\n2,\"7\"\n"), NumberStyle::ThousandsComma);
    assert_eq!(style("n,x\n1,\"1,5\"\n2,\"7\"\n"), NumberStyle::DecimalComma);
    assert_eq!(style("n,x\n1,\"1,234,567\"\n2,\"7\"\n"), NumberStyle::ThousandsComma);
    let unclear = csv("n,x\n1,\"1,234\"\n2,\"7\"\n");
    assert!(matches!(&unclear.columns[1].found, Found::AmbiguousCommas(cell) if cell == "1,234"));
    let plan = Plan::new(&unclear, &ReadOptions::default(), &PlanOptions::default());
    assert!(plan.problems().next().unwrap().words.contains("may be 1.234 or 1234"));
}

#[test]
fn a_column_with_two_decimal_marks_is_no_category() {
    for text in ["n;x\n1;1,5\n2;2.5\n3;1,5\n4;2.5\n", "n;x\n1;1,5 €\n2;2.5 €\n", "n,x\n1,\"1,5\"\n2,2.5\n"]
    {
        let plan = plan_of(text, &PlanOptions::default());
        let problem = plan.problems().next().unwrap().sentence("F");
        let mark = if text.contains('€') { " €" } else { "" };
        let marks = problem.replace(mark, "");
        assert_eq!(
            marks,
            "F, column x (number): \"1,5\" has a decimal comma and \"2.5\" a decimal point: write all its numbers alike"
        );
    }
    // Where most have the same, the others are named.
    let plan = plan_of("n;x\n1;1,5\n2;2,5\n3;2.5\n", &PlanOptions::default());
    let sentence = plan.problems().next().unwrap().sentence("F");
    assert!(sentence.ends_with(
        "row 2 (line 4), column x holds \"2.5\", which is not a number, because commas are decimal marks"
    ));
    let few = format!("n;x\n{}60;5,81\n", (0..59).map(|n| format!("{n};1.23\n")).collect::<String>());
    let sentence = plan_of(&few, &PlanOptions::default()).problems().next().unwrap().sentence("F");
    assert!(sentence.ends_with("column x holds \"5,81\", which is not a number"), "{sentence}");
    // Texts are texts, whatever else they hold.
    assert_eq!(found(&["1,5", "2.5", "a", "b", "a", "b", "a", "b", "1,5", "2.5"]), "category");
}

#[test]
fn plain_numbers_are_left_to_the_plain_reader() {
    for text in ["a,b\n1,2\n3,4\n5,7\n", "1,2\n3,4\n5,9\n"] {
        let plan = plan_of(text, &PlanOptions::default());
        assert!(plan.recipe().is_none() && plan.options.exclude.is_empty() && plan.options.columns.is_none());
        assert!(plan.columns.iter().all(|column| column.treatment == Treatment::AsIs));
    }
    // Texts are left out, and the numbers beside them keep their bits.
    let text = "a,name,b\n0.1,Ann,2\n3,Bob,4\n5,Cid,7\n8,Dan,9\n";
    let plan = plan_of(text, &PlanOptions::default());
    assert!(plan.recipe().is_none());
    let table = parse(text.as_bytes(), Format::Csv, &plan.options).unwrap();
    assert_eq!(
        (table.columns, &table.data[..3]),
        (vec!["a".to_owned(), "b".to_owned()], &[0.1f32, 2.0, 3.0][..])
    );
}

const MIXED: &str = "id,age,plan,since,active\n\
    p0,20,free,2024-01-01,yes\np1,40,paid,2024-01-03,no\np2,,free,2024-01-02,yes\np3,60,paid,,no\n";

#[test]
fn a_mixed_table_becomes_rows() {
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let survey = survey_bytes(MIXED.as_bytes(), Format::Csv, &options).unwrap();
    let plan = Plan::new(&survey, &options, &PlanOptions { scale: Scale::None, ..PlanOptions::default() });
    let table = parse(MIXED.as_bytes(), Format::Csv, &plan.options).unwrap();
    assert_eq!(table.columns, ["age", "plan=free", "plan=paid", "plan (other)", "since", "active"]);
    let day = 19_723.0;
    let expected = [
        [20.0, 1.0, 0.0, 0.0, day, 1.0],
        [40.0, 0.0, 1.0, 0.0, day + 2.0, 0.0],
        [40.0, 1.0, 0.0, 0.0, day + 1.0, 1.0],
        [60.0, 0.0, 1.0, 0.0, day + 1.0, 0.0],
    ];
    assert_eq!(table.data, expected.concat());
    assert_eq!(table.ids.unwrap(), ["p0", "p1", "p2", "p3"]);
    // Batches of any size make the same rows; a dropped row keeps its number.
    let drop = Plan::new(
        &survey,
        &ReadOptions::default(),
        &PlanOptions { missing: Some(Missing::Drop), scale: Scale::None, shares_unit: false },
    );
    let options = ReadOptions { exclude: vec!["id".into()], ..drop.options };
    let table = parse(MIXED.as_bytes(), Format::Csv, &options).unwrap();
    assert_eq!(table.ids.unwrap(), ["0", "1"]);
}

#[test]
fn encoded_rows_know_their_lines() {
    let text = "note,x,kind\n\"a\nb\",1,u\nc,,v\nd,3,u\ne,4,v\nf,5,u\n";
    let plan = plan_of(text, &PlanOptions { missing: Some(Missing::Drop), ..PlanOptions::default() });
    let batches = parse_batches(text.as_bytes(), Format::Csv, &plan.options).unwrap();
    let (table, origins) = batches.into_table_of_files().unwrap();
    let lines: Vec<_> = (0..table.rows).map(|row| origins.cell(row, "x").line).collect();
    assert_eq!(lines, [2, 5, 6, 7].map(Some));
}

#[test]
fn rows_of_an_array_have_no_lines() {
    let bytes = npy_f32(3, 2, &[1.0, f32::NAN, 2.0, 3.0, 4.0, 5.0]);
    let survey = survey_bytes(&bytes, Format::Npy, &ReadOptions::default()).unwrap();
    let plan = Plan::new(&survey, &ReadOptions::default(), &PlanOptions::default());
    let batches = parse_batches(&bytes, Format::Npy, &plan.options).unwrap();
    let (table, origins) = batches.into_table_of_files().unwrap();
    let places = (0..table.rows).map(|row| (origins.cell(row, "c1").row, origins.cell(row, "c1").line));
    assert!(plan.recipe().is_some() && places.eq([(0, None), (1, None), (2, None)]));
}

#[test]
fn other_formats_say_the_same() {
    let lines = "{\"age\": 20, \"plan\": \"free\", \"since\": \"2024-01-01\", \"active\": true}\n\
        {\"age\": 40, \"plan\": \"paid\", \"since\": \"2024-01-03\", \"active\": false}\n\
        {\"plan\": \"free\", \"since\": \"2024-01-02\", \"active\": true}\n\
        {\"age\": 60, \"plan\": \"paid\", \"active\": false, \"extra\": [1, \"a\"]}\n";
    let array = format!("[{}]", lines.trim().replace('\n', ",\n"));
    let options = ReadOptions::default();
    let choice = PlanOptions { scale: Scale::None, ..PlanOptions::default() };
    let mut rows = Vec::new();
    for (bytes, format) in [(lines, Format::Jsonl), (&array, Format::Json)] {
        let survey = survey_bytes(bytes.as_bytes(), format, &options).unwrap();
        let kinds: Vec<Option<Kind>> = survey
            .columns
            .iter()
            .map(|column| match &column.found {
                Found::Values(summary) => Some(summary.kind),
                _ => None,
            })
            .collect();
        assert_eq!(
            kinds,
            [Some(Kind::Number), Some(Kind::Category), Some(Kind::Date), Some(Kind::Boolean), None]
        );
        let plan = Plan::new(&survey, &options, &choice);
        rows.push(parse(bytes.as_bytes(), format, &plan.options).unwrap().data);
    }
    let from_csv = Plan::new(&csv(MIXED), &options, &choice);
    let from_csv = parse(MIXED.as_bytes(), Format::Csv, &from_csv.options).unwrap().data;
    assert_eq!(rows, [from_csv.clone(), from_csv]);
}

#[test]
fn arrow_and_parquet_say_the_same() {
    // More rows than are looked at together.
    let rows = 2500;
    let text: String = (0..rows).fold("id,x,kind,since\n".to_owned(), |text, row| {
        let x = if row == 2000 { String::new() } else { (row % 7).to_string() };
        text + &format!("p{row},{x},{},1970-01-{:02}\n", ["red", "blue"][row % 2], 1 + row % 9)
    });
    let x = (0..rows).map(|row| (row != 2000).then_some((row % 7) as f64));
    let kinds: DictionaryArray<Int32Type> = (0..rows).map(|row| ["red", "blue"][row % 2]).collect();
    let batch = batch(vec![
        ("id", Arc::new((0..rows).map(|row| Some(format!("p{row}"))).collect::<StringArray>()) as ArrayRef),
        ("x", Arc::new(x.collect::<Float64Array>())),
        ("kind", Arc::new(kinds)),
        ("since", Arc::new((0..rows).map(|row| Some((row % 9) as i32)).collect::<Date32Array>())),
    ]);
    let batches = [batch.slice(0, 1), batch.slice(1, rows - 1)];
    let options = ReadOptions { id: Some("id".into()), ..ReadOptions::default() };
    let encoded = |bytes: &[u8], format| {
        let survey = survey_bytes(bytes, format, &options).unwrap();
        let plan = Plan::new(&survey, &options, &PlanOptions::default());
        let table = parse(bytes, format, &plan.options).unwrap();
        (table.columns, table.ids, table.data)
    };
    let expected = encoded(text.as_bytes(), Format::Csv);
    assert_eq!(expected.0, ["x", "kind=blue", "kind=red", "kind (other)", "since"]);
    assert_eq!(encoded(&arrow_file(&batches, None), Format::Arrow), expected);
    assert_eq!(encoded(&parquet(&batches, Compression::SNAPPY, 2000), Format::Parquet), expected);
}

#[test]
fn rows_of_npy_with_missing_values_are_dropped_or_filled() {
    let values = [7.0, 1.5, f32::NAN, 8.0, 2.5, 4.0, 9.0, 3.5, 6.0];
    let bytes = npy_f32(3, 3, &values);
    let options = ReadOptions { id: Some("c1".into()), ..ReadOptions::default() };
    let survey = survey_bytes(&bytes, Format::Npy, &options).unwrap();
    assert_eq!(survey.columns.len(), 3);
    let encoded = |missing| {
        let choice = PlanOptions { missing, scale: Scale::None, ..PlanOptions::default() };
        let table = parse(&bytes, Format::Npy, &Plan::new(&survey, &options, &choice).options).unwrap();
        (table.ids.unwrap(), table.data)
    };
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    assert_eq!(encoded(Some(Missing::Drop)), (ids(&["8", "9"]), vec![2.5, 4.0, 3.5, 6.0]));
    let (all, filled) = encoded(None);
    assert_eq!((all, &filled[2..]), (ids(&["7", "8", "9"]), &[2.5, 4.0, 3.5, 6.0][..]));
    assert!((4.0..=6.0).contains(&filled[1]));
}

/// In CSV with semicolons such a comma is a decimal mark. Here nothing says so.
#[test]
fn commas_in_texts_of_json_are_unclear() {
    let text = "{\"n\": 1, \"x\": \"1,234\"}\n{\"n\": 2, \"x\": \"7\"}\n";
    let survey = survey_bytes(text.as_bytes(), Format::Jsonl, &ReadOptions::default()).unwrap();
    assert!(matches!(&survey.columns[1].found, Found::AmbiguousCommas(cell) if cell == "1,234"));
}

#[test]
fn json_arrays_are_refused_in_one_sentence() {
    let refused =
        |text: &str| parse(text.as_bytes(), Format::Json, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused("[{\"a\": 1}, {\"a\": 2}").contains("breaks off"));
    assert!(refused("[{\"a\": 1}] x").contains("something follows the array"));
    assert!(refused("[1, 2]").contains("it is a single value"));
    assert!(refused("[]").contains("no rows"));
    let nested = parse(b"[[1, 2], [3, 4]]", Format::Json, &ReadOptions::default()).unwrap();
    assert_eq!(nested.data, [1.0, 2.0, 3.0, 4.0]);
    let strings =
        parse(b" [ {\"a\": 1, \"b\": 2},\n{\"b\": 4, \"a\": 3} ] \n", Format::Json, &ReadOptions::default())
            .unwrap();
    assert_eq!(strings.data, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn every_problem_is_told_at_once() {
    let mut text = "a,b,c\n".to_owned();
    for row in 0..20 {
        text += &format!(
            "{},{},{}\n",
            if row == 3 { "x".into() } else { row.to_string() },
            if row > 17 { "y" } else { "2" },
            row
        );
    }
    let plan = plan_of(&text, &PlanOptions::default());
    let said: Vec<String> =
        plan.problems().map(|column| format!("{}: {}", column.name, column.words)).collect();
    assert_eq!(
        said,
        [
            "a: 1 cell is no number: row 3 (line 5) \"x\"",
            "b: 2 cells are no numbers: row 18 (line 20) \"y\", row 19 (line 21) \"y\""
        ]
    );
}

proptest! {
    #[test]
    fn any_text_is_surveyed_and_read_as_planned(
        cells in prop::collection::vec(prop::collection::vec("[a-c]|[0-9]{1,3}|[0-9]+[.,][0-9]+|true|no||NA|202[0-4]-0[1-9]-1[0-9]|[1-9]/[1-9]/2024|inf", 3), 1..25),
        delimiter in prop::sample::select(vec![',', ';', '\t']),
        scale in 0..4usize,
        missing in 0..5usize,
    ) {
        let row = |row: &Vec<String>| {
            let quoted: Vec<String> = row.iter().map(|cell| format!("\"{cell}\"")).collect();
            quoted.join(&delimiter.to_string()) + "\n"
        };
        let text = format!("x{delimiter}y{delimiter}z\n{}", cells.iter().map(row).collect::<String>());
        let options = ReadOptions::default();
        let survey = survey_bytes(text.as_bytes(), Format::Csv, &options).unwrap();
        prop_assert_eq!(survey.rows, cells.len() as u64);
        let missing = Missing::NAMES.get(missing).map(|name| name.parse().unwrap());
        let choice = PlanOptions { scale: Scale::NAMES[scale].parse().unwrap(), missing, shares_unit: false };
        let plan = Plan::new(&survey, &options, &choice);
        if plan.problems().next().is_none() && plan.features() > 0 {
            match parse(text.as_bytes(), Format::Csv, &plan.options) {
                Ok(table) => prop_assert!(table.data.iter().all(|v| v.is_finite())),
                // All rows may have gaps.
                Err(error) => prop_assert!(missing == Some(Missing::Drop), "{error}: {text}"),
            }
        }
    }

    #[test]
    fn any_bytes_are_surveyed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), json in "[\\[\\]{},:\"a1. \\\\n]{0,60}") {
        for format in [Format::Csv, Format::Json, Format::Jsonl, Format::Arrow, Format::Parquet, Format::Npy] {
            let _ = survey_bytes(&bytes, format, &ReadOptions::default());
        }
        for format in [Format::Json, Format::Jsonl] {
            let _ = survey_bytes(json.as_bytes(), format, &ReadOptions::default());
            let _ = parse(json.as_bytes(), format, &ReadOptions::default());
        }
    }
}
