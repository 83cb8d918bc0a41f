//! `lion update`: a map takes in new rows; what is refused, and what stays whole.

use crate::tools::Folder;
use std::fmt::Write;

/// 300 points around five centres; row `i` is called `p{i}` and is of kind `i % 5`.
fn csv(rows: impl Iterator<Item = usize>) -> String {
    let mut text = String::from("name,a,b,c,kind\n");
    for i in rows {
        let noise = |salt: usize| ((i * 7919 + salt * 104_729) % 1009) as f64 / 336.0;
        let kind = i % 5;
        let (a, b, c) = (6 * (kind % 2), 6 * usize::from(kind > 1), 9 * usize::from(kind == 4));
        let (a, b, c) = (a as f64 + noise(1), b as f64 + noise(2), c as f64 + noise(3));
        writeln!(text, "p{i},{a:.3},{b:.3},{c:.3},k{kind}").unwrap();
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.csv", csv((0..240).filter(|i| i % 5 != 4)));
    folder.write("new.csv", csv(240..300));
    let fit =
        folder.lion("fit old.csv --id name --label kind -o old.lion --perplexity 10 --iterations 300 -q");
    assert_eq!(fit.code, Some(0), "{}", fit.stderr);
    folder
}

const UPDATE: &str = "update old.lion new.csv --id name --label kind -o next.lion";

#[test]
fn a_map_takes_in_rows_and_keeps_its_shape() {
    let folder = folder();
    let before = folder.read("old.lion");
    let old = folder.json("info old.lion");
    let next = folder.json(UPDATE);
    assert_eq!(
        (&next["rows"], &next["version"], &next["parent"]),
        (&252.into(), &2.into(), &old["checksum"])
    );
    assert_eq!((&next["added"], &next["removed"]), (&60.into(), &0.into()));
    assert!(next["moved_median"].as_f64().unwrap() < 0.1, "{next}");
    assert!(next["moved_p90"].as_f64().unwrap() >= next["moved_median"].as_f64().unwrap());
    for key in
        ["dims", "components", "perplexity", "iterations", "kl", "r_x", "r_y", "r_close", "power", "seconds"]
    {
        assert!(next[key].is_number(), "{key}");
    }
    assert!(folder.read("old.lion") == before);
    let info = folder.json("info next.lion");
    assert_eq!((&info["lineage"][0]["parent"], &info["checksum"]), (&old["checksum"], &next["checksum"]));
    let words = folder.lion("info next.lion").stdout;
    assert!(words.contains("version") && words.contains("60 rows taken in"), "{words}");
    // The same bits again, for any number of threads.
    let again = folder.json(&format!("{UPDATE} --threads 1"));
    assert_eq!(again["checksum"], next["checksum"]);
    // An update of an update.
    folder.write("more.csv", csv(300..320));
    let third = folder.json("update next.lion more.csv --id name --label kind -o third.lion");
    assert_eq!((&third["version"], &third["rows"]), (&3.into(), &272.into()));
    let words = folder.lion(UPDATE).stdout;
    assert!(
        words.contains("old rows moved") && words.contains("next: lion diff old.lion next.lion"),
        "{words}"
    );
}

#[test]
fn rows_go_by_id_and_by_number() {
    let folder = folder();
    folder.write("gone.txt", "p0\np1\r\n\n");
    let next = folder.json("update old.lion --forget gone.txt -o next.lion");
    assert_eq!((&next["rows"], &next["removed"], &next["added"]), (&190.into(), &2.into(), &0.into()));
    let next = folder.json(&format!("{UPDATE} --keep 150"));
    assert_eq!((&next["rows"], &next["removed"]), (&150.into(), &102.into()));
    let all: String = (0..240).step_by(5).map(|i| format!("p{i}\n")).collect();
    folder.write("gone.txt", all);
    let said = folder.lion("update old.lion --forget gone.txt -o next.lion");
    assert!(said.stderr.contains("note: no row is left of k0"), "{}", said.stderr);
}

#[test]
fn a_list_of_ids_in_another_encoding_is_told() {
    let folder = folder();
    let utf16: Vec<u8> = "p0\np1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("gone.txt", utf16);
    let forget = "update old.lion --forget gone.txt -o next.lion";
    folder.lion(&format!("{forget} -q")).refuses(1, &["gone.txt", "UTF-16LE", "iconv -f utf-16le -t utf-8"]);
    folder.write("gone.txt", "\u{feff}p0\np1\n");
    assert_eq!(folder.json(forget)["removed"], 2);
    folder
        .lion("update old.lion --forget no.txt -o next.lion -q")
        .refuses(1, &["no.txt: there is no such file"]);
}

#[test]
fn what_cannot_be_leaves_old_files_whole() {
    let folder = folder();
    folder.write("next.lion", "what was there");
    folder.write("wide.csv", "name,a,b\np300,1,2\n");
    folder.write("nan.csv", "name,a,b,c,kind\np300,1,2,3,k0\np301,1,nan,3,k0\n");
    folder.write("twice.csv", "name,a,b,c,kind\np300,1,2,3,k0\np300,1,2,4,k0\n");
    folder.write("none.csv", "name,a,b,c,kind\n");
    folder.write("gone.txt", "p0\nnobody\n");
    folder.write("not-a.lion", "no map");
    let columns = "--id name --label kind -o next.lion";
    for (args, sentence) in [
        (
            "update old.lion wide.csv --id name -o next.lion".to_owned(),
            "has no column c, which old.lion was fitted to",
        ),
        (format!("update old.lion nan.csv {columns}"), "nan.csv, row 1 (line 3), column b"),
        (format!("update old.lion twice.csv {columns}"), "p300"),
        (format!("update old.lion none.csv {columns}"), "none.csv"),
        (
            "update old.lion new.csv --exclude name,kind -o next.lion".to_owned(),
            "ids are missing: rows of the map have ids, so new rows need them too (--id COL",
        ),
        (
            format!("update old.lion new.csv --forget gone.txt {columns}"),
            "gone.txt, line 2: no row of old.lion has the id \"nobody\"",
        ),
        (format!("update not-a.lion new.csv {columns}"), "not-a.lion"),
        (format!("update absent.lion new.csv {columns}"), "absent.lion"),
        (format!("update old.lion absent.csv {columns}"), "absent.csv"),
        (
            format!("update old.lion new.csv --rows new.csv {columns}"),
            "the table has 60 rows, and the map was made of 192",
        ),
        (format!("update old.lion new.csv --keep 61 {columns}"), "are needed for 10 of each of 4 clusters"),
        (
            "update old.lion -o next.lion".to_owned(),
            "there is no new row: give a table, or --forget or --keep",
        ),
    ] {
        let refused = folder.lion(&args);
        assert_eq!(refused.code, Some(1), "{args}: {}", refused.stderr);
        assert!(refused.stderr.contains(sentence), "{args}: {}", refused.stderr);
        assert_eq!(
            refused.stderr.lines().filter(|line| line.starts_with("error:")).count(),
            1,
            "{}",
            refused.stderr
        );
        assert_eq!(folder.read("next.lion"), b"what was there", "{args}");
    }
    for args in ["--stability 1.1", "--stability -1", "--stability nan", "--keep 0", "--keep many"] {
        assert_eq!(folder.lion(&format!("{UPDATE} {args}")).code, Some(2), "{args}");
    }
    let same = folder.lion("update old.lion new.csv --id name --label kind -o new.csv");
    assert!(same.stderr.contains("would replace new.csv, which is read"), "{}", same.stderr);
}
