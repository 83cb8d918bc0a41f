//! The live map as others see it: work goes in, receipts and events come out.

use crate::feed::{EventRange, Feed, FeedBatch, SlabWriter};
use crate::queue::{Job, Queue};
use crate::settings::Settings;
use crate::store::{Location, PointRecord, Readers, Store, StoreError};
use crate::view::{Shown, View};
use crate::work::{Receipt, Refused, Work};
use crate::writer::{LiveWriter, seconds};
use bytes::Bytes;
use lion_tsne::Lion;
use lion_tsne::live::{Clusters, Live};
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

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
    /// Changes applied since the service started.
    pub changes: u64,
    /// How many commits took no longer than each of [`Stats::COMMIT_SECONDS`], and longer than the one before; at the
    /// end, how many took longer than all.
    pub commits: [u64; Stats::COMMIT_SECONDS.len() + 1],
    /// Seconds that all commits took together.
    pub commit_seconds: f64,
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
    /// The first event that is kept.
    pub(crate) first: AtomicU64,
    /// Whether the last commit failed.
    pub(crate) failing: AtomicBool,
    stats: Mutex<Stats>,
}

impl Shared {
    /// What is common about a live map: the first event that is kept of it, rows that may wait, bytes kept for listeners.
    pub(crate) fn new(live: &Live, first: u64, queue: usize, ring: usize) -> Self {
        Self {
            queue: Queue::new(queue),
            feed: Feed::new(live.last(), ring),
            shown: Shown::new(live),
            first: AtomicU64::new(first),
            failing: AtomicBool::new(false),
            stats: Mutex::default(),
        }
    }

    /// Counts a commit.
    pub(crate) fn count(&self, changes: usize, took: Duration) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = took.as_secs_f64();
        stats.commits[Stats::COMMIT_SECONDS.partition_point(|&bound| bound < seconds)] += 1;
        stats.commit_seconds += seconds;
        stats.changes += changes as u64;
    }
}

/// A live map that is kept in a file. Clones are the same service; it ends when the last is dropped.
#[derive(Clone)]
pub struct Service {
    inner: Arc<ServiceInner>,
}

struct ServiceInner {
    shared: Arc<Shared>,
    lion: Arc<Lion>,
    clusters: Arc<Clusters>,
    readers: Readers,
    location: Arc<Location>,
    /// The writer, until somebody waits for its end.
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// Events of a point's history.
const HISTORY: usize = 100;
/// Events that are read at once for a listener who fell behind.
const CATCH_UP: usize = 1000;

impl Service {
    /// Opens the store and starts the writer.
    pub fn start(lion: Arc<Lion>, settings: &Settings) -> Result<Self, StoreError> {
        // Before a store is made that nothing could be kept in.
        Live::check_map(lion.map())?;
        let checksum = lion.map().checksum()?;
        let location = Arc::new(Location::new(settings.store.as_deref())?);
        let store = Store::open(location.clone(), &checksum, settings.retain)?;
        let live = store.load(lion.clone(), settings.live)?;
        let shared = Arc::new(Shared::new(&live, store.first(), settings.queue, settings.ring));
        let clusters = Arc::new(live.clusters().clone());
        let writer = LiveWriter::new(live, store, shared.clone());
        let writer = std::thread::Builder::new().name("writer".into()).spawn(|| writer.run());
        let writer =
            writer.map_err(|e| StoreError::Io { path: location.path.clone(), problem: e.to_string() })?;
        let (readers, writer) = (Readers::new(location.clone()), Mutex::new(Some(writer)));
        Ok(Self { inner: Arc::new(ServiceInner { shared, lion, clusters, readers, location, writer }) })
    }

    /// Does work. Answers once it is on disk, or changes nothing. Work that was submitted is done even if nobody waits for
    /// the answer.
    pub async fn submit(&self, work: Work) -> Result<Receipt, Refused> {
        work.check_times(seconds())?;
        let (answer, answered) = oneshot::channel();
        self.inner.shared.queue.push(Job { work, answer })?;
        answered.await.unwrap_or(Err(Refused::Stopping))
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
    pub fn clusters(&self) -> &Arc<Clusters> {
        &self.inner.clusters
    }

    /// The map, ready for placing.
    pub fn lion(&self) -> &Arc<Lion> {
        &self.inner.lion
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

    /// Numbers about the service itself.
    pub fn stats(&self) -> Stats {
        let shared = &self.inner.shared;
        let stats = shared.stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Stats { queue_rows: shared.queue.rows(), ..stats }
    }

    /// Whether work can be done: not once it is stopping, nor while the store fails.
    pub fn is_ready(&self) -> bool {
        let shared = &self.inner.shared;
        shared.queue.is_open() && !shared.failing.load(Ordering::Relaxed)
    }

    /// Does what is waiting, tidies the store up and ends. Work that comes later is refused.
    pub async fn stop(self) {
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
    /// Waits for the end of the writer.
    fn join(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // One that panicked has said so.
        let _ = writer.map(JoinHandle::join);
    }
}

impl Drop for ServiceInner {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.join();
    }
}
