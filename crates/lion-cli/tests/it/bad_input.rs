//! Whatever is wrong gets one sentence that names the file, the row, the column, and what to do.

use crate::tools::{Finished, Folder, SampleTable, npy};

/// A folder with a good table and a good map made of it.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    folder.json("fit t.csv -o m.lion --perplexity 5 --iterations 20");
    folder
}

/// The sample's CSV with cell `column` of data row `row` (from 1) replaced.
fn with_cell(row: usize, column: usize, cell: &str) -> String {
    let csv = SampleTable::new().csv();
    let mut lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    lines[row][column] = cell;
    lines.iter().map(|cells| cells.join(",") + "\n").collect()
}

#[test]
fn a_cell_that_is_no_number() {
    let folder = Folder::new();
    for (cell, parts) in [
        ("inf", ["inf", "finite number: fill it or remove the row"]),
        ("-Infinity", ["-inf", "finite number: fill it or remove the row"]),
        ("tall", ["\"tall\", which is not a number", "--exclude"]),
        ("1e300", ["too large", "scale the column down"]),
    ] {
        folder.write("t.csv", with_cell(17, 2, cell));
        let refused = folder.lion("fit t.csv -o m.lion");
        refused.refuses(1, &["t.csv", "row 16", "column c"]);
        refused.refuses(1, &parts);
    }
    // Gaps are filled unless somebody says otherwise.
    for cell in ["nan", ""] {
        folder.write("t.csv", with_cell(17, 2, cell));
        folder
            .lion("fit t.csv -o m.lion --missing refuse")
            .refuses(1, &["t.csv", "column c", "row 16", "empty"]);
        folder
            .lion("fit t.csv -o m.lion --strict")
            .refuses(1, &["t.csv", "column c", "row 16", "fill it or remove the row"]);
    }
    let mut values = SampleTable::new().values();
    values[4 * 4 + 1] = f32::NAN;
    folder.write("t.npy", npy(120, 4, &values));
    folder.lion("fit t.npy -o m.lion").refuses(1, &["t.npy", "row 4", "column c2", "NaN"]);
    values[4 * 4 + 1] = 1e20;
    folder.write("t.npy", npy(120, 4, &values));
    folder.lion("fit t.npy -o m.lion").refuses(1, &["t.npy", "row 4", "column c2", "scale the column down"]);
    assert_eq!(folder.names(), ["t.csv", "t.npy"]);
}

#[test]
fn a_table_that_is_none() {
    let folder = Folder::new();
    let refuses = |content: &str, parts: &[&str]| {
        folder.write("t.csv", content);
        folder.lion("fit t.csv -o m.lion").refuses(1, parts);
    };
    refuses("a,b\n1,2\n3\n5,6\n", &["t.csv", "row 1", "length 1 instead of 2", "same number of values"]);
    refuses("", &["t.csv has no rows of data"]);
    refuses("a,b\n", &["t.csv has no rows of data"]);
    refuses("a,b\n1,2\n", &["t.csv has 1 row, and a map needs at least 4"]);
    refuses("a,b\n1,2\n3,4\n", &["t.csv has 2 rows"]);
    refuses("a,b\nx,y\nz,w\n", &["t.csv has no column that a map could be made of", "a (text), b (text)"]);
    folder.write("t.npy", [&npy(120, 4, &SampleTable::new().values())[..300]].concat());
    folder.lion("fit t.npy -o m.lion").refuses(1, &["t.npy is not a whole npy file"]);
    folder.write("t", "\0\u{1}\u{2}");
    folder.lion("fit t -o m.lion").refuses(1, &["t: neither its name nor its first bytes"]);
    folder
        .lion_reading("fit - -o m.lion", "a,b\n1,2\nx,4\n")
        .refuses(1, &["standard input", "row 1", "column a"]);
}

#[test]
fn the_wrong_number_of_anything() {
    let folder = folder();
    let values = SampleTable::new().values();
    folder.write("short.npy", npy(100, 2, &values[..200]));
    folder.write("wide.npy", npy(120, 4, &values));
    folder.write("space.npy", npy(120, 3, &values[..360]));
    folder.write("labels.txt", "oak\nelm\n");
    let refuses =
        |args: &str, parts: &[&str]| folder.lion(&format!("fit t.csv -o n.lion {args}")).refuses(1, parts);
    refuses("--embedding short.npy", &["short.npy has 100 places", "t.csv has 120 rows"]);
    refuses("--embedding wide.npy", &["wide.npy has 4 columns", "1 to 3 dimensions"]);
    refuses("--init short.npy", &["short.npy has 100 places", "t.csv has 120 rows"]);
    refuses("--init space.npy", &["space.npy has 3 columns", "2 dimensions"]);
    refuses("--labels labels.txt", &["labels.txt has 2 labels", "t.csv has 120 rows"]);
    refuses("--pca 9", &["t.csv", "9", "4"]);
    refuses("--columns a,z", &["t.csv has no column z", "a, b, c, d"]);
    refuses("--label kind", &["t.csv has no column kind"]);
    refuses("--perplexity 40", &["t.csv", "perplexity 40 is too large for 120 rows: use at most 39.6"]);
    assert!(!folder.path("n.lion").exists());
}

