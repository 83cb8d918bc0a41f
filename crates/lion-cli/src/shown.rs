//! Columns for people (`--show`): read beside the rows of a table, from the same files.

use crate::args::TableArgs;
use crate::files::Files;
use anyhow::{Context, Result, bail, ensure};
use lion_table::{ReadOptions, ShownBatches, ShownCells};
use lion_tsne::Map;
use lion_tsne::map::{ShownColumns, ShownKind, ShownValues};
use std::collections::HashMap;
use std::path::PathBuf;

/// How a table is read of which some columns are for people: those are no features, unless `--columns` names them as well.
pub(crate) fn without_shown(options: ReadOptions, show: &[String]) -> ReadOptions {
    if options.columns.is_some() {
        return options;
    }
    let roles = [&options.id, &options.label, &options.group];
    let has_no_role = |name: &&String| !roles.iter().any(|role| role.as_ref() == Some(*name));
    let exclude = options.exclude.iter().chain(show.iter().filter(has_no_role)).cloned().collect();
    ReadOptions { exclude, ..options }
}

/// What a person should know of it. Who names features has said which they are.
pub(crate) fn note(table: &TableArgs, show: &[String]) -> Option<String> {
    let said = table.columns.is_none() && !show.is_empty();
    said.then(|| {
        let (is, feature) = if show.len() == 1 { ("is", "no feature") } else { ("are", "no features") };
        format!("{} {is} shown and {feature}; a column that --columns names can be both", show.join(", "))
    })
}

/// The columns of these names in all files, row after row.
pub(crate) fn read(files: &Files, names: &[String]) -> Result<ShownColumns> {
    let mut columns: Vec<Cells> = names.iter().map(|_| Cells::default()).collect();
    for batch in ShownStream::open(files, names)? {
        columns.iter_mut().zip(batch?).for_each(|(column, cells)| column.extend(cells));
    }
    packed(names, columns)
}

/// The same of the rows that a map of landmarks has. They are found by their ids, which are in the column `id`, or are the
/// numbers of rows.
pub(crate) fn read_landmarks(
    files: &Files,
    names: &[String],
    id: Option<&str>,
    map: &Map,
) -> Result<ShownColumns> {
    let row_of: HashMap<String, usize> = (0..map.rows()).map(|row| (map.id(row).into_owned(), row)).collect();
    let read: Vec<String> = names.iter().map(String::as_str).chain(id).map(str::to_owned).collect();
    let mut columns: Vec<Cells> = names.iter().map(|_| Cells::missing(map.rows())).collect();
    let mut before = 0;
    for batch in ShownStream::open(files, &read)? {
        let batch = batch?;
        let rows = batch.first().map_or(0, length);
        for at in 0..rows {
            let name = match batch.get(names.len()) {
                Some(ShownCells::Text(ids)) => ids[at].clone().unwrap_or_default(),
                _ => (before + at).to_string(),
            };
            let Some(&row) = row_of.get(&name) else { continue };
            columns.iter_mut().zip(&batch).for_each(|(column, cells)| column.set(row, cells, at));
        }
        before += rows;
    }
    packed(names, columns)
}

fn packed(names: &[String], columns: Vec<Cells>) -> Result<ShownColumns> {
    let values = columns.into_iter().map(Cells::typed);
    Ok(ShownColumns::new(names.iter().cloned().zip(values).collect())?)
}

/// Which of the map's columns for people these files have, too.
pub(crate) fn present(map: &Map, files: &Files) -> Vec<String> {
    let (Some(shown), false) = (map.shown(), files.is_read_once()) else { return Vec::new() };
    let found =
        files.paths().next().and_then(|first| lion_table::column_names(first).ok()).unwrap_or_default();
    let names = shown.columns().iter().map(|column| column.name.clone());
    names.filter(|name| found.contains(name)).collect()
}

/// Columns of all files of a table, some rows at a time.
pub(crate) struct ShownStream {
    names: Vec<String>,
    waiting: std::vec::IntoIter<PathBuf>,
    open: Option<ShownBatches>,
}

