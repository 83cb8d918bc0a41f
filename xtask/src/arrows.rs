//! Which crate may depend on which: ARCHITECTURE.md, "Who may know whom", as a test.

use crate::shell;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each crate of the workspace and the crates of the workspace that it may depend on.
const MAY_KNOW: [(&str, &[&str]); 11] = [
    ("bench", &["lion-evaluate", "lion-report", "lion-table", "lion-tsne"]),
    (
        "crates/lion-cli",
        &["lion-evaluate", "lion-replace", "lion-report", "lion-server", "lion-table", "lion-tsne"],
    ),
    ("crates/lion-evaluate", &["lion-report", "lion-tsne"]),
    ("crates/lion-recipe", &[]),
    ("crates/lion-replace", &[]),
    ("crates/lion-report", &[]),
    ("crates/lion-server", &["lion-recipe", "lion-replace", "lion-table", "lion-tsne"]),
    ("crates/lion-table", &["lion-recipe", "lion-replace"]),
    ("crates/lion-tsne", &["lion-recipe", "lion-replace"]),
    ("crates/lion-tsne-py", &["lion-cli", "lion-evaluate", "lion-recipe", "lion-table", "lion-tsne"]),
    ("xtask", &[]),
];

/// The folders of the workspace's crates.
fn members(root: &Path) -> Result<BTreeSet<String>> {
    let mut members = BTreeSet::from(["bench".to_owned(), "xtask".to_owned()]);
    for entry in fs::read_dir(root.join("crates")).context("crates/ cannot be read")? {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            members.insert(format!("crates/{name}"));
        }
    }
    Ok(members)
}

/// The crates of the workspace that a manifest names as dependencies of any kind, whatever the section: tests may not
/// turn an arrow round either.
fn known(manifest: &str) -> BTreeSet<&str> {
    let mut is_dependency = false;
    let mut known = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_dependency = section.ends_with("dependencies");
            // [dependencies.lion-tsne]
            known.extend(section.split_once("dependencies.").map(|(_, name)| name));
        } else if is_dependency {
            known.extend(line.split(['=', '.']).next().map(str::trim));
        }
    }
    known.into_iter().filter(|name| name.starts_with("lion-")).collect()
}

#[test]
fn crates_know_only_those_they_may_know() {
    let root = shell::root();
    let listed: BTreeSet<String> = MAY_KNOW.iter().map(|(member, _)| (*member).to_owned()).collect();
    assert_eq!(members(&root).unwrap(), listed, "a crate is not listed above");
    for (member, allowed) in MAY_KNOW {
        let manifest = fs::read_to_string(root.join(member).join("Cargo.toml")).unwrap();
        let forbidden: Vec<&str> =
            known(&manifest).into_iter().filter(|name| !allowed.contains(name)).collect();
        assert!(forbidden.is_empty(), "{member} may not depend on {forbidden:?}");
    }
}

#[test]
fn every_way_to_write_a_dependency_is_seen() {
    let manifest = "[package]\nname = \"lion-x\"\n[dependencies]\nlion-a.workspace = true\nlion-b = { path = \"b\" }\nserde = \"1\"\n\
                    [dev-dependencies]\nlion-c = \"1\"\n[dependencies.lion-d]\npath = \"d\"\n[features]\nlion-e = []\n";
    assert_eq!(known(manifest).into_iter().collect::<Vec<_>>(), ["lion-a", "lion-b", "lion-c", "lion-d"]);
}
