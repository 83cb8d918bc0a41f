//! `place MAP.lion NEW.npy [--labels L.npy --new-labels N.npy] [--noise NOISE.npy] [--local idw] [--radius 100%] [--rounds N]
//! [--singles N] [--threads N]`: how fast and how well a map places rows. Seconds for all rows in one call (after one call
//! that does not count), microseconds for one row at a time, memory before and after those; the share of the ten nearest
//! places with the row's label, for all rows and for those that are no outliers; where noise ends up.

use anyhow::Result;
use lion_bench::{Arguments, matrix};
use lion_evaluate::{Estimate, Judge, places_of, places_of_map};
use lion_tsne::{Lion, LionOptions, Local, Map, Matrix, Placement, Radius, Verdict};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let map = Map::load(arguments.file(0)?)?;
    let rows = matrix(arguments.file(1)?)?;
    let local = arguments.option("local").map(str::parse::<Local>).transpose()?.unwrap_or_default();
    let radius = arguments.option("radius").map(str::parse::<Radius>).transpose()?;
    let threads = arguments.number("threads", 2.0)? as usize;
    let start = Instant::now();
    let lion = Lion::new(map, &LionOptions { local, radius, threads, ..LionOptions::default() })?;
    let ready = start.elapsed().as_secs_f64();

    let mut placements = lion.place(&rows)?;
    let mut seconds = Vec::new();
    for _ in 0..arguments.number("rounds", 3.0)? as usize {
        let start = Instant::now();
        placements = lion.place(&rows)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);

    let singles = arguments.number("singles", 10_000.0)? as usize;
    let (latencies, [before, after]) = one_by_one(&lion, &rows, singles)?;
    let at = |share: f64| latencies.get((share * latencies.len() as f64) as usize).copied();
    let noise = arguments.matrix("noise")?.map(|noise| percentile_of_noise(&lion, &noise)).transpose()?;
    let quality = match (arguments.labels("labels")?, arguments.labels("new-labels")?) {
        (Some(labels), Some(own)) => Some(Quality::of(&lion, &placements, &labels, &own)?),
        _ => None,
    };
    let outliers = placements.iter().filter(|p| p.verdict == Verdict::Outlier).count();
    println!(
        "{}",
        serde_json::json!({
            "ready": ready, "seconds": seconds.get(seconds.len() / 2), "fastest": seconds.first(),
            "p50_us": at(0.5), "p99_us": at(0.99), "calls": latencies.len(),
            "memory_before": before, "memory_after": after,
            "accuracy": quality.as_ref().map(|quality| quality.all),
            "accuracy_inside": quality.as_ref().map(|quality| quality.inside),
            "map_accuracy": quality.as_ref().map(|quality| quality.of_map),
            "noise": noise, "outlier_share": outliers as f64 / placements.len() as f64,
            "r_x": lion.r_x(), "power": lion.power(),
        })
    );
    Ok(())
}

/// Microseconds of each, ascending, and resident memory before and after.
fn one_by_one(lion: &Lion, rows: &Matrix, count: usize) -> Result<(Vec<f64>, [Option<u64>; 2])> {
    lion.place_row(rows.row(0))?;
    let mut latencies = vec![1.0; count];
    let before = resident();
    for (i, latency) in latencies.iter_mut().enumerate() {
        let start = Instant::now();
        lion.place_row(rows.row(i % rows.rows()))?;
        *latency = start.elapsed().as_secs_f64() * 1e6;
    }
    let after = resident();
    latencies.sort_by(f64::total_cmp);
    Ok((latencies, [before, after]))
}

/// Where rows of noise end up when each is placed alone.
fn percentile_of_noise(lion: &Lion, noise: &Matrix) -> Result<f64> {
    let alone = |row: usize| lion.place_row(noise.row(row));
    let placements = (0..noise.rows()).map(alone).collect::<lion_tsne::Result<Vec<Placement>>>()?;
    let judge = Judge::new(lion.map())?;
    Ok(Estimate::of(&judge.percentiles(&places_of(&placements, judge.dims())?)?).mean)
}

/// Mean shares of the ten nearest places of the map that have the right label.
struct Quality {
    all: f64,
    /// Of rows that are no outliers.
    inside: f64,
    of_map: f64,
}

impl Quality {
    fn of(lion: &Lion, placements: &[Placement], labels: &[String], own: &[String]) -> Result<Self> {
        let judge = Judge::of(&places_of_map(lion.map()), Some(labels))?;
        let shares = judge.shares(&places_of(placements, judge.dims())?, own)?;
        let inside = shares.iter().zip(placements).filter(|(_, p)| p.verdict != Verdict::Outlier);
        let inside: Vec<f64> = inside.map(|(share, _)| *share).collect();
        Ok(Self {
            all: Estimate::of(&shares).mean,
            inside: Estimate::of(&inside).mean,
            of_map: judge.of_the_map()?,
        })
    }
}

/// Bytes in memory now, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?)
}
