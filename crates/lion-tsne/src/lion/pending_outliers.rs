//! All outliers of a job, by column: tens of millions of them wait in one process until their positions are given.

use super::{Lion, PendingOutlier};
use crate::error::Result;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Outliers that get their positions together, each different one once. Made by [`Lion::pending_outliers`].
#[derive(Clone, Debug)]
pub struct PendingOutliers {
    pub(super) different: DifferentOutliers,
    /// For each hash of a row, the number of the outlier that has it.
    by_hash: HashTable<u32>,
    /// For each outlier that was added, its number among the different ones.
    pub(super) number_of: Vec<u32>,
    /// Where a false discovery rate is asked for, all that were added: which of them get positions depends on all.
    pub(super) undecided: Option<Vec<PendingOutlier>>,
}

/// Outliers with different rows, column by column.
#[derive(Clone, Debug)]
pub(super) struct DifferentOutliers {
    pub(super) width: usize,
    /// Their rows, one after another.
    pub(super) rows: Vec<f32>,
    pub(super) nearest_distances: Vec<f32>,
    pub(super) targets: Vec<[f64; 3]>,
}

impl Lion {
    /// No outliers yet, for [`Lion::give_positions`] or a [`Placer`](super::Placer).
    pub fn pending_outliers(&self) -> PendingOutliers {
        let width = self.map.x().cols();
        let (rows, nearest_distances, targets) = (Vec::new(), Vec::new(), Vec::new());
        PendingOutliers {
            different: DifferentOutliers { width, rows, nearest_distances, targets },
            by_hash: HashTable::new(),
            number_of: Vec::new(),
            undecided: self.fdr.map(|_| Vec::new()),
        }
    }
}

impl PendingOutliers {
    /// Adds an outlier of the same map.
    pub fn push(&mut self, outlier: PendingOutlier) {
        match &mut self.undecided {
            Some(undecided) => undecided.push(outlier),
            None => self.add(&outlier),
        }
    }

    /// Adds an outlier from what [`PendingOutlier::to_bytes`] made.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.push(PendingOutlier::from_bytes(bytes, self.different.width)?);
        Ok(())
    }

    /// How many were added.
    pub fn len(&self) -> usize {
        self.undecided.as_ref().map_or(self.number_of.len(), Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one that gets a position.
    pub(super) fn add(&mut self, outlier: &PendingOutlier) {
        let Self { different, by_hash, number_of, .. } = self;
        let hash_of = |different: &DifferentOutliers, number: u32| hash(different.row(number));
        let own = hash(&outlier.row);
        let number = match by_hash.find(own, |&number| has_bits(different.row(number), &outlier.row)) {
            Some(&number) => {
                different.take_nearer(number, outlier);
                number
            }
            None => {
                let number = different.push(outlier);
                by_hash.insert_unique(own, number, |&number| hash_of(different, number));
                number
            }
        };
        number_of.push(number);
    }

    /// The different outliers, and the number of each that was added; nothing more will be.
    pub(super) fn into_different(self) -> (DifferentOutliers, Vec<u32>) {
        (self.different, self.number_of)
    }
}

impl DifferentOutliers {
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn row(&self, number: u32) -> &[f32] {
        &self.rows[number as usize * self.width..][..self.width]
    }

    fn push(&mut self, outlier: &PendingOutlier) -> u32 {
        self.rows.extend_from_slice(&outlier.row);
        self.nearest_distances.push(outlier.placement.nearest_distance);
        self.targets.push(outlier.target);
        (self.targets.len() - 1) as u32
    }

    /// One of two rows on the same spot may lie off the plane, and then nobody looked twice for its nearest: the nearer
    /// one is right.
    fn take_nearer(&mut self, number: u32, outlier: &PendingOutlier) {
        let (distance, target) =
            (&mut self.nearest_distances[number as usize], &mut self.targets[number as usize]);
        let targets = || outlier.target.map(f64::to_bits).cmp(&target.map(f64::to_bits));
        if outlier.placement.nearest_distance.total_cmp(distance).then_with(targets).is_lt() {
            (*distance, *target) = (outlier.placement.nearest_distance, outlier.target);
        }
    }
}

fn hash(row: &[f32]) -> u64 {
    xxh3_64(bytemuck::cast_slice(row))
}

/// Whether two rows are the same bit by bit.
fn has_bits(row: &[f32], other: &[f32]) -> bool {
    bytemuck::cast_slice::<f32, u32>(row) == bytemuck::cast_slice::<f32, u32>(other)
}
