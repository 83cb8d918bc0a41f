//! The binary `lion` as people run it: arguments in, files, text and exit codes out.

mod bad_input;
#[cfg(unix)]
mod crash;
mod diff;
mod evaluate;
#[cfg(unix)]
mod export;
mod fit;
#[cfg(unix)]
mod interrupt;
mod landmarks;
mod look;
mod memory;
mod place;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod stream;
mod tools;
mod update;
