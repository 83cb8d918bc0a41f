//! cargo-fuzz: on a nightly toolchain with the address sanitizer. Without one, on stable: what libFuzzer needs of the compiler is there
//! too, and only the sanitizer is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use super::{corpus, folder};
use crate::shell;

/// Seconds that one input may take, and memory: more is a finding.
const SLOWEST_SECONDS: u32 = 10;
const MOST_MEGABYTES: u32 = 2048;
/// The longest input that is tried, in bytes.
const LONGEST: u32 = 1 << 16;

/// What one target did, in one run or in several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) target: String,
    /// The file that ran; empty if none did.
    pub(super) program: PathBuf,
    pub(super) executions: u64,
    pub(super) seconds: u64,
    pub(super) edges: u64,
    /// Runs that ended with an input that must not be.
    pub(super) findings: u64,
}

/// cargo-fuzz, and the toolchain that it builds with.
pub(super) struct Fuzzer {
    program: PathBuf,
    has_nightly: bool,
}

impl Fuzzer {
    pub(super) fn new() -> Result<Self> {
        let has_nightly = shell::succeeds(&mut shell::program("rustup", "run nightly cargo --version"));
        if !has_nightly {
            println!("there is no nightly toolchain: fuzzing on stable, without the address sanitizer");
        }
        Ok(Self { program: crate::install::cargo_tool("cargo-fuzz", "0.13.1")?, has_nightly })
    }

