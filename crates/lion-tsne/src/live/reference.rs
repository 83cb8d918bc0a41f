//! What a live map knows of its map.

use super::alarms::AlarmReference;
use super::clusters::{Clusters, Voters};
use crate::kd_tree::KdTree;
use crate::lion::Lion;

/// What a live map knows of its map, whatever points there are. All live maps of one [`Lion`] have it in common.
pub(crate) struct MapReference {
    pub(super) clusters: Clusters,
    pub(super) voters: Voters,
    pub(super) alarms: AlarmReference,
}

impl MapReference {
    /// Of a map that is ready. Works on the threads of the pool it is called in.
    pub(crate) fn new(lion: &Lion) -> Self {
        let map = lion.map();
        let tree = KdTree::new(map.y().data(), map.dims());
        let clusters = Clusters::new(map, &tree);
        let voters = Voters::new(map, &clusters, tree);
        let alarms = AlarmReference::new(lion, &clusters, &voters);
        Self { clusters, voters, alarms }
    }
}

#[cfg(test)]
mod tests {
    use crate::live::{Live, LiveOptions};
    use crate::{Fit, Lion, LionOptions, Matrix, ignore};
    use std::sync::Arc;

    #[test]
    fn live_maps_of_one_map_know_it_once() {
        let grid = || Matrix::new(64, 2, (0..64).flat_map(|i| [(i % 8) as f32, (i / 8) as f32]).collect());
        let map = Fit::default().adopt(grid().unwrap(), grid().unwrap(), &mut ignore).unwrap();
        let lion = Arc::new(Lion::new(map, &LionOptions::default()).unwrap());
        let [one, other] = [(); 2].map(|()| Live::new(lion.clone(), LiveOptions::default()).unwrap());
        assert!(Arc::ptr_eq(&one.known, &other.known));
    }
}
