//! From one version of the map to another, in one commit.

use crate::batch::BatchOutcome;
use crate::map_version::MapVersion;
use crate::notes::NotesChanged;
use crate::store::{Store, StoreError, Switching};
use lion_tsne::live::{Applied, Live, MapUpdated, SettledRow};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// Rows that a version has settled, by the first events of their points, with the events that gave them.
pub(crate) type Settled = HashMap<u64, (u64, SettledRow)>;

/// Another version of the map, prepared in the background: the writer settles only what came since.
pub(crate) struct Switch {
    pub(crate) version: Arc<MapVersion>,
    /// The live map of this version, without points.
    pub(crate) next: Live,
    pub(crate) settled: Settled,
    pub(crate) told: MapUpdated,
    pub(crate) answer: SyncSender<Result<u64, StoreError>>,
}

/// A live map in another version of the map, to be kept.
pub(crate) struct Switched {
    pub(crate) live: Live,
    pub(crate) applied: Applied,
}

impl Switched {
    /// Moves all points of a live map. Rows that were given since the version was prepared are read from the store.
    pub(crate) fn new(
        live: &Live,
        next: Live,
        mut settled: Settled,
        told: MapUpdated,
        t: f64,
        store: &Store,
    ) -> Result<Self, StoreError> {
        let settle = |point: &lion_tsne::live::Point| match settled.remove(&point.first) {
            Some((last, row)) if last == point.last => Ok(row),
            _ => Ok(next.settle(&store.row(point.first)?)?),
        };
        let rows = live.points().map(settle).collect::<Result<Vec<_>, StoreError>>()?;
        let (live, applied) = live.move_to(next, rows, told, t)?;
        Ok(Self { live, applied })
    }

    /// The event that tells of it. Others may follow.
    pub(crate) fn event(&self) -> u64 {
        self.applied.events.first().map_or(self.live.last(), |event| event.n)
    }

    /// Keeps it: all of it, durably, or nothing. `before` are the points as they were, as text.
    pub(crate) fn commit(
        &mut self,
        version: &MapVersion,
        from: u64,
        before: &str,
        notes: &NotesChanged,
        store: &mut Store,
    ) -> Result<BatchOutcome, StoreError> {
        let (event, t) = (self.event(), self.live.now());
        let outcome =
            BatchOutcome::of_all(&self.live, &mut self.applied).map_err(|e| store.unwritable(&e))?;
        let switch = Switching { to: &version.record, from, event, t, points: before };
        outcome.commit(&self.live, &self.applied.events, Some(switch), notes, store)?;
        Ok(outcome)
    }
}
