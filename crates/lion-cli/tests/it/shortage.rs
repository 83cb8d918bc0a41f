//! What a system runs out of or refuses: room, permission, file handles, memory. One sentence, and nothing is lost.

use crate::serve::TestServer;
use crate::stream::folder_with_map;
use crate::tools::{Finished, Folder, SampleTable};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `lion` under limits of the shell, which are commands.
fn under(folder: &Folder, limits: &str, args: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{limits}; exec {} {args}", env!("CARGO_BIN_EXE_lion"));
    command.current_dir(folder.path("")).args(["-c", &script]).stdin(Stdio::null());
    command
}

/// Posts `rows` points with new ids; the status, and what was answered.
fn post(server: &TestServer, from: usize, rows: usize) -> (u16, String) {
    try_post(server, from, rows).unwrap()
}

/// The same, if there is an answer.
fn try_post(server: &TestServer, from: usize, rows: usize) -> std::io::Result<(u16, String)> {
    let row = |k: usize| [20 + k % 200, 20 + k % 7, 20 + k % 90, 20 + k % 31];
    let points: Vec<Value> =
        (from..from + rows).map(|k| json!({"id": format!("p{k}"), "x": row(k), "label": "oak"})).collect();
    server.try_call("POST", "/api/points", &json!(points).to_string())
}

fn points(server: &TestServer) -> usize {
    server.json("/api/live")["points"]["id"].as_array().unwrap().len()
}

/// Posts until a post is refused, and gives how many points were acknowledged, and the refusal.
fn fill(server: &TestServer, rows: usize) -> (usize, u16, String) {
    for from in (0..).step_by(rows) {
        let (status, answer) = post(server, from, rows);
        if status != 200 {
            return (from, status, answer);
        }
        assert!(from < 1_000_000, "nothing ran out");
    }
    unreachable!()
}

#[test]
fn a_store_that_may_not_grow_goes_on_when_it_may() {
    let folder = folder_with_map();
    let limited = under(&folder, "ulimit -S -f 2000", "serve trees.lion --store s.db --port 0 --json");
    let server = TestServer::of(limited);
    let (acknowledged, status, answer) = fill(&server, 200);
    assert!(acknowledged > 0 && matches!(status, 503 | 507), "{status} {answer}");
    assert!(answer.contains("s.db: ") && answer.contains("disk"), "{answer}");
    // What is there is served meanwhile.
    assert_eq!(points(&server), acknowledged);
    assert_eq!(server.call("GET", "/healthz", "").0, 503);
    let more = Command::new("prlimit").args(["--pid", &server.pid(), "--fsize=unlimited"]).status().unwrap();
    assert!(more.success());
    assert_eq!(post(&server, acknowledged, 200).0, 200);
    assert_eq!(server.call("GET", "/healthz", "").0, 200);
    server.kill();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!(points(&server), acknowledged + 200);
}

