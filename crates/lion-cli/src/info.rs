//! `lion info`: what a map file holds.

use crate::args::{Common, InfoArgs};
use crate::output;
use crate::summary::{MapSummary, counted};
use anyhow::{Context, Result};
use lion_tsne::map::UpdateStep;
use lion_tsne::{Map, Metric};
use serde::Serialize;

/// The JSON object: that of `fit`, and what only a file can tell.
#[derive(Serialize)]
struct Info {
    #[serde(flatten)]
    summary: MapSummary,
    /// Version of the library that made the map.
    version: String,
    input_dims: usize,
    metric: Metric,
    /// Whether rows have names of their own.
    ids: bool,
    /// Names of the table's columns; null if it had none.
    columns: Option<Vec<String>>,
    /// How many different labels there are; null if rows have none.
    labels: Option<usize>,
    kl_history: Vec<KlCurvePoint>,
    /// What each power of the inverse distance weights costs; empty in a map that holds no parameters of placing, or one
    /// whose power was given.
    power_curve: Vec<Cost>,
    /// The updates that led here, the first one first; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lineage: Vec<UpdateStep>,
}

/// The mean squared error, on the map, of places found by leaving rows out, at a power.
#[derive(Serialize)]
struct Cost {
    power: f64,
    error: f64,
}

/// The KL divergence on the way.
#[derive(Serialize)]
struct KlCurvePoint {
    iteration: u64,
    kl: f64,
}

/// Prints what the file holds.
pub(crate) fn run(args: &InfoArgs, common: &Common) -> Result<()> {
    let map = Map::load(&args.map)?;
    let info = Info::new(&map, args)?;
    if common.json {
        return output::present(common, &info, String::new);
    }
    // The facts are what was asked for, quiet or not.
    output::print(&info.in_words(&map))
}

impl Info {
    fn new(map: &Map, args: &InfoArgs) -> Result<Self> {
        let there = std::fs::metadata(&args.map).with_context(|| args.map.display().to_string())?;
        let provenance = map.provenance();
        let history = provenance.kl_history.iter();
        let curve = map.lion().map_or(&[][..], |lion| &lion.power_curve);
        Ok(Self {
            summary: MapSummary::new(map, &args.map, there.len(), map.checksum()?),
            version: provenance.version.clone(),
            input_dims: map.preprocess().input_dims(),
            metric: map.preprocess().metric(),
            ids: map.has_ids(),
            columns: map.columns().map(|names| names.map(str::to_owned).collect()),
            labels: map.labels().map(|labels| labels.names().len()),
            kl_history: history
                .map(|point| KlCurvePoint { iteration: point.iteration, kl: point.kl })
                .collect(),
            power_curve: curve.iter().map(|point| Cost { power: point.power, error: point.error }).collect(),
            lineage: provenance.lineage.clone(),
        })
    }

    fn in_words(&self, map: &Map) -> String {
        let mut facts = self.summary.facts();
        if let [first, .., last] = &self.kl_history[..] {
            let values: Vec<f64> = self.kl_history.iter().map(|point| point.kl).collect();
            let line = sparkline(&values);
            let iterations = format!("iterations {} to {}", first.iteration, last.iteration);
            facts.add("KL on the way", format!("{:.2} {line} {:.2}, {iterations}", first.kl, last.kl));
        }
        if let [first, .., last] = &self.power_curve[..] {
            facts.add("error by power", curve_in_words(&self.power_curve, first.power, last.power));
        }
        for (version, step) in (2..).zip(&self.lineage) {
            facts.add(if version == 2 { "lineage" } else { "" }, step_in_words(version, step));
        }
        let metric = match self.metric {
            Metric::Euclidean => "Euclidean",
            Metric::Cosine => "cosine",
        };
        if let Some(columns) = &self.columns {
            let more = if columns.len() > NAMED { ", …" } else { "" };
            facts.add("column names", format!("{}{more}", columns[..columns.len().min(NAMED)].join(", ")));
        }
        facts.add("metric", metric.into());
        facts.add("ids", if self.ids { "yes".into() } else { "none: rows go by their numbers".into() });
        facts.add("labels", labels_in_words(map));
        facts.add("made by", format!("lion {}", self.version));
        facts.lines()
    }
}

/// One update in a line.
fn step_in_words(version: usize, step: &UpdateStep) -> String {
    let UpdateStep { parent, added, removed, kl, moved_median, moved_p90, .. } = step;
    let went = if *removed > 0 { format!(", {removed} that went") } else { String::new() };
    let kl = kl.map_or(String::new(), |kl| format!(", KL {kl:.3}"));
    format!(
        "version {version}: {} taken in{went}{kl}; old rows moved {moved_median:.3} (p90 {moved_p90:.3}) map \
         radii; from {parent}",
        counted(*added, "row")
    )
}

/// The curve of the power: where it begins and ends, its shape, its least.
fn curve_in_words(curve: &[Cost], first: f64, last: f64) -> String {
    // Evenly spaced powers make an honest picture; the points themselves are denser around the least.
    const COLUMNS: usize = 40;
    let at = |power: f64| {
        let above = curve.partition_point(|cost| cost.power < power).clamp(1, curve.len() - 1);
        let (a, b) = (&curve[above - 1], &curve[above]);
        let share = if b.power > a.power { (power - a.power) / (b.power - a.power) } else { 0.0 };
        a.error + share.clamp(0.0, 1.0) * (b.error - a.error)
    };
    let step = (last - first) / (COLUMNS - 1) as f64;
    // Errors at low powers dwarf all others: their logarithms show the valley.
    let heights: Vec<f64> = (0..COLUMNS).map(|i| at(first + step * i as f64).max(1e-300).ln()).collect();
    let least = curve.iter().min_by(|a, b| a.error.total_cmp(&b.error));
    let least = least.map_or(String::new(), |cost| format!(", least {:.4} at {:.2}", cost.error, cost.power));
    format!("{first:.1} {} {last:.1}{least}", sparkline(&heights))
}

/// Columns that are named.
const NAMED: usize = 12;

/// The labels and how many rows have each, the first few of them.
fn labels_in_words(map: &Map) -> String {
    const SHOWN: usize = 12;
    let Some(labels) = map.labels() else { return "none".into() };
    let mut counts = vec![0usize; labels.names().len()];
    for &code in labels.codes() {
        counts[code as usize] += 1;
    }
    let mut named: Vec<(&str, usize)> = labels.names().zip(counts).collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let few: Vec<String> =
        named.iter().take(SHOWN).map(|(name, count)| format!("{name} ({count})")).collect();
    let more = if named.len() > SHOWN { ", …" } else { "" };
    format!("{}: {}{more}", named.len(), few.join(", "))
}

/// Values as a line of little columns, the least of them lowest.
fn sparkline(values: &[f64]) -> String {
    const COLUMNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const WIDEST: usize = 40;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let column = |value: f64| {
        let height = if most > least { (value - least) / (most - least) } else { 0.0 };
        COLUMNS[((height * 8.0) as usize).min(7)]
    };
    let width = values.len().min(WIDEST);
    (0..width).map(|i| column(values[i * values.len() / width])).collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn sparklines_fall_and_stay_short() {
        assert_eq!(sparkline(&[8.0, 4.0, 2.0, 0.0]), "█▅▃▁");
        assert_eq!(sparkline(&[3.0, 3.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(sparkline(&long).chars().count(), 40);
    }
}
