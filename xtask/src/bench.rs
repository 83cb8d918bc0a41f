//! `cargo xtask bench fit`, `curve`, `place`, `update` and `python`: an environment of its own with the rivals in it, then a script of bench/.
//! `cargo xtask bench scale`: engines instead of rivals. `cargo xtask bench verdicts`: detectors of outliers, and data sets
//! of packages; `cargo xtask bench labels`: labels of placed rows, on the same sets. `cargo xtask bench clusters`: HDBSCAN. `cargo xtask bench live` and `alarms`: a program instead of a script.

use std::path::PathBuf;

use anyhow::Result;

use crate::{data, install, python, shell};

/// Builds what is ours, installs what is theirs, fetches MNIST, and hands over to a script of bench/.
pub(crate) fn run(script: &str, options: &[&str]) -> Result<()> {
    run_with(environment()?, script, options)
}

fn run_with(python: PathBuf, script: &str, options: &[&str]) -> Result<()> {
    let script = shell::root().join("bench").join(script);
    if options.contains(&"--help") || options.contains(&"-h") {
        return shell::run(shell::program(python, "").arg(script).arg("--help"));
    }
    shell::run(&mut shell::cargo("build --workspace --release --bins --examples"))?;
    data::fetch(None)?;
    let mut command = shell::program(python, "");
    command.arg(script).arg("--target").arg(shell::target()?).args(options);
    shell::run(&mut command)
}

/// The same with our own package among the rivals.
pub(crate) fn run_python(options: &[&str]) -> Result<()> {
    python::install_into(&environment()?)?;
    run("python/compare.py", options)
}

/// Tables beyond memory, and engines: with these instead of the rivals.
pub(crate) fn run_scale(options: &[&str]) -> Result<()> {
    run_with(python::with_engines()?, "scale/run.py", options)
}

/// Verdicts beside detectors of outliers, on data sets that packages bundle: our own package is all that must be built.
pub(crate) fn run_verdicts(options: &[&str]) -> Result<()> {
    let python = install::python("verdicts-env", &shell::root().join("bench/verdicts/requirements.txt"))?;
    let mut command = shell::program(&python, "");
    command.arg(shell::root().join("bench/verdicts/run.py"));
    if options.contains(&"--help") || options.contains(&"-h") {
        return shell::run(command.arg("--help"));
    }
    python::install_into(&python)?;
    shell::run(command.arg("--target").arg(shell::target()?).args(options))
}

/// Labels of placed rows beside k nearest neighbours, on the same sets.
pub(crate) fn run_labels(options: &[&str]) -> Result<()> {
    let python = install::python("verdicts-env", &shell::root().join("bench/verdicts/requirements.txt"))?;
    let mut command = shell::program(&python, "");
    command.arg(shell::root().join("bench/verdicts/labels.py"));
    if options.contains(&"--help") || options.contains(&"-h") {
        return shell::run(command.arg("--help"));
    }
    shell::run(&mut shell::cargo("build --workspace --release --bin lion"))?;
    shell::run(command.arg("--target").arg(shell::target()?).args(options))
}

/// Clusters by density beside HDBSCAN, and keywords, on data sets that packages bundle.
pub(crate) fn run_clusters(options: &[&str]) -> Result<()> {
    let python = install::python("clusters-env", &shell::root().join("bench/clusters/requirements.txt"))?;
    let mut command = shell::program(&python, "");
    command.arg(shell::root().join("bench/clusters/run.py"));
    if options.contains(&"--help") || options.contains(&"-h") {
        return shell::run(command.arg("--help"));
    }
    shell::run(&mut shell::cargo("build --workspace --release --bin lion"))?;
    shell::run(command.arg("--target").arg(shell::target()?).args(options))
}

/// A live map under load.
pub(crate) fn run_live(options: &[&str]) -> Result<()> {
    shell::run(&mut shell::cargo("build --workspace --release --bin lion --bin live"))?;
    data::fetch(None)?;
    let mut command = shell::program(shell::built("live")?, "");
    command.arg(shell::root().join("data/mnist")).arg(shell::built("lion")?);
    command.arg(shell::target()?.join("bench")).args(options);
    shell::run(&mut command)
}

/// False alarms, and how late true ones are.
pub(crate) fn run_alarms(options: &[&str]) -> Result<()> {
    shell::run(&mut shell::cargo("build --workspace --release --bin alarms"))?;
    let mut command = shell::program(shell::built("alarms")?, "");
    if !options.contains(&"--mnist") {
        data::fetch(None)?;
        command.arg("--mnist").arg(shell::root().join("data/mnist"));
    }
    shell::run(command.args(options))
}

/// The Python of `<target>/bench-env`, with the pinned packages of bench/requirements.txt.
fn environment() -> Result<PathBuf> {
    install::python("bench-env", &shell::root().join("bench/requirements.txt"))
}
