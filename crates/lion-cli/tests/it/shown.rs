//! Columns for people: kept by fit and update, written by place, shown and coloured by plot.

use crate::tools::Folder;
use lion_tsne::Map;
use lion_tsne::map::{ShownKind, ShownValue};

/// Two clouds with a title, a year that is missing here and there, and a code that looks like a number.
fn table(rows: std::ops::Range<usize>) -> String {
    let mut text = "name,a,b,c,kind,title,year,code\n".to_owned();
    for i in rows {
        let (far, wave) = (8 * (i % 2), (i as f32 * 0.7).sin());
        let year = if i % 5 == 3 { String::new() } else { (1990 + i % 30).to_string() };
        let kind = ["elm", "oak"][i % 2];
        text += &format!(
            "r{i},{:.3},{wave:.3},{:.3},{kind},\"Title {i}, \"\"x\"\" </script>\",{year},0{i}\n",
            far as f32 + wave,
            i as f32 * 0.01
        );
    }
    text
}

const FIT: &str = "fit t.csv --id name --label kind --columns a,b,c --perplexity 5 --iterations 100";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", table(0..80));
    folder.json(&format!("{FIT} --show title,year,code -o m.lion"));
    folder
}

fn map(folder: &Folder, name: &str) -> Map {
    Map::load(folder.path(name)).unwrap()
}

#[test]
fn fit_keeps_them_and_the_map_is_the_same_otherwise() {
    let folder = folder();
    let shown = map(&folder, "m.lion").shown().unwrap().clone();
    let kinds: Vec<ShownKind> = shown.columns().iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ShownKind::Text, ShownKind::Number, ShownKind::Text]);
    let text = |text: &str| ShownValue::Text(text.to_owned());
    assert_eq!(
        shown.row(7).unwrap(),
        [text("Title 7, \"x\" </script>"), ShownValue::Number(1997.0), text("07")]
    );
    assert_eq!(shown.value(1, 8).unwrap(), ShownValue::Missing);
    folder.json(&format!("{FIT} -o plain.lion"));
    assert_eq!(map(&folder, "plain.lion").y(), map(&folder, "m.lion").y());
    assert!(map(&folder, "plain.lion").shown().is_none());
}

#[test]
fn landmarks_and_several_files_keep_theirs() {
    let folder = folder();
    folder.write("u.csv", table(80..120));
    folder.json(&format!("{} --show title --landmarks 60 -o some.lion", FIT.replace("t.csv", "t.csv u.csv")));
    let some = map(&folder, "some.lion");
    for row in 0..some.rows() {
        let title = format!("Title {}, \"x\" </script>", &some.id(row)[1..]);
        assert_eq!(some.shown().unwrap().value(0, row).unwrap(), ShownValue::Text(title));
    }
    // Without ids, rows are known by their numbers.
    folder.json("fit t.csv u.csv --columns a,b,c --perplexity 5 --iterations 50 --show name --landmarks 30 -o none.lion");
    let none = map(&folder, "none.lion");
    for row in 0..none.rows() {
        let name = ShownValue::Text(format!("r{}", none.id(row)));
        assert_eq!(none.shown().unwrap().value(0, row).unwrap(), name);
    }
}

#[test]
fn update_carries_them_and_new_rows_bring_theirs() {
    let folder = folder();
    folder.write("u.csv", table(80..90));
    folder.json("update m.lion u.csv --id name --label kind -o next.lion");
    let next = map(&folder, "next.lion");
    assert_eq!(next.rows(), 90);
    for row in [0, 79, 80, 89] {
        let i = &next.id(row)[1..];
        let title = ShownValue::Text(format!("Title {i}, \"x\" </script>"));
        assert_eq!(next.shown().unwrap().value(0, row).unwrap(), title);
    }
}

