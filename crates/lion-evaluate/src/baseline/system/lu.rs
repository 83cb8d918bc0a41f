//! LU with partial pivoting, in panels: the work beside a panel is shared out by threads, cut the same for any number of
//! them.
//!
//! Source: Golub and Van Loan (2013), "Matrix Computations", blocked LU; the panels are factored by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::lu::partial_pivoting::solve::{solve_transpose_in_place, solve_transpose_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::perm::PermRef;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns factored at a time.
const PANEL: usize = 128;
/// Columns beside the panel that one thread updates at a time.
const STRIP: usize = 128;

/// P M = L U, of a matrix M that was given column after column.
pub(super) struct Lu {
    n: usize,
    /// L below the diagonal, its own being 1, and U above.
    factors: Vec<f64>,
    /// The permutation, and back.
    forward: Vec<usize>,
    inverse: Vec<usize>,
}

impl Lu {
    /// Factors an n x n matrix. A singular one is factored too, into numbers that are not finite. `report` is told how
    /// many columns are done; `None` if it answers false.
    pub(super) fn new(n: usize, mut matrix: Vec<f64>, report: &mut dyn FnMut(usize) -> bool) -> Option<Self> {
        let mut forward: Vec<usize> = (0..n).collect();
        for start in (0..n).step_by(PANEL) {
            if !report(start) {
                return None;
            }
            let width = PANEL.min(n - start);
            let (before, rest) = matrix.split_at_mut(start * n);
            let (panel, after) = rest.split_at_mut(width * n);
            let moved = factor_panel(panel, n, start);
            swap_rows(&mut forward, &moved);
            before.par_chunks_mut(STRIP * n).for_each(|strip| {
                strip.chunks_exact_mut(n).for_each(|column| swap_rows(column, &moved));
            });
            let panel = MatRef::from_column_major_slice(panel, n, width);
            after.par_chunks_mut(STRIP * n).for_each(|strip| {
                strip.chunks_exact_mut(n).for_each(|column| swap_rows(column, &moved));
                update(panel, start, strip);
            });
        }
        let mut inverse = vec![0; n];
        forward.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
        Some(Self { n, factors: matrix, forward, inverse })
    }

    /// Solves Mᵀ X = B for columns that are B and become X.
    pub(super) fn solve_transposed(&self, columns: &mut [f64]) {
        let (n, count) = (self.n, columns.len() / self.n.max(1));
        let factors = MatRef::from_column_major_slice(&self.factors, n, n);
        let permutation = PermRef::new_checked(&self.forward, &self.inverse, n);
        let scratch = solve_transpose_in_place_scratch::<usize, f64>(n, count, Par::Seq);
        solve_transpose_in_place(
            factors,
            factors,
            permutation,
            MatMut::from_column_major_slice_mut(columns, n, count),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
    }

    /// Gives the memory back, to be filled anew.
    pub(super) fn into_memory(self) -> Vec<f64> {
        self.factors
    }
}

/// Factors the rows from `start` on of a panel of columns. Returns which rows move: where to, and where from.
fn factor_panel(panel: &mut [f64], n: usize, start: usize) -> Vec<(usize, usize)> {
    let width = panel.len() / n;
    let below = MatMut::from_column_major_slice_mut(panel, n, width).split_at_row_mut(start).1;
    let (mut forward, mut inverse) = (vec![0; n - start], vec![0; n - start]);
    let scratch = lu_in_place_scratch::<usize, f64>(n - start, width, Par::Seq, Default::default());
    lu_in_place(
        below,
        &mut forward,
        &mut inverse,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    let moves = forward.iter().enumerate().filter(|(to, from)| to != *from);
    moves.map(|(to, from)| (start + to, start + from)).collect()
}

fn swap_rows<T: Copy>(column: &mut [T], moved: &[(usize, usize)]) {
    let taken: Vec<T> = moved.iter().map(|&(_, from)| column[from]).collect();
    moved.iter().zip(taken).for_each(|(&(to, _), value)| column[to] = value);
}

/// Carries a factored panel over to columns beside it.
fn update(panel: MatRef<'_, f64>, start: usize, strip: &mut [f64]) {
    let (n, width) = (panel.nrows(), panel.ncols());
    let count = strip.len() / n;
    let strip = MatMut::from_column_major_slice_mut(strip, n, count).split_at_row_mut(start).1;
    let (mut upper, lower) = strip.split_at_row_mut(width);
    let (diagonal, below) = panel.split_at_row(start).1.split_at_row(width);
    solve_unit_lower_triangular_in_place(diagonal, upper.as_mut(), Par::Seq);
    matmul(lower, Accum::Add, below, upper.as_ref(), -1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::numerics::Random;

    #[test]
    fn solutions_solve() {
        let mut random = Random::new(3);
        for n in [1, 2, 7, 127, 128, 129, 300, 385] {
            let rows: Vec<f64> = (0..n * n).map(|_| random.gaussian()).collect();
            let x: Vec<f64> = (0..2 * n).map(|_| random.gaussian()).collect();
            // Given row after row, it is the transpose that is given column after column.
            let times = |x: &[f64]| -> Vec<f64> {
                rows.chunks(n).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
            };
            let mut solution = [times(&x[..n]), times(&x[n..])].concat();
            let lu = Lu::new(n, rows.clone(), &mut |_| true).unwrap();
            lu.solve_transposed(&mut solution);
            for (found, wanted) in solution.iter().zip(&x) {
                assert!((found - wanted).abs() < 1e-8, "{n}: {found} for {wanted}");
            }
        }
    }

    #[test]
    fn it_stops_when_told() {
        let mut heard = Vec::new();
        let lu = Lu::new(300, vec![1.0; 90_000], &mut |done| {
            heard.push(done);
            done < 128
        });
        assert!(lu.is_none());
        assert_eq!(heard, [0, 128]);
    }
}
