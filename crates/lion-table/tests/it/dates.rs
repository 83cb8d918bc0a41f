//! Dates and times of day, as people and programs write them.

use lion_recipe::{Cell, Kind, day_number};
use lion_table::cell_of_text;

/// The days since 1970-01-01 that a text stands for, if it is a date.
fn days(text: &str) -> Option<f64> {
    match cell_of_text(text, Kind::Date) {
        Cell::Date(days) => Some(days),
        _ => None,
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

#[test]
fn every_day_is_read_in_every_form() {
    for (m, name) in (1..).zip(MONTHS) {
        let short = &name[..3];
        for d in 1..=31 {
            let expected = day_number(2024, m, d).map(|day| day as f64);
            for text in [
                format!("2024-{m:02}-{d:02}"),
                format!("2024/{m}/{d}"),
                format!("2024.{m}.{d:02}"),
                format!("2024{m:02}{d:02}"),
                format!("{d:02}.{m:02}.2024"),
                format!("{d} {name} 2024"),
                format!("{d}. {short}. 2024"),
                format!("{name} {d}, 2024"),
                format!("{} {d} 2024", short.to_lowercase()),
                format!("{d:02}-{}-2024", short.to_uppercase()),
            ] {
                // 1.1.2024 has as few characters as a date can have.
                assert_eq!(days(&text), expected, "{text}");
            }
            // Where nothing says otherwise the day is first.
            assert_eq!(days(&format!("{d:02}/{m:02}/2024")), expected);
            assert_eq!(days(&format!("{d:02}-{m:02}-2024")), expected);
        }
    }
    assert_eq!(days("1.1.2024"), Some(19_723.0));
    assert_eq!(days("Sept 5, 2024"), days("2024-09-05"));
}

#[test]
fn every_minute_of_a_day_is_read() {
    let day = days("2024-02-29").unwrap();
    let near = |text: &str, seconds: f64| {
        let found = days(text).unwrap_or_else(|| panic!("{text} is a time"));
        assert!((found - day - seconds / 86_400.0).abs() < 1e-9, "{text}: {found}");
    };
    for minute in 0..1440 {
        let (h, m) = (minute / 60, minute % 60);
        let seconds = f64::from(60 * minute);
        near(&format!("2024-02-29T{h:02}:{m:02}"), seconds);
        near(&format!("2024-02-29t{h:02}:{m:02}:00Z"), seconds);
        near(&format!("2024-02-29 {h}:{m:02}:30.25"), seconds + 30.25);
        near(&format!("29.2.2024, {h}:{m:02} z"), seconds);
        let (half, twelve) = (if h < 12 { "AM" } else { "pm" }, (h + 11) % 12 + 1);
        near(&format!("Feb 29, 2024 {twelve}:{m:02} {half}"), seconds);
        near(&format!("2024-02-29 {twelve}:{m:02}:05{half}"), seconds + 5.0);
        near(&format!("2024-02-29T12:00+{h:02}:{m:02}"), 43_200.0 - seconds);
        near(&format!("2024-02-29T12:00:00-{h:02}{m:02}"), 43_200.0 + seconds);
        near(&format!("2024-02-29T12:00 +{h:02}"), 43_200.0 - f64::from(3600 * h));
    }
    // The end of a day, and the second that is put in now and then.
    near("2024-02-29T24:00", 86_400.0);
    near("2024-02-29T23:59:60.5", 86_400.5);
    // Hours beyond noon are what they are.
    near("2024-02-29 15:00 pm", 54_000.0);
    near("2024-02-29 9:00 am", 32_400.0);
}

#[test]
fn what_is_nearly_a_date_is_a_text() {
    for text in [
        "2024-2-30",
        "2023-02-29",
        "2024-00-01",
        "2024-01-00",
        "2024-001-01",
        "2024-1-001",
        "202-01-01-01",
        "02024-01-01",
        "2024-01",
        "2024-01-01-01",
        "2024/01-01",
        "1.1.24 ...",
        "31.13.2024",
        "32.12.2024",
        "13/13/2024",
        "2024010",
        "202401011",
        "Jan Feb 2024",
        "5 6 2024",
        "5 Ja 2024",
        "5 Januaryy 2024",
        "Jan 5, 24",
        "Jan 5, 02024",
        "5 Jan 2024 x",
        "January",
        "2024-01-01T",
        "2024-01-01T5",
        "2024-01-01T25:00",
        "2024-01-01T12:60",
        "2024-01-01T12:00:61",
        "2024-01-01T12:00:-1",
        "2024-01-01T12:00:1e0",
        "2024-01-01T12:00:00:00",
        "2024-01-01T012:00",
        "2024-01-01T12:000",
        "2024-01-01T:30",
        "2024-01-01T12:00+24:00",
        "2024-01-01T12:00+1",
        "2024-01-01T12:00+00001",
        "2024-01-01T12:00+x1:00",
        "2024-01-01T12:00+-1",
        "2024-01-01T12:00 xm",
        "2024-01-01x12:00",
        "01/01/2024-12:00",
    ] {
        assert_eq!(days(text), None, "{text}");
    }
}
