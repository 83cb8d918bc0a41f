//! Names of clusters that people edit, in a file.

use crate::output;
use anyhow::{Context, Result, bail};
use lion_tsne::Map;
use lion_tsne::explain::Explanation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file: which map the names are for, and a name for each cluster by its id.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Names {
    /// The checksum of the map.
    map: String,
    /// Where its clusters come from: their ids depend on it.
    by: String,
    names: BTreeMap<u32, String>,
}

impl Names {
    /// Gives clusters the names of a file, if it is there.
    pub(crate) fn apply(file: &Path, map: &Map, found: &mut Explanation) -> Result<()> {
        let shown = file.display();
        let names: Self = serde_json::from_str(&lion_table::read_text(file)?)
            .with_context(|| format!("{shown} is no file of names: let lion explain --names write one"))?;
        if names.map != map.checksum()? || names.by != source(found) {
            bail!(
                "{shown} has names for another map, or for other clusters of it: let lion explain --names write a new file"
            );
        }
        for (id, name) in names.names {
            let Some(cluster) = found.clusters.get_mut(id as usize) else {
                bail!("{shown} names cluster {id}, and the map has {}", found.clusters.len());
            };
            if name.trim().is_empty() {
                bail!("{shown} gives cluster {id} an empty name: give it a word, or leave it out");
            }
            cluster.name = name;
        }
        Ok(())
    }

    /// Gives clusters the names of a file if it is there, and writes the file with the names of all.
    pub(crate) fn kept(file: &Path, map: &Map, found: &mut Explanation) -> Result<()> {
        if file.exists() {
            Self::apply(file, map, found)?;
        }
        output::check(file, &[])?;
        let names = found.clusters.iter().map(|cluster| (cluster.id, cluster.name.clone())).collect();
        let kept = Self { map: map.checksum()?, by: source(found).to_owned(), names };
        output::replace(file, (serde_json::to_string_pretty(&kept)? + "\n").as_bytes())
    }
}

/// What clusters are found by.
pub(crate) fn source(found: &Explanation) -> &'static str {
    if found.from_labels { "labels" } else { "density" }
}
