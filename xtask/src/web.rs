//! The dashboard: its types, its tests, and that what is committed is what its source builds.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::{install, shell};

/// What the server embeds.
const BUILT: [&str; 3] = ["index.html", "app.js", "app.css"];

fn folder() -> PathBuf {
    shell::root().join("web")
}

/// Installs the npm packages, with node and a browser if they are missing.
pub(crate) fn tools() -> Result<()> {
    install::browser()?;
    shell::run(shell::program("npm", "ci --no-audit --no-fund").current_dir(folder()))
}

/// Types and unit tests; then builds the source elsewhere and compares.
pub(crate) fn source() -> Result<()> {
    shell::run(shell::program("npm", "run --silent check").current_dir(folder()))?;
    shell::run(shell::program("npm", "run --silent test").current_dir(folder()))?;
    let scratch = shell::scratch("dashboard")?;
    let mut build = shell::program("npm", "run --silent build -- --emptyOutDir --logLevel warn --outDir");
    shell::run(build.arg(&scratch).current_dir(folder()))?;
    for name in BUILT {
        let read = |path: PathBuf| fs::read(&path).with_context(|| format!("cannot read {}", path.display()));
        let same = read(scratch.join(name))? == read(folder().join("dist").join(name))?;
        ensure!(
            same,
            "web/dist/{name} is not what web/src builds: run `npm run build` in web/ and commit it"
        );
    }
    Ok(())
}

/// The dashboard of a real server in a real browser.
pub(crate) fn browser() -> Result<()> {
    let mut tests = shell::program("npm", "run --silent test:browser");
    tests.current_dir(folder()).env("LION", shell::built("lion")?);
    if let Some(chromium) = install::find_browser() {
        tests.env("CHROMIUM", chromium);
    }
    shell::run(&mut tests)
}
