//! Approximate search for many rows: an inverted file (Sivic & Zisserman 2003, Video Google; as in Jegou, Douze & Schmid
//! 2011, Product Quantization for Nearest Neighbor Search), searched from partition to partition.
//!
//! Rows are divided into partitions by k-means (Lloyd 1982, Least Squares Quantization in PCM), twice over. Each row is
//! compared with all rows of the partitions whose centres are nearest to it, as matrix products like the exact search's: rows of one
//! partition mostly look at the same ones, so they are searched together. How many partitions that takes is found by trying it on a
//! sample of rows whose true neighbours are known. Nothing depends on chance or on threads.

use super::exact::{block_rows, decide};
use super::product_form::{Rounding, centre, column_medians};
use super::proposals::Proposals;
use super::scan::{Packed, scan};
use super::{ExactIndex, Neighbours};
use crate::matrix::Matrix;
use crate::random::Random;
use rayon::prelude::*;
use std::ops::Range;

/// Rows in a partition, on average.
pub(crate) const PARTITION_SIZE: usize = 256;
/// Rows used to find the centres, for each centre.
const SAMPLE: usize = 64;
/// Rounds of k-means.
const ROUNDS: usize = 8;
/// Partitions whose rows are searched before the caller hears of it.
const TOGETHER: usize = 64;
/// Partitions that each row is compared with at first.
const FIRST_PROBES: usize = 4;
/// Rows that tell whether that is enough: so many runs of as many rows as are searched together at no extra cost.
const RUNS: usize = 60;
const RUN: usize = 12;
/// Share of true neighbours that the sample must find. Missing neighbours cost KL: a map of
/// 60000 digits was 0.7 % worse at a recall of 98 %, 0.1 % at 99.3 %.
const RECALL: f64 = 0.99;

/// Rows in the order of their partitions.
pub(super) struct InvertedFile {
    cols: usize,
    /// Original number of each row in partition order.
    rows: Vec<u32>,
    /// The rows in partition order.
    data: Matrix,
    median: Vec<f32>,
    partitions: Vec<InvertedList>,
    centres: ExactIndex,
    longest: f32,
}

/// Queries of a block that are compared with the rows of one partition.
struct Visit {
    partition: u32,
    /// By their numbers in the block, ascending.
    queries: Vec<u32>,
}

struct InvertedList {
    first: usize,
    packed: Packed,
}

impl InvertedFile {
    pub(super) fn new(x: &Matrix, seed: u64) -> Self {
        let cols = x.cols();
        let median = column_medians(x);
        let members = divide_twice(x, x.rows().div_ceil(PARTITION_SIZE), seed);
        let rows: Vec<u32> = members.iter().flatten().copied().collect();
        let data = x.select(&rows);
        let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        let mut next = 0;
        let partitions: Vec<InvertedList> = Packed::centred_sets(data.data(), &median, &sizes)
            .into_iter()
            .map(|packed| {
                let first = next;
                next += packed.rows();
                InvertedList { first, packed }
            })
            .collect();
        let partition_of: Vec<u32> = partitions
            .iter()
            .enumerate()
            .flat_map(|(c, partition)| vec![c as u32; partition.packed.rows()])
            .collect();
        let centres = ExactIndex::of(&centres_of(partitions.len(), &partition_of, &data));
        let longest = partitions.iter().map(|partition| partition.packed.longest()).fold(0.0, f32::max);
        Self { cols, rows, data, median, partitions, centres, longest }
    }

    /// The `k` nearest other rows of every row as far as they are found, and the share of true neighbours among them
    /// in a sample.
    pub(super) fn nearest_of_all(
        &self,
        k: usize,
        seed: u64,
        done: &mut dyn FnMut(usize) -> bool,
    ) -> Option<(Neighbours, f64)> {
        let (probes, recall) = self.enough_probes(k, seed);
        let mut all = Neighbours::new(self.rows.len(), k);
        let numbers: Vec<usize> = (0..self.partitions.len()).collect();
        for together in numbers.chunks(TOGETHER) {
            let found: Vec<Neighbours> = together
                .par_iter()
                .map(|&partition| self.nearest_of_partition(partition, probes, k))
                .collect();
            let first = self.partitions[together[0]].first;
            let rows: usize = found.iter().map(|found| found.indices.len() / k).sum();
            self.put_in_place(&found, first, &mut all);
            if !done(rows) {
                return None;
            }
        }
        Some((all, recall))
    }

    /// The nearest of the rows of one partition, all in partition order.
    fn nearest_of_partition(&self, partition: usize, probes: usize, k: usize) -> Neighbours {
        let InvertedList { first, packed } = &self.partitions[partition];
        let mut found = Neighbours::new(packed.rows(), k);
        for from in (0..packed.rows()).step_by(block_rows(self.cols)) {
            let to = (from + block_rows(self.cols)).min(packed.rows());
            let out = (&mut found.indices[from * k..to * k], &mut found.distances2[from * k..to * k]);
            let queries = first + from..first + to;
            self.search(queries.clone(), &self.visits(queries, probes, k), k, out);
        }
        found
    }

