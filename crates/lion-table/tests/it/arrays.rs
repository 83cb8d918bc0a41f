//! Arrays of numbers: as ids and labels, as cells, and in portions.

use crate::written::*;
use lion_recipe::{Missing, Scale};
use lion_table::{
    Format, Found, Plan, PlanOptions, ReadOptions, Survey, Table, parse, parse_batches, survey_bytes,
};

fn labelled() -> ReadOptions {
    ReadOptions { label: Some("c1".into()), ..ReadOptions::default() }
}

#[test]
fn numbers_of_every_type_can_be_labels() {
    macro_rules! check {
        ($($type:ty, $letter:literal, $idx:expr, $first:expr, $text:literal;)*) => {$(
            let values: [$type; 4] = [$first, 1 as $type, 2 as $type, 3 as $type];
            for big in [false, true] {
                let body: Vec<u8> =
                    values.iter().flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() }).collect();
                let descr = format!("{}{}", if big { '>' } else { '<' }, $letter);
                let mut tables = vec![parse(&npy(1, &descr, false, "(2, 2)", &body), Format::Npy, &labelled())];
                if let (true, Some(kind)) = (big, $idx) {
                    tables.push(parse(&idx(kind, &[2, 2], &body), Format::Idx, &labelled()));
                }
                for table in tables {
                    let table = table.unwrap();
                    assert_eq!(table.labels.unwrap(), [$text, "2"], "{descr}");
                    assert_eq!((table.columns, table.data), (vec!["c2".to_owned()], vec![1.0, 3.0]));
                }
            }
        )*};
    }
    const NONE: Option<u8> = None;
    check! {
        i8, "i1", Some(9), -128, "-128"; i16, "i2", Some(11), i16::MIN, "-32768";
        i32, "i4", Some(12), i32::MIN, "-2147483648"; i64, "i8", NONE, i64::MIN, "-9223372036854775808";
        u8, "u1", Some(8), 255, "255"; u16, "u2", NONE, u16::MAX, "65535"; u32, "u4", NONE, u32::MAX, "4294967295";
        u64, "u8", NONE, u64::MAX, "18446744073709551615";
        f32, "f4", Some(13), -0.25, "-0.25"; f64, "f8", Some(14), f64::NAN, "";
    }
    let halves: Vec<u8> =
        [0.5, 1.0, 2.0, 3.0].into_iter().flat_map(|v| half::f16::from_f32(v).to_be_bytes()).collect();
    let table = parse(&npy(1, ">f2", false, "(2, 2)", &halves), Format::Npy, &labelled()).unwrap();
    assert_eq!((table.labels.unwrap(), table.data), (vec!["0.5".to_owned(), "2".to_owned()], vec![1.0, 3.0]));
    let table = parse(&npy(1, "|b1", false, "(2, 2)", &[0, 1, 7, 0]), Format::Npy, &labelled()).unwrap();
    assert_eq!((table.labels.unwrap(), table.data), (vec!["0".to_owned(), "1".to_owned()], vec![1.0, 0.0]));
}

/// Doubles row after row, or column after column.
fn doubles(rows: usize, cols: usize, fortran: bool, value: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let at = |k: usize| if fortran { value(k % rows, k / rows) } else { value(k / cols, k % cols) };
    let body: Vec<u8> = (0..rows * cols).flat_map(|k| at(k).to_le_bytes()).collect();
    npy(1, "<f8", fortran, &format!("({rows}, {cols})"), &body)
}

fn survey(bytes: &[u8], format: Format) -> Survey {
    survey_bytes(bytes, format, &ReadOptions::default()).unwrap()
}

/// What becomes of a table whose gaps are filled or dropped.
fn planned(bytes: &[u8], format: Format, missing: Missing) -> Table {
    let choice = PlanOptions { missing: Some(missing), scale: Scale::None, ..PlanOptions::default() };
    let plan = Plan::new(&survey(bytes, format), &ReadOptions::default(), &choice);
    parse(bytes, format, &plan.options).unwrap()
}

