//! Tables as people have them: shown, fitted and placed, with everything said that a person should know.

use crate::serve::TestServer;
use crate::tools::{Finished, Folder};

const QUICK: &str = "--perplexity 8 --iterations 60";

/// Customers of three plans, with a semicolon between cells and commas in numbers.
fn customers(rows: usize, times: usize) -> String {
    let mut text = "customer;age;income;plan;since;active;comment\n".to_owned();
    for row in 0..rows {
        let (plan, wobble) = (row % 3, (row * 7919) % 101);
        let age = if row % 13 == 5 { "NA".to_owned() } else { (20 + 15 * plan + wobble % 9).to_string() };
        let income = match times {
            1 => format!("{}.{:03},5", 20 + 20 * plan, wobble * 9),
            _ => format!("{},5", times * (1000 * (20 + 20 * plan) + wobble * 9)),
        };
        text += &format!(
            "c{row};{age};{income};{};{:02}.0{}.2024;{};said {}\n",
            ["free", "plus", "pro"][plan],
            1 + wobble % 27,
            1 + 3 * plan,
            if wobble % 2 == 0 { "yes" } else { "no" },
            row * row
        );
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("customers.csv", customers(120, 1));
    folder.write("new.csv", customers(30, 1));
    folder
}

#[test]
fn columns_are_shown_and_nothing_is_written() {
    let folder = folder();
    let shown = folder.json("columns customers.csv --id customer");
    let what = |at: usize| {
        (shown["columns"][at]["what"].as_str().unwrap(), shown["columns"][at]["treatment"].as_str().unwrap())
    };
    assert_eq!(what(0), ("id", "left out"));
    assert_eq!(what(1), ("number", "encoded"));
    assert_eq!(what(2), ("number", "encoded"));
    assert_eq!(what(3), ("category", "encoded"));
    assert_eq!(what(4), ("date", "encoded"));
    assert_eq!(what(5), ("boolean", "encoded"));
    assert_eq!(what(6), ("text", "left out"));
    assert_eq!(
        (&shown["rows"], &shown["features"], &shown["scale"]),
        (&120.into(), &8.into(), &"standard".into())
    );
    let words = folder.lion("columns customers.csv --id customer").stdout;
    assert!(
        words.contains("commas are decimal marks") && words.contains("gaps filled with the median"),
        "{words}"
    );
    assert_eq!(folder.names(), ["customers.csv", "new.csv"]);
}

#[test]
fn a_messy_table_is_fitted_and_new_rows_are_placed() {
    let folder = folder();
    let fitted = folder.lion(&format!("fit customers.csv --id customer -o m.lion {QUICK}"));
    assert_eq!(fitted.code, Some(0), "{}", fitted.stderr);
    for line in [
        "column age (number): scaled",
        "column income (number): scaled",
        "column plan (category): 3 columns",
        "column since (date): days",
        "column active (boolean): 0 or 1.41",
        "column comment (text): left out",
        "note: columns are scaled to unit variance, because",
    ] {
        assert!(fitted.stderr.contains(line), "{line:?} is not in {}", fitted.stderr);
    }
    let info = folder.json("info m.lion");
    assert_eq!(info["recipe"]["scale"], "standard");
    assert_eq!(info["recipe"]["columns"][2]["levels"], serde_json::json!(["free", "plus", "pro"]));
    assert_eq!(info["columns"][1], "income");
    // Rows of the map are where they were, and columns are found by name.
    let placed = folder.json("place m.lion new.csv --id customer -o placed.csv");
    assert_eq!((&placed["rows"], &placed["exact"]), (&30.into(), &30.into()));
    // The same customers as JSON.
    let record = r#"[{"plan": "pro", "age": 52, "income": 60500.5, "since": "2024-07-03", "active": true, "more": [1]}]"#;
    folder.write("one.json", record);
    assert_eq!(folder.json("place m.lion one.json -o one.csv")["rows"], 1);
    // By default and by strict rules it was refused before.
    folder
        .lion("fit customers.csv --id customer -o n.lion --strict")
        .refuses(1, &["customers.csv", "column"]);
}

#[test]
fn another_unit_is_told_when_rows_are_placed() {
    let folder = folder();
    folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK}"));
    folder.write("cents.csv", customers(30, 1000));
    let placed = folder.lion("place m.lion cents.csv --id customer -o p.csv");
    assert!(
        placed.stderr.contains("warning: income is 1000 times larger than in the map"),
        "{}",
        placed.stderr
    );
    folder.write("less.csv", "customer;age\nc1;3\nc2;4\n");
    folder
        .lion("place m.lion less.csv --id customer -o p.csv")
        .refuses(1, &["less.csv has no column income", "m.lion"]);
}

