//! Clusters by how densely places lie, whatever the scale of the map.
//!
//! Each place belongs with the densest of its neighbours, and so on up to a peak. Two peaks are one cluster unless the way
//! from one to the other leads through places that are much sparser than both. Deterministic, and as quick as finding
//! the neighbours. As ToMATo (Chazal, Guibas, Oudot & Skraba 2013, Persistence-Based Clustering in Riemannian Manifolds),
//! with the ratio of densities in the place of their difference.

use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use crate::random::Random;
use rayon::prelude::*;

/// Of more places than this a sample is divided, and the others go with the nearest of it.
const SAMPLE: usize = 3000;
/// Nearest places that tell how dense it is around one, in a map that is its own sample. Fewer make peaks out of chance,
/// more see no narrow gaps.
const AROUND: usize = 32;
/// The same at most, however large the map.
const MOST_AROUND: usize = 256;
/// Nearest places that a place may belong with.
const NEIGHBOURS: usize = 16;
/// Two peaks are two clusters if the lower is so many times as dense as the densest way between them. Chance alone makes
/// ways of half the density in places that lie evenly.
const APART: f64 = 2.1;
/// Distances are taken to be at least this share of the map's extent.
const FINEST: f64 = 1e-6;

/// The number of clusters and for each place its cluster, numbered from 0 by size, largest first. Places of clusters too
/// small to be called one are in none.
pub(crate) fn clusters(y: &Matrix, tree: &KdTree) -> (usize, Vec<Option<u32>>) {
    let rows = y.rows();
    let chosen = Random::new(0).sample(rows, SAMPLE);
    let sample = y.select(&chosen);
    let sample_tree = KdTree::new(sample.data(), y.cols());
    let near: Vec<Vec<u32>> = (0..sample.rows() as u32)
        .into_par_iter()
        .map(|row| {
            let near = sample_tree.nearest(sample.row(row as usize), NEIGHBOURS, Some(row));
            near.into_iter().map(|(_, other)| other).collect()
        })
        .collect();
    let peaks = climb(&densities(y, tree, &chosen), &near);
    let nearest = |row: usize| {
        let found = sample_tree.nearest(y.row(row), 1, None);
        found.first().map_or(0, |(_, nearest)| peaks[*nearest as usize])
    };
    match chosen.len() == rows {
        true => by_size(&peaks, least(rows)),
        false => {
            let share = rows as f64 / chosen.len() as f64;
            let peaks: Vec<u32> = (0..rows).into_par_iter().map(nearest).collect();
            by_size(&peaks, (least(chosen.len()) as f64 * share) as usize)
        }
    }
}

/// The logarithm of the density around the chosen places, but for a constant.
fn densities(y: &Matrix, tree: &KdTree, chosen: &[u32]) -> Vec<f64> {
    let around = (AROUND * y.rows() / chosen.len().max(1)).min(MOST_AROUND);
    let finest = (FINEST * extent(y)).powi(2).max(f64::MIN_POSITIVE);
    let density = |&row: &u32| {
        let near = tree.nearest(y.row(row as usize), around, Some(row));
        let mean = near.iter().map(|(distance2, _)| distance2).sum::<f64>() / near.len().max(1) as f64;
        -0.5 * y.cols() as f64 * mean.max(finest).ln()
    };
    chosen.par_iter().map(density).collect()
}

/// So few places are no cluster.
fn least(rows: usize) -> usize {
    (rows as f64).sqrt().ceil() as usize / 2 + 5
}

fn extent(y: &Matrix) -> f64 {
    let side = |d: usize| {
        let along = || y.data().iter().skip(d).step_by(y.cols()).map(|&v| f64::from(v));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    (0..y.cols()).map(side).fold(0.0, f64::max)
}

/// The peak of each place, given those it may belong with: from the densest place to the sparsest.
fn climb(density: &[f64], near: &[Vec<u32>]) -> Vec<u32> {
    let count = density.len() as u32;
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by(|&a, &b| density[b as usize].total_cmp(&density[a as usize]).then(a.cmp(&b)));
    let mut rank = vec![0u32; density.len()];
    (0..).zip(&order).for_each(|(at, &row)| rank[row as usize] = at);
    let mut parent: Vec<u32> = (0..count).collect();
    for row in order {
        let is_denser = |other: &u32| rank[*other as usize] < rank[row as usize];
        let mut denser: Vec<u32> = near[row as usize].iter().copied().filter(is_denser).collect();
        denser.sort_unstable_by_key(|&other| rank[other as usize]);
        let Some(&first) = denser.first() else { continue };
        parent[row as usize] = root(&mut parent, first);
        for other in denser {
            let (a, b) = (root(&mut parent, row), root(&mut parent, other));
            let (higher, lower) = if rank[a as usize] < rank[b as usize] { (a, b) } else { (b, a) };
            if higher != lower && density[lower as usize] - density[row as usize] < APART.ln() {
                parent[lower as usize] = higher;
            }
        }
    }
    (0..count).map(|row| root(&mut parent, row)).collect()
}

fn root(parent: &mut [u32], row: u32) -> u32 {
    let mut top = row;
    while parent[top as usize] != top {
        top = parent[top as usize];
    }
    let mut walk = row;
    while parent[walk as usize] != top {
        walk = std::mem::replace(&mut parent[walk as usize], top);
    }
    top
}

/// Numbers for peaks, the one with most places first.
fn by_size(peak_of: &[u32], least: usize) -> (usize, Vec<Option<u32>>) {
    let mut sizes = vec![0usize; peak_of.len()];
    peak_of.iter().for_each(|&peak| sizes[peak as usize] += 1);
    let mut peaks: Vec<u32> = (0..peak_of.len() as u32).filter(|&p| sizes[p as usize] >= least).collect();
    if peaks.is_empty() {
        // A map of few rows is one cluster, or none.
        peaks.extend((0..peak_of.len() as u32).max_by_key(|&p| (sizes[p as usize], std::cmp::Reverse(p))));
    }
    peaks.sort_by_key(|&peak| (std::cmp::Reverse(sizes[peak as usize]), peak));
    let mut number = vec![None; peak_of.len()];
    (0..).zip(&peaks).for_each(|(at, &peak)| number[peak as usize] = Some(at));
    (peaks.len(), peak_of.iter().map(|&peak| number[peak as usize]).collect())
}
