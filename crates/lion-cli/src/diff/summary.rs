//! What there is to say about two maps, as JSON keys and in words.

use crate::args::DiffArgs;
use crate::summary::{Facts, counted};
use lion_tsne::diff::{Cluster, ClusterPair, Lineage};
use lion_tsne::{Map, MapDiff};
use serde::Serialize;
use std::path::Path;

/// Clusters of a kind that are named in words; more are counted.
const NAMED: usize = 6;

/// The JSON object.
#[derive(Debug, Serialize)]
pub(super) struct DiffSummary {
    file_a: String,
    file_b: String,
    rows_a: usize,
    rows_b: usize,
    /// Rows that both maps have, that only B has, and that only A has.
    shared: usize,
    added: usize,
    removed: usize,
    /// Map radii of B, as all distances here.
    moved_median: f64,
    moved_p90: f64,
    moved_max: f64,
    overlap_mean: f64,
    /// How many nearest rows the overlap is of.
    neighbours: usize,
    /// The transform that brings A onto B.
    scale: f64,
    mirrored: bool,
    clusters_a: usize,
    clusters_b: usize,
    clusters: ClusterSummary,
    /// Null where it is not known.
    kl_a: Option<f64>,
    kl_b: Option<f64>,
    /// The mean share of the 10 nearest places that carry the row's label; null without labels.
    label_share_a: Option<f64>,
    label_share_b: Option<f64>,
    /// The share of the 10 nearest rows of the data that are among the 10 nearest places.
    neighbours_kept_a: Option<f64>,
    neighbours_kept_b: Option<f64>,
    seconds: f64,
    /// What was written.
    files: Vec<String>,
    #[serde(skip)]
    names: [String; 2],
}

/// What became of clusters. `id` counts from 1 in the cluster's own map, the largest first.
#[derive(Debug, Serialize)]
pub(super) struct ClusterSummary {
    born: Vec<OneCluster>,
    gone: Vec<OneCluster>,
    split: Vec<SplitCluster>,
    merged: Vec<MergedCluster>,
    grown: Vec<KeptCluster>,
    shrunk: Vec<KeptCluster>,
    moved: Vec<KeptCluster>,
}

#[derive(Debug, Serialize)]
struct OneCluster {
    name: String,
    id: u32,
    rows: usize,
    /// Rows of it that the other map has.
    shared: usize,
}

#[derive(Debug, Serialize)]
struct PartCluster {
    name: String,
    id: u32,
    rows: usize,
    /// Rows that it has in common with the whole.
    common: usize,
}

#[derive(Debug, Serialize)]
struct SplitCluster {
    name: String,
    id: u32,
    rows: usize,
    into: Vec<PartCluster>,
}

#[derive(Debug, Serialize)]
struct MergedCluster {
    name: String,
    id: u32,
    rows: usize,
    from: Vec<PartCluster>,
}

#[derive(Debug, Serialize)]
struct KeptCluster {
    name: String,
    id_a: u32,
    id_b: u32,
    rows_a: usize,
    rows_b: usize,
    common: usize,
    moved: f64,
}

impl DiffSummary {
    pub(super) fn new(a: &Map, b: &Map, diff: &MapDiff, args: &DiffArgs) -> Self {
        Self {
            file_a: args.a.display().to_string(),
            file_b: args.b.display().to_string(),
            rows_a: a.rows(),
            rows_b: b.rows(),
            shared: diff.rows.len(),
            added: diff.added.len(),
            removed: diff.removed.len(),
            moved_median: diff.moved_quantile(0.5),
            moved_p90: diff.moved_quantile(0.9),
            moved_max: diff.moved_quantile(1.0),
            overlap_mean: diff.overlap_mean(),
            neighbours: diff.neighbours,
            scale: diff.similarity.scale,
            mirrored: diff.similarity.mirrored,
            clusters_a: diff.clusters.a.len(),
            clusters_b: diff.clusters.b.len(),
            clusters: ClusterSummary::new(diff),
            kl_a: diff.a.kl,
            kl_b: diff.b.kl,
            label_share_a: diff.a.label_share,
            label_share_b: diff.b.label_share,
            neighbours_kept_a: diff.a.neighbours_kept,
            neighbours_kept_b: diff.b.neighbours_kept,
            seconds: 0.0,
            files: args.output.iter().map(|file| file.path().display().to_string()).collect(),
            names: names(&args.a, &args.b),
        }
    }

    pub(super) fn took(self, seconds: f64) -> Self {
        Self { seconds, ..self }
    }

    /// What the maps are called: their files without the ending, with their folders where that is all that differs.
    pub(super) fn names(&self) -> [&str; 2] {
        [&self.names[0], &self.names[1]]
    }

    /// The most important numbers in a line.
    pub(super) fn headline(&self) -> String {
        format!(
            "Half of the rows moved by at most {} map radii, 9 of 10 by at most {}; neighbour overlap {}",
            short(self.moved_median),
            short(self.moved_p90),
            short(self.overlap_mean)
        )
    }

