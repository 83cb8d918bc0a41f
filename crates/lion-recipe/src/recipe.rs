//! The recipe: for each column of a table, what becomes of its values.

use crate::cell::{Cell, Kind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Gives an enum the names that people know its variants by.
macro_rules! names {
    ($type:ident, $word:literal: $($variant:ident = $name:literal),+) => {
        impl $type {
            /// Every name.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(format!("{} must be one of {}, not {text:?}", $word, Self::NAMES.join(", "))),
                }
            }
        }
    };
}

/// How numbers are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Not at all where columns share a unit, else by standard deviations.
    #[default]
    Auto,
    /// Less the mean, divided by the standard deviation.
    Standard,
    /// Less the median, divided by what the standard deviation is of normal values with the same quartiles.
    Robust,
    /// Not at all.
    None,
}

names!(Scale, "scale": Auto = "auto", Standard = "standard", Robust = "robust", None = "none");

/// What becomes of gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The mean of the column takes their place.
    Mean,
    /// The median of the column takes their place.
    #[default]
    Median,
    /// Rows with a gap are left out of a fit and of what takes a table as a whole later, and refused where each row counts.
    Drop,
    /// They are refused.
    Refuse,
}

names!(Missing, "missing": Mean = "mean", Median = "median", Drop = "drop", Refuse = "refuse");

impl Missing {
    /// Whether a value takes the place of a gap.
    pub const fn fills(self) -> bool {
        matches!(self, Self::Mean | Self::Median)
    }
}

/// What becomes of the values of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Encoding {
    /// A number stays one.
    Number(Scaling),
    /// False is 0, true is 1, before they are scaled.
    Boolean(Scaling),
    /// A date counts the days since 1970-01-01, before they are scaled.
    Date(Scaling),
    /// One column for each level, and one for all others: 1 where the row has that level, else 0.
    Category {
        /// The levels that have a column of their own.
        levels: Vec<String>,
        /// Gaps have a column of their own, too; else they are among the others.
        missing: bool,
    },
}

/// How the values of a column become numbers near 0: (value - center) / divisor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What is taken off.
    pub center: f64,
    /// What the rest is divided by, above 0.
    pub divisor: f64,
    /// What takes the place of a gap; nothing where gaps are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<f64>,
    /// The least value of the table that the recipe was fitted to.
    pub least: f64,
    /// The largest.
    pub largest: f64,
    /// About how far values are from 0: the largest distance of the median and the quartiles.
    pub typical: f64,
}

impl Scaling {
    /// The number near 0 that a value becomes.
    pub fn encode(&self, value: f64) -> f32 {
        ((value - self.center) / self.divisor) as f32
    }

    /// The value that became this number. Many did, for numbers have 32 bits: of these the one with the fewest decimals, so that 0 comes
    /// back as 0 and 4499.36 as 4499.36.
    pub fn decode(&self, encoded: f32) -> f64 {
        const MOST_DECIMALS: i32 = 15;
        let value = f64::from(encoded) * self.divisor + self.center;
        let rounded = |decimals| {
            let power = 10f64.powi(decimals);
            // Not -0.
            (value * power).round() / power + 0.0
        };
        (0..=MOST_DECIMALS).map(rounded).find(|&rounded| self.encode(rounded) == encoded).unwrap_or(value)
    }

    /// Whether values stay as they are.
    pub fn is_identity(&self) -> bool {
        self.center == 0.0 && self.divisor == 1.0
    }

    fn is_sound(&self) -> bool {
        let numbers =
            [self.center, self.divisor, self.fill.unwrap_or(0.0), self.least, self.largest, self.typical];
        numbers.into_iter().all(f64::is_finite) && self.divisor > 0.0
    }
}

/// A column of the table, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipeColumn {
    /// Its name in the table.
    pub name: String,
    /// What becomes of it.
    #[serde(flatten)]
    pub encoding: Encoding,
}

impl RecipeColumn {
    /// What its values are.
    pub fn kind(&self) -> Kind {
        match self.encoding {
            Encoding::Number(_) => Kind::Number,
            Encoding::Boolean(_) => Kind::Boolean,
            Encoding::Date(_) => Kind::Date,
            Encoding::Category { .. } => Kind::Category,
        }
    }

