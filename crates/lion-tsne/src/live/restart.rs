//! What a store keeps of a live map, and a live map made of it again.

use super::alarms::Learned;
use super::window::WindowParts;
use super::{Announced, Live, LiveOptions, Point};
use crate::error::{Error, Result};
use crate::lion::Lion;
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const VERSION: u32 = 2;
/// The version that knew alarms by counts within a window.
const BY_COUNTS: u32 = 1;

/// No live map counts farther: a million events a second make so many in nine years. A kept state beyond is none that was written, and
/// one more of anything could not be counted.
pub(super) const MOST_COUNTED: u64 = 1 << 48;

/// All state but points and groups.
#[derive(Serialize, Deserialize)]
struct Aux {
    version: u32,
    last: u64,
    now: f64,
    next_group: u64,
    ring: i64,
    window: WindowParts,
    /// None in version 1: alarms begin anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    alarms: Option<Alarms>,
}

/// What alarms have learned and told.
#[derive(Serialize, Deserialize)]
struct Alarms {
    learned: Learned,
    announced: Announced,
}

/// What a store keeps of a group of outliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGroup {
    /// Its number.
    pub number: u64,
    /// The cell of the map that its position is the centre of.
    pub cell: [i64; 3],
}

impl Live {
    /// Everything but the points and groups, as a few kilobytes of JSON.
    pub fn aux(&self) -> Vec<u8> {
        let (next_group, ring) = self.outliers.counters();
        let aux = Aux {
            version: VERSION,
            last: self.last,
            now: self.now,
            next_group,
            ring,
            window: self.window.parts(),
            alarms: Some(Alarms { learned: self.learned.clone(), announced: self.announced.clone() }),
        };
        json(&aux)
    }

    /// Goes on from what was kept: `aux` as it was, every point, with its row as it was given if it is an outlier, and
    /// every group. The order of points and groups does not matter.
    pub fn restore(
        lion: Arc<Lion>,
        options: LiveOptions,
        aux: &[u8],
        points: impl IntoIterator<Item = (Point, Option<Vec<f32>>)>,
        groups: impl IntoIterator<Item = SavedGroup>,
    ) -> Result<Self> {
        let mut live = Self::new(lion, options)?;
        let damaged = |problem: &str| Error::Data(format!("the kept state of the live map {problem}"));
        let aux: Aux = serde_json::from_slice(aux).map_err(|e| damaged(&format!("cannot be read: {e}")))?;
        if ![BY_COUNTS, VERSION].contains(&aux.version) {
            return Err(damaged(&format!(
                "is of version {}, and this build reads version {VERSION}: update lion",
                aux.version
            )));
        }
        if !aux.now.is_finite() {
            return Err(damaged("has a broken time"));
        }
        if aux.last.max(aux.next_group) > MOST_COUNTED {
            return Err(damaged("has more events than can have been"));
        }
        (live.last, live.now) = (aux.last, aux.now);
        let mut groups: Vec<_> = groups.into_iter().map(|group| (group.number, group.cell)).collect();
        groups.sort_unstable();
        live.outliers.resume(&live.lion, &groups, aux.next_group, aux.ring)?;
        let known = aux.alarms.as_ref().map(|alarms| alarms.learned.since.clone()).unwrap_or_default();
        let in_clusters = live.put_back(points, &known)?;
        if let Some(group) = live.outliers.groups().find(|group| group.members.is_empty()) {
            return Err(damaged(&format!("has a group of outliers without members, {}", group.number)));
        }
        live.window.resume(aux.window, in_clusters).map_err(damaged)?;
        if let Some(alarms) = aux.alarms {
            live.resume_alarms(alarms).map_err(damaged)?;
        }
        Ok(live)
    }

    /// Takes kept points, and counts those of each cluster.
    fn put_back(
        &mut self,
        points: impl IntoIterator<Item = (Point, Option<Vec<f32>>)>,
        became: &BTreeMap<u64, u64>,
    ) -> Result<Vec<u64>> {
        let mut in_clusters = vec![0; self.known.clusters.names.len()];
        for (point, row) in points {
            let damaged = |problem: &str| Error::Data(format!("the kept point {:?} {problem}", point.id));
            if point.first == 0 || point.first > point.last || point.last > self.last {
                return Err(damaged("has event numbers that there never were"));
            }
            if point.placement.place.len() != self.lion.map().dims() {
                return Err(damaged("has a place of another number of dimensions than the map"));
            }
            if let Some(cluster) = point.cluster {
                *in_clusters
                    .get_mut(cluster as usize)
                    .ok_or_else(|| damaged("is in no cluster of the map"))? += 1;
            }
            if point.is_outlier() {
                let row = row.ok_or_else(|| damaged("is an outlier, and was kept without its row"))?;
                let row = Matrix::new(1, row.len(), row)?;
                self.lion.map().preprocess().check(&row)?;
                let (row, _) = self.lion.map().preprocess().apply_here(row.data())?;
                let since = became.get(&point.first).copied().unwrap_or(point.first);
                self.outliers.put_back((point.first, since, &point.id), point.placement.group, &row)?;
            }
            let known = self.points.len();
            if self.points.get(&point.id).is_some() {
                return Err(damaged("is there twice"));
            }
            let id = point.id.clone();
            self.points.put(point);
            if self.points.len() == known {
                return Err(Error::Data(format!("the kept point {id:?} has the first event of another")));
            }
        }
        Ok(in_clusters)
    }

    fn resume_alarms(&mut self, alarms: Alarms) -> std::result::Result<(), &'static str> {
        let Alarms { learned, announced } = alarms;
        let clusters = self.known.clusters.names.len();
        let known = announced.vanishing.keys().chain(announced.shifted.keys());
        if !learned.fits(clusters) || known.into_iter().any(|&cluster| cluster as usize >= clusters) {
            return Err("has alarms that do not fit the map's clusters");
        }
        // Another rate of false alarms holds from the next arrivals on.
        self.learned = Learned { limit: self.options.false_alarms.limit(&learned), ..learned };
        self.announced = announced;
        self.link_families();
        self.look_again();
        Ok(())
    }

    /// Lets groups of outliers know the new clusters that they are of.
    pub(super) fn link_families(&mut self) {
        for (&family, known) in &self.announced.forming {
            for &group in &known.groups {
                // Some may have lost all their members.
                if let Some(group) = self.outliers.group_mut(group) {
                    group.family = Some(family);
                }
            }
        }
    }

    /// A number that tells whether two live maps of one map and the same options are in the same state, bit by bit:
    /// those will tell the same of whatever comes.
    pub fn digest(&self) -> u64 {
        let mut hash = Xxh3::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&self.aux());
        for point in self.points.iter() {
            part(&json(point));
            part(bytemuck::cast_slice(self.outliers.row(point.first).unwrap_or(&[])));
        }
        self.outliers.groups().for_each(|group| part(&json(group)));
        hash.digest()
    }
}

/// All fields, floats in full. There are texts, numbers, lists and maps with numbers as keys: nothing that JSON cannot hold.
fn json(state: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(state).unwrap_or_default()
}
