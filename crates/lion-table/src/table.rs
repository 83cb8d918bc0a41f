//! The table, and the one way in which every format fills it.

use crate::error::{CellAddress, Error, Result};
use crate::input::Gauge;
use crate::lines::Lines;
use crate::select::{Selection, SourceColumn};
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
    /// One group per row, if a group column was asked for.
    pub groups: Option<Vec<String>>,
}

impl Table {
    /// Row `i`, counted from 0, or nothing beyond the end.
    pub fn row(&self, i: usize) -> Option<&[f32]> {
        let start = i.checked_mul(self.cols)?;
        self.data.get(start..start.checked_add(self.cols)?)
    }

    /// A table without rows for the columns that `selection` takes from a file.
    pub(crate) fn for_selection(columns: &[SourceColumn], selection: &Selection) -> Self {
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
            groups: selection.group.map(|_| Vec::new()),
        }
    }

    /// Makes room for another batch, by what the rows so far say about the whole file: growing by doubling
    /// would hold a large table twice while it moves. The first `others` values are of other files.
    fn make_room(&mut self, gauge: &Gauge, others: usize) {
        let next = BATCH_ROWS.saturating_mul(self.cols);
        if self.data.capacity() - self.data.len() >= next {
            return;
        }
        let (eighth, own) = (self.data.len() / 8, self.data.len() - others);
        let estimate = gauge.expected(own).map_or(eighth, |all| all.saturating_sub(own));
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

    /// The same where that is not the way to make room for them.
    fn told_rows(&self) -> Option<usize> {
        self.rows()
    }

    /// The sizes of the items that became rows, if the format has any.
    fn item(&self) -> &[usize] {
        &[]
    }

    /// How much of the file has been read.
    fn gauge(&self) -> &Gauge;

    /// About what is held beside the rows, in bytes.
    fn buffers(&self) -> usize {
        1 << 20
    }

    /// How many rows of the table were read so far, those that were left out and those of files before this one included; nothing
    /// where none is left out.
    fn numbered_to(&self) -> usize {
        0
    }

    /// So many rows of the table are in files before this one.
    fn number_from(&mut self, _before: usize) {}

    /// The lines of the rows that were added since this was last asked; none if the file has no lines.
    fn take_lines(&mut self) -> Lines {
        Lines::default()
    }

    /// The numbers of the rows that were left out since this was last asked, counted as [`numbered_to`](Self::numbered_to) counts.
    fn take_left_out(&mut self) -> Vec<usize> {
        Vec::new()
    }

    /// Adds all rows that are left.
    fn fill_all(&mut self, table: &mut Table) -> Result<()> {
        let others = table.data.len();
        loop {
            table.make_room(self.gauge(), others);
            if self.fill(table, BATCH_ROWS)? == 0 {
                return Ok(());
            }
        }
    }
}

/// Opens a file when its turn comes.
pub(crate) type Later = Box<dyn FnOnce() -> Result<Batches> + Send>;

/// Where a row is: several files may make one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file, as messages call it.
    pub file: String,
    /// How many rows of the whole table come before this file.
    pub before: usize,
    /// Where its rows are, if it is a text file: those of the last table, or all of them.
    lines: Lines,
}

impl Origin {
    fn new(file: String, before: usize) -> Self {
        Self { file, before, lines: Lines::default() }
    }

    /// Where row `i` of the whole table is, counted from 0, which must be of this file; an empty column means all of the row.
    pub fn cell(&self, i: usize, column: &str) -> CellAddress {
        let row = i.saturating_sub(self.before);
        CellAddress { file: self.file.clone(), row, line: self.lines.of(row), column: column.to_owned() }
    }
}

/// Where the rows of a table came from, file by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    files: Vec<Origin>,
    left_out: Vec<usize>,
}

impl Origins {
    fn new(file: String) -> Self {
        Self { files: vec![Origin::new(file, 0)], left_out: Vec::new() }
    }

    /// The numbers of the rows that were left out of the table, ascending, counted from 0 among all rows of the files.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Where row `i` of the whole table is, counted from 0; an empty column means all of the row.
    pub fn cell(&self, i: usize, column: &str) -> CellAddress {
        let at = self.files.partition_point(|origin| origin.before <= i).saturating_sub(1);
        self.files
            .get(at)
            .map_or_else(|| Origin::new(String::new(), 0).cell(i, column), |file| file.cell(i, column))
    }

    /// Notes the lines of the rows that were read last.
    fn note_lines(&mut self, lines: Lines) {
        if let Some(file) = self.files.last_mut() {
            file.lines = lines;
        }
    }
}

