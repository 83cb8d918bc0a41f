//! What a page compares selected rows by: the values of all rows, as far as they fit into it.

use super::cards::PACKED_BYTES;
use crate::explain::{MapNames, RowValues};
use anyhow::Result;
use lion_report::{Compared, ComparedColumn, ComparedValues};
use lion_tsne::explain::{Column, Values};
use std::collections::HashMap;

/// The most bytes that values may take in a page, even if cards leave more room.
const MOST_BYTES: usize = 4_000_000;

/// Packs values into what `card_bytes` leave of a page. If not all fit, the columns that set clusters apart come first.
pub(super) fn packed(
    values: &RowValues<'_>,
    names: Option<&MapNames>,
    card_bytes: usize,
) -> Result<Compared> {
    let texts = values.columns().iter().find(|column| matches!(column.values, Values::Texts(_)));
    let mut columns: Vec<&Column<'_>> =
        values.columns().iter().filter(|column| !matches!(column.values, Values::Texts(_))).collect();
    let strongest = names.map(strongest_effects).unwrap_or_default();
    let effect = |column: &Column<'_>| strongest.get(column.name.as_str()).copied().unwrap_or(0.0);
    columns.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    let room = PACKED_BYTES.saturating_sub(card_bytes).min(MOST_BYTES);
    let text = texts.map(|column| column.name.as_str());
    Ok(Compared::pack(columns.len(), |at| compared(columns[at]), room, text)?)
}

fn compared<'a>(column: &'a Column<'_>) -> ComparedColumn<'a> {
    let values = match &column.values {
        Values::Categories { names, codes } => ComparedValues::Categories(names, codes),
        other => {
            let numbers = other.numbers().unwrap_or_default();
            if column.is_date { ComparedValues::Dates(numbers) } else { ComparedValues::Numbers(numbers) }
        }
    };
    ComparedColumn { name: &column.name, values }
}

/// For each column its strongest effect in any cluster.
fn strongest_effects(names: &MapNames) -> HashMap<&str, f64> {
    let mut strongest: HashMap<&str, f64> = HashMap::new();
    let columns = names.names.iter().filter_map(|name| name.card["columns"].as_array()).flatten();
    for column in columns {
        if let (Some(name), Some(effect)) = (column["column"].as_str(), column["effect"].as_f64()) {
            let most = strongest.entry(name).or_default();
            *most = most.max(effect.abs());
        }
    }
    strongest
}
