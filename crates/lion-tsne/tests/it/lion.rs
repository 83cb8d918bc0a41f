//! Placing new rows, compared with a plain version of the method and held to each of its promises.

mod calibrated;
mod grid_oracle;
mod guarantees;
mod label_transfer;
mod large;
mod natural;
mod nearest;
mod oracle;
mod outliers;
mod parameters;
mod pending_outliers;
mod placing;
mod support;
mod told;
mod trust;
mod verdict_oracle;
