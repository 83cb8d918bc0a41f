//! How the numbers of a column are written, as its cells tell: which mark is the decimal one.

use crate::error::shorten;
use crate::survey::Found;
use crate::written::{NumberStyle, Reading, number, signed};
use std::borrow::Cow;

/// Texts, counted by how a number would be written in them.
#[derive(Default)]
pub(crate) struct Styles {
    /// Numbers as every language writes them; of those, ones with a point, and ones whose points may set thousands apart.
    numbers: u64,
    with_point: u64,
    in_groups: u64,
    /// Numbers with commas: decimal marks, thousands, or either.
    comma: u64,
    thousands: u64,
    either: u64,
    an_ambiguous: Option<String>,
    /// The first numbers with a decimal comma and with a decimal point, whatever else is in the column.
    a_comma: Option<String>,
    a_point: Option<String>,
}

impl Styles {
    /// Adds a text, of which is known whether every language writes a number so.
    pub(crate) fn add(&mut self, text: &[u8], is_plain: bool) {
        let is = |style| number(text, style).is_some();
        let shown = || shorten(&String::from_utf8_lossy(text));
        if is_plain {
            self.numbers += 1;
            if text.contains(&b'.') {
                self.with_point += 1;
                match is(NumberStyle::DecimalComma) {
                    true => self.in_groups += 1,
                    false => _ = self.a_point.get_or_insert_with(shown),
                }
            }
            return;
        }
        match (is(NumberStyle::DecimalComma), is(NumberStyle::ThousandsComma)) {
            (true, true) => {
                self.either += 1;
                self.an_ambiguous.get_or_insert_with(shown);
            }
            (true, false) => {
                self.comma += 1;
                self.a_comma.get_or_insert_with(shown);
            }
            (false, true) => self.thousands += 1,
            (false, false) => {}
        }
    }

    /// Adds a number that is no text.
    pub(crate) fn add_number(&mut self) {
        self.numbers += 1;
    }

    pub(crate) fn any(&self) -> bool {
        self.numbers + self.comma + self.thousands + self.either > 0
    }

    /// The style of all numbers, or of most of so many cells, or why none can be told.
    pub(crate) fn most(&self, there: u64, decimal_commas: bool) -> Option<Result<NumberStyle, Found>> {
        if self.comma + self.thousands + self.either == 0 {
            return (2 * self.numbers >= there).then_some(Ok(NumberStyle::Plain));
        }
        let comma = self.numbers - self.with_point + self.in_groups + self.comma + self.either;
        let thousands = self.numbers + self.thousands + self.either;
        match () {
            () if 2 * comma.max(thousands) <= there => self.mixed(there).map(Err),
            () if comma == thousands && decimal_commas => Some(Ok(NumberStyle::DecimalComma)),
            () if comma == thousands && self.either > 0 => {
                Some(Err(Found::AmbiguousCommas(self.an_ambiguous.clone().unwrap_or_default())))
            }
            () if comma >= thousands => Some(Ok(NumberStyle::DecimalComma)),
            () if self.thousands + self.either == 0 => Some(Ok(NumberStyle::Plain)),
            () => Some(Ok(NumberStyle::ThousandsComma)),
        }
    }

    /// That most of so many cells are numbers, some with a decimal comma and some with a decimal point.
    fn mixed(&self, there: u64) -> Option<Found> {
        let numbers = self.numbers + self.comma + self.thousands + self.either;
        let (comma, point) = self.a_comma.clone().zip(self.a_point.clone())?;
        (2 * numbers > there).then_some(Found::MixedDecimals { comma, point })
    }
}

impl Reading {
    /// How a number that stands alone is read: as a column of nothing else would be.
    pub(crate) fn alone(text: &[u8]) -> Self {
        let (sign, bare) = match signed(text) {
            Some((sign, bare)) => (Some(sign), Cow::Owned(bare)),
            None => (None, Cow::Borrowed(text)),
        };
        let mut styles = Styles::default();
        styles.add(&bare, number(&bare, NumberStyle::Plain).is_some());
        let numbers = styles.most(1, false).and_then(Result::ok).unwrap_or_default();
        Self { numbers, sign, month_first: false }
    }
}
