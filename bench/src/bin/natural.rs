//! `natural TRAIN.npy --labels L.npy --test T.npy --test-labels U.npy [--pca 30] [--dims 2] [--kl 300] [--threads N]`: do placed rows
//! look like rows of the map? TRAIN is mapped, T placed into it by each rule. Of those that are interpolated: the mean percentile
//! of the distance to the nearest place among the map's own NN-Y (50 is natural), the mean share of the ten nearest places that
//! have the row's label, the mean KL divergence of N + 1 points of the first rows (`--kl 0` leaves it out), and what the rule
//! costs. Beside them the map's own share.

use anyhow::{Context, Result};
use lion_bench::{Arguments, matrix};
use lion_evaluate::{Estimate, JoinedKl, Judge, places_of};
use lion_tsne::{Fit, Lion, LionOptions, Local, Map, Matrix, PcaChoice, Placement, Rows, Verdict, ignore};
use serde_json::{Value, json};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let labels = arguments.labels("labels")?.context("--labels is missing")?;
    let test = arguments.matrix("test")?.context("--test is missing")?;
    let test_labels = arguments.labels("test-labels")?.context("--test-labels is missing")?;
    let pca = match arguments.number("pca", 0.0)? as usize {
        0 => PcaChoice::None,
        components => PcaChoice::Components(components),
    };
    let threads = arguments.number("threads", 2.0)? as usize;
    let map = match arguments.option("map") {
        Some(path) if std::path::Path::new(path).exists() => Map::load(path)?,
        kept => {
            let rows = Rows { data: matrix(arguments.file(0)?)?, ids: None, labels: Some(labels) };
            let dims = arguments.number("dims", 2.0)? as usize;
            let map = Fit { pca, dims, threads, ..Fit::default() }.run(rows, &mut ignore)?;
            kept.map(|path| map.save(path)).transpose()?;
            map
        }
    };
    let count = arguments.number("kl", 300.0)? as usize;
    let kl = (count > 0).then(|| JoinedKl::new(&map)).transpose()?;
    let judge = Judge::new(&map)?;
    let mut rows = Vec::new();
    for local in Local::ALL {
        let start = Instant::now();
        let lion = Lion::new(map.clone(), &LionOptions { local, threads, ..LionOptions::default() })?;
        let ready = start.elapsed().as_secs_f64();
        let mut row = outcome(&lion, &judge, &test, &test_labels)?;
        if let Some(kl) = &kl {
            row["kl"] = json!(mean_kl(kl, &lion, &test, count)?);
        }
        row["rule"] = json!(local);
        row["ready_ms"] = json!(1e3 * ready);
        rows.push(row);
    }
    let own_kl = kl.as_ref().map(JoinedKl::own);
    println!(
        "{}",
        json!({ "rows": rows, "map_share": judge.of_the_map()?, "map_kl": own_kl, "size": map.rows() })
    );
    Ok(())
}

fn outcome(lion: &Lion, judge: &Judge, test: &Matrix, labels: &[String]) -> Result<Value> {
    let mut placements = lion.place(test)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        placements = lion.place(test)?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    let ordinary = |p: &Placement| p.verdict == Verdict::Interpolated;
    let among: Vec<Placement> = placements.iter().filter(|p| ordinary(p)).cloned().collect();
    let labels: Vec<&String> =
        labels.iter().zip(&placements).filter(|(_, p)| ordinary(p)).map(|(l, _)| l).collect();
    let places = places_of(&among, judge.dims())?;
    let (percentiles, shares) = (judge.percentiles(&places)?, judge.shares(&places, &labels)?);
    Ok(json!({
        "ordinary": among.len(), "percentile": Estimate::of(&percentiles).mean,
        "percentile_error": Estimate::of(&percentiles).error, "share": Estimate::of(&shares).mean,
        "share_error": Estimate::of(&shares).error, "us_a_row": 1e6 * fastest / test.rows() as f64,
    }))
}

/// Of the first rows that are interpolated.
fn mean_kl(kl: &JoinedKl, lion: &Lion, test: &Matrix, count: usize) -> Result<f64> {
    let first: Vec<u32> = (0..test.rows().min(count) as u32).collect();
    let first = test.select(&first);
    let rows = lion.map().preprocess().apply(&first)?;
    let placed = lion.place(&first)?;
    let of = |(at, p): (usize, &Placement)| kl.with_row(rows.row(at)).at(&p.place);
    let among = placed.iter().enumerate().filter(|(_, p)| p.verdict == Verdict::Interpolated);
    Ok(Estimate::of(&among.map(of).collect::<Vec<f64>>()).mean)
}
