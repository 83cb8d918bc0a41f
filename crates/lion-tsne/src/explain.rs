//! What is this cluster? The columns, words and rows that set clusters of a map apart, and names made of them.
//!
//! Clusters are the labels of a map, or what lies together on it, at one to three levels of detail. Each is compared with
//! all other rows: numbers by the difference of their means in standard deviations of the column, categories by the
//! difference of their shares in the same way, texts by words ([`Keyword`]). Nothing here is a test of significance:
//! clusters were found in the same rows, and a standard error says how well a mean is known, no more.

mod borders;
mod column;
mod effects;
mod groups;
mod keywords;
mod names;
mod of_map;
mod selection;
mod summary;
mod typical;
mod words;

pub use column::{Column, GAP, Values, leave_out_labels, text_from};
pub use effects::{Contrast, Effect};
pub use of_map::map_columns;
pub use selection::{explain_points, explain_selection};
pub use summary::{ClusterSummary, ColumnSummary, ExplainSummary, percent};

use crate::density;
use crate::error::{Error, Result};
use crate::kd_tree::KdTree;
use crate::live::{Clusters, central_rows};
use crate::map::Map;
use groups::Groups;
use keywords::Texts;
use serde::Serialize;
use std::borrow::Cow;

/// Where clusters come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterSource {
    /// Labels if the map has them, else density.
    #[default]
    Auto,
    /// The labels of the map.
    Labels,
    /// How densely rows lie on the map.
    Density,
}

crate::named!(ClusterSource, "source of clusters": Auto = "auto", Labels = "labels", Density = "density");

/// How much is told of each cluster.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// Where clusters come from.
    pub by: ClusterSource,
    /// Columns at most.
    pub columns: usize,
    /// Keywords at most.
    pub keywords: usize,
    /// Typical rows at most.
    pub typical: usize,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { by: ClusterSource::Auto, columns: 8, keywords: 10, typical: 5 }
    }
}

/// A word that the texts of a cluster have more often than others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Keyword {
    /// The word, in lower case.
    pub word: String,
    /// The share of the cluster's rows that have it.
    pub share: f64,
    /// The share of all other rows.
    pub share_outside: f64,
    /// The standard error of the difference of both.
    pub error: f64,
    /// Class-based TF-IDF: the order of keywords.
    pub score: f64,
}

/// A cluster beside another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Border {
    /// The other one, by its id.
    pub cluster: u32,
    /// The share of the nearest places of the cluster's rows that are in the other; 0 where a gap lies between them.
    pub share: f64,
}

/// What is known of one cluster, or of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedCluster {
    /// Its number, from 0, unique among the clusters of all levels.
    pub id: u32,
    /// The level of detail at which it first appears, from 0, the coarsest.
    pub level: usize,
    /// The cluster of the level before that it is a part of.
    pub parent: Option<u32>,
    /// What it is called; no two clusters of an explanation have the same name.
    pub name: String,
    /// How many rows it has.
    pub size: usize,
    /// The label that most of its rows have, and their share.
    pub label: Option<(String, f64)>,
    /// Columns that set it apart, the strongest first.
    pub columns: Vec<Effect>,
    /// Words that set its texts apart, the strongest first.
    pub keywords: Vec<Keyword>,
    /// The rows nearest to its mean, nearest first.
    pub typical: Vec<u32>,
    /// Clusters of the same level beside it, the one with the longest border first.
    pub borders: Vec<Border>,
    /// The row in the middle of it on the map: where its name goes.
    pub centre: u32,
}

impl ExplainedCluster {
    /// Whether anything is known of it that its name could be made of. `cluster (2)` says nothing.
    pub fn is_named(&self) -> bool {
        !self.keywords.is_empty() || self.label.is_some() || !self.name.starts_with("cluster")
    }
}

/// The clusters of a map, explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// All clusters: those of the coarsest level first. One that stays the same at the next level is told once.
    pub clusters: Vec<ExplainedCluster>,
    /// For each level, the coarsest first, the cluster of each row, if it is in one.
    pub levels: Vec<Vec<Option<u32>>>,
    /// The level of what density alone says, neither merged for an overview nor divided further.
    pub usual: usize,
    /// Whether clusters are the labels of the map.
    pub from_labels: bool,
}

impl Explanation {
    /// The clusters of a level, largest first.
    pub fn of_level(&self, level: usize) -> Vec<&ExplainedCluster> {
        let mut shown = vec![false; self.clusters.len()];
        self.levels[level].iter().flatten().for_each(|&id| shown[id as usize] = true);
        let mut clusters: Vec<_> =
            self.clusters.iter().filter(|cluster| shown[cluster.id as usize]).collect();
        clusters.sort_by_key(|cluster| (std::cmp::Reverse(cluster.size), cluster.id));
        clusters
    }
}

