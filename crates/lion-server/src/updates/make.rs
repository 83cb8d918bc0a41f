//! Making the next version of the map, and bringing all points to it.

use super::{UpdateContext, UpdateProgress, UpdateRequest};
use crate::map_version::MapVersion;
use crate::notes::Titled;
use crate::store::{GivenRow, StoreError, VersionRecord, map_file};
use crate::switch::{Settled, Switch};
use crate::view::View;
use lion_tsne::lion::Verdict;
use lion_tsne::live::{ClusterMatches, Clusters, Live, MapUpdated, Point};
use lion_tsne::map::UpdateStep;
use lion_tsne::memory::available_memory;
use lion_tsne::{Error, Fit, Lion, Map, Matrix, PcaChoice, Progress, Rows, Stage, Update};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// Rows that are read and settled at a time.
const TOGETHER: usize = 256;
/// So few points may be left for the writer to settle.
const FEW: usize = 64;
/// Settling goes on for so many rounds at most: where points come faster than they are settled, the writer does the rest.
const ROUNDS: usize = 8;
/// What the ids of points are preceded by in maps whose rows nobody named.
const PREFIX: &str = "live:";

/// How an update ends other than well.
#[derive(Debug)]
pub(super) enum Ended {
    Cancelled,
    Failed(String),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(_) => Self::Cancelled,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// The points that are to be taken in: those of some groups or all, but for points that are rows of the map already.
pub(super) fn selected(view: &View, groups: Option<&[u64]>) -> Vec<Arc<Point>> {
    let (version, map) = (view.map(), view.map().lion.map());
    let wanted: Option<HashSet<u64>> = groups.map(|groups| {
        let named = |number: &u64| groups.contains(number);
        let there = view.groups().iter().filter(|g| named(&g.number) || g.family.as_ref().is_some_and(named));
        there.map(|group| group.number).collect()
    });
    // Looked up only where equal rows share a place.
    let mut numbers: Option<HashMap<_, usize>> = None;
    let mut is_row = |point: &Point| {
        let (id, nearest) = (version.row_id(&point.id), point.placement.nearest as usize);
        if point.placement.verdict != Verdict::Exact || map.id(nearest) == id {
            return point.placement.verdict == Verdict::Exact;
        }
        let numbers = numbers.get_or_insert_with(|| (0..map.rows()).map(|row| (map.id(row), row)).collect());
        numbers.get(id.as_str()).is_some_and(|&row| map.distinct(row) == map.distinct(nearest))
    };
    let is_wanted = |point: &Point| match (&wanted, point.placement.group) {
        (None, _) => true,
        (Some(wanted), Some(group)) => wanted.contains(&group),
        (Some(_), None) => false,
    };
    view.points().filter(|point| is_wanted(point) && !is_row(point)).cloned().collect()
}

/// Makes the next version of the map, and switches to it. Gives its number and that of the event.
pub(super) fn update(
    context: &UpdateContext,
    progress: &UpdateProgress,
    view: &View,
    points: &[Arc<Point>],
    request: UpdateRequest,
) -> Result<(u64, u64), Ended> {
    let known = context.readers.versions()?;
    let before = view.map();
    let prefix = if before.lion.map().has_ids() { before.record.prefix.as_str() } else { PREFIX };
    let number = known.next();
    let (map, step) = aside(|| next_map(context, progress, view, points, prefix))?;
    progress.at("writing", 0.9)?;
    let (path, checksum) = (&context.location.path, map.checksum()?);
    keep_first(context, before)?;
    map.save(map_file(path, number))?;
    let record = VersionRecord {
        version: number,
        parent: Some(before.number()),
        checksum: checksum.clone(),
        prefix: prefix.to_owned(),
        kept: true,
    };
    let told = MapUpdated {
        version: number,
        from: before.number(),
        who: request.who,
        checksum,
        parent: Some(step.parent.clone()),
        rows: map.rows() as u64,
        added: step.added,
        removed: step.removed,
        moved_median: Some(step.moved_median),
        moved_p90: Some(step.moved_p90),
        groups: request.groups,
        ..MapUpdated::default()
    };
    // At the priority of this thread, which is the usual one: the threads that place rows are started here.
    let switched = Lion::new(map, &context.placing)
        .map_err(Ended::from)
        .and_then(|lion| bring(context, progress, view, record, Arc::new(lion), told));
    if let Err(Ended::Cancelled) = &switched {
        let _ = std::fs::remove_file(map_file(path, number));
    }
    switched.map(|event| (number, event))
}

/// Goes back to a version that is kept.
pub(super) fn revert(
    context: &UpdateContext,
    progress: &UpdateProgress,
    view: &View,
    parent: u64,
    who: Option<String>,
) -> Result<(u64, u64), Ended> {
    let known = context.readers.versions()?;
    let record = known.get(parent).cloned();
    let record = record.ok_or_else(|| Ended::Failed(format!("version {parent} is not known any more")))?;
    let lion = MapVersion::load(&context.location.path, &record, &context.placing)?;
    let (map, now) = (lion.map(), view.map().lion.map());
    let ids = |map: &Map| (0..map.rows()).map(|row| map.id(row).into_owned()).collect::<HashSet<_>>();
    let (theirs, ours) = (ids(map), ids(now));
    let told = MapUpdated {
        version: parent,
        from: view.map().number(),
        reverted: true,
        who,
        checksum: record.checksum.clone(),
        parent: record.parent.and_then(|parent| known.get(parent)).map(|parent| parent.checksum.clone()),
        rows: map.rows() as u64,
        added: theirs.difference(&ours).count() as u64,
        removed: ours.difference(&theirs).count() as u64,
        ..MapUpdated::default()
    };
    bring(context, progress, view, record, lion, told).map(|event| (parent, event))
}

/// The first version lies where it was fitted; to go back to it, a copy lies beside the store. A file of that name may be left
/// over from another store.
fn keep_first(context: &UpdateContext, version: &MapVersion) -> Result<(), Ended> {
    let path = map_file(&context.location.path, version.number());
    let is_it = |map: Map| map.checksum().is_ok_and(|checksum| checksum == version.record.checksum);
    if !Map::load(&path).is_ok_and(is_it) {
        version.lion.map().save(path)?;
    }
    Ok(())
}

/// Settles all points in a version, and asks the writer to switch to it. Gives the number of the event.
fn bring(
    context: &UpdateContext,
    progress: &UpdateProgress,
    view: &View,
    record: VersionRecord,
    lion: Arc<Lion>,
    told: MapUpdated,
) -> Result<u64, Ended> {
    progress.at("placing", 0.92)?;
    let next = Live::new(lion, context.live)?;
    let version = Arc::new(MapVersion::new(record, &next));
    let (settled, clusters) = aside(|| {
        let settled = settle(context, progress, &next)?;
        let groups: HashMap<String, u64> = view
            .points()
            .filter_map(|point| Some((version.row_id(&point.id), point.placement.group?)))
            .collect();
        let before = view.map();
        let matches = ClusterMatches::new(
            (before.lion.map(), &before.clusters),
            (version.lion.map(), &version.clusters),
            |id| groups.get(id).copied(),
        )?;
        Ok((settled, matches))
    })?;
    progress.at("switching", 0.99)?;
    let promises = |version: &MapVersion| version.lion.promised().is_some();
    let calibration_lost = promises(view.map()) && !promises(&version);
    let told = MapUpdated { clusters: clusters.changes, calibration_lost, ..told };
    let (answer, answered) = sync_channel(1);
    let stopping = || Ended::Failed("the service is stopping".into());
    let switch = Switch { version, next, settled, told, answer };
    context.shared.queue.push_switch(switch).map_err(|_| stopping())?;
    Ok(answered.recv().map_err(|_| stopping())??)
}

/// Settles the rows of all points in another version, until few have come meanwhile.
fn settle(context: &UpdateContext, progress: &UpdateProgress, next: &Live) -> Result<Settled, Ended> {
    let mut settled = Settled::new();
    for _ in 0..ROUNDS {
        let view = context.shared.shown.view();
        let is_settled =
            |point: &Point| settled.get(&point.first).is_some_and(|(last, _)| *last == point.last);
        let open: Vec<u64> =
            view.points().filter(|point| !is_settled(point)).map(|point| point.first).collect();
        for (at, some) in open.chunks(TOGETHER).enumerate() {
            progress.at("placing", 0.92 + 0.07 * (at * TOGETHER) as f64 / open.len() as f64)?;
            for (first, GivenRow { last, row }) in context.readers.rows(some)? {
                settled.insert(first, (last, next.settle(&row)?));
            }
        }
        if open.len() <= FEW {
            break;
        }
    }
    Ok(settled)
}

/// The map with more rows.
fn next_map(
    context: &UpdateContext,
    progress: &UpdateProgress,
    view: &View,
    points: &[Arc<Point>],
    prefix: &str,
) -> Result<(Map, UpdateStep), Ended> {
    let old = view.map().lion.map();
    check_memory(context, old, points.len())?;
    let rows = read(context, progress, view, points, prefix)?;
    let mut observer = |at: &Progress<'_>| {
        let (stage, begin, length) = part(at.stage);
        let done = at.done as f64 / at.total.max(1) as f64;
        match progress.at(stage, begin + length * done) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let update = Update { seed: context.placing.seed, threads: threads(), ..Update::default() };
    let updated = update.run(old, rows, &mut observer)?;
    // Stopped during the descent it would be a map, but not one that anybody wants now.
    if progress.is_cancelled() { Err(Ended::Cancelled) } else { Ok((updated.map, updated.step)) }
}

/// What a stage is called, where its part of the whole begins and how large it is.
fn part(stage: Stage) -> (&'static str, f64, f64) {
    match stage {
        Stage::Preprocess => ("preprocess", 0.02, 0.03),
        Stage::Neighbours => ("neighbours", 0.05, 0.2),
        Stage::Affinities => ("affinities", 0.25, 0.05),
        Stage::Initialise => ("first layout", 0.3, 0.02),
        Stage::Optimise => ("descent", 0.32, 0.5),
        Stage::Parameters | Stage::Build => ("radii and power", 0.82, 0.08),
    }
}

/// Reads the rows of points.
fn read(
    context: &UpdateContext,
    progress: &UpdateProgress,
    view: &View,
    points: &[Arc<Point>],
    prefix: &str,
) -> Result<Rows, Ended> {
    let old = view.map().lion.map();
    let cols = old.preprocess().input_dims();
    let mut data = Vec::with_capacity(points.len() * cols);
    let (mut ids, mut labels) = (Vec::with_capacity(points.len()), Vec::with_capacity(points.len()));
    for some in points.chunks(TOGETHER) {
        progress.at("reading", 0.02 * ids.len() as f64 / points.len() as f64)?;
        let firsts: Vec<u64> = some.iter().map(|point| point.first).collect();
        let mut rows: HashMap<u64, GivenRow> = context.readers.rows(&firsts)?.into_iter().collect();
        // Points that have left meanwhile are left out.
        for (point, given) in some.iter().filter_map(|point| Some((point, rows.remove(&point.first)?))) {
            data.extend(given.row);
            ids.push(format!("{prefix}{}", point.id));
            labels.push(label(view, point));
        }
    }
    let data = Matrix::new(ids.len(), cols, data)?;
    Ok(Rows { data, ids: Some(ids), labels: old.labels().map(|_| labels) })
}

/// The label of a point that becomes a row of a map with labels: its own, or that of its cluster, or the name of its group of
/// outliers, so that new rows do not thin out the clusters and a new cluster has a name.
fn label(view: &View, point: &Point) -> String {
    let clusters = &view.map().clusters;
    let of_cluster = || {
        let cluster = point.cluster.filter(|_| clusters.from_labels)?;
        Some(clusters.name(cluster).to_owned())
    };
    let of_group = || {
        let number = point.placement.group.filter(|_| clusters.from_labels)?;
        let at = view.groups().binary_search_by_key(&number, |group| group.number).ok()?;
        let family = view.groups()[at].family?;
        let title = view.notes().title(&Titled::Group(family));
        Some(title.map_or_else(|| unused_name(clusters, format!("group {family}")), str::to_owned))
    };
    point.label.clone().or_else(of_cluster).or_else(of_group).unwrap_or_default()
}

/// A name that no cluster has: numbers of groups may be those of another store that the map was in.
fn unused_name(clusters: &Clusters, name: String) -> String {
    let is_used = |name: &String| clusters.names.contains(name);
    let others = (2..).map(|n: usize| format!("{name} ({n})"));
    std::iter::once(name.clone()).chain(others).find(|name| !is_used(name)).unwrap_or(name)
}

/// Refuses an update that would need more memory than it may take.
fn check_memory(context: &UpdateContext, old: &Map, more: usize) -> Result<(), Ended> {
    let (rows, width) = (old.rows() + more, old.preprocess().output_dims());
    let fit = Fit {
        dims: old.dims(),
        perplexity: Some(old.perplexity()),
        pca: PcaChoice::None,
        threads: threads(),
        ..Fit::default()
    };
    // Beside what a fit of all rows takes: the new rows as they were given, and the map once more to place them.
    let given = 4 * (more * old.preprocess().input_dims()) as u64;
    let needed = fit.needs(rows, width).bytes + 3 * given + 8 * (rows * width) as u64;
    let allowed = context.memory.or_else(available_memory).unwrap_or(u64::MAX);
    match needed > allowed {
        true => Err(Ended::Failed(format!(
            "an update to {rows} rows needs about {:.1} GB of memory, and {:.1} GB may be taken: take in fewer points, or \
             allow more with --update-memory",
            needed as f64 / 1e9,
            allowed as f64 / 1e9
        ))),
        false => Ok(()),
    }
}

/// Threads of an update. Where they cannot have a low priority, some cores are left to others.
fn threads() -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    if cfg!(target_os = "linux") { all } else { (all / 2).max(1) }
}

/// Runs work at a low priority, with all threads that it starts.
fn aside<T: Send>(work: impl FnOnce() -> Result<T, Ended> + Send) -> Result<T, Ended> {
    let lowered = || {
        lower_priority();
        work()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("update-low".into()).spawn_scoped(scope, lowered);
        let thread = thread.map_err(|error| Ended::Failed(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(Ended::Failed("it broke off: see the log".into())))
    })
}

/// Lets this thread, and those that it will start, work only where nobody else does. On Linux a priority is a thread's own.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    // A system that refuses leaves it as it is.
    let _ = rustix::process::setpriority_process(None, 19);
}
