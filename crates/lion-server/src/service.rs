//! The live map as others see it: work goes in, receipts and events come out.

use crate::feed::{Feed, Run};
use crate::settings::Settings;
use crate::store::StoreError;
use crate::view::View;
use bytes::Bytes;
use lion_tsne::Lion;
use lion_tsne::live::{Arrival, Change, Clusters, Event, Point};
use std::sync::Arc;

/// Something to be done to the live map, all of it or nothing.
#[derive(Clone, Debug)]
pub enum Work {
    /// Changes, in order. Those without a time get the time at which they are applied.
    Changes(Vec<Change>),
    /// All points there are; those that are not in it are removed.
    Snapshot(Vec<Arrival>),
}

/// What was done, and is on disk.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// One event for each change in order; for a snapshot, then one for each point that it removed.
    pub events: Vec<Event>,
    /// The number of the last event that the work caused, those of the window included.
    pub last: u64,
}

/// Why work was not done. The text of each is one sentence for a person. Nothing of refused work was done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// Too much is waiting.
    #[error("{waiting} rows are waiting to be placed: try again in a moment")]
    Busy {
        /// Rows that wait.
        waiting: usize,
    },
    /// A change cannot be applied.
    #[error("{problem}")]
    Unprocessable {
        /// The change, counted from 0.
        row: usize,
        /// What is wrong with it and what to do; it names the row, counted from 1.
        problem: String,
    },
    /// There is no point of this id.
    #[error("there is no point {id:?}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// The store could not keep it.
    #[error("{problem}")]
    Store {
        /// What is wrong and what to do.
        problem: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// The service is ending.
    #[error("the service is stopping: send it again when it is back")]
    Stopping,
}

/// A point with what happened to it.
#[derive(Clone, Debug)]
pub struct PointRecord {
    /// The point as it is.
    pub point: Arc<Point>,
    /// Its row as it was given.
    pub row: Vec<f32>,
    /// The JSON of its latest events, at most 100, oldest first.
    pub history: Vec<Bytes>,
}

/// Why the events after a number cannot be told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Missed {
    /// They are no longer kept.
    #[error("the events after {after} are no longer kept, the first that is has number {first}: load the points anew")]
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
    /// How many commits took at most so many seconds, for each of [`Stats::COMMIT_SECONDS`], and all of them.
    pub commits: Vec<u64>,
    /// Seconds that all commits took together.
    pub commit_seconds: f64,
}

/// A live map that is kept in a file. Clones are the same service.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

impl Service {
    /// Opens the store and starts the writer.
    pub fn start(lion: Arc<Lion>, settings: &Settings) -> Result<Self, StoreError>;
    /// Does work. Answers once it is on disk.
    pub async fn submit(&self, work: Work) -> Result<Receipt, Refused>;
    /// The events after `after`, from memory or from the store; waits until there is one.
    pub async fn next(&self, after: u64) -> Result<Vec<Run>, Missed>;
    /// The latest events.
    pub fn feed(&self) -> &Feed;
    /// All points as they are now.
    pub fn view(&self) -> Arc<View>;
    /// The clusters of the map.
    pub fn clusters(&self) -> &Arc<Clusters>;
    /// The map.
    pub fn lion(&self) -> &Arc<Lion>;
    /// The JSON of at most `limit` events after `after`, oldest first.
    pub async fn history(&self, after: u64, limit: usize) -> Result<Vec<Bytes>, Missed>;
    /// The JSON of the `limit` events before `before`, oldest first.
    pub async fn history_before(&self, before: u64, limit: usize) -> Result<Vec<Bytes>, Missed>;
    /// The first event that is kept; one more than the last if none is.
    pub fn first(&self) -> u64;
    /// A point with its row and its latest events.
    pub async fn point(&self, id: &str) -> Result<PointRecord, Refused>;
    /// Numbers about the service itself.
    pub fn stats(&self) -> Stats;
    /// Whether work can be done: false when stopping, or while the store fails.
    pub fn is_ready(&self) -> bool;
    /// Does what is waiting, tidies the store up and ends.
    pub async fn stop(self);
}
