//! Dates as people write them: ISO 8601, with points or slashes, or with the month's name.

use lion_recipe::day_number;

/// A date that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WrittenDate {
    /// In days since 1970-01-01, UTC.
    Known(f64),
    /// Two numbers may be day and month or month and day; nothing where there is no such date.
    EitherWay { day_first: Option<f64>, month_first: Option<f64> },
}

/// Longer texts are no dates.
const LONGEST: usize = 40;

/// The date that a text is, if it is one.
pub(crate) fn parse(text: &[u8]) -> Option<WrittenDate> {
    let text = str::from_utf8(text).ok().filter(|text| text.len() <= LONGEST)?.trim();
    // Whatever else stands in it, a date has a digit and something that is none.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) || text.len() < 8 {
        return None;
    }
    let (date, time) = split_time(text);
    let time = if time.is_empty() { 0.0 } else { days_of_time(time)? };
    let at = |day: i64| day as f64 + time;
    let bytes = date.as_bytes();
    match bytes.iter().find(|byte| !byte.is_ascii_digit()) {
        None => compact(date).map(at).map(WrittenDate::Known),
        Some(&separator @ (b'-' | b'/' | b'.')) => {
            numbers(date, separator as char, at).or_else(|| named(date).map(at).map(WrittenDate::Known))
        }
        _ => named(date).map(at).map(WrittenDate::Known),
    }
}

/// The date, and the time of day after it.
fn split_time(text: &str) -> (&str, &str) {
    // The first colon is within the time, and its hour begins after a space or a T.
    let Some(colon) = text.find(':') else { return (text, "") };
    match text[..colon].rfind([' ', 'T', 't']) {
        Some(at) => (text[..at].trim_end_matches([' ', ',']), &text[at + 1..]),
        None => (text, ""),
    }
}

/// 20240229
fn compact(date: &str) -> Option<i64> {
    // Eight digits in a row are a number more often than a date: the reader of numbers sees them first.
    (date.len() == 8).then(|| day(&date[..4], &date[4..6], &date[6..]))?
}

/// Three numbers: the year first, or last.
fn numbers(date: &str, separator: char, at: impl Fn(i64) -> f64) -> Option<WrittenDate> {
    let parts: Vec<&str> = date.split(separator).map(str::trim).collect();
    let &[a, b, c] = parts.as_slice() else { return None };
    if a.len() == 4 {
        return day(a, b, c).map(at).map(WrittenDate::Known);
    }
    if c.len() != 4 {
        return None;
    }
    let (day_first, month_first) = (day(c, b, a), day(c, a, b));
    match (day_first, month_first) {
        (None, None) => None,
        // With points the day is first everywhere.
        _ if separator == '.' => day_first.map(at).map(WrittenDate::Known),
        _ => {
            Some(WrittenDate::EitherWay { day_first: day_first.map(&at), month_first: month_first.map(&at) })
        }
    }
}

/// 5 Jan 2024, Jan 5, 2024, January 5 2024, 5-Jan-2024
fn named(date: &str) -> Option<i64> {
    let parts: Vec<&str> = date.split([' ', ',', '-']).filter(|part| !part.is_empty()).collect();
    let &[a, b, year] = parts.as_slice() else { return None };
    let (month, of_month) = match (month(a), month(b)) {
        (Some(month), None) => (month, b),
        (None, Some(month)) => (month, a),
        _ => return None,
    };
    (year.len() == 4).then(|| day(year, &month.to_string(), of_month.trim_end_matches('.')))?
}

fn month(name: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == name || name.len() >= 3 && month.starts_with(&name))?;
    Some(at as u32 + 1)
}

fn day(year: &str, month: &str, day: &str) -> Option<i64> {
    let digits = |text: &str, most: usize| {
        (!text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u32>().ok())?
    };
    day_number(digits(year, 4)?.into(), digits(month, 2)?, digits(day, 2)?)
}

