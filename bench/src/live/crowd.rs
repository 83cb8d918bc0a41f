//! Ten thousand connections at once, none of which ever finishes its request.

use super::{ServerProcess, Setting, thousands};
use crate::http::{Body, Connection};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Opens so many connections and leaves each in the middle of its request. Who was there before is served all the
/// while, and newcomers are once the crowd is gone.
pub fn crowd(setting: &Setting, connections: usize) -> Result<()> {
    let store = setting.new_store("crowd.db")?;
    let server = ServerProcess::start(setting, &setting.map, &store, &[])?;
    let mut friend = Connection::open(server.port)?;
    let mut post = |number: u64| -> Result<f64> {
        let body = json!([{"id": format!("p{number}"), "x": setting.row(number)}]).to_string();
        let begun = Instant::now();
        friend.put(&Body::Json(&body))?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    post(0)?;
    let before = server.memory()?;
    let (mut open, mut turned_away, mut slowest) = (Vec::with_capacity(connections), 0, 0.0f64);
    for number in 0..connections {
        let mut stream =
            TcpStream::connect(("127.0.0.1", server.port)).context("the service does not listen")?;
        // Whoever is one too many is sent away, perhaps before this is written.
        match stream.write_all(b"POST /api/points HTTP/1.1\r\nhost: 127.0.0.1\r\nx-") {
            Ok(()) => open.push(stream),
            Err(_) => turned_away += 1,
        }
        if number % 500 == 0 {
            slowest = slowest.max(post(1 + number as u64)?);
        }
    }
    slowest = slowest.max(post(1_000_000)?);
    let memory = server.memory()?;
    drop(open);
    let begun = Instant::now();
    let (status, _) = loop {
        match Connection::open(server.port)?.call("GET", "/healthz", &Body::None) {
            Ok(answer @ (200, _)) => break answer,
            _ if begun.elapsed() < Duration::from_secs(60) => thread::sleep(Duration::from_millis(50)),
            answer => break answer?,
        }
    };
    ensure!(status == 200, "newcomers are still answered by {status}");
    println!("\n| connections that never finish a request | {} |\n|---|---|", thousands(connections as f64));
    println!("| refused before they had written | {turned_away} |");
    println!("| slowest post of a connection from before | {slowest:.1} ms |");
    println!("| memory | {:.1} MB, {:.1} MB before |", memory as f64 / 1e6, before as f64 / 1e6);
    println!("| a newcomer is served after they are gone | within {:.1} s |", begun.elapsed().as_secs_f64());
    Ok(())
}
