//! Runs a stream, and notes when what was told.

use anyhow::Result;
use lion_tsne::Lion;
use lion_tsne::live::{Arrival, Change, Live, LiveOptions, What};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows, and whether each is of what happens.
pub(super) struct AlarmStream {
    rows: Vec<(Vec<f32>, bool)>,
    rate: f64,
}

impl AlarmStream {
    /// Rows that come at a rate, in rows a second.
    pub(super) fn of(rows: impl Iterator<Item = (Vec<f32>, bool)>, rate: f64) -> Self {
        Self { rows: rows.collect(), rate }
    }
}

/// What a stream told.
pub(super) struct ReportedAlarm {
    rows: usize,
    outliers: usize,
    /// The first row that is of what happens, and the first after it that is not, if it lasts.
    begin: Option<usize>,
    end: Option<usize>,
    /// Alarms in order: after how many rows, after how many of what happens, which kind.
    alarms: Vec<(usize, usize, &'static str)>,
    excess: bool,
}

/// Applies a stream in batches; nothing depends on how long they are.
pub(super) fn run(lion: &Arc<Lion>, stream: AlarmStream) -> Result<ReportedAlarm> {
    let mut live = Live::new(Arc::clone(lion), LiveOptions::default())?;
    let new: Vec<bool> = stream.rows.iter().map(|(_, new)| *new).collect();
    let rows = new.len();
    let (mut at, mut members, mut alarms, mut outliers, mut excess) = (0, 0, Vec::new(), 0, false);
    let mut waiting = stream.rows.into_iter().enumerate();
    loop {
        let batch: Vec<Change> = waiting
            .by_ref()
            .take(512)
            .map(|(i, (row, _))| {
                let t = Some(1e6 + i as f64 / stream.rate);
                Change::Upsert(Arrival { id: format!("{i}"), row, label: None, t })
            })
            .collect();
        if batch.is_empty() {
            break;
        }
        for event in live.apply(batch)?.events {
            match &event.what {
                what if event.id().is_some() => {
                    outliers += usize::from(
                        matches!(what, What::Appeared(s) | What::JoinedGroup(s) if s.placement.group.is_some()),
                    );
                    members += usize::from(new[at]);
                    at += 1;
                }
                _ => alarms.push((at, members, event.kind())),
            }
        }
        excess |= live.health().excess.is_some();
    }
    let begin = new.iter().position(|new| *new);
    let end = begin.and_then(|begin| Some(begin + new[begin..].iter().rposition(|new| *new)? + 1));
    Ok(ReportedAlarm { rows, outliers, begin, end: end.filter(|end| *end < rows), alarms, excess })
}

/// What streams of one kind told.
#[derive(Default)]
pub(super) struct AlarmTally {
    streams: usize,
    pub(super) rows: usize,
    outliers: usize,
    excess: usize,
    /// How often each kind was told while what happens lasted.
    during: BTreeMap<&'static str, usize>,
    /// How often each kind was told though nothing had happened, and on the whole.
    before: BTreeMap<&'static str, usize>,
    all: BTreeMap<&'static str, usize>,
    /// For each kind, after how many rows and members it was first told, and its end after what happened was over.
    delays: BTreeMap<&'static str, Vec<(usize, usize)>>,
    ends: BTreeMap<&'static str, Vec<usize>>,
}

impl AlarmTally {
    pub(super) fn add(&mut self, told: &ReportedAlarm) {
        self.streams += 1;
        self.rows += told.rows;
        self.outliers += told.outliers;
        self.excess += usize::from(told.excess);
        let begin = told.begin.unwrap_or(told.rows);
        for &(at, _, kind) in &told.alarms {
            *self.all.entry(kind).or_default() += 1;
            *self.before.entry(kind).or_default() += usize::from(at <= begin);
        }
        let kinds: Vec<&'static str> = told.alarms.iter().map(|alarm| alarm.2).collect();
        for kind in
            kinds.iter().enumerate().filter(|(i, kind)| !kinds[..*i].contains(kind)).map(|(_, kind)| *kind)
        {
            let of = |from: usize| told.alarms.iter().find(move |(at, _, k)| *k == kind && *at > from);
            if let Some((at, members, _)) = of(begin) {
                self.delays.entry(kind).or_default().push((at - begin, *members));
            }
            if let Some((end, (at, ..))) = told.end.and_then(|end| Some((end, of(end)?))) {
                self.ends.entry(kind).or_default().push(at - end);
            }
            let lasting = begin..told.end.unwrap_or(told.rows);
            let early = told.alarms.iter().filter(|(at, _, k)| *k == kind && lasting.contains(at)).count();
            *self.during.entry(kind).or_default() += early;
        }
    }

