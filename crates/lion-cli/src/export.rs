//! `lion export`: what a store holds, as tables.

mod events;
mod points;

use crate::args::{Common, ExportArgs};
use crate::output;
use anyhow::Result;
use events::ExportedEvents;
use lion_server::StoredEvents;
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

/// Writes events, points or both.
pub(crate) fn run(args: &ExportArgs, common: &Common) -> Result<()> {
    let inputs: Vec<_> = [Some(&args.store), args.map.as_ref()].into_iter().flatten().collect();
    let inputs: Vec<_> = inputs.iter().map(|path| path.as_path()).collect();
    for file in [&args.output, &args.points].into_iter().flatten() {
        output::check(file, &inputs)?;
    }
    let store = StoredEvents::open(&args.store)?;
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
