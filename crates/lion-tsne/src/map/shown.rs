//! Columns that a map keeps for people: titles, texts, links, numbers, images. No computation reads them.
//!
//! A million texts must not make a map slower to open. So the values lie in compressed blocks of some rows each, a block is
//! decoded when one of its values is asked for, and each block has a checksum of its own: opening a map reads the index of
//! the blocks alone.

mod block;

use super::{Bytes, Map};
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// What the values of a shown column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownKind {
    /// Texts: also links, and the paths and addresses of images.
    Text,
    /// Numbers.
    Number,
    /// Images, each the bytes of a file such as a PNG or JPEG.
    Image,
}

crate::named!(ShownKind, "kind of shown column": Text = "text", Number = "number", Image = "image");

/// One value; any may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownValue {
    /// There is none.
    Missing,
    /// Of a column of texts.
    Text(String),
    /// Of a column of numbers; finite.
    Number(f64),
    /// Of a column of images.
    Image(Vec<u8>),
}

/// The values of a column, one for each row; `None` is a missing one.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownValues {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Numbers; those that are not finite count as missing.
    Number(Vec<Option<f64>>),
    /// The bytes of images.
    Image(Vec<Option<Vec<u8>>>),
}

impl ShownValues {
    /// What the values are.
    pub fn kind(&self) -> ShownKind {
        match self {
            Self::Text(_) => ShownKind::Text,
            Self::Number(_) => ShownKind::Number,
            Self::Image(_) => ShownKind::Image,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Image(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of one row. Panics if there is no such row.
    pub fn get(&self, row: usize) -> ShownValue {
        let value = match self {
            Self::Text(values) => values[row].clone().map(ShownValue::Text),
            Self::Number(values) => values[row].map(ShownValue::Number),
            Self::Image(values) => values[row].clone().map(ShownValue::Image),
        };
        value.unwrap_or(ShownValue::Missing)
    }

    /// Without rows.
    pub(crate) fn empty(kind: ShownKind) -> Self {
        match kind {
            ShownKind::Text => Self::Text(Vec::new()),
            ShownKind::Number => Self::Number(Vec::new()),
            ShownKind::Image => Self::Image(Vec::new()),
        }
    }

    /// Adds the rows of other values; those of another kind become texts, or missing where they have no text.
    fn extend(&mut self, other: Self) {
        match (self, other) {
            (Self::Text(to), Self::Text(from)) => to.extend(from),
            (Self::Number(to), Self::Number(from)) => to.extend(from),
            (Self::Image(to), Self::Image(from)) => to.extend(from),
            (Self::Text(to), Self::Number(from)) => {
                to.extend(from.into_iter().map(|value| value.map(|value| value.to_string())));
            }
            (Self::Number(to), Self::Text(from)) => {
                to.extend(from.into_iter().map(|text| text?.trim().parse().ok()));
            }
            (Self::Text(to), other) => to.resize(to.len() + other.len(), None),
            (Self::Number(to), other) => to.resize(to.len() + other.len(), None),
            (Self::Image(to), other) => to.resize(to.len() + other.len(), None),
        }
    }

    /// Those of these rows, in their order. Panics if there is no such row.
    pub fn select(&self, rows: &[u32]) -> Self {
        fn of<T: Clone>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize].clone()).collect()
        }
        match self {
            Self::Text(values) => Self::Text(of(values, rows)),
            Self::Number(values) => Self::Number(of(values, rows)),
            Self::Image(values) => Self::Image(of(values, rows)),
        }
    }
}

/// A shown column: its name and how its values lie in blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownColumn {
    /// As people know it.
    pub name: String,
    /// What its values are.
    pub kind: ShownKind,
    /// Rows in a block; the last one may have fewer.
    pub block_rows: usize,
}

/// One block, as the file lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEntry {
    /// Where its compressed bytes end; they begin where those before it end.
    pub(crate) end: u64,
    /// The length of its decoded bytes.
    pub(crate) decoded: u64,
    /// XXH3-64 of its compressed bytes.
    pub(crate) checksum: u64,
}

/// The columns that a map keeps for people, compressed in blocks.
///
/// ```
/// use lion_tsne::map::{ShownColumns, ShownValue, ShownValues};
///
/// let titles = ["On maps", "On trees"].map(|title| Some(title.to_owned())).to_vec();
/// let shown = ShownColumns::new(vec![
///     ("title".into(), ShownValues::Text(titles)),
///     ("pages".into(), ShownValues::Number(vec![Some(12.0), None])),
/// ])?;
/// assert_eq!(shown.value(0, 1)?, ShownValue::Text("On trees".into()));
/// assert_eq!(shown.row(1)?[1], ShownValue::Missing);
/// # Ok::<(), lion_tsne::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShownColumns {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<ShownColumn>,
    /// The blocks of the first column, then those of the second, and so on.
    pub(crate) index: Vec<BlockEntry>,
    pub(crate) blocks: Bytes,
}

