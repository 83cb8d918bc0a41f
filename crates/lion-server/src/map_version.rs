//! A version of the map, ready for placing.

use crate::store::{StoreError, VersionRecord, map_file};
use lion_tsne::live::{Clusters, Live, LiveOptions};
use lion_tsne::{Lion, LionOptions, Map};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A version of the map that points are in. It never changes.
#[derive(Clone)]
pub struct MapVersion {
    /// Which it is, and of which it was made.
    pub record: VersionRecord,
    /// The map.
    pub lion: Arc<Lion>,
    /// Its clusters.
    pub clusters: Arc<Clusters>,
}

impl MapVersion {
    /// The version that a live map is of.
    pub(crate) fn new(record: VersionRecord, live: &Live) -> Self {
        Self { record, lion: live.lion().clone(), clusters: Arc::new(live.clusters().clone()) }
    }

    /// Reads a version from its file beside the store.
    pub(crate) fn load(
        store: &Path,
        record: &VersionRecord,
        placing: &LionOptions,
    ) -> Result<Arc<Lion>, StoreError> {
        let path = map_file(store, record.version);
        let missing = |problem: String| StoreError::Io {
            path: path.clone(),
            problem: format!(
                "version {} of the map cannot be read ({problem}): bring it back from a copy",
                record.version
            ),
        };
        let map = Map::load_whole(&path).map_err(|e| missing(e.to_string()))?;
        let checksum = map.checksum()?;
        if checksum != record.checksum {
            return Err(missing(format!("its checksum is {checksum} and should be {}", record.checksum)));
        }
        Ok(Arc::new(Lion::new(map, placing)?))
    }

    /// The same, with its clusters.
    pub(crate) fn open(
        store: &Path,
        record: VersionRecord,
        placing: &LionOptions,
    ) -> Result<Self, StoreError> {
        let lion = Self::load(store, &record, placing)?;
        Ok(Self::new(record, &Live::new(lion, LiveOptions::default())?))
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.record.version
    }

    /// The id that the row of a point has, if it is one.
    pub(crate) fn row_id(&self, point: &str) -> String {
        format!("{}{point}", self.record.prefix)
    }
}

/// The map of a version: the file `given`, that beside the store which is the version's own, or another map file in the
/// store's folder. Which it is tells its checksum.
pub(crate) fn find_map(
    store: &Path,
    version: &VersionRecord,
    given: Option<&Path>,
) -> Result<Map, StoreError> {
    let mut files: Vec<PathBuf> = given.map(Path::to_path_buf).into_iter().collect();
    files.push(map_file(store, version.version));
    files.extend(maps_beside(store));
    for file in files {
        // A file that is no map, or is not there, is not the one.
        let Ok(map) = Map::load(&file) else { continue };
        if map.checksum()? == version.checksum {
            return Ok(map);
        }
    }
    let VersionRecord { version, checksum, .. } = version.clone();
    Err(StoreError::NoMap { path: store.into(), version, checksum })
}

/// The map files in the folder of a store, by name.
fn maps_beside(store: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(lion_replace::folder_of(store)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("lion")));
    files.sort_unstable();
    files
}
