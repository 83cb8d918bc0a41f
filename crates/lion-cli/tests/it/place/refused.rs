//! What is refused: in one sentence, with the old file left whole.

use super::{folder, many_rows};
use crate::tools::{Finished, Folder, SampleTable, npy};

#[test]
fn a_table_that_does_not_fit() {
    let folder = folder();
    folder.write("p.csv", "old");
    let refuses = |content: &str, parts: &[&str]| {
        folder.write("bad.csv", content);
        folder.lion("place m.lion bad.csv -o p.csv").refuses(1, parts);
        assert_eq!(folder.read("p.csv"), b"old");
    };
    refuses("a,b,c\n1,2,3\n", &["bad.csv has no column d, which m.lion was fitted to", "--columns"]);
    refuses("1,2,3\n", &["bad.csv has 3 columns", "m.lion wants 4", "--columns"]);
    refuses("a,b,c,d\n1,2,3,4\n1,nan,3,4\n", &["bad.csv, row 1", "column b", "NaN"]);
    refuses("a,b,c,d\n1,2,3,4\n1,x,3,4\n", &["bad.csv, row 1", "column b", "not a number"]);
    refuses("a,b,c,d\n1,2,3\n", &["bad.csv, row 0", "length 3 instead of 4"]);
    refuses("a,b,c,d\n", &["bad.csv has no rows of data"]);
    refuses("", &["bad.csv has no rows of data"]);
    // Rows are counted over the whole file, not the batch.
    let mut values = many_rows(6000);
    values[4 * 5000 + 2] = f32::NAN;
    folder.write("bad.npy", npy(6000, 4, &values));
    folder.lion("place m.lion bad.npy -o p.csv").refuses(1, &["bad.npy, row 5000", "column c3", "NaN"]);
    values[4 * 5000 + 2] = 1e20;
    folder.write("bad.npy", npy(6000, 4, &values));
    folder
        .lion("place m.lion bad.npy -o p.csv")
        .refuses(1, &["bad.npy, row 5000", "column c3", "scale the column down"]);
    folder
        .lion("place m.lion t.csv --id none --label kind -o p.csv")
        .refuses(1, &["t.csv has no column none"]);
    assert_eq!(folder.read("p.csv"), b"old");
    assert_eq!(folder.names(), ["bad.csv", "bad.npy", "m.lion", "new.csv", "p.csv", "t.csv"]);
}

