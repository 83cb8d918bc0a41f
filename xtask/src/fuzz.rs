//! `cargo xtask fuzz`: each target under libFuzzer, from valid input and what earlier runs found worth keeping. What a target did is kept
//! in `<target>/fuzz`: the next run goes on counting, as long as the target is the same program.

mod corpus;
mod counts;
mod coverage;
mod fuzzer;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::shell;
use fuzzer::{Fuzzer, Outcome};

/// What is asked for.
#[derive(Debug, PartialEq)]
struct Options {
    targets: Vec<String>,
    /// For each target.
    minutes: f64,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    Fuzz,
    /// Keep what is needed of all inputs, in the repository.
    Minimise,
    /// Tell which lines of its parser each target reaches.
    Coverage,
}

impl Options {
    fn of(words: &[&str]) -> Result<Self> {
        let mut options = Self { targets: Vec::new(), minutes: 1.0, what: What::Fuzz };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--minutes" => {
                    let value = words.next().context("--minutes needs a number")?;
                    let minutes = value.parse::<f64>().ok().filter(|minutes| (0.0..=1e5).contains(minutes));
                    options.minutes =
                        minutes.with_context(|| format!("--minutes needs a number, not {value:?}"))?;
                }
                "--minimise" => options.what = What::Minimise,
                "--coverage" => options.what = What::Coverage,
                flag if flag.starts_with('-') => bail!("fuzz knows no {flag}"),
                name => options.targets.push(name.to_owned()),
            }
        }
        let known = targets()?;
        if let Some(name) = options.targets.iter().find(|name| !known.contains(name)) {
            bail!("there is no target {name:?}; there are {}", known.join(", "));
        }
        if options.targets.is_empty() {
            options.targets = known;
        }
        Ok(options)
    }
}

/// Runs the targets that are named, or all.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let Options { targets, minutes, what } = Options::of(words)?;
    let fuzzer = Fuzzer::new()?;
    fuzzer.make_seeds()?;
    for target in &targets {
        corpus::unpack(target)?;
    }
    match what {
        What::Fuzz => fuzz(&fuzzer, &targets, (60.0 * minutes).ceil() as u64),
        What::Minimise => targets.iter().try_for_each(|target| {
            fuzzer.minimise(target)?;
            corpus::pack(target)
        }),
        What::Coverage => coverage::tell(&fuzzer, &targets),
    }
}

/// Runs each target for so many seconds. One that finds something does not keep the others from running. The table counts what earlier
/// runs of the same programs did, too.
fn fuzz(fuzzer: &Fuzzer, targets: &[String], seconds: u64) -> Result<()> {
    let mut outcomes = Vec::new();
    let mut found = Vec::new();
    for target in targets {
        let outcome = fuzzer.fuzz(target, seconds)?;
        if outcome.findings > 0 {
            found.push(target.as_str());
        }
        outcomes.push(counts::add(outcome)?);
        println!("{}", table(&outcomes));
    }
    if found.is_empty() {
        return Ok(());
    }
    bail!("findings in {}; the inputs are below fuzz/artifacts", found.join(", "))
}

/// The names of the targets: the files of fuzz/fuzz_targets.
fn targets() -> Result<Vec<String>> {
    let folder = folder().join("fuzz_targets");
    let files = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// The workspace of the targets.
fn folder() -> PathBuf {
    shell::root().join("fuzz")
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "| target | executions | seconds | executions a second | edges | findings |\n|---|---|---|---|---|---|\n",
    );
    let mut row = |target: &str, executions: u64, seconds: u64, edges: &str, findings: u64| {
        let speed = executions / seconds.max(1);
        text += &format!("| {target} | {executions} | {seconds} | {speed} | {edges} | {findings} |\n");
    };
    for Outcome { target, executions, seconds, edges, findings, .. } in outcomes {
        row(target, *executions, *seconds, &edges.to_string(), *findings);
    }
    let sum = |count: fn(&Outcome) -> u64| outcomes.iter().map(count).sum::<u64>();
    row(
        "all",
        sum(|outcome| outcome.executions),
        sum(|outcome| outcome.seconds),
        "",
        sum(|outcome| outcome.findings),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = Options::of(&["npy", "--minutes", "2.5", "csv"]).unwrap();
        assert_eq!(options.targets, ["npy", "csv"]);
        assert_eq!((options.minutes, options.what), (2.5, What::Fuzz));
        assert_eq!(Options::of(&["--minimise"]).unwrap().targets, targets().unwrap());
        for bad in [&["nothing"][..], &["--minutes"], &["--minutes", "-1"], &["--fast"]] {
            assert!(Options::of(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_table_has_a_sum() {
        let outcome = |target: &str, findings| Outcome {
            target: target.into(),
            executions: 900,
            seconds: 60,
            edges: 345,
            findings,
            ..Outcome::default()
        };
        let table = table(&[outcome("npy", 0), outcome("csv", 1)]);
        assert!(table.contains("| npy | 900 | 60 | 15 | 345 | 0 |"), "{table}");
        assert!(table.contains("| all | 1800 | 120 | 15 |  | 1 |"), "{table}");
    }

    /// Every target has its entry in the manifest, without which cargo-fuzz does not know it; and every dictionary and corpus a
    /// target.
    #[test]
    fn every_target_can_be_run() {
        let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
        let targets = targets().unwrap();
        for target in &targets {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
        }
        for files in ["words", "corpora"] {
            for file in fs::read_dir(folder().join(files)).unwrap() {
                let file = file.unwrap().file_name().into_string().unwrap();
                let target = file.split('.').next().unwrap();
                assert!(targets.iter().any(|known| known == target), "{files}/{file} has no target");
            }
        }
        assert!(folder().join("make_seeds/main.rs").is_file());
    }
}
