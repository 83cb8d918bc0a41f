//! One value of a table.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Number,
    /// True or false.
    Boolean,
    /// Days, or moments in time.
    Date,
    /// Texts of which there are few different ones.
    Category,
}

impl Kind {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Category => "category",
        }
    }

    /// Several of them.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Boolean => "booleans",
            Self::Date => "dates",
            Self::Category => "categories",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// There is none: a gap.
    Missing,
    /// A number, finite or not.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A moment in days since 1970-01-01, UTC.
    Date(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// As the level of a category; nothing for a gap.
    pub fn level(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Missing => None,
            Self::Number(value) if value.is_nan() => None,
            // Whole numbers read alike from every format.
            Self::Number(value) if *value == value.trunc() && value.abs() < 9e15 => {
                Some((*value as i64).to_string().into())
            }
            Self::Number(value) => Some(value.to_string().into()),
            Self::Boolean(value) => Some(value.to_string().into()),
            Self::Date(days) => Some(crate::date_in_words(*days).into()),
            Self::Text(text) => Some(Cow::Borrowed(text)),
        }
    }

    /// Whether there is no value.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
            || matches!(self, Self::Number(value) | Self::Date(value) if value.is_nan())
    }
}
