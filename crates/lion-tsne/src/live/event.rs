//! What happened, as one line of JSON says it.

use crate::lion::{Place, PlacedRow, Placement, PlacementColumn, Verdict};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happened. Numbers begin with 1 and have no gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number.
    pub n: u64,
    /// When, in seconds.
    pub t: f64,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

impl Event {
    /// The kind as JSON has it, e.g. `became-outlier`.
    pub fn kind(&self) -> &'static str {
        match &self.what {
            What::Appeared(_) => "appeared",
            What::JoinedGroup(_) => "joined-group",
            What::BecameOutlier(_) => "became-outlier",
            What::Returned(_) => "returned",
            What::ChangedCluster(_) => "changed-cluster",
            What::Moved(_) => "moved",
            What::Stayed(_) => "stayed",
            What::Removed { .. } => "removed",
            What::Forming(_) => "forming",
            What::Dissolved(_) => "dissolved",
            What::Vanishing(_) => "vanishing",
            What::Recovered { .. } => "recovered",
            What::ClusterStale(_) => "cluster-stale",
            What::ClusterFresh(_) => "cluster-fresh",
            What::Stale(_) => "stale",
            What::Fresh(_) => "fresh",
            What::MapUpdated(_) => "map-updated",
            What::Renamed(_) => "renamed",
            What::Notice(_) => "notice",
        }
    }

    /// The point that it is about; alarms are about none.
    pub fn id(&self) -> Option<&str> {
        match &self.what {
            What::Removed { id, .. } => Some(id),
            other => other.sighting().map(|sighting| sighting.id.as_str()),
        }
    }

    /// The point as it is now, if it is there.
    pub fn sighting(&self) -> Option<&Sighting> {
        self.what.sighting()
    }
}

/// What happened. Each change of a point is exactly one of the first eight; the others are alarms and their ends,
/// decided by evidence over many arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// A new point.
    Appeared(Sighting),
    /// A new point or an outlier came to a group of outliers that had members.
    JoinedGroup(Sighting),
    /// A point that belonged somewhere no longer does.
    BecameOutlier(Sighting),
    /// An outlier belongs somewhere.
    Returned(Sighting),
    /// A point is in another cluster than it was.
    ChangedCluster(Sighting),
    /// A point has another place, and nothing more to tell.
    Moved(Sighting),
    /// A point has the place it had.
    Stayed(Sighting),
    /// A point is no longer there.
    Removed {
        /// Which.
        id: String,
        /// As it was.
        from: Before,
    },
    /// Outliers gather: a new cluster. Told once, however many groups of outliers it is.
    Forming(Gathered),
    /// A new cluster gets no more members, or has none any more.
    Dissolved(Gathered),
    /// A cluster no longer has what it had.
    Vanishing(Vanishing),
    /// A cluster that was vanishing is back.
    Recovered {
        /// Its name.
        cluster: String,
        /// What shows it; nothing where its points came back, which are counted.
        #[serde(default)]
        evidence: Evidence,
    },
    /// What arrives in a cluster is no longer like its rows, though few of it are outliers: another class may hide in it.
    ClusterStale(Shifted),
    /// It is again.
    ClusterFresh(Shifted),
    /// What arrives is no longer like the map.
    Stale(Staleness),
    /// It is again.
    Fresh(Staleness),
    /// All points are in another version of the map from now on. Alarms end with it, but for new clusters whose outliers
    /// still are outliers.
    MapUpdated(MapUpdated),
    /// A person called a cluster or a group of outliers otherwise.
    Renamed(Renamed),
    /// A person looked at an alarm.
    Notice(NoticeNoted),
}

impl What {
    fn sighting(&self) -> Option<&Sighting> {
        match self {
            Self::Appeared(s) | Self::JoinedGroup(s) | Self::BecameOutlier(s) | Self::Returned(s) => Some(s),
            Self::ChangedCluster(s) | Self::Moved(s) | Self::Stayed(s) => Some(s),
            _ => None,
        }
    }
}

/// Coordinates as JSON has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapPosition {
    /// The first.
    pub x: f32,
    /// The second.
    pub y: f32,
    /// The third, in maps that have three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f32>,
}

impl From<Place> for MapPosition {
    fn from(place: Place) -> Self {
        let [x, y, z] = place.coordinates;
        Self { x, y, z: (place.dims == 3).then_some(z) }
    }
}

