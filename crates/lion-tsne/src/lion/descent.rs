//! The place of least energy: from the best of the nearest rows' places downhill.
//!
//! F(y) = Σ pi log(1 + |y - yi|²) + s φ(y). The first sum is t-SNE's attraction to the row's neighbours, pi their
//! perplexity weights; φ is the potential of all places of the map, and s its strength (`repulsion`). F is t-SNE's loss
//! as one row feels it that joins a map which does not move. Ours.

use super::local::{Neighbourhood, Taper};
use super::repulsion::RepulsionField;
use crate::affinity::perplexity_weights;
use crate::matrix::Matrix;
use crate::tsne::Taylor;
use crate::vectorized::{sum_lanes, vectorized};

/// The places of so many nearest rows are tried as starts.
const STARTS: usize = 10;
/// Steps at most.
const STEPS: usize = 100;
/// A step this short, as a share of the neighbours' spread, is the last.
const SHORT: f32 = 1e-5;
/// So is a step of Newton's method this short: what it leaves is in proportion to its square.
const SHORT_NEWTON: f32 = 1e-3;
/// Values of F that differ less than this may be equal but for rounding.
const ROUNDING: f32 = 2e-6;
/// In flatter valleys, as a share of the attraction's stiffness, Newton's method is damped.
const FLAT: f32 = 0.02;

const LANES: usize = 16;

/// Sixteen places with their weights.
#[derive(Clone, Copy)]
pub(super) struct DescentLane {
    weight: [f32; LANES],
    place: [[f32; LANES]; 3],
}

impl DescentLane {
    /// Appends places to lanes, the last of which is filled up with weight 0.
    pub(super) fn fill<'a>(lanes: &mut Vec<Self>, places: impl Iterator<Item = (&'a [f32], f32)>) {
        lanes.clear();
        for (i, (place, weight)) in places.enumerate() {
            if i % LANES == 0 {
                lanes.push(Self { weight: [0.0; LANES], place: [[0.0; LANES]; 3] });
            }
            if let Some(lane) = lanes.last_mut() {
                lane.weight[i % LANES] = weight;
                lane.place.iter_mut().zip(place).for_each(|(lanes, &v)| lanes[i % LANES] = v);
            }
        }
    }
}

/// φ of places in lanes, each as often as it weighs.
pub(super) fn potential<const D: usize>(lanes: &[DescentLane], place: &[f32; D]) -> Taylor<D> {
    vectorized(
        #[inline(always)]
        || {
            let (mut value, mut squares) = ([0.0f32; LANES], [0.0f32; LANES]);
            let (mut gradient, mut products) = ([[0.0f32; LANES]; D], [[[0.0f32; LANES]; D]; D]);
            for lane in lanes {
                let near = nearness::<D>(lane, place);
                for at in 0..LANES {
                    let q = near[at].recip();
                    let charge = lane.weight[at] * q;
                    value[at] += charge;
                    squares[at] += charge * q;
                    for d in 0..D {
                        let push = charge * q * (place[d] - lane.place[d][at]);
                        gradient[d][at] += push;
                        for e in 0..=d {
                            products[d][e][at] += push * q * (place[e] - lane.place[e][at]);
                        }
                    }
                }
            }
            let squares = 2.0 * sum(squares);
            let products = products.map(|row| row.map(|lanes| 8.0 * sum(lanes)));
            let hessian =
                |d: usize, e: usize| products[d.max(e)][d.min(e)] - if d == e { squares } else { 0.0 };
            Taylor {
                value: sum(value),
                gradient: gradient.map(|lanes| -2.0 * sum(lanes)),
                hessian: std::array::from_fn(|d| std::array::from_fn(|e| hessian(d, e))),
            }
        },
    )
}

/// What finds the place of a row; kept from one row to the next for its memory alone.
pub(crate) struct Energy {
    weights: Vec<f64>,
    /// The neighbours.
    lanes: Vec<DescentLane>,
    /// What repels, where that depends on the row.
    sources: Vec<DescentLane>,
}

