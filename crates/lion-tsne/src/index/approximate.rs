//! Approximate search for many rows: cells of near rows, each searched against the cells around it.
//!
//! Rows are divided into cells by k-means, twice over. The rows of a cell are compared with all rows of the nearest
//! cells, as matrix products like the exact search's; how many cells that takes is found by trying it on a sample of
//! rows whose true neighbours are known. Nothing depends on chance or on threads.

use super::exact::{Decide, Nearest, block_rows, centre, column_means, rounding_bound};
use super::scan::{Packed, scan, squared_length};
use super::{ExactIndex, Neighbours};
use crate::matrix::Matrix;
use crate::random::Random;
use rayon::prelude::*;
use std::ops::Range;

/// Rows in a cell, on average.
pub(crate) const CELL: usize = 256;
/// Rows used to find the centres, for each centre.
const SAMPLE: usize = 64;
/// Rounds of k-means.
const ROUNDS: usize = 8;
/// Cells whose rows are searched before the caller hears of it.
const TOGETHER: usize = 64;
/// Cells searched at first.
const CELLS_AT_FIRST: usize = 16;
/// Rows that tell whether that is enough: so many runs of as many rows as are searched together at no extra cost.
const RUNS: usize = 60;
const RUN: usize = 12;
/// Share of true neighbours that the sample must find. Missing neighbours cost KL: a map of
/// 60000 digits was 0.7 % worse at a recall of 98 %, 0.1 % at 99.3 %.
const RECALL: f64 = 0.99;

/// Rows in the order of their cells.
pub(super) struct CellIndex {
    cols: usize,
    /// Original number of each row in cell order.
    rows: Vec<u32>,
    /// The rows in cell order.
    data: Matrix,
    mean: Vec<f32>,
    cells: Vec<Cell>,
    /// For each cell all cells, nearest first, as far as they may be searched.
    around: Vec<Vec<u32>>,
    longest: f32,
}

struct Cell {
    first: usize,
    packed: Packed,
}

impl CellIndex {
    pub(super) fn new(x: &Matrix, seed: u64) -> Self {
        let cols = x.cols();
        let mean = column_means(x);
        let members = divide_twice(x, x.rows().div_ceil(CELL), seed);
        let rows: Vec<u32> = members.iter().flatten().copied().collect();
        let data = x.select(&rows);
        let mut first = 0;
        let cells: Vec<Cell> = members
            .iter()
            .map(|members| {
                let own = &data.data()[first * cols..(first + members.len()) * cols];
                first += members.len();
                Cell { first: first - members.len(), packed: Packed::centred(own, &mean) }
            })
            .collect();
        let cell_of: Vec<u32> =
            cells.iter().enumerate().flat_map(|(c, cell)| vec![c as u32; cell.packed.rows()]).collect();
        let centres = centres_of(cells.len(), &cell_of, &data);
        let around = ExactIndex::of(&centres).nearest_of(&centres, cells.len().min(MOST_CELLS)).rows();
        let longest = cells.iter().map(|cell| cell.packed.longest()).fold(0.0, f32::max);
        Self { cols, rows, data, mean, cells, around, longest }
    }

    /// The `k` nearest other rows of every row as far as they are found, and the share of true neighbours among them
    /// in a sample.
    pub(super) fn nearest_of_all(
        &self,
        k: usize,
        seed: u64,
        done: &mut dyn FnMut(usize) -> bool,
    ) -> Option<(Neighbours, f64)> {
        let (searched, recall) = self.enough_cells(k, seed);
        let mut all = Neighbours::new(self.rows.len(), k);
        let numbers: Vec<usize> = (0..self.cells.len()).collect();
        for together in numbers.chunks(TOGETHER) {
            let found: Vec<Neighbours> =
                together.par_iter().map(|&cell| self.nearest_of_cell(cell, searched, k)).collect();
            let first = self.cells[together[0]].first;
            let rows: usize = found.iter().map(|found| found.indices.len() / k).sum();
            self.put_in_place(&found, first, &mut all);
            if !done(rows) {
                return None;
            }
        }
        Some((all, recall))
    }

    /// The nearest of the rows of one cell, all in cell order.
    fn nearest_of_cell(&self, cell: usize, searched: usize, k: usize) -> Neighbours {
        let Cell { first, packed } = &self.cells[cell];
        let mut found = Neighbours::new(packed.rows(), k);
        let around = self.searched_from(cell, searched, k);
        for from in (0..packed.rows()).step_by(block_rows(self.cols)) {
            let to = (from + block_rows(self.cols)).min(packed.rows());
            let out = (&mut found.indices[from * k..to * k], &mut found.distances2[from * k..to * k]);
            self.search(first + from..first + to, &around, k, out);
        }
        found
    }

    /// Puts what was found for the rows from `first` on where those rows are in the table, by their numbers there.
    fn put_in_place(&self, found: &[Neighbours], first: usize, all: &mut Neighbours) {
        let k = all.k;
        let found = found
            .iter()
            .flat_map(|of_cell| of_cell.indices.chunks_exact(k).zip(of_cell.distances2.chunks_exact(k)));
        for ((indices, distances), &row) in found.zip(&self.rows[first..]) {
            let place = row as usize * k..(row as usize + 1) * k;
            all.distances2[place.clone()].copy_from_slice(distances);
            let numbers = indices.iter().map(|&at| self.rows[at as usize]);
            all.indices[place].iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        }
    }

