//! Outlier positions written down a second time: cells over the plot, rings of cells around it, all of them listed.

use super::oracle::distance;

/// A cell: for each dimension its number along it. The plot is 0 up to the number of cells; rings are below and beyond.
pub(super) type OracleCell = Vec<i64>;

/// Cells over the places and around them.
pub(super) struct OracleGrid {
    places: Vec<Vec<f64>>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// floor(extent / 2 r_y) along each dimension.
    counts: Vec<i64>,
    r_y: f64,
}

impl OracleGrid {
    pub(super) fn new(places: &[Vec<f64>], r_y: f64) -> Self {
        let dims = 0..places[0].len();
        let along = |d: usize| places.iter().map(move |y| y[d]);
        let low: Vec<f64> = dims.clone().map(|d| along(d).fold(f64::INFINITY, f64::min)).collect();
        let high: Vec<f64> = dims.map(|d| along(d).fold(f64::NEG_INFINITY, f64::max)).collect();
        let counts = low.iter().zip(&high).map(|(l, h)| ((h - l) / (2.0 * r_y)).floor() as i64).collect();
        Self { places: places.to_vec(), low, high, counts, r_y }
    }

    /// Cells along dimension `d` of the plot, which counts as one cell where it is narrower than that.
    fn across(&self, d: usize) -> i64 {
        self.counts[d].max(1)
    }

    /// Where the cell with this number begins and ends along dimension `d`: the sides are 2 r_y outside the plot, and
    /// within it such that a whole number of cells fills it.
    fn bounds(&self, d: usize, number: i64) -> (f64, f64) {
        let (low, high, across, outward) = (self.low[d], self.high[d], self.across(d), 2.0 * self.r_y);
        if number < 0 {
            return (low + number as f64 * outward, low + (number + 1) as f64 * outward);
        }
        if number >= across {
            let beyond = number - across;
            return (high + beyond as f64 * outward, high + (beyond + 1) as f64 * outward);
        }
        let edge = |n: i64| match n == across {
            true => high,
            false => low + (high - low) * n as f64 / across as f64,
        };
        (edge(number), edge(number + 1))
    }

    pub(super) fn centre(&self, cell: &[i64]) -> Vec<f64> {
        let middle = |(d, &number): (usize, &i64)| {
            let (from, to) = self.bounds(d, number);
            0.5 * (from + to)
        };
        cell.iter().enumerate().map(middle).collect()
    }

    /// How many rings lie between the plot and the far side of the cell: 0 inside the plot.
    pub(super) fn ring_of(&self, cell: &[i64]) -> i64 {
        let outside = |(d, &n): (usize, &i64)| (-n).max(n - self.across(d) + 1).max(0);
        cell.iter().enumerate().map(outside).max().expect("a dimension")
    }

    /// Whether some place lies in the cell or on its bounds.
    fn occupied(&self, cell: &[i64]) -> bool {
        let inside = |y: &[f64]| {
            cell.iter().enumerate().all(|(d, &number)| {
                let (from, to) = self.bounds(d, number);
                from <= y[d] && y[d] <= to
            })
        };
        self.places.iter().any(|y| inside(y))
    }

    /// The cells of a ring, by their numbers; ring 0 is the free cells of the plot, none where the plot is narrower
    /// than a cell.
    pub(super) fn ring(&self, ring: i64) -> Vec<OracleCell> {
        let mut cells: Vec<OracleCell> = vec![Vec::new()];
        for d in 0..self.counts.len() {
            let along = -ring..self.across(d) + ring;
            let longer = |cell: OracleCell| along.clone().map(move |n| [cell.as_slice(), &[n]].concat());
            cells = cells.into_iter().flat_map(longer).collect();
        }
        cells.retain(|cell| self.ring_of(cell) == ring);
        if ring == 0 {
            let narrow = self.counts.contains(&0);
            cells.retain(|cell| !narrow && !self.occupied(cell));
        }
        cells
    }

