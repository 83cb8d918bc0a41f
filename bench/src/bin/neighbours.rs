//! `neighbours X.npy --k 90 [--search exact]`: seconds for the nearest neighbours of every row, and the share of a
//! sample's true neighbours among them.

use anyhow::Result;
use lion_bench::{Arguments, matrix};
use lion_tsne::index::{ExactIndex, Neighbours, Search, nearest_neighbours};
use lion_tsne::{Matrix, ignore};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let x = matrix(arguments.file(0)?)?;
    let k = arguments.number("k", 90.0)? as usize;
    let search = arguments.option("search").map_or(Ok(Search::Exact), str::parse)?;
    let start = Instant::now();
    let (found, how) = nearest_neighbours(&x, k, search, 0, &mut ignore)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", serde_json::json!({ "seconds": seconds, "recall": recall(&x, &found)?, "search": how }));
    Ok(())
}

fn recall(x: &Matrix, found: &Neighbours) -> Result<f64> {
    let sample: Vec<u32> = (0..x.rows() as u32).step_by((x.rows() / 500).max(1)).collect();
    // One more than asked for, since a row finds itself.
    let truth = ExactIndex::new(x)?.nearest(&x.select(&sample), found.k + 1)?;
    let mut hits = 0;
    for (&row, truth) in sample.iter().zip(truth.indices.chunks_exact(found.k + 1)) {
        let found = &found.indices[row as usize * found.k..][..found.k];
        hits += truth.iter().filter(|t| found.contains(t)).count();
    }
    Ok(hits as f64 / (sample.len() * found.k) as f64)
}
