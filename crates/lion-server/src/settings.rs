//! What can be chosen when a service starts.

use lion_tsne::LionOptions;
use lion_tsne::live::LiveOptions;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

/// What tells a service the time, in seconds since 1970. The system's clock unless another is given.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Clock {
    /// A clock that tells what `now` does.
    pub fn new(now: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time.
    pub(crate) fn now(&self) -> f64 {
        (self.0)()
    }
}

impl Default for Clock {
    /// The system's, to the millisecond.
    fn default() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            since.as_millis() as f64 / 1e3
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

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
    /// How rows are placed in later versions of the map.
    pub placing: LionOptions,
    /// The most bytes that an update of the map may take; `None` is what can be had without swapping.
    pub update_memory: Option<u64>,
    /// The time that events have.
    pub clock: Clock,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            store: None,
            retain: None,
            live: LiveOptions::default(),
            queue: 65_536,
            ring: 32 << 20,
            placing: LionOptions::default(),
            update_memory: None,
            clock: Clock::default(),
        }
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
        match seconds_of(text) {
            Some(seconds) => Ok(Self::Seconds(seconds)),
            None => text.parse().ok().filter(|&n| n > 0).map(Self::Events).ok_or_else(problem),
        }
    }
}

/// The seconds of `30d`, `12h`, `90m` or `45s`.
pub fn seconds_of(text: &str) -> Option<f64> {
    let (at, unit) = text.char_indices().next_back()?;
    let unit = match unit {
        'd' => 86_400.0,
        'h' => 3_600.0,
        'm' => 60.0,
        's' => 1.0,
        _ => return None,
    };
    text[..at].parse::<f64>().ok().map(|n| n * unit).filter(|s| *s > 0.0 && s.is_finite())
}

/// When the map is updated by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum UpdateWhen {
    /// Only when somebody asks.
    #[default]
    Never,
    /// When the map is stale: all points are taken in.
    Stale,
    /// When a new cluster forms and is large enough to become one of the map: its outliers are taken in.
    Forming,
    /// All points are taken in, so many seconds after the last time.
    Every(f64),
}

impl FromStr for UpdateWhen {
    type Err = String;

    /// `never`, `stale`, `forming` or `every 1d`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_whitespace().collect::<Vec<_>>()[..] {
            ["never"] => Ok(Self::Never),
            ["stale"] => Ok(Self::Stale),
            ["forming"] => Ok(Self::Forming),
            ["every", every] => seconds_of(every)
                .map(Self::Every)
                .ok_or_else(|| format!("{every:?} is no time such as 7d, 12h or 90m")),
            _ => Err(format!("{text:?} is none of never, stale, forming and \"every 1d\"")),
        }
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
        assert_eq!("every 1d".parse(), Ok(UpdateWhen::Every(86_400.0)));
        assert_eq!("forming".parse(), Ok(UpdateWhen::Forming));
        for bad in ["", "every", "every day", "every 0s", "Stale", "every 1d 2d"] {
            assert!(bad.parse::<UpdateWhen>().is_err(), "{bad}");
        }
        for bad in ["", "d", "0", "-3", "0d", "-1d", "NaNd", "infs", "3 d", "many", "ü"] {
            let said = bad.parse::<Retain>().expect_err(bad);
            assert!(said.contains(&format!("{bad:?}")), "{said}");
        }
    }
}
