//! Distances in product form, |x|² + |y|² - 2xy: from which point rows are measured, and how far such a distance can be off. Ours.

use super::scan::squared_length;
use crate::matrix::Matrix;

/// Rows that the medians are taken of, at most: any centre is right, and this many find one amid the rows.
const SAMPLE: usize = 1023;

/// The centre that rows are measured from: the median of each column, by rows at equal steps through the table. The shorter rows
/// are, the less their distances round; a mean would follow a single row that is far from all others.
pub(super) fn column_medians(x: &Matrix) -> Vec<f32> {
    let step = x.rows().div_ceil(SAMPLE).max(1);
    let mut values = Vec::with_capacity(SAMPLE);
    let median = |column: usize| {
        values.clear();
        values.extend(x.data().iter().skip(column).step_by(step * x.cols()));
        let middle = values.len() / 2;
        if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f32::total_cmp).1 }
    };
    (0..x.cols()).map(median).collect()
}

/// The rows of an array less their centre.
pub(super) fn centre(data: &[f32], median: &[f32]) -> Vec<f32> {
    data.chunks_exact(median.len()).flat_map(|row| row.iter().zip(median).map(|(v, m)| v - m)).collect()
}

/// How far product-form distances from one query can be off.
#[derive(Clone, Copy, Default)]
pub(super) struct Rounding {
    /// Length of the centred query.
    length: f32,
    /// Length of the longest centred row.
    longest: f32,
    /// Error of a pair of distances, by the square of both lengths together.
    share: f32,
}

impl Rounding {
    /// Of a centred query among centred rows, the longest of which has this squared length.
    pub(super) fn new(query: &[f32], longest2: f32) -> Self {
        // Twice the worst error of |y|² - 2xy + |x|² summed in order, times two for the pair compared.
        let share = (query.len() as f32 + 8.0) * f32::EPSILON;
        Self { length: squared_length(query).sqrt(), longest: longest2.sqrt(), share }
    }

    /// The most by which two distances up to `distance2` (squared) can be in the wrong order.
    ///
    /// How long the longest row is does not matter: a row within that distance of the query is not longer than both lengths
    /// together, and one that is more than twice as long has a larger distance in product form, too, since its error is a small
    /// share of its length.
    pub(super) fn within(self, distance2: f32) -> f32 {
        let near = 2.0 * (self.length + distance2.sqrt());
        let lengths = self.length + self.longest.min(near);
        self.share * lengths * lengths
    }

    /// A row farther than this (squared) in product form is farther than `distance2`.
    pub(super) fn reach(self, distance2: f32) -> f32 {
        distance2 + self.within(distance2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// No row within a distance is beyond the reach of it, however long other rows are; and a far row does not lengthen it.
    #[test]
    fn near_rows_are_within_reach() {
        let mut random = Random::new(5);
        for (cols, far) in [(1, 1.0), (5, 1e3), (50, 1e6), (700, 30.0)] {
            let length = |row: &[f32]| row.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() as f32;
            let query: Vec<f32> = (0..cols).map(|_| random.gaussian() as f32).collect();
            for scale in [1e-6, 1e-2, 1.0, 10.0, far] {
                let row: Vec<f32> = query.iter().map(|v| v + (scale * random.gaussian()) as f32).collect();
                let distance2: f64 =
                    query.iter().zip(&row).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
                let product: f32 = query.iter().zip(&row).fold(length(&row), |sum, (a, b)| sum - 2.0 * a * b);
                let rounding = Rounding::new(&query, length(&row).max((far * far) as f32));
                let reach = rounding.reach(distance2 as f32);
                assert!(product + length(&query) <= reach, "{cols} columns, scale {scale}");
                let with_farther = Rounding::new(&query, 1e30).within(distance2 as f32);
                let lengths =
                    length(&query).sqrt() + 2.0 * (length(&query).sqrt() + (distance2 as f32).sqrt());
                assert!(with_farther <= 1.01 * (cols as f32 + 8.0) * f32::EPSILON * lengths * lengths);
            }
        }
    }

    #[test]
    fn one_far_row_does_not_move_the_centre() {
        for rows in [1, 2, 5, 4000] {
            let mut data = vec![0.25; 3 * rows];
            if rows > 2 {
                data[..3].fill(1e38);
            }
            assert_eq!(column_medians(&Matrix::from_rows(3, data)), [0.25; 3], "{rows} rows");
        }
    }
}
