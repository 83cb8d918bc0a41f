//! `lion place`: every column in every format, every option, the same bits in one pass as at once.

mod choices;
mod other;
mod refused;
mod said;

use crate::tools::{Finished, Folder, SampleTable, npy};
use lion_table::{Column, Field, Kind, ReadOptions, read_columns};
use lion_tsne::{Lion, LionOptions, Map, Matrix, Verdict};

/// A folder with the sample's map, `m.lion`, and new rows for it, `new.csv`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::new().named_csv());
    folder.json("fit t.csv --id name --label kind -o m.lion --perplexity 5 --iterations 100");
    folder.write("new.csv", csv(&new_rows()));
    folder
}

/// 20 rows of the sample itself, 20 beside such a row, two strangers that are alike, and one that is not.
fn new_rows() -> Vec<[f32; 4]> {
    let rows: Vec<[f32; 4]> = SampleTable::new().rows.iter().map(|row| row.map(f32::from)).collect();
    let beside = rows[20..40].iter().map(|row| row.map(|value| value + 0.25));
    let strangers = [[999.0, 999.0, 0.0, 0.0], [0.0, 0.0, 900.0, 0.0], [999.0, 999.0, 0.5, 0.0]];
    rows[..20].iter().copied().chain(beside).chain(strangers).collect()
}

fn csv(rows: &[[f32; 4]]) -> String {
    let line = |[a, b, c, d]: &[f32; 4]| format!("{a},{b},{c},{d}\n");
    "a,b,c,d\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

/// Every column that a file of placements has, in the order promised.
fn fields(dims: usize) -> Vec<Field> {
    let mut fields = vec![Field::new("id", Kind::Text)];
    fields.extend(["x", "y", "z"][..dims].iter().map(|&name| Field::new(name, Kind::F32)));
    fields.push(Field::new("verdict", Kind::Text));
    fields.push(Field::new("score", Kind::F64));
    fields.push(Field::nullable("p_distance", Kind::F64));
    fields.push(Field::nullable("p_neighbours", Kind::F64));
    fields.push(Field::nullable("off_plane", Kind::F64));
    fields.push(Field::new("nearest_id", Kind::Text));
    fields.push(Field::new("nearest_distance", Kind::F32));
    fields.push(Field::new("neighbours", Kind::U32));
    fields.push(Field::nullable("group", Kind::U64));
    fields.push(Field::nullable("label", Kind::Text));
    fields.push(Field::nullable("label_share", Kind::F64));
    fields
}

/// The columns of a file of placements in the plane.
struct PlacedTable {
    columns: Vec<Column>,
}

impl PlacedTable {
    fn read(folder: &Folder, name: &str) -> Self {
        Self { columns: read_columns(&folder.path(name), &fields(2)).unwrap() }
    }

    fn column(&self, name: &str) -> &Column {
        let at = fields(2).iter().position(|field| field.name == name).unwrap();
        &self.columns[at]
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let Column::Text(texts) = self.column(name) else { panic!("{name} is no text") };
        texts.iter().map(|text| text.as_deref().unwrap()).collect()
    }

    fn floats(&self, name: &str) -> Vec<f64> {
        match self.column(name) {
            Column::F32(values) => values.iter().map(|value| f64::from(value.unwrap())).collect(),
            Column::F64(values) => values.iter().map(|value| value.unwrap()).collect(),
            other => panic!("{name} has no floats: {other:?}"),
        }
    }

    fn groups(&self) -> Vec<Option<u64>> {
        let Column::U64(groups) = self.column("group") else { panic!("no groups") };
        groups.clone()
    }

    fn count(&self, verdict: &str) -> usize {
        self.texts("verdict").iter().filter(|other| **other == verdict).count()
    }
}

#[test]
fn every_format_has_every_column() {
    let folder = folder();
    for file in ["p.csv", "p.csv.gz", "p.parquet", "p.arrow", "p.feather", "p.jsonl"] {
        let summary = folder.json(&format!("place m.lion new.csv -o {file}"));
        assert_eq!((&summary["rows"], &summary["file"]), (&43.into(), &file.into()));
        let columns = PlacedTable::read(&folder, file).columns;
        assert_eq!(columns, PlacedTable::read(&folder, "p.csv").columns, "{file}");
    }
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    assert_eq!(
        text.lines().next(),
        Some(
            "id,x,y,verdict,score,p_distance,p_neighbours,off_plane,nearest_id,nearest_distance,neighbours,group,label,label_share"
        )
    );
    let line: serde_json::Value =
        serde_json::from_slice(folder.read("p.jsonl").split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&line["id"], &line["verdict"], &line["group"]), (&"0".into(), &"exact".into(), &().into()));
    assert_eq!(line.as_object().unwrap().len(), 14);

    folder.json("place m.lion new.csv -o p.npy");
    let coordinates = lion_table::read(&folder.path("p.npy"), &ReadOptions::default()).unwrap();
    assert_eq!((coordinates.rows, coordinates.cols), (43, 2));
    let placed = PlacedTable::read(&folder, "p.csv");
    for (row, (x, y)) in placed.floats("x").into_iter().zip(placed.floats("y")).enumerate() {
        assert_eq!(coordinates.row(row), Some(&[x as f32, y as f32][..]));
    }
}

