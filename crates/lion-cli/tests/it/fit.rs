//! What works: every format, every choice, the same bits again.

use crate::tools::{Folder, SampleTable, gz, npy};

const QUICK: &str = "--perplexity 5 --iterations 60";

#[test]
fn every_format_makes_the_same_map() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    folder.write("t.csv.gz", gz(sample.csv().as_bytes()));
    folder.write("t.npy", sample.npy());
    folder.write("t.parquet", sample.parquet());
    folder.write("t.arrow", sample.arrow());
    folder.write("t.feather", sample.arrow());
    folder.write("t.jsonl", sample.jsonl());
    folder.write("t-idx3-ubyte", sample.idx());
    folder.write("t-idx3-ubyte.gz", gz(&sample.idx()));
    let files = folder.names();
    assert_eq!(files.len(), 9);
    // Columns of npy and IDX files have no names: the maps differ by those alone.
    let first = folder.json(&format!("fit t.csv -o m.lion {QUICK}"));
    let nameless = folder.json(&format!("fit t.npy -o m.lion {QUICK}"));
    assert_eq!(first["kl"], nameless["kl"]);
    for file in files {
        // IDX files tell that rows are pictures, which would be kept.
        let summary = folder.json(&format!("fit {file} --image none -o m.lion {QUICK}"));
        let like = if file.contains("npy") || file.contains("idx") { &nameless } else { &first };
        assert_eq!(summary["checksum"], like["checksum"], "{file}");
        assert_eq!((&summary["rows"], &summary["dims"]), (&120.into(), &4.into()));
    }
    let args = format!("fit - -o m.lion {QUICK} --json");
    let from_stdin = folder.lion_reading(&args, &sample.csv());
    assert_eq!(from_stdin.code, Some(0), "{}", from_stdin.stderr);
    let summary: serde_json::Value = serde_json::from_str(&from_stdin.stdout).unwrap();
    assert_eq!(summary["checksum"], first["checksum"]);
}

#[test]
fn small_tables_fit_by_default_and_say_their_perplexity() {
    let folder = Folder::new();
    for (rows, perplexity) in [(4, 1.0), (38, 12.3), (90, 29.6), (91, 30.0)] {
        folder.write("t.csv", SampleTable::of(rows).csv());
        let said = folder.lion("fit t.csv -o m.lion --iterations 20");
        let note =
            format!("note: perplexity {perplexity} instead of 30, as much as {rows} different rows allow\n");
        assert_eq!(said.stderr.contains(&note), rows < 91, "{}", said.stderr);
        let fit = folder.json("fit t.csv -o m.lion --iterations 20 --perplexity auto");
        assert_eq!((&fit["perplexity"], &fit["rows"]), (&perplexity.into(), &rows.into()));
        assert_eq!(folder.json("info m.lion")["perplexity"], perplexity);
    }
}

#[test]
fn a_descent_that_a_small_map_does_not_take_is_told() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    let said = |descent| folder.lion(&format!("fit t.csv -o m.lion {QUICK} --descent {descent}")).stderr;
    assert!(said("accelerated").contains("note: the classic descent instead of accelerated"));
    assert!(!said("classic").contains("descent"));
}

#[test]
fn seed_and_threads() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    let checksum =
        |args: &str| folder.json(&format!("fit t.csv -o m.lion {QUICK} {args}"))["checksum"].clone();
    let one = checksum("--init random --seed 3 --threads 1");
    assert_eq!(one, checksum("--init random --random-state 3 --threads 1"));
    assert_eq!(one, checksum("--init random --seed 3 --threads 2"));
    assert_eq!(one, checksum("--init random --seed 3 --threads 3"));
    assert_ne!(one, checksum("--init random --seed 4 --threads 1"));
}

