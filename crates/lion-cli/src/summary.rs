//! What there is to say about a map, as JSON keys and in words.

use crate::memory;
use crate::output::size;
use crate::prepare::ColumnFact;
use crate::progress::Phases;
use lion_tsne::map::Provenance;
use lion_tsne::recipe::{Kind, Recipe, Scale};
use lion_tsne::{DEFAULT_ALPHA, Descent, Map};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// With fewer groups, how rows of a new group look is a guess.
const FEW_GROUPS: u64 = 10;
const FEW_GROUPS_SAID: &str = ", too few to know how groups differ";

/// A map, its file, and how long it took: the JSON object of `fit`.
#[derive(Debug, Serialize)]
pub(crate) struct MapSummary {
    /// Rows of the map.
    pub(crate) rows: usize,
    /// The same number where they are landmarks; null in a map of all rows, as is what follows.
    pub(crate) landmarks: Option<usize>,
    /// Rows of the table that they were chosen from.
    pub(crate) sampled_from: Option<u64>,
    /// Whether each label has its share of them.
    pub(crate) stratified: Option<bool>,
    /// How many cover sparse regions.
    pub(crate) covering: Option<u64>,
    /// Rows of the table beyond r_x of every landmark, by how much that may be wrong (0 if they were counted), and by how
    /// many rows it was judged.
    pub(crate) beyond: Option<u64>,
    pub(crate) beyond_error: Option<u64>,
    pub(crate) beyond_judged: Option<u64>,
    /// Columns of the table.
    pub(crate) dims: usize,
    /// Columns after preprocessing.
    pub(crate) components: usize,
    /// The share of the variance that PCA kept; null without PCA.
    pub(crate) variance_kept: Option<f64>,
    /// Dimensions of the map.
    pub(crate) map_dims: usize,
    /// What the rows are pictures of, e.g. 28x28; null if they are none.
    pub(crate) image: Option<String>,
    /// Null if the map was made elsewhere.
    pub(crate) perplexity: Option<f64>,
    /// How the map moved down the gradient.
    pub(crate) descent: Descent,
    /// Iterations done.
    pub(crate) iterations: usize,
    /// Null if the map was made elsewhere.
    pub(crate) kl: Option<f64>,
    /// The parameters of placing: null in a map that holds none.
    pub(crate) r_x: Option<f64>,
    pub(crate) r_y: Option<f64>,
    pub(crate) r_close: Option<f64>,
    pub(crate) power: Option<f64>,
    /// The score up to which a new row is an outlier, and the share of rows like the map's own that this is; null in a map
    /// that is not calibrated.
    pub(crate) alpha: Option<f64>,
    pub(crate) promised: Option<f64>,
    /// How many rows calibrate, and by how many groups they were left out.
    pub(crate) calibration_rows: Option<usize>,
    pub(crate) calibration_groups: Option<u64>,
    /// Null where nothing was fitted.
    pub(crate) seconds: Option<f64>,
    pub(crate) phases: Option<Phases>,
    pub(crate) checksum: String,
    pub(crate) method: String,
    pub(crate) init: String,
    pub(crate) search: String,
    pub(crate) seed: u64,
    /// Rows that equal an earlier one and share its place.
    pub(crate) duplicates: usize,
    pub(crate) stopped_early: bool,
    /// The places were made elsewhere.
    pub(crate) adopted: bool,
    /// What was done to the columns of the table first; left out where they were numbers and were taken as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recipe: Option<Recipe>,
    /// What each column of the table is and what became of it; left out where nobody looked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) table: Vec<ColumnFact>,
    /// What it was expected to take; null where nothing was fitted.
    pub(crate) memory_bytes: Option<u64>,
    /// Null where nothing was fitted, or the system does not tell.
    pub(crate) peak_rss_bytes: Option<u64>,
    /// Size of the file.
    pub(crate) bytes: u64,
    pub(crate) file: String,
}

