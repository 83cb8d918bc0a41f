//! Descent that keeps a map's shape: rows are pulled to where they were, under a similarity transform of the whole.
//!
//! What is minimised is KL(P||Q) + λ / 2N Σ wi |yi - S(yi⁰)|² / R². yi⁰ is where row i was, wi says how much of its
//! neighbourhood is as it was, and S is the similarity transform that brings all yi⁰ nearest to the yi. R is the radius of
//! the map as it is, so that λ means the same for maps of any size. The penalty on moves is of Rauber, Falcão & Telea 2016,
//! Visualizing Time-Dependent Data Using Dynamic t-SNE; weights, transform, radius and stages are ours.

use super::gradient::{Repulsion, attract, attract_rows, attraction_energy, entropy};
use super::jumps::jump;
use super::optimise::{Balance, COME_TO_REST, DescentState, Optimised, Order, REPORT, Stride, permute};
use super::scale::{MOST_GROWTH, Width, scale_by, spacing, to_best_scale};
use crate::affinity::Affinities;
use crate::error::Result;
use crate::progress::{Observer, Progress, Stage};
use crate::similarity::{Reflection, Similarity};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Where rows were, and how firmly each is held there.
#[derive(Clone, Debug)]
pub(crate) struct Anchors<const D: usize> {
    /// For a row without weight, anything.
    pub(crate) places: Vec<[f32; D]>,
    /// w: from 0, free, to 1.
    pub(crate) weights: Vec<f32>,
    /// Whether all places may be turned, scaled and moved together. Else they stay as they are.
    pub(crate) under_similarity: bool,
    /// Whether the map ends on the scale that it began on. During the descent it is on that of t-SNE.
    pub(crate) keeps_scale: bool,
}

/// What to do for how long.
#[derive(Clone, Debug)]
pub(crate) struct AnchoredSchedule {
    /// Iterations in which only rows without an anchor move, and by how much their affinities are exaggerated.
    pub(crate) gathering: usize,
    pub(crate) exaggeration: f64,
    /// Iterations after those in which all rows move and affinities are exaggerated by a little: rows decide between clusters.
    pub(crate) deciding: usize,
    pub(crate) little_exaggeration: f64,
    /// Iterations at the end.
    pub(crate) relaxing: usize,
    /// λ when all rows begin to move, and from the middle on; infinite holds rows where they are.
    pub(crate) strengths: [f64; 2],
    /// Step lengths while gathering, and after.
    pub(crate) learning_rates: [f64; 2],
}

impl AnchoredSchedule {
    pub(crate) fn iterations(&self) -> usize {
        self.gathering + self.deciding + self.relaxing
    }

    fn exaggeration(&self, done: usize) -> f64 {
        match done {
            _ if done < self.gathering => self.exaggeration,
            _ if done < self.gathering + self.deciding => self.little_exaggeration,
            _ => 1.0,
        }
    }

    /// λ falls by the same factor in each iteration of the first half, and stays; `None` while only free rows move.
    fn strength(&self, done: usize) -> Option<f64> {
        let moving = done.checked_sub(self.gathering)?;
        let ([first, last], all) = (self.strengths, self.deciding + self.relaxing);
        let share = (2.0 * moving as f64 / all.max(1) as f64).min(1.0);
        Some(match first.is_finite() && last > 0.0 {
            true => first * (last / first).powf(share),
            false => last,
        })
    }

    /// Whether the scale is found anew before this iteration: when exaggeration ends, and half-way from there. Descent would
    /// take hundreds of iterations to widen the map. Earlier, a wide map would only make its grid larger.
    fn rescales(&self, done: usize) -> bool {
        let relaxed = done.checked_sub(self.gathering + self.deciding);
        relaxed.is_some_and(|relaxed| relaxed == 0 || 2 * relaxed == self.relaxing)
    }

    /// Whether rows may jump before this iteration: at the beginning, in the middle and at the end of the exaggeration.
    fn jumps(&self, done: usize) -> bool {
        let moving = done.checked_sub(self.gathering);
        moving.is_some_and(|moving| [0, self.deciding / 2, self.deciding].contains(&moving))
    }

