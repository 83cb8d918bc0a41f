//! Connected components of the graph that joins rows within a radius of each other, which is single linkage cut at the
//! radius. The search over partitions is ours; components are merged by union-find (Tarjan 1975, Efficiency of a Good
//! But Not Linear Set Union Algorithm), by all threads at once (Anderson & Woll 1991, Wait-free Parallel Algorithms for
//! the Union-Find Problem).
//!
//! Rows are divided into partitions of near rows. Two partitions are compared if the triangle inequality allows a link
//! between them, as matrix products like the exact search's; pairs already known to be connected are not compared
//! again, so that a crowd of rows that are all near each other costs little more than rows that are apart.
//!
//! Rows stay where they are, and one partition at a time is packed to be compared with others: there may be tens of
//! millions of rows, and a copy of them is most of the memory that this takes.

use super::approximate::{PARTITION_SIZE, divide_twice};
use super::exact::block_rows;
use super::product_form::{Rounding, centre, column_medians};
use super::scan::{Collect, Packed, scan, squared_distance};
use crate::matrix::Matrix;
use crate::vectorized::vectorized;
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Up to this many rows there is one partition.
const ONE_PARTITION_UP_TO: usize = 8 * PARTITION_SIZE;
/// Partitions that are compared with others before what was found is taken into account: few at first, for each link
/// that is known early spares many.
const TOGETHER: [usize; 2] = [2, 256];
/// Partitions that those are compared with by one thread, while it has the rows at hand.
const TARGETS: usize = 16;
/// Rows that are so many times as far from the mean of their partition as its rows are on average do not belong there.
const FAR: f32 = 2.0;
/// Rounding of distances, as a share.
const SLACK: f32 = 1e-5;

/// For each row, the least row of its component.
pub(crate) fn connected_components(x: &Matrix, radius: f64) -> Vec<u32> {
    let groups = DisjointSets::new(x.rows());
    if x.rows() < 2 || x.cols() == 0 {
        return groups.into_least();
    }
    let partitions = Partitions::new(x, radius);
    let count = partitions.members.len();
    partitions.join_small_partitions(&groups);
    // Each partition by itself first: what is connected there need not be compared with others row by row.
    (0..count).into_par_iter().for_each(|own| partitions.join_links(own..own + 1, own..own + 1, &groups));
    let (mut first, mut together) = (0, TOGETHER[0]);
    while first < count {
        let last = (first + together).min(count);
        partitions.join_links(first..last, first + 1..count, &groups);
        (first, together) = (last, (2 * together).min(TOGETHER[1]));
    }
    drop(partitions);
    groups.into_least()
}

/// Rows in partitions.
struct Partitions<'a> {
    x: &'a Matrix,
    radius: f64,
    median: Vec<f32>,
    /// The rows of each partition.
    members: Vec<Vec<u32>>,
    centres: Matrix,
    /// No row of a partition is farther from its centre.
    radii: Vec<f32>,
}

