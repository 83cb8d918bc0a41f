//! What the tests need from package registries, fetched while Rust compiles: most of that time is waiting for a server.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};

use crate::{book, install, python, shell, web};

type Work = fn() -> Result<()>;

/// The work that was begun, until somebody waits for it.
static UNDER_WAY: Mutex<Option<JoinHandle<Result<()>>>> = Mutex::new(None);

/// Begins to fetch all of it; `ready` waits for that and says what went wrong.
pub(crate) fn begin() {
    start(fetch);
}

/// All of it is there.
pub(crate) fn ready() -> Result<()> {
    finish(fetch)
}

fn start(work: Work) {
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::spawn(work));
}

/// Waits for what was begun, or does it now.
fn finish(work: Work) -> Result<()> {
    let begun = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).take();
    begun.map_or_else(work, |begun| begun.join().unwrap_or_else(|_| Err(anyhow!("fetching panicked"))))
}

/// One after the other: installers of the system's packages lock each other out.
fn fetch() -> Result<()> {
    install::browser()?;
    install::java()?;
    install::programs(&DOCUMENTS)?;
    npm(&pages())?;
    npm(&web::folder())?;
    python::environment()?;
    python::engines_environment()?;
    book::environment()?;
    Ok(())
}

/// Programs that commands of the documents call.
const DOCUMENTS: [&str; 3] = ["curl", "openssl", "sqlite3"];

/// What commands of the documents need.
pub(crate) fn for_documents() -> Result<()> {
    install::programs(&DOCUMENTS)
}

/// What the tests of pages in a browser need.
pub(crate) fn for_pages() -> Result<()> {
    install::browser()?;
    npm(&pages())
}

/// What the tests of the dashboard need.
pub(crate) fn for_dashboard() -> Result<()> {
    install::browser()?;
    npm(&web::folder())
}

/// The folder of the tests of pages.
pub(crate) fn pages() -> PathBuf {
    shell::root().join("crates/lion-report/tests/browser")
}

/// Installs the packages of a folder.
fn npm(folder: &Path) -> Result<()> {
    shell::quietly(shell::program("npm", "ci --no-audit --no-fund").current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_what_went_wrong_meanwhile() {
        let not_begun = || Err(anyhow!("it was not begun"));
        assert_eq!(finish(not_begun).unwrap_err().to_string(), "it was not begun");
        start(|| Err(anyhow!("no network")));
        assert_eq!(finish(not_begun).unwrap_err().to_string(), "no network");
        start(|| Ok(()));
        assert!(finish(not_begun).is_ok());
        start(|| panic!("at work"));
        assert_eq!(finish(not_begun).unwrap_err().to_string(), "fetching panicked");
    }
}
