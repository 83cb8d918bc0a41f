//! The binary `lion` as people run it: arguments in, files, text and exit codes out.

mod bad_input;
mod columns;
#[cfg(unix)]
mod crash;
mod diff;
mod evaluate;
mod explain;
#[cfg(unix)]
mod export;
mod fit;
#[cfg(unix)]
mod interrupt;
mod landmarks;
mod look;
mod memory;
#[cfg(unix)]
mod old_files;
mod place;
mod quality;
mod registers;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod serve;
mod shell;
#[cfg(target_os = "linux")]
mod shortage;
mod shown;
#[cfg(unix)]
mod stream;
#[cfg(unix)]
mod tokens;
mod tools;
mod update;
#[cfg(unix)]
mod update_when;
