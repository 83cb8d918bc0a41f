//! `lion serve`, `lion export` and `lion demo --serve`: a real process, a real port.

use crate::stream::{folder_with_map, put};
use crate::tools::{Folder, LONG, npy};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A service that runs.
pub(crate) struct TestServer {
    child: Child,
    pub(crate) started: Value,
    pub(crate) port: u16,
}

impl TestServer {
    /// Starts `lion` with these arguments; it must say on standard output where it is.
    pub(crate) fn start(folder: &Folder, args: &str) -> Self {
        Self::start_with(folder, args, &[])
    }

    /// The same with further arguments, which may have spaces in them.
    pub(crate) fn start_with(folder: &Folder, args: &str, more: &[&str]) -> Self {
        let mut command = folder.command(&format!("{args} --port 0 --json"));
        command.args(more);
        Self::of(command)
    }

    /// Starts it by a command, which has `--port 0 --json` in it.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Ok(started) = serde_json::from_str::<Value>(&line) else {
            let _ = child.kill();
            panic!("it did not start: {:?}", child.wait_with_output().unwrap());
        };
        let port = started["port"].as_u64().unwrap() as u16;
        Self { child, started, port }
    }

    /// Status and body of an answer.
    pub(crate) fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.try_call(method, path, body).unwrap()
    }

    /// The same, if there is an answer.
    pub(crate) fn try_call(&self, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(LONG))?;
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let broken = || std::io::Error::other("half an answer");
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").and_then(|length| length.trim().parse::<usize>().ok())
        });
        if length.is_some_and(|length| length != body.len()) {
            return Err(broken());
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        Ok((status, body.to_owned()))
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let (status, body) = self.call("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.pid()]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it by a signal, which it must obey; its exit code and what it said.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        self.signal(signal);
        self.wait()
    }

    fn wait(&mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < LONG, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let said = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        (status.code(), said)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // A failed test must not leave it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn points_are_kept_over_a_restart_and_exported() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!((&server.started["rows"], &server.started["last"]), (&120.into(), &0.into()));
    assert_eq!(server.started["url"], format!("http://127.0.0.1:{}/", server.port));
    assert_eq!(server.call("GET", "/healthz", "").0, 200);
    assert!(server.call("GET", "/", "").1.contains("<!"), "the dashboard");
    let (status, placed) = server.call("POST", "/api/points", put("a", [35.0; 4]).trim_end());
    assert_eq!(status, 200, "{placed}");
    assert_eq!(serde_json::from_str::<Value>(&placed).unwrap()[0]["cluster"], "oak");
    assert_eq!(server.call("POST", "/api/points", &put("far", [900.0; 4])).0, 200);
    assert_eq!(server.call("DELETE", "/api/points/a", "").0, 200);
    // Another service on the same store is refused.
    let second = folder.lion("serve trees.lion --store s.db --port 0");
    second.refuses(1, &["s.db", "another service is using this store"]);
    let (code, said) = server.end("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("trees.lion, 120 rows, is live at http://127.0.0.1:"), "{said}");
    assert!(said.contains("s.db keeps points and events") && said.contains("stopping"), "{said}");

    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!((&server.started["points"], &server.started["last"]), (&1.into(), &3.into()));
    assert_eq!(server.json("/api/live")["points"]["id"], json!(["far"]));
    // Its events are exported while it runs.
    let lines = folder.json("export s.db -o e.jsonl");
    assert_eq!((&lines["events"], &lines["last"]), (&3.into(), &3.into()));
    let (code, said) = server.end("-TERM");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("s.db keeps 1 point, up to event 3"), "{said}");
    let events: Vec<Value> = String::from_utf8(folder.read("e.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&Value> = events.iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["appeared", "appeared", "removed"]);
    assert_eq!(events[2]["from"]["cluster"], "oak");

    let told = folder.lion("export s.db -o e.csv");
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "e.csv: 3 events, 1 to 3\n"), "{}", told.stderr);
    let csv = String::from_utf8(folder.read("e.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 4);
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    assert_eq!((rows[1][column("kind")], rows[2][column("verdict")]), ("appeared", "outlier"));
    assert_eq!(
        (rows[3][column("id")], rows[3][column("from_cluster")], rows[3][column("x")]),
        ("a", "oak", "")
    );
    assert_eq!(folder.json("export s.db -o e.parquet")["events"], 3);
    let file = std::fs::File::open(folder.path("e.parquet")).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 3);
    let n = batches[0].column_by_name("n").unwrap();
    let n = n.as_any().downcast_ref::<arrow_array::UInt64Array>().unwrap();
    assert_eq!(n.values(), &[1, 2, 3]);
}

#[test]
fn several_maps_are_served_each_with_its_store() {
    let folder = folder_with_map();
    std::fs::create_dir(folder.path("maps")).unwrap();
    for name in ["oaks", "firs"] {
        std::fs::copy(folder.path("trees.lion"), folder.path(&format!("maps/{name}.lion"))).unwrap();
    }
    let server = TestServer::start(&folder, "serve maps --store stores");
    let started = server.started["maps"].as_array().unwrap();
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["url"], format!("http://127.0.0.1:{}/m/firs/", server.port));
    assert_eq!(server.call("POST", "/m/oaks/api/points", &put("a", [35.0; 4])).0, 200);
    let (code, said) = server.end("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("/m/oaks/") && said.contains("keeps points and events"), "{said}");
    let server =
        TestServer::start(&folder, "serve --map one=maps/oaks.lion --map oaks=trees.lion --store stores");
    let points = |name: &str| server.json(&format!("/m/{name}/api/live"))["points"]["id"].clone();
    assert_eq!((points("oaks"), points("one")), (json!(["a"]), json!([])));
    drop(server);
    for (maps, said) in [
        ("--map a=trees.lion --map a=trees.lion", "two maps are called a"),
        ("--map a/b=trees.lion", "a/b"),
        ("--map fine=trees.lion --map ..=trees.lion", ".."),
    ] {
        folder.lion(&format!("serve {maps} --store new --port 0")).refuses(1, &[said]);
        assert!(!folder.path("new").exists(), "nothing is made for names that are refused: {maps}");
    }
    folder.lion("serve --map a=trees.lion --store t.csv --port 0").refuses(1, &["t.csv", "folder"]);
    folder.lion("serve --map trees.lion --port 0").refuses(2, &["oaks=oaks.lion"]);
    folder.lion("serve --port 0").refuses(2, &["required"]);
    folder.lion("serve stores --port 0").refuses(1, &["stores is a folder without maps"]);
    folder.write("tokens", "read 0123456789abcdef birches");
    folder.lion("serve maps --token-file tokens --port 0").refuses(1, &["a token is for the map birches"]);
}

/// Versions of a map lie beside its store and end in .lion as maps do.
#[test]
fn a_folder_of_maps_may_keep_their_stores_too() {
    let folder = folder_with_map();
    std::fs::create_dir(folder.path("maps")).unwrap();
    for name in ["oaks", "firs.map-1"] {
        std::fs::copy(folder.path("trees.lion"), folder.path(&format!("maps/{name}.lion"))).unwrap();
    }
    let names = |server: &TestServer| -> Vec<Value> {
        server.json("/api/maps")["maps"].as_array().unwrap().iter().map(|map| map["name"].clone()).collect()
    };
    let server = TestServer::start(&folder, "serve maps --store maps");
    assert_eq!(server.call("POST", "/m/oaks/api/points", &put("a", [35.5; 4])).0, 200);
    assert_eq!(server.call("POST", "/m/oaks/api/map/update", "").0, 202);
    let begun = Instant::now();
    while server.json("/m/oaks/api/map")["version"] == 1 {
        assert!(begun.elapsed() < LONG, "{}", server.json("/m/oaks/api/map/update"));
        std::thread::sleep(Duration::from_millis(50));
    }
    server.kill();
    assert!(folder.path("maps/oaks.db.map-2.lion").exists());
    let server = TestServer::start(&folder, "serve maps --store maps");
    assert_eq!(names(&server), ["firs.map-1", "oaks"]);
    assert_eq!(server.json("/m/oaks/api/map")["version"], 2);
}

#[test]
fn two_stretches_of_a_store_are_compared() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    folder.lion("compare s.db").refuses(1, &["s.db", "no events"]);
    for (name, shift) in [("a", 0.0), ("b", 60.0)] {
        let points: String =
            (0..40).map(|i| put(&format!("{name}{i}"), [35.0 + shift + 0.01 * i as f32; 4])).collect();
        let points = format!("[{}]", points.trim_end().replace('\n', ","));
        assert_eq!(server.call("POST", "/api/points", &points).0, 200);
        std::thread::sleep(Duration::from_millis(50));
    }
    let found = folder.json("compare s.db");
    assert_eq!((&found["a"]["points"], &found["newcomers"]["count"]), (&40.into(), &40.into()), "{found}");
    assert_eq!(found["clusters"][0]["change"], "lost", "{found}");
    let told = folder.lion("compare s.db");
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    for said in
        ["UTC: 40 points", "lost", "Fisher's exact test", "40 points came: b39, b38", "0 points left\n"]
    {
        assert!(told.stdout.contains(said), "{said}: {}", told.stdout);
    }
    folder.lion("compare s.db --a 2h,1h --b 1h,now").refuses(1, &["s.db", "no point was given in a"]);
    folder.lion("compare s.db --a 2h,1h").refuses(2, &["required"]);
    folder.lion("compare s.db --a soon,1h --b 1h,now").refuses(2, &["soon", "2026-11-17T09:00Z"]);
    folder.lion("compare t.csv").refuses(1, &["t.csv", "not a store"]);
}

#[test]
fn what_cannot_be_served_is_refused_in_a_sentence() {
    let folder = folder_with_map();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    folder
        .lion(&format!("serve trees.lion --port {port}"))
        .refuses(1, &[&format!("127.0.0.1:{port} is in use"), "--port"]);
    folder.lion(&format!("demo --serve --port {port}")).refuses(1, &["is in use"]);
    folder.lion("serve trees.lion --host 0.0.0.0").refuses(2, &["--token-file"]);
    folder.lion("serve trees.lion --host example.org").refuses(2, &["--host", "127.0.0.1"]);
    folder.write("token", "short");
    folder
        .lion("serve trees.lion --port 0 --token-file token")
        .refuses(1, &["token: the token has 5 characters"]);
    folder.lion("serve trees.lion --port 0 --token-file none").refuses(1, &["none"]);
    folder.lion("serve trees.lion --webhook http://127.0.0.1:1").refuses(2, &["--alert-new-cluster"]);
    folder.lion("serve trees.lion --webhook ftp://x --alert-new-cluster").refuses(2, &["http://"]);
    folder.lion("serve trees.lion --alert-outlier-rate 10%").refuses(2, &["required"]);
    folder.lion("serve trees.lion --page https://map.example").refuses(2, &["required"]);
    folder.lion("serve trees.lion --page map.example --webhook http://x").refuses(2, &["http://"]);
    folder.lion("serve trees.lion --retain 30d").refuses(2, &["required"]);
    folder.lion("serve trees.lion --store s.db --retain soon").refuses(2, &["30d"]);
    folder.lion("serve none.lion --port 0").refuses(1, &["none.lion"]);
    // A store of another map, and a file that is no store.
    TestServer::start(&folder, "serve trees.lion --store s.db").kill();
    folder.json("fit t.csv --id name --label kind -o other.lion --perplexity 6 --iterations 50");
    folder.lion("serve other.lion --port 0 --store s.db").refuses(1, &["s.db", "another map"]);
    folder.lion("serve trees.lion --port 0 --store t.csv").refuses(1, &["t.csv", "not a store"]);
    folder.lion("export t.csv -o e.csv").refuses(1, &["t.csv", "not a store"]);
    folder.lion("export none.db -o e.csv").refuses(1, &["none.db"]);
    folder.lion("export s.db -o e.npy").refuses(2, &[".parquet"]);
    folder.lion("export s.db -o -").refuses(2, &["file"]);
    assert!(!folder.path("e.csv").exists() && !folder.path("none.db").exists());
}

#[test]
fn callers_come_by_https() {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let folder = folder_with_map();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    folder.write("cert.pem", cert.pem());
    folder.write("key.pem", signing_key.serialize_pem());
    let server = TestServer::start(&folder, "serve trees.lion --tls-cert cert.pem --tls-key key.pem");
    assert_eq!(server.started["url"], format!("https://127.0.0.1:{}/", server.port));
    let roots = RootCerts::new_with_certs(&[Certificate::from_der(cert.der()).to_owned()]);
    let tls = TlsConfig::builder().root_certs(roots).build();
    let agent = ureq::Agent::config_builder().tls_config(tls).build().new_agent();
    let health = agent.get(format!("https://localhost:{}/api/health", server.port)).call().unwrap();
    assert!(health.into_body().read_to_string().unwrap().contains("\"points\":0"));
    let (status, said) = server.call("GET", "/api/health", "");
    assert!(status == 400 && said.contains("call it by https"), "{said}");
    let (code, said) = server.end("-TERM");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("trees.lion, 120 rows, is live at https://127.0.0.1:"), "{said}");

    let serve = "serve trees.lion --port 0";
    folder.lion(&format!("{serve} --tls-cert cert.pem")).refuses(2, &["required"]);
    folder.lion(&format!("{serve} --tls-cert none --tls-key key.pem")).refuses(1, &["none: No such file"]);
    folder
        .lion(&format!("{serve} --tls-cert cert.pem --tls-key t.csv"))
        .refuses(1, &["t.csv: it holds no private key without a password"]);
}

