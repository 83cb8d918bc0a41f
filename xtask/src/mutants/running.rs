//! Running some tests of a test program, until the first that fails.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::PROPERTIES;

/// A test: its program, and its name there.
pub(super) type Test = (PathBuf, String);

#[derive(Debug, PartialEq)]
pub(super) enum Ended {
    Passed,
    /// The test that failed, or how the program ended.
    Failed(String),
    /// Some that did not end.
    TimedOut(String),
}

/// How tests are run: where, with which mutant, and how long.
pub(super) struct Run<'a> {
    pub(super) folder: &'a Path,
    pub(super) switch: &'a str,
    /// Where a run that records writes.
    pub(super) record: Option<&'a Path>,
    pub(super) at_most: Duration,
}

/// What a test may take of memory, in KiB: a mutant must not take the machine's.
const MEMORY: usize = 10 << 20;

impl Run<'_> {
    fn command(&self, program: &Path, names: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(program);
        command.arg("--exact").args(names);
        command
            .current_dir(self.folder)
            .env("CARGO_MANIFEST_DIR", self.folder)
            .env("SWITCH", self.switch)
            .envs(PROPERTIES);
        if let Some(file) = self.record {
            command.env("SWITCH_FILE", file).arg("--test-threads=1");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// Runs these tests of a program.
    pub(super) fn run(&self, program: &Path, names: &[&str]) -> Result<Ended> {
        let mut child = self.command(program, names).spawn().context("cannot start a test program")?;
        let ended = self.watch(&mut child, names);
        // What the tests started ends, too.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let status = child.wait().context("a test program was lost")?;
        Ok(match ended {
            Ok(unfinished) if status.success() && unfinished.is_empty() => Ended::Passed,
            Ok(unfinished) => Ended::Failed(format!("{status} in {}", some(&unfinished))),
            Err(ended) => ended,
        })
    }

    /// What did not end, of a program that has ended; or how it was cut short.
    fn watch(&self, child: &mut Child, names: &[&str]) -> Result<BTreeSet<String>, Ended> {
        let mut unfinished: BTreeSet<String> = names.iter().map(|&name| name.to_owned()).collect();
        let stdout = child.stdout.take().expect("it is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
            }
        });
        let until = Instant::now() + self.at_most;
        loop {
            match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => return Err(Ended::TimedOut(some(&unfinished))),
                Err(RecvTimeoutError::Disconnected) => return Ok(unfinished),
                Ok(line) => {
                    let Some(test) = line.strip_prefix("test ") else { continue };
                    let name = test.split(' ').next().unwrap_or_default();
                    if line.ends_with(" FAILED") {
                        return Err(Ended::Failed(name.to_owned()));
                    }
                    unfinished.remove(name);
                }
            }
        }
    }
}

fn some(names: &BTreeSet<String>) -> String {
    names.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
}
