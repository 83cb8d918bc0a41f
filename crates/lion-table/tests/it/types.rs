//! Columns of every type that Arrow and Parquet have: as labels, as cells, and as what cannot be used.

use crate::written::*;
use arrow_array::builder::{BinaryBuilder, Float64Builder, ListBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};
use lion_recipe::Scale;
use lion_table::{Format, Found, Plan, PlanOptions, ReadOptions, parse, survey_bytes};
use parquet::basic::Compression;
use std::sync::Arc;

/// A column of two values, a gap, and the two values again.
macro_rules! gapped {
    ($array:ty, $first:expr, $second:expr) => {
        Arc::new(<$array>::from(vec![
            Some($first),
            Some($second),
            None,
            Some($first),
            Some($second),
            Some($first),
        ])) as ArrayRef
    };
}

struct Typed {
    column: ArrayRef,
    /// The values as labels.
    texts: [&'static str; 2],
    /// The values as numbers, where they are such.
    numbers: Option<[f32; 2]>,
    /// Parquet has the type, too.
    in_parquet: bool,
}

fn every_type() -> Vec<Typed> {
    let typed = |column, texts, numbers| Typed { column, texts, numbers, in_parquet: true };
    let arrow_only = |column, texts, numbers| Typed { column, texts, numbers, in_parquet: false };
    let half = |value: f32| half::f16::from_f32(value);
    let (days, day) = (Some([1.0, 1.5]), ["1970-01-02", "1970-01-02 12:00"]);
    let dictionary: DictionaryArray<Int32Type> =
        [Some("u"), Some("v"), None, Some("u"), Some("v"), Some("u")].into_iter().collect();
    vec![
        typed(gapped!(Int8Array, -1, 2), ["-1", "2"], Some([-1.0, 2.0])),
        typed(gapped!(Int16Array, -300, 2), ["-300", "2"], Some([-300.0, 2.0])),
        typed(gapped!(Int32Array, -70_000, 2), ["-70000", "2"], Some([-70_000.0, 2.0])),
        typed(gapped!(Int64Array, i64::MIN, 2), ["-9223372036854775808", "2"], Some([i64::MIN as f32, 2.0])),
        typed(gapped!(UInt8Array, 255, 2), ["255", "2"], Some([255.0, 2.0])),
        typed(gapped!(UInt16Array, 65_535, 2), ["65535", "2"], Some([65_535.0, 2.0])),
        typed(gapped!(UInt32Array, 70_000, 2), ["70000", "2"], Some([70_000.0, 2.0])),
        typed(gapped!(UInt64Array, u64::MAX, 2), ["18446744073709551615", "2"], Some([u64::MAX as f32, 2.0])),
        typed(gapped!(Float16Array, half(0.5), half(-2.0)), ["0.5", "-2"], Some([0.5, -2.0])),
        typed(gapped!(Float32Array, 0.25, -2.0), ["0.25", "-2"], Some([0.25, -2.0])),
        typed(gapped!(Float64Array, 0.125, -2.0), ["0.125", "-2"], Some([0.125, -2.0])),
        typed(gapped!(BooleanArray, true, false), ["true", "false"], Some([1.0, 0.0])),
        typed(decimal(gapped!(Decimal128Array, 125, -50), 10, 2), ["1.25", "-0.5"], Some([1.25, -0.5])),
        arrow_only(decimal(gapped!(Decimal32Array, 125, -50), 9, 2), ["1.25", "-0.5"], Some([1.25, -0.5])),
        arrow_only(decimal(gapped!(Decimal64Array, 125, -50), 12, 2), ["1.25", "-0.5"], Some([1.25, -0.5])),
        typed(
            decimal(gapped!(Decimal256Array, i256::from(125), i256::from(-50)), 60, 2),
            ["1.25", "-0.5"],
            Some([1.25, -0.5]),
        ),
        typed(gapped!(Date32Array, 1, 3), ["1970-01-02", "1970-01-04"], Some([1.0, 3.0])),
        arrow_only(gapped!(Date64Array, 86_400_000, 129_600_000), day, days),
        arrow_only(gapped!(TimestampSecondArray, 86_400, 129_600), day, days),
        typed(gapped!(TimestampMillisecondArray, 86_400_000, 129_600_000), day, days),
        typed(gapped!(TimestampMicrosecondArray, 86_400_000_000, 129_600_000_000), day, days),
        typed(gapped!(TimestampNanosecondArray, 86_400_000_000_000, 129_600_000_000_000), day, days),
        typed(gapped!(StringArray, "u", "v"), ["u", "v"], None),
        typed(gapped!(LargeStringArray, "u", "v"), ["u", "v"], None),
        typed(gapped!(StringViewArray, "u", "v"), ["u", "v"], None),
        typed(Arc::new(dictionary), ["u", "v"], None),
    ]
}

/// The same with another scale.
fn decimal(column: ArrayRef, precision: u8, scale: i8) -> ArrayRef {
    let to = match column.data_type() {
        DataType::Decimal32(..) => DataType::Decimal32(precision, scale),
        DataType::Decimal64(..) => DataType::Decimal64(precision, scale),
        DataType::Decimal128(..) => DataType::Decimal128(precision, scale),
        _ => DataType::Decimal256(precision, scale),
    };
    make_array(column.to_data().into_builder().data_type(to).build().unwrap())
}

/// A table of a column `x`, one of numbers and one of texts.
fn beside(column: &ArrayRef) -> RecordBatch {
    batch(vec![
        ("n", Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) as ArrayRef),
        ("x", column.clone()),
        ("kind", Arc::new(StringArray::from(vec!["p", "q", "p", "q", "p", "q"]))),
    ])
}