    fn count(&self, kind: &str) -> usize {
        self.all.get(kind).copied().unwrap_or(0)
    }

    /// Alarms of each kind for 100 000 rows.
    pub(super) fn false_alarms(&self, name: &str, rate: f64) -> String {
        let per = |count: usize| format!("{:.2}", count as f64 * 1e5 / self.rows as f64);
        let [forming, stale, cluster, vanishing] =
            ["forming", "stale", "cluster-stale", "vanishing"].map(|kind| per(self.count(kind)));
        let share = 100.0 * self.outliers as f64 / self.rows as f64;
        format!(
            "| {name} | {} | {share:.2} % | {forming} | {stale} | {cluster} | {vanishing} | {} of {} |",
            said(rate),
            self.excess,
            self.streams
        )
    }

    /// How many members it took.
    pub(super) fn found(&self, name: &str, rate: f64, kind: &str) -> String {
        let members: Vec<usize> = self.delays.get(kind).into_iter().flatten().map(|delay| delay.1).collect();
        let told = self.count(kind) - self.before.get(kind).copied().unwrap_or(0);
        let others: Vec<String> = self
            .all
            .iter()
            .filter(|(k, _)| **k != kind)
            .map(|(k, n)| {
                let first: Vec<usize> =
                    self.delays.get(k).into_iter().flatten().map(|delay| delay.1).collect();
                format!("{k} {n} (members {})", spread(&first))
            })
            .collect();
        format!(
            "| {name} | {} | {} of {} | {} | {:.1} clusters | {} |",
            said(rate),
            members.len(),
            self.streams,
            spread(&members),
            told as f64 / members.len().max(1) as f64,
            if others.is_empty() { "none".into() } else { others.join(", ") }
        )
    }

    /// How many rows it took to tell of a shift, and of its end.
    pub(super) fn shift(&self, name: &str, rate: f64) -> String {
        self.both(name, rate, "stale", "fresh", |rows| rows.to_string())
    }

    /// The same for a cluster that stops, beside the rows that would be needed.
    pub(super) fn stop(&self, name: &str, rate: f64, needed: f64) -> String {
        self.both(name, rate, "vanishing", "recovered", |rows| {
            format!("{rows} ({:.1} x)", rows as f64 / needed)
        })
    }

    fn both(&self, name: &str, rate: f64, kind: &str, end: &str, say: impl Fn(usize) -> String) -> String {
        let rows: Vec<usize> = self.delays.get(kind).into_iter().flatten().map(|delay| delay.0).collect();
        let ends: Vec<usize> = self.ends.get(end).cloned().unwrap_or_default();
        let said = |values: &[usize]| match ordered(values)[..] {
            [] => "–".to_string(),
            ref values => format!("{}, {}", say(values[values.len() / 2]), say(values[values.len() - 1])),
        };
        format!(
            "| {name} | {} | {} of {} | {} | {} of {} | {} | {} |",
            self::said(rate),
            rows.len(),
            self.streams,
            said(&rows),
            ends.len(),
            self.streams,
            spread(&ends),
            self.during.get(end).copied().unwrap_or(0)
        )
    }
}

fn ordered(values: &[usize]) -> Vec<usize> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values
}

/// The median and the largest.
fn spread(values: &[usize]) -> String {
    match ordered(values)[..] {
        [] => "–".into(),
        ref values => format!("{}, {}", values[values.len() / 2], values[values.len() - 1]),
    }
}

fn said(rate: f64) -> String {
    if rate < 0.1 { format!("{:.3}", rate) } else { format!("{rate}") }
}
