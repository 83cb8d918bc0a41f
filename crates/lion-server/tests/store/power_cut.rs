//! Power that fails at random points: what was acknowledged is there, and the store opens.
//!
//! A child process works in a folder, and every call by which it changes files there is written down (`recorder.c`). The
//! calls up to a random point make a disk (`disk.rs`), which loses what was not synced, or a part of it. Then the store on it
//! is opened and compared with what was acknowledged before that point. Broken programs, which forget one kind of sync, are
//! found out by the same cuts.
//!
//! `LION_POWER_CUTS=1000` cuts the power a thousand times in each test.

mod disk;
mod recording;

use crate::common::{at, lion, scrambled, wait};
use crate::crash::{again, work};
use crate::refusing::downgraded;
use crate::updating;
use disk::Operation;
use lion_server::{Refused, Service, StoreError, StoredEvents, Work};
use lion_tsne::live::{Event, Live, LiveOptions};
use recording::{Recording, child, scratch};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// How often the power fails.
fn cuts() -> u64 {
    std::env::var("LION_POWER_CUTS").map_or(60, |cuts| cuts.parse().expect("a number"))
}

/// Says a line, by one call: half a line is not said.
fn say(said: &mut File, line: &str) {
    said.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Work of one service after another: the last one grows the log until it is moved into the file, and goes on.
const SESSIONS: [u64; 6] = [1, 3, 40, 0, 20, 1100];

/// Works on a store and says what was acknowledged: the number of each event, and its line in the log.
fn feed(store: &Path, mut said: File) {
    let mut k = 0;
    for (session, works) in SESSIONS.into_iter().enumerate() {
        let service = Service::start(lion(), &at(store)).unwrap();
        for _ in 0..works {
            k += 50;
            match wait(service.submit(Work::Changes(work(0, k)))) {
                Ok(receipt) => say(&mut said, &receipt.last.to_string()),
                Err(Refused::NotFound { .. }) => (),
                Err(refused) => panic!("{refused}"),
            }
        }
        // Every other one is left without a word.
        if session % 2 == 0 {
            wait(service.stop());
        }
    }
}

/// All that happened: the line of each event, and the state of the live map after it.
struct Truth {
    lines: Vec<String>,
    digests: Vec<u64>,
}

impl Truth {
    fn of(store: &Path) -> Self {
        let mut live = Live::new(lion(), LiveOptions::default()).unwrap();
        let (mut lines, mut digests) = (Vec::new(), vec![live.digest()]);
        for logged in crate::common::events(store, 1) {
            let event: Event = serde_json::from_str(&logged.json).unwrap();
            again(&mut live, &event);
            // An event about no point comes of the change before it.
            digests.push(live.digest());
            lines.push(logged.json);
        }
        Self { lines, digests }
    }

    /// Compares what a power cut left with it.
    fn holds(&self, folder: &Path, acknowledged: &[&str]) -> Result<(), String> {
        let store = folder.join("live.db");
        let service = Service::start(lion(), &at(&store)).map_err(|refused| refused.to_string())?;
        let last = service.view().last() as usize;
        wait(service.stop());
        let known = acknowledged.last().map_or(0, |line| line.parse().unwrap());
        if last < known {
            return Err(format!("{known} was acknowledged, and the log ends with {last}"));
        }
        let (events, live) = read(&store).map_err(|refused| refused.to_string())?;
        if events != self.lines[..last] {
            return Err(format!("the {last} events are not those that were"));
        }
        match live.digest() == self.digests[last] {
            true => Ok(()),
            false => Err(format!("the points after event {last} are not those that were")),
        }
    }
}

/// The lines of all events in a store, and its live map.
fn read(store: &Path) -> Result<(Vec<String>, Live), StoreError> {
    let archive = StoredEvents::open(store)?;
    let lines = archive.events().map(|event| event.map(|event| event.json)).collect::<Result<_, _>>()?;
    Ok((lines, archive.live(lion(), LiveOptions::default())?))
}

/// The same calls without one kind of sync, as a program that forgot it would make them.
fn without<'a>(operations: &[Operation<'a>], forgotten: &str) -> Vec<Operation<'a>> {
    let mut names = HashMap::new();
    let is_kept = |operation: &Operation<'a>| {
        match *operation {
            Operation::Create { file, name } | Operation::Rename { file, to: name, .. } => {
                names.insert(file, name);
            }
            Operation::Sync { file } => {
                return !names.get(&file).is_some_and(|name| name.ends_with(forgotten));
            }
            Operation::SyncFolder => return forgotten != "folder",
            _ => (),
        }
        true
    };
    operations.iter().copied().filter(is_kept).collect()
}

/// Cuts that a broken program is found out by.
const BROKEN: u64 = 30;