    /// Whether rows are put in the order of their places before this iteration.
    fn reorders(&self, done: usize) -> bool {
        done == 0 || done == self.gathering || done == self.gathering + self.deciding
    }
}

/// Iterations after which the transform is found anew.
const REFRESH: usize = 10;

/// Moves `y` down the gradient. The places are turned and moved back onto the anchors at the end, but not scaled.
pub(crate) fn optimise_anchored<const D: usize>(
    mut p: Affinities,
    y: &mut [[f32; D]],
    mut anchors: Anchors<D>,
    mut repulsion: Repulsion<D>,
    schedule: &AnchoredSchedule,
    observer: &mut Observer<'_>,
) -> Result<Optimised> {
    let mut order = Order::new(y.len());
    let mut state = DescentState::new(y.len());
    let mut held = Held::new(&anchors);
    let mut width = Width { natural: spacing(&p, y), may_grow: true };
    let self_entropy = entropy(&p);
    let mut history = Vec::new();
    let (mut done, total) = (0, schedule.iterations());
    while done < total {
        if schedule.reorders(done) {
            let next = order.follow(y);
            permute(y, &next);
            anchors.reorder(&next);
            p = p.reordered(&next);
            held = Held::new(&anchors);
            state.restart(1.0);
        }
        if schedule.jumps(done) {
            jump(&p, y, &anchors.weights, &order, &mut state);
        }
        // A map made elsewhere may be on any scale, and new rows need t-SNE's from the beginning.
        let rescales = schedule.rescales(done) || (done == 0 && anchors.keeps_scale);
        if rescales && anchors.under_similarity {
            let wider = anchors.similarity(y)?.scale;
            if !anchors.keeps_scale && width.is_outgrown(&p, y, wider) {
                // As wide as it was: the distances between neighbours are right there.
                scale_by(y, 1.0 / wider, &mut state);
            } else if width.may_grow {
                let most = if anchors.keeps_scale { f64::INFINITY } else { MOST_GROWTH };
                to_best_scale(&p, y, &mut repulsion, &mut state, most);
            }
        }
        if done % REFRESH == 0 || schedule.reorders(done) {
            held.refresh(&anchors, y)?;
        }
        // A quarter, as the gradient is a quarter of what it is by its formula.
        let shared = 4.0 * y.len() as f64 * held.radius2;
        let strength = schedule.strength(done).map(|strength| (strength / shared) as f32);
        match strength {
            None => attract_rows(&p, y, &held.free, &mut state.attraction),
            Some(_) => attract(&p, y, &mut state.attraction),
        }
        // With little momentum it makes no difference where the grid lies.
        repulsion.coarsen((done + COME_TO_REST < total).then_some(0));
        let z = repulsion.repel(y, &mut state.repulsion);
        let balance = Balance::new(schedule.exaggeration(done), z);
        let rate = schedule.learning_rates[usize::from(strength.is_some())] as f32;
        done += 1;
        let mut progress = Progress::of(Stage::Optimise, done as u64, total as u64);
        if done.is_multiple_of(REPORT) && done < total {
            let kl = self_entropy + attraction_energy(&p, y) + z.ln();
            history.push((done, kl));
            progress.kl = Some(kl);
        }
        Pull { targets: &held.targets, weights: &anchors.weights, strength }
            .step(y, &mut state, balance, rate);
        if observer(&progress) == ControlFlow::Break(()) {
            break;
        }
    }
    held.refresh(&anchors, y)?;
    repulsion.coarsen(None);
    let z = repulsion.repel(y, &mut state.repulsion);
    let kl = self_entropy + attraction_energy(&p, y) + z.ln();
    history.push((done, kl));
    held.undo(y, anchors.keeps_scale);
    order.restore(y);
    Ok(Optimised { iterations: done, stopped: done < total, kl, history })
}

impl<const D: usize> Anchors<D> {
    fn reorder(&mut self, order: &[u32]) {
        permute(&mut self.places, order);
        permute(&mut self.weights, order);
    }

