//! The columns that a map itself knows: those it was fitted to, as far as they can be had back.

use super::column::{Column, GAP, Values};
use crate::map::{Map, OriginalValues};
use crate::preprocess::Metric;
use lion_recipe::Kind;

/// The columns that the rows of a map were given with: as they were, or by reconstruction where a PCA came first. None for
/// the cosine metric, which keeps directions only.
pub fn map_columns(map: &Map) -> Vec<Column<'_>> {
    if map.preprocess().metric() == Metric::Cosine {
        return Vec::new();
    }
    let original = map.original();
    let numbers = move |at: usize| match original.values(at) {
        OriginalValues::Numbers(numbers) => numbers,
        OriginalValues::Levels { .. } => Vec::new(),
    };
    let column = |at: usize| {
        let kind = original.kind(at);
        let values = match kind {
            Kind::Boolean => Values::flags(numbers(at).into_iter().map(|value| value >= 0.5)),
            Kind::Category => match original.values(at) {
                OriginalValues::Levels { names, codes } => Values::Categories {
                    names,
                    codes: codes.into_iter().map(|code| code.unwrap_or(GAP)).collect(),
                },
                OriginalValues::Numbers(numbers) => Values::Numbers(numbers.into()),
            },
            _ => Values::Computed(Box::new(move || numbers(at))),
        };
        Column { name: original.name(at), is_date: kind == Kind::Date, values }
    };
    (0..original.len()).map(column).collect()
}
