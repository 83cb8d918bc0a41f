//! The clusters of each row, as a table.

use anyhow::Result;
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::Map;
use lion_tsne::explain::Explanation;
use std::path::Path;

/// The coordinates of a map, by dimension.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Writes one line for each row of the map: its id, its place, and for each level the number and name of its cluster.
pub(super) fn write(path: &Path, map: &Map, found: &Explanation) -> Result<()> {
    let rows = 0..map.rows();
    let mut fields = vec![Field::new("id", Kind::Text)];
    let mut columns = vec![Column::Text(rows.clone().map(|row| Some(map.id(row).into_owned())).collect())];
    for (at, axis) in AXES.iter().enumerate().take(map.dims()) {
        fields.push(Field::new(*axis, Kind::F32));
        columns.push(Column::F32(rows.clone().map(|row| Some(map.place(row)[at])).collect()));
    }
    for (number, level) in (1..).zip(&found.levels) {
        fields.push(Field::nullable(format!("cluster_{number}"), Kind::U32));
        columns.push(Column::U32(level.clone()));
        fields.push(Field::nullable(format!("name_{number}"), Kind::Text));
        let name = |id: u32| found.clusters[id as usize].name.clone();
        columns.push(Column::Text(level.iter().map(|id| id.map(name)).collect()));
    }
    let mut writer = Writer::create(path, fields, &[])?;
    writer.write(&columns)?;
    writer.finish()?;
    Ok(())
}
