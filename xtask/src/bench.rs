//! `cargo xtask bench fit` and `place`: an environment of its own with the rivals in it, then bench/fit.py or bench/place.py.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

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

/// The Python of `<target>/bench-env`, with the pinned packages of bench/requirements.txt. A copy of that list
/// beside them, written last, says that the installation is complete and current.
fn environment() -> Result<PathBuf> {
    let folder = shell::target()?.join("bench-env");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let list = shell::root().join("bench/requirements.txt");
    let wanted = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    println!("installing the rivals into {} ...", folder.display());
    let venv = || shell::run(shell::program("python3", "-m venv --clear").arg(&folder));
    if venv().is_err() {
        install::apt(&["python3", "python3-venv"])?;
        venv()?;
    }
    shell::run(shell::program(&python, "-m pip install --quiet --disable-pip-version-check -r").arg(&list))?;
    fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(python)
}
