//! Where a row with neighbours goes: the paper's inverse-distance weighting, and ours, the least energy.

use crate::affinity::perplexity_weights;
use crate::matrix::Matrix;
use crate::vectorized::vectorized;

/// The rule by which a row with neighbours gets its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Local {
    /// Where t-SNE's attraction to the row's nearest neighbours is least: never between clusters, at natural distances.
    #[default]
    Energy,
    /// The paper's: the neighbours' places weighted by distance to the power -p.
    Idw,
}

/// A factor that falls to 0 at the radius, so that places change without a jump as neighbours come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taper {
    /// No such factor.
    #[default]
    None,
    /// Falls from 1 at distance 0.
    Triangle,
    /// Falls from 1 at half the radius.
    Trapezoid,
}

impl Taper {
    /// The factor at a distance.
    pub(crate) fn at(self, distance: f64, radius: f64) -> f64 {
        let left = (1.0 - distance / radius).max(0.0);
        match self {
            Self::None => 1.0,
            Self::Triangle => left,
            Self::Trapezoid => (2.0 * left).min(1.0),
        }
    }
}

/// Weights below this share of the largest are beyond the precision of a place: neighbours that far are not read.
const LEAST_WEIGHT: f64 = 1e-9;

/// A row's neighbours: squared distances and rows, nearest first.
pub(crate) type Neighbourhood<'a> = &'a [(f32, u32)];

/// How far neighbours matter to `idw`, given the nearest one.
pub(crate) fn idw_reach(nearest: f64, power: f64) -> f64 {
    nearest * LEAST_WEIGHT.powf(-1.0 / power)
}

/// Σ wi yi / Σ wi with wi = |x - xi|^-p, tapered.
pub(crate) fn idw(near: Neighbourhood<'_>, y: &Matrix, power: f64, taper: Taper, radius: f64) -> [f64; 3] {
    let Some(&(nearest2, _)) = near.first() else { return [0.0; 3] };
    let nearest2 = f64::from(nearest2);
    // Divided by the nearest distance first: no power of a distance can overflow then, and the nearest weighs 1.
    let weight = |distance2: f32| match nearest2 > 0.0 {
        true => (nearest2 / f64::from(distance2)).powf(0.5 * power),
        false => f64::from(u8::from(distance2 == 0.0)),
    };
    let tapered = |distance2: f32| weight(distance2) * taper.at(f64::from(distance2).sqrt(), radius);
    mean_of(near, y, tapered).or_else(|| mean_of(near, y, weight)).unwrap_or([0.0; 3])
}

/// The mean place by these weights; nothing where all are 0.
fn mean_of(near: Neighbourhood<'_>, y: &Matrix, weight: impl Fn(f32) -> f64) -> Option<[f64; 3]> {
    let (mut total, mut sums) = (0.0, [0.0; 3]);
    for &(distance2, row) in near {
        let weight = weight(distance2);
        total += weight;
        let place = y.row(row as usize);
        sums.iter_mut().zip(place).for_each(|(sum, &v)| *sum += weight * f64::from(v));
    }
    (total > 0.0).then(|| sums.map(|sum| sum / total))
}

/// Every pair of neighbours is looked at for that, so only so many of them, the nearest.
const MOST_LINKED: usize = 1000;

/// The longest run of neighbours, nearest first, whose places hang together when those within `link` of each other are
/// linked. Neighbours in a cluster that has nothing to do with the row's own fall away; so do those beyond the nearest 1000.
pub(crate) fn of_one_cluster<'a>(near: Neighbourhood<'a>, y: &Matrix, link: f64) -> Neighbourhood<'a> {
    let near = &near[..near.len().min(MOST_LINKED)];
    let mut root: Vec<usize> = (0..near.len()).collect();
    let (mut clusters, mut longest) = (0, near.len().min(1));
    for new in 0..near.len() {
        clusters += 1;
        let place = y.row(near[new].1 as usize);
        for old in 0..new {
            let other = y.row(near[old].1 as usize);
            let distance2: f64 = place.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            if distance2 <= link * link {
                let (a, b) = (find(&mut root, new), find(&mut root, old));
                clusters -= usize::from(a != b);
                root[a] = b;
            }
        }
        if clusters == 1 {
            longest = new + 1;
        }
    }
    &near[..longest]
}

fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}

