//! `cargo xtask fuzz`: each target under libFuzzer, from seeds that are valid input.
//!
//! On a nightly toolchain with the address sanitizer. Without one, on stable: what libFuzzer needs of the compiler is there too,
//! and only the sanitizer is not.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Seconds that one input may take, and memory: more is a finding.
const SLOWEST_SECONDS: u32 = 10;
const MOST_MEGABYTES: u32 = 2048;
/// The longest input that is tried, in bytes.
const LONGEST: u32 = 1 << 16;

/// What one target did.
struct Report {
    target: String,
    executions: u64,
    seconds: u64,
    coverage: u64,
}

/// Runs the targets that are named, or all, each for so many minutes; then keeps what is needed of their inputs.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let (mut minutes, mut wanted) = (1.0, Vec::new());
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "--minutes" => {
                let value = words.next().context("--minutes needs a number")?;
                minutes = value
                    .parse::<f64>()
                    .with_context(|| format!("--minutes needs a number, not {value:?}"))?;
            }
            name => wanted.push(name.to_owned()),
        }
    }
    let known = targets()?;
    if let Some(name) = wanted.iter().find(|name| !known.contains(name)) {
        bail!("there is no target {name:?}; there are {}", known.join(", "));
    }
    let chosen = if wanted.is_empty() { known } else { wanted };
    let fuzzer = Fuzzer::new()?;
    fuzzer.make_seeds()?;
    let mut reports = Vec::new();
    for target in chosen {
        reports.push(fuzzer.fuzz(&target, (60.0 * minutes).ceil() as u64)?);
        println!("{}", table(&reports));
    }
    Ok(())
}

/// The names of the targets: the files of fuzz/fuzz_targets.
fn targets() -> Result<Vec<String>> {
    let folder = shell::root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// cargo-fuzz, and the toolchain that it builds with.
struct Fuzzer {
    program: PathBuf,
    has_nightly: bool,
}

impl Fuzzer {
    fn new() -> Result<Self> {
        let has_nightly = shell::succeeds(&mut shell::program("rustup", "run nightly cargo --version"));
        if !has_nightly {
            println!("there is no nightly toolchain: fuzzing on stable, without the address sanitizer");
        }
        Ok(Self { program: cargo_fuzz()?, has_nightly })
    }

    /// `cargo fuzz` with these words, in the root.
    fn command(&self, words: &str) -> Command {
        let mut command = shell::program(&self.program, words);
        if self.has_nightly {
            return unmanaged(&mut command, "nightly");
        }
        command.args(["--sanitizer", "none"]).env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Valid input of every kind, below fuzz/seeds: made by a program of the workspace of the targets.
    fn make_seeds(&self) -> Result<()> {
        let manifest = shell::root().join("fuzz/Cargo.toml");
        let mut command = shell::cargo("run --quiet --release --bin make_seeds --manifest-path");
        shell::run(command.arg(manifest).arg("--").arg(shell::root().join("fuzz/seeds")))
    }

    /// Runs a target from its corpus and its seeds for so many seconds.
    fn fuzz(&self, target: &str, seconds: u64) -> Result<Report> {
        let corpus = shell::root().join("fuzz/corpus").join(target);
        fs::create_dir_all(&corpus).with_context(|| format!("cannot make {}", corpus.display()))?;
        let mut command = self.command(&format!("run {target}"));
        command.arg(&corpus);
        let seeds = shell::root().join("fuzz/seeds").join(target);
        if seeds.is_dir() {
            command.arg(&seeds);
        }
        command.args(["--", "-print_final_stats=1"]);
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={LONGEST}"));
        command.arg(format!("-timeout={SLOWEST_SECONDS}")).arg(format!("-rss_limit_mb={MOST_MEGABYTES}"));
        let words = shell::root().join("fuzz/words").join(target);
        if words.is_file() {
            command.arg(format!("-dict={}", words.display()));
        }
        println!("fuzzing {target} for {seconds} s");
        let output = command.stderr(Stdio::piped()).output().context("cannot start cargo-fuzz")?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprint!("{}", last_lines(&said, 60));
            bail!("{target} has a finding; the input is below fuzz/artifacts/{target}");
        }
        Ok(Report::of(target, &said))
    }
}

/// The same program, which chooses its toolchain itself: the variables by which cargo binds us to ours are not passed on.
fn unmanaged(command: &mut Command, toolchain: &str) -> Command {
    let mut free = Command::new(command.get_program());
    free.args(command.get_args()).current_dir(shell::root());
    for variable in ["CARGO", "RUSTC", "RUSTDOC"] {
        free.env_remove(variable);
    }
    free.env("RUSTUP_TOOLCHAIN", toolchain);
    free
}

impl Report {
    /// By what libFuzzer says at the end.
    fn of(target: &str, said: &str) -> Self {
        let stat = |name: &str| {
            let line = said.lines().rev().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        let seconds = said.lines().rev().find_map(|line| {
            line.strip_prefix("Done ")?.split_once(" runs in ")?.1.split_whitespace().next()?.parse().ok()
        });
        // "#123 DONE cov: 456 ft: ..."
        let coverage = said
            .lines()
            .rev()
            .find_map(|line| line.split_once(" cov: ")?.1.split_whitespace().next()?.parse().ok());
        Self {
            target: target.into(),
            executions: stat("stat::number_of_executed_units:").unwrap_or(0),
            seconds: seconds.unwrap_or(0),
            coverage: coverage.unwrap_or(0),
        }
    }
}

fn table(reports: &[Report]) -> String {
    let mut text = String::from("| target | executions | seconds | edges covered |\n|---|---|---|---|\n");
    for Report { target, executions, seconds, coverage } in reports {
        text += &format!("| {target} | {executions} | {seconds} | {coverage} |\n");
    }
    let all: u64 = reports.iter().map(|report| report.executions).sum();
    text + &format!("| all | {all} | {} | |\n", reports.iter().map(|report| report.seconds).sum::<u64>())
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n") + "\n"
}

/// cargo-fuzz: the one in PATH, or one of our own under the target folder.
fn cargo_fuzz() -> Result<PathBuf> {
    crate::install::cargo_tool("cargo-fuzz", "0.13.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fuzzer_says_at_the_end_is_read() {
        let said = "#2\tINITED cov: 12 ft: 13\n#900\tDONE   cov: 345 ft: 678 corp: 9/1Kb\nDone 900 runs in 61 second(s)\n\
                    stat::number_of_executed_units: 900\nstat::average_exec_per_sec:     14\n";
        let report = Report::of("tables", said);
        assert_eq!((report.executions, report.seconds, report.coverage), (900, 61, 345));
        assert!(table(&[report]).contains("| tables | 900 | 61 | 345 |"));
    }

    /// Every target has its entry in the manifest, without which cargo-fuzz does not know it.
    #[test]
    fn every_target_can_be_run() {
        let manifest = fs::read_to_string(shell::root().join("fuzz/Cargo.toml")).unwrap();
        for target in targets().unwrap() {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
        }
        assert!(shell::root().join("fuzz/seeds.rs").is_file());
    }
}
