//! A token is nowhere but in its file and with who has it: not in the log at its most verbose, in answers, events, metrics or
//! the store, however it is shown.

use crate::serve::TestServer;
use crate::stream::{folder_with_map, put};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const READ: &str = "read-8c41b2f09d7e65a3";
const WRITE: &str = "write-3b9f5d10c8e27a64";
const ADMIN: &str = "admin-f7d2084e6c1b95a3";

/// What comes for a request within a second, as it comes: a stream of events has no end.
fn exchange(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (begun, mut answer, mut part) = (Instant::now(), Vec::new(), [0; 4096]);
    while begun.elapsed() < Duration::from_secs(1)
        && let Ok(length @ 1..) = stream.read(&mut part)
    {
        answer.extend_from_slice(&part[..length]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// A request with one more line in its head.
fn request(method: &str, path: &str, line: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{line}\r\n\r\n{body}"
    )
}

fn holds_none(text: &str, what: &str) {
    for token in [READ, WRITE, ADMIN] {
        assert!(!text.contains(token), "{what} holds a token: {text}");
    }
}

/// Every way to show a token that is right, in the wrong place, or in what is no request at all.
fn shown(token: &str, port: u16) -> Vec<String> {
    let bearer = format!("authorization: Bearer {token}");
    let all_of_it = format!("{bearer}\r\ncookie: lion-{port}={token}");
    let mut requests = vec![
        request("GET", "/api/live", &format!("authorization: Basic {token}"), ""),
        request("GET", "/api/live", &format!("cookie: lion-1={token}; lion-{port}={token}"), ""),
        request("GET", "/api/live", &format!("x-api-key: {token}"), ""),
        request("GET", &format!("/api/live?token={token}"), "a: b", ""),
        request("GET", &format!("/api/history?token={token}"), &bearer, ""),
        request("GET", &format!("/nothing/{token}?token={token}"), "a: b", ""),
        request("POST", "/api/points", &bearer, &put("a", [35.5; 4])),
        request("POST", "/api/points", &bearer, r#"{"id":"a","x":[1]}"#),
        request("POST", "/api/points", &bearer, "nonsense"),
        request("POST", "/api/map/revert", &bearer, ""),
        request("PUT", "/api/live", &bearer, ""),
        request("GET", "/api/live", &format!("{bearer}\r\norigin: http://{token}"), ""),
        format!("GET /?token={token} HTTP/9.9\r\n\r\n"),
        format!("{token} / HTTP/1.1\r\n{token}\r\n\r\n"),
        request("GET", "/api/live", &format!("{bearer}\r\nx: {}", token.repeat(5000)), ""),
    ];
    for path in ["/", "/metrics", "/openapi.json", "/api/map", "/api/health", "/api/live", "/api/notices"] {
        requests.push(request("GET", path, &all_of_it, ""));
    }
    requests.push(request("GET", "/api/history?after=0", &all_of_it, ""));
    requests.push(request("GET", "/api/events?after=0", &all_of_it, ""));
    requests
}

#[test]
fn it_is_in_no_log_answer_event_metric_or_store() {
    for format in ["json", "text"] {
        let folder = folder_with_map();
        folder.write("tokens", format!("read {READ}\nwrite {WRITE}\nadmin {ADMIN}\n"));
        let log = format!("-v --log {format}");
        let server =
            TestServer::start(&folder, &format!("serve trees.lion --store s.db --token-file tokens {log}"));
        holds_none(&server.started.to_string(), "what is printed at the start");
        let mut answered = 0;
        for token in [READ, WRITE, ADMIN] {
            for request in shown(token, server.port) {
                let answer = exchange(server.port, &request);
                holds_none(&answer, "an answer");
                answered += usize::from(answer.starts_with("HTTP/1.1 200"));
            }
            // Whoever shows it in the address of the dashboard gets it back, as the cookie alone.
            let welcome =
                exchange(server.port, &request("GET", &format!("/?token={token}"), "accept: text/html", ""));
            let (cookie, rest): (Vec<&str>, Vec<&str>) =
                welcome.lines().partition(|line| line.starts_with("set-cookie: "));
            assert!(cookie.len() == 1 && cookie[0].contains(token), "{welcome}");
            holds_none(&rest.join("\n"), "the rest of the welcome");
        }
        assert!(answered >= 30, "only {answered} requests were answered");
        let (code, said) = server.end("-INT");
        assert_eq!(code, Some(0), "{said}");
        for line in ["a request was answered", "a request was refused"] {
            assert!(said.contains(line), "the log is not at its most verbose: {said}");
        }
        holds_none(&said, "the log");
        for file in std::fs::read_dir(folder.path("")).unwrap().map(Result::unwrap) {
            if file.file_name() != "tokens" && file.file_type().unwrap().is_file() {
                let bytes = std::fs::read(file.path()).unwrap();
                holds_none(&String::from_utf8_lossy(&bytes), &file.path().display().to_string());
            }
        }
    }
}

/// A token file that cannot be read is told of in a sentence, which people paste into questions.
#[test]
fn it_is_in_no_sentence_about_its_file() {
    let folder = folder_with_map();
    for text in [
        format!("{READ} read\nwrite {WRITE}"),
        format!("read {READ}\n{WRITE}\n"),
        format!("{READ}\n{WRITE}\n"),
        format!("reader {READ}\nwrite {WRITE}"),
        format!("read {READ}é\nwrite {WRITE}"),
        format!("read {READ} birches"),
    ] {
        folder.write("tokens", &text);
        let refused = folder.lion("serve trees.lion --port 0 --token-file tokens -v");
        assert_eq!(refused.code, Some(1), "{text:?}: {}", refused.stderr);
        holds_none(&(refused.stdout + &refused.stderr), "a refusal");
    }
}

#[test]
fn a_file_of_another_encoding_is_told_without_its_tokens() {
    let folder = folder_with_map();
    let utf16: Vec<u8> = format!("read {READ}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("tokens", utf16);
    let refused = folder.lion("serve trees.lion --port 0 --token-file tokens");
    refused.refuses(1, &["tokens cannot be read", "line 1 is UTF-16LE text", "iconv -f utf-16le -t utf-8"]);
    holds_none(&refused.stderr, "a refusal");
    folder.lion("serve trees.lion --port 0 --token-file none").refuses(1, &["none: there is no such file"]);
}
