//! Dates as numbers: days since 1970-01-01, in the Gregorian calendar at all times.

/// The number of a day since 1970-01-01; nothing if there is no such day.
///
/// The formula is Howard Hinnant's, "chrono-Compatible Low-Level Date Algorithms" (2013): years begin in March, so that the leap
/// day is the last of a year.
pub fn day_number(year: i64, month: u32, day: u32) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || !(-9999..=9999).contains(&year) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), i64::from((month + 9) % 12));
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// A moment as ISO 8601 has it: `2024-02-29`, or `2024-02-29 13:05` where it is not midnight.
pub fn date_in_words(days: f64) -> String {
    if !days.is_finite() || days.abs() > 4e6 {
        return format!("day {days}");
    }
    let minutes = (days * 1440.0).round() as i64;
    let (day, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    match minute {
        0 => date,
        minute => format!("{date} {:02}:{:02}", minute / 60, minute % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_come_back() {
        assert_eq!(day_number(1970, 1, 1), Some(0));
        assert_eq!(day_number(2000, 3, 1), Some(11_017));
        assert_eq!(day_number(1969, 12, 31), Some(-1));
        assert_eq!(day_number(2023, 2, 29), None);
        assert_eq!(day_number(2024, 13, 1), None);
        for day in (-800_000..800_000).step_by(37) {
            let words = date_in_words(day as f64);
            let minus = if words.starts_with('-') { -1 } else { 1 };
            let parts: Vec<i64> =
                words.trim_start_matches('-').split('-').map(|part| part.parse().unwrap()).collect();
            assert_eq!(day_number(minus * parts[0], parts[1] as u32, parts[2] as u32), Some(day), "{words}");
        }
        assert_eq!(date_in_words(19_782.545_138_889), "2024-02-29 13:05");
    }
}
