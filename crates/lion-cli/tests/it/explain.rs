//! What sets clusters apart, from the command line.

use crate::tools::Folder;
use std::collections::HashSet;
use std::fmt::Write;

/// Three kinds of customers, with texts; and the numbers of them alone.
fn folder_with_map() -> Folder {
    let folder = Folder::new();
    let (mut customers, mut numbers) =
        (String::from("name,age,income,plan,review\n"), String::from("name,age,income\n"));
    let texts =
        ["quick delivery, friendly staff", "late parcel in a broken box", "asked for a refund of the fee"];
    for row in 0..240 {
        let (kind, wave) = (row % 3, f64::from(row * 37 % 101) / 101.0);
        let (age, income) =
            (20.0 + 20.0 * f64::from(kind) + wave, wave + 40.0 * f64::from(u8::from(kind == 1)));
        let _ = writeln!(numbers, "c{row},{age},{income}");
        let plan = ["basic", "premium", "basic"][kind as usize];
        let _ = writeln!(customers, "c{row},{age},{income},{plan},\"{}\"", texts[kind as usize]);
    }
    folder.write("customers.csv", customers);
    folder.write("numbers.csv", numbers);
    folder.json("fit numbers.csv --id name --perplexity 10 --iterations 300 -o m.lion");
    folder
}

