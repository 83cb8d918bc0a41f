//! One map turned, mirrored, scaled and moved onto another.
//!
//! Sources: Schönemann (1966), "A generalized solution of the orthogonal Procrustes problem", for the rotation;
//! Umeyama (1991), "Least-squares estimation of transformation parameters between two point patterns", for the scale.

use crate::baseline::dense::DenseLayer;
use faer::Mat;
use lion_tsne::{Error, Matrix, Result};

/// y = scale (x - from) turn + to: the one with the least sum of squared distances.
pub(super) struct Similarity {
    scale: f64,
    turn: Mat<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
    /// The root of the mean squared distance that is left, as a share of that of places from their middle.
    pub(super) off: f64,
}

impl Similarity {
    /// From places to the places of the same rows in another map.
    pub(super) fn between(x: &Matrix, y: &Matrix) -> Result<Self> {
        let dims = y.cols();
        let (from, to) = (middle(x), middle(y));
        let mut cross = Mat::<f64>::zeros(dims, dims);
        let (mut size, mut aim) = (0.0, 0.0);
        for (x, y) in x.data().chunks_exact(dims).zip(y.data().chunks_exact(dims)) {
            for a in 0..dims {
                let here = f64::from(x[a]) - from[a];
                size += here * here;
                aim += (f64::from(y[a]) - to[a]).powi(2);
                (0..dims).for_each(|b| cross[(a, b)] += here * (f64::from(y[b]) - to[b]));
            }
        }
        let svd = cross
            .svd()
            .map_err(|_| Error::Data("the network's map cannot be turned onto this one".into()))?;
        let turn = svd.U() * svd.V().transpose();
        let overlap: f64 = svd.S().column_vector().iter().sum();
        let scale = if size > 0.0 { overlap / size } else { 0.0 };
        let left = (aim - scale * overlap).max(0.0);
        let off = if aim > 0.0 { (left / aim).sqrt() } else { 0.0 };
        Ok(Self { scale, turn, from, to, off })
    }

    /// Makes a linear layer give places of the other map.
    pub(super) fn fold_into(&self, layer: &mut DenseLayer) {
        for weights in layer.weights.chunks_exact_mut(layer.outputs) {
            let turned = self.turned(&weights.iter().map(|w| f64::from(*w)).collect::<Vec<f64>>());
            weights.iter_mut().zip(turned).for_each(|(weight, turned)| *weight = turned as f32);
        }
        let bias: Vec<f64> =
            layer.bias.iter().zip(&self.from).map(|(b, from)| f64::from(*b) - from).collect();
        let turned = self.turned(&bias);
        for ((bias, turned), to) in layer.bias.iter_mut().zip(turned).zip(&self.to) {
            *bias = (turned + to) as f32;
        }
    }

    fn turned(&self, vector: &[f64]) -> Vec<f64> {
        let dims = vector.len();
        let coordinate =
            |b: usize| self.scale * (0..dims).map(|a| vector[a] * self.turn[(a, b)]).sum::<f64>();
        (0..dims).map(coordinate).collect()
    }
}

fn middle(places: &Matrix) -> Vec<f64> {
    let mut sums = vec![0.0; places.cols()];
    for place in places.data().chunks_exact(places.cols()) {
        sums.iter_mut().zip(place).for_each(|(sum, v)| *sum += f64::from(*v));
    }
    sums.into_iter().map(|sum| sum / places.rows() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::dense::{Activation, DenseLayers};
    use lion_tsne::numerics::Random;

    #[test]
    fn finds_the_turn_that_was_made() {
        let mut random = Random::new(2);
        for dims in [2, 3] {
            let x: Vec<f32> = (0..50 * dims).map(|_| random.gaussian() as f32).collect();
            // Mirrored, turned in the first two dimensions, scaled by 3, moved.
            let (sine, cosine) = 0.7f32.sin_cos();
            let place = |p: &[f32]| {
                let mut q = p.to_vec();
                (q[0], q[1]) = (cosine * p[0] - sine * p[1], -sine * p[0] - cosine * p[1]);
                q.into_iter().enumerate().map(|(d, v)| 3.0 * v + d as f32 - 4.0).collect::<Vec<f32>>()
            };
            let y: Vec<f32> = x.chunks_exact(dims).flat_map(place).collect();
            let [from, to] = [&x, &y].map(|v| Matrix::new(50, dims, v.clone()).unwrap());
            let found = Similarity::between(&from, &to).unwrap();
            assert!(found.off < 1e-3, "{}", found.off);
            let mut weights = vec![0.0; dims * dims];
            (0..dims).for_each(|d| weights[d * dims + d] = 1.0);
            let mut layer = DenseLayer {
                inputs: dims,
                outputs: dims,
                activation: Activation::Linear,
                weights,
                bias: vec![0.0; dims],
            };
            found.fold_into(&mut layer);
            for (ours, y) in DenseLayers(vec![layer]).apply(&x).iter().zip(&y) {
                assert!((ours - y).abs() < 1e-4, "{ours}, not {y}");
            }
            // Another map altogether is nowhere near.
            let other: Vec<f32> = (0..50 * dims).map(|_| random.gaussian() as f32).collect();
            assert!(Similarity::between(&from, &Matrix::new(50, dims, other).unwrap()).unwrap().off > 0.8);
        }
    }
}
