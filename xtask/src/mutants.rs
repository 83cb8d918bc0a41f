//! `cargo xtask mutants`: small faults, put into the modules that matter most one at a time, and whether a test of the crate
//! notices.
//!
//! There are thousands, so a sample is tried, drawn at random from each module. All of a sample are built at once, and switched on one by
//! one (`switches`); each is tried on the tests that reach its function (`switched`). The few that cannot be switched are built alone, by
//! cargo-mutants. What was tried is kept in `<target>/mutants`: a run goes on where the last one ended.

mod listed;
mod outcomes;
mod running;
mod switched;
mod switches;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::rng::Rng;
use crate::{install, shell};
use listed::Mutant;
use outcomes::{Outcomes, table};

/// What is mutated together: its name, its crate, and its files below the crate's `src/`, as globs.
struct Module {
    name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
}

const fn module(name: &'static str, package: &'static str, files: &'static [&'static str]) -> Module {
    Module { name, package, files }
}

const MODULES: [Module; 13] = [
    module("lion", "lion-tsne", &["lion.rs", "lion/**"]),
    module("verdict", "lion-tsne", &["verdict.rs", "verdict/**"]),
    module("update", "lion-tsne", &["update.rs", "update/**"]),
    module("live", "lion-tsne", &["live.rs", "live/**"]),
    module("index", "lion-tsne", &["index.rs", "index/**"]),
    module("affinity", "lion-tsne", &["affinity.rs", "affinity/**"]),
    module("recipe", "lion-recipe", &["**"]),
    module("replace", "lion-replace", &["**"]),
    module("store", "lion-server", &["store.rs", "store/**"]),
    module("writer", "lion-server", &["writer.rs", "writer/**"]),
    module("batch", "lion-server", &["batch.rs"]),
    module("guard", "lion-server", &["http/guard.rs"]),
    module(
        "parsers",
        "lion-table",
        &[
            "arrow.rs",
            "cells.rs",
            "columnar.rs",
            "dates.rs",
            "delimited.rs",
            "encoded.rs",
            "idx.rs",
            "input.rs",
            "jsonl.rs",
            "lines.rs",
            "npy.rs",
            "parquet.rs",
            "raw.rs",
            "read_columns.rs",
            "record.rs",
            "value.rs",
        ],
    ),
];

/// Mutants of one build with switches, and of one run of cargo-mutants.
const AT_ONCE: usize = 400;

/// Properties are tried on the same cases each time, and one that fails is not made smaller.
const PROPERTIES: [(&str, &str); 3] = [
    ("PROPTEST_RNG_SEED", "2017"),
    ("PROPTEST_MAX_SHRINK_ITERS", "0"),
    ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
];

/// What is tried, by the words of the command line.
struct Options {
    modules: Vec<&'static Module>,
    /// So many mutants, spread evenly over the modules; all without.
    sample: Option<usize>,
    seed: u64,
    /// Those that no test noticed are tried again.
    missed: bool,
    /// What was tried before is forgotten.
    again: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self { modules: Vec::new(), sample: None, seed: 2017, missed: false, again: false };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut number = || {
                let value = words.next().with_context(|| format!("{word} needs a number"))?;
                value.parse::<u64>().with_context(|| format!("{word} needs a number, not {value:?}"))
            };
            match word {
                "--sample" => options.sample = Some(number()? as usize),
                "--seed" => options.seed = number()?,
                "--missed" => options.missed = true,
                "--again" => options.again = true,
                name => options.modules.push(known(name)?),
            }
        }
        if options.modules.is_empty() {
            options.modules = MODULES.iter().collect();
        }
        Ok(options)
    }
}

fn known(name: &str) -> Result<&'static Module> {
    let names: Vec<&str> = MODULES.iter().map(|module| module.name).collect();
    let found = MODULES.iter().find(|module| module.name == name);
    found.with_context(|| format!("there is no module {name:?}; there are {}", names.join(", ")))
}

