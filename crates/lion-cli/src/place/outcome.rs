//! What came of placing, as JSON keys and in words.

use super::other::Other;
use crate::args::PlaceArgs;
use crate::memory;
use crate::output;
use crate::progress::Phases;
use crate::summary::{Facts, few_groups, percent, placing_in_words, seconds_in_words};
use lion_tsne::{DEFAULT_ALPHA, Lion, LionOptions, Local, Placement, Verdict, VerdictRule};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// From this share of outliers on, something may be wrong with the table as a whole.
const SUSPICIOUS: f64 = 1.0 / 3.0;

/// How many rows there are, and how many of each verdict.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct VerdictCounts {
    pub(crate) rows: usize,
    pub(crate) exact: usize,
    pub(crate) interpolated: usize,
    pub(crate) beside_outlier: usize,
    pub(crate) outlier: usize,
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct VerdictTally {
    pub(crate) counts: VerdictCounts,
    pub(crate) groups: BTreeSet<u64>,
    /// The sum of the rows' shares of right neighbours, and in the end their mean.
    pub(super) right: f64,
    pub(super) accuracy: Option<f64>,
    /// What memory was expected to be taken, in bytes.
    pub(super) needs: u64,
}

impl VerdictTally {
    /// Counts these too.
    pub(crate) fn add<'a>(&mut self, placements: impl IntoIterator<Item = &'a Placement>) {
        for placement in placements {
            self.counts.rows += 1;
            *match placement.verdict {
                Verdict::Exact => &mut self.counts.exact,
                Verdict::Interpolated => &mut self.counts.interpolated,
                Verdict::BesideOutlier => &mut self.counts.beside_outlier,
                Verdict::Outlier => &mut self.counts.outlier,
            } += 1;
            self.groups.extend(placement.group);
        }
    }
}

/// The JSON object.
#[derive(Serialize)]
pub(super) struct PlaceOutcome {
    /// The way of placing, with what it was built with.
    method: String,
    #[serde(flatten)]
    counts: VerdictCounts,
    /// Groups of outliers that are alike.
    groups: usize,
    /// The mean share of the 10 nearest training places that carry the row's label; null without labels.
    accuracy_10nn: Option<f64>,
    seconds: f64,
    phases: Phases,
    /// As used, which need not be as the map has them.
    r_x: f64,
    r_y: f64,
    r_close: f64,
    power: f64,
    /// LION's rule for rows with neighbours, whether or not their places are LION's.
    local: Local,
    /// The rule for outliers: calibrated or paper.
    verdict: VerdictRule,
    /// The score up to which a row is an outlier; null by the paper's rule.
    alpha: Option<f64>,
    /// The share of rows like the map's own that is called outliers; null by the paper's rule.
    promised: Option<f64>,
    /// Of the rows called outliers, the share that may be like the map's own, if it was asked for.
    fdr: Option<f64>,
    /// What it was expected to take, with the outliers that came.
    memory_bytes: u64,
    /// Null where the system does not tell.
    peak_rss_bytes: Option<u64>,
    map: String,
    /// Of the map.
    checksum: String,
    file: String,
    /// Whether rows that LION calls strange have LION's places.
    #[serde(skip)]
    outlier_control: bool,
    /// The least score that a row can have; null by the paper's rule.
    #[serde(skip)]
    least_score: Option<f64>,
    /// Whether alpha is what was asked for.
    #[serde(skip)]
    alpha_given: bool,
    /// How many groups calibrate the verdicts, if they do.
    #[serde(skip)]
    calibration_groups: Option<u64>,
}

impl PlaceOutcome {
    pub(super) fn new(
        lion: &Lion,
        other: Option<&Other>,
        options: &LionOptions,
        args: &PlaceArgs,
        tally: VerdictTally,
        checksum: String,
        (phases, seconds): (Phases, f64),
    ) -> Self {
        Self {
            method: other.map_or("lion", Other::name).to_owned(),
            counts: tally.counts,
            groups: tally.groups.len(),
            accuracy_10nn: tally.accuracy,
            seconds,
            phases,
            r_x: lion.r_x(),
            r_y: lion.r_y(),
            r_close: lion.r_close(),
            power: lion.power(),
            local: options.local,
            verdict: lion.verdict_rule(),
            alpha: lion.alpha(),
            promised: lion.promised(),
            least_score: lion.least_p_value(),
            alpha_given: options.alpha.is_some(),
            calibration_groups: lion.alpha().and_then(|_| lion.map().calibration_facts()?.groups),
            fdr: options.fdr,
            memory_bytes: tally.needs,
            peak_rss_bytes: memory::peak(),
            map: args.map.display().to_string(),
            checksum,
            file: args.output_file().map_or("-".into(), |file| file.display().to_string()),
            outlier_control: other.is_none_or(Other::has_outlier_control),
        }
    }

