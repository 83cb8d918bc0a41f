//! The tree, cut at two or three levels of detail. Each cluster of a level lies whole in one of the level before.

use super::DensityTree;
use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use std::cmp::Reverse;

/// A cluster is at least so many times as dense as the way to a denser one.
const APART: f64 = 2.2;
/// The same at the finest level.
const APART_FINE: f64 = 1.5;
/// A cluster has at least this share of the places.
const LEAST_SHARE: f64 = 0.001;
/// A cluster has at least so many places.
const LEAST: usize = 5;
/// The first level has at most so many clusters: a person takes in no more at once.
const MOST_FIRST: usize = 20;
/// Any level has at most so many.
const MOST: usize = 300;
/// A level is worth its while if it has so many times the clusters of the one before.
const WORTHWHILE: f64 = 1.25;

/// The clusters of one level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    /// How many there are.
    pub(crate) count: usize,
    /// The cluster of each place, numbered from 0 by size, largest first. Places of islands too small to be called a cluster
    /// are in none.
    pub(crate) of_place: Vec<Option<u32>>,
}

/// Two or three levels of the clusters of a map, the coarsest first; one where nothing is finer or coarser. And which of
/// them is the usual one: what density alone says, neither merged for an overview nor divided further.
pub(crate) fn levels(y: &Matrix, tree: &KdTree) -> (Vec<Level>, usize) {
    let tree = DensityTree::new(y, tree);
    let fine = tree.cut(&Cut::new(tree.peaks.len()), APART_FINE).at_most(&tree, MOST);
    let usual = tree.cut(&fine, APART).at_most(&tree, MOST);
    let first = usual.clone().at_most(&tree, MOST_FIRST);
    let is_worth = |finer: &Cut, coarser: &Cut| {
        finer.count() as f64 >= WORTHWHILE * coarser.count() as f64 && finer.count() > coarser.count()
    };
    let mut cuts = vec![];
    if is_worth(&usual, &first) {
        cuts.push(&first);
    }
    let at = cuts.len();
    cuts.push(&usual);
    if is_worth(&fine, &usual) {
        cuts.push(&fine);
    }
    (cuts.into_iter().map(|cut| cut.level(&tree)).collect(), at)
}

/// The usual level: the number of clusters, and for each place its cluster.
pub(crate) fn clusters(y: &Matrix, tree: &KdTree) -> (usize, Vec<Option<u32>>) {
    let (mut levels, usual) = levels(y, tree);
    let Level { count, of_place } = levels.swap_remove(usual);
    (count, of_place)
}

/// Which peaks are clusters of their own.
#[derive(Clone)]
struct Cut {
    kept: Vec<bool>,
    /// Islands too small to be a cluster, which are no part of another either.
    stray: Vec<bool>,
}

impl Cut {
    fn new(peaks: usize) -> Self {
        Self { kept: vec![true; peaks], stray: vec![false; peaks] }
    }

    fn count(&self) -> usize {
        self.kept.iter().filter(|kept| **kept).count()
    }

    /// For each peak the cluster that its places are in, a stray one itself.
    fn clusters(&self, tree: &DensityTree) -> Vec<u32> {
        let cluster = |at: u32| {
            let mut top = at;
            while !self.kept[top as usize]
                && !self.stray[top as usize]
                && let Some(parent) = tree.peaks[top as usize].parent
            {
                top = parent;
            }
            top
        };
        (0..self.kept.len() as u32).map(cluster).collect()
    }

    /// Merges the smallest clusters into the ones beside them until there are no more than so many.
    fn at_most(mut self, tree: &DensityTree, most: usize) -> Self {
        let own = tree.sizes();
        while self.count() > most {
            let cluster = self.clusters(tree);
            let mut sizes = vec![0; own.len()];
            cluster.iter().zip(&own).for_each(|(&to, size)| sizes[to as usize] += size);
            let mut small: Vec<usize> =
                (0..own.len()).filter(|&at| self.kept[at] && tree.peaks[at].parent.is_some()).collect();
            small.sort_by_key(|&at| (sizes[at], Reverse(at)));
            // One at a time near the end, so that two small ones may become a large one.
            let surplus = self.count() - most;
            small.truncate(surplus.div_ceil(4));
            small.into_iter().for_each(|at| self.kept[at] = false);
        }
        self
    }

    fn level(&self, tree: &DensityTree) -> Level {
        let cluster = self.clusters(tree);
        let of_place: Vec<u32> = tree.of_place.iter().map(|&peak| cluster[peak as usize]).collect();
        by_size(&of_place, &self.kept)
    }
}

impl DensityTree {
    /// How many places belong to each peak.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.peaks.len()];
        self.of_place.iter().for_each(|&peak| sizes[peak as usize] += 1);
        sizes
    }

    /// Of the clusters of a cut those that are so many times as dense as their saddle, and large enough.
    fn cut(&self, of: &Cut, apart: f64) -> Cut {
        let least = LEAST.max((LEAST_SHARE * self.of_place.len() as f64) as usize);
        let mut sizes = self.sizes();
        let Cut { mut kept, mut stray } = of.clone();
        // The sparsest first: what is no cluster adds to its parent.
        for at in (0..self.peaks.len()).rev() {
            let peak = self.peaks[at];
            let is_island = peak.prominence == f64::INFINITY;
            stray[at] |= is_island && sizes[at] < least;
            kept[at] = kept[at] && peak.prominence >= apart.ln() && sizes[at] >= least;
            match peak.parent {
                Some(parent) if !kept[at] && !is_island => sizes[parent as usize] += sizes[at],
                _ => {}
            }
        }
        if !kept.contains(&true) {
            // A map of few rows is one cluster.
            let largest = largest(&sizes);
            (kept[largest], stray[largest]) = (true, false);
        }
        Cut { kept, stray }
    }
}

fn largest(sizes: &[usize]) -> usize {
    (0..sizes.len()).max_by_key(|&at| (sizes[at], Reverse(at))).unwrap_or(0)
}

/// Numbers for clusters, the one with most places first.
fn by_size(of_place: &[u32], kept: &[bool]) -> Level {
    let mut sizes = vec![0usize; kept.len()];
    of_place.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    let mut order: Vec<usize> = (0..kept.len()).filter(|&at| kept[at]).collect();
    order.sort_by_key(|&at| (Reverse(sizes[at]), at));
    let mut number = vec![None; kept.len()];
    (0..).zip(&order).for_each(|(at, &cluster)| number[cluster] = Some(at));
    Level { count: order.len(), of_place: of_place.iter().map(|&cluster| number[cluster as usize]).collect() }
}
