//! What `lion compare` is asked.

use chrono::DateTime;
use clap::Args;
use lion_server::{Stretch, seconds_of};
use std::path::PathBuf;

/// Compare two stretches of time in a store
///
/// Which clusters and parts of the map gained or lost share beyond chance (Fisher's exact test, Holm's correction), and
/// which points came and left. A point counts once in a stretch, at its last place there. A service may be running on the
/// store meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion compare points.db                                   the second half of its history with the first
  lion compare points.db --a 25h,24h --b 1h,now            the last hour with the same hour of yesterday
  lion compare points.db --a 2026-11-16T09:00Z,2026-11-16T10:00Z --b 2026-11-17T09:00Z,2026-11-17T10:00Z
  lion compare points.db --json                            all of it, with p-values and regions")]
pub(crate) struct CompareArgs {
    /// A store written by lion serve
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// The first stretch. A time is seconds since 1970, a date such as 2026-11-17T09:00Z, an age before the last event such as
    /// 2h or 1d, or now, the last event [default: the first half]
    #[arg(long, value_name = "FROM,TO", value_parser = stretch, requires = "b")]
    pub(crate) a: Option<StretchArg>,
    /// The second stretch, after the first [default: the second half]
    #[arg(long, value_name = "FROM,TO", value_parser = stretch, requires = "a")]
    pub(crate) b: Option<StretchArg>,
}

/// A stretch whose ends may be said by the last event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StretchArg(MomentArg, MomentArg);

#[derive(Clone, Copy, Debug, PartialEq)]
enum MomentArg {
    /// Seconds since 1970.
    At(f64),
    /// Seconds before the last event.
    Ago(f64),
    /// Just after the last event, so that it is in.
    Now,
}

impl StretchArg {
    /// The stretch of a store whose last event was at this time.
    pub(crate) fn with(self, last: f64) -> Stretch {
        let at = |moment| match moment {
            MomentArg::At(t) => t,
            MomentArg::Ago(seconds) => last - seconds,
            MomentArg::Now => last.next_up(),
        };
        Stretch { from: at(self.0), to: at(self.1) }
    }
}

fn stretch(text: &str) -> Result<StretchArg, String> {
    let (from, to) = text.split_once(',').ok_or("it must be two times with a comma between them, FROM,TO")?;
    Ok(StretchArg(moment(from.trim())?, moment(to.trim())?))
}

fn moment(text: &str) -> Result<MomentArg, String> {
    let seconds = || text.parse().ok().filter(|t: &f64| t.is_finite()).map(MomentArg::At);
    let ago = || seconds_of(text).map(MomentArg::Ago);
    match text {
        "now" => Some(MomentArg::Now),
        _ => seconds().or_else(ago).or_else(|| date(text)),
    }
    .ok_or_else(|| {
        format!("{text:?} is no time: write seconds since 1970, 2026-11-17T09:00Z, an age such as 2h, or now")
    })
}

/// A date with a zone; seconds may be left out.
fn date(text: &str) -> Option<MomentArg> {
    let parsed = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(&text.replace('Z', "+00:00"), "%Y-%m-%dT%H:%M%:z"));
    parsed.ok().map(|date| MomentArg::At(date.timestamp_millis() as f64 / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let last = 1_000_000.0;
        let with = |text: &str| stretch(text).unwrap().with(last);
        assert_eq!(with("10,20.5"), Stretch { from: 10.0, to: 20.5 });
        assert_eq!(with("2h,30m"), Stretch { from: last - 7200.0, to: last - 1800.0 });
        assert!(with("1d,now").to > last);
        let day = with("1970-01-02T00:00Z,1970-01-02T01:30:00.5+01:00");
        assert_eq!(day, Stretch { from: 86_400.0, to: 86_400.0 + 1_800.5 });
        assert!(["", "1", "1,", "soon,now", "1,inf", "-2h,now"].iter().all(|text| stretch(text).is_err()));
    }
}
