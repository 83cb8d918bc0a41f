//! Positions for outliers: free cells of a grid over the map, then rings of cells around it. The grid and its rings are of
//! Boytsov, Fouquet, Hartmann & Le Traon 2017 (`lion`); the search for the nearest free cell and cells that are given
//! back are ours.
//!
//! Along each dimension the map's extent is divided into as many cells as fit, each at least 2 r_y wide. The centre of a
//! cell without any place in it is at least r_y from every place. Cells beyond the extent are 2 r_y wide outwards, and
//! those of one ring are handed out before the next begins; on a line a ring is two cells, one at each end. No cell is handed out twice, unless it was given back.

mod ring_cells;

use crate::matrix::Matrix;
use crate::random::Random;
use ring_cells::RingCells;
use std::collections::{HashMap, HashSet};

/// Which free position an outlier gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Positions {
    /// The one closest to the place of the outlier's nearest row.
    #[default]
    Nearest,
    /// Any, by the seed and the outlier itself.
    Random,
}

crate::named!(Positions, "positions": Nearest = "nearest", Random = "random");

/// A cell by its number along each dimension. Numbers below 0 and from the count on are outside the map.
pub(crate) type OutlierCell = [i64; 3];

/// More cells than this along a dimension are not needed: wider ones are as good.
const MOST_CELLS: f64 = 1e9;
/// The same where rings are all there is, which are listed cell by cell; on a line and in the plane, and in space.
const MOST_IN_RINGS: [f64; 2] = [1e5, 300.0];
/// A place this close to a bound, in cells, is on both sides of it.
const ON_BOUND: f64 = 1e-6;
/// Cells that are drawn at random before the nearest free one to the last is taken.
const DRAWS: usize = 64;

/// The grid of a map: which have places in them, and which were handed out.
#[derive(Clone, Debug)]
pub(crate) struct OutlierGrid {
    dims: usize,
    low: [f64; 3],
    high: [f64; 3],
    /// Along the map, and outwards.
    side: [f64; 3],
    step: f64,
    count: OutlierCell,
    /// Cells of the map with a place in them, or handed out.
    used: HashSet<OutlierCell>,
    /// Free cells of the map.
    free: u128,
    /// The ring that is being handed out, and what is free of it and of those before it.
    ring: i64,
    free_ring_cells: RingCells,
    /// For a cell from which a search began, how far around it no cell is free.
    searched: HashMap<OutlierCell, i64>,
}

impl OutlierGrid {
    /// The cells of places `y`; positions shall be `r_y` from each of them and from each other.
    pub(crate) fn new(y: &Matrix, r_y: f64) -> Self {
        let dims = y.cols();
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for place in y.data().chunks_exact(dims) {
            for d in 0..dims {
                low[d] = low[d].min(f64::from(place[d]));
                high[d] = high[d].max(f64::from(place[d]));
            }
        }
        // A plane is one cell thick, and a line one cell wide, whatever is in it.
        (low[dims..]).fill(0.0);
        (high[dims..]).fill(0.0);
        let step = 2.0 * r_y;
        let fitting: [f64; 3] = std::array::from_fn(|d| ((high[d] - low[d]) / step).floor().min(MOST_CELLS));
        // A map narrower than a cell has no cells of its own.
        let narrow = fitting[..dims].contains(&0.0);
        let most = if narrow { MOST_IN_RINGS[usize::from(dims == 3)] } else { MOST_CELLS };
        let count = std::array::from_fn(|d| fitting[d].clamp(1.0, most) as i64);
        let side = std::array::from_fn(|d| (high[d] - low[d]) / count[d] as f64);
        let mut grid = Self {
            dims,
            low,
            high,
            side,
            step,
            count,
            used: HashSet::new(),
            free: 0,
            ring: 0,
            free_ring_cells: RingCells::default(),
            searched: HashMap::new(),
        };
        if !narrow {
            y.data().chunks_exact(dims).for_each(|place| grid.occupy(place));
            let all: u128 = count[..dims].iter().map(|&n| n as u128).product();
            grid.free = all - grid.used.len() as u128;
        }
        grid
    }

