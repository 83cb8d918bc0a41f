//! The same program with wide registers and without: the same verdicts, and nearly the same numbers.
//!
//! Registers of another width add up in another order. What is computed once differs in its last digits. A descent carries
//! such differences on, so maps are compared after a few iterations: after many they are different maps of one quality.

use crate::tools::{Finished, Folder, SampleTable};
use serde_json::Value;

/// The registers that it is run with. On a machine without AVX-512 the first two are alike.
const REGISTERS: [&str; 3] = ["widest", "avx2", "portable"];
/// Places of one row, and places on maps after few iterations, differ by at most this share of the map's size.
const PLACED: f64 = 1e-5;
const MAPPED: f64 = 1e-3;
/// KL divergences, radii and p-values differ by at most this share.
const NUMBERS: f64 = 1e-5;

/// What `lion --json` prints, and a table of places by row: id, verdict and numbers.
fn run(folder: &Folder, registers: &str, args: &str) -> Value {
    let mut command = folder.command(&format!("{args} --json"));
    command.env("LION_REGISTERS", registers);
    let done = Finished::of(command);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The columns of a CSV file.
fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
    let text = String::from_utf8(folder.read(file)).unwrap();
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|column| column == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

fn numbers(folder: &Folder, file: &str, name: &str) -> Vec<f64> {
    column(folder, file, name).iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
}

/// How far two columns are apart at most, as a share of the range of the first.
#[track_caller]
fn apart(folder: &Folder, a: &str, b: &str, name: &str) -> f64 {
    let (a, b) = (numbers(folder, a, name), numbers(folder, b, name));
    assert_eq!(a.len(), b.len());
    let largest = a.iter().cloned().fold(f64::MIN, f64::max);
    let range = largest - a.iter().cloned().fold(f64::MAX, f64::min);
    a.iter().zip(&b).map(|(a, b)| (a - b).abs() / range).fold(0.0, f64::max)
}

#[track_caller]
fn alike(a: &Value, b: &Value, name: &str) {
    let (a, b) = (a[name].as_f64().unwrap(), b[name].as_f64().unwrap());
    assert!((a - b).abs() <= NUMBERS * a.abs(), "{name}: {a} and {b}");
}

#[test]
fn wide_registers_and_none_agree() {
    let folder = Folder::new();
    folder.write("t.csv", SampleTable::of(600).named_csv());
    let strange = "far,900,900,900,900,oak\nnear far,901,900,899,900,oak\nother,-500,0,700,3,elm\n";
    folder.write("new.csv", SampleTable::of(90).named_csv() + strange);
    let mut maps = Vec::new();
    for method in ["exact", "fft", "barnes-hut"] {
        let fit = format!(
            "fit t.csv --id name --label kind --perplexity 12 --pca 3 --iterations 40 --method {method}"
        );
        for registers in REGISTERS {
            let map = format!("{method}-{registers}");
            let said = run(&folder, registers, &format!("{fit} -o {map}.lion"));
            run(&folder, registers, &format!("export {map}.lion -o {map}.csv"));
            maps.push((map.clone(), said));
            let (first, expected) =
                &maps[maps.len() - 1 - REGISTERS.iter().position(|r| *r == registers).unwrap()];
            for name in ["kl", "r_x"] {
                alike(expected, &maps.last().unwrap().1, name);
            }
            for name in ["x", "y"] {
                let apart = apart(&folder, &format!("{first}.csv"), &format!("{map}.csv"), name);
                assert!(apart <= MAPPED, "{map}, {name}: {apart}");
                println!("{map}: {name} differs by {apart:.1e} of the map");
            }
            // All places on one and the same map.
            run(
                &folder,
                registers,
                &format!("place {method}-widest.lion new.csv --id name -o placed-{map}.csv"),
            );
            let (first, placed) = (format!("placed-{method}-widest.csv"), format!("placed-{map}.csv"));
            for name in ["id", "verdict", "nearest_id", "neighbours", "group"] {
                assert_eq!(column(&folder, &first, name), column(&folder, &placed, name), "{placed}: {name}");
            }
            for (name, bound) in
                [("x", PLACED), ("y", PLACED), ("score", NUMBERS), ("nearest_distance", NUMBERS)]
            {
                let apart = apart(&folder, &first, &placed, name);
                assert!(apart <= bound, "{placed}, {name}: {apart}");
                println!("{placed}: {name} differs by {apart:.1e}");
            }
        }
    }
    let outliers = column(&folder, "placed-exact-widest.csv", "verdict");
    assert_eq!(outliers.iter().filter(|verdict| *verdict == "outlier").count(), 3);
    // Other sums, other last digits: the registers were others.
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        assert_ne!(folder.read("exact-widest.csv"), folder.read("exact-portable.csv"));
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        assert_ne!(folder.read("exact-widest.csv"), folder.read("exact-avx2.csv"));
    }
}

#[test]
fn registers_that_are_none_are_refused() {
    let folder = Folder::new();
    let mut command = folder.command("info m.lion");
    command.env("LION_REGISTERS", "avx");
    Finished::of(command).refuses(2, &["LION_REGISTERS", "widest, avx2, portable", "\"avx\""]);
}
