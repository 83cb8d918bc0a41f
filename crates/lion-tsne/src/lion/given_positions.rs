//! What outliers were given: in the order of the rows of a job, or to be looked up by what a row is.

use super::pending_outliers::DifferentOutliers;
use super::{Place, Placement};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::vec::IntoIter;
use xxhash_rust::xxh3::xxh3_128;

/// What each outlier of a job was given, in the order in which they were added.
#[derive(Debug)]
pub struct GivenPositions {
    /// For each, its placement if it turned out to be none; empty where no false discovery rate was asked for.
    decided: IntoIter<Option<Placement>>,
    /// For each of the others, the number of its place and group.
    number_of: IntoIter<u32>,
    given: Vec<(Place, u32)>,
}

/// What an outlier was given.
#[derive(Clone, Debug)]
pub enum GivenPosition {
    /// A place, and a group.
    Outlier(Place, u64),
    /// It turned out to be no outlier; this is its placement.
    Decided(Placement),
}

impl GivenPositions {
    pub(super) fn new(
        decided: Vec<Option<Placement>>,
        number_of: Vec<u32>,
        given: Vec<(Place, u32)>,
    ) -> Self {
        Self { decided: decided.into_iter(), number_of: number_of.into_iter(), given }
    }
}

impl Iterator for GivenPositions {
    type Item = GivenPosition;

    fn next(&mut self) -> Option<GivenPosition> {
        if let Some(Some(placement)) = self.decided.next() {
            return Some(GivenPosition::Decided(placement));
        }
        let (place, group) = self.given[self.number_of.next()? as usize];
        Some(GivenPosition::Outlier(place, u64::from(group)))
    }
}

impl GivenPosition {
    /// The whole placement of the outlier of which the rest was known.
    pub fn complete(self, known: Placement) -> Placement {
        match self {
            Self::Outlier(place, group) => Placement { place, group: Some(group), ..known },
            Self::Decided(placement) => placement,
        }
    }
}

/// The place and group of each different outlier of a job by its key, in the order of the keys.
#[derive(Clone, Debug)]
pub struct PositionsByKey {
    /// See [`key_of`](Self::key_of).
    pub keys: Vec<[u8; 16]>,
    /// The place of each.
    pub places: Vec<Place>,
    /// The group of each.
    pub groups: Vec<u32>,
}

impl PositionsByKey {
    pub(super) fn new(outliers: &DifferentOutliers, given: Vec<(Place, u32)>) -> Result<Self> {
        let key_of = |number: u32| Self::key_of_row(bytemuck::cast_slice(outliers.row(number)));
        let mut all: Vec<([u8; 16], u32)> =
            (0..given.len() as u32).map(|number| (key_of(number), number)).collect();
        all.par_sort_unstable();
        if all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::Data(
                "two different outliers have one key: place one of them by itself".into(),
            ));
        }
        let (places, groups) = all.iter().map(|&(_, number)| given[number as usize]).unzip();
        Ok(Self { keys: all.into_iter().map(|(key, _)| key).collect(), places, groups })
    }

    /// The key of an outlier, from what [`PendingOutlier::to_bytes`](super::PendingOutlier::to_bytes) made: a hash of its
    /// row of 128 bits, which no two of 10⁹ rows share but with a chance of 10⁻²⁰. It is the same on every machine.
    pub fn key_of(bytes: &[u8]) -> [u8; 16] {
        Self::key_of_row(bytes.get(super::pending_outlier::HEAD..).unwrap_or_default())
    }

    fn key_of_row(bytes: &[u8]) -> [u8; 16] {
        xxh3_128(bytes).to_be_bytes()
    }
}
