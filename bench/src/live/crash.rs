//! `kill -9` at random times while points come in, again and again on one store.

use super::{ServerProcess, Setting};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, anyhow, ensure};
use lion_tsne::{Fit, Map, Matrix, ignore};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Rows of the map: a small one is loaded quickly, and what is tested is the store.
const ROWS: u32 = 3000;
const SENDERS: u64 = 4;
/// Ids of one sender.
const IDS: u64 = 250;

/// What was acknowledged: numbers of events, and the points they are about.
type AcknowledgedPoints = Mutex<BTreeMap<u64, String>>;

/// Kills the service so many times, and checks what is left after each.
pub fn kill(setting: &Setting, kills: u64) -> Result<()> {
    let map = small_map(setting)?;
    let store = setting.new_store("kill.db")?;
    let (known, mut checked, begun) = (AcknowledgedPoints::default(), 0, Instant::now());
    for round in 0..kills {
        let mut server = ServerProcess::start(setting, &map, &store, &[])?;
        let port = server.port;
        checked = check(port, checked, &known)?;
        thread::scope(|scope| {
            let known = &known;
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| scope.spawn(move || send(setting, port, sender, round, known)))
                .collect();
            // Anything from the first request to many commits later.
            thread::sleep(Duration::from_micros(5_000 + round * 7_919_317 % 300_000));
            server.kill()?;
            senders
                .into_iter()
                .try_for_each(|sender| sender.join().map_err(|_| anyhow!("a sender failed"))?)
        })?;
    }
    let server = ServerProcess::start(setting, &map, &store, &[])?;
    let events = check(server.port, checked, &known)?;
    drop(server);
    replay(setting, &map, &store)?;
    let acknowledged = known.into_inner().map_err(|_| anyhow!("a sender failed"))?.len();
    println!(
        "\n| `kill -9` during ingest | {kills} times in {:.0} s |\n|---|---|",
        begun.elapsed().as_secs_f64()
    );
    println!("| changes acknowledged | {acknowledged} |\n| of them lost or doubled | 0 |");
    println!("| events in the log | {events}, numbered without gaps |");
    println!("| all changes told again to `lion stream` | the same {events} events, byte for byte |");
    Ok(())
}

/// A part of the map.
fn small_map(setting: &Setting) -> Result<PathBuf> {
    let whole = Map::load(&setting.map)?;
    let some: Vec<u32> = (0..ROWS).map(|row| row * (whole.x().rows() as u32 / ROWS)).collect();
    let (x, y): (Matrix, Matrix) = (whole.x().select(&some), whole.y().select(&some));
    let file = setting.folder.join("kill.lion");
    Fit { pca: lion_tsne::PcaChoice::None, ..Fit::default() }.adopt(x, y, &mut ignore)?.save(&file)?;
    Ok(file)
}

/// The row of a version of a point: known without remembering it.
fn row(setting: &Setting, version: u64) -> Vec<f32> {
    let mut row = setting.row(version);
    // Some are strangers, so that groups of outliers come and go.
    if version.is_multiple_of(11) {
        row.iter_mut().for_each(|v| *v += 2000.0 + (version % 5) as f32 * 900.0);
    }
    row
}