    /// Hands out a cell: the free one whose centre is closest to `target`.
    pub(crate) fn nearest(&mut self, target: &[f64; 3]) -> OutlierCell {
        let cell = match self.free > 0 {
            true => self.nearest_inside(target),
            false => {
                self.fill_ring();
                // The ring was filled: something is left of it.
                self.free_ring_cells.take_nearest(target).unwrap_or_default()
            }
        };
        self.take(cell)
    }

    /// Hands out a cell drawn at random. Where few are left, it is the free one nearest to a draw.
    pub(crate) fn random(&mut self, random: &mut Random) -> OutlierCell {
        if self.free == 0 {
            self.fill_ring();
            let number = random.below(self.free_ring_cells.len());
            let cell = self.free_ring_cells.take_in_order(number).unwrap_or_default();
            return self.take(cell);
        }
        let mut draw =
            || -> OutlierCell { std::array::from_fn(|d| random.below(self.count[d] as usize) as i64) };
        let mut cell = draw();
        for _ in 1..DRAWS {
            if !self.used.contains(&cell) {
                return self.take(cell);
            }
            cell = draw();
        }
        let target = self.centre(&cell);
        let cell = self.nearest_inside(&target);
        self.take(cell)
    }

    fn take(&mut self, cell: OutlierCell) -> OutlierCell {
        if self.is_inside(&cell) && self.free > 0 && self.used.insert(cell) {
            self.free -= 1;
        }
        cell
    }

    /// Takes back a cell that was handed out: it may be handed out again.
    pub(crate) fn release(&mut self, cell: OutlierCell) {
        if !self.is_inside(&cell) {
            self.free_ring_cells.push(cell, self.centre(&cell));
        } else if self.used.remove(&cell) {
            self.free += 1;
            self.searched.clear();
        }
    }

    /// The ring that is being handed out; 0 before the first.
    pub(crate) fn ring(&self) -> i64 {
        self.ring
    }

    /// How many cells a fresh grid must have handed out, all at a time, before a ring begins.
    pub(crate) fn before_ring(&self, ring: i64) -> u128 {
        let all = |ring: i64| -> u128 {
            let counts = self.count[..self.dims].iter();
            counts.map(|count| count.saturating_add(2 * ring).unsigned_abs() as u128).product()
        };
        if ring == 0 { 0 } else { self.free + all(ring - 1) - all(0) }
    }

    /// Goes on from where `ring` was being handed out and these cells were in use.
    pub(crate) fn resume(&mut self, ring: i64, in_use: &[OutlierCell]) {
        in_use.iter().for_each(|&cell| _ = self.take(cell));
        let in_use: HashSet<&OutlierCell> = in_use.iter().collect();
        self.ring = ring;
        let cells = (1..=ring).flat_map(|ring| self.cells_of(ring));
        self.free_ring_cells = self.with_centres(cells.filter(|cell| !in_use.contains(cell)));
    }

    fn is_inside(&self, cell: &OutlierCell) -> bool {
        cell.iter().zip(&self.count).all(|(at, count)| (0..*count).contains(at))
    }

    /// The middle of a cell; 0 along the dimensions that the map does not have.
    pub(crate) fn centre(&self, cell: &OutlierCell) -> [f64; 3] {
        std::array::from_fn(|d| {
            let (at, count) = (cell[d], self.count[d]);
            match at {
                _ if at < 0 => self.low[d] + (at as f64 + 0.5) * self.step,
                _ if at >= count => self.high[d] + ((at - count) as f64 + 0.5) * self.step,
                _ => self.low[d] + (at as f64 + 0.5) * self.side[d],
            }
        })
    }

    fn distance2(&self, cell: &OutlierCell, target: &[f64; 3]) -> f64 {
        self.centre(cell).iter().zip(target).map(|(a, b)| (a - b).powi(2)).sum()
    }

