//! The one thread that owns the live map: work is applied, kept, answered and told, in that order.

use crate::batch::ChangeBatch;
use crate::feed::Slab;
use crate::http::live_text;
use crate::map_version::MapVersion;
use crate::notes::{Notes, NotesChanged};
use crate::queue::{Job, Turn};
use crate::service::Shared;
use crate::store::{Store, StoreError};
use crate::switch::{Switch, Switched};
use crate::work::{Receipt, Refused, Work};
use lion_tsne::live::{Health, Live, LiveOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How old what readers see of the map's health may be.
const HEALTH_AGE: Duration = Duration::from_millis(100);

/// How long the writer waits at most for those who were just answered to come back.
const MOST_WAIT: Duration = Duration::from_millis(2);

/// How long nothing comes before time is let pass for what readers see.
const IDLE: Duration = Duration::from_secs(1);

/// The writer.
pub(crate) struct LiveWriter {
    /// `None` if a commit failed and the store could not be read since.
    live: Option<Live>,
    store: Store,
    map: Arc<MapVersion>,
    notes: Arc<Notes>,
    options: LiveOptions,
    shared: Arc<Shared>,
    /// When the map's health was last looked at.
    looked: Instant,
}

impl LiveWriter {
    pub(crate) fn new(
        live: Live,
        map: Arc<MapVersion>,
        notes: Arc<Notes>,
        store: Store,
        shared: Arc<Shared>,
    ) -> Self {
        let options = *live.options();
        Self { live: Some(live), store, map, notes, options, shared, looked: Instant::now() }
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        // If this thread should ever panic, nobody may wait for it.
        let _guard = Guard(self.shared.clone());
        let (mut expected, mut wait) = (0, Duration::ZERO);
        while let Some(turn) = self.shared.queue.take(expected, wait, IDLE) {
            if turn.is_empty() {
                self.let_time_pass();
                continue;
            }
            let Turn { jobs, switch } = turn;
            expected = jobs.len();
            let began = Instant::now();
            if !jobs.is_empty() {
                self.turn(jobs);
            }
            // Worth waiting for: another commit costs as much as this one did.
            wait = (began.elapsed() / 4).min(MOST_WAIT);
            if let Some(switch) = switch {
                self.switch(switch);
            }
            self.store.tidy();
        }
        self.store.close();
    }

    /// Does some work: all that is good of it in one commit. Then everybody is told.
    fn turn(&mut self, jobs: Vec<Job>) {
        let (works, answers): (Vec<Work>, Vec<_>) =
            jobs.into_iter().map(|job| (job.work, job.answer)).unzip();
        let now = self.shared.clock.now();
        let mut outcomes: Vec<Option<Refused>> = vec![None; works.len()];
        let kept = self.keep(&works, now, &mut outcomes);
        let mut outcomes: Vec<Option<Result<Receipt, Refused>>> =
            outcomes.into_iter().map(|refused| refused.map(Err)).collect();
        let (slabs, otherwise) = match kept {
            Ok((receipts, slabs)) => {
                receipts.into_iter().for_each(|(work, receipt)| outcomes[work] = Some(Ok(receipt)));
                (slabs, Refused::Stopping)
            }
            Err(error) => {
                tracing::error!("{error}");
                (Vec::new(), Refused::Store { problem: error.to_string(), full: error.is_full() })
            }
        };
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // Who no longer waits has gone away; the work is done all the same.
            let _ = answer.send(outcome.unwrap_or_else(|| Err(otherwise.clone())));
        }
        self.shared.feed.push(slabs);
    }

    /// Applies works and keeps what came of them. If they cannot be kept, the live map is again what the store holds.
    fn keep(
        &mut self,
        works: &[Work],
        now: f64,
        refused: &mut [Option<Refused>],
    ) -> Result<Done, StoreError> {
        let mut live = match self.live.take() {
            Some(live) => live,
            None => self.store.load(self.map.lion.clone(), self.options)?,
        };
        let before = live.last();
        let mut batch = ChangeBatch::apply(&mut live, works, now, refused);
        if batch.is_empty() {
            self.live = Some(live);
            return Ok((batch.receipts(before).collect(), Vec::new()));
        }
        let began = Instant::now();
        let mut notes = (*self.notes).clone();
        let noted = notes.follow(batch.events());
        let kept = match batch.outcome(&live) {
            Ok(outcome) => {
                outcome.commit(&live, batch.events(), None, &noted, &mut self.store).map(|()| outcome)
            }
            Err(error) => Err(self.store.unwritable(&error)),
        };
        self.shared.failing.store(kept.is_err(), Ordering::Relaxed);
        let mut outcome = match kept {
            Ok(outcome) => outcome,
            Err(error) => {
                drop(live);
                self.live = self.store.load(self.map.lion.clone(), self.options).ok();
                return Err(error);
            }
        };
        self.shared.first.store(self.store.first(), Ordering::Relaxed);
        self.shared.count(batch.events(), began.elapsed());
        let slabs = std::mem::take(&mut outcome.slabs);
        let health = self.health(&live);
        let said = (noted != NotesChanged::default()).then(|| Arc::new(notes));
        self.notes = said.clone().unwrap_or_else(|| self.notes.clone());
        self.shared.shown.update(outcome.changed(&live, health), said);
        self.live = Some(live);
        Ok((batch.receipts(before).collect(), slabs))
    }

    /// Goes over to another version of the map, or stays as it is.
    fn switch(&mut self, switch: Switch) {
        let began = Instant::now();
        let answer = switch.answer.clone();
        let switched = self.try_switch(switch);
        if switched.is_ok() {
            let seconds = began.elapsed().as_secs_f64();
            tracing::info!(
                version = self.map.number(),
                seconds,
                "the points are in another version of the map"
            );
            self.shared.switched(seconds);
            self.store.tidy_maps();
        }
        // Who no longer waits has gone away.
        let _ = answer.send(switched);
    }

    /// Moves all points, keeps them, shows them and tells of it; gives the number of the event.
    fn try_switch(&mut self, switch: Switch) -> Result<u64, StoreError> {
        let Switch { version, next, settled, told, .. } = switch;
        let now = self.shared.clock.now();
        let mut switched = match &self.live {
            Some(live) => Switched::new(live, next, settled, told, now, &self.store)?,
            None => {
                let live = self.store.load(self.map.lion.clone(), self.options)?;
                Switched::new(&live, next, settled, told, now, &self.store)?
            }
        };
        let before = live_text(&self.shared.shown.view()).map_err(|e| self.store.unwritable(&e))?;
        let mut notes = (*self.notes).clone();
        let noted = notes.follow(&switched.applied.events);
        let kept = switched.commit(&version, self.map.number(), &before, &noted, &mut self.store);
        self.shared.failing.store(kept.is_err(), Ordering::Relaxed);
        let outcome = kept?;
        self.shared.first.store(self.store.first(), Ordering::Relaxed);
        self.notes = Arc::new(notes);
        self.shared.shown.replace(&switched.live, version.clone(), self.notes.clone());
        self.map = version;
        let event = switched.event();
        self.live = Some(switched.live);
        self.shared.feed.push(outcome.slabs);
        Ok(event)
    }

    /// Nothing has come for a while: what came leaves the window all the same.
    fn let_time_pass(&self) {
        let Some(live) = &self.live else { return };
        self.shared.shown.age(Arc::new(live.health_at(self.shared.clock.now())));
    }

    /// How the map is doing, if it is time to look: nobody is waiting, or it is long ago.
    fn health(&mut self, live: &Live) -> Option<Arc<Health>> {
        if self.looked.elapsed() < HEALTH_AGE && self.shared.queue.rows() > 0 {
            return None;
        }
        self.looked = Instant::now();
        Some(Arc::new(live.health()))
    }
}

/// Receipts of works, by their numbers, and their events written out.
type Done = (Vec<(usize, Receipt)>, Vec<Arc<Slab>>);

/// Closes the queue when the writer ends, however it ends.
struct Guard(Arc<Shared>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

#[cfg(test)]
mod tests;