impl MapSummary {
    /// Of a map in a file of so many bytes, nothing having been fitted.
    pub(crate) fn new(map: &Map, file: &Path, bytes: u64, checksum: String) -> Self {
        let Provenance { perplexity, iterations_done, kl, method, init, search, .. } =
            map.provenance().clone();
        let Provenance { seed, stopped_early, adopted, descent, .. } = *map.provenance();
        let (pca, from) = (map.preprocess().pca(), map.provenance().sampled_from);
        let calibration = map.calibration_facts();
        Self {
            rows: map.rows(),
            landmarks: from.map(|_| map.rows()),
            sampled_from: from.map(|from| from.rows),
            stratified: from.map(|from| from.stratified),
            covering: from.map(|from| from.covering),
            beyond: from.map(|from| from.uncovered),
            beyond_error: from.map(|from| from.uncovered_error),
            beyond_judged: from.map(|from| from.judged),
            dims: map.preprocess().input_dims(),
            components: map.preprocess().output_dims(),
            variance_kept: pca.map(|pca| share(pca.variances().iter().sum(), pca.total_variance())),
            map_dims: map.dims(),
            image: map.image().map(|image| image.to_string()),
            perplexity: (!adopted).then_some(perplexity),
            descent,
            iterations: iterations_done,
            kl,
            r_x: map.lion().map(|lion| lion.r_x),
            r_y: map.lion().map(|lion| lion.r_y),
            r_close: map.lion().map(|lion| lion.r_close),
            power: map.lion().map(|lion| lion.power),
            alpha: calibration.map(|known| known.alpha),
            promised: calibration.map(|known| known.promised),
            calibration_rows: calibration.map(|known| known.rows),
            calibration_groups: calibration.and_then(|known| known.groups),
            seconds: None,
            phases: None,
            checksum,
            method,
            init,
            search,
            seed,
            duplicates: map.rows() - map.x().rows(),
            stopped_early,
            adopted,
            recipe: map.recipe().cloned(),
            table: Vec::new(),
            memory_bytes: None,
            peak_rss_bytes: None,
            bytes,
            file: file.display().to_string(),
        }
    }

    /// With what fitting it took.
    pub(crate) fn fitted(self, (phases, seconds): (Phases, f64)) -> Self {
        Self { seconds: Some(seconds), phases: Some(phases), peak_rss_bytes: memory::peak(), ..self }
    }