    /// The transform that brings the anchors nearest to the places that their rows have now.
    fn similarity(&self, y: &[[f32; D]]) -> Result<Similarity> {
        if !self.under_similarity {
            return Ok(Similarity::identity(D));
        }
        let pairs = self.places.iter().zip(y).zip(&self.weights);
        let pairs = pairs.map(|((from, to), &weight)| (&from[..], &to[..], weight));
        Similarity::of_pairs(D, pairs, Reflection::Never)
    }
}

/// Where rows are held at the moment.
struct Held<const D: usize> {
    similarity: Similarity,
    targets: Vec<[f32; D]>,
    /// R²: the weighted mean square distance of these from their middle.
    radius2: f64,
    /// The rows that are not.
    free: Vec<u32>,
}

impl<const D: usize> Held<D> {
    fn new(anchors: &Anchors<D>) -> Self {
        let free = (0..).zip(&anchors.weights).filter(|(_, weight)| **weight <= 0.0).map(|(row, _)| row);
        let (similarity, targets) = (Similarity::identity(D), anchors.places.clone());
        Self { similarity, targets, radius2: 1.0, free: free.collect() }
    }

    fn refresh(&mut self, anchors: &Anchors<D>, y: &[[f32; D]]) -> Result<()> {
        self.similarity = anchors.similarity(y)?;
        let similarity = &self.similarity;
        let pairs = self.targets.par_iter_mut().zip(&anchors.places).with_min_len(1024);
        pairs.for_each(|(target, place)| similarity.apply_into(place, target));
        self.radius2 = radius2(&self.targets, &anchors.weights);
        Ok(())
    }

    /// Turns and moves places back, so that rows that only moved with all others are where they were, but for the scale;
    /// and that too where it is to be kept.
    fn undo(&self, y: &mut [[f32; D]], keeps_scale: bool) {
        let scale = if keeps_scale { self.similarity.scale } else { 1.0 };
        y.par_iter_mut().with_min_len(1024).for_each(|place| *place = self.similarity.undone(place, scale));
    }
}

/// The weighted mean square distance of places from their middle; 1 where they are all at one place.
fn radius2<const D: usize>(places: &[[f32; D]], weights: &[f32]) -> f64 {
    let (mut sum, mut squares, mut total) = ([0.0f64; D], 0.0, 0.0);
    for (place, &weight) in places.iter().zip(weights) {
        let weight = f64::from(weight);
        for d in 0..D {
            sum[d] += weight * f64::from(place[d]);
            squares += weight * f64::from(place[d]).powi(2);
        }
        total += weight;
    }
    let of_middle: f64 = sum.iter().map(|sum| sum * sum).sum::<f64>() / total;
    let radius2 = (squares - of_middle) / total;
    if radius2.is_finite() && radius2 > 0.0 { radius2 } else { 1.0 }
}

/// What holds rows in one step.
struct Pull<'a, const D: usize> {
    targets: &'a [[f32; D]],
    weights: &'a [f32],
    /// λ / 4N R²; `None` where rows with an anchor do not move at all.
    strength: Option<f32>,
}

impl<const D: usize> Pull<'_, D> {
    fn step(&self, y: &mut [[f32; D]], state: &mut DescentState<D>, balance: Balance, rate: f32) {
        let stride = Stride::classic(rate);
        state.step_rows(y, |row, y, moving, attraction, repulsion| {
            let gradient = balance.gradient(attraction, repulsion);
            match self.strength {
                _ if self.weights[row] <= 0.0 => moving.by(y, gradient, stride, 0.0),
                None => {}
                Some(strength) if strength.is_infinite() => *y = self.targets[row],
                Some(strength) => {
                    let pull = strength * self.weights[row];
                    moving.by(y, self.pulled(row, y, gradient, pull), stride, pull);
                }
            }
        });
    }

    /// The gradient with that of the penalty.
    fn pulled(&self, row: usize, y: &[f32; D], gradient: [f32; D], pull: f32) -> [f32; D] {
        std::array::from_fn(|d| gradient[d] + pull * (y[d] - self.targets[row][d]))
    }
}

#[cfg(test)]
mod tests;