/// Tries the mutants that are asked for and were not tried yet, crate by crate; then says what became of all that were.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let mutants = Mutants { program: install::cargo_tool("cargo-mutants", "27.1.0")?, folder: folder()? };
    tree::renew(&mutants.tree())?;
    if options.again && mutants.runs().is_dir() {
        std::fs::remove_dir_all(mutants.runs()).context("cannot forget earlier runs")?;
    }
    let tried = Outcomes::read(&mutants.runs())?;
    let mut all = Vec::new();
    let mut wanted: Vec<(&str, Vec<Mutant>)> = Vec::new();
    for module in &options.modules {
        let list = mutants.list(module)?;
        let names: Vec<String> = list.keys().cloned().collect();
        let share = options.sample.map_or(names.len(), |sample| sample.div_ceil(options.modules.len()));
        let mut chosen = shuffled(&names, options.seed);
        chosen.truncate(share);
        chosen.retain(|name| if options.missed { tried.is_missed(name) } else { !tried.has(name) });
        let chosen = chosen.iter().map(|name| list[name].clone());
        match wanted.iter_mut().find(|(package, _)| *package == module.package) {
            Some((_, wanted)) => wanted.extend(chosen),
            None => wanted.push((module.package, chosen.collect())),
        }
        all.push((module.name, names));
    }
    for (package, wanted) in &wanted {
        println!("{package}: {} mutants to try", wanted.len());
        for some in wanted.chunks(AT_ONCE) {
            let left = mutants.switched(package)?.attempt(some)?;
            if !left.is_empty() {
                println!("{package}: {} mutants that cannot be switched", left.len());
                mutants.attempt(package, &left)?;
            }
        }
    }
    let outcomes = Outcomes::read(&mutants.runs())?;
    println!("{}", table(&all, &outcomes));
    for name in all.iter().flat_map(|(_, names)| names).filter(|name| outcomes.is_missed(name)) {
        println!("missed: {name}");
    }
    Ok(())
}

fn folder() -> Result<PathBuf> {
    Ok(shell::target()?.join("mutants"))
}

/// The names in an order that the seed gives: the first few are a sample of all.
fn shuffled(names: &[String], seed: u64) -> Vec<String> {
    let mut names = names.to_vec();
    let mut rng = Rng::new(seed);
    for at in (1..names.len()).rev() {
        names.swap(at, rng.below(at + 1));
    }
    names
}

/// cargo-mutants, at work in a copy of the sources.
struct Mutants {
    program: PathBuf,
    folder: PathBuf,
}

impl Mutants {
    /// The copy of the sources: always the same, so that compiling goes on from the mutant before.
    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn command(&self, package: &str) -> Command {
        let mut command = shell::program(&self.program, "mutants --no-config --colors never --package");
        command.arg(package).arg("--dir").arg(self.tree());
        command
    }

    /// All mutants of a module, by name.
    fn list(&self, module: &Module) -> Result<BTreeMap<String, Mutant>> {
        let mut command = self.command(module.package);
        command.args(["--list", "--json"]);
        for file in module.files {
            command.arg("--file").arg(format!("crates/{}/src/{file}", module.package));
        }
        let mut named: BTreeMap<String, Mutant> = BTreeMap::new();
        for mutant in Mutant::all(&shell::output(&mut command)?)? {
            // cargo-mutants cannot be told which fields to leave out: it tries those of every file that it looks at.
            if mutant.name.contains(": delete field ") {
                continue;
            }
            // Two may have one name, and are tried together: not by a switch.
            let entry = named.entry(mutant.name.clone());
            entry.and_modify(|twin| twin.function = None).or_insert(mutant);
        }
        if named.is_empty() {
            bail!("{} has no mutants: are its files where they were?", module.name);
        }
        Ok(named)
    }

