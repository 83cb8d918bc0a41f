//! What can be chosen when a service starts.

use lion_tsne::live::LiveOptions;
use std::path::PathBuf;
use std::str::FromStr;

/// How a service runs. `Settings::default()` keeps the map in a temporary file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file that keeps points and events; `None` is a temporary one that is deleted at the end.
    pub store: Option<PathBuf>,
    /// Which events are kept; `None` is all of them. Points are always kept.
    pub retain: Option<Retain>,
    /// What the live map watches for.
    pub live: LiveOptions,
    /// Rows that may wait for the writer; work beyond is refused as busy.
    pub queue: usize,
    /// Bytes of events that are kept in memory for those who listen.
    pub ring: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { store: None, retain: None, live: LiveOptions::default(), queue: 65_536, ring: 32 << 20 }
    }
}

/// Which events are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Retain {
    /// Those of the last seconds.
    Seconds(f64),
    /// That many, the latest.
    Events(u64),
}

impl FromStr for Retain {
    type Err = String;

    /// `30d`, `12h`, `90m`, `45s`, or a number of events.
    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || {
            format!(
                "{text:?} is neither a time such as 30d, 12h, 90m or 45s nor a number of events such as 100000"
            )
        };
        let (number, unit) = match text.char_indices().next_back() {
            Some((at, 'd')) => (&text[..at], 86_400.0),
            Some((at, 'h')) => (&text[..at], 3_600.0),
            Some((at, 'm')) => (&text[..at], 60.0),
            Some((at, 's')) => (&text[..at], 1.0),
            _ => return text.parse().ok().filter(|&n| n > 0).map(Self::Events).ok_or_else(problem),
        };
        let seconds = number.parse::<f64>().ok().map(|n| n * unit).filter(|s| *s > 0.0 && s.is_finite());
        seconds.map(Self::Seconds).ok_or_else(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_said_as_a_time_or_a_number() {
        assert_eq!("30d".parse(), Ok(Retain::Seconds(30.0 * 86_400.0)));
        assert_eq!("1.5h".parse(), Ok(Retain::Seconds(5_400.0)));
        assert_eq!("90m".parse(), Ok(Retain::Seconds(5_400.0)));
        assert_eq!("45s".parse(), Ok(Retain::Seconds(45.0)));
        assert_eq!("100000".parse(), Ok(Retain::Events(100_000)));
        for bad in ["", "d", "0", "-3", "0d", "-1d", "NaNd", "infs", "3 d", "many", "ü"] {
            let said = bad.parse::<Retain>().expect_err(bad);
            assert!(said.contains(&format!("{bad:?}")), "{said}");
        }
    }
}
