//! What is linked into the program, as a CycloneDX 1.5 document: for those who ask which of their programs has a certain crate.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use super::version::Version;
use crate::tree::{self, Crate, Id};

/// The document.
pub(super) fn json(linked: &BTreeMap<Id, Crate>, version: &Version) -> Result<String> {
    let root = ("lion-cli".to_owned(), version.number.clone());
    let own = linked.get(&root).context("lion-cli is not linked into itself")?;
    let sums: BTreeMap<Id, String> =
        tree::locked()?.into_iter().map(|locked| (locked.id, locked.checksum)).collect();
    let mut components: Vec<String> = linked
        .iter()
        .filter(|(id, _)| **id != root)
        .map(|(id, known)| component("library", id, known, sums.get(id)))
        .collect();
    let mut dependencies: Vec<String> = Vec::new();
    for (id, known) in linked {
        let mut needs: Vec<String> = known.needs.iter().map(purl).collect();
        if let Some((name, number)) = bundled(id)? {
            let purl = format!("pkg:generic/{name}@{number}");
            components.push(format!(
                "{{\"type\":\"library\",\"bom-ref\":{0},\"name\":{1},\"version\":{2},\"purl\":{0}}}",
                quoted(&purl),
                quoted(name),
                quoted(&number)
            ));
            dependencies.push(format!("{{\"ref\":{},\"dependsOn\":[]}}", quoted(&purl)));
            needs.push(purl);
        }
        let needs: Vec<String> = needs.iter().map(|purl| quoted(purl)).collect();
        dependencies.push(format!("{{\"ref\":{},\"dependsOn\":[{}]}}", quoted(&purl(id)), needs.join(",")));
    }
    Ok(format!(
        "{{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,\n\
         \"metadata\":{{\"timestamp\":{},\"component\":{}}},\n\"components\":[\n{}\n],\n\"dependencies\":[\n{}\n]}}\n",
        quoted(&format!("{}T00:00:00Z", version.date)),
        component("application", &root, own, None),
        components.join(",\n"),
        dependencies.join(",\n")
    ))
}

fn component(kind: &str, id: &Id, known: &Crate, sum: Option<&String>) -> String {
    let purl = quoted(&purl(id));
    let mut text = format!(
        "{{\"type\":\"{kind}\",\"bom-ref\":{purl},\"name\":{},\"version\":{},\"purl\":{purl},\"licenses\":[{{\"expression\":{}}}]",
        quoted(&id.0),
        quoted(&id.1),
        quoted(&known.license)
    );
    if let Some(sum) = sum {
        let _ = write!(text, ",\"hashes\":[{{\"alg\":\"SHA-256\",\"content\":{}}}]", quoted(sum));
    }
    if !known.repository.is_empty() {
        let url = quoted(&known.repository);
        let _ = write!(text, ",\"externalReferences\":[{{\"type\":\"vcs\",\"url\":{url}}}]");
    }
    text + "}"
}

/// The address of a crate among all packages of the world.
fn purl((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// The C library that a crate brings along and compiles: those who look for its flaws do not look for the crate.
fn bundled(id: &Id) -> Result<Option<(&'static str, String)>> {
    Ok(match id.0.as_str() {
        "libsqlite3-sys" => {
            let header = fs::read_to_string(tree::source(id)?.join("sqlite3/sqlite3.h"))?;
            let line = header.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "));
            Some(("sqlite", line.context("sqlite3.h names no version")?.trim().trim_matches('"').to_owned()))
        }
        "zstd-sys" => id.1.split_once("+zstd.").map(|(_, version)| ("zstd", version.to_owned())),
        _ => None,
    })
}

/// A text of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if u32::from(letter) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_crate_is_named_with_its_licence_and_digest() {
        let id = ("a".to_owned(), "1.0.0+x".to_owned());
        let known = Crate {
            license: "MIT \"or\" so".to_owned(),
            repository: "https://a".to_owned(),
            is_own: false,
            needs: BTreeSet::new(),
        };
        let expected = "{\"type\":\"library\",\"bom-ref\":\"pkg:cargo/a@1.0.0%2Bx\",\"name\":\"a\",\"version\":\"1.0.0+x\",\
                        \"purl\":\"pkg:cargo/a@1.0.0%2Bx\",\"licenses\":[{\"expression\":\"MIT \\\"or\\\" so\"}],\
                        \"hashes\":[{\"alg\":\"SHA-256\",\"content\":\"ab\"}],\
                        \"externalReferences\":[{\"type\":\"vcs\",\"url\":\"https://a\"}]}";
        assert_eq!(component("library", &id, &known, Some(&"ab".to_owned())), expected);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(quoted("a\nb\\"), "\"a\\u000ab\\\\\"");
    }
}
