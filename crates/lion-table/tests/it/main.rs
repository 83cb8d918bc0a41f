//! Every format against data that the test itself writes, what is written as others read it, and every refusal in its
//! full sentence.

mod arrays;
mod buffers;
mod dates;
mod endings;
mod errors;
mod formats;
mod headers;
mod json;
mod labels;
mod memory;
mod messages;
mod messy;
mod options;
mod output;
mod properties;
mod read_back;
mod several;
mod types;
mod written;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
