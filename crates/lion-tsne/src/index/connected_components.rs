//! Connected components of the graph that joins rows within a radius of each other, which is single linkage cut at the
//! radius. The search over partitions is ours; components are merged by union-find (Tarjan 1975, Efficiency of a Good
//! But Not Linear Set Union Algorithm).
//!
//! Rows are divided into partitions of near rows. Two partitions are compared if the triangle inequality allows a link
//! between them, as matrix products like the exact search's; pairs already known to be connected are not compared
//! again, so that a crowd of rows that are all near each other costs little more than rows that are apart.

use super::approximate::{PARTITION_SIZE, centres_of, divide_twice};
use super::exact::block_rows;
use super::placing::Partition;
use super::product_form::{Rounding, centre, column_medians};
use super::scan::{Collect, Packed, scan, squared_distance};
use crate::matrix::Matrix;
use crate::vectorized::vectorized;
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Up to this many rows there is one partition.
const ONE_PARTITION_UP_TO: usize = 8 * PARTITION_SIZE;
/// Partitions that are compared with others before what was found is taken into account: few at first, for each link
/// that is known early spares many.
const TOGETHER: [usize; 2] = [2, 64];
/// Rows that are so many times as far from the mean of their partition as its rows are on average do not belong there.
const FAR: f32 = 2.0;
/// Rounding of distances, as a share.
const SLACK: f32 = 1e-5;

/// For each row, the least row of its component.
pub(crate) fn connected_components(x: &Matrix, radius: f64) -> Vec<u32> {
    if x.rows() < 2 || x.cols() == 0 {
        return (0..x.rows() as u32).collect();
    }
    let partitions = Partitions::new(x, radius);
    let count = partitions.partitions.len();
    let mut groups = DisjointSets::new(x.rows());
    partitions.join_small_partitions(&mut groups);
    // Each partition by itself first: what is connected there need not be compared with others row by row.
    partitions.join_links(0..count, |partition| partition..partition + 1, &mut groups);
    let (mut first, mut together) = (0, TOGETHER[0]);
    while first < count {
        let last = (first + together).min(count);
        partitions.join_links(first..last, |partition| partition + 1..count, &mut groups);
        (first, together) = (last, (2 * together).min(TOGETHER[1]));
    }
    partitions.in_original_order(&groups.all())
}

/// Rows in the order of their partitions.
struct Partitions {
    radius: f64,
    cols: usize,
    /// Original number of each row in partition order.
    rows: Vec<u32>,
    data: Vec<f32>,
    median: Vec<f32>,
    partitions: Vec<Partition>,
    centres: Matrix,
    longest: f32,
}

/// What is known of links when a round begins.
struct RoundStart {
    group_of: Vec<u32>,
    /// For each partition, the group of all its rows, if it is one.
    one_group: Vec<Option<u32>>,
}

impl Partitions {
    fn new(x: &Matrix, radius: f64) -> Self {
        let (count, cols) = (x.rows(), x.cols());
        let mut members = match count <= ONE_PARTITION_UP_TO {
            true => vec![(0..count as u32).collect::<Vec<_>>()],
            false => without_far_rows(x, divide_twice(x, count.div_ceil(PARTITION_SIZE), 0)),
        };
        // The widest first: rows of a partition are compared with later ones, and whether a row can have a link to a
        // partition is the plainer the narrower that is.
        let widths = radii(x, &members);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| widths[b].total_cmp(&widths[a]).then(a.cmp(&b)));
        let radii: Vec<f32> = order.iter().map(|&partition| widths[partition]).collect();
        members = order.into_iter().map(|partition| std::mem::take(&mut members[partition])).collect();

