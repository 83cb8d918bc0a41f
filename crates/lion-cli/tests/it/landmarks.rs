//! Maps of landmarks, and tables of several files.

use crate::tools::{Folder, SampleTable, npy};

const QUICK: &str = "--perplexity 5 --iterations 60";

/// The sample of 300 rows, with names, as one file and as three.
fn parted() -> Folder {
    let (folder, csv) = (Folder::new(), SampleTable::of(300).named_csv());
    folder.write("all.csv", &csv);
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    for (name, rows) in [("part-1.csv", 70), ("part-2.csv", 130), ("part-3.csv", 100)] {
        let rows: Vec<&str> = lines.by_ref().take(rows).collect();
        folder.write(name, format!("{header}\n{}\n", rows.join("\n")));
    }
    folder
}

#[test]
fn several_files_are_one_table() {
    let folder = parted();
    let names = "--id name --label kind";
    for how in ["", "--landmarks 100", "--landmarks 100 --stratify --cover --pca 3"] {
        let fit = |data: &str| {
            folder.json(&format!("fit {data} {names} {how} -o m.lion {QUICK}"));
            folder.read("m.lion")
        };
        let whole = fit("all.csv");
        assert!(whole == fit("part-1.csv part-2.csv part-3.csv"), "{how}");
        // A pattern is expanded here as much as in a shell.
        assert!(whole == fit("part-*.csv --threads 1"), "{how}");
        assert!(whole == fit("part-[123].csv --threads 3"), "{how}");
    }
    // Without a PCA, whose sums round as rows come, the order of the files is nothing to landmarks with ids.
    let landmarks = |data: &str| {
        folder.json(&format!("fit {data} {names} --landmarks 100 --cover -o m.lion {QUICK}"));
        folder.read("m.lion")
    };
    assert!(landmarks("all.csv") == landmarks("part-3.csv part-1.csv part-2.csv"));

    let place = |data: &str| {
        folder.json(&format!("place m.lion {data} {names} -o placed.csv"));
        folder.read("placed.csv")
    };
    assert!(place("all.csv") == place("part-?.csv"));
}

#[test]
fn the_report_says_what_was_left_out() {
    let folder = parted();
    let from =
        folder.json(&format!("fit part-*.csv --id name --exclude kind --landmarks 80 -o m.lion {QUICK}"));
    for (key, value) in [
        ("rows", 80),
        ("landmarks", 80),
        ("sampled_from", 300),
        ("beyond_judged", 220),
        ("beyond_error", 0),
        ("covering", 0),
    ] {
        assert_eq!(from[key], value, "{key}");
    }
    let beyond = from["beyond"].as_u64().unwrap();
    let info = folder.json("info m.lion");
    assert_eq!((&info["beyond"], &info["sampled_from"]), (&from["beyond"], &300.into()));
    let words = folder.lion("info m.lion").stdout;
    assert!(words.contains("chosen from 300 rows"), "{words}");
    assert!(words.contains(&format!("of 300 rows, {beyond}, lie beyond r_x of every landmark")), "{words}");
    // Counted over all rows it is the same, for all others were witnesses here.
    let args =
        format!("fit part-*.csv --id name --exclude kind --landmarks 80 --count-beyond -o n.lion {QUICK}");
    let counted = folder.json(&args);
    assert_eq!(counted["beyond"], beyond);
    assert!(counted["phases"]["count"].as_f64().unwrap() >= 0.0);
    assert_eq!(folder.read("m.lion"), folder.read("n.lion"));
}

#[test]
fn labels_share_landmarks_out() {
    let (folder, sample) = (Folder::new(), SampleTable::of(300));
    folder.write("t.csv", sample.csv());
    let labels: Vec<&str> = (0..300).map(|row| if row % 30 == 0 { "rare" } else { "common" }).collect();
    folder.write("labels.txt", labels.join("\n"));
    let args = format!("--labels labels.txt --landmarks 60 -o m.lion {QUICK}");
    let fit = folder.json(&format!("fit t.csv {args} --stratify"));
    assert_eq!((&fit["stratified"], &fit["landmarks"]), (&true.into(), &60.into()));
    let words = folder.lion("info m.lion").stdout;
    assert!(
        words.contains("common (50), rare (10)") && words.contains("as many of each label as can be had"),
        "{words}"
    );
    folder.json(&format!("fit t.csv {args}"));
    let words = folder.lion("info m.lion").stdout;
    assert!(!words.contains("rare (10)"), "{words}");
    folder.write("few.txt", "a\nb\n");
    let refused = folder.lion(&format!("fit t.csv --labels few.txt --landmarks 60 -o m.lion {QUICK}"));
    refused.refuses(1, &["few.txt has 2 labels", "t.csv has 300 rows"]);
}