#[test]
fn the_summary_has_the_promised_keys() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    let fit = folder.json(&format!("fit t.csv -o m.lion {QUICK} --seed 9"));
    let promised = "rows dims components variance_kept map_dims perplexity descent iterations kl r_x r_y r_close power seconds phases \
                    checksum method init search seed duplicates stopped_early adopted image memory_bytes peak_rss_bytes bytes file \
                    landmarks sampled_from stratified covering beyond beyond_error beyond_judged alpha promised calibration_rows \
                    calibration_groups table";
    let mut promised: Vec<&str> = promised.split_whitespace().collect();
    promised.sort_unstable();
    let keys =
        |object: &serde_json::Value| -> Vec<String> { object.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&fit), promised);
    for (key, value) in
        [("rows", 120), ("dims", 4), ("components", 4), ("map_dims", 2), ("iterations", 60), ("seed", 9)]
    {
        assert_eq!(fit[key], value, "{key}");
    }
    assert_eq!(fit["perplexity"], 5.0);
    for key in ["r_x", "r_y", "r_close", "power"] {
        assert!(fit[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!(
        (&fit["method"], &fit["init"], &fit["search"]),
        (&"fft/exact, the quicker".into(), &"pca".into(), &"exact".into())
    );
    assert_eq!(fit["bytes"], std::fs::metadata(folder.path("m.lion")).unwrap().len());
    assert_eq!(fit["file"], "m.lion");
    assert!(fit["kl"].as_f64().unwrap() > 0.0);
    let mut stages =
        ["read", "preprocess", "neighbours", "affinities", "initialise", "optimise", "parameters", "write"];
    let seconds: Vec<f64> = stages.iter().map(|stage| fit["phases"][stage].as_f64().unwrap()).collect();
    let all = fit["seconds"].as_f64().unwrap();
    assert!(
        seconds.iter().all(|s| *s >= 0.0) && (seconds.iter().sum::<f64>() - all).abs() < 0.1 * all + 0.01
    );
    stages.sort_unstable();
    assert_eq!(keys(&fit["phases"]), stages);
    #[cfg(target_os = "linux")]
    assert!(fit["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);

    let info = folder.json("info m.lion");
    for key in promised
        .iter()
        .filter(|key| !["seconds", "phases", "memory_bytes", "peak_rss_bytes", "table"].contains(key))
    {
        assert_eq!(info[key], fit[key], "{key}");
    }
    assert_eq!(info["seconds"], serde_json::Value::Null);
    assert_eq!((&info["metric"], &info["input_dims"]), (&"euclidean".into(), &4.into()));
    let history = info["kl_history"].as_array().unwrap();
    assert_eq!(history.last().unwrap()["kl"], fit["kl"]);
    assert_eq!(history[0]["iteration"], 50);
}

#[test]
fn every_choice_is_taken() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.npy", sample.npy());
    folder.write("y.npy", npy(120, 2, &sample.values()[..240]));
    let fit = |args: &str| folder.json(&format!("fit t.npy -o m.lion {QUICK} {args}"));
    assert_eq!(fit("--method exact")["method"], "exact");
    assert_eq!(fit("--method barnes-hut --dims 3")["method"], "barnes-hut");
    assert_eq!(fit("--method fft")["method"], "fft");
    assert_eq!(fit("--init spectral")["init"], "spectral");
    assert_eq!(fit("--init random")["init"], "random");
    assert_eq!(fit("--init y.npy")["init"], "given");
    assert!(fit("--neighbours approximate")["search"].as_str().unwrap().starts_with("approximate"));
    assert_eq!(fit("--dims 3")["map_dims"], 3);
    let pca = fit("--pca 2");
    assert_eq!(pca["components"], 2);
    assert!((0.5..1.0).contains(&pca["variance_kept"].as_f64().unwrap()));
    assert_eq!(fit("--pca none")["variance_kept"], serde_json::Value::Null);
    fit("--metric cosine");
    assert_eq!(folder.json("info m.lion")["metric"], "cosine");
    let plain = fit("");
    assert_ne!(fit("--exaggeration 4")["checksum"], plain["checksum"]);
    assert_ne!(fit("--learning-rate 100")["checksum"], plain["checksum"]);
    assert_eq!(fit("--learning-rate auto")["checksum"], plain["checksum"]);
}

#[test]
fn columns_ids_and_labels() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.named_csv());
    folder.write("kinds.txt", sample.labels.join("\n"));
    let fit = folder.json(&format!("fit t.csv --id name --label kind --exclude d -o m.lion {QUICK}"));
    assert_eq!(fit["dims"], 3);
    let info = folder.json("info m.lion");
    assert_eq!((&info["labels"], &info["ids"]), (&3.into(), &true.into()));
    let words = folder.lion("info m.lion").stdout;
    assert!(words.contains("ash (40), elm (40), oak (40)"), "{words}");

    let fit = folder.json(&format!("fit t.csv --columns b,a --labels kinds.txt -o n.lion {QUICK}"));
    assert_eq!(fit["dims"], 2);
    assert_eq!(folder.json("info n.lion")["labels"], 3);
}

#[test]
fn repeated_rows_share_a_place_and_constant_columns_do_no_harm() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    let mut values: Vec<f32> = sample.values();
    for row in values.chunks_mut(4) {
        row[1] = 7.0;
    }
    let again = values[..40].to_vec();
    values.extend(again);
    folder.write("t.npy", npy(130, 4, &values));
    let fit = folder.json(&format!("fit t.npy -o m.lion {QUICK} --pca 3"));
    assert_eq!(fit["rows"], 130);
    assert!(fit["duplicates"].as_u64().unwrap() >= 10);
    assert!(fit["kl"].as_f64().unwrap().is_finite());
}

