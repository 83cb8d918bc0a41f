//! The least of |A X - B|² + μ² |X|², for systems that are singular to rounding.
//!
//! Source: Hoerl and Kennard (1970), "Ridge regression: biased estimation for nonorthogonal problems".

use super::largest;
use super::lu::Lu;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of the normal equations that one thread works out at a time.
const STRIP: usize = 128;
/// The normal equations hold if what they leave is this share of their right side at most.
const SMALL: f64 = 1e-6;

/// Solves AᵀA X + μ² X = Aᵀ B for an n x n matrix A given row after row and columns B; μ is the share `ridge` of A's norm.
/// `None` if `report` says stop, nothing inside if rounding does not let the equations hold.
pub(super) fn least_squares(
    n: usize,
    matrix: &[f64],
    right: &[f64],
    ridge: f64,
    report: &mut dyn FnMut(usize) -> bool,
) -> Option<Option<Vec<f64>>> {
    // Row after row, it is the transpose column after column.
    let transpose = MatRef::from_column_major_slice(matrix, n, n);
    let mut normal = vec![0.0; n * n];
    normal.par_chunks_mut(STRIP * n).enumerate().for_each(|(strip, out)| {
        let width = out.len() / n;
        let rows = transpose.subrows(strip * STRIP, width);
        let out = MatMut::from_column_major_slice_mut(out, n, width);
        matmul(out, Accum::Replace, transpose, rows.transpose(), 1.0, Par::Seq);
    });
    let trace: f64 = normal.iter().step_by(n + 1).sum();
    let mu2 = ridge * ridge * trace;
    normal.iter_mut().step_by(n + 1).for_each(|entry| *entry += mu2);
    let lu = Lu::new(n, normal, report)?;

    let columns = right.len() / n;
    let transposed_times = |b: &[f64]| {
        let mut product = vec![0.0; b.len()];
        let out = MatMut::from_column_major_slice_mut(&mut product, n, columns);
        matmul(out, Accum::Replace, transpose, MatRef::from_column_major_slice(b, n, columns), 1.0, Par::Seq);
        product
    };
    // What the normal equations leave: Aᵀ (B - A X) - μ² X. Taken in this order it keeps digits that AᵀA has lost.
    let left = |x: &[f64]| {
        let mut rest = right.to_vec();
        let out = MatMut::from_column_major_slice_mut(&mut rest, n, columns);
        let x_columns = MatRef::from_column_major_slice(x, n, columns);
        matmul(out, Accum::Add, transpose.transpose(), x_columns, -1.0, Par::Seq);
        let mut left = transposed_times(&rest);
        left.iter_mut().zip(x).for_each(|(left, x)| *left -= mu2 * x);
        left
    };
    let projected = transposed_times(right);
    let tolerance = SMALL * largest(&projected);
    let mut x = projected;
    lu.solve_transposed(&mut x);
    for _ in 0..REFINEMENTS {
        let mut correction = left(&x);
        lu.solve_transposed(&mut correction);
        x.iter_mut().zip(&correction).for_each(|(x, correction)| *x += correction);
    }
    Some((largest(&left(&x)) <= tolerance).then_some(x))
}

/// Each gains a few digits, and costs next to nothing beside the factors.
const REFINEMENTS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_systems_give_the_shortest_solution() {
        // x + y = 2 twice, and 2 z = 6: the shortest solution is (1, 1, 3).
        let matrix = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0];
        let solve = |right: &[f64]| least_squares(3, &matrix, right, 1e-7, &mut |_| true).unwrap().unwrap();
        let near = |found: Vec<f64>, wanted: [f64; 3]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        near(solve(&[2.0, 2.0, 6.0]), [1.0, 1.0, 3.0]);
        // Equations that contradict each other are met half way.
        near(solve(&[1.0, 3.0, 6.0]), [1.0, 1.0, 3.0]);
        assert!(least_squares(3, &matrix, &[1.0; 3], 1e-7, &mut |_| false).is_none());
    }
}
