//! Leading principal directions without the covariance matrix, for rows too wide for one: randomized subspace
//! iteration (Halko, Martinsson & Tropp 2011, Finding Structure with Randomness). A random basis is multiplied by the
//! covariance and made orthonormal again, a few times over; the eigenvectors are then found within its span.

use super::gram::{Centred, Gram, multiply};
use super::pca::symmetric_eigen;
use crate::error::Result;
use crate::random::Random;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply_householder,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Accum, Conj, Mat, MatRef, Par};

/// Directions beyond those asked for, which keep the last of those accurate.
const OVERSAMPLING: usize = 10;
/// Multiplications by the covariance.
const PASSES: usize = 6;

/// The `k` leading directions (columns) and their sums of scaled squares, largest first.
pub(super) fn leading(centred: &Centred<'_>, k: usize, seed: u64) -> Result<(Mat<f64>, Vec<f64>)> {
    let dims = centred.dims();
    let width = (k + OVERSAMPLING).min(dims).min(centred.rows().max(k));
    let mut normal = Normal::new(seed);
    let mut basis = orthonormal(Mat::from_fn(dims, width, |_, _| normal.next()));
    for _ in 0..PASSES {
        let mut image = Gram::full(dims, width);
        for_each_product(centred, &basis, |chunk, product| image.add(chunk, product));
        basis = orthonormal(image.into_sum());
    }
    let mut within = Gram::symmetric(width);
    for_each_product(centred, &basis, |_, product| within.add(product, product));
    let (vectors, values) = symmetric_eigen(within.into_sum(), k)?;
    let mut directions = Mat::zeros(dims, k);
    matmul(directions.as_mut(), Accum::Replace, basis.as_ref(), vectors.as_ref(), 1.0, Par::Seq);
    Ok((directions, values))
}

/// The same of a covariance matrix that is at hand, symmetric and whole.
pub(super) fn leading_of(covariance: &Mat<f64>, k: usize, seed: u64) -> Result<(Mat<f64>, Vec<f64>)> {
    let dims = covariance.nrows();
    let width = (k + 2 * OVERSAMPLING).min(dims);
    let mut normal = Normal::new(seed);
    let mut basis = orthonormal(Mat::from_fn(dims, width, |_, _| normal.next()));
    let image = |basis: &Mat<f64>| {
        let mut image = Mat::zeros(dims, width);
        matmul(image.as_mut(), Accum::Replace, covariance.as_ref(), basis.as_ref(), 1.0, Par::Seq);
        image
    };
    for _ in 0..PASSES {
        basis = orthonormal(image(&basis));
    }
    let mut within = Mat::zeros(width, width);
    matmul(within.as_mut(), Accum::Replace, basis.transpose(), image(&basis).as_ref(), 1.0, Par::Seq);
    let (vectors, values) = symmetric_eigen(within, k)?;
    let mut directions = Mat::zeros(dims, k);
    matmul(directions.as_mut(), Accum::Replace, basis.as_ref(), vectors.as_ref(), 1.0, Par::Seq);
    Ok((directions, values))
}

/// Calls `each` with every chunk of rows and its product with the basis.
fn for_each_product(
    centred: &Centred<'_>,
    basis: &Mat<f64>,
    mut each: impl FnMut(MatRef<'_, f32>, MatRef<'_, f32>),
) {
    let basis = Mat::from_fn(basis.nrows(), basis.ncols(), |i, j| basis[(i, j)] as f32);
    let mut product = Vec::new();
    centred.for_each_chunk(|chunk| {
        product.resize(chunk.nrows() * basis.ncols(), 0.0);
        multiply(chunk, basis.as_ref(), &mut product);
        each(chunk, MatRef::from_row_major_slice(&product, chunk.nrows(), basis.ncols()));
    });
}

/// An orthonormal basis of a space that holds the columns, by Householder reflections: columns that depend on
/// others, or are zero, still give directions of their own.
fn orthonormal(mut columns: Mat<f64>) -> Mat<f64> {
    let (rows, cols) = columns.shape();
    let block = recommended_block_size::<f64>(rows, cols);
    let mut coefficients = Mat::zeros(block, rows.min(cols));
    let mut memory = MemBuffer::new(
        qr_in_place_scratch::<f64>(rows, cols, block, Par::Seq, Default::default())
            .or(apply_scratch::<f64>(rows, block, cols)),
    );
    let stack = MemStack::new(&mut memory);
    qr_in_place(columns.as_mut(), coefficients.as_mut(), Par::Seq, stack, Default::default());
    let mut basis = Mat::identity(rows, cols);
    apply_householder(columns.as_ref(), coefficients.as_ref(), Conj::No, basis.as_mut(), Par::Seq, stack);
    basis
}

/// Standard normal numbers from a seed. Apart from [`Random::gaussian`] by how a uniform number is made of its bits, and maps
/// keep their bits.
struct Normal {
    random: Random,
}

impl Normal {
    fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// In (0, 1], so that its logarithm is finite.
    fn uniform(&mut self) -> f64 {
        (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON / 4.0
    }
}
