//! The book: docs/ and the documents at the root as static pages with search, by MkDocs in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::{install, shell};

const NEEDED: &str = "docs/book/requirements.txt";

/// `cargo xtask docs`: builds the book into `<target>/book`. A broken link is an error, and so is a page that would load
/// something from another server.
pub(crate) fn build() -> Result<()> {
    let python = environment()?;
    let site = shell::target()?.join("book");
    let mut mkdocs = shell::program(&python, "-m mkdocs build --strict --site-dir");
    // Not by --quiet, which would silence the warnings that --strict counts; the theme would announce its successor.
    shell::quietly(mkdocs.arg(&site).env("NO_MKDOCS_2_WARNING", "1"))?;
    let pages = pages(&site)?;
    ensure!(!pages.is_empty(), "{} has no page", site.display());
    for page in &pages {
        let text = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
        if let Some(tag) = loads_from_elsewhere(&text) {
            bail!("{} loads something from another server: <{tag}>", page.display());
        }
    }
    println!("{} pages: open {}", pages.len(), site.join("index.html").display());
    Ok(())
}

/// The Python of `<target>/book-env`.
pub(crate) fn environment() -> Result<PathBuf> {
    install::python("book-env", &shell::root().join(NEEDED))
}

fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The first tag, if any, that a browser follows to another server by itself; links for readers are no such tags.
fn loads_from_elsewhere(page: &str) -> Option<&str> {
    let tags = page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let mut loading = tags.filter(|tag| {
        let name = tag.split_whitespace().next().unwrap_or_default();
        ["script", "link", "img", "iframe", "source", "video"].contains(&name)
    });
    loading.find(|tag| ["=http:", "=https:", "=//", "=\"http", "=\"//"].iter().any(|url| tag.contains(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_browser_loads_by_itself_counts() {
        assert_eq!(loads_from_elsewhere("<a href=\"https://example.org\">x</a><img src=\"a.png\">"), None);
        let script = "<p>x</p><script src=\"https://example.org/x.js\"></script>";
        assert_eq!(loads_from_elsewhere(script), Some("script src=\"https://example.org/x.js\""));
        assert!(loads_from_elsewhere("<link href=//example.org/x.css rel=stylesheet>").is_some());
    }
}