    /// Puts what was found for the rows from `first` on where those rows are in the table, by their numbers there.
    fn put_in_place(&self, found: &[Neighbours], first: usize, all: &mut Neighbours) {
        let k = all.k;
        let found = found.iter().flat_map(|of_partition| {
            of_partition.indices.chunks_exact(k).zip(of_partition.distances2.chunks_exact(k))
        });
        for ((indices, distances), &row) in found.zip(&self.rows[first..]) {
            let place = row as usize * k..(row as usize + 1) * k;
            all.distances2[place.clone()].copy_from_slice(distances);
            let numbers = indices.iter().map(|&at| self.rows[at as usize]);
            all.indices[place].iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        }
    }

    /// Which of the rows `queries` look at which partitions: those of the nearest centres, and all partitions if those do not
    /// hold `k` other rows. Partitions that are nearest to some row come first, so that reaches are short early on.
    fn visits(&self, queries: Range<usize>, probes: usize, k: usize) -> Vec<Visit> {
        let nearest = self.centres.nearest_of_block(self.rows_of(&queries), probes);
        let size = |&partition: &u32| self.partitions[partition as usize].packed.rows();
        if nearest.chunks_exact(probes).any(|nearest| nearest.iter().map(size).sum::<usize>() <= k) {
            return self.visits_of_all(queries.len());
        }
        let mut visits: Vec<Visit> = Vec::new();
        let mut visit_of = vec![u32::MAX; self.partitions.len()];
        for rank in 0..probes {
            for (query, nearest) in (0..).zip(nearest.chunks_exact(probes)) {
                let partition = nearest[rank];
                let visit = &mut visit_of[partition as usize];
                if *visit == u32::MAX {
                    *visit = visits.len() as u32;
                    visits.push(Visit { partition, queries: Vec::new() });
                }
                visits[*visit as usize].queries.push(query);
            }
        }
        visits.iter_mut().for_each(|visit| visit.queries.sort_unstable());
        visits
    }

    fn visits_of_all(&self, queries: usize) -> Vec<Visit> {
        let all: Vec<u32> = (0..queries as u32).collect();
        let visit = |partition| Visit { partition, queries: all.clone() };
        (0..self.partitions.len() as u32).map(visit).collect()
    }

    /// The values of these rows, in partition order.
    fn rows_of(&self, rows: &Range<usize>) -> &[f32] {
        &self.data.data()[rows.start * self.cols..rows.end * self.cols]
    }

    /// How many partitions to search, and the recall that it gave for a sample.
    fn enough_probes(&self, k: usize, seed: u64) -> (usize, f64) {
        let mut random = Random::new(seed ^ 0x5a3);
        let runs: Vec<Range<usize>> = random
            .sample(self.partitions.len(), RUNS)
            .into_iter()
            .map(|partition| {
                // Anywhere in the partition: its rows are in the order of the table, and the first ones may be unlike the rest.
                let InvertedList { first, packed } = &self.partitions[partition as usize];
                let from = first + random.below(packed.rows().saturating_sub(RUN) + 1);
                from..(from + RUN).min(first + packed.rows())
            })
            .collect();
        let distances = |run: &Range<usize>, visits: &[Visit]| {
            let mut found = Neighbours::new(run.len(), k);
            self.search(run.clone(), visits, k, (&mut found.indices, &mut found.distances2));
            found.distances2
        };
        let truth: Vec<Vec<f32>> =
            runs.par_iter().map(|run| distances(run, &self.visits_of_all(run.len()))).collect();
        let most = self.partitions.len();
        // Enough for twice the neighbours where partitions are as large as on average.
        let mut probes = FIRST_PROBES.max((2 * k).div_ceil(PARTITION_SIZE)).min(most);
        loop {
            let hits: usize = runs
                .par_iter()
                .zip(&truth)
                .map(|(run, truth)| {
                    let found = distances(run, &self.visits(run.clone(), probes, k));
                    let rows = found.chunks_exact(k).zip(truth.chunks_exact(k));
                    rows.map(|(found, truth)| found.iter().filter(|&&d| d <= truth[k - 1]).count())
                        .sum::<usize>()
                })
                .sum();
            let recall = hits as f64 / truth.iter().map(Vec::len).sum::<usize>() as f64;
            if recall >= RECALL || probes == most {
                return (probes, recall);
            }
            probes = (probes + probes.div_ceil(4)).min(most);
        }
    }

