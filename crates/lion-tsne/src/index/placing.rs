//! The rows of a map made ready for new rows: the nearest of them, and those within a radius, by the inverted file of
//! `approximate` (the bound by the triangle inequality is ours).
//!
//! Small maps are one partition, and every row is compared with. Large ones are divided into partitions by k-means, and
//! a new row is compared with the rows of the partitions nearest to it, as many as a sample of the map's own rows
//! needed. Which partitions those are depends on the new row alone, and so does what is found. Where nothing may be
//! missed, the partitions that can hold a row within a radius are searched instead: by the triangle inequality no
//! others can.

use super::approximate::{PARTITION_SIZE, centres_of, divide_twice};
use super::exact::{ExactIndex, Within};
use super::product_form::{Rounding, centre, column_medians};
use super::proposals::Proposals;
use super::scan::{Collect, PANEL, Packed, scan, squared_distance};
use super::true_distances::TrueDistances;
use crate::matrix::Matrix;
use crate::random::Random;
use crate::vectorized::vectorized;
use pulp::Simd;
use rayon::prelude::*;

/// Up to this many rows a new row is compared with all of them.
const ONE_PARTITION_UP_TO: usize = 10_000;
/// Share of the true nearest rows that new rows should find. Those missed are the farthest of them, and pull least: in a
/// map of 60000 digits, places found at 0.96 and at 1 have the same labels around them but for 0.1 %.
const RECALL: f64 = 0.96;
/// Rows of the map that tell how many partitions that takes.
const SAMPLE: usize = 512;
/// Partitions searched at least.
const LEAST_PROBES: usize = 4;
/// Rounding of distances to centres and of partitions' radii, as a share.
const SLACK: f32 = 1e-5;
/// Rounding of a distance and its square, as a share.
const ROOT_SLACK: f64 = 1e-6;
/// New rows that are searched together: in many partitions enough that each is read once for many of them, in one
/// partition few enough that what they collect stays cached.
const TOGETHER: usize = 2048;
const TOGETHER_IN_ONE: usize = 192;

/// Numbers in a line of the cache.
const LINE: usize = 16;

/// How a large map's rows are divided: what its file keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partitioning {
    /// The centre of each partition.
    pub(crate) centres: Matrix,
    /// The partition of each row: the one with the nearest centre.
    pub(crate) partition_of: Vec<u32>,
    /// How many partitions a new row is compared with.
    pub(crate) probes: u32,
}

impl Partitioning {
    /// Divides the rows, if they are many; a new row shall find its `k` nearest.
    pub(crate) fn new(x: &Matrix, k: usize, seed: u64) -> Option<Self> {
        if x.rows() <= ONE_PARTITION_UP_TO {
            return None;
        }
        let mut partition_of = vec![0; x.rows()];
        let members = divide_twice(x, x.rows().div_ceil(PARTITION_SIZE), seed);
        for (partition, members) in members.iter().enumerate() {
            members.iter().for_each(|&row| partition_of[row as usize] = partition as u32);
        }
        let centres = centres_of(members.len(), &partition_of, x);
        // A new row that equals an old one must find it: both are at home where the nearest centre is.
        let partition_of = ExactIndex::of(&centres).nearest_of(x, 1).indices;
        let mut parts = Self { centres, partition_of, probes: 1 };
        parts.probes = RowIndex::new(x, Some(&parts)).enough_probes(x, k, seed) as u32;
        Some(parts)
    }
}

/// What a new row sees of the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QueryNeighbours {
    /// The nearest rows and their squared distances, nearest first; of equal ones the first row first.
    pub(crate) nearest: Vec<(f32, u32)>,
    /// How many rows within the radius were seen.
    pub(crate) within: u32,
}

/// The rows of a map, ready to be searched.
pub(crate) struct RowIndex {
    cols: usize,
    median: Vec<f32>,
    /// The row at each place in the order of partitions.
    rows: Vec<u32>,
    partitions: Vec<Partition>,
    centres: ExactIndex,
    centre_rows: Matrix,
    probes: usize,
    longest: f32,
}