#[test]
fn a_map_made_elsewhere_is_adopted() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    folder.write("y.npy", npy(120, 2, &sample.values()[..240]));
    let fit = folder.json("fit t.csv --embedding y.npy -o m.lion");
    assert_eq!((&fit["adopted"], &fit["iterations"]), (&true.into(), &0.into()));
    assert_eq!((&fit["kl"], &fit["perplexity"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    let info = folder.lion("info m.lion");
    assert!(info.stdout.contains("made elsewhere"), "{}", info.stdout);
    assert_eq!(folder.lion("plot m.lion -o m.svg").code, Some(0));
}

#[test]
fn words_go_where_they_belong() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    folder.write("t.csv", sample.csv());
    let plain = folder.lion(&format!("fit t.csv -o m.lion {QUICK}"));
    assert_eq!((plain.code, plain.stderr.as_str()), (Some(0), ""), "no bar where there is no terminal");
    for part in ["120", "KL divergence", "seconds", "m.lion", "checksum", "next: lion plot m.lion -o m.html"]
    {
        assert!(plain.stdout.contains(part), "{part}: {}", plain.stdout);
    }
    let verbose = folder.lion(&format!("fit t.csv -o m.lion {QUICK} -v --json"));
    assert!(verbose.stderr.contains("gradient: fft/exact") && verbose.stderr.contains("iteration 50: KL"));
    assert_eq!(verbose.stdout.lines().count(), 1);
    let quiet = folder.lion(&format!("fit t.csv -o m.lion {QUICK} -q"));
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn groups_of_rows_beside_ids_and_labels_of_text() {
    let (folder, sample) = (Folder::new(), SampleTable::new());
    let head = "name,kind,patient,";
    let rows = sample.csv();
    let mut lines = rows.lines();
    let mut table = format!("{head}{}\n", lines.next().unwrap());
    for (row, line) in lines.enumerate() {
        table += &format!("r{row},k{},p{},{line}\n", row % 3, row / 4);
    }
    folder.write("t.csv", table);
    let fit = folder.json(&format!("fit t.csv --id name --label kind --group patient -o m.lion {QUICK}"));
    assert_eq!((&fit["dims"], &fit["calibration_groups"]), (&4.into(), &30.into()));
    // A table that can be read once is enough.
    let text = String::from_utf8(folder.read("t.csv")).unwrap();
    let args = format!("fit - --id name --label kind --group patient -o s.lion {QUICK} --json");
    let done = folder.lion_reading(&args, &text);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(folder.read("s.lion"), folder.read("m.lion"));
    let by_label = folder.json(&format!(
        "fit t.csv --id name --label patient --exclude kind --group patient -o l.lion {QUICK}"
    ));
    assert_eq!((&by_label["dims"], &by_label["calibration_groups"]), (&4.into(), &30.into()));
}
