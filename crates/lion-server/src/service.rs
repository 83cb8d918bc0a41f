//! The live map as others see it: work goes in, receipts and events come out.

use crate::compare::{CompareRefused, Comparison, Stretch, compare};
use crate::feed::{EventRange, Feed, FeedBatch, SlabWriter};
use crate::map_version::MapVersion;
use crate::notes::{Notes, Notice, Titled};
use crate::queue::{Job, Queue};
use crate::settings::{Clock, Settings};
use crate::store::{Location, PointRecord, Readers, Store, StoreError, Versions, is_kept, open_to_read};
use crate::updates::{UpdateContext, UpdateRefused, UpdateRequest, UpdateStatus, Updates};
use crate::view::{Shown, View};
use crate::work::{Receipt, Refused, Work};
use crate::writer::LiveWriter;
use bytes::Bytes;
use lion_tsne::live::{Clusters, Event, Live, Note, NoticeNoted, Renamed, What};
use lion_tsne::{Lion, LionOptions};
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Why the events after a number cannot be told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Missed {
    /// They are no longer kept.
    #[error(
        "the events after {after} are no longer kept, the first that is has number {first}: load the points anew"
    )]
    Gone {
        /// The number that was asked for.
        after: u64,
        /// The first event that is kept.
        first: u64,
    },
    /// They could not be read.
    #[error("{0}")]
    Store(String),
}

/// Numbers about the service itself.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Rows that wait for the writer.
    pub queue_rows: usize,
    /// Points that came or changed since the service started.
    pub arrivals: u64,
    /// Points that were removed since then.
    pub removals: u64,
    /// How many commits took no longer than each of [`Stats::COMMIT_SECONDS`], and longer than the one before; at the
    /// end, how many took longer than all.
    pub commits: [u64; Stats::COMMIT_SECONDS.len() + 1],
    /// Seconds that all commits took together.
    pub commit_seconds: f64,
    /// Seconds for which the last switch to another version of the map held the writer.
    pub switch_seconds: Option<f64>,
    /// Calls of a webhook that failed.
    pub webhook_failures: u64,
    /// Bytes of the store, with its log.
    pub store_bytes: u64,
}

impl Stats {
    /// The bounds of `commits`.
    pub const COMMIT_SECONDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0];
}

/// What the writer and everybody else have in common.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) feed: Feed,
    pub(crate) shown: Shown,
    pub(crate) clock: Clock,
    /// The first event that is kept.
    pub(crate) first: AtomicU64,
    /// Whether the last commit failed.
    pub(crate) failing: AtomicBool,
    /// Calls of a webhook that failed.
    webhook_failures: Arc<AtomicU64>,
    stats: Mutex<Stats>,
}

impl Shared {
    /// What is common about a live map: its version, what people said of it, and the first event that is kept.
    pub(crate) fn new(
        live: &Live,
        map: Arc<MapVersion>,
        notes: Arc<Notes>,
        first: u64,
        settings: &Settings,
    ) -> Self {
        // The time since the last change has passed, whether or not the service ran.
        let health = live.health_at(settings.clock.now());
        Self {
            queue: Queue::new(settings.queue),
            feed: Feed::new(live.last(), settings.ring),
            clock: settings.clock.clone(),
            shown: Shown::new(live, map, health, notes),
            first: AtomicU64::new(first),
            failing: AtomicBool::new(false),
            webhook_failures: Arc::default(),
            stats: Mutex::default(),
        }
    }

    /// Counts a commit of these events.
    pub(crate) fn count(&self, events: &[Event], took: Duration) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = took.as_secs_f64();
        stats.commits[Stats::COMMIT_SECONDS.partition_point(|&bound| bound < seconds)] += 1;
        stats.commit_seconds += seconds;
        for event in events {
            stats.arrivals += u64::from(event.sighting().is_some());
            stats.removals += u64::from(matches!(event.what, What::Removed { .. }));
        }
    }

    /// Notes how long a switch held the writer.
    pub(crate) fn switched(&self, seconds: f64) {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).switch_seconds = Some(seconds);
    }
}

/// A live map that is kept in a file. Clones are the same service; it ends when the last is dropped.
#[derive(Clone)]
pub struct Service {
    inner: Arc<ServiceInner>,
}

