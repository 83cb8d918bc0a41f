//! Clusters by how densely places lie, whatever the scale of the map.
//!
//! Each place belongs with the densest of its neighbours, and so on up to a peak. Two peaks are one cluster unless the way
//! from one to the other leads through places that are much sparser than both. Deterministic, and as quick as finding
//! the neighbours.

use crate::matrix::Matrix;
use crate::plane::Plane;
use rayon::prelude::*;

/// Neighbours of a place.
const NEIGHBOURS: usize = 24;
/// Two peaks are two clusters if the lower is so many times as dense as the densest way between them.
const APART: f64 = 2.0;
/// Distances are taken to be at least this share of the map's extent.
const FINEST: f64 = 1e-6;

/// The number of clusters and for each place its cluster, numbered from 0 by size, largest first. Places of clusters too
/// small to be called one are in none.
pub(super) fn clusters(y: &Matrix, plane: &Plane) -> (usize, Vec<Option<u32>>) {
    let neighbours = NEIGHBOURS.min(y.rows().saturating_sub(1));
    let near: Vec<Vec<(f64, u32)>> = (0..y.rows() as u32)
        .into_par_iter()
        .map(|row| plane.nearest(y.row(row as usize), neighbours, Some(row)))
        .collect();
    let finest = (FINEST * extent(y)).powi(2).max(f64::MIN_POSITIVE);
    // The logarithm of the density, but for a constant.
    let density: Vec<f64> = near
        .iter()
        .map(|near| {
            let mean = near.iter().map(|(distance2, _)| distance2).sum::<f64>() / near.len().max(1) as f64;
            -0.5 * y.cols() as f64 * mean.max(finest).ln()
        })
        .collect();
    let mut order: Vec<u32> = (0..y.rows() as u32).collect();
    order.sort_by(|&a, &b| density[b as usize].total_cmp(&density[a as usize]).then(a.cmp(&b)));
    by_size(&climb(&order, &density, &near), least(y.rows()))
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

/// The peak of each place, from the densest place to the sparsest.
fn climb(order: &[u32], density: &[f64], near: &[Vec<(f64, u32)>]) -> Vec<u32> {
    let mut rank = vec![0u32; order.len()];
    (0..).zip(order).for_each(|(at, &row)| rank[row as usize] = at);
    let mut parent: Vec<u32> = (0..order.len() as u32).collect();
    for &row in order {
        let here = density[row as usize];
        let denser = near[row as usize].iter().map(|&(_, other)| other);
        let mut denser: Vec<u32> =
            denser.filter(|&other| rank[other as usize] < rank[row as usize]).collect();
        denser.sort_unstable_by_key(|&other| rank[other as usize]);
        let Some(&first) = denser.first() else { continue };
        parent[row as usize] = root(&mut parent, first);
        for other in denser {
            let (a, b) = (root(&mut parent, row), root(&mut parent, other));
            let (higher, lower) = if rank[a as usize] < rank[b as usize] { (a, b) } else { (b, a) };
            if higher != lower && density[lower as usize] - here < APART.ln() {
                parent[lower as usize] = higher;
            }
        }
    }
    (0..order.len() as u32).map(|row| root(&mut parent, row)).collect()
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
