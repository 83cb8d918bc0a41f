//! The map file: what is written comes back, and nothing else does.

mod damaged;
mod invalid;
mod pictures;
mod random;
mod saving;
mod shown;
mod support;
mod whole;
