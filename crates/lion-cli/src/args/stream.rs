//! `lion stream`: what can be chosen; and what it shares with `lion serve`, what is watched.

use super::{PlacingArgs, value};
use clap::Args;
use lion_tsne::live::{FalseAlarms, LiveOptions};
use std::path::PathBuf;

/// Follow points that appear, change and leave: newline JSON on standard input, events on standard output
///
/// In, one change a line: {"id":"a","x":[…]} puts a point (again), optionally with "label" and "t" (seconds; one second
/// after the line before unless given), {"delete":"a"} removes it. Out, one event a line, numbered without gaps: a point
/// appeared, moved, changed-cluster, became-outlier, joined-group, returned, stayed or was removed; and alarms, each with its
/// evidence: a new cluster is forming or has dissolved, one is vanishing or has recovered, a cluster or the whole map is
/// stale or fresh. The same lines give the same events, however fast they arrive. Ends with its input, or by Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion stream m.lion < changes.jsonl > events.jsonl
  tail -f changes.jsonl | lion stream m.lion | grep --line-buffered forming
  lion stream m.lion --strict --window 60 --json < changes.jsonl | tail -1      the summary alone")]
pub(crate) struct StreamArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// Stop at the first bad line with exit code 1, instead of reporting it on standard error and going on
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) watching: WatchArgs,
    #[command(flatten)]
    pub(crate) placing: PlacingArgs,
}

/// What is watched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub(crate) struct WatchArgs {
    /// How often a false alarm of each kind may come: one in so many arrivals, such as 1/100000, or in a time, such as 1/30d,
    /// 1/12h, 1/90m. Fewer false alarms make true ones later
    #[arg(long, value_name = "1/N", default_value_t = FalseAlarms::default())]
    pub(crate) false_alarms: FalseAlarms,
    /// The window of time that rates, shares and charts are of, in seconds. No alarm depends on it
    #[arg(long, value_name = "SECONDS", default_value_t = LiveOptions::default().window, value_parser = value::seconds, allow_negative_numbers = true)]
    pub(crate) window: f64,
}

impl WatchArgs {
    /// The options that were asked for.
    pub(crate) fn options(&self) -> LiveOptions {
        LiveOptions { window: self.window, false_alarms: self.false_alarms }
    }
}
