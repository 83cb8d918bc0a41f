//! Which clusters came, went, split, merged, grew, shrank and moved.
//!
//! Clusters of both maps are found by density, as those of a live map without labels are: labels alone would hide a cluster
//! that split. Where a map has labels, a cluster is called by the label that most of its rows have.

use super::SharedRow;
use crate::density;
use crate::kd_tree::KdTree;
use crate::live::MOST_LABELS;
use crate::map::Map;
use crate::similarity::Similarity;
use std::collections::{BTreeMap, HashMap, HashSet};

/// This share of the rows that both maps have makes one cluster the continuation of another.
const MOST_OF: f64 = 0.5;
/// A part of a cluster that split, or that others merged into, has at least this share of its rows.
const PART: f64 = 0.2;
/// A cluster grew if it has so many times the rows.
const GROWTH: f64 = 1.25;
/// A cluster moved if its middle did by so many map radii.
const MOVED: f64 = 0.25;

/// A cluster of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The label that most of its rows have; without labels a number. A cluster of B that continues one of A has its
    /// number.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// How many of them the other map has too.
    pub shared: usize,
}

/// A cluster that is a part of one in the other map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterPart {
    /// The cluster.
    pub cluster: u32,
    /// How many rows both have in common.
    pub rows: usize,
}

/// One cluster and several of the other map.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineage {
    /// The one that split, or that others merged into.
    pub cluster: u32,
    /// The others, largest first.
    pub parts: Vec<ClusterPart>,
}

/// A cluster that both maps have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterPair {
    /// Its number in A.
    pub a: u32,
    /// Its number in B.
    pub b: u32,
    /// How many rows both have in common.
    pub rows: usize,
    /// How far the middle of these rows moved, in map radii of B.
    pub moved: f64,
}

/// The clusters of two maps, and what became of them. Clusters are numbered from 0, the largest first.
///
/// What became of a cluster is decided by the rows that both maps have. A cluster of A *continues in* a cluster of B that
/// has at least half of its rows that B has. A cluster of B *comes from* a cluster of A that has at least half of its rows
/// that A has.
///
/// | word | is |
/// |---|---|
/// | born | a cluster of B in which none of A continues, and fewer than half of whose rows were in clusters of A, or which comes from none |
/// | gone | a cluster of A from which none of B comes, and fewer than half of whose rows are in clusters of B, or which continues in none |
/// | split | a cluster of A from which two or more of B come, each with at least a fifth of its rows that B has |
/// | merged | a cluster of B in which two or more of A continue, each with at least a fifth of its rows that A has |
/// | kept | a cluster of A that continues in one of B that comes from it, and neither split nor merged |
/// | grown, shrunk | kept, and the larger one has at least 1.25 times the rows |
/// | moved | kept, and the middle of the rows that both have moved by at least a quarter of a map radius |
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterChanges {
    /// The clusters of A.
    pub a: Vec<Cluster>,
    /// The clusters of B.
    pub b: Vec<Cluster>,
    /// The cluster of each row of A, if it is in one.
    pub of_row_a: Vec<Option<u32>>,
    /// The cluster of each row of B, if it is in one.
    pub of_row_b: Vec<Option<u32>>,
    /// Clusters of B that A does not have.
    pub born: Vec<u32>,
    /// Clusters of A that B does not have.
    pub gone: Vec<u32>,
    /// Clusters of A that became several.
    pub split: Vec<Lineage>,
    /// Clusters of B that were several.
    pub merged: Vec<Lineage>,
    /// Clusters that both maps have.
    pub kept: Vec<ClusterPair>,
}

/// How many rows went from a cluster of A to one of B, none of them 0.
type Flows = BTreeMap<(u32, u32), usize>;

/// Which clusters continue in which, and come from which.
struct Links {
    /// For each cluster of A those of B that come from it.
    from_a: Vec<Vec<ClusterPart>>,
    /// For each cluster of B those of A that continue in it.
    into_b: Vec<Vec<ClusterPart>>,
    /// Whether each of A continues in any, and each of B comes from any.
    continues: Vec<bool>,
    comes: Vec<bool>,
    /// How many rows of each are in clusters of the other map.
    inside_a: Vec<usize>,
    inside_b: Vec<usize>,
    /// Pairs that are linked both ways.
    both: Vec<ClusterPair>,
}

