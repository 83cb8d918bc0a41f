//! In which columns a table differs from the one that a recipe was fitted to.

use crate::cell::Kind;
use crate::fit::{rounded, typical};
use crate::recipe::{Encoding, Recipe, RecipeColumn};
use crate::summary::ColumnSummary;
use std::fmt;

/// Another unit makes values at least so many times as large, or as small.
const UNIT: f64 = 20.0;
/// A share of unknown levels beyond which they are worth a word.
const UNKNOWN: f64 = 0.05;
/// Fewer values than this tell nothing of their unit.
const LEAST: u64 = 5;

/// In what a column of another table differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The column.
    pub column: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.column, self.what)
    }
}

impl Recipe {
    /// Compares columns, found by name, with those that the recipe was fitted to: another unit, levels that it does not know, no
    /// value at all.
    pub fn check(&self, columns: &[ColumnSummary]) -> Vec<Difference> {
        let found = |own: &RecipeColumn| {
            let other = columns.iter().find(|column| column.name == own.name)?;
            Some(Difference { column: own.name.clone(), what: difference(own, other)? })
        };
        self.columns().iter().filter_map(found).collect()
    }
}

fn difference(own: &RecipeColumn, other: &ColumnSummary) -> Option<String> {
    let there = other.rows() - other.missing;
    if there == 0 && other.rows() > 0 {
        return Some("has no values".to_owned());
    }
    if own.kind() != other.kind && !is_as_good(own.kind(), other) {
        return Some(format!("holds {} here, and {} in the map", other.kind.plural(), own.kind().plural()));
    }
    match &own.encoding {
        Encoding::Category { levels, .. } => {
            let strange: Vec<(&str, u64)> = other
                .levels()
                .into_iter()
                .filter(|(level, _)| !levels.iter().any(|own| own == level))
                .collect();
            let count: u64 = strange.iter().map(|(_, count)| count).sum();
            let (first, _) = strange.first()?;
            (count as f64 > UNKNOWN * there as f64).then(|| {
                format!("has {count} rows of levels that the map does not tell apart, such as {first:?}: they count as other")
            })
        }
        Encoding::Number(scaling) if other.kind == Kind::Number => {
            let [low, median, high] = other.numbers.quantiles([0.25, 0.5, 0.75]);
            let now = typical(low, median, high);
            if there < LEAST || scaling.typical <= 0.0 || now <= 0.0 {
                return None;
            }
            match now / scaling.typical {
                ratio if ratio >= UNIT => Some(format!(
                    "is {} times larger than in the map: is it in another unit?",
                    rounded(ratio)
                )),
                ratio if ratio <= 1.0 / UNIT => Some(format!(
                    "is {} times smaller than in the map: is it in another unit?",
                    rounded(1.0 / ratio)
                )),
                _ => None,
            }
        }
        Encoding::Date(scaling) => {
            let (least, _) = other.numbers.range()?;
            let words = crate::date_in_words;
            (least > scaling.largest).then(|| {
                format!("begins on {}, and in the map it ends on {}", words(least), words(scaling.largest))
            })
        }
        _ => None,
    }
}

/// Whether values of another kind are read as if they were of this one: 0 and 1 are booleans, and booleans are numbers.
fn is_as_good(kind: Kind, other: &ColumnSummary) -> bool {
    match (kind, other.kind) {
        (Kind::Number, Kind::Boolean) => true,
        (Kind::Boolean, Kind::Number) => {
            other.numbers.range().is_some_and(|(low, high)| low >= 0.0 && high <= 1.0)
        }
        _ => false,
    }
}