    /// The nearest rows that the rows `queries` meet on their visits, all in partition order.
    fn search(&self, queries: Range<usize>, visits: &[Visit], k: usize, out: (&mut [u32], &mut [f32])) {
        let own = queries.start as u32;
        let queries = self.rows_of(&queries);
        let centred = centre(queries, &self.median);
        let mut proposed: Vec<Proposals> = centred
            .chunks_exact(self.cols)
            .map(|query| Proposals::new(k + 1, Rounding::new(query, self.longest)))
            .collect();
        let mut visiting = Vec::with_capacity(centred.len());
        for Visit { partition, queries } in visits {
            let InvertedList { first, packed } = &self.partitions[*partition as usize];
            visiting.clear();
            for &query in queries {
                visiting.extend_from_slice(&centred[query as usize * self.cols..][..self.cols]);
            }
            scan(&visiting, packed, *first as u32, &mut chosen(&mut proposed, queries));
        }
        decide(&mut proposed, queries, self.data.data(), Some(own), out);
    }
}

/// Those of `all` with these numbers, which ascend.
fn chosen<'a, T>(all: &'a mut [T], numbers: &[u32]) -> Vec<&'a mut T> {
    let mut numbers = numbers.iter().copied().peekable();
    let is_chosen = |(at, _): &(u32, &mut T)| numbers.next_if_eq(at).is_some();
    (0..).zip(all).filter(is_chosen).map(|(_, one)| one).collect()
}

/// The members of about `count` partitions: first into √count groups, then each group into partitions.
pub(super) fn divide_twice(x: &Matrix, count: usize, seed: u64) -> Vec<Vec<u32>> {
    let groups = divide(x, (count as f64).sqrt().round().max(1.0) as usize, seed);
    let partitions: Vec<Vec<Vec<u32>>> = groups
        .into_par_iter()
        .map(|group| {
            let partitions = divide(&x.select(&group), group.len().div_ceil(PARTITION_SIZE), seed);
            partitions
                .into_iter()
                .map(|partition| partition.into_iter().map(|i| group[i as usize]).collect())
                .collect()
        })
        .collect();
    partitions.into_iter().flatten().filter(|partition| !partition.is_empty()).collect()
}

/// The members of each of `count` partitions, by k-means on a sample.
fn divide(x: &Matrix, count: usize, seed: u64) -> Vec<Vec<u32>> {
    if count <= 1 {
        return vec![(0..x.rows() as u32).collect()];
    }
    let mut random = Random::new(seed ^ 0xce11);
    let sample = x.select(&random.sample(x.rows(), count * SAMPLE));
    let mut centres = sample.select(&random.sample(sample.rows(), count));
    for _ in 0..ROUNDS {
        let nearest = ExactIndex::of(&centres).nearest_of(&sample, 1).indices;
        move_centres(&mut centres, &sample, &nearest);
    }
    let mut members = vec![Vec::new(); centres.rows()];
    for (row, &partition) in ExactIndex::of(&centres).nearest_of(x, 1).indices.iter().enumerate() {
        members[partition as usize].push(row as u32);
    }
    members
}

/// Each centre to the mean of its rows; one without rows stays.
fn move_centres(centres: &mut Matrix, rows: &Matrix, nearest: &[u32]) {
    let cols = rows.cols();
    let mut sums = vec![0.0f64; centres.rows() * cols];
    let mut counts = vec![0u32; centres.rows()];
    for (row, &partition) in rows.data().chunks_exact(cols).zip(nearest) {
        counts[partition as usize] += 1;
        let sum = &mut sums[partition as usize * cols..][..cols];
        sum.iter_mut().zip(row).for_each(|(sum, &v)| *sum += f64::from(v));
    }
    let means = sums.chunks_exact(cols).zip(&counts);
    for (centre, (sum, &count)) in centres.data_mut().chunks_exact_mut(cols).zip(means) {
        if count > 0 {
            centre.iter_mut().zip(sum).for_each(|(c, sum)| *c = (sum / f64::from(count)) as f32);
        }
    }
}

/// The mean of each partition's rows.
pub(super) fn centres_of(partitions: usize, partition_of: &[u32], rows: &Matrix) -> Matrix {
    let mut centres = Matrix::zeros(partitions, rows.cols());
    move_centres(&mut centres, rows, partition_of);
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_are_the_means_of_their_rows() {
        let rows = Matrix::from_rows(2, vec![0.0, 0.0, 2.0, 4.0, 10.0, 10.0]);
        assert_eq!(centres_of(3, &[0, 0, 1], &rows).data(), [1.0, 2.0, 10.0, 10.0, 0.0, 0.0]);
        let mut centres = Matrix::from_rows(2, vec![7.0, 7.0, 8.0, 8.0]);
        move_centres(&mut centres, &rows, &[1, 1, 1]);
        assert_eq!(centres.data(), [7.0, 7.0, 4.0, (14.0f64 / 3.0) as f32]);
    }
}
