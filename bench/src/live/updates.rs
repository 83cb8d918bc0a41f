//! Posts while the map is updated: how long they take before, during and after, and for how long the switch holds the writer.

use super::load::{BATCH, batch, percentile, together};
use super::{ServerProcess, Setting, thousands};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Live points.
const POINTS: u64 = 10_000;
/// Connections that post, and posts of each in a second.
const SENDERS: u64 = 4;
const RATE: u64 = 50;
/// How long posts are watched before the update begins and after it has ended.
const AROUND: Duration = Duration::from_secs(15);
/// How often the update is asked how it is doing.
const LOOK: Duration = Duration::from_millis(50);
/// Longer than any update should take.
const MOST: Duration = Duration::from_secs(420);

/// A post: when it was due and when it was answered.
#[derive(Clone, Copy)]
struct Post {
    due: Instant,
    answered: Instant,
}

/// What was seen of an update.
struct Watched {
    begun: Instant,
    ended: Instant,
    rows: u64,
    most_memory: u64,
    /// What was being done, and since when.
    stages: Vec<(Instant, String)>,
}

/// Updates a map with all live points while others post.
pub fn updates(setting: &Setting) -> Result<()> {
    let store = setting.new_store("updates.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    let mut connection = Connection::open(server.port)?;
    for first in (0..POINTS).step_by(BATCH as usize) {
        connection.put(&Body::Arrow(&batch(setting, first..first + BATCH, POINTS)?))?;
    }
    let before = server.memory()?;
    let stopping = AtomicBool::new(false);
    let (posts, watched) = thread::scope(|scope| {
        let stopping = &stopping;
        let posting = scope.spawn(move || {
            together((0..SENDERS).map(|sender| move || post(setting, server.port, sender, stopping)))
        });
        thread::sleep(AROUND);
        let watched = watch(&server);
        thread::sleep(AROUND);
        stopping.store(true, Ordering::Relaxed);
        let posts = posting.join().map_err(|_| anyhow::anyhow!("a sender failed"))??.concat();
        Ok::<_, anyhow::Error>((posts, watched?))
    })?;
    // Idle for longer than the service keeps a connection open.
    let mut connection = Connection::open(server.port)?;
    let switch = switch_seconds(&mut connection)?;
    let (memory, live) = (server.memory()?, connection.json("/api/live")?);
    ensure!(live["version"] == 2, "the points are in version {}", live["version"]);
    print(&posts, &watched, switch, [before, watched.most_memory, memory]);
    Ok(())
}

/// Posts at an even pace until it is time to stop: points that are there, each with another row.
fn post(setting: &Setting, port: u16, sender: u64, stopping: &AtomicBool) -> Result<Vec<Post>> {
    let mut connection = Connection::open(port)?;
    let begun = Instant::now();
    let mut posts = Vec::new();
    for number in 0u64.. {
        if stopping.load(Ordering::Relaxed) {
            break;
        }
        let row = POINTS + number * SENDERS + sender;
        let body = json!({"id": format!("p{}", row % POINTS), "x": setting.row(row)}).to_string();
        let due = begun + Duration::from_micros(1_000_000 * (number * SENDERS + sender) / (RATE * SENDERS));
        thread::sleep(due.saturating_duration_since(Instant::now()));
        connection.put(&Body::Json(&body))?;
        posts.push(Post { due, answered: Instant::now() });
    }
    Ok(posts)
}

/// Begins an update and waits for its end.
fn watch(server: &ServerProcess) -> Result<Watched> {
    let mut connection = Connection::open(server.port)?;
    let begun = Instant::now();
    let (status, answer) = connection.call("POST", "/api/map/update", &Body::Json("{}"))?;
    ensure!(status == 202, "the update was answered by {status}: {}", String::from_utf8_lossy(&answer));
    let (mut most_memory, mut stages) = (0, Vec::<(Instant, String)>::new());
    while begun.elapsed() < MOST {
        thread::sleep(LOOK);
        let update = connection.json("/api/map/update")?;
        most_memory = most_memory.max(server.memory()?);
        let stage = update["stage"].as_str().unwrap_or_default();
        if stages.last().is_none_or(|(_, known)| known != stage) {
            stages.push((Instant::now(), stage.to_owned()));
        }
        match update["state"].as_str() {
            Some("running") => (),
            Some("done") => {
                let rows = update["rows"].as_u64().context("no rows")?;
                return Ok(Watched { begun, ended: Instant::now(), rows, most_memory, stages });
            }
            _ => bail!("the update ended otherwise: {update}"),
        }
    }
    bail!("the update takes longer than {MOST:?}")
}

/// For how long the last switch held the writer.
fn switch_seconds(connection: &mut Connection) -> Result<f64> {
    let (_, metrics) = connection.call("GET", "/metrics", &Body::None)?;
    let metrics = String::from_utf8(metrics)?;
    let line = metrics.lines().find_map(|line| line.strip_prefix("lion_switch_seconds "));
    Ok(line.context("no lion_switch_seconds")?.trim().parse()?)
}

fn print(posts: &[Post], watched: &Watched, switch: f64, memory: [u64; 3]) {
    println!(
        "\n| {} single posts a second, each from when it was due | posts | p50 | p99 | max |\n|---|---|---|---|---|",
        RATE * SENDERS
    );
    let Watched { begun, ended, rows, ref stages, .. } = *watched;
    let line = |what: &str, is_in: &dyn Fn(&Post) -> bool| {
        let mut took: Vec<f64> = posts
            .iter()
            .filter(|post| is_in(post))
            .map(|p| 1e3 * (p.answered - p.due).as_secs_f64())
            .collect();
        took.sort_by(f64::total_cmp);
        let at = |share| percentile(&took, share);
        let count = thousands(took.len() as f64);
        println!("| {what} | {count} | {:.1} ms | {:.1} ms | {:.1} ms |", at(0.5), at(0.99), at(1.0));
    };
    line("before the update", &|post| post.answered < begun);
    line("during the update", &|post| post.answered >= begun && post.due <= ended);
    for (at, (since, stage)) in stages.iter().enumerate() {
        let until = stages.get(at + 1).map_or(ended, |(next, _)| *next);
        let seconds = (until - *since).as_secs_f64();
        line(&format!("of these, {stage} ({seconds:.1} s)"), &|p| p.answered >= *since && p.due <= until);
    }
    line("after it", &|post| post.due > ended);
    let [before, most, after] = memory.map(|bytes| bytes as f64 / 1e6);
    println!("\n| update with {} live points | reached | wanted |\n|---|---|---|", thousands(rows as f64));
    println!("| seconds, posts going on | {:.1} | |", (ended - begun).as_secs_f64());
    println!("| the switch held the writer | {:.0} ms | at most 200 ms |", 1e3 * switch);
    println!("| memory before, most, after | {before:.0}, {most:.0}, {after:.0} MB | |");
}
