//! Mutants as switches: functions that hold, beside their own body, a copy of it for each of their mutants.
//!
//! So one build has them all, and a variable of the environment says which one is at work.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::listed::{Mutant, Position};

/// The number by which a mutant is switched on; 0 is none.
pub(super) type Number = u32;

/// A file with switches.
pub(super) struct Switched {
    pub(super) text: String,
    /// By mutant, the number of its function.
    pub(super) functions: HashMap<Number, u32>,
}

/// What the crate needs for it, at the end of its `lib.rs`. In a run that records, each function is written down once, the first time
/// that it is called.
pub(super) const RUNTIME: &str = r#"
#[doc(hidden)]
pub mod switch__ {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    const UNKNOWN: u32 = u32::MAX;
    const RECORD: u32 = u32::MAX - 1;
    static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
    static SEEN: [AtomicBool; 8192] = [const { AtomicBool::new(false) }; 8192];
    #[inline(always)]
    pub fn on(function: u32) -> u32 {
        let state = STATE.load(Relaxed);
        if state < RECORD { state } else { slowly(function) }
    }
    #[cold]
    #[inline(never)]
    fn slowly(function: u32) -> u32 {
        if STATE.load(Relaxed) == UNKNOWN {
            let state = match std::env::var("SWITCH") {
                Ok(word) if word == "record" => RECORD,
                Ok(word) => word.parse().unwrap(),
                Err(_) => 0,
            };
            STATE.store(state, Relaxed);
            if state < RECORD { return state; }
        }
        if !SEEN[function as usize].swap(true, Relaxed) {
            let path = std::env::var("SWITCH_FILE").unwrap();
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(format!("{function}\n").as_bytes()).unwrap();
        }
        0
    }
}
"#;

/// What a crate with switches begins with: copies of code leave more unused, and a mutant may be what a lint forbids.
pub(super) const HEAD: &str = "#![allow(warnings, clippy::all, missing_docs, arithmetic_overflow, unconditional_panic, \
                               unconditional_recursion, overflowing_literals)]\n";

/// Puts mutants of one file into it. Left out are those outside of functions, and of functions that are `const` or whose type
/// is that of what they return.
pub(super) fn switch(text: &str, mutants: &[(Number, &Mutant)], next: &mut u32) -> Switched {
    let places = Places::of(text);
    let mut functions: BTreeMap<(usize, usize), Vec<(Number, &Mutant)>> = BTreeMap::new();
    let spans = || mutants.iter().filter_map(|(_, mutant)| mutant.function.as_ref());
    for &(number, mutant) in mutants {
        let Some((_, returns)) = &mutant.function else { continue };
        let at = places.range((mutant.at.0, mutant.at.1));
        // A function may be within another: the copies are of the outermost.
        let around =
            spans().map(|&(span, _)| places.range(span)).filter(|f| f.start <= at.start && at.end <= f.end);
        let Some(outermost) = around.max_by_key(Range::len) else { continue };
        if !returns.contains("impl ") {
            functions.entry((outermost.start, outermost.end)).or_default().push((number, mutant));
        }
    }
    let mut switched = Switched { text: text.to_owned(), functions: HashMap::new() };
    for ((start, end), mutants) in functions.into_iter().rev() {
        let Some(open) = body(&text[start..end]).map(|at| start + at) else { continue };
        let inside = |mutant: &Mutant| places.range(mutant.at).start > open;
        if is_const(&text[start..open]) || !mutants.iter().all(|(_, mutant)| inside(mutant)) {
            continue;
        }
        let mut arms = String::new();
        for (number, mutant) in mutants {
            let at = places.range(mutant.at);
            let (before, after) = (&text[open + 1..at.start], &text[at.end..end - 1]);
            let copy = format!("{before} {} {after}", mutant.replacement);
            arms += &format!("\n/*@{number}*/ {number} => {{ {copy}\n}} /*{number}@*/\n");
            switched.functions.insert(number, *next);
        }
        let own = &text[open + 1..end - 1];
        let all = format!("{{ match crate::switch__::on({next}) {{ {arms} _ => {{{own}}} }} }}");
        switched.text.replace_range(open..end, &all);
        *next += 1;
    }
    switched
}

