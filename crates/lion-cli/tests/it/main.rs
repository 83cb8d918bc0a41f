//! The binary `lion` as people run it: arguments in, files, text and exit codes out.

mod bad_input;
mod evaluate;
mod fit;
#[cfg(unix)]
mod interrupt;
mod look;
mod place;
mod tools;
