//! `cargo xtask`.
mod data;
mod digits;
mod pca;
mod rng;
mod shell;
fn main() {
    data::mnist(std::env::args_os().nth(1).map(Into::into)).unwrap();
}
