//! Names of clusters, written on a map.

use serde_json::{Value, json};

/// The name of a cluster, where it stands, and at which levels of detail it is shown.
#[derive(Debug, Clone)]
pub struct ClusterName {
    /// The number of the cluster, unique among those of all levels.
    pub id: u32,
    /// What it is called.
    pub name: String,
    /// The point in the middle of it.
    pub anchor: u32,
    /// How many points it has.
    pub size: usize,
    /// The first and the last level that has it, from 0, the coarsest, which is all that still pictures show.
    pub levels: [usize; 2],
    /// What the page tells of it, a JSON object as `lion explain --json` has it; null if nothing.
    pub card: Value,
}

impl ClusterName {
    /// As the page reads it.
    pub(crate) fn json(&self) -> Value {
        let Self { id, name, anchor, size, levels, card } = self;
        json!({ "id": id, "name": name, "anchor": anchor, "size": size, "levels": levels, "card": card })
    }
}
