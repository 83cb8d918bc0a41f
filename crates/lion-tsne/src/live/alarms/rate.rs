//! How often a false alarm may come.

use super::Learned;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// At most one false alarm of each kind, in the mean, in so many arrivals or so much time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FalseAlarms {
    /// In so many arrivals.
    Arrivals(f64),
    /// In so many seconds: as many arrivals as come in them, by the rate so far.
    Seconds(f64),
}

/// The least number of arrivals: one alarm in fewer would be noise.
const LEAST: f64 = 1000.0;
/// The most: no stream is longer.
const MOST: f64 = 1e15;
/// Days, hours, minutes and seconds.
const UNITS: [(char, f64); 4] = [('d', 86_400.0), ('h', 3_600.0), ('m', 60.0), ('s', 1.0)];

impl Default for FalseAlarms {
    fn default() -> Self {
        Self::Arrivals(300_000.0)
    }
}

impl FalseAlarms {
    /// The arrivals in which one may come, after `arrivals` in `seconds`.
    pub(super) fn arrivals(self, arrivals: u64, seconds: f64) -> f64 {
        let wanted = match self {
            Self::Arrivals(arrivals) => arrivals,
            // As many as usual, until there is a rate.
            Self::Seconds(_) if arrivals == 0 || seconds <= 0.0 => {
                let Self::Arrivals(usual) = Self::default() else { return LEAST };
                usual
            }
            Self::Seconds(allowed) => allowed * arrivals as f64 / seconds,
        };
        wanted.clamp(LEAST, MOST)
    }

    /// The arrivals in which one may come, for a stream that goes on.
    pub(in crate::live) fn limit(self, learned: &Learned) -> f64 {
        match self {
            Self::Arrivals(_) => self.arrivals(learned.arrivals, 0.0),
            Self::Seconds(_) => learned.limit,
        }
    }

    /// Refuses what cannot be kept.
    pub(in crate::live) fn check(self) -> Result<(), String> {
        match self {
            Self::Arrivals(n) if !(LEAST..=MOST).contains(&n) => {
                Err(format!("must be one in 1000 to one in 10^15 arrivals, not one in {n}"))
            }
            Self::Seconds(n) if !(n > 0.0 && n <= MOST) => {
                Err(format!("must be one in some time above 0, not one in {n} seconds"))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for FalseAlarms {
    type Err = Error;

    /// `1/100000` arrivals, or `1/30d`, `1/12h`, `1/90m`, `1/45s`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |problem: String| Error::Parameter { name: "false alarms", problem };
        let what =
            "one in a number of arrivals such as 1/100000, or in a time such as 1/30d, 1/12h, 1/90m or 1/45s";
        let within =
            text.strip_prefix("1/").ok_or_else(|| refuse(format!("must be {what}, not {text:?}")))?;
        let unit = UNITS.iter().find(|(unit, _)| within.ends_with(*unit));
        let number = unit.map_or(within, |_| &within[..within.len() - 1]);
        let number: f64 = number.parse().map_err(|_| refuse(format!("must be {what}, not {text:?}")))?;
        let rate = match unit {
            Some((_, seconds)) => Self::Seconds(number * seconds),
            None => Self::Arrivals(number),
        };
        rate.check().map_err(refuse)?;
        Ok(rate)
    }
}

impl fmt::Display for FalseAlarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Arrivals(n) => write!(f, "1/{n}"),
            Self::Seconds(n) => {
                let unit = UNITS.iter().find(|(_, seconds)| n >= *seconds && n % seconds == 0.0);
                let (unit, seconds) = unit.unwrap_or(&('s', 1.0));
                write!(f, "1/{}{unit}", n / seconds)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn said_as_arrivals_or_as_a_time() {
        for (text, rate) in [
            ("1/100000", FalseAlarms::Arrivals(1e5)),
            ("1/30d", FalseAlarms::Seconds(30.0 * 86_400.0)),
            ("1/12h", FalseAlarms::Seconds(43_200.0)),
            ("1/90m", FalseAlarms::Seconds(5_400.0)),
            ("1/45s", FalseAlarms::Seconds(45.0)),
        ] {
            assert_eq!(text.parse::<FalseAlarms>().unwrap(), rate);
            assert_eq!(rate.to_string(), text);
        }
        for bad in
            ["", "1", "100000", "2/100000", "1/", "1/d", "1/999", "1/0d", "1/-3h", "1/NaN", "1/infs", "1/3w"]
        {
            let said = bad.parse::<FalseAlarms>().expect_err(bad).to_string();
            assert!(said.starts_with("false alarms must be"), "{said}");
        }
    }

    #[test]
    fn a_time_is_as_many_arrivals_as_come_in_it() {
        let month = FalseAlarms::Seconds(30.0 * 86_400.0);
        assert_eq!(month.arrivals(500, 50.0), 10.0 * 30.0 * 86_400.0);
        assert_eq!(month.arrivals(0, 0.0), 300_000.0);
        // Seldom as they come, a thousand are needed.
        assert_eq!(month.arrivals(10, 30.0 * 86_400.0), 1000.0);
    }
}
