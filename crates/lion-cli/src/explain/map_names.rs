//! Names of clusters for pictures of a map.

use super::names::{Names, source};
use super::values::RowValues;
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
    /// For each row the name of its cluster at the coarsest level; empty if it is in none.
    pub(crate) of_rows: Vec<String>,
    /// The checksum of the map.
    map: String,
    by: &'static str,
}

impl MapNames {
    /// The clusters of a map by density, by the values of its rows, with edited names if there is a file of them. None where
    /// nothing says what the clusters are, or labels already do.
    pub(crate) fn new(map: &Map, values: &RowValues<'_>, edited: Option<&Path>) -> Result<Option<Self>> {
        if map.labels().is_some() && edited.is_none() {
            return Ok(None);
        }
        let mut found = explain(map, values.columns(), &ExplainOptions::default())?;
        if let Some(file) = edited {
            Names::apply(file, map, &mut found)?;
        } else if !found.clusters.iter().any(ExplainedCluster::is_named) {
            return Ok(None);
        }
        let name = |id: &Option<u32>| id.map_or(String::new(), |id| found.clusters[id as usize].name.clone());
        let of_rows = found.levels[0].iter().map(name).collect();
        Ok(Some(Self { names: written(map, &found)?, of_rows, map: map.checksum()?, by: source(&found) }))
    }

    /// Which map and clusters the names are of.
    pub(crate) fn names_of(&self) -> [&str; 2] {
        [&self.map, self.by]
    }
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
