//! One map turned, scaled and moved onto another, and mirrored where that is allowed.
//!
//! Sources: Schönemann 1966, A Generalized Solution of the Orthogonal Procrustes Problem, for the rotation; Umeyama 1991,
//! Least-Squares Estimation of Transformation Parameters Between Two Point Patterns, for the scale and the reflection.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use faer::Mat;

/// The similarity transform y = scale · R (x - from) + to that brings places nearest to others: the weighted sum of squared
/// distances is the least there is.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarity {
    /// By how much it stretches.
    pub scale: f64,
    /// Whether it mirrors.
    pub mirrored: bool,
    /// The root of the mean squared distance that is left, as a share of that of the places aimed at from their middle.
    pub residual: f64,
    /// R, row by row.
    rotation: Vec<Vec<f64>>,
    from: Vec<f64>,
    to: Vec<f64>,
}

/// Whether a transform may mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflection {
    /// Where that brings places nearer.
    Allowed,
    /// Turned only.
    Never,
}

impl Similarity {
    /// The transform that changes nothing.
    pub fn identity(dims: usize) -> Self {
        let rotation = (0..dims).map(|a| (0..dims).map(|b| f64::from(u8::from(a == b))).collect()).collect();
        let middle = vec![0.0; dims];
        Self { scale: 1.0, mirrored: false, residual: 0.0, rotation, from: middle.clone(), to: middle }
    }

    /// From places to the places of the same rows in another map.
    pub fn between(from: &Matrix, to: &Matrix, reflection: Reflection) -> Result<Self> {
        if (from.rows(), from.cols()) != (to.rows(), to.cols()) || from.rows() == 0 {
            return Err(Error::Data(format!(
                "{} {}-dimensional places cannot be brought onto {} {}-dimensional ones",
                from.rows(),
                from.cols(),
                to.rows(),
                to.cols()
            )));
        }
        let pairs = (0..from.rows()).map(|row| (from.row(row), to.row(row), 1.0));
        Self::of_pairs(from.cols(), pairs, reflection)
    }

    /// From pairs of places and how much each counts. Pairs without weight, or all at one place, give the identity with
    /// the shift between their middles.
    pub(crate) fn of_pairs<'a>(
        dims: usize,
        pairs: impl Iterator<Item = (&'a [f32], &'a [f32], f32)> + Clone,
        reflection: Reflection,
    ) -> Result<Self> {
        let (from, to, total) = middles(dims, pairs.clone());
        let mut cross = Mat::<f64>::zeros(dims, dims);
        let (mut size, mut aim) = (0.0, 0.0);
        for (x, y, weight) in pairs {
            for b in 0..dims {
                let (here, weight) = (f64::from(x[b]) - from[b], f64::from(weight));
                size += weight * here * here;
                aim += weight * (f64::from(y[b]) - to[b]).powi(2);
                (0..dims).for_each(|a| cross[(a, b)] += weight * (f64::from(y[a]) - to[a]) * here);
            }
        }
        if !(total > 0.0 && size > 0.0) {
            return Ok(Self { from, to, ..Self::identity(dims) });
        }
        let svd = cross.svd().map_err(|_| Error::Data("one map cannot be turned onto the other".into()))?;
        let (u, v) = (svd.U(), svd.V());
        let mut signs = vec![1.0; dims];
        let mirrored = (u * v.transpose()).determinant() < 0.0;
        // Of all turns that do not mirror, the best gives up the direction that counts least.
        if mirrored && reflection == Reflection::Never {
            signs[dims - 1] = -1.0;
        }
        let overlap: f64 = svd.S().column_vector().iter().zip(&signs).map(|(s, sign)| s * sign).sum();
        let entry = |a: usize, b: usize| (0..dims).map(|k| u[(a, k)] * signs[k] * v[(b, k)]).sum::<f64>();
        let rotation = (0..dims).map(|a| (0..dims).map(|b| entry(a, b)).collect()).collect();
        let scale = overlap / size;
        let left = (aim - scale * overlap).max(0.0);
        let residual = if aim > 0.0 { (left / aim).sqrt() } else { 0.0 };
        let mirrored = mirrored && reflection == Reflection::Allowed;
        Ok(Self { scale, mirrored, residual, rotation, from, to })
    }

    /// Where it brings a place.
    pub fn apply(&self, place: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; place.len()];
        self.apply_into(place, &mut out);
        out
    }

    pub(crate) fn apply_into(&self, place: &[f32], out: &mut [f32]) {
        for ((out, row), to) in out.iter_mut().zip(&self.rotation).zip(&self.to) {
            let turned: f64 =
                row.iter().zip(place.iter().zip(&self.from)).map(|(r, (p, f))| r * (f64::from(*p) - f)).sum();
            *out = (self.scale * turned + to) as f32;
        }
    }

    /// Where a place would be had the transform neither turned nor moved, and scaled by so many times less.
    pub(crate) fn undone<const D: usize>(&self, place: &[f32; D], scale: f64) -> [f32; D] {
        let coordinate = |b: usize| {
            let turned: f64 = (0..D).map(|a| self.rotation[a][b] * (f64::from(place[a]) - self.to[a])).sum();
            (turned / scale + self.from[b]) as f32
        };
        std::array::from_fn(coordinate)
    }

    /// A direction turned and stretched, not moved.
    pub fn turned(&self, direction: &[f64]) -> Vec<f64> {
        let product = |row: &Vec<f64>| row.iter().zip(direction).map(|(r, d)| r * d).sum::<f64>();
        self.rotation.iter().map(|row| self.scale * product(row)).collect()
    }
}

