//! What the cells of one column say of its kind.

use crate::cells::{CellColumn, CellReader, Declared};
use crate::dates::{self, WrittenDate};
use crate::error::{CellAddress, shorten};
use crate::styles::Styles;
use crate::survey::{Found, NAMED_CELLS, shown};
use crate::written::{NumberStyle, RawCell, Reading, boolean, is_gap, number, signed};
use lion_recipe::{Cell, ColumnSummary, Kind};
use std::collections::HashSet;

/// Values of a column of ids that are compared with each other; who has so many different ones has ids.
const COMPARED: usize = 100_000;

/// Whether a column is called as columns of ids are.
fn is_called_id(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "id" || lower.ends_with("_id") || lower.ends_with(" id") || name.ends_with("Id")
}

/// The cells of a column, counted by what they may be.
pub(crate) struct Tally {
    declared: Declared,
    decimal_commas: bool,
    rows: u64,
    missing: u64,
    /// Numbers as every language writes them: those that can be used.
    plain: u64,
    /// Cells by how numbers are written in them, as they are; and without a sign, where all have the same.
    bare: Styles,
    signed: Styles,
    sign: Option<char>,
    /// Cells with that sign.
    with_sign: u64,
    truths: [u64; 2],
    /// Values of a boolean or date type, which need no reading; and numbers that are texts in a format that has numbers.
    typed: u64,
    quoted_numbers: u64,
    is_written: bool,
    first_gap: Option<CellAddress>,
    /// The values of a column that is called like one of ids, until one is there twice or they are many.
    names: Option<HashSet<String>>,
    /// Words for truth values that nobody writes for anything else.
    sure_truths: u64,
    dates: u64,
    day_first: u64,
    month_first: u64,
    unclear_dates: u64,
    other: u64,
    /// The first cells that are no plain numbers.
    strange: Vec<(CellAddress, String)>,
    strange_dates: Vec<(CellAddress, String)>,
    numbers: ColumnSummary,
    days: ColumnSummary,
    booleans: ColumnSummary,
    texts: ColumnSummary,
    example: Option<String>,
    /// In a second look: what the column is, and its cells that are not.
    known: Option<(Kind, Reading)>,
    skipped: bool,
    again: Option<ColumnSummary>,
    faults: u64,
}

impl Tally {
    pub(crate) fn new(reader: &dyn CellReader, column: usize) -> Self {
        let CellColumn { name, declared } = &reader.columns()[column];
        let summary = |kind: Kind| ColumnSummary::new(name, kind).among(reader.columns().len());
        Self {
            declared: declared.clone(),
            decimal_commas: reader.has_decimal_commas(),
            rows: 0,
            missing: 0,
            plain: 0,
            bare: Styles::default(),
            signed: Styles::default(),
            sign: None,
            with_sign: 0,
            truths: [0; 2],
            typed: 0,
            quoted_numbers: 0,
            is_written: reader.is_written(),
            first_gap: None,
            names: is_called_id(name).then(HashSet::new),
            sure_truths: 0,
            dates: 0,
            day_first: 0,
            month_first: 0,
            unclear_dates: 0,
            other: 0,
            strange: Vec::new(),
            strange_dates: Vec::new(),
            numbers: summary(Kind::Number),
            days: summary(Kind::Date),
            booleans: summary(Kind::Boolean),
            texts: summary(Kind::Category),
            example: None,
            known: None,
            skipped: false,
            again: None,
            faults: 0,
        }
    }

    /// The same for a second look at a column of this kind; at no other it looks again.
    pub(crate) fn known(mut self, known: Option<(Kind, Reading)>) -> Self {
        self.again = known.map(|(kind, _)| self.numbers.clone().of_kind(kind));
        Self { known, skipped: known.is_none(), ..self }
    }

    pub(crate) fn is_looked_at(&self) -> bool {
        !self.skipped
    }

    /// Rows up to this one had no such cell.
    pub(crate) fn fill_up(&mut self, rows: u64) {
        while self.rows < rows && !self.skipped {
            self.gap();
        }
    }

    fn gap(&mut self) {
        let row = self.rows;
        self.rows += 1;
        self.missing += 1;
        if let Some(again) = &mut self.again {
            again.add(row, &Cell::Missing);
            return;
        }
        for summary in [&mut self.numbers, &mut self.days, &mut self.booleans, &mut self.texts] {
            summary.add(row, &Cell::Missing);
        }
    }

    fn gap_at(&mut self, address: &dyn Fn() -> CellAddress) {
        self.first_gap.get_or_insert_with(address);
        self.gap();
    }

    /// Where its first gap is.
    pub(crate) fn first_gap(&self) -> Option<&CellAddress> {
        self.first_gap.as_ref()
    }

    /// Whether it can be read without a recipe: numbers as every language writes them, without gaps.
    pub(crate) fn is_plain(&self) -> bool {
        let numbers = self.plain == self.rows && self.quoted_numbers == 0;
        numbers || !self.is_written && self.typed == self.rows && self.dates == 0
    }

