//! `lion replay`: a history as one page.

mod events;
mod snapshots;

use crate::args::{Common, ReplayArgs};
use crate::files::Files;
use crate::output;
use crate::progress::Screen;
use anyhow::{Context, Result, bail};
use lion_server::{Recording, StoredEvents};
use lion_tsne::live::Live;
use lion_tsne::{Lion, Map};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// The JSON object.
#[derive(Serialize)]
struct Replayed {
    file: String,
    bytes: u64,
    events: usize,
    /// Versions of the map that are in the page.
    versions: usize,
    /// Snapshots; null for other histories.
    steps: Option<usize>,
}

/// Makes the page and writes it.
pub(crate) fn run(args: &ReplayArgs, common: &Common) -> Result<()> {
    let files = if args.data.is_empty() { None } else { Some(Files::expand(&args.data)?) };
    let read = files.iter().flat_map(Files::paths).chain(args.map.as_deref()).chain([args.source.as_path()]);
    output::check(&args.output, &read.collect::<Vec<_>>())?;
    let screen = Screen::new(common);
    let (recording, steps) = match &files {
        Some(files) => of_map(args, files, common, &screen)?,
        None => (of_store(args)?, None),
    };
    let page = recording.page()?;
    output::replace(&args.output, page.as_bytes())?;
    let replayed = Replayed {
        file: args.output.display().to_string(),
        bytes: page.len() as u64,
        events: recording.events(),
        versions: recording.versions(),
        steps,
    };
    screen.close();
    output::present(common, &replayed, || replayed.in_words())
}

impl Replayed {
    fn in_words(&self) -> String {
        let counted = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let steps = self.steps.map_or(String::new(), |steps| format!(" in {}", counted(steps, "step")));
        let events = counted(self.events, "event");
        let (versions, size) = (counted(self.versions, "version"), output::size(self.bytes));
        format!("{}: {events}{steps} on {versions} of the map, {size}\n", self.file)
    }
}

fn of_store(args: &ReplayArgs) -> Result<Recording> {
    let source = &args.source;
    if Map::load(source).is_ok() {
        bail!("{} is a map: name snapshots or events after it, or a store in its place", source.display());
    }
    let store = StoredEvents::open(source)?;
    Ok(Recording::of_store(&store, &args.headline(), args.map.as_deref())?)
}

/// A page of snapshots, or of events, on a map; and of how many steps.
fn of_map(
    args: &ReplayArgs,
    files: &Files,
    common: &Common,
    screen: &Screen,
) -> Result<(Recording, Option<usize>)> {
    let map = Map::load(&args.source)?;
    let shown = args.source.display();
    Live::check_map(&map).with_context(|| shown.to_string())?;
    let lion = Lion::new(map, &args.placing.options(common)).with_context(|| shown.to_string())?;
    let lion = Arc::new(lion);
    let mut paths = files.paths();
    if let (Some(file), None) = (paths.next(), paths.next())
        && events::are_events(file)
    {
        let events = events::read(file, lion.map(), &args.source)?;
        return Ok((Recording::of_events(&args.headline(), lion, events, None)?, None));
    }
    let (events, steps) = snapshots::read(args, files, &lion, screen)?;
    let many = steps.len();
    Ok((Recording::of_events(&args.headline(), lion, events, Some(steps))?, Some(many)))
}

/// A file without its folder and its ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl ReplayArgs {
    fn headline(&self) -> String {
        self.title.clone().unwrap_or_else(|| stem(&self.source))
    }
}
