//! The passes that PCA makes over the rows: centre a chunk of them, multiply it with itself or with a basis,
//! add up the products.
//!
//! Everything is cut along boundaries that depend on the size of the data alone, and every sum is taken in the
//! order of the rows, so the bits do not depend on the number of threads. Products inside a chunk are f32, where
//! the arithmetic is fast; sums over chunks are f64.

use crate::matrix::Matrix;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a chunk, unless so many would not fit `CHUNK_VALUES`.
const CHUNK_ROWS: usize = 512;
const CHUNK_VALUES: usize = 1 << 22;
/// Columns of a tile, at most.
pub(super) const TILE: usize = 256;

/// Rows seen around their mean, and scaled by a power of two so that f32 products neither overflow nor vanish.
pub(super) struct Centred<'a> {
    data: &'a Matrix,
    pub(super) mean: Vec<f64>,
    /// Sum of the variances of all columns.
    pub(super) total_variance: f64,
    scale: f64,
}

impl<'a> Centred<'a> {
    pub(super) fn new(data: &'a Matrix) -> Self {
        let mean = mean(data);
        let (sum, largest) = deviation(data, &mean);
        let scale = if largest > 0.0 { 2f64.powi(-(largest.log2().floor() as i32)) } else { 1.0 };
        Self { data, mean, total_variance: sum / degrees(data), scale }
    }

    pub(super) fn dims(&self) -> usize {
        self.data.cols()
    }

    pub(super) fn rows(&self) -> usize {
        self.data.rows()
    }

    /// What a sum of scaled squares is as a variance.
    pub(super) fn variance(&self, sum: f64) -> f64 {
        sum / (self.scale * self.scale) / degrees(self.data)
    }

    /// The sum of the products of every row with itself; only the lower triangle counts.
    pub(super) fn products(&self) -> Mat<f64> {
        let mut products = Gram::symmetric(self.dims());
        self.for_each_chunk(|chunk| products.add(chunk, chunk));
        products.into_sum()
    }

    /// Calls `each` with every chunk of rows, centred and scaled, in order.
    pub(super) fn for_each_chunk(&self, mut each: impl FnMut(MatRef<'_, f32>)) {
        let dims = self.dims();
        let mut buffer = vec![0.0f32; chunk_rows(dims).min(self.rows()) * dims];
        for chunk in self.data.data().chunks(chunk_rows(dims) * dims) {
            let buffer = &mut buffer[..chunk.len()];
            buffer.par_chunks_mut(dims).zip(chunk.par_chunks(dims)).with_min_len(16).for_each(
                |(out, row)| {
                    for ((out, value), mean) in out.iter_mut().zip(row).zip(&self.mean) {
                        *out = ((f64::from(*value) - mean) * self.scale) as f32;
                    }
                },
            );
            each(MatRef::from_row_major_slice(buffer, chunk.len() / dims, dims));
        }
    }
}

fn chunk_rows(dims: usize) -> usize {
    (CHUNK_VALUES / dims).clamp(1, CHUNK_ROWS)
}

fn degrees(data: &Matrix) -> f64 {
    data.rows().saturating_sub(1).max(1) as f64
}

fn mean(data: &Matrix) -> Vec<f64> {
    let dims = data.cols();
    let sums: Vec<Vec<f64>> = data
        .data()
        .par_chunks(chunk_rows(dims) * dims)
        .map(|chunk| {
            let mut sum = vec![0.0f64; dims];
            for row in chunk.chunks_exact(dims) {
                sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
            }
            sum
        })
        .collect();
    let mut mean = vec![0.0f64; dims];
    for sum in sums {
        mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum);
    }
    mean.iter_mut().for_each(|mean| *mean /= data.rows() as f64);
    mean
}

