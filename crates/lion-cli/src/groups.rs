//! The groups that rows belong to: a column of texts that is read beside the table.

use crate::files::Files;
use anyhow::{Result, anyhow};
use lion_table::ReadOptions;
use std::collections::HashMap;

/// The same table without the column of the groups among its features.
pub(crate) fn without(options: &ReadOptions, group: Option<&str>) -> ReadOptions {
    let mut options = options.clone();
    if let Some(group) = group.filter(|group| options.label.as_deref() != Some(*group)) {
        options.exclude.push(group.to_owned());
    }
    options
}

/// The number of each row's group, by the order in which groups come.
pub(crate) fn read(files: &Files, options: &ReadOptions, column: &str) -> Result<Vec<u32>> {
    // The group is read as a label; what names and labels the rows is no feature either.
    let aside = options.exclude.iter().chain(&options.id).chain(&options.label);
    let exclude = aside.filter(|name| *name != column).cloned().collect();
    let options = ReadOptions { label: Some(column.to_owned()), id: None, exclude, ..options.clone() };
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut groups = Vec::new();
    for batch in files.open(&options)? {
        let labels = batch?.labels.ok_or_else(|| anyhow!("{} has no column {column}", files.shown()))?;
        for label in labels {
            let next = numbers.len() as u32;
            groups.push(*numbers.entry(label).or_insert(next));
        }
    }
    Ok(groups)
}
