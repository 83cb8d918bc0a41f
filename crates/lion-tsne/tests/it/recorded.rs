//! Results as they were recorded: maps, placements, updates and streams that are small and fixed.
//!
//! Other tests say what results must be like. These say that they are what they were, so that no change of a number goes
//! unnoticed. A change that is meant writes them anew: `LION_RECORD=1 cargo test --workspace --test it recorded`, and the
//! difference shows what it does.
//!
//! Kinds of machines round differently in the last digits. So numbers may differ by a little. A descent carries such
//! differences on: what comes of one is compared where registers are as wide as they were when it was recorded.
//! `registers.rs` of `lion-cli` says how near maps of other kinds are.

mod live;
mod maps;
mod neighbours;
mod placing;
mod table;
mod updates;

use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Numbers differ by at most this share of themselves.
const TOLERANCE: f64 = 1e-4;
/// Smaller numbers differ by at most that share of this one.
const LEAST: f64 = 0.1;

/// The lines of one file of results.
struct Record {
    name: &'static str,
    of_descent: bool,
    text: String,
}

impl Record {
    fn new(name: &'static str) -> Self {
        Self { name, of_descent: false, text: String::new() }
    }

    /// For what comes of a descent.
    fn of_descent(name: &'static str) -> Self {
        Self { of_descent: true, ..Self::new(name) }
    }

    /// Adds what a line is about, and its numbers.
    fn line(&mut self, words: &str, numbers: impl IntoIterator<Item = f64>) {
        self.text += words;
        for number in numbers {
            let _ = write!(self.text, " {}", short(number));
        }
        self.text.push('\n');
    }

    /// Adds a line of what can be written as JSON, without its marks.
    fn json(&mut self, words: &str, value: &impl Serialize) {
        let json = serde_json::to_string(value).unwrap();
        let tokens = json.split(|c: char| "{}[],:\"".contains(c)).filter(|token| !token.is_empty());
        let tokens: Vec<String> =
            tokens.map(|token| token.parse().map_or_else(|_| token.to_owned(), short)).collect();
        // Histograms are mostly empty.
        let runs = tokens.chunk_by(|a, b| a == b).map(|run| match run {
            [token, _, _, ..] => format!("{}x{token}", run.len()),
            few => few.join(" "),
        });
        self.line(&format!("{words} {}", runs.collect::<Vec<_>>().join(" ")), []);
    }

    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(self.name).with_extension("txt")
    }

    /// Compares with what was recorded.
    #[track_caller]
    fn check(self) {
        let path = self.path();
        if std::env::var_os("LION_RECORD").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &self.text).unwrap();
        }
        if self.of_descent && !has_recorded_registers() {
            println!("{}: recorded with registers of 512 bits, and not compared here", self.name);
            return;
        }
        let recorded =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (mut made, mut worst) = (self.text.lines(), 0.0f64);
        for (number, was) in (1..).zip(recorded.lines()) {
            let is = made.next().unwrap_or("");
            match apart(was, is) {
                Some(apart) if apart <= TOLERANCE => worst = worst.max(apart),
                found => panic!("{}, line {number}: was {was:?} and is {is:?} ({found:?})", path.display()),
            }
        }
        assert_eq!(made.next(), None, "{} has more lines than before", path.display());
        println!("{}: numbers differ by at most {worst:.1e}", self.name);
    }
}

/// Whether sums are as on the machine that recorded: by registers of 512 bits.
fn has_recorded_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has && std::env::var_os("LION_REGISTERS").is_none_or(|registers| registers == "widest")
}

/// Six digits, without zeros that say nothing.
fn short(number: f64) -> String {
    let digits: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    // Zero has one sign here.
    format!("{}", digits + 0.0)
}

/// How far the numbers of two lines are apart at most; `None` if their words differ.
fn apart(was: &str, is: &str) -> Option<f64> {
    let (mut was, mut is) = (was.split(' '), is.split(' '));
    let mut worst = 0.0f64;
    loop {
        match (was.next(), is.next()) {
            (None, None) => return Some(worst),
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let (a, b): (f64, f64) = (a.parse().ok()?, b.parse().ok()?);
                let apart = (a - b).abs() / a.abs().max(b.abs()).max(LEAST);
                worst = worst.max(if apart.is_nan() { f64::INFINITY } else { apart });
            }
            _ => return None,
        }
    }
}

#[test]
fn lines_are_compared_by_words_and_numbers() {
    assert_eq!(apart("a 1 0.5", "a 1 0.5"), Some(0.0));
    assert_eq!(apart("a 100", "a 101"), Some(1.0 / 101.0));
    assert_eq!(apart("a 0.25", "a 0.5"), Some(0.5));
    assert_eq!(apart("a 0", "a 0.05"), Some(0.5));
    assert_eq!(apart("a 1", "a NaN"), Some(f64::INFINITY));
    for is in ["b 1", "a", "a 1 2", "a x"] {
        assert_eq!(apart("a 1", is), None, "{is}");
    }
    assert_eq!((short(1.0 / 3.0), short(-0.0), short(25.0)), ("0.333333".into(), "0".into(), "25".into()));
}
