//! Clusters in words, for a terminal.

use lion_tsne::explain::{Border, ClusterSummary, ColumnSummary, ExplainSummary, Explanation, percent};
use std::fmt::Write;

/// Columns that are shown of each cluster.
const COLUMNS: usize = 5;
/// Keywords that are shown.
const KEYWORDS: usize = 8;
/// Typical rows and neighbours that are shown.
const FEW: usize = 3;

/// The clusters of a level.
pub(super) fn of_level(file: &str, summary: &ExplainSummary, found: &Explanation, level: usize) -> String {
    let shown = found.of_level(level);
    let levels = match summary.levels {
        1 => String::new(),
        levels => format!(", level {} of {levels} (--level N for others)", level + 1),
    };
    let many = if shown.len() == 1 { "1 cluster".into() } else { format!("{} clusters", shown.len()) };
    let mut text = format!("{file}: {many} by {}{levels}\n\n", summary.by);
    for cluster in shown {
        of_cluster(&summary.clusters[cluster.id as usize], &mut text, &summary.clusters);
    }
    text
}

/// One cluster, or a selection.
pub(super) fn of_cluster(cluster: &ClusterSummary, text: &mut String, all: &[ClusterSummary]) {
    let ClusterSummary { name, size, share, .. } = cluster;
    let rows = if *size == 1 { "row" } else { "rows" };
    let _ = writeln!(text, "{name}\n    {size} {rows}, {} of all", percent(*share));
    let shown = &cluster.columns[..cluster.columns.len().min(COLUMNS)];
    let width = shown.iter().map(|column| column.column.chars().count()).max().unwrap_or(0).max(8);
    let wide = shown.iter().map(|column| column.words.chars().count()).max().unwrap_or(0);
    for ColumnSummary { column, words, effect, error, .. } in shown {
        let _ = writeln!(text, "    {column:width$}  {words:wide$}  {effect:+.2} ± {error:.2}");
    }
    let mut line = |title: &str, said: String| {
        if !said.is_empty() {
            let _ = writeln!(text, "    {title:width$}  {said}");
        }
    };
    line("words", cluster.keywords[..cluster.keywords.len().min(KEYWORDS)].join(", "));
    if let (Some(label), Some(share)) = (&cluster.label, cluster.label_share)
        && label != name
    {
        line("label", format!("{label} ({})", percent(share)));
    }
    line("typical", cluster.typical[..cluster.typical.len().min(FEW)].join(", "));
    let beside = |border: &Border| all[border.cluster as usize].name.clone();
    line("beside", cluster.borders.iter().take(FEW).map(beside).collect::<Vec<_>>().join(" | "));
    text.push('\n');
}
