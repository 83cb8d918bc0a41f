//! Golden files: what `lion` writes for fixed tables keeps its bits. `cargo xtask golden` compares the SHA-256 of each file
//! with the recorded one; `--record` writes them anew, for a change that is meant to change results.
//!
//! Bits are promised for one kind of machine (registers of another width round differently), so each kind has a file of its own
//! in `xtask/golden`. On a kind without one, two runs with different numbers of threads are compared with each other.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::rng::Rng;
use crate::{readme, shell};

/// What is run, in a folder with `train.csv` and `new.csv`. Each line writes files, and every file is compared.
const COMMANDS: &str = "
lion fit train.csv --id name --label kind --exclude day,batch -o plain.lion -q
lion fit train.csv --id name --label kind --exclude day --pca 5 --group batch -o groups.lion -q
lion fit train.csv --id name --exclude kind,day,batch --metric cosine --dims 3 --perplexity 12 --method barnes-hut -o space.lion -q
lion fit train.csv --id name --exclude kind,day,batch --method exact --init random --seed 7 -o exact.lion -q
lion fit train.csv --id name --label kind --exclude day,batch --landmarks 300 --stratify --cover --count-beyond -o landmarks.lion -q
lion fit train.csv --id name --exclude kind,day,batch --embedding places.npy -o adopted.lion -q
lion place plain.lion new.csv --id name -o plain.parquet -q
lion place plain.lion new.csv --id name -o plain.arrow -q
lion place plain.lion new.csv --id name --local idw --verdict paper --taper triangle --split-clusters -o paper.csv -q
lion place plain.lion new.csv --id name --local attraction --radius 95% --alpha 5% --fdr 10% -o attraction.jsonl -q
lion place groups.lion new.csv --id name --outliers random --seed 3 -o groups.csv -q
lion place space.lion new.csv --id name -o space.csv -q
lion place landmarks.lion new.csv --id name -o landmarks.npy -q
lion place adopted.lion new.csv --id name -o adopted.csv -q
lion plot plain.lion -o plain.svg -q
lion plot plain.lion --placements plain.parquet -o placed.html -q
lion plot plain.lion --placements plain.parquet -o placed.png -q
lion stream plain.lion < changes.jsonl > events.jsonl
lion demo --out digits -q
";

/// Other ways of placing.
const METHODS: &str = "idw rbf-multiquadric rbf-gaussian rbf-inverse-multiquadric rbf-linear rbf-cubic rbf-quintic \
    rbf-thin-plate kernelized gd-closest gd-random-sigma-ee opentsne-median opentsne-weighted fixed-point";

/// Compares with the recorded digests, or records them.
pub(crate) fn check(record: bool) -> Result<()> {
    let kind = machine();
    let recorded = shell::root().join("xtask/golden").join(format!("{kind}.txt"));
    let made = digests("golden", 2)?;
    if record {
        let text: String = made.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
        fs::write(&recorded, text).with_context(|| format!("cannot write {}", recorded.display()))?;
        println!("{} files recorded for {kind}", made.len());
        return Ok(());
    }
    let expected = match fs::read_to_string(&recorded) {
        Ok(text) => parse(&text),
        Err(_) => {
            println!("nothing is recorded for {kind}: two runs are compared instead");
            digests("golden-again", 1)?
        }
    };
    let names: std::collections::BTreeSet<&String> = expected.keys().chain(made.keys()).collect();
    let differ: Vec<&str> =
        names.into_iter().filter(|name| expected.get(*name) != made.get(*name)).map(String::as_str).collect();
    ensure!(
        differ.is_empty(),
        "{} of {} files have other bits than before: {}. If that is meant, run `cargo xtask golden --record`",
        differ.len(),
        expected.len(),
        differ.join(", ")
    );
    println!("{} files have the same bits as before ({kind})", made.len());
    Ok(())
}

