//! How fast points are taken, what listeners cost, and whether memory stays flat.

use super::{COLUMNS, ServerProcess, Setting, thousands};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, anyhow};
use arrow_array::{FixedSizeListArray, Float32Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field};
use serde_json::json;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Rows in a batch.
pub(super) const BATCH: u64 = 1000;
/// Connections that send batches: while one waits for the disk the other is placed.
pub(super) const SENDERS: u64 = 3;
/// Connections that send single rows.
const CONNECTIONS: u64 = 32;
/// Events a second while others listen.
const PACE: u64 = 1000;

/// A batch of rows as an Arrow stream, of so many points in turn.
pub(super) fn batch(setting: &Setting, rows: Range<u64>, points: u64) -> Result<Vec<u8>> {
    let values: Vec<f32> = rows.clone().flat_map(|row| setting.row(row)).collect();
    let ids: StringArray = rows.map(|row| Some(format!("p{}", row % points))).collect();
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let rows = FixedSizeListArray::try_new(item, COLUMNS as i32, Arc::new(Float32Array::from(values)), None)?;
    let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("x", Arc::new(rows) as _)])?;
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

/// Durable ingest in batches: rows a second.
pub fn ingest(setting: &Setting, seconds: f64) -> Result<f64> {
    let store = setting.new_store("ingest.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    let rate = flood(setting, server.port, seconds, 0)?;
    println!(
        "| durable ingest, Arrow batches of {BATCH} x {COLUMNS} | {} rows/s | at least 20 000 |",
        thousands(rate)
    );
    Ok(rate)
}

/// Sends batches as fast as they are taken; rows a second.
fn flood(setting: &Setting, port: u16, seconds: f64, first: u64) -> Result<f64> {
    let taken = AtomicU64::new(0);
    // Made before the clock runs: what it takes to make them is not the service's.
    let rounds = (seconds * 60_000.0 / (BATCH * SENDERS) as f64).ceil().clamp(1.0, 400.0) as u64;
    let make = |sender: u64| -> Result<Vec<Vec<u8>>> {
        let start = |round: u64| first + (round * SENDERS + sender) * BATCH;
        (0..rounds).map(|round| batch(setting, start(round)..start(round) + BATCH, u64::MAX)).collect()
    };
    let bodies: Vec<Vec<Vec<u8>>> = (0..SENDERS).map(make).collect::<Result<_>>()?;
    let begun = Instant::now();
    let send = |bodies: &[Vec<u8>]| -> Result<()> {
        let mut connection = Connection::open(port)?;
        for body in bodies {
            if begun.elapsed().as_secs_f64() > seconds {
                break;
            }
            connection.put(&Body::Arrow(body))?;
            taken.fetch_add(BATCH, Ordering::Relaxed);
        }
        Ok(())
    };
    together(bodies.iter().map(|bodies| || send(bodies)))?;
    Ok(taken.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64())
}

/// Runs each in a thread of its own.
pub(super) fn together<T: Send>(
    work: impl Iterator<Item = impl FnOnce() -> Result<T> + Send>,
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let threads: Vec<ScopedJoinHandle<'_, Result<T>>> = work.map(|work| scope.spawn(work)).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<T>>| {
            thread.join().map_err(|_| anyhow!("a thread failed"))?
        };
        threads.into_iter().map(join).collect()
    })
}

/// Single rows as JSON over many connections: posts a second, and how long they take.
pub fn singles(setting: &Setting, seconds: f64) -> Result<()> {
    let store = setting.new_store("singles.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    let begun = Instant::now();
    let send = |sender: u64| -> Result<Vec<f64>> {
        let mut connection = Connection::open(server.port)?;
        let mut took = Vec::new();
        for number in 0.. {
            if begun.elapsed().as_secs_f64() > seconds {
                break;
            }
            let id = number * CONNECTIONS + sender;
            let body = json!({"id": format!("p{id}"), "x": setting.row(id)}).to_string();
            let sent = Instant::now();
            connection.put(&Body::Json(&body))?;
            took.push(sent.elapsed().as_secs_f64());
        }
        Ok(took)
    };
    let mut took = together((0..CONNECTIONS).map(|sender| move || send(sender)))?.concat();
    let rate = took.len() as f64 / begun.elapsed().as_secs_f64();
    took.sort_by(f64::total_cmp);
    let (p50, p99) = (1e3 * percentile(&took, 0.5), 1e3 * percentile(&took, 0.99));
    println!(
        "| single JSON posts over {CONNECTIONS} connections | {} posts/s | at least 3 000 |",
        thousands(rate)
    );
    println!("| the same, one post | p50 {p50:.1} ms, p99 {p99:.1} ms | p99 under 50 ms |");
    Ok(())
}

pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted.get((share * sorted.len() as f64) as usize).or(sorted.last()).copied().unwrap_or(f64::NAN)
}

