//! What the bench's programs share: tables in, one line of JSON out; a live map under load.

pub mod alarms;
pub mod http;
pub mod judged;
pub mod live;
pub mod update;

use anyhow::{Context, Result};
use lion_table::ReadOptions;
use lion_tsne::Matrix;
use std::path::Path;

/// The arguments of a program: files, and `--name value` pairs.
pub struct Arguments {
    files: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    /// Those of this process.
    pub fn of_process() -> Result<Self> {
        let mut found = Self { files: Vec::new(), options: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    let value = words.next().with_context(|| format!("--{name} needs a value"))?;
                    found.options.push((name.into(), value));
                }
                None => found.files.push(word),
            }
        }
        Ok(found)
    }

    /// The `at`th file.
    pub fn file(&self, at: usize) -> Result<&Path> {
        self.files.get(at).map(Path::new).with_context(|| format!("file {} is missing", at + 1))
    }

    /// The files from the `at`th on.
    pub fn files_from(&self, at: usize) -> impl Iterator<Item = &Path> {
        self.files.iter().skip(at).map(Path::new)
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The value of an option as a number.
    pub fn number(&self, name: &str, default: f64) -> Result<f64> {
        self.option(name).map_or(Ok(default), |text| text.parse().with_context(|| format!("--{name} {text}")))
    }

    /// The table that an option names.
    pub fn matrix(&self, name: &str) -> Result<Option<Matrix>> {
        self.option(name).map(|path| matrix(path.as_ref())).transpose()
    }

    /// The labels that an option names.
    pub fn labels(&self, name: &str) -> Result<Option<Vec<String>>> {
        Ok(self.option(name).map(|path| lion_table::read_labels(path.as_ref())).transpose()?)
    }
}

/// Reads a table of numbers.
pub fn matrix(path: &Path) -> Result<Matrix> {
    let table = lion_table::read(path, &ReadOptions::default())?;
    Ok(Matrix::new(table.rows, table.cols, table.data)?)
}