#[test]
fn maps_in_space_have_a_third_coordinate() {
    let folder = folder();
    folder.json("fit t.csv --id name --label kind --dims 3 -o space.lion --perplexity 5 --iterations 50");
    folder.json("place space.lion new.csv -o p.csv");
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    assert!(text.starts_with("id,x,y,z,verdict,"), "{text}");
    let columns = read_columns(&folder.path("p.csv"), &fields(3)).unwrap();
    let Column::F32(z) = &columns[3] else { panic!("no third coordinate") };
    let map = Map::load(folder.path("space.lion")).unwrap();
    assert!((0..20).all(|row| z[row] == Some(map.place(row)[2])));
}

#[test]
fn maps_on_a_line_have_one_coordinate() {
    let folder = folder();
    let fit = "fit t.csv --id name --label kind --dims 1 -o line.lion --perplexity 5 --iterations 50";
    assert_eq!(folder.json(fit)["map_dims"], 1);
    assert!(folder.lion("info line.lion").stdout.contains("1 dimension, perplexity 5"));
    let map = Map::load(folder.path("line.lion")).unwrap();
    for local in ["energy", "attraction", "idw"] {
        folder.json(&format!("place line.lion new.csv -o p.csv --local {local}"));
        let text = String::from_utf8(folder.read("p.csv")).unwrap();
        assert!(text.starts_with("id,x,verdict,"), "{text}");
        let columns = read_columns(&folder.path("p.csv"), &fields(1)).unwrap();
        let Column::F32(x) = &columns[1] else { panic!("no coordinate") };
        assert!((0..20).all(|row| x[row] == Some(map.place(row)[0])));
    }
    folder.json("place line.lion new.csv -o p.npy");
    assert_eq!(lion_table::read(&folder.path("p.npy"), &ReadOptions::default()).unwrap().cols, 1);
    let places: Vec<f32> = (0..120).map(|row| (row % 7) as f32 * 3.0 + row as f32 * 0.1).collect();
    folder.write("y.npy", npy(120, 1, &places));
    let adopted = folder.json("fit t.csv --id name --label kind --embedding y.npy -o other.lion");
    assert_eq!((&adopted["map_dims"], &adopted["adopted"]), (&1.into(), &true.into()));
    folder.json("place other.lion new.csv -o q.csv");
    for picture in ["line.svg", "line.png", "line.html"] {
        let drawn = folder.json(&format!("plot line.lion --placements p.csv -o {picture}"));
        assert_eq!((&drawn["points"], &drawn["placed"]), (&120.into(), &43.into()));
    }
    for method in ["idw", "fixed-point", "gd-closest", "opentsne-median"] {
        folder.json(&format!("place line.lion new.csv --method {method} -o q.csv"));
    }
}

