//! `judge X.npy Y.npy --perplexity 30 [--labels L.npy]`: how good a map is, the same for whatever made it. KL divergence
//! with exact neighbours in P and every pair in Q, and the mean share of the ten nearest in the map with the same label.

use anyhow::Result;
use lion_bench::{Arguments, matrix};
use lion_tsne::{Affinities, Matrix, Search, ignore, kl_divergence, nearest_neighbours};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (x, y) = (matrix(arguments.file(0)?)?, matrix(arguments.file(1)?)?);
    let perplexity = arguments.number("perplexity", 30.0)?;
    let k = (3.0 * perplexity).ceil() as usize;
    let (neighbours, _) = nearest_neighbours(&x, k, Search::Exact, 0, &mut ignore)?;
    let kl = kl_divergence(&Affinities::new(neighbours, perplexity), &y)?;
    let accuracy = match arguments.option("labels") {
        Some(path) => Some(label_accuracy(&y, &lion_table::read_labels(path.as_ref())?)?),
        None => None,
    };
    println!("{}", serde_json::json!({ "kl": kl, "accuracy": accuracy }));
    Ok(())
}

fn label_accuracy(y: &Matrix, labels: &[String]) -> Result<f64> {
    let (nearest, _) = nearest_neighbours(y, 10, Search::Exact, 0, &mut ignore)?;
    let rows = nearest.indices.chunks_exact(10).zip(labels);
    let same: usize =
        rows.map(|(near, own)| near.iter().filter(|&&j| labels[j as usize] == *own).count()).sum();
    Ok(same as f64 / nearest.indices.len() as f64)
}
