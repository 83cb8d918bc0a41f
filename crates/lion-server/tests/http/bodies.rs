//! Bodies of every kind: what is sent is what arrives, and no bytes whatever are more than a refusal.

use crate::{call, plain, request};
use arrow_array::types::Float32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, ListArray,
    NullArray, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use lion_server::changes::{BadChanges, RowShape, parse_arrow, parse_json, parse_lines};
use lion_tsne::live::{Arrival, Change};
use lion_tsne::recipe::{Cell, ColumnSummary, Kind, Recipe, RecipeOptions, Scale};
use proptest::prelude::*;
use std::sync::Arc;

const ARROW: &str = "application/vnd.apache.arrow.stream";

fn shape(columns: Option<&[&str]>) -> RowShape {
    let columns = columns.map(|names| names.iter().map(|&name| name.to_owned()).collect());
    RowShape { width: 2, columns, recipe: None, rows: 1000, bytes: 1 << 20 }
}

fn column(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true)))
        .unwrap()
}

fn stream_of(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn stream(columns: &[(&str, ArrayRef)]) -> Vec<u8> {
    stream_of(&[batch(columns)], IpcWriteOptions::default())
}

fn ids(ids: &[&str]) -> ArrayRef {
    column(StringArray::from(ids.to_vec()))
}

fn floats(values: &[f32]) -> ArrayRef {
    column(Float32Array::from(values.to_vec()))
}

fn lists(rows: &[&[f32]]) -> ArrayRef {
    let rows = rows.iter().map(|row| Some(row.iter().map(|&value| Some(value)).collect::<Vec<_>>()));
    column(ListArray::from_iter_primitive::<Float32Type, _, _>(rows))
}

fn arrivals(changes: Vec<Change>) -> Vec<Arrival> {
    let arrival = |change| match change {
        Change::Upsert(arrival) => arrival,
        Change::Delete { id, .. } => panic!("{id} is deleted"),
    };
    changes.into_iter().map(arrival).collect()
}

fn arrival(id: &str, row: [f32; 2], label: Option<&str>, t: Option<f64>) -> Arrival {
    Arrival { id: id.to_owned(), row: row.to_vec(), label: label.map(str::to_owned), t }
}

#[test]
fn arrow_columns_are_found_by_name_and_lists_by_kind() {
    let named = shape(Some(&["width", "height"]));
    let all = stream(&[
        ("height", column(Int64Array::from(vec![2, 4]))),
        ("t", column(Float64Array::from(vec![Some(1_700_000_000.25), None]))),
        ("note", ids(&["not", "read"])),
        ("id", ids(&["a", "a"])),
        ("width", floats(&[1.0, 3.0])),
        ("label", column(StringArray::from(vec![None, Some("new")]))),
    ]);
    let expected =
        [arrival("a", [1.0, 2.0], None, Some(1_700_000_000.25)), arrival("a", [3.0, 4.0], Some("new"), None)];
    assert_eq!(arrivals(parse_arrow(&all, &named).unwrap()), expected);

    let list = stream(&[("id", ids(&["a"])), ("x", lists(&[&[1.0, 2.0]]))]);
    for shape in [shape(None), named.clone()] {
        assert_eq!(arrivals(parse_arrow(&list, &shape).unwrap()), [arrival("a", [1.0, 2.0], None, None)]);
    }
    let fixed =
        FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>([Some(vec![Some(1.0), Some(2.0)])], 2);
    let labels: DictionaryArray<arrow_array::types::Int8Type> = vec!["seven"].into_iter().collect();
    let fixed = [("x", column(fixed)), ("id", column(Int64Array::from(vec![7]))), ("label", column(labels))];
    let expected = [arrival("7", [1.0, 2.0], Some("seven"), None)];
    assert_eq!(arrivals(parse_arrow(&stream(&fixed), &shape(None)).unwrap()), expected);
    // A map whose own column is called t has no other time.
    let t = shape(Some(&["t", "height"]));
    let own = stream(&[("id", ids(&["a"])), ("t", floats(&[1.0])), ("height", floats(&[2.0]))]);
    assert_eq!(arrivals(parse_arrow(&own, &t).unwrap()), [arrival("a", [1.0, 2.0], None, None)]);
}

#[test]
fn arrow_files_compression_and_batches() {
    let rows = batch(&[("id", ids(&["a", "b"])), ("p", floats(&[1.0, 3.0])), ("q", floats(&[2.0, 4.0]))]);
    let expected = [arrival("a", [1.0, 2.0], None, None), arrival("b", [3.0, 4.0], None, None)];
    let mut file = Vec::new();
    let mut writer = FileWriter::try_new(&mut file, &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    drop(writer);
    assert_eq!(arrivals(parse_arrow(&file, &shape(None)).unwrap()), expected);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        let bytes = stream_of(&[rows.slice(0, 1), rows.slice(0, 0), rows.slice(1, 1)], options);
        assert_eq!(arrivals(parse_arrow(&bytes, &shape(None)).unwrap()), expected);
    }
    for columns in [rows.slice(0, 0), batch(&[("id", ids(&[])), ("x", lists(&[]))])] {
        assert_eq!(parse_arrow(&stream_of(&[columns], IpcWriteOptions::default()), &shape(None)), Ok(vec![]));
    }
}

#[test]
fn arrow_faults_are_named() {
    let named = Some(&["width", "height"][..]);
    let id = || ("id", ids(&["a", "b"]));
    let (good, null) = (floats(&[1.0, 2.0]), column(Float32Array::from(vec![Some(1.0), None])));
    /// The columns that the map knows, those of the table, and what is said of them.
    type Case<'a> = (Option<&'a [&'a str]>, Vec<(&'a str, ArrayRef)>, &'a str);
    let cases: [Case; 12] = [
        (None, vec![("p", good.clone()), ("q", good.clone())], "no column id"),
        (None, vec![id(), ("p", good.clone()), ("q", floats(&[1.0, f32::NAN]))], "row 1, column q is NaN"),
        (None, vec![id(), ("p", good.clone()), ("q", null.clone())], "row 1, column q is null"),
        (
            None,
            vec![id(), ("p", good.clone()), ("q", column(Float64Array::from(vec![1e99, 1.0])))],
            "row 0, column q is 1e99",
        ),
        (None, vec![id(), ("p", good.clone())], "the table has 1 values"),
        (None, vec![id(), ("p", good.clone()), ("q", ids(&["x", "y"]))], "column q holds text"),
        (named, vec![id(), ("width", good.clone()), ("depth", good.clone())], "no column height"),
        (None, vec![id(), ("x", lists(&[&[1.0, 2.0], &[1.0]]))], "row 1 has 1 values"),
        (None, vec![id(), ("x", lists(&[&[1.0, 2.0], &[1.0, f32::INFINITY]]))], "row 1, column x[2] is inf"),
        (None, vec![id(), ("x", lists(&[&[1.0], &[1.0]]))], "has 1 values"),
        (
            None,
            vec![("id", ids(&["a", ""])), ("p", good.clone()), ("q", good.clone())],
            "row 1, column id is empty",
        ),
        (
            None,
            vec![
                id(),
                ("t", column(Float64Array::from(vec![0.0, f64::NAN]))),
                ("p", good.clone()),
                ("q", good.clone()),
            ],
            "row 1, column t is NaN",
        ),
    ];
    for (columns, table, problem) in cases {
        match parse_arrow(&stream(&table), &shape(columns)) {
            Err(BadChanges::Unprocessable(said)) => {
                assert!(said.contains(problem), "{said} has no {problem}")
            }
            other => panic!("{problem}: {other:?}"),
        }
    }
    let long = "i".repeat(300);
    let named = stream(&[("id", ids(&["a", &long])), ("p", good.clone()), ("q", good.clone())]);
    assert!(
        parse_arrow(&named, &shape(None)).unwrap_err().to_string().contains("row 1, column id has 300 bytes")
    );
}

/// A few bytes must not become many.
#[test]
fn arrow_that_grows_is_refused_before_it_does() {
    let small = RowShape { rows: 10, bytes: 10_000, ..shape(None) };
    let nulls = stream(&[("id", column(NullArray::new(1 << 40))), ("x", column(NullArray::new(1 << 40)))]);
    assert!(nulls.len() < 10_000);
    assert!(matches!(parse_arrow(&nulls, &small), Err(BadChanges::TooMany(_))));
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let zeros = vec![0.0_f32; 1 << 22];
    let bomb = stream_of(&[batch(&[("id", ids(&["a"])), ("x", lists(&[&zeros]))])], options);
    assert!(bomb.len() < 10_000, "{}", bomb.len());
    assert!(matches!(parse_arrow(&bomb, &small), Err(BadChanges::TooMany(_))));
    let gzip = [&[0x1f, 0x8b, 8, 0][..], &[0; 100]].concat();
    assert!(matches!(parse_arrow(&gzip, &small), Err(BadChanges::Malformed(_))));
    // A bit for each value, as long as is allowed, but far from what the map has.
    let bits = arrow_array::BooleanArray::from(vec![true; 60_000]);
    let field = Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::Boolean, true));
    let wide = FixedSizeListArray::new(field, 60_000, Arc::new(bits), None);
    let wide = stream(&[("id", ids(&["a"])), ("x", column(wide))]);
    assert!(parse_arrow(&wide, &small).unwrap_err().to_string().contains("60000 values"));
}

