//! Every test of the library from outside, in one binary.

mod file;
mod preprocess;