/// A point as it is after a change. As JSON it has the columns of its placement beside each other.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "SightingJson")]
pub struct Sighting {
    /// Its id.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
    /// Where it is, and why.
    pub placement: Placement,
    /// The name of the nearest row of the map.
    pub nearest_id: String,
    /// The name of its cluster.
    pub cluster: Option<String>,
    /// How far it moved on the map; none if it is new.
    pub distance: Option<f64>,
    /// As it was before; none if it is new.
    pub from: Option<Before>,
}

impl Sighting {
    /// Where it is.
    pub fn at(&self) -> MapPosition {
        self.placement.place.into()
    }

    /// As tables have it.
    pub fn row(&self) -> PlacedRow<'_> {
        let (id, nearest_id) = (self.id.as_str().into(), self.nearest_id.as_str().into());
        PlacedRow { id, nearest_id, placement: &self.placement }
    }
}

impl Serialize for Sighting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (row, dims) = (self.row(), self.placement.place.len());
        let mut object = serializer.serialize_map(None)?;
        for column in PlacementColumn::in_events(dims) {
            column.add_to(&mut object, &row)?;
            if column.name == "id" {
                object.serialize_entry("label", &self.label)?;
            }
        }
        object.serialize_entry("cluster", &self.cluster)?;
        object.serialize_entry("distance", &self.distance)?;
        object.serialize_entry("from", &self.from)?;
        object.end()
    }
}

/// The JSON of a sighting: what is of the placement is left to it.
#[derive(Deserialize)]
struct SightingJson {
    id: String,
    label: Option<String>,
    nearest_id: String,
    cluster: Option<String>,
    distance: Option<f64>,
    from: Option<Before>,
    #[serde(flatten)]
    at: MapPosition,
    #[serde(flatten)]
    placement: serde_json::Map<String, Value>,
}

impl TryFrom<SightingJson> for Sighting {
    type Error = serde_json::Error;

    fn try_from(json: SightingJson) -> Result<Self, serde_json::Error> {
        let SightingJson { id, label, nearest_id, cluster, distance, from, at, mut placement } = json;
        let place: Vec<f32> = [Some(at.x), Some(at.y), at.z].into_iter().flatten().collect();
        placement.insert("place".into(), place.into());
        let placement = serde_json::from_value(placement.into())?;
        Ok(Self { id, label, placement, nearest_id, cluster, distance, from })
    }
}

/// A point as it was before a change: enough to undo it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Before {
    /// When it came to be so.
    pub t: f64,
    /// Where it was.
    #[serde(flatten)]
    pub at: MapPosition,
    /// How it had come there.
    pub verdict: Verdict,
    /// From 0 to 1, small is strange.
    pub score: f64,
    /// Its group, if it was an outlier.
    pub group: Option<u64>,
    /// The name of its cluster.
    pub cluster: Option<String>,
    /// Its label.
    pub label: Option<String>,
}

/// What an alarm, or its end, is decided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// How many rows there were.
    pub seen: u64,
    /// Among so many arrivals.
    pub of: u64,
    /// How many were expected of them.
    pub expected: f64,
    /// The sum of e-values over all arrivals at which the change may have begun. Chance alone brings it so high once in
    /// as many arrivals, in the mean, or less often.
    pub e_value: f64,
    /// When these arrivals began; of a new cluster the `t` of the first point that counts for it, which its sender may have set.
    pub since: f64,
}

/// Outliers that are, or were, a new cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewCluster {
    /// The group of the latest member when it was first told. It names the cluster for as long as it is there.
    pub group: u64,
    /// All its groups.
    #[serde(default)]
    pub groups: Vec<u64>,
    /// Its members.
    pub size: u64,
    /// The position of the first of its groups that has members.
    #[serde(flatten)]
    pub at: MapPosition,
    /// The labels that most of its members have, if any has one, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelCount>,
}

/// How many have a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// How many.
    pub count: u64,
}

/// What is told of a new cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// Which.
    #[serde(flatten)]
    pub cluster: NewCluster,
    /// The members that came last, the latest last; at most 20 of them.
    #[serde(default)]
    pub ids: Vec<String>,
    /// What shows it. At the end, how many members came lately.
    #[serde(default)]
    pub evidence: Evidence,
}

/// Scores in a cluster that are no longer those of its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shifted {
    /// Its name.
    pub cluster: String,
    /// Up to this score, `evidence` counts rows.
    pub score: f64,
    /// What shows it.
    pub evidence: Evidence,
}

/// A cluster that no longer has what it had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vanishing {
    /// Its name.
    pub cluster: String,
    /// What was to be expected: arrivals since it was told, or since the evidence began; or points.
    pub expected: f64,
    /// What there is instead.
    pub seen: u64,
    /// What is missing.
    pub why: Why,
    /// What shows it.
    #[serde(default)]
    pub evidence: Evidence,
}

