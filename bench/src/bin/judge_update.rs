//! `judge_update X.npy Y.npy --labels L.npy --old X.npy --old-places Y.npy [--stayed N] [--arrived LABEL]`: how well a map was
//! updated, the same for whatever did it. The first N rows are the first N old ones; without it, all old rows stayed.

use anyhow::{Context, Result};
use lion_bench::update::Judged;
use lion_bench::{Arguments, matrix};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (rows, places) = (matrix(arguments.file(0)?)?, matrix(arguments.file(1)?)?);
    let labels = arguments.labels("labels")?.context("--labels is missing")?;
    let old_rows = arguments.matrix("old")?.context("--old is missing")?;
    let old_places = arguments.matrix("old-places")?.context("--old-places is missing")?;
    let judged = Judged {
        rows: &rows,
        places: &places,
        labels: &labels,
        old_rows: &old_rows,
        old_places: &old_places,
        stayed: arguments.number("stayed", old_rows.rows() as f64)? as usize,
        arrived: arguments.option("arrived"),
    };
    println!("{}", judged.metrics()?);
    Ok(())
}
