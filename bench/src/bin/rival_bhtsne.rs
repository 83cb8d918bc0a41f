//! `rival_bhtsne X.npy Y.npy --mode fft`: the crate bhtsne on the same rows; writes its map as .npy and prints its seconds.

use anyhow::{Result, bail};
use lion_bench::{Arguments, matrix};
use std::io::Write;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let x = matrix(arguments.file(0)?)?;
    let samples: Vec<&[f32]> = x.data().chunks_exact(x.cols()).collect();
    let distance =
        |a: &&[f32], b: &&[f32]| a.iter().zip(*b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
    let start = Instant::now();
    let mut tsne = bhtsne::tSNE::<f32, &[f32], 2>::new(&samples);
    tsne.perplexity(arguments.number("perplexity", 30.0)? as f32);
    tsne.epochs(arguments.number("iterations", 750.0)? as usize)
        .stop_lying_epoch(250)
        .early_exaggeration(12.0);
    match arguments.option("mode") {
        Some("fft") | None => tsne.fit_sne(distance),
        Some("bh") => tsne.barnes_hut(0.5, distance),
        Some("exact") => tsne.exact(distance),
        Some(other) => bail!("no mode {other}: fft, bh or exact"),
    };
    let seconds = start.elapsed().as_secs_f64();
    write_npy(arguments.file(1)?, &tsne.embedding())?;
    println!("{}", serde_json::json!({ "seconds": seconds }));
    Ok(())
}

fn write_npy(path: &std::path::Path, y: &[f32]) -> Result<()> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 2), }}", y.len() / 2);
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in y {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(out.flush()?)
}