#[test]
fn gaps_of_long_and_of_wide_arrays_are_found_and_filled() {
    // More than is decoded at a time; exactly as much; and rows that are longer.
    for (rows, cols) in [(50_000, 2), (32_768, 1), (16_384, 2), (70_001, 1), (3, 33_000)] {
        let gap = (rows - 1, cols / 2);
        let value = |row, c| match (row, c) {
            place if place == gap && rows > 1 => f64::NAN,
            (row, c) => ((row * 31 + c * 7) % 1000) as f64 * 0.25,
        };
        let bytes = doubles(rows, cols, false, value);
        let survey = survey(&bytes, Format::Npy);
        assert_eq!((survey.rows, survey.columns.len(), survey.nameless), (rows as u64, cols, true));
        for (c, column) in survey.columns.iter().enumerate() {
            let Found::Values(summary) = &column.found else { panic!("{column:?}") };
            assert_eq!(summary.rows(), rows as u64);
            let found = column.first_gap.as_ref().map(|gap| (gap.row, gap.column.clone()));
            let expected = (c == gap.1 && rows > 1).then(|| (gap.0, format!("c{}", c + 1)));
            assert_eq!(found, expected);
        }
        // A recipe of very many columns takes its time.
        if cols > 100 {
            continue;
        }
        let table = planned(&bytes, Format::Npy, Missing::Mean);
        assert_eq!((table.rows, table.cols), (rows, cols));
        for (at, &found) in table.data.iter().enumerate() {
            let expected = value(at / cols, at % cols);
            assert!(expected.is_nan() && found.is_finite() || found == expected as f32, "{at}");
        }
        if rows > 1 {
            let dropped = planned(&bytes, Format::Npy, Missing::Drop);
            assert_eq!(dropped.data, table.data[..(rows - 1) * cols]);
        }
    }
}