#[test]
fn files_that_are_not_there() {
    let folder = folder();
    folder.lion("fit none.csv -o n.lion").refuses(1, &["none.csv: there is no such file"]);
    folder.lion("fit t.csv -o n.lion --labels none.npy").refuses(1, &["none.npy: there is no such file"]);
    folder.lion("fit t.csv -o n.lion --embedding none.npy").refuses(1, &["none.npy: there is no such file"]);
    folder.lion("fit t.csv -o n.lion --init none.npy").refuses(1, &["none.npy: there is no such file"]);
    folder.lion("fit t.csv -o no/n.lion").refuses(1, &["no/n.lion", "make the folder first"]);
    folder.lion("fit t.csv -o .").refuses(1, &[". is a folder"]);
    folder.lion("fit t.csv -o t.csv").refuses(1, &["t.csv would replace t.csv", "another name"]);
    folder.lion("fit t.csv -o -").refuses(1, &["standard output"]);
    folder.lion("info none.lion").refuses(1, &["none.lion: there is no such file"]);
    assert_eq!(folder.names(), ["m.lion", "t.csv"]);
}

#[test]
fn a_truncated_or_altered_map() {
    let folder = folder();
    let whole = folder.read("m.lion");
    let mut altered = whole.clone();
    let last = altered.len() - 40;
    altered[last] ^= 1;
    let cases: [(&[u8], &str); 5] = [
        (&whole[..whole.len() - 9], "bad.lion"),
        (&whole[..5], "bad.lion"),
        (b"", "bad.lion"),
        (&altered, "checksum"),
        (b"a,b\n1,2\n", "bad.lion"),
    ];
    for (bytes, part) in cases {
        folder.write("bad.lion", bytes);
        folder.lion("info bad.lion").refuses(1, &["bad.lion", part]);
        folder.lion("plot bad.lion -o p.svg").refuses(1, &["bad.lion", part]);
    }
    folder.lion("info t.csv").refuses(1, &["t.csv"]);
    folder.lion("info .").refuses(1, &["this is a folder"]);
    assert!(!folder.path("p.svg").exists());
}

#[test]
fn wrong_usage_is_refused_before_any_work() {
    // The table is not there: none of these gets as far as noticing it.
    let folder = Folder::new();
    let fit =
        |args: &str, parts: &[&str]| folder.lion(&format!("fit none.csv -o m.lion {args}")).refuses(2, parts);
    fit("--perplexity 0.5", &["--perplexity", "from 1 on"]);
    fit("--perplexity nan", &["--perplexity", "from 1 on"]);
    fit("--perplexity many", &["--perplexity", "auto or a number"]);
    fit("--iterations 0", &["--iterations"]);
    fit("--dims 4", &["--dims", "1..=3"]);
    fit("--dims 3 --method fft", &["--method fft is for maps of 2 dimensions"]);
    fit("--dims 1 --method fft", &["--method fft is for maps of 2 dimensions"]);
    fit("--exaggeration 0", &["--exaggeration", "from 1 to 10000"]);
    fit("--learning-rate -1", &["--learning-rate", "auto or a number above 0"]);
    fit("--perplexity -3", &["--perplexity", "from 1 on"]);
    fit("--pca 0", &["--pca", "auto, none or a number from 1 on"]);
    fit("--init middle", &["--init", "pca, random, spectral"]);
    fit("--metric taxi", &["--metric"]);
    fit("--method magic", &["--method"]);
    fit("--neighbours nice", &["--neighbours"]);
    fit("--seed x", &["--seed"]);
    fit("--threads -1", &["--threads"]);
    fit("-q -v", &["cannot be used with"]);
    fit("--label a --labels b.npy", &["cannot be used with"]);
    for flag in [
        "--perplexity 30",
        "--iterations 750",
        "--dims 2",
        "--method auto",
        "--init pca",
        "--exaggeration 12",
        "--learning-rate auto",
        "--neighbours auto",
    ] {
        let name = flag.split(' ').next().unwrap();
        fit(&format!("--embedding y.npy {flag}"), &["--embedding", name, "cannot be used with"]);
    }
    folder.lion("fit none.csv").refuses(2, &["required arguments were not provided"]);
    folder.lion("dance").refuses(2, &["dance"]);
    assert_eq!(folder.lion("").code, Some(2));
    assert!(folder.names().is_empty());
}

/// The shell's limit on file sizes stands for a full disk: the system refuses the write at the same point.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::of(1500).csv());
    folder.write("m.lion", "old");
    let limited = |args: &str| {
        let mut command = std::process::Command::new("bash");
        let script = format!("ulimit -f 8; exec {} {args}", env!("CARGO_BIN_EXE_lion"));
        command.current_dir(folder.path(".")).args(["-c", &script]).stdin(std::process::Stdio::null());
        Finished::of(command)
    };
    let sentence = ["was not written, and a file already there is left as it was"];
    let fit = limited("fit t.csv -o m.lion --perplexity 5 --iterations 1");
    fit.refuses(1, &["m.lion"]);
    fit.refuses(1, &sentence);
    assert_eq!(folder.read("m.lion"), b"old");
    folder.json("fit t.csv -o m.lion --perplexity 5 --iterations 1");
    folder.write("m.svg", "old");
    let plot = limited("plot m.lion -o m.svg");
    plot.refuses(1, &["m.svg"]);
    plot.refuses(1, &sentence);
    assert_eq!(folder.read("m.svg"), b"old");
    assert_eq!(folder.names(), ["m.lion", "m.svg", "t.csv"], "nothing is left behind");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_said() {
    let folder = folder();
    let mut command = folder.command("info m.lion --json");
    command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let done = Finished::of(command);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("standard output cannot be written"), "{}", done.stderr);
}
