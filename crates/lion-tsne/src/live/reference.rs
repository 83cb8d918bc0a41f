//! What a live map knows of its map.

use super::alarms::AlarmReference;
use super::clusters::{Clusters, Voters};
use crate::kd_tree::KdTree;
use crate::lion::Lion;

/// What a live map knows of its map, whatever points there are.
pub(super) struct MapReference {
    pub(super) clusters: Clusters,
    pub(super) voters: Voters,
    pub(super) alarms: AlarmReference,
}

impl MapReference {
    /// Of a map that is ready. Works on the threads of the pool it is called in.
    pub(super) fn new(lion: &Lion) -> Self {
        let map = lion.map();
        let tree = KdTree::new(map.y().data(), map.dims());
        let clusters = Clusters::new(map, &tree);
        let voters = Voters::new(map, &clusters, tree);
        let alarms = AlarmReference::new(lion, &clusters, &voters);
        Self { clusters, voters, alarms }
    }
}
