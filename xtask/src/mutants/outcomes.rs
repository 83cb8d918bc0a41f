//! What became of mutants, over all runs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Caught,
    Missed,
    /// The tests did not end.
    TimedOut,
    /// It does not compile.
    Unviable,
}

/// The lists that cargo-mutants writes.
const LISTS: [(&str, Outcome); 4] = [
    ("caught.txt", Outcome::Caught),
    ("missed.txt", Outcome::Missed),
    ("timeout.txt", Outcome::TimedOut),
    ("unviable.txt", Outcome::Unviable),
];

/// By name, what became of each mutant: the first time that it was tried, and the last time.
#[derive(Default)]
pub(super) struct Outcomes(HashMap<String, (Outcome, Outcome)>);

impl Outcomes {
    /// Those of the runs below a folder, in the order of their names.
    pub(super) fn read(runs: &Path) -> Result<Self> {
        let mut outcomes = Self::default();
        if !runs.is_dir() {
            return Ok(outcomes);
        }
        let entries = fs::read_dir(runs).with_context(|| format!("cannot read {}", runs.display()))?;
        let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        folders.sort();
        for folder in folders {
            for (list, outcome) in LISTS {
                // A run that never began has no lists.
                let text = fs::read_to_string(folder.join("mutants.out").join(list)).unwrap_or_default();
                text.lines().for_each(|name| outcomes.add(name, outcome));
            }
        }
        Ok(outcomes)
    }

    fn add(&mut self, name: &str, outcome: Outcome) {
        self.0.entry(name.to_owned()).or_insert((outcome, outcome)).1 = outcome;
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether no test noticed it the last time.
    pub(super) fn is_missed(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|&(_, last)| last == Outcome::Missed)
    }
}

/// How many mutants of a module became what.
#[derive(Default)]
struct Count {
    mutants: usize,
    tried: usize,
    caught: usize,
    missed: usize,
    timed_out: usize,
    unviable: usize,
    /// Missed the first time, and not the last time.
    caught_since: usize,
}

impl Count {
    fn of(names: &[String], outcomes: &Outcomes) -> Self {
        let mut count = Self { mutants: names.len(), ..Self::default() };
        for &(first, last) in names.iter().filter_map(|name| outcomes.0.get(name)) {
            count.tried += 1;
            match first {
                Outcome::Caught => count.caught += 1,
                Outcome::Missed => count.missed += 1,
                Outcome::TimedOut => count.timed_out += 1,
                Outcome::Unviable => count.unviable += 1,
            }
            count.caught_since += usize::from(first == Outcome::Missed && last != Outcome::Missed);
        }
        count
    }

    fn viable(&self) -> f64 {
        (self.tried - self.unviable) as f64
    }

    /// The share of those that compile which tests notice, the first time or by now, and its standard error as of a random sample. Tests that do not end are noticed.
    fn share(&self, by_now: bool) -> (f64, f64) {
        let noticed = self.caught + self.timed_out + if by_now { self.caught_since } else { 0 };
        let share = noticed as f64 / self.viable();
        (share, (share * (1.0 - share) / self.viable()).sqrt())
    }

    fn line(&self, name: &str, [first, now]: [(f64, f64); 2]) -> String {
        let percent = |(share, error): (f64, f64)| match share.is_finite() {
            true => format!("{:.0} % ± {:.0}", 100.0 * share, 100.0 * error),
            false => "-".to_owned(),
        };
        let Self { mutants, tried, caught, missed, timed_out, unviable, .. } = self;
        let (first, now) = (percent(first), percent(now));
        format!(
            "| {name} | {mutants} | {tried} | {caught} | {missed} | {timed_out} | {unviable} | {first} | {now} |\n"
        )
    }
}

/// A line for each module, and one for all: there each module counts by how many mutants it has.
pub(super) fn table(modules: &[(&str, Vec<String>)], outcomes: &Outcomes) -> String {
    let mut text = "| module | mutants | tried | caught | missed | timeouts | unviable | share caught | after tests were added |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let counts: Vec<Count> = modules.iter().map(|(_, names)| Count::of(names, outcomes)).collect();
    for ((name, _), count) in modules.iter().zip(&counts) {
        text += &count.line(name, [count.share(false), count.share(true)]);
    }
    let sum = |of: fn(&Count) -> usize| counts.iter().map(of).sum();
    let all = Count {
        mutants: sum(|count| count.mutants),
        tried: sum(|count| count.tried),
        caught: sum(|count| count.caught),
        missed: sum(|count| count.missed),
        timed_out: sum(|count| count.timed_out),
        unviable: sum(|count| count.unviable),
        caught_since: sum(|count| count.caught_since),
    };
    text + &all.line("all", [false, true].map(|by_now| weighted(&counts, by_now)))
}

/// The share of all mutants that tests notice: the modules' shares, each by its number of mutants that compile, as the sample has it.
fn weighted(counts: &[Count], by_now: bool) -> (f64, f64) {
    let viable = |count: &Count| count.mutants as f64 * count.viable() / count.tried as f64;
    let counts = || counts.iter().filter(|count| count.viable() > 0.0);
    let all: f64 = counts().map(viable).sum();
    let (mut share, mut variance) = (0.0, 0.0);
    for count in counts() {
        let (weight, (part, error)) = (viable(count) / all, count.share(by_now));
        share += weight * part;
        variance += (weight * error).powi(2);
    }
    (if all > 0.0 { share } else { f64::NAN }, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_first_and_the_last_outcome_are_told_apart() {
        let folder = std::env::temp_dir().join(format!("xtask-mutants-{}", std::process::id()));
        for (run, list, text) in [
            ("0000", "missed.txt", "a\nb\n"),
            ("0000", "caught.txt", "c\n"),
            ("0001", "caught.txt", "a\n"),
            ("0001", "unviable.txt", "d\n"),
        ] {
            let run = folder.join(run).join("mutants.out");
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join(list), text).unwrap();
        }
        let outcomes = Outcomes::read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(outcomes.is_missed("b") && !outcomes.is_missed("a") && !outcomes.has("e"));
        let text = table(&[("m", names(&["a", "b", "c", "d", "e"]))], &outcomes);
        assert!(text.contains("| m | 5 | 4 | 1 | 2 | 0 | 1 | 33 % ± 27 | 67 % ± 27 |\n"), "{text}");
    }

    #[test]
    fn each_module_counts_by_its_mutants() {
        let mut outcomes = Outcomes::default();
        outcomes.add("a", Outcome::Caught);
        outcomes.add("b", Outcome::Missed);
        let modules =
            [("small", names(&["a"])), ("large", names(&["b", "c", "d"])), ("untried", names(&["e"]))];
        let text = table(&modules, &outcomes);
        assert!(text.contains("| untried | 1 | 0 | 0 | 0 | 0 | 0 | - | - |\n"), "{text}");
        assert!(text.ends_with("| all | 5 | 2 | 1 | 1 | 0 | 0 | 25 % ± 0 | 25 % ± 0 |\n"), "{text}");
    }
}
