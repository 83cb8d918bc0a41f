//! Comparing two maps.

use crate::tools::{Folder, SampleTable};

/// Two maps: of the first 100 rows, and of all but the first 20, from another start.
fn folder_with_maps() -> Folder {
    let folder = Folder::new();
    let table = SampleTable::new().named_csv();
    let lines: Vec<&str> = table.lines().collect();
    folder.write("a.csv", lines[..101].join("\n"));
    folder.write("b.csv", [&lines[..1], &lines[21..]].concat().join("\n"));
    let fit = "--id name --label kind --perplexity 5 --iterations 200";
    folder.json(&format!("fit a.csv {fit} -o a.lion"));
    folder.json(&format!("fit b.csv {fit} --init random --seed 4 -o b.lion"));
    folder
}

#[test]
fn the_summary_and_the_table_agree() {
    let folder = folder_with_maps();
    let summary = folder.json("diff a.lion b.lion -o d.csv");
    for (key, wanted) in [("rows_a", 100), ("rows_b", 100), ("shared", 80), ("added", 20), ("removed", 20)] {
        assert_eq!(summary[key], wanted, "{key}");
    }
    for list in ["born", "gone", "split", "merged", "grown", "shrunk", "moved"] {
        assert!(summary["clusters"][list].is_array(), "{list}");
    }
    for key in ["kl", "label_share", "neighbours_kept"] {
        for map in ["a", "b"] {
            assert!(summary[format!("{key}_{map}")].as_f64().is_some_and(|v| v > 0.0), "{key}");
        }
    }
    assert!(summary["mirrored"].is_boolean() && summary["scale"].as_f64().is_some_and(|scale| scale > 0.0));
    let table = String::from_utf8(folder.read("d.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("id,moved,overlap,x_a,y_a,x_b,y_b,cluster_a,cluster_b"));
    let mut rows: Vec<(String, f64, f64)> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].to_owned(), cells[1].parse().unwrap(), cells[2].parse().unwrap())
        })
        .collect();
    assert_eq!((rows.len(), rows[0].0.as_str()), (80, "r20"));
    let overlap = rows.iter().map(|row| row.2).sum::<f64>() / 80.0;
    assert!((summary["overlap_mean"].as_f64().unwrap() - overlap).abs() < 1e-9);
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let median = (rows[39].1 + rows[40].1) / 2.0;
    assert!((summary["moved_median"].as_f64().unwrap() - median).abs() < 1e-9);
    assert!(rows.iter().all(|row| row.1 >= 0.0 && (0.0..=1.0).contains(&row.2)));
}

#[test]
fn every_kind_of_file_is_written_at_once_and_again_the_same() {
    let folder = folder_with_maps();
    let done =
        folder.lion("diff a.lion b.lion -o d.html -o d.png -o d.svg -o d.parquet -o d.jsonl --threads 1");
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    for part in ["80 in both, 20 only in a.lion, 20 only in b.lion", "map radii", "label share", "d.html"] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let page = String::from_utf8(folder.read("d.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("r119") && page.contains("Play"));
    assert_eq!(&folder.read("d.png")[..8], b"\x89PNG\r\n\x1a\n");
    folder.json("diff a.lion b.lion -o e.html -o e.png -o e.csv --threads 2");
    assert!(folder.read("d.html") == folder.read("e.html") && folder.read("d.png") == folder.read("e.png"));
}

#[test]
fn a_map_does_not_differ_from_itself() {
    let folder = folder_with_maps();
    let summary = folder.json("diff a.lion a.lion");
    assert_eq!((&summary["moved_p90"], &summary["overlap_mean"]), (&0.0.into(), &1.0.into()));
    assert_eq!(summary["clusters"]["born"], serde_json::json!([]));
    let quiet = folder.lion("diff a.lion a.lion -q");
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn maps_of_one_and_three_dimensions_are_compared_and_drawn() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().csv());
    for dims in [1, 3] {
        for seed in [1, 2] {
            let init = if seed == 1 { "pca" } else { "random" };
            folder.json(&format!(
                "fit t.csv --dims {dims} --init {init} --seed {seed} --perplexity 5 --iterations 100 -o m{seed}.lion"
            ));
        }
        let summary =
            folder.json(&format!("diff m1.lion m2.lion -o d{dims}.html -o d{dims}.png -o d{dims}.csv"));
        assert_eq!(summary["shared"], 120);
        assert!(summary["label_share_a"].is_null());
        let header = String::from_utf8(folder.read(&format!("d{dims}.csv"))).unwrap();
        assert!(
            header.starts_with(
                ["", "id,moved,overlap,x_a,x_b,", "", "id,moved,overlap,x_a,y_a,z_a,x_b,"][dims]
            )
        );
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder_with_maps();
    let table = SampleTable::new().csv();
    folder.write("t.csv", table);
    folder.json("fit t.csv --perplexity 5 --iterations 50 -o numbers.lion");
    folder.json("fit a.csv --id name --label kind --dims 3 --perplexity 5 --iterations 50 -o three.lion");
    folder.lion("diff a.lion numbers.lion").refuses(1, &["share no ids", "--id"]);
    folder.lion("diff a.lion three.lion").refuses(1, &["2 dimensions", "3"]);
    folder.lion("diff a.lion none.lion").refuses(1, &["none.lion", "no such file"]);
    folder.lion("diff a.lion b.lion -o a.lion").refuses(2, &["a.lion", "must end in .html"]);
    folder.lion("diff a.lion b.lion -o no/d.html").refuses(1, &["no/d.html", "make the folder first"]);
    folder.lion("diff a.lion").refuses(2, &["required arguments"]);
}
