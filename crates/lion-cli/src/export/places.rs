//! The rows of a map as a table: where each is, and its label.

use anyhow::Result;
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::Map;
use lion_tsne::lion::PlacementColumn;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// Rows that are written at a time.
const TOGETHER: usize = 1 << 16;

/// The part of the JSON object about the rows of a map.
#[derive(Serialize)]
pub(super) struct ExportedPlaces {
    file: String,
    rows: u64,
    columns: Vec<String>,
}

/// Whether a file is a map, and no store: a map begins with the length of its header and then the header, which is JSON.
pub(super) fn is_map(path: &Path) -> bool {
    let mut head = [0; 9];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head[8] == b'{'
}

/// Writes the rows of a map, in its order.
pub(super) fn write(map: &Map, path: &Path) -> Result<ExportedPlaces> {
    let fields = fields(map);
    let columns = fields.iter().map(|field| field.name.clone()).collect();
    let mut writer = Writer::create(path, fields, PlacementColumn::coordinates(map.dims()))?;
    for start in (0..map.rows()).step_by(TOGETHER) {
        writer.write(&values(map, start..map.rows().min(start + TOGETHER)))?;
    }
    let written = writer.finish()?;
    Ok(ExportedPlaces { file: path.display().to_string(), rows: written.rows, columns })
}

fn fields(map: &Map) -> Vec<Field> {
    let coordinates =
        PlacementColumn::coordinates(map.dims()).iter().map(|name| Field::new(*name, Kind::F32));
    let label = map.labels().map(|_| Field::nullable("label", Kind::Text));
    [Field::new("id", Kind::Text)].into_iter().chain(coordinates).chain(label).collect()
}

fn values(map: &Map, rows: Range<usize>) -> Vec<Column> {
    let mut columns = vec![Column::Text(rows.clone().map(|row| Some(map.id(row).into_owned())).collect())];
    for d in 0..map.dims() {
        columns.push(Column::F32(rows.clone().map(|row| Some(map.place(row)[d])).collect()));
    }
    columns.extend(map.labels().map(|labels| {
        // An empty label is none.
        let label = |row: usize| Some(labels.get(row)).filter(|label| !label.is_empty()).map(str::to_owned);
        Column::Text(rows.clone().map(label).collect())
    }));
    columns
}

impl ExportedPlaces {
    pub(super) fn in_words(&self) -> String {
        let Self { file, rows, columns } = self;
        let s = if *rows == 1 { "" } else { "s" };
        format!("{file}: {rows} row{s} of the map: {}\n", columns.join(", "))
    }
}
