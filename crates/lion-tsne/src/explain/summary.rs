//! What is known of clusters in the form that the command line, Python and the service give: ids of rows in the place of
//! their numbers, levels counted from 1.

use super::{Border, Contrast, Effect, ExplainedCluster, Explanation, Keyword};
use crate::map::Map;
use lion_recipe::date_in_words;
use serde::Serialize;

/// All clusters of a map.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainSummary {
    /// Rows of the map.
    pub rows: usize,
    /// What clusters are found by: `labels`, `density`, or `selection`.
    pub by: &'static str,
    /// How many levels of detail there are.
    pub levels: usize,
    /// The level that is what density alone says, from 1 on.
    pub usual_level: usize,
    /// Rows in no cluster of that level.
    pub in_no_cluster: usize,
    /// The clusters.
    pub clusters: Vec<ClusterSummary>,
}

/// One cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterSummary {
    /// Its number, from 0, the same in the table of rows.
    pub id: u32,
    /// What it is called.
    pub name: String,
    /// How many rows it has.
    pub size: usize,
    /// Of all rows.
    pub share: f64,
    /// The first level that has it, from 1 on.
    pub level: usize,
    /// The cluster of the level before that it is a part of.
    pub parent: Option<u32>,
    /// The label that most of its rows have.
    pub label: Option<String>,
    /// The share of its rows that have it.
    pub label_share: Option<f64>,
    /// What sets it apart.
    pub columns: Vec<ColumnSummary>,
    /// The words of its texts.
    pub keywords: Vec<String>,
    /// The same with how often they occur.
    pub keyword_shares: Vec<Keyword>,
    /// Ids of its most typical rows.
    pub typical: Vec<String>,
    /// Clusters beside it.
    pub borders: Vec<Border>,
    /// Where its name goes: the place of one of its rows.
    pub centre: Vec<f32>,
}

/// A column that sets a cluster apart.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnSummary {
    /// The column.
    pub column: String,
    /// What its values are: `number`, `date` (days since 1970-01-01) or `category`.
    pub kind: &'static str,
    /// The category; none for numbers.
    pub value: Option<String>,
    /// The difference in standard deviations of the column.
    pub effect: f64,
    /// The standard error of that.
    pub error: f64,
    /// The median of numbers, or the share of rows with the category, in the cluster.
    pub inside: f64,
    /// The same of all other rows.
    pub outside: f64,
    /// The difference of the means, or of the shares, in the column's own units.
    pub difference: f64,
    /// The standard error of that.
    pub difference_error: f64,
    /// The mean of numbers in the cluster.
    pub mean_inside: Option<f64>,
    /// The mean of all other rows.
    pub mean_outside: Option<f64>,
    /// The ratio of the odds of a category.
    pub odds_ratio: Option<f64>,
    /// Inside against outside, as people say it: `42 against 31`, `basic 80 % against 12 %`.
    pub words: String,
}

impl ExplainSummary {
    /// Of the clusters of a map.
    pub fn new(map: &Map, found: &Explanation) -> Self {
        Self {
            rows: map.rows(),
            by: if found.from_labels { "labels" } else { "density" },
            levels: found.levels.len(),
            usual_level: found.usual + 1,
            in_no_cluster: found.levels[found.usual].iter().filter(|cluster| cluster.is_none()).count(),
            clusters: found.clusters.iter().map(|cluster| ClusterSummary::new(map, cluster)).collect(),
        }
    }

    /// Of a selection.
    pub fn of_selection(map: &Map, found: &ExplainedCluster) -> Self {
        Self {
            rows: map.rows(),
            by: "selection",
            levels: 1,
            usual_level: 1,
            in_no_cluster: map.rows() - found.size,
            clusters: vec![ClusterSummary::new(map, found)],
        }
    }
}

impl ClusterSummary {
    fn new(map: &Map, cluster: &ExplainedCluster) -> Self {
        Self {
            id: cluster.id,
            name: cluster.name.clone(),
            size: cluster.size,
            share: cluster.size as f64 / map.rows() as f64,
            level: cluster.level + 1,
            parent: cluster.parent,
            label: cluster.label.as_ref().map(|(label, _)| label.clone()),
            label_share: cluster.label.as_ref().map(|(_, share)| *share),
            columns: cluster.columns.iter().map(ColumnSummary::new).collect(),
            keywords: cluster.keywords.iter().map(|keyword| keyword.word.clone()).collect(),
            keyword_shares: cluster.keywords.clone(),
            typical: cluster.typical.iter().map(|&row| map.id(row as usize).into_owned()).collect(),
            borders: cluster.borders.clone(),
            centre: map.place(cluster.centre as usize).to_vec(),
        }
    }
}

impl ColumnSummary {
    fn new(of_effect: &Effect) -> Self {
        let Effect { column, value, is_date, effect, error, contrast } = of_effect;
        let (pair, means, difference, difference_error, odds_ratio) = match *contrast {
            Contrast::Numbers { mean, median, difference, error } => {
                (median, Some(mean), difference, error, None)
            }
            Contrast::Shares { share, difference, error, odds_ratio } => {
                (share, None, difference, error, Some(odds_ratio))
            }
        };
        Self {
            column: column.clone(),
            kind: match (value, is_date) {
                (Some(_), _) => "category",
                (None, true) => "date",
                (None, false) => "number",
            },
            value: value.clone(),
            effect: *effect,
            error: *error,
            inside: pair[0],
            outside: pair[1],
            difference,
            difference_error,
            mean_inside: means.map(|means| means[0]),
            mean_outside: means.map(|means| means[1]),
            odds_ratio,
            words: in_words(of_effect),
        }
    }
}

/// Inside against outside. Medians say what is usual; where they contradict the effect, which is one of means, means are told.
fn in_words(effect: &Effect) -> String {
    let said = |value: f64| if effect.is_date { date_in_words(value) } else { short(value) };
    match (&effect.contrast, &effect.value) {
        (Contrast::Shares { share, .. }, value) => {
            let value = value.as_deref().unwrap_or_default();
            format!("{value} {} against {}", percent(share[0]), percent(share[1]))
        }
        (Contrast::Numbers { mean, median, .. }, _) => {
            let [inside, outside] = median.map(said);
            let agrees = inside != outside && (median[0] > median[1]) == (effect.effect > 0.0);
            match agrees {
                true => format!("{inside} against {outside}"),
                false => {
                    // A mean of zeros may be off by rounding.
                    let noise = 1e-9 * (mean[0] - mean[1]).abs();
                    let [inside, outside] =
                        mean.map(|mean| said(if mean.abs() < noise { 0.0 } else { mean }));
                    format!("{inside} against {outside} on average")
                }
            }
        }
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// A number with as many digits as matter.
fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 0.001 => {
            let digits = 2 - size.log10().floor() as i32;
            let text = format!("{value:.*}", digits.max(0) as usize);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 31.0, 84123.4, 0.123456, -4.56789, 12.0, 0.00001234].map(short);
        assert_eq!(texts, ["0", "31", "84123", "0.123", "-4.57", "12", "1.23e-5"]);
        assert_eq!([0.5, 0.054, 0.0, 1.0].map(percent), ["50 %", "5.4 %", "0 %", "100 %"]);
    }
}