/// The rows of a file, or of several that make one table, as tables of up to [`BATCH_ROWS`] rows, in order.
///
/// Memory does not grow with the file (but for an npy file in Fortran order, and for the ids, which are
/// remembered so that a repeated one is found). After an error there is nothing more.
pub struct Batches {
    source: Option<Box<dyn Source>>,
    /// The files so far, the present one last.
    origins: Origins,
    /// The files after this one, which go on with the same table.
    later: VecDeque<Later>,
    /// The number of their rows, where that is known beforehand.
    later_rows: Option<usize>,
    /// More rows than this are not to be held at once.
    most: Option<usize>,
    columns: Vec<String>,
    /// The ids so far and their rows, if none may come twice.
    seen: Option<HashMap<String, usize>>,
    rows: usize,
}

impl Batches {
    pub(crate) fn new(file: String, source: Box<dyn Source>) -> Self {
        Self {
            columns: source.empty().columns,
            source: Some(source),
            origins: Origins::new(file),
            later: VecDeque::new(),
            later_rows: Some(0),
            most: None,
            seen: Some(HashMap::new()),
            rows: 0,
        }
    }

    /// The same, with more files after this one, which have so many rows if that is known.
    pub(crate) fn followed_by(self, later: VecDeque<Later>, later_rows: Option<usize>) -> Self {
        Self { later, later_rows, ..self }
    }

    /// The file that is being read.
    fn file(&self) -> &str {
        self.origins.files.last().map_or("", |origin| &origin.file)
    }

    /// Refuses a file that cannot go on with this table.
    pub(crate) fn check_next(&self, next: &Self) -> Result<()> {
        if next.columns == self.columns {
            return Ok(());
        }
        let this = self.file();
        let different = next.columns.iter().zip(&self.columns).find(|(next, first)| next != first);
        let problem = match different {
            Some((next, first)) => format!("has a column {next} where {this} has {first}"),
            None => format!("has {} columns where {this} has {}", next.columns.len(), self.columns.len()),
        };
        let problem = format!("{problem}: files that make one table must have the same columns");
        Err(Error::Unsuitable { file: next.file().to_owned(), problem })
    }

    /// Goes on to the next file, if there is one; so many rows came before it.
    fn open_next(&mut self, before: usize) -> Result<bool> {
        let Some(open) = self.later.pop_front() else { return Ok(false) };
        let next = open()?;
        self.check_next(&next)?;
        self.origins.files.push(Origin::new(next.file().to_owned(), before));
        let read = self.source.as_ref().map_or(0, |source| source.numbered_to());
        self.source = next.source;
        if let Some(source) = &mut self.source {
            source.number_from(read);
        }
        Ok(true)
    }

    /// The same, with ids that may come more than once: then none is remembered, and memory does not grow.
    pub fn with_repeated_ids(self) -> Self {
        Self { seen: None, ..self }
    }

    /// The same for memory that holds no more than so many rows: a larger table is not read whole, but refused with
    /// [`Error::TooManyRows`] as soon as that is seen. Batches are not minded.
    pub fn with_most_rows(self, most: Option<usize>) -> Self {
        Self { most, ..self }
    }

    /// The names of the features.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows of the whole table, where that is known beforehand. To be asked before any was read.
    pub fn row_count(&self) -> Option<usize> {
        self.source.as_ref()?.rows()?.checked_add(self.later_rows?)
    }

    /// The sizes of the items that became rows, where a file has such: those of images of 28 x 28 are 28 and 28.
    /// Columns may have been left out of them.
    pub fn item(&self) -> &[usize] {
        self.source.as_ref().map_or(&[], |source| source.item())
    }

    /// Where the rows of the last table came from.
    pub fn origin(&self) -> Origin {
        self.origins.files.last().cloned().unwrap_or_else(|| Origin::new(String::new(), 0))
    }

    /// All rows as one table, written where they will stay: nothing but a small buffer is held beside it.
    pub fn into_table(self) -> Result<Table> {
        self.into_table_of_files().map(|(table, _)| table)
    }

