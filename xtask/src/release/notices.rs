//! The licences of everything that is linked into the program: most ask to go wherever it goes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Result;

use crate::tree::{self, Crate, Id};

/// How names of such files begin.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Each text once, under the names of the crates that have it.
pub(super) fn text(linked: &BTreeMap<Id, Crate>) -> Result<String> {
    let mut of_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for (id, known) in linked.iter().filter(|(_, known)| !known.is_own) {
        let called = format!("{} {} ({})", id.0, id.1, known.license);
        let texts = texts(id)?;
        if texts.is_empty() {
            without.push(called.clone());
        }
        for text in texts {
            of_text.entry(text).or_default().push(called.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        of_text.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort();
    let mut all = "The program lion contains the following crates. Each is used under the licence that stands beside its name, or, \
                   where there are several to choose from, under any of them.\n"
        .to_owned();
    for (names, text) in sections {
        all += &format!("\n{}\n\n{}\n\n{}\n", "=".repeat(80), names.join("\n"), text.trim());
    }
    if !without.is_empty() {
        all += &format!(
            "\n{}\n\nThese crates come without the text of their licence:\n\n{}\n",
            "=".repeat(80),
            without.join("\n")
        );
    }
    Ok(all)
}

/// The texts that a crate comes with.
fn texts(id: &Id) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for file in tree::files(&tree::source(id)?)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_code = file.extension().is_some_and(|kind| kind == "rs");
        if !is_code && NAMES.iter().any(|begin| name.starts_with(begin)) {
            texts.push(String::from_utf8_lossy(&fs::read(&file)?).replace("\r\n", "\n"));
        }
    }
    texts.sort();
    texts.dedup();
    Ok(texts)
}
