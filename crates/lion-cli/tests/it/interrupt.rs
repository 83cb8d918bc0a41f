//! Ctrl-C, sent to a real process.

use crate::tools::{Folder, LONG, SampleTable};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// A running `lion` whose standard error is followed.
struct Running {
    child: Child,
    stderr: Lines<BufReader<ChildStderr>>,
    said: String,
}

impl Running {
    fn start(folder: &Folder, args: &str) -> Self {
        let mut command = folder.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, stderr, said: String::new() }
    }

    /// Waits until it says this.
    fn says(&mut self, text: &str) {
        for line in self.stderr.by_ref() {
            let line = line.unwrap();
            self.said += &line;
            self.said.push('\n');
            if line.contains(text) {
                return;
            }
        }
        panic!("it ended without saying {text:?}: {}", self.said);
    }

    fn press_ctrl_c(&self) {
        self.signal("-INT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Exit code and standard output, if it ends.
    fn ends(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < LONG, "it does not end"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let rest: Vec<String> = self.stderr.by_ref().map(Result::unwrap).collect();
        assert!(!rest.join("\n").contains("panicked"), "{rest:?}");
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        (status.code(), stdout)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test must not leave it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn once_keeps_the_map_reached_so_far() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    folder.write("m.lion", "old");
    let args = "fit t.csv -o m.lion --perplexity 5 --iterations 10000000 -v --json";
    let mut lion = Running::start(&folder, args);
    lion.says("KL");
    lion.press_ctrl_c();
    lion.says("the map reached so far is kept");
    let (code, stdout) = lion.ends();
    assert_eq!(code, Some(0));
    let fit: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(fit["stopped_early"], true);
    let done = fit["iterations"].as_u64().unwrap();
    assert!((50..10_000_000).contains(&done), "{done}");
    let info = folder.json("info m.lion");
    assert_eq!((&info["stopped_early"], &info["checksum"]), (&true.into(), &fit["checksum"]));
    assert!(folder.lion("info m.lion").stdout.contains("stopped early"));
    assert_eq!(folder.lion("plot m.lion -o m.svg").code, Some(0));
}

#[test]
fn before_there_is_a_map_it_ends_with_the_old_file_whole() {
    let folder = Folder::new();
    folder.write("m.lion", "old");
    // Standard input stays open, so this waits for rows.
    let mut lion = Running::start(&folder, "fit - -o m.lion -v");
    lion.says("reading standard input");
    lion.press_ctrl_c();
    lion.says("stopped before there was a map to keep: nothing was written");
    assert_eq!(lion.ends(), (Some(130), String::new()));
    assert_eq!(folder.read("m.lion"), b"old");
    assert_eq!(folder.names(), ["m.lion"]);
}

#[test]
fn an_update_keeps_the_map_reached_so_far_or_nothing() {
    let folder = Folder::new();
    let table = SampleTable::of(5000).csv();
    folder.write("t.csv", &table);
    let made = folder.lion("fit t.csv -o old.lion --perplexity 5 --iterations 60");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    folder.write("gone.txt", "1\n");
    folder.write("next.lion", "whole");
    let old = folder.read("old.lion");
    // Standard input stays open, so this waits for rows.
    let mut lion = Running::start(&folder, "update old.lion - -o next.lion -v");
    lion.says("reading standard input");
    lion.press_ctrl_c();
    lion.says("stopped before there was a map to keep: nothing was written");
    assert_eq!(lion.ends(), (Some(130), String::new()));
    assert_eq!((folder.read("next.lion"), folder.read("old.lion")), (b"whole".to_vec(), old.clone()));
    let mut lion = Running::start(&folder, "update old.lion --forget gone.txt -o next.lion -v --json");
    lion.says("KL");
    lion.press_ctrl_c();
    lion.says("the map reached so far is kept");
    let (code, stdout) = lion.ends();
    assert_eq!(code, Some(0));
    let update: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&update["stopped_early"], &update["removed"]), (&true.into(), &1.into()));
    let info = folder.json("info next.lion");
    assert_eq!((&info["stopped_early"], &info["checksum"]), (&true.into(), &update["checksum"]));
    assert_eq!(folder.read("old.lion"), old);
}

