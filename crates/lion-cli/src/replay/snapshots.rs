//! Snapshots: each file is all that there is at a time, and one step of the history.

use super::stem;
use crate::args::ReplayArgs;
use crate::files::Files;
use crate::place::{self, Gaps};
use crate::progress::Screen;
use anyhow::{Result, anyhow};
use lion_server::RecordedStep;
use lion_table::{Origins, ReadOptions, Table};
use lion_tsne::live::{Arrival, Event, Live, LiveOptions};
use lion_tsne::{Error, Lion, Map};
use std::path::Path;
use std::sync::Arc;

/// The column of ids, unless another is named.
const ID: &str = "id";

/// Places one snapshot after the other; gives what happened, and where each step ends.
pub(super) fn read(
    args: &ReplayArgs,
    files: &Files,
    lion: &Arc<Lion>,
    screen: &Screen,
) -> Result<(Vec<Event>, Vec<RecordedStep>)> {
    let mut live = Live::new(lion.clone(), LiveOptions::default())?;
    let (mut events, mut steps) = (Vec::new(), Vec::new());
    for (number, file) in (1..).zip(files.paths()) {
        screen.detail(&format!("placing {}", file.display()));
        let (arrivals, origins) = arrivals(args, file, lion, screen)?;
        let applied = live.snapshot(arrivals, Some(f64::from(number)));
        let applied = applied.map_err(|error| match error {
            Error::Change { row, problem } => anyhow!("{}: {problem}", origins.cell(row, "")),
            error => anyhow!(error).context(file.display().to_string()),
        })?;
        events.extend(applied.events);
        steps.push(RecordedStep { name: stem(file), last: live.last() });
    }
    Ok((events, steps))
}

/// The rows of a snapshot, and where they are from. A row without an id is known by its file and its number.
fn arrivals(args: &ReplayArgs, file: &Path, lion: &Lion, screen: &Screen) -> Result<(Vec<Arrival>, Origins)> {
    let alone = Files::expand(&[file.to_owned()])?;
    let options = options(args, file, lion.map())?;
    let table = place::open_distinct(&args.source, &options, &alone, lion.map(), Gaps::Refused, screen)?;
    let (Table { cols, data, ids, labels, .. }, origins) = table.into_table_of_files()?;
    let name = stem(file);
    let arrival = |(row, values): (usize, &[f32])| Arrival {
        id: ids.as_ref().map_or_else(|| format!("{name}:{row}"), |ids| ids[row].clone()),
        row: values.to_vec(),
        label: labels.as_ref().map(|labels| labels[row].clone()).filter(|label| !label.is_empty()),
        t: None,
    };
    Ok((data.chunks_exact(cols).enumerate().map(arrival).collect(), origins))
}

/// How a snapshot is to be read: by its column of ids, if it has one. A column of that name that the map was fitted to holds none.
fn options(args: &ReplayArgs, file: &Path, map: &Map) -> Result<ReadOptions> {
    let mut options = args.snapshots.read_options();
    let is_feature = match &options.columns {
        Some(columns) => columns.iter().any(|name| name == ID),
        None => map.columns().is_some_and(|mut columns| columns.any(|name| name == ID)),
    };
    let is_there =
        || Ok::<_, lion_table::Error>(lion_table::column_names(file)?.iter().any(|name| name == ID));
    if options.id.is_none() && !is_feature && is_there()? {
        options.id = Some(ID.into());
    }
    Ok(options)
}