impl Links {
    fn new(a: &[Cluster], b: &[Cluster], flows: &Flows) -> Self {
        let mut links = Self {
            from_a: vec![Vec::new(); a.len()],
            into_b: vec![Vec::new(); b.len()],
            continues: vec![false; a.len()],
            comes: vec![false; b.len()],
            inside_a: vec![0; a.len()],
            inside_b: vec![0; b.len()],
            both: Vec::new(),
        };
        for (&(a_number, b_number), &rows) in flows {
            let (i, j) = (a_number as usize, b_number as usize);
            links.inside_a[i] += rows;
            links.inside_b[j] += rows;
            let is_most = |cluster: &Cluster| rows as f64 >= MOST_OF * cluster.shared as f64;
            let (continues, comes) = (is_most(&a[i]), is_most(&b[j]));
            if continues {
                links.continues[i] = true;
                links.into_b[j].push(ClusterPart { cluster: a_number, rows });
            }
            if comes {
                links.comes[j] = true;
                links.from_a[i].push(ClusterPart { cluster: b_number, rows });
            }
            if continues && comes {
                links.both.push(ClusterPair { a: a_number, b: b_number, rows, moved: 0.0 });
            }
        }
        links
    }
}

impl ClusterChanges {
    pub(super) fn new(
        [a, b]: [&Map; 2],
        trees: &[KdTree; 2],
        rows: &[SharedRow],
        similarity: &Similarity,
        unit: f64,
    ) -> Self {
        let (count_a, of_row_a) = found(a, &trees[0]);
        let (count_b, of_row_b) = found(b, &trees[1]);
        let mut made = Self {
            a: sizes(count_a, &of_row_a),
            b: sizes(count_b, &of_row_b),
            of_row_a,
            of_row_b,
            born: Vec::new(),
            gone: Vec::new(),
            split: Vec::new(),
            merged: Vec::new(),
            kept: Vec::new(),
        };
        let flows = made.flows(rows);
        made.compare(&flows);
        made.measure([a, b], rows, similarity, unit);
        made.call([a, b]);
        made
    }

    /// The clusters that grew.
    pub fn grown(&self) -> impl Iterator<Item = &ClusterPair> {
        self.kept.iter().filter(|pair| self.growth(pair) >= GROWTH)
    }

    /// The clusters that shrank.
    pub fn shrunk(&self) -> impl Iterator<Item = &ClusterPair> {
        self.kept.iter().filter(|pair| self.growth(pair) <= 1.0 / GROWTH)
    }

    /// The clusters that moved.
    pub fn moved(&self) -> impl Iterator<Item = &ClusterPair> {
        self.kept.iter().filter(|pair| pair.moved >= MOVED)
    }

    fn growth(&self, pair: &ClusterPair) -> f64 {
        self.b[pair.b as usize].rows as f64 / self.a[pair.a as usize].rows.max(1) as f64
    }

    /// How many rows went from each cluster of A to each of B; counts shared rows on the way.
    fn flows(&mut self, rows: &[SharedRow]) -> Flows {
        let mut flows = Flows::new();
        for row in rows {
            let (from, to) = (self.of_row_a[row.a as usize], self.of_row_b[row.b as usize]);
            from.iter().for_each(|&i| self.a[i as usize].shared += 1);
            to.iter().for_each(|&j| self.b[j as usize].shared += 1);
            if let (Some(i), Some(j)) = (from, to) {
                *flows.entry((i, j)).or_insert(0) += 1;
            }
        }
        flows
    }

    /// What became of each, by the flows.
    fn compare(&mut self, flows: &Flows) {
        let mut links = Links::new(&self.a, &self.b, flows);
        let few = |inside: usize, cluster: &Cluster| (inside as f64) < MOST_OF * cluster.rows as f64;
        let is_born = |j: usize| few(links.inside_b[j], &self.b[j]) || !links.comes[j];
        let is_gone = |i: usize| few(links.inside_a[i], &self.a[i]) || !links.continues[i];
        let all = |count: usize| 0..count as u32;
        self.born = all(self.b.len())
            .filter(|&j| links.into_b[j as usize].is_empty() && is_born(j as usize))
            .collect();
        self.gone = all(self.a.len())
            .filter(|&i| links.from_a[i as usize].is_empty() && is_gone(i as usize))
            .collect();
        // What is new is no part of what was there before, though a few of its rows are.
        links.from_a.iter_mut().for_each(|parts| parts.retain(|part| !self.born.contains(&part.cluster)));
        links.into_b.iter_mut().for_each(|parts| parts.retain(|part| !self.gone.contains(&part.cluster)));
        self.split = lineages(&links.from_a, &self.a);
        self.merged = lineages(&links.into_b, &self.b);
        let is_one_of = |lineages: &[Lineage], cluster: u32| lineages.iter().any(|l| l.cluster == cluster);
        let is_kept =
            |pair: &ClusterPair| !is_one_of(&self.split, pair.a) && !is_one_of(&self.merged, pair.b);
        // With exact halves a cluster has two partners; the first, which is the larger, counts.
        let (mut seen_a, mut seen_b) = (HashSet::new(), HashSet::new());
        links.both.retain(|pair| is_kept(pair) && seen_a.insert(pair.a) & seen_b.insert(pair.b));
        self.kept = links.both;
    }