#[test]
fn a_folder_that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with_map();
    folder.write("new.csv", SampleTable::new().csv());
    std::fs::create_dir(folder.path("ro")).unwrap();
    folder.write("ro/old.csv", "old");
    TestServer::start(&folder, "serve trees.lion --store ro/s.db").kill();
    let names = || std::fs::read_dir(folder.path("ro")).unwrap().count();
    let before = names();
    let may = |mode| {
        std::fs::set_permissions(folder.path("ro"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    may(0o555);
    // Permissions do not hold for root, unless it gives that away.
    let is_root = std::fs::write(folder.path("ro/probe"), "").is_ok();
    let _ = std::fs::remove_file(folder.path("ro/probe"));
    let limited = |args: &str| {
        let drop = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];
        let mut command = if is_root { Command::new("setpriv") } else { Command::new("env") };
        command.args(if is_root { drop.as_slice() } else { &[] }).arg(env!("CARGO_BIN_EXE_lion"));
        command.args(args.split_whitespace()).current_dir(folder.path("")).stdin(Stdio::null());
        Finished::of(command)
    };
    let fit = "fit t.csv --id name --label kind --perplexity 5 --iterations 5 -o ro/m.lion";
    limited(fit).refuses(1, &["ro/m.lion", "Permission denied"]);
    limited("place trees.lion new.csv -o ro/old.csv").refuses(1, &["ro/old.csv", "Permission denied"]);
    limited("plot trees.lion -o ro/p.svg").refuses(1, &["ro/p.svg", "Permission denied"]);
    limited("serve trees.lion --port 0 --store ro/new.db")
        .refuses(1, &["ro/new.db", "may it be written to?"]);
    may(0o755);
    assert_eq!(folder.read("ro/old.csv"), b"old");
    assert_eq!(names(), before, "nothing is left behind");
}

/// Whatever number of handles there is, the work is done or refused in a sentence, and an old file stays.
#[test]
fn few_file_handles() {
    let folder = folder_with_map();
    folder.write("new.csv", SampleTable::new().csv());
    let fit = "fit t.csv --id name --label kind --perplexity 5 --iterations 5 -q -o m.out";
    for args in
        [fit, "place trees.lion new.csv -q -o m.csv", "plot trees.lion -q -o m.svg", "info trees.lion"]
    {
        let output = args.split(' ').next_back().unwrap();
        for handles in [4, 6, 8, 12, 16, 40] {
            if output != "trees.lion" {
                folder.write(output, "old");
            }
            let finished = Finished::of(under(&folder, &format!("ulimit -n {handles}"), args));
            match handles {
                40 => assert_eq!(finished.code, Some(0), "{args}: {}", finished.stderr),
                // The system cannot even load the program.
                4 if finished.code == Some(127) => (),
                _ => {
                    finished.refuses(1, &["too few open files", "ulimit -n"]);
                    assert!(output == "trees.lion" || folder.read(output) == b"old", "{args} with {handles}");
                }
            }
        }
    }
    let refused = under(&folder, "ulimit -n 16", "serve trees.lion --port 0 --store s.db");
    Finished::of(refused).refuses(1, &["too few open files"]);
    assert!(!folder.path("s.db").exists());
    assert!(folder.names().iter().all(|name| !name.contains(".tmp")), "{:?}", folder.names());
}

/// With hardly any handles a service takes one caller after another, and what it acknowledges is kept.
#[test]
fn a_service_with_few_file_handles() {
    let folder = folder_with_map();
    let limited = under(&folder, "ulimit -n 30", "serve trees.lion --store s.db --port 0 --json");
    let server = TestServer::of(limited);
    let idle: Vec<_> = (0..40).map(|_| std::net::TcpStream::connect(("127.0.0.1", server.port))).collect();
    drop(idle);
    let (mut acknowledged, deadline) = (0, Instant::now() + Duration::from_secs(60));
    // Who comes while there is no handle is told so, or cut off, and tries again.
    while acknowledged < 200 {
        if let Ok((200, _)) = try_post(&server, acknowledged, 10) {
            acknowledged += 10;
        }
        assert!(Instant::now() < deadline, "{acknowledged} of 200 rows within a minute");
    }
    server.kill();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert!(points(&server) >= acknowledged);
}

/// A program that gets no memory is ended by its own allocator, as by a kill: what was acknowledged is kept.
#[test]
fn a_service_without_memory_loses_nothing() {
    let folder = folder_with_map();
    let limited = under(&folder, "ulimit -v 220000", "serve trees.lion --store s.db --port 0 --json");
    let server = TestServer::of(limited);
    let (mut acknowledged, mut rows) = (0, 50);
    // Ever larger, up to what is too large for what is left.
    while let Ok((200, _)) = try_post(&server, acknowledged, rows) {
        acknowledged += rows;
        rows *= 2;
        assert!(acknowledged < 1_000_000, "nothing ran out");
    }
    server.kill();
    assert!(acknowledged > 0);
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert!(points(&server) >= acknowledged, "{acknowledged} were acknowledged");
    assert_eq!(post(&server, acknowledged + rows, 50).0, 200);
}