/// What many listeners cost the one who writes, at a steady pace and at full speed.
pub fn listeners(setting: &Setting, seconds: f64, count: usize) -> Result<()> {
    let (alone, _) = paced(setting, seconds, 0)?;
    let (heard, behind) = paced(setting, seconds, count)?;
    let slower = 100.0 * (heard / alone - 1.0);
    println!(
        "| {count} listeners at {PACE} events/s: a batch of {} takes | {:.2} ms, {:.2} ms with none ({slower:+.1} %) | at most 10 % more |",
        PACE / 10,
        1e3 * heard,
        1e3 * alone
    );
    println!(
        "| the slowest listener has the last event | {:.0} ms after it was acknowledged | |",
        1e3 * behind
    );
    Ok(())
}

/// Sends ten batches a second while so many listen: the mean time of a batch, and how long after the last of them the last
/// listener has heard all. Every listener must hear every event once.
fn paced(setting: &Setting, seconds: f64, count: usize) -> Result<(f64, f64)> {
    let store = setting.new_store("listeners.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    let per_batch = PACE / 10;
    let batches = (seconds * 10.0).ceil() as u64;
    let bodies: Vec<Vec<u8>> = (0..batches)
        .map(|number| batch(setting, number * per_batch..(number + 1) * per_batch, u64::MAX))
        .collect::<Result<_>>()?;
    let last = AtomicU64::new(u64::MAX);
    thread::scope(|scope| {
        let listen = || -> Result<Instant> {
            let (mut expected, mut gap) = (0, None);
            let mut heard = Instant::now();
            Connection::open(server.port)?.listen(0, |number| {
                expected += 1;
                gap = gap.or((number != expected).then_some(number));
                let last = last.load(Ordering::SeqCst);
                // One who knows of the last event only when a later one comes heard it before that.
                if number <= last {
                    heard = Instant::now();
                }
                number < last && gap.is_none()
            })?;
            gap.map_or(Ok(heard), |number| Err(anyhow!("a listener heard {number} out of turn")))
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(listen)).collect();
        // All are there before it begins.
        thread::sleep(Duration::from_millis(500));
        let mut connection = Connection::open(server.port)?;
        let (begun, mut took) = (Instant::now(), 0.0);
        for (number, body) in (0..).zip(&bodies) {
            let due = Duration::from_millis(100) * number;
            thread::sleep(due.saturating_sub(begun.elapsed()));
            let sent = Instant::now();
            connection.put(&Body::Arrow(body))?;
            took += sent.elapsed().as_secs_f64();
        }
        let acknowledged = Instant::now();
        let live = connection.json("/api/live")?;
        last.store(live["last"].as_u64().context("no last event")?, Ordering::SeqCst);
        // One more, so that those who heard the last before they knew hear something.
        thread::sleep(Duration::from_millis(300));
        connection.put(&Body::Json(&json!({"id": "last", "x": setting.row(0)}).to_string()))?;
        let mut behind = 0.0f64;
        for thread in threads {
            let heard = thread.join().map_err(|_| anyhow!("a listener failed"))??;
            behind = behind.max(heard.saturating_duration_since(acknowledged).as_secs_f64());
        }
        Ok((took / bodies.len() as f64, behind))
    })
}

/// Memory over a long load: a bounded number of points that change all the time.
pub fn memory(setting: &Setting, minutes: f64, rate: u64) -> Result<()> {
    const POINTS: u64 = 20_000;
    let store = setting.new_store("memory.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &["--retain", "100000"])?;
    let (sent, stopping) = (AtomicU64::new(0), AtomicBool::new(false));
    println!("\n| minutes | rows so far | memory |\n|---|---|---|");
    thread::scope(|scope| {
        let (sent, stopping, server) = (&sent, &stopping, &server);
        let sender = scope.spawn(move || -> Result<()> {
            let mut connection = Connection::open(server.port)?;
            let begun = Instant::now();
            for number in 0u64.. {
                if stopping.load(Ordering::Relaxed) {
                    break;
                }
                let due = Duration::from_secs_f64(number as f64 * BATCH as f64 / rate as f64);
                thread::sleep(due.saturating_sub(begun.elapsed()));
                // The same points again and again, each time with other rows.
                let rows: Vec<_> = (0..BATCH)
                    .map(|at| {
                        let row = number * BATCH + at;
                        json!({"id": format!("p{}", row % POINTS), "x": setting.row(row)})
                    })
                    .collect();
                connection.put(&Body::Json(&serde_json::to_string(&rows)?))?;
                sent.fetch_add(BATCH, Ordering::Relaxed);
            }
            Ok(())
        });
        let begun = Instant::now();
        let samples = 12;
        for sample in 0..=samples {
            let due = Duration::from_secs_f64(60.0 * minutes * f64::from(sample) / f64::from(samples));
            thread::sleep(due.saturating_sub(begun.elapsed()));
            let (now, rows) = (begun.elapsed().as_secs_f64() / 60.0, sent.load(Ordering::Relaxed));
            println!("| {now:.1} | {} | {:.1} MB |", thousands(rows as f64), server.memory()? as f64 / 1e6);
        }
        stopping.store(true, Ordering::Relaxed);
        sender.join().map_err(|_| anyhow!("the sender failed"))?
    })
}
