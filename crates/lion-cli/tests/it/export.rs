//! `lion export --points`: live points as a table that other verbs take as it is.

use crate::serve::TestServer;
use crate::stream::folder_with_map;
use crate::tools::{Folder, SampleTable};
use lion_table::{Column, Field, Kind, read_columns};
use serde_json::{Value, json};
use std::path::Path;

/// Points near the rows of the table, and two that are like nothing in it.
fn posted(server: &TestServer) {
    let rows = SampleTable::new().rows;
    let like = |k: usize| rows[k].map(|v| f32::from(v) + 0.1 + k as f32 / 7.0);
    let mut points: Vec<Value> = (0..12)
        .map(|k| json!({"id": format!("p{k}"), "x": like(k), "label": if k % 3 == 0 { Some("oak, old") } else { None }}))
        .collect();
    points.push(json!({"id": "same", "x": rows[5]}));
    points.extend([900.0, 901.0].map(|v| json!({"id": format!("far \"{v}\""), "x": [v, v, v, v]})));
    points.push(json!({"id": "gone", "x": rows[7]}));
    let (status, body) = server.call("POST", "/api/points", &json!(points).to_string());
    assert_eq!(status, 200, "{body}");
    assert_eq!(server.call("DELETE", "/api/points/gone", "").0, 200);
}

/// Some columns of a table.
fn columns<const N: usize>(path: &Path, fields: [(&str, Kind); N]) -> [Column; N] {
    let fields = fields.map(|(name, kind)| Field::nullable(name, kind));
    read_columns(path, &fields).unwrap().try_into().unwrap()
}

const PLACES: [(&str, Kind); 6] = [
    ("id", Kind::Text),
    ("verdict", Kind::Text),
    ("x", Kind::F32),
    ("y", Kind::F32),
    ("score", Kind::F64),
    ("nearest_id", Kind::Text),
];

/// Without the coordinates of outliers, which depend on those that came before them.
fn of_insiders([id, verdict, x, y, score, nearest]: [Column; 6]) -> Vec<String> {
    let (Column::Text(id), Column::Text(verdict)) = (id, verdict) else { panic!("texts") };
    let (Column::F32(x), Column::F32(y), Column::F64(score)) = (x, y, score) else { panic!("numbers") };
    let Column::Text(nearest) = nearest else { panic!("texts") };
    let line = |k: usize| match verdict[k].as_deref() {
        Some("outlier") => format!("{:?} outlier {:?}", id[k], score[k]),
        verdict => {
            let at = [x[k], y[k]].map(|at| at.unwrap().to_bits());
            format!("{:?} {verdict:?} {at:?} {:?} {:?}", id[k], score[k], nearest[k])
        }
    };
    (0..id.len()).map(line).collect()
}

#[test]
fn points_are_placed_again_where_they_are_and_fitted() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    posted(&server);
    for kind in ["parquet", "csv", "jsonl", "arrow"] {
        let told = folder.json(&format!("export s.db --points rows.{kind}"));
        assert_eq!((&told["points"], &told["version"]), (&15.into(), &1.into()), "{told}");
        assert_eq!(told["columns"], json!(["a", "b", "c", "d"]));
        assert!(told["events"].is_null());
        let rows = folder.path(&format!("rows.{kind}"));
        let stored = of_insiders(columns(&rows, PLACES));
        folder.json(&format!("place trees.lion rows.{kind} -o again.parquet"));
        assert_eq!(of_insiders(columns(&folder.path("again.parquet"), PLACES)), stored, "{kind}");
        let live = server.json("/api/live");
        let [id, label, x, t] =
            columns(&rows, [("id", Kind::Text), ("label", Kind::Text), ("x", Kind::F64), ("t", Kind::F64)]);
        let texts = |name: &str| serde_json::from_value(live["points"][name].clone()).unwrap();
        assert_eq!((id, label), (Column::Text(texts("id")), Column::Text(texts("label"))), "{kind}");
        let Column::F64(x) = x else { panic!("numbers") };
        let there: Vec<f64> = serde_json::from_value(live["points"]["x"].clone()).unwrap();
        assert!(x.iter().zip(&there).all(|(x, there)| x.unwrap() as f32 == *there as f32), "{kind}");
        assert_eq!(t, Column::F64(serde_json::from_value(live["points"]["t"].clone()).unwrap()), "{kind}");
        // As it is: ids are names, labels are labels, and what is said of a point is no column of its row.
        let fitted = folder.json(&format!("fit rows.{kind} -o again.lion --perplexity 3 --iterations 50"));
        assert_eq!((&fitted["rows"], &fitted["dims"]), (&15.into(), &4.into()), "{kind}: {fitted}");
        let updated = folder.json(&format!("update trees.lion rows.{kind} -o next.lion"));
        assert_eq!(updated["added"], 15, "{kind}");
    }
    let words = folder.lion("export s.db --points rows.csv -o e.csv").stdout;
    assert!(words.contains("e.csv: 17 events, 1 to 17\nrows.csv: 15 points of 4 columns"), "{words}");
}

