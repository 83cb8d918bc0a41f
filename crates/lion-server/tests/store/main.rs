//! What is acknowledged is on disk, whatever happens; real stores in temporary folders.

mod common;
mod crash;
mod durable;
mod listening;
mod migrating;
#[cfg(target_os = "linux")]
mod power_cut;
mod recording;
mod refusing;
mod retaining;
mod updating;