/// Of so many nearest rows the places are tried as starts.
const STARTS: usize = 10;
/// Steps at most.
const STEPS: usize = 200;
/// A step this short, as a share of the neighbours' spread, is the last.
const SHORT: f32 = 1e-5;
/// From steps this short on the bottom is near, and Newton's method finds it in a few.
const NEAR: f32 = 0.1;

/// Where E(y) = Σ pi log(1 + |y - yi|²) is least, from the best of the nearest rows' places downhill; pi are the
/// perplexity weights of the row over `near`, tapered.
pub(crate) struct Energy {
    dims: usize,
    weights: Vec<f64>,
    /// Places and weights side by side, filled up with weight 0 to whole lanes.
    lanes: Vec<Lane>,
}

const LANES: usize = 16;

/// Sixteen neighbours.
#[derive(Clone, Copy)]
struct Lane {
    weight: [f32; LANES],
    place: [[f32; LANES]; 3],
}

impl Energy {
    pub(crate) fn new() -> Self {
        Self { dims: 2, weights: Vec::new(), lanes: Vec::new() }
    }

    /// The place of a row with these nearest rows.
    pub(crate) fn place(
        &mut self,
        near: Neighbourhood<'_>,
        y: &Matrix,
        perplexity: f64,
        taper: Taper,
        radius: f64,
    ) -> [f64; 3] {
        self.prepare(near, y, perplexity, taper, radius);
        match self.dims {
            3 => self.descend::<3>(near.len()),
            _ => self.descend::<2>(near.len()),
        }
    }

    fn prepare(&mut self, near: Neighbourhood<'_>, y: &Matrix, perplexity: f64, taper: Taper, radius: f64) {
        self.dims = y.cols();
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
        self.lanes.clear();
        for (near, weights) in near.chunks(LANES).zip(self.weights.chunks(LANES)) {
            let mut lane = Lane { weight: [0.0; LANES], place: [[0.0; LANES]; 3] };
            for (at, (&(_, row), &weight)) in near.iter().zip(weights).enumerate() {
                lane.weight[at] = weight as f32;
                for (lanes, &v) in lane.place.iter_mut().zip(y.row(row as usize)) {
                    lanes[at] = v;
                }
            }
            self.lanes.push(lane);
        }
    }

    fn descend<const D: usize>(&self, count: usize) -> [f64; 3] {
        vectorized(
            #[inline(always)]
            || {
                let mut place = self.start::<D>(count);
                // Long before this many steps, nearly always.
                for _ in 0..STEPS {
                    let (step, slope, spread) = self.step::<D>(&place);
                    let moved = longest(&step);
                    let step = match moved <= NEAR * spread {
                        true => newton(&slope, &step).unwrap_or(step),
                        false => step,
                    };
                    place = std::array::from_fn(|d| place[d] + step[d]);
                    if moved <= SHORT * spread {
                        break;
                    }
                }
                let mut out = [0.0; 3];
                out.iter_mut().zip(place).for_each(|(out, v)| *out = f64::from(v));
                out
            },
        )
    }

    /// The place, of the nearest rows', with the least energy.
    #[inline(always)]
    fn start<const D: usize>(&self, count: usize) -> [f32; D] {
        let mut best = (f32::INFINITY, [0.0; D]);
        for i in 0..count.min(STARTS) {
            let lane = &self.lanes[i / LANES];
            let place = std::array::from_fn(|d| lane.place[d][i % LANES]);
            let energy = self.energy::<D>(&place);
            if energy < best.0 {
                best = (energy, place);
            }
        }
        best.1
    }

    #[inline(always)]
    fn energy<const D: usize>(&self, place: &[f32; D]) -> f32 {
        let mut sums = [0.0f32; LANES];
        for lane in &self.lanes {
            let near = nearness::<D>(lane, place);
            for at in 0..LANES {
                sums[at] += lane.weight[at] * log2(near[at]);
            }
        }
        sum(sums)
    }

