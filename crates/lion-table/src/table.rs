//! The table, and the one way in which every format fills it.

use crate::error::{Cell, Error, Result};
use crate::input::Gauge;
use crate::select::{Column, Selection};
use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The most rows in one of the tables that [`Batches`] yields.
pub const BATCH_ROWS: usize = 4096;

/// Rows of finite numbers, with the names that came with them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, which is the number of features.
    pub cols: usize,
    /// Every value, row after row; all are finite.
    pub data: Vec<f32>,
    /// One name per column.
    pub columns: Vec<String>,
    /// One id per row, unique in the file, if an id column was asked for.
    pub ids: Option<Vec<String>>,
    /// One label per row, if a label column was asked for.
    pub labels: Option<Vec<String>>,
}

impl Table {
    /// Row `i`, counted from 0, or nothing beyond the end.
    pub fn row(&self, i: usize) -> Option<&[f32]> {
        let start = i.checked_mul(self.cols)?;
        self.data.get(start..start.checked_add(self.cols)?)
    }

    /// A table without rows for the columns that `selection` takes from a file.
    pub(crate) fn for_selection(columns: &[Column], selection: &Selection) -> Self {
        let names = selection.features.iter().map(|&c| columns[c].name.clone()).collect();
        Self::without_rows(names, selection)
    }

    pub(crate) fn without_rows(columns: Vec<String>, selection: &Selection) -> Self {
        Self {
            rows: 0,
            cols: columns.len(),
            data: Vec::new(),
            columns,
            ids: selection.id.map(|_| Vec::new()),
            labels: selection.label.map(|_| Vec::new()),
        }
    }

    /// Makes room for another batch, by what the rows so far say about the whole file: growing by doubling
    /// would hold a large table twice while it moves.
    fn make_room(&mut self, gauge: &Gauge) {
        let next = BATCH_ROWS.saturating_mul(self.cols);
        if self.data.capacity() - self.data.len() >= next {
            return;
        }
        let eighth = self.data.len() / 8;
        let estimate =
            gauge.expected(self.data.len()).map_or(eighth, |all| all.saturating_sub(self.data.len()));
        if self.rows > 0 {
            self.data.reserve_exact(estimate.max(eighth));
        }
    }
}

/// One open file of any format, its header read and its columns chosen.
pub(crate) trait Source: Send {
    /// A table with the right columns and no rows.
    fn empty(&self) -> Table;

    /// Adds up to `rows` more rows to `table`; says how many, 0 at the end.
    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize>;

    /// The number of rows, where the file says so and its size bears it out.
    fn rows(&self) -> Option<usize> {
        None
    }

    /// The sizes of the items that became rows, if the format has any.
    fn item(&self) -> &[usize] {
        &[]
    }

    /// How much of the file has been read.
    fn gauge(&self) -> &Gauge;

    /// Adds all rows that are left.
    fn fill_all(&mut self, table: &mut Table) -> Result<()> {
        loop {
            table.make_room(self.gauge());
            if self.fill(table, BATCH_ROWS)? == 0 {
                return Ok(());
            }
        }
    }
}

/// Opens a file when its turn comes.
pub(crate) type Later = Box<dyn FnOnce() -> Result<Batches> + Send>;

/// The rows of a file, or of several that make one table, as tables of up to [`BATCH_ROWS`] rows, in order.
///
/// Memory does not grow with the file (but for an npy file in Fortran order, and for the ids, which are
/// remembered so that a repeated one is found). After an error there is nothing more.
pub struct Batches {
    file: String,
    source: Option<Box<dyn Source>>,
    /// The files after this one, which go on with the same table.
    later: VecDeque<Later>,
    columns: Vec<String>,
    /// The ids so far and their rows, if none may come twice.
    seen: Option<HashMap<String, usize>>,
    rows: usize,
}

impl Batches {
    pub(crate) fn new(file: String, source: Box<dyn Source>) -> Self {
        let columns = source.empty().columns;
        let (seen, later) = (Some(HashMap::new()), VecDeque::new());
        Self { file, source: Some(source), later, columns, seen, rows: 0 }
    }

    /// The same, with more files after this one.
    pub(crate) fn followed_by(self, later: VecDeque<Later>) -> Self {
        Self { later, ..self }
    }

    /// Goes on to the next file, if there is one.
    fn open_next(&mut self) -> Result<bool> {
        let Some(open) = self.later.pop_front() else { return Ok(false) };
        let next = open()?;
        if next.columns != self.columns {
            let different = next.columns.iter().zip(&self.columns).find(|(next, first)| next != first);
            let problem = match different {
                Some((next, first)) => format!("has a column {next} where {} has {first}", self.file),
                None => {
                    let (next, first) = (next.columns.len(), self.columns.len());
                    format!("has {next} columns where {} has {first}", self.file)
                }
            };
            let problem = format!("{problem}: files that make one table must have the same columns");
            return Err(Error::Unsuitable { file: next.file, problem });
        }
        self.source = next.source;
        Ok(true)
    }