#[test]
fn every_problem_is_reported_with_a_command_that_works() {
    let folder = folder();
    let bad = customers(60, 1).replacen(";20;", ";twenty;", 1).replacen("20.000,5", "little", 1);
    folder.write("bad.csv", bad);
    let refused = folder.lion("fit bad.csv --id customer -o m.lion");
    assert_eq!(refused.code, Some(1));
    let expected = "error: bad.csv has 2 columns that cannot be used:\n  age (number): 1 cell is no number: row 0 (line 2) \"twenty\"\n  income (number): 1 cell is no number: row 0 (line 2) \"little\"\ncorrect the cells, or leave the columns out:\n  lion fit bad.csv --id customer -o m.lion --exclude age,income\n";
    assert_eq!(refused.stderr, expected);
    folder.json(&format!("fit bad.csv --id customer --exclude age,income -o m.lion {QUICK}"));
}

#[test]
fn gaps_are_treated_as_asked() {
    let folder = folder();
    let fit = |more: &str| folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK} {more}"));
    assert_eq!(fit("--missing mean")["recipe"]["missing"], "mean");
    let dropped = fit("--missing drop");
    assert_eq!(dropped["rows"], 111);
    folder
        .lion("place m.lion new.csv --id customer -o p.csv")
        .refuses(1, &["new.csv", "row 5", "column age", "is empty"]);
    folder
        .lion("fit customers.csv --id customer -o n.lion --missing refuse")
        .refuses(1, &["column age", "9 of 120 cells are empty", "--exclude age"]);
}

#[test]
fn what_belongs_to_rows_that_are_left_out_is_left_out_too() {
    let folder = folder();
    let text = customers(120, 1);
    let lines: Vec<&str> = text.lines().collect();
    folder.write("first.csv", lines[..41].join("\n"));
    folder.write("second.csv", [&lines[..1], &lines[41..]].concat().join("\n"));
    let (names, places): (String, String) =
        (0..120).map(|row| (format!("n{row}\n"), format!("{row},{}\n", row * row % 97))).unzip();
    folder.write("names.txt", names);
    folder.write("places.csv", places);
    // Of two files the rows are numbered as those of one.
    let fit = "fit first.csv second.csv --exclude customer --missing drop --labels names.txt --show comment";
    for (more, rows) in [
        (QUICK, 111),
        ("--init places.csv --perplexity 8 --iterations 60", 111),
        ("--embedding places.csv", 111),
        ("--landmarks 50 --perplexity 8 --iterations 60", 50),
    ] {
        folder.json(&format!("{fit} {more} -o m.lion"));
        let map = lion_tsne::Map::load(folder.path("m.lion")).unwrap();
        assert_eq!(map.rows(), rows, "{more}");
        for row in 0..rows {
            let number: usize = map.id(row).parse().unwrap();
            assert_ne!(number % 13, 5, "{more}: this row has a gap");
            assert_eq!(map.labels().unwrap().get(row), format!("n{number}"), "{more}");
            let said = lion_tsne::map::ShownValue::Text(format!("said {}", number * number));
            assert_eq!(map.shown().unwrap().value(0, row).unwrap(), said, "{more}");
            if more == "--embedding places.csv" {
                assert_eq!(map.place(row), [number as f32, (number * number % 97) as f32]);
            }
        }
    }
    folder.write("few.txt", "a\n".repeat(111));
    folder
        .lion(&format!("{} -q -o m.lion", fit.replace("names.txt", "few.txt")))
        .refuses(1, &["few.txt has 111 labels", "has 120 rows"]);
}

