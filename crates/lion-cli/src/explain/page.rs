//! Clusters on one page.

use crate::plot;
use anyhow::Result;
use lion_report::{ExplainPage, Scatter};
use lion_tsne::Map;
use lion_tsne::explain::{ExplainSummary, Explanation};
use serde_json::{Value, json};
use std::path::Path;

/// The page of an explanation.
pub(super) fn page(map: &Map, file: &Path, found: &Explanation, summary: &ExplainSummary) -> Result<String> {
    let points = plot::points(map);
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let title = format!("{name}: what its clusters are");
    let subtitle = format!("{} rows, clusters by {}", summary.rows, summary.by);
    let scatter = Scatter::new(plot::drawn_dims(map), &points).title(&title).subtitle(&subtitle);
    let clusters = found.clusters.iter().zip(&summary.clusters).map(|(cluster, said)| {
        let mut value = serde_json::to_value(said)?;
        value["anchor"] = json!(cluster.centre);
        Ok(value)
    });
    let clusters = clusters.collect::<Result<Vec<Value>>>()?;
    Ok(ExplainPage { map: scatter, levels: &found.levels, clusters }.html()?)
}