    /// The same, with ids that may come more than once: then none is remembered, and memory does not grow.
    pub fn with_repeated_ids(self) -> Self {
        Self { seen: None, ..self }
    }

    /// The names of the features.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows of the whole file, where that is known beforehand.
    pub fn row_count(&self) -> Option<usize> {
        self.source.as_ref()?.rows().filter(|_| self.later.is_empty())
    }

    /// The sizes of the items that became rows, where a file has such: those of images of 28 x 28 are 28 and 28. Columns may
    /// have been left out of them.
    pub fn item(&self) -> &[usize] {
        self.source.as_ref().map_or(&[], |source| source.item())
    }

    /// All rows as one table, written where they will stay: nothing but a small buffer is held beside it.
    pub fn into_table(mut self) -> Result<Table> {
        let Some(source) = &self.source else { return Err(Error::Empty { file: self.file }) };
        let mut table = source.empty();
        if let Some(values) = self.row_count().and_then(|rows| rows.checked_mul(table.cols)) {
            table.data.reserve_exact(values);
        }
        while let Some(source) = &mut self.source {
            source.fill_all(&mut table)?;
            if !self.open_next()? {
                break;
            }
        }
        if table.rows == 0 {
            return Err(Error::Empty { file: self.file });
        }
        if let Some(ids) = &table.ids {
            check_unique(&self.file, ids, 0, &mut HashMap::<&str, usize>::new())?;
        }
        Ok(table)
    }

    fn batch(&mut self) -> Result<Option<Table>> {
        let table = loop {
            let Some(source) = &mut self.source else { return Ok(None) };
            let mut table = source.empty();
            if source.fill(&mut table, BATCH_ROWS)? > 0 {
                break table;
            }
            if !self.open_next()? {
                let file = self.file.clone();
                return if self.rows == 0 { Err(Error::Empty { file }) } else { Ok(None) };
            }
        };
        if let (Some(ids), Some(seen)) = (&table.ids, &mut self.seen) {
            check_unique(&self.file, ids, self.rows, seen)?;
        }
        self.rows += table.rows;
        Ok(Some(table))
    }
}

impl Iterator for Batches {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batch().transpose();
        if !matches!(batch, Some(Ok(_))) {
            self.source = None;
        }
        batch
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Batches({}, {} columns, row {})", self.file, self.columns.len(), self.rows)
    }
}

/// Refuses an id among `ids`, the first of which is in row `before + 1`, that was `seen` already.
fn check_unique<'a, K>(
    file: &str,
    ids: &'a [String],
    before: usize,
    seen: &mut HashMap<K, usize>,
) -> Result<()>
where
    K: From<&'a str> + Borrow<str> + Eq + Hash,
{
    for (id, second) in ids.iter().zip(before + 1..) {
        if let Some(first) = seen.insert(K::from(id), second) {
            return Err(Error::DuplicateId { file: file.to_owned(), id: id.clone(), first, second });
        }
    }
    Ok(())
}

/// Adds the id of a row; an id may not be empty.
pub(crate) fn push_id(table: &mut Table, id: Option<String>, cell: impl FnOnce() -> Cell) -> Result<()> {
    let Some(ids) = &mut table.ids else { return Ok(()) };
    match id {
        Some(id) if !id.is_empty() => ids.push(id),
        _ => return Err(Error::MissingId { cell: cell() }),
    }
    Ok(())
}

/// Adds the label of a row; none is the empty label.
pub(crate) fn push_label(table: &mut Table, label: Option<String>) {
    if let Some(labels) = &mut table.labels {
        labels.push(label.map(whole).unwrap_or_default());
    }
}

/// A whole number written as a decimal (`7.0`) without its zeros, so that labels read alike from every format.
pub(crate) fn whole(text: String) -> String {
    match text.trim_end_matches('0').strip_suffix('.') {
        Some(number)
            if number.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())
                && number.len() > usize::from(number.starts_with('-')) =>
        {
            number.to_owned()
        }
        _ => text,
    }
}

/// A number as an id or label: whole numbers without a decimal point, NaN as nothing.
pub(crate) fn number_text(value: f64) -> Option<String> {
    if value.is_nan() {
        return None;
    }
    Some(if value == value.trunc() && value.abs() < 9e15 {
        (value as i64).to_string()
    } else {
        value.to_string()
    })
}
