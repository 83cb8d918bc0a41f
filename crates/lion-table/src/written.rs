//! What a written cell means: numbers as people write them, truth values, dates, gaps.

use crate::dates::{self, WrittenDate};
use lion_recipe::{Cell, Kind};
use std::borrow::Cow;

/// How the texts of a column are to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// How its numbers are written.
    pub numbers: NumberStyle,
    /// Whether the month comes first in dates such as 3/4/2024.
    pub month_first: bool,
    /// The sign that all numbers are written with: `$` in $5, `%` in 5 %.
    pub sign: Option<char>,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NumberStyle {
    /// 1234.5
    #[default]
    Plain,
    /// 1234,5 or 1.234,5
    DecimalComma,
    /// 1,234.5
    ThousandsComma,
}

/// One value as a file has it: of a type where the format has types, else a text.
#[derive(Debug, Clone)]
pub(crate) enum RawCell<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    Date(f64),
    Text(&'a [u8]),
    /// A list or an object.
    Other,
}

impl<'a> RawCell<'a> {
    /// As a value of this kind, whatever other cells of its column are like.
    pub(crate) fn read_alone(self, kind: Kind) -> Cell<'a> {
        let reading = match self {
            Self::Text(text) if kind == Kind::Number => Reading::alone(text.trim_ascii()),
            _ => Reading::default(),
        };
        self.read(kind, reading)
    }

    /// As a value of this kind; what is none stays a text.
    pub(crate) fn read(self, kind: Kind, reading: Reading) -> Cell<'a> {
        let text = match self {
            Self::Missing => return Cell::Missing,
            Self::Number(value) if value.is_nan() => return Cell::Missing,
            Self::Number(value) => return Cell::Number(value),
            Self::Boolean(value) => return Cell::Boolean(value),
            Self::Date(days) => return Cell::Date(days),
            Self::Other => return Cell::Text(Cow::Borrowed("[…]")),
            Self::Text(text) => text.trim_ascii(),
        };
        if is_gap(text) {
            return Cell::Missing;
        }
        let found = match kind {
            Kind::Number => {
                let own = signed(text).filter(|(sign, _)| Some(*sign) == reading.sign);
                let bare = own.map_or(Cow::Borrowed(text), |(_, bare)| Cow::Owned(bare));
                number(&bare, reading.numbers).map(Cell::Number)
            }
            Kind::Boolean => boolean(text)
                .map(Cell::Boolean)
                .or_else(|| number(text, NumberStyle::Plain).map(Cell::Number)),
            Kind::Date => date(text, reading).map(Cell::Date),
            Kind::Category => None,
        };
        found.unwrap_or_else(|| Cell::Text(String::from_utf8_lossy(text)))
    }
}

/// Whether a cell stands for no value.
pub(crate) fn is_gap(cell: &[u8]) -> bool {
    matches!(
        cell,
        b"" | b"NA"
            | b"N/A"
            | b"n/a"
            | b"#N/A"
            | b"NULL"
            | b"null"
            | b"None"
            | b"NaN"
            | b"nan"
            | b"NAN"
            | b"-"
            | b"--"
            | b"?"
    )
}

/// The truth value that a word stands for.
pub(crate) fn boolean(cell: &[u8]) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()));
    match () {
        () if is(&["true", "yes", "t", "y"]) => Some(true),
        () if is(&["false", "no", "f", "n"]) => Some(false),
        () => None,
    }
}

/// A number written in this style, finite or infinite.
pub(crate) fn number(cell: &[u8], style: NumberStyle) -> Option<f64> {
    match style {
        NumberStyle::Plain => plain(cell),
        NumberStyle::DecimalComma => grouped(cell, b'.', b','),
        NumberStyle::ThousandsComma => plain(cell).or_else(|| grouped(cell, b',', b'.')),
    }
}

