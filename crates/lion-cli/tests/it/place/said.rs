//! What is said of verdicts: where they promise little, and at the extremes of what can be asked.

use super::folder;
use crate::tools::{Folder, SampleTable};

/// What `lion` says on standard output.
#[track_caller]
fn said(folder: &Folder, args: &str) -> String {
    let done = folder.lion(args);
    assert_eq!(done.code, Some(0), "{args}: {}", done.stderr);
    done.stdout
}

/// Says all of these.
#[track_caller]
fn says(folder: &Folder, args: &str, parts: &[&str]) {
    let words = said(folder, args);
    for part in parts {
        assert!(words.contains(part), "{args}: {part:?} is not in {words}");
    }
}

#[test]
fn a_false_discovery_rate_that_can_find_nothing_is_told() {
    let folder = folder();
    // 120 rows calibrate the map, so no score is below 1/121.
    let all = "place m.lion t.csv --id name --exclude kind -o p.csv";
    says(
        &folder,
        &format!("{all} --fdr 0.5%"),
        &[
            "at most 0.5 % of the outliers false",
            "with so few rows in the map no row can be an outlier: leave --fdr out",
        ],
    );
    says(
        &folder,
        &format!("{all} --fdr 10%"),
        &["fewer than 10 outliers in 120 rows cannot be told from chance: fit the map to more rows"],
    );
    // Where outliers are found, nothing is missing.
    let found = said(&folder, "place m.lion new.csv -o p.csv --alpha 98% --fdr 30%");
    assert!(
        found.contains("at most 30 % of the outliers false") && !found.contains("so few rows"),
        "{found}"
    );
}

#[test]
fn shares_at_the_extremes_are_readable() {
    let folder = folder();
    let place = |args: &str| format!("place m.lion new.csv -o p.csv {args}");
    let none = "the map has too few rows for a score as small, so no row is an outlier";
    says(&folder, &place("--alpha 0.0002%"), &["score ≤ 0.0002 %", none]);
    says(&folder, &place("--alpha 1e-300"), &["score ≤ 1e-298 %", none]);
    says(&folder, &place("--alpha 99.9999%"), &["score ≤ 99.9999 %", "promised 99.2 % of ordinary rows"]);
    says(&folder, &place("--fdr 0.00001%"), &["at most 1e-5 % of the outliers false"]);
}

#[test]
fn few_groups_are_told_at_fit_and_at_place() {
    let folder = Folder::new();
    let sample = SampleTable::new();
    let rows = sample.csv();
    let mut lines = rows.lines();
    let head = lines.next().unwrap();
    for (name, groups) in [("few", 3), ("many", 30)] {
        let line = |(row, line): (usize, &str)| format!("{line},g{}\n", row % groups);
        let table: String = lines.clone().enumerate().map(line).collect();
        folder.write(&format!("{name}.csv"), format!("{head},writer\n{table}"));
    }
    let fit = |name: &str| {
        said(&folder, &format!("fit {name}.csv --group writer -o {name}.lion --perplexity 5 --iterations 20"))
    };
    let place =
        |name: &str| said(&folder, &format!("place {name}.lion {name}.csv --exclude writer -o p.csv"));
    let few = "3 groups, too few to know how groups differ";
    assert!(fit("few").contains(&format!("calibrated by 120 rows in {few}")));
    assert!(
        place("few").contains(&format!("calibrated by {few}, outlier where score ≤ ")),
        "{}",
        place("few")
    );
    assert!(fit("many").contains("calibrated by 120 rows in 30 groups: "));
    assert!(place("many").contains("calibrated, outlier where score ≤ "), "{}", place("many"));
    // The paper's rule does not use the calibration.
    let paper = said(&folder, "place few.lion few.csv --exclude writer --verdict paper -o p.csv");
    assert!(!paper.contains("groups, too few"), "{paper}");
}

#[test]
fn fewer_than_20_different_rows_cannot_calibrate() {
    let folder = Folder::new();
    let few: String = SampleTable::of(19).csv();
    folder.write("few.csv", &few);
    // Rows that repeat others do not count.
    let (head, rows) = few.split_once('\n').unwrap();
    folder.write("repeated.csv", format!("{head}\n{}", rows.repeat(4)));
    for name in ["few", "repeated"] {
        says(
            &folder,
            &format!("fit {name}.csv -o {name}.lion --perplexity 3 --iterations 20"),
            &["the paper's rule: fewer than 20 different rows cannot calibrate"],
        );
        says(&folder, &format!("place {name}.lion few.csv -o p.csv"), &["the paper's", "no promised rate"]);
        for asked in ["--verdict calibrated", "--alpha 5%", "--fdr 5%"] {
            folder
                .lion(&format!("place {name}.lion few.csv -o q.csv {asked}"))
                .refuses(1, &[&format!("{name}.lion"), "it has 19 different rows, and 20 are needed"]);
        }
    }
    folder.write("enough.csv", SampleTable::of(20).csv());
    says(
        &folder,
        "fit enough.csv -o enough.lion --perplexity 3 --iterations 20",
        &["calibrated by 20 rows: 4.76 % of rows like these", "the least that so few rows can tell"],
    );
}
