//! How much of its parser a target's corpus reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail};

use super::folder;
use super::fuzzer::Fuzzer;

/// The line of a target's documentation that names the files of its parser.
const PARSER: &str = "//! Parser: ";

/// The branches of the functions of a file.
#[derive(Clone, Debug, Default, PartialEq)]
struct Edges {
    all: u64,
    reached: u64,
    /// Lines with branches that were not reached, in functions that were.
    missed: BTreeSet<u64>,
}

/// Prints a table: for each target the files of its parser, and how many of their branches its corpus reaches.
pub(super) fn tell(fuzzer: &Fuzzer, targets: &[String]) -> Result<()> {
    let mut rows = String::from(
        "| target | file | branches | reached | lines with a branch not reached |\n|---|---|---|---|---|\n",
    );
    for target in targets {
        println!("counting what {target} reaches");
        let files = by_file(&fuzzer.functions(target)?);
        if files.is_empty() {
            bail!(
                "only a build with the address sanitizer knows files and lines: install a nightly toolchain, and llvm-symbolizer"
            );
        }
        for parser in parser(target)? {
            let found = files.iter().find(|(file, _)| file.ends_with(&parser));
            let Edges { all, reached, missed } = found.map(|(_, edges)| edges.clone()).unwrap_or_default();
            let share = 100.0 * reached as f64 / all.max(1) as f64;
            rows += &format!("| {target} | `{parser}` | {all} | {share:.1} % | {} |\n", missed.len());
        }
        println!("{rows}");
    }
    Ok(())
}

/// The files of a target's parser, below `crates/`.
fn parser(target: &str) -> Result<Vec<String>> {
    let file = folder().join("fuzz_targets").join(format!("{target}.rs"));
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let named = text.lines().find_map(|line| line.strip_prefix(PARSER));
    let named = named.with_context(|| format!("{} has no line {PARSER:?}", file.display()))?;
    Ok(named.split(", ").map(str::to_owned).collect())
}

/// Reads lines such as `COVERED_FUNC: hits: 3 edges: 5/8 name /a/b.rs:12` and `  UNCOVERED_PC: /a/b.rs:17`.
fn by_file(said: &str) -> BTreeMap<String, Edges> {
    let mut files: BTreeMap<String, Edges> = BTreeMap::new();
    for line in said.lines() {
        let Some((file, number)) = line.rsplit_once(' ').and_then(|(_, place)| place.rsplit_once(':')) else {
            continue;
        };
        if line.starts_with("  UNCOVERED_PC: ") {
            files.entry(file.to_owned()).or_default().missed.extend(number.parse::<u64>());
        } else if let Some((_, edges)) =
            line.split_once("COVERED_FUNC: ").and_then(|(_, rest)| rest.split_once(" edges: "))
        {
            let counts = edges.split_whitespace().next().and_then(|counts| counts.split_once('/'));
            let count = |text: &str| text.parse::<u64>().unwrap_or(0);
            let (reached, all) = counts.map_or((0, 0), |(reached, all)| (count(reached), count(all)));
            let entry = files.entry(file.to_owned()).or_default();
            entry.reached += reached;
            entry.all += all;
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn every_target_names_the_files_of_its_parser() {
        for target in super::super::targets().unwrap() {
            for file in parser(&target).unwrap() {
                assert!(shell::root().join("crates").join(&file).is_file(), "{target}: {file}");
            }
        }
    }

    #[test]
    fn branches_are_summed_by_file() {
        let said = "COVERAGE:\nCOVERED_FUNC: hits: 3 edges: 5/8 <a as b>::c /x/npy.rs:12\n  UNCOVERED_PC: /x/npy.rs:17\n  \
                    UNCOVERED_PC: /x/npy.rs:17\nUNCOVERED_FUNC: hits: 0 edges: 0/2 d /x/npy.rs:30\n";
        let edges = Edges { all: 10, reached: 5, missed: BTreeSet::from([17]) };
        assert_eq!(by_file(said), BTreeMap::from([("/x/npy.rs".to_owned(), edges)]));
    }
}
