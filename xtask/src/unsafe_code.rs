//! `cargo xtask unsafe`: how often the crates that are linked into `lion` say `unsafe`, counted in their sources.

use std::fs;

use anyhow::Result;

use crate::tree::{self, Id};

/// What was counted in a crate.
struct Count {
    id: Id,
    /// How often the keyword stands in its code.
    unsafes: usize,
    lines: usize,
    /// The compiler would refuse the first.
    is_forbidden: bool,
}

/// Rows of the table: the rest is summed up in the last one.
const SHOWN: usize = 20;

pub(crate) fn survey() -> Result<()> {
    let mut counts = Vec::new();
    for (id, linked) in tree::linked("lion-cli")? {
        if !linked.is_own {
            counts.push(count(id)?);
        }
    }
    counts.sort_by(|a, b| b.unsafes.cmp(&a.unsafes).then_with(|| a.id.cmp(&b.id)));
    print!("{}", table(&counts));
    Ok(())
}

fn count(id: Id) -> Result<Count> {
    let mut count = Count { unsafes: 0, lines: 0, is_forbidden: false, id };
    let source = tree::source(&count.id)?;
    for file in tree::files(&source)? {
        let within = file.strip_prefix(&source).unwrap_or(&file);
        let folder = within.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        let is_linked = !matches!(folder.as_deref(), Some("tests" | "benches" | "examples" | "fuzz"));
        if is_linked && file.extension().is_some_and(|kind| kind == "rs") {
            let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
            let code = code(&text);
            count.unsafes += words(&code).filter(|word| *word == "unsafe").count();
            count.lines += code.lines().filter(|line| !line.trim().is_empty()).count();
            count.is_forbidden |= code.replace(' ', "").contains("#![forbid(unsafe_code");
        }
    }
    Ok(count)
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// The text without comments and without what stands in quotes.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| quoted(rest)).unwrap_or(0);
        if skipped == 0 {
            // A name is taken whole: its end may look like the beginning of a raw text.
            let name = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let taken = name.max(first.len_utf8());
            code.push_str(&rest[..taken]);
            rest = &rest[taken..];
        } else {
            // Lines are counted.
            code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of the comment that a text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return Some(at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    Some(text.len())
}

/// The length of the text or the character in quotes that a text begins with.
fn quoted(text: &str) -> Option<usize> {
    let after = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - after.len();
    if let Some(raw) = after.strip_prefix('r').filter(|_| prefix <= 1) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = prefix + 1 + hashes + 1;
            return Some(text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()));
        }
    }
    let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'').filter(|_| prefix <= 1)?;
    let mut letters = after.char_indices().skip(1);
    let mut length = 0;
    while let Some((at, letter)) = letters.next() {
        length += 1;
        match letter {
            '\\' => drop(letters.next()),
            _ if letter == quote => return Some(prefix + at + 1),
            // A lifetime, which no quote ends.
            _ if quote == '\'' && length > 1 && !after[1..].starts_with('\\') => return None,
            _ => {}
        }
    }
    Some(text.len())
}

fn table(counts: &[Count]) -> String {
    let mut text = "| crate | `unsafe` | lines of code |\n|---|---|---|\n".to_owned();
    let row = |name: &str, unsafes: usize, lines: usize| format!("| {name} | {unsafes} | {lines} |\n");
    for Count { id: (name, version), unsafes, lines, .. } in counts.iter().take(SHOWN) {
        text += &row(&format!("{name} {version}"), *unsafes, *lines);
    }
    let rest = &counts[SHOWN.min(counts.len())..];
    let sum = |counts: &[Count]| {
        counts.iter().fold((0, 0), |(unsafes, lines), count| (unsafes + count.unsafes, lines + count.lines))
    };
    let (unsafes, lines) = sum(rest);
    text += &row(&format!("{} others", rest.len()), unsafes, lines);
    let (unsafes, lines) = sum(counts);
    text += &row(&format!("all {}", counts.len()), unsafes, lines);
    let without = counts.iter().filter(|count| count.unsafes == 0).count();
    let forbidden = counts.iter().filter(|count| count.is_forbidden).count();
    text + &format!("\n{without} have none, and {forbidden} forbid it to themselves.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsafes(text: &str) -> usize {
        words(&code(text)).filter(|word| *word == "unsafe").count()
    }

    #[test]
    fn only_code_is_counted() {
        let text = "// unsafe\n/* unsafe /* unsafe */ unsafe */\n/// unsafe\nlet a = \"unsafe \\\" unsafe\";\n\
                    let b = r#\"unsafe \" unsafe\"#; let c = br\"unsafe\"; let d = '\"'; unsafe { e('\\'', b'\"') }\n\
                    unsafe impl<'a> F<'a> for G<'static> {}\nfn not_unsafe(r#in: u8) { unsafe_op(\"\") }\n";
        assert_eq!(unsafes(text), 2, "{}", code(text));
        assert_eq!(code(text).lines().filter(|line| !line.trim().is_empty()).count(), 4);
    }

    #[test]
    fn lifetimes_hide_nothing() {
        assert_eq!(
            unsafes("fn f<'a, 'b>(x: &'a str) { unsafe { g('é', '\\u{1F600}', 'x') } } // 'a unsafe"),
            1
        );
        assert_eq!(unsafes("struct S<'r>(&'r u8); unsafe fn f() {}"), 1);
    }

    #[test]
    fn the_table_sums_up() {
        let count = |name: &str, unsafes| Count {
            id: (name.to_owned(), "1.0.0".to_owned()),
            unsafes,
            lines: 10,
            is_forbidden: unsafes == 0,
        };
        let mut counts: Vec<Count> = (0..21).map(|n| count("a", 30 - n)).collect();
        counts.push(count("b", 0));
        let table = table(&counts);
        assert!(table.contains("| a 1.0.0 | 30 | 10 |\n"), "{table}");
        assert!(table.contains("| 2 others | 10 | 20 |\n| all 22 | 420 | 220 |\n"), "{table}");
        assert!(table.ends_with("\n1 have none, and 1 forbid it to themselves.\n"), "{table}");
    }
}