/// What a vanishing cluster lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its share of the arrivals is gone.
    Arrivals,
    /// Its points left.
    Left,
}

crate::named!(Why, "why": Arrivals = "arrivals", Left = "left");

/// How far the arrivals of the window are from being like the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staleness {
    /// From 0, like the map's own rows, to 1, all stranger than any.
    pub staleness: f64,
    /// Arrivals that it is judged by.
    pub arrivals: u64,
    /// Up to this score, `evidence` counts rows.
    #[serde(default)]
    pub score: f64,
    /// What shows it.
    #[serde(default)]
    pub evidence: Evidence,
}

/// Another version of the map, and what is different in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapUpdated {
    /// The version from now on, and the one before. Version 1 is the first map.
    pub version: u64,
    /// The version before.
    pub from: u64,
    /// Whether this goes back to the version that `from` was made of.
    pub reverted: bool,
    /// Who asked for it, if that is known.
    pub who: Option<String>,
    /// The checksum of the map.
    pub checksum: String,
    /// The checksum of the map that it was made of; none of the first.
    pub parent: Option<String>,
    /// Its rows, and how many of them the version before did not have.
    pub rows: u64,
    /// New rows.
    pub added: u64,
    /// Rows that the version before had and this one has not.
    pub removed: u64,
    /// How far rows of both moved, in map radii: the median.
    pub moved_median: Option<f64>,
    /// The same at the 90th percentile.
    pub moved_p90: Option<f64>,
    /// Points that are there.
    pub points: u64,
    /// Points that are rows of the map.
    pub taken_in: u64,
    /// Outliers among the points in the version before.
    pub outliers_before: u64,
    /// Outliers among the points now.
    pub outliers: u64,
    /// The groups that were to be taken in; none if all points were.
    pub groups: Option<Vec<u64>>,
    /// New clusters that go on forming, by the groups that name them.
    #[serde(default)]
    pub still_forming: Vec<u64>,
    /// Whether verdicts promise a share of outliers in the version before but not in this one: the PCA was widened by new
    /// rows, and nothing is known of the map's own rows outside of it.
    #[serde(default)]
    pub calibration_lost: bool,
    /// Clusters that are new, gone or elsewhere.
    pub clusters: ClustersUpdated,
}

/// What became of the clusters of a map in its next version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClustersUpdated {
    /// Those that the version before did not have.
    pub born: Vec<ClusterBorn>,
    /// Those that only the version before had, where they were.
    pub gone: Vec<ClusterGone>,
    /// Those that are elsewhere.
    pub moved: Vec<ClusterMoved>,
    /// Those that have another name than in the version before, with both: clusters that are found by density are numbered.
    #[serde(default)]
    pub renamed: Vec<(String, String)>,
}

/// A cluster that the version before did not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterBorn {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// A place in its middle.
    #[serde(flatten)]
    pub at: MapPosition,
    /// The groups of outliers that most of its new rows were in.
    pub groups: Vec<u64>,
}

/// A cluster that the new version does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterGone {
    /// Its name.
    pub name: String,
    /// The rows that it had.
    pub rows: u64,
    /// Where it was.
    #[serde(flatten)]
    pub at: MapPosition,
}

/// A cluster that is elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterMoved {
    /// Its name.
    pub name: String,
    /// How far its middle moved, in map radii.
    pub distance: f64,
    /// Where it is.
    #[serde(flatten)]
    pub at: MapPosition,
}

/// What a cluster or a group of outliers is called from now on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Renamed {
    /// The cluster, by its name in the map.
    pub cluster: Option<String>,
    /// Or the group of outliers.
    pub group: Option<u64>,
    /// What people call it; none if they no longer do.
    pub title: Option<String>,
    /// What they called it before.
    pub before: Option<String>,
    /// Who says so, if that is known.
    pub who: Option<String>,
}

/// What a person thinks of an alarm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoticeNoted {
    /// The number of the event that told of the alarm.
    pub notice: u64,
    /// What is to become of it.
    pub state: NoticeState,
    /// Who says so, if that is known.
    pub who: Option<String>,
    /// What there is to say of it.
    pub note: Option<String>,
}

/// What has become of an alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoticeState {
    /// Nobody has said anything.
    #[default]
    Open,
    /// Somebody has seen it.
    Acknowledged,
    /// It is of no interest.
    Dismissed,
}

crate::named!(
    NoticeState,
    "state": Open = "open",
    Acknowledged = "acknowledged",
    Dismissed = "dismissed"
);
