//! Any bytes are a table, or a refusal: never a panic. See [`lion_fuzz::tables`].
//!
//! Parser: lion-table/src/delimited.rs, lion-table/src/record.rs, lion-table/src/written.rs, lion-table/src/dates.rs, lion-table/src/tally.rs, lion-table/src/labels.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_table::Format;

fuzz_target!(|bytes: &[u8]| lion_fuzz::tables::check(Format::Csv, bytes));