    /// How its values are scaled, unless it is a category.
    pub fn scaling(&self) -> Option<&Scaling> {
        match &self.encoding {
            Encoding::Number(scaling) | Encoding::Boolean(scaling) | Encoding::Date(scaling) => Some(scaling),
            Encoding::Category { .. } => None,
        }
    }

    /// How many numbers become of a value.
    pub fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Category { levels, missing } => levels.len() + usize::from(*missing) + 1,
            _ => 1,
        }
    }

    /// The names of those numbers.
    fn output_names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.encoding {
            Encoding::Category { levels, missing } => {
                let own = levels.iter().map(|level| format!("{name}={level}"));
                let rest = missing
                    .then(|| format!("{name} (missing)"))
                    .into_iter()
                    .chain([format!("{name} (other)")]);
                own.chain(rest).collect()
            }
            _ => vec![name.clone()],
        }
    }

    fn encode(&self, cell: &Cell<'_>, out: &mut Vec<f32>) -> Result<(), Why> {
        match &self.encoding {
            Encoding::Category { levels, missing } => {
                let at = match cell.level() {
                    Some(level) => levels.iter().position(|own| *own == level),
                    None => missing.then_some(levels.len()),
                };
                let at = at.unwrap_or(self.width() - 1);
                out.extend((0..self.width()).map(|place| if place == at { 1.0 } else { 0.0 }));
                Ok(())
            }
            Encoding::Number(scaling) => self.scale(scaling, cell, out, |cell| match cell {
                Cell::Number(value) => Some(*value),
                Cell::Boolean(value) => Some(f64::from(u8::from(*value))),
                _ => None,
            }),
            Encoding::Boolean(scaling) => self.scale(scaling, cell, out, |cell| match cell {
                Cell::Boolean(value) => Some(f64::from(u8::from(*value))),
                Cell::Number(value) if *value == 0.0 || *value == 1.0 => Some(*value),
                _ => None,
            }),
            Encoding::Date(scaling) => self.scale(scaling, cell, out, |cell| match cell {
                Cell::Date(days) => Some(*days),
                _ => None,
            }),
        }
    }

    fn scale(
        &self,
        scaling: &Scaling,
        cell: &Cell<'_>,
        out: &mut Vec<f32>,
        number: impl Fn(&Cell<'_>) -> Option<f64>,
    ) -> Result<(), Why> {
        let value = match cell.is_missing() {
            true => scaling.fill.ok_or(Why::Missing)?,
            false => number(cell)
                .ok_or_else(|| Why::Kind(cell.level().unwrap_or_default().into_owned(), self.kind()))?,
        };
        if !value.is_finite() {
            return Err(Why::NotFinite(value));
        }
        let scaled = scaling.encode(value);
        if !scaled.is_finite() {
            return Err(Why::TooLarge(value));
        }
        out.push(scaled);
        Ok(())
    }

    fn decode(&self, encoded: &[f32]) -> Cell<'static> {
        let number = |scaling: &Scaling| scaling.decode(encoded[0]);
        match &self.encoding {
            Encoding::Number(scaling) => Cell::Number(number(scaling)),
            Encoding::Date(scaling) => Cell::Date(number(scaling)),
            Encoding::Boolean(scaling) => Cell::Boolean(number(scaling) >= 0.5),
            Encoding::Category { levels, .. } => {
                // The first of the largest; those of a row that a PCA has blurred are not 0 and 1.
                let largest = encoded.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let at = encoded.iter().position(|&value| value == largest).unwrap_or(encoded.len());
                match levels.get(at) {
                    Some(level) => Cell::Text(Cow::Owned(level.clone())),
                    None if at + 1 < encoded.len() => Cell::Missing,
                    None => Cell::Text(Cow::Borrowed(OTHER)),
                }
            }
        }
    }
}

/// What rows are said to have whose level has no column of its own.
const OTHER: &str = "other";

/// What is done to the columns of a table before a map sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// How numbers were scaled; never [`Scale::Auto`].
    pub(crate) scale: Scale,
    pub(crate) missing: Missing,
    pub(crate) columns: Vec<RecipeColumn>,
}

/// Bytes that are no recipe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the recipe of its columns {0}")]
pub struct BadRecipe(String);

impl Recipe {
    /// The columns, in the order of their numbers.
    pub fn columns(&self) -> &[RecipeColumn] {
        &self.columns
    }

