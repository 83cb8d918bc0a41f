//! How much memory there is, asked before much of it is taken.

use crate::error::{Error, Result};

/// Bytes that can be had without swapping, where the system tells.
pub fn available_memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Refuses work that needs more memory than can be had. Where the system does not tell, nothing is refused.
pub(crate) fn check_memory(what: impl Into<String>, needed: u64, remedy: &'static str) -> Result<()> {
    match available_memory() {
        Some(available) if needed > available => {
            Err(Error::Memory { what: what.into(), needed, available, remedy })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_refused() {
        assert!(check_memory("a small thing", 1 << 10, "nothing").is_ok());
        if available_memory().is_some() {
            let refused = check_memory("the moon", 1 << 60, "take less").unwrap_err().to_string();
            assert!(refused.starts_with("the moon needs 1152921504.6 GB of memory, and "), "{refused}");
            assert!(refused.ends_with(" can be had: take less"), "{refused}");
        }
    }
}
