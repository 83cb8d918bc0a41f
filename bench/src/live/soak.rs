//! A long mixed load: rows that change all the time, strangers that gather and leave, single posts, listeners that come and go,
//! updates of the map and ways back. Memory, file handles, the store and the time of a post must stay flat.

use super::load::{percentile, together};
use super::{ServerProcess, Setting, thousands};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lion_tsne::numerics::Random;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Points that change all the time, and strangers that are there for a while.
const POINTS: u64 = 20_000;
const STRANGERS: u64 = 400;
/// Rows of a batch, and how many of them are strangers while these gather.
const BATCH: u64 = 100;
const STRANGE: u64 = 8;
/// Connections that post single rows, and posts of each in a second.
const SENDERS: u64 = 2;
const POSTS: u64 = 25;
const LISTENERS: u64 = 20;
/// The most events of one session of a listener.
const SESSION: f32 = 10_000.0;
/// Parts of the whole time: strangers gather in the third of each, and the map is updated in the sixth.
const PARTS: u32 = 6;
const SAMPLES: u32 = 24;

/// A load of so many minutes, with so many rows a second in batches.
pub fn soak(setting: &Setting, minutes: f64, rate: u64) -> Result<()> {
    let store = setting.new_store("soak.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &["--retain", "100000"])?;
    fill(setting, server.port)?;
    let soak = Soak {
        setting,
        server: &server,
        rate,
        begun: Instant::now(),
        whole: Duration::from_secs_f64(60.0 * minutes),
        leaving: AtomicBool::new(false),
        stopping: AtomicBool::new(false),
        posts: Mutex::default(),
        sessions: AtomicU64::new(0),
        updates: AtomicU64::new(0),
    };
    let samples = soak.run()?;
    soak.check_points()?;
    tell_flatness(&samples);
    Ok(())
}

/// Puts all points once.
fn fill(setting: &Setting, port: u16) -> Result<()> {
    let mut connection = Connection::open(port)?;
    for first in (0..POINTS).step_by(1000) {
        connection.put(&Body::Arrow(&super::load::batch(setting, first..first + 1000, POINTS)?))?;
    }
    Ok(())
}

/// What all threads share.
struct Soak<'a> {
    setting: &'a Setting,
    server: &'a ServerProcess,
    rate: u64,
    begun: Instant,
    whole: Duration,
    /// Listeners are to leave; after them those who send.
    leaving: AtomicBool,
    stopping: AtomicBool,
    /// How long single posts took since the last sample, from when they were due.
    posts: Mutex<Vec<f64>>,
    sessions: AtomicU64,
    updates: AtomicU64,
}

/// What is seen at a moment.
struct Sample {
    memory: f64,
    handles: f64,
    p50: f64,
    p99: f64,
}