    /// The free position closest to `target`, of equally close ones that of the lowest cell: inside the plot while
    /// there is one, then ring by ring.
    pub(super) fn nearest_position(&self, target: &[f64], taken: &[OracleCell]) -> OracleCell {
        for ring in 0.. {
            let mut free = self.ring(ring);
            free.retain(|cell| !taken.contains(cell));
            let from_target = |cell: &OracleCell| distance(target, &self.centre(cell));
            if let Some(cell) = free.into_iter().min_by(|a, b| from_target(a).total_cmp(&from_target(b))) {
                return cell;
            }
        }
        unreachable!("there is always another ring")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plot of 6 x 6 with r_y = 1, so of 3 x 3 cells of side 2, with a place in the middle of each cell but those
    /// listed. Places in the corners hold it open.
    fn plot(without: &[[i64; 2]]) -> OracleGrid {
        let mut places: Vec<Vec<f64>> = vec![vec![0.0, 0.0], vec![6.0, 6.0]];
        for a in 0..3 {
            for b in 0..3 {
                if !without.contains(&[a, b]) {
                    places.push(vec![2.0 * a as f64 + 1.0, 2.0 * b as f64 + 1.0]);
                }
            }
        }
        OracleGrid::new(&places, 1.0)
    }

    #[test]
    fn a_hole_is_the_only_position() {
        let grid = plot(&[[1, 1]]);
        assert_eq!(grid.counts, [3, 3]);
        assert_eq!(grid.ring(0), [[1, 1]]);
        assert_eq!(grid.centre(&[1, 1]), [3.0, 3.0]);
    }

    #[test]
    fn the_ring_around_has_sixteen_cells() {
        let grid = plot(&[]);
        assert_eq!(grid.ring(0), Vec::<OracleCell>::new());
        let ring = grid.ring(1);
        assert_eq!(ring.len(), 25 - 9);
        assert_eq!((ring[0].as_slice(), ring[15].as_slice()), (&[-1, -1][..], &[3, 3][..]));
        assert_eq!(grid.centre(&[-1, 0]), [-1.0, 1.0]);
        assert_eq!(grid.centre(&[3, -1]), [7.0, -1.0]);
        assert_eq!(grid.ring(2).len(), 49 - 25);
        assert_eq!(grid.centre(&[-2, 4]), [-3.0, 9.0]);
    }

    #[test]
    fn cells_stretch_to_fill_the_plot_and_rings_do_not() {
        // 5 wide: two cells of 2.5; 3 high: one cell of 3.
        let grid = OracleGrid::new(&[vec![0.0, 0.0], vec![5.0, 3.0]], 1.0);
        assert_eq!(grid.counts, [2, 1]);
        assert_eq!(grid.centre(&[1, 0]), [3.75, 1.5]);
        assert_eq!(grid.centre(&[2, -1]), [6.0, -1.0]);
        assert_eq!(grid.centre(&[0, 1]), [1.25, 4.0]);
    }

    #[test]
    fn a_place_on_a_shared_bound_occupies_both_cells() {
        // 4 x 2 with r_y = 0.5: 4 x 2 cells. The place (2, 0.5) is on the bound of (1, 0) and (2, 0), the corner
        // (0, 0) in (0, 0), the corner (4, 2) in (3, 1), the place (1, 1) on the bounds of four cells.
        let places = [[0.0, 0.0], [4.0, 2.0], [2.0, 0.5], [1.0, 1.0]].map(|y| y.to_vec());
        assert_eq!(OracleGrid::new(&places, 0.5).ring(0), [[2, 1], [3, 0]]);
    }

    #[test]
    fn the_closest_is_taken_first_then_the_lowest_then_the_ring() {
        let grid = plot(&[[0, 2], [2, 0], [2, 2]]);
        // (2, 2) holds the corner of the plot, so two positions are left; both are as far from the middle.
        assert_eq!(grid.ring(0), [[0, 2], [2, 0]]);
        assert_eq!(grid.nearest_position(&[3.0, 3.0], &[]), [0, 2]);
        assert_eq!(grid.nearest_position(&[3.1, 3.0], &[]), [2, 0]);
        assert_eq!(grid.nearest_position(&[3.1, 3.0], &[vec![2, 0]]), [0, 2]);
        let inside = vec![vec![2, 0], vec![0, 2]];
        assert_eq!(grid.nearest_position(&[3.1, 5.9], &inside), [1, 3]);
        let mut all = inside;
        all.extend(grid.ring(1));
        assert_eq!(grid.nearest_position(&[5.9, 3.0], &all), [4, 1]);
    }

    #[test]
    fn a_narrow_plot_is_one_cell_across_without_a_position() {
        // 6 wide, no height at all.
        let grid = OracleGrid::new(&[vec![0.0, 5.0], vec![6.0, 5.0]], 1.0);
        assert_eq!(grid.counts, [3, 0]);
        assert_eq!(grid.ring(0), Vec::<OracleCell>::new());
        assert_eq!(grid.ring(1).len(), 5 * 3 - 3);
        assert_eq!(grid.centre(&[1, 1]), [3.0, 6.0]);
        assert_eq!(grid.centre(&[-1, 0]), [-1.0, 5.0]);
        let point = OracleGrid::new(&[vec![2.0, 5.0]], 1.0);
        assert_eq!(point.ring(1).len(), 8);
        assert_eq!(point.centre(&[1, -1]), [3.0, 4.0]);
    }

    #[test]
    fn space_has_cubes() {
        let grid = OracleGrid::new(&[vec![0.0; 3], vec![4.0; 3]], 1.0);
        assert_eq!(grid.ring(0).len(), 8 - 2);
        assert_eq!(grid.ring(1).len(), 64 - 8);
        assert_eq!(grid.centre(&[0, 1, 2]), [1.0, 3.0, 5.0]);
    }
}
