//! Every test of the evaluation that needs no private parts.

#[path = "../../../lion-tsne/tests/it/common.rs"]
mod common;
mod contenders;
mod natural;
