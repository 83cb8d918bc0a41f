//! Days of the calendar, counted one by one.

use lion_recipe::{date_in_words, day_number};

/// The calendar as children learn it.
fn length(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[test]
fn every_day_of_the_calendar_is_one_more_than_the_day_before() {
    let mut next = day_number(-9999, 1, 1).unwrap();
    for year in -9999..=9999 {
        for month in 1..=12 {
            for day in 1..=length(year, month) {
                assert_eq!(day_number(year, month, day), Some(next), "{year}-{month}-{day}");
                next += 1;
            }
            assert_eq!(day_number(year, month, 0), None);
            assert_eq!(day_number(year, month, length(year, month) + 1), None, "{year}-{month}");
        }
        assert_eq!((day_number(year, 0, 1), day_number(year, 13, 1)), (None, None));
    }
    assert_eq!((day_number(1970, 1, 1), day_number(9999, 12, 31)), (Some(0), Some(next - 1)));
    assert_eq!((day_number(10_000, 1, 1), day_number(-10_000, 12, 31)), (None, None));
}

#[test]
fn every_day_of_the_400_years_in_which_the_calendar_repeats_is_written() {
    let mut next = day_number(1801, 1, 1).unwrap();
    for year in 1801..=2200 {
        for month in 1..=12 {
            for day in 1..=length(year, month) {
                assert_eq!(date_in_words(next as f64), format!("{year:04}-{month:02}-{day:02}"));
                next += 1;
            }
        }
    }
}

#[test]
fn a_moment_is_written_to_the_minute() {
    for (days, date) in
        [(0, "1970-01-01"), (-1, "1969-12-31"), (19_782, "2024-02-29"), (-719_528, "0000-01-01")]
    {
        assert_eq!(date_in_words(f64::from(days)), date);
        for minute in 1..1440 {
            let words = format!("{date} {:02}:{:02}", minute / 60, minute % 60);
            assert_eq!(date_in_words(f64::from(days) + f64::from(minute) / 1440.0), words);
        }
        // To the nearest minute, which may be midnight of the next day.
        assert_eq!(date_in_words(f64::from(days) + 0.4 / 1440.0), date);
        assert_eq!(date_in_words(f64::from(days) - 0.4 / 1440.0), date);
    }
}

#[test]
fn what_is_no_date_is_written_as_a_number() {
    for (days, words) in [
        (f64::INFINITY, "day inf"),
        (f64::NEG_INFINITY, "day -inf"),
        (f64::NAN, "day NaN"),
        (-5e6, "day -5000000"),
        (5e6, "day 5000000"),
    ] {
        assert_eq!(date_in_words(days), words);
    }
    assert_eq!(date_in_words(2_932_896.0), "9999-12-31");
}