/// The mutant in whose copy a line is, from 1.
pub(super) fn mutant_at(text: &str, line: usize) -> Option<Number> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    for (k, line_above) in lines.iter().rev().enumerate() {
        if let Some((number, _)) = line_above.strip_prefix("/*@").and_then(|rest| rest.split_once("*/")) {
            return number.parse().ok();
        }
        if k > 0 && line_above.ends_with("@*/") {
            return None;
        }
    }
    None
}

/// Where each line begins.
struct Places<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(begins).collect() }
    }

    fn at(&self, (line, column): Position) -> usize {
        let start = self.lines[line - 1];
        let line = &self.text[start..];
        start + line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at)
    }

    fn range(&self, (from, to): (Position, Position)) -> Range<usize> {
        self.at(from)..self.at(to)
    }
}

fn is_const(head: &str) -> bool {
    let words: Vec<&str> = code(head).flat_map(str::split_whitespace).collect();
    let at = words.iter().position(|&word| word == "fn").unwrap_or(0);
    words[..at].iter().rev().take(3).any(|&word| word == "const")
}

/// Lines without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Where the body of a function begins: with the first brace after `fn` that is in no brackets.
fn body(function: &str) -> Option<usize> {
    let mut depth = 0;
    let (mut at, mut named) = (0, false);
    for line in function.split_inclusive('\n') {
        let line_at = at;
        at += line.len();
        if line.trim_start().starts_with("//") {
            continue;
        }
        let from = if named { Some(0) } else { line.find("fn ") };
        let Some(from) = from else { continue };
        named = true;
        for (k, c) in line.char_indices().skip_while(|&(k, _)| k < from) {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                '{' if depth == 0 => return Some(line_at + k),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/// A fn of { braces }.\nfn add(a: [u8; 2], b: u8) -> u8 {\n    a[0] + b\n}\n\n\
                        const fn fixed() -> u8 {\n    1 + 1\n}\n";

    fn mutant(at: Position, function: (Position, Position), replacement: &str) -> Mutant {
        let (name, file) = (String::new(), String::new());
        let to = (at.0, at.1 + 1);
        Mutant {
            name,
            file,
            at: (at, to),
            replacement: replacement.to_owned(),
            function: Some((function, "-> u8".into())),
        }
    }

    #[test]
    fn a_function_holds_a_copy_of_its_body_for_each_mutant() {
        let function = ((1, 1), (4, 2));
        let (minus, times) = (mutant((3, 10), function, "-"), mutant((3, 10), function, "*"));
        let constant = mutant((7, 7), ((6, 1), (8, 2)), "-");
        let mut next = 5;
        let switched = switch(TEXT, &[(1, &minus), (2, &times), (3, &constant)], &mut next);
        assert_eq!((next, switched.functions), (6, HashMap::from([(1, 5), (2, 5)])));
        let lines: Vec<&str> = switched.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let own = "fn add(a: [u8; 2], b: u8) -> u8 { match crate::switch__::on(5) {";
        let copies = ["/*@1*/ 1 => {", "a[0]  -  b", "} /*1@*/", "/*@2*/ 2 => {", "a[0]  *  b", "} /*2@*/"];
        assert_eq!(lines[1], own);
        assert_eq!(lines[2..8], copies);
        assert_eq!(lines[8..11], ["_ => {", "a[0] + b", "} } }"]);
        let line_of = |part: &str| 1 + switched.text.lines().position(|line| line.contains(part)).unwrap();
        assert_eq!(mutant_at(&switched.text, line_of("]  -  b")), Some(1));
        assert_eq!(mutant_at(&switched.text, line_of("} /*2@*/")), Some(2));
        assert_eq!(mutant_at(&switched.text, line_of("] + b")), None);
        assert!(switched.text.ends_with("const fn fixed() -> u8 {\n    1 + 1\n}\n"));
    }
}