/// F at a place: its value, and half of its first and second derivatives.
struct Objective<const D: usize> {
    value: f32,
    half_gradient: [f32; D],
    half_hessian: [[f32; D]; D],
    /// Σ pi / (1 + |y - yi|²): no attraction is stiffer.
    stiffness: f32,
    /// How far the neighbours are on average, at least 1.
    spread: f32,
}

impl Energy {
    pub(crate) fn new() -> Self {
        Self { weights: Vec::new(), lanes: Vec::new(), sources: Vec::new() }
    }

    /// The place of the row that was prepared last, with its nearest rows.
    pub(crate) fn place(
        &mut self,
        near: Neighbourhood<'_>,
        y: &Matrix,
        repulsion: Option<&RepulsionField>,
    ) -> [f64; 3] {
        match y.cols() {
            1 => self.lowest::<1>(near, y, repulsion),
            3 => self.lowest::<3>(near, y, repulsion),
            _ => self.lowest::<2>(near, y, repulsion),
        }
    }

    /// The share of the repulsion that is in balance with the attraction at the places of these rows of the map, given with
    /// their nearest others: by least squares. Of a map by t-SNE it is about 1.
    pub(crate) fn balance<'a>(
        &mut self,
        rows: impl Iterator<Item = (u32, Neighbourhood<'a>)>,
        y: &Matrix,
        repulsion: &RepulsionField,
        perplexity: f64,
    ) -> f32 {
        let (mut both, mut pushes) = (0.0, 0.0);
        for (row, near) in rows.filter(|(_, near)| !near.is_empty()) {
            self.prepare(near, y, perplexity, Taper::None, 1.0);
            let [more_both, more_pushes] = match *y.row(row as usize) {
                [a] => self.forces(&[a], y, repulsion),
                [a, b, c] => self.forces(&[a, b, c], y, repulsion),
                ref place => self.forces(&[place[0], place[1]], y, repulsion),
            };
            both += more_both;
            pushes += more_pushes;
        }
        if pushes > 0.0 { (-both / pushes) as f32 } else { 0.0 }
    }

