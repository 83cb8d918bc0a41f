//! How much memory may be taken, and how to say what will be.

use crate::output::size;
use lion_tsne::memory::{Needs, available_memory};

/// The most that this process may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    /// Whether `--memory` says so, not the system.
    given: bool,
}

impl Limit {
    /// As was asked for, or as much as can be had; nothing where nobody tells.
    pub(crate) fn new(asked: Option<u64>) -> Option<Self> {
        let had = available_memory().map(|bytes| bytes.saturating_add(resident()));
        match (asked, had) {
            (Some(bytes), had) if had.is_none_or(|had| bytes <= had) => Some(Self { bytes, given: true }),
            (_, had) => had.map(|bytes| Self { bytes, given: false }),
        }
    }

    /// Why there is no more.
    pub(crate) fn in_words(&self) -> String {
        match self.given {
            true => format!("--memory lets it have {}", size(self.bytes)),
            false => format!("{} can be had", size(self.bytes)),
        }
    }
}

/// What this process holds now, where the system tells it.
fn resident() -> u64 {
    told("VmRSS:").unwrap_or(0)
}

/// What the program itself will hold, its code and threads. Always the same, whatever it holds at the moment: how many
/// landmarks are chosen depends on it.
pub(crate) const PROGRAM: u64 = 14 << 20;

/// The most that this process has held, where the system tells it.
pub(crate) fn peak() -> Option<u64> {
    told("VmHWM:")
}

fn told(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What is needed when and for what, in a sentence for those who asked for more.
pub(crate) fn in_words(needs: &Needs) -> String {
    let parts: Vec<String> = needs.parts.iter().map(|p| format!("{} {}", p.name, size(p.bytes))).collect();
    format!("{} of memory at the peak, during {}: {}", size(needs.bytes), needs.during, parts.join(", "))
}
