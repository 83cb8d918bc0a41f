//! `lion stream`: changes in, events out, one a line each.

mod clock;
mod input;

use crate::args::{Common, StreamArgs};
use crate::interrupt;
use crate::output;
use crate::progress::Screen;
use crate::summary::{Facts, counted};
use anyhow::{Context, Result, bail};
use clock::LineClock;
use input::{StreamInput, StreamLine};
use lion_server::changes::RowShape;
use lion_tsne::live::{Change, Event, Live};
use lion_tsne::{Error, Lion, Map};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

/// Batches of lines that are read ahead of the one being placed: more than that waits in the pipe.
const AHEAD: usize = 4;
/// Lines that are placed at once if so many are waiting.
const TOGETHER: usize = 2048;
/// The exit code that shells give to a program ended by Ctrl-C.
const ENDED_BY_CTRL_C: i32 = 130;

/// Follows the changes on standard input.
pub(crate) fn run(args: &StreamArgs, common: &Common) -> Result<()> {
    let begun = Instant::now();
    let screen = Screen::new(common);
    // All of it: the file may be written anew while this runs.
    let map = Map::load_whole(&args.map)?;
    let lion =
        Lion::new(map, &args.placing.options(common)).with_context(|| args.map.display().to_string())?;
    screen.close();
    let shape = shape(lion.map());
    let live = Live::new(Arc::new(lion), args.watching.options())?;
    let (send, inputs) = sync_channel(AHEAD);
    let stopping = Arc::new(AtomicBool::new(false));
    let (stop, flag) = (send.clone(), stopping.clone());
    interrupt::listen(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(ENDED_BY_CTRL_C);
        }
        // Wakes the one who waits for input; one who does not sees the flag.
        let _ = stop.try_send(StreamInput::End);
    })?;
    // Nobody waits for this thread: it may wait for standard input.
    let rows = shape.clone();
    std::thread::spawn(move || input::read(io::stdin().lock(), &rows, &send));
    let mut stream = Stream {
        shape,
        live,
        out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        strict: args.strict,
        clock: LineClock::default(),
        screen: screen.clone(),
        told: StreamCounts::default(),
    };
    stream.follow(&inputs, &stopping)?;
    let summary = stream.end(begun.elapsed().as_secs_f64());
    if common.json {
        return output::print(&(serde_json::to_string(&summary)? + "\n"));
    }
    screen.say(summary.facts().lines().trim_end());
    Ok(())
}

/// What a row of the map's looks like.
fn shape(map: &Map) -> RowShape {
    RowShape {
        width: map.preprocess().input_dims(),
        columns: map.columns().map(|names| names.map(str::to_owned).collect()),
        recipe: map.recipe().cloned().map(std::sync::Arc::new),
        rows: usize::MAX,
        bytes: usize::MAX,
    }
}

/// The changes that come, and the events that go.
struct Stream {
    shape: RowShape,
    live: Live,
    out: BufWriter<StdoutLock<'static>>,
    strict: bool,
    clock: LineClock,
    screen: Screen,
    told: StreamCounts,
}

/// What was read and written.
#[derive(Default)]
struct StreamCounts {
    lines: u64,
    skipped: u64,
    kinds: BTreeMap<&'static str, u64>,
}

/// The JSON object.
#[derive(Serialize)]
struct StreamSummary {
    /// Lines that were read, blank ones left aside.
    lines: u64,
    /// Bad ones among them.
    skipped: u64,
    events: u64,
    /// Events of each kind.
    kinds: BTreeMap<&'static str, u64>,
    /// Points that are there at the end.
    points: u64,
    outliers: u64,
    groups: u64,
    /// Groups that are new clusters.
    forming: usize,
    vanishing: Vec<String>,
    staleness: f64,
    seconds: f64,
    /// Of all state: the same lines give the same digest.
    digest: String,
}

