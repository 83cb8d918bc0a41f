//! The live points of a store as a table: what was given, and what is said of it.

use crate::points_table::PointFields;
use crate::summary::counted;
use anyhow::{Result, ensure};
use lion_server::StoredEvents;
use lion_table::Writer;
use lion_tsne::live::{Live, LiveOptions, Point};
use lion_tsne::{Lion, LionOptions};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Numbers of given rows that are held at a time.
const TOGETHER: usize = 1 << 21;

/// The part of the JSON object about points.
#[derive(Serialize)]
pub(super) struct ExportedPoints {
    points_file: String,
    points: u64,
    /// The columns of the rows as they were given.
    columns: Vec<String>,
    /// The version of the map that the places are in.
    version: u64,
}

/// Writes the points of a store, all as they are at one moment.
pub(super) fn write(store: &StoredEvents, map: Option<&Path>, path: &Path) -> Result<ExportedPoints> {
    let _moment = store.moment()?;
    let version = store.current()?;
    let lion = Lion::new(store.find_map(&version, map)?, &LionOptions::default())?;
    // A live map knows the names of clusters.
    let live = Live::new(Arc::new(lion), LiveOptions::default())?;
    let map = live.lion().map();
    let fields = PointFields::of_map(map, store.has_labels()?);
    let width = map.preprocess().input_dims();
    let mut writer = Writer::create(path, fields.fields(), &[])?;
    let (mut points, mut rows): (Vec<Point>, Vec<f32>) = Default::default();
    store.each_point(|point, row| -> Result<()> {
        let (found, id) = (row.len(), &point.id);
        ensure!(
            found == width,
            "{}: the row of {id:?} has {found} values, not {width}",
            store.path().display()
        );
        points.push(point);
        rows.extend(row);
        if rows.len() + width > TOGETHER {
            writer.write(&fields.columns(&live, &points, &rows))?;
            points.clear();
            rows.clear();
        }
        Ok(())
    })?;
    writer.write(&fields.columns(&live, &points, &rows))?;
    let written = writer.finish()?;
    Ok(ExportedPoints {
        points_file: path.display().to_string(),
        points: written.rows,
        columns: fields.features().to_vec(),
        version: version.version,
    })
}

impl ExportedPoints {
    pub(super) fn in_words(&self) -> String {
        let Self { points_file, points, columns, version } = self;
        let (points, columns) = (counted(*points, "point"), counted(columns.len(), "column"));
        format!("{points_file}: {points} of {columns}, in version {version} of the map\n")
    }
}