    /// `cargo fuzz` with these words, in the root.
    fn command(&self, words: &str) -> Command {
        let mut command = shell::program(&self.program, words);
        // libFuzzer looks through the counters of all code after each input, so code that a target never calls makes it slow.
        command.arg("--strip-dead-code=true");
        if self.has_nightly {
            return unmanaged(&command, "nightly");
        }
        command.args(["--sanitizer", "none"]).env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Adds valid input of every kind to the corpora: made by a program that is built as the targets are, and given nothing to run.
    pub(super) fn make_seeds(&self) -> Result<()> {
        println!("building the targets and making seeds");
        let mut command = self.command("run make_seeds");
        shell::quietly(command.args(["--", "-runs=0"]).env("LION_SEEDS", folder().join("corpus")))
    }

    /// Runs a target from its corpus for so many seconds; for none, only the corpus.
    pub(super) fn fuzz(&self, target: &str, seconds: u64) -> Result<Outcome> {
        println!("fuzzing {target} for {seconds} s");
        let mut command = self.run(target, &corpus::of(target));
        command.arg("-print_final_stats=1");
        // libFuzzer takes 0 seconds for no end.
        command.arg(match seconds {
            0 => "-runs=0".to_owned(),
            _ => format!("-max_total_time={seconds}"),
        });
        command.arg(format!("-max_len={LONGEST}"));
        let words = folder().join("words").join(target);
        if words.is_file() {
            command.arg(format!("-dict={}", words.display()));
        }
        let (output, said) = listen(&mut command)?;
        let mut outcome = Outcome::of(target, &said);
        if outcome.program.as_os_str().is_empty() {
            bail!("{target} could not be built:\n{}", last_lines(&said, 60));
        }
        if !output.status.success() {
            eprintln!("{}", last_lines(&said, 60));
            outcome.findings = u64::from(!self.passed_when_tried_again(target, &said)?);
        }
        Ok(outcome)
    }

    /// Whether an input that took too long is quick when it is tried again: the machine may have been busy with something else.
    fn passed_when_tried_again(&self, target: &str, said: &str) -> Result<bool> {
        let Some(input) = artifact(said).filter(|input| input.contains("/timeout-")) else {
            return Ok(false);
        };
        let (output, _) = listen(&mut self.run(target, Path::new(input)))?;
        if output.status.success() {
            println!("{input} is quick when it is tried again");
        }
        Ok(output.status.success())
    }

    /// `cargo fuzz run` of a folder or a file, with the limits.
    fn run(&self, target: &str, inputs: &Path) -> Command {
        let mut command = self.command(&format!("run {target}"));
        command.arg(inputs).arg("--");
        command.arg(format!("-timeout={SLOWEST_SECONDS}")).arg(format!("-rss_limit_mb={MOST_MEGABYTES}"));
        // Pools of threads end in their own time, and would be told as leaks if a run ends before them.
        command.arg("-detect_leaks=0").env("ASAN_OPTIONS", "detect_leaks=0");
        command
    }

    /// Leaves only those inputs of a corpus that reach something the others do not.
    pub(super) fn minimise(&self, target: &str) -> Result<()> {
        println!("minimising the corpus of {target}");
        shell::quietly(self.command(&format!("cmin {target}")).arg(corpus::of(target)))
    }

    /// What libFuzzer says of each function after it ran a corpus: how many of its edges were reached.
    pub(super) fn functions(&self, target: &str) -> Result<String> {
        let mut command = self.run(target, &corpus::of(target));
        let (output, said) = listen(command.args(["-runs=0", "-print_coverage=1"]))?;
        if output.status.success() { Ok(said) } else { bail!("{}", last_lines(&said, 60)) }
    }
}

/// Runs a command and gives what it says on stderr.
fn listen(command: &mut Command) -> Result<(Output, String)> {
    let output = command.stderr(Stdio::piped()).output().context("cannot start cargo-fuzz")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((output, said))
}

/// The same program, which chooses its toolchain itself: the variables by which cargo binds us to ours are not passed on.
fn unmanaged(command: &Command, toolchain: &str) -> Command {
    let mut free = Command::new(command.get_program());
    free.args(command.get_args()).current_dir(shell::root());
    for variable in ["CARGO", "RUSTC", "RUSTDOC"] {
        free.env_remove(variable);
    }
    free.env("RUSTUP_TOOLCHAIN", toolchain);
    free
}

impl Outcome {
    /// By what libFuzzer says at the end.
    fn of(target: &str, said: &str) -> Self {
        let after = |name: &str| {
            let line = said.lines().rev().find_map(|line| line.split_once(name));
            line.and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        Self {
            target: target.into(),
            program: program(said),
            executions: after("stat::number_of_executed_units:"),
            // "Done 900 runs in 61 second(s)"
            seconds: after(" runs in "),
            // "#123 DONE cov: 456 ft: ..."
            edges: after(" cov: "),
            findings: 0,
        }
    }
}

/// The file that cargo says it runs: "     Running `fuzz/target/TRIPLE/release/npy -timeout=10 ..."
fn program(said: &str) -> PathBuf {
    let ran = said.lines().rev().find_map(|line| line.trim_start().strip_prefix("Running `"));
    ran.and_then(|command| command.split_whitespace().next()).map(PathBuf::from).unwrap_or_default()
}

/// The file with the input that ended a run.
fn artifact(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.split_once("Test unit written to ")).map(|(_, file)| file.trim())
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Makes sure of a folder.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fuzzer_says_at_the_end_is_read() {
        let said = "     Running `fuzz/target/x/release/npy -timeout=10 fuzz/corpus/npy`\n#2\tINITED cov: 12 ft: 13\n#900\tDONE   cov: 345 ft: 678 corp: 9/1Kb\nDone 900 runs in 61 second(s)\n\
                    stat::number_of_executed_units: 900\nstat::average_exec_per_sec:     14\n";
        let outcome = Outcome::of("npy", said);
        assert_eq!((outcome.executions, outcome.seconds, outcome.edges), (900, 61, 345));
        assert_eq!(outcome.program, Path::new("fuzz/target/x/release/npy"));
        assert_eq!(artifact(said), None);
        let ended = format!(
            "{said}artifact_prefix='a/'; Test unit written to fuzz/artifacts/npy/timeout-0f\nBase64: AA==\n"
        );
        assert_eq!(artifact(&ended), Some("fuzz/artifacts/npy/timeout-0f"));
    }
}
