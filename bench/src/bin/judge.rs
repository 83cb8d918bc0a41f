//! `judge X.npy Y.npy… --perplexity 30 [--labels L.npy]`: how good maps of one table are, the same for whatever made them. Prints
//! `maps`, what is told of each.

use anyhow::Result;
use lion_bench::judged::JudgedData;
use lion_bench::{Arguments, matrix};
use serde_json::{Value, json};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let perplexity = arguments.number("perplexity", 30.0)?;
    let data = JudgedData::new(matrix(arguments.file(0)?)?, arguments.labels("labels")?, perplexity)?;
    let maps: Vec<Value> =
        arguments.files_from(1).map(|file| data.metrics(&matrix(file)?)).collect::<Result<_>>()?;
    println!("{}", json!({ "maps": maps }));
    Ok(())
}
