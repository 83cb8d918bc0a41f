//! What the targets share: the checks of a table in any format, and small maps.

pub mod maps;
pub mod tables;
