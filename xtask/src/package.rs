//! What could be published of the Python package: a wheel and a source distribution, each tried in an environment that has nothing
//! else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{install, python, shell};

/// Fits a small array, and says which version did it.
const TRIAL: &str = "
import sys
import numpy as np
import liontsne
X = np.random.default_rng(0).normal(size=(120, 4))
lion = liontsne.LionTSNE(perplexity=10, max_iter=60).fit(X)
assert lion.embedding_.shape == (120, 2) and (lion.transform(X) == lion.embedding_).all()
lion.save(sys.argv[1])
print(liontsne.__version__)
";

/// `cargo xtask wheel`: builds the wheel, tries it, and says where it is, how large, and which systems it is for.
pub(crate) fn wheel() -> Result<()> {
    tell(&tried_wheel()?)
}

/// `cargo xtask wheel --sdist`: the same of the source distribution, which pip compiles from nothing: no file of this repository
/// may be missed by it.
pub(crate) fn wheel_and_sdist() -> Result<()> {
    wheel()?;
    let sdist = sdist()?;
    println!("compiling {} (some minutes)", sdist.display());
    let compiled = shell::scratch("sdist-target")?;
    try_out(&sdist, Some(&compiled))?;
    fs::remove_dir_all(&compiled)?;
    tell(&sdist)
}

/// Both, in a folder. The source distribution is not compiled: `cargo xtask wheel --sdist` does.
pub(crate) fn into(folder: &Path) -> Result<()> {
    for file in [tried_wheel()?, sdist()?] {
        fs::copy(&file, folder.join(file.file_name().context("a file without a name")?))?;
    }
    Ok(())
}

fn tried_wheel() -> Result<PathBuf> {
    let wheel = python::wheel()?;
    // maturin has looked at the symbols that the library takes from the system.
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ensure!(
        !cfg!(target_os = "linux") || name.contains("manylinux"),
        "{name} is for this system alone: maturin found no manylinux policy that it follows"
    );
    try_out(&wheel, None)?;
    Ok(wheel)
}

fn sdist() -> Result<PathBuf> {
    let folder = shell::scratch("sdist")?;
    let python = python::environment()?;
    shell::run(shell::program(&python, "-m maturin sdist --out").arg(&folder))?;
    Ok(fs::read_dir(&folder)?.next().context("maturin made no source distribution")??.path())
}

/// The name of a wheel ends with the systems that it is for.
fn tell(file: &Path) -> Result<()> {
    println!("{} ({:.1} MB)", file.display(), megabytes(file)?);
    Ok(())
}

fn megabytes(file: &Path) -> Result<f64> {
    Ok(fs::metadata(file)?.len() as f64 / 1e6)
}

/// Installs a file into a new environment, away from the repository, and uses what it brings: the module and the command.
fn try_out(file: &Path, compiled: Option<&Path>) -> Result<()> {
    let folder = shell::scratch("fresh")?;
    let (python, programs) = install::fresh(&folder.join("env"))?;
    let mut pip = shell::program(&python, "-m pip install --quiet --disable-pip-version-check");
    pip.arg(file).current_dir(&folder);
    if let Some(compiled) = compiled {
        pip.env("CARGO_TARGET_DIR", compiled);
    }
    shell::run(&mut pip)?;
    let map = folder.join("trial.lion");
    let module = shell::output(shell::program(&python, "-c").arg(TRIAL).arg(&map).current_dir(&folder))?;
    let lion: PathBuf = programs.join(format!("lion{}", std::env::consts::EXE_SUFFIX));
    let command = shell::output(shell::program(&lion, "--version").current_dir(&folder))?;
    ensure!(command.trim() == format!("lion {}", module.trim()), "lion --version says {command:?}");
    shell::quietly(shell::program(&lion, "info").arg(&map).current_dir(&folder))
}
