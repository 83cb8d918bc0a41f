//! What a fit says that it will need, beside what it really takes: each in a process of its own, whose peak the system
//! tells.
#![cfg(target_os = "linux")]

use lion_tsne::landmarks::Landmarks;
use lion_tsne::lion::PendingOutlier;
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::process::Command;

/// What estimates may be too large by beside a quarter: a process of a few megabytes has many small things.
const SMALL: f64 = 14e6;

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

/// One that is tried: how, of how many rows and columns, and of how many of them landmarks.
struct MemoryTrial {
    fit: Fit,
    rows: usize,
    cols: usize,
    landmarks: Option<usize>,
}

fn trials() -> Vec<MemoryTrial> {
    // Rows are put in another order, which holds most, before the 50th iteration and before the 150th; the map is as wide
    // as it will be some time after exaggeration.
    let fit = Fit { iterations: Some(300), exaggeration_iterations: Some(50), threads: 2, ..Fit::default() };
    let trial = |fit, rows, cols| MemoryTrial { fit, rows, cols, landmarks: None };
    vec![
        trial(fit.clone(), 6000, 20),
        trial(Fit { perplexity: Some(100.0), threads: 1, ..fit.clone() }, 5000, 50),
        trial(Fit { perplexity: Some(10.0), dims: 3, ..fit.clone() }, 9000, 10),
        trial(Fit { iterations: Some(60), ..fit.clone() }, 3000, 784),
        trial(
            Fit { iterations: Some(60), pca: PcaChoice::None, perplexity: Some(5.0), ..fit.clone() },
            12_000,
            300,
        ),
        MemoryTrial {
            landmarks: Some(4000),
            ..trial(Fit { pca: PcaChoice::Components(10), ..fit }, 60_000, 30)
        },
    ]
}

/// Runs one and tells what was said and what was taken.
fn run(trial: &MemoryTrial) -> (u64, u64) {
    let MemoryTrial { fit, rows: count, cols, landmarks } = trial;
    let before = told("VmRSS:");
    let said = match landmarks {
        None => {
            fit.run(rows(*count, *cols), &mut ignore).unwrap();
            fit.needs(*count, *cols)
        }
        Some(many) => {
            let options = fit.landmarks(*many);
            let mut landmarks = Landmarks::new(options).unwrap();
            for first in (0..*count).step_by(1000) {
                let names = (first..first + 1000).map(|row| format!("row {row}")).collect();
                landmarks.add(Rows { data: rows(1000, *cols), ids: Some(names), labels: None }).unwrap();
            }
            fit.run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap();
            fit.needs_sampled(
                &lion_tsne::landmarks::LandmarkOptions { held_out: count - many, ..options },
                *cols,
            )
        }
    };
    assert_eq!(said.bytes, said.parts.iter().map(|part| part.bytes).sum::<u64>());
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
    for which in 0..trials().len() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "what_is_said_is_what_is_taken", "--nocapture"]);
        let output = child.env(WHICH, which.to_string()).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let number = |after: &str| -> f64 {
            let rest = output.split_once(after).unwrap_or_else(|| panic!("trial {which}: {output}")).1;
            rest.split_whitespace().next().unwrap().parse().unwrap()
        };
        let (said, taken) = (number("said "), number("taken "));
        println!("trial {which}: said {:.1} MB, took {:.1} MB", said / 1e6, taken / 1e6);
        assert!(said >= taken, "trial {which}: said {said}, took {taken}");
        assert!(said <= 1.25 * taken + SMALL, "trial {which}: said {said}, took {taken}");
    }
}

#[test]
fn more_needs_more() {
    let fit = Fit { threads: 2, ..Fit::default() };
    let of = |rows, cols| fit.needs(rows, cols).bytes;
    for rows in [100, 1000, 29_000, 100_000, 1_000_000] {
        assert!(of(rows, 50) < of(2 * rows, 50), "{rows}");
        assert!(of(rows, 50) <= of(rows, 60), "{rows}");
    }
    assert!(of(1_000_000, 50) < 3_500_000_000);
    assert!(of(0, 0) > 0 && of(1, 1) > 0);
    // As many landmarks as fit, and not one more.
    let options = fit.landmarks(10_000_000);
    let most = fit.most_landmarks(&options, 50, 300_000_000).unwrap();
    let needs =
        |count| fit.needs_sampled(&lion_tsne::landmarks::LandmarkOptions { count, ..options }, 50).bytes;
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
    assert!(PendingOutlier::needs(50) < 1200 && PendingOutlier::needs(2) < PendingOutlier::needs(50));
    drop(Lion::new(map(100), &options).unwrap());
}
