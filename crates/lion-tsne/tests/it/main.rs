//! Every test of the library that needs no private parts.

mod common;
mod diff;
mod file;
mod fitting;
mod given;
mod landmarks;
mod lion;
mod live;
mod neighbours;
mod preprocess;
mod update;