/// Explains the clusters of a map by columns with a value for each of its rows.
pub fn explain(map: &Map, columns: &[Column<'_>], options: &ExplainOptions) -> Result<Explanation> {
    check(map, columns)?;
    let tree = KdTree::new(map.y().data(), map.dims());
    let (numbered, usual, label_names) = clusters_of(map, &tree, options.by)?;
    let from_labels = label_names.is_some();
    let Hierarchy { levels, first_level, parents } = Hierarchy::new(numbered);
    let groups = Groups::of_levels(&levels, first_level.len());
    let mut effects = effects::effects(columns, &groups, options.columns);
    let written = written(columns);
    let texts = written.map(Texts::new);
    let mut keywords = vec![Vec::new(); groups.count()];
    for (level, of_row) in levels.iter().enumerate() {
        let Some(texts) = &texts else { break };
        // Words are weighed by the classes of one level; a cluster is told at the first level that has it.
        let of_level = Groups::new(of_row, groups.count());
        let found = texts.keywords(&of_level, options.keywords);
        for (id, words) in found.into_iter().enumerate().filter(|(id, _)| first_level[*id] == level) {
            keywords[id] = words;
        }
    }
    let mut borders = borders::borders(map, &tree, &levels, &groups, &first_level);
    let mut typical = typical::typical(map, &groups, options.typical);
    let centres = central_rows(map, groups.members());
    let mut clusters: Vec<ExplainedCluster> = (0..groups.count())
        .map(|id| ExplainedCluster {
            id: id as u32,
            level: first_level[id],
            parent: parents[id],
            name: String::new(),
            size: groups.members()[id].len(),
            label: majority(map, &groups.members()[id]),
            columns: std::mem::take(&mut effects[id]),
            keywords: std::mem::take(&mut keywords[id]),
            typical: std::mem::take(&mut typical[id]),
            borders: std::mem::take(&mut borders[id]),
            centre: centres[id],
        })
        .collect();
    names::name(&mut clusters, label_names.as_deref(), written);
    Ok(Explanation { clusters, levels, usual, from_labels })
}

/// Refuses columns that are not as long as the map.
fn check(map: &Map, columns: &[Column<'_>]) -> Result<()> {
    match columns.iter().find(|column| column.values.len().is_some_and(|len| len != map.rows())) {
        Some(column) => Err(Error::Data(format!(
            "column {} has {} values, and the map has {} rows: there must be one for each row",
            column.name,
            column.values.len().unwrap_or(0),
            map.rows()
        ))),
        None => Ok(()),
    }
}

/// The first column of texts.
fn written<'a>(columns: &'a [Column<'_>]) -> Option<&'a [Cow<'a, str>]> {
    columns.iter().find_map(|column| match &column.values {
        Values::Texts(texts) => Some(&texts[..]),
        _ => None,
    })
}

/// For each level the cluster of each row; the usual level; the names of clusters that are labels.
type Found = (Vec<Vec<Option<u32>>>, usize, Option<Vec<String>>);

fn clusters_of(map: &Map, tree: &KdTree, by: ClusterSource) -> Result<Found> {
    let labelled = match by {
        ClusterSource::Density => None,
        ClusterSource::Auto | ClusterSource::Labels => Clusters::of_labels(map),
    };
    if let Some((names, of_row)) = labelled {
        return Ok((vec![of_row], 0, Some(names)));
    }
    if by == ClusterSource::Labels {
        return Err(Error::Data("the map has no labels, or too many to be clusters: use density".into()));
    }
    let (levels, usual) = density::levels(map.y(), tree);
    let of_row =
        |level: density::Level| (0..map.rows()).map(|row| level.of_place[map.distinct(row)]).collect();
    Ok((levels.into_iter().map(of_row).collect(), usual, None))
}

/// Levels whose clusters have ids of their own, but for those that stay the same from one level to the next.
struct Hierarchy {
    levels: Vec<Vec<Option<u32>>>,
    /// For each cluster the level at which it first appears.
    first_level: Vec<usize>,
    parents: Vec<Option<u32>>,
}

impl Hierarchy {
    fn new(mut levels: Vec<Vec<Option<u32>>>) -> Self {
        let (mut first_level, mut parents): (Vec<usize>, Vec<Option<u32>>) = (Vec::new(), Vec::new());
        let mut sizes_before: Vec<usize> = Vec::new();
        for level in 0..levels.len() {
            let (before, rest) = levels.split_at_mut(level);
            let numbers = &mut rest[0];
            let count = numbers.iter().flatten().max().map_or(0, |&most| most as usize + 1);
            let (mut sizes, mut parent) = (vec![0usize; count], vec![None; count]);
            for (row, number) in numbers.iter().enumerate() {
                if let Some(number) = number {
                    sizes[*number as usize] += 1;
                    parent[*number as usize] = before.last().and_then(|before| before[row]);
                }
            }
            let mut id = Vec::with_capacity(count);
            for (size, parent) in sizes.iter().zip(parent) {
                match parent {
                    Some(same) if sizes_before[same as usize] == *size => id.push(same),
                    _ => {
                        id.push(first_level.len() as u32);
                        first_level.push(level);
                        parents.push(parent);
                    }
                }
            }
            numbers.iter_mut().flatten().for_each(|number| *number = id[*number as usize]);
            sizes_before.resize(first_level.len(), 0);
            id.iter().zip(sizes).for_each(|(&id, size)| sizes_before[id as usize] = size);
        }
        Self { levels, first_level, parents }
    }
}

/// The label that most of some rows have, and their share; of equally many the one that the map knows first.
fn majority(map: &Map, rows: &[u32]) -> Option<(String, f64)> {
    let labels = map.labels()?;
    let mut counts = vec![0usize; labels.names().len()];
    rows.iter().for_each(|&row| counts[labels.codes()[row as usize] as usize] += 1);
    let (code, count) =
        counts.iter().enumerate().max_by_key(|(code, count)| (**count, std::cmp::Reverse(*code)))?;
    let name = labels.names().nth(code).filter(|name| !name.is_empty())?;
    Some((name.to_owned(), *count as f64 / rows.len().max(1) as f64))
}
