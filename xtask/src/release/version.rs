//! Which version this is, and that everything that names it says the same.

use std::fs;

use anyhow::{Context, Result};

use crate::shell;

/// A version and its day.
pub(super) struct Version {
    pub(super) number: String,
    /// The day that the changelog has, as 2026-11-18.
    pub(super) date: String,
    /// The same in seconds since 1970.
    pub(super) seconds: u64,
}

impl Version {
    /// That of the workspace.
    pub(super) fn read() -> Result<Self> {
        let number = env!("CARGO_PKG_VERSION").to_owned();
        let changelog = fs::read_to_string(shell::root().join("CHANGELOG.md"))?;
        let date = date_of(&changelog, &number)
            .with_context(|| format!("CHANGELOG.md has no heading `## [{number}] - YEAR-MONTH-DAY`"))?;
        let seconds = seconds(&date).with_context(|| format!("CHANGELOG.md: {date} is no day"))?;
        Ok(Self { number, date, seconds })
    }
}

fn date_of(changelog: &str, number: &str) -> Option<String> {
    changelog.lines().find_map(|line| line.strip_prefix(&format!("## [{number}] - "))).map(str::to_owned)
}

/// The beginning of a day of the Gregorian calendar, from 1970 on.
fn seconds(date: &str) -> Option<u64> {
    let parts: Vec<u64> = date.split('-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let &[year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = &parts[..] else { return None };
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let lengths = [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = lengths[..month as usize - 1].iter().sum::<u64>();
    let years: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    Some((years + before + day - 1) * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: &str = env!("CARGO_PKG_VERSION");

    fn read(name: &str) -> String {
        let path = shell::root().join(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// What follows a text on its line.
    fn after<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
        text.lines().filter_map(|line| line.strip_prefix(key)).map(|rest| rest.trim_matches('"')).collect()
    }

    #[test]
    fn a_day_is_known_in_seconds() {
        assert_eq!(seconds("1970-01-01"), Some(0));
        assert_eq!(seconds("2000-03-01"), Some(951_868_800));
        assert_eq!(seconds("2026-11-18"), Some(1_794_960_000));
        for bad in ["2026-13-01", "2026-11", "today", "1969-12-31", "2026-11-18 "] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_changelog_has_this_version_after_what_is_to_come() {
        let changelog = read("CHANGELOG.md");
        let headings = after(&changelog, "## ");
        assert_eq!(headings[0], "[Unreleased]");
        assert!(headings[1].starts_with(&format!("[{NUMBER}] - ")), "{headings:?}");
        let days: Vec<u64> = headings[1..]
            .iter()
            .map(|heading| heading.split_once(" - ").and_then(|(_, day)| seconds(day)).expect("a day"))
            .collect();
        assert!(days.is_sorted_by(|newer, older| newer >= older), "{headings:?}");
        let citation = read("CITATION.cff");
        assert_eq!(after(&citation, "version: "), [NUMBER]);
        assert_eq!(after(&citation, "date-released: "), [date_of(&changelog, NUMBER).expect("a day")]);
    }

    /// The locks are updated by the next build, and a checkout that was not built must agree, too.
    #[test]
    fn the_locks_have_this_version_of_our_own_crates() {
        for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
            let text = read(lock);
            let own = text.split("[[package]]").filter(|package| {
                package.contains("\nname = \"lion-")
                    && !package.contains("\nsource = ")
                    && !package.contains("\nname = \"lion-fuzz\"")
            });
            let versions: Vec<&str> = own.flat_map(|package| after(package, "version = ")).collect();
            assert!(versions.len() > 3, "{lock}: {versions:?}");
            assert!(versions.iter().all(|version| *version == NUMBER), "{lock}: {versions:?}");
        }
    }

    #[test]
    fn crates_and_the_python_package_take_their_version_from_the_workspace() {
        let members = fs::read_dir(shell::root().join("crates")).unwrap();
        let members = members.map(|member| member.unwrap().path().join("Cargo.toml"));
        let others = ["bench", "xtask"].map(|name| shell::root().join(name).join("Cargo.toml"));
        for manifest in members.chain(others).filter(|manifest| manifest.is_file()) {
            let text = fs::read_to_string(&manifest).unwrap();
            assert!(text.contains("\nversion.workspace = true\n"), "{}", manifest.display());
        }
        let project = read("pyproject.toml");
        assert!(project.contains("\ndynamic = [\"version\"]\n"));
        assert_eq!(after(&project, "requires-python = "), [">=3.11"]);
        assert!(read("crates/lion-tsne-py/Cargo.toml").contains("abi3-py311"));
    }

    /// Files of a release that documents name, and the oldest Rust.
    #[test]
    fn documents_name_this_version() {
        let oldest = after(&read("Cargo.toml"), "rust-version = ")[0].to_owned();
        let docs = fs::read_dir(shell::root().join("docs")).unwrap().map(|file| file.unwrap().path());
        let pages = docs.filter(|page| page.extension().is_some_and(|kind| kind == "md"));
        let root = ["README.md", "CONTRIBUTING.md"].map(|name| shell::root().join(name));
        let mut named = 0;
        for page in pages.chain(root) {
            let text = fs::read_to_string(&page).unwrap();
            for number in ["lion-", "liontsne-"].iter().flat_map(|name| versions_after(&text, name)) {
                assert_eq!(number, NUMBER, "{}", page.display());
                named += 1;
            }
            for number in versions_after(&text, "Rust ").into_iter().chain(versions_after(&text, "Rust (")) {
                assert_eq!(number, oldest, "{}", page.display());
                named += 1;
            }
        }
        assert!(named >= 4, "documents name {named} versions");
    }

    /// The numbers with a point in them that follow a word.
    fn versions_after(text: &str, word: &str) -> Vec<String> {
        let places = text.match_indices(word).map(|(at, _)| &text[at + word.len()..]);
        let numbers = places.map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            rest[..end].trim_end_matches('.').to_owned()
        });
        numbers.filter(|number| number.contains('.')).collect()
    }

    #[test]
    fn versions_are_found_in_words() {
        assert_eq!(versions_after("lion-0.2.0-x86. lion-tsne, lion-1.5.", "lion-"), ["0.2.0", "1.5"]);
        assert_eq!(versions_after("Rust 1.89 or newer, Rust. Rust 2", "Rust "), ["1.89"]);
    }
}
