//! The table of placements: its columns, written and read.

use super::beside::BesideColumns;
use super::spool::Record;
use crate::summary::dimensions;
use anyhow::{Context, Result, bail, ensure};
use lion_table::{Column, Field, Kind, OutputFormat, ReadOptions, Writer, check_output, read_columns};
use lion_tsne::lion::{ColumnValues, PlacedRow, PlacementColumn};
use lion_tsne::{Map, Placement, Verdict};
use std::borrow::Cow;
use std::path::Path;

/// Writes placements in the order in which they come.
pub(crate) struct SheetWriter<'a> {
    writer: Writer,
    map: &'a Map,
    rows: usize,
    columns: Vec<&'static PlacementColumn>,
    beside: BesideColumns,
}

impl<'a> SheetWriter<'a> {
    /// Of rows placed in this map; `-` is CSV on standard output.
    pub(crate) fn create(path: &Path, map: &'a Map) -> Result<Self> {
        Self::with_columns(path, map, BesideColumns::default())
    }

    /// The same with columns beside the placements.
    pub(super) fn with_columns(path: &Path, map: &'a Map, beside: BesideColumns) -> Result<Self> {
        // Where rows came with labels, those are `label`, and what their neighbours say is called otherwise.
        let columns: Vec<&'static PlacementColumn> = match beside.is_labelled() {
            true => PlacementColumn::beside_labels(map.dims()).collect(),
            false => PlacementColumn::in_tables(map.dims()).collect(),
        };
        let fields = columns.iter().map(|column| field(column)).chain(beside.fields().iter().cloned());
        let coordinates = PlacementColumn::coordinates(map.dims());
        let writer = Writer::create(path, fields.collect(), coordinates)?;
        Ok(Self { writer, map, rows: 0, columns, beside })
    }

    /// More of them. A row without a name is known by its number, counted from 0.
    pub(crate) fn write(&mut self, records: &[Record]) -> Result<()> {
        let id = |i: usize| match &records[i].id {
            Some(id) => Cow::Borrowed(id.as_str()),
            None => Cow::Owned((self.rows + i).to_string()),
        };
        let row = |i: usize| Some(PlacedRow::new(self.map, id(i), &records[i].placement));
        let rows: Vec<_> = (0..records.len()).map(row).collect();
        let columns = self.columns.iter().map(|column| values(column, &rows));
        let columns: Vec<Column> = columns.chain(self.beside.next(records.len())?).collect();
        self.writer.write(&columns)?;
        self.rows += records.len();
        Ok(())
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.finish()?;
        Ok(())
    }
}

/// A column of placements as tables have it.
pub(crate) fn field(column: &PlacementColumn) -> Field {
    let kind = match column.values {
        ColumnValues::Text(_) => Kind::Text,
        ColumnValues::F32(_) => Kind::F32,
        ColumnValues::F64(_) => Kind::F64,
        ColumnValues::U32(_) => Kind::U32,
        ColumnValues::U64(_) => Kind::U64,
    };
    Field { name: column.name.to_owned(), kind, nullable: column.optional }
}

