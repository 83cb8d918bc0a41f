//! What is linked into a program: the graph that `cargo tree` shows, and where the sources are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::shell;

/// A crate, by name and version.
pub(crate) type Id = (String, String);

/// What is known of a crate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crate {
    /// An expression of SPDX, as the crate gives it.
    pub(crate) license: String,
    pub(crate) repository: String,
    /// Of this workspace, not of the registry.
    pub(crate) is_own: bool,
    pub(crate) needs: BTreeSet<Id>,
}

/// The crates that are linked into a package of the workspace on this kind of machine, itself included. Features are those of
/// the whole workspace, with which the tests and the release are built.
pub(crate) fn linked(package: &str) -> Result<BTreeMap<Id, Crate>> {
    let tree = "tree --locked --workspace --edges normal,no-proc-macro --prefix depth --format";
    let all = parse(&shell::output(shell::cargo(tree).arg("|{p}|{l}|{r}"))?)?;
    let (root, _) = all
        .iter()
        .find(|((name, _), _)| name == package)
        .with_context(|| format!("{package} is no crate of this workspace"))?;
    let (mut found, mut waiting) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(id) = waiting.pop() {
        let this = all.get(&id).with_context(|| format!("{} is not in the tree", id.0))?;
        if found.insert(id, this.clone()).is_none() {
            waiting.extend(this.needs.iter().cloned());
        }
    }
    Ok(found)
}

/// The graph of lines `depth|name vVERSION (…)|licence|repository`. What a crate needs stands where it is shown first.
fn parse(tree: &str) -> Result<BTreeMap<Id, Crate>> {
    let mut all: BTreeMap<Id, Crate> = BTreeMap::new();
    let mut path: Vec<Id> = Vec::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.trim_end_matches(" (*)").split('|').collect();
        let [depth, package, license, repository] = fields[..] else {
            anyhow::bail!("`cargo tree` wrote a line that is not understood: {line:?}");
        };
        let depth: usize = depth.parse().with_context(|| format!("no depth: {line:?}"))?;
        let mut words = package.split(' ');
        let (name, version) =
            words.next().zip(words.next()).with_context(|| format!("no crate: {line:?}"))?;
        let id = (name.to_owned(), version.trim_start_matches('v').to_owned());
        ensure!(depth <= path.len(), "a step in the tree is missing before {line:?}");
        path.truncate(depth);
        if let Some(parent) = path.last().and_then(|parent| all.get_mut(parent)) {
            parent.needs.insert(id.clone());
        }
        path.push(id.clone());
        all.entry(id).or_insert_with(|| Crate {
            // As crates wrote it before there were expressions.
            license: license.replace('/', " OR "),
            repository: repository.to_owned(),
            is_own: package.contains(" (/") || package.contains(":\\"),
            needs: BTreeSet::new(),
        });
    }
    Ok(all)
}

/// A crate of the registry in a lock file.
#[derive(Debug, PartialEq)]
pub(crate) struct Locked {
    pub(crate) id: Id,
    /// The SHA-256 of its package.
    pub(crate) checksum: String,
}

/// Those of this repository.
pub(crate) fn locked() -> Result<Vec<Locked>> {
    Ok(in_lock(&fs::read_to_string(shell::root().join("Cargo.lock")).context("cannot read Cargo.lock")?))
}

/// Only what comes from a registry has a checksum.
fn in_lock(lock: &str) -> Vec<Locked> {
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]").skip(1);
    let known = packages.filter_map(|package| {
        let id = (value(package, "name")?, value(package, "version")?);
        Some(Locked { id, checksum: value(package, "checksum")? })
    });
    known.collect()
}

/// The folder of a crate of the registry, as cargo unpacked it.
pub(crate) fn source((name, version): &Id) -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.context("there is no home folder")?.join("registry/src");
    let folders =
        fs::read_dir(&registries).with_context(|| format!("cannot read {}", registries.display()))?;
    for folder in folders {
        let source = folder?.path().join(format!("{name}-{version}"));
        if source.is_dir() {
            return Ok(source);
        }
    }
    anyhow::bail!("{name} {version} is not in {}: `cargo fetch --locked` brings it", registries.display())
}

/// All files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_has_crates_of_the_registry_and_our_own() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\ndependencies = [\n \"b\",\n]\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.1+z.1\"\nsource = \"registry+https://x\"\nchecksum = \"ab\"\n";
        let id = ("b".to_owned(), "2.0.1+z.1".to_owned());
        assert_eq!(in_lock(lock), [Locked { id, checksum: "ab".to_owned() }]);
    }

    #[test]
    fn the_graph_is_read_from_the_tree() {
        let tree = "0|a v1.0.0 (/x/a)|MIT|\n1|b v2.0.0|MIT/Apache-2.0|https://b\n2|c v3.0.0+z.1|ISC|\n1|c v3.0.0+z.1|ISC|\n\n\
                    0|d v1.0.0 (/x/d)|MIT|\n1|b v2.0.0|MIT/Apache-2.0|https://b (*)\n";
        let all = parse(tree).unwrap();
        let id = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let (a, b, c) = (id("a", "1.0.0"), id("b", "2.0.0"), id("c", "3.0.0+z.1"));
        assert_eq!(all.len(), 4);
        assert_eq!(all[&a].needs, BTreeSet::from([b.clone(), c.clone()]));
        assert_eq!(all[&b].needs, BTreeSet::from([c.clone()]));
        assert_eq!(all[&id("d", "1.0.0")].needs, BTreeSet::from([b.clone()]));
        assert_eq!((all[&b].license.as_str(), all[&b].is_own), ("MIT OR Apache-2.0", false));
        assert!(all[&a].is_own && !all[&c].is_own);
        assert!(parse("2|a v1|MIT|").is_err(), "a step is missing");
        assert!(parse("0|a v1").is_err());
    }
}
