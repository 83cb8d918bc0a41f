//! The sum of products of whole numbers, without an error: so it is the same in any order.

use crate::bytes::{ByteReader, put_whole};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Columns of a tile, at most: threads share out tiles.
pub(super) const TILE: usize = 128;

/// The sums over rows of the products of each two columns; of a symmetric matrix, the lower triangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExactGram {
    tiles: Vec<ExactTile>,
}

#[derive(Clone, Debug, PartialEq)]
struct ExactTile {
    left: Range<usize>,
    right: Range<usize>,
    /// Column by column; what is above the diagonal stays 0.
    sums: Vec<i128>,
}

impl ExactGram {
    pub(super) fn new(dims: usize) -> Self {
        let mut tiles = Vec::new();
        for left in ranges(dims) {
            for right in ranges(left.end) {
                tiles.push(ExactTile { left: left.clone(), sums: vec![0; left.len() * right.len()], right });
            }
        }
        Self { tiles }
    }

    /// Adds `rowsᵀ rows`. No sum of these products may be more than 2⁵³.
    pub(super) fn add(&mut self, rows: MatRef<'_, f64>) {
        self.add_products(&[(rows, rows)]);
    }

    /// Adds `leftᵀ right + rightᵀ left`, likewise.
    pub(super) fn add_both(&mut self, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
        self.add_products(&[(left, right), (right, left)]);
    }

    fn add_products(&mut self, pairs: &[(MatRef<'_, f64>, MatRef<'_, f64>)]) {
        let scratch = || vec![0.0f64; TILE * TILE];
        self.tiles.par_iter_mut().with_max_len(1).for_each_init(scratch, |scratch, tile| {
            let (rows, cols) = (tile.left.len(), tile.right.len());
            let scratch = &mut scratch[..rows * cols];
            scratch.fill(0.0);
            for (left, right) in pairs {
                let left = left.subcols(tile.left.start, rows).transpose();
                let right = right.subcols(tile.right.start, cols);
                let product = MatMut::from_column_major_slice_mut(scratch, rows, cols);
                matmul(product, Accum::Add, left, right, 1.0, Par::Seq);
            }
            tile.add(scratch);
        });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (tile, other) in self.tiles.iter_mut().zip(&other.tiles) {
            tile.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        }
    }

    /// Every sum of the lower triangle, with its row and column.
    pub(super) fn sums(&self) -> impl Iterator<Item = (usize, usize, i128)> {
        self.tiles.iter().flat_map(|tile| {
            tile.below().map(|(at, i, j)| (tile.left.start + i, tile.right.start + j, tile.sums[at]))
        })
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        self.sums().for_each(|(.., sum)| put_whole(bytes, sum));
    }

    /// What was written, no sum larger than the limit.
    pub(super) fn read(reader: &mut ByteReader<'_>, dims: usize, limit: i128) -> Option<Self> {
        // A sum has a byte at least: memory is in proportion to what there is to read.
        if reader.0.len() < dims * (dims + 1) / 2 {
            return None;
        }
        let mut gram = Self::new(dims);
        for tile in &mut gram.tiles {
            let below: Vec<usize> = tile.below().map(|(at, ..)| at).collect();
            for at in below {
                tile.sums[at] = reader.whole_within(limit)?;
            }
        }
        Some(gram)
    }
}

impl ExactTile {
    /// The entries on and below the diagonal of the whole: where they are, and their row and column in the tile.
    fn below(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (rows, is_diagonal) = (self.left.len(), self.left == self.right);
        (0..self.right.len()).flat_map(move |j| {
            let first = if is_diagonal { j } else { 0 };
            (first..rows).map(move |i| (j * rows + i, i, j))
        })
    }

    fn add(&mut self, products: &[f64]) {
        let (rows, is_diagonal) = (self.left.len(), self.left == self.right);
        let columns = self.sums.chunks_exact_mut(rows).zip(products.chunks_exact(rows));
        for (j, (sums, products)) in columns.enumerate() {
            let first = if is_diagonal { j } else { 0 };
            for (sum, product) in sums[first..].iter_mut().zip(&products[first..]) {
                *sum += i128::from(*product as i64);
            }
        }
    }
}

/// `0..len` in parts of `TILE`, and the rest.
fn ranges(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(TILE).map(move |start| start..(start + TILE).min(len))
}
