//! What targets did in all runs since their programs last changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::fuzzer::{Outcome, make_folder};
use crate::shell;

/// Adds what earlier runs of the same program did to what this run did, and keeps the sum.
pub(super) fn add(outcome: Outcome) -> Result<Outcome> {
    let folder = shell::target()?.join("fuzz");
    let program = shell::root().join(&outcome.program);
    let bytes = fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    add_in(&folder, outcome, &digest(&bytes))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn add_in(folder: &Path, outcome: Outcome, digest: &str) -> Result<Outcome> {
    let file = file(folder, &outcome.target);
    // Without a file, or with one of another program, counting begins.
    let [executions, seconds, findings] =
        fs::read_to_string(&file).ok().and_then(|text| read(&text, digest)).unwrap_or_default();
    let sum = Outcome {
        executions: outcome.executions + executions,
        seconds: outcome.seconds + seconds,
        findings: outcome.findings + findings,
        ..outcome
    };
    make_folder(folder)?;
    let text = format!("{digest} {} {} {}\n", sum.executions, sum.seconds, sum.findings);
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(sum)
}

fn file(folder: &Path, target: &str) -> PathBuf {
    folder.join(format!("{target}.txt"))
}

/// Executions, seconds and findings of a program.
fn read(text: &str, digest: &str) -> Option<[u64; 3]> {
    let counts = text.strip_prefix(digest)?.split_whitespace().map(str::parse);
    counts.collect::<Result<Vec<u64>, _>>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_program_add_up() {
        let folder = std::env::temp_dir().join(format!("xtask-counts-{}", std::process::id()));
        let run = |target: &str, program: &[u8], findings| {
            let target = target.into();
            let outcome =
                Outcome { target, executions: 900, seconds: 60, edges: 345, findings, ..Outcome::default() };
            let sum = add_in(&folder, outcome, &digest(program)).unwrap();
            assert_eq!(sum.edges, 345);
            (sum.executions, sum.seconds, sum.findings)
        };
        assert_eq!(run("npy", b"one", 0), (900, 60, 0));
        assert_eq!(run("npy", b"one", 1), (1800, 120, 1));
        assert_eq!(run("npy", b"one", 0), (2700, 180, 1));
        assert_eq!(run("csv", b"one", 0), (900, 60, 0));
        assert_eq!(run("npy", b"two", 0), (900, 60, 0));
        fs::write(file(&folder, "npy"), format!("{} many", digest(b"two"))).unwrap();
        assert_eq!(run("npy", b"two", 0), (900, 60, 0));
        fs::remove_dir_all(folder).unwrap();
    }
}
