//! The dashboard and the widget of notebooks: their types, their tests, and that what is committed is what their source builds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{install, shell, tools};

/// What is built by which script, and where it is committed: what the server embeds, and what the Python package carries.
const BUILT: [(&str, &str, &[&str]); 2] = [
    ("page", "web/dist", &["index.html", "app.js", "app.css"]),
    ("widget", "crates/lion-tsne-py/python/liontsne/static", &["widget.js"]),
];

pub(crate) fn folder() -> PathBuf {
    shell::root().join("web")
}

/// Types and unit tests; then builds the source elsewhere and compares.
pub(crate) fn source() -> Result<()> {
    shell::run(shell::program("npm", "run --silent check").current_dir(folder()))?;
    shell::run(shell::program("npm", "run --silent test").current_dir(folder()))?;
    let read = |path: PathBuf| fs::read(&path).with_context(|| format!("cannot read {}", path.display()));
    for (script, committed, names) in BUILT {
        let scratch = shell::scratch(&format!("dashboard-{script}"))?;
        let command = format!("run --silent build:{script} -- --emptyOutDir --logLevel warn --outDir");
        shell::run(shell::program("npm", &command).arg(&scratch).current_dir(folder()))?;
        for name in names {
            let same = read(scratch.join(name))? == read(shell::root().join(committed).join(name))?;
            ensure!(
                same,
                "{committed}/{name} is not what web/src builds: run `npm run build` in web/ and commit it"
            );
        }
    }
    Ok(())
}

/// The dashboard of a real server in a real browser.
pub(crate) fn browser() -> Result<()> {
    tests("browser", "LION", &shell::built("lion")?)
}

/// The widget in a real JupyterLab, which this Python has.
pub(crate) fn notebook(python: &Path) -> Result<()> {
    tests("notebook", "PYTHON", python)
}

/// Tests of a kind, which find a program by a variable of the environment.
fn tests(kind: &str, variable: &str, program: &Path) -> Result<()> {
    run(&format!("test:{kind}"), variable, program)
}

/// How smoothly the dashboard draws.
pub(crate) fn bench() -> Result<()> {
    tools::for_dashboard()?;
    shell::run(&mut shell::cargo("build --workspace --release --bin lion"))?;
    run("bench", "LION", &shell::built("lion")?)
}

/// Runs a script of the package with a program and a browser.
fn run(script: &str, variable: &str, program: &Path) -> Result<()> {
    let mut command = shell::program("npm", &format!("run --silent {script}"));
    command.current_dir(folder()).env(variable, program);
    if let Some(chromium) = install::find_browser() {
        command.env("CHROMIUM", chromium);
    }
    shell::run(&mut command)
}
