//! Placing new rows, compared with a plain version of the method and held to each of its promises.

mod cells;
mod oracle;
mod trust;