    /// Whether it is called like a column of ids and could be one.
    pub(crate) fn may_name_rows(&self) -> bool {
        self.names.is_some() && self.missing == 0
    }

    /// Looks whether a value was there before.
    fn compare(&mut self, cell: &RawCell<'_>) {
        let Some(names) = self.names.as_mut().filter(|names| names.len() < COMPARED) else { return };
        let name = match cell {
            RawCell::Text(text) => String::from_utf8_lossy(text).into_owned(),
            RawCell::Number(value) => value.to_string(),
            _ => return,
        };
        if !names.insert(name) {
            self.names = None;
        }
    }

    /// Adds a cell of which nothing is known.
    pub(crate) fn guess(&mut self, row: u64, cell: RawCell<'_>, address: &dyn Fn() -> CellAddress) {
        self.compare(&cell);
        let text = match cell {
            RawCell::Missing => return self.gap_at(address),
            RawCell::Number(value) if value.is_nan() => return self.gap_at(address),
            RawCell::Text(text) if is_gap(text.trim_ascii()) => return self.gap_at(address),
            RawCell::Text(text) => text.trim_ascii(),
            RawCell::Number(value) => {
                self.bare.add_number();
                return self.number(row, value, address);
            }
            RawCell::Boolean(value) => {
                (self.rows, self.typed) = (self.rows + 1, self.typed + 1);
                self.truths[usize::from(value)] += 1;
                self.sure_truths += 1;
                self.booleans.add(row, &Cell::Boolean(value));
                return self.texts.add(row, &Cell::Boolean(value));
            }
            RawCell::Date(days) => {
                (self.rows, self.typed, self.dates) = (self.rows + 1, self.typed + 1, self.dates + 1);
                return self.days.add(row, &Cell::Date(days));
            }
            RawCell::Other => {
                (self.rows, self.other) = (self.rows + 1, self.other + 1);
                return;
            }
        };
        let plain = number(text, NumberStyle::Plain);
        self.bare.add(text, plain.is_some());
        match plain {
            Some(value) => {
                self.quoted_numbers += u64::from(!self.is_written);
                self.number(row, value, address);
            }
            None => self.written(row, text, address),
        }
    }

    fn number(&mut self, row: u64, value: f64, address: &dyn Fn() -> CellAddress) {
        self.rows += 1;
        // What is too large for a row is as good as infinite.
        if value.abs() <= f64::from(f32::MAX) {
            self.plain += 1;
            self.numbers.add(row, &Cell::Number(value));
        } else {
            remember(&mut self.strange, address, || format!("{value:e}"));
        }
        if self.declared == Declared::Categories {
            self.texts.add(row, &Cell::Number(value));
        }
    }

    /// Adds a text that is no plain number.
    fn written(&mut self, row: u64, text: &[u8], address: &dyn Fn() -> CellAddress) {
        self.rows += 1;
        let words = String::from_utf8_lossy(text);
        remember(&mut self.strange, address, || shorten(&words));
        if self.example.is_none() {
            self.example = Some(shorten(&words));
        }
        if let Some(truth) = boolean(text) {
            self.truths[usize::from(truth)] += 1;
            self.sure_truths += u64::from(text.len() > 1);
            self.booleans.add(row, &Cell::Boolean(truth));
        }
        match dates::parse(text) {
            Some(WrittenDate::Known(days)) => {
                self.dates += 1;
                self.days.add(row, &Cell::Date(days));
            }
            Some(WrittenDate::EitherWay { day_first, month_first }) => {
                self.dates += 1;
                match (day_first, month_first) {
                    (Some(_), None) => self.day_first += 1,
                    (None, Some(_)) => self.month_first += 1,
                    _ => self.unclear_dates += u64::from(day_first != month_first),
                }
            }
            None => remember(&mut self.strange_dates, address, || shorten(&words)),
        }
        if let Some((sign, bare)) = signed(text)
            && *self.sign.get_or_insert(sign) == sign
        {
            self.with_sign += 1;
            self.signed.add(&bare, number(&bare, NumberStyle::Plain).is_some());
        }
        self.texts.add(row, &Cell::Text(words));
    }

    /// Adds a cell of a column whose kind is known.
    pub(crate) fn look_again(&mut self, row: u64, cell: RawCell<'_>, address: &dyn Fn() -> CellAddress) {
        let (Some((kind, reading)), Some(again)) = (self.known, &mut self.again) else { return };
        self.rows += 1;
        let cell = cell.read(kind, reading);
        let fits = match (&cell, kind) {
            (Cell::Missing, _) | (_, Kind::Category) => true,
            (Cell::Number(value), Kind::Number) => value.is_finite(),
            (Cell::Boolean(_), Kind::Boolean) | (Cell::Date(_), Kind::Date) => true,
            _ => false,
        };
        if fits {
            again.add(row, &cell);
        } else {
            self.faults += 1;
            remember(&mut self.strange, address, || shown(&cell));
        }
    }

    fn there(&self) -> u64 {
        self.rows - self.missing
    }

