//! What one pass over a column tells.

use crate::cell::{Cell, Kind};
use crate::levels::Levels;
use crate::numbers::Numbers;

/// A summary of the cells of a column.
#[derive(Clone, Debug)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Rows without a value.
    pub missing: u64,
    /// Its values as numbers: a boolean is 0 or 1, a date counts days.
    pub numbers: Numbers,
    levels: Levels,
    rows: u64,
}

impl ColumnSummary {
    /// Of no rows yet.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        let (numbers, levels) = (Numbers::default(), Levels::default());
        Self { name: name.into(), kind, missing: 0, numbers, levels, rows: 0 }
    }

    /// The same where there are so many columns: fewer values of each are kept for medians.
    #[must_use]
    pub fn among(self, columns: usize) -> Self {
        let numbers = self.numbers.with_sample((SAMPLED / columns.max(1)).max(LEAST_SAMPLED));
        Self { numbers, ..self }
    }

    /// The same for values of another kind.
    #[must_use]
    pub fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Adds the cell of a row. Numbers that are not finite are left to whoever reads cells.
    pub fn add(&mut self, row: u64, cell: &Cell<'_>) {
        self.rows += 1;
        if cell.is_missing() {
            self.missing += 1;
            return;
        }
        match (self.kind, cell) {
            (Kind::Category, cell) => {
                if let Some(level) = cell.level() {
                    self.levels.add(&level);
                }
            }
            (_, Cell::Number(value) | Cell::Date(value)) if value.is_finite() => {
                self.numbers.add(row, *value)
            }
            (_, Cell::Boolean(value)) => self.numbers.add(row, f64::from(u8::from(*value))),
            _ => {}
        }
    }

    /// Rows so far, those without a value included.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The levels with their counts, the most frequent first, equally frequent ones by name; of very many, some.
    pub fn levels(&self) -> Vec<(&str, u64)> {
        self.levels.by_count()
    }

    /// How many different texts there are, at least; and whether there are more.
    pub fn different(&self) -> (usize, bool) {
        (self.levels.different(), self.levels.is_beyond())
    }

    /// The mean length of its texts, in bytes.
    pub fn mean_length(&self) -> f64 {
        self.levels.length() as f64 / (self.rows - self.missing).max(1) as f64
    }

    /// The levels that become columns of their own: frequent enough, and not too many.
    pub(crate) fn kept_levels(&self) -> Vec<String> {
        let least = (RAREST * self.rows as f64).ceil().max(2.0) as u64;
        let levels = self.levels.by_count();
        let frequent: Vec<String> = levels
            .iter()
            .filter(|(_, count)| *count >= least)
            .take(MOST_LEVELS)
            .map(|(text, _)| (*text).to_owned())
            .collect();
        // In a table of a few rows every level may be there once.
        let mut kept = if frequent.is_empty() {
            levels.iter().take(MOST_LEVELS).map(|(text, _)| (*text).to_owned()).collect()
        } else {
            frequent
        };
        kept.sort_unstable();
        kept
    }

    /// Whether its texts are few enough to be a category: most rows have one of the levels that would be kept.
    pub fn is_category(&self) -> bool {
        let there = self.rows - self.missing;
        let (different, beyond) = self.different();
        if beyond || there == 0 || self.mean_length() > LONGEST {
            return false;
        }
        let least = (RAREST * self.rows as f64).ceil().max(2.0) as u64;
        let levels = self.levels.by_count();
        let frequent = levels.iter().filter(|(_, count)| *count >= least).take(MOST_LEVELS);
        let covered: u64 = frequent.map(|(_, count)| count).sum();
        2 * covered >= there && 2 * different as u64 <= there.max(2)
    }
}

/// Levels that fewer rows have than this share are not told apart.
const RAREST: f64 = 0.01;
/// So many levels have a column of their own, at most.
const MOST_LEVELS: usize = 30;
/// Texts that are longer than this, on average, are for people to read.
const LONGEST: f64 = 60.0;
/// Values that are kept for medians, of all columns together, and of each at least.
const SAMPLED: usize = 1 << 22;
const LEAST_SAMPLED: usize = 512;