    /// The product of attraction and repulsion at a place, and the square of the latter.
    fn forces<const D: usize>(
        &mut self,
        place: &[f32; D],
        y: &Matrix,
        repulsion: &RepulsionField,
    ) -> [f64; 2] {
        repulsion.gather(place, &mut self.sources);
        let pull = self.objective(place, None).half_gradient;
        let push = repulsion.potential(place, &self.sources, y).gradient;
        let push = push.map(|v| 0.5 * repulsion.strength() * v);
        let product = |a: &[f32; D], b: &[f32; D]| {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        [product(&pull, &push), product(&push, &push)]
    }

    /// What the nearest rows of the row that was prepared last weigh.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Takes the nearest rows of a row, and weighs them.
    pub(crate) fn prepare(
        &mut self,
        near: Neighbourhood<'_>,
        y: &Matrix,
        perplexity: f64,
        taper: Taper,
        radius: f64,
    ) {
        let distances: Vec<f32> = near.iter().map(|&(distance2, _)| distance2).collect();
        self.weights.clear();
        self.weights.resize(near.len(), 0.0);
        perplexity_weights(&distances, perplexity, &mut self.weights);
        if taper != Taper::None {
            let factors = distances.iter().map(|&d| taper.at(f64::from(d).sqrt(), radius));
            let tapered: Vec<f64> = self.weights.iter().zip(factors).map(|(w, f)| w * f).collect();
            if tapered.iter().any(|&w| w > 0.0) {
                self.weights = tapered;
            }
        }
        let places = near.iter().map(|&(_, row)| y.row(row as usize));
        DescentLane::fill(&mut self.lanes, places.zip(self.weights.iter().map(|&w| w as f32)));
    }

    fn lowest<const D: usize>(
        &mut self,
        near: Neighbourhood<'_>,
        y: &Matrix,
        repulsion: Option<&RepulsionField>,
    ) -> [f64; 3] {
        let mut place = self.start::<D>(near, repulsion);
        match repulsion {
            None => place = self.descend(place, |_| None),
            Some(repulsion) => {
                // Where far clusters count as one place, which those are depends on where one looks from.
                for _ in 0..3 {
                    let from = place;
                    repulsion.gather(&from, &mut self.sources);
                    let strength = repulsion.strength();
                    place =
                        self.descend(from, |at| Some((strength, repulsion.potential(at, &self.sources, y))));
                    let moved = longest(&std::array::from_fn::<f32, D, _>(|d| place[d] - from[d]));
                    if !repulsion.depends_on_row() || moved < 1.0 {
                        break;
                    }
                }
            }
        }
        let mut out = [0.0; 3];
        out.iter_mut().zip(place).for_each(|(out, v)| *out = f64::from(v));
        out
    }

    /// Downhill from a place, `field` telling strength and potential of the repulsion. Each step is checked: F is neither
    /// convex nor quadratic.
    fn descend<const D: usize>(
        &self,
        mut place: [f32; D],
        field: impl Fn(&[f32; D]) -> Option<(f32, Taylor<D>)>,
    ) -> [f32; D] {
        let mut here = self.objective(&place, field(&place));
        let mut reach = here.spread;
        // Long before this many steps, nearly always.
        for _ in 0..STEPS {
            let (step, newton) = here.step(reach);
            let moved = longest(&step);
            let next = std::array::from_fn(|d| place[d] + step[d]);
            if moved <= here.spread * if newton { SHORT_NEWTON } else { SHORT } {
                return next;
            }
            let there = self.objective(&next, field(&next));
            if there.value <= here.value + ROUNDING * (1.0 + here.value.abs()) {
                (place, here) = (next, there);
                reach = (2.0 * reach).min(here.spread);
            } else {
                reach = 0.25 * moved;
            }
        }
        place
    }

    /// The place, of the nearest rows', with the least F.
    fn start<const D: usize>(&self, near: Neighbourhood<'_>, repulsion: Option<&RepulsionField>) -> [f32; D] {
        vectorized(
            #[inline(always)]
            || {
                let mut best = (f32::INFINITY, [0.0; D]);
                for (i, &(_, row)) in near.iter().enumerate().take(STARTS) {
                    let lane = &self.lanes[i / LANES];
                    let place = std::array::from_fn(|d| lane.place[d][i % LANES]);
                    let value = self.attraction::<D>(&place) + repulsion.map_or(0.0, |r| r.at_row(row));
                    if value < best.0 {
                        best = (value, place);
                    }
                }
                best.1
            },
        )
    }

    /// Σ pi log(1 + |y - yi|²).
    #[inline(always)]
    fn attraction<const D: usize>(&self, place: &[f32; D]) -> f32 {
        let mut sums = [0.0f32; LANES];
        for lane in &self.lanes {
            let near = nearness::<D>(lane, place);
            for at in 0..LANES {
                sums[at] += lane.weight[at] * log2(near[at]);
            }
        }
        std::f32::consts::LN_2 * sum(sums)
    }

    fn objective<const D: usize>(&self, place: &[f32; D], field: Option<(f32, Taylor<D>)>) -> Objective<D> {
        let mut objective = vectorized(
            #[inline(always)]
            || self.attraction_to_second_order(place),
        );
        if let Some((strength, field)) = field {
            objective.value += strength * field.value;
            for d in 0..D {
                objective.half_gradient[d] += 0.5 * strength * field.gradient[d];
                for e in 0..D {
                    objective.half_hessian[d][e] += 0.5 * strength * field.hessian[d][e];
                }
            }
        }
        objective
    }

    #[inline(always)]
    fn attraction_to_second_order<const D: usize>(&self, place: &[f32; D]) -> Objective<D> {
        let (mut logs, mut stiffness, mut total) = ([0.0f32; LANES], [0.0f32; LANES], [0.0f32; LANES]);
        let (mut half, mut products) = ([[0.0f32; LANES]; D], [[[0.0f32; LANES]; D]; D]);
        for lane in &self.lanes {
            let near = nearness::<D>(lane, place);
            for at in 0..LANES {
                let nearness = near[at].recip();
                let weight = lane.weight[at] * nearness;
                logs[at] += lane.weight[at] * log2(near[at]);
                stiffness[at] += weight;
                total[at] += lane.weight[at];
                for d in 0..D {
                    // Differences from the place, not places: far from 0 those would round worse.
                    let pull = weight * (place[d] - lane.place[d][at]);
                    half[d][at] += pull;
                    for e in 0..=d {
                        products[d][e][at] += pull * nearness * (place[e] - lane.place[e][at]);
                    }
                }
            }
        }
        let stiffness = sum(stiffness);
        let mut curvature = [[0.0; D]; D];
        for d in 0..D {
            for e in 0..=d {
                let plain = if d == e { stiffness } else { 0.0 };
                curvature[d][e] = plain - 2.0 * sum(products[d][e]);
                curvature[e][d] = curvature[d][e];
            }
        }
        Objective {
            value: std::f32::consts::LN_2 * sum(logs),
            half_gradient: half.map(sum),
            half_hessian: curvature,
            stiffness,
            // Σ p / Σ (p / (1 + d²)) is 1 + a mean of d².
            spread: (sum(total) / stiffness).sqrt(),
        }
    }
}

impl<const D: usize> Objective<D> {
    /// A step downhill, no longer than `reach`, and whether it is one of Newton's method: damped where the ground is not
    /// that of a valley.
    fn step(&self, reach: f32) -> ([f32; D], bool) {
        let least = FLAT * self.stiffness;
        let mut damping = 0.0;
        let mut step = solve(&self.half_hessian, &self.half_gradient, damping, least);
        while step.is_none() && damping < 100.0 * self.stiffness {
            damping = (2.0 * damping).max(0.25 * self.stiffness);
            step = solve(&self.half_hessian, &self.half_gradient, damping, least);
        }
        let step = step.unwrap_or_else(|| self.half_gradient.map(|v| -v / self.stiffness));
        let length = longest(&step);
        match length <= reach {
            true => (step, damping == 0.0),
            false => (step.map(|v| v * (reach / length)), false),
        }
    }
}

/// -(A + damping)⁻¹ b, by elimination; nothing where a pivot is below `least`.
#[inline(always)]
fn solve<const D: usize>(a: &[[f32; D]; D], b: &[f32; D], damping: f32, least: f32) -> Option<[f32; D]> {
    let (mut a, mut b) = (*a, *b);
    for d in 0..D {
        a[d][d] += damping;
    }
    for d in 0..D {
        if a[d][d].is_nan() || a[d][d] < least {
            return None;
        }
        for e in d + 1..D {
            let factor = a[e][d] / a[d][d];
            for f in d..D {
                a[e][f] -= factor * a[d][f];
            }
            b[e] -= factor * b[d];
        }
    }
    for d in (0..D).rev() {
        let known: f32 = (d + 1..D).map(|e| a[d][e] * b[e]).sum();
        b[d] = (b[d] - known) / a[d][d];
    }
    Some(b.map(|v| -v))
}

fn longest<const D: usize>(step: &[f32; D]) -> f32 {
    step.iter().fold(0.0, |most, v| v.abs().max(most))
}

/// 1 + |y - yi|².
#[inline(always)]
fn nearness<const D: usize>(lane: &DescentLane, place: &[f32; D]) -> [f32; LANES] {
    let mut near = [1.0f32; LANES];
    for d in 0..D {
        for at in 0..LANES {
            let difference = lane.place[d][at] - place[d];
            near[at] += difference * difference;
        }
    }
    near
}

/// The logarithm to base 2 of a number from 1 on, to about 1e-6.
#[inline(always)]
fn log2(value: f32) -> f32 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let m = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    // log2(m) for m in 1..2 by the series of artanh((m - 1) / (m + 1)).
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = 1.0 + t2 * (1.0 / 3.0 + t2 * (1.0 / 5.0 + t2 * (1.0 / 7.0 + t2 * (1.0 / 9.0 + t2 / 11.0))));
    exponent as f32 + 2.0 * std::f32::consts::LOG2_E * t * series
}

/// The sum over lanes; not inlined, which keeps the many places that call it small.
#[inline(never)]
fn sum(lanes: [f32; LANES]) -> f32 {
    sum_lanes(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        for i in 0..20_000 {
            let value = 1.0 + (i as f32).powi(2) * 0.01;
            let (found, truth) = (f64::from(log2(value)), f64::from(value).log2());
            assert!((found - truth).abs() <= 2e-6 * truth.max(1.0), "{value}: {found} for {truth}");
        }
    }
}
