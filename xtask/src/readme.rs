//! The check that the commands in README.md and docs/*.md are the ones that run. Blocks fenced as `sh run` are
//! run, command by command, in one empty folder for each document; in other `sh` blocks, every verb and flag of
//! `lion` and every task of `cargo xtask` must exist.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{TASKS, shell};

/// A command of a fenced block: the line where it begins, what it says, whether it is to be run.
#[derive(Debug, PartialEq)]
struct ReadmeLine {
    number: usize,
    text: String,
    runs: bool,
}

pub(crate) fn check() -> Result<()> {
    let lion = shell::built("lion")?;
    for path in documents()? {
        check_document(&path, &lion)?;
    }
    Ok(())
}

/// README.md, then the pages of docs/ by name.
fn documents() -> Result<Vec<PathBuf>> {
    let folder = shell::root().join("docs");
    let files = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut pages = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages.insert(0, shell::root().join("README.md"));
    Ok(pages)
}

fn check_document(path: &Path, lion: &Path) -> Result<()> {
    let name = path.strip_prefix(shell::root()).unwrap_or(path).display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let lines = lines(&text);
    ensure!(name != "README.md" || !lines.is_empty(), "README.md shows no command");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = shell::scratch(&format!("documents/{stem}"))?;
    for line in &lines {
        let outcome = if line.runs { execute(&line.text, lion, &folder) } else { exists(&line.text, lion) };
        outcome.with_context(|| format!("{name} line {}: `{}`", line.number, line.text))?;
    }
    let ran = lines.iter().filter(|line| line.runs).count();
    println!("{name}: {} commands, {ran} of them run, the others exist", lines.len());
    Ok(())
}

/// The commands of all `sh` blocks, without prompts, comments and blank lines. A line that ends in a backslash, or
/// within quotes, goes on in the next.
fn lines(document: &str) -> Vec<ReadmeLine> {
    let mut lines: Vec<ReadmeLine> = Vec::new();
    let mut block = None;
    let mut joint = None;
    for (number, raw) in (1..).zip(document.lines()) {
        if let Some(info) = raw.trim().strip_prefix("```") {
            let opening = block.is_none().then(|| info.split_whitespace().collect::<Vec<_>>());
            block = opening.map(|words| (words.first() == Some(&"sh"), words.contains(&"run")));
            joint = None;
            continue;
        }
        let Some((true, runs)) = block else { continue };
        let text = if joint == Some("\n") { raw.trim_end() } else { command_of(raw) };
        if text.is_empty() {
            continue;
        }
        let part = text.strip_suffix('\\').unwrap_or(text).trim_end();
        match (joint, lines.last_mut()) {
            (Some(joint), Some(last)) => last.text = format!("{}{joint}{part}", last.text),
            _ => lines.push(ReadmeLine { number, text: part.to_owned(), runs }),
        }
        let is_quoted = lines.last().is_some_and(|last| ends_quoted(&last.text));
        joint = match text.ends_with('\\') {
            _ if is_quoted => Some("\n"),
            true => Some(" "),
            false => None,
        };
    }
    lines
}

/// A line without its prompt and its comment.
fn command_of(raw: &str) -> &str {
    let text = raw.trim();
    let text = text.strip_prefix("$ ").unwrap_or(text);
    if text.starts_with('#') { "" } else { text.split(" #").next().unwrap_or_default().trim_end() }
}

/// Whether a quotation of the shell is open at the end of a text.
fn ends_quoted(text: &str) -> bool {
    let mut quote = None;
    let mut is_escaped = false;
    for c in text.chars() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    quote.is_some()
}

/// Runs a line in the shell, with the built `lion` first in PATH and in place of `cargo run --release --`.
pub(crate) fn execute(line: &str, lion: &Path, folder: &Path) -> Result<()> {
    println!("$ {line}");
    let mut path = vec![lion.parent().unwrap_or(Path::new(".")).to_path_buf()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let line = line.replace("cargo run --release --", "lion");
    shell::run(
        Command::new("sh")
            .args(["-e", "-c", &line])
            .current_dir(folder)
            .env("PATH", std::env::join_paths(path)?),
    )
}

/// Checks that what the line calls exists: the verb and flags of `lion`, the task of `cargo xtask`.
fn exists(line: &str, lion: &Path) -> Result<()> {
    for command in line.split(['|', ';', '&']) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["cargo", "run", "--release", "--", words @ ..] | ["lion", words @ ..] => {
                known_to_lion(words, lion)?
            }
            ["cargo", "xtask", task, ..] if !TASKS.contains(task) => bail!("there is no task `{task}`"),
            _ => {}
        }
    }
    Ok(())
}