#[test]
fn labels_that_do_not_fit() {
    let folder = folder();
    folder.write("few.txt", "oak\nelm\n");
    folder
        .lion("place m.lion new.csv --labels few.txt -o p.csv")
        .refuses(1, &["few.txt has 2 labels, and new.csv has 43 rows"]);
    folder.write("plain.csv", SampleTable::new().csv());
    folder.json("fit plain.csv -o plain.lion --perplexity 5 --iterations 20");
    folder
        .lion("place plain.lion new.csv --labels few.txt -o p.csv")
        .refuses(1, &["plain.lion has no labels to compare"]);
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn files_that_are_not_there_or_not_maps() {
    let folder = folder();
    folder.lion("place none.lion new.csv -o p.csv").refuses(1, &["none.lion: there is no such file"]);
    folder.lion("place m.lion none.csv -o p.csv").refuses(1, &["none.csv: there is no such file"]);
    folder.lion("place m.lion new.csv -o no/p.csv").refuses(1, &["no/p.csv", "make the folder first"]);
    folder.lion("place m.lion new.csv -o new.csv").refuses(1, &["new.csv would replace new.csv"]);
    folder.lion("place new.csv new.csv -o p.csv").refuses(1, &["new.csv"]);
    let whole = folder.read("m.lion");
    folder.write("cut.lion", &whole[..whole.len() - 100]);
    folder.lion("place cut.lion new.csv -o p.csv").refuses(1, &["cut.lion", "cut short"]);
    let mut altered = whole;
    let last = altered.len() - 40;
    altered[last] ^= 1;
    folder.write("cut.lion", altered);
    folder.lion("place cut.lion new.csv -o p.csv").refuses(1, &["cut.lion", "checksum"]);
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn wrong_usage_is_refused_before_any_work() {
    let folder = Folder::new();
    let place = |args: &str, parts: &[&str]| {
        folder.lion(&format!("place none.lion none.csv -o p.csv {args}")).refuses(2, parts);
    };
    place("--radius 101%", &["--radius", "101%"]);
    place("--radius -1%", &["--radius", "-1%"]);
    place("--radius wide", &["--radius", "wide", "99%"]);
    place("--r-y nan", &["--r-y"]);
    place("--r-close -3", &["--r-close"]);
    place("--power 0", &["--power", "a number above 0"]);
    place("--power -2", &["--power", "a number above 0"]);
    place("--pca-residual 5", &["--pca-residual", "99%"]);
    place("--off-plane 101%", &["--pca-residual"]);
    place("--local nearby", &["--local"]);
    place("--taper thin", &["--taper"]);
    place("--outliers far", &["--outliers"]);
    place("--method nearest", &["--method", "nearest", "it must be one of lion, idw, rbf-multiquadric"]);
    place("--method rbf", &["--method", "rbf-thin-plate", "kernelized"]);
    place("--epsilon wide", &["--epsilon", "wide"]);
    place("--kernel-width 0", &["--kernel-width", "a number from 1e-9"]);
    place("--kernel-width -1", &["--kernel-width", "a number from 1e-9"]);
    place("--header maybe", &["--header"]);
    folder.lion("place none.lion none.csv -o p.txt").refuses(2, &["p.txt"]);
    folder.lion("place none.lion none.csv").refuses(2, &["required arguments were not provided"]);
    let fit = |args: &str, parts: &[&str]| {
        folder.lion(&format!("fit none.csv -o m.lion {args}")).refuses(2, parts);
    };
    fit("--radius 101%", &["--radius", "101%"]);
    fit("--power 0", &["--power", "auto or a number above 0"]);
    fit("--r-y wide", &["--r-y"]);
    fit("--r-close -1", &["--r-close"]);
    assert!(folder.names().is_empty());
}

/// The shell's limit on file sizes stands for a full disk: the system refuses the write at the same point.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let folder = folder();
    folder.write("many.npy", npy(20_000, 4, &many_rows(20_000)));
    folder.write("p.jsonl", "old");
    // 512 kB are too little for what is set aside, 2 MB for the file itself.
    for limit in [512, 2048] {
        let mut command = std::process::Command::new("bash");
        let lion = env!("CARGO_BIN_EXE_lion");
        let script = format!("ulimit -f {limit}; exec {lion} place m.lion many.npy -o p.jsonl");
        command.current_dir(folder.path(".")).args(["-c", &script]).stdin(std::process::Stdio::null());
        Finished::of(command).refuses(1, &["p.jsonl", "written"]);
        assert_eq!(folder.read("p.jsonl"), b"old");
    }
    assert_eq!(
        folder.names(),
        ["m.lion", "many.npy", "new.csv", "p.jsonl", "t.csv"],
        "nothing is left behind"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let locked = folder.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Permissions do not stop the superuser.
    if std::fs::write(locked.join("probe"), "").is_err() {
        folder.lion("place m.lion new.csv -o locked/p.csv").refuses(1, &["locked/p.csv cannot be written"]);
    }
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn columns_are_found_by_their_names() {
    let folder = folder();
    folder.write("as.csv", "a,b,c,d\n1,2,3,4\n");
    folder.write("other.csv", "d,note,c,b,a\n4,hello,3,2,1\n");
    folder.write("bare.csv", "1,2,3,4\n");
    for table in ["as", "other", "bare"] {
        folder.json(&format!("place m.lion {table}.csv -o {table}.jsonl"));
    }
    assert_eq!(folder.read("as.jsonl"), folder.read("other.jsonl"));
    assert_eq!(folder.read("as.jsonl"), folder.read("bare.jsonl"));
    folder
        .lion_reading("place m.lion - -o p.csv", "d,c,b,a\n4,3,2,1\n")
        .refuses(1, &["standard input", "in another order: give --columns a,b,c,d"]);
    let info = folder.json("info m.lion");
    assert_eq!(info["columns"], serde_json::json!(["a", "b", "c", "d"]));
}

#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder();
    let made = std::process::Command::new("mkfifo").arg(folder.path("f.csv")).status();
    assert!(made.is_ok_and(|status| status.success()));
    folder.lion("place m.lion new.csv -o f.csv").refuses(1, &["f.csv is not an ordinary file"]);
    let there = std::fs::metadata(folder.path("f.csv")).expect("still there");
    assert!(there.file_type().is_fifo());
}

#[test]
fn distances_that_places_cannot_keep() {
    let folder = folder();
    for (flag, part) in [
        ("--r-y 1e300", "too large"),
        ("--r-close 1e38", "too large"),
        ("--r-y 1e-30", "too small"),
        ("--r-y 0", "above 0"),
    ] {
        folder.lion(&format!("place m.lion new.csv {flag} -o p.csv")).refuses(1, &[part]);
    }
    assert!(!folder.path("p.csv").exists());
}
