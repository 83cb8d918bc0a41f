//! The next version of the map, made in the background while points go on to be placed.
//!
//! A thread of low priority makes the map and settles the rows of all points in it, again and again until few are left
//! that came meanwhile; the writer then settles those and switches in one commit.

mod freed_memory;
mod make;
mod when;

pub use when::update_when;

use crate::service::Shared;
use crate::store::{Location, Readers, is_kept};
use crate::view::View;
use lion_tsne::LionOptions;
use lion_tsne::live::LiveOptions;
use make::Ended;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// What is to be taken into the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateRequest {
    /// Only the members of these groups of outliers; the group that names a new cluster stands for all of its groups. `None`
    /// is all points.
    pub groups: Option<Vec<u64>>,
    /// Who asks, if that is known.
    pub who: Option<String>,
}

/// Why no update began or ended. The text of each is one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateRefused {
    /// One is under way.
    #[error("the map is being updated: wait for it, or cancel it")]
    Running,
    /// None is under way.
    #[error("the map is not being updated: there is nothing to cancel")]
    NotRunning,
    /// There is no such group.
    #[error("there is no group {0} of outliers")]
    NoGroup(u64),
    /// All points are rows of the map.
    #[error("there is no point to take in that is not a row of the map already")]
    Nothing,
    /// The version is the first.
    #[error("this is the first version of the map: there is none to go back to")]
    First,
    /// Its map was deleted with the events that led to it.
    #[error("version {0} of the map is not kept any more: --retain says for how long versions are kept")]
    NotKept(u64),
    /// No thread could be started, or the service is stopping.
    #[error("the update could not be started: {0}")]
    Failed(String),
}

/// Where an update is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UpdateState {
    /// None since the service started.
    #[default]
    None,
    /// It is under way.
    Running,
    /// The points are in the new version.
    Done,
    /// Nothing changed.
    Failed,
    /// Nothing changed.
    Cancelled,
}

/// How the latest update is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UpdateStatus {
    /// Where it is.
    pub state: UpdateState,
    /// All else; nothing before the first update.
    #[serde(flatten)]
    pub details: Option<UpdateDetails>,
}

/// What there is to know of an update.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateDetails {
    /// `update` or `revert`.
    pub kind: &'static str,
    /// What is being done.
    pub stage: &'static str,
    /// From 0 to 1.
    pub progress: f64,
    /// The version that it began with.
    pub from: u64,
    /// The groups that are taken in; none if all points are.
    pub groups: Option<Vec<u64>>,
    /// Points that are taken in.
    pub rows: usize,
    /// When it began.
    pub started: f64,
    /// How long it has taken.
    pub seconds: f64,
    /// The new version, when it is done.
    pub version: Option<u64>,
    /// The event that tells of it, when it is done.
    pub event: Option<u64>,
    /// Why it failed.
    pub detail: Option<String>,
}

/// What an update works with.
pub(crate) struct UpdateContext {
    pub(crate) shared: Arc<Shared>,
    pub(crate) readers: Arc<Readers>,
    pub(crate) location: Arc<Location>,
    pub(crate) placing: LionOptions,
    pub(crate) live: LiveOptions,
    /// The most bytes to take.
    pub(crate) memory: Option<u64>,
}

/// Updates of a service, one at a time.
pub(crate) struct Updates {
    context: Arc<UpdateContext>,
    progress: Arc<UpdateProgress>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What an update tells while it runs, and whether it is to end.
pub(crate) struct UpdateProgress {
    status: Mutex<(UpdateStatus, Instant)>,
    cancelled: AtomicBool,
}

impl UpdateProgress {
    fn lock(&self) -> MutexGuard<'_, (UpdateStatus, Instant)> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> UpdateStatus {
        let (mut status, began) = self.lock().clone();
        if let Some(details) = status.details.as_mut().filter(|_| status.state == UpdateState::Running) {
            details.seconds = began.elapsed().as_secs_f64();
        }
        status
    }

