//! What a fit, and placing, say that they will need, beside what they really take: each in a process of its own, whose peak the system
//! tells.
#![cfg(target_os = "linux")]

use lion_tsne::index::Search;
use lion_tsne::landmarks::{LandmarkOptions, Landmarks};
use lion_tsne::{
    Descent, Fit, Init, Lion, LionOptions, Map, Matrix, Method, Metric, PcaChoice, Rows, ignore,
};
use std::process::Command;

/// How far estimates may be from the truth, as a share of it, and beside that: a process of a few megabytes has many small things.
const WITHIN: f64 = 0.2;
const SMALL: f64 = 1e6;

/// Bytes that `/proc/self/status` tells.
fn told(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

/// Rows around twenty centres.
fn rows(rows: usize, cols: usize) -> Matrix {
    let mut state = 3u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let centres: Vec<f32> = (0..20 * cols).map(|_| 8.0 * next()).collect();
    let values = (0..rows * cols).map(|at| {
        let (row, col) = (at / cols, at % cols);
        centres[row % 20 * cols + col] + next() + next() + next()
    });
    Matrix::new(rows, cols, values.collect()).unwrap()
}

/// One that is tried: how, of how many rows and columns, and in which way.
struct MemoryTrial {
    fit: Fit,
    rows: usize,
    cols: usize,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    Fit,
    /// The first row is far from all others.
    FarRow,
    /// So many of the rows are landmarks.
    Landmarks(usize),
    /// The first two columns are the places.
    Adopt,
    /// As many rows again are placed into the map, in batches.
    Place,
}

fn trials() -> Vec<MemoryTrial> {
    // Rows are put in another order before the 50th iteration; the map is as wide as it will be some time after exaggeration.
    let accelerated = Fit { descent: Descent::Accelerated, threads: 2, ..Fit::default() };
    let quick = Fit {
        descent: Descent::Classic,
        iterations: Some(60),
        exaggeration_iterations: Some(50),
        ..accelerated.clone()
    };
    let wide = Fit { iterations: Some(300), ..quick.clone() };
    let of = |fit, rows, cols| MemoryTrial { fit, rows, cols, way: Way::Fit };
    let dims = |dims, method| Fit { dims, method, ..quick.clone() };
    let perplexity = |perplexity| Fit { perplexity: Some(perplexity), ..quick.clone() };
    vec![
        of(accelerated.clone(), 20_000, 50),
        of(Fit { method: Method::Fft, perplexity: Some(5.0), ..accelerated.clone() }, 8000, 20),
        MemoryTrial { way: Way::FarRow, ..of(accelerated.clone(), 12_000, 5) },
        of(Fit { iterations: Some(1000), ..accelerated.clone() }, 10_000, 20),
        of(Fit { descent: Descent::Classic, iterations: Some(1500), ..accelerated.clone() }, 8000, 20),
        of(wide.clone(), 6000, 20),
        of(wide.clone(), 1500, 50),
        of(Fit { method: Method::Fft, perplexity: Some(5.0), ..wide.clone() }, 8000, 20),
        of(dims(1, Method::Auto), 20_000, 20),
        of(dims(3, Method::Auto), 20_000, 20),
        of(dims(3, Method::BarnesHut), 20_000, 3),
        of(dims(2, Method::BarnesHut), 20_000, 20),
        of(dims(2, Method::Exact), 4000, 50),
        of(perplexity(5.0), 20_000, 50),
        of(perplexity(100.0), 12_000, 50),
        of(Fit { threads: 1, ..perplexity(100.0) }, 5000, 50),
        of(Fit { search: Search::Approximate, ..wide.clone() }, 25_000, 50),
        of(Fit { metric: Metric::Cosine, ..wide.clone() }, 20_000, 50),
        of(Fit { metric: Metric::Cosine, pca: PcaChoice::Components(10), ..quick.clone() }, 20_000, 100),
        of(quick.clone(), 6000, 784),
        of(Fit { pca: PcaChoice::None, ..perplexity(5.0) }, 12_000, 300),
        of(Fit { init: Init::Spectral, ..quick.clone() }, 12_000, 20),
        MemoryTrial {
            way: Way::Landmarks(8000),
            ..of(Fit { pca: PcaChoice::Components(10), ..quick.clone() }, 60_000, 30)
        },
        MemoryTrial { way: Way::Adopt, ..of(quick.clone(), 40_000, 50) },
        MemoryTrial { way: Way::Place, ..of(quick.clone(), 40_000, 50) },
    ]
}

/// A map of the rows, whose first two columns are the places.
fn adopted(MemoryTrial { fit, rows: count, cols, .. }: &MemoryTrial) -> Map {
    let x = rows(*count, *cols);
    let places = x.data().chunks_exact(*cols).flat_map(|row| [row[0], row[1]]).collect();
    fit.adopt(x, Matrix::new(*count, 2, places).unwrap(), &mut ignore).unwrap()
}

/// Where a trial's process finds the map that it places into.
const MAP: &str = "LION_NEEDS_MAP";

/// Runs one and tells what was said and what was taken.
fn run(trial: &MemoryTrial) -> (u64, u64) {
    let MemoryTrial { fit, rows: count, cols, way } = trial;
    let before = told("VmRSS:");
    let said = match way {
        Way::Fit => {
            fit.run(rows(*count, *cols), &mut ignore).unwrap();
            fit.needs(*count, *cols)
        }
        Way::FarRow => {
            let mut x = rows(*count, *cols).into_data();
            x[..*cols].fill(1e3);
            fit.run(Matrix::new(*count, *cols, x).unwrap(), &mut ignore).unwrap();
            fit.needs(*count, *cols)
        }
        Way::Adopt => {
            adopted(trial);
            fit.needs_to_adopt(*count, *cols)
        }
        Way::Place => {
            let map = Map::load(std::env::var(MAP).unwrap()).unwrap();
            let options = LionOptions { threads: 2, ..LionOptions::default() };
            let said = options.needs(&map);
            let lion = Lion::new(map, &options).unwrap();
            for _ in (0..*count).step_by(4096) {
                lion.place(&rows(4096, *cols)).unwrap();
            }
            said
        }
        Way::Landmarks(many) => {
            let options = fit.landmarks(*many);
            let mut landmarks = Landmarks::new(options).unwrap();
            for first in (0..*count).step_by(1000) {
                let names = (first..first + 1000).map(|row| format!("row {row}")).collect();
                landmarks.add(Rows { data: rows(1000, *cols), ids: Some(names), labels: None }).unwrap();
            }
            fit.run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap();
            fit.needs_sampled(&LandmarkOptions { held_out: count - many, ..options }, *cols)
        }
    };
    assert_eq!(said.bytes, said.parts.iter().map(|part| part.bytes).sum::<u64>());
    println!("{said:?}");
    (said.bytes, told("VmHWM:") - before)
}

#[test]
fn what_is_said_is_what_is_taken() {
    const WHICH: &str = "LION_NEEDS_OF";
    if let Ok(which) = std::env::var(WHICH) {
        let (said, taken) = run(&trials()[which.parse::<usize>().unwrap()]);
        println!("\nsaid {said} taken {taken} end");
        return;
    }
    let map = std::env::temp_dir().join(format!("lion-needs-{}.lion", std::process::id()));
    for (which, trial) in trials().iter().enumerate() {
        if let Way::Place = trial.way {
            adopted(trial).save(&map).unwrap();
        }
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "what_is_said_is_what_is_taken", "--nocapture"]);
        let output = child.env(WHICH, which.to_string()).env(MAP, &map).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let number = |after: &str| -> f64 {
            let rest = output.split_once(after).unwrap_or_else(|| panic!("trial {which}: {output}")).1;
            rest.split_whitespace().next().unwrap().parse().unwrap()
        };
        let (said, taken) = (number("said "), number("taken "));
        let off = (said - taken) / taken;
        println!(
            "trial {which}: said {:.1} MB, took {:.1} MB, {:+.1} %",
            said / 1e6,
            taken / 1e6,
            100.0 * off
        );
        assert!((said - taken).abs() <= WITHIN * taken + SMALL, "trial {which}: {output}");
    }
    let _ = std::fs::remove_file(&map);
}

