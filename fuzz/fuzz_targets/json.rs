//! Any bytes are a table as JSON lines and as one JSON array, or a refusal: never a panic. See [`lion_fuzz::tables`].
//!
//! Parser: lion-table/src/jsonl.rs, lion-table/src/value.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_fuzz::tables::check;
use lion_table::Format;

fuzz_target!(|bytes: &[u8]| {
    check(Format::Jsonl, bytes);
    check(Format::Json, bytes);
});