    /// Notes where it is, from 0 to 1; an error if it is to end.
    fn at(&self, stage: &'static str, progress: f64) -> Result<(), Ended> {
        if let Some(details) = &mut self.lock().0.details {
            (details.stage, details.progress) = (stage, progress.clamp(0.0, 1.0));
        }
        if self.is_cancelled() { Err(Ended::Cancelled) } else { Ok(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn end(&self, ended: Result<(u64, u64), Ended>) {
        let mut status = self.lock();
        let seconds = status.1.elapsed().as_secs_f64();
        let (state, done, detail) = match ended {
            Ok(done) => (UpdateState::Done, Some(done), None),
            Err(Ended::Cancelled) => (UpdateState::Cancelled, None, None),
            Err(Ended::Failed(problem)) => {
                tracing::warn!("the map was not updated: {problem}");
                (UpdateState::Failed, None, Some(problem))
            }
        };
        status.0.state = state;
        if let Some(details) = &mut status.0.details {
            (details.seconds, details.detail) = (seconds, detail);
            (details.version, details.event) = done.unzip();
            details.progress = if done.is_some() { 1.0 } else { details.progress };
        }
    }
}

impl Updates {
    pub(crate) fn new(context: UpdateContext) -> Self {
        let status = Mutex::new((UpdateStatus::default(), Instant::now()));
        let progress = Arc::new(UpdateProgress { status, cancelled: AtomicBool::new(false) });
        Self { context: Arc::new(context), progress, thread: Mutex::new(None) }
    }

    pub(crate) fn status(&self) -> UpdateStatus {
        self.progress.status()
    }

    pub(crate) fn update(&self, request: UpdateRequest) -> Result<UpdateStatus, UpdateRefused> {
        let view = self.context.shared.shown.view();
        if let Some(group) = request.groups.iter().flatten().find(|group| !has_group(&view, **group)) {
            return Err(UpdateRefused::NoGroup(*group));
        }
        let points = make::selected(&view, request.groups.as_deref());
        if points.is_empty() {
            return Err(UpdateRefused::Nothing);
        }
        let (rows, groups) = (points.len(), request.groups.clone());
        self.begin("update", view.map().number(), rows, groups, move |context, progress| {
            make::update(context, progress, &view, &points, request)
        })
    }

    pub(crate) fn revert(&self, who: Option<String>) -> Result<UpdateStatus, UpdateRefused> {
        let view = self.context.shared.shown.view();
        let parent = view.map().record.parent.ok_or(UpdateRefused::First)?;
        if !is_kept(&self.context.location.path, parent) {
            return Err(UpdateRefused::NotKept(parent));
        }
        self.begin("revert", view.map().number(), 0, None, move |context, progress| {
            make::revert(context, progress, &view, parent, who)
        })
    }

    /// Starts a thread, if none runs.
    fn begin(
        &self,
        kind: &'static str,
        from: u64,
        rows: usize,
        groups: Option<Vec<u64>>,
        work: impl FnOnce(&UpdateContext, &UpdateProgress) -> Result<(u64, u64), Ended> + Send + 'static,
    ) -> Result<UpdateStatus, UpdateRefused> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if self.status().state == UpdateState::Running {
            return Err(UpdateRefused::Running);
        }
        if !self.context.shared.queue.is_open() {
            return Err(UpdateRefused::Failed("the service is stopping".into()));
        }
        let details = UpdateDetails {
            kind,
            stage: "reading",
            progress: 0.0,
            from,
            groups,
            rows,
            started: self.context.shared.clock.now(),
            seconds: 0.0,
            version: None,
            event: None,
            detail: None,
        };
        let status = UpdateStatus { state: UpdateState::Running, details: Some(details) };
        self.progress.cancelled.store(false, Ordering::Relaxed);
        *self.progress.lock() = (status, Instant::now());
        let (context, progress) = (self.context.clone(), self.progress.clone());
        let spawned = std::thread::Builder::new().name("update".into()).spawn(move || {
            let ended = work(&context, &progress);
            freed_memory::give_back();
            progress.end(ended);
        });
        match spawned {
            Ok(started) => *thread = Some(started),
            Err(error) => {
                self.progress.end(Err(Ended::Failed(error.to_string())));
                return Err(UpdateRefused::Failed(error.to_string()));
            }
        }
        Ok(self.status())
    }

    pub(crate) fn cancel(&self) -> Result<UpdateStatus, UpdateRefused> {
        if self.status().state != UpdateState::Running {
            return Err(UpdateRefused::NotRunning);
        }
        self.end();
        Ok(self.status())
    }

    /// Lets an update that is under way end soon.
    pub(crate) fn end(&self) {
        self.progress.cancelled.store(true, Ordering::Relaxed);
    }

    /// Waits for its end.
    pub(crate) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // One that panicked has said so.
        let _ = thread.map(JoinHandle::join);
    }
}

fn has_group(view: &View, wanted: u64) -> bool {
    view.groups().iter().any(|group| group.number == wanted || group.family == Some(wanted))
}
