//! The files that make a table: patterns are expanded, and what is read of them is read ahead.

use crate::points_table::PointRoles;
use anyhow::{Context, Result, anyhow, bail, ensure};
use lion_table::{Batches, CellAddress, Origin, ReadOptions, Survey, Table};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// Batches read ahead of the one that is being worked on.
const AHEAD: usize = 2;

/// One file or several, or standard input.
pub(crate) struct Files {
    paths: Vec<PathBuf>,
    /// A copy of what can be read once, with what messages call that.
    copy: Option<(NamedTempFile, String)>,
}

impl Files {
    /// The files as they were given; a pattern that is no file's name becomes the files that match it, sorted by name.
    pub(crate) fn expand(given: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for path in given {
            let text = path.to_string_lossy();
            match text.contains(['*', '?', '[']) && !path.exists() {
                true => files.extend(matching(&text)?),
                false => files.push(path.clone()),
            }
        }
        let mut different = HashSet::new();
        // The same file may have several names.
        let place = |file: &PathBuf| file.canonicalize().unwrap_or_else(|_| file.clone());
        if let Some(twice) = files.iter().find(|file| !different.insert(place(file))) {
            bail!("{} is given twice: leave one out", twice.display());
        }
        if let Some(pipe) = files.iter().find(|file| files.len() > 1 && is_read_once(file)) {
            bail!(
                "{} can be read once, and cannot be one of several files: write it to a file",
                pipe.display()
            );
        }
        Ok(Self { paths: files, copy: None })
    }

    /// The same with a copy of what can be read only once, so that it can be looked at before it is read.
    pub(crate) fn read_again(self) -> Result<Self> {
        let [path] = &self.paths[..] else { return Ok(self) };
        if !self.is_read_once() {
            return Ok(self);
        }
        let (shown, suffix) = match path.as_os_str() == "-" {
            true => ("standard input".to_owned(), ".csv".into()),
            false => (path.display().to_string(), path.file_name().unwrap_or_default().to_owned()),
        };
        let copy = || -> std::io::Result<NamedTempFile> {
            let mut copy = tempfile::Builder::new().prefix("lion-").suffix(&suffix).tempfile()?;
            match path.as_os_str() == "-" {
                true => std::io::copy(&mut std::io::stdin().lock(), &mut copy)?,
                false => std::io::copy(&mut std::fs::File::open(path)?, &mut copy)?,
            };
            Ok(copy)
        };
        let copy = copy().with_context(|| {
            format!("{shown} cannot be copied to a file, to be read twice: --strict reads it once")
        })?;
        Ok(Self { paths: vec![copy.path().to_owned()], copy: Some((copy, shown)) })
    }

    /// Every one.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.paths().any(|path| path.as_os_str() == "-")
    }

    /// Whether what is read of them cannot be read again: standard input, or a pipe.
    pub(crate) fn is_read_once(&self) -> bool {
        self.paths().any(is_read_once)
    }

    /// What each column is, as all rows tell.
    pub(crate) fn survey(&self, options: &ReadOptions) -> lion_table::Result<Survey> {
        lion_table::survey(&self.paths, &self.options(options))
    }

    /// Size and time of each, to be compared with what they are later.
    pub(crate) fn stamps(&self) -> Vec<Option<(u64, SystemTime)>> {
        let stamp =
            |path: &Path| path.metadata().ok().and_then(|file| Some((file.len(), file.modified().ok()?)));
        self.paths().map(stamp).collect()
    }

    /// Opens them as one table.
    pub(crate) fn open(&self, options: &ReadOptions) -> lion_table::Result<Batches> {
        lion_table::open_all(&self.paths, &self.options(options))
    }

    /// The same, just as was asked for.
    pub(crate) fn open_plainly(&self, options: &ReadOptions) -> lion_table::Result<Batches> {
        lion_table::open_all(&self.paths, options)
    }

    /// How they are to be read: as was asked for and, where they are tables of live points, as those are.
    pub(crate) fn options(&self, asked: &ReadOptions) -> ReadOptions {
        let asked = ReadOptions { name: self.copy.as_ref().map(|(_, shown)| shown.clone()), ..asked.clone() };
        match self.roles() {
            Some(roles) => roles.apply(&asked),
            None => asked,
        }
    }

    /// Whether these are tables of live points, of which some columns are not those of rows.
    pub(crate) fn are_points(&self) -> bool {
        self.roles().is_some()
    }

    /// Which columns are what, if these are tables of live points. What is wrong with a file is told by who reads it.
    fn roles(&self) -> Option<PointRoles> {
        let first = self.paths.first().filter(|_| !self.is_read_once())?;
        PointRoles::recognise(&lion_table::column_names(first).ok()?)
    }

    /// What messages call the table.
    pub(crate) fn shown(&self) -> String {
        if let Some((_, shown)) = &self.copy {
            return shown.clone();
        }
        match &self.paths[..] {
            _ if self.is_standard_input() => "standard input".into(),
            [first, .., last] => {
                let many = self.paths.len();
                format!("the table of {many} files from {} to {}", first.display(), last.display())
            }
            files => files.first().map_or(String::new(), |file| file.display().to_string()),
        }
    }
}