#[tokio::test(flavor = "multi_thread")]
async fn arrow_is_placed_and_damaged_arrow_refused() {
    let (_service, app) = plain();
    let body = stream(&[("id", ids(&["a", "b"])), ("x", lists(&[&[3.5, 4.5], &[50.0, 50.0]]))]);
    let placed = call(&app, request("POST", "/api/points", ARROW, body.clone())).await.json();
    assert_eq!((&placed[0]["verdict"], &placed[1]["verdict"]), (&"interpolated".into(), &"outlier".into()));
    for damaged in [&body[..body.len() / 2], b"ARROW1", b"", b"[{\"id\":\"a\"}]", &[0xff; 64]] {
        let answer = call(&app, request("POST", "/api/points", ARROW, damaged.to_vec())).await;
        assert_eq!(answer.refusal().0, 400, "{:?}", answer.body);
        assert!(answer.refusal().2.contains("Arrow"));
    }
}

/// Whatever is read is what the map can use.
fn check(changes: Result<Vec<Change>, BadChanges>, shape: &RowShape) {
    for change in changes.into_iter().flatten() {
        assert!((1..=256).contains(&change.id().len()));
        if let Change::Upsert(arrival) = change {
            assert!(arrival.row.len() == shape.width && arrival.row.iter().all(|value| value.is_finite()));
        }
    }
}