/// Its values, of rows that may have no placement.
pub(crate) fn values(column: &PlacementColumn, rows: &[Option<PlacedRow<'_>>]) -> Column {
    fn of<T>(rows: &[Option<PlacedRow<'_>>], value: fn(&Placement) -> Option<T>) -> Vec<Option<T>> {
        rows.iter().map(|row| row.as_ref().and_then(|row| value(row.placement))).collect()
    }
    match column.values {
        ColumnValues::Text(value) => {
            Column::Text(rows.iter().map(|row| value(row.as_ref()?).map(str::to_owned)).collect())
        }
        ColumnValues::F32(value) => Column::F32(of(rows, value)),
        ColumnValues::F64(value) => Column::F64(of(rows, value)),
        ColumnValues::U32(value) => Column::U32(of(rows, value)),
        ColumnValues::U64(value) => Column::U64(of(rows, value)),
    }
}

/// What a picture needs to know of placed rows.
#[derive(Debug, Default)]
pub(crate) struct PlacementSheet {
    /// Row after row.
    pub(crate) points: Vec<f32>,
    /// One for each row, as are the others, or none at all where the file has coordinates alone.
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) ids: Vec<String>,
    pub(crate) scores: Vec<f64>,
    pub(crate) groups: Vec<Option<u64>>,
}

impl PlacementSheet {
    /// Reads what `lion place` has written, for a map of so many dimensions.
    pub(crate) fn read(path: &Path, dims: usize) -> Result<Self> {
        if matches!(check_output(path), Ok(OutputFormat::Npy)) {
            return Self::coordinates_alone(path, dims);
        }
        let all = PlacementColumn::coordinates(3);
        let has = |d: &usize| read_columns(path, &[Field::new(all[*d], Kind::F32)]).is_ok();
        if let Some(last) = (dims..all.len()).rfind(has) {
            bail!(
                "{} has places of {}, and the map has {dims}: give the placements of this map",
                path.display(),
                dimensions(last + 1)
            );
        }
        let wanted = ["id", "verdict", "score", "group"].iter().chain(PlacementColumn::coordinates(dims));
        let known = |name: &&str| PlacementColumn::in_tables(dims).find(|column| column.name == *name);
        let fields: Vec<Field> = wanted.filter_map(known).map(field).collect();
        let mut columns = read_columns(path, &fields)?.into_iter();
        let mut next = || columns.next().context("a column is missing");
        let (ids, verdicts, scores, groups) = (next()?, next()?, next()?, next()?);
        let coordinates: Vec<Vec<f32>> = (0..dims).map(|_| floats(next()?)).collect::<Result<_>>()?;
        let points = (0..ids.len()).flat_map(|row| coordinates.iter().map(move |values| values[row]));
        Ok(Self {
            points: points.collect(),
            verdicts: verdicts_of(path, &texts(verdicts)?)?,
            ids: texts(ids)?,
            scores: match scores {
                Column::F64(scores) => scores.into_iter().flatten().collect(),
                _ => bail!("scores are not numbers"),
            },
            groups: match groups {
                Column::U64(groups) => groups,
                _ => bail!("groups are not numbers"),
            },
        })
    }

    /// The same from all files of a list, one after another.
    pub(crate) fn read_all<'a>(paths: impl Iterator<Item = &'a Path>, dims: usize) -> Result<Self> {
        let mut all = Self::default();
        for path in paths {
            let next = Self::read(path, dims)?;
            let mixed = !all.points.is_empty() && all.verdicts.is_empty() != next.verdicts.is_empty();
            ensure!(!mixed, "{} and files before it are not of the same kind", path.display());
            all.points.extend(next.points);
            all.verdicts.extend(next.verdicts);
            all.ids.extend(next.ids);
            all.scores.extend(next.scores);
            all.groups.extend(next.groups);
        }
        Ok(all)
    }

    fn coordinates_alone(path: &Path, dims: usize) -> Result<Self> {
        let table = lion_table::read(path, &ReadOptions::default())?;
        ensure!(
            table.cols == dims,
            "{} has {} columns, and the map has {}: were these rows placed in it?",
            path.display(),
            table.cols,
            dimensions(dims)
        );
        Ok(Self { points: table.data, ..Self::default() })
    }
}

fn floats(column: Column) -> Result<Vec<f32>> {
    match column {
        Column::F32(values) => Ok(values.into_iter().flatten().collect()),
        _ => bail!("coordinates are not numbers"),
    }
}

fn texts(column: Column) -> Result<Vec<String>> {
    match column {
        Column::Text(values) => Ok(values.into_iter().flatten().collect()),
        _ => bail!("ids or verdicts are no texts"),
    }
}

fn verdicts_of(path: &Path, names: &[String]) -> Result<Vec<Verdict>> {
    let verdict = |(row, name): (usize, &String)| {
        name.parse().ok().with_context(|| {
            format!(
                "{}, row {row}, column verdict holds {name:?}, which is none: is this a file that lion place wrote?",
                path.display()
            )
        })
    };
    names.iter().enumerate().map(verdict).collect()
}