/// The same table as Arrow has it and, where it can, as Parquet has it.
fn files(typed: &Typed) -> Vec<(Vec<u8>, Format)> {
    let batch = beside(&typed.column);
    let mut files = vec![(arrow_file(std::slice::from_ref(&batch), None), Format::Arrow)];
    if typed.in_parquet {
        files.push((parquet(&[batch], Compression::SNAPPY, 3), Format::Parquet));
    }
    files
}

/// Whether a column can be a label without a plan.
fn is_plain_label(data_type: &DataType) -> bool {
    let wide =
        matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal256(..));
    !wide && !matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

#[test]
fn every_type_can_be_a_label() {
    let options = ReadOptions { label: Some("x".into()), ..ReadOptions::default() };
    for typed in every_type() {
        let [first, second] = typed.texts;
        let expected = [first, second, "", first, second, first];
        for (bytes, format) in files(&typed) {
            let what = format!("{} in {format:?}", typed.column.data_type());
            let survey = survey_bytes(&bytes, format, &options).unwrap();
            let plan = Plan::new(&survey, &options, &PlanOptions::default());
            assert!(plan.recipe().is_some(), "{what}");
            assert_eq!(parse(&bytes, format, &plan.options).unwrap().labels.unwrap(), expected, "{what}");
            let without = ReadOptions { exclude: vec!["kind".into()], ..options.clone() };
            match parse(&bytes, format, &without) {
                Ok(table) => {
                    assert_eq!(table.labels.unwrap(), expected, "{what}");
                    assert_eq!(table.data, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
                }
                Err(error) => assert!(!is_plain_label(typed.column.data_type()), "{what}: {error}"),
            }
        }
    }
}

#[test]
fn every_type_is_a_cell() {
    let options = ReadOptions::default();
    let choice = PlanOptions { scale: Scale::None, ..PlanOptions::default() };
    for typed in every_type() {
        for (bytes, format) in files(&typed) {
            let what = format!("{} in {format:?}", typed.column.data_type());
            let survey = survey_bytes(&bytes, format, &options).unwrap();
            let Found::Values(summary) = &survey.columns[1].found else { panic!("{what}: {survey:?}") };
            assert_eq!((summary.rows(), summary.missing), (6, 1), "{what}");
            let gap = survey.columns[1].first_gap.as_ref().expect("there is one");
            assert_eq!((gap.row, gap.column.as_str()), (2, "x"), "{what}");
            let plan = Plan::new(&survey, &options, &choice);
            let table = parse(&bytes, format, &plan.options).unwrap();
            let column = |name: &str| {
                let at = table.columns.iter().position(|column| column == name).expect(name);
                table.data.iter().skip(at).step_by(table.cols).copied().collect::<Vec<_>>()
            };
            match typed.numbers {
                Some([first, second]) => {
                    let found = column("x");
                    assert_eq!(
                        [found[0], found[1], found[3], found[4]],
                        [first, second, first, second],
                        "{what}"
                    );
                }
                None => {
                    assert_eq!(column("x=u"), [1.0, 0.0, 0.0, 1.0, 0.0, 1.0], "{what}");
                    assert_eq!(column("x=v"), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], "{what}");
                    assert_eq!(column("x (missing)"), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "{what}");
                }
            }
        }
    }
}

