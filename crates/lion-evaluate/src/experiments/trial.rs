//! One method put to the test: built from a map, then given every set of rows.

use super::contenders::Entry;
use super::error::Result;
use crate::{Baseline, BuiltContender, Contender, ContenderPlaces};
use lion_tsne::{Map, Matrix, Observer, Placement, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Rows that every method is asked to place.
pub(crate) struct TestSet {
    pub(crate) name: &'static str,
    /// With all columns.
    pub(crate) rows: Matrix,
    /// What they show; empty if it is nothing that the map knows.
    pub(crate) labels: Vec<String>,
}

/// What came of a method.
#[derive(Serialize, Deserialize)]
pub(crate) struct MethodTrial {
    pub(crate) build_seconds: f64,
    /// Seconds for each row, in a batch, over all sets.
    pub(crate) row_seconds: f64,
    pub(crate) notes: Vec<String>,
    /// The radius and the power that LION used.
    pub(crate) radius: Option<f64>,
    pub(crate) power: Option<f64>,
    /// Where the method itself puts the map's rows, if not where they are: a network does not go through its points.
    pub(crate) own_places: Option<Vec<f32>>,
    pub(crate) landed: BTreeMap<String, PlacedSet>,
}

/// Where the rows of a set landed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PlacedSet {
    /// Two coordinates for each row.
    pub(crate) places: Vec<f32>,
    /// What LION says of each row, where it has a say.
    pub(crate) said: Option<Vec<RowVerdict>>,
}

/// LION's opinion of a row.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RowVerdict {
    pub(crate) outlier: bool,
    /// Small is strange.
    pub(crate) score: f64,
}

impl PlacedSet {
    pub(crate) fn matrix(&self) -> Result<Matrix> {
        Ok(Matrix::new(self.places.len() / 2, 2, self.places.clone())?)
    }
}

impl From<ContenderPlaces> for PlacedSet {
    fn from(landings: ContenderPlaces) -> Self {
        let said = |placement: &Placement| RowVerdict {
            outlier: matches!(placement.verdict, Verdict::Outlier | Verdict::BesideOutlier),
            score: placement.score,
        };
        let said = landings.placements.map(|placements| placements.iter().map(said).collect());
        Self { places: landings.places.into_data(), said }
    }
}

/// Builds a method from the map and lets it place every set.
pub(crate) fn run(
    entry: &Entry,
    map: &Map,
    sets: &[TestSet],
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<MethodTrial> {
    let begun = Instant::now();
    let ready = entry.contender.build(map, seed, observer)?;
    let build_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut landed = BTreeMap::new();
    for set in sets {
        landed.insert(set.name.to_owned(), PlacedSet::from(ready.place_alone(&set.rows)?));
    }
    let rows: usize = sets.iter().map(|set| set.rows.rows()).sum();
    Ok(MethodTrial {
        build_seconds,
        row_seconds: begun.elapsed().as_secs_f64() / rows.max(1) as f64,
        notes: ready.built().map(|built| built.notes()).unwrap_or_default(),
        radius: ready.lion().map(|lion| lion.r_x()),
        power: power(&entry.contender, &ready),
        own_places: own_places(&entry.contender, &ready, map)?,
        landed,
    })
}

fn power(contender: &Contender, ready: &BuiltContender) -> Option<f64> {
    match contender {
        Contender::Lion { local: lion_tsne::Local::Idw, .. } => ready.lion().map(|lion| lion.power()),
        Contender::Other(Baseline::Idw { power }) => Some(*power),
        _ => None,
    }
}

/// As in the paper, networks are judged by the map that they themselves make of the training rows.
fn own_places(contender: &Contender, ready: &BuiltContender, map: &Map) -> Result<Option<Vec<f32>>> {
    match (contender, ready.built()) {
        (Contender::Other(Baseline::Network(_)), Some(built)) => {
            Ok(Some(built.place_preprocessed(map.x())?.into_data()))
        }
        _ => Ok(None),
    }
}