    /// Marks the cells that a place is in: two along a dimension where it is on the bound between them.
    fn occupy(&mut self, place: &[f32]) {
        let mut spans = [(0, 0); 3];
        for d in 0..self.dims {
            let at = (f64::from(place[d]) - self.low[d]) / self.side[d];
            let number = |at: f64| (at.floor() as i64).clamp(0, self.count[d] - 1);
            spans[d] = (number(at - ON_BOUND), number(at + ON_BOUND));
        }
        for a in spans[0].0..=spans[0].1 {
            for b in spans[1].0..=spans[1].1 {
                for c in spans[2].0..=spans[2].1 {
                    self.used.insert([a, b, c]);
                }
            }
        }
    }

    /// The free cell of the map whose centre is closest to a target inside the map: shells of cells around the target's
    /// own, until none farther out can be closer.
    fn nearest_inside(&mut self, target: &[f64; 3]) -> OutlierCell {
        let home: OutlierCell = std::array::from_fn(|d| match self.side[d] > 0.0 {
            true => (((target[d] - self.low[d]) / self.side[d]).floor() as i64).clamp(0, self.count[d] - 1),
            false => 0,
        });
        let narrowest = self.side[..self.dims].iter().copied().fold(f64::INFINITY, f64::min);
        let farthest = self.count.iter().copied().max().unwrap_or(1);
        let mut best: Option<(f64, OutlierCell)> = None;
        let mut first_free = None;
        for shell in self.searched.get(&home).copied().unwrap_or(0)..=farthest {
            let closest = (shell as f64 - 0.5).max(0.0) * narrowest;
            if best.is_some_and(|(distance2, _)| distance2 < closest * closest) {
                break;
            }
            self.for_each_in_shell(&home, shell, |cell| {
                if !self.used.contains(&cell) {
                    first_free.get_or_insert(shell);
                    let found = (self.distance2(&cell, target), cell);
                    if best.is_none_or(|best| found < best) {
                        best = Some(found);
                    }
                }
            });
        }
        self.searched.insert(home, first_free.unwrap_or(farthest));
        // There is a free cell: this is called for no other maps.
        best.map_or(home, |(_, cell)| cell)
    }

    /// Every cell of the map that is `shell` cells from `home` along one dimension and no more along any.
    fn for_each_in_shell(&self, home: &OutlierCell, shell: i64, mut visit: impl FnMut(OutlierCell)) {
        let span = |d: usize| (home[d] - shell).max(0)..=(home[d] + shell).min(self.count[d] - 1);
        for a in span(0) {
            let a_on = (a - home[0]).abs() == shell;
            for b in span(1) {
                let on = a_on || (b - home[1]).abs() == shell;
                if on {
                    span(2).for_each(|c| visit([a, b, c]));
                } else {
                    let ends = [home[2] - shell, home[2] + shell];
                    let ends = if shell == 0 { &ends[..1] } else { &ends };
                    ends.iter().filter(|c| span(2).contains(c)).for_each(|&c| visit([a, b, c]));
                }
            }
        }
    }

    /// Makes sure that something is left of the ring.
    fn fill_ring(&mut self) {
        if !self.free_ring_cells.is_empty() {
            return;
        }
        self.ring += 1;
        self.free_ring_cells = self.with_centres(self.cells_of(self.ring).into_iter());
    }

    fn with_centres(&self, cells: impl Iterator<Item = OutlierCell>) -> RingCells {
        let mut left = RingCells::default();
        cells.for_each(|cell| left.push(cell, self.centre(&cell)));
        left
    }