#[test]
fn a_map_without_rows_with_gaps_leaves_them_out_of_later_tables() {
    let folder = folder();
    let (names, labels): (String, String) =
        ("id;age;income;plan;since;active;comment\n".into(), String::new());
    let text = customers(30, 1);
    folder.write(
        "more.csv",
        names + &text.lines().skip(1).map(|line| format!("new {line}\n")).collect::<String>(),
    );
    folder.write("labels.txt", (0..30).fold(labels, |all, row| all + &format!("n{row}\n")));
    let note = |rows: usize| {
        format!("note: {rows} rows with gaps are left out, because the map was fitted without such rows")
    };
    for (id, own) in [("--id customer", "--id id"), ("--exclude customer", "--exclude id")] {
        folder.json(&format!("fit customers.csv {id} --missing drop --show comment -o m.lion {QUICK}"));
        let quality = folder.lion(&format!("quality m.lion --rows customers.csv {id}"));
        assert!(quality.code == Some(0) && quality.stderr.contains(&note(9)), "{}", quality.stderr);
        let calibrated = folder.lion(&format!("calibrate m.lion --rows customers.csv {id} -o c.lion"));
        assert!(calibrated.code == Some(0) && calibrated.stderr.contains(&note(9)), "{}", calibrated.stderr);
        let updated = folder.lion(&format!("update m.lion more.csv {own} --labels labels.txt -o u.lion"));
        if own == "--exclude id" {
            // The numbers of rows in another table are no ids.
            assert!(
                updated.code == Some(1) && updated.stderr.contains("new rows need them too"),
                "{}",
                updated.stderr
            );
            continue;
        }
        assert!(updated.code == Some(0) && updated.stderr.contains(&note(2)), "{}", updated.stderr);
        let map = lion_tsne::Map::load(folder.path("u.lion")).unwrap();
        assert_eq!(map.rows(), 111 + 28);
        for row in 111..map.rows() {
            let number: usize = map.id(row).trim_start_matches("new c").parse().unwrap();
            assert_eq!(map.labels().unwrap().get(row), format!("n{number}"));
            let said = lion_tsne::map::ShownValue::Text(format!("said {}", number * number));
            assert_eq!(map.shown().unwrap().value(0, row).unwrap(), said);
        }
    }
}

#[test]
fn plain_tables_keep_their_bits() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", row % 7, (row * row) % 11, row % 5)).collect();
    folder.write("t.csv", format!("a,b,c\n{rows}"));
    let sum = |more: &str| folder.json(&format!("fit t.csv -o m.lion {QUICK} {more}"))["checksum"].clone();
    assert_eq!(sum(""), sum("--strict"));
    assert_eq!(sum(""), sum("--scale none"));
    assert_ne!(sum(""), sum("--scale standard"));
    assert!(folder.json("info m.lion")["recipe"]["columns"][0]["center"].is_number());
}

#[test]
fn a_stream_takes_columns_by_name() {
    let folder = folder();
    folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK}"));
    let lines = "{\"id\":\"a\",\"x\":{\"age\":52,\"income\":60500.5,\"plan\":\"pro\",\"since\":\"2024-07-03\",\"active\":true}}\n\
        {\"id\":\"b\",\"x\":{\"age\":null,\"plan\":\"gold\",\"income\":1,\"since\":null,\"active\":null,\"more\":1}}\n\
        {\"id\":\"c\",\"x\":{\"age\":\"old\",\"income\":1,\"plan\":\"pro\",\"since\":null,\"active\":true}}\n\
        {\"id\":\"d\",\"x\":{\"Age\":52,\"income\":1,\"plan\":\"pro\",\"since\":null}}\n";
    let said = folder.lion_reading("stream m.lion", lines);
    assert_eq!(said.stdout.matches("\"appeared\"").count(), 2, "{}{}", said.stdout, said.stderr);
    assert!(
        said.stderr.contains("column age holds \"old\", and the map has numbers there"),
        "{}",
        said.stderr
    );
    let absent = "line 4, field x has no column age, active, which the map was fitted to; \"Age\" is not \"age\", as names are \
        matched exactly";
    assert!(said.stderr.contains(absent), "{}", said.stderr);
}

