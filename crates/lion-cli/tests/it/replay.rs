//! `lion replay`: a history as one page.

use crate::serve::TestServer;
use crate::stream::{folder_with_map, put};
use crate::tools::{Folder, SampleTable};
use serde_json::Value;

fn page(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

#[test]
fn the_history_of_a_store_is_a_page_while_it_is_served() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    let empty = folder.lion("replay s.db -o r.html");
    empty.refuses(1, &["s.db: this store has no events yet"]);
    assert!(!folder.path("r.html").exists());
    for k in 0..20 {
        let row = SampleTable::new().rows[k].map(f32::from);
        assert_eq!(server.call("POST", "/api/points", put(&format!("p{k}"), row).trim_end()).0, 200);
    }
    let told = folder.json("replay s.db -o r.html");
    assert_eq!((&told["events"], &told["versions"], &told["steps"]), (&20.into(), &1.into(), &Value::Null));
    let html = page(&folder, "r.html");
    assert_eq!(told["bytes"], html.len());
    assert!(html.contains("<script id=\"recording\"") && !html.contains(" src="));
    let words = folder.lion("replay s.db -o r.html").stdout;
    assert!(words.starts_with("r.html: 20 events on 1 version of the map, "), "{words}");
    // The same history makes the same page.
    assert_eq!(page(&folder, "r.html"), html);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let folder = folder_with_map();
    let server = TestServer::start(&folder, "serve trees.lion --store s.db");
    assert_eq!(server.call("POST", "/api/points", put("a", [35.0; 4]).trim_end()).0, 200);
    server.kill();
    folder.lion("replay t.csv -o r.html").refuses(1, &["t.csv", "not a store"]);
    folder.lion("replay none.db -o r.html").refuses(1, &["none.db"]);
    folder.lion("replay trees.lion -o r.html").refuses(1, &["trees.lion is a map", "snapshots"]);
    folder.lion("replay s.db -o r.png").refuses(2, &[".html"]);
    folder.lion("replay s.db t.csv -o r.html").refuses(1, &["s.db"]);
    std::fs::create_dir(folder.path("away")).unwrap();
    std::fs::rename(folder.path("trees.lion"), folder.path("away/trees.lion")).unwrap();
    folder.lion("replay s.db -o r.html").refuses(1, &["s.db: version 1 of its map (checksum", "--map"]);
    assert!(!folder.path("r.html").exists());
    assert_eq!(folder.json("replay s.db -o r.html --map away/trees.lion")["events"], 1);
}

/// Rows of the table under their names, some of them moved by a little.
fn snapshot(rows: std::ops::Range<usize>, by: u8) -> String {
    let table = SampleTable::new();
    let line = |k: usize| {
        let [a, b, c, d] = table.rows[k];
        format!("r{k},{},{b},{c},{d},{}\n", a + by, table.labels[k])
    };
    "id,a,b,c,d,kind\n".to_owned() + &rows.map(line).collect::<String>()
}

#[test]
fn snapshots_are_steps() {
    let folder = folder_with_map();
    folder.write("day1.csv", snapshot(0..10, 0));
    folder.write("day2.csv", snapshot(5..15, 3));
    folder.write("day3.csv", snapshot(5..6, 3));
    let told = folder.json("replay trees.lion day1.csv day2.csv day3.csv --label kind -o r.html");
    // 10 come; 5 come, 5 move or stay, 5 leave; 1 stays, 9 leave.
    assert_eq!((&told["steps"], &told["events"]), (&3.into(), &(10 + 15 + 10).into()), "{told}");
    let words = folder.lion("replay trees.lion day*.csv --label kind -o p.html").stdout;
    assert!(words.starts_with("p.html: 35 events in 3 steps on 1 version of the map, "), "{words}");
    assert_eq!(page(&folder, "r.html"), page(&folder, "p.html"), "a pattern is sorted by name");
    // Without ids no row is one of the day before.
    folder.write("x1.csv", SampleTable::of(6).csv());
    folder.write("x2.csv", SampleTable::of(9).csv());
    assert_eq!(folder.json("replay trees.lion x1.csv x2.csv -o x.html")["events"], 6 + 9 + 6);
    // What is wrong is said with file, row and column.
    folder.write("bad.csv", "id,a,b,c,d\nr1,1,2,3,4\nr2,1,oops,3,4\n");
    folder.lion("replay trees.lion bad.csv day1.csv -o b.html").refuses(1, &["bad.csv", "row 1", "column b"]);
    folder.write("twice.csv", "id,a,b,c,d\nr1,1,2,3,4\nr1,1,2,3,4\n");
    folder.lion("replay trees.lion twice.csv -o b.html").refuses(1, &["twice.csv", "r1"]);
    folder.lion("replay trees.lion none.csv -o b.html").refuses(1, &["none.csv"]);
    assert!(!folder.path("b.html").exists());
}

#[test]
fn what_a_stream_told_is_replayed() {
    let folder = folder_with_map();
    let oak = [35.0, 36.0, 34.0, 35.0];
    let lines = [put("a", oak), put("b", [900.0; 4]), put("a", [36.0; 4]), "{\"delete\":\"b\"}\n".into()];
    let events = folder.lion_reading("stream trees.lion", &lines.concat()).stdout;
    folder.write("e.jsonl", &events);
    let told = folder.json("replay trees.lion e.jsonl -o r.html");
    assert_eq!((&told["events"], &told["steps"]), (&4.into(), &Value::Null));
    let lines: Vec<&str> = events.lines().collect();
    folder.write("gap.jsonl", [lines[0], lines[2]].join("\n"));
    folder
        .lion("replay trees.lion gap.jsonl -o b.html")
        .refuses(1, &["gap.jsonl line 2 is event 3 where 2 belongs"]);
    folder.write("half.jsonl", [lines[0], &lines[1][..40]].join("\n"));
    folder.lion("replay trees.lion half.jsonl -o b.html").refuses(1, &["half.jsonl line 2 is not an event"]);
    folder.write("other.csv", SampleTable::of(9).named_csv());
    folder.json("fit other.csv --id name --label kind -o other.lion --perplexity 2 --iterations 50");
    folder
        .lion("replay other.lion e.jsonl -o b.html")
        .refuses(1, &["e.jsonl line", "another map than other.lion"]);
    // A part of the events begins with the points that it tells of.
    folder.write("later.jsonl", lines[2..].join("\n"));
    assert_eq!(folder.json("replay trees.lion later.jsonl -o l.html")["events"], 2);
}
