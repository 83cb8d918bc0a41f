//! Events as `lion stream` writes them, a line each.

use anyhow::{Context, Result, anyhow, bail, ensure};
use lion_tsne::Map;
use lion_tsne::live::{Event, Sighting, What};
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What tells an event from a row of a table.
#[derive(Deserialize)]
struct EventSigns {
    #[serde(rename = "n")]
    _number: u64,
    #[serde(rename = "kind")]
    _kind: String,
}

/// Whether a file begins with an event. What is wrong with a file is told by who reads it.
pub(super) fn are_events(path: &Path) -> bool {
    let is_lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
    let Some(file) = is_lines.then(|| File::open(path).ok()).flatten() else { return false };
    let mut lines = BufReader::new(file).lines().map_while(|line| line.ok());
    let first = lines.find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<EventSigns>(&line).is_ok())
}

/// All events of a file, which must be of this map and numbered without gaps.
pub(super) fn read(path: &Path, map: &Map, map_path: &Path) -> Result<Vec<Event>> {
    let shown = path.display();
    let mut events: Vec<Event> = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(File::open(path)?).lines()) {
        let line = line.with_context(|| format!("{shown} line {number} cannot be read"))?;
        if line.trim().is_empty() {
            continue;
        }
        let event: Event = serde_json::from_str(&line).map_err(|error| {
            anyhow!("{shown} line {number} is not an event as lion stream writes it: {error}")
        })?;
        if let Some(before) = events.last() {
            let wanted = before.n + 1;
            ensure!(
                event.n == wanted,
                "{shown} line {number} is event {} where {wanted} belongs: give all events, in order",
                event.n
            );
        }
        if let What::MapUpdated(_) = event.what {
            bail!(
                "{shown} line {number} tells of another version of the map: replay the store itself, which has its versions"
            );
        }
        if let Some(sighting) = event.sighting() {
            ensure!(
                is_of(map, sighting),
                "{shown} line {number} is an event of another map than {}: give the map that lion stream had",
                map_path.display()
            );
        }
        events.push(event);
    }
    ensure!(!events.is_empty(), "{shown} has no events");
    Ok(events)
}

/// Whether the map has the place and the nearest row that an event speaks of.
fn is_of(map: &Map, sighting: &Sighting) -> bool {
    let nearest = sighting.placement.nearest as usize;
    sighting.placement.place.len() == map.dims()
        && nearest < map.rows()
        && map.id(nearest) == sighting.nearest_id.as_str()
}