/// A number that is written with a sign before or after it: the sign, and the number without it. Nothing is known of the number.
pub(crate) fn signed(cell: &[u8]) -> Option<(char, Vec<u8>)> {
    let text = str::from_utf8(cell).ok()?;
    let (minus, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let before = ['$', '€', '£', '¥'].into_iter().find_map(|sign| Some((sign, text.strip_prefix(sign)?)));
    let after = ['%', '€', '$', '£'].into_iter().find_map(|sign| Some((sign, text.strip_suffix(sign)?)));
    let (sign, bare) = before.or(after)?;
    Some((sign, format!("{minus}{}", bare.trim()).into_bytes()))
}

fn plain(cell: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(cell).ok().filter(|value| !value.is_nan())
}

/// A number with this decimal mark, in which groups of three digits may be set apart.
fn grouped(cell: &[u8], group: u8, mark: u8) -> Option<f64> {
    let (whole, rest) = match cell.iter().position(|&byte| byte == mark || matches!(byte, b'e' | b'E')) {
        Some(at) => cell.split_at(at),
        None => (cell, &b""[..]),
    };
    let digits = whole.strip_prefix(b"-").or(whole.strip_prefix(b"+")).unwrap_or(whole);
    if digits.contains(&group) {
        let mut groups = digits.split(|&byte| byte == group);
        let first = groups.next().unwrap_or_default();
        let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        let sound = (1..=3).contains(&first.len()) && is_number(first);
        if !sound || !groups.all(|part| part.len() == 3 && is_number(part)) {
            return None;
        }
    }
    if rest.get(1..).is_some_and(|rest| rest.contains(&mark) || rest.contains(&group)) {
        return None;
    }
    let plain_text: Vec<u8> = whole
        .iter()
        .filter(|&&byte| byte != group)
        .chain(rest)
        .map(|&byte| if byte == mark { b'.' } else { byte })
        .collect();
    plain(&plain_text)
}

/// A date, in days since 1970-01-01.
fn date(cell: &[u8], reading: Reading) -> Option<f64> {
    match dates::parse(cell)? {
        WrittenDate::Known(days) => Some(days),
        WrittenDate::EitherWay { day_first, month_first } => {
            if reading.month_first {
                month_first
            } else {
                day_first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_three_styles() {
        use NumberStyle::*;
        let all =
            |text: &str| [Plain, DecimalComma, ThousandsComma].map(|style| number(text.as_bytes(), style));
        assert_eq!(all("12"), [Some(12.0); 3]);
        assert_eq!(all("-1.5"), [Some(-1.5), None, Some(-1.5)]);
        assert_eq!(all("1,5"), [None, Some(1.5), None]);
        assert_eq!(all("1,234"), [None, Some(1.234), Some(1234.0)]);
        assert_eq!(all("1.234"), [Some(1.234), Some(1234.0), Some(1.234)]);
        assert_eq!(all("1.234.567,8"), [None, Some(1_234_567.8), None]);
        assert_eq!(all("1,234,567.8"), [None, None, Some(1_234_567.8)]);
        assert_eq!(all("12.34,5"), [None; 3]);
        assert_eq!(all("1,5e3"), [None, Some(1500.0), None]);
        assert_eq!(all(",5"), [None, Some(0.5), None]);
        assert_eq!(all("a,5"), [None; 3]);
        assert_eq!(all(","), [None; 3]);
        assert_eq!(all("1,2,3"), [None; 3]);
        assert_eq!(all("nan"), [None; 3]);
    }

    #[test]
    fn signs_come_before_or_after() {
        let bare =
            |text: &str| signed(text.as_bytes()).map(|(sign, bare)| (sign, String::from_utf8(bare).unwrap()));
        let found = |sign, bare: &str| Some((sign, bare.to_owned()));
        assert_eq!(bare("$1,346.50"), found('$', "1,346.50"));
        assert_eq!(bare("-$5"), found('$', "-5"));
        assert_eq!(bare("5 %"), found('%', "5"));
        assert_eq!(bare("1.234,50 €"), found('€', "1.234,50"));
        assert_eq!([bare("5"), bare("five"), bare("")], [None, None, None]);
        let reading = Reading { numbers: NumberStyle::ThousandsComma, sign: Some('$'), month_first: false };
        let read = |text: &'static str| RawCell::Text(text.as_bytes()).read(Kind::Number, reading);
        assert_eq!(read("$1,346.50"), Cell::Number(1346.5));
        assert_eq!(read("5%"), Cell::Text("5%".into()));
    }

    #[test]
    fn a_cell_alone_is_read_as_a_column_of_it() {
        let alone = |text: &'static str| RawCell::Text(text.as_bytes()).read_alone(Kind::Number);
        for (text, value) in
            [("12 %", 12.0), ("1.200,50", 1200.5), ("1,200.50", 1200.5), (" 1,5 ", 1.5), ("$ 1.5", 1.5)]
        {
            assert_eq!(alone(text), Cell::Number(value), "{text}");
        }
        assert_eq!([alone("1,200"), alone("five")], ["1,200", "five"].map(|text| Cell::Text(text.into())));
        assert_eq!(alone("NA"), Cell::Missing);
    }

    #[test]
    fn words_are_truth_values_or_gaps() {
        assert_eq!(
            ["Yes", "f", "TRUE", "no", "maybe"].map(|word| boolean(word.as_bytes())),
            [Some(true), Some(false), Some(true), Some(false), None]
        );
        assert!(["", "NA", "NaN", "null", "-"].iter().all(|word| is_gap(word.as_bytes())));
        assert!(!["0", "none of it", "na"].iter().any(|word| is_gap(word.as_bytes())));
    }
}