    /// What came of it, a fact a line.
    pub(super) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("rows", self.counts.rows.to_string());
        let outliers = match self.groups {
            _ if !self.outlier_control => "strangers, placed like the rest".into(),
            1 => "in 1 group".into(),
            groups => format!("in {groups} groups"),
        };
        for (verdict, count, more) in [
            (
                Verdict::Exact,
                self.counts.exact,
                if self.outlier_control {
                    "equal a row of the map, and have its place"
                } else {
                    "equal a row of the map"
                },
            ),
            (Verdict::Interpolated, self.counts.interpolated, "among rows like themselves"),
            (Verdict::BesideOutlier, self.counts.beside_outlier, "near a row that is itself an outlier"),
            (Verdict::Outlier, self.counts.outlier, &outliers),
        ] {
            let width = self.counts.rows.to_string().len();
            let share = 100.0 * count as f64 / self.counts.rows.max(1) as f64;
            let more = if count == 0 { "" } else { more };
            facts.add(
                verdict.as_str(),
                format!("{count:>width$} {share:>5.1} %  {more}").trim_end().to_owned(),
            );
        }
        if let Some(accuracy) = self.accuracy_10nn {
            let share = 100.0 * accuracy;
            facts.add(
                "accuracy",
                format!("{share:.1} % of the 10 nearest training places carry the row's label"),
            );
        }
        facts.add("verdicts", self.verdicts_in_words());
        facts.add("placed by", self.method_in_words());
        facts.add("seconds", seconds_in_words(self.seconds, &self.phases));
        if let Some(bytes) = self.peak_rss_bytes {
            facts.add("peak memory", output::size(bytes));
        }
        facts.add("file", self.file.clone());
        facts
    }

    fn method_in_words(&self) -> String {
        let Self { r_x, r_y, r_close, power, local, outlier_control, .. } = *self;
        let is_lion = self.method == "lion";
        let radii = placing_in_words(r_x, r_y, r_close, (is_lion && local == Local::Idw).then_some(power));
        match (is_lion, outlier_control) {
            (true, _) => format!("{local}; {radii}"),
            (false, true) => format!("{}, outliers by LION; {radii}", self.method),
            (false, false) => format!("{}; the verdicts are LION's: {radii}", self.method),
        }
    }

    /// What the verdicts promise, beside what was observed.
    fn verdicts_in_words(&self) -> String {
        let observed = 100.0 * (self.counts.outlier + self.counts.beside_outlier) as f64
            / self.counts.rows.max(1) as f64;
        let observed = format!("observed {observed:.2} % of this table");
        let promise = |share: String| format!("promised {share} of ordinary rows, {observed}");
        let Some((alpha, promised)) = self.alpha.zip(self.promised) else {
            return format!(
                "the paper's, outlier with fewer than 2 neighbours within r_x; no promised rate, {observed}"
            );
        };
        let calibrated = few_groups(self.calibration_groups).unwrap_or_else(|| "calibrated".into());
        let rule = format!("{calibrated}, outlier where score ≤ {}", percent(alpha));
        match self.fdr {
            _ if promised == 0.0 => {
                format!("{rule}: the map has too few rows for a score as small, so no row is an outlier")
            }
            Some(fdr) => {
                let promise = promise(format!("at most {}", percent(promised)));
                let few = self.too_few_for(fdr).map_or_else(String::new, |few| format!("; {few}"));
                format!("{rule}, and at most {} of the outliers false; {promise}{few}", percent(fdr))
            }
            None if alpha > DEFAULT_ALPHA && !self.alpha_given => {
                format!("{rule}, the least that so few rows can tell; {}", promise(percent(promised)))
            }
            None => format!("{rule}; {}", promise(percent(promised))),
        }
    }

    /// Why a false discovery rate may have found nothing: so many outliers must come together for their scores, which
    /// cannot be less than the map's rows allow, to stand out of all the rows.
    fn too_few_for(&self, fdr: f64) -> Option<String> {
        let together = (self.counts.rows as f64 * self.least_score? / fdr).ceil();
        if together > self.counts.rows as f64 {
            return Some("with so few rows in the map no row can be an outlier: leave --fdr out".into());
        }
        (self.counts.outlier + self.counts.beside_outlier == 0 && together > 1.0).then(|| {
            format!(
                "with so few rows in the map, fewer than {together} outliers in {} rows cannot be told from chance: \
                 fit the map to more rows, or leave --fdr out",
                self.counts.rows
            )
        })
    }

    /// The facts, and what to do next.
    pub(super) fn in_words(&self, args: &PlaceArgs) -> String {
        let picture = Path::new(&self.file).with_extension("html");
        let (map, file, picture) = (args.map.display(), &self.file, picture.display());
        format!("{}\nnext: lion plot {map} --placements {file} -o {picture}\n", self.facts().lines())
    }

    /// What to say where the table as a whole looks wrong.
    pub(super) fn warning(&self) -> Option<String> {
        (self.counts.outlier as f64 > SUSPICIOUS * self.counts.rows as f64).then(|| {
            format!(
                "warning: {} of {} rows are outliers: the rows may be of another kind, or scaled differently",
                self.counts.outlier, self.counts.rows
            )
        })
    }
}
