//! What placing holds: the map made ready, the rows at hand, and the outliers that wait for each other.

use super::needs::{Needs, threads};
use crate::lion::{LionOptions, Local, PendingOutlier, Placement, RepulsionField};
use crate::map::Map;

/// Rows of a table that come together, and those of them that are looked up at the same time.
const BATCH: f64 = 4096.0;
const AT_ONCE: f64 = 512.0;
/// What an outlier takes beside its row.
const OUTLIER: usize = 200;

impl LionOptions {
    /// What placing into this map will hold at its largest, tables passing by in batches, but for the outliers: each
    /// of those takes [`needs_of_outlier`](Self::needs_of_outlier) until all have positions.
    pub fn needs(&self, map: &Map) -> Needs {
        let (rows, width) = (map.x().rows() as f64, map.x().cols() as f64);
        let nearest = match self.local {
            Local::Energy | Local::Attraction => 3.0 * map.perplexity(),
            Local::Idw => 2.0,
        };
        let repulsion =
            if self.local == Local::Energy { RepulsionField::memory(map.y()) as f64 } else { 0.0 };
        // What a row collects, and what it says in the end.
        let look = 8.0 * ((3.0 * nearest).max(64.0) + 64.0) + 24.0 * nearest + 16.0 * width;
        let inputs = map.preprocess().input_dims() as f64;
        Needs::of(
            "placing",
            &[
                ("map", 4.0 * rows * (width + map.dims() as f64) + 64.0 * map.rows() as f64),
                ("index of its rows", 4.3 * rows * width + 60.0 * rows),
                ("calibration", 80.0 * rows),
                ("repulsion of its places", repulsion),
                ("rows being placed", 5.0 * 4.0 * BATCH * inputs + AT_ONCE * look),
                ("threads and small things", 2.6e6 + 0.8e6 * threads(self.threads) as f64),
            ],
        )
    }

    /// What an outlier takes until all outliers have positions: its row, distance and target, its number by its hash, and
    /// what the search for groups and cells notes. Where a false discovery rate is asked for, it waits as a whole, too.
    pub fn needs_of_outlier(&self, map: &Map) -> u64 {
        let row = 4 * map.x().cols();
        let waits = row + size_of::<PendingOutlier>() + size_of::<Option<Placement>>();
        (row + OUTLIER + self.fdr.map_or(0, |_| waits)) as u64
    }
}
