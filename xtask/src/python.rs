//! The Python package: its wheel, and its tests in an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{install, shell};

/// What the tests need, maturin included.
const NEEDED: &str = "crates/lion-tsne-py/tests/requirements.txt";
const TESTS: &str = "crates/lion-tsne-py/tests";
/// Spark, Ray and Dask, which want packages of other ages than the rest does.
const NEEDED_BY_ENGINES: &str = "crates/lion-tsne-py/tests/engines/requirements.txt";
const ENGINES: &str = "crates/lion-tsne-py/tests/engines";

/// Builds the wheel, and shows how.
pub(crate) fn wheel() -> Result<PathBuf> {
    build(&environment()?, shell::run)
}

/// Builds the wheel, installs it, and runs the tests and the examples of the installed package.
pub(crate) fn test() -> Result<()> {
    let python = with_package()?;
    let mut pytest = shell::program(&python, "-m pytest --quiet -p no:cacheprovider");
    // Without it, tests that compare with the command line are left out; with it, it must be there.
    pytest.arg(TESTS).env("LION_BINARY", shell::built("lion")?);
    shell::run(&mut pytest)
}

/// Runs the tests of the engines, each on a real cluster on this machine, in an environment of their own.
pub(crate) fn test_engines() -> Result<()> {
    let python = with_engines()?;
    let mut pytest = shell::program(&python, "-m pytest --quiet -p no:cacheprovider --confcutdir");
    pytest.arg(ENGINES).arg(ENGINES).env("LION_BINARY", shell::built("lion")?);
    // Every engine must be there: without it, those that are not installed would be left out.
    shell::run(pytest.env("LION_ENGINES", "all"))
}

/// The Python of `<target>/python-env`, with our own package: it has JupyterLab, too.
pub(crate) fn with_package() -> Result<PathBuf> {
    let python = environment()?;
    install_into(&python)?;
    Ok(python)
}

/// The Python of `<target>/engines-env`: Spark, Ray, Dask and our own package.
pub(crate) fn with_engines() -> Result<PathBuf> {
    install::java()?;
    let python = engines_environment()?;
    install_into(&python)?;
    Ok(python)
}

/// Builds the wheel and installs it into this Python, which has what it depends on.
pub(crate) fn install_into(python: &Path) -> Result<()> {
    let wheel = build(&environment()?, shell::quietly)?;
    let install = "-m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall";
    shell::quietly(shell::program(python, install).arg(wheel))
}

/// The Python of `<target>/python-env`.
pub(crate) fn environment() -> Result<PathBuf> {
    install::python("python-env", &shell::root().join(NEEDED))
}

/// The Python of `<target>/engines-env`, without our own package.
pub(crate) fn engines_environment() -> Result<PathBuf> {
    install::python("engines-env", &shell::root().join(NEEDED_BY_ENGINES))
}

/// The wheel, from what cargo has compiled already: maturin is told to work in the same folder.
fn build(python: &Path, run: fn(&mut std::process::Command) -> Result<()>) -> Result<PathBuf> {
    let folder = shell::scratch("wheel")?;
    let mut maturin = shell::program(python, "-m maturin build --release --locked --interpreter");
    maturin.arg(python).arg("--out").arg(&folder).env("CARGO_TARGET_DIR", shell::target()?);
    run(&mut maturin)?;
    let made = fs::read_dir(&folder)?.next().context("maturin made no wheel")?;
    Ok(made?.path())
}
