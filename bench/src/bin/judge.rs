//! `judge X.npy Y.npy --perplexity 30 [--labels L.npy]`: how good a map is, the same for whatever made it. KL divergence
//! with exact neighbours in P and every pair in Q, and the mean share of the ten nearest in the map with the same label.

use anyhow::Result;
use lion_bench::{Arguments, matrix};
use lion_evaluate::Judge;
use lion_tsne::ignore;
use lion_tsne::index::{Search, nearest_neighbours};
use lion_tsne::tsne::{Affinities, kl_divergence};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (x, y) = (matrix(arguments.file(0)?)?, matrix(arguments.file(1)?)?);
    let perplexity = arguments.number("perplexity", 30.0)?;
    let k = (3.0 * perplexity).ceil() as usize;
    let (neighbours, _) = nearest_neighbours(&x, k, Search::Exact, 0, &mut ignore)?;
    let kl = kl_divergence(&Affinities::new(neighbours, perplexity), &y)?;
    let labels = arguments.labels("labels")?;
    let accuracy = labels.map(|labels| Judge::of(&y, Some(&labels))?.of_the_map()).transpose()?;
    println!("{}", serde_json::json!({ "kl": kl, "accuracy": accuracy }));
    Ok(())
}