    /// The summary for a person, a fact a line.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("rows", self.rows_in_words());
        facts.add("columns", self.columns_in_words());
        if let Some(recipe) = &self.recipe {
            facts.add("made of", recipe_in_words(recipe));
        }
        if let Some(landmarks) = self.landmarks_in_words() {
            facts.add("landmarks", landmarks);
        }
        if let Some(beyond) = self.beyond_in_words() {
            facts.add("beyond r_x", beyond);
        }
        if let Some(image) = &self.image {
            facts.add("pictures", format!("of {image} pixels, kept with the rows"));
        }
        facts.add("map", self.map_in_words());
        if !self.adopted {
            facts.add("made with", self.choices_in_words());
        }
        match self.kl {
            Some(kl) => facts.add("KL divergence", format!("{kl:.4}")),
            None => facts.add("KL divergence", "not known".into()),
        }
        if let (Some(r_x), Some(r_y), Some(r_close), Some(power)) =
            (self.r_x, self.r_y, self.r_close, self.power)
        {
            facts.add("placing", placing_in_words(r_x, r_y, r_close, Some(power)));
            facts.add("verdicts", self.verdicts_in_words());
        }
        if let (Some(seconds), Some(phases)) = (self.seconds, &self.phases) {
            facts.add("seconds", seconds_in_words(seconds, phases));
        }
        if let Some(bytes) = self.peak_rss_bytes {
            facts.add("peak memory", size(bytes));
        }
        facts.add("file", format!("{} ({})", self.file, size(self.bytes)));
        facts.add("checksum", self.checksum.clone());
        facts
    }

    fn verdicts_in_words(&self) -> String {
        let (Some(alpha), Some(promised), Some(rows)) = (self.alpha, self.promised, self.calibration_rows)
        else {
            return match self.rows - self.duplicates < 20 {
                true => "the paper's rule: fewer than 20 different rows cannot calibrate".into(),
                false => {
                    "the paper's rule, not calibrated: lion calibrate MAP --rows TABLE -o NEW calibrates it"
                        .into()
                }
            };
        };
        let groups = self.calibration_groups.map_or(String::new(), |groups| {
            let few = if groups < FEW_GROUPS { FEW_GROUPS_SAID } else { "" };
            format!(" in {groups} groups{few}")
        });
        let few = match alpha > DEFAULT_ALPHA {
            true => ", the least that so few rows can tell",
            false => "",
        };
        format!(
            "calibrated by {rows} rows{groups}: {} of rows like these are called outliers{few}",
            percent(promised)
        )
    }

    fn rows_in_words(&self) -> String {
        match self.duplicates {
            0 => self.rows.to_string(),
            1 => format!("{}, of which 1 repeats another and shares its place", self.rows),
            n => format!("{}, of which {n} repeat others and share their places", self.rows),
        }
    }

    fn landmarks_in_words(&self) -> Option<String> {
        let stratified = if self.stratified? { ", as many of each label as can be had" } else { "" };
        let covering = match self.covering? {
            0 => String::new(),
            1 => ", 1 of them to cover a sparse region".into(),
            some => format!(", {some} of them to cover sparse regions"),
        };
        Some(format!("chosen from {} rows{stratified}{covering}", self.sampled_from?))
    }

    fn beyond_in_words(&self) -> Option<String> {
        let (rows, beyond, error) = (self.sampled_from?, self.beyond?, self.beyond_error?);
        let percent = 100.0 * share(beyond as f64, rows as f64);
        Some(match error {
            0 => format!("{percent:.2} % of {rows} rows, {beyond}, lie beyond r_x of every landmark"),
            _ => format!(
                "about {percent:.2} % of {rows} rows, {} ± {}, lie beyond r_x of every landmark, judged by {} of them",
                rounded(beyond, error),
                rounded(error, error),
                self.beyond_judged?
            ),
        })
    }

    fn columns_in_words(&self) -> String {
        match self.variance_kept {
            Some(kept) => format!(
                "{}, as {} principal components that keep {:.1} % of the variance",
                self.dims,
                self.components,
                100.0 * kept
            ),
            None => format!("{}, without PCA", self.dims),
        }
    }

    fn choices_in_words(&self) -> String {
        let Self { search, method, init, seed, .. } = self;
        format!("neighbours {search}; gradient {method}; start {init}; seed {seed}")
    }

    fn map_in_words(&self) -> String {
        let dims = dimensions(self.map_dims);
        let Some(perplexity) = self.perplexity else {
            return format!("{dims}, made elsewhere");
        };
        let stopped = if self.stopped_early { " (stopped early)" } else { "" };
        let (descent, iterations) = (self.descent, self.iterations);
        format!(
            "{dims}, perplexity {perplexity}, {iterations} {} of the {descent} descent{stopped}",
            if iterations == 1 { "iteration" } else { "iterations" }
        )
    }
}

/// The columns of a table that a recipe made numbers of.
fn recipe_in_words(recipe: &Recipe) -> String {
    let count = |kind: Kind| recipe.columns().iter().filter(|column| column.kind() == kind).count();
    let kinds = [Kind::Number, Kind::Boolean, Kind::Date, Kind::Category].map(|kind| (kind, count(kind)));
    let words = |(kind, count): &(Kind, usize)| match count {
        0 => None,
        1 => Some(format!("1 {kind}")),
        count => Some(format!("{count} {}", kind.plural())),
    };
    let kinds: Vec<String> = kinds.iter().filter_map(words).collect();
    let scaled = match recipe.scale() {
        Scale::Standard => "scaled to unit variance",
        Scale::Robust => "scaled by median and quartiles",
        Scale::None | Scale::Auto => "not scaled",
    };
    format!("{}, {scaled}; gaps: {}", kinds.join(", "), recipe.missing())
}

