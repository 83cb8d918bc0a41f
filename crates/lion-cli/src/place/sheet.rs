//! The table of placements: its columns, written and read.

use super::spool::{Record, VERDICTS};
use anyhow::{Context, Result, bail, ensure};
use lion_table::{Column, Field, Kind, OutputFormat, ReadOptions, Writer, check_output, read_columns};
use lion_tsne::{Map, Verdict};
use std::path::Path;

const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// Writes placements in the order in which they come.
pub(crate) struct SheetWriter<'a> {
    writer: Writer,
    map: &'a Map,
    rows: usize,
}

impl<'a> SheetWriter<'a> {
    /// Of rows placed in this map; `-` is CSV on standard output.
    pub(crate) fn create(path: &Path, map: &'a Map) -> Result<Self> {
        let coordinates = &COORDINATES[..map.dims()];
        let mut fields = vec![Field::new("id", Kind::Text)];
        fields.extend(coordinates.iter().map(|&name| Field::new(name, Kind::F32)));
        fields.extend([
            Field::new("verdict", Kind::Text),
            Field::new("score", Kind::F64),
            Field::nullable("p_distance", Kind::F64),
            Field::nullable("p_neighbours", Kind::F64),
            Field::nullable("off_plane", Kind::F64),
            Field::new("nearest_id", Kind::Text),
            Field::new("nearest_distance", Kind::F32),
            Field::new("neighbours", Kind::U32),
            Field::nullable("group", Kind::U64),
        ]);
        Ok(Self { writer: Writer::create(path, fields, coordinates)?, map, rows: 0 })
    }

    /// More of them. A row without a name is known by its number, counted from 0.
    pub(crate) fn write(&mut self, mut records: Vec<Record>) -> Result<()> {
        let name = |(i, record): (usize, &mut Record)| {
            record.id.take().unwrap_or_else(|| (self.rows + i).to_string())
        };
        let ids: Vec<String> = records.iter_mut().enumerate().map(name).collect();
        let mut columns = vec![Column::from(ids)];
        for c in 0..self.map.dims() {
            columns.push(of(&records, |record| record.place[c]));
        }
        columns.extend([
            of(&records, |record| record.verdict.to_string()),
            of(&records, |record| record.score),
            of(&records, |record| record.p_distance),
            of(&records, |record| record.p_neighbours),
            of(&records, |record| record.p_residual),
            of(&records, |record| self.map.id(record.nearest as usize).into_owned()),
            of(&records, |record| record.nearest_distance),
            of(&records, |record| record.neighbours),
            of(&records, |record| record.group),
        ]);
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

fn of<T>(records: &[Record], value: impl Fn(&Record) -> T) -> Column
where
    Column: From<Vec<T>>,
{
    records.iter().map(value).collect::<Vec<T>>().into()
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
        let has = |d: &usize| read_columns(path, &[Field::new(COORDINATES[*d], Kind::F32)]).is_ok();
        if let Some(last) = (dims..COORDINATES.len()).rfind(has) {
            bail!(
                "{} has places of {} dimensions, and the map has {dims}: give the placements of this map",
                path.display(),
                last + 1
            );
        }
        let mut fields = vec![
            Field::new("id", Kind::Text),
            Field::new("verdict", Kind::Text),
            Field::new("score", Kind::F64),
            Field::nullable("group", Kind::U64),
        ];
        fields.extend(COORDINATES[..dims].iter().map(|&name| Field::new(name, Kind::F32)));
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
            "{} has {} columns, and the map has {dims} dimensions: were these rows placed in it?",
            path.display(),
            table.cols
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
        let known = VERDICTS.into_iter().find(|verdict| verdict.as_str() == name);
        known.with_context(|| {
            format!(
                "{}, row {row}, column verdict holds {name:?}, which is none: is this a file that lion place wrote?",
                path.display()
            )
        })
    };
    names.iter().enumerate().map(verdict).collect()
}
