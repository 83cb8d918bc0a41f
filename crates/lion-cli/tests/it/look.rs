//! Looking at maps: info, plot, demo, help.

use crate::tools::{Finished, Folder, SampleTable};

fn folder_with_map() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().named_csv());
    folder.json("fit t.csv --id name --label kind -o trees.lion --perplexity 5 --iterations 200");
    folder
}

#[test]
fn info_draws_the_descent() {
    let folder = folder_with_map();
    let info = folder.lion("info trees.lion");
    assert_eq!((info.code, info.stderr.as_str()), (Some(0), ""));
    for part in ["perplexity 5, 200 iterations", "KL on the way", "▁", "Euclidean", "checksum", "made by"] {
        assert!(info.stdout.contains(part), "{part}: {}", info.stdout);
    }
}

#[test]
fn plot_writes_all_formats() {
    let folder = folder_with_map();
    let html = folder.lion("plot trees.lion -o trees.html");
    assert_eq!((html.code, html.stdout.as_str()), (Some(0), "trees.html\n"));
    let page = String::from_utf8(folder.read("trees.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("trees") && page.contains("elm"));

    let svg = folder.json("plot trees.lion -o trees.svg --title Wood");
    assert_eq!((&svg["file"], &svg["points"]), (&"trees.svg".into(), &120.into()));
    let figure = String::from_utf8(folder.read("trees.svg")).unwrap();
    assert_eq!(svg["bytes"], figure.len());
    assert!(figure.contains("Wood") && figure.matches("<circle").count() >= 120);

    let width = |name: &str| u32::from_be_bytes(folder.read(name)[16..20].try_into().unwrap());
    folder.json("plot trees.lion -o trees.PNG");
    assert_eq!(&folder.read("trees.PNG")[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(width("trees.PNG"), 1600);
    folder.json("plot trees.lion -o small.png --width 300");
    assert_eq!(width("small.png"), 300);
}

#[test]
fn plot_refuses_what_it_cannot_draw() {
    let folder = folder_with_map();
    folder.lion("plot trees.lion -o trees.pdf").refuses(2, &["trees.pdf", "must end in .html, .svg or .png"]);
    folder.lion("plot trees.lion -o trees.svg --width 300").refuses(2, &["--width is for .png files"]);
    folder.lion("plot trees.lion -o trees.png --width 3").refuses(2, &["--width", "100..=10000"]);
    folder.lion("plot trees.lion -o no/trees.png").refuses(1, &["no/trees.png", "make the folder first"]);
    folder.lion("plot none.lion -o trees.png").refuses(1, &["none.lion", "no such file"]);
    assert_eq!(folder.names(), ["t.csv", "trees.lion"]);
}

#[test]
fn demo_runs_twice() {
    let folder = Folder::new();
    let words = folder.lion("demo");
    assert_eq!(words.code, Some(0), "{}", words.stderr);
    for part in [
        "2500 digits",
        "KL divergence",
        "10 nearest",
        "1000 unseen digits and 100 images of noise",
        "picked for lying close to training digits",
        "100 of 100 are called outliers",
        "of 1000 other unseen digits, picked at random: promised 1 %, observed ",
        "one group",
        "--placements lion-demo/placements.parquet",
        "open lion-demo/map.html",
        "lion info lion-demo/map.lion",
    ] {
        assert!(words.stdout.contains(part), "{part}: {}", words.stdout);
    }
    assert_eq!(folder.names(), ["lion-demo"]);
    let old = folder.json("info lion-demo/map.lion");
    let demo = folder.json("demo --threads 1");
    assert_eq!(demo["checksum"], old["checksum"]);
    assert_eq!((&demo["rows"], &demo["components"], &old["labels"]), (&2500.into(), &30.into(), &10.into()));
    // The 30 components themselves have 0.836: a map that is worse than what it was made from is none.
    assert!(demo["accuracy_10nn"].as_f64().unwrap() > 0.836, "{demo}");
    let (placed, digits, noise) = (&demo["placed"], &demo["placed"]["digits"], &demo["placed"]["noise"]);
    assert_eq!((&placed["rows"], &digits["rows"], &noise["rows"]), (&1100.into(), &1000.into(), &100.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&digits["accuracy_10nn"]) > number(&digits["baseline_10nn"]) - 0.005, "{digits}");
    // They lie close to training digits, so that fewer of them are outliers than the one in a hundred that is promised of
    // ordinary ones. Of those, as many as chance allows: three standard errors of 0.37 points.
    assert!(number(&digits["outlier"]) <= 5.0, "{digits}");
    let ordinary = &demo["ordinary"];
    assert_eq!(ordinary["rows"], 1000);
    assert!((number(&ordinary["promised"]) - 0.01).abs() < 1e-3, "{ordinary}");
    assert!((number(&ordinary["observed"]) - 0.01).abs() < 0.0112, "{ordinary}");
    let called = number(&ordinary["outlier"]) + number(&ordinary["beside_outlier"]);
    assert_eq!(number(&ordinary["observed"]), called / 1000.0);
    assert!(words.stdout.contains(&format!("observed {} %", called / 10.0)), "{}", words.stdout);
    assert_eq!(
        (&noise["outlier"], &noise["groups"], &noise["percentile"]),
        (&100.into(), &1.into(), &100.0.into())
    );
    assert!(number(&noise["drawn"]) < 200.0);
    // The noise that was strange is a cluster of the updated map, and more noise like it is not strange to that.
    let update = &demo["update"];
    assert_eq!((&update["rows"], &update["new_clusters"]), (&3600.into(), &serde_json::json!([100])));
    assert!(number(&update["moved_median"]) < 0.06 && number(&update["moved_p90"]) < 0.15, "{update}");
    assert!(
        number(&update["outliers_before"]) == 100.0 && number(&update["outliers_now"]) < 30.0,
        "{update}"
    );
    for file in ["map.lion", "map.html", "map.png", "placements.parquet", "updated.lion", "update.html"] {
        assert!(folder.path("lion-demo").join(file).is_file(), "{file}");
    }
    assert_eq!(std::fs::read_dir(folder.path("lion-demo")).unwrap().count(), 6);
    let plot = folder.json("plot lion-demo/map.lion --placements lion-demo/placements.parquet -o d.svg");
    assert_eq!(plot["placed"], 1100);
    // A hundred diamonds in one place look like one: the picture says how many they are.
    let picture = String::from_utf8(folder.read("d.svg")).unwrap();
    assert!(picture.contains("outliers</title>") && picture.contains(">×100</text>"));
}

#[test]
fn help_shows_examples() {
    let folder = Folder::new();
    for verb in ["", "fit", "place", "info", "plot", "demo", "stream", "serve", "compare", "export", "replay"]
    {
        for help in ["--help", "-h"] {
            let help = folder.lion(&format!("{verb} {help}"));
            assert_eq!(help.code, Some(0));
            assert!(
                help.stdout.contains("Examples:") && help.stdout.contains(&format!("  lion {verb}")),
                "{verb}"
            );
        }
        let help = folder.lion(&format!("{verb} --help")).stdout;
        for flag in ["--json", "--seed", "random-state", "--threads", "--quiet", "--verbose"] {
            assert!(help.contains(flag), "{verb} {flag}");
        }
    }
    assert!(folder.lion("--version").stdout.starts_with("lion "));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = folder_with_map();
    let mut command = folder.command("info trees.lion");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let done = Finished::of(command);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
}