#[test]
fn twice_abandons_it_with_the_old_file_whole() {
    let folder = Folder::new();
    // Every pair of so many rows takes a while, so that the second press comes before the first has had its way.
    folder.write("t.csv", SampleTable::of(20_000).csv());
    folder.write("m.lion", "old");
    let mut lion = Running::start(&folder, "fit t.csv -o m.lion --perplexity 2 --method exact -v");
    lion.says("gradient: exact");
    lion.press_ctrl_c();
    lion.says("Ctrl-C again abandons it");
    lion.press_ctrl_c();
    lion.says("abandoned: no map was written");
    assert_eq!(lion.ends(), (Some(130), String::new()));
    assert_eq!(folder.read("m.lion"), b"old");
    assert_eq!(folder.names(), ["m.lion", "t.csv"]);
}

#[test]
fn placing_ends_with_the_old_file_whole() {
    // As by Ctrl-C, so by a system that shuts down.
    for signal in ["-INT", "-TERM"] {
        placing_is_ended_by(signal);
    }
}

fn placing_is_ended_by(signal: &str) {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    folder.json("fit t.csv -o m.lion --perplexity 5 --iterations 20");
    folder.write("p.csv", "old");
    // Standard input stays open, so this sets two batches aside and waits for more rows.
    let mut lion = Running::start(&folder, "place m.lion - -o p.csv -v");
    lion.says("reading standard input");
    lion.child.stdin.as_mut().unwrap().write_all(SampleTable::of(10_000).csv().as_bytes()).unwrap();
    lion.says("loading");
    lion.signal(signal);
    lion.says("stopped: nothing was written, and an old file is as it was");
    assert_eq!(lion.ends(), (Some(1), String::new()));
    assert_eq!(folder.read("p.csv"), b"old");
    assert_eq!(folder.names(), ["m.lion", "p.csv", "t.csv"]);
}

#[test]
fn killed_at_any_moment_it_leaves_the_old_file_or_the_new() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    folder.json("fit t.csv -o m.lion --perplexity 5 --iterations 20");
    folder.write("new.npy", SampleTable::of(40_000).npy());
    let begun = Instant::now();
    folder.json("place m.lion new.npy -o whole.csv");
    let (whole, takes) = (folder.read("whole.csv"), begun.elapsed());
    for moment in 1..=12 {
        folder.write("p.csv", "old");
        let mut lion = folder.command("place m.lion new.npy -o p.csv -q").spawn().unwrap();
        std::thread::sleep(takes * moment / 11);
        lion.kill().unwrap();
        lion.wait().unwrap();
        let left = folder.read("p.csv");
        assert!(left == b"old" || left == whole, "{} bytes are neither the old nor the new", left.len());
    }
    // What a killed program could not take away has a name that nobody takes for output, and goes with the next run.
    let is_temporary = |name: &&String| name.starts_with(".lion-") && name.ends_with(".tmp");
    for name in folder.names().iter().filter(is_temporary) {
        let file = std::fs::File::options().append(true).open(folder.path(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }
    folder.json("place m.lion new.npy -o p.csv");
    assert_eq!(folder.names(), ["m.lion", "new.npy", "p.csv", "t.csv", "whole.csv"]);
    assert_eq!(folder.read("p.csv"), whole);
}

#[test]
fn an_evaluation_goes_on_where_it_was_stopped() {
    let folder = Folder::new();
    let command = "evaluate -o report --quick --only complexity";
    let mut running = Running::start(&folder, &format!("{command} -v"));
    running.says("complexity 250 x 30:");
    running.press_ctrl_c();
    running.says("stopped: finished stages are kept");
    let (code, stdout) = running.ends();
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(!folder.path("report/report.html").exists());
    let kept = folder.json(command)["stages_kept"].as_u64().unwrap();
    assert!(kept >= 1, "{kept}");
    assert!(folder.path("report/report.html").exists());
}
