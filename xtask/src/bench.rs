//! `cargo xtask bench fit` and `place`: an environment of its own with the rivals in it, then bench/fit.py or bench/place.py.

use std::path::PathBuf;

use anyhow::Result;

use crate::{data, install, shell};

/// Builds what is ours, installs what is theirs, fetches MNIST, and hands over to a script of bench/.
pub(crate) fn run(script: &str, options: &[&str]) -> Result<()> {
    let script = shell::root().join("bench").join(script);
    let python = environment()?;
    if options.contains(&"--help") || options.contains(&"-h") {
        return shell::run(shell::program(python, "").arg(script).arg("--help"));
    }
    shell::run(&mut shell::cargo("build --workspace --release --bins --examples"))?;
    data::fetch(None)?;
    let mut command = shell::program(python, "");
    command.arg(script).arg("--target").arg(shell::target()?).args(options);
    shell::run(&mut command)
}

/// The Python of `<target>/bench-env`, with the pinned packages of bench/requirements.txt.
fn environment() -> Result<PathBuf> {
    install::python("bench-env", &shell::root().join("bench/requirements.txt"))
}
