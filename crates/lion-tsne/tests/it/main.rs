//! Every test of the library that needs no private parts.

mod common;
mod file;
mod fitting;
mod neighbours;
mod preprocess;