    /// How far the middle of each kept cluster's shared rows moved.
    fn measure(&mut self, [a, b]: [&Map; 2], rows: &[SharedRow], similarity: &Similarity, unit: f64) {
        let pair_of: HashMap<(u32, u32), usize> =
            self.kept.iter().enumerate().map(|(at, pair)| ((pair.a, pair.b), at)).collect();
        let mut shifts = vec![[0.0; 3]; self.kept.len()];
        for row in rows {
            let (from, to) = (self.of_row_a[row.a as usize], self.of_row_b[row.b as usize]);
            let Some(&at) = from.zip(to).and_then(|key| pair_of.get(&key)) else { continue };
            let mut brought = [0.0; 3];
            similarity.apply_into(a.place(row.a as usize), &mut brought[..a.dims()]);
            let places = brought.iter().zip(b.place(row.b as usize));
            shifts[at].iter_mut().zip(places).for_each(|(sum, (p, q))| *sum += f64::from(*q) - f64::from(*p));
        }
        for (pair, shift) in self.kept.iter_mut().zip(shifts) {
            let length = shift.iter().map(|part| part * part).sum::<f64>().sqrt();
            pair.moved = length / (pair.rows.max(1) as f64 * unit);
        }
    }

    /// Gives names: by label, else by number.
    fn call(&mut self, [a, b]: [&Map; 2]) {
        let numbered = |count: usize| (1..=count).map(|number: usize| number.to_string()).collect::<Vec<_>>();
        let names_a = by_label(a, &self.of_row_a, self.a.len()).unwrap_or_else(|| numbered(self.a.len()));
        let names_b = by_label(b, &self.of_row_b, self.b.len()).unwrap_or_else(|| {
            let mut names = vec![String::new(); self.b.len()];
            self.kept.iter().for_each(|pair| names[pair.b as usize] = names_a[pair.a as usize].clone());
            let mut next = self.a.len();
            for name in names.iter_mut().filter(|name| name.is_empty()) {
                next += 1;
                *name = next.to_string();
            }
            names
        });
        self.a.iter_mut().zip(names_a).for_each(|(cluster, name)| cluster.name = name);
        self.b.iter_mut().zip(names_b).for_each(|(cluster, name)| cluster.name = name);
    }
}

/// The clusters of a map by density: how many, and the one of each row.
fn found(map: &Map, tree: &KdTree) -> (usize, Vec<Option<u32>>) {
    let (count, of_place) = density::clusters(map.y(), tree);
    (count, (0..map.rows()).map(|row| of_place[map.distinct(row)]).collect())
}

fn sizes(count: usize, of_row: &[Option<u32>]) -> Vec<Cluster> {
    let mut clusters = vec![Cluster { name: String::new(), rows: 0, shared: 0 }; count];
    of_row.iter().flatten().for_each(|&cluster| clusters[cluster as usize].rows += 1);
    clusters
}

/// Those with two or more parts that are large enough beside their shared rows.
fn lineages(parts: &[Vec<ClusterPart>], clusters: &[Cluster]) -> Vec<Lineage> {
    let lineage = |(cluster, (parts, whole)): (u32, (&Vec<ClusterPart>, &Cluster))| {
        let is_part = |part: &ClusterPart| part.rows as f64 >= PART * whole.shared as f64;
        let mut parts: Vec<ClusterPart> = parts.iter().copied().filter(is_part).collect();
        parts.sort_by_key(|part| (std::cmp::Reverse(part.rows), part.cluster));
        (parts.len() > 1).then_some(Lineage { cluster, parts })
    };
    (0..).zip(parts.iter().zip(clusters)).filter_map(lineage).collect()
}

/// The label that most rows of each cluster have; a second cluster of that name is called `name (2)`. Nothing where a map has
/// no labels, or so many that they name rows.
fn by_label(map: &Map, of_row: &[Option<u32>], count: usize) -> Option<Vec<String>> {
    let labels = map.labels().filter(|labels| labels.names().len() <= MOST_LABELS)?;
    let mut votes: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); count];
    for (cluster, code) in of_row.iter().zip(labels.codes()) {
        if let Some(cluster) = cluster {
            *votes[*cluster as usize].entry(*code).or_insert(0) += 1;
        }
    }
    let known: Vec<&str> = labels.names().collect();
    let mut used: HashMap<&str, usize> = HashMap::new();
    let name = |votes: &BTreeMap<u32, usize>| {
        let most = votes.iter().max_by_key(|(code, rows)| (**rows, std::cmp::Reverse(**code)));
        let label = most.map_or("", |(code, _)| known[*code as usize]);
        let label = if label.is_empty() { "unlabelled" } else { label };
        let times = used.entry(label).or_insert(0);
        *times += 1;
        if *times == 1 { label.to_owned() } else { format!("{label} ({times})") }
    };
    Some(votes.iter().map(name).collect())
}