/// The kind of machine: architecture, and the widest registers that the program uses.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let level = match () {
        () if is_x86_feature_detected!("avx512f") => "-v4",
        () if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") => "-v3",
        () => "",
    };
    #[cfg(not(target_arch = "x86_64"))]
    let level = "";
    format!("{}-{}{level}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Runs everything in an empty folder: the digest of each file in it.
fn digests(folder: &str, threads: usize) -> Result<BTreeMap<String, String>> {
    let folder = shell::scratch(folder)?;
    let lion = shell::built("lion")?;
    tables(&folder)?;
    let methods = METHODS.split_whitespace();
    let methods = methods
        .map(|name| format!("lion place plain.lion new.csv --id name --method {name} -o {name}.csv -q"));
    for line in COMMANDS.trim().lines().map(str::to_owned).chain(methods) {
        readme::execute(&line.replacen(" -q", &format!(" -q --threads {threads}"), 1), &lion, &folder)?;
    }
    let mut digests = BTreeMap::new();
    for folder in [folder.clone(), folder.join("digits")] {
        for file in fs::read_dir(&folder)? {
            let path = file?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                digests.insert(name, digest(&fs::read(&path)?));
            }
        }
    }
    Ok(digests)
}

/// The SHA-256 of bytes, as it is written.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn parse(recorded: &str) -> BTreeMap<String, String> {
    let pairs = recorded.lines().filter_map(|line| line.split_once("  "));
    pairs.map(|(digest, name)| (name.to_owned(), digest.to_owned())).collect()
}

/// Rows of the map, new rows with strange ones among them, places made elsewhere, and changes of live points.
fn tables(folder: &Path) -> Result<()> {
    let mut rng = Rng::new(20_261_117);
    let centres: Vec<[f64; COLUMNS]> = (0..5).map(|_| std::array::from_fn(|_| 6.0 * rng.unit())).collect();
    let columns: Vec<String> = (0..COLUMNS).map(|i| format!("c{i}")).collect();
    let head = format!("name,{},kind,day,batch\n", columns.join(","));
    let (mut train, mut new, mut changes) = (head.clone(), head, String::new());
    for i in 0..600 {
        train += &line(&format!("t{i}"), i % 5, &around(&centres[i % 5], &mut rng), i);
    }
    for i in 0..150 {
        let row = match i {
            0..120 => around(&centres[i % 5], &mut rng),
            120..140 => around(&[12.0; COLUMNS], &mut rng),
            _ => std::array::from_fn(|_| 40.0 * rng.unit() - 20.0),
        };
        new += &line(&format!("n{i}"), i % 5, &row, i);
        let x: Vec<String> = row.iter().map(|v| format!("{v:.4}")).collect();
        let _ = writeln!(changes, r#"{{"id":"p{}","x":[{}],"t":{i}}}"#, i % 97, x.join(","));
        if i % 10 == 9 {
            let _ = writeln!(changes, r#"{{"delete":"p{}","t":{i}}}"#, i % 97);
        }
    }
    let places: Vec<f32> = (0..1200).map(|_| (100.0 * rng.unit()) as f32).collect();
    for (name, bytes) in [
        ("train.csv", train.into_bytes()),
        ("new.csv", new.into_bytes()),
        ("changes.jsonl", changes.into_bytes()),
        ("places.npy", npy(600, 2, &places)),
    ] {
        fs::write(folder.join(name), bytes).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

const COLUMNS: usize = 8;

/// A row near a centre: sums of uniform numbers, which need no function that machines round differently.
fn around(centre: &[f64; COLUMNS], rng: &mut Rng) -> [f64; COLUMNS] {
    centre.map(|c| c + (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0)
}

fn line(name: &str, kind: usize, row: &[f64], i: usize) -> String {
    let values: Vec<String> = row.iter().map(|v| format!("{v:.4}")).collect();
    format!("{name},{},k{kind},{},b{}\n", values.join(","), i / 7, i / 10)
}

/// An `.npy` file of `f32`.
fn npy(rows: usize, columns: usize, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_read_again() {
        assert_eq!(parse("ab  x y.csv\n")["x y.csv"], "ab");
    }

    #[test]
    fn a_digest_is_the_published_one() {
        assert!(digest(b"abc").starts_with("ba7816bf8f01cfea"));
    }
}
