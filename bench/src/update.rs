//! How well a map was updated, whatever did it: quality of the new places, and how far rows moved.

use anyhow::{Result, ensure};
use lion_evaluate::{nearest_places, neighbours_kept, pearson, spearman};
use lion_tsne::index::{ExactIndex, Neighbours, Search, nearest_neighbours};
use lion_tsne::numerics::{Reflection, Similarity};
use lion_tsne::tsne::{Affinities, kl_divergence};
use lion_tsne::{Matrix, ignore};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

#[cfg(test)]
mod tests;

const PERPLEXITY: f64 = 30.0;
/// Neighbours of shares and of unchanged neighbourhoods.
const NEAR: usize = 10;
/// Rows whose trustworthiness is computed, at most; and how many of them at a time, which bounds the memory.
const TRUSTED: usize = 2000;
const AT_A_TIME: usize = 200;

/// An update: rows before and after it, and their places.
pub struct Judged<'a> {
    /// All rows after it. Of those that were there before, the first ones, in the order of `old_places`.
    pub rows: &'a Matrix,
    /// Their places.
    pub places: &'a Matrix,
    /// One label each.
    pub labels: &'a [String],
    /// Rows before it. The first of them are those that stayed.
    pub old_rows: &'a Matrix,
    /// Their places then.
    pub old_places: &'a Matrix,
    /// How many of them stayed.
    pub stayed: usize,
    /// The label that arrived, if one did.
    pub arrived: Option<&'a str>,
}

