//! Any words are a command line that can be used, or a refusal: never a panic.
//!
//! Parser: lion-cli/src/args.rs, lion-cli/src/args/value.rs, lion-cli/src/args/method.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;

fuzz_target!(|bytes: &[u8]| {
    // One argument a line.
    let words = bytes.split(|&byte| byte == b'\n').take(30).map(word);
    let _ = lion_cli::check(std::iter::once(OsString::from("lion")).chain(words));
});

#[cfg(unix)]
fn word(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn word(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
