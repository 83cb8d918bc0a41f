//! The scale of a map at which the KL divergence is the least. Ours.
//!
//! Descent widens a map slowly: every pair of rows has to move apart. But the scale is one number, and the derivative by it
//! comes from the forces at hand: of KL by ln(scale) it is 4 Σ gi·yi, gi a quarter of the gradient.

use super::gradient::{Repulsion, attract, attraction_energy};
use super::optimise::DescentState;
use crate::affinity::Affinities;

/// The first step of the search, in ln(scale).
const FIRST_STEP: f64 = 0.02;
/// No step is longer.
const MOST: f64 = 0.7;
/// Steps of the search, at most, and when it is close enough.
const STEPS: usize = 8;
const CLOSE: f64 = 1e-3;

/// By how much a map may grow at a time.
pub(super) const MOST_GROWTH: f64 = 2.0;
/// A map that became so many times as wide as the distances between its neighbours did has outgrown them.
const OUTGROWN: f64 = 1.15;

/// Whether a map may be made wider. Clusters that have nothing to do with each other lower the loss the farther they are
/// apart: there is no best scale. Their rows then draw together again, and the map would grow without end. Where rows
/// stay as far apart as the scale has put them, the map was too narrow indeed.
pub(super) struct Width {
    /// The distance between neighbours when the update began.
    pub(super) natural: f64,
    pub(super) may_grow: bool,
}

impl Width {
    /// Whether a map that is so many times as wide as it was has outgrown the distances between neighbours. It may not grow
    /// again then.
    pub(super) fn is_outgrown<const D: usize>(&mut self, p: &Affinities, y: &[[f32; D]], wider: f64) -> bool {
        let is_outgrown = wider * self.natural > OUTGROWN * spacing(p, y);
        self.may_grow &= !is_outgrown;
        is_outgrown
    }
}

/// How far neighbours are apart: the distance at which ln(1 + d²) is the mean of it over P.
pub(super) fn spacing<const D: usize>(p: &Affinities, y: &[[f32; D]]) -> f64 {
    attraction_energy(p, y).exp_m1().max(0.0).sqrt()
}

/// Scales the places around their middle.
pub(super) fn scale_by<const D: usize>(y: &mut [[f32; D]], by: f64, state: &mut DescentState<D>) {
    let places = centred(y);
    y.iter_mut().zip(places).for_each(|(place, centred)| *place = centred.map(|v| v * by as f32));
    // Speeds are of the old scale.
    state.restart(1.0);
}

/// Scales the places around their middle, by the secant method, to at most so many times as wide.
pub(super) fn to_best_scale<const D: usize>(
    p: &Affinities,
    y: &mut [[f32; D]],
    repulsion: &mut Repulsion<D>,
    state: &mut DescentState<D>,
    most: f64,
) {
    let before = centred(y);
    let mut slope = |log_scale: f64| {
        let scale = log_scale.exp() as f32;
        let y: Vec<[f32; D]> = before.iter().map(|place| place.map(|v| v * scale)).collect();
        attract(p, &y, &mut state.attraction);
        let z = repulsion.repel(&y, &mut state.repulsion);
        let forces = state.attraction.iter().zip(&state.repulsion);
        let along = |(place, (a, r)): (&[f32; D], (&[f32; D], &[f32; D]))| -> f64 {
            (0..D).map(|d| f64::from(place[d]) * (f64::from(a[d]) - f64::from(r[d]) / z)).sum()
        };
        y.iter().zip(forces).map(along).sum::<f64>()
    };
    let found = root(&mut slope).exp().min(most);
    scale_by(y, found, state);
}

/// Where a slope that rises is 0.
fn root(slope: &mut impl FnMut(f64) -> f64) -> f64 {
    let (mut last, mut at_last) = (0.0, slope(0.0));
    let mut here = if at_last > 0.0 { -FIRST_STEP } else { FIRST_STEP };
    let mut at_here = slope(here);
    for _ in 0..STEPS {
        let secant = here - at_here * (here - last) / (at_here - at_last);
        // Where the slope does not rise, a longer step the same way.
        let rises = (at_here - at_last) / (here - last) > 0.0;
        let next = if rises && secant.is_finite() { secant } else { here + MOST * here.signum() };
        let next = next.clamp(here - MOST, here + MOST);
        (last, at_last) = (here, at_here);
        here = next;
        if (here - last).abs() < CLOSE {
            break;
        }
        at_here = slope(here);
    }
    here
}

fn centred<const D: usize>(y: &[[f32; D]]) -> Vec<[f32; D]> {
    let mut middle = [0.0f64; D];
    for place in y {
        (0..D).for_each(|d| middle[d] += f64::from(place[d]));
    }
    let middle = middle.map(|sum| (sum / y.len() as f64) as f32);
    y.iter().map(|place| std::array::from_fn(|d| place[d] - middle[d])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Search, nearest_neighbours};
    use crate::matrix::Matrix;
    use crate::progress::ignore;
    use crate::random::Random;
    use crate::tsne::kl_divergence;

    /// The scale that is found is better than those beside it, wherever the search begins.
    #[test]
    fn the_best_scale_is_found() {
        let mut random = Random::new(8);
        let x = Matrix::new(80, 2, (0..160).map(|_| random.gaussian() as f32).collect()).unwrap();
        let (near, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).unwrap();
        let p = Affinities::new(near, 10.0);
        for width in [3.0f32, 5.0, 9.0] {
            let mut y: Vec<[f32; 2]> = (0..80).map(|i| [x.row(i)[0] * width, x.row(i)[1] * width]).collect();
            for _ in 0..3 {
                to_best_scale(&p, &mut y, &mut Repulsion::Exact, &mut DescentState::new(80), 4.0);
            }
            let kl = |scale: f32| {
                let places = y.iter().flatten().map(|v| v * scale).collect();
                kl_divergence(&p, &Matrix::new(80, 2, places).unwrap()).unwrap()
            };
            assert!(
                kl(1.0) < kl(0.97) && kl(1.0) < kl(1.03),
                "{width}: {} {} {}",
                kl(0.97),
                kl(1.0),
                kl(1.03)
            );
        }
    }
}
