//! Radii: numbers, or percentiles of the map's own nearest-neighbour distances.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A distance: a number, or a percentile of nearest-neighbour distances, written `99%`.
///
/// ```
/// use lion_tsne::Radius;
///
/// assert_eq!("99%".parse::<Radius>()?, Radius::Percentile(99.0));
/// assert_eq!("5.5".parse::<Radius>()?, Radius::Value(5.5));
/// assert!("101%".parse::<Radius>().is_err());
/// # Ok::<(), lion_tsne::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Radius {
    /// From 0 to 100.
    Percentile(f64),
    /// A distance.
    Value(f64),
}

impl Radius {
    /// Refuses what is no percentile or no distance.
    pub(crate) fn check(self, name: &'static str) -> Result<()> {
        let problem = match self {
            Self::Percentile(p) if !(0.0..=100.0).contains(&p) => {
                format!("must be a percentile from 0% to 100%, not {p}%")
            }
            Self::Value(v) if !(v >= 0.0 && v.is_finite()) => {
                format!("must be a distance from 0 on, not {v}")
            }
            _ => return Ok(()),
        };
        Err(Error::Parameter { name, problem })
    }

    /// The distance that this means, given distances in ascending order.
    pub(crate) fn of(self, ascending: &[f32]) -> f64 {
        match self {
            Self::Percentile(p) => percentile(ascending, p),
            Self::Value(v) => v,
        }
    }
}

impl FromStr for Radius {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = || Error::Parameter {
            name: "radius",
            problem: format!("must be a percentile such as 99% or a distance from 0 on, not {text:?}"),
        };
        let radius = match text.trim().strip_suffix('%') {
            Some(percentile) => Self::Percentile(percentile.trim_end().parse().map_err(|_| refuse())?),
            None => Self::Value(text.trim().parse().map_err(|_| refuse())?),
        };
        radius.check("radius").map_err(|_| refuse())?;
        Ok(radius)
    }
}

impl fmt::Display for Radius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(p) => write!(f, "{p}%"),
            Self::Value(v) => write!(f, "{v}"),
        }
    }
}

impl TryFrom<String> for Radius {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Radius> for String {
    fn from(radius: Radius) -> Self {
        radius.to_string()
    }
}

/// The percentile of values in ascending order, linear between them; 0 of no values.
pub(crate) fn percentile(ascending: &[f32], percentile: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return 0.0 };
    let at = percentile / 100.0 * last as f64;
    let below = (at.floor() as usize).min(last);
    let (low, high) = (f64::from(ascending[below]), f64::from(ascending[(below + 1).min(last)]));
    low + (high - low) * (at - below as f64)
}

/// Values in ascending order.
pub(crate) fn ascending(values: &[f32]) -> Vec<f32> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f32::total_cmp);
    values
}

/// The share of the values, in ascending order, that are at least `value`.
pub(crate) fn share_at_least(ascending: &[f32], value: f32) -> f64 {
    let less = ascending.partition_point(|v| *v < value);
    (ascending.len() - less) as f64 / ascending.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_linear_between_order_statistics() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let expected = [(0.0, 1.0), (50.0, 3.0), (100.0, 8.0), (25.0, 1.75)];
        assert!(expected.iter().all(|&(p, v)| (percentile(&values, p) - v).abs() < 1e-12));
        assert_eq!((percentile(&[], 50.0), percentile(&[3.0], 99.0)), (0.0, 3.0));
    }

    #[test]
    fn shares_count_equals() {
        let values = [1.0, 2.0, 2.0, 4.0];
        assert_eq!(share_at_least(&values, 2.0), 0.75);
        assert_eq!((share_at_least(&values, 0.0), share_at_least(&values, 5.0)), (1.0, 0.0));
    }

    #[test]
    fn texts_become_radii() {
        for text in ["", "%", "x", "-1", "nan", "inf", "-3%", "100.1%", "99 percent"] {
            assert!(text.parse::<Radius>().is_err(), "{text}");
        }
        assert_eq!(" 99.5 % ".parse::<Radius>().unwrap(), Radius::Percentile(99.5));
        assert_eq!(Radius::Percentile(99.5).to_string(), "99.5%");
    }
}
