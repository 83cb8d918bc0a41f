//! `lion`.
fn main() {}