#[test]
fn a_service_refuses_a_point_without_some_columns() {
    let folder = folder();
    folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK}"));
    let server = TestServer::start(&folder, "serve m.lion --store s.db");
    let (status, answer) = server.call("POST", "/api/points", r#"{"id": "typo", "x": {"foo": 1}}"#);
    assert_eq!(status, 422, "{answer}");
    let sentence = "row 0, field x has no column age, income, plan, since, active, which the map was fitted to; send null where a \
        value is missing";
    assert!(answer.contains(sentence), "{answer}");
}

#[test]
fn live_points_are_exported_in_the_columns_of_the_table() {
    let folder = folder();
    folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK}"));
    let server = TestServer::start(&folder, "serve m.lion --store s.db");
    let point = |id: &str, x: serde_json::Value| serde_json::json!({"id": id, "x": x});
    let body = serde_json::json!([
        point(
            "a",
            serde_json::json!({"age": 34, "income": 40123.5, "plan": "plus", "since": "2024-04-09", "active": true})
        ),
        point(
            "b",
            serde_json::json!({"age": null, "income": 61250.25, "plan": "gold", "since": "2024-07-21", "active": false})
        ),
    ]);
    let (status, answer) = server.call("POST", "/api/points", &body.to_string());
    assert_eq!(status, 200, "{answer}");
    let told = folder.json("export s.db --points p.csv");
    assert_eq!(told["columns"], serde_json::json!(["age", "income", "plan", "since", "active"]));
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    assert!(text.starts_with("id,age,income,plan,since,active,x,y,verdict,"), "{text}");
    assert!(text.contains("\na,34.0,40123.5,plus,2024-04-09,true,"), "{text}");
    // The gap has what filled it, and the level that the map does not know is one of the others.
    assert!(text.contains("61250.25,other,2024-07-21,false,"), "{text}");
    // The table is placed as it is, on the same spots.
    folder.json("place m.lion p.csv -o again.csv");
    let again = String::from_utf8(folder.read("again.csv")).unwrap();
    let place = |text: &str, first: usize| {
        let line = text.lines().find(|line| line.starts_with("a,")).unwrap().to_owned();
        line.split(',').skip(first).take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(place(&text, 6), place(&again, 1));
}

/// Documents of three kinds: a list of numbers beside texts and a number.
fn documents(rows: std::ops::Range<usize>) -> String {
    let document = |row: usize| {
        let wave = |step: f64| (row as f64 * step).sin() / 9.0;
        let numbers = [(row % 3) as f64 + wave(0.7), (row % 2) as f64 + wave(1.3), wave(2.1)];
        let text = ["a cat and a dog", "the moon in orbit", "a goal in the game"][row % 3];
        serde_json::json!({"name": format!("d{row}"), "embedding": numbers, "text": format!("{text} {row}"), "year": 1990 + row})
    };
    rows.map(|row| format!("{}\n", document(row))).collect()
}

#[test]
fn a_list_of_numbers_is_found_again_beside_other_columns() {
    let folder = Folder::new();
    folder.write("old.jsonl", documents(0..60));
    folder.write("new.jsonl", documents(60..70));
    let said = folder.lion(&format!("fit old.jsonl --id name -o m.lion {QUICK}"));
    assert!(said.stderr.contains("column year (number): left out: embedding is a list"), "{}", said.stderr);
    assert_eq!(folder.json("place m.lion new.jsonl --id name -o p.csv")["rows"], 10);
    assert_eq!(folder.json("update m.lion new.jsonl --id name -o next.lion")["added"], 10);
    folder.json("replay m.lion new.jsonl --id name -o r.html");
    let found = folder.json("explain m.lion --rows old.jsonl --id name --text text");
    assert!(!found["clusters"].as_array().unwrap().is_empty());
    // Without a table the items of the list say nothing in names.
    let found = folder.lion("explain m.lion");
    assert!(
        !found.stdout.contains("high embedding") && !found.stdout.contains("low embedding"),
        "{}",
        found.stdout
    );
}