    /// The sign that every cell has, if the rest of it may be a number.
    fn sign_of_all(&self) -> Option<char> {
        self.sign.filter(|_| self.with_sign == self.there() && self.signed.any())
    }

    /// The style in which all numbers can be read, or most cells can, or why none can be told; nothing where most are no numbers.
    fn style(&self) -> Option<Result<NumberStyle, Found>> {
        let styles = if self.sign_of_all().is_some() { &self.signed } else { &self.bare };
        styles.most(self.there(), self.decimal_commas)
    }

    /// Whether dates can be read, and whether the month comes first; nothing where they cannot be told.
    fn month_first(&self) -> Option<bool> {
        match (self.day_first, self.month_first, self.unclear_dates) {
            (_, 0, 0) => Some(false),
            (0, 0, _) => None,
            (day, 0, _) if day > 0 => Some(false),
            (0, month, _) if month > 0 => Some(true),
            _ => None,
        }
    }

    /// Whether texts look like dates of which day and month cannot be told apart.
    pub(crate) fn dates(&self) -> bool {
        2 * self.dates > self.there() && self.month_first().is_none()
    }

    fn kind(&self) -> Option<Kind> {
        let there = self.there();
        let truths = self.truths[0] + self.truths[1];
        match () {
            () if self.declared == Declared::Categories => Some(Kind::Category),
            () if matches!(self.style(), Some(Ok(_))) => Some(Kind::Number),
            () if truths == there && (self.sure_truths > 0 || self.truths.iter().all(|&count| count > 0)) => {
                Some(Kind::Boolean)
            }
            () if 2 * self.dates > there && self.month_first().is_some() => Some(Kind::Date),
            () => None,
        }
    }

    /// How its texts are to be read, where the first look did not read them so.
    pub(crate) fn needs_another_look(&self) -> Option<(Kind, Reading)> {
        if self.there() == 0
            || self.other > 0
            || !matches!(self.declared, Declared::Values | Declared::RowIndex)
        {
            return None;
        }
        let plain = Reading::default();
        match self.kind() {
            Some(Kind::Number) => {
                let numbers = self.style().and_then(Result::ok).unwrap_or_default();
                let reading = Reading { numbers, sign: self.sign_of_all(), ..plain };
                (reading != plain).then_some((Kind::Number, reading))
            }
            Some(Kind::Date) if self.day_first + self.month_first > 0 => {
                let month_first = self.month_first().unwrap_or(false);
                Some((Kind::Date, Reading { month_first, ..plain }))
            }
            // Among texts a number, a truth value or a date is a text too.
            None if self.plain + self.typed > 0 && self.style().is_none() => Some((Kind::Category, plain)),
            _ => None,
        }
    }

    /// What the column is, by the first look.
    pub(crate) fn found(&self) -> Found {
        match &self.declared {
            Declared::List => return Found::List,
            Declared::Other(what) => return Found::Other(what.clone()),
            _ => {}
        }
        if self.other > 0 {
            return Found::Other("lists or objects".to_owned());
        }
        if self.there() == 0 {
            return Found::Empty;
        }
        if let Some(Err(unclear)) = self.style() {
            return unclear;
        }
        match self.kind() {
            Some(Kind::Number) => self.values_or_faults(&self.numbers, self.plain, &self.strange),
            Some(Kind::Date) => self.values_or_faults(&self.days, self.dates, &self.strange_dates),
            Some(Kind::Boolean) => Found::Values(Box::new(self.booleans.clone())),
            Some(Kind::Category) | None => found_text(&self.texts, self.example.clone(), self.dates()),
        }
    }

    fn values_or_faults(
        &self,
        summary: &ColumnSummary,
        fitting: u64,
        strange: &[(CellAddress, String)],
    ) -> Found {
        match self.there() - fitting {
            0 => Found::Values(Box::new(summary.clone())),
            count => Found::Faulty { kind: summary.kind, count, cells: strange.to_vec() },
        }
    }

    /// What the column is, by the second look.
    pub(crate) fn found_again(&self, dates: bool) -> Found {
        match &self.again {
            Some(again) if self.faults > 0 => {
                Found::Faulty { kind: again.kind, count: self.faults, cells: self.strange.clone() }
            }
            Some(again) if again.kind == Kind::Category => {
                let example = again.levels().first().map(|(level, _)| shorten(level));
                found_text(again, example, dates)
            }
            Some(again) => Found::Values(Box::new(again.clone())),
            None => Found::Unread,
        }
    }
}

fn found_text(texts: &ColumnSummary, example: Option<String>, dates: bool) -> Found {
    if texts.is_category() && !dates {
        return Found::Values(Box::new(texts.clone()));
    }
    Found::Text { summary: Box::new(texts.clone()), example: example.unwrap_or_default(), dates }
}

/// Keeps the first few.
fn remember(
    cells: &mut Vec<(CellAddress, String)>,
    address: &dyn Fn() -> CellAddress,
    text: impl Fn() -> String,
) {
    if cells.len() < NAMED_CELLS {
        cells.push((address(), text()));
    }
}
