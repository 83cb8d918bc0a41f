//! Getting what the tests need: by itself on Debian and Ubuntu, and by saying what is missing elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Names under which distributions know the browser.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Makes sure of a component of the Rust toolchain, such as rustfmt.
pub(crate) fn component(subcommand: &str, name: &str) -> Result<()> {
    if shell::succeeds(&mut shell::cargo(&format!("{subcommand} --version"))) {
        return Ok(());
    }
    shell::run(&mut shell::program("rustup", &format!("component add {name}")))
        .with_context(|| format!("{name} is missing; install it with `rustup component add {name}`"))
}

/// Makes sure of node, npm and a browser.
pub(crate) fn browser() -> Result<()> {
    let mut packages = Vec::new();
    if shell::find(&["node"]).is_none() {
        packages.push("nodejs");
    }
    if shell::find(&["npm"]).is_none() {
        packages.push("npm");
    }
    if find_browser().is_none() {
        packages.push("chromium");
    }
    if packages.is_empty() { Ok(()) } else { apt(&packages) }
}

/// Makes sure of programs whose packages have their names.
pub(crate) fn programs(names: &[&str]) -> Result<()> {
    let missing: Vec<&str> = names.iter().copied().filter(|name| shell::find(&[name]).is_none()).collect();
    if missing.is_empty() { Ok(()) } else { apt(&missing) }
}

/// Makes sure of a Java runtime, which Spark needs: 17 or newer is what distributions have by now.
pub(crate) fn java() -> Result<()> {
    let named = std::env::var_os("JAVA_HOME").is_some_and(|home| Path::new(&home).join("bin/java").is_file());
    if named || shell::find(&["java"]).is_some() { Ok(()) } else { apt(&["default-jre-headless"]) }
}

/// The browser, if there is one: the file that the variable CHROMIUM names, or the first found in PATH.
pub(crate) fn find_browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from).filter(|file| file.is_file());
    named.or_else(|| shell::find(&BROWSERS))
}

/// Installs Debian packages as root or with sudo; where there is no apt, says what to install.
pub(crate) fn apt(packages: &[&str]) -> Result<()> {
    let wanted = packages.join(" ");
    if shell::find(&["apt-get"]).is_none() {
        bail!("missing: {wanted}; install them with your system's package manager, then run this again");
    }
    let is_root = shell::output(&mut shell::program("id", "-u"))?.trim() == "0";
    if !is_root && shell::find(&["sudo"]).is_none() {
        bail!("missing: {wanted}; as root, run `apt-get install {wanted}`, then run this again");
    }
    for args in ["update -qq".to_owned(), format!("install -y -qq --no-install-recommends {wanted}")] {
        let mut command = match is_root {
            true => shell::program("apt-get", &args),
            false => shell::program("sudo", &format!("apt-get {args}")),
        };
        shell::run(command.env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}

/// The Python of an environment `<target>/<name>`, with the packages of a list. A copy of that list beside them, written
/// last, says that the installation is complete and current.
pub(crate) fn python(name: &str, list: &Path) -> Result<PathBuf> {
    let folder = shell::target()?.join(name);
    let python = programs_of(&folder).join(PYTHON);
    let wanted = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    println!("installing {} into {} ...", list.display(), folder.display());
    fresh(&folder)?;
    let install = "-m pip install --quiet --disable-pip-version-check -r";
    shell::quietly(shell::program(&python, install).arg(list))?;
    fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(python)
}

const PYTHON: &str = if cfg!(windows) { "python.exe" } else { "python" };

/// The folder of an environment's programs.
fn programs_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// A new environment in the place of what was there: its Python, and the folder of its programs.
pub(crate) fn fresh(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let venv = || shell::quietly(shell::program("python3", "-m venv --clear").arg(folder));
    if venv().is_err() {
        apt(&["python3", "python3-venv"])?;
        venv()?;
    }
    let programs = programs_of(folder);
    Ok((programs.join(PYTHON), programs))
}

/// A command of cargo's, such as cargo-deny: the one in PATH, or one of our own under the target folder.
pub(crate) fn cargo_tool(name: &str, version: &str) -> Result<PathBuf> {
    if let Some(file) = shell::find(&[name]) {
        return Ok(file);
    }
    let tools = shell::target()?.join("tools");
    let file = tools.join(format!("bin/{name}{}", std::env::consts::EXE_SUFFIX));
    if !file.is_file() {
        println!("installing {name} into {} (once, some minutes)", tools.display());
        shell::run(shell::cargo(&format!("install --quiet --locked {name}@{version} --root")).arg(&tools))?;
    }
    Ok(file)
}
