//! `train [--epochs 100] [--mnist DIR]`: how fast the paper's networks are trained, beside how fast this machine multiplies
//! plain large matrices before and after. With the four files of MNIST, parametric t-SNE too: how fast, and how many
//! of the ten places nearest to a test digit's place are of the same digit. `--rows`, `--pretraining`, `--parametric-epochs`
//! and `--batch` make that shorter.

use anyhow::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use lion_bench::{Arguments, matrix};
use lion_evaluate::{Baseline, Estimate, Judge, Network, Parametric};
use lion_tsne::{Fit, Map, Matrix, PcaChoice, Progress, ignore};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// What the paper's networks are trained on.
const ROWS: usize = 2500;
const COLS: usize = 30;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let epochs = arguments.number("epochs", 100.0)? as usize;
    if let Some(folder) = arguments.option("mnist") {
        return parametric(folder.as_ref(), &arguments);
    }
    let map = noise()?;
    for network in Network::PAPER {
        let network = Network { epochs, ..network };
        let before = plain_gflops();
        let start = Instant::now();
        Baseline::Network(network).build(&map, 1, &mut ignore)?;
        let gflops = network.flops(ROWS, COLS, 2) * epochs as f64 / start.elapsed().as_secs_f64() / 1e9;
        let plain = 0.5 * (before + plain_gflops());
        println!("{network}: {gflops:.0} GFLOP/s, a plain product {plain:.0}: {:.2}", gflops / plain);
    }
    Ok(())
}

/// Trains parametric t-SNE on MNIST and judges it.
fn parametric(folder: &Path, arguments: &Arguments) -> Result<()> {
    let all = matrix(&folder.join("train-images-idx3-ubyte.gz"))?;
    let labels = lion_table::read_labels(&folder.join("train-labels-idx1-ubyte.gz"))?;
    let rows = (arguments.number("rows", all.rows() as f64)? as usize).min(all.rows());
    let x = all.select(&(0..rows as u32).collect::<Vec<u32>>());
    let usual = Parametric::default();
    let parametric = Parametric {
        pretraining_epochs: arguments.number("pretraining", usual.pretraining_epochs as f64)? as usize,
        epochs: arguments.number("parametric-epochs", usual.epochs as f64)? as usize,
        batch: arguments.number("batch", usual.batch as f64)? as usize,
        ..usual
    };
    let before = plain_gflops();
    let start = Instant::now();
    let (mut last, mut epochs) = (start, Vec::new());
    let network = parametric.train(&x, 1, &mut |progress: &Progress<'_>| {
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        let kl = progress.kl.map_or(String::new(), |kl| format!(", KL divergence {kl:.3}"));
        println!("epoch {} of {}: {seconds:.1} s{kl}", progress.done, progress.total);
        epochs.extend(progress.kl.map(|_| seconds));
        ControlFlow::Continue(())
    })?;
    println!("trained on {rows} rows in {:.0} s", start.elapsed().as_secs_f64());
    // The first of them made the affinities too.
    let epoch = Estimate::of(&epochs[1.min(epochs.len() - 1)..]).mean;
    let gflops = parametric.flops(rows, x.cols()) / epoch / 1e9;
    let plain = 0.5 * (before + plain_gflops());
    println!("an epoch: {gflops:.0} GFLOP/s, a plain product {plain:.0}: {:.2}", gflops / plain);
    let y = network.places(&x)?;
    let test = matrix(&folder.join("t10k-images-idx3-ubyte.gz"))?;
    let own = lion_table::read_labels(&folder.join("t10k-labels-idx1-ubyte.gz"))?;
    let shares = Judge::of(&y, Some(&labels[..rows]))?.shares(&network.places(&test)?, &own)?;
    println!("accuracy {:.4}", Estimate::of(&shares).mean);
    Ok(())
}

/// Rows and places of noise: how long training takes does not depend on what there is to learn.
fn noise() -> Result<Map> {
    let mut state = 1u64;
    let mut numbers = |count: usize| -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        };
        (0..count).map(|_| next()).collect()
    };
    let (x, y) = (Matrix::new(ROWS, COLS, numbers(ROWS * COLS))?, Matrix::new(ROWS, 2, numbers(ROWS * 2))?);
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    Ok(fit.adopt(x, y, &mut ignore)?)
}

/// GFLOP/s of a product of 2048 x 2048 on each thread, all at once.
fn plain_gflops() -> f64 {
    const SIDE: usize = 2048;
    const TIMES: usize = 4;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let left = Mat::<f32>::from_fn(SIDE, SIDE, |i, j| ((i * 7 + j * 3) % 11) as f32 - 5.0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut out = Mat::<f32>::zeros(SIDE, SIDE);
                for _ in 0..TIMES {
                    matmul(out.as_mut(), Accum::Replace, left.as_ref(), left.as_ref(), 1.0, Par::Seq);
                }
            });
        }
    });
    (threads * TIMES) as f64 * 2.0 * (SIDE as f64).powi(3) / start.elapsed().as_secs_f64() / 1e9
}
