//! B-splines (de Boor 1978, A Practical Guide to Splines): what a point is to the nodes around it.
//!
//! All weights of a point are polynomials in one number, so they are worked out side by side, in the lanes of a
//! register: a table of coefficients, one array of lanes for each power.

use super::f32x8::{F32x8, Lanes};
use pulp::Simd;

/// Nodes that a point touches along each axis; the splines are of degree one less.
pub(super) const WIDTH: usize = 6;
/// Powers of u² in the products of two weights.
const POWERS: usize = WIDTH;

/// Coefficients of everything that follows from where a point lies between two nodes.
pub(super) struct Splines {
    weights: [Lanes; WIDTH],
    slopes: [Lanes; WIDTH - 1],
    curvatures: [Lanes; WIDTH - 2],
    lags: [Lanes; POWERS],
    lag_slopes: [Lanes; POWERS - 1],
}

impl Splines {
    pub(super) fn new() -> Self {
        let pieces = pieces();
        let derivatives = pieces.each_ref().map(|p| derivative(p));
        let second = derivatives.each_ref().map(|p| derivative(p));
        let lags: [Vec<f64>; WIDTH] = std::array::from_fn(|lag| {
            let both_ways = if lag == 0 { 1.0 } else { 2.0 };
            let mut sum = vec![0.0; 2 * WIDTH - 1];
            for a in 0..WIDTH - lag {
                for (power, value) in product(&pieces[a], &pieces[a + lag]).into_iter().enumerate() {
                    sum[power] += both_ways * value;
                }
            }
            sum
        });
        let lag_slopes = lags.each_ref().map(|p| derivative(p));
        Self {
            weights: lanes(&pieces, 0, 1),
            slopes: lanes(&derivatives, 0, 1),
            curvatures: lanes(&second, 0, 1),
            // A lag is an even polynomial, its derivative an odd one.
            lags: lanes(&lags, 0, 2),
            // Half of the derivative: as a target the point moves, as a source it stays.
            lag_slopes: lanes(&lag_slopes.map(|p| p.iter().map(|c| 0.5 * c).collect()), 1, 2),
        }
    }

    /// The weights of the nodes around a point that lies `u` (-½..½) past the middle between the two in the middle;
    /// lanes beyond `WIDTH` are 0.
    #[inline(always)]
    pub(super) fn weights<S: Simd>(&self, simd: S, u: f32) -> F32x8<S> {
        horner(simd, &self.weights, u)
    }

    /// Their derivatives by `u`.
    #[inline(always)]
    pub(super) fn slopes<S: Simd>(&self, simd: S, u: f32) -> F32x8<S> {
        horner(simd, &self.slopes, u)
    }

    /// Their second derivatives by `u`.
    #[inline(always)]
    pub(super) fn curvatures<S: Simd>(&self, simd: S, u: f32) -> F32x8<S> {
        horner(simd, &self.curvatures, u)
    }

    /// Σ of the products of the weights of nodes 0, 1, 2... apart, both ways round.
    #[inline(always)]
    pub(super) fn lags<S: Simd>(&self, simd: S, u: f32) -> F32x8<S> {
        horner(simd, &self.lags, u * u)
    }

    /// Half of their derivatives by `u`.
    #[inline(always)]
    pub(super) fn lag_slopes<S: Simd>(&self, simd: S, u: f32) -> F32x8<S> {
        horner(simd, &self.lag_slopes, u * u).times(simd, F32x8::splat(simd, u))
    }
}

/// The polynomials with these coefficients, lowest power first, at `u`.
#[inline(always)]
fn horner<S: Simd, const N: usize>(simd: S, coefficients: &[Lanes; N], u: f32) -> F32x8<S> {
    let u = F32x8::splat(simd, u);
    let mut sums = F32x8::load(&coefficients[N - 1]);
    for coefficients in coefficients[..N - 1].iter().rev() {
        sums = sums.times_plus(simd, u, F32x8::load(coefficients));
    }
    sums
}

/// How much a spline sampled at the nodes passes of each frequency of `length`.
pub(super) fn transfer(length: usize) -> Vec<f64> {
    // A node is no middle: its weights are those of a point half a step before one, on the node at WIDTH / 2 - 1.
    let values = pieces().map(|p| evaluate(&p, -0.5));
    let middle = (WIDTH / 2 - 1) as f64;
    let passed =
        |angle: f64| values.iter().enumerate().map(|(at, v)| v * ((at as f64 - middle) * angle).cos()).sum();
    (0..length).map(|k| passed(std::f64::consts::TAU * k as f64 / length as f64)).collect()
}

/// The weight of each node as a polynomial in u, lowest power first: each degree follows from the one below.
fn pieces() -> [Vec<f64>; WIDTH] {
    // In terms of t = u + ½ (0..1), past the node before: node j of degree d weighs
    // ((t + d - j) N(j-1) + (j + 1 - t) N(j)) / d, where N are the weights of degree d - 1.
    let mut below: Vec<Vec<f64>> = vec![vec![1.0]];
    for degree in 1..WIDTH {
        let d = degree as f64;
        below = (0..=degree)
            .map(|j| {
                let mut sum = vec![0.0; degree + 1];
                let mut add = |factor: [f64; 2], piece: &[f64]| {
                    for (power, value) in product(&factor, piece).into_iter().enumerate() {
                        sum[power] += value / d;
                    }
                };
                if j > 0 {
                    add([d - j as f64 + 0.5, 1.0], &below[j - 1]);
                }
                if j < degree {
                    add([j as f64 + 1.0 - 0.5, -1.0], &below[j]);
                }
                sum
            })
            .collect();
    }
    // The node that the point has just reached comes last.
    std::array::from_fn(|j| std::mem::take(&mut below[j]))
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[i + j] += x * y;
        }
    }
    out
}

fn derivative(p: &[f64]) -> Vec<f64> {
    p.iter().enumerate().skip(1).map(|(power, c)| power as f64 * c).collect()
}

fn evaluate(p: &[f64], u: f64) -> f64 {
    p.iter().rev().fold(0.0, |sum, c| sum * u + c)
}

/// One array of lanes for each of `N` powers, from `first` on, every `step`th.
fn lanes<const N: usize>(polynomials: &[Vec<f64>; WIDTH], first: usize, step: usize) -> [Lanes; N] {
    std::array::from_fn(|n| {
        std::array::from_fn(|lane| {
            polynomials.get(lane).and_then(|p| p.get(first + n * step)).map_or(0.0, |&c| c as f32)
        })
    })
}