/// The rows of one partition, packed for scanning.
pub(super) struct Partition {
    /// Where its rows begin in partition order.
    pub(super) first: usize,
    pub(super) packed: Packed,
    /// No row of the partition is farther from its centre.
    pub(super) radius: f32,
}

impl RowIndex {
    pub(crate) fn new(x: &Matrix, parts: Option<&Partitioning>) -> Self {
        let median = column_medians(x);
        let (centre_rows, members, probes) = match parts {
            None => (
                Matrix::from_rows(x.cols(), median.clone()),
                vec![(0..x.rows() as u32).collect::<Vec<_>>()],
                1,
            ),
            Some(parts) => {
                let mut members = vec![Vec::new(); parts.centres.rows()];
                parts
                    .partition_of
                    .iter()
                    .zip(0..)
                    .for_each(|(&partition, row)| members[partition as usize].push(row));
                (parts.centres.clone(), members, (parts.probes as usize).min(parts.centres.rows()))
            }
        };
        let partitions: Vec<Partition> = members
            .par_iter()
            .zip(firsts(&members))
            .zip(centre_rows.data().par_chunks_exact(x.cols()))
            .map(|((members, first), middle)| {
                let rows = x.select(members);
                let packed = Packed::centred(rows.data(), &median);
                let farthest = rows.data().chunks_exact(x.cols()).map(|row| squared_distance(row, middle));
                Partition { first, packed, radius: farthest.fold(0.0, f32::max).sqrt() * (1.0 + SLACK) }
            })
            .collect();
        Self {
            cols: x.cols(),
            rows: members.concat(),
            longest: partitions.iter().map(|partition| partition.packed.longest()).fold(0.0, f32::max),
            partitions,
            centres: ExactIndex::of(&centre_rows),
            centre_rows,
            probes,
            median,
        }
    }

    /// The `k` nearest rows of each query and the number within `radius`, among the rows of the partitions around it.
    /// `x` is what the index was made of.
    pub(crate) fn search(&self, x: &Matrix, queries: &[f32], k: usize, radius: f64) -> Vec<QueryNeighbours> {
        let home = |queries: &[f32]| self.partitions_around(queries, self.probes);
        self.search_in(x, queries, k, radius, home)
    }

    /// The same without anything missed that is within the radius, or within the query's own of `reaches`.
    pub(crate) fn search_all(
        &self,
        x: &Matrix,
        queries: &[f32],
        k: usize,
        radius: f64,
        reaches: &[f64],
    ) -> Vec<QueryNeighbours> {
        let parts = queries.chunks(self.together() * self.cols).zip(reaches.chunks(self.together()));
        let search = |(queries, reaches): (&[f32], &[f64])| {
            let reaches: Vec<f64> = reaches.iter().map(|reach| reach.max(radius)).collect();
            self.search_in(x, queries, k, radius, |queries| self.all_partitions_within(queries, &reaches))
        };
        parts.flat_map(search).collect()
    }

    /// For each query, whether no row is within the radius.
    pub(crate) fn lonely(&self, x: &Matrix, queries: &[f32], radius: f64) -> Vec<bool> {
        // For most it is enough to look into the nearest partition.
        let seen = self.search_in(x, queries, 1, radius, |queries| self.partitions_around(queries, 1));
        let mut lonely: Vec<bool> = seen.into_iter().map(|seen| seen.within == 0).collect();
        if self.partitions.len() == 1 {
            return lonely;
        }
        let suspects: Vec<usize> = (0..lonely.len()).filter(|&at| lonely[at]).collect();
        let rows = suspects.iter().flat_map(|at| &queries[at * self.cols..][..self.cols]);
        let rows: Vec<f32> = rows.copied().collect();
        let seen = self.search_all(x, &rows, 1, radius, &vec![0.0; suspects.len()]);
        suspects.into_iter().zip(seen).for_each(|(at, seen)| lonely[at] = seen.within == 0);
        lonely
    }

