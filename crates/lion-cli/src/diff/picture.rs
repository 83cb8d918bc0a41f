//! Two maps as their picture needs them: all rows of both, each once.

use crate::plot::share;
use lion_report::{Morph, MorphChange, Within};
use lion_tsne::diff::{Cluster, ClusterPair, Lineage};
use lion_tsne::{Map, MapDiff};

/// A line is drawn as a strip so many times as long as high.
const STRIP: f64 = 8.0;

/// The rows of both maps: those of B in their order, then those that only A has.
pub(super) struct MorphRows {
    dims: usize,
    from: Vec<f32>,
    to: Vec<f32>,
    matrix: Vec<f64>,
    shift: Vec<f64>,
    within: Vec<Within>,
    ids: Vec<String>,
    labels: Option<Vec<String>>,
    moved: Vec<f64>,
    overlap: Vec<f64>,
    cluster_of: [Vec<Option<u32>>; 2],
    clusters: [Vec<String>; 2],
    changes: Vec<MorphChange>,
    title: String,
}

/// Where a row is in each map.
struct Numbers {
    a: Option<u32>,
    b: Option<u32>,
}

impl MorphRows {
    pub(super) fn new(a: &Map, b: &Map, diff: &MapDiff, names: [&str; 2]) -> Self {
        let mut rows: Vec<Numbers> =
            (0..b.rows() as u32).map(|row| Numbers { a: None, b: Some(row) }).collect();
        diff.rows.iter().for_each(|row| rows[row.b as usize].a = Some(row.a));
        rows.extend(diff.removed.iter().map(|&row| Numbers { a: Some(row), b: None }));
        let mut moved = vec![0.0; rows.len()];
        let mut overlap = vec![0.0; rows.len()];
        for row in &diff.rows {
            (moved[row.b as usize], overlap[row.b as usize]) = (row.moved, row.overlap);
        }
        let places = |map: &Map, number: fn(&Numbers) -> Option<u32>| -> Vec<f32> {
            let none = vec![0.0; map.dims()];
            let place =
                |row: &Numbers| number(row).map_or(none.clone(), |row| map.place(row as usize).to_vec());
            rows.iter().flat_map(place).collect()
        };
        let id = |row: &Numbers| match (row.a, row.b) {
            (_, Some(row)) => b.id(row as usize).into_owned(),
            (Some(row), None) => a.id(row as usize).into_owned(),
            (None, None) => String::new(),
        };
        let clusters = &diff.clusters;
        let of = |of_row: &[Option<u32>], row: Option<u32>| row.and_then(|row| of_row[row as usize]);
        let (matrix, shift) = transform(diff, a.dims());
        let made = Self {
            dims: a.dims(),
            from: places(a, |row| row.a),
            to: places(b, |row| row.b),
            matrix,
            shift,
            within: rows.iter().map(within).collect(),
            ids: rows.iter().map(id).collect(),
            labels: labels(a, b, diff, &rows),
            moved,
            overlap,
            cluster_of: [
                rows.iter().map(|row| of(&clusters.of_row_a, row.a)).collect(),
                rows.iter().map(|row| of(&clusters.of_row_b, row.b)).collect(),
            ],
            clusters: [&clusters.a, &clusters.b].map(|list| list.iter().map(|c| c.name.clone()).collect()),
            changes: changes(diff, a.labels().is_some() || b.labels().is_some()),
            title: format!("{} → {}", names[0], names[1]),
        };
        if made.dims == 1 { made.into_strip() } else { made }
    }

    /// What the report draws.
    pub(super) fn morph<'a>(&'a self, subtitle: &'a str, names: [&'a str; 2]) -> Morph<'a> {
        Morph {
            title: &self.title,
            subtitle,
            names,
            dims: self.dims,
            from: &self.from,
            to: &self.to,
            matrix: &self.matrix,
            shift: &self.shift,
            within: &self.within,
            ids: &self.ids,
            labels: self.labels.as_deref(),
            moved: &self.moved,
            overlap: &self.overlap,
            cluster_of: [&self.cluster_of[0], &self.cluster_of[1]],
            clusters: [&self.clusters[0], &self.clusters[1]],
            changes: &self.changes,
        }
    }

    /// Maps of one dimension as strips. A row is as high in both: how high it is means nothing.
    fn into_strip(self) -> Self {
        let ends = self.to.iter().fold((0.0f32, 0.0f32), |ends, &x| (ends.0.min(x), ends.1.max(x)));
        let height = f64::from(ends.1 - ends.0) / STRIP;
        let scale = self.matrix[0].abs();
        let unit = if scale > 0.0 { scale } else { 1.0 };
        let high = |at: u64| (share(at) - 0.5) * height;
        let strip = |places: &[f32], unit: f64| -> Vec<f32> {
            (0..).zip(places).flat_map(|(at, &x)| [x, (high(at) / unit) as f32]).collect()
        };
        Self {
            dims: 2,
            from: strip(&self.from, unit),
            to: strip(&self.to, 1.0),
            matrix: vec![self.matrix[0], 0.0, 0.0, unit],
            shift: vec![self.shift[0], 0.0],
            ..self
        }
    }
}

