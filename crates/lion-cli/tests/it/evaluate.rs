//! `lion evaluate`: what it writes, what it refuses, and that finished work is kept.

use crate::tools::Folder;

#[test]
fn what_cannot_be_done_is_refused_at_once() {
    let folder = Folder::new();
    folder.lion("evaluate -o report --only large").refuses(2, &["--data", "cargo xtask data mnist"]);
    folder.lion("evaluate -o report --only small").refuses(2, &["small", "--only"]);
    folder.lion("evaluate -o report --data nowhere --only large").refuses(1, &["nowhere", "train-images"]);
    folder.lion("evaluate -o report --held-out 10").refuses(2, &["10"]);
    folder.lion("evaluate --quick").refuses(2, &["required arguments"]);
    assert!(folder.names().is_empty());
    folder.write("taken", "a file");
    folder.lion("evaluate -o taken --only complexity").refuses(1, &["taken", "cannot be made"]);
}

#[test]
fn finished_stages_are_kept_and_the_report_is_the_same() {
    let folder = Folder::new();
    let first = folder.json("evaluate -o report --quick --only complexity");
    assert_eq!((&first["stages_kept"], &first["quick"]), (&0.into(), &true.into()));
    assert_eq!(first["figures"], 4);
    let page = folder.read("report/report.html");
    let numbers: serde_json::Value = serde_json::from_slice(&folder.read("report/report.json")).unwrap();
    let measured = numbers["complexity"].as_array().unwrap();
    assert!(measured.len() >= 40 && measured.iter().all(|m| m["row_seconds"].as_f64().unwrap() > 0.0));
    for name in
        ["complexity-build-rows", "complexity-row-rows", "complexity-build-columns", "complexity-row-columns"]
    {
        assert!(folder.read(&format!("report/figures/{name}.svg")).starts_with(b"<svg"));
        assert!(folder.read(&format!("report/figures/{name}.png")).starts_with(b"\x89PNG"));
    }

    // Times are never the same twice: the second run can show the same ones only because it kept them.
    let second = folder.json("evaluate -o report --quick --only complexity");
    assert_eq!(second["stages_kept"], 5);
    let again: serde_json::Value = serde_json::from_slice(&folder.read("report/report.json")).unwrap();
    assert_eq!(again["complexity"], numbers["complexity"]);
    let said = String::from_utf8(folder.read("report/report.html")).unwrap();
    assert!(said.contains("5 stages were kept from an earlier run"));
    assert!(String::from_utf8(page).unwrap().contains("A quick run"));

    // Another seed is another run.
    let other = folder.json("evaluate -o report --quick --only complexity --seed 1");
    assert_eq!(other["stages_kept"], 0);
}