impl<'a> Partitions<'a> {
    fn new(x: &'a Matrix, radius: f64) -> Self {
        let count = x.rows();
        let members = match count <= ONE_PARTITION_UP_TO {
            true => vec![(0..count as u32).collect::<Vec<_>>()],
            false => without_far_rows(x, divide_twice(x, count.div_ceil(PARTITION_SIZE), 0)),
        };
        let middle = |members: Vec<u32>| {
            let centre = mean_of(x, &members);
            let farthest = distances(x, &members, &centre).fold(0.0, f32::max) * (1.0 + SLACK);
            (farthest, centre, members)
        };
        let mut partitions: Vec<(f32, Vec<f32>, Vec<u32>)> = members.into_par_iter().map(middle).collect();
        // The widest first: rows of a partition are compared with later ones, and whether a row can have a link to a
        // partition is the plainer the narrower that is.
        partitions.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut radii, mut centres, mut members) = (Vec::new(), Vec::new(), Vec::new());
        for (radius, centre, of) in partitions {
            radii.push(radius);
            centres.extend(centre);
            members.push(of);
        }
        let centres = Matrix::from_rows(x.cols(), centres);
        Self { x, radius, median: column_medians(x), members, centres, radii }
    }

    fn row(&self, row: u32) -> &[f32] {
        self.x.row(row as usize)
    }

    /// Joins the rows of partitions in which no two can be farther apart than the radius.
    fn join_small_partitions(&self, groups: &DisjointSets) {
        for (members, radius) in self.members.iter().zip(&self.radii) {
            if f64::from(2.0 * radius * (1.0 + SLACK)) <= self.radius {
                members.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
            }
        }
    }

    /// Joins what is connected by a link between a row of a round and one of its targets.
    fn join_links(&self, round: Range<usize>, targets: Range<usize>, groups: &DisjointSets) {
        // One after another: they are looked at for each target.
        let rows: Vec<Matrix> =
            round.clone().map(|partition| self.x.select(&self.members[partition])).collect();
        targets.clone().into_par_iter().step_by(TARGETS).for_each(|first| {
            let block = first..(first + TARGETS).min(targets.end);
            let mut block: Vec<Target> = block.map(|target| self.target(target, groups)).collect();
            for (partition, rows) in round.clone().zip(&rows) {
                // Later targets of the same round are compared with earlier ones, not the other way round as well.
                let block =
                    block.iter_mut().filter(|target| partition < target.partition || round == targets);
                block.for_each(|target| self.add_queries((partition, rows), target, groups));
            }
            block.iter().for_each(|target| self.compare(target, groups));
        });
    }

    fn target(&self, partition: usize, groups: &DisjointSets) -> Target {
        let group_of: Vec<u32> = self.members[partition].iter().map(|&row| groups.of(row)).collect();
        let is_one = group_of.iter().all(|group| *group == group_of[0]);
        Target { partition, one_group: is_one.then(|| group_of[0]), group_of, queries: Vec::new() }
    }

    /// Those rows of a partition are to be compared that can have a link to the target which is not known.
    fn add_queries(&self, (partition, rows): (usize, &Matrix), target: &mut Target, groups: &DisjointSets) {
        if !self.can_link(partition, target.partition) {
            return;
        }
        let (radius, middle) = (self.radii[target.partition], self.centres.row(target.partition));
        let Target { one_group, queries, .. } = target;
        vectorized(
            #[inline(always)]
            || {
                let near = |row: &[f32]| {
                    let apart = squared_distance(row, middle).sqrt() * (1.0 - SLACK);
                    f64::from(apart - radius) <= self.radius
                };
                for (&row, values) in
                    self.members[partition].iter().zip(rows.data().chunks_exact(self.x.cols()))
                {
                    if near(values) && *one_group != Some(groups.of(row)) {
                        queries.push(row);
                    }
                }
            },
        );
    }

    fn can_link(&self, a: usize, b: usize) -> bool {
        let apart = squared_distance(self.centres.row(a), self.centres.row(b)).sqrt() * (1.0 - SLACK);
        f64::from(apart - self.radii[a] - self.radii[b]) <= self.radius
    }

    /// Joins the queries of a target to its rows within the radius.
    fn compare(&self, target: &Target, groups: &DisjointSets) {
        if target.queries.is_empty() {
            return;
        }
        let members = &self.members[target.partition];
        let packed = Packed::centred(self.x.select(members).data(), &self.median);
        let radius2 = ((self.radius * self.radius) as f32).min(f32::MAX / 4.0) * (1.0 + SLACK);
        for queries in target.queries.chunks(block_rows(self.x.cols())) {
            let centred = centre(self.x.select(queries).data(), &self.median);
            let collectors = queries.iter().zip(centred.chunks_exact(self.x.cols())).map(|(&row, query)| {
                UnconnectedRows {
                    reach: Rounding::new(query, packed.longest()).reach(radius2),
                    group: groups.of(row),
                    group_of: &target.group_of,
                    found: Vec::new(),
                }
            });
            let mut collectors: Vec<UnconnectedRows<'_>> = collectors.collect();
            scan(&centred, &packed, 0, &mut collectors);
            for (&row, collector) in queries.iter().zip(collectors) {
                for other in collector.found.into_iter().map(|at| members[at as usize]) {
                    if groups.of(row) != groups.of(other) && self.are_near(row, other) {
                        groups.join(row, other);
                    }
                }
            }
        }
    }

    fn are_near(&self, a: u32, b: u32) -> bool {
        f64::from(squared_distance(self.row(a), self.row(b)).sqrt()) <= self.radius
    }
}

/// A partition that rows are compared with.
struct Target {
    partition: usize,
    /// The group of each of its rows when it was begun with, and the one of all of them, if it is one.
    group_of: Vec<u32>,
    one_group: Option<u32>,
    /// The rows to compare with it.
    queries: Vec<u32>,
}

fn mean_of(x: &Matrix, members: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0f64; x.cols()];
    for &row in members {
        sums.iter_mut().zip(x.row(row as usize)).for_each(|(sum, &v)| *sum += f64::from(v));
    }
    sums.into_iter().map(|sum| (sum / members.len() as f64) as f32).collect()
}

fn distances(x: &Matrix, members: &[u32], from: &[f32]) -> impl Iterator<Item = f32> {
    members.iter().map(move |&row| squared_distance(x.row(row as usize), from).sqrt())
}

/// Takes rows that are far from the others of their partition out of it, into partitions of such: one of them would
/// make a partition so wide that it had to be compared with all.
fn without_far_rows(x: &Matrix, mut members: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let take_far = |members: &mut Vec<u32>| -> Vec<u32> {
        let spread: Vec<f32> = distances(x, members, &mean_of(x, members)).collect();
        let mean = spread.iter().sum::<f32>() / spread.len().max(1) as f32;
        let far = members.iter().zip(&spread).filter(|(_, distance)| **distance > FAR * mean);
        let far: Vec<u32> = far.map(|(&row, _)| row).collect();
        let mut spread = spread.into_iter();
        members.retain(|_| spread.next().is_some_and(|distance| distance <= FAR * mean));
        far
    };
    let far: Vec<u32> = members.par_iter_mut().flat_map_iter(take_far).collect();
    members.retain(|members| !members.is_empty());
    if !far.is_empty() {
        let partitions = divide_twice(&x.select(&far), far.len().div_ceil(PARTITION_SIZE), 0);
        let named = |partition: Vec<u32>| partition.into_iter().map(|at| far[at as usize]).collect();
        members.extend(partitions.into_iter().map(named));
    }
    members
}

