//! Any bytes are a table, or a refusal: never a panic. See [`lion_fuzz::tables`].
//!
//! Parser: lion-table/src/arrow.rs, lion-table/src/columnar.rs, lion-table/src/read_columns.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_table::Format;

fuzz_target!(|bytes: &[u8]| lion_fuzz::tables::check(Format::Arrow, bytes));
