//! A service that is killed in the middle of work, again and again.
//!
//! A child process (this test's own binary) works on a store and says aloud what was acknowledged, until it is killed.
//! Then the store is looked at: nothing acknowledged is lost, nothing is there twice, numbers have no gaps, and the state
//! is bit by bit what the changes in the log make of an empty map.
//!
//! `LION_CRASHES=1000` kills a thousand times.

use crate::common::{arrival, at, delete, kept, lion, row, scrambled, upsert};
use lion_server::{Refused, Service, StoredEvents, Work};
use lion_tsne::live::{Arrival, Change, Event, Live, LiveOptions};
use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The store that a child is to work on, and the number of its first change.
const CHILD: &str = "LION_CRASH_CHILD";
const FROM: &str = "LION_CRASH_FROM";
/// Changes that a child may make at most; numbers do not come back.
const CHANGES: u64 = 1_000_000;
const SUBMITTERS: u64 = 6;

/// Work of a submitter: a few changes of its own points, sometimes a snapshot's worth of them, sometimes a removal.
pub(crate) fn work(submitter: u64, k: u64) -> Vec<Change> {
    let id = |k: u64| format!("{submitter}-{}", scrambled(k) % 12);
    match scrambled(k ^ 0xABCD) % 8 {
        0 => vec![delete(&id(k))],
        1 => vec![upsert(&id(k), k), delete(&id(k)), upsert(&id(k), k + 1)],
        2 => (0..40).map(|i| upsert(&id(k + i), k + i)).collect(),
        _ => vec![upsert(&id(k), k)],
    }
}

/// Works on a store, for ever or `works` times each, and tells of each event that was acknowledged: its number, id and
/// label.
fn feed(path: &Path, from: u64, works: usize, tell: impl Fn(String) + Clone + Send + 'static) {
    let service = Service::start(lion(), &at(path)).unwrap();
    // On a line of its own: the harness has begun one.
    tell("\nready\n".into());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for submitter in 0..SUBMITTERS {
            let (service, tell) = (service.clone(), tell.clone());
            tasks.spawn(async move {
                let begin = from + submitter * CHANGES / SUBMITTERS;
                for k in (begin..).step_by(50).take(works) {
                    match service.submit(Work::Changes(work(submitter, k))).await {
                        Ok(receipt) => receipt.events.iter().for_each(|event| tell(acknowledged(event))),
                        Err(Refused::NotFound { .. }) => (),
                        Err(refused) => panic!("{refused}"),
                    }
                }
            });
        }
        tasks.join_all().await;
    });
}

fn acknowledged(event: &Event) -> String {
    let label = event.sighting().and_then(|now| now.label.as_deref());
    format!("ack {} {} {}\n", event.n, event.id().unwrap_or("?"), label.unwrap_or("-"))
}

