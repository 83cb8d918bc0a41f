//! All points as they are now, for readers.
//!
//! Points lie in blocks in the order in which they appeared. A reader gets the blocks as they are; the writer copies a
//! block before it changes it if a reader still has it, and such a copy is a list of pointers. So readers always see the
//! latest commit, and neither side waits for the other longer than it takes to copy the list of blocks.

use crate::map_version::MapVersion;
use crate::notes::Notes;
use lion_tsne::live::{Health, LabelCount, Live, OutlierGroup, Point};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Points in a block, at most.
const BLOCK: usize = 1024;

/// Points in the order of their first events.
type PointBlock = Arc<Vec<Arc<Point>>>;

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
    /// The group that names this cluster.
    pub family: Option<u64>,
    /// The labels that most members have, if any has one, the most frequent first.
    pub labels: Vec<LabelCount>,
}

impl GroupView {
    /// A group of a live map.
    pub(crate) fn new(group: &OutlierGroup, live: &Live) -> Self {
        let OutlierGroup { number, position, members, family, .. } = group;
        Self {
            number: *number,
            position: position.to_vec(),
            size: members.len(),
            forming: family.is_some(),
            family: *family,
            labels: live.labels_of(group),
        }
    }
}

/// A picture of the live map after an event. It never changes.
#[derive(Clone)]
pub struct View {
    map: Arc<MapVersion>,
    blocks: Vec<PointBlock>,
    points: usize,
    groups: Vec<Arc<GroupView>>,
    health: Arc<Health>,
    notes: Arc<Notes>,
    last: u64,
    now: f64,
}

impl View {
    /// The version of the map that the points are in.
    pub fn map(&self) -> &Arc<MapVersion> {
        &self.map
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// The points, in the order in which they appeared.
    pub fn points(&self) -> impl Iterator<Item = &Arc<Point>> + Clone {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    /// The outlier groups, by number.
    pub fn groups(&self) -> &[Arc<GroupView>] {
        &self.groups
    }

    /// What the live map watches, as it was at most a tenth of a second before.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// What people said of it.
    pub fn notes(&self) -> &Arc<Notes> {
        &self.notes
    }

    /// The number of the last event that is seen in it.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The time of that event.
    pub fn now(&self) -> f64 {
        self.now
    }
}

/// What readers see; the writer changes it after each commit.
pub(crate) struct Shown(Mutex<Inside>);

struct Inside {
    map: Arc<MapVersion>,
    blocks: Vec<PointBlock>,
    points: usize,
    groups: BTreeMap<u64, Arc<GroupView>>,
    health: Arc<Health>,
    notes: Arc<Notes>,
    last: u64,
    now: f64,
    /// The view of this state, once somebody has asked.
    view: Option<Arc<View>>,
}

impl Shown {
    /// Shows a live map in a version of its map.
    pub(crate) fn new(live: &Live, map: Arc<MapVersion>, health: Health, notes: Arc<Notes>) -> Self {
        Self(Mutex::new(Inside::of(live, map, health, notes)))
    }

    /// Shows a live map that is in another version of its map.
    pub(crate) fn replace(&self, live: &Live, map: Arc<MapVersion>, notes: Arc<Notes>) {
        let inside = Inside::of(live, map, live.health(), notes);
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), inside);
        // Dropped here, where nobody waits for it.
        drop(before);
    }

    /// Shows what a commit changed.
    pub(crate) fn update(&self, changed: Changed, notes: Option<Arc<Notes>>) {
        // Made before and dropped after, so that readers wait for neither.
        let Changed { gone, points, groups, health, last, now } = changed;
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let view = inside.view.take();
        gone.into_iter().for_each(|first| inside.remove(first));
        points.into_iter().for_each(|point| inside.put(point));
        for (number, group) in groups {
            match group {
                Some(group) => inside.groups.insert(number, group),
                None => inside.groups.remove(&number),
            };
        }
        inside.health = health.unwrap_or_else(|| inside.health.clone());
        inside.notes = notes.unwrap_or_else(|| inside.notes.clone());
        (inside.last, inside.now) = (last, now);
        drop(inside);
        drop(view);
    }

    /// Shows how the map is doing after some time without a change.
    pub(crate) fn age(&self, health: Arc<Health>) {
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inside.health != health {
            let view = inside.view.take();
            inside.health = health;
            drop(inside);
            drop(view);
        }
    }

    /// What there is to see now.
    pub(crate) fn view(&self) -> Arc<View> {
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = &inside.view {
            return view.clone();
        }
        let view = Arc::new(View {
            map: inside.map.clone(),
            blocks: inside.blocks.clone(),
            points: inside.points,
            groups: inside.groups.values().cloned().collect(),
            health: inside.health.clone(),
            notes: inside.notes.clone(),
            last: inside.last,
            now: inside.now,
        });
        inside.view = Some(view.clone());
        view
    }
}

/// What a commit changed, as readers are to see it.
pub(crate) struct Changed {
    /// Points that are no more, by their first event.
    pub(crate) gone: Vec<u64>,
    /// Points that are new or have changed.
    pub(crate) points: Vec<Arc<Point>>,
    /// Groups that may have changed: what they are now.
    pub(crate) groups: Vec<(u64, Option<Arc<GroupView>>)>,
    /// What is watched, if it was looked at.
    pub(crate) health: Option<Arc<Health>>,
    /// The last event, and its time.
    pub(crate) last: u64,
    pub(crate) now: f64,
}

impl Inside {
    fn of(live: &Live, map: Arc<MapVersion>, health: Health, notes: Arc<Notes>) -> Self {
        let points: Vec<Arc<Point>> = live.points().cloned().map(Arc::new).collect();
        let blocks = points.chunks(BLOCK).map(|block| Arc::new(block.to_vec())).collect();
        let groups =
            live.groups().map(|group| (group.number, Arc::new(GroupView::new(group, live)))).collect();
        let (points, health) = (points.len(), Arc::new(health));
        Self { map, blocks, points, groups, health, notes, last: live.last(), now: live.now(), view: None }
    }

    /// The block of a point that is there, or in which it belongs, and its place in it.
    fn find(&self, first: u64) -> (usize, Result<usize, usize>) {
        let later =
            self.blocks.partition_point(|block| block.first().is_some_and(|point| point.first <= first));
        let at = later.saturating_sub(1);
        let within =
            self.blocks.get(at).map_or(Err(0), |block| block.binary_search_by_key(&first, |p| p.first));
        (at, within)
    }

    /// Adds a point that came after all others, or replaces one.
    fn put(&mut self, point: Arc<Point>) {
        match self.find(point.first) {
            (at, Ok(within)) => Arc::make_mut(&mut self.blocks[at])[within] = point,
            (_, Err(_)) => {
                self.points += 1;
                match self.blocks.last_mut() {
                    Some(block) if block.len() < BLOCK => Arc::make_mut(block).push(point),
                    _ => self.blocks.push(Arc::new(vec![point])),
                }
            }
        }
    }

    fn remove(&mut self, first: u64) {
        let (at, Ok(within)) = self.find(first) else { return };
        self.points -= 1;
        let block = Arc::make_mut(&mut self.blocks[at]);
        block.remove(within);
        let size = block.len();
        // Blocks that ran low are joined, so that there are never many more than the points need.
        match self.blocks.get(at + 1).cloned() {
            _ if size == 0 => drop(self.blocks.remove(at)),
            Some(next) if size + next.len() <= BLOCK / 2 => {
                Arc::make_mut(&mut self.blocks[at]).extend(next.iter().cloned());
                self.blocks.remove(at + 1);
            }
            _ => (),
        }
    }
}