struct ServiceInner {
    shared: Arc<Shared>,
    readers: Arc<Readers>,
    location: Arc<Location>,
    placing: LionOptions,
    updates: Updates,
    /// What needs much memory takes turns, or many callers could ask for more than there is: comparisons, which hold all
    /// changes of their stretches, and opening versions of the map.
    turns: Arc<Semaphore>,
    /// The writer, until somebody waits for its end.
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// Events of a point's history.
const HISTORY: usize = 100;
/// Events that are read at once for a listener who fell behind.
const CATCH_UP: usize = 1000;

impl Service {
    /// Opens the store and starts the writer. A store that is on a later version of this map goes on with that one, which
    /// lies beside it.
    pub fn start(lion: Arc<Lion>, settings: &Settings) -> Result<Self, StoreError> {
        // Before a store is made that nothing could be kept in.
        Live::check_map(lion.map())?;
        let checksum = lion.map().checksum()?;
        let location = Arc::new(Location::new(settings.store.as_deref())?);
        let store = Store::open(location.clone(), &checksum, settings.retain)?;
        let record = store.version().clone();
        let lion = match record.checksum == checksum {
            true => lion,
            false => MapVersion::load(&location.path, &record, &settings.placing)?,
        };
        let live = store.load(lion, settings.live)?;
        let map = Arc::new(MapVersion::new(record, &live));
        let notes = Arc::new(store.notes()?);
        let shared = Arc::new(Shared::new(&live, map.clone(), notes.clone(), store.first(), settings));
        let writer = LiveWriter::new(live, map, notes, store, shared.clone());
        let writer = std::thread::Builder::new().name("writer".into()).spawn(|| writer.run());
        let writer =
            writer.map_err(|e| StoreError::Io { path: location.path.clone(), problem: e.to_string() })?;
        let (readers, writer) = (Arc::new(Readers::new(location.clone())), Mutex::new(Some(writer)));
        let context = UpdateContext {
            shared: shared.clone(),
            readers: readers.clone(),
            location: location.clone(),
            placing: settings.placing,
            live: settings.live,
            memory: settings.update_memory,
        };
        let (updates, placing) = (Updates::new(context), settings.placing);
        let turns = Arc::new(Semaphore::new(1));
        let inner = ServiceInner { shared, readers, location, placing, updates, turns, writer };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Begins to take points into the map, in the background: see [`UpdateRequest`].
    pub fn update(&self, request: UpdateRequest) -> Result<UpdateStatus, UpdateRefused> {
        self.inner.updates.update(request)
    }

    /// Begins to go back to the version of the map that the current one was made from.
    pub fn revert(&self, who: Option<String>) -> Result<UpdateStatus, UpdateRefused> {
        self.inner.updates.revert(who)
    }

    /// Ends the update that is under way, and changes nothing.
    pub fn cancel_update(&self) -> Result<UpdateStatus, UpdateRefused> {
        self.inner.updates.cancel()
    }

    /// Where failed calls of a webhook are counted.
    pub(crate) fn failures(&self) -> Arc<AtomicU64> {
        self.inner.shared.webhook_failures.clone()
    }

    /// The time as the service has it.
    pub(crate) fn now(&self) -> f64 {
        self.inner.shared.clock.now()
    }

    /// How the latest update is doing.
    pub fn update_status(&self) -> UpdateStatus {
        self.inner.updates.status()
    }

    /// The version that [`Self::revert`] goes back to.
    pub fn revert_to(&self) -> Option<u64> {
        let parent = self.view().map().record.parent?;
        is_kept(&self.inner.location.path, parent).then_some(parent)
    }

    /// All versions of the map, and the switches between them.
    pub async fn versions(&self) -> Result<Versions, StoreError> {
        self.read(Readers::versions).await
    }

    /// A version of the map that is kept; none if there is no such version or it is no longer kept.
    pub async fn version(&self, number: u64) -> Result<Option<MapVersion>, StoreError> {
        let current = self.view().map().clone();
        if current.number() == number {
            return Ok(Some((*current).clone()));
        }
        let (placing, location) = (self.inner.placing, self.inner.location.clone());
        let turn = self.turn().await;
        self.read(move |readers| {
            let _turn = turn;
            let record = readers.versions()?.get(number).filter(|record| record.kept).cloned();
            record.map(|record| MapVersion::open(&location.path, record, &placing)).transpose()
        })
        .await
    }

    /// Waits for a turn, which is to be kept by the work itself: it goes on where its caller does not wait for it any more.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // Nobody closes it.
        self.inner.turns.clone().acquire_owned().await.ok()
    }

