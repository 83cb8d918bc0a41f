//! A name for each cluster: words first, then its label, then the columns that set it apart, then the text of a typical row.

use super::column::is_list_item;
use super::{Contrast, Effect, ExplainedCluster, percent};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Keywords in a name at first.
const WORDS: usize = 3;
/// Columns in a name at first.
const COLUMNS: usize = 2;
/// Parts in a name at most; names that are still the same then get a number.
const MOST: usize = 4;
/// A label names a cluster if this share of its rows has it.
const MAJORITY: f64 = 0.5;
/// A label that a smaller share has is named with the share.
const NEARLY_ALL: f64 = 0.8;
/// Characters of a text that is a name.
const LONGEST: usize = 40;

/// Names clusters so that no two have the same. Labels, if clusters are these, are names as they are. `texts` has one for each
/// row, if there are any.
pub(super) fn name(
    clusters: &mut [ExplainedCluster],
    labels: Option<&[String]>,
    texts: Option<&[Cow<'_, str>]>,
) {
    if let Some(labels) = labels {
        clusters.iter_mut().zip(labels).for_each(|(cluster, label)| cluster.name.clone_from(label));
        return;
    }
    let text = |row: &u32| texts.and_then(|texts| beginning(&texts[*row as usize]));
    let parts: Vec<Parts> =
        clusters.iter().map(|cluster| Parts::new(cluster, cluster.typical.first().and_then(text))).collect();
    let mut used: Vec<Vec<&str>> = parts.iter().map(Parts::beginning).collect();
    // Those that share a name say more, as long as they have more to say.
    loop {
        let mut alike: HashMap<&[&str], Vec<usize>> = HashMap::new();
        used.iter().enumerate().for_each(|(at, used)| alike.entry(used).or_default().push(at));
        let more = |at: usize| {
            let others: Vec<&Parts> = alike[&used[at][..]]
                .iter()
                .filter(|&&other| other != at)
                .map(|&other| &parts[other])
                .collect();
            if others.is_empty() { None } else { parts[at].next(&used[at], &others) }
        };
        let more: Vec<Option<&str>> = (0..parts.len()).map(more).collect();
        if more.iter().all(Option::is_none) {
            break;
        }
        used.iter_mut().zip(more).for_each(|(used, more)| used.extend(more));
    }
    let levels: Vec<usize> = clusters.iter().map(|cluster| cluster.level).collect();
    number(clusters, told_apart(&used, &levels));
}

/// The names of these parts. Among names of a level that begin alike, the part that fewest have goes first: pictures cut long
/// names at the end.
fn told_apart(used: &[Vec<&str>], levels: &[usize]) -> Vec<String> {
    let mut first: HashMap<(usize, &str), usize> = HashMap::new();
    let mut anywhere: HashMap<(usize, &str), usize> = HashMap::new();
    for (parts, &level) in used.iter().zip(levels) {
        parts.iter().take(1).for_each(|part| *first.entry((level, part)).or_default() += 1);
        parts.iter().for_each(|part| *anywhere.entry((level, part)).or_default() += 1);
    }
    let name = |(parts, &level): (&Vec<&str>, &usize)| {
        let mut parts = parts.clone();
        match parts.first() {
            None => return "cluster".into(),
            Some(part) if first[&(level, *part)] > 1 => parts.sort_by_key(|part| anywhere[&(level, *part)]),
            Some(_) => {}
        }
        parts.join(", ")
    };
    used.iter().zip(levels).map(name).collect()
}

/// The beginning of a text, by whole words where it has such.
fn beginning(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(LONGEST) else {
        return Some(text).filter(|text| !text.is_empty());
    };
    let cut = &text[..end];
    Some(format!("{}…", cut.rsplit_once(' ').map_or(cut, |(words, _)| words)))
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
    /// `text` is that of the most typical row: a name where nothing else is one.
    fn new(cluster: &ExplainedCluster, text: Option<String>) -> Self {
        let columns = || cluster.columns.iter().filter(|effect| is_telling(&effect.column)).map(phrase);
        if !cluster.keywords.is_empty() {
            let words = cluster.keywords.iter().map(|keyword| keyword.word.clone());
            return Self { all: words.chain(columns()).collect(), first: WORDS.min(cluster.keywords.len()) };
        }
        match &cluster.label {
            Some((label, share)) if *share >= MAJORITY => {
                let label = match *share >= NEARLY_ALL {
                    true => label.clone(),
                    false => format!("{label} {}", percent(*share)),
                };
                Self { all: std::iter::once(label).chain(columns()).collect(), first: 1 }
            }
            _ => match columns().next() {
                Some(_) => Self { all: columns().collect(), first: COLUMNS },
                None => Self { all: text.into_iter().collect(), first: 1 },
            },
        }
    }

    /// Those that are used at first.
    fn beginning(&self) -> Vec<&str> {
        self.all.iter().take(self.first).map(String::as_str).collect()
    }

    /// One more, unless enough are used: the first of those that the fewest others have, which share these.
    fn next(&self, used: &[&str], others: &[&Self]) -> Option<&str> {
        let left = self.all.iter().filter(|part| !used.contains(&part.as_str()) && used.len() < MOST);
        let shared = |part: &&String| others.iter().filter(|other| other.all.contains(part)).count();
        left.min_by_key(shared).map(String::as_str)
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
    !is_list_item(column) && !column.strip_prefix('c').unwrap_or(column).chars().all(|c| c.is_ascii_digit())
}
