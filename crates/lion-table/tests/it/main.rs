//! Every format against data that the test itself writes, and every refusal in its full sentence.

mod endings;
mod errors;
mod formats;
mod labels;
mod memory;
mod options;
mod properties;
mod written;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
