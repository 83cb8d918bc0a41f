//! PCA of 8-bit images in plain f64, for choosing the embedded digits. It uses only + - * / and square roots
//! in a fixed order, so every machine finds the same components and so the same digits.

use crate::rng::Rng;

/// Guard vectors beyond the wanted components: the subspace then converges like (λ_more / λ_wanted)^steps.
const GUARD: usize = 34;
const STEPS: usize = 60;

/// The mean and the leading principal components of a set of images, with pixels scaled to `[0, 1]`.
pub(crate) struct DigitPca {
    mean: Vec<f64>,
    components: Vec<Vec<f64>>,
}

impl DigitPca {
    /// Fits `k` components to `images`, each a slice of the same number of pixels.
    pub(crate) fn fit(images: &[&[u8]], k: usize) -> Self {
        let (mean, covariance) = covariance(images);
        DigitPca { mean, components: leading_eigenvectors(&covariance, k) }
    }

    /// Coordinates of a row of pixels in `[0, 1]`.
    pub(crate) fn project(&self, pixels: impl Iterator<Item = f64>) -> Vec<f64> {
        let centred: Vec<f64> = pixels.zip(&self.mean).map(|(x, m)| x - m).collect();
        self.components.iter().map(|c| dot(c, &centred)).collect()
    }

    /// Coordinates of an 8-bit image.
    pub(crate) fn project_image(&self, image: &[u8]) -> Vec<f64> {
        self.project(image.iter().map(|&p| f64::from(p) / 255.0))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Squared Euclidean distance.
pub(crate) fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Mean and covariance. The sums are of integers and so exact; digits are mostly black, so only the pairs of
/// lit pixels are visited.
fn covariance(images: &[&[u8]]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let dims = images[0].len();
    let mut sums = vec![0u64; dims];
    let mut products = vec![vec![0u64; dims]; dims];
    for image in images {
        let lit: Vec<(usize, u64)> =
            image.iter().enumerate().filter(|(_, p)| **p > 0).map(|(i, &p)| (i, u64::from(p))).collect();
        for &(i, p) in &lit {
            sums[i] += p;
            for &(j, q) in &lit {
                products[i][j] += p * q;
            }
        }
    }
    let n = images.len() as f64;
    let mean: Vec<f64> = sums.iter().map(|&s| s as f64 / (255.0 * n)).collect();
    let covariance = (0..dims)
        .map(|i| (0..dims).map(|j| products[i][j] as f64 / (255.0 * 255.0 * n) - mean[i] * mean[j]).collect())
        .collect();
    (mean, covariance)
}

/// The `k` leading eigenvectors of a symmetric matrix: orthogonal iteration on `k + GUARD` vectors, then the
/// best `k` directions inside that subspace (Rayleigh-Ritz).
fn leading_eigenvectors(matrix: &[Vec<f64>], k: usize) -> Vec<Vec<f64>> {
    let dims = matrix.len();
    let width = (k + GUARD).min(dims);
    let mut rng = Rng::new(0);
    let mut basis: Vec<Vec<f64>> =
        (0..width).map(|_| (0..dims).map(|_| rng.unit() - 0.5).collect()).collect();
    orthonormalise(&mut basis);
    for _ in 0..STEPS {
        basis = basis.iter().map(|v| multiply(matrix, v)).collect();
        orthonormalise(&mut basis);
    }
    let images: Vec<Vec<f64>> = basis.iter().map(|v| multiply(matrix, v)).collect();
    let small = basis.iter().map(|a| images.iter().map(|b| dot(a, b)).collect()).collect();
    let mut pairs = jacobi(small);
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs.iter().take(k).map(|(_, weights)| combine(&basis, weights)).collect()
}

fn multiply(matrix: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, v)).collect()
}

fn combine(basis: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    (0..basis[0].len()).map(|i| basis.iter().zip(weights).map(|(b, w)| b[i] * w).sum()).collect()
}

/// Gram-Schmidt, twice: once leaves rounding errors that grow over the iterations.
fn orthonormalise(basis: &mut [Vec<f64>]) {
    for i in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(i);
        let v = &mut rest[0];
        for _ in 0..2 {
            for d in done.iter() {
                let shadow = dot(d, v);
                v.iter_mut().zip(d).for_each(|(x, y)| *x -= shadow * y);
            }
        }
        let norm = dot(v, v).sqrt();
        v.iter_mut().for_each(|x| *x /= norm);
    }
}

/// All eigenvalues and eigenvectors of a small symmetric matrix, by cyclic Jacobi rotations.
fn jacobi(mut a: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() > 1e-300 {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
    }
    vectors.into_iter().enumerate().map(|(i, v)| (a[i][i], v)).collect()
}

/// One rotation that brings `a[p][q]` to zero; row i of `vectors` is the i-th eigenvector in the making.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for rows in [a, vectors] {
        for i in 0..rows[p].len() {
            let (x, y) = (rows[p][i], rows[q][i]);
            rows[p][i] = c * x - s * y;
            rows[q][i] = s * x + c * y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Images whose pixels are random mixtures of a few patterns, so that the spectrum falls.
    fn images(n: usize, dims: usize) -> Vec<Vec<u8>> {
        let mut rng = Rng::new(7);
        (0..n)
            .map(|_| {
                let (a, b) = (rng.unit(), rng.unit());
                let pixel = |i: usize, r: f64| match i % 3 {
                    0 => 200.0 * a + 20.0 * r,
                    1 => 100.0 * b + 20.0 * r,
                    _ => 50.0 * r,
                };
                (0..dims).map(|i| pixel(i, rng.unit()) as u8).collect()
            })
            .collect()
    }

    #[test]
    fn components_are_orthonormal_eigenvectors_in_falling_order() {
        let owned = images(200, 60);
        let rows: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        let (_, covariance) = covariance(&rows);
        let pca = DigitPca::fit(&rows, 5);
        let mut last = f64::INFINITY;
        for (i, v) in pca.components.iter().enumerate() {
            let image = multiply(&covariance, v);
            let value = dot(&image, v);
            let residual: f64 = image.iter().zip(v).map(|(x, y)| (x - value * y).powi(2)).sum();
            assert!(residual.sqrt() < 1e-12, "component {i}: residual {residual:e}");
            assert!(value <= last);
            last = value;
            for (j, w) in pca.components.iter().enumerate() {
                assert!((dot(v, w) - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn all_components_keep_all_distances() {
        let owned = images(50, 12);
        let rows: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        let pca = DigitPca::fit(&rows, 12);
        let plain = |a: &[u8], b: &[u8]| -> f64 {
            a.iter().zip(b).map(|(&x, &y)| ((f64::from(x) - f64::from(y)) / 255.0).powi(2)).sum()
        };
        for pair in rows.windows(2) {
            let (a, b) = (pca.project_image(pair[0]), pca.project_image(pair[1]));
            assert!((distance2(&a, &b) - plain(pair[0], pair[1])).abs() < 1e-12);
        }
    }
}