#[test]
fn clusters_have_names_columns_keywords_and_typical_rows() {
    let folder = folder_with_map();
    let said = folder.json("explain m.lion --rows customers.csv --text review -o e.html -o c.csv");
    let clusters = said["clusters"].as_array().unwrap();
    let names: HashSet<&str> = clusters.iter().map(|cluster| cluster["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), clusters.len(), "no two have the same name");
    let premium = clusters
        .iter()
        .find(|cluster| cluster["keywords"].as_array().unwrap().iter().any(|word| word == "parcel"))
        .unwrap();
    assert!(premium["name"].as_str().unwrap().contains("box"), "{premium}");
    let plan =
        premium["columns"].as_array().unwrap().iter().find(|column| column["column"] == "plan").unwrap();
    assert_eq!((&plan["value"], &plan["inside"]), (&"premium".into(), &1.0.into()));
    assert!(plan["outside"].as_f64().unwrap() < 0.3, "{plan}");
    assert!(plan["effect"].as_f64().unwrap() > 1.0 && plan["error"].as_f64().unwrap() > 0.0);
    assert!(premium["typical"][0].as_str().unwrap().starts_with('c'));
    let usual = said["usual_level"].as_u64().unwrap();
    let table = String::from_utf8(folder.read("c.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains(&format!("cluster_{usual},name_{usual}")), "{table}");
    assert_eq!(table.lines().count(), 241);
    let page = String::from_utf8(folder.read("e.html")).unwrap();
    assert!(page.contains("parcel") && !page.contains("{{"));
}

#[test]
fn a_selection_is_compared_with_the_rest() {
    let folder = folder_with_map();
    folder.write("ids.txt", (0..240).step_by(3).map(|row| format!("c{row}\n")).collect::<String>());
    let said = folder.json("explain m.lion --select ids.txt");
    let [selection] = said["clusters"].as_array().unwrap().as_slice() else { panic!("{said}") };
    assert_eq!((&selection["size"], &selection["columns"][0]["column"]), (&80.into(), &"age".into()));
    assert!(selection["columns"][0]["effect"].as_f64().unwrap() < -1.0);
    folder.write("ids.txt", "c3\nnobody\n");
    folder
        .lion("explain m.lion --select ids.txt")
        .refuses(1, &["ids.txt, line 2: the map has no row with the id"]);
}

#[test]
fn edited_names_win_and_belong_to_one_map() {
    let folder = folder_with_map();
    folder.json("explain m.lion --names names.json");
    let names = String::from_utf8(folder.read("names.json")).unwrap();
    let line = names.lines().find(|line| line.contains("\"0\"")).unwrap();
    folder.write("names.json", names.replace(line, "    \"0\": \"the old ones\","));
    let said = folder.json("explain m.lion --names names.json");
    assert_eq!(said["clusters"][0]["name"], "the old ones");
    folder.json("fit numbers.csv --id name --perplexity 9 --iterations 250 -o other.lion");
    folder.lion("explain other.lion --names names.json").refuses(1, &["names for another map"]);
    folder.write("names.json", "{");
    folder.lion("explain m.lion --names names.json").refuses(1, &["is no file of names"]);
}

#[test]
fn what_cannot_be_had_is_said() {
    let folder = folder_with_map();
    for (line, words) in [
        ("explain m.lion --by labels", "no labels"),
        ("explain m.lion --text review", "there is no column review"),
        ("explain m.lion --rows customers.csv --id age", "has no row with age"),
        ("explain m.lion --rows customers.csv --id nobody", "has no column nobody"),
        ("explain m.lion --level 3", "--level 3 is too high"),
    ] {
        folder.lion(line).refuses(1, &[words]);
    }
}

/// What the page is told.
fn page_data(folder: &Folder, name: &str) -> serde_json::Value {
    let page = String::from_utf8(folder.read(name)).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_carries_what_selections_are_compared_by() {
    let folder = folder_with_map();
    folder.json(
        "fit customers.csv --id name --columns age,income --show review,plan --perplexity 10 --iterations 300 -o s.lion --page s.html",
    );
    let data = page_data(&folder, "s.html");
    let names = |data: &serde_json::Value| -> Vec<String> {
        let columns = data["compared"]["columns"].as_array().unwrap().iter();
        let mut names: Vec<String> =
            columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    // The review of three different texts is a category, and so is the plan.
    assert_eq!(names(&data), ["age", "income", "plan", "review"]);
    assert_eq!(data["colouredBy"], "cluster");
    let count: usize = data["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["count"].as_str().unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(count, 240);
    folder.json("plot m.lion --rows customers.csv --text review --no-names -o n.html");
    let data = page_data(&folder, "n.html");
    assert_eq!(data["compared"]["text"], "review");
    assert_eq!(names(&data), ["age", "income", "plan"]);
    assert!(data["clusters"].is_null() && data["classes"].is_null());
}

/// Customers as a spreadsheet writes them in Germany: gaps, decimal commas with a sign, dates, labels.
fn german_customers() -> String {
    let mut table = String::from("name;age;turnover;since;kind\n");
    for row in 0..240 {
        let (kind, wave) = (row % 3, row * 37 % 101);
        let age = if row % 40 == 5 { "NA".to_owned() } else { (20 + 20 * kind + wave % 7).to_string() };
        let since = format!("{:02}.0{}.2024", 1 + wave % 28, 1 + 4 * kind.min(1));
        let _ = writeln!(table, "c{row};{age};{}.{wave:03},5 €;{since};kind {kind}", 1 + 3 * kind);
    }
    table
}

#[test]
fn a_table_is_read_as_by_fit_and_labels_do_not_explain_themselves() {
    let folder = Folder::new();
    folder.write("g.csv", german_customers());
    folder.json("fit g.csv --id name --label kind --perplexity 10 --iterations 300 -o g.lion");
    for by in ["labels", "density"] {
        let said = folder.json(&format!("explain g.lion --rows g.csv --by {by}"));
        let columns = said["clusters"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|cluster| cluster["columns"].as_array().unwrap());
        let names: HashSet<&str> = columns.map(|column| column["column"].as_str().unwrap()).collect();
        assert!(names.contains("age") && names.contains("turnover"), "{by}: {names:?}");
        assert!(!names.contains("kind"), "{by}: {names:?}");
    }
    let said = folder.json("explain g.lion --rows g.csv --by labels");
    let last =
        said["clusters"].as_array().unwrap().iter().find(|cluster| cluster["name"] == "kind 2").unwrap();
    let of = |name: &str| {
        last["columns"].as_array().unwrap().iter().find(|column| column["column"] == name).unwrap()
    };
    let turnover = of("turnover")["inside"].as_f64().unwrap();
    assert!((7000.0..7101.0).contains(&turnover), "{turnover}");
}
