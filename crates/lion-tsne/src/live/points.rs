//! The points that are there.

use crate::lion::{Placement, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A point and where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Its id.
    pub id: String,
    /// Its label: the last one that was given.
    pub label: Option<String>,
    /// Where it is, and why.
    pub placement: Placement,
    /// The cluster of the map that it is in; outliers are in none.
    pub cluster: Option<u32>,
    /// When it last changed, in seconds.
    pub t: f64,
    /// The number of the event it appeared by.
    pub first: u64,
    /// The number of its latest event.
    pub last: u64,
}

impl Point {
    /// Whether it is an outlier.
    pub fn is_outlier(&self) -> bool {
        self.placement.verdict == Verdict::Outlier
    }
}

/// Points by id, in the order of their first events.
#[derive(Default)]
pub(super) struct Points {
    by_first: BTreeMap<u64, Point>,
    first_of: HashMap<String, u64>,
}

impl Points {
    pub(super) fn get(&self, id: &str) -> Option<&Point> {
        self.by_first.get(self.first_of.get(id)?)
    }

    /// Adds a point, or puts it in the place of the one with its id and `first`.
    pub(super) fn put(&mut self, point: Point) {
        if !self.by_first.contains_key(&point.first) {
            self.first_of.insert(point.id.clone(), point.first);
        }
        self.by_first.insert(point.first, point);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Point> {
        let first = self.first_of.remove(id)?;
        self.by_first.remove(&first)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Point> {
        self.by_first.values()
    }

    pub(super) fn len(&self) -> usize {
        self.by_first.len()
    }
}