/// As a child this works until it is killed; as a test it works a little and looks at the result.
#[test]
fn feeding() {
    if let (Ok(path), Ok(from)) = (std::env::var(CHILD), std::env::var(FROM)) {
        // Past the test harness, which would keep what is printed to itself.
        let tell = |line: String| std::io::stdout().write_all(line.as_bytes()).unwrap();
        return feed(Path::new(&path), from.parse().unwrap(), usize::MAX, tell);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let (sender, told) = std::sync::mpsc::channel();
    feed(&path, 0, 8, move |line| sender.send(line).unwrap());
    let told: Vec<String> = told.iter().collect();
    let mut witness = Witness::new();
    witness.hear(&told);
    witness.look(&path);
    assert!(witness.acknowledged > 50);
}

#[test]
fn nothing_acknowledged_is_lost_by_kill() {
    let crashes = std::env::var("LION_CRASHES").map_or(20, |crashes| crashes.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let mut witness = Witness::new();
    let mut working = 0;
    for round in 0..crashes {
        let told = killed(&path, round);
        working += u64::from(told.iter().any(|line| line.starts_with("ack")));
        witness.hear(&told);
        if path.exists() {
            witness.look(&path);
        }
    }
    // On a busy machine a child may not get to work before it is killed.
    assert!(working * 5 >= crashes, "only {working} of {crashes} children were killed at work");
    println!(
        "{crashes} kills, {} changes acknowledged, {} in the log",
        witness.acknowledged,
        witness.live.last()
    );
}

/// Starts a child, kills it at a random moment, and gives what it said.
fn killed(path: &Path, round: u64) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::feeding", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .env(FROM, (round * CHANGES).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let chance = scrambled(round ^ 0x5EED);
    let mut first = String::new();
    // Most are killed at work; every fifth wherever it is, also while it opens the store.
    while !chance.is_multiple_of(5) && !first.starts_with("ready") {
        first.clear();
        assert!(said.read_line(&mut first).unwrap() > 0, "the child ended before it was ready");
    }
    // What it says is read meanwhile: a full pipe would hold it up.
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        let mut line = String::new();
        // The last line may be cut off, and then it was not said.
        while said.read_line(&mut line).is_ok_and(|bytes| bytes > 0) && line.ends_with('\n') {
            lines.push(std::mem::take(&mut line));
        }
        lines
    });
    std::thread::sleep(Duration::from_micros(chance / 5 % 80_000));
    kill(&mut child);
    reader.join().unwrap()
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success(), "it was killed, it did not end: {status}");
}

/// Remembers what was acknowledged and does everything in the log again.
struct Witness {
    live: Live,
    heard: Vec<String>,
    acknowledged: u64,
    labels: HashSet<String>,
}

impl Witness {
    fn new() -> Self {
        let live = Live::new(lion(), LiveOptions::default()).unwrap();
        Self { live, heard: Vec::new(), acknowledged: 0, labels: HashSet::new() }
    }

    fn hear(&mut self, told: &[String]) {
        self.heard.extend(told.iter().filter(|line| line.starts_with("ack")).cloned());
    }

    /// Compares a store with what is known.
    fn look(&mut self, path: &Path) {
        // A child that was killed before there were tables leaves an empty file, which is no store yet.
        let Ok(archive) = StoredEvents::open(path) else {
            assert!(self.heard.is_empty() && self.live.last() == 0, "a store is gone");
            return;
        };
        let mut log = HashSet::new();
        let mut expected = VecDeque::new();
        for (n, logged) in (self.live.last() + 1..).zip(archive.after(self.live.last(), 1 << 40).unwrap()) {
            assert_eq!(logged.n, n, "numbers have no gaps");
            let event: Event = serde_json::from_str(&logged.json).unwrap();
            if let Some(label) = event.sighting().and_then(|now| now.label.clone()) {
                assert!(self.labels.insert(label), "done twice: {}", logged.json);
            }
            expected.extend(again(&mut self.live, &event));
            assert_eq!(expected.pop_front(), Some(logged.json), "done again it is the same");
            log.insert(acknowledged(&event));
        }
        assert!(expected.is_empty(), "{expected:?} came of the same changes");
        for line in self.heard.drain(..) {
            assert!(log.contains(&line), "acknowledged and lost: {line}");
            self.acknowledged += 1;
        }
        let there = kept(path, &lion());
        assert_eq!((there.last(), there.digest()), (self.live.last(), self.live.digest()));
    }
}

/// Does the change of an event again; gives the events that came of it.
pub(crate) fn again(live: &mut Live, event: &Event) -> Vec<String> {
    let (Some(id), t) = (event.id().map(String::from), Some(event.t)) else { return Vec::new() };
    let change = match event.sighting() {
        None => Change::Delete { id, t },
        Some(now) => {
            let k = now.label.as_ref().and_then(|label| label.parse().ok()).expect("a number");
            Change::Upsert(Arrival { row: row(k), t, ..arrival(&id, k) })
        }
    };
    let events = live.apply(vec![change]).unwrap().events;
    events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}
