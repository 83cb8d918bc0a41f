//! How good are places? The metrics, the test sets, and the ways of placing that are compared.

mod contender;

pub use contender::{Contender, Landings, Ready};