        let rows = members.concat();
        let centres = centres_of(members.len(), &partition_of(&members), &x.select(&rows));
        let (data, median) = (x.select(&rows).into_data(), column_medians(x));
        let mut first = 0;
        let mut partitions = Vec::with_capacity(members.len());
        for (members, radius) in members.iter().zip(radii) {
            let of = first * cols..(first + members.len()) * cols;
            partitions.push(Partition { first, packed: Packed::centred(&data[of], &median), radius });
            first += members.len();
        }
        let longest = partitions.iter().map(|partition| partition.packed.longest()).fold(0.0, f32::max);
        Self { radius, cols, rows, data, median, partitions, centres, longest }
    }

    fn row(&self, at: u32) -> &[f32] {
        &self.data[at as usize * self.cols..][..self.cols]
    }

    /// Joins the rows of partitions in which no two can be farther apart than the radius.
    fn join_small_partitions(&self, groups: &mut DisjointSets) {
        for Partition { first, packed, radius } in &self.partitions {
            if f64::from(2.0 * radius * (1.0 + SLACK)) <= self.radius {
                (1..packed.rows()).for_each(|row| groups.join(*first as u32, (first + row) as u32));
            }
        }
    }

    fn one_group(&self, group_of: &[u32]) -> Vec<Option<u32>> {
        let of_partition = |partition: &Partition| {
            let groups = &group_of[partition.first..partition.first + partition.packed.rows()];
            groups.iter().all(|group| *group == groups[0]).then(|| groups[0])
        };
        self.partitions.iter().map(of_partition).collect()
    }

    /// Joins what is connected by a link between a row of some partitions and one of those that each is compared with.
    fn join_links(
        &self,
        partitions: Range<usize>,
        others: impl Fn(usize) -> Range<usize> + Sync,
        groups: &mut DisjointSets,
    ) {
        let known = groups.all();
        let known = RoundStart { one_group: self.one_group(&known), group_of: known };
        // What was found spares what comes after it on the same thread. Which links are found depends on that; what
        // they join does not.
        let links: Vec<Vec<(u32, u32)>> = partitions
            .into_par_iter()
            .map_init(
                || DisjointSets(known.group_of.clone()),
                |found, partition| self.links_of(partition, others(partition), &known, found),
            )
            .collect();
        links.into_iter().flatten().for_each(|(a, b)| groups.join(a, b));
    }

    /// Enough links between the rows of a partition and of others: any two rows that are connected by one are joined by
    /// what is found or is known, and so in `groups`.
    fn links_of(
        &self,
        partition: usize,
        others: Range<usize>,
        known: &RoundStart,
        groups: &mut DisjointSets,
    ) -> Vec<(u32, u32)> {
        let Partition { first, packed, .. } = &self.partitions[partition];
        let others: Vec<usize> = others.filter(|&other| self.can_link(partition, other)).collect();
        let mut links = Vec::new();
        for from in (0..packed.rows()).step_by(block_rows(self.cols)) {
            let to = (from + block_rows(self.cols)).min(packed.rows());
            for &other in &others {
                let queries = self.reaching((first + from) as u32..(first + to) as u32, other, known);
                if !queries.is_empty() {
                    links.extend(self.compare(&queries, other, known, groups));
                }
            }
        }
        links
    }

    fn can_link(&self, a: usize, b: usize) -> bool {
        let apart = squared_distance(self.centres.row(a), self.centres.row(b)).sqrt() * (1.0 - SLACK);
        f64::from(apart - self.partitions[a].radius - self.partitions[b].radius) <= self.radius
    }

    /// Those rows that can have a link to a row of the partition which is not known.
    fn reaching(&self, rows: Range<u32>, partition: usize, known: &RoundStart) -> Vec<u32> {
        let Partition { radius, .. } = self.partitions[partition];
        let middle = self.centres.row(partition);
        let news = |&row: &u32| known.one_group[partition] != Some(known.group_of[row as usize]);
        vectorized(
            #[inline(always)]
            || {
                let near = |&row: &u32| {
                    let apart = squared_distance(self.row(row), middle).sqrt() * (1.0 - SLACK);
                    f64::from(apart - radius) <= self.radius
                };
                rows.filter(news).filter(near).collect()
            },
        )
    }

    /// Finds links between these rows and those of a partition, one for each two groups that it joins.
    fn compare(
        &self,
        queries: &[u32],
        partition: usize,
        known: &RoundStart,
        groups: &mut DisjointSets,
    ) -> Vec<(u32, u32)> {
        let Partition { first, packed, .. } = &self.partitions[partition];
        let rows: Vec<f32> = queries.iter().flat_map(|&row| self.row(row)).copied().collect();
        let centred = centre(&rows, &self.median);
        let radius2 = ((self.radius * self.radius) as f32).min(f32::MAX / 4.0) * (1.0 + SLACK);
        let collectors =
            queries.iter().zip(centred.chunks_exact(self.cols)).map(|(&row, query)| UnconnectedRows {
                reach: Rounding::new(query, self.longest).reach(radius2),
                group: known.group_of[row as usize],
                group_of: &known.group_of,
                found: Vec::new(),
            });
        let mut collectors: Vec<UnconnectedRows<'_>> = collectors.collect();
        scan(&centred, packed, *first as u32, &mut collectors);
        let mut links = Vec::new();
        for (&row, collector) in queries.iter().zip(collectors) {
            for other in collector.found {
                if groups.of(row) != groups.of(other) && self.are_near(row, other) {
                    groups.join(row, other);
                    links.push((row, other));
                }
            }
        }
        links
    }

    fn are_near(&self, a: u32, b: u32) -> bool {
        f64::from(squared_distance(self.row(a), self.row(b)).sqrt()) <= self.radius
    }

    /// The least original row of each row's group.
    fn in_original_order(&self, group_of: &[u32]) -> Vec<u32> {
        let mut least = vec![u32::MAX; group_of.len()];
        for (&group, &row) in group_of.iter().zip(&self.rows) {
            least[group as usize] = least[group as usize].min(row);
        }
        let mut of = vec![0; group_of.len()];
        for (&group, &row) in group_of.iter().zip(&self.rows) {
            of[row as usize] = least[group as usize];
        }
        of
    }
}

