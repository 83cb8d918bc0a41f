//! Work that is done together: applied in order, kept in one commit, answered each by itself.

use crate::feed::{Slab, SlabWriter};
use crate::notes::NotesChanged;
use crate::store::{Commit, Store, StoreError, StoredPoint, Switching};
use crate::view::{Changed, GroupView};
use crate::work::{Receipt, Refused, Work};
use lion_tsne::live::{Applied, ChangedPoint, Event, Health, Live, Point};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Works that were applied, and what came of it.
#[derive(Default)]
pub(crate) struct ChangeBatch {
    applied: Applied,
    /// Which works were applied, in order, and how many events answer each.
    shares: Vec<(usize, usize)>,
    /// The changes of works that were to remove a point that is not there: their numbers and ids.
    absent: HashMap<usize, Vec<(usize, String)>>,
    /// The events of works that are notes.
    noted: HashMap<usize, u64>,
    now: f64,
}

impl ChangeBatch {
    /// Applies works in order, at a time. What each refused work is refused for stands in `refused`; it changes
    /// nothing, and the others are as if it had never come.
    pub(crate) fn apply(live: &mut Live, works: &[Work], now: f64, refused: &mut [Option<Refused>]) -> Self {
        let mut batch = Self { now, ..Self::default() };
        let mut at = 0;
        while at < works.len() {
            // Changes that follow each other are one stream, however it is cut: they are placed together.
            let changes = works[at..].iter().take_while(|work| matches!(work, Work::Changes(_))).count();
            let together = at..at + changes.max(1);
            if together.len() == 1 || !batch.try_apply(live, works, together.clone(), &mut None) {
                for alone in together.clone() {
                    batch.try_apply(live, works, alone..alone + 1, &mut refused[alone]);
                }
            }
            at = together.end;
        }
        batch
    }

    /// Applies some works as one: all of them or, where one is bad, none.
    fn try_apply(
        &mut self,
        live: &mut Live,
        works: &[Work],
        together: Range<usize>,
        refused: &mut Option<Refused>,
    ) -> bool {
        let some = &works[together.clone()];
        let applied = match some {
            [Work::Snapshot(arrivals)] => live.snapshot_at(arrivals.clone(), self.now),
            [Work::Note(note)] => Ok(live.note(note.clone(), self.now)),
            _ => live.apply_at(some.iter().flat_map(Work::changes).cloned().collect(), self.now),
        };
        let applied = match applied {
            Ok(applied) => applied,
            Err(error) => {
                *refused = Some(Refused::from_live(error, live.lion().map()));
                return false;
            }
        };
        match some {
            [Work::Snapshot(_)] => {
                let told = applied.events.iter().filter(|event| event.id().is_some());
                self.shares.push((together.start, told.count()));
            }
            [Work::Note(_)] => {
                self.shares.push((together.start, 0));
                self.noted.extend(applied.events.first().map(|event| (together.start, event.n)));
            }
            _ => self.share(works, together, &applied.absent),
        }
        self.applied.extend(applied);
        true
    }

    /// Notes how many events answer each of some works of changes, and which changes none does.
    fn share(&mut self, works: &[Work], together: Range<usize>, absent: &[usize]) {
        let mut absent = absent.iter().copied().peekable();
        let mut begin = 0;
        for at in together {
            let changes = works[at].changes();
            let mut missing = Vec::new();
            while let Some(number) = absent.next_if(|number| *number < begin + changes.len()) {
                missing.push((number - begin, changes[number - begin].id().to_owned()));
            }
            begin += changes.len();
            self.shares.push((at, changes.len() - missing.len()));
            if !missing.is_empty() {
                self.absent.insert(at, missing);
            }
        }
    }

    /// Whether there is nothing to keep.
    pub(crate) fn is_empty(&self) -> bool {
        self.applied.events.is_empty()
    }

    /// What there is to keep and to tell.
    pub(crate) fn outcome(&mut self, live: &Live) -> Result<BatchOutcome, serde_json::Error> {
        let mut outcome = BatchOutcome {
            slabs: written(&self.applied.events)?,
            previous: std::mem::take(&mut self.applied.previous),
            groups: std::mem::take(&mut self.applied.groups),
            aux: live.aux(),
            ..BatchOutcome::default()
        };
        for (id, ChangedPoint { first_before, row }) in &self.applied.points {
            let now = live.point(id);
            let is_new = *first_before != now.map(|point| point.first);
            outcome.gone.extend(first_before.filter(|_| is_new));
            if let (Some(point), Some(row)) = (now, row) {
                let begin = outcome.rows.len();
                outcome.rows.extend(row.iter().flat_map(|v| v.to_le_bytes()));
                outcome.points.push((Arc::new(point.clone()), Some(begin..outcome.rows.len()), is_new));
            }
        }
        // In the order in which they appeared: tables and blocks grow at their ends.
        outcome.points.sort_unstable_by_key(|(point, ..)| point.first);
        outcome.gone.sort_unstable();
        Ok(outcome)
    }