#[cfg(unix)]
#[test]
fn a_socket_file_takes_the_place_of_a_port() {
    let folder = folder_with_map();
    let start = || {
        let mut command = folder.command("serve trees.lion --unix-socket s.sock --json");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap_or_default();
        TestServer { child, started, port: 0 }
    };
    let health = || {
        let mut stream = std::os::unix::net::UnixStream::connect(folder.path("s.sock")).unwrap();
        stream.write_all(b"GET /api/health HTTP/1.0\r\nhost: localhost\r\n\r\n").unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    let server = start();
    assert_eq!(server.started["socket"], "s.sock");
    assert_eq!((&server.started["url"], &server.started["port"]), (&Value::Null, &Value::Null));
    assert!(health().starts_with("HTTP/1.0 200"));
    folder.lion("serve trees.lion --unix-socket s.sock").refuses(1, &["s.sock: another service listens"]);
    // A crash leaves the file, and the next service takes its place.
    server.kill();
    assert!(folder.path("s.sock").exists());
    let server = start();
    assert!(health().starts_with("HTTP/1.0 200"));
    let (code, said) = server.end("-TERM");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is live at the socket s.sock"), "{said}");
    assert!(!folder.path("s.sock").exists());

    folder
        .lion("serve trees.lion --unix-socket t.csv")
        .refuses(1, &["t.csv: there is a file that is no socket"]);
    folder.lion("serve trees.lion --unix-socket s.sock --port 1").refuses(2, &["--port"]);
    folder.lion("serve trees.lion --unix-socket s.sock --socket-mode 999").refuses(2, &["600 or 660"]);
    folder.lion("serve trees.lion --unix-socket s.sock --socket-mode 666").refuses(2, &["--token-file"]);
    folder.lion("serve trees.lion --port 0 --socket-mode 660").refuses(2, &["--unix-socket"]);
}

#[test]
fn pictures_come_with_the_map() {
    let folder = Folder::new();
    let sample = crate::tools::SampleTable::new();
    folder.write("t-idx3-ubyte", sample.idx());
    folder.write("t.npy", npy(120, 4, &sample.values()));
    let fit = "--perplexity 5 --iterations 20";
    assert_eq!(folder.json(&format!("fit t-idx3-ubyte -o a.lion {fit}"))["image"], "2x2");
    assert_eq!(folder.json(&format!("fit t.npy --image 4x1 -o b.lion {fit}"))["image"], "4x1");
    assert_eq!(folder.json(&format!("fit t-idx3-ubyte --image none -o c.lion {fit}"))["image"], Value::Null);
    assert_eq!(folder.json(&format!("fit t-idx3-ubyte --exclude c1 -o d.lion {fit}"))["image"], Value::Null);
    assert_eq!(folder.json("info a.lion")["image"], "2x2");
    assert!(folder.lion("info a.lion").stdout.contains("of 2x2 pixels"));
    folder.lion("fit t.npy --image 28x28 -o e.lion").refuses(1, &["t.npy has 4 columns", "28x28 have 784"]);
    folder.lion("fit t.npy --image wide -o e.lion").refuses(2, &["--image", "28x28"]);
    let server = TestServer::start(&folder, "serve a.lion");
    assert_eq!(server.json("/api/map")["image"], json!({"width": 2, "height": 2, "channels": 1}));
    assert!(server.json("/api/map/rows/0")["picture"].is_string());
}

#[test]
fn the_live_demo_plays_by_itself() {
    let folder = Folder::new();
    let server = TestServer::start(&folder, "demo --serve --speed 30 --for 600");
    assert_eq!(server.started["rows"], 2232);
    let map = server.json("/api/map");
    assert_eq!(map["image"]["width"], 28);
    let names: Vec<&str> =
        map["clusters"].as_array().unwrap().iter().map(|cluster| cluster["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 9);
    assert!(!names.contains(&"0"), "{names:?}");
    let begun = Instant::now();
    while server.json("/api/live")["points"]["id"].as_array().unwrap().len() < 100 {
        assert!(begun.elapsed() < LONG, "nothing lands");
        std::thread::sleep(Duration::from_millis(50));
    }
    // In the end the digit that the map had never seen is one of its clusters.
    let begun = Instant::now();
    while server.json("/api/map")["version"] == 1 {
        assert!(begun.elapsed() < LONG, "{}", server.json("/api/map/update"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let map = server.json("/api/map");
    // Some of the noise lies with it, and may be a cluster of its own.
    assert!(map["clusters"].as_array().unwrap().len() >= 10, "{}", map["clusters"]);
    assert_eq!(map["clusters"][0]["name"], "0");
    let (code, said) = server.end("-INT");
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "open http://127.0.0.1:",
        "0:00  unseen digits land",
        "0:40  some digits change",
        "2:36  the new clusters",
        "ended: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(folder.path("lion-demo/live.lion").is_file());
    folder.lion("demo --speed 2").refuses(2, &["required"]);
}

#[test]
fn a_store_goes_on_with_the_version_that_it_is_on() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!(server.started["version"], 1);
    for i in 0..15 {
        let step = i as f32 / 10.0;
        assert_eq!(server.call("POST", "/api/points", &put(&format!("far{i}"), [900.0 + step; 4])).0, 200);
    }
    assert_eq!(server.call("POST", "/api/map/update", "").0, 202);
    let begun = Instant::now();
    while server.json("/api/map/update")["state"] == "running" {
        assert!(begun.elapsed() < LONG, "the update does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (live, map) = (server.json("/api/live"), server.json("/api/map"));
    assert_eq!(
        (&map["version"], &map["rows"]),
        (&2.into(), &135.into()),
        "{}",
        server.json("/api/map/update")
    );
    server.kill();

    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!((&server.started["version"], &server.started["rows"]), (&2.into(), &135.into()));
    assert_eq!(server.started["checksum"], map["checksum"]);
    assert_eq!(server.json("/api/live")["points"], live["points"]);
    let (code, said) = server.end("-TERM");
    assert_eq!(code, Some(0));
    assert!(said.contains("version 2 of the map"), "{said}");
    assert_eq!(folder.lion("export s.db -o events.csv").code, Some(0));
    let events = String::from_utf8(folder.read("events.csv")).unwrap();
    assert!(events.lines().any(|line| line.contains("map-updated")), "{events}");
}