/// The weighted middles of both sides, and the sum of the weights.
fn middles<'a>(
    dims: usize,
    pairs: impl Iterator<Item = (&'a [f32], &'a [f32], f32)>,
) -> (Vec<f64>, Vec<f64>, f64) {
    let (mut from, mut to, mut total) = (vec![0.0; dims], vec![0.0; dims], 0.0);
    for (x, y, weight) in pairs {
        let weight = f64::from(weight);
        for d in 0..dims {
            from[d] += weight * f64::from(x[d]);
            to[d] += weight * f64::from(y[d]);
        }
        total += weight;
    }
    if total > 0.0 {
        from.iter_mut().chain(&mut to).for_each(|sum| *sum /= total);
    }
    (from, to, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn places(rows: usize, dims: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::new(rows, dims, (0..rows * dims).map(|_| random.gaussian() as f32).collect()).unwrap()
    }

    /// Turned in the first two dimensions, scaled by 3, moved; mirrored where `mirror` is -1.
    fn moved(x: &Matrix, mirror: f32) -> Matrix {
        let (sine, cosine) = 0.7f32.sin_cos();
        let place = |p: &[f32]| {
            let mut q = p.to_vec();
            (q[0], q[1]) = (cosine * p[0] - sine * mirror * p[1], sine * p[0] + cosine * mirror * p[1]);
            q.into_iter().enumerate().map(|(d, v)| 3.0 * v + d as f32 - 4.0).collect::<Vec<f32>>()
        };
        Matrix::new(x.rows(), x.cols(), x.data().chunks_exact(x.cols()).flat_map(place).collect()).unwrap()
    }

    #[test]
    fn finds_the_transform_that_was_made() {
        for (dims, mirror) in [(2, 1.0), (2, -1.0), (3, 1.0), (3, -1.0)] {
            let x = places(50, dims, 2);
            let y = moved(&x, mirror);
            let found = Similarity::between(&x, &y, Reflection::Allowed).unwrap();
            assert!(found.residual < 1e-3 && (found.scale - 3.0).abs() < 1e-4, "{found:?}");
            assert_eq!(found.mirrored, mirror < 0.0);
            for row in 0..50 {
                found
                    .apply(x.row(row))
                    .iter()
                    .zip(y.row(row))
                    .for_each(|(a, b)| assert!((a - b).abs() < 1e-4));
            }
            let turned = Similarity::between(&x, &y, Reflection::Never).unwrap();
            assert!(!turned.mirrored && (mirror > 0.0) == (turned.residual < 1e-3), "{turned:?}");
        }
    }

    #[test]
    fn another_map_is_nowhere_near_and_one_dimension_works() {
        let (x, other) = (places(50, 2, 1), places(50, 2, 9));
        assert!(Similarity::between(&x, &other, Reflection::Allowed).unwrap().residual > 0.8);
        let line = places(20, 1, 3);
        let flipped = Matrix::new(20, 1, line.data().iter().map(|v| 1.0 - 2.0 * v).collect()).unwrap();
        let found = Similarity::between(&line, &flipped, Reflection::Allowed).unwrap();
        assert!(found.mirrored && found.residual < 1e-3 && (found.scale - 2.0).abs() < 1e-5);
    }

    #[test]
    fn pairs_without_weight_do_not_count() {
        let x = places(40, 2, 5);
        let y = moved(&x, 1.0);
        let stray = places(40, 2, 6);
        let pairs = (0..40).flat_map(|i| [(x.row(i), y.row(i), 2.0), (x.row(i), stray.row(i), 0.0)]);
        let found = Similarity::of_pairs(2, pairs, Reflection::Never).unwrap();
        assert!(found.residual < 1e-3, "{found:?}");
        let one = Matrix::new(2, 2, vec![1.0, 2.0, 1.0, 2.0]).unwrap();
        let there = Matrix::new(2, 2, vec![4.0, 4.0, 6.0, 4.0]).unwrap();
        let shift = Similarity::between(&one, &there, Reflection::Allowed).unwrap();
        assert_eq!(shift.apply(&[1.0, 2.0]), [5.0, 4.0]);
    }
}
