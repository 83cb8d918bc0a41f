//! Where rows begin: old ones where they are, new ones where they are placed, new clusters where there is room.

use super::Update;
use super::union::Union;
use crate::error::Result;
use crate::index::Neighbours;
use crate::kd_tree::KdTree;
use crate::lion::{Lion, LionOptions, Placement, Verdict};
use crate::map::Map;
use crate::matrix::Matrix;
use crate::preprocess::{Metric, PcaChoice, Preprocess};
use crate::random::Random;
use std::collections::BTreeMap;

/// New rows are novel if so much more of their neighbours are new than of all rows, as a share of what more is possible.
const NOVEL: f64 = 0.3;
/// And if the share of new ones is so many standard errors above that of all rows.
const CHANCE: f64 = 4.0;
/// So many novel rows that hang together are a cluster.
const LEAST_CLUSTER: usize = 10;
/// Novel rows hang together if one is among so many nearest rows of the other.
const LINKS: usize = 10;
/// Positions that are looked at along each dimension, at most.
const MOST_STEPS: f64 = 60.0;

/// The places of the first iteration.
pub(super) struct Start<const D: usize> {
    pub(super) y: Vec<[f32; D]>,
    /// How many rows each new cluster has.
    pub(super) new_clusters: Vec<usize>,
}

impl<const D: usize> Start<D> {
    pub(super) fn new(
        old: &Map,
        new: &Matrix,
        union: &Union,
        neighbours: &Neighbours,
        update: &Update,
    ) -> Result<Self> {
        let mut y = vec![[0.0; D]; union.x().rows()];
        for (y, row) in y.iter_mut().zip(&union.old_of) {
            if let Some(row) = row {
                y.copy_from_slice(old.y().row(*row as usize));
            }
        }
        if new.rows() == 0 {
            return Ok(Self { y, new_clusters: Vec::new() });
        }
        let lion =
            Lion::new(old.clone(), &LionOptions { threads: update.threads, ..LionOptions::default() })?;
        let placed = lion.place(new)?;
        for (y, row) in y.iter_mut().zip(&union.new_of) {
            if let Some(row) = row {
                y.copy_from_slice(&placed[*row as usize].place);
            }
        }
        let clusters = novel_clusters(union, neighbours);
        let mut room = Room::new(old, lion.r_y());
        for rows in &clusters {
            let aim = median(&y, rows);
            let is_outlier = |row: &&u32| verdict(union, &placed, **row) == Some(Verdict::Outlier);
            // Outliers are at a free position already: it is where the eye has seen the cluster form.
            let position = match 2 * rows.iter().filter(is_outlier).count() > rows.len() {
                true => aim,
                false => room.nearest_free(&aim),
            };
            room.taken.push(position);
            spread(union, rows, &position, lion.r_close(), update.seed, &mut y)?;
        }
        Ok(Self { y, new_clusters: clusters.iter().map(Vec::len).collect() })
    }
}

fn verdict(union: &Union, placed: &[Placement], row: u32) -> Option<Verdict> {
    union.new_of[row as usize].map(|new| placed[new as usize].verdict)
}

/// New rows whose neighbours are mostly new, in clusters that hang together.
fn novel_clusters(union: &Union, neighbours: &Neighbours) -> Vec<Vec<u32>> {
    let rows = union.x().rows();
    let is_new = |row: u32| union.new_of[row as usize].is_some();
    let expected = (0..rows as u32).filter(|&row| is_new(row)).count() as f64 / rows as f64;
    let among = (neighbours.k / 3).max(1);
    // Chance alone makes some lists of new rows only where most rows are new.
    let chance = CHANCE * (expected * (1.0 - expected) / among as f64).sqrt();
    let limit = expected + (NOVEL * (1.0 - expected)).max(chance);
    let is_novel: Vec<bool> = (0..rows as u32)
        .map(|row| {
            let near = &neighbours.of(row as usize).0[..among];
            let share = near.iter().filter(|&&other| is_new(other)).count() as f64 / among as f64;
            is_new(row) && share > limit
        })
        .collect();
    let mut roots: Vec<u32> = (0..rows as u32).collect();
    for row in (0..rows).filter(|&row| is_novel[row]) {
        for &other in neighbours.of(row).0.iter().take(LINKS).filter(|&&other| is_novel[other as usize]) {
            let (a, b) = (root(&mut roots, row as u32), root(&mut roots, other));
            roots[a.max(b) as usize] = a.min(b);
        }
    }
    let mut clusters: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in (0..rows as u32).filter(|&row| is_novel[row as usize]) {
        clusters.entry(root(&mut roots, row)).or_default().push(row);
    }
    clusters.into_values().filter(|rows| rows.len() >= LEAST_CLUSTER).collect()
}

/// The first row of those that hang together with this one.
fn root(roots: &mut [u32], mut row: u32) -> u32 {
    while roots[row as usize] != row {
        roots[row as usize] = roots[roots[row as usize] as usize];
        row = roots[row as usize];
    }
    row
}

/// The median along each dimension.
fn median<const D: usize>(y: &[[f32; D]], rows: &[u32]) -> [f64; D] {
    std::array::from_fn(|d| {
        let mut along: Vec<f32> = rows.iter().map(|&row| y[row as usize][d]).collect();
        let middle = along.len() / 2;
        f64::from(*along.select_nth_unstable_by(middle, f32::total_cmp).1)
    })
}