    /// How many queries it is best asked at a time.
    pub(crate) fn together(&self) -> usize {
        if self.partitions.len() == 1 { TOGETHER_IN_ONE } else { TOGETHER }
    }

    /// Whether every row is seen by every query.
    pub(crate) fn sees_all(&self) -> bool {
        self.probes == self.partitions.len()
    }

    /// Every row within its radius of each query, with squared distances, nearest first.
    pub(crate) fn within(&self, x: &Matrix, queries: &[f32], radii: &[f64]) -> Vec<Vec<(f32, u32)>> {
        let mut all = Vec::with_capacity(radii.len());
        for (queries, radii) in queries.chunks(self.together() * self.cols).zip(radii.chunks(self.together()))
        {
            let centred = centre(queries, &self.median);
            let rows = || queries.chunks_exact(self.cols).zip(radii);
            let reaches = centred.chunks_exact(self.cols).zip(radii).map(|(query, &radius)| Within {
                reach: self.rounding(query).reach(square(radius) * (1.0 + ROOT_SLACK as f32)),
                rows: Vec::new(),
            });
            let mut collectors: Vec<Within> = reaches.collect();
            self.visit(&centred, self.all_partitions_within(queries, radii), &mut collectors);
            all.extend(collectors.into_iter().zip(rows()).map(|(found, (query, &radius))| {
                let mut near = self.true_distances(x, query, &found.rows);
                near.retain(|&(distance2, _)| f64::from(distance2.sqrt()) <= radius);
                near
            }));
        }
        all
    }

    fn search_in(
        &self,
        x: &Matrix,
        queries: &[f32],
        k: usize,
        radius: f64,
        partitions: impl Fn(&[f32]) -> Vec<(u32, u32)>,
    ) -> Vec<QueryNeighbours> {
        let mut seen = Vec::with_capacity(queries.len() / self.cols);
        for queries in queries.chunks(self.together() * self.cols) {
            let centred = centre(queries, &self.median);
            let rows = centred.chunks_exact(self.cols);
            let mut collectors: Vec<NeighbourCollector> =
                rows.map(|q| NeighbourCollector::new(k, radius, self.rounding(q))).collect();
            let partitions = partitions(queries);
            let order = by_home(&partitions, collectors.len());
            // The first partition of each query first: what is found there keeps most of the rest away.
            let is_first = |at: usize| at == 0 || partitions[at].0 != partitions[at - 1].0;
            let (first, rest) = (0..partitions.len()).partition::<Vec<_>, _>(|&at| is_first(at));
            for round in [first, rest] {
                self.visit(&centred, round.into_iter().map(|at| partitions[at]).collect(), &mut collectors);
                collectors.iter_mut().for_each(|collector| collector.nearest.shrink());
            }
            let first = seen.len();
            seen.resize_with(first + collectors.len(), QueryNeighbours::default);
            for at in order {
                let query = &queries[at * self.cols..][..self.cols];
                seen[first + at] = self.decide(std::mem::take(&mut collectors[at]), x, query, k, radius);
            }
        }
        seen
    }

    /// Shows each query the rows of its partitions; `pairs` are of queries and partitions.
    fn visit<C: Collect>(&self, centred: &[f32], mut pairs: Vec<(u32, u32)>, collectors: &mut [C]) {
        if self.partitions.len() == 1 {
            if !pairs.is_empty() {
                scan(centred, &self.partitions[0].packed, 0, collectors);
            }
            return;
        }
        pairs.sort_unstable_by_key(|&(query, partition)| (partition, query));
        let mut queries = Vec::new();
        for pairs in pairs.chunk_by(|a, b| a.1 == b.1) {
            let Partition { first, packed, .. } = &self.partitions[pairs[0].1 as usize];
            let mut together = Vec::with_capacity(pairs.len());
            let mut rest = collectors.iter_mut();
            let mut next = 0;
            queries.clear();
            for &(query, _) in pairs {
                queries.extend_from_slice(&centred[query as usize * self.cols..][..self.cols]);
                together.extend(rest.nth((query - next) as usize));
                next = query + 1;
            }
            scan(&queries, packed, *first as u32, &mut together);
        }
    }

