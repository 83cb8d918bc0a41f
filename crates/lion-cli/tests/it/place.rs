//! `lion place`: every column in every format, every option, the same bits in one pass as at once.

use crate::tools::{Finished, Folder, Sample, npy};
use lion_table::{Column, Field, Kind, ReadOptions, read_columns};
use lion_tsne::{Lion, LionOptions, Map, Matrix, Verdict};

/// A folder with the sample's map, `m.lion`, and new rows for it, `new.csv`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", Sample::new().named_csv());
    folder.json("fit t.csv --id name --label kind -o m.lion --perplexity 5 --iterations 100");
    folder.write("new.csv", csv(&new_rows()));
    folder
}

/// 20 rows of the sample itself, 20 beside such a row, two strangers that are alike, and one that is not.
fn new_rows() -> Vec<[f32; 4]> {
    let rows: Vec<[f32; 4]> = Sample::new().rows.iter().map(|row| row.map(f32::from)).collect();
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
    fields.push(Field::nullable("off_plane", Kind::F64));
    fields.push(Field::new("nearest_id", Kind::Text));
    fields.push(Field::new("nearest_distance", Kind::F32));
    fields.push(Field::new("neighbours", Kind::U32));
    fields.push(Field::nullable("group", Kind::U64));
    fields
}

/// The columns of a file of placements in the plane.
struct Placed {
    columns: Vec<Column>,
}

impl Placed {
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
        let columns = Placed::read(&folder, file).columns;
        assert_eq!(columns, Placed::read(&folder, "p.csv").columns, "{file}");
    }
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    assert_eq!(
        text.lines().next(),
        Some("id,x,y,verdict,score,off_plane,nearest_id,nearest_distance,neighbours,group")
    );
    let line: serde_json::Value =
        serde_json::from_slice(folder.read("p.jsonl").split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&line["id"], &line["verdict"], &line["group"]), (&"0".into(), &"exact".into(), &().into()));
    assert_eq!(line.as_object().unwrap().len(), 10);

    folder.json("place m.lion new.csv -o p.npy");
    let coordinates = lion_table::read(&folder.path("p.npy"), &ReadOptions::default()).unwrap();
    assert_eq!((coordinates.rows, coordinates.cols), (43, 2));
    let placed = Placed::read(&folder, "p.csv");
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
fn each_row_gets_its_verdict() {
    let folder = folder();
    let summary = folder.json("place m.lion new.csv -o p.parquet");
    let placed = Placed::read(&folder, "p.parquet");
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
    // Scores are shares, and small for strangers.
    let scores = placed.floats("score");
    assert!(scores[..20].iter().all(|score| *score == 1.0) && scores[40..].iter().all(|score| *score == 0.0));
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
    let (placed, map) = (Placed::read(&folder, "p.csv"), Map::load(folder.path("m.lion")).unwrap());
    let (x, y) = (placed.floats("x"), placed.floats("y"));
    for i in 0..120 {
        assert_eq!([x[i] as f32, y[i] as f32], map.place(i));
    }
    assert_eq!(placed.texts("id"), placed.texts("nearest_id"));
    assert_eq!(placed.texts("id")[7], "r7");
}

