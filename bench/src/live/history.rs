//! A long history: how soon two stretches of it are compared, and how soon it is a page.

use super::load::{BATCH, SENDERS, batch, together};
use super::{ServerProcess, Setting, thousands};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, ensure};
use std::process::Command;
use std::time::Instant;

/// Points that change all the time.
const POINTS: u64 = 20_000;
/// How often each comparison is asked for; the median counts.
const TIMES: usize = 5;

/// Fills a store with so many events, compares stretches of it and makes a page of it.
pub fn history(setting: &Setting, events: u64) -> Result<()> {
    let store = setting.new_store("history.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    fill(setting, server.port, events)?;
    let mut connection = Connection::open(server.port)?;
    let ends = ["after=0&limit=1".to_owned(), format!("before={}&limit=1", u64::MAX >> 1)];
    let [first, last] = ends.map(|which| time_of(&mut connection, &which));
    let (first, last) = (first?, last?.next_up());
    println!(
        "\n| a history of {} events over {:.0} s | seconds |\n|---|---|",
        thousands(events as f64),
        last - first
    );
    let middle = first + (last - first) / 2.0;
    for (what, [from, between, to]) in [
        ("the second half compared with the first", [first, middle, last]),
        ("the last second compared with the one before", [last - 2.0, last - 1.0, last]),
        ("the third second compared with the second", [first + 1.0, first + 2.0, first + 3.0]),
    ] {
        let asked = format!("/api/compare?a={from},{between}&b={between},{to}");
        let mut took = [0.0; TIMES];
        let mut answer = None;
        for took in &mut took {
            let begun = Instant::now();
            answer = Some(connection.json(&asked)?);
            *took = begun.elapsed().as_secs_f64();
        }
        took.sort_by(f64::total_cmp);
        let answer = answer.context("no answer")?;
        let count = |stretch: &str| thousands(answer[stretch]["events"].as_f64().unwrap_or(f64::NAN));
        println!("| {what} ({} and {} events) | {:.3} |", count("a"), count("b"), took[TIMES / 2]);
    }
    drop(server);
    let page = setting.folder.join("history.html");
    let begun = Instant::now();
    let mut replay = Command::new(&setting.lion);
    replay.arg("replay").arg(&store).arg("--map").arg(&setting.map).arg("-o").arg(&page).arg("-q");
    ensure!(replay.status()?.success(), "the history cannot be made a page");
    let (took, bytes) = (begun.elapsed().as_secs_f64(), std::fs::metadata(&page)?.len());
    println!("| `lion replay`: a page of {:.1} MB | {took:.2} |", bytes as f64 / 1e6);
    Ok(())
}

/// Sends batches of points in turn until there are so many events.
fn fill(setting: &Setting, port: u16, events: u64) -> Result<()> {
    let send = |sender: u64| -> Result<()> {
        let mut connection = Connection::open(port)?;
        for first in (0..events).step_by(BATCH as usize).skip(sender as usize).step_by(SENDERS as usize) {
            connection.put(&Body::Arrow(&batch(setting, first..(first + BATCH).min(events), POINTS)?))?;
        }
        Ok(())
    };
    together((0..SENDERS).map(|sender| move || send(sender))).map(drop)
}

/// The time of the one event of an answer.
fn time_of(connection: &mut Connection, which: &str) -> Result<f64> {
    let page = connection.json(&format!("/api/history?{which}"))?;
    page["events"][0]["t"].as_f64().with_context(|| format!("no time in {page}"))
}
