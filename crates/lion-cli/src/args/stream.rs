//! `lion stream`: what can be chosen; and what it shares with `lion serve`, the window of time.

use super::{PlacingArgs, value};
use clap::Args;
use lion_tsne::live::LiveOptions;
use std::path::PathBuf;

/// Follow points that appear, change and leave: newline JSON on standard input, events on standard output
///
/// In, one change a line: {"id":"a","x":[…]} puts a point (again), optionally with "label" and "t" (seconds; one second
/// after the line before unless given), {"delete":"a"} removes it. Out, one event a line, numbered without gaps: a point
/// appeared, moved, changed-cluster, became-outlier, joined-group, returned, stayed or was removed; and what a window of
/// time shows: a new cluster is forming, one is vanishing or has recovered, the map is stale or fresh. The same lines
/// give the same events, however they arrive. Ends with its input, or by Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion stream m.lion < changes.jsonl > events.jsonl
  tail -f changes.jsonl | lion stream m.lion | grep --line-buffered forming
  lion stream m.lion --strict --window 60 --json < changes.jsonl | tail -1      the summary alone")]
pub(crate) struct StreamArgs {
    /// A map file written by lion fit
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

/// What is watched over time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub(crate) struct WatchArgs {
    /// The window of time in which clusters form and vanish, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = LiveOptions::default().window, value_parser = value::seconds, allow_negative_numbers = true)]
    pub(crate) window: f64,
    /// How many members make a group of outliers a new cluster
    #[arg(long, value_name = "N", default_value_t = LiveOptions::default().forming, value_parser = value::members, allow_negative_numbers = true)]
    pub(crate) forming: usize,
    /// From which staleness on, from 0 to 1, the map is called stale
    #[arg(long, value_name = "S", default_value_t = LiveOptions::default().stale, value_parser = value::share, allow_negative_numbers = true)]
    pub(crate) stale: f64,
}

impl WatchArgs {
    /// The options that were asked for.
    pub(crate) fn options(&self) -> LiveOptions {
        LiveOptions { window: self.window, forming: self.forming, stale: self.stale }
    }
}