fn is_read_once(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    path.as_os_str() == "-" || path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// The files that match a pattern, sorted by name. As in a shell, those whose names begin with a dot do not.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let found =
        glob::glob_with(pattern, options).with_context(|| format!("{pattern} is not a pattern of names"))?;
    let mut files = Vec::new();
    for path in found {
        let path = path?;
        if path.is_file() {
            files.push(path);
        }
    }
    ensure!(!files.is_empty(), "{pattern}: no file has a name like this");
    files.sort_unstable();
    Ok(files)
}

/// Some rows of a table.
pub(crate) struct FileBatch {
    pub(crate) rows: Table,
    pub(crate) at: Whereabouts,
}

/// Where some rows are in their table.
pub(crate) struct Whereabouts {
    /// Rows of the table before these.
    pub(crate) before: usize,
    origin: Origin,
}

impl Whereabouts {
    /// Where the row of this number among them is, which counts from 0, and in which column.
    pub(crate) fn locate(&self, row: usize, column: &str) -> CellAddress {
        self.origin.cell(self.before + row, column)
    }
}

/// A table that is read while what was read is worked on.
pub(crate) struct Ahead {
    batches: Receiver<lion_table::Result<FileBatch>>,
    reader: Option<JoinHandle<()>>,
}

impl Ahead {
    pub(crate) fn new(mut table: Batches) -> Self {
        let (send, batches) = sync_channel(AHEAD);
        // Nobody waits for this thread after an error: it may wait for standard input.
        let reader = std::thread::spawn(move || {
            let mut before = 0;
            while let Some(batch) = table.next() {
                let at = Whereabouts { before, origin: table.origin() };
                let batch = batch.map(|rows| FileBatch { rows, at });
                before += batch.as_ref().map_or(0, |batch| batch.rows.rows);
                if send.send(batch).is_err() {
                    break;
                }
            }
        });
        Self { batches, reader: Some(reader) }
    }
}

impl Iterator for Ahead {
    type Item = Result<FileBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(batch) = self.batches.recv() {
            return Some(batch.map_err(Into::into));
        }
        let ended = self.reader.take()?.join();
        ended.is_err().then(|| Err(anyhow!("the table could not be read to its end")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_files_sorted_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c.txt", "odd[1].csv", ".half.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("folder.csv")).unwrap();
        let expand = |names: &[&str]| {
            let given: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            let files = Files::expand(&given)?;
            let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            anyhow::Ok(files.paths().map(name).collect::<Vec<_>>())
        };
        assert_eq!(expand(&["*.csv"]).unwrap(), ["a.csv", "b.csv", "odd[1].csv"]);
        assert_eq!(expand(&["c.txt", "[ab].csv"]).unwrap(), ["c.txt", "a.csv", "b.csv"]);
        // A file of that very name is meant before any pattern.
        assert_eq!(expand(&["odd[1].csv"]).unwrap(), ["odd[1].csv"]);
        assert!(expand(&["*.json"]).unwrap_err().to_string().contains("*.json: no file"));
        assert!(expand(&["a.csv", "./a.csv"]).unwrap_err().to_string().contains("a.csv is given twice"));
        assert!(expand(&["a.csv", "?.csv"]).unwrap_err().to_string().contains("a.csv is given twice"));
    }
}