impl Stream {
    /// Goes on until the input ends. What is waiting is taken together; whenever nothing is, all events are out.
    fn follow(&mut self, inputs: &Receiver<StreamInput>, stopping: &AtomicBool) -> Result<()> {
        while let Ok(first) = inputs.recv() {
            let (mut lines, mut next) = (Vec::new(), Some(first));
            let end = loop {
                match next {
                    Some(StreamInput::Lines(more)) => lines.extend(more),
                    Some(StreamInput::End) => break Some(Ok(())),
                    Some(StreamInput::Broken(error)) => break Some(Err(error)),
                    None => break None,
                }
                next = if lines.len() < TOGETHER { inputs.try_recv().ok() } else { None };
            };
            let taken = self.take(lines);
            // What came before a bad line counts.
            self.out.flush()?;
            taken?;
            if let Some(end) = end {
                return end.context("standard input cannot be read");
            }
            if stopping.load(Ordering::SeqCst) {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, lines: Vec<StreamLine>) -> Result<()> {
        self.told.lines += lines.len() as u64;
        let mut changes = Vec::with_capacity(lines.len());
        for StreamLine { number, change } in lines {
            match change {
                Ok(mut change) => {
                    self.clock.check(&mut change);
                    changes.push((number, change));
                }
                Err(problem) => {
                    if self.strict {
                        self.apply(std::mem::take(&mut changes))?;
                    }
                    self.skip(&problem)?;
                }
            }
        }
        self.apply(changes)
    }

    /// Applies changes with the numbers of their lines. Where one cannot be, those before it are applied, and then those
    /// after it.
    fn apply(&mut self, mut changes: Vec<(u64, Change)>) -> Result<()> {
        while !changes.is_empty() {
            let batch = changes.iter().map(|(_, change)| change.clone()).collect();
            let (row, problem) = match self.live.apply(batch) {
                Ok(applied) => return self.write(&applied.events),
                Err(Error::Unusable { row: Some(row), column: Some(column), fault }) => {
                    (row, format!(", column {} {fault}", self.shape.column(column)))
                }
                Err(Error::Unusable { row: Some(row), column: None, fault }) => (row, format!(" {fault}")),
                Err(Error::Change { row, problem }) => (row, format!(": {problem}")),
                Err(Error::NoPoint { row, id }) => {
                    (row, format!(": there is no point {id:?} that could be removed"))
                }
                Err(other) => return Err(other.into()),
            };
            let after = changes.split_off((row + 1).min(changes.len()));
            let line = changes.pop().map_or(0, |(line, _)| line);
            let before = self.live.apply(changes.into_iter().map(|(_, change)| change).collect())?;
            self.write(&before.events)?;
            self.skip(&format!("line {line}{problem}"))?;
            changes = after;
        }
        Ok(())
    }

    fn write(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)?;
            self.out.write_all(b"\n")?;
            *self.told.kinds.entry(event.kind()).or_default() += 1;
        }
        Ok(())
    }

    /// A line is bad.
    fn skip(&mut self, problem: &str) -> Result<()> {
        if self.strict {
            bail!("{problem}");
        }
        self.told.skipped += 1;
        self.screen.complain(&format!("{problem} (skipped)"));
        Ok(())
    }

    fn end(self, seconds: f64) -> StreamSummary {
        let health = self.live.health();
        StreamSummary {
            lines: self.told.lines,
            skipped: self.told.skipped,
            events: self.live.last(),
            kinds: self.told.kinds,
            points: health.points,
            outliers: health.outliers,
            groups: health.groups,
            forming: health.forming.len(),
            vanishing: health.vanishing.into_iter().map(|vanishing| vanishing.cluster).collect(),
            staleness: health.staleness,
            seconds,
            digest: format!("{:016x}", self.live.digest()),
        }
    }
}

impl StreamSummary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        facts.add("lines", format!("{}{skipped}", self.lines));
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let colon = if kinds.is_empty() { "" } else { ": " };
        facts.add("events", format!("{}{colon}{}", self.events, kinds.join(", ")));
        let Self { points, outliers, groups, forming, .. } = self;
        let forming = if *forming > 0 { format!(", {forming} of them new clusters") } else { String::new() };
        let groups = counted(*groups, "group");
        facts.add("points", format!("{points}, {outliers} of them outliers in {groups}{forming}"));
        if !self.vanishing.is_empty() {
            facts.add("vanishing", self.vanishing.join(", "));
        }
        facts.add("staleness", format!("{:.2}", self.staleness));
        facts.add("seconds", format!("{:.2}", self.seconds));
        facts
    }
}
