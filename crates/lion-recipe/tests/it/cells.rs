//! One value of a table, as a level and as a gap.

use lion_recipe::{Cell, Kind};

fn level(cell: &Cell<'_>) -> Option<String> {
    cell.level().map(|level| level.into_owned())
}

#[test]
fn every_value_has_a_level_that_people_would_write() {
    for (cell, written) in [
        (Cell::Boolean(true), "true"),
        (Cell::Boolean(false), "false"),
        (Cell::Date(0.0), "1970-01-01"),
        (Cell::Date(0.5), "1970-01-01 12:00"),
        (Cell::Text("blue".into()), "blue"),
        (Cell::Text("".into()), ""),
        (Cell::Number(-0.0), "0"),
        (Cell::Number(0.25), "0.25"),
        (Cell::Number(-2.5), "-2.5"),
        (Cell::Number(8e15), "8000000000000000"),
        // Beyond what a 64-bit integer holds.
        (Cell::Number(1e20), "100000000000000000000"),
        (Cell::Number(-1e20), "-100000000000000000000"),
        (Cell::Number(f64::INFINITY), "inf"),
    ] {
        assert_eq!(level(&cell).as_deref(), Some(written), "{cell:?}");
        assert!(!cell.is_missing(), "{cell:?}");
    }
}

#[test]
fn a_gap_has_no_level() {
    for gap in [Cell::Missing, Cell::Number(f64::NAN)] {
        assert_eq!(level(&gap), None, "{gap:?}");
        assert!(gap.is_missing(), "{gap:?}");
    }
    assert!(Cell::Date(f64::NAN).is_missing());
}

#[test]
fn kinds_have_names() {
    let names = [Kind::Number, Kind::Boolean, Kind::Date, Kind::Category]
        .map(|kind| (kind.to_string(), kind.as_str(), kind.plural()));
    let expected =
        [("number", "numbers"), ("boolean", "booleans"), ("date", "dates"), ("category", "categories")];
    assert_eq!(names, expected.map(|(one, many)| (one.to_owned(), one, many)));
    assert_eq!(format!("{:>8}|", Kind::Date), "    date|");
}