    pub(super) fn in_words(&self) -> String {
        let mut facts = Facts::default();
        let only = |rows: usize, file: &str| format!("{rows} only in {file}");
        facts.add(
            "rows",
            format!(
                "{} in both, {}, {}",
                self.shared,
                only(self.removed, &self.file_a),
                only(self.added, &self.file_b)
            ),
        );
        facts.add(
            "moved",
            format!(
                "half by at most {}, 9 of 10 by at most {}, the farthest by {} map radii",
                short(self.moved_median),
                short(self.moved_p90),
                short(self.moved_max)
            ),
        );
        let of = format!("the mean overlap of {} nearest rows, by id", self.neighbours);
        facts.add("neighbours", format!("{}, {of}", short(self.overlap_mean)));
        let mirrored = if self.mirrored { ", mirrored" } else { "" };
        facts.add("aligned by", format!("scale {:.3}{mirrored}", self.scale));
        self.clusters.add_to(&mut facts, self.clusters_a, self.clusters_b);
        let both = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (None, None) => None,
            _ => Some(
                [a, b]
                    .map(|value| value.map_or("not known".into(), |value| format!("{value:.4}")))
                    .join(" → "),
            ),
        };
        for (name, values) in [
            ("KL divergence", both(self.kl_a, self.kl_b)),
            ("label share", both(self.label_share_a, self.label_share_b)),
            ("neighbours kept", both(self.neighbours_kept_a, self.neighbours_kept_b)),
        ] {
            values.into_iter().for_each(|values| facts.add(name, values));
        }
        facts.add("seconds", format!("{:.2}", self.seconds));
        if self.files.is_empty() {
            let next = format!("next: lion diff {} {} -o diff.html\n", self.file_a, self.file_b);
            return facts.lines() + "\n" + &next;
        }
        facts.add("files", self.files.join(", "));
        facts.lines()
    }
}

impl ClusterSummary {
    fn new(diff: &MapDiff) -> Self {
        let changes = &diff.clusters;
        let one = |clusters: &[Cluster], at: u32| {
            let Cluster { name, rows, shared } = clusters[at as usize].clone();
            OneCluster { name, id: at + 1, rows, shared }
        };
        let parts = |clusters: &[Cluster], lineage: &Lineage| {
            let part = |part: &lion_tsne::diff::ClusterPart| {
                let OneCluster { name, id, rows, .. } = one(clusters, part.cluster);
                PartCluster { name, id, rows, common: part.rows }
            };
            lineage.parts.iter().map(part).collect()
        };
        let kept = |pair: &ClusterPair| KeptCluster {
            name: changes.b[pair.b as usize].name.clone(),
            id_a: pair.a + 1,
            id_b: pair.b + 1,
            rows_a: changes.a[pair.a as usize].rows,
            rows_b: changes.b[pair.b as usize].rows,
            common: pair.rows,
            moved: pair.moved,
        };
        let split = |lineage: &Lineage| {
            let OneCluster { name, id, rows, .. } = one(&changes.a, lineage.cluster);
            SplitCluster { name, id, rows, into: parts(&changes.b, lineage) }
        };
        let merged = |lineage: &Lineage| {
            let OneCluster { name, id, rows, .. } = one(&changes.b, lineage.cluster);
            MergedCluster { name, id, rows, from: parts(&changes.a, lineage) }
        };
        Self {
            born: changes.born.iter().map(|&at| one(&changes.b, at)).collect(),
            gone: changes.gone.iter().map(|&at| one(&changes.a, at)).collect(),
            split: changes.split.iter().map(split).collect(),
            merged: changes.merged.iter().map(merged).collect(),
            grown: changes.grown().map(kept).collect(),
            shrunk: changes.shrunk().map(kept).collect(),
            moved: farthest_first(changes.moved().map(kept).collect()),
        }
    }

    fn add_to(&self, facts: &mut Facts, a: usize, b: usize) {
        facts.add("clusters", format!("{a} → {b}, found by density"));
        let one = |cluster: &OneCluster| format!("{} ({})", cluster.name, counted(cluster.rows, "row"));
        let listed = |parts: &[PartCluster]| {
            parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let sizes =
            |kept: &KeptCluster| format!("{} ({} → {})", kept.name, kept.rows_a, counted(kept.rows_b, "row"));
        let lists: [(&'static str, Vec<String>); 7] = [
            ("  born", self.born.iter().map(one).collect()),
            ("  gone", self.gone.iter().map(one).collect()),
            ("  split", self.split.iter().map(|s| format!("{} into {}", s.name, listed(&s.into))).collect()),
            (
                "  merged",
                self.merged.iter().map(|m| format!("{} into {}", listed(&m.from), m.name)).collect(),
            ),
            ("  grown", self.grown.iter().map(sizes).collect()),
            ("  shrunk", self.shrunk.iter().map(sizes).collect()),
            ("  moved", self.moved.iter().map(|k| format!("{} by {}", k.name, short(k.moved))).collect()),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let more = list.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            facts.add(name, list[..list.len().min(NAMED)].join("; ") + &more);
        }
    }
}

fn farthest_first(mut clusters: Vec<KeptCluster>) -> Vec<KeptCluster> {
    clusters.sort_by(|a, b| b.moved.total_cmp(&a.moved).then(a.id_b.cmp(&b.id_b)));
    clusters
}

/// Two digits after the point, and no more than there are.
fn short(value: f64) -> String {
    match value {
        v if v != 0.0 && v < 0.01 => format!("{v:.4}"),
        v => format!("{v:.2}"),
    }
}

fn names(a: &Path, b: &Path) -> [String; 2] {
    let stem = |path: &Path| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    match stem(a) != stem(b) {
        true => [a, b].map(stem),
        false => [a, b].map(|path| path.display().to_string()),
    }
}