#[test]
fn maps_on_a_line_are_refused_where_two_coordinates_are_needed() {
    let folder = folder();
    folder.json("fit t.csv --id name --label kind --dims 1 -o line.lion --perplexity 5 --iterations 50");
    folder.json("place m.lion new.csv -o plane.csv");
    folder
        .lion("plot line.lion --placements plane.csv -o q.svg")
        .refuses(1, &["plane.csv has places of 2 dimensions, and the map has 1"]);
    folder
        .lion_reading("stream line.lion", "")
        .refuses(1, &["a live map has 2 or 3 dimensions, and this map has 1"]);
    let served = folder.lion("serve line.lion --port 0 --store line.db");
    served.refuses(1, &["a live map has 2 or 3 dimensions, and this map has 1: fit the rows again with 2"]);
    assert_eq!(served.stderr.matches("a live map").count(), 1, "{}", served.stderr);
    assert!(!folder.path("line.db").exists());
}

#[test]
fn each_row_gets_its_verdict() {
    let folder = folder();
    let summary = folder.json("place m.lion new.csv -o p.parquet");
    let placed = PlacedTable::read(&folder, "p.parquet");
    let verdicts = placed.texts("verdict");
    assert!(verdicts[..20].iter().all(|verdict| *verdict == "exact"), "{verdicts:?}");
    assert!(verdicts[20..40].iter().all(|verdict| ["interpolated", "beside-outlier"].contains(verdict)));
    assert_eq!(verdicts[40..], ["outlier"; 3]);
    for (key, verdict) in [
        ("exact", "exact"),
        ("interpolated", "interpolated"),
        ("beside_outlier", "beside-outlier"),
        ("outlier", "outlier"),
    ] {
        assert_eq!(summary[key], placed.count(verdict), "{key}");
    }
    // Two of the strangers are alike, and lie beside each other.
    let groups = placed.groups();
    assert!(groups[..40].iter().all(Option::is_none));
    assert!(groups[40].is_some() && groups[40] == groups[42] && groups[41] != groups[40]);
    assert_eq!(summary["groups"], 2);
    let (x, y) = (placed.floats("x"), placed.floats("y"));
    let apart = |a: usize, b: usize| (x[a] - x[b]).hypot(y[a] - y[b]);
    assert!(apart(40, 42) <= summary["r_close"].as_f64().unwrap() * 1.001);
    assert!(apart(40, 41) >= summary["r_y"].as_f64().unwrap() * 0.999);
    // Scores are p-values of 120 rows, and small for strangers.
    let scores = placed.floats("score");
    assert!(
        scores[..40].iter().all(|score| *score > 0.01)
            && scores[40..].iter().all(|score| *score == 1.0 / 121.0)
    );
    let distances = placed.floats("nearest_distance");
    assert!(distances[..20].iter().all(|distance| *distance == 0.0));
    assert!(distances[20..40].iter().all(|distance| (distance - 0.5).abs() < 1e-3), "{distances:?}");
    // Nearest rows go by the names that the map has for them.
    assert_eq!(placed.texts("nearest_id")[..40], (0..40).map(|i| format!("r{i}")).collect::<Vec<_>>());
}

#[test]
fn training_rows_give_themselves() {
    let folder = folder();
    let before = folder.read("m.lion");
    let summary = folder.json("place m.lion t.csv --id name --label kind -o p.csv");
    assert_eq!((&summary["exact"], &summary["rows"]), (&120.into(), &120.into()));
    assert_eq!(folder.read("m.lion"), before, "the map does not change");
    assert_eq!(summary["checksum"], folder.json("info m.lion")["checksum"]);
    let (placed, map) = (PlacedTable::read(&folder, "p.csv"), Map::load(folder.path("m.lion")).unwrap());
    let (x, y) = (placed.floats("x"), placed.floats("y"));
    for i in 0..120 {
        assert_eq!([x[i] as f32, y[i] as f32], map.place(i));
    }
    assert_eq!(placed.texts("id"), placed.texts("nearest_id"));
    assert_eq!(placed.texts("id")[7], "r7");
}

/// Rows for several batches: near the sample's, but for every fiftieth.
fn many_rows(rows: usize) -> Vec<f32> {
    let sample = SampleTable::of(rows);
    let far = |i: usize| if i % 50 == 49 { 300.0 + 40.0 * (i % 7) as f32 } else { 0.125 };
    sample.rows.iter().enumerate().flat_map(|(i, row)| row.map(|value| f32::from(value) + far(i))).collect()
}

