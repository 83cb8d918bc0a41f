//! The numbers in words: what each means, and what to make of it. The limits are rules of thumb, and docs/quality.md says so.

use super::QualitySummary;
use super::advice::Advice;
use lion_tsne::Map;
use lion_tsne::quality::{Quality, SampleMean, ScaleQuality, SeedStability};
use serde::Serialize;
use std::fmt::Write;

/// One sentence for each number; none where there is no number.
#[derive(Default, Serialize)]
pub(super) struct Sentences {
    trustworthiness: Option<String>,
    continuity: Option<String>,
    neighbours_kept: Option<String>,
    label_share: Option<String>,
    kl: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perplexity: Option<String>,
}

/// How good a number is.
#[derive(Clone, Copy)]
enum Grade {
    Good,
    Fair,
    Poor,
}

impl Grade {
    fn of(value: f64, good: f64, fair: f64) -> Self {
        match value {
            value if value >= good => Self::Good,
            value if value >= fair => Self::Fair,
            _ => Self::Poor,
        }
    }

    fn of_ranks(value: f64) -> Self {
        Self::of(value, 0.95, 0.85)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

impl Sentences {
    pub(super) fn new(
        quality: &Quality,
        map: &Map,
        stability: Option<&SeedStability>,
        advice: Option<&Advice>,
    ) -> Self {
        let first = quality.scales.first();
        Self {
            trustworthiness: first.map(|at| trustworthiness(at.trustworthiness.mean)),
            continuity: first.map(|at| continuity(at.continuity.mean)),
            neighbours_kept: first.map(|_| neighbours_kept(&quality.scales, quality.rows)),
            label_share: label_share(quality),
            kl: map.provenance().kl.map(kl),
            stability: stability.map(stable),
            perplexity: advice.map(|advice| advice.sentence.clone()),
        }
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        let Self { trustworthiness, continuity, neighbours_kept, label_share, kl, stability, perplexity } =
            self;
        [trustworthiness, continuity, neighbours_kept, label_share, stability, perplexity, kl]
            .into_iter()
            .flatten()
    }
}

fn trustworthiness(value: f64) -> String {
    let grade = Grade::of_ranks(value);
    let meaning = match grade {
        Grade::Good => "rows that lie side by side on the map are nearly always alike in the data",
        Grade::Fair => {
            "most rows that lie side by side on the map are alike in the data; look up a pair before you rely on it"
        }
        Grade::Poor => {
            "many rows lie side by side on the map that are not alike in the data: do not read single neighbours off it"
        }
    };
    format!("Trustworthiness is {}: {meaning}.", grade.word())
}

fn continuity(value: f64) -> String {
    let grade = Grade::of_ranks(value);
    let meaning = match grade {
        Grade::Good => "rows that are alike in the data nearly always lie near each other on the map",
        Grade::Fair => {
            "rows that are alike in the data mostly lie near each other; some groups may be torn apart"
        }
        Grade::Poor => {
            "rows that are alike in the data often lie far apart: what looks like two islands may be one group"
        }
    };
    format!("Continuity is {}: {meaning}.", grade.word())
}

fn neighbours_kept(scales: &[ScaleQuality], rows: usize) -> String {
    let count = |at: &ScaleQuality| plain(at.neighbours as f64 * at.neighbours_kept.mean);
    let (first, others) = (&scales[0], &scales[1..]);
    let k = first.neighbours;
    let chance = (k * k) as f64 / (rows as f64 - 1.0).max(1.0);
    let others: String = others.iter().map(|at| format!("; of {}, {}", at.neighbours, count(at))).collect();
    format!(
        "Neighbours kept are {}: of the {k} rows most like a row, {} are among its {k} nearest on the map (by chance {}){others}. No plane keeps all neighbours of rows with many columns.",
        Grade::of(first.neighbours_kept.mean, 0.4, 0.2).word(),
        count(first),
        plain(chance)
    )
}

/// A number of neighbours.
fn plain(count: f64) -> String {
    if count < 10.0 { format!("{count:.1}") } else { format!("{count:.0}") }
}

fn label_share(quality: &Quality) -> Option<String> {
    let (share, rows) = (quality.label_share?, quality.label_share_of_rows.map(|share| share.mean));
    let chance = quality.label_share_by_chance.unwrap_or(0.0);
    let meaning = match rows {
        // Half way from chance to certainty.
        Some(rows) if rows - chance < 0.5 * (1.0 - chance) => {
            "the columns hardly tell the labels apart, so no map can show them as islands"
        }
        Some(rows) if share >= rows - 0.03 => "the map shows the labels as well as the rows themselves do",
        Some(_) => "the map mixes labels that the rows keep apart",
        None => "there is nothing to compare it with",
    };
    let rows = rows
        .map_or(String::new(), |rows| format!(" Among the 10 most alike rows it is {:.0} %:", 100.0 * rows));
    Some(format!(
        "Of the 10 places around a row {:.0} % carry its own label, {:.0} % by chance.{rows} {meaning}.",
        100.0 * share,
        100.0 * chance
    ))
}

fn kl(value: f64) -> String {
    format!(
        "KL divergence, {value:.3}, is the loss that t-SNE minimises. It compares maps of the same rows with the same perplexity, lower is better; between tables it says nothing, because it grows with the rows."
    )
}

fn stable(stability: &SeedStability) -> String {
    let SeedStability { fits, rows, shared, shared_with_map } = stability;
    let grade = match Grade::of(*shared, 0.6, 0.4) {
        Grade::Good => "other starts lead to much the same neighbourhoods",
        Grade::Fair => "a part of what lies side by side is an accident of the start",
        Grade::Poor => {
            "much of what lies side by side is an accident of the start: trust what several maps show"
        }
    };
    let own = shared_with_map.map_or(String::new(), |own| format!(", {:.0} % with this map", 100.0 * own));
    format!(
        "{fits} maps of {rows} rows from random starts share {:.0} % of a row's 10 nearest places with each other{own}: {grade}.",
        100.0 * shared
    )
}

impl QualitySummary {
    pub(super) fn in_words(&self) -> String {
        let mut text = self.heading();
        if !self.scales.is_empty() {
            text.push_str(&self.table());
        }
        if let Some(trials) = &self.perplexities {
            text.push_str("\nperplexity  neighbours kept");
            for trial in trials {
                let at: Vec<String> =
                    trial.kept_at.iter().map(|(k, kept)| format!("{kept:.3} of {k}")).collect();
                let _ = write!(
                    text,
                    "\n{:>10}  {:.3} ({})",
                    trial.perplexity,
                    trial.neighbours_kept,
                    at.join(", ")
                );
            }
            text.push('\n');
        }
        for sentence in self.sentences.all() {
            let _ = write!(text, "\n{sentence}");
        }
        text.push('\n');
        text
    }

    fn heading(&self) -> String {
        let asked = match self.asked < self.distinct_rows {
            true => format!("{} of {} rows, a fixed sample", self.asked, self.distinct_rows),
            false => format!("all {} different rows", self.distinct_rows),
        };
        let small = match self.scales.is_empty() {
            true => "\nThere are too few rows: neighbourhoods of 10 need more than 20.\n",
            false => "",
        };
        format!("{}: {asked}, neighbours by {}\n{small}", self.map, self.by)
    }

    fn table(&self) -> String {
        let mut text = format!("\n{:<18}", "neighbours");
        for scale in &self.scales {
            let _ = write!(text, "{:>16}", scale.neighbours);
        }
        type Value = fn(&super::ScaleSummary) -> (f64, f64);
        let lines: [(&str, Value); 3] = [
            ("trustworthiness", |at| (at.trustworthiness, at.trustworthiness_error)),
            ("continuity", |at| (at.continuity, at.continuity_error)),
            ("neighbours kept", |at| (at.neighbours_kept, at.neighbours_kept_error)),
        ];
        for (name, value) in lines {
            let _ = write!(text, "\n{name:<18}");
            for (mean, error) in self.scales.iter().map(value) {
                let _ = write!(text, "{:>16}", shown(SampleMean { mean, error }));
            }
        }
        if let Some(share) = self.label_share {
            let _ = write!(text, "\n{:<18}{:>16}", "label share", format!("{share:.3}"));
        }
        text.push('\n');
        text
    }
}

fn shown(value: SampleMean) -> String {
    let SampleMean { mean, error } = value;
    if error > 0.0 { format!("{mean:.3} ± {error:.3}") } else { format!("{mean:.3}") }
}