/// Facts under each other, their names in a column of their own.
#[derive(Debug, Default)]
pub(crate) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    /// One more.
    pub(crate) fn add(&mut self, name: &'static str, fact: String) {
        self.0.push((name, fact));
    }

    /// A line for each.
    pub(crate) fn lines(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0.iter().fold(String::new(), |mut lines, (name, fact)| {
            let _ = writeln!(lines, "{name:width$}  {fact}");
            lines
        })
    }
}

/// What is said at placing of a map that few groups calibrate.
pub(crate) fn few_groups(groups: Option<u64>) -> Option<String> {
    let groups = groups.filter(|&groups| groups < FEW_GROUPS)?;
    Some(format!("calibrated by {groups} groups{FEW_GROUPS_SAID}"))
}

/// So many of something, whose plural ends in s.
pub(crate) fn counted(count: impl TryInto<u64>, what: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// A number of dimensions as a person writes it.
pub(crate) fn dimensions(count: usize) -> String {
    counted(count, "dimension")
}

/// A share as a person writes it: with more digits where it, or what it lacks of all, is small.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if share > 0.0 && share < 1e-6 {
        return format!("{percent:.1e} %").replace(".0e", "e");
    }
    let is_near = |digits: &usize| {
        let unit = 10f64.powi(*digits as i32);
        let rounded = (percent * unit).round() / unit;
        (rounded - percent).abs() <= 0.1 * percent.min(100.0 - percent)
    };
    let usual = if share < 0.1 { 2 } else { 1 };
    let digits = (usual..=14).find(is_near).unwrap_or(14);
    let text = format!("{percent:.digits$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short} %")
}

fn share(part: f64, whole: f64) -> f64 {
    // Constant rows have no variance, and all of it is kept.
    if whole > 0.0 { (part / whole).min(1.0) } else { 1.0 }
}

/// The parameters of placing in a line, the power where it matters.
pub(crate) fn placing_in_words(r_x: f64, r_y: f64, r_close: f64, power: Option<f64>) -> String {
    let power = power.map_or(String::new(), |power| format!(", power {}", short(power)));
    format!("r_x {}, r_y {}, r_close {}{power}", short(r_x), short(r_y), short(r_close))
}

/// A count without the digits that an error of this size makes meaningless.
fn rounded(count: u64, error: u64) -> u64 {
    let unit = 10u64.pow(error.max(1).ilog10().saturating_sub(1));
    (count + unit / 2) / unit * unit
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 || (size < 1e-3 && size > 0.0) => format!("{value:.3e}"),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// How long it took, in all and in parts.
pub(crate) fn seconds_in_words(seconds: f64, phases: &Phases) -> String {
    let noticed = phases.named().filter(|(_, seconds)| *seconds >= 0.005);
    let parts: Vec<String> = noticed.map(|(name, seconds)| format!("{name} {seconds:.2}")).collect();
    match parts.is_empty() {
        true => format!("{seconds:.2}"),
        false => format!("{seconds:.2}: {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_readable_at_the_extremes_too() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.01, "1 %"),
            (0.0099, "0.99 %"),
            (0.05, "5 %"),
            (0.123_456, "12.3 %"),
            (0.5, "50 %"),
            (0.995, "99.5 %"),
            (1.0, "100 %"),
            (0.000_123, "0.012 %"),
            (0.000_04, "0.004 %"),
            (0.000_002, "0.0002 %"),
            (1e-7, "1e-5 %"),
            (2.5e-300, "2.5e-298 %"),
            (0.9999, "99.99 %"),
            (0.999_999_9, "99.99999 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }
}
