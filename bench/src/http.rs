//! A caller of the service that waits for nothing but the service: plain sockets, requests written by hand.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection that is kept for many requests.
pub struct Connection {
    reader: BufReader<TcpStream>,
    port: u16,
}

/// What a request carries.
pub enum Body<'a> {
    /// Nothing.
    None,
    /// JSON.
    Json(&'a str),
    /// An Arrow stream.
    Arrow(&'a [u8]),
}

impl Connection {
    /// To the service at a port of this machine.
    pub fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { reader: BufReader::with_capacity(1 << 16, stream), port })
    }

    /// Sends a request and reads the answer: its status and body.
    pub fn call(&mut self, method: &str, path: &str, body: &Body<'_>) -> Result<(u16, Vec<u8>)> {
        let (kind, bytes): (&str, &[u8]) = match body {
            Body::None => ("text/plain", b""),
            Body::Json(text) => ("application/json", text.as_bytes()),
            Body::Arrow(bytes) => ("application/vnd.apache.arrow.stream", bytes),
        };
        let mut request = Vec::with_capacity(bytes.len() + 200);
        write!(request, "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n", self.port)?;
        write!(request, "content-type: {kind}\r\ncontent-length: {}\r\n\r\n", bytes.len())?;
        request.extend_from_slice(bytes);
        self.reader.get_mut().write_all(&request)?;
        self.answer()
    }

    /// The JSON that is to be had at a path.
    pub fn json(&mut self, path: &str) -> Result<Value> {
        let (status, body) = self.call("GET", path, &Body::None)?;
        ensure!(status == 200, "GET {path} was answered by {status}: {}", String::from_utf8_lossy(&body));
        Ok(serde_json::from_slice(&body)?)
    }

    /// Puts points, which must be taken. Refused for want of room it tries again.
    pub fn put(&mut self, body: &Body<'_>) -> Result<Vec<u8>> {
        loop {
            match self.call("POST", "/api/points", body)? {
                (200, answer) => return Ok(answer),
                (429, _) => std::thread::sleep(Duration::from_millis(1)),
                (status, answer) => {
                    bail!("points were answered by {status}: {}", String::from_utf8_lossy(&answer))
                }
            }
        }
    }

    fn answer(&mut self) -> Result<(u16, Vec<u8>)> {
        let (status, headers) = self.head()?;
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.context("an answer without length")?.trim().parse()?;
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok((status, body))
    }

    fn head(&mut self) -> Result<(u16, Vec<String>)> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            ensure!(self.reader.read_line(&mut line)? > 0, "the service hung up");
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_ascii_lowercase()),
            }
        }
        let status =
            lines.first().and_then(|line| line.split(' ').nth(1)).context("an answer without status")?;
        Ok((status.parse()?, lines))
    }

    /// Listens to events after one: calls `hear` with the number of each, until it says that it has heard enough.
    pub fn listen(mut self, after: u64, mut hear: impl FnMut(u64) -> bool) -> Result<()> {
        let request =
            format!("GET /api/events?after={after} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n\r\n", self.port);
        self.reader.get_mut().write_all(request.as_bytes())?;
        let (status, _) = self.head()?;
        ensure!(status == 200, "listening was answered by {status}");
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.reader.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            // Chunks begin and end between events: their lengths are lines of their own.
            if let Some(number) = line.strip_prefix(b"id:") {
                let number = std::str::from_utf8(number)?.trim().parse()?;
                if !hear(number) {
                    return Ok(());
                }
            }
        }
    }
}
