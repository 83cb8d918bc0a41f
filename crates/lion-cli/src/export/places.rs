//! The rows of a map as a table: where each is, its label, and its shown columns.

use anyhow::Result;
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::Map;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::map::{ShownKind, ShownValues};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// Rows that are written at a time.
const TOGETHER: usize = 1 << 16;
/// Before the name of a shown column that the table has already.
const SHOWN: &str = "shown_";

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
    let shown: Vec<ShownValues> = match map.shown() {
        Some(columns) => shown(map).map(|(at, ..)| columns.values(at)).collect::<lion_tsne::Result<_>>()?,
        None => Vec::new(),
    };
    let mut writer = Writer::create(path, fields, PlacementColumn::coordinates(map.dims()))?;
    for start in (0..map.rows()).step_by(TOGETHER) {
        let rows = start..map.rows().min(start + TOGETHER);
        let mut columns = values(map, rows.clone());
        columns.extend(shown.iter().map(|values| shown_column(values, rows.clone())));
        writer.write(&columns)?;
    }
    let written = writer.finish()?;
    Ok(ExportedPlaces { file: path.display().to_string(), rows: written.rows, columns })
}

fn fields(map: &Map) -> Vec<Field> {
    let coordinates =
        PlacementColumn::coordinates(map.dims()).iter().map(|name| Field::new(*name, Kind::F32));
    let label = map.labels().map(|_| Field::nullable("label", Kind::Text));
    let mut fields: Vec<Field> =
        [Field::new("id", Kind::Text)].into_iter().chain(coordinates).chain(label).collect();
    for (name, kind) in shown(map).map(|(_, name, kind)| (name, kind)) {
        let mut name = name.to_owned();
        while fields.iter().any(|field| field.name == name) {
            name.insert_str(0, SHOWN);
        }
        fields.push(Field::nullable(name, kind));
    }
    fields
}

/// The shown columns that a table can have, by number, with their names and kinds: images have no place there.
fn shown(map: &Map) -> impl Iterator<Item = (usize, &str, Kind)> {
    let columns = map.shown().map_or(&[][..], |shown| shown.columns()).iter().enumerate();
    columns.filter_map(|(at, column)| {
        let kind = match column.kind {
            ShownKind::Number => Kind::F64,
            ShownKind::Text => Kind::Text,
            ShownKind::Image => return None,
        };
        Some((at, column.name.as_str(), kind))
    })
}

fn shown_column(values: &ShownValues, rows: Range<usize>) -> Column {
    match values {
        ShownValues::Number(numbers) => Column::F64(numbers[rows].to_vec()),
        ShownValues::Text(texts) => Column::Text(texts[rows].to_vec()),
        ShownValues::Image(images) => Column::Text(vec![None; images[rows].len()]),
    }
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
