//! `live MNIST-FOLDER LION FOLDER [--rows 60000] [--seconds 20] [--listeners 200] [--minutes M [--rate ROWS]] [--soak M [--rate ROWS]]
//! [--kills N] [--crowd N] [--events N] [--only NAMES]`: a live map of so many rows under load over loopback HTTP, as Markdown tables. Memory is watched for
//! M minutes, a mixed load goes on for M minutes, the service is killed N times, and N connections crowd it, only if asked for. NAMES are of ingest, singles, listeners, updates, history (of --events
//! events); the first three are the default.

use anyhow::Result;
use lion_bench::Arguments;
use lion_bench::live::{Setting, crowd, history, ingest, kill, listeners, memory, singles, soak, updates};

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (mnist, lion, folder) = (arguments.file(0)?, arguments.file(1)?, arguments.file(2)?);
    let setting = Setting::of_mnist(mnist, lion, folder, arguments.number("rows", 60_000.0)? as usize)?;
    let seconds = arguments.number("seconds", 20.0)?;
    let only = arguments.option("only").unwrap_or("ingest,singles,listeners");
    let wanted = |name: &str| only.split(',').any(|part| part == name);
    if ["ingest", "singles", "listeners"].into_iter().any(wanted) {
        println!("| what | reached | wanted |\n|---|---|---|");
    }
    if wanted("ingest") {
        ingest(&setting, seconds)?;
    }
    if wanted("singles") {
        singles(&setting, seconds)?;
    }
    if wanted("listeners") {
        listeners(&setting, seconds, arguments.number("listeners", 200.0)? as usize)?;
    }
    if wanted("updates") {
        updates(&setting)?;
    }
    if wanted("history") {
        history(&setting, arguments.number("events", 1e6)? as u64)?;
    }
    let minutes = arguments.number("minutes", 0.0)?;
    if minutes > 0.0 {
        memory(&setting, minutes, arguments.number("rate", 2000.0)? as u64)?;
    }
    let minutes = arguments.number("soak", 0.0)?;
    if minutes > 0.0 {
        soak(&setting, minutes, arguments.number("rate", 500.0)? as u64)?;
    }
    let kills = arguments.number("kills", 0.0)? as u64;
    if kills > 0 {
        kill(&setting, kills)?;
    }
    let connections = arguments.number("crowd", 0.0)? as usize;
    if connections > 0 {
        crowd(&setting, connections)?;
    }
    Ok(())
}