    /// The cells to search for the rows of `cell`: the nearest `searched`, or more if those do not hold `k` other rows.
    fn searched_from(&self, cell: usize, searched: usize, k: usize) -> Vec<u32> {
        let mut held = 0;
        let mut nearest = self.around[cell].iter().copied();
        let mut chosen: Vec<u32> = Vec::with_capacity(searched);
        while chosen.len() < searched || held <= k {
            let Some(next) = nearest.next() else { break };
            held += self.cells[next as usize].packed.rows();
            chosen.push(next);
        }
        if held <= k { (0..self.cells.len() as u32).collect() } else { chosen }
    }

    /// How many cells to search, and the recall that it gave for a sample.
    fn enough_cells(&self, k: usize, seed: u64) -> (usize, f64) {
        let runs: Vec<Range<usize>> = Random::new(seed ^ 0x5a3)
            .sample(self.cells.len(), RUNS)
            .into_iter()
            .map(|cell| {
                let Cell { first, packed } = &self.cells[cell as usize];
                *first..first + packed.rows().min(RUN)
            })
            .collect();
        let all: Vec<u32> = (0..self.cells.len() as u32).collect();
        let distances = |run: &Range<usize>, cells: &[u32]| {
            let mut found = Neighbours::new(run.len(), k);
            self.search(run.clone(), cells, k, (&mut found.indices, &mut found.distances2));
            found.distances2
        };
        let truth: Vec<Vec<f32>> = runs.par_iter().map(|run| distances(run, &all)).collect();
        let most = self.around.first().map_or(0, Vec::len);
        let mut searched = CELLS_AT_FIRST.min(most);
        loop {
            let hits: usize = runs
                .par_iter()
                .zip(&truth)
                .map(|(run, truth)| {
                    let cell = self.cells.partition_point(|cell| cell.first <= run.start) - 1;
                    let found = distances(run, &self.searched_from(cell, searched, k));
                    let rows = found.chunks_exact(k).zip(truth.chunks_exact(k));
                    rows.map(|(found, truth)| found.iter().filter(|&&d| d <= truth[k - 1]).count())
                        .sum::<usize>()
                })
                .sum();
            let recall = hits as f64 / truth.iter().map(Vec::len).sum::<usize>() as f64;
            if recall >= RECALL || searched == most {
                return (searched, recall);
            }
            searched = (searched + searched.div_ceil(4)).min(most);
        }
    }

    /// The nearest of the rows in `cells` for the rows `queries`, all in cell order.
    fn search(
        &self,
        queries: std::ops::Range<usize>,
        cells: &[u32],
        k: usize,
        out: (&mut [u32], &mut [f32]),
    ) {
        let own = queries.start as u32;
        let queries = &self.data.data()[queries.start * self.cols..queries.end * self.cols];
        let centred = centre(queries, &self.mean);
        let mut best: Vec<Nearest> = centred
            .chunks_exact(self.cols)
            .map(|query| Nearest::new(k + 1, rounding_bound(squared_length(query), self.longest, self.cols)))
            .collect();
        for &cell in cells {
            let Cell { first, packed } = &self.cells[cell as usize];
            scan(&centred, packed, *first as u32, &mut best);
        }
        let (data, cols) = (self.data.data(), self.cols);
        pulp::Arch::new().dispatch(Decide { best: &mut best, queries, data, cols, own: Some(own), out });
    }
}

/// More cells than this are never searched.
pub(crate) const MOST_CELLS: usize = 400;

/// The members of about `count` cells: first into √count groups, then each group into cells.
pub(super) fn divide_twice(x: &Matrix, count: usize, seed: u64) -> Vec<Vec<u32>> {
    let groups = divide(x, (count as f64).sqrt().round().max(1.0) as usize, seed);
    let cells: Vec<Vec<Vec<u32>>> = groups
        .into_par_iter()
        .map(|group| {
            let cells = divide(&x.select(&group), group.len().div_ceil(CELL), seed);
            cells.into_iter().map(|cell| cell.into_iter().map(|i| group[i as usize]).collect()).collect()
        })
        .collect();
    cells.into_iter().flatten().filter(|cell| !cell.is_empty()).collect()
}

/// The members of each of `count` cells, by k-means on a sample.
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
    for (row, &cell) in ExactIndex::of(&centres).nearest_of(x, 1).indices.iter().enumerate() {
        members[cell as usize].push(row as u32);
    }
    members
}

/// Each centre to the mean of its rows; one without rows stays.
fn move_centres(centres: &mut Matrix, rows: &Matrix, nearest: &[u32]) {
    let cols = rows.cols();
    let mut sums = vec![0.0f64; centres.rows() * cols];
    let mut counts = vec![0u32; centres.rows()];
    for (row, &cell) in rows.data().chunks_exact(cols).zip(nearest) {
        counts[cell as usize] += 1;
        let sum = &mut sums[cell as usize * cols..][..cols];
        sum.iter_mut().zip(row).for_each(|(sum, &v)| *sum += f64::from(v));
    }
    let means = sums.chunks_exact(cols).zip(&counts);
    for (centre, (sum, &count)) in centres.data_mut().chunks_exact_mut(cols).zip(means) {
        if count > 0 {
            centre.iter_mut().zip(sum).for_each(|(c, sum)| *c = (sum / f64::from(count)) as f32);
        }
    }
}

/// The mean of each cell's rows.
pub(super) fn centres_of(cells: usize, cell_of: &[u32], rows: &Matrix) -> Matrix {
    let mut centres = Matrix::zeros(cells, rows.cols());
    move_centres(&mut centres, rows, cell_of);
    centres
}
