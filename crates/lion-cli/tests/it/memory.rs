//! `--memory`: kept to, and where it is too little, another way or one sentence, before anything is taken.

use crate::tools::{Finished, Folder, gz, npy};
use std::process::{Command, Stdio};

/// So many rows of so many columns around ten centres.
fn values(rows: usize, cols: usize) -> Vec<f32> {
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let centres: Vec<f32> = (0..10 * cols).map(|_| 9.0 * next()).collect();
    let value = |at: usize| centres[at / cols % 10 * cols + at % cols];
    (0..rows * cols).map(|at| value(at) + next() + next()).collect()
}

fn csv(rows: usize, cols: usize) -> String {
    let header: Vec<String> = (0..cols).map(|col| format!("v{col}")).collect();
    let values = values(rows, cols);
    let lines = values.chunks(cols).map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(","));
    std::iter::once(header.join(",")).chain(lines).fold(String::new(), |all, line| all + &line + "\n")
}

/// A fit that takes a moment, and more than 60 MB if it is of all rows.
const LIMITED: &str = "--perplexity 20 --iterations 60 --threads 2 --memory 60MB";
const ROWS: usize = 60_000;

#[test]
fn landmarks_instead_of_too_many_rows() {
    let folder = Folder::new();
    folder.write("t.npy", npy(ROWS, 8, &values(ROWS, 8)));
    let done = folder.lion(&format!("fit t.npy -o m.lion --json {LIMITED}"));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stderr.contains("note: t.npy: a map of 60000 rows of 8 columns takes about ")
            && done.stderr.contains(" of memory, and --memory lets it have 60.0 MB: ")
            && done.stderr.contains(" landmarks chosen from all rows are mapped instead"),
        "{}",
        done.stderr
    );
    let fit: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let number = |name: &str| fit[name].as_u64().unwrap_or_else(|| panic!("{name}: {fit}"));
    assert_eq!((number("landmarks"), number("sampled_from")), (number("rows"), ROWS as u64));
    assert!((1000..ROWS as u64).contains(&number("rows")), "{fit}");
    assert!(number("memory_bytes") <= 60_000_000, "{fit}");
    assert!(number("peak_rss_bytes") <= 75_000_000, "{fit}");
    // The same as if so many had been asked for, but for how many judge them.
    let asked = folder.json(&format!("fit t.npy -o n.lion --landmarks {} {LIMITED}", number("rows")));
    assert_eq!(asked["checksum"], fit["checksum"]);
    let whole = folder.json("fit t.npy -o w.lion --perplexity 2 --iterations 5 --memory 1GB");
    assert_eq!((&whole["landmarks"], whole["rows"].as_u64()), (&serde_json::Value::Null, Some(ROWS as u64)));
}

#[test]
fn rows_that_nobody_has_counted() {
    let folder = Folder::new();
    let text = csv(ROWS, 8);
    folder.write("t.csv", &text);
    folder.write("t.csv.gz", gz(text.as_bytes()));
    let of = |name: &str| {
        let done = folder.lion(&format!("fit {name} -o {name}.lion --json {LIMITED}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert!(done.stderr.contains("landmarks chosen from all rows"), "{}", done.stderr);
        let fit: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert!(fit["peak_rss_bytes"].as_u64().unwrap() <= 75_000_000, "{fit}");
        fit["sampled_from"].as_u64().unwrap()
    };
    assert_eq!((of("t.csv"), of("t.csv.gz")), (ROWS as u64, ROWS as u64));
    // What comes on standard input comes once, so it is kept in a file for the second reading.
    let done = folder.lion_fed(&format!("fit - -o s.lion --json {LIMITED}"), text.as_bytes());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let fit: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(fit["sampled_from"].as_u64(), Some(ROWS as u64));
}

#[test]
fn what_was_asked_for_is_not_given_up_silently() {
    let folder = Folder::new();
    folder.write("t.npy", npy(ROWS, 8, &values(ROWS, 8)));
    folder.write("y.npy", npy(ROWS, 2, &values(ROWS, 2)));
    let fit = |more: &str| folder.lion(&format!("fit t.npy -o m.lion {more}"));
    let too_much = "takes about ";
    fit(&format!("{LIMITED} --neighbours exact")).refuses(1, &[too_much, "leave --neighbours exact out"]);
    fit(&format!("{LIMITED} --init y.npy")).refuses(1, &[too_much, "leave --init FILE out"]);
    fit("--embedding y.npy --memory 20MB").refuses(1, &[too_much, "leave --embedding out"]);
    fit(&format!("{LIMITED} --landmarks 50000"))
        .refuses(1, &["50000 landmarks of 8 columns take", "use at most "]);
    fit("--memory 15MB").refuses(1, &[too_much, "too little for landmarks too: allow more memory"]);
    fit("--memory much").refuses(2, &["it must be a size from 1MB to 1000TB, such as 300MB, 4GB or 4GiB"]);
    assert_eq!(folder.names(), ["t.npy", "y.npy"]);
}

#[test]
fn placing_keeps_to_it() {
    let folder = Folder::new();
    folder.write("t.npy", npy(2000, 4, &values(2000, 4)));
    folder.json("fit t.npy -o m.lion --perplexity 5 --iterations 20");
    folder.write("p.csv", "old");
    folder.lion("place m.lion t.npy -o p.csv --memory 20MB").refuses(
        1,
        &["placing into m.lion takes about ", "--memory lets it have 20.0 MB", "fewer landmarks"],
    );
    let placed = folder.lion("place m.lion t.npy -o q.csv --memory 100MB --json -v");
    assert_eq!(placed.code, Some(0), "{}", placed.stderr);
    for part in
        ["placing will take ", "index of its rows", "bytes for each outlier", "if 1 % of 2000 rows are"]
    {
        assert!(placed.stderr.contains(part), "{part:?} is not in {}", placed.stderr);
    }
    let placed: serde_json::Value = serde_json::from_str(&placed.stdout).unwrap();
    let (said, took) = (placed["memory_bytes"].as_u64().unwrap(), placed["peak_rss_bytes"].as_u64().unwrap());
    assert!(took <= said && said <= 100_000_000, "{placed}");
    // Strangers all: each waits for the others.
    let strange: Vec<f32> =
        values(200_000, 4).iter().zip(0..).map(|(v, i)| v + 1000.0 + (i % 977) as f32).collect();
    folder.write("strange.npy", npy(200_000, 4, &strange));
    let limit = said / 1_000_000 + 10;
    let done = folder.lion(&format!("place m.lion strange.npy -o p.csv --memory {limit}MB"));
    done.refuses(1, &["rows are outliers, which wait for each other in memory", "place the table in parts"]);
    assert_eq!(folder.read("p.csv"), b"old");
}

/// A limit of the system's on the address space: refused or kept to, never killed.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_system() {
    let folder = Folder::new();
    folder.write("t.npy", npy(ROWS, 8, &values(ROWS, 8)));
    for kilobytes in [150_000, 400_000, 600_000] {
        let mut command = Command::new("sh");
        let lion = env!("CARGO_BIN_EXE_lion");
        let fit = "fit t.npy -o m.lion --perplexity 20 --iterations 60 --threads 2 -q";
        command.current_dir(folder.path("")).stdin(Stdio::null());
        command.args(["-c", &format!("ulimit -v {kilobytes}; exec {lion} {fit}")]);
        let done = Finished::of(command);
        match done.code {
            Some(0) => {}
            _ => done.refuses(1, &[" of memory, and ", " can be had"]),
        }
    }
}