impl ShownColumns {
    /// Compresses columns, each with its name. All have the same number of rows, and no two the same name.
    pub fn new(columns: Vec<(String, ShownValues)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        let (mut described, mut index, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (name, values) in columns {
            if values.len() != rows {
                let found = values.len();
                return refuse(format!("the shown column {name} has {found} rows, and others have {rows}"));
            }
            let block_rows = block::rows_in_block(&values);
            let starts: Vec<usize> = (0..rows).step_by(block_rows).collect();
            let packed: Vec<(u64, Vec<u8>)> = starts
                .into_par_iter()
                .map(|start| block::pack(&values, start..(start + block_rows).min(rows)))
                .collect::<Result<_>>()?;
            for (decoded, block) in packed {
                bytes.extend_from_slice(&block);
                index.push(BlockEntry { end: bytes.len() as u64, decoded, checksum: xxh3_64(&block) });
            }
            described.push(ShownColumn { name, kind: values.kind(), block_rows });
        }
        Self { rows, columns: described, index, blocks: Bytes::Owned(bytes.into()) }.checked()
    }

    /// The same if its parts agree with each other; what the blocks hold is judged when they are decoded.
    pub(crate) fn checked(self) -> Result<Self> {
        let mut wanted = 0usize;
        for (at, column) in self.columns.iter().enumerate() {
            if column.block_rows == 0 {
                return refuse(format!("the shown column {} has blocks without rows", column.name));
            }
            if self.columns[..at].iter().any(|other| other.name == column.name) {
                return refuse(format!("two shown columns are called {}: name each once", column.name));
            }
            wanted = wanted.saturating_add(self.rows.div_ceil(column.block_rows));
        }
        if wanted != self.index.len() {
            let found = self.index.len();
            return refuse(format!("the shown columns need {wanted} blocks, not {found}"));
        }
        let available = self.blocks.as_slice().len() as u64;
        let ordered = self.index.is_sorted_by_key(|entry| entry.end);
        if !ordered || self.index.last().map_or(0, |entry| entry.end) != available {
            return refuse("the blocks of the shown columns do not cover their bytes".into());
        }
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order in which they were given.
    pub fn columns(&self) -> &[ShownColumn] {
        &self.columns
    }

    /// The position of the column of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The value of one row in the column at this position. Decodes the block it is in. Panics if there is no such column
    /// or row.
    pub fn value(&self, column: usize, row: usize) -> Result<ShownValue> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let size = self.columns[column].block_rows;
        Ok(self.block(column, row / size)?.get(row % size))
    }

    /// The values of one row in all columns. Panics if there is no such row.
    pub fn row(&self, row: usize) -> Result<Vec<ShownValue>> {
        (0..self.columns.len()).map(|column| self.value(column, row)).collect()
    }

    /// All values of the column at this position. Panics if there is no such column.
    pub fn values(&self, column: usize) -> Result<ShownValues> {
        let blocks = 0..self.block_count(column);
        let blocks: Vec<ShownValues> =
            blocks.into_par_iter().map(|block| self.block(column, block)).collect::<Result<_>>()?;
        let mut all = ShownValues::empty(self.columns[column].kind);
        blocks.into_iter().for_each(|block| all.extend(block));
        Ok(all)
    }

    /// The compressed blocks of the column at this position, in order, for who decodes them elsewhere: docs/format.md says
    /// how. Panics if there is no such column.
    pub fn packed(&self, column: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let first = self.first_block(column);
        (first..first + self.block_count(column)).map(|block| self.bytes_of(block))
    }

    /// Those of these rows, in their order, and then all of other ones: a column that the others do not have is missing
    /// there, and one that only they have is left out. Panics if there is no such row.
    pub fn followed(&self, rows: &[u32], others: Option<&Self>, count: usize) -> Result<Self> {
        let mut columns = Vec::new();
        for (at, ShownColumn { name, kind, .. }) in self.columns.iter().enumerate() {
            let mut values = self.values(at)?.select(rows);
            let missing = ShownValues::Text(vec![None; count]);
            values.extend(match others.and_then(|others| Some((others, others.find(name)?))) {
                Some((others, theirs)) => others.values(theirs)?,
                None => missing,
            });
            debug_assert_eq!(values.kind(), *kind);
            columns.push((name.clone(), values));
        }
        Self::new(columns)
    }

    fn block_count(&self, column: usize) -> usize {
        self.rows.div_ceil(self.columns[column].block_rows)
    }

    fn first_block(&self, column: usize) -> usize {
        (0..column).map(|before| self.block_count(before)).sum()
    }

    fn rows_of(&self, column: usize, block: usize) -> Range<usize> {
        let start = block * self.columns[column].block_rows;
        start..(start + self.columns[column].block_rows).min(self.rows)
    }

    /// The compressed bytes of a block, which counts through all columns.
    fn bytes_of(&self, block: usize) -> &[u8] {
        let start = if block == 0 { 0 } else { self.index[block - 1].end };
        self.blocks.as_slice().get(start as usize..self.index[block].end as usize).unwrap_or(&[])
    }

    fn block(&self, column: usize, block: usize) -> Result<ShownValues> {
        let ShownColumn { name, kind, .. } = &self.columns[column];
        let at = self.first_block(column) + block;
        let (bytes, entry) = (self.bytes_of(at), self.index[at]);
        let rows = self.rows_of(column, block);
        let damaged = |problem: &str| {
            let Range { start, end } = rows;
            Error::Data(format!(
                "the shown column {name} is damaged in rows {start} to {} ({problem}): make the map again, or take an unharmed copy",
                end - 1
            ))
        };
        if xxh3_64(bytes) != entry.checksum {
            return Err(damaged("its bytes have another checksum"));
        }
        block::unpack(bytes, entry.decoded, *kind, rows.len()).map_err(damaged)
    }
}

impl Map {
    /// The map with columns for people, one row for each of its rows; they take the place of those it had.
    pub fn with_shown(self, shown: ShownColumns) -> Result<Self> {
        Self { shown: Some(shown).filter(|shown| !shown.columns.is_empty()), ..self }.checked()
    }

    /// The columns for people, if it has any.
    pub fn shown(&self) -> Option<&ShownColumns> {
        self.shown.as_ref()
    }

    pub(super) fn check_shown(&self) -> Result<()> {
        match &self.shown {
            Some(shown) if shown.rows != self.rows() => {
                refuse(format!("the map has {} rows, and the shown columns have {}", self.rows(), shown.rows))
            }
            _ => Ok(()),
        }
    }
}

fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Data(problem))
}
