//! A placed row as a table has it. The columns are defined once, in [`PlacementColumn::ALL`] beside [`Placement`]; the file
//! that `lion place` writes, Python's Arrow schema, events, and the answers of the service are made from that list.

use super::Placement;
use crate::map::Map;
use serde::ser::SerializeMap;
use std::borrow::Cow;

/// What the label that a row got is called where it came with one of its own.
pub(super) const PREDICTED_LABEL: &str = "predicted_label";

/// A column of the table of placements.
#[derive(Clone, Copy, Debug)]
pub struct PlacementColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type, and where its values are.
    pub values: ColumnValues,
    /// Whether a row may have no value.
    pub optional: bool,
    /// Maps of fewer dimensions do not have it.
    pub dims: usize,
    /// Whether tables of placed rows have it.
    pub in_tables: bool,
    /// Whether events have it, and what else tells of points that come with a label of their own.
    pub in_events: bool,
    /// The words that it takes, where it takes only some.
    pub words: &'static [&'static str],
    /// What it is, in a sentence: docs/place.md.
    pub meaning: &'static str,
}

/// The type of a column and how its values are read.
#[derive(Clone, Copy, Debug)]
pub enum ColumnValues {
    /// Text.
    Text(for<'a> fn(&'a PlacedRow<'_>) -> Option<&'a str>),
    /// 32-bit floats.
    F32(fn(&Placement) -> Option<f32>),
    /// 64-bit floats.
    F64(fn(&Placement) -> Option<f64>),
    /// Whole numbers of 32 bits, from 0 on.
    U32(fn(&Placement) -> Option<u32>),
    /// Whole numbers of 64 bits, from 0 on.
    U64(fn(&Placement) -> Option<u64>),
}

/// A placement with the names that belong to it.
#[derive(Clone, Debug)]
pub struct PlacedRow<'a> {
    /// The name of the row.
    pub id: Cow<'a, str>,
    /// The name of the nearest row of the map.
    pub nearest_id: Cow<'a, str>,
    /// What is said of it.
    pub placement: &'a Placement,
}

impl<'a> PlacedRow<'a> {
    /// A row of this name, placed in this map.
    pub fn new(map: &'a Map, id: impl Into<Cow<'a, str>>, placement: &'a Placement) -> Self {
        Self { id: id.into(), nearest_id: map.id(placement.nearest as usize), placement }
    }
}

impl ColumnValues {
    /// The type as NumPy and Arrow call it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::F32(_) => "float32",
            Self::F64(_) => "float64",
            Self::U32(_) => "uint32",
            Self::U64(_) => "uint64",
        }
    }
}

impl PlacementColumn {
    /// The columns of tables, for a map of so many dimensions.
    pub fn in_tables(dims: usize) -> impl Iterator<Item = &'static Self> + Clone {
        Self::ALL.iter().filter(move |column| column.in_tables && column.dims <= dims)
    }

    /// The columns of events, for a map of so many dimensions.
    pub fn in_events(dims: usize) -> impl Iterator<Item = &'static Self> + Clone {
        Self::ALL.iter().filter(move |column| column.in_events && column.dims <= dims)
    }

    /// The columns of tables in which `label` is the label that rows came with.
    pub fn beside_labels(dims: usize) -> impl Iterator<Item = &'static Self> + Clone {
        Self::in_events(dims).filter(|column| column.in_tables || column.name == PREDICTED_LABEL)
    }

    /// The coordinates of a map of so many dimensions.
    pub fn coordinates(dims: usize) -> &'static [&'static str] {
        &["x", "y", "z"][..dims]
    }

    /// Adds the value of a row to a JSON object.
    pub fn add_to<M: SerializeMap>(&self, object: &mut M, row: &PlacedRow<'_>) -> Result<(), M::Error> {
        let placement = row.placement;
        match self.values {
            ColumnValues::Text(value) => object.serialize_entry(self.name, &value(row)),
            ColumnValues::F32(value) => object.serialize_entry(self.name, &value(placement)),
            ColumnValues::F64(value) => object.serialize_entry(self.name, &value(placement)),
            ColumnValues::U32(value) => object.serialize_entry(self.name, &value(placement)),
            ColumnValues::U64(value) => object.serialize_entry(self.name, &value(placement)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// The table of docs/place.md.
    fn table() -> String {
        let mut table = String::from("| column | type | what it is |\n|---|---|---|\n");
        for column in PlacementColumn::in_tables(3) {
            let PlacementColumn { name, values, meaning, .. } = column;
            let kind = values.type_name();
            let empty = if column.optional { ", may be empty" } else { "" };
            writeln!(table, "| `{name}` | {kind}{empty} | {meaning} |").unwrap();
        }
        table
    }

    #[test]
    fn the_documents_have_this_table() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/place.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        assert!(docs.contains(&table()), "docs/place.md must have this table:\n{}", table());
    }

    #[test]
    fn coordinates_are_columns() {
        for dims in [1, 2, 3] {
            let names = PlacementColumn::in_tables(dims).map(|column| column.name);
            assert_eq!(names.skip(1).take(dims).collect::<Vec<_>>(), PlacementColumn::coordinates(dims));
        }
    }
}
