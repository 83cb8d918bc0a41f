//! How much memory there is, asked before much of it is taken.

mod needs;
mod placing;
mod sampling;

pub use needs::{Allocation, Needs};

use crate::error::{Error, Result};
use std::fs::read_to_string;

/// Bytes that can be had without swapping, where the system tells: what is free in the machine, in the control group that
/// a container is, and under the limit of the process, whichever is least.
pub fn available_memory() -> Option<u64> {
    [of_machine(), of_group(), of_process()].into_iter().flatten().min()
}

fn of_machine() -> Option<u64> {
    let told = read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The limit of the control group, less what it has taken.
fn of_group() -> Option<u64> {
    let number =
        |name: &str| read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok()?.trim().parse::<u64>().ok();
    Some(number("max")?.saturating_sub(number("current")?))
}

/// The limit of the address space, less what is taken of it and what threads will reserve of it without using it.
fn of_process() -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = line.split_whitespace().next()?.parse::<u64>().ok()?;
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let taken = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024;
    let reserved = RESERVED * (needs::threads(0) as u64 + OTHER_THREADS);
    Some(limit.saturating_sub(taken).saturating_sub(reserved))
}

/// Threads beside those that compute: the one that began, and those that read, listen for signals and show progress. Whether
/// each reserves room of its own depends on whether it had to wait for another.
const OTHER_THREADS: u64 = 3;
/// The address space that a thread reserves: its stack, and room for what it allocates.
const RESERVED: u64 = 72 << 20;

/// Refuses work that needs more memory than can be had. Where the system does not tell, nothing is refused.
pub fn check_memory(what: impl Into<String>, needed: u64, remedy: &'static str) -> Result<()> {
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
