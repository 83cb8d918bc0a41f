//! Work that is done together: applied in order, kept in one commit, answered each by itself.

use crate::feed::{Slab, SlabWriter};
use crate::store::{Commit, Store, StoreError, StoredPoint};
use crate::view::Changed;
use crate::work::{Receipt, Refused, Work};
use lion_tsne::live::{Arrival, Change, Event, Health, Live, Point, What};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Works that were applied, and what came of it.
#[derive(Default)]
pub(crate) struct ChangeBatch<'a> {
    events: Vec<Event>,
    /// Which works were applied, in order, and how many events answer each.
    shares: Vec<(usize, usize)>,
    touched: HashMap<Cow<'a, str>, Touched<'a>>,
    now: f64,
}

/// A point that may have been changed.
#[derive(Default)]
struct Touched<'a> {
    /// The number of its first event before all this, if it was there.
    first: Option<u64>,
    /// Its latest event.
    last: Option<u64>,
    /// Its latest row.
    row: Option<&'a [f32]>,
    changed: bool,
}

impl<'a> ChangeBatch<'a> {
    /// Applies works in order, at a time. What each refused work is refused for stands in `refused`; it changes
    /// nothing, and the others are as if it had never come.
    pub(crate) fn apply(
        live: &mut Live,
        works: &'a [Work],
        now: f64,
        refused: &mut [Option<Refused>],
    ) -> Self {
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
        works: &'a [Work],
        together: Range<usize>,
        refused: &mut Option<Refused>,
    ) -> bool {
        let some = &works[together.clone()];
        some.iter().for_each(|work| self.expect(live, work));
        let applied = match some {
            [Work::Snapshot(arrivals)] => live.snapshot(arrivals.clone(), Some(self.leaving(arrivals))),
            _ => live.apply(some.iter().flat_map(Work::changes).cloned().collect()),
        };
        let events = match applied {
            Ok(events) => events,
            Err(error) => {
                *refused = Some(Refused::from_live(error, live.lion().map()));
                return false;
            }
        };
        some.iter().for_each(|work| self.note_rows(work));
        match some {
            [Work::Snapshot(_)] => {
                self.shares
                    .push((together.start, events.iter().filter(|event| event.id().is_some()).count()));
            }
            _ => self.shares.extend(together.map(|at| (at, works[at].rows()))),
        }
        self.events.extend(events);
        true
    }

    /// When those leave that are not in a snapshot: as its rows arrive. An empty one has no time but now.
    fn leaving(&self, arrivals: &[Arrival]) -> f64 {
        arrivals.iter().filter_map(|arrival| arrival.t).reduce(f64::max).unwrap_or(self.now)
    }