#[test]
fn place_writes_labels_and_shown_columns_beside_the_placements() {
    let folder = folder();
    folder.write("u.csv", table(80..90));
    folder.json("place m.lion u.csv --id name --label kind -o p.csv");
    let placed = String::from_utf8(folder.read("p.csv")).unwrap();
    let header = placed.lines().next().unwrap();
    assert!(header.ends_with("label,title,year,code"), "{header}");
    assert!(
        placed.lines().nth(1).unwrap().ends_with("elm,\"Title 80, \"\"x\"\" </script>\",2010.0,080"),
        "{placed}"
    );
    folder.json("place m.lion u.csv --id name --show code -o p.parquet");
    assert_eq!(lion_table::column_names(&folder.path("p.parquet")).unwrap().last().unwrap(), "code");
    // As before where there is nothing to write beside.
    let done = folder.lion("place m.lion u.csv --id name -o - -q");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(!done.stdout.lines().next().unwrap().contains("predicted_label"), "{}", done.stdout);
}

#[test]
fn plot_shows_and_colours_by_them() {
    let folder = folder();
    folder.write("u.csv", table(80..90));
    folder.json("place m.lion u.csv --id name --label kind -o p.csv");
    folder.json("plot m.lion --color year --color code --placements p.csv -o m.html");
    let page = String::from_utf8(folder.read("m.html")).unwrap();
    for part in
        ["\"colouredBy\":\"year\"", "\"colouredBy\":\"code\"", "\"colouredBy\":\"label\"", "\"blockRows\""]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Title 7"), "texts are compressed");
    folder.json("plot m.lion --color year -o m.svg");
    assert!(String::from_utf8(folder.read("m.svg")).unwrap().contains("year · 80 points"));
    folder.json("plot m.lion --color b -o b.svg");
    assert!(String::from_utf8(folder.read("b.svg")).unwrap().contains("b · 80 points"));
    let refused = folder.lion("plot m.lion --color size -o m.svg");
    refused.refuses(1, &["no column size to colour by", "title, year, code, label, a, b, c", "--show"]);
}

#[test]
fn what_cannot_be_shown_is_refused_before_the_work() {
    let folder = folder();
    folder.lion(&format!("{FIT} --show nothing -o x.lion")).refuses(1, &["t.csv", "nothing"]);
    folder.lion(&format!("{FIT} --show title,title -o x.lion")).refuses(1, &["--show names title twice"]);
    let args = FIT.replace("t.csv", "-") + " --show title -o x.lion";
    // Standard input is kept in a file, so it can be read a second time.
    let fed = folder.lion_fed(&args, table(0..80).as_bytes());
    assert_eq!(fed.code, Some(0), "{}", fed.stderr);
    assert_eq!(map(&folder, "x.lion").shown().unwrap().columns().len(), 1);
    folder
        .lion("place m.lion t.csv --show label -o p.csv")
        .refuses(1, &["the output has a column of this name"]);
    assert_eq!(folder.names(), ["m.lion", "t.csv", "x.lion"]);
}

#[test]
fn export_writes_them_beside_the_places() {
    let folder = folder();
    let told = folder.json("export m.lion -o places.csv");
    assert_eq!(told["columns"], serde_json::json!(["id", "x", "y", "label", "title", "year", "code"]));
    let text = String::from_utf8(folder.read("places.csv")).unwrap();
    let line = |row: usize| text.lines().nth(row + 1).unwrap();
    assert!(line(7).starts_with("r7,"), "{}", line(7));
    assert!(line(7).ends_with(",oak,\"Title 7, \"\"x\"\" </script>\",1997.0,07"), "{}", line(7));
    assert!(line(8).ends_with(",,08"), "a year that is missing: {}", line(8));
    // A column that is called as one of ours keeps its values under another name.
    folder.write("odd.csv", table(0..80).replacen(",title,", ",x,", 1));
    folder.json(&format!("{} --show x,year -o odd.lion", FIT.replace("t.csv", "odd.csv")));
    let told = folder.json("export odd.lion -o odd.parquet");
    assert_eq!(told["columns"], serde_json::json!(["id", "x", "y", "label", "shown_x", "year"]));
}