/// Forgetting any of these syncs must be seen, or the test would not know a store that loses points.
fn finds_out(
    recording: &Recording,
    forgotten: &[&str],
    holds: impl Fn(&Path, &[&str]) -> Result<(), String>,
) {
    let operations = recording.operations();
    for name in forgotten {
        let broken = without(&operations, name);
        assert!(broken.len() < operations.len(), "nothing syncs {name}");
        let wrong = recording.cut(&broken, BROKEN, &holds);
        assert!(!wrong.is_empty(), "no cut shows that {name} is not synced");
        println!(
            "without a sync of {name}: {} of {BROKEN} cuts lose something, e.g. {}",
            wrong.len(),
            wrong[0]
        );
    }
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    if let Some((folder, said)) = child() {
        return feed(&folder.join("live.db"), said);
    }
    let folder = scratch();
    let test = "power_cut::what_was_acknowledged_survives_a_power_cut";
    let recording = Recording::of(test, folder.path());
    let truth = Truth::of(&folder.path().join("live.db"));
    let operations = recording.operations();
    let wrong = recording.cut(&operations, cuts(), |folder, acknowledged| truth.holds(folder, acknowledged));
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{} cuts among {} calls, {} events", cuts(), operations.len(), truth.lines.len());
    finds_out(&recording, &["live.db-wal", "live.db", "folder"], |folder, acknowledged| {
        truth.holds(folder, acknowledged)
    });
}

/// Tables of the first version become those of the second while the power fails: all of them or none.
#[test]
fn a_power_cut_leaves_the_tables_of_one_version() {
    let store = Path::new("live.db");
    if let Some((folder, _)) = child() {
        let service = Service::start(lion(), &at(&folder.join(store))).unwrap();
        return wait(service.stop());
    }
    let folder = scratch();
    let digest = downgraded(&folder.path().join(store), 120);
    let test = "power_cut::a_power_cut_leaves_the_tables_of_one_version";
    let recording = Recording::of(test, folder.path());
    let mut found = HashMap::new();
    let wrong = recording.cut(&recording.operations(), cuts(), |folder, _| {
        let version = crate::migrating::looked_at(&folder.join(store), digest);
        *found.entry(version).or_insert(0) += 1;
        Ok(())
    });
    assert!(wrong.is_empty() && found.len() == 2, "{found:?} {wrong:?}");
    println!("{} cuts among {} calls, by version: {found:?}", cuts(), recording.operations().len());
}

/// A map that is updated, and goes back, while points come: one version whole, and all that was acknowledged.
#[test]
fn a_power_cut_amid_updates_leaves_one_version_whole() {
    const SWITCHES: u64 = 8;
    if let Some((folder, mut said)) = child() {
        let store = folder.join("live.db");
        return updating::work(&store, 0..updating::CHANGES, SWITCHES, |line| say(&mut said, line.trim()));
    }
    let holds = |folder: &Path, said: &[&str]| {
        let known = said.iter().filter_map(|line| updating::acknowledged(line)).collect();
        let begun = said.iter().filter(|line| line.starts_with("switch")).count() as u64;
        // What is wrong is told by a panic.
        let looked = std::panic::catch_unwind(|| updating::looked_at(&folder.join("live.db"), &known));
        match looked.map_err(|told| panic_message(&*told))? {
            switches if switches + 1 >= begun => Ok(()),
            switches => Err(format!("{} switches were done, and {switches} are there", begun - 1)),
        }
    };
    let folder = scratch();
    let test = "power_cut::a_power_cut_amid_updates_leaves_one_version_whole";
    let recording = Recording::of(test, folder.path());
    let operations = recording.operations();
    let wrong = recording.cut(&operations, cuts(), holds);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let switches =
        operations.iter().filter(|o| matches!(o, Operation::Rename { to, .. } if to.ends_with(".lion")));
    println!("{} cuts among {} calls, {} maps", cuts(), operations.len(), switches.count());
    finds_out(&recording, &["live.db-wal", "folder"], holds);
}

fn panic_message(told: &(dyn std::any::Any + Send)) -> String {
    let text = told.downcast_ref::<String>().map(String::as_str);
    text.or(told.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

/// Files that are written whole or not at all, one after another under one name.
#[test]
fn a_power_cut_leaves_a_replaced_file_whole() {
    const FILES: u64 = 60;
    let content = |k: u64| format!("{k}\n").repeat(1 + (scrambled(k) % 20_000) as usize);
    if let Some((folder, mut said)) = child() {
        for k in 0..FILES {
            let write = |out: &mut dyn Write| out.write_all(content(k).as_bytes());
            lion_replace::replace(&folder.join("m.lion"), write).unwrap();
            say(&mut said, &k.to_string());
        }
        return;
    }
    let holds = |folder: &Path, acknowledged: &[&str]| {
        let known = acknowledged.last().map(|line| line.parse::<u64>().unwrap());
        let Ok(left) = std::fs::read_to_string(folder.join("m.lion")) else {
            return known.map_or(Ok(()), |k| Err(format!("{k} was written, and there is no file")));
        };
        let k = left.lines().next().and_then(|line| line.parse().ok());
        match k {
            Some(k) if left != content(k) => Err(format!("half of {k} is there")),
            Some(k) if known.is_none_or(|known| known <= k) => Ok(()),
            _ => Err(format!("{known:?} was written, and {k:?} is there")),
        }
    };
    let folder = scratch();
    let recording = Recording::of("power_cut::a_power_cut_leaves_a_replaced_file_whole", folder.path());
    let operations = recording.operations();
    let wrong = recording.cut(&operations, cuts(), holds);
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{} cuts among {} calls", cuts(), operations.len());
    // Under its temporary name a file is written and synced.
    finds_out(&recording, &[".tmp", "folder"], holds);
}
