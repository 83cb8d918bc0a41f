//! Names of clusters for pictures of a map.

use super::names::{Names, source};
use super::values::RowValues;
use crate::args::ValueArgs;
use anyhow::Result;
use lion_report::ClusterName;
use lion_tsne::Map;
use lion_tsne::explain::{
    ClusterSummary, ExplainOptions, ExplainSummary, ExplainedCluster, Explanation, explain,
};
use std::path::Path;

/// The names to write on a map.
pub(crate) struct MapNames {
    pub(crate) names: Vec<ClusterName>,
    /// The checksum of the map.
    map: String,
    by: &'static str,
}

impl MapNames {
    /// The clusters of a map by density, by its own columns or those of a table, with edited names if there is a file of them.
    /// None where nothing says what the clusters are, or labels already do.
    pub(crate) fn new(map: &Map, values: &ValueArgs, edited: Option<&Path>) -> Result<Option<Self>> {
        if map.labels().is_some() && edited.is_none() {
            return Ok(None);
        }
        let values = RowValues::read(map, values)?;
        let mut found = explain(map, values.columns(), &ExplainOptions::default())?;
        if let Some(file) = edited {
            Names::apply(file, map, &mut found)?;
        } else if !found.clusters.iter().any(has_name) {
            return Ok(None);
        }
        Ok(Some(Self { names: written(map, &found)?, map: map.checksum()?, by: source(&found) }))
    }

    /// Which map and clusters the names are of.
    pub(crate) fn names_of(&self) -> [&str; 2] {
        [&self.map, self.by]
    }
}

/// Whether anything is known of a cluster that a name could be made of.
fn has_name(cluster: &ExplainedCluster) -> bool {
    !cluster.keywords.is_empty() || cluster.label.is_some() || !cluster.name.starts_with("cluster")
}

fn written(map: &Map, found: &Explanation) -> Result<Vec<ClusterName>> {
    let summary = ExplainSummary::new(map, found);
    let mut last = vec![0; found.clusters.len()];
    for (level, of_row) in found.levels.iter().enumerate() {
        of_row.iter().flatten().for_each(|&id| last[id as usize] = level);
    }
    let name = |(cluster, said): (&ExplainedCluster, &ClusterSummary)| -> Result<ClusterName> {
        Ok(ClusterName {
            id: cluster.id,
            name: cluster.name.clone(),
            anchor: cluster.centre,
            size: cluster.size,
            levels: [cluster.level, last[cluster.id as usize]],
            card: serde_json::to_value(said)?,
        })
    };
    found.clusters.iter().zip(&summary.clusters).map(name).collect()
}
