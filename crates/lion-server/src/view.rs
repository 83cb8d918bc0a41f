//! All points as they are now, for readers.
//!
//! Points lie in blocks in the order in which they appeared. A reader gets the blocks as they are; the writer copies a
//! block before it changes it, if a reader has it, and a copy is a list of pointers. So neither waits for the other.

use lion_tsne::live::{Health, Live, OutlierGroup, Point};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An outlier group, as readers see it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// Its number; none comes back.
    pub number: u64,
    /// Its position, two or three coordinates.
    pub position: Vec<f32>,
    /// How many members it has.
    pub size: usize,
    /// Whether it is a cluster that forms.
    pub forming: bool,
}

/// A picture of the live map after an event. It never changes.
#[derive(Clone, Debug)]
pub struct View {
    blocks: Vec<Arc<Vec<Arc<Point>>>>,
    points: usize,
    groups: Vec<Arc<GroupView>>,
    health: Arc<Health>,
    last: u64,
}