fn within(row: &Numbers) -> Within {
    match (row.a, row.b) {
        (Some(_), Some(_)) => Within::Both,
        (Some(_), None) => Within::First,
        _ => Within::Second,
    }
}

/// The similarity as a matrix and a shift.
fn transform(diff: &MapDiff, dims: usize) -> (Vec<f64>, Vec<f64>) {
    let similarity = &diff.similarity;
    let unit = |axis: usize| (0..dims).map(|d| if d == axis { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..dims).map(|axis| similarity.turned(&unit(axis))).collect();
    let matrix = (0..dims * dims).map(|at| columns[at % dims][at / dims]).collect();
    // The origin has nowhere to be turned to, so it is moved by the shift.
    (matrix, similarity.apply(&vec![0.0; dims]).into_iter().map(f64::from).collect())
}

/// What rows are coloured by: their labels, in B or else in A; without any, their clusters in B or else in A.
fn labels(a: &Map, b: &Map, diff: &MapDiff, rows: &[Numbers]) -> Option<Vec<String>> {
    if a.labels().is_some() || b.labels().is_some() {
        let label = |map: &Map, row: Option<u32>| {
            let label = map.labels().zip(row).map(|(labels, row)| labels.get(row as usize).to_owned());
            label.filter(|label| !label.is_empty())
        };
        let both = rows.iter().map(|row| label(b, row.b).or_else(|| label(a, row.a)).unwrap_or_default());
        return Some(both.collect());
    }
    let changes = &diff.clusters;
    let name = |clusters: &[Cluster], of_row: &[Option<u32>], row: Option<u32>| {
        let cluster = row.and_then(|row| of_row[row as usize]);
        cluster.map(|at| format!("cluster {}", clusters[at as usize].name))
    };
    let both = rows.iter().map(|row| match row.b {
        Some(_) => name(&changes.b, &changes.of_row_b, row.b).unwrap_or_default(),
        None => name(&changes.a, &changes.of_row_a, row.a).unwrap_or_default(),
    });
    Some(both.collect())
}

/// What became of clusters, for the list of the page.
fn changes(diff: &MapDiff, are_labels: bool) -> Vec<MorphChange> {
    let changes = &diff.clusters;
    let counted = |rows: usize| format!("{rows} row{}", if rows == 1 { "" } else { "s" });
    let one = |kind: &str, cluster: &Cluster, clusters: [Vec<u32>; 2]| MorphChange {
        kind: kind.to_owned(),
        name: if are_labels { cluster.name.clone() } else { format!("cluster {}", cluster.name) },
        words: String::new(),
        count: counted(cluster.rows),
        only: None,
        clusters,
    };
    let joined = |clusters: &[Cluster], lineage: &Lineage| {
        let names: Vec<&str> =
            lineage.parts.iter().map(|part| clusters[part.cluster as usize].name.as_str()).collect();
        names.join(", ")
    };
    let kept = |kind: &str, pair: &ClusterPair| MorphChange {
        count: format!("{} → {}", changes.a[pair.a as usize].rows, counted(changes.b[pair.b as usize].rows)),
        ..one(kind, &changes.b[pair.b as usize], [vec![pair.a], vec![pair.b]])
    };
    let born = changes.born.iter().map(|&at| MorphChange {
        only: Some(Within::Second),
        ..one("Born", &changes.b[at as usize], [vec![], vec![at]])
    });
    let gone = changes.gone.iter().map(|&at| MorphChange {
        only: Some(Within::First),
        ..one("Gone", &changes.a[at as usize], [vec![at], vec![]])
    });
    let split = changes.split.iter().map(|lineage| MorphChange {
        words: format!("into {}", joined(&changes.b, lineage)),
        ..one("Split", &changes.a[lineage.cluster as usize], [vec![lineage.cluster], vec![]])
    });
    let merged = changes.merged.iter().map(|lineage| MorphChange {
        words: format!("from {}", joined(&changes.a, lineage)),
        ..one("Merged", &changes.b[lineage.cluster as usize], [vec![], vec![lineage.cluster]])
    });
    let grown = changes.grown().map(|pair| kept("Grown", pair));
    let shrunk = changes.shrunk().map(|pair| kept("Shrunk", pair));
    let moved = changes
        .moved()
        .map(|pair| MorphChange { count: format!("by {:.2} map radii", pair.moved), ..kept("Moved", pair) });
    born.chain(gone).chain(split).chain(merged).chain(grown).chain(shrunk).chain(moved).collect()
}
