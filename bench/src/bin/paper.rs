//! `paper DIGITS.npy --labels L.npy --test T.npy --test-labels U.npy --picked P.npy --noise N.npy --others O.npy`: the
//! paper's cluster test and outlier test on the digits that come with the repository, for each radius, by the paper's
//! rule and by ours. DIGITS are mapped as `lion demo` does. Each of the test digits T was picked for one of DIGITS,
//! whose number is in P; images of noise are kept if they are farther from all digits than any of those is from the
//! others; O are digits that nobody picked, of which few should be called outliers.

use anyhow::{Context, Result};
use lion_bench::{Arguments, matrix};
use lion_evaluate::{Estimate, Judge, places_of, strangers};
use lion_tsne::lion::{PowerPoint, Resolved};
use lion_tsne::{
    Fit, Lion, LionOptions, Local, Matrix, PcaChoice, Placement, Radius, Rows, Verdict, VerdictRule, ignore,
};
use serde_json::{Value, json};

const COMPONENTS: usize = 30;
const RADII: [f64; 4] = [90.0, 95.0, 99.0, 100.0];
/// The paper's way, our rule for rows with neighbours alone, and what people get unless they ask for something else.
const WAYS: [(&str, Local, VerdictRule); 3] = [
    ("idw, the paper's verdict", Local::Idw, VerdictRule::Paper),
    ("energy, the paper's verdict", Local::Energy, VerdictRule::Paper),
    ("energy, calibrated", Local::Energy, VerdictRule::Calibrated),
];

/// What is placed.
struct Tests {
    digits: Matrix,
    labels: Vec<String>,
    picked: Matrix,
    noise: Matrix,
    others: Matrix,
}

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let data = matrix(arguments.file(0)?)?;
    let labels = arguments.labels("labels")?.context("--labels is missing")?;
    let table = |name: &str| arguments.matrix(name)?.with_context(|| format!("--{name} is missing"));
    let tests = Tests {
        digits: table("test")?,
        labels: arguments.labels("test-labels")?.context("--test-labels is missing")?,
        picked: table("picked")?,
        noise: table("noise")?,
        others: table("others")?,
    };
    let mut rows = Vec::new();
    for percentile in RADII {
        let fit = Fit {
            pca: PcaChoice::Components(COMPONENTS),
            radius: Some(Radius::Percentile(percentile)),
            ..Fit::default()
        };
        let known = Rows { data: data.clone(), ids: None, labels: Some(labels.clone()) };
        let map = fit.run(known, &mut ignore)?;
        for (name, local, verdict) in WAYS {
            let options = LionOptions { local, verdict: Some(verdict), ..LionOptions::default() };
            let mut row = outcome(&Lion::new(map.clone(), &options)?, &tests)?;
            row["way"] = json!(name);
            row["radius"] = json!(percentile);
            rows.push(row);
        }
    }
    println!("{}", json!({ "rows": rows, "drawn": tests.noise.rows(), "others": tests.others.rows() }));
    Ok(())
}

/// Both tests, of one radius in one way.
fn outcome(lion: &Lion, tests: &Tests) -> Result<Value> {
    let judge = Judge::new(lion.map())?;
    let placements = lion.place(&tests.digits)?;
    let shares = judge.shares(&places_of(&placements, judge.dims())?, &tests.labels)?;
    let picked: Vec<u32> = tests.picked.data().iter().map(|&row| row as u32).collect();
    let baseline = judge.baseline(&picked, &tests.labels)?;
    let noise = tests.noise.select(&strangers(lion.map(), &tests.noise)?);
    let alone = (0..noise.rows()).map(|row| lion.place_row(noise.row(row)));
    let alone = alone.collect::<lion_tsne::Result<Vec<Placement>>>()?;
    let others = lion.resolve(&tests.others)?;
    let called = others.iter().filter(|resolved| matches!(resolved, Resolved::Outlier(_))).count();
    let curve = lion.map().lion().map(|kept| kept.power_curve.as_slice()).unwrap_or_default();
    let outliers = |placements: &[Placement]| {
        placements.iter().filter(|placement| placement.verdict == Verdict::Outlier).count()
    };
    Ok(json!({
        "accuracy": mean(&shares), "baseline": mean(&baseline),
        "digits_called_outlier": outliers(&placements),
        "noise": noise.rows(), "noise_called_outlier": outliers(&alone),
        "noise_percentile": mean(&judge.percentiles(&places_of(&alone, judge.dims())?)?),
        "others_called_outlier": called as f64 / others.len() as f64,
        "r_x": lion.r_x(), "power": lion.power(), "minima": minima(curve),
    }))
}

fn mean(values: &[f64]) -> f64 {
    Estimate::of(values).mean
}

/// How many valleys the curve has; one is what makes its lowest point the one to take.
fn minima(curve: &[PowerPoint]) -> usize {
    let falls: Vec<bool> = curve.windows(2).map(|two| two[1].error < two[0].error).collect();
    let turns = falls.windows(2).filter(|two| two[0] && !two[1]).count();
    // A curve that begins by rising, or ends falling, has its valley at that end.
    turns + usize::from(falls.first() == Some(&false)) + usize::from(falls.last() == Some(&true))
}