#[test]
fn one_pass_in_batches_equals_the_library_at_once() {
    let folder = folder();
    let values = many_rows(9000);
    folder.write("many.npy", npy(9000, 4, &values));
    let summary = folder.json("place m.lion many.npy -o p.parquet");
    assert_eq!(summary["rows"], 9000);
    assert!(summary["outlier"].as_u64().unwrap() >= 180, "{summary}");

    let lion = Lion::new(Map::load(folder.path("m.lion")).unwrap(), &LionOptions::default()).unwrap();
    let whole = lion.place(&Matrix::new(9000, 4, values).unwrap()).unwrap();
    let placed = PlacedTable::read(&folder, "p.parquet");
    let bits = |name: &str| placed.floats(name).into_iter().map(|v| v as f32).collect::<Vec<f32>>();
    assert_eq!(bits("x"), whole.iter().map(|row| row.place[0]).collect::<Vec<_>>());
    assert_eq!(bits("y"), whole.iter().map(|row| row.place[1]).collect::<Vec<_>>());
    assert_eq!(placed.texts("verdict"), whole.iter().map(|row| row.verdict.as_str()).collect::<Vec<_>>());
    assert_eq!(placed.floats("score"), whole.iter().map(|row| row.score).collect::<Vec<_>>());
    assert_eq!(bits("nearest_distance"), whole.iter().map(|row| row.nearest_distance).collect::<Vec<_>>());
    assert_eq!(placed.groups(), whole.iter().map(|row| row.group).collect::<Vec<_>>());
    let nearest = whole.iter().map(|row| format!("r{}", row.nearest)).collect::<Vec<_>>();
    assert_eq!(placed.texts("nearest_id"), nearest);
    assert_eq!(
        placed.column("neighbours"),
        &Column::from(whole.iter().map(|row| row.neighbours).collect::<Vec<_>>())
    );
    let outliers = whole.iter().filter(|row| row.verdict == Verdict::Outlier).count();
    assert_eq!(summary["outlier"], outliers);

    // Other formats come in other batches, and threads are no matter.
    let mut jsonl = String::new();
    for row in many_rows(9000).chunks(4) {
        jsonl += &format!("{row:?}\n");
    }
    folder.write("many.jsonl", jsonl);
    folder.json("place m.lion many.jsonl --threads 1 -o q.parquet");
    assert_eq!(folder.read("q.parquet"), folder.read("p.parquet"));
    folder.json("place m.lion many.jsonl --threads 3 -o q.parquet");
    assert_eq!(folder.read("q.parquet"), folder.read("p.parquet"));
}

/// What would grow by 100 MB if rows were kept grows by a few.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_table() {
    let folder = folder();
    let peak = |rows: usize| {
        folder.write("many.npy", npy(rows, 4, &many_rows(rows)));
        // A single group of outliers: these few stay in memory, one row each.
        let summary = folder.json("place m.lion many.npy -o p.parquet");
        assert_eq!(summary["rows"], rows);
        summary["peak_rss_bytes"].as_f64().unwrap() / 1e6
    };
    let (small, large) = (peak(100_000), peak(1_000_000));
    assert!(large < small + 30.0, "{small} MB, then {large} MB");
}

