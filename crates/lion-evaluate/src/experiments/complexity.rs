//! Time to build and time for each row, measured against the number of rows and of columns.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the orders of growth that measurements are compared with.

use super::error::Result;
use crate::{Baseline, Contender, Descent, Epsilon, Kernel, Network, OpenTsneStart, Parametric};
use lion_tsne::{Error, Fit, Local, Map, Matrix, PcaChoice, VerdictRule, ignore};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// One measurement.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub(crate) method: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) build_seconds: f64,
    pub(crate) row_seconds: f64,
}

/// A method whose times are taken.
#[derive(Clone, Copy)]
pub(crate) struct TimedMethod {
    pub(crate) contender: Contender,
    /// More rows than this are not tried: they would take minutes, or memory that is not there.
    largest: usize,
    /// How many rows are placed.
    placed: usize,
    /// The paper's orders of growth: of building, and of a row.
    pub(crate) published: [&'static str; 2],
}

/// Epochs of the network; its time to build is in proportion to them.
pub(crate) const EPOCHS: usize = 20;
/// How often rows are placed.
const PASSES: usize = 4;
/// Columns while rows vary, and rows while columns do.
pub(crate) const COLUMNS: usize = 30;
pub(crate) const ROWS: usize = 2500;

/// One of each kind.
pub(crate) fn timed() -> Vec<TimedMethod> {
    let descent = |new_sigma| {
        let of_all = |descent: &&Descent| descent.new_sigma == new_sigma && !descent.exaggeration;
        // The first of those starts at the closest row.
        Baseline::Descent(Descent::ALL.iter().find(of_all).copied().unwrap_or(Descent::ALL[0]))
    };
    let other = |baseline, largest, placed, published| TimedMethod {
        contender: Contender::Other(baseline),
        largest,
        placed,
        published,
    };
    let lion = |local| Contender::Lion { percentile: 99.0, local, verdict: VerdictRule::Paper };
    let network = Network { epochs: EPOCHS, ..Network::PAPER[0] };
    let parametric = Parametric { pretraining_epochs: 1, epochs: 1, ..Parametric::default() };
    let multiquadric = Baseline::Rbf { kernel: Kernel::Multiquadric, epsilon: Epsilon::MeanDistance };
    vec![
        other(multiquadric, 10_000, 200, ["N³K³", "NK"]),
        other(Baseline::Idw { power: 20.0 }, 60_000, 200, ["none", "NK"]),
        other(descent(false), 10_000, 50, ["none", "N²K"]),
        other(descent(true), 10_000, 10, ["none", "N²K"]),
        other(Baseline::Network(network), 60_000, 1000, ["varies", "not of N"]),
        other(Baseline::Parametric(parametric), 25_000, 1000, ["varies", "not of N"]),
        other(Baseline::Kernelized { width: 0.25 }, 10_000, 200, ["N³K³", "NK"]),
        other(Baseline::OpenTsne { start: OpenTsneStart::Median }, 60_000, 50, ["", ""]),
        other(Baseline::FixedPoint, 60_000, 1000, ["", ""]),
        TimedMethod { contender: lion(Local::Idw), largest: 60_000, placed: 1000, published: ["NK", "NK"] },
        TimedMethod { contender: lion(Local::Energy), largest: 60_000, placed: 1000, published: ["", ""] },
    ]
}

/// So many rows of so many columns, with the sizes to try.
pub(crate) fn sizes(quick: bool) -> Vec<[usize; 2]> {
    let (rows, columns): (&[usize], &[usize]) = match quick {
        true => (&[250, 1000, 2500], &[10, 100]),
        false => (&[250, 500, 1000, 2500, 5000, 10_000, 25_000, 60_000], &[10, 100, 300, 784]),
    };
    let by_rows = rows.iter().map(|&n| [n, COLUMNS]);
    by_rows.chain(columns.iter().map(|&k| [ROWS, k])).collect()
}

/// Times every method that can go so far, on rows in ten clouds.
pub(crate) fn measure([rows, columns]: [usize; 2], seed: u64) -> Result<Vec<Timing>> {
    let (x, y) = clouds(rows, columns, seed)?;
    let (new, _) = clouds(1000, columns, seed + 1)?;
    let fit = Fit { pca: PcaChoice::None, seed, threads: rayon::current_num_threads(), ..Fit::default() };
    let begun = Instant::now();
    let map = fit.adopt(x, y, &mut ignore)?;
    // What LION needs of a map (NN-X, NN-Y, the power) is worked out when a map is made.
    let adopted = begun.elapsed().as_secs_f64();
    let mut timings = Vec::new();
    for timed in timed().iter().filter(|timed| timed.largest >= rows) {
        let new = new.select(&(0..timed.placed as u32).collect::<Vec<u32>>());
        if let Some(mut timing) = one(&timed.contender, &map, &new, seed)? {
            if matches!(timed.contender, Contender::Lion { .. }) {
                timing.build_seconds += adopted;
            }
            timings.push(timing);
        }
    }
    Ok(timings)
}

/// Times one method; nothing if there is not the memory for it.
fn one(contender: &Contender, map: &Map, new: &Matrix, seed: u64) -> Result<Option<Timing>> {
    let begun = Instant::now();
    let ready = match contender.build(map, seed, &mut ignore) {
        Err(Error::Memory { .. }) => return Ok(None),
        ready => ready?,
    };
    let build_seconds = begun.elapsed().as_secs_f64();
    // The best of a few: whatever else the machine does can only make it slower.
    let mut seconds = f64::INFINITY;
    for _ in 0..PASSES {
        let begun = Instant::now();
        ready.place_alone(new)?;
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    Ok(Some(Timing {
        method: contender.to_string(),
        rows: map.rows(),
        columns: map.x().cols(),
        build_seconds,
        row_seconds: seconds / new.rows() as f64,
    }))
}

/// Rows in ten clouds, and places in ten others.
fn clouds(rows: usize, columns: usize, seed: u64) -> Result<(Matrix, Matrix)> {
    let values = crate::noise(columns + 2, rows + 10, seed);
    // The clouds' centres are the same for every seed, so that new rows fall among the old.
    let centres = crate::noise(columns, 10, 0);
    let x = (0..rows).flat_map(|i| {
        let (own, centre) = (values.row(i), centres.row(i % 10));
        own[..columns].iter().zip(centre).map(|(v, c)| v + 3.0 * c).collect::<Vec<f32>>()
    });
    let y = (0..rows).flat_map(|i| {
        let (own, angle) = (values.row(i), (i % 10) as f32 * std::f32::consts::TAU / 10.0);
        [20.0 * own[columns] + 80.0 * angle.cos(), 20.0 * own[columns + 1] + 80.0 * angle.sin()]
    });
    Ok((Matrix::new(rows, columns, x.collect())?, Matrix::new(rows, 2, y.collect())?))
}

/// The exponent of growth: the slope through the logarithms, by least squares; nothing with fewer than three points.
pub(crate) fn exponent(points: &[[f64; 2]]) -> Option<f64> {
    let logs: Vec<[f64; 2]> = points.iter().map(|point| point.map(f64::ln)).collect();
    if logs.len() < 3 || logs.iter().flatten().any(|v| !v.is_finite()) {
        return None;
    }
    let n = logs.len() as f64;
    let mean = |at: usize| logs.iter().map(|log| log[at]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let along = logs.iter().map(|log| (log[0] - x).powi(2)).sum::<f64>();
    (along > 0.0).then(|| logs.iter().map(|log| (log[0] - x) * (log[1] - y)).sum::<f64>() / along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_known_growth() {
        let points = |power: f64| [10.0, 20.0, 70.0, 300.0].map(|n: f64| [n, 0.001 * n.powf(power)]);
        for power in [0.0, 1.0, 3.0] {
            let found = exponent(&points(power)).unwrap();
            assert!((found - power).abs() < 1e-9, "{found} for {power}");
        }
        assert_eq!(exponent(&points(1.0)[..2]), None);
        assert_eq!(exponent(&[[1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]), None);
    }

    #[test]
    fn every_method_is_timed() {
        let timings = measure([120, 5], 0).unwrap();
        assert_eq!(timings.len(), timed().len());
        assert!(timings.iter().all(|t| t.build_seconds > 0.0 && t.row_seconds > 0.0 && t.rows == 120));
    }
}
