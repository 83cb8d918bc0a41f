//! `lion quality`, and the rows of a map as a table.

use crate::tools::{Folder, SampleTable};
use lion_table::{Column, Field, Kind, read_columns};
use lion_tsne::Map;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().named_csv());
    folder.json("fit t.csv --id name --label kind --perplexity 10 --iterations 300 --pca 2 -o m.lion");
    folder
}

#[test]
fn each_number_has_a_sentence() {
    let folder = folder();
    let told = folder.json("quality m.lion");
    for key in ["trustworthiness", "continuity", "neighbours_kept", "label_share"] {
        assert!(told[key].as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)), "{key}: {told}");
        assert!(told["sentences"][key].as_str().is_some_and(|words| words.ends_with('.')), "{key}");
    }
    // 100 is more than half of the rows.
    let scales: Vec<u64> =
        told["scales"].as_array().unwrap().iter().map(|at| at["neighbours"].as_u64().unwrap()).collect();
    assert_eq!(scales, [10, 30]);
    assert_eq!((&told["asked"], &told["scales"][0]["trustworthiness_error"]), (&120.into(), &0.0.into()));
    assert!(told["trustworthiness"].as_f64() > Some(0.8) && told["label_share"].as_f64() > Some(0.9));
    let words = folder.lion("quality m.lion").stdout;
    for part in ["all 120 different rows", "PCA", "trustworthiness", "KL divergence", "same perplexity"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!words.contains("perfect"));
}

#[test]
fn the_table_is_matched_by_id() {
    let folder = folder();
    let text = SampleTable::new().named_csv();
    let (head, rows) = text.split_once('\n').unwrap();
    let mut turned: Vec<&str> = rows.lines().collect();
    turned.reverse();
    folder.write("turned.csv", format!("{head}\n{}\n", turned.join("\n")));
    let columns = "--id name --label kind";
    let straight = folder.json(&format!("quality m.lion --rows t.csv {columns}"));
    let again = folder.json(&format!("quality m.lion --rows turned.csv {columns}"));
    assert_eq!((&straight["scales"], &straight["by"]), (&again["scales"], &again["by"]));
    // Two components of four columns: the table knows more.
    assert_ne!(straight["scales"], folder.json("quality m.lion")["scales"]);
    folder.write("short.csv", format!("{head}\n{}\n", turned[..50].join("\n")));
    folder
        .lion(&format!("quality m.lion --rows short.csv {columns}"))
        .refuses(1, &["short.csv", "r0", "m.lion"]);
}

#[test]
fn other_seeds_and_perplexities() {
    let folder = folder();
    let told = folder.json("quality m.lion --seeds 2 --perplexities 5,10");
    assert_eq!(told["stability"]["fits"], 2);
    assert!(told["stability"]["shared_with_map"].as_f64() > Some(0.2));
    assert_eq!(told["perplexities"].as_array().unwrap().len(), 2);
    assert!(told["advised_perplexity"] == 5.0 || told["advised_perplexity"] == 10.0);
    assert!(told["sentences"]["perplexity"].as_str().unwrap().contains("erplexity"));
    folder.lion("quality m.lion --perplexities 90").refuses(1, &["m.lion", "90", "39"]);
    folder.lion("quality m.lion --perplexities 0").refuses(2, &["at least 1"]);
    folder.lion("quality m.lion --seeds 1").refuses(2, &["--seeds"]);
    folder.lion("quality nowhere.lion").refuses(1, &["nowhere.lion"]);
}

#[test]
fn the_rows_of_a_map_are_a_table() {
    let folder = folder();
    let map = Map::load(folder.path("m.lion")).unwrap();
    for kind in ["csv", "parquet", "arrow", "jsonl"] {
        let file = format!("p.{kind}");
        let told = folder.json(&format!("export m.lion -o {file}"));
        assert_eq!(
            (&told["rows"], &told["columns"]),
            (&120.into(), &serde_json::json!(["id", "x", "y", "label"]))
        );
        let fields = [
            Field::new("id", Kind::Text),
            Field::new("x", Kind::F32),
            Field::new("y", Kind::F32),
            Field::nullable("label", Kind::Text),
        ];
        let columns = read_columns(&folder.path(&file), &fields).unwrap();
        let [Column::Text(id), Column::F32(x), Column::F32(y), Column::Text(label)] = &columns[..] else {
            panic!("{columns:?}")
        };
        for row in 0..120 {
            assert_eq!((id[row].as_deref(), x[row]), (Some(&*format!("r{row}")), Some(map.place(row)[0])));
            assert_eq!(
                (y[row], label[row].as_deref()),
                (Some(map.place(row)[1]), Some(map.labels().unwrap().get(row)))
            );
        }
    }
    folder.lion("export m.lion --points p.csv").refuses(1, &["m.lion", "--points"]);
    folder.lion("export t.csv -o q.csv").refuses(1, &["t.csv"]);
    folder.lion("export m.lion -o m.lion").refuses(2, &[".csv"]);
}

#[test]
fn a_table_of_your_own_is_evaluated() {
    let folder = folder();
    let told = folder.json("evaluate --data t.csv --id name --label kind --quick -o report");
    assert_eq!(told["rows_tested"], 36);
    assert!(told["label_accuracy"].as_f64() > Some(0.95));
    let numbers: serde_json::Value = serde_json::from_slice(&folder.read("report/report.json")).unwrap();
    let first = &numbers["methods"][0];
    assert!(
        first["ordinary"]["mean"].as_f64() > Some(0.9) && first["name"].as_str().unwrap().starts_with("lion")
    );
    assert_eq!(numbers["labels"].as_array().unwrap().len(), 4);
    // Clouds that are far apart: a class that was left out is an outlier.
    assert!(numbers["left_out"][0]["strangers_called"].as_f64() > Some(90.0));
    let page = String::from_utf8(folder.read("report/report.html")).unwrap();
    assert!(page.contains("Evaluation on t.csv") && page.contains("Classes that the map does not know"));
    let refused =
        |args: &str, parts: &[&str], code| folder.lion(&format!("evaluate {args} -o r")).refuses(code, parts);
    refused("--data t.csv", &["--label"], 2);
    refused("--data t.csv --id name --label kind --only cluster", &["--only"], 2);
    refused("--label kind", &["--data"], 2);
    folder.write("one.csv", "a,b,k\n".to_owned() + &"1,2,x\n3,1,x\n2,5,x\n".repeat(30));
    refused("--data one.csv --label k", &["one.csv", "same label"], 1);
}
