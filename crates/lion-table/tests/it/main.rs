//! Every format against data that the test itself writes, what is written as others read it, and every refusal in its
//! full sentence.

mod endings;
mod errors;
mod formats;
mod headers;
mod labels;
mod memory;
mod messy;
mod options;
mod output;
mod properties;
mod read_back;
mod several;
mod written;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