fn check_all(bytes: &[u8]) {
    for shape in [shape(None), shape(Some(&["width", "height"]))] {
        check(parse_json(bytes, &shape), &shape);
        check(parse_lines(bytes, &shape), &shape);
        check(parse_arrow(bytes, &shape), &shape);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_changes_or_a_refusal(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_all(&bytes);
    }

    #[test]
    fn almost_json_is_changes_or_a_refusal(text in r#"[\[{]("(id|x|t|label|delete|é)"|[:,\[\]{} \n]|-?[0-9]{1,3}(\.[0-9]e[0-9]{1,3})?|null|NaN|-Infinity|true|"a"){0,20}[\]}]?"#) {
        check_all(text.as_bytes());
    }

    #[test]
    fn altered_json_is_changes_or_a_refusal(at in 0_usize..60, byte: u8) {
        let mut bytes = br#"[{"id":"a","x":[1.5,-2e3],"t":1,"label":"b"},{"delete":"a"}]"#.to_vec();
        bytes[at] = byte;
        check_all(&bytes);
    }

    #[test]
    fn altered_arrow_is_changes_or_a_refusal(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        compressed: bool,
        cut in any::<Option<proptest::sample::Index>>(),
    ) {
        let labels: DictionaryArray<arrow_array::types::Int8Type> = vec!["p", "q"].into_iter().collect();
        let rows = batch(&[("id", ids(&["a", "b"])), ("x", lists(&[&[1.0, 2.0], &[3.0, 4.0]])), ("label", column(labels)),
            ("t", column(Float64Array::from(vec![Some(1.0), None])))]);
        let codec = compressed.then_some(CompressionType::LZ4_FRAME);
        let mut bytes = stream_of(&[rows], IpcWriteOptions::default().try_with_compression(codec).unwrap());
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check_all(&bytes);
    }
}

/// A map of a number and a truth value.
fn shape_with_recipe() -> RowShape {
    let summary = |name, cells: [Cell<'_>; 4]| {
        let kind = if name == "share" { Kind::Number } else { Kind::Boolean };
        let mut summary = ColumnSummary::new(name, kind);
        (0..).zip(&cells).for_each(|(row, cell)| summary.add(row, cell));
        summary
    };
    let columns = [
        summary("share", [1.0, 2.0, 3.0, 4.0].map(Cell::Number)),
        summary("member", [true, false, true, false].map(Cell::Boolean)),
    ];
    let recipe =
        Recipe::fit(&columns, &RecipeOptions { scale: Scale::None, ..RecipeOptions::default() }).recipe;
    RowShape { recipe: Some(Arc::new(recipe)), ..shape(Some(&["share", "member"])) }
}

#[test]
fn texts_are_read_as_cells_of_a_table_are() {
    let shape = shape_with_recipe();
    let json = |share: &str| {
        let body = format!("{{\"id\": \"a\", \"x\": {{\"share\": \"{share}\", \"member\": \"yes\"}}}}");
        parse_json(body.as_bytes(), &shape).map(arrivals)
    };
    let arrow = |share: &str| {
        let text = |text: &str| column(StringArray::from(vec![text]));
        let body = stream(&[("id", ids(&["a"])), ("share", text(share)), ("member", text("yes"))]);
        parse_arrow(&body, &shape).map(arrivals)
    };
    for (share, value) in [("12 %", 12.0), ("1.200,50", 1200.5), ("1,200.50", 1200.5), ("$5", 5.0)] {
        assert_eq!(json(share).unwrap()[0].row, [value, 1.0], "{share}");
        assert_eq!(arrow(share).unwrap()[0].row, [value, 1.0], "{share}");
    }
    for unclear in ["1,200", "twelve"] {
        let said = [json(unclear).unwrap_err(), arrow(unclear).unwrap_err()].map(|error| error.to_string());
        assert!(
            said.iter().all(|said| said.contains("column share holds") && said.contains(unclear)),
            "{said:?}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_body() {
    let marked = |text: &str| format!("\u{feff}{text}").into_bytes();
    let point = r#"{"id": "a", "x": [1, 2]}"#;
    assert_eq!(arrivals(parse_json(&marked(&format!("[{point}]")), &shape(None)).unwrap()).len(), 1);
    assert_eq!(arrivals(parse_json(&marked(point), &shape(None)).unwrap()).len(), 1);
    assert_eq!(
        arrivals(parse_lines(&marked(&format!("{point}\n{point}\n")), &shape(None)).unwrap()).len(),
        2
    );
}