    /// Notes the points that work may change, as they are before it.
    fn expect(&mut self, live: &Live, work: &'a Work) {
        let mut note = |id: Cow<'a, str>, point: Option<&Point>| {
            let (first, last) = (point.map(|point| point.first), point.map(|point| point.last));
            self.touched.entry(id).or_insert(Touched { first, last, ..Touched::default() });
        };
        match work {
            Work::Changes(changes) => changes.iter().for_each(|change| {
                note(change.id().into(), live.point(change.id()));
            }),
            // Those that are not in it are changed, too.
            Work::Snapshot(arrivals) => {
                arrivals.iter().for_each(|arrival| note(arrival.id.as_str().into(), live.point(&arrival.id)));
                live.points().for_each(|point| note(point.id.clone().into(), Some(point)));
            }
        }
    }

    /// Notes the rows of work that was applied.
    fn note_rows(&mut self, work: &'a Work) {
        let mut note = |arrival: &'a Arrival| {
            if let Some(touched) = self.touched.get_mut(arrival.id.as_str()) {
                touched.row = Some(&arrival.row);
            }
        };
        match work {
            Work::Snapshot(arrivals) => arrivals.iter().for_each(note),
            Work::Changes(changes) => changes.iter().for_each(|change| match change {
                Change::Upsert(arrival) => note(arrival),
                Change::Delete { .. } => (),
            }),
        }
    }

    /// Whether there is nothing to keep.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How many changes were applied.
    pub(crate) fn changes(&self) -> usize {
        self.shares.iter().map(|&(_, count)| count).sum()
    }

    /// What there is to keep and to tell.
    pub(crate) fn outcome(&mut self, live: &Live) -> Result<BatchOutcome, serde_json::Error> {
        let mut outcome =
            BatchOutcome { slabs: written(&self.events)?, aux: live.aux(), ..BatchOutcome::default() };
        for event in &self.events {
            let touched = event.id().and_then(|id| self.touched.get_mut(id));
            let previous = touched.and_then(|touched| {
                touched.changed = true;
                let gone = matches!(event.what, What::Removed { .. });
                std::mem::replace(&mut touched.last, (!gone).then_some(event.n))
            });
            outcome.previous.push(previous);
        }
        for (id, touched) in self.touched.iter().filter(|(_, touched)| touched.changed) {
            let now = live.point(id);
            let first = now.map(|point| point.first);
            outcome.gone.extend(touched.first.filter(|_| touched.first != first));
            if let (Some(point), Some(row)) = (now, touched.row) {
                let begin = outcome.rows.len();
                outcome.rows.extend(row.iter().flat_map(|v| v.to_le_bytes()));
                let row = begin..outcome.rows.len();
                outcome.points.push((Arc::new(point.clone()), row, touched.first != first));
            }
        }
        // In the order in which they appeared: tables and blocks grow at their ends.
        outcome.points.sort_unstable_by_key(|(point, ..)| point.first);
        outcome.gone.sort_unstable();
        outcome.groups = groups_of(&self.events);
        Ok(outcome)
    }

    /// The events, for the store.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Which works were applied, and the receipt of each. `before` is the last event before all of them.
    pub(crate) fn receipts(self, before: u64) -> impl Iterator<Item = (usize, Receipt)> {
        let mut last = before;
        let mut events = self.events.into_iter().peekable();
        self.shares.into_iter().map(move |(work, count)| {
            let mut own = Vec::with_capacity(count);
            while let Some(event) = events.next_if(|event| own.len() < count || event.id().is_none()) {
                last = event.n;
                if event.id().is_some() {
                    own.push(event);
                }
            }
            (work, Receipt { events: own, last })
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
    /// Points, where in `rows` theirs is, and whether they are new.
    points: Vec<(Arc<Point>, Range<usize>, bool)>,
    rows: Vec<u8>,
    /// Groups that may have changed.
    groups: BTreeSet<u64>,
    aux: Vec<u8>,
}

impl BatchOutcome {
    /// Keeps it.
    pub(crate) fn commit(&self, live: &Live, events: &[Event], store: &mut Store) -> Result<(), StoreError> {
        let kept = |(point, row, is_new): &'_ (Arc<Point>, Range<usize>, bool)| StoredPoint {
            point: point.clone(),
            row: &self.rows[row.clone()],
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
            aux: &self.aux,
            last: live.last(),
            now: live.now(),
        })
    }

    /// What readers are to see of it.
    pub(crate) fn changed(self, live: &Live, health: Option<Arc<Health>>) -> Changed {
        let group = |number| (number, live.group(number).map(|group| Arc::new(group.into())));
        Changed {
            gone: self.gone,
            points: self.points.into_iter().map(|(point, ..)| point).collect(),
            groups: self.groups.into_iter().map(group).collect(),
            health,
            last: live.last(),
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

/// The groups that points came to or left.
fn groups_of(events: &[Event]) -> BTreeSet<u64> {
    let mut groups = BTreeSet::new();
    for event in events {
        match &event.what {
            What::Removed { from, .. } => groups.extend(from.group),
            What::Forming(gathered) | What::Dissolved(gathered) => groups.extend(&gathered.groups),
            _ => groups.extend(event.sighting().into_iter().flat_map(|now| {
                [now.placement.group, now.from.as_ref().and_then(|from| from.group)].into_iter().flatten()
            })),
        }
    }
    groups
}