#[test]
fn some_columns_of_a_long_array_are_those_of_the_whole() {
    let (rows, cols) = (9000, 5);
    let value = |row: usize, c: usize| ((row * 13 + c * 101) % 4099) as f64;
    for fortran in [false, true] {
        let bytes = doubles(rows, cols, fortran, value);
        let options = ReadOptions {
            columns: Some(vec!["c4".into(), "c2".into()]),
            label: Some("c5".into()),
            group: Some("c1".into()),
            ..ReadOptions::default()
        };
        let whole = parse(&bytes, Format::Npy, &options).unwrap();
        let batches: Vec<Table> =
            parse_batches(&bytes, Format::Npy, &options).unwrap().collect::<Result<_, _>>().unwrap();
        assert!(batches.len() > 1);
        let expected: Vec<f32> =
            (0..rows).flat_map(|row| [value(row, 3) as f32, value(row, 1) as f32]).collect();
        let texts = |c| (0..rows).map(|row| value(row, c).to_string()).collect::<Vec<_>>();
        assert_eq!(whole.data, expected);
        assert_eq!((whole.labels, whole.groups), (Some(texts(4)), Some(texts(0))));
        let joined = |of: fn(&Table) -> Vec<String>| batches.iter().flat_map(of).collect::<Vec<_>>();
        assert_eq!(batches.iter().flat_map(|batch| batch.data.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(joined(|batch| batch.labels.clone().unwrap()), texts(4));
        assert_eq!(joined(|batch| batch.groups.clone().unwrap()), texts(0));
    }
}

#[test]
fn a_bad_number_in_a_long_array_is_told_with_its_place() {
    let (rows, cols) = (60_000, 3);
    let value = |row, c| if (row, c) == (59_998, 1) { f64::INFINITY } else { 1.0 };
    let place = "row 59998, column c2 is inf; every value must be a finite number";
    for (fortran, exclude) in [(false, &[][..]), (false, &["c1"]), (true, &[]), (true, &["c1"])] {
        let options = ReadOptions {
            exclude: exclude.iter().map(|&name| name.to_owned()).collect(),
            ..ReadOptions::default()
        };
        let said =
            parse(&doubles(rows, cols, fortran, value), Format::Npy, &options).unwrap_err().to_string();
        assert!(said.contains(place), "{said}");
    }
    // Ids are unique, and those that are not are told by their rows.
    let twice = |row: usize, c: usize| if (row, c) == (4999, 0) { 7.0 } else { (row * 10 + c) as f64 };
    let options = ReadOptions { id: Some("c1".into()), ..ReadOptions::default() };
    for fortran in [false, true] {
        let bytes = doubles(5000, 2, fortran, |row, c| if row == 4999 { twice(3, c) } else { twice(row, c) });
        let said = parse(&bytes, Format::Npy, &options).unwrap_err().to_string();
        assert_eq!(said, "the given bytes: row 3 and row 4999 have the same id \"30\"; ids must be unique");
    }
}

#[test]
fn a_row_without_an_id_is_told_with_its_place() {
    let value = |row: usize, c: usize| if (row, c) == (59_998, 0) { f64::NAN } else { (2 * row + c) as f64 };
    let options = ReadOptions { id: Some("c1".into()), ..ReadOptions::default() };
    for fortran in [false, true] {
        let said = parse(&doubles(60_000, 2, fortran, value), Format::Npy, &options).unwrap_err().to_string();
        assert_eq!(said, "the given bytes, row 59998, column c1 is empty; every row needs an id of its own");
    }
}

#[test]
fn bytes_after_an_array_are_the_affair_of_its_format() {
    let npy = [npy_f32(2, 2, &[1.0; 4]), vec![0; 5]].concat();
    assert_eq!(parse(&npy, Format::Npy, &ReadOptions::default()).unwrap().rows, 2);
    assert_eq!(survey(&npy, Format::Npy).rows, 2);
    let idx = [idx(8, &[2, 2], &[1, 2, 3, 4]), vec![0; 5]].concat();
    let said = parse(&idx, Format::Idx, &ReadOptions::default()).unwrap_err().to_string();
    assert!(said.ends_with("5 bytes follow the rows that its header promises"), "{said}");
    let said = survey_bytes(&idx, Format::Idx, &ReadOptions::default()).unwrap_err().to_string();
    assert!(said.ends_with("5 bytes follow the rows that its header promises"), "{said}");
}

#[test]
fn headers_of_npy_may_be_long() {
    let body = [1.0_f32, 2.0].map(f32::to_le_bytes).concat();
    for (version, spaces) in [(1, 200), (1, 300), (1, 60_000), (2, 300), (2, 70_000), (3, 500_000)] {
        let shape = format!("(1,{}2)", " ".repeat(spaces));
        let table = parse(&npy(version, "<f4", false, &shape, &body), Format::Npy, &ReadOptions::default());
        assert_eq!(table.unwrap().data, [1.0, 2.0], "{version} {spaces}");
    }
}

#[test]
fn headers_of_npy_are_read_however_they_are_written() {
    let body = [1.0_f32, 2.0].map(f32::to_le_bytes).concat();
    let file = |header: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        [bytes, header.as_bytes().to_vec(), body.clone()].concat()
    };
    let read =
        |header: &str| parse(&file(header), Format::Npy, &ReadOptions::default()).map(|table| table.data);
    for header in [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
        "{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{'shape' : ( 1L , 2L, ), 'descr' :  '<f4', 'fortran_order' :True}",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (1, 2), }",
    ] {
        assert_eq!(read(header).unwrap(), [1.0, 2.0], "{header}");
    }
    for header in [
        "{'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': '<f4', 'shape': (1, 2)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1, 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, x)}",
        "{'descr': '!f4', 'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': '<m8', 'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2)}",
    ] {
        assert!(read(header).is_err(), "{header}");
    }
}