#[test]
fn the_summary_has_the_promised_keys() {
    let folder = folder();
    let summary = folder.json("place m.lion new.csv -o p.csv");
    let mut promised: Vec<&str> =
        "method rows exact interpolated beside_outlier outlier groups accuracy_10nn seconds phases \
         r_x r_y r_close power local verdict alpha promised fdr memory_bytes peak_rss_bytes map checksum file"
            .split_whitespace()
            .collect();
    promised.sort_unstable();
    assert_eq!(summary.as_object().unwrap().keys().collect::<Vec<_>>(), promised);
    let phases: Vec<&String> = summary["phases"].as_object().unwrap().keys().collect();
    assert_eq!(phases, ["load", "outliers", "place", "write"]);
    let info = folder.json("info m.lion");
    for key in ["r_x", "r_y", "r_close", "power", "checksum"] {
        assert_eq!(summary[key], info[key], "{key}");
    }
    let words = folder.lion("place m.lion new.csv -o p.csv");
    assert_eq!((words.code, words.stderr.as_str()), (Some(0), ""));
    for part in [
        "rows",
        "exact",
        "interpolated",
        "beside-outlier",
        "outlier",
        "in 2 groups",
        "r_x",
        "seconds",
        "next: lion plot m.lion --placements p.csv -o p.html",
    ] {
        assert!(words.stdout.contains(part), "{part}: {}", words.stdout);
    }
    let quiet = folder.lion("place m.lion new.csv -o p.csv -q");
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn pipes_go_both_ways() {
    let folder = folder();
    folder.json("place m.lion new.csv -o p.csv");
    let expected = String::from_utf8(folder.read("p.csv")).unwrap();
    let piped = folder.lion_reading("place m.lion - -o -", &csv(&new_rows()));
    assert_eq!((piped.code, piped.stdout.as_str()), (Some(0), expected.as_str()));
    assert!(piped.stderr.contains("interpolated"), "the summary goes elsewhere: {}", piped.stderr);
    let quiet = folder.lion_reading("place m.lion - -o - -q", &csv(&new_rows()));
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), (expected.as_str(), ""));
    folder
        .lion("place m.lion new.csv -o - --json")
        .refuses(2, &["--json and -o - both want standard output"]);

    let mut command = folder.command("place m.lion new.csv -o - -q");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    let done = Finished::of(command);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "a reader that leaves is no error");
}

#[test]
fn pictures_show_placements() {
    let folder = folder();
    folder.write("kinds.txt", "elm\n".repeat(43));
    for file in ["p.parquet", "p.arrow", "p.csv", "p.jsonl", "p.npy"] {
        folder.json(&format!("place m.lion new.csv -o {file}"));
        let drawn = folder.json(&format!("plot m.lion --placements {file} -o p.svg"));
        assert_eq!((&drawn["points"], &drawn["placed"]), (&120.into(), &43.into()), "{file}");
        let figure = String::from_utf8(folder.read("p.svg")).unwrap();
        // An array of places does not know which rows are outliers.
        let outliers = if file == "p.npy" { "outlier" } else { "3 outliers" };
        assert!(figure.contains("43 placed"), "{file}");
        assert_eq!(figure.contains(outliers), file != "p.npy", "{file}");
    }
    folder.json("plot m.lion --placements p.csv --placed-labels kinds.txt -o p.html");
    let page = String::from_utf8(folder.read("p.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    folder.json("plot m.lion --placements p.csv --placed-labels kinds.txt -o p.png --width 300");

    folder
        .lion("plot m.lion --placements none.csv -o q.svg")
        .refuses(1, &["none.csv: there is no such file"]);
    folder.lion("plot m.lion --placements new.csv -o q.svg").refuses(1, &["new.csv has no column id"]);
    folder.write("few.txt", "elm\n");
    folder
        .lion("plot m.lion --placements p.csv --placed-labels few.txt -o q.svg")
        .refuses(1, &["few.txt has 1 label, and p.csv has 43 rows"]);
    folder
        .lion("plot m.lion --placed-labels few.txt -o q.svg")
        .refuses(2, &["required arguments were not provided"]);
    folder.lion("plot m.lion --placements p.csv -o p.csv").refuses(2, &["p.csv"]);
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    folder.write("odd.csv", text.replacen("exact", "perhaps", 1));
    folder
        .lion("plot m.lion --placements odd.csv -o q.svg")
        .refuses(1, &["odd.csv, row 0, column verdict holds \"perhaps\""]);
    folder.json("fit t.csv --id name --label kind --dims 3 -o space.lion --perplexity 5 --iterations 20");
    folder.lion("plot space.lion --placements p.csv -o q.svg").refuses(1, &["p.csv has no column z"]);
    folder
        .lion("plot space.lion --placements p.npy -o q.svg")
        .refuses(1, &["p.npy has 2 columns", "3 dimensions"]);
    assert!(!folder.path("q.svg").exists());
}
