//! The steps of `cargo xtask test` and `cargo xtask lint`: each is announced with its name and time, and the
//! first that fails ends the run.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::{book, deploy, golden, install, policy, python, readme, shell, tools, web};

/// A name, and what to do.
type TestStep = (&'static str, fn() -> Result<()>);

const FORMAT: TestStep = ("formatting", || {
    install::component("fmt", "rustfmt")?;
    shell::run(&mut shell::cargo("fmt --all --check"))
});
const CLIPPY: TestStep = ("clippy", || {
    install::component("clippy", "clippy")?;
    shell::run(&mut shell::cargo("clippy --quiet --workspace --all-targets --release -- -D warnings"))
});
const RUSTDOC: TestStep = ("rustdoc", || {
    let mut doc = shell::cargo("doc --quiet --no-deps --workspace --release");
    shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
});
const RUST_TESTS: TestStep = ("rust tests", || {
    let mut tests = shell::cargo("test --workspace --release");
    if std::env::var_os(PROPERTY_SEED).is_none() {
        tests.env(PROPERTY_SEED, "2017");
    }
    shell::run(&mut tests)
});
/// What proptest reads its seed from. We set it so that one commit has one answer; another value tries other cases.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";
// The whole workspace at once, so that features unify as in the tests and nothing is built twice.
const BUILD: TestStep =
    ("build", || shell::run(&mut shell::cargo("build --workspace --release --bins --examples")));
// Nothing but what people run.
const PROGRAM: TestStep =
    ("program", || shell::run(&mut shell::cargo("build --workspace --release --locked --bin lion")));
const GOLDEN: TestStep = ("golden files", || golden::check(false));
const PYTHON_TESTS: TestStep = ("python tests", python::test);
const ENGINES: TestStep = ("engines: Spark, Ray and Dask", python::test_engines);
const TOOLS: TestStep = ("Python environments, npm packages and a browser", tools::ready);
const BROWSER_TOOLS: TestStep = ("browser and npm packages", tools::for_pages);
const BROWSER_TESTS: TestStep = ("browser tests", || {
    let pages = shell::scratch("pages")?;
    shell::run(shell::program(shell::built("examples/pages")?, "").arg(&pages))?;
    shell::run(shell::program(shell::built("examples/report")?, "").arg(pages.join("report")))?;
    in_browser("--test", "PAGES", &pages)
});
const EVALUATION: TestStep = ("evaluation, quickly, and its report in a browser", evaluation);
const DASHBOARD_TOOLS: TestStep = ("dashboard's npm packages", tools::for_dashboard);
const DASHBOARD: TestStep = ("dashboard's source", web::source);
const DASHBOARD_TESTS: TestStep = ("dashboard in a browser", web::browser);
const NOTEBOOK: TestStep = ("widget in JupyterLab", || web::notebook(&python::with_package()?));
const README: TestStep = ("commands of README and docs", || {
    tools::for_documents()?;
    readme::check()
});
const DEPLOY: TestStep = ("files of deploy/", deploy::check);
const BOOK: TestStep = ("book", book::build);
const DEMO: TestStep = ("demo", demo);
const POLICY: TestStep = ("licences, bans and sources", policy::check);
const YANKED: TestStep = ("yanked versions", policy::yanked);

/// Every test and check there is. What they need is fetched while Rust compiles.
pub(crate) fn test() -> Result<()> {
    tools::begin();
    run(&[
        FORMAT,
        CLIPPY,
        RUSTDOC,
        RUST_TESTS,
        BUILD,
        GOLDEN,
        TOOLS,
        PYTHON_TESTS,
        ENGINES,
        BROWSER_TESTS,
        DASHBOARD,
        DASHBOARD_TESTS,
        NOTEBOOK,
        EVALUATION,
        README,
        BOOK,
        DEPLOY,
        DEMO,
    ])
}

/// The quick loop.
pub(crate) fn test_rust() -> Result<()> {
    run(&[FORMAT, CLIPPY, RUST_TESTS])
}

/// The tests of the Python package alone.
pub(crate) fn test_python() -> Result<()> {
    run(&[BUILD, PYTHON_TESTS])
}

/// The tests of the engines alone.
pub(crate) fn test_engines() -> Result<()> {
    run(&[BUILD, ENGINES])
}

/// The browser tests alone.
pub(crate) fn test_web() -> Result<()> {
    run(&[BUILD, BROWSER_TOOLS, BROWSER_TESTS, DASHBOARD_TOOLS, DASHBOARD, DASHBOARD_TESTS, EVALUATION])
}

/// The widget of notebooks alone.
pub(crate) fn test_notebook() -> Result<()> {
    run(&[BUILD, DASHBOARD_TOOLS, NOTEBOOK])
}

/// What the documents say, and the book made of them.
pub(crate) fn test_docs() -> Result<()> {
    run(&[BUILD, README, BOOK])
}

/// What a service is run by.
pub(crate) fn test_deploy() -> Result<()> {
    run(&[BUILD, DEPLOY])
}

/// The program, with the features that it has in the tests.
pub(crate) fn build() -> Result<()> {
    run(&[PROGRAM])
}

/// Whether results keep their bits; or what they are from now on.
pub(crate) fn golden(record: bool) -> Result<()> {
    PROGRAM.1()?;
    golden::check(record)
}

/// What a change must pass beside its tests.
pub(crate) fn lint() -> Result<()> {
    run(&[FORMAT, CLIPPY, RUSTDOC, POLICY, YANKED])
}

fn run(steps: &[TestStep]) -> Result<()> {
    let start = Instant::now();
    for (passed, (name, work)) in steps.iter().enumerate() {
        println!("\n== {name} ({} of {})", passed + 1, steps.len());
        let began = Instant::now();
        if let Err(error) = work() {
            println!("\n== {name} failed after {:.1} s: {error:#}", began.elapsed().as_secs_f64());
            println!("{passed} passed, 1 failed");
            bail!("{name} failed");
        }
        println!("== {name}: ok, {:.1} s", began.elapsed().as_secs_f64());
    }
    println!("\n{} passed, 0 failed ({:.0} s)", steps.len(), start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs tests of pages that are found by a variable of the environment.
fn in_browser(tests: &str, variable: &str, pages: &Path) -> Result<()> {
    let mut node = shell::program("node", tests);
    node.current_dir(tools::pages()).env(variable, pages).env("LION", shell::built("lion")?);
    if let Some(chromium) = install::find_browser() {
        node.env("CHROMIUM", chromium);
    }
    shell::run(&mut node)
}

/// The figures that the report on the embedded digits has.
const FIGURES: [&str; 26] = [
    "map",
    "outliers-at-once",
    "one-dimension",
    "cross-validation",
    "grid-search",
    "test-digits",
    "test-positions",
    "power-accuracy",
    "kernel-width-accuracy",
    "kernel-width-distance",
    "landing-cluster-rbf",
    "landing-cluster-idw",
    "landing-cluster-gd",
    "landing-cluster-nn",
    "landing-cluster-kernelized",
    "landing-cluster-lion",
    "mean-images",
    "noise",
    "landings-noise",
    "letters",
    "complexity-build-rows",
    "complexity-row-rows",
    "complexity-build-columns",
    "complexity-row-columns",
    "strangers",
    "speed-accuracy",
];

/// Every part of the evaluation on the embedded digits, with fewer rows; the report has every figure, and opens.
fn evaluation() -> Result<()> {
    let folder = shell::scratch("evaluation")?;
    let report = folder.join("report");
    shell::run(shell::program(shell::built("lion")?, "evaluate --quick --json -o").arg(&report))?;
    for name in FIGURES {
        for kind in ["svg", "png"] {
            let file = report.join("figures").join(format!("{name}.{kind}"));
            let size = fs::metadata(&file).map_or(0, |file| file.len());
            ensure!(size > 500, "{} is missing or empty", file.display());
        }
    }
    in_browser("--test report.test.js", "REPORT", &report.join("report.html"))
}

/// The main job on the embedded data, in an empty folder, writes what it promises.
fn demo() -> Result<()> {
    let folder = shell::scratch("demo")?;
    shell::run(shell::program(shell::built("lion")?, "demo").current_dir(&folder))?;
    let written = folder.join("lion-demo");
    let files = fs::read_dir(&written).with_context(|| format!("no folder {}", written.display()))?;
    let mut names = Vec::new();
    for file in files {
        let file = file?;
        if file.metadata()?.len() > 0 {
            names.push(file.file_name().to_string_lossy().into_owned());
        }
    }
    ensure!(names.iter().any(|n| n.ends_with(".lion")), "lion-demo/ has no map file, only {names:?}");
    for name in ["map.html", "placements.parquet"] {
        ensure!(names.iter().any(|n| n == name), "lion-demo/ has no {name}, only {names:?}");
    }
    Ok(())
}
