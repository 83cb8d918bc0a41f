//! Every test of the library that needs no private parts.

mod common;
mod diff;
mod explain;
mod file;
mod fitting;
mod given;
mod landmarks;
mod lion;
mod live;
mod neighbours;
mod preprocess;
mod quality;
mod recipe;
mod recorded;
mod update;
