//! The map as one page that needs nothing else.

use crate::{Result, Scatter};

/// Later.
pub fn html(map: &Scatter) -> Result<String> {
    map.check()?;
    Ok(String::new())
}
