//! `alarms [--mnist FOLDER] [--seeds 10] [--ordinary 100000] [--only PARTS] [--rows 2500] [--rates 1,50]`: how often
//! alarms are false, and how late true ones are, as Markdown tables. PARTS are of ordinary, clusters, drift, stops,
//! mnist. No clock is in it: rates are times that the rows carry.

use anyhow::Result;
use lion_bench::Arguments;
use lion_bench::alarms::{AlarmBench, DigitRows, RATES};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let only = arguments.option("only").unwrap_or("ordinary,clusters,drift,stops,mnist");
    let wanted = |name: &str| only.split(',').any(|part| part == name);
    let rates = match arguments.option("rates") {
        Some(rates) => rates.split(',').map(str::parse).collect::<Result<_, _>>()?,
        None => RATES.to_vec(),
    };
    let bench = AlarmBench {
        rates,
        seeds: arguments.number("seeds", 10.0)? as u64,
        ordinary: arguments.number("ordinary", 100_000.0)? as usize,
        rows: arguments.number("rows", 2500.0)? as usize,
    };
    if wanted("ordinary") {
        bench.ordinary()?;
    }
    if wanted("clusters") {
        bench.clusters()?;
    }
    if wanted("drift") {
        bench.drift()?;
    }
    if wanted("stops") {
        bench.stops()?;
    }
    if let Some(folder) = arguments.option("mnist").filter(|_| wanted("mnist")) {
        bench.mnist(&DigitRows::read(folder.as_ref(), bench.seeds)?)?;
    }
    Ok(())
}