    /// For each query, the partitions with the nearest centres.
    fn partitions_around(&self, queries: &[f32], count: usize) -> Vec<(u32, u32)> {
        let rows = queries.len() / self.cols;
        if self.partitions.len() == 1 {
            return (0..rows as u32).map(|query| (query, 0)).collect();
        }
        let (mut partitions, mut distances) = (vec![0; rows * count], vec![0.0; rows * count]);
        self.centres.nearest_block(queries, count, None, (&mut partitions, &mut distances));
        partitions.into_iter().enumerate().map(|(at, partition)| ((at / count) as u32, partition)).collect()
    }

    /// For each query, the partitions that can hold a row within its radius.
    fn all_partitions_within(&self, queries: &[f32], radii: &[f64]) -> Vec<(u32, u32)> {
        let rows = (0..).zip(queries.chunks_exact(self.cols).zip(radii));
        let pairs = rows.flat_map(|(at, (query, &radius))| {
            self.partitions_within(query, radius).into_iter().map(move |partition| (at, partition))
        });
        pairs.collect()
    }

    fn partitions_within(&self, query: &[f32], radius: f64) -> Vec<u32> {
        let centres = self.centre_rows.data().chunks_exact(self.cols);
        vectorized(
            #[inline(always)]
            || {
                let reachable = |(centre, partition): (&[f32], &Partition)| {
                    let gap = squared_distance(query, centre).sqrt() * (1.0 - SLACK) - partition.radius;
                    f64::from(gap) <= radius
                };
                let partitions =
                    (0..).zip(centres.zip(&self.partitions)).filter(|&(_, partition)| reachable(partition));
                partitions.map(|(partition, _)| partition).collect()
            },
        )
    }

    fn decide(
        &self,
        mut collector: NeighbourCollector,
        x: &Matrix,
        query: &[f32],
        k: usize,
        radius: f64,
    ) -> QueryNeighbours {
        let mut within = collector.surely.iter().sum::<u32>();
        let unsure = self.true_distances(x, query, &collector.unsure);
        within += unsure.iter().filter(|(distance2, _)| f64::from(distance2.sqrt()) <= radius).count() as u32;
        let mut nearest = self.true_distances(x, query, collector.nearest.rows());
        nearest.truncate(k);
        QueryNeighbours { nearest, within }
    }

    /// Row numbers in the order of partitions become rows, with their true distances, nearest first.
    fn true_distances(&self, x: &Matrix, query: &[f32], at: &[u32]) -> Vec<(f32, u32)> {
        let data = x.data();
        // Rows lie anywhere in memory: asked for all at once, they come while the first are being worked on.
        let touched = at.iter().map(|&at| {
            let row = self.rows[at as usize] as usize * self.cols;
            data[row..row + self.cols].iter().step_by(LINE).fold(0, |bits, v| bits ^ v.to_bits())
        });
        std::hint::black_box(touched.fold(0, |bits, row| bits ^ row));
        crate::vectorized::arch().dispatch(TrueDistances {
            query,
            data,
            of: at.iter().map(|&at| self.rows[at as usize]),
        })
    }

    fn rounding(&self, query: &[f32]) -> Rounding {
        Rounding::new(query, self.longest)
    }

    /// How many partitions the rows of a sample need to find their `k` nearest.
    fn enough_probes(&self, x: &Matrix, k: usize, seed: u64) -> usize {
        let sample = x.select(&Random::new(seed ^ 0x5a3).sample(x.rows(), SAMPLE));
        let blocks: Vec<&[f32]> = sample.data().chunks(64 * self.cols).collect();
        let farthest = |partitions: usize| -> Vec<Vec<QueryNeighbours>> {
            let around = |queries: &[f32]| self.partitions_around(queries, partitions);
            blocks.par_iter().map(|queries| self.search_in(x, queries, k, 0.0, around)).collect()
        };
        let truth = farthest(self.partitions.len());
        let mut probes = LEAST_PROBES.min(self.partitions.len());
        loop {
            let found = farthest(probes);
            let (mut hits, mut all) = (0, 0);
            for (found, truth) in found.iter().flatten().zip(truth.iter().flatten()) {
                let last = truth.nearest.last().map_or(0.0, |&(distance2, _)| distance2);
                hits += found.nearest.iter().filter(|(distance2, _)| *distance2 <= last).count();
                all += truth.nearest.len();
            }
            if hits as f64 >= RECALL * all as f64 || probes == self.partitions.len() {
                return probes;
            }
            probes = (probes + probes.div_ceil(8)).min(self.partitions.len());
        }
    }
}

