//! The table of live points: `lion export --points` writes it, and `lion fit`, `place`, `update` and `replay` read it as it is.
//!
//! First the id and, where points have any, the label; then the columns of the row as the table of the map has them (scaling undone,
//! categories by their level, dates as dates); then what is said of it: the
//! columns of placements, the cluster and the time. Where a column of the row has the name of one of ours, ours has `placed_` in
//! front. Order and names tell this table from others.

use crate::fit::numbered_columns;
use crate::place::{field, values};
use lion_table::{Column, Field, Kind, ReadOptions};
use lion_tsne::Map;
use lion_tsne::lion::{PlacedRow, PlacementColumn};
use lion_tsne::live::{Live, Point};
use lion_tsne::recipe::{Cell, Encoding, Recipe, RecipeColumn};
use std::borrow::Cow;
use std::collections::HashSet;

const ID: &str = "id";
const LABEL: &str = "label";
const CLUSTER: &str = "cluster";
const TIME: &str = "t";
/// Before the name of a column of ours that the row has, too.
const OURS: &str = "placed_";

/// Columns that tables of earlier versions do not have.
const SINCE_LABELS: [&str; 2] = ["predicted_label", "label_share"];

/// What is said of a point, in order.
fn said(dims: usize) -> impl Iterator<Item = &'static PlacementColumn> + Clone {
    PlacementColumn::beside_labels(dims).filter(|column| column.name != ID)
}

/// The columns of the table.
pub(crate) struct PointFields {
    features: Vec<String>,
    /// What became of the columns before the map saw them.
    recipe: Option<Recipe>,
    has_labels: bool,
    dims: usize,
}

impl PointFields {
    /// For points in this map. Columns that it has no names for, or the same name twice, are called c1, c2 and so on.
    pub(crate) fn of_map(map: &Map, has_labels: bool) -> Self {
        let names: Vec<String> = match map.recipe() {
            Some(recipe) => recipe.columns().iter().map(|column| column.name.clone()).collect(),
            None => map.columns().map(|names| names.map(str::to_owned).collect()).unwrap_or_default(),
        };
        let are_different = names.iter().collect::<HashSet<_>>().len() == names.len();
        let width = map.original().len();
        let features = if names.len() == width && are_different { names } else { numbered_columns(width) };
        // A column of that name in this place would be taken for the label.
        let has_labels = has_labels || features.first().is_some_and(|name| plain(name) == LABEL);
        Self { features, recipe: map.recipe().cloned(), has_labels, dims: map.dims() }
    }

    /// The columns of the rows as they were given.
    pub(crate) fn features(&self) -> &[String] {
        &self.features
    }

    /// What a column of ours is called in this table.
    fn ours(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.features.contains(&name) {
            name.insert_str(0, OURS);
        }
        name
    }

    pub(crate) fn fields(&self) -> Vec<Field> {
        let ours = |field: Field| Field { name: self.ours(&field.name), ..field };
        let label = self.has_labels.then(|| ours(Field::nullable(LABEL, Kind::Text)));
        let features = self.features.iter().enumerate().map(|(at, name)| match &self.recipe {
            Some(recipe) => original_field(name, &recipe.columns()[at]),
            None => Field::new(name.as_str(), Kind::F32),
        });
        let tail = [Field::nullable(CLUSTER, Kind::Text), Field::new(TIME, Kind::F64)];
        let said = said(self.dims).map(field).chain(tail).map(ours);
        [ours(Field::new(ID, Kind::Text))].into_iter().chain(label).chain(features).chain(said).collect()
    }

    /// Points of a live map with their rows, one after the other.
    pub(crate) fn columns(&self, live: &Live, points: &[Point], rows: &[f32]) -> Vec<Column> {
        let placed = |point| Some(placed_row(live.lion().map(), point));
        let placed: Vec<Option<PlacedRow<'_>>> = points.iter().map(placed).collect();
        let label = |point: &Point| point.label.clone();
        let cluster = |point: &Point| point.cluster.map(|cluster| live.clusters().name(cluster).to_owned());
        let mut columns = vec![Column::Text(points.iter().map(|point| Some(point.id.clone())).collect())];
        columns.extend(self.has_labels.then(|| Column::Text(points.iter().map(label).collect())));
        match &self.recipe {
            Some(recipe) => columns.extend(original_columns(recipe, rows)),
            None => {
                let width = self.features.len();
                let feature = |d: usize| rows.iter().skip(d).step_by(width).copied().map(Some).collect();
                columns.extend((0..width).map(|d| Column::F32(feature(d))));
            }
        }
        columns.extend(said(self.dims).map(|column| values(column, &placed)));
        columns.push(Column::Text(points.iter().map(cluster).collect()));
        columns.push(Column::F64(points.iter().map(|point| Some(point.t)).collect()));
        columns
    }
}

/// What the values of a column of the table are when they are written.
fn original_field(name: &str, column: &RecipeColumn) -> Field {
    match column.encoding {
        Encoding::Number(_) => Field::new(name, Kind::F64),
        _ => Field::nullable(name, Kind::Text),
    }
}