/// Rows for several batches: near the sample's, but for every fiftieth.
fn many_rows(rows: usize) -> Vec<f32> {
    let sample = Sample::of(rows);
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
    let placed = Placed::read(&folder, "p.parquet");
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
fn options_do_what_they_say() {
    let folder = folder();
    let place = |args: &str| {
        let summary = folder.json(&format!("place m.lion new.csv -o p.csv {args}"));
        (summary, Placed::read(&folder, "p.csv"))
    };
    let places = |placed: &Placed| (placed.floats("x"), placed.floats("y"));
    let (plain, plain_rows) = place("");
    assert_eq!((&plain["local"], &plain["off_plane"]), (&"energy".into(), &false.into()));

    let (narrow, rows) = place("--radius 10%");
    assert!(narrow["r_x"].as_f64() < plain["r_x"].as_f64());
    assert!(rows.count("outlier") > plain_rows.count("outlier"));
    assert_eq!(place("--radius 0.75").0["r_x"], 0.75);
    assert_eq!(place("--radius 2000").1.count("outlier"), 0);

    let (idw, idw_rows) = place("--local idw");
    assert_eq!((&idw["local"], &idw["power"]), (&"idw".into(), &plain["power"]));
    assert_ne!(places(&idw_rows).0[20..40], places(&plain_rows).0[20..40]);
    assert_eq!(places(&idw_rows).0[..20], places(&plain_rows).0[..20]);
    let (weak, weak_rows) = place("--local idw --power 1.5");
    assert_eq!(weak["power"], 1.5);
    assert_ne!(places(&weak_rows), places(&idw_rows));
    let taper = place("--local idw --power 1.5 --taper triangle").1;
    assert_ne!(places(&taper), places(&weak_rows));
    assert_ne!(places(&place("--local idw --power 1.5 --taper trapezoid").1), places(&taper));
    let wide = "--local idw --power 1.5 --radius 300";
    assert_ne!(places(&place(&format!("{wide} --split-clusters")).1), places(&place(wide).1));

    let (far, rows) = place("--r-y 500 --r-close 0.25");
    assert_eq!((&far["r_y"], &far["r_close"]), (&500.0.into(), &0.25.into()));
    let (x, y) = places(&rows);
    assert!((x[40] - x[41]).hypot(y[40] - y[41]) >= 499.0);
    let random = |seed: u64| places(&place(&format!("--outliers random --seed {seed}")).1);
    assert_eq!(random(1), random(1));
    assert!((2..8).any(|seed| random(seed) != random(1)));
    assert_eq!(places(&place("--method lion").1), places(&plain_rows));
}

#[test]
fn strangers_off_the_plane_are_found() {
    let folder = folder();
    folder.json("fit t.csv --id name --label kind --pca 2 -o flat.lion --perplexity 5 --iterations 50");
    // Far from every row, but hardly in the plane of the first two components.
    let map = Map::load(folder.path("flat.lion")).unwrap();
    let pca = map.preprocess().pca().unwrap();
    let row = Sample::new().rows[0].map(f32::from);
    let mut away = [1.0f32, -1.0, 1.0, -1.0];
    for c in 0..2 {
        let axis: Vec<f32> = (0..4).map(|d| pca.components().row(c)[d]).collect();
        let along: f32 = axis.iter().zip(&away).map(|(a, b)| a * b).sum();
        away.iter_mut().zip(&axis).for_each(|(value, a)| *value -= along * a);
    }
    let stranger = [0, 1, 2, 3].map(|d| row[d] + 400.0 * away[d]);
    folder.write("off.csv", csv(&[row, stranger]));
    let shared = folder.json("place flat.lion off.csv -o p.csv");
    assert_eq!((&shared["off_plane"], &shared["outlier"]), (&true.into(), &1.into()));
    let rows = Placed::read(&folder, "p.csv");
    let Column::F64(shares) = rows.column("off_plane") else { panic!("no shares") };
    assert!(shares[0].unwrap() > 0.0 && shares[1] == Some(0.0), "{shares:?}");
    assert_eq!(rows.floats("score")[1], 0.0);
    assert_eq!(folder.json("place flat.lion off.csv -o p.csv --off-plane 99.9%")["outlier"], 1);
    let none = folder.json("place flat.lion off.csv -o p.csv --off-plane none");
    assert_eq!((&none["off_plane"], &none["outlier"]), (&false.into(), &0.into()));
}

#[test]
fn labels_tell_how_many_land_among_their_own_kind() {
    let folder = folder();
    let accuracy =
        |args: &str| folder.json(&format!("place m.lion {args} -o p.csv"))["accuracy_10nn"].clone();
    let own = accuracy("t.csv --id name --label kind");
    assert!(own.as_f64().unwrap() > 0.95, "{own}");
    folder.write("plain.csv", Sample::new().csv());
    folder.write("kinds.txt", Sample::new().labels.join("\n"));
    assert_eq!(accuracy("plain.csv --labels kinds.txt"), own);
    folder.write("wrong.txt", "beech\n".repeat(120));
    assert_eq!(accuracy("plain.csv --labels wrong.txt"), 0.0);
    assert_eq!(accuracy("plain.csv"), serde_json::Value::Null);
    let words = folder.lion("place m.lion t.csv --id name --label kind -o p.csv").stdout;
    assert!(words.contains("accuracy"), "{words}");
}

#[test]
fn the_summary_has_the_promised_keys() {
    let folder = folder();
    let summary = folder.json("place m.lion new.csv -o p.csv");
    let mut promised: Vec<&str> =
        "rows exact interpolated beside_outlier outlier groups accuracy_10nn seconds phases \
         r_x r_y r_close power local off_plane peak_rss_bytes map checksum file"
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
fn what_looks_wrong_is_said() {
    let folder = folder();
    let strangers = [[999.0, 0.0, 0.0, 0.0], [0.0, 999.0, 0.0, 0.0], [20.0, 20.0, 20.0, 20.0]];
    folder.write("strange.csv", csv(&strangers));
    let done = folder.lion("place m.lion strange.csv -o p.csv");
    assert_eq!(done.code, Some(0));
    assert!(done.stderr.contains("of 3 rows are outliers"), "{}", done.stderr);
    assert!(done.stderr.contains("of another kind, or scaled differently"), "{}", done.stderr);
    let idle = folder.lion("place m.lion new.csv -o p.csv --power 3");
    assert_eq!(idle.stderr, "note: --power has no effect without --local idw\n");
    assert_eq!(folder.lion("place m.lion new.csv -o p.csv --power 3 --local idw").stderr, "");
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
fn columns_are_chosen_and_headers_told() {
    let folder = folder();
    folder.json("place m.lion new.csv -o p.csv");
    let plain = folder.read("p.csv");
    let wide: String = csv(&new_rows())
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{},note\n", if i == 0 { "e".into() } else { i.to_string() }))
        .collect();
    folder.write("wide.csv", wide);
    for args in ["--columns a,b,c,d", "--exclude e,note"] {
        folder.json(&format!("place m.lion wide.csv {args} -o q.csv"));
        assert_eq!(folder.read("q.csv"), plain, "{args}");
    }
    // Numbers that are names after all.
    folder.write("years.csv", csv(&new_rows()).replace("a,b,c,d", "2001,2002,2003,2004"));
    assert_eq!(folder.json("place m.lion years.csv -o q.csv")["rows"], 44);
    assert_eq!(folder.json("place m.lion years.csv --header yes -o q.csv")["rows"], 43);
    assert_eq!(folder.read("q.csv"), plain);
    assert_eq!(folder.json("place m.lion years.csv --header no -o q.csv")["rows"], 44);
    folder.lion("place m.lion new.csv --header no -o q.csv").refuses(1, &["new.csv", "row 1", "\"a\""]);
}

#[test]
fn a_table_that_does_not_fit() {
    let folder = folder();
    folder.write("p.csv", "old");
    let refuses = |content: &str, parts: &[&str]| {
        folder.write("bad.csv", content);
        folder.lion("place m.lion bad.csv -o p.csv").refuses(1, parts);
        assert_eq!(folder.read("p.csv"), b"old");
    };
    refuses("a,b,c\n1,2,3\n", &["bad.csv has 3 columns", "m.lion wants 4", "--columns"]);
    refuses("a,b,c,d\n1,2,3,4\n1,nan,3,4\n", &["bad.csv, row 2", "column b", "NaN"]);
    refuses("a,b,c,d\n1,2,3,4\n1,x,3,4\n", &["bad.csv, row 2", "column b", "not a number"]);
    refuses("a,b,c,d\n1,2,3\n", &["bad.csv, row 1", "length 3 instead of 4"]);
    refuses("a,b,c,d\n", &["bad.csv has no rows of data"]);
    refuses("", &["bad.csv has no rows of data"]);
    // Rows are counted over the whole file, not the batch.
    let mut values = many_rows(6000);
    values[4 * 5000 + 2] = f32::NAN;
    folder.write("bad.npy", npy(6000, 4, &values));
    folder.lion("place m.lion bad.npy -o p.csv").refuses(1, &["bad.npy, row 5001", "column c3", "NaN"]);
    values[4 * 5000 + 2] = 1e20;
    folder.write("bad.npy", npy(6000, 4, &values));
    folder
        .lion("place m.lion bad.npy -o p.csv")
        .refuses(1, &["bad.npy, row 5001", "column c3", "scale the column down"]);
    folder
        .lion("place m.lion t.csv --id none --label kind -o p.csv")
        .refuses(1, &["t.csv has no column none"]);
    folder.lion("place m.lion t.csv -o p.csv").refuses(1, &["t.csv", "column name", "--id name"]);
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
    folder.write("plain.csv", Sample::new().csv());
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
    place("--off-plane 5", &["--off-plane", "99%"]);
    place("--off-plane 101%", &["--off-plane"]);
    place("--local nearby", &["--local"]);
    place("--taper thin", &["--taper"]);
    place("--outliers far", &["--outliers"]);
    place("--method rbf-cubic", &["--method", "rbf-cubic"]);
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
    let method = folder.lion("place none.lion none.csv -o p.csv --method rbf-cubic");
    assert!(method.stderr.contains("possible values: lion"), "{}", method.stderr);
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
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec {lion} place m.lion many.npy -o p.jsonl");
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
fn fit_keeps_the_parameters_of_placing() {
    let folder = folder();
    let fit = |args: &str| {
        folder.json(&format!(
            "fit t.csv --id name --label kind -o n.lion --perplexity 5 --iterations 20 {args}"
        ))
    };
    let plain = fit("");
    for key in ["r_x", "r_y", "r_close", "power"] {
        assert!(plain[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(fit("--radius 50%")["r_x"].as_f64() < plain["r_x"].as_f64());
    let chosen = fit("--radius 12.5 --power 20 --r-y 7 --r-close 1");
    for (key, value) in [("r_x", 12.5), ("power", 20.0), ("r_y", 7.0), ("r_close", 1.0)] {
        assert_eq!(chosen[key], value, "{key}");
    }
    assert_eq!(folder.json("info n.lion")["power"], 20.0);
    let placed = folder.json("place n.lion new.csv -o p.csv");
    assert_eq!((&placed["r_x"], &placed["power"]), (&12.5.into(), &20.0.into()));

    fit("");
    let info = folder.json("info n.lion");
    let curve = info["power_curve"].as_array().unwrap();
    assert!(curve.len() > 5);
    let powers: Vec<f64> = curve.iter().map(|point| point["power"].as_f64().unwrap()).collect();
    assert!(powers.is_sorted() && powers[0] > 0.0 && *powers.last().unwrap() <= 50.0, "{powers:?}");
    let error = |point: &serde_json::Value| point["error"].as_f64().unwrap();
    let least = curve.iter().min_by(|a, b| error(a).total_cmp(&error(b))).unwrap();
    assert_eq!(least["power"], info["power"]);
    let words = folder.lion("info n.lion").stdout;
    for part in ["placing", "r_x", "r_close", "error by power", "least"] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn maps_made_elsewhere_place_too() {
    let folder = folder();
    folder.write("plain.csv", Sample::new().csv());
    folder.write("y.npy", npy(120, 2, &Sample::new().values()[..240]));
    folder.json("fit plain.csv --embedding y.npy -o m.lion --radius 95%");
    for local in ["energy", "idw"] {
        let summary = folder.json(&format!("place m.lion new.csv --local {local} -o p.csv"));
        assert!(summary["exact"].as_u64().unwrap() >= 20 && summary["outlier"].as_u64().unwrap() >= 3);
    }
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
        let outliers = if file == "p.npy" { "0 outliers" } else { "3 outliers" };
        assert!(figure.contains("43 placed") && figure.contains(outliers), "{file}");
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
        .refuses(1, &["few.txt has 1 labels, and p.csv has 43 rows"]);
    folder
        .lion("plot m.lion --placed-labels few.txt -o q.svg")
        .refuses(2, &["required arguments were not provided"]);
    folder.lion("plot m.lion --placements p.csv -o p.csv").refuses(2, &["p.csv"]);
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    folder.write("odd.csv", text.replacen("exact", "perhaps", 1));
    folder
        .lion("plot m.lion --placements odd.csv -o q.svg")
        .refuses(1, &["odd.csv, row 1, column verdict holds \"perhaps\""]);
    folder.json("fit t.csv --id name --label kind --dims 3 -o space.lion --perplexity 5 --iterations 20");
    folder.lion("plot space.lion --placements p.csv -o q.svg").refuses(1, &["p.csv has no column z"]);
    folder
        .lion("plot space.lion --placements p.npy -o q.svg")
        .refuses(1, &["p.npy has 2 columns", "3 dimensions"]);
    assert!(!folder.path("q.svg").exists());
}