#[test]
fn more_needs_more() {
    let fit = Fit { threads: 2, ..Fit::default() };
    let of = |rows, cols| fit.needs(rows, cols).bytes;
    for rows in [100, 1000, 29_000, 100_000, 1_000_000] {
        assert!(of(rows, 50) < of(2 * rows, 50), "{rows}");
        assert!(of(rows, 50) <= of(rows, 60), "{rows}");
    }
    assert!(of(1_000_000, 50) < 2_000_000_000);
    assert!(of(0, 0) > 0 && of(1, 1) > 0);
    // As many landmarks as fit, and not one more.
    let options = fit.landmarks(10_000_000);
    let most = fit.most_landmarks(&options, 50, 300_000_000).unwrap();
    let needs = |count| fit.needs_sampled(&LandmarkOptions { count, ..options }, 50).bytes;
    assert!(needs(most) <= 300_000_000 && needs(most + 1) > 300_000_000, "{most}");
    assert_eq!(fit.most_landmarks(&fit.landmarks(500), 50, 300_000_000), Some(500));
    assert_eq!(fit.most_landmarks(&options, 50, 1_000_000), None);
}

#[test]
fn placing_says_it_too() {
    let grid = |many: usize| {
        let places = (0..many).map(|i| [(i % 100) as f32, (i / 100) as f32]).collect::<Vec<_>>();
        Matrix::new(many, 2, places.into_flattened()).unwrap()
    };
    let map = |many: usize| Fit::default().adopt(grid(many), grid(many), &mut ignore).unwrap();
    let options = LionOptions { threads: 1, ..LionOptions::default() };
    let (few, many) = (options.needs(&map(100)), options.needs(&map(9000)));
    assert!(few.bytes < many.bytes);
    let fdr = LionOptions { fdr: Some(0.1), ..options };
    let outlier = options.needs_of_outlier(&map(100));
    assert!((150..350).contains(&outlier) && fdr.needs_of_outlier(&map(100)) > 2 * outlier);
    drop(Lion::new(map(100), &options).unwrap());
}