impl Soak<'_> {
    fn run(&self) -> Result<Vec<Sample>> {
        thread::scope(|scope| {
            let batches = scope.spawn(|| self.until_stopped(|| self.send_batches()));
            let singles =
                scope.spawn(|| together((0..SENDERS).map(|n| move || self.until_stopped(|| self.post(n)))));
            let listeners = scope
                .spawn(|| together((0..LISTENERS).map(|n| move || self.until_stopped(|| self.listen(n)))));
            let updates = scope.spawn(|| self.until_stopped(|| self.update_and_revert()));
            let samples = self.watch();
            self.leaving.store(true, Ordering::Relaxed);
            let failed = |_| anyhow!("a thread failed");
            listeners.join().map_err(failed)??;
            updates.join().map_err(failed)??;
            self.stopping.store(true, Ordering::Relaxed);
            batches.join().map_err(failed)??;
            singles.join().map_err(failed)??;
            samples
        })
    }

    /// Whoever fails ends the load for all, so that the failure is told at once.
    fn until_stopped(&self, work: impl Fn() -> Result<()>) -> Result<()> {
        let outcome = work();
        if outcome.is_err() {
            self.leaving.store(true, Ordering::Relaxed);
            self.stopping.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// How far the load is: the part, and how much of it has passed.
    fn part(&self) -> (u32, f64) {
        let parts = f64::from(PARTS) * self.begun.elapsed().as_secs_f64() / self.whole.as_secs_f64();
        (parts as u32, parts.fract())
    }

    /// Sends rows at an even pace. In the second half of each part's first half some are strangers, which are deleted afterwards.
    fn send_batches(&self) -> Result<()> {
        let mut connection = Connection::open(self.server.port)?;
        let mut strangers_of = None;
        for number in 0u64.. {
            if self.stopping.load(Ordering::Relaxed) {
                break;
            }
            self.wait_until(Duration::from_secs_f64((number * BATCH) as f64 / self.rate as f64));
            let (part, passed) = self.part();
            let gather = (0.25..0.5).contains(&passed);
            let strange = if gather { STRANGE } else { 0 };
            let mut changes: Vec<Value> = (strange..BATCH)
                .map(|at| self.point(&format!("p{}", (number * BATCH + at) % POINTS), number * BATCH + at, 0))
                .collect();
            changes.extend((0..strange).map(|at| {
                let stranger = (number * STRANGE + at) % STRANGERS;
                self.point(&format!("s{stranger}"), number * BATCH + at, 1 + part)
            }));
            if !gather && strangers_of.is_some() {
                changes.extend((0..STRANGERS).map(|stranger| json!({"delete": format!("s{stranger}")})));
            }
            strangers_of = gather.then_some(part);
            connection.put(&Body::Json(&serde_json::to_string(&changes)?))?;
        }
        // Those who are still there leave, so that what is left is known.
        let deletes: Vec<Value> = (0..STRANGERS).map(|n| json!({"delete": format!("s{n}")})).collect();
        connection.put(&Body::Json(&serde_json::to_string(&deletes)?)).map(drop)
    }

    /// A version of a point; strangers of a part are near each other and far from all else.
    fn point(&self, id: &str, version: u64, strangers_of: u32) -> Value {
        let mut row = self.setting.row(version);
        if strangers_of > 0 {
            let digit = self.setting.row(u64::from(strangers_of));
            row.iter_mut().zip(&digit).for_each(|(value, digit)| *value = 0.1 * *value + 2.5 * digit);
        }
        json!({"id": id, "x": row})
    }

    fn wait_until(&self, due: Duration) {
        thread::sleep(due.saturating_sub(self.begun.elapsed()));
    }

    /// Posts single rows at an even pace.
    fn post(&self, sender: u64) -> Result<()> {
        let mut connection = Connection::open(self.server.port)?;
        for number in 0u64.. {
            if self.stopping.load(Ordering::Relaxed) {
                break;
            }
            let post = number * SENDERS + sender;
            let body = self.point(&format!("p{}", 7919 * post % POINTS), post, 0).to_string();
            let due = Duration::from_micros(1_000_000 * post / (POSTS * SENDERS));
            self.wait_until(due);
            connection.put(&Body::Json(&body))?;
            let took = self.begun.elapsed().saturating_sub(due).as_secs_f64();
            self.posts.lock().map_err(|_| anyhow!("a sender failed"))?.push(took);
        }
        Ok(())
    }

    /// Comes, hears some events, goes, and comes again: mostly where it was, sometimes at the latest event. No event may be missing.
    fn listen(&self, listener: u64) -> Result<()> {
        let mut random = Random::new(listener);
        let mut after = None;
        while !self.leaving.load(Ordering::Relaxed) {
            let from = match after.take_if(|_| random.unit() < 0.7) {
                Some(after) => after,
                None => last_event(self.server.port)?,
            };
            let (until, mut heard, mut gap) = (from + 1 + (random.unit() * SESSION) as u64, from, None);
            Connection::open(self.server.port)?.listen(from, |number| {
                gap = gap.or((number != heard + 1).then_some(number));
                heard = number;
                heard < until && gap.is_none() && !self.leaving.load(Ordering::Relaxed)
            })?;
            ensure!(gap.is_none(), "a listener heard event {gap:?} out of turn");
            (after, _) = (Some(heard), self.sessions.fetch_add(1, Ordering::Relaxed));
        }
        Ok(())
    }

    /// Updates the map in each part, and goes back to the version before in every second.
    fn update_and_revert(&self) -> Result<()> {
        let mut updated = 0;
        while !self.leaving.load(Ordering::Relaxed) {
            let (part, passed) = self.part();
            if part >= updated && passed >= 0.6 {
                self.ask_and_wait("/api/map/update")?;
                updated = part + 1;
                if part % 2 == 1 {
                    self.ask_and_wait("/api/map/revert")?;
                }
                self.updates.fetch_add(1, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    fn ask_and_wait(&self, path: &str) -> Result<()> {
        let (status, answer) = Connection::open(self.server.port)?.call("POST", path, &Body::Json("{}"))?;
        ensure!(status < 300, "{path} was answered by {status}: {}", String::from_utf8_lossy(&answer));
        loop {
            thread::sleep(Duration::from_millis(200));
            let update = Connection::open(self.server.port)?.json("/api/map/update")?;
            match update["state"].as_str() {
                Some("running") => {}
                Some("done" | "idle") => return Ok(()),
                _ => bail!("the update ended otherwise: {update}"),
            }
        }
    }

    /// Looks at the service at an even pace until the time is over.
    fn watch(&self) -> Result<Vec<Sample>> {
        println!(
            "\n| minutes | events | memory | file handles | threads | store | posts p50 | p99 | max | listeners' sessions | alarms | updates |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|"
        );
        let mut samples = Vec::new();
        for sample in 0..=SAMPLES {
            let due = self.whole.mul_f64(f64::from(sample) / f64::from(SAMPLES));
            while self.begun.elapsed() < due && !self.leaving.load(Ordering::Relaxed) {
                thread::sleep(due.saturating_sub(self.begun.elapsed()).min(Duration::from_millis(200)));
            }
            samples.push(self.look()?);
        }
        Ok(samples)
    }

    fn look(&self) -> Result<Sample> {
        let mut posts = std::mem::take(&mut *self.posts.lock().map_err(|_| anyhow!("a sender failed"))?);
        posts.sort_by(f64::total_cmp);
        let post = |share| 1e3 * percentile(&posts, share);
        // The first look is before the first post.
        let took = |share| if posts.is_empty() { "-".to_owned() } else { format!("{:.1} ms", post(share)) };
        let sample = Sample {
            memory: self.server.memory()? as f64 / 1e6,
            handles: self.server.entries("fd")? as f64,
            p50: post(0.5),
            p99: post(0.99),
        };
        let mut connection = Connection::open(self.server.port)?;
        let notices = connection.json("/api/notices")?;
        let alarms = notices["notices"].as_array().context("no notices")?.len();
        println!(
            "| {:.1} | {} | {:.1} MB | {} | {} | {:.1} MB | {} | {} | {} | {} | {alarms} | {} |",
            self.begun.elapsed().as_secs_f64() / 60.0,
            thousands(last_event(self.server.port)? as f64),
            sample.memory,
            sample.handles,
            self.server.entries("task")?,
            self.setting.store_bytes("soak.db")? as f64 / 1e6,
            took(0.5),
            took(0.99),
            took(1.0),
            self.sessions.load(Ordering::Relaxed),
            self.updates.load(Ordering::Relaxed),
        );
        Ok(sample)
    }

    /// All points are there, once, and no others.
    fn check_points(&self) -> Result<()> {
        let live = Connection::open(self.server.port)?.json("/api/live")?;
        let ids = live["points"]["id"].as_array().context("no points")?;
        let different: BTreeSet<&str> = ids.iter().filter_map(Value::as_str).collect();
        let expected: Vec<String> = (0..POINTS).map(|point| format!("p{point}")).collect();
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        ensure!(different.len() == ids.len(), "a point is there twice");
        ensure!(different == expected, "{} points are there, and not those that were sent", ids.len());
        println!(
            "\nAll {} points are there at the end, and no others; every session of a listener was without gaps.",
            ids.len()
        );
        Ok(())
    }
}

/// The number of the latest event.
fn last_event(port: u16) -> Result<u64> {
    Connection::open(port)?.json("/api/map")?["last"].as_u64().context("no last event")
}

/// The last third of the time beside the middle one.
fn tell_flatness(samples: &[Sample]) {
    let third = samples.len() / 3;
    let (middle, last) = (&samples[third..2 * third], &samples[samples.len() - third..]);
    println!("\n| medians | middle third | last third | change |\n|---|---|---|---|");
    for (what, unit, value) in [
        ("memory", " MB", (|s| s.memory) as fn(&Sample) -> f64),
        ("file handles", "", |s| s.handles),
        ("posts, p50", " ms", |s| s.p50),
        ("posts, p99", " ms", |s| s.p99),
    ] {
        let median = |samples: &[Sample]| {
            let mut values: Vec<f64> = samples.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            percentile(&values, 0.5)
        };
        let (before, after) = (median(middle), median(last));
        println!(
            "| {what} | {before:.1}{unit} | {after:.1}{unit} | {:+.1} % |",
            100.0 * (after / before - 1.0)
        );
    }
}