/// Rows, one after the other, in the columns of the table of the map.
fn original_columns(recipe: &Recipe, rows: &[f32]) -> Vec<Column> {
    let decoded: Vec<Vec<Cell<'static>>> =
        rows.chunks_exact(recipe.width()).map(|row| recipe.decode(row)).collect();
    let column = |(at, own): (usize, &RecipeColumn)| match &own.encoding {
        Encoding::Number(_) => Column::F64(decoded.iter().map(|row| number(&row[at], own)).collect()),
        _ => Column::Text(decoded.iter().map(|row| row[at].level().map(Cow::into_owned)).collect()),
    };
    recipe.columns().iter().enumerate().map(column).collect()
}

/// A number with no more digits than it takes to get the same scaled value from it: what was 34 is 34 again.
fn number(cell: &Cell<'_>, column: &RecipeColumn) -> Option<f64> {
    let (&Cell::Number(value), Some(scaling)) = (cell, column.scaling()) else { return None };
    let scaled = |value: f64| ((value - scaling.center) / scaling.divisor) as f32;
    let short = |digits: usize| format!("{value:.digits$e}").parse::<f64>().ok();
    (0..17).filter_map(short).find(|&short| scaled(short) == scaled(value)).or(Some(value))
}

fn placed_row<'a>(map: &'a Map, point: &'a Point) -> PlacedRow<'a> {
    PlacedRow::new(map, point.id.as_str(), &point.placement)
}

/// A name without what was put in front of it.
fn plain(mut name: &str) -> &str {
    while let Some(rest) = name.strip_prefix(OURS) {
        name = rest;
    }
    name
}

/// Which columns of such a table are not those of the row.
#[derive(Debug, PartialEq)]
pub(crate) struct PointRoles {
    id: String,
    label: Option<String>,
    said: Vec<String>,
}

impl PointRoles {
    /// Of a table with these columns, if it is one of live points.
    pub(crate) fn recognise(columns: &[String]) -> Option<Self> {
        let id = columns.first().filter(|name| plain(name) == ID)?;
        let label = columns.get(1).filter(|name| plain(name) == LABEL);
        let kinds = [2, 3].into_iter().flat_map(|dims| [(dims, true), (dims, false)]);
        let said = kinds.into_iter().find_map(|(dims, with_labels)| {
            let is_there = |name: &&str| with_labels || !SINCE_LABELS.contains(name);
            let names = said(dims).map(|column| column.name).filter(is_there);
            let names: Vec<&str> = names.chain([CLUSTER, TIME]).collect();
            let end = &columns[columns.len().checked_sub(names.len())?..];
            end.iter().map(|name| plain(name)).eq(names).then(|| end.to_vec())
        })?;
        Some(Self { id: id.clone(), label: label.cloned(), said })
    }

    /// How to read the table, where nothing else was asked for.
    pub(crate) fn apply(self, given: &ReadOptions) -> ReadOptions {
        let mut options = given.clone();
        if options.columns.is_none() {
            let ours = self.said.into_iter().chain([self.id.clone()]).chain(self.label.clone());
            options.exclude.extend(ours);
        }
        options.id = options.id.or(Some(self.id));
        options.label = options.label.or(self.label);
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::{Fit, Matrix, ignore};

    fn fields(names: &[&str], has_labels: bool) -> PointFields {
        let rows = Matrix::new(6, names.len(), (0..6 * names.len()).map(|v| v as f32).collect()).unwrap();
        let places = Matrix::new(6, 2, (0..12).map(|v| v as f32).collect()).unwrap();
        let map = Fit { threads: 1, ..Fit::default() }.adopt(rows, places, &mut ignore).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        PointFields::of_map(&map.with_columns(&names).unwrap(), has_labels)
    }

    fn names(fields: &PointFields) -> Vec<String> {
        fields.fields().into_iter().map(|field| field.name).collect()
    }

    #[test]
    fn what_is_written_is_recognised() {
        let all =
            [&["a", "b"][..], &["x", "y", "z"], &["label", "id"], &["t", "placed_t"], &["z", "verdict"]];
        for features in all {
            for has_labels in [false, true] {
                let fields = fields(features, has_labels);
                let names = names(&fields);
                assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
                let roles = PointRoles::recognise(&names).unwrap();
                let options = roles.apply(&ReadOptions::default());
                let rest: Vec<&String> =
                    names.iter().filter(|name| !options.exclude.contains(name)).collect();
                assert_eq!(rest, features, "{names:?}");
                assert_eq!(options.id.as_ref(), names.first());
                assert_eq!(options.label.is_some(), has_labels || features[0] == "label");
            }
        }
    }

    #[test]
    fn other_tables_are_not() {
        let table = |names: &str| names.split(',').map(str::to_owned).collect::<Vec<_>>();
        for names in ["id,a,b", "a", "id,x,y,verdict,score", "", "id,label,a,x,y,cluster,t"] {
            assert_eq!(PointRoles::recognise(&table(names)), None, "{names}");
        }
    }
}