impl Judged<'_> {
    /// All that is told of an update.
    pub fn metrics(&self) -> Result<Value> {
        self.check()?;
        let k = ((3.0 * PERPLEXITY) as usize).min(self.rows.rows() - 1).min(self.old_rows.rows() - 1);
        let after = neighbours(self.rows, k)?;
        let before = neighbours(self.old_rows, k)?;
        let perplexity = PERPLEXITY.min(k as f64 / 3.0);
        let kl = kl_divergence(&Affinities::new(after.clone(), perplexity), self.places)?;
        let near_places = nearest_places(self.places, NEAR)?;
        let near = lists(&near_places);
        let moved = self.moves()?;
        let overlap = |k: usize| self.overlaps(&before, &after, k);
        let far: Vec<f64> = overlap(k).iter().map(|overlap| 1.0 - overlap).collect();
        let same = overlap(NEAR);
        let unchanged: Vec<f64> =
            moved.iter().zip(&same).filter(|(_, same)| **same == 1.0).map(|(moved, _)| *moved).collect();
        Ok(json!({
            "kl": kl,
            "label_share": self.label_share(&near, None),
            "new_label_share": self.arrived.map(|label| self.label_share(&near, Some(label))),
            "kept": neighbours_kept(&after, &near_places, NEAR)?,
            "trustworthiness": self.trustworthiness(&near)?,
            "moved": [quantile(&moved, 0.5), quantile(&moved, 0.9)],
            "unchanged": [quantile(&unchanged, 0.5), quantile(&unchanged, 0.9)],
            "unchanged_share": unchanged.len() as f64 / moved.len() as f64,
            "spearman": spearman(&moved, &far),
            "in_data": self.moves_in_data().map(|(there, here)| {
                json!({ "pearson": pearson(&there, &here), "spearman": spearman(&there, &here) })
            }),
            "largest_component": self.arrived.map(|label| self.largest_component(label, &near)),
        }))
    }

    fn check(&self) -> Result<()> {
        let (rows, old) = (self.rows.rows(), self.old_rows.rows());
        ensure!(rows == self.places.rows(), "{rows} rows need as many places, not {}", self.places.rows());
        ensure!(rows == self.labels.len(), "{rows} rows need as many labels, not {}", self.labels.len());
        ensure!(
            old == self.old_places.rows(),
            "{old} old rows need as many places, not {}",
            self.old_places.rows()
        );
        ensure!((1..=rows.min(old)).contains(&self.stayed), "{} rows cannot have stayed", self.stayed);
        ensure!(rows.min(old) > 2 * NEAR, "a map of more than {} rows is needed", 2 * NEAR);
        Ok(())
    }

    fn old_and_new(&self) -> (Matrix, Matrix) {
        let stayed: Vec<u32> = (0..self.stayed as u32).collect();
        (self.old_places.select(&stayed), self.places.select(&stayed))
    }

    /// How far each row that stayed moved beyond the best similarity transform, in map radii.
    fn moves(&self) -> Result<Vec<f64>> {
        let (from, to) = self.old_and_new();
        let similarity = Similarity::between(&from, &to, Reflection::Allowed)?;
        let count = self.stayed as f64;
        let middle: Vec<f64> = (0..to.cols())
            .map(|d| (0..self.stayed).map(|i| f64::from(to.row(i)[d])).sum::<f64>() / count)
            .collect();
        let distance = |a: &[f32], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>().sqrt()
        };
        let radius = (0..self.stayed).map(|i| distance(to.row(i), &middle)).sum::<f64>() / count;
        let moved = |i: usize| {
            let there: Vec<f64> = similarity.apply(from.row(i)).into_iter().map(f64::from).collect();
            distance(to.row(i), &there) / radius
        };
        Ok((0..self.stayed).map(moved).collect())
    }

    /// Moves in the data and on the map of the rows that stayed, where any row of the data moved.
    fn moves_in_data(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let distance =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
        let there: Vec<f64> =
            (0..self.stayed).map(|i| distance(self.old_rows.row(i), self.rows.row(i))).collect();
        there.iter().any(|moved| *moved > 0.0).then(|| self.moves().ok().map(|here| (there, here))).flatten()
    }

    /// The Jaccard overlap of the neighbours before and after, of each row that stayed.
    fn overlaps(&self, before: &Neighbours, after: &Neighbours, k: usize) -> Vec<f64> {
        let list = |neighbours: &Neighbours, row: usize| {
            neighbours.indices[row * neighbours.k..][..k].iter().copied().collect::<HashSet<u32>>()
        };
        (0..self.stayed)
            .map(|row| {
                let (before, after) = (list(before, row), list(after, row));
                // Rows that stayed have the same number before and after; others have none in common.
                let shared = before.intersection(&after).filter(|&&row| (row as usize) < self.stayed).count();
                shared as f64 / (2 * k - shared) as f64
            })
            .collect()
    }

    fn label_share(&self, near: &[Vec<u32>], of: Option<&str>) -> f64 {
        let shares: Vec<f64> = near
            .iter()
            .zip(self.labels)
            .filter(|(_, label)| of.is_none_or(|of| of == label.as_str()))
            .map(|(near, label)| {
                near.iter().filter(|&&other| self.labels[other as usize] == *label).count() as f64
                    / NEAR as f64
            })
            .collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    }

    /// Venna & Kaski 2001: 1 less what rows that are near on the map and far in the data take off.
    fn trustworthiness(&self, near: &[Vec<u32>]) -> Result<f64> {
        let rows = self.rows.rows();
        let chosen: Vec<u32> = (0..rows as u32).step_by(rows.div_ceil(TRUSTED)).collect();
        let index = ExactIndex::new(self.rows)?;
        let (mut sum, mut ranks) = (0, vec![0; rows]);
        for chosen in chosen.chunks(AT_A_TIME) {
            let all = index.nearest(&self.rows.select(chosen), rows)?;
            for (&row, ranked) in chosen.iter().zip(all.indices.chunks_exact(rows)) {
                let others = ranked.iter().filter(|&&other| other != row);
                others.enumerate().for_each(|(at, &other)| ranks[other as usize] = at + 1);
                sum += near[row as usize]
                    .iter()
                    .map(|&other| ranks[other as usize].saturating_sub(NEAR))
                    .sum::<usize>();
            }
        }
        let (n, k) = (rows as f64, NEAR as f64);
        Ok(1.0 - 2.0 / (chosen.len() as f64 * k * (2.0 * n - 3.0 * k - 1.0)) * sum as f64)
    }

    /// The share of the rows of a label that hang together, each with some of its nearest places.
    fn largest_component(&self, label: &str, near: &[Vec<u32>]) -> f64 {
        let members: Vec<usize> = (0..self.labels.len()).filter(|&i| self.labels[i] == label).collect();
        let is_member: HashSet<usize> = members.iter().copied().collect();
        let mut links: HashMap<usize, Vec<usize>> = HashMap::new();
        for &row in &members {
            for other in
                near[row].iter().map(|&other| other as usize).filter(|other| is_member.contains(other))
            {
                links.entry(row).or_default().push(other);
                links.entry(other).or_default().push(row);
            }
        }
        let (mut seen, mut largest) = (HashSet::new(), 0);
        for &row in &members {
            let (mut open, mut size) = (vec![row], 0);
            while let Some(row) = open.pop() {
                if seen.insert(row) {
                    size += 1;
                    open.extend(links.get(&row).into_iter().flatten());
                }
            }
            largest = largest.max(size);
        }
        largest as f64 / members.len().max(1) as f64
    }
}

fn neighbours(rows: &Matrix, k: usize) -> Result<Neighbours> {
    Ok(nearest_neighbours(rows, k, Search::Exact, 0, &mut ignore)?.0)
}

/// The nearest places of each.
fn lists(near: &Neighbours) -> Vec<Vec<u32>> {
    near.indices.chunks_exact(near.k).map(<[u32]>::to_vec).collect()
}

fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied()
}