impl ShownStream {
    pub(crate) fn open(files: &Files, names: &[String]) -> Result<Self> {
        ensure!(
            !files.is_read_once(),
            "--show reads the table a second time, and {} can be read once: write it to a file",
            files.shown()
        );
        let paths: Vec<PathBuf> = files.paths().map(|path| path.to_owned()).collect();
        let mut waiting = paths.into_iter();
        // What is not there is told before any work.
        let first = waiting.next().context("there is no table to read")?;
        let open = Some(lion_table::read_shown(&first, names)?);
        Ok(Self { names: names.to_vec(), waiting, open })
    }
}

impl Iterator for ShownStream {
    type Item = Result<Vec<ShownCells>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.open.as_mut()?.next() {
                return Some(batch.map_err(Into::into));
            }
            self.open = None;
            match lion_table::read_shown(&self.waiting.next()?, &self.names) {
                Ok(next) => self.open = Some(next),
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}

fn length(cells: &ShownCells) -> usize {
    match cells {
        ShownCells::Text(texts) => texts.len(),
        ShownCells::Bytes(bytes) => bytes.len(),
    }
}

/// A column as it comes, before it is known what it is.
#[derive(Default)]
struct Cells {
    texts: Vec<Option<String>>,
    /// Filled instead once bytes have come.
    bytes: Option<Vec<Option<Vec<u8>>>>,
}

impl Cells {
    fn missing(rows: usize) -> Self {
        Self { texts: vec![None; rows], bytes: None }
    }

    /// Bytes, as many as there are rows so far.
    fn as_bytes(&mut self) -> &mut Vec<Option<Vec<u8>>> {
        let rows = self.texts.len();
        self.bytes.get_or_insert_with(|| vec![None; rows])
    }

    fn extend(&mut self, cells: ShownCells) {
        match cells {
            ShownCells::Text(texts) => {
                if let Some(bytes) = &mut self.bytes {
                    bytes.resize(bytes.len() + texts.len(), None);
                }
                self.texts.extend(texts);
            }
            ShownCells::Bytes(bytes) => {
                let rows = self.texts.len() + bytes.len();
                self.as_bytes().extend(bytes);
                self.texts.resize(rows, None);
            }
        }
    }

    fn set(&mut self, row: usize, cells: &ShownCells, at: usize) {
        match cells {
            ShownCells::Text(texts) => self.texts[row].clone_from(&texts[at]),
            ShownCells::Bytes(bytes) => self.as_bytes()[row].clone_from(&bytes[at]),
        }
    }

    fn typed(self) -> ShownValues {
        match self.bytes {
            Some(bytes) => ShownValues::Image(bytes),
            None => typed(self.texts),
        }
    }
}

/// Numbers, if all texts are, as people write numbers and not codes such as 007; else the texts.
fn typed(texts: Vec<Option<String>>) -> ShownValues {
    let numbers: Option<Vec<Option<f64>>> = texts
        .iter()
        .map(|text| match text.as_deref().map(str::trim) {
            None | Some("") => Some(None),
            Some(text) => number(text).map(Some),
        })
        .collect();
    match numbers {
        Some(numbers) if numbers.iter().any(Option::is_some) => ShownValues::Number(numbers),
        _ => ShownValues::Text(texts),
    }
}

fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let starts = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    // Longer whole numbers are ids, and would lose their last digits.
    let is_long = digits.len() > 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|value: &f64| starts && !is_code && !is_long && value.is_finite())
}

/// Those of the map that can colour it: images cannot.
pub(crate) fn colour_names(map: &Map) -> Vec<&str> {
    let columns = map.shown().map_or(&[][..], ShownColumns::columns);
    columns
        .iter()
        .filter(|column| column.kind != ShownKind::Image)
        .map(|column| column.name.as_str())
        .collect()
}

/// Refuses a name that is given twice.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => bail!("--show names {name} twice"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_numbers_and_codes_are_texts() {
        let typed = |texts: &[&str]| {
            typed(texts.iter().map(|text| Some((*text).to_owned()).filter(|text| !text.is_empty())).collect())
        };
        assert_eq!(typed(&["1", "", "-2.5e3"]), ShownValues::Number(vec![Some(1.0), None, Some(-2500.0)]));
        for texts in [
            &["007", "12"][..],
            &["1", "nan"],
            &["1", "two"],
            &["", ""],
            &["1234567890123456", "1"],
            &["+49 30", "1"],
        ] {
            assert_eq!(typed(texts).kind(), ShownKind::Text, "{texts:?}");
        }
        assert_eq!(typed(&["0", "0.5", "-0.25"]).kind(), ShownKind::Number);
    }
}