/// A time of day, with or without its offset from UTC, in days.
fn days_of_time(time: &str) -> Option<f64> {
    let (time, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time.trim_end(), 0.0),
        None => match time.rfind(['+', '-']) {
            Some(at) => (time[..at].trim_end(), minutes_of_offset(&time[at..])?),
            None => (time, 0.0),
        },
    };
    let (time, noon) = match time.len().checked_sub(2).and_then(|at| time.split_at_checked(at)) {
        Some((time, half)) if half.eq_ignore_ascii_case("pm") => (time.trim_end(), 12.0),
        Some((time, half)) if half.eq_ignore_ascii_case("am") => (time.trim_end(), -12.0),
        _ => (time, 0.0),
    };
    let parts: Vec<&str> = time.split(':').collect();
    let (&[hour, minute] | &[hour, minute, _]) = parts.as_slice() else { return None };
    let whole = |text: &str, below: u32| {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|&value| is_number && value < below).map(f64::from)
    };
    let (hour, minute) = (whole(hour, 25)?, whole(minute, 60)?);
    let hour = match noon {
        noon if noon > 0.0 && hour < 12.0 => hour + 12.0,
        noon if noon < 0.0 && hour == 12.0 => 0.0,
        _ => hour,
    };
    let second = match parts.get(2) {
        None => 0.0,
        Some(text) => {
            let sound = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            text.parse::<f64>().ok().filter(|&second| sound && second < 61.0)?
        }
    };
    Some(((hour * 60.0 + minute - offset) * 60.0 + second) / 86_400.0)
}

/// +02:00, -0530, +01
fn minutes_of_offset(offset: &str) -> Option<f64> {
    let (sign, digits) = offset.split_at_checked(1)?;
    let digits: String = digits.chars().filter(|&c| c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (digits.parse::<u32>().ok()?, 0),
        4 => (digits.get(..2)?.parse().ok()?, digits.get(2..)?.parse().ok()?),
        _ => return None,
    };
    let minutes = f64::from(hours * 60 + minutes);
    (hours < 24).then_some(if sign == "-" { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_recipe::date_in_words;

    fn read(text: &str) -> Option<String> {
        match parse(text.as_bytes())? {
            WrittenDate::Known(days) => Some(date_in_words(days)),
            WrittenDate::EitherWay { day_first, month_first } => {
                Some(format!("{:?} or {:?}", day_first.map(date_in_words), month_first.map(date_in_words)))
            }
        }
    }

    #[test]
    fn dates_in_many_forms() {
        for (text, date) in [
            ("2024-02-29", "2024-02-29"),
            ("2024/2/9", "2024-02-09"),
            ("29.02.2024", "2024-02-29"),
            ("1.2.2024", "2024-02-01"),
            ("20240229", "2024-02-29"),
            ("5 Jan 2024", "2024-01-05"),
            ("Jan 5, 2024", "2024-01-05"),
            ("5-Sep-2024", "2024-09-05"),
            ("december 31 1999", "1999-12-31"),
            ("2024-02-29T13:05:00Z", "2024-02-29 13:05"),
            ("2024-02-29 13:05", "2024-02-29 13:05"),
            ("2024-02-29T13:05:30.25+02:00", "2024-02-29 11:06"),
            ("2024-02-29 1:05 pm", "2024-02-29 13:05"),
            ("01.02.2024 00:30", "2024-02-01 00:30"),
        ] {
            assert_eq!(read(text).as_deref(), Some(date), "{text}");
        }
        assert_eq!(read("3/4/2024").unwrap(), "Some(\"2024-04-03\") or Some(\"2024-03-04\")");
        assert_eq!(read("13/4/2024").unwrap(), "Some(\"2024-04-13\") or None");
        for text in [
            "",
            "2024",
            "hello",
            "1.2.3",
            "2024-13-01",
            "2023-02-29",
            "1-2-3-4567",
            "12:30",
            "a/b/2024",
            "1/2/24",
            "10.0.0.1",
            "2024-02-29 013:05",
            "2024-02-29 1:+5",
            "2024-02-29 1:-5",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