/// Sends until there is no answer: single points, and small batches with a point that leaves.
fn send(setting: &Setting, port: u16, sender: u64, round: u64, known: &AcknowledgedPoints) -> Result<()> {
    let Ok(mut connection) = Connection::open(port) else { return Ok(()) };
    for request in 0u64.. {
        let version = (round * SENDERS + sender) * 100_000 + request * 8;
        let point = |at: u64| {
            let id = format!("{sender}-{}", (request * 5 + at * 3 + round) % IDS);
            json!({"id": id, "x": row(setting, version + at), "label": (version + at).to_string()})
        };
        let mut changes: Vec<Value> = (0..if request.is_multiple_of(2) { 1 } else { 5 }).map(point).collect();
        if request % 9 == 8 {
            // Put in the same batch, so it is there to be removed.
            changes.push(json!({"delete": changes[0]["id"]}));
        }
        let body = serde_json::to_string(&changes)?;
        let Ok((status, answer)) = connection.call("POST", "/api/points", &Body::Json(&body)) else {
            return Ok(());
        };
        ensure!(status == 200, "{status}: {}", String::from_utf8_lossy(&answer));
        let placed: Vec<Value> = serde_json::from_slice(&answer)?;
        ensure!(placed.len() == changes.len(), "{} answers to {} changes", placed.len(), changes.len());
        let mut known = known.lock().map_err(|_| anyhow!("a sender failed"))?;
        for (change, placed) in changes.iter().zip(&placed) {
            let id = change["id"].as_str().or(change["delete"].as_str()).context("no id")?;
            let event = placed["event"].as_u64().context("no event")?;
            ensure!(known.insert(event, id.to_owned()).is_none(), "event {event} was acknowledged twice");
        }
    }
    Ok(())
}

/// Looks at the events since the last check and at all points; the number of the last event.
fn check(port: u16, from: u64, known: &AcknowledgedPoints) -> Result<u64> {
    let mut connection = Connection::open(port)?;
    let known = known.lock().map_err(|_| anyhow!("a sender failed"))?;
    let mut last = from;
    loop {
        let page = connection.json(&format!("/api/history?after={last}&limit=10000"))?;
        let events = page["events"].as_array().context("no events")?;
        if events.is_empty() {
            break;
        }
        for event in events {
            last += 1;
            ensure!(event["n"] == last, "event {} where {last} belongs", event["n"]);
            if let Some(id) = known.get(&last) {
                ensure!(event["id"] == **id, "event {last} is about {} and not {id}", event["id"]);
            }
        }
    }
    ensure!(known.last_key_value().is_none_or(|(&n, _)| n <= last), "an acknowledged change is lost");
    let live = connection.json("/api/live")?;
    ensure!(live["last"] == last, "the points are as after event {} and not {last}", live["last"]);
    let ids = live["points"]["id"].as_array().context("no points")?;
    let different: BTreeSet<&str> = ids.iter().filter_map(Value::as_str).collect();
    ensure!(different.len() == ids.len(), "a point is there twice");
    Ok(last)
}

/// Tells all changes again to a program that was never killed: its events must be those of the store.
fn replay(setting: &Setting, map: &Path, store: &Path) -> Result<()> {
    let log = setting.folder.join("kill-events.jsonl");
    let export =
        Command::new(&setting.lion).arg("export").arg(store).arg("-o").arg(&log).arg("-q").status()?;
    ensure!(export.success(), "the store cannot be exported");
    let mut stream = Command::new(&setting.lion)
        .arg("stream")
        .arg(map)
        .args(["-q", "--strict"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = stream.stdin.take().context("no input")?;
    let output = BufReader::new(stream.stdout.take().context("no output")?);
    thread::scope(|scope| {
        let log = &log;
        let teller = scope.spawn(move || -> Result<()> {
            let mut input = BufWriter::new(input);
            for line in BufReader::new(File::open(log)?).lines() {
                let event: Value = serde_json::from_str(&line?)?;
                let Some(id) = event["id"].as_str() else { continue };
                let change = match event["kind"].as_str() {
                    Some("removed") => json!({"delete": id, "t": event["t"]}),
                    _ => {
                        let label = event["label"].as_str().context("no label")?;
                        json!({"id": id, "x": row(setting, label.parse()?), "label": label, "t": event["t"]})
                    }
                };
                writeln!(input, "{change}")?;
            }
            Ok(())
        });
        let mut kept = BufReader::new(File::open(log)?).lines();
        for told in output.lines() {
            let (told, kept) = (told?, kept.next().context("more events than the store has")??);
            ensure!(told == kept, "the store has\n{kept}\nand the replay\n{told}");
        }
        ensure!(kept.next().is_none(), "fewer events than the store has");
        teller.join().map_err(|_| anyhow!("telling failed"))?
    })?;
    ensure!(stream.wait()?.success(), "the replay failed");
    Ok(())
}