    /// A folder for a run.
    fn new_run(&self) -> Result<PathBuf> {
        let number = std::fs::read_dir(self.runs()).map_or(0, Iterator::count);
        let run = self.runs().join(format!("{number:04}"));
        std::fs::create_dir_all(&run).with_context(|| format!("cannot make {}", run.display()))?;
        Ok(run)
    }

    fn switched<'a>(&self, package: &'a str) -> Result<switched::Crate<'a>> {
        let (target, run) = (self.folder.join("target"), self.new_run()?);
        Ok(switched::Crate { package, tree: self.tree(), target, run })
    }

    /// Builds and tests a crate with each of these faults.
    ///
    /// The crate is compiled a little less well, and only what changed anew. Its own tests are run and no others, until the first that fails.
    fn attempt(&self, package: &str, names: &[String]) -> Result<()> {
        let run = self.new_run()?;
        let mut command = self.command(package);
        command.args(["--in-place", "--caught", "--timeout-multiplier", "4", "--minimum-test-timeout", "60"]);
        command.arg("--output").arg(&run);
        if shell::find(&["cargo-nextest"]).is_some() {
            command.args(["--test-tool", "nextest"]);
        }
        command.arg("--cargo-arg=--release");
        for setting in ["opt-level=1", "codegen-units=16", "incremental=true", "strip=false"] {
            command.arg(format!("--cargo-arg=--config=profile.release.package.{package}.{setting}"));
        }
        let files: BTreeSet<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
        for file in files {
            command.arg("--file").arg(file);
        }
        for name in names {
            command.arg("--re").arg(format!("^{}$", escaped(name)));
        }
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.envs(PROPERTIES);
        let status = command.status().context("cannot start cargo-mutants")?;
        // 2: some were missed; 3: some took too long.
        match status.code() {
            Some(0 | 2 | 3) => Ok(()),
            _ => bail!("cargo-mutants ended with {status}; what it did is in {}", run.display()),
        }
    }
}

/// A text as a regular expression that matches it alone.
fn escaped(text: &str) -> String {
    let mut expression = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_beginning_of_a_larger_one_and_depends_on_the_seed() {
        let names: Vec<String> = (0..50).map(|k| k.to_string()).collect();
        let (once, again, other) = (shuffled(&names, 1), shuffled(&names, 1), shuffled(&names, 2));
        assert_eq!(once, again);
        assert_ne!(once, other);
        let mut sorted = once.clone();
        sorted.sort_by_key(|name| name.parse::<usize>().unwrap());
        assert_eq!(sorted, names);
    }

    #[test]
    fn options_are_read_and_a_wrong_name_is_told() {
        let options = Options::parse(&["verdict", "--sample", "12", "lion", "--missed"]).unwrap();
        let names: Vec<&str> = options.modules.iter().map(|module| module.name).collect();
        assert_eq!((names, options.sample, options.missed), (vec!["verdict", "lion"], Some(12), true));
        assert_eq!(Options::parse(&[]).unwrap().modules.len(), MODULES.len());
        let sentence = |words: &[&str]| Options::parse(words).err().unwrap().to_string();
        assert!(sentence(&["lyon"]).starts_with("there is no module \"lyon\"; there are lion, verdict, "));
        assert_eq!(sentence(&["--sample", "many"]), "--sample needs a number, not \"many\"");
    }

    #[test]
    fn every_file_of_a_module_is_there() {
        for module in &MODULES {
            let folder = shell::root().join("crates").join(module.package).join("src");
            for file in module.files {
                let path = folder.join(file.trim_end_matches("**"));
                assert!(path.exists(), "{}", path.display());
            }
        }
    }

    #[test]
    fn an_escaped_name_matches_itself_alone() {
        assert_eq!(
            escaped("src/a.rs:1:2: replace f -> Vec<u8> with vec![]"),
            r"src/a\.rs:1:2: replace f \-> Vec<u8> with vec!\[\]"
        );
    }
}