/// For the rows of all partitions in order, the partition.
fn partition_of(members: &[Vec<u32>]) -> Vec<u32> {
    (0..).zip(members).flat_map(|(partition, of)| vec![partition; of.len()]).collect()
}

/// For each partition, the distances of its rows from their mean.
fn spreads(x: &Matrix, members: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let centres = centres_of(members.len(), &partition_of(members), &x.select(&members.concat()));
    let spread = |(members, centre): (&Vec<u32>, &[f32])| {
        let distance = |&row: &u32| squared_distance(x.row(row as usize), centre).sqrt();
        members.iter().map(distance).collect()
    };
    members.par_iter().zip(centres.data().par_chunks_exact(x.cols())).map(spread).collect()
}

/// No row of a partition is farther from its mean than this.
fn radii(x: &Matrix, members: &[Vec<u32>]) -> Vec<f32> {
    let farthest = |spread: &Vec<f32>| spread.iter().copied().fold(0.0, f32::max) * (1.0 + SLACK);
    spreads(x, members).iter().map(farthest).collect()
}

/// Takes rows that are far from the others of their partition out of it, into partitions of such: one of them would
/// make a partition so wide that it had to be compared with all.
fn without_far_rows(x: &Matrix, members: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let spreads = spreads(x, &members);
    let (mut near, mut far) = (Vec::with_capacity(members.len()), Vec::new());
    for (members, spread) in members.into_iter().zip(spreads) {
        let mean = spread.iter().sum::<f32>() / spread.len().max(1) as f32;
        let (kept, left): (Vec<_>, Vec<_>) =
            members.into_iter().zip(spread).partition(|(_, distance)| *distance <= FAR * mean);
        near.push(kept.into_iter().map(|(row, _)| row).collect::<Vec<u32>>());
        far.extend(left.into_iter().map(|(row, _)| row));
    }
    near.retain(|members| !members.is_empty());
    if !far.is_empty() {
        let partitions = divide_twice(&x.select(&far), far.len().div_ceil(PARTITION_SIZE), 0);
        near.extend(
            partitions
                .into_iter()
                .map(|partition| partition.into_iter().map(|at| far[at as usize]).collect()),
        );
    }
    near
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

/// DisjointSets that grow together.
struct DisjointSets(Vec<u32>);

impl DisjointSets {
    fn new(rows: usize) -> Self {
        Self((0..rows as u32).collect())
    }

    fn of(&mut self, mut row: u32) -> u32 {
        while self.0[row as usize] != row {
            let above = self.0[self.0[row as usize] as usize];
            self.0[row as usize] = above;
            row = above;
        }
        row
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    fn all(&mut self) -> Vec<u32> {
        (0..self.0.len() as u32).map(|row| self.of(row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// By the definition, pair after pair.
    fn by_pairs(x: &Matrix, radius: f64) -> Vec<u32> {
        let mut groups = DisjointSets::new(x.rows());
        for a in 0..x.rows() {
            for b in 0..a {
                if f64::from(squared_distance(x.row(a), x.row(b)).sqrt()) <= radius {
                    groups.join(a as u32, b as u32);
                }
            }
        }
        groups.all()
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