fn known_to_lion(words: &[&str], lion: &Path) -> Result<()> {
    let verb = words.iter().find(|word| !word.starts_with('-'));
    let mut help = Command::new(lion);
    help.args(verb).arg("--help");
    let help = shell::output(&mut help).context("there is no such verb")?;
    for flag in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
        let flag = flag.split('=').next().unwrap_or(flag);
        ensure!(mentions(&help, flag), "`{flag}` is no flag of {verb:?}");
    }
    Ok(())
}

/// Whether the help text has the flag as a whole word: `--id` is not in `--idle`.
fn mentions(help: &str, flag: &str) -> bool {
    help.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_commands_of_sh_blocks_only() {
        let readme = "# x\n```sh run\n$ lion demo   # a map\n\n# note\nlion fit a.csv \\\n  -o a.lion\n```\n\
                      ```python\nlion = 1\n```\ntext\n```sh\ncargo xtask test\n```\n";
        let line = |number, text: &str, runs| ReadmeLine { number, text: text.to_owned(), runs };
        let expected = [
            line(3, "lion demo", true),
            line(6, "lion fit a.csv -o a.lion", true),
            line(14, "cargo xtask test", false),
        ];
        assert_eq!(lines(readme), expected);
    }

    #[test]
    fn a_quotation_may_span_lines() {
        let document = "```sh run\nawk 'BEGIN {\n  print \"x\" # y\n}' > t.csv\necho \"it's\"\nls\n```\n";
        let found: Vec<_> = lines(document).into_iter().map(|line| (line.number, line.text)).collect();
        let expected = [(2, "awk 'BEGIN {\n  print \"x\" # y\n}' > t.csv"), (5, "echo \"it's\""), (6, "ls")];
        assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
    }

    #[test]
    fn a_task_that_is_not_there_is_named() {
        let nothing = Path::new("no-such-program");
        assert!(exists("cargo xtask test rust && cd x", nothing).is_ok());
        let sentence = exists("git pull && cargo xtask tset", nothing).unwrap_err().to_string();
        assert_eq!(sentence, "there is no task `tset`");
        assert!(exists("lion fit", nothing).is_err());
    }

    #[test]
    fn flags_are_whole_words() {
        assert!(mentions("  -o, --output <FILE>  [--pca none]", "--pca"));
        assert!(mentions("  -o, --output <FILE>", "--output"));
        assert!(!mentions("  --perplexities <P>", "--perplexity"));
    }

    /// The checker against a program that knows one verb and one flag.
    #[cfg(unix)]
    #[test]
    fn lines_are_run_in_order_and_verbs_and_flags_must_exist() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("xtask-readme-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let lion = folder.join("bin/lion");
        let script = "#!/bin/sh\n[ \"$1\" = demo ] || exit 2\n[ \"$2\" = --help ] && echo ' --seed N'\n[ \"$2\" = --help ] || echo \"$2\" >> ran\n";
        std::fs::write(&lion, script).unwrap();
        std::fs::set_permissions(&lion, std::fs::Permissions::from_mode(0o755)).unwrap();

        execute("lion demo one", &lion, &folder).unwrap();
        execute("cargo run --release -- demo two", &lion, &folder).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("ran")).unwrap(), "one\ntwo\n");
        assert!(execute("lion dance", &lion, &folder).is_err());

        assert!(exists("cat x | lion demo --seed=1 -o y", &lion).is_ok());
        assert!(exists("lion demo --sede 1", &lion).unwrap_err().to_string().contains("`--sede` is no flag"));
        assert!(exists("lion dance", &lion).unwrap_err().to_string().contains("no such verb"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