    /// One step downhill, to the mean of the places by their weight and nearness; how that step changes as the place
    /// does (its derivative, less the identity); and how far the places are on average.
    #[inline(always)]
    fn step<const D: usize>(&self, place: &[f32; D]) -> ([f32; D], [[f32; D]; D], f32) {
        let (mut total, mut spread) = ([0.0f32; LANES], [0.0f32; LANES]);
        let (mut sums, mut products) = ([[0.0f32; LANES]; D], [[[0.0f32; LANES]; D]; D]);
        for lane in &self.lanes {
            let near = nearness::<D>(lane, place);
            for at in 0..LANES {
                let nearness = near[at].recip();
                let weight = lane.weight[at] * nearness;
                total[at] += weight;
                spread[at] += lane.weight[at];
                for d in 0..D {
                    // Differences from the place, not places: far from 0 those would round worse.
                    let pull = weight * (lane.place[d][at] - place[d]);
                    sums[d][at] += pull;
                    for e in 0..=d {
                        products[d][e][at] += pull * nearness * (lane.place[e][at] - place[e]);
                    }
                }
            }
        }
        let total = sum(total);
        // Σ w / Σ (w / (1 + d²)) is 1 + a mean of d²: what the places are apart, at least 1.
        let spread = (sum(spread) / total).sqrt();
        let mut slope = [[0.0; D]; D];
        for d in 0..D {
            for e in 0..=d {
                let product = 2.0 * sum(products[d][e]) / total;
                slope[d][e] = f32::from(u8::from(d == e)) - product;
                slope[e][d] = slope[d][e];
            }
        }
        (std::array::from_fn(|d| sum(sums[d]) / total), slope, spread)
    }
}

fn longest<const D: usize>(step: &[f32; D]) -> f32 {
    step.iter().fold(0.0, |most, v| v.abs().max(most))
}

/// Newton's step: the slope's inverse times the plain step, where the slope is that of a valley. By elimination, of two or
/// three dimensions.
#[inline(always)]
fn newton<const D: usize>(slope: &[[f32; D]; D], step: &[f32; D]) -> Option<[f32; D]> {
    /// In flatter valleys the plain step is kept.
    const FLAT: f32 = 0.02;
    let (mut a, mut b) = (*slope, *step);
    for d in 0..D {
        if a[d][d] < FLAT {
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
    Some(b)
}

/// 1 + |y - yi|².
#[inline(always)]
fn nearness<const D: usize>(lane: &Lane, place: &[f32; D]) -> [f32; LANES] {
    let mut near = [1.0f32; LANES];
    for d in 0..D {
        for at in 0..LANES {
            let difference = lane.place[d][at] - place[d];
            near[at] += difference * difference;
        }
    }
    near
}

/// The logarithm to base 2 of a number from 1 on, to about 1e-5: starts are compared by it, nothing else.
#[inline(always)]
fn log2(value: f32) -> f32 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let m = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    // log2(m) for m in 1..2 by the series of artanh((m - 1) / (m + 1)).
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = 1.0 + t2 * (1.0 / 3.0 + t2 * (1.0 / 5.0 + t2 * (1.0 / 7.0 + t2 / 9.0)));
    exponent as f32 + 2.0 * std::f32::consts::LOG2_E * t * series
}

/// The sum over lanes, halves onto halves.
#[inline(never)]
fn sum(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        for i in 0..20_000 {
            let value = 1.0 + (i as f32).powi(2) * 0.01;
            let (found, truth) = (f64::from(log2(value)), f64::from(value).log2());
            assert!((found - truth).abs() <= 2e-5 * truth.max(1.0), "{value}: {found} for {truth}");
        }
    }

    #[test]
    fn tapers_end_at_the_radius() {
        for taper in [Taper::Triangle, Taper::Trapezoid] {
            assert_eq!((taper.at(0.0, 2.0), taper.at(2.0, 2.0), taper.at(3.0, 2.0)), (1.0, 0.0, 0.0));
        }
        assert_eq!((Taper::Triangle.at(1.0, 2.0), Taper::Trapezoid.at(1.0, 2.0)), (0.5, 1.0));
    }

    #[test]
    fn a_cluster_is_a_run_that_hangs_together() {
        let y = Matrix::new(5, 2, vec![0.0, 0.0, 1.0, 0.0, 9.0, 0.0, 2.0, 0.0, 9.5, 0.0]).unwrap();
        let near = [(1.0, 0), (2.0, 1), (3.0, 2), (4.0, 3), (5.0, 4)];
        assert_eq!(of_one_cluster(&near, &y, 1.5).len(), 2);
        assert_eq!(of_one_cluster(&near, &y, 100.0).len(), 5);
        // A place farther on may link what hung apart.
        assert_eq!(of_one_cluster(&near, &y, 7.0).len(), 5);
        assert_eq!(of_one_cluster(&near[..1], &y, 1.0).len(), 1);
        assert_eq!(of_one_cluster(&[], &y, 1.0).len(), 0);
    }
}
