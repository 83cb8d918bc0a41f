//! `lion export`: what a store or a map holds, as tables.

mod events;
mod places;
mod points;

use crate::args::{Common, ExportArgs};
use crate::output;
use anyhow::{Result, bail};
use events::ExportedEvents;
use lion_server::StoredEvents;
use lion_tsne::Map;
use points::ExportedPoints;
use serde::Serialize;

/// The JSON object.
#[derive(Serialize)]
struct Exported {
    #[serde(flatten)]
    events: Option<ExportedEvents>,
    #[serde(flatten)]
    points: Option<ExportedPoints>,
    /// The checksum of the map that the store belongs to.
    map: Option<String>,
}

/// Writes events, points or both; of a map its rows.
pub(crate) fn run(args: &ExportArgs, common: &Common) -> Result<()> {
    let inputs: Vec<_> = [Some(&args.source), args.map.as_ref()].into_iter().flatten().collect();
    let inputs: Vec<_> = inputs.iter().map(|path| path.as_path()).collect();
    for file in [&args.output, &args.points].into_iter().flatten() {
        output::check(file, &inputs)?;
    }
    if places::is_map(&args.source) {
        return run_map(args, common);
    }
    let store = StoredEvents::open(&args.source)?;
    let events = args.output.as_deref().map(|file| events::write(&store, file)).transpose()?;
    let points = match &args.points {
        Some(file) => Some(points::write(&store, args.map.as_deref(), file)?),
        None => None,
    };
    let exported = Exported { events, points, map: store.map().map(str::to_owned) };
    output::present(common, &exported, || {
        let events = exported.events.as_ref().map(ExportedEvents::in_words);
        let points = exported.points.as_ref().map(ExportedPoints::in_words);
        [events, points].into_iter().flatten().collect()
    })
}

fn run_map(args: &ExportArgs, common: &Common) -> Result<()> {
    let Some(file) = args.output.as_deref().filter(|_| args.points.is_none()) else {
        bail!("{} is a map, and --points is for stores: give -o a file", args.source.display());
    };
    let map = Map::load(&args.source)?;
    let exported = places::write(&map, file)?;
    output::present(common, &exported, || exported.in_words())
}
