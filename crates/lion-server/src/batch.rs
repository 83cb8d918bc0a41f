//! Work that is done together: applied in order, kept in one commit, answered each by itself.

use crate::feed::{Slab, SlabWriter};
use crate::service::{Receipt, Refused, Work};
use crate::store::{Commit, Kept};
use crate::view::Changed;
use lion_tsne::live::{Change, Event, Live, Point, What};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Works that were applied, and what came of it.
#[derive(Default)]
pub(crate) struct Batch<'a> {
    events: Vec<Event>,
    /// Which works were applied, in order, and how many events answer each.
    shares: Vec<(usize, usize)>,
    touched: HashMap<Cow<'a, str>, Touched<'a>>,
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

impl<'a> Batch<'a> {
    /// Applies works in order. What each refused work is refused for stands in `refused`; it changes nothing, and the
    /// others are as if it had never come.
    pub(crate) fn apply(live: &mut Live, works: &'a [Work], refused: &mut [Option<Refused>]) -> Self {
        let mut batch = Self::default();
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
            [Work::Snapshot(arrivals)] => live.snapshot(arrivals.clone(), arrivals.first().and_then(|a| a.t)),
            _ => live.apply(some.iter().flat_map(|work| work.changes()).cloned().collect()),
        };
        let events = match applied {
            Ok(events) => events,
            Err(error) => {
                *refused = Some(Refused::from_live(error));
                return false;
            }
        };
        some.iter().flat_map(Work::arrivals).for_each(|(id, row)| self.touch(id).row = Some(row));
        match some {
            [Work::Snapshot(_)] => {
                self.shares.push((together.start, events.iter().filter(|event| event.id().is_some()).count()));
            }
            _ => self.shares.extend(together.map(|at| (at, works[at].rows()))),
        }
        self.events.extend(events);
        true
    }

    /// Notes the points that work may change, as they are before it.
    fn expect(&mut self, live: &Live, work: &'a Work) {
        let mut note = |id: Cow<'a, str>, point: Option<&Point>| {
            let (first, last) = (point.map(|point| point.first), point.map(|point| point.last));
            self.touched.entry(id).or_insert(Touched { first, last, ..Touched::default() });
        };
        match work {
            Work::Changes(changes) => changes.iter().for_each(|change| {
                let (Change::Upsert(Arrival { id, .. }) | Change::Delete { id, .. }) = change;
                note(id.as_str().into(), live.point(id));
            }),
            // Those that are not in it are changed, too.
            Work::Snapshot(arrivals) => {
                arrivals.iter().for_each(|arrival| note(arrival.id.as_str().into(), live.point(&arrival.id)));
                live.points().for_each(|point| note(point.id.clone().into(), Some(point)));
            }
        }
    }
}
