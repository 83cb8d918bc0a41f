//! Nearest neighbours among places: a k-d tree (Bentley 1975, Multidimensional Binary Search Trees Used for Associative
//! Searching) for one to three dimensions.

use rayon::prelude::*;

/// Places in a leaf.
const LEAF: usize = 16;

/// Places in the order of a tree: each half of a slice lies on one side of the middle one, along the widest dimension.
pub struct KdTree {
    dims: usize,
    /// Row and place, in tree order.
    points: Vec<(u32, [f32; 3])>,
    /// The dimension along which each middle point divides.
    axes: Vec<u8>,
}

impl KdTree {
    /// From places of `dims` dimensions, row after row.
    pub fn new(places: &[f32], dims: usize) -> Self {
        let mut points: Vec<(u32, [f32; 3])> = (0..)
            .zip(places.chunks_exact(dims))
            .map(|(row, place)| {
                let mut point = [0.0; 3];
                point[..dims].copy_from_slice(place);
                (row, point)
            })
            .collect();
        let mut axes = vec![0; points.len()];
        divide(&mut points, &mut axes);
        Self { dims, points, axes }
    }

    /// The `k` nearest places to `place`, as squared distances and rows, nearest first; of equal ones the first row first.
    pub fn nearest(&self, place: &[f32], k: usize, without: Option<u32>) -> Vec<(f64, u32)> {
        let mut at = [0.0; 3];
        at[..self.dims].copy_from_slice(&place[..self.dims]);
        let mut best = Vec::with_capacity(k + 1);
        if k > 0 {
            self.visit(0..self.points.len(), &at, k, &|row| Some(row) != without, &mut best);
        }
        best
    }

    /// The nearest place that is wanted, as its squared distance and row; of equal ones the first row.
    pub fn nearest_where(&self, place: &[f32], is_wanted: impl Fn(u32) -> bool) -> Option<(f64, u32)> {
        let mut at = [0.0; 3];
        at[..self.dims].copy_from_slice(&place[..self.dims]);
        let mut best = Vec::with_capacity(2);
        self.visit(0..self.points.len(), &at, 1, &|row| is_wanted(row), &mut best);
        best.first().copied()
    }

    /// The distance of every place to the nearest other one.
    pub fn nearest_distances(&self) -> Vec<f32> {
        let found: Vec<(u32, f32)> = self
            .points
            .par_iter()
            .map(|(row, point)| {
                let nearest = self.nearest(point, 1, Some(*row));
                (*row, nearest.first().map_or(0.0, |(distance2, _)| distance2.sqrt() as f32))
            })
            .collect();
        let mut distances = vec![0.0; found.len()];
        found.into_iter().for_each(|(row, distance)| distances[row as usize] = distance);
        distances
    }

    fn visit(
        &self,
        range: std::ops::Range<usize>,
        at: &[f32; 3],
        k: usize,
        is_wanted: &impl Fn(u32) -> bool,
        best: &mut Vec<(f64, u32)>,
    ) {
        if range.len() <= LEAF {
            self.points[range].iter().for_each(|point| offer(point, at, k, is_wanted, best));
            return;
        }
        let middle = range.start + range.len() / 2;
        let axis = self.axes[middle] as usize;
        let gap = f64::from(at[axis]) - f64::from(self.points[middle].1[axis]);
        let (near, far) = match gap <= 0.0 {
            true => (range.start..middle, middle + 1..range.end),
            false => (middle + 1..range.end, range.start..middle),
        };
        self.visit(near, at, k, is_wanted, best);
        offer(&self.points[middle], at, k, is_wanted, best);
        if best.len() < k || best.last().is_some_and(|(distance2, _)| gap * gap <= *distance2) {
            self.visit(far, at, k, is_wanted, best);
        }
    }
}

/// Keeps a point if it is among the `k` nearest so far.
fn offer(
    (row, point): &(u32, [f32; 3]),
    at: &[f32; 3],
    k: usize,
    is_wanted: &impl Fn(u32) -> bool,
    best: &mut Vec<(f64, u32)>,
) {
    let distance2 = point.iter().zip(at).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>();
    let found = (distance2, *row);
    if best.len() == k && best.last().is_some_and(|last| *last <= found) || !is_wanted(*row) {
        return;
    }
    let slot = best.partition_point(|other| *other < found);
    best.insert(slot, found);
    best.truncate(k);
}

fn divide(points: &mut [(u32, [f32; 3])], axes: &mut [u8]) {
    if points.len() <= LEAF {
        return;
    }
    let axis = widest(points);
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.1[axis].total_cmp(&b.1[axis]).then(a.0.cmp(&b.0)));
    axes[middle] = axis as u8;
    let (left, right) = points.split_at_mut(middle);
    let (left_axes, right_axes) = axes.split_at_mut(middle);
    rayon::join(|| divide(left, left_axes), || divide(&mut right[1..], &mut right_axes[1..]));
}

fn widest(points: &[(u32, [f32; 3])]) -> usize {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (_, point) in points {
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    let width = |axis: usize| high[axis] - low[axis];
    (0..3).max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn as_comparing_with_every_place() {
        let mut random = Random::new(5);
        for (dims, rounding) in [(1, 50.0), (2, 1.0), (3, 1.0), (2, 4.0)] {
            // Rounded places tie often.
            let places: Vec<f32> = (0..500 * dims)
                .map(|_| (random.gaussian() * rounding).round() as f32 / rounding as f32)
                .collect();
            let tree = KdTree::new(&places, dims);
            for (row, place) in (0..).zip(places.chunks_exact(dims)) {
                let mut all: Vec<(f64, u32)> = (0..)
                    .zip(places.chunks_exact(dims))
                    .filter(|&(other, _)| other != row)
                    .map(|(other, p)| {
                        let d = p.iter().zip(place).map(|(a, b)| f64::from(a - b).powi(2)).sum();
                        (d, other)
                    })
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                assert_eq!(tree.nearest(place, 7, Some(row)), all[..7]);
            }
        }
    }

    #[test]
    fn one_place_has_no_other() {
        assert_eq!(KdTree::new(&[1.0, 2.0], 2).nearest_distances(), [0.0]);
    }
}