#[test]
fn shown_columns_are_no_features_unless_they_are_named_as_such() {
    let folder = folder();
    let features = |more: &str| {
        let columns = folder.json(&format!("columns customers.csv --id customer {more}"));
        let fitted = folder.json(&format!("fit customers.csv --id customer -o m.lion {QUICK} {more}"));
        assert_eq!(columns["features"], fitted["dims"], "{more}");
        let recipe = folder.json("info m.lion")["recipe"]["columns"].clone();
        let names = recipe.as_array().unwrap().iter().map(|column| column["name"].clone());
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(features("--show age,plan"), ["income", "since", "active"]);
    assert_eq!(features("--show age,plan --columns age,income"), ["age", "income"]);
    let note = "note: age, plan are shown and no features; a column that --columns names can be both";
    let said = folder.lion(&format!("fit customers.csv --id customer --show age,plan -o m.lion {QUICK}"));
    assert!(said.stderr.contains(note), "{}", said.stderr);
    assert!(folder.lion("columns customers.csv --show age,plan").stdout.contains(note));
    folder.lion("columns customers.csv --show nothing").refuses(1, &["customers.csv has no column nothing"]);
}

#[test]
fn the_advised_command_keeps_all_options() {
    let folder = folder();
    let bad = customers(60, 1).replacen(";20;", ";twenty;", 1);
    folder.write("a bad table.csv", bad);
    let mut command = folder.command("fit");
    command.args(["a bad table.csv", "--exclude", "plan", "--show=comment,since", "-o", "m.lion"]);
    let refused = Finished::of(command);
    let advice = "lion fit 'a bad table.csv' --show=comment,since -o m.lion --exclude plan,age\n";
    assert!(refused.stderr.ends_with(advice), "{}", refused.stderr);
}

#[test]
fn a_column_is_advised_as_id_if_its_values_differ() {
    let folder = Folder::new();
    let rows = |divisor: usize| -> String {
        let row = |row: usize| format!("n{},{},{}\n", row / divisor, row % 7, (row * row) % 11);
        (0..60).map(row).collect()
    };
    folder.write("each.csv", format!("Individual ID,a,b\n{}", rows(1)));
    folder.write("some.csv", format!("Individual ID,a,b\n{}", rows(2)));
    let notes = |table: &str| folder.json(&format!("columns {table}"))["notes"].clone();
    let note = "Individual ID is left out; if it names the rows, say --id 'Individual ID'";
    assert_eq!(notes("each.csv"), serde_json::json!([note]));
    assert_eq!(notes("some.csv"), serde_json::json!([]));
}

#[test]
fn numbers_with_a_sign_are_numbers_where_all_have_the_same() {
    let folder = Folder::new();
    let row = |row: usize, sign: &str| {
        let price = format!("{sign}{},{:03}.50", 1 + row % 3, row * 7 % 1000);
        format!("\"{price}\",{}%,{}{row}\n", row % 7, ["$", "€"][row % 2])
    };
    let table = |sign: &str| (0..60).map(|at| row(at, sign)).collect::<String>();
    folder.write("t.csv", format!("price,share,mixed\n{}", table("$")));
    folder.write("bare.csv", format!("price,share,mixed\n{}", table("")));
    let said = folder.lion(&format!("fit t.csv -o m.lion {QUICK}"));
    assert!(said.stderr.contains("commas set thousands apart; read without its $"), "{}", said.stderr);
    assert!(said.stderr.contains("column share (number)") && said.stderr.contains("without its %"));
    assert!(said.stderr.contains("column mixed (text): left out"), "{}", said.stderr);
    let recipe = folder.json("info m.lion")["recipe"]["columns"].clone();
    assert_eq!(recipe.as_array().unwrap().len(), 2);
    for table in ["t.csv", "bare.csv"] {
        let placed = folder.json(&format!("place m.lion {table} -o p.csv"));
        assert_eq!(placed["exact"], 60, "{table}: {placed}");
    }
}
