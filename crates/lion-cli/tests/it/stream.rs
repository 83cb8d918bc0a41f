//! `lion stream`: lines in, events out.

use crate::tools::{Folder, LONG, SampleTable};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with a map of three kinds of trees.
pub(crate) fn folder_with_map() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().named_csv());
    folder.json("fit t.csv --id name --label kind -o trees.lion --perplexity 5 --iterations 200");
    folder
}

pub(crate) fn put(id: &str, row: [f32; 4]) -> String {
    format!("{}\n", json!({"id": id, "x": row}))
}

/// The kinds of events, their lines parsed; their numbers have no gaps.
fn kinds(stdout: &str) -> Vec<String> {
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (n, event) in (1..).zip(&events) {
        assert_eq!(event["n"], n);
    }
    events.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

/// Among the oaks, and among the elms.
const OAK: [f32; 4] = [35.0, 36.0, 34.0, 35.0];
const ELM: [f32; 4] = [215.0, 35.0, 115.0, 75.0];
const FAR: [f32; 4] = [900.0, 900.0, 900.0, 900.0];

#[test]
fn each_line_is_an_event() {
    let folder = folder_with_map();
    let near = [FAR[0] + 0.5, FAR[1], FAR[2], FAR[3]];
    let lines = [
        put("a", OAK),
        put("b", OAK),
        put("a", [36.0, 36.0, 34.0, 35.0]),
        put("b", ELM),
        put("a", FAR),
        put("c", near),
        put("a", OAK),
        put("a", OAK),
        "{\"delete\":\"b\"}\n".into(),
    ];
    let done = folder.lion_reading("stream trees.lion", &lines.concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(
        kinds(&done.stdout),
        [
            "appeared",
            "appeared",
            "moved",
            "changed-cluster",
            "became-outlier",
            "joined-group",
            "returned",
            "stayed",
            "removed"
        ]
    );
    for part in ["lines      9", "became-outlier 1", "points     2, 1 of them outliers in 1 group"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    let changed: Value = serde_json::from_str(done.stdout.lines().nth(3).unwrap()).unwrap();
    assert_eq!((&changed["from"]["cluster"], &changed["cluster"]), (&"oak".into(), &"elm".into()));
    assert!(changed["distance"].as_f64().unwrap() > 0.0 && changed["nearest_id"].is_string(), "{changed}");
    // Quiet says nothing; the summary is the last line where it is asked for.
    let quiet = folder.lion_reading("stream trees.lion -q --threads 1", &lines.concat());
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), (done.stdout.as_str(), ""));
    let told = folder.lion_reading("stream trees.lion --json", &lines.concat());
    let (events, summary) = told.stdout.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(format!("{events}\n"), done.stdout);
    let summary: Value = serde_json::from_str(summary).unwrap();
    assert_eq!(
        (&summary["lines"], &summary["events"], &summary["points"]),
        (&9.into(), &9.into(), &2.into())
    );
    assert_eq!((&summary["kinds"]["moved"], &summary["digest"].as_str().unwrap().len()), (&1.into(), &16));
}

#[test]
fn bad_lines_are_named_and_skipped() {
    let folder = folder_with_map();
    let lines = [
        put("a", OAK),
        "\n".into(),
        "{\"id\":\"b\",\"x\":[1,2,3]}\n".into(),
        "not JSON\n".into(),
        "{\"delete\":\"nobody\"}\n".into(),
        "{\"id\":\"b\",\"x\":[1,2,NaN,4]}\n".into(),
        "{\"id\":\"b\",\"x\":[1,2,1e30,4]}\n".into(),
        put("c", ELM),
        put("a", ELM),
    ];
    let done = folder.lion_reading("stream trees.lion --json", &lines.concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let (events, summary) = done.stdout.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(kinds(events), ["appeared", "appeared", "changed-cluster"]);
    let summary: Value = serde_json::from_str(summary).unwrap();
    assert_eq!((&summary["lines"], &summary["skipped"]), (&8.into(), &5.into()), "{summary}");
    for parts in [
        ["line 3", "3 values"],
        ["line 4", "not JSON"],
        ["line 5", "no point \"nobody\""],
        ["line 6", "NaN"],
        ["line 7", "1e30"],
    ] {
        let named = |line: &&str| line.starts_with("error: ") && parts.iter().all(|part| line.contains(part));
        assert_eq!(done.stderr.lines().filter(named).count(), 1, "{parts:?}: {}", done.stderr);
    }
    // Strict: what came before a bad line counts, and nothing after it.
    for (bad, lines) in
        [("line 3", &lines[..]), ("line 2", &[put("a", OAK), lines[4].clone(), put("c", ELM)])]
    {
        let strict = folder.lion_reading("stream trees.lion --strict", &lines.concat());
        assert_eq!(strict.code, Some(1));
        assert_eq!(kinds(&strict.stdout), ["appeared"]);
        let errors: Vec<&str> = strict.stderr.lines().collect();
        assert!(matches!(errors[..], [error] if error.starts_with(&format!("error: {bad}"))), "{errors:?}");
    }
    // Some programs begin text with a mark.
    let marked = folder.lion_reading("stream trees.lion", &format!("\u{feff}{}", put("a", OAK)));
    assert_eq!(
        (marked.code, kinds(&marked.stdout)),
        (Some(0), vec!["appeared".to_owned()]),
        "{}",
        marked.stderr
    );
    folder.lion("stream nothing.lion").refuses(1, &["nothing.lion"]);
    folder.lion("stream trees.lion --window 0").refuses(2, &["--window", "above 0"]);
}

#[test]
fn events_do_not_wait_for_more_lines_and_ctrl_c_ends_well() {
    let folder = folder_with_map();
    let mut command = folder.command("stream trees.lion");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in ["a", "b", "c"] {
        input.write_all(put(id, OAK).as_bytes()).unwrap();
        // Standard input stays open: this would wait for ever were the event held back.
        let event = events.next().unwrap().unwrap();
        assert!(event.contains(&format!("\"id\":\"{id}\"")), "{event}");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < LONG, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(0));
    assert!(events.next().is_none());
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(said.contains("events     3: appeared 3") && !said.contains("panicked"), "{said}");
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let folder = folder_with_map();
    folder.write("lines.jsonl", (0..5000).map(|i| put(&format!("p{i}"), OAK)).collect::<String>());
    let mut command = folder.command("stream trees.lion");
    command.stdin(std::fs::File::open(folder.path("lines.jsonl")).unwrap());
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    let mut first = String::new();
    BufReader::new(reader).read_line(&mut first).unwrap();
    assert!(first.contains("\"n\":1,"), "{first}");
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""));
}