    /// The same, with the files that they came from.
    pub fn into_table_of_files(mut self) -> Result<(Table, Origins)> {
        let Some(source) = &self.source else { return Err(self.empty()) };
        let mut table = source.empty();
        let count = self.row_count();
        self.check_most(count.or(self.told_rows()).unwrap_or(0))?;
        if let Some(values) = count.and_then(|rows| rows.checked_mul(table.cols)) {
            table.data.reserve_exact(values);
        }
        while let Some(source) = &mut self.source {
            match count.or(self.most.is_none().then_some(0)) {
                Some(_) => source.fill_all(&mut table)?,
                None => self.fill_some(&mut table)?,
            }
            self.note_lines();
            self.origins.left_out.extend(self.source.iter_mut().flat_map(|source| source.take_left_out()));
            if !self.open_next(table.rows)? {
                break;
            }
        }
        if table.rows == 0 {
            return Err(self.empty());
        }
        if let (Some(ids), Some(_)) = (&table.ids, &self.seen) {
            check_unique(&self.origins, ids, 0, &mut HashMap::<&str, usize>::new())?;
        }
        Ok((table, self.origins))
    }

    /// Adds the rows of the present file one batch after another, and stops where they become too many.
    fn fill_some(&mut self, table: &mut Table) -> Result<()> {
        let others = table.data.len();
        while let Some(source) = &mut self.source {
            table.make_room(source.gauge(), others);
            if source.fill(table, BATCH_ROWS)? == 0 {
                break;
            }
            self.check_most(table.rows)?;
        }
        Ok(())
    }

    /// Notes the lines of the rows that were read last.
    fn note_lines(&mut self) {
        let Some(source) = &mut self.source else { return };
        self.origins.note_lines(source.take_lines());
    }

    fn check_most(&self, rows: usize) -> Result<()> {
        match self.most.filter(|&most| rows > most) {
            Some(most) => Err(Error::TooManyRows { file: self.file().to_owned(), most }),
            None => Ok(()),
        }
    }

    /// How many rows the present file says that it has.
    pub(crate) fn told_rows(&self) -> Option<usize> {
        self.source.as_ref()?.told_rows()
    }

    /// About how many rows the present file has, if so many came from what was read of it; nothing where it does not tell.
    pub(crate) fn expected_rows(&self, rows: usize) -> Option<usize> {
        self.source.as_ref()?.gauge().expected(rows)
    }

    /// About what reading holds beside the rows that it gives, in bytes.
    pub fn buffers(&self) -> usize {
        self.source.as_ref().map_or(0, |source| source.buffers())
    }

    fn empty(&self) -> Error {
        Error::Empty { file: self.origins.files.first().map_or(String::new(), |first| first.file.clone()) }
    }

    fn batch(&mut self) -> Result<Option<Table>> {
        let table = loop {
            let Some(source) = &mut self.source else { return Ok(None) };
            let mut table = source.empty();
            // Of a table that passes by nobody asks for these, and memory must not grow.
            source.take_left_out();
            if source.fill(&mut table, BATCH_ROWS)? > 0 {
                self.note_lines();
                break table;
            }
            if !self.open_next(self.rows)? {
                return if self.rows == 0 { Err(self.empty()) } else { Ok(None) };
            }
        };
        if let (Some(ids), Some(seen)) = (&table.ids, &mut self.seen) {
            check_unique(&self.origins, ids, self.rows, seen)?;
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
        write!(f, "Batches({}, {} columns, row {})", self.file(), self.columns.len(), self.rows)
    }
}

/// Refuses an id among `ids`, the first of which is in row `before` of the table, that was `seen` already.
fn check_unique<'a, K>(
    origins: &Origins,
    ids: &'a [String],
    before: usize,
    seen: &mut HashMap<K, usize>,
) -> Result<()>
where
    K: From<&'a str> + Borrow<str> + Eq + Hash,
{
    for (id, second) in ids.iter().zip(before..) {
        if let Some(first) = seen.insert(K::from(id), second) {
            let (first, second) = (origins.cell(first, ""), origins.cell(second, ""));
            let (first, second) = (Box::new(first), Box::new(second));
            return Err(Error::DuplicateId { id: id.clone(), first, second });
        }
    }
    Ok(())
}

/// Adds the id of a row; an id may not be empty.
pub(crate) fn push_id(
    table: &mut Table,
    id: Option<String>,
    cell: impl FnOnce() -> CellAddress,
) -> Result<()> {
    let Some(ids) = &mut table.ids else { return Ok(()) };
    match id {
        Some(id) if !id.is_empty() => ids.push(id),
        _ => return Err(Error::MissingId { cell: cell() }),
    }
    Ok(())
}

/// Adds the label or the group of a row; none is the empty one.
pub(crate) fn push_text(texts: &mut Option<Vec<String>>, text: Option<String>) {
    if let Some(texts) = texts {
        texts.push(text.map(whole).unwrap_or_default());
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