    /// What changed between two stretches of time.
    pub async fn compare(&self, a: Stretch, b: Stretch) -> Result<Comparison, CompareRefused> {
        let turn = self.turn().await;
        let map = self.view().map().clone();
        let location = self.inner.location.clone();
        let compared = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            compare(&open_to_read(&location.path)?, &location.path, Some(&map), [a, b])
        });
        let broken =
            |e: tokio::task::JoinError| StoreError::Io { path: self.store().into(), problem: e.to_string() };
        compared.await.map_err(broken)?
    }

    /// The JSON of all points just before a switch to another version of the map, by the event that tells of it.
    pub async fn before_switch(&self, event: u64) -> Result<Option<Bytes>, StoreError> {
        self.read(move |readers| readers.before_switch(event)).await
    }

    /// Does work. Answers once it is on disk, or changes nothing. Work that was submitted is done even if nobody waits for
    /// the answer.
    pub async fn submit(&self, work: Work) -> Result<Receipt, Refused> {
        work.check_times(self.inner.shared.clock.now())?;
        let (answer, answered) = oneshot::channel();
        self.inner.shared.queue.push(Job { work, answer })?;
        answered.await.unwrap_or(Err(Refused::Stopping))
    }

    /// Calls a cluster or a group of outliers otherwise, or no longer. Gives the number of the event.
    pub async fn rename(
        &self,
        of: Titled,
        title: Option<String>,
        who: Option<String>,
    ) -> Result<u64, Refused> {
        let before = self.view().notes().title(&of).map(str::to_owned);
        let (cluster, group) = match of {
            Titled::Cluster(name) => (Some(name), None),
            Titled::Group(number) => (None, Some(number)),
        };
        let renamed = Renamed { cluster, group, title, before, who };
        Ok(self.submit(Work::Note(Note::Renamed(renamed))).await?.last)
    }

    /// Notes what a person thinks of an alarm; gives the alarm as it is then.
    pub async fn note(&self, noted: NoticeNoted) -> Result<Notice, Refused> {
        let id = noted.notice;
        let unknown = || Refused::NotFound { id: format!("notice {id}") };
        self.view().notes().notice(id).ok_or_else(unknown)?;
        self.submit(Work::Note(Note::Notice(noted))).await?;
        self.view().notes().notice(id).cloned().ok_or_else(unknown)
    }

    /// The events after the one numbered `after`, from memory or from the store; waits until there is one. A listener that
    /// asks again with the number of the last event it got misses none, however slow it is.
    pub async fn next(&self, after: u64) -> Result<Vec<EventRange>, Missed> {
        self.feed().changed(after).await;
        match self.feed().after(after) {
            FeedBatch::Events(runs) => Ok(runs),
            FeedBatch::TooOld => {
                let mut writer = SlabWriter::default();
                for (n, json) in self.logged(after, CATCH_UP).await? {
                    let text = |text: &mut Vec<u8>| {
                        text.extend_from_slice(&json);
                        Ok::<(), Infallible>(())
                    };
                    let Ok(_) = writer.add(n, text);
                }
                Ok(writer.finish().into_iter().map(EventRange::whole).collect())
            }
        }
    }

    /// The latest events.
    pub fn feed(&self) -> &Feed {
        &self.inner.shared.feed
    }

    /// All points as they are now: every work that was answered is seen in it.
    pub fn view(&self) -> Arc<View> {
        self.inner.shared.shown.view()
    }

    /// The number of the last event that was answered. The feed may hear of it a moment later.
    pub fn last(&self) -> u64 {
        self.view().last()
    }

    /// The clusters of the map.
    pub fn clusters(&self) -> Arc<Clusters> {
        self.view().map().clusters.clone()
    }

    /// The map, ready for placing.
    pub fn lion(&self) -> Arc<Lion> {
        self.view().map().lion.clone()
    }

    /// The file that keeps it.
    pub fn store(&self) -> &Path {
        &self.inner.location.path
    }

    /// Whether that file is deleted at the end.
    pub fn is_temporary(&self) -> bool {
        self.inner.location.is_temporary()
    }

    /// The JSON of at most `limit` events after the one numbered `after`, oldest first.
    pub async fn history(&self, after: u64, limit: usize) -> Result<Vec<Bytes>, Missed> {
        Ok(self.logged(after, limit).await?.into_iter().map(|(_, json)| json).collect())
    }

    /// The JSON of the `limit` events before the one numbered `before`, oldest first; fewer if no more are kept.
    pub async fn history_before(&self, before: u64, limit: usize) -> Result<Vec<Bytes>, Missed> {
        let events = self.read(move |readers| readers.before(before, limit)).await;
        let events = events.map_err(|e| Missed::Store(e.to_string()))?;
        Ok(events.into_iter().map(|(_, json)| json).collect())
    }

    /// The first event that is kept; one more than the last if none is.
    pub fn first(&self) -> u64 {
        self.inner.shared.first.load(Ordering::Relaxed)
    }

    /// A point with its row and its latest events.
    pub async fn point(&self, id: &str) -> Result<PointRecord, Refused> {
        let wanted = id.to_string();
        match self.read(move |readers| readers.point(&wanted, HISTORY)).await {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Err(Refused::NotFound { id: id.into() }),
            Err(error) => Err(Refused::Store { problem: error.to_string(), full: false }),
        }
    }

    /// The rows of points as they were given, by their first events; those that are there.
    pub(crate) async fn given_rows(&self, points: Vec<u64>) -> Result<Vec<Vec<f32>>, StoreError> {
        let found = self.read(move |readers| readers.rows(&points)).await?;
        Ok(found.into_iter().map(|(_, given)| given.row).collect())
    }

    /// Numbers about the service itself.
    pub fn stats(&self) -> Stats {
        let shared = &self.inner.shared;
        let stats = shared.stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Stats {
            queue_rows: shared.queue.rows(),
            webhook_failures: shared.webhook_failures.load(Ordering::Relaxed),
            store_bytes: self.inner.location.bytes(),
            ..stats
        }
    }

    /// Whether work can be done: not once it is stopping, nor while the store fails.
    pub fn is_ready(&self) -> bool {
        let shared = &self.inner.shared;
        shared.queue.is_open() && !shared.failing.load(Ordering::Relaxed)
    }

    /// Does what is waiting, tidies the store up and ends. Work that comes later is refused.
    pub async fn stop(self) {
        self.inner.updates.end();
        self.inner.shared.queue.close();
        let inner = self.inner.clone();
        // A writer that panicked has ended, too, and has said so itself.
        let _ = tokio::task::spawn_blocking(move || inner.join()).await;
    }

    /// Events from the store, without a gap after `after`.
    async fn logged(&self, after: u64, limit: usize) -> Result<Vec<(u64, Bytes)>, Missed> {
        let events = self.read(move |readers| readers.after(after, limit)).await;
        let events = events.map_err(|e| Missed::Store(e.to_string()))?;
        match events.first() {
            Some(&(first, _)) if first != after.saturating_add(1) => Err(Missed::Gone { after, first }),
            None if limit > 0 && after < self.first().saturating_sub(1) => {
                Err(Missed::Gone { after, first: self.first() })
            }
            _ => Ok(events),
        }
    }

    /// Reads from the store where waiting for the disk holds up nobody.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Readers) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = self.inner.clone();
        let read = tokio::task::spawn_blocking(move || read(&inner.readers)).await;
        read.unwrap_or_else(|e| Err(StoreError::Io { path: self.store().into(), problem: e.to_string() }))
    }
}

impl ServiceInner {
    /// Waits for the end of the writer, and of an update that is under way.
    fn join(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // One that panicked has said so.
        let _ = writer.map(JoinHandle::join);
        self.updates.join();
    }
}

impl Drop for ServiceInner {
    fn drop(&mut self) {
        self.updates.end();
        self.shared.queue.close();
        self.join();
    }
}
