//! `judge_places Y.npy PLACES.npy --labels L.npy --new-labels N.npy [--noise PLACES.npy]`: how good the places of new rows
//! are in the map Y, whatever chose them. The mean share of the ten nearest places of the map with a row's label, the same
//! for the map's own rows, and where noise is.

use anyhow::{Context, Result};
use lion_bench::{Arguments, matrix};
use lion_evaluate::{Estimate, Judge};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (y, placed) = (matrix(arguments.file(0)?)?, matrix(arguments.file(1)?)?);
    let labels = arguments.labels("labels")?.context("--labels is missing")?;
    let own = arguments.labels("new-labels")?.context("--new-labels is missing")?;
    let judge = Judge::of(&y, Some(&labels))?;
    let noise = arguments.matrix("noise")?.map(|noise| judge.percentiles(&noise)).transpose()?;
    let noise = noise.map(|percentiles| Estimate::of(&percentiles).mean);
    let accuracy = Estimate::of(&judge.shares(&placed, &own)?).mean;
    let of_map = judge.of_the_map()?;
    println!("{}", serde_json::json!({ "accuracy": accuracy, "map_accuracy": of_map, "noise": noise }));
    Ok(())
}