/// Queries in the order of the first partition of each: neighbours look at the same rows, and find them in the cache.
fn by_home(pairs: &[(u32, u32)], queries: usize) -> Vec<usize> {
    let mut home = vec![u32::MAX; queries];
    for &(query, partition) in pairs.iter().rev() {
        home[query as usize] = partition;
    }
    let mut order: Vec<usize> = (0..queries).collect();
    order.sort_by_key(|&query| home[query]);
    order
}

/// Where each partition begins in the order of partitions.
fn firsts(members: &[Vec<u32>]) -> Vec<usize> {
    let sizes = members.iter().scan(0, |first, members| {
        let this = *first;
        *first += members.len();
        Some(this)
    });
    sizes.collect()
}

/// The square as `f32`, finite.
fn square(radius: f64) -> f32 {
    ((radius * radius) as f32).min(f32::MAX / 2.0)
}

/// What one query collects: the nearest rows, and how many are within a radius.
#[derive(Default)]
struct NeighbourCollector {
    nearest: Proposals,
    /// Rows nearer than this (squared) are within the radius for sure.
    sure: f32,
    /// Rows farther than this are not.
    possible: f32,
    /// How many those are, by their place in a panel: lanes that are added up once, in the end.
    surely: [u32; PANEL],
    /// Those between.
    unsure: Vec<u32>,
}

impl NeighbourCollector {
    fn new(k: usize, radius: f64, rounding: Rounding) -> Self {
        let radius2 = square(radius);
        let possible = rounding.reach(radius2 * (1.0 + ROOT_SLACK as f32));
        Self {
            nearest: Proposals::new(k, rounding),
            sure: radius2 * (1.0 - ROOT_SLACK as f32) - rounding.within(radius2),
            possible,
            surely: [0; PANEL],
            unsure: Vec::new(),
        }
    }
}

impl Collect for NeighbourCollector {
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.nearest.reach().max(self.possible)
    }

    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, values: &[f32], length: f32, row: u32) {
        if any(values, self.nearest.reach() - length) {
            self.nearest.take(simd, values, length, row);
        }
        let (sure, possible) = (self.sure - length, self.possible - length);
        if !any(values, possible) {
            return;
        }
        let mut unsure = false;
        for (surely, &value) in self.surely.iter_mut().zip(values) {
            *surely += u32::from(value <= sure);
            unsure |= value > sure && value <= possible;
        }
        if unsure {
            let between = values.iter().zip(row..).filter(|&(&value, _)| value > sure && value <= possible);
            self.unsure.extend(between.map(|(_, row)| row));
        }
    }
}

/// Whether one of them is up to the limit; every one is looked at, side by side.
#[inline(always)]
fn any(values: &[f32], limit: f32) -> bool {
    values.iter().fold(false, |any, &value| any | (value <= limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a line the nearest rows are in few partitions, in many dimensions they are in many.
    #[test]
    fn as_many_partitions_are_searched_as_it_takes() {
        let probes = |cols: usize| {
            let mut random = Random::new(1);
            let values = (0..2 * ONE_PARTITION_UP_TO * cols).map(|_| random.uniform() as f32).collect();
            Partitioning::new(&Matrix::from_rows(cols, values), 30, 0).expect("many rows").probes as usize
        };
        assert_eq!(probes(1), LEAST_PROBES);
        assert!(probes(12) > LEAST_PROBES);
    }
}
