//! What changes made of a live map.

use super::event::{Event, What};
use std::collections::{BTreeSet, HashMap};

/// What changes made of a live map: what is told of them, and what is no longer as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// One event for each change, and alarms.
    pub events: Vec<Event>,
    /// For each event, the number of the event before it of the same point; none of an alarm and of a point that appeared.
    pub previous: Vec<Option<u64>>,
    /// The points that the changes are about, by id.
    pub points: HashMap<String, ChangedPoint>,
    /// The groups of outliers that points came to or left, and those of new clusters that were told.
    pub groups: BTreeSet<u64>,
    /// The changes, by their numbers in the call that applied them, that were to remove a point that is not there.
    pub absent: Vec<usize>,
}

/// A point that changed. [`Live::point`](super::Live::point) has it as it is now, if it is still there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedPoint {
    /// The number of its first event, if it was there before.
    pub first_before: Option<u64>,
    /// Its row as it was given; none if it left.
    pub row: Option<Vec<f32>>,
}

impl Applied {
    pub(super) fn with_capacity(changes: usize) -> Self {
        Self { events: Vec::with_capacity(changes), previous: Vec::with_capacity(changes), ..Self::default() }
    }

    /// Adds what came of later changes, but for those that did nothing: their numbers are those of another call.
    pub fn extend(&mut self, later: Self) {
        self.events.extend(later.events);
        self.previous.extend(later.previous);
        self.groups.extend(later.groups);
        for (id, ChangedPoint { first_before, row }) in later.points {
            self.changed(id, first_before, row);
        }
    }

    /// Notes that a point is another row now, or left.
    pub(super) fn changed(&mut self, id: String, first_before: Option<u64>, row: Option<Vec<f32>>) {
        let point = self.points.entry(id).or_insert(ChangedPoint { first_before, row: None });
        point.row = row;
    }

    /// Notes an event and the groups that it is about.
    pub(super) fn told(&mut self, event: Event, previous: Option<u64>) {
        match &event.what {
            What::Removed { from, .. } => self.groups.extend(from.group),
            What::Forming(gathered) | What::Dissolved(gathered) => {
                self.groups.extend(&gathered.cluster.groups);
            }
            _ => {
                if let Some(now) = event.sighting() {
                    self.groups.extend(now.placement.group);
                    self.groups.extend(now.from.as_ref().and_then(|from| from.group));
                }
            }
        }
        self.events.push(event);
        self.previous.push(previous);
    }
}