/// Where a map has room for clusters.
struct Room<const D: usize> {
    tree: KdTree,
    low: [f64; D],
    high: [f64; D],
    r_y: f64,
    taken: Vec<[f64; D]>,
}

impl<const D: usize> Room<D> {
    fn new(map: &Map, r_y: f64) -> Self {
        let along = |d: usize| (0..map.y().rows()).map(move |row| f64::from(map.y().row(row)[d]));
        Self {
            tree: KdTree::new(map.y().data(), D),
            low: std::array::from_fn(|d| along(d).fold(f64::INFINITY, f64::min)),
            high: std::array::from_fn(|d| along(d).fold(f64::NEG_INFINITY, f64::max)),
            r_y,
            taken: Vec::new(),
        }
    }

    /// The position nearest to another that is `r_y` from all places, in the map or around it, and twice that from those
    /// taken before. Of equally near ones the first.
    fn nearest_free(&self, aim: &[f64; D]) -> [f64; D] {
        let margin = 2.0 * self.r_y * (1.0 + self.taken.len() as f64);
        let steps: [f64; D] = std::array::from_fn(|d| {
            let span = self.high[d] - self.low[d] + 2.0 * margin;
            (span / self.r_y).ceil().clamp(1.0, MOST_STEPS)
        });
        let count = steps.iter().map(|steps| *steps as usize + 1).product::<usize>();
        let position = |mut at: usize| -> [f64; D] {
            std::array::from_fn(|d| {
                let number = at % (steps[d] as usize + 1);
                at /= steps[d] as usize + 1;
                let span = self.high[d] - self.low[d] + 2.0 * margin;
                self.low[d] - margin + span * number as f64 / steps[d]
            })
        };
        let mut candidates: Vec<(f64, usize)> =
            (0..count).map(|at| (distance(&position(at), aim), at)).collect();
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let free = candidates.iter().map(|&(_, at)| position(at)).find(|position| self.is_free(position));
        // Corners outside the map are always free but for those taken.
        free.unwrap_or_else(|| std::array::from_fn(|d| self.high[d] + margin))
    }

    fn is_free(&self, position: &[f64; D]) -> bool {
        let here: Vec<f32> = position.iter().map(|v| *v as f32).collect();
        let nearest = self.tree.nearest(&here, 1, None).first().map_or(f64::INFINITY, |(d2, _)| d2.sqrt());
        nearest >= self.r_y && self.taken.iter().all(|taken| distance(taken, position) >= 2.0 * self.r_y)
    }
}

fn distance<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Puts the rows of a cluster close around a position, by their first principal components.
fn spread<const D: usize>(
    union: &Union,
    rows: &[u32],
    position: &[f64; D],
    r_close: f64,
    seed: u64,
    y: &mut [[f32; D]],
) -> Result<()> {
    let x = union.x().select(rows);
    let dims = D.min(x.cols());
    let (_, components) = Preprocess::fit(x, Metric::Euclidean, PcaChoice::Components(dims), seed)?;
    let scaled = with_unit_deviation(&components);
    let mut random = Random::new(seed);
    for (own, &row) in scaled.chunks_exact(dims).zip(rows) {
        for d in 0..D {
            let own = own.get(d).copied().unwrap_or(0.0);
            // No two at one place: they would not push each other away.
            y[row as usize][d] = (position[d] + r_close * (own + 0.01 * random.gaussian())) as f32;
        }
    }
    Ok(())
}

/// The values over their root mean square.
fn with_unit_deviation(components: &Matrix) -> Vec<f64> {
    let squares: f64 = components.data().iter().map(|v| f64::from(*v).powi(2)).sum();
    let deviation = (squares / components.data().len() as f64).sqrt().max(f64::MIN_POSITIVE);
    components.data().iter().map(|v| f64::from(*v) / deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_components_of_a_cluster_are_scaled_together() {
        let components = Matrix::new(2, 2, vec![6.0, -8.0, 0.0, 0.0]).unwrap();
        assert_eq!(with_unit_deviation(&components), [1.2, -1.6, 0.0, 0.0]);
        assert_eq!(with_unit_deviation(&Matrix::new(1, 2, vec![0.0; 2]).unwrap()), [0.0; 2]);
    }

    #[test]
    fn clusters_begin_at_the_nearest_position_that_is_free() {
        let places = [[1.0f32, 2.0], [5.0, 2.0], [5.0, 10.0], [1.0, 10.0]];
        let mut room = Room {
            tree: KdTree::new(places.as_flattened(), 2),
            low: [1.0, 2.0],
            high: [5.0, 10.0],
            r_y: 0.25,
            taken: Vec::new(),
        };
        // Positions are 0.25 apart. That of the aim is not free, for a place is there; the next is just far enough from it.
        assert_eq!(room.nearest_free(&[1.02, 2.05]), [1.0, 2.25]);
        assert_eq!(room.nearest_free(&[3.1, 5.9]), [3.0, 6.0]);
        // Around the map there is a margin of twice that, and a wider one for each cluster that has begun.
        assert_eq!(room.nearest_free(&[-9.0, 14.0]), [0.5, 10.5]);
        assert_eq!(room.nearest_free(&[14.0, -9.0]), [5.5, 1.5]);
        room.taken.push([1.0, 2.25]);
        assert_eq!(room.nearest_free(&[1.02, 2.05]), [1.0, 1.75]);
        assert_eq!(room.nearest_free(&[-9.0, 14.0]), [0.0, 11.0]);
    }
}
