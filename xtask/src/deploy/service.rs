//! A service to try things with: a small map, a process that ends with the test, and calls.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// A process that is ended when this is dropped.
pub(super) struct Running(Child);

impl Running {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(Self(command.spawn().with_context(|| format!("cannot start {name}"))?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Fits a map of points in two columns: `map.lion` in a folder.
pub(super) fn fit(folder: &Path) -> Result<()> {
    let rows = (0..120).map(|i| format!("p{i},{},{}\n", i % 12 + 40 * (i % 2), i / 12));
    fs::write(folder.join("t.csv"), "name,a,b\n".to_owned() + &rows.collect::<String>())?;
    let fit = "fit t.csv --id name -o map.lion --perplexity 5 --iterations 100 --quiet";
    shell::run(shell::program(shell::built("lion")?, fit).current_dir(folder))
}

/// Serves `map.lion` of a folder with some more arguments; the port that it took.
pub(super) fn serve(folder: &Path, args: &str) -> Result<(Running, u16)> {
    let args = format!("serve map.lion --port 0 --json --quiet {args}");
    let mut command = shell::program(shell::built("lion")?, &args);
    let mut running = Running::start(command.current_dir(folder).stdout(Stdio::piped()))?;
    let mut line = String::new();
    let output = running.0.stdout.take().context("it has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let port = port_of(&line).with_context(|| format!("it does not say its port: {line}"))?;
    Ok((running, port))
}

/// The port in what a service says of itself when it has started.
pub(super) fn port_of(started: &str) -> Option<u16> {
    started.split_once("\"port\":")?.1.split([',', '}']).next()?.parse().ok()
}

/// A port that nobody has.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The first bytes of an answer, up to the first that contain `wanted`.
pub(super) fn call(port: u16, request: &str, wanted: &str) -> Result<String> {
    let begun = Instant::now();
    let mut answer = Vec::new();
    // What was just started may not listen yet.
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(error) if begun.elapsed() > LONG => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request.as_bytes())?;
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if text.contains(wanted) {
            return Ok(text);
        }
        let mut some = [0; 4096];
        match stream.read(&mut some) {
            Ok(count) if count > 0 && begun.elapsed() < LONG => answer.extend_from_slice(&some[..count]),
            _ => bail!("{wanted:?} is not in the answer to {request:?}: {text}"),
        }
    }
}

/// A request that puts a point.
pub(super) fn post(path: &str, headers: &str) -> String {
    let body = r#"{"id":"new","x":[3,4]}"#;
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}
