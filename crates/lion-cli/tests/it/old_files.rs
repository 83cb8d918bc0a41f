//! Maps and stores of version 0.1.0 (`tests/fixtures/0.1.0`, made by its program): they open, and place and serve the same.
//! Files of a version to come get one sentence.

use crate::serve::TestServer;
use crate::tools::Folder;
use serde_json::Value;
use std::path::Path;

/// The maps, and how rows are read that are placed into them.
const MAPS: [(&str, &str); 8] = [
    ("plane", "new.csv --id name"),
    ("space", "new.csv --id name"),
    ("pca", "new.csv --id name"),
    ("cosine", "new.csv --id name"),
    ("landmarks", "new.csv --id name"),
    ("adopted", "new.csv --id name"),
    ("duplicates", "new.csv --exclude name"),
    ("pictures", "new-idx3-ubyte"),
];

/// A folder with copies of all the old files.
fn folder() -> Folder {
    let folder = Folder::new();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/0.1.0");
    for file in std::fs::read_dir(old).unwrap() {
        let file = file.unwrap();
        folder.write(&file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap());
    }
    folder
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

fn done(folder: &Folder, args: &str) {
    let done = folder.lion(args);
    assert_eq!(done.code, Some(0), "{args}: {}", done.stderr);
}

/// Some columns of a CSV file, by row.
fn columns(folder: &Folder, file: &str, names: &[&str]) -> Vec<Vec<String>> {
    let text = text(folder, file);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at: Vec<usize> = names.iter().map(|name| head.iter().position(|has| has == name).unwrap()).collect();
    lines.map(|cells| at.iter().map(|&at| cells[at].to_owned()).collect()).collect()
}

#[test]
fn old_maps_say_what_they_said() {
    let folder = folder();
    for (map, _) in MAPS {
        let then: Value = serde_json::from_str(&text(&folder, &format!("{map}.json"))).unwrap();
        let now = folder.json(&format!("info {map}.lion"));
        for name in [
            "rows",
            "dims",
            "components",
            "perplexity",
            "iterations",
            "kl",
            "r_x",
            "r_y",
            "r_close",
            "power",
            "checksum",
        ] {
            assert_eq!(now[name], then[name], "{map}: {name}");
        }
        assert!(!now["checksum"].is_null() && !now["r_x"].is_null(), "{now}");
    }
}

/// The paper's rule gives the same bits as then. The attraction, which was called energy then, sums in another order.
#[test]
fn old_maps_place_rows_where_they_did() {
    /// So far are places apart at most, in units of maps that are about 20 wide.
    const APART: f64 = 1e-5;
    let folder = folder();
    let said = ["id", "verdict", "nearest_id", "neighbours", "group"];
    for (map, rows) in MAPS {
        for (then, rule) in [
            ("idw", "--local idw"),
            ("attraction", "--local attraction"),
            ("residual", "--local idw --pca-residual 95%"),
        ] {
            let then = format!("{map}-{then}.csv");
            if !folder.path(&then).exists() {
                continue;
            }
            done(&folder, &format!("place {map}.lion {rows} -o now.csv -q --verdict paper {rule}"));
            assert_eq!(columns(&folder, "now.csv", &said), columns(&folder, &then, &said), "{map} {rule}");
            let places = |file| columns(&folder, file, &["x", "y"]);
            for (now, then) in places("now.csv").concat().iter().zip(places(&then).concat()) {
                let apart = now.parse::<f64>().unwrap() - then.parse::<f64>().unwrap();
                assert!(apart.abs() < APART, "{map} {rule}: {now} was {then}");
            }
            // Where registers are as wide as those of the machine that made the files.
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512f") && rule.starts_with("--local idw") {
                assert_eq!(places("now.csv"), places(&then), "{map} {rule}");
            }
        }
        // A map without a calibration has the paper's rule, as it had.
        done(&folder, &format!("place {map}.lion {rows} -o now.csv -q --local idw"));
        let then = format!("{map}-idw.csv");
        assert_eq!(columns(&folder, "now.csv", &said), columns(&folder, &then, &said), "{map}");
    }
}