#[test]
fn columns_that_are_called_as_ours_stay_what_they_are() {
    let folder = Folder::new();
    let table = SampleTable::new();
    let rows: String = table.rows.iter().map(|[a, b, c, d]| format!("{a},{b},{c},{d}\n")).collect();
    folder.write("t.csv", format!("x,id,verdict,t\n{rows}"));
    folder.json("fit t.csv -o odd.lion --perplexity 5 --iterations 100");
    let server = TestServer::start(&folder, "serve odd.lion --store s.db");
    posted(&server);
    assert_eq!(folder.json("export s.db --points p.csv")["columns"], json!(["x", "id", "verdict", "t"]));
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    let header = text.lines().next().unwrap();
    assert!(
        header.starts_with("placed_id,label,x,id,verdict,t,placed_x,y,placed_verdict,score,"),
        "{header}"
    );
    assert!(header.ends_with(",cluster,placed_t"), "{header}");
    folder.json("place odd.lion p.csv -o again.csv");
    let stored = [("placed_id", Kind::Text), ("placed_verdict", Kind::Text), ("placed_x", Kind::F32)];
    let [id, verdict, x] = columns(&folder.path("p.csv"), stored);
    let again = [("id", Kind::Text), ("verdict", Kind::Text), ("x", Kind::F32)];
    let [id_again, verdict_again, x_again] = columns(&folder.path("again.csv"), again);
    assert_eq!((id, verdict), (id_again, verdict_again));
    let (Column::F32(x), Column::F32(x_again)) = (x, x_again) else { panic!("numbers") };
    assert_eq!(x[..13], x_again[..13], "all but the outliers");
    assert_eq!(folder.json("fit p.csv -o f.lion --perplexity 3 --iterations 50")["dims"], 4);
}

#[test]
fn a_map_without_names_of_columns_has_numbers() {
    let folder = Folder::new();
    let table = SampleTable::new();
    folder.write("t.npy", crate::tools::npy(120, 4, &table.values()));
    folder.json("fit t.npy -o plain.lion --perplexity 5 --iterations 100");
    let server = TestServer::start(&folder, "serve plain.lion --store s.db");
    posted(&server);
    assert_eq!(folder.json("export s.db --points p.parquet")["columns"], json!(["c1", "c2", "c3", "c4"]));
    assert_eq!(folder.json("place plain.lion p.parquet -o again.csv")["rows"], 15);
    let stored = of_insiders(columns(&folder.path("p.parquet"), PLACES));
    assert_eq!(of_insiders(columns(&folder.path("again.csv"), PLACES)), stored);
}

#[test]
fn events_tell_what_an_update_changed() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    posted(&server);
    let rows: Vec<Value> =
        (0..20).map(|k| json!({"id": format!("new-{k}"), "x": [900.0 + k as f32 / 9.0, 900.0, 900.0, 900.0], "label": "pine, \"tall\""})).collect();
    assert_eq!(server.call("POST", "/api/points", &json!(rows).to_string()).0, 200);
    assert_eq!(server.call("POST", "/api/map/update", "").0, 202);
    while server.json("/api/map/update")["state"] == "running" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let told = folder.json("export s.db -o e.csv");
    let kinds =
        [("kind", Kind::Text), ("version", Kind::U64), ("from_version", Kind::U64), ("born", Kind::Text)];
    let [kind, version, from, born] = columns(&folder.path("e.csv"), kinds);
    let last = told["events"].as_u64().unwrap() as usize - 1;
    let Column::Text(kind) = kind else { panic!("texts") };
    let at = kind.iter().position(|kind| kind.as_deref() == Some("map-updated")).unwrap();
    assert!(at <= last);
    let (Column::U64(version), Column::U64(from)) = (version, from) else { panic!("numbers") };
    assert_eq!((version[at], from[at], version[0]), (Some(2), Some(1), None));
    let Column::Text(born) = born else { panic!("texts") };
    let born: Vec<String> = serde_json::from_str(born[at].as_ref().unwrap()).unwrap();
    assert!(born.contains(&"pine, \"tall\"".to_owned()), "{born:?}");
    // The points are in the new version, whose file lies beside the store.
    assert_eq!(folder.json("export s.db --points p.parquet")["version"], 2);
    folder.json("place s.db.map-2.lion p.parquet -o again.csv");
    let stored = of_insiders(columns(&folder.path("p.parquet"), PLACES));
    assert_eq!(of_insiders(columns(&folder.path("again.csv"), PLACES)), stored);
}

#[test]
fn points_without_their_map_are_refused() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    posted(&server);
    server.kill();
    std::fs::create_dir(folder.path("away")).unwrap();
    std::fs::rename(folder.path("trees.lion"), folder.path("away/trees.lion")).unwrap();
    let refused = folder.lion("export s.db --points p.csv");
    refused.refuses(1, &["s.db: version 1 of its map (checksum", "--map"]);
    assert_eq!(folder.json("export s.db --points p.csv --map away/trees.lion")["points"], 15);
    folder.lion("export s.db").refuses(2, &["required"]);
    folder.lion("export s.db -o e.csv --map away/trees.lion").refuses(2, &["required"]);
    folder.lion("export t.csv --points p.csv").refuses(1, &["t.csv", "not a store"]);
    folder.lion("export s.db --points p.npy").refuses(2, &[".parquet"]);
}
