//! One build of a crate with many mutants in it, and the tests that reach each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::listed::Mutant;
use super::running::{Ended, Run, Test};
use super::switches::{self, HEAD, Number, RUNTIME};
use super::tree;
use crate::shell;

/// What a test that reaches mutants takes, and the functions that it reaches.
struct Reach {
    test: Test,
    takes: Duration,
    functions: HashSet<u32>,
}

/// Tests run again in portions: those that are over within this time altogether come first.
const PORTIONS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(15)];

/// The least time before tests count as without end. A busy machine must not make them so.
const PATIENCE: Duration = Duration::from_secs(60);

/// A crate in the copy of the sources, and where lists of what became of its mutants go.
pub(super) struct Crate<'a> {
    pub(super) package: &'a str,
    pub(super) tree: PathBuf,
    pub(super) target: PathBuf,
    pub(super) run: PathBuf,
}

impl Crate<'_> {
    /// Tries mutants, and returns the names of those that cannot be switched.
    pub(super) fn attempt(&self, mutants: &[Mutant]) -> Result<Vec<String>> {
        let numbered: BTreeMap<Number, &Mutant> = (1..).zip(mutants).collect();
        fs::create_dir_all(self.lists())
            .with_context(|| format!("cannot make {}", self.lists().display()))?;
        let mut unviable = HashSet::new();
        let functions = loop {
            let viable: Vec<(Number, &Mutant)> =
                numbered.iter().map(|(&n, &m)| (n, m)).filter(|(n, _)| !unviable.contains(n)).collect();
            let functions = self.write(&viable)?;
            let refused = self.refused()?;
            if refused.is_empty() {
                break functions;
            }
            unviable.extend(refused);
        };
        for number in &unviable {
            self.note("unviable", numbered[number], "")?;
        }
        let reaches = self.record()?;
        for (number, mutant) in &numbered {
            if let Some(function) = functions.get(number) {
                let (list, why) = self.try_one(*number, *function, &reaches)?;
                println!("{list}: {} ({why})", mutant.name);
                self.note(list, mutant, &why)?;
            }
        }
        tree::renew(&self.tree)?;
        let left = numbered.iter().filter(|(n, _)| !functions.contains_key(n) && !unviable.contains(n));
        Ok(left.map(|(_, mutant)| mutant.name.clone()).collect())
    }

    fn lists(&self) -> PathBuf {
        self.run.join("mutants.out")
    }

    fn folder(&self) -> PathBuf {
        self.tree.join("crates").join(self.package)
    }

    fn note(&self, list: &str, mutant: &Mutant, why: &str) -> Result<()> {
        let line = |file: &str, line: String| {
            let path = self.lists().join(file);
            let mut file = fs::OpenOptions::new().create(true).append(true).open(path)?;
            writeln!(file, "{line}")
        };
        line(&format!("{list}.txt"), mutant.name.clone())
            .and_then(|()| line("why.log", format!("{list}: {}: {why}", mutant.name)))
            .context("cannot note what became of a mutant")
    }

    /// Writes the sources with these mutants; returns the functions of those that are in them.
    fn write(&self, mutants: &[(Number, &Mutant)]) -> Result<HashMap<Number, u32>> {
        tree::renew(&self.tree)?;
        let mut files: BTreeMap<&str, Vec<(Number, &Mutant)>> = BTreeMap::new();
        for &(number, mutant) in mutants {
            files.entry(&mutant.file).or_default().push((number, mutant));
        }
        let (mut functions, mut next) = (HashMap::new(), 1);
        for (file, mutants) in files {
            let path = self.tree.join(file);
            let text = read(&path)?;
            let switched = switches::switch(&text, &mutants, &mut next);
            fs::write(&path, switched.text).with_context(|| format!("cannot write {}", path.display()))?;
            functions.extend(switched.functions);
        }
        let path = self.folder().join("src/lib.rs");
        fs::write(&path, format!("{HEAD}{}{RUNTIME}", read(&path)?))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(functions)
    }

    fn cargo(&self, task: &str) -> Command {
        let mut command = shell::cargo(task);
        command.args(["--release", "--message-format=json", "--package", self.package]);
        // Compiled once and run for long, so nearly as well as a release.
        for setting in ["codegen-units=16", "strip=false"] {
            command.arg(format!("--config=profile.release.package.{}.{setting}", self.package));
        }
        command.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// The mutants that the compiler refuses.
    fn refused(&self) -> Result<HashSet<Number>> {
        let output = self.cargo("check --lib --quiet").output().context("cannot start cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut refused = HashSet::new();
        for message in messages(&text).filter(|message| message["message"]["level"] == "error") {
            for span in message["message"]["spans"].as_array().into_iter().flatten() {
                let (Some(file), Some(line)) = (span["file_name"].as_str(), span["line_start"].as_u64())
                else {
                    continue;
                };
                refused.extend(switches::mutant_at(&read(&self.tree.join(file))?, line as usize));
            }
        }
        if !output.status.success() && refused.is_empty() {
            let first = messages(&text)
                .find_map(|message| message["message"]["rendered"].as_str().map(str::to_owned));
            bail!("{} does not compile with switches: {}", self.package, first.unwrap_or_default());
        }
        Ok(refused)
    }

    /// Builds the tests, and runs each alone to see what it reaches. One that fails without any mutant is left out.
    fn record(&self) -> Result<Vec<Reach>> {
        let built = shell::output(&mut self.cargo("test --lib --tests --no-run"))?;
        let mut tests = Vec::new();
        for message in messages(&built).filter(|message| message["profile"]["test"] == true) {
            let Some(program) = message["executable"].as_str().map(PathBuf::from) else { continue };
            let list = shell::output(
                Command::new(&program).args(["--list", "--format", "terse"]).env("SWITCH", "0"),
            )?;
            tests.extend(
                list.lines()
                    .filter_map(|l| l.strip_suffix(": test"))
                    .map(|t| (program.clone(), t.to_owned())),
            );
        }
        println!("{}: {} tests, to see what they reach", self.package, tests.len());
        let (queue, done) = (Mutex::new((0..tests.len()).rev().collect::<Vec<_>>()), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let works = std::thread::available_parallelism().map_or(1, Into::into);
            let works: Vec<_> =
                (0..works).map(|_| scope.spawn(|| self.record_some(&tests, &queue, &done))).collect();
            works.into_iter().try_for_each(|work| work.join().expect("no panic"))
        })?;
        Ok(done.into_inner().expect("no panic"))
    }

    fn record_some(&self, tests: &[Test], queue: &Mutex<Vec<usize>>, done: &Mutex<Vec<Reach>>) -> Result<()> {
        loop {
            let Some(number) = queue.lock().expect("no panic").pop() else { return Ok(()) };
            let file = self.run.join(format!("reach-{number}"));
            let test = tests[number].clone();
            let began = Instant::now();
            let at_most = 5 * PATIENCE;
            let run = Run { folder: &self.folder(), switch: "record", record: Some(&file), at_most };
            let ended = run.run(&test.0, &[&test.1])?;
            if ended != Ended::Passed {
                println!("left out, for it fails without any mutant: {} ({ended:?})", test.1);
                continue;
            }
            let functions = fs::read_to_string(&file).unwrap_or_default();
            let functions = functions.lines().filter_map(|line| line.parse().ok()).collect();
            done.lock().expect("no panic").push(Reach { test, takes: began.elapsed(), functions });
        }
    }

    /// What becomes of a mutant, as the name of a list, and why.
    fn try_one(&self, number: Number, function: u32, reaches: &[Reach]) -> Result<(&'static str, String)> {
        let mut tests: Vec<&Reach> =
            reaches.iter().filter(|reach| reach.functions.contains(&function)).collect();
        tests.sort_by(|a, b| (a.takes, &a.test).cmp(&(b.takes, &b.test)));
        let (number, mut so_far) = (number.to_string(), Duration::ZERO);
        let mut portions: BTreeMap<(usize, &Path), Vec<&Reach>> = BTreeMap::new();
        for reach in &tests {
            so_far += reach.takes;
            let portion = PORTIONS.iter().position(|&limit| so_far < limit).unwrap_or(PORTIONS.len());
            portions.entry((portion, &reach.test.0)).or_default().push(reach);
        }
        for ((_, program), portion) in portions {
            let names: Vec<&str> = portion.iter().map(|reach| reach.test.1.as_str()).collect();
            let takes: Duration = portion.iter().map(|reach| reach.takes).sum();
            let at_most = PATIENCE.max(4 * takes);
            let run = Run { folder: &self.folder(), switch: &number, record: None, at_most };
            match run.run(program, &names)? {
                Ended::Passed => {}
                Ended::Failed(why) => return Ok(("caught", why)),
                Ended::TimedOut(why) => return Ok(("timeout", why)),
            }
        }
        Ok(("missed", format!("{} tests reach it", tests.len())))
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn messages(printed: &str) -> impl Iterator<Item = Value> {
    printed.lines().filter_map(|line| serde_json::from_str(line).ok())
}