#[test]
fn pictures_of_landmarks_are_kept() {
    let (folder, sample) = (Folder::new(), SampleTable::of(300));
    folder.write("t-idx3-ubyte", sample.idx());
    let fit = folder.json(&format!("fit t-idx3-ubyte --landmarks 60 -o m.lion {QUICK}"));
    assert_eq!(fit["image"], "2x2");
}

#[test]
fn a_table_of_fewer_rows_than_landmarks() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    let done = folder.lion(&format!("fit t.csv --landmarks 500 -o m.lion --json {QUICK}"));
    assert!(done.stderr.contains("note: t.csv has 120 rows: all are landmarks"), "{}", done.stderr);
    let fit: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&fit["rows"], &fit["beyond"]), (&120.into(), &0.into()));
    folder.write("t.csv", "a,b\n1,2\n3,4\n");
    folder
        .lion("fit t.csv --landmarks 100 -o m.lion")
        .refuses(1, &["t.csv has 2 rows, and a map needs at least 4"]);
}

#[test]
fn a_bad_row_is_named_by_its_file_and_its_number_there() {
    let folder = parted();
    let bad = "name,a,b,c,d,kind\nx1,1,2,3,4,oak\nx2,1,2,nan,4,oak\n";
    folder.write("part-4.csv", bad);
    let columns = "--id name --label kind";
    for verb in ["fit part-*.csv", "fit part-*.csv --landmarks 100"] {
        let refused = folder.lion(&format!("{verb} {columns} --strict -o m.lion {QUICK}"));
        refused.refuses(1, &["part-4.csv, row 1 (line 3), column c is NaN"]);
    }
    // What is a number to the table and too much for the map.
    folder.write("part-4.csv", bad.replace("nan", "1e20"));
    for verb in ["fit part-*.csv", "fit part-*.csv --landmarks 100"] {
        let refused = folder.lion(&format!("{verb} {columns} --strict -o m.lion {QUICK}"));
        refused.refuses(1, &["part-4.csv, row 1 (line 3), column c is 1e20", "scale the column down"]);
    }
    folder.json(&format!("fit all.csv {columns} -o m.lion {QUICK}"));
    let refused = folder.lion(&format!("place m.lion part-*.csv {columns} -o p.csv"));
    refused.refuses(1, &["part-4.csv, row 1 (line 3), column c is 1e20"]);
    folder.write("part-4.csv", bad.replace("nan", "3").replace("x2", "r0"));
    let refused = folder.lion(&format!("fit part-*.csv {columns} -o m.lion {QUICK}"));
    refused
        .refuses(1, &["part-1.csv, row 0 (line 2) and part-4.csv, row 1 (line 3) have the same id \"r0\""]);
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = parted();
    folder.write("y.npy", npy(300, 2, &SampleTable::of(300).values()[..600]));
    let refuses = |args: &str, code: i32, parts: &[&str]| {
        folder.lion(&format!("{args} -o m.lion")).refuses(code, parts);
    };
    refuses("fit none-*.csv", 1, &["none-*.csv: no file has a name like this"]);
    refuses("fit part-1.csv part-?.csv", 1, &["part-1.csv is given twice"]);
    refuses("fit part-1.csv -", 2, &["- is standard input", "give - alone"]);
    refuses("fit part-1.csv none.csv --id name --label kind", 1, &["none.csv: there is no such file"]);
    refuses("fit part-1.csv --landmarks 3", 2, &["3", "--landmarks"]);
    refuses("fit part-1.csv --cover", 2, &["required arguments were not provided"]);
    refuses("fit all.csv --landmarks 50 --stratify", 2, &["give --label or --labels"]);
    refuses("fit all.csv --landmarks 50 --embedding y.npy", 2, &["--embedding", "cannot be used with"]);
    refuses("fit all.csv --landmarks 50 --init y.npy", 2, &["landmarks are some of the rows"]);
    refuses("fit - --landmarks 50 --count-beyond", 2, &["standard input can be read once"]);
    refuses(
        "fit all.csv --label kind --id name --landmarks 50 --perplexity 30",
        1,
        &["perplexity 30 is too large for 50 landmarks: use at most 16.3"],
    );
    folder.write("wide.csv", "name,a,b,c,d,e,kind\nz,1,2,3,4,5,oak\n");
    refuses(
        "fit part-1.csv wide.csv --id name --label kind --strict",
        1,
        &["wide.csv has 5 columns where part-1.csv has 4"],
    );
    // Places and a first layout go by the rows of all files.
    let fit = folder.json(&format!("fit part-?.csv --id name --label kind --init y.npy -o m.lion {QUICK}"));
    assert_eq!((&fit["init"], &fit["rows"]), (&"given".into(), &300.into()));
    folder.json("fit part-?.csv --id name --label kind --embedding y.npy -o m.lion");
    folder.lion("place m.lion part-1.csv - -o p.csv").refuses(2, &["- is standard input"]);
}
