//! A name for each cluster: words first, then its label, then the columns that set it apart.

use super::{Contrast, Effect, ExplainedCluster};
use std::collections::{HashMap, HashSet};

/// Keywords in a name at first.
const WORDS: usize = 3;
/// Columns in a name at first.
const COLUMNS: usize = 2;
/// Parts in a name at most; names that are still the same then get a number.
const MOST: usize = 4;
/// A label names a cluster if this share of its rows has it.
const MAJORITY: f64 = 0.5;

/// Names clusters so that no two have the same. Labels, if clusters are these, are names as they are.
pub(super) fn name(clusters: &mut [ExplainedCluster], labels: Option<&[String]>) {
    if let Some(labels) = labels {
        clusters.iter_mut().zip(labels).for_each(|(cluster, label)| cluster.name.clone_from(label));
        return;
    }
    let parts: Vec<Parts> = clusters.iter().map(Parts::new).collect();
    let mut used: Vec<usize> = parts.iter().map(|parts| parts.first.min(parts.all.len())).collect();
    // Those that share a name say more, as long as they have more to say.
    loop {
        let names: Vec<String> = parts.iter().zip(&used).map(|(parts, &used)| parts.joined(used)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        let longer: Vec<usize> = (0..parts.len())
            .filter(|&at| counts[names[at].as_str()] > 1 && used[at] < parts[at].all.len().min(MOST))
            .collect();
        if longer.is_empty() {
            number(clusters, names);
            return;
        }
        longer.into_iter().for_each(|at| used[at] += 1);
    }
}

/// Gives names; those that are still the same get a number.
fn number(clusters: &mut [ExplainedCluster], names: Vec<String>) {
    let mut given: HashSet<String> = HashSet::new();
    for (cluster, name) in clusters.iter_mut().zip(names) {
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        cluster.name = candidates.find(|candidate| !given.contains(candidate)).unwrap_or_default();
        given.insert(cluster.name.clone());
    }
}

/// What a name is made of, the best first.
struct Parts {
    all: Vec<String>,
    /// So many are used at first.
    first: usize,
}

impl Parts {
    fn new(cluster: &ExplainedCluster) -> Self {
        let columns = || cluster.columns.iter().filter(|effect| is_telling(&effect.column)).map(phrase);
        if !cluster.keywords.is_empty() {
            let words = cluster.keywords.iter().map(|keyword| keyword.word.clone());
            return Self { all: words.chain(columns()).collect(), first: WORDS.min(cluster.keywords.len()) };
        }
        match &cluster.label {
            Some((label, share)) if *share >= MAJORITY => {
                Self { all: std::iter::once(label.clone()).chain(columns()).collect(), first: 1 }
            }
            _ => Self { all: columns().collect(), first: COLUMNS },
        }
    }

    fn joined(&self, used: usize) -> String {
        match used {
            0 => "cluster".into(),
            used => self.all[..used].join(", "),
        }
    }
}

/// An effect in a few words: `high income`, `plan basic`, `not churned`.
fn phrase(effect: &Effect) -> String {
    let column = &effect.column;
    match (&effect.contrast, &effect.value) {
        (Contrast::Numbers { .. }, _) | (_, None) => {
            let word = match (effect.effect > 0.0, effect.is_date) {
                (true, false) => "high",
                (false, false) => "low",
                (true, true) => "late",
                (false, true) => "early",
            };
            format!("{word} {column}")
        }
        (Contrast::Shares { .. }, Some(value)) => {
            let is_yes = ["yes", "true"].iter().any(|word| value.eq_ignore_ascii_case(word));
            let is_no = ["no", "false"].iter().any(|word| value.eq_ignore_ascii_case(word));
            match (effect.effect > 0.0, is_yes, is_no) {
                (true, true, _) | (false, _, true) => column.clone(),
                (false, true, _) | (true, _, true) => format!("not {column}"),
                (true, ..) => format!("{column} {value}"),
                (false, ..) => format!("not {column} {value}"),
            }
        }
    }
}

/// Whether the name of a column says anything to a person: `c12` and `12` are numbers of columns without names.
fn is_telling(column: &str) -> bool {
    !column.strip_prefix('c').unwrap_or(column).chars().all(|c| c.is_ascii_digit())
}
