//! `place MAP.lion NEW.npy [--labels L.npy --new-labels N.npy] [--noise NOISE.npy] [--singles N] [--local idw] [--rounds N]`: how fast
//! and how well a map places rows. Seconds for all rows in one call, microseconds for one row at a time, the share of the ten
//! nearest places with the row's label, where noise ends up, and memory before and after the single rows.

use anyhow::{Context, Result};
use lion_bench::{Arguments, matrix};
use lion_tsne::{ExactIndex, ignore};
use lion_tsne::{Lion, LionOptions, Local, Map, Matrix, Placement, Search, Verdict, nearest_neighbours};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let map = Map::load(arguments.file(0)?)?;
    let rows = matrix(arguments.file(1)?)?;
    let local = match arguments.option("local") {
        Some("idw") => Local::Idw,
        _ => Local::Energy,
    };
    let start = Instant::now();
    let threads = arguments.number("threads", 2.0)? as usize;
    let lion = Lion::new(map, &LionOptions { local, threads, ..LionOptions::default() })?;
    let ready = start.elapsed().as_secs_f64();

    let mut seconds = Vec::new();
    let mut placements = Vec::new();
    for _ in 0..arguments.number("rounds", 3.0)? as usize {
        let start = Instant::now();
        placements = lion.place(&rows)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);

    let singles = arguments.number("singles", 10_000.0)? as usize;
    let (latencies, memory) = one_by_one(&lion, &rows, singles)?;
    let noise = match arguments.option("noise") {
        Some(path) => Some(noise(&lion, &matrix(path.as_ref())?)?),
        None => None,
    };
    let accuracy = match (arguments.option("labels"), arguments.option("new-labels")) {
        (Some(of_map), Some(of_rows)) => {
            let of_map = lion_table::read_labels(of_map.as_ref())?;
            Some(accuracy(&lion, &placements, &of_map, &lion_table::read_labels(of_rows.as_ref())?)?)
        }
        _ => None,
    };
    let outliers = placements.iter().filter(|p| p.verdict == Verdict::Outlier).count();
    let at = |share: f64| latencies.get((share * latencies.len() as f64) as usize).copied();
    println!(
        "{}",
        serde_json::json!({
            "ready": ready, "seconds": seconds.get(seconds.len() / 2), "fastest": seconds.first(), "p50_us": at(0.5), "p99_us": at(0.99),
            "memory_before": memory.0, "memory_after": memory.1, "accuracy": accuracy, "noise": noise,
            "outlier_share": outliers as f64 / placements.len() as f64, "r_x": lion.r_x(), "power": lion.power(),
        })
    );
    Ok(())
}

/// Microseconds of each, ascending, and resident memory before and after.
fn one_by_one(lion: &Lion, rows: &Matrix, count: usize) -> Result<(Vec<f64>, (u64, u64))> {
    lion.place_row(rows.row(0))?;
    let before = resident()?;
    let mut latencies = Vec::with_capacity(count);
    for i in 0..count {
        let start = Instant::now();
        lion.place_row(rows.row(i % rows.rows()))?;
        latencies.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let after = resident()?;
    latencies.sort_by(f64::total_cmp);
    Ok((latencies, (before, after)))
}

/// The mean percentile, in NN-Y, of how far each row of noise is from its nearest place when it is placed alone.
fn noise(lion: &Lion, noise: &Matrix) -> Result<f64> {
    let index = ExactIndex::new(lion.map().y())?;
    let (own, _) = nearest_neighbours(lion.map().y(), 1, Search::Exact, 0, &mut ignore)?;
    let mut nn_y = own.distances2;
    nn_y.sort_by(f32::total_cmp);
    let mut total = 0.0;
    for row in 0..noise.rows() {
        let placement = lion.place_row(noise.row(row))?;
        let place = Matrix::new(1, placement.place.len(), placement.place.to_vec())?;
        let distance2 = index.nearest(&place, 1)?.distances2[0];
        total += nn_y.partition_point(|d| *d < distance2) as f64 / nn_y.len() as f64;
    }
    Ok(100.0 * total / noise.rows() as f64)
}

fn accuracy(lion: &Lion, placements: &[Placement], of_map: &[String], of_rows: &[String]) -> Result<f64> {
    let dims = lion.map().dims();
    let places: Vec<f32> = placements.iter().flat_map(|placement| placement.place.to_vec()).collect();
    let nearest =
        ExactIndex::new(lion.map().y())?.nearest(&Matrix::new(placements.len(), dims, places)?, 10)?;
    let rows = nearest.indices.chunks_exact(10).zip(of_rows);
    let same: usize =
        rows.map(|(near, own)| near.iter().filter(|&&j| of_map[j as usize] == *own).count()).sum();
    Ok(same as f64 / nearest.indices.len() as f64)
}

/// Bytes in memory now.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("memory is not told")?;
    Ok(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>()?)
}