    /// How numbers were scaled.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// What becomes of gaps.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// How many numbers a row becomes.
    pub fn width(&self) -> usize {
        self.columns.iter().map(RecipeColumn::width).sum()
    }

    /// The names of those numbers: that of the column, or `column=level`.
    pub fn output_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(RecipeColumn::output_names).collect()
    }

    /// Where the numbers of each column are in a row.
    pub fn outputs(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.columns.iter().scan(0, |next, column| {
            let start = *next;
            *next += column.width();
            Some(start..*next)
        })
    }

    /// Whether it leaves numbers as they are and has nothing but numbers (booleans are 0 and 1).
    pub fn is_identity(&self) -> bool {
        let plain = |column: &RecipeColumn| match &column.encoding {
            Encoding::Number(scaling) | Encoding::Boolean(scaling) => scaling.is_identity(),
            Encoding::Date(_) | Encoding::Category { .. } => false,
        };
        self.columns.iter().all(plain)
    }

    /// Adds what becomes of a row, which has a cell for each column. An error leaves `out` as it was.
    pub fn encode(&self, cells: &[Cell<'_>], out: &mut Vec<f32>) -> Result<(), Unencodable> {
        let before = out.len();
        if cells.len() != self.columns.len() {
            let why = Why::Width(cells.len(), self.columns.len());
            return Err(Unencodable { column: 0, name: String::new(), why });
        }
        for (at, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            let refused = cell.is_missing() && !self.missing.fills();
            let done = if refused { Err(Why::Missing) } else { column.encode(cell, out) };
            if let Err(why) = done {
                out.truncate(before);
                return Err(Unencodable { column: at, name: column.name.clone(), why });
            }
        }
        Ok(())
    }

    /// What a row was before. What the recipe lost stays lost: a filled gap is its fill, a rare level is `other`. Nothing of a
    /// row of another width.
    pub fn decode(&self, row: &[f32]) -> Vec<Cell<'static>> {
        if row.len() != self.width() {
            return Vec::new();
        }
        self.columns.iter().zip(self.outputs()).map(|(column, at)| column.decode(&row[at])).collect()
    }

    /// The bytes that a map file keeps: JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Texts and finite numbers always become JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A recipe from such bytes, from anywhere.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadRecipe> {
        let recipe: Self =
            serde_json::from_slice(bytes).map_err(|error| BadRecipe(format!("cannot be read ({error})")))?;
        recipe.check_sound().map_err(|problem| BadRecipe(problem.to_owned()))?;
        Ok(recipe)
    }

    fn check_sound(&self) -> Result<(), &'static str> {
        if self.columns.is_empty() {
            return Err("has no columns");
        }
        let mut names = HashSet::new();
        if !self.columns.iter().all(|column| names.insert(column.name.as_str())) {
            return Err("has a column twice");
        }
        for column in &self.columns {
            match &column.encoding {
                Encoding::Category { levels, .. } => {
                    let mut different = HashSet::new();
                    if !levels.iter().all(|level| different.insert(level)) {
                        return Err("has a level twice");
                    }
                }
                Encoding::Number(scaling) | Encoding::Boolean(scaling) | Encoding::Date(scaling) => {
                    if !scaling.is_sound() {
                        return Err("has a number that is not finite, or divides by none above 0");
                    }
                }
            }
        }
        match self.scale {
            Scale::Auto => Err("does not say how numbers were scaled"),
            _ => Ok(()),
        }
    }
}

/// A row that has no numbers by this recipe.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {name} {why}")]
pub struct Unencodable {
    /// The number of the column among those of the recipe.
    pub column: usize,
    /// Its name.
    pub name: String,
    /// What is wrong with its cell.
    pub why: Why,
}

/// What is wrong with a cell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Why {
    /// It is a gap, and gaps are refused.
    #[error("is empty, and the map was fitted to rows without gaps: fill it or remove the row")]
    Missing,
    /// It is of another kind than the column.
    #[error("holds {0:?}, and the map has {plural} there", plural = .1.plural())]
    Kind(String, Kind),
    /// It is not finite.
    #[error("is {0}; every value must be a finite number: fill it or remove the row")]
    NotFinite(f64),
    /// It is too large.
    #[error("is {0:e}, too large for a 32-bit float")]
    TooLarge(f64),
    /// There are more or fewer cells than columns.
    #[error("is missing: the row has {0} values, and the map was fitted to {1} columns")]
    Width(usize, usize),
}