    fn cells_of(&self, ring: i64) -> Vec<OutlierCell> {
        let span = |d: usize| if d < self.dims { -ring..self.count[d] + ring } else { 0..1 };
        let on_edge = |d: usize, at: i64| d < self.dims && (at == -ring || at == self.count[d] - 1 + ring);
        let mut left = Vec::new();
        for a in span(0) {
            for b in span(1) {
                if on_edge(0, a) || on_edge(1, b) {
                    left.extend(span(2).map(|c| [a, b, c]));
                } else if self.dims == 3 {
                    left.extend([-ring, self.count[2] - 1 + ring].map(|c| [a, b, c]));
                }
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(n: usize, without: &[(usize, usize)]) -> Matrix {
        let cells = (0..n * n).map(|i| (i % n, i / n)).filter(|cell| !without.contains(cell));
        let mut data: Vec<f32> = cells.flat_map(|(a, b)| [a as f32 + 0.5, b as f32 + 0.5]).collect();
        // The corners, so that the extent is whole.
        data.extend([0.0, 0.0, n as f32, n as f32]);
        Matrix::new(data.len() / 2, 2, data).unwrap()
    }

    #[test]
    fn holes_first_then_rings() {
        let mut grid = OutlierGrid::new(&square(5, &[(2, 2), (3, 1)]), 0.5);
        assert_eq!(grid.free, 2);
        let mut nearest = |target: &[f64; 3]| {
            let cell = grid.nearest(target);
            grid.centre(&cell)
        };
        assert_eq!(nearest(&[3.4, 1.4, 0.0]), [3.5, 1.5, 0.0]);
        assert_eq!(nearest(&[3.4, 1.4, 0.0]), [2.5, 2.5, 0.0]);
        // The ring: 7 x 7 less 5 x 5.
        let ring: Vec<[f64; 3]> = (0..24).map(|_| nearest(&[2.5, 2.5, 0.0])).collect();
        assert_eq!(ring[0], [-0.5, 2.5, 0.0]);
        assert!(ring.iter().all(|p| [-0.5, 5.5].contains(&p[0]) || [-0.5, 5.5].contains(&p[1])));
        // The next.
        assert_eq!(nearest(&[2.5, 2.5, 0.0]), [-1.5, 2.5, 0.0]);
    }

    /// Given back, a cell is the next to be handed out; and a copy that resumes hands out the same.
    #[test]
    fn released_cells_are_handed_out_again() {
        let fresh = OutlierGrid::new(&square(5, &[(2, 2), (3, 1)]), 0.5);
        let mut grid = fresh.clone();
        let mut given: Vec<OutlierCell> = (0..40).map(|_| grid.nearest(&[3.4, 1.4, 0.0])).collect();
        // Cells of the map last: while one of those is free, no other is handed out.
        for at in [30, 5, 1, 0] {
            let cell = given.swap_remove(at);
            grid.release(cell);
            assert_eq!(grid.nearest(&grid.centre(&cell)), cell);
            grid.release(cell);
        }
        let mut again = fresh;
        again.resume(grid.ring(), &given);
        let handed: Vec<OutlierCell> = (0..60).map(|_| grid.nearest(&[0.0, 4.0, 0.0])).collect();
        assert_eq!(handed, (0..60).map(|_| again.nearest(&[0.0, 4.0, 0.0])).collect::<Vec<_>>());
        given.extend(handed);
        given.sort();
        assert!(given.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn places_on_a_bound_are_in_both_cells() {
        let y = Matrix::new(4, 2, vec![0.0, 0.0, 1.0, 0.5, 3.0, 1.0, 2.0, 0.5]).unwrap();
        assert_eq!(OutlierGrid::new(&y, 0.5).free, 0);
    }

    #[test]
    fn tiny_radii_list_nothing() {
        let y = Matrix::new(3, 2, vec![0.0, 0.0, 1.0, 1.0, 0.3, 0.2]).unwrap();
        let mut grid = OutlierGrid::new(&y, 1e-12);
        let cell = grid.nearest(&[0.3, 0.2, 0.0]);
        let place = grid.centre(&cell);
        assert!((place[0] - 0.3).hypot(place[1] - 0.2) < 1e-8);
        let line = Matrix::new(2, 2, vec![0.0, 0.0, 1.0, 0.0]).unwrap();
        let mut grid = OutlierGrid::new(&line, 1e-12);
        let cell = grid.nearest(&[0.5, 0.0, 0.0]);
        assert!(grid.centre(&cell)[0].is_finite());
    }
}
