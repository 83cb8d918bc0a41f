//! What is refused of a table before any work.

use super::LARGEST;
use crate::error::{Error, Fault, Result};
use crate::matrix::Matrix;

/// Refuses tables that cannot be fitted.
pub(super) fn check_data(data: &Matrix) -> Result<()> {
    if data.rows() == 0 || data.cols() == 0 {
        return Err(Error::Data(format!(
            "the table is empty: {} rows, {} columns",
            data.rows(),
            data.cols()
        )));
    }
    data.check_finite()?;
    check_largest(data)?;
    check_precision(data)
}

/// Refuses values that could overflow when squared.
pub(crate) fn check_largest(data: &Matrix) -> Result<()> {
    match data.data().iter().position(|v| v.abs() > LARGEST) {
        None => Ok(()),
        Some(at) => Err(Fault::TooLarge(data.data()[at]).at(at / data.cols(), at % data.cols())),
    }
}

/// Distances of rows that differ by less than this would vanish when squared.
const NARROWEST: f32 = 1e-18;
/// Of what a column varies, rounding to 32 bits may take no more than this share.
const ROUNDING: f32 = 1e-3;

/// Refuses what 32-bit numbers cannot tell apart.
fn check_precision(data: &Matrix) -> Result<()> {
    let mut low = data.row(0).to_vec();
    let mut high = low.clone();
    for row in data.data().chunks_exact(data.cols()) {
        for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(row) {
            *low = low.min(value);
            *high = high.max(value);
        }
    }
    let mut widest = 0.0f32;
    for (column, (&low, &high)) in low.iter().zip(&high).enumerate() {
        let (width, largest) = (high - low, high.abs().max(low.abs()));
        widest = widest.max(width);
        if width > 0.0 && largest * f32::EPSILON > ROUNDING * width {
            return Err(Fault::Offset { low, high }.of_column(column));
        }
    }
    if widest > 0.0 && widest < NARROWEST {
        return Err(Error::Data(format!(
            "all values lie within {widest:e} of each other, too close for distances to be squared: scale the table up"
        )));
    }
    Ok(())
}
