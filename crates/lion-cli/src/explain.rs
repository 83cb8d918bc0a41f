//! `lion explain`: what is this cluster?

mod map_names;
mod names;
mod page;
mod table;
mod values;
mod words;

pub(crate) use map_names::MapNames;
pub(crate) use values::RowValues;

use names::Names;

use crate::args::{Common, ExplainArgs, ExplainOutput};
use crate::output;
use anyhow::{Result, bail};
use lion_tsne::Map;
use lion_tsne::explain::{ExplainOptions, ExplainSummary, explain, explain_selection};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The JSON object.
#[derive(Serialize)]
struct Told<'a> {
    file: String,
    #[serde(flatten)]
    summary: &'a ExplainSummary,
}

/// Explains the clusters of a map, or a selection.
pub(crate) fn run(args: &ExplainArgs, common: &Common) -> Result<()> {
    for file in &args.output {
        output::check(file.path(), &args.inputs())?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(common.threads)).build()?;
    let map = Map::load(&args.map)?;
    let values = RowValues::read(&map, &args.values)?;
    let options = ExplainOptions { by: args.by, ..ExplainOptions::default() };
    let file = args.map.display().to_string();
    if let Some(ids) = &args.select {
        let rows = selected(&map, ids)?;
        let found = pool.install(|| explain_selection(&map, values.columns(), &rows, &options))?;
        let summary = ExplainSummary::of_selection(&map, &found);
        let words = || {
            let mut text = String::new();
            words::of_cluster(&summary.clusters[0], &mut text, &[]);
            text + &values.notes()
        };
        return output::present(common, &Told { file, summary: &summary }, words);
    }
    let mut found = pool.install(|| explain(&map, values.columns(), &options))?;
    let level = usize::from(args.level - 1);
    if level >= found.levels.len() {
        bail!(
            "the clusters of {file} have {} levels: --level {} is too high",
            found.levels.len(),
            args.level
        );
    }
    if let Some(names) = &args.names {
        Names::kept(names, &map, &mut found)?;
    }
    let summary = ExplainSummary::new(&map, &found);
    for output in &args.output {
        match output {
            ExplainOutput::Page(path) => {
                output::replace(path, page::page(&map, &args.map, &found, &summary)?.as_bytes())?;
            }
            ExplainOutput::Table(path) => table::write(path, &map, &found)?,
        }
    }
    let words = || words::of_level(&file, &summary, &found, level) + &values.notes();
    output::present(common, &Told { file: file.clone(), summary: &summary }, words)
}

impl ExplainArgs {
    /// Every file that is read.
    fn inputs(&self) -> Vec<&Path> {
        let files = [Some(&self.map), self.values.rows.as_ref(), self.names.as_ref()];
        files.into_iter().flatten().map(|file| file.as_path()).collect()
    }
}

/// The rows whose ids a file lists, one a line.
fn selected(map: &Map, file: &Path) -> Result<Vec<u32>> {
    let shown = file.display();
    let text = lion_table::read_text(file)?;
    let known: HashMap<_, u32> = (0..map.rows() as u32).map(|row| (map.id(row as usize), row)).collect();
    let mut rows = Vec::new();
    for (line, id) in (1..).zip(text.lines().map(str::trim)).filter(|(_, id)| !id.is_empty()) {
        match known.get(id) {
            Some(&row) => rows.push(row),
            None => bail!(
                "{shown}, line {line}: the map has no row with the id {id:?}: give one id of the map a line"
            ),
        }
    }
    Ok(rows)
}