/// The sum of all squared deviations from the mean, and the largest deviation.
fn deviation(data: &Matrix, mean: &[f64]) -> (f64, f64) {
    let dims = data.cols();
    let parts: Vec<(f64, f64)> = data
        .data()
        .par_chunks(chunk_rows(dims) * dims)
        .map(|chunk| {
            let mut squares = vec![0.0f64; dims];
            let mut largest = vec![0.0f64; dims];
            for row in chunk.chunks_exact(dims) {
                for (((&value, mean), square), largest) in
                    row.iter().zip(mean).zip(&mut squares).zip(&mut largest)
                {
                    let deviation = f64::from(value) - mean;
                    *square += deviation * deviation;
                    *largest = largest.max(deviation.abs());
                }
            }
            (squares.iter().sum(), largest.into_iter().fold(0.0, f64::max))
        })
        .collect();
    parts.into_iter().fold((0.0, 0.0), |(sum, largest), part| (sum + part.0, f64::max(largest, part.1)))
}

/// The sum over chunks of `leftᵀ right`, in tiles that threads share out.
pub(super) struct Gram {
    rows: usize,
    cols: usize,
    tiles: Vec<GramTile>,
}

struct GramTile {
    left: Range<usize>,
    right: Range<usize>,
    product: Vec<f32>,
    sum: Vec<f64>,
}

impl Gram {
    /// For `right` of any width.
    pub(super) fn full(rows: usize, cols: usize) -> Self {
        Self::new(rows, cols, |_, _| true)
    }

    /// For `right` equal to `left`: only the lower triangle is computed.
    pub(super) fn symmetric(dims: usize) -> Self {
        Self::new(dims, dims, |left, right| left >= right)
    }

    fn new(rows: usize, cols: usize, keep: impl Fn(usize, usize) -> bool) -> Self {
        let mut tiles = Vec::new();
        for left in ranges(rows) {
            for right in ranges(cols) {
                if keep(left.start, right.start) {
                    let size = left.len() * right.len();
                    tiles.push(GramTile {
                        left: left.clone(),
                        right,
                        product: vec![0.0; size],
                        sum: vec![0.0; size],
                    });
                }
            }
        }
        Self { rows, cols, tiles }
    }

    pub(super) fn add(&mut self, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
        self.tiles.par_iter_mut().with_max_len(1).for_each(|tile| {
            let (rows, cols) = (tile.left.len(), tile.right.len());
            let left = left.subcols(tile.left.start, rows).transpose();
            let right = right.subcols(tile.right.start, cols);
            let product = MatMut::from_column_major_slice_mut(&mut tile.product, rows, cols);
            matmul(product, Accum::Replace, left, right, 1.0, Par::Seq);
            tile.sum.iter_mut().zip(&tile.product).for_each(|(sum, &product)| *sum += f64::from(product));
        });
    }

    /// The sum; of a symmetric one, the tiles above the diagonal are zero.
    pub(super) fn into_sum(self) -> Mat<f64> {
        let mut out = Mat::zeros(self.rows, self.cols);
        for tile in self.tiles {
            let sum = MatRef::from_column_major_slice(&tile.sum, tile.left.len(), tile.right.len());
            out.as_mut()
                .submatrix_mut(tile.left.start, tile.right.start, tile.left.len(), tile.right.len())
                .copy_from(sum);
        }
        out
    }
}

/// `0..len` in near-equal parts of at most `TILE`.
fn ranges(len: usize) -> impl Iterator<Item = Range<usize>> {
    let step = len.div_ceil(len.div_ceil(TILE).max(1)).max(1);
    (0..len).step_by(step).map(move |start| start..(start + step).min(len))
}

/// `left right`, where `left` is a chunk: by blocks of rows, shared out between threads.
pub(super) fn multiply(left: MatRef<'_, f32>, right: MatRef<'_, f32>, out: &mut [f32]) {
    const BLOCK: usize = 64;
    let cols = right.ncols();
    out.par_chunks_mut(BLOCK * cols).enumerate().for_each(|(block, out)| {
        let rows = out.len() / cols;
        let out = MatMut::from_row_major_slice_mut(out, rows, cols);
        matmul(out, Accum::Replace, left.subrows(block * BLOCK, rows), right, 1.0, Par::Seq);
    });
}