/// Rows of other groups within a reach.
struct UnconnectedRows<'a> {
    reach: f32,
    group: u32,
    group_of: &'a [u32],
    found: Vec<u32>,
}

impl Collect for UnconnectedRows<'_> {
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.reach
    }

    fn take<S: Simd>(&mut self, _: S, values: &[f32], length: f32, row: u32) {
        for (&value, row) in values.iter().zip(row..) {
            // Beyond the last row there are lanes without one, infinitely far.
            if value + length <= self.reach && self.group_of[row as usize] != self.group {
                self.found.push(row);
            }
        }
    }
}

/// Disjoint sets that grow together, by any number of threads: for each row a lower one of its set, or itself. What a
/// thread sees may be old, but never wrong: rows that were once together stay so.
struct DisjointSets(Vec<AtomicU32>);

impl DisjointSets {
    fn new(rows: usize) -> Self {
        Self((0..rows as u32).map(AtomicU32::new).collect())
    }

    fn above(&self, row: u32) -> u32 {
        self.0[row as usize].load(Relaxed)
    }

    #[inline(always)]
    fn of(&self, mut row: u32) -> u32 {
        loop {
            let above = self.above(row);
            if above == row {
                return row;
            }
            let next = self.above(above);
            self.0[row as usize].store(next, Relaxed);
            row = next;
        }
    }

    fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.of(a), self.of(b));
            let (low, high) = (a.min(b), a.max(b));
            // Unless another thread has put this set below one meanwhile.
            let joined = self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed);
            if low == high || joined.is_ok() {
                return;
            }
        }
    }

    /// For each row, the least of its set.
    fn into_least(self) -> Vec<u32> {
        (0..self.0.len() as u32).for_each(|row| self.0[row as usize].store(self.of(row), Relaxed));
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// By the definition, pair after pair.
    fn by_pairs(x: &Matrix, radius: f64) -> Vec<u32> {
        let groups = DisjointSets::new(x.rows());
        for a in 0..x.rows() {
            for b in 0..a {
                if f64::from(squared_distance(x.row(a), x.row(b)).sqrt()) <= radius {
                    groups.join(a as u32, b as u32);
                }
            }
        }
        groups.into_least()
    }

    /// Rows on a lattice have many pairs exactly at a radius.
    fn lattice(rows: usize, cols: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        let values = (0..rows * cols).map(|_| (random.gaussian() * 4.0).round() as f32 / 4.0);
        Matrix::new(rows, cols, values.collect()).unwrap()
    }

    #[test]
    fn as_by_comparing_every_pair() {
        for radius in [0.0, 0.1, 0.25, 0.5, 1.0, 3.0] {
            let x = lattice(200, 3, 11);
            assert_eq!(connected_components(&x, radius), by_pairs(&x, radius), "{radius}");
        }
    }

    #[test]
    fn as_by_comparing_every_pair_where_there_are_partitions() {
        for (cols, radius) in [(2, 0.25), (7, 1.5), (7, 2.0), (20, 4.5), (20, 9.0), (3, 1e18)] {
            let x = lattice(ONE_PARTITION_UP_TO + 1500, cols, 3);
            assert_eq!(connected_components(&x, radius), by_pairs(&x, radius), "{cols} {radius}");
        }
    }

    #[test]
    fn rows_that_are_far_from_all_others() {
        let mut x = lattice(ONE_PARTITION_UP_TO + 1500, 5, 7);
        x.data_mut().chunks_exact_mut(5).step_by(40).for_each(|row| row.iter_mut().for_each(|v| *v *= 50.0));
        for radius in [0.5, 1.0, 20.0] {
            assert_eq!(connected_components(&x, radius), by_pairs(&x, radius), "{radius}");
        }
    }

    #[test]
    fn a_crowd_and_a_chain() {
        // Half of the rows on one spot; the others in a line, each just within reach of the next.
        let rows = 3 * ONE_PARTITION_UP_TO;
        let at = |i: usize| if i.is_multiple_of(2) { 0.0 } else { i as f32 };
        let x = Matrix::new(rows, 1, (0..rows).map(at).collect()).unwrap();
        let all_but_none = connected_components(&x, 2.0);
        assert!(all_but_none.iter().all(|&group| group == 0));
        let apart = connected_components(&x, 0.5);
        assert!((0..rows).all(|i| apart[i] == if i.is_multiple_of(2) { 0 } else { i as u32 }));
    }
}