#[test]
fn old_maps_are_calibrated_and_updated() {
    let folder = folder();
    let more = text(&folder, "new.csv");
    let more: Vec<&str> =
        more.lines().enumerate().filter(|(at, _)| ![1, 2].contains(at)).map(|(_, l)| l).collect();
    folder.write("more.csv", more.join("\n") + "\n");
    for (map, rows) in MAPS {
        let table = match map {
            "duplicates" => "repeated.csv",
            "pictures" => "train-idx3-ubyte",
            _ => "train.csv --id name --label kind",
        };
        let place = ["id", "x", "y", "verdict"];
        done(&folder, &format!("place {map}.lion {rows} -o then.csv -q"));
        // Landmarks are some of the rows, and all that their map without PCA needs.
        let table = if map == "landmarks" { String::new() } else { format!("--rows {table}") };
        done(&folder, &format!("calibrate {map}.lion {table} -o calibrated.lion -q"));
        done(&folder, &format!("place calibrated.lion {rows} --verdict paper -o now.csv -q"));
        let (now, then) = (columns(&folder, "now.csv", &place), columns(&folder, "then.csv", &place));
        assert_eq!(now, then, "{map}: places do not change");
        done(&folder, &format!("place calibrated.lion {rows} --verdict calibrated -o now.csv -q"));

        let new = if rows.starts_with("new.csv --id") { "more.csv --id name" } else { rows };
        let said = folder.json(&format!("update {map}.lion {new} -o next.lion"));
        assert!(said["added"].as_u64() > Some(10) && said["parent"].is_string(), "{map}: {said}");
        assert_eq!(said["parent"], folder.json(&format!("info {map}.lion"))["checksum"]);
    }
}

/// The live points of a service, without what is new since.
fn points(live: &Value, of: &Value) -> Value {
    let names = of["points"].as_object().unwrap().keys();
    names.map(|name| (name.clone(), live["points"][name].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn old_stores_are_brought_up_to_date_and_served() {
    let folder = folder();
    let then: Value = serde_json::from_str(&text(&folder, "live.json")).unwrap();
    assert!(then["points"]["id"].as_array().unwrap().len() > 15, "{then}");
    for store in ["live.db", "killed.db"] {
        // Of a service that was stopped, and of one that was killed with its last changes in the log.
        assert_eq!(folder.path(&format!("{store}-wal")).exists(), store == "killed.db");
        let args = format!("serve plane.lion --store {store}");
        for _ in 0..2 {
            let server = TestServer::start(&folder, &args);
            let now = server.json("/api/live");
            assert_eq!(points(&now, &then), then["points"], "{store}");
            assert_eq!(now["last"], then["last"], "{store}");
            server.kill();
            done(&folder, &format!("export {store} -o now.jsonl -q"));
            assert_eq!(text(&folder, "now.jsonl"), text(&folder, "events.jsonl"), "{store}");
        }
        let server = TestServer::start(&folder, &args);
        let (status, answer) =
            server.call("POST", "/api/points", r#"[{"id": "later", "x": [6, 1, 3, 2, 0, 1]}]"#);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(server.json("/api/points/p2")["history"].as_array().map(Vec::len), Some(1));
        server.kill();
    }
}

#[test]
fn files_of_a_version_to_come_get_a_sentence() {
    let folder = folder();
    let map = folder.read("plane.lion");
    let version = br#""version":"1""#;
    let at = map.windows(version.len()).position(|window| window == version).unwrap();
    let newer = [&map[..at], br#""version":"3""#, &map[at + version.len()..]].concat();
    folder.write("newer.lion", newer);
    for args in [
        "info newer.lion",
        "place newer.lion new.csv --id name -o p.csv",
        "update newer.lion new.csv -o n.lion",
    ] {
        folder.lion(args).refuses(1, &["newer.lion", "version 3", "versions up to 2: update lion"]);
    }
    // The version of a store is a number at byte 60 of its header.
    let mut store = folder.read("live.db");
    assert_eq!(store[60..64], [0, 0, 0, 1]);
    store[63] = 3;
    folder.write("newer.db", store);
    folder.lion("serve plane.lion --store newer.db --port 0").refuses(
        1,
        &["newer.db", "this store has version 3 and this program knows up to 2: use a newer program"],
    );
    folder.lion("export newer.db -o e.jsonl").refuses(1, &["newer.db", "version 3", "use a newer program"]);
    assert!(!folder.path("p.csv").exists() && !folder.path("n.lion").exists());
}