#[test]
fn dictionaries_of_numbers_are_categories() {
    let keys = Int8Array::from(vec![Some(1), Some(0), None, Some(1), Some(0), Some(1)]);
    let column: ArrayRef =
        Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(Int64Array::from(vec![7, 9]))));
    let options = ReadOptions::default();
    let bytes = arrow_file(&[beside(&column)], None);
    let labels = ReadOptions { label: Some("x".into()), exclude: vec!["kind".into()], ..options.clone() };
    assert_eq!(parse(&bytes, Format::Arrow, &labels).unwrap().labels.unwrap(), ["9", "7", "", "9", "7", "9"]);
    let survey = survey_bytes(&bytes, Format::Arrow, &options).unwrap();
    let plan = Plan::new(&survey, &options, &PlanOptions::default());
    let table = parse(&bytes, Format::Arrow, &plan.options).unwrap();
    assert_eq!(table.columns[1..5], ["x=7", "x=9", "x (missing)", "x (other)"]);
    assert_eq!(table.data[1..5], [0.0, 1.0, 0.0, 0.0]);
    // One of nothing but gaps has no values at all.
    let keys = Int8Array::from(vec![None; 6]);
    let empty: ArrayRef =
        Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(Int64Array::from(Vec::<i64>::new()))));
    let bytes = arrow_file(&[beside(&empty)], None);
    assert_eq!(parse(&bytes, Format::Arrow, &labels).unwrap().labels.unwrap(), [""; 6]);
}

#[test]
fn columns_of_no_use_are_told_by_their_type() {
    let mut list = ListBuilder::new(Float64Builder::new());
    let mut texts = ListBuilder::new(StringBuilder::new());
    let mut bytes = BinaryBuilder::new();
    for _ in 0..4 {
        list.append_value([Some(1.0)]);
        texts.append_value([Some("a")]);
        bytes.append_value(b"a");
    }
    let index: ArrayRef = Arc::new(Int64Array::from(vec![3, 4, 5, 6]));
    let found = |name: &str, column: ArrayRef| {
        let batch = batch(vec![
            ("n", Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0])) as ArrayRef),
            (name, column),
        ]);
        let files = [
            (arrow_file(std::slice::from_ref(&batch), None), Format::Arrow),
            (parquet(&[batch], Compression::SNAPPY, 10), Format::Parquet),
        ];
        files.map(|(bytes, format)| {
            let mut survey = survey_bytes(&bytes, format, &ReadOptions::default()).unwrap();
            assert_eq!(survey.rows, 4);
            survey.columns.remove(1)
        })
    };
    for column in found("x", Arc::new(list.finish())) {
        assert!(matches!(column.found, Found::List), "{column:?}");
    }
    for column in found("x", Arc::new(bytes.finish())) {
        assert!(matches!(&column.found, Found::Other(what) if what == "values of type Binary"), "{column:?}");
    }
    for column in found("x", Arc::new(texts.finish())) {
        assert!(
            matches!(&column.found, Found::Other(what) if what.starts_with("values of type List(")),
            "{column:?}"
        );
    }
    for column in found("__index_level_0__", index) {
        assert_eq!(column.role, lion_table::Role::RowIndex);
    }
    for column in found("x", Arc::new(NullArray::new(4))) {
        assert!(matches!(column.found, Found::Empty), "{column:?}");
    }
}

#[test]
fn a_column_of_another_type_is_in_nobodys_way() {
    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    let pair = DataType::Struct([item(DataType::Int8)].into_iter().collect());
    let entries = vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Int8, true)];
    let map = Arc::new(Field::new("entries", DataType::Struct(entries.into()), false));
    let mut types = vec![
        DataType::Null,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        DataType::FixedSizeBinary(3),
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::List(item(DataType::Utf8)),
        DataType::LargeList(item(DataType::Binary)),
        DataType::FixedSizeList(item(DataType::Utf8), 0),
        DataType::FixedSizeList(item(DataType::Utf8), 2),
        DataType::Map(map, false),
        pair,
    ];
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        types.extend([DataType::Duration(unit), DataType::Timestamp(unit, Some("UTC".into()))]);
    }
    types.extend(
        [IntervalUnit::YearMonth, IntervalUnit::DayTime, IntervalUnit::MonthDayNano].map(DataType::Interval),
    );
    types.extend(every_type().iter().map(|typed| typed.column.data_type().clone()));
    let read = |data_type: &DataType| {
        let fields =
            vec![Field::new("n", DataType::Float32, false), Field::new("x", data_type.clone(), true)];
        let columns = vec![
            Arc::new(Float32Array::from(vec![1.5, 2.5])) as ArrayRef,
            arrow_array::new_null_array(data_type, 2),
        ];
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let options = ReadOptions { exclude: vec!["x".into()], ..ReadOptions::default() };
        parse(&arrow_stream(&[batch]), Format::Arrow, &options).map(|table| table.data)
    };
    for data_type in &types {
        assert_eq!(read(data_type).unwrap(), [1.5, 2.5], "{data_type}");
    }
    // As deep as anybody goes, and a little too deep for the reader's stack.
    let nested = |depth| (0..depth).fold(DataType::Int8, |inner, _| DataType::List(item(inner)));
    assert!(read(&nested(40)).is_ok());
    assert!(read(&nested(70)).is_err());
    let said = read(&DataType::ListView(item(DataType::Int8))).unwrap_err().to_string();
    assert_eq!(said, "the given bytes has a column x of a type that is not known here");
}
