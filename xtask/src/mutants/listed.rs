//! What cargo-mutants says of a mutant.

use anyhow::{Context, Result};
use serde_json::Value;

/// Line and column, from 1; columns are characters.
pub(super) type Position = (usize, usize);

/// From a position to another, which is no longer part of it.
pub(super) type Span = (Position, Position);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mutant {
    pub(super) name: String,
    pub(super) file: String,
    /// What is replaced, and by what.
    pub(super) at: Span,
    pub(super) replacement: String,
    /// Where its function is, and what that returns.
    pub(super) function: Option<(Span, String)>,
}

impl Mutant {
    /// All that `cargo mutants --list --json` printed.
    pub(super) fn all(listed: &str) -> Result<Vec<Self>> {
        let list: Vec<Value> = serde_json::from_str(listed).context("cargo-mutants listed no JSON")?;
        list.iter().map(|one| Self::of(one).context("cargo-mutants lists mutants otherwise now")).collect()
    }

    fn of(one: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let function = &one["function"];
        Some(Self {
            name: text(&one["name"])?,
            file: text(&one["file"])?,
            at: span(&one["span"])?,
            replacement: text(&one["replacement"])?,
            function: span(&function["span"]).zip(text(&function["return_type"])),
        })
    }
}

fn span(of: &Value) -> Option<Span> {
    let position = |end: &Value| {
        let number = |name: &str| end[name].as_u64().map(|n| n as usize);
        Some((number("line")?, number("column")?))
    };
    Some((position(&of["start"])?, position(&of["end"])?))
}