    /// The events, for the store.
    pub(crate) fn events(&self) -> &[Event] {
        &self.applied.events
    }

    /// Which works were applied, and the receipt of each. `before` is the last event before all of them.
    pub(crate) fn receipts(self, before: u64) -> impl Iterator<Item = (usize, Receipt)> {
        let mut last = before;
        let (mut absent, noted) = (self.absent, self.noted);
        let mut events = self.applied.events.into_iter().peekable();
        self.shares.into_iter().map(move |(work, count)| {
            let mut own = Vec::with_capacity(count);
            while let Some(event) = events.next_if(|event| own.len() < count || event.id().is_none()) {
                last = event.n;
                if event.id().is_some() {
                    own.push(event);
                }
            }
            let absent = absent.remove(&work).unwrap_or_default();
            (work, Receipt { events: own, absent, last: noted.get(&work).copied().unwrap_or(last) })
        })
    }
}

/// What a batch made of the live map.
#[derive(Default)]
pub(crate) struct BatchOutcome {
    /// The events written out, and for each the one before it of the same point.
    pub(crate) slabs: Vec<Arc<Slab>>,
    previous: Vec<Option<u64>>,
    gone: Vec<u64>,
    /// Points, where in `rows` theirs is if it is another, and whether they are new.
    points: Vec<(Arc<Point>, Option<Range<usize>>, bool)>,
    rows: Vec<u8>,
    /// Groups that may have changed.
    groups: BTreeSet<u64>,
    aux: Vec<u8>,
}

impl BatchOutcome {
    /// All of a live map: every point and group has another place.
    pub(crate) fn of_all(live: &Live, applied: &mut Applied) -> Result<Self, serde_json::Error> {
        Ok(Self {
            slabs: written(&applied.events)?,
            previous: std::mem::take(&mut applied.previous),
            points: live.points().map(|point| (Arc::new(point.clone()), None, false)).collect(),
            groups: live.groups().map(|group| group.number).collect(),
            aux: live.aux(),
            ..Self::default()
        })
    }

    /// Keeps it.
    pub(crate) fn commit(
        &self,
        live: &Live,
        events: &[Event],
        switch: Option<Switching<'_>>,
        notes: &NotesChanged,
        store: &mut Store,
    ) -> Result<(), StoreError> {
        let kept = |(point, row, is_new): &'_ (Arc<Point>, Option<Range<usize>>, bool)| StoredPoint {
            point: point.clone(),
            row: row.clone().map(|row| &self.rows[row]),
            is_new: *is_new,
        };
        let points: Vec<StoredPoint<'_>> = self.points.iter().map(kept).collect();
        let groups: Vec<_> = self.groups.iter().map(|&number| (number, live.group(number))).collect();
        store.commit(&Commit {
            events,
            previous: &self.previous,
            slabs: &self.slabs,
            gone: &self.gone,
            points: &points,
            groups: &groups,
            switch,
            notes,
            aux: &self.aux,
            last: live.last(),
            now: live.now(),
        })
    }

    /// What readers are to see of it.
    pub(crate) fn changed(self, live: &Live, health: Option<Arc<Health>>) -> Changed {
        let group = |number| (number, live.group(number).map(|group| Arc::new(GroupView::new(group, live))));
        Changed {
            gone: self.gone,
            points: self.points.into_iter().map(|(point, ..)| point).collect(),
            groups: self.groups.into_iter().map(group).collect(),
            health,
            last: live.last(),
            now: live.now(),
        }
    }
}

/// Events as text.
fn written(events: &[Event]) -> Result<Vec<Arc<Slab>>, serde_json::Error> {
    let (mut slabs, mut writer) = (Vec::new(), SlabWriter::default());
    for event in events {
        writer.add(event.n, |text| serde_json::to_writer(text, event))?;
        if writer.is_full() {
            slabs.extend(writer.finish());
        }
    }
    slabs.extend(writer.finish());
    Ok(slabs)
}
