//! Gradient descent with momentum, gains (Jacobs 1988) and early exaggeration, as van der Maaten & Hinton 2008; the
//! learning rate N / exaggeration is of Belkina et al. 2019, Automated Optimized Parameters for t-SNE.

use super::curve::curve_order;
use super::descent::{Descent, MOMENTUM, Pace};
use super::gradient::{Repulsion, Turns, attract, attract_in_turn, attraction_energy, entropy};
use super::jumps::jump;
use crate::affinity::Affinities;
use crate::progress::{Observer, Progress, Stage};
use crate::vectorized::vectorized;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// What to do for how long.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Iterations in all, at most.
    pub iterations: usize,
    /// Whether it ends when the KL divergence hardly falls any more.
    pub until_settled: bool,
    /// How many of them, the first ones, are exaggerated.
    pub exaggeration_iterations: usize,
    /// By how much.
    pub exaggeration: f64,
    /// Step length while exaggerated, and after.
    pub learning_rates: [f64; 2],
    /// How steps are made of it.
    pub descent: Descent,
}

/// Where it ended.
#[derive(Clone, Debug)]
pub(crate) struct Optimised {
    /// Iterations done.
    pub iterations: usize,
    /// The observer said stop before the end.
    pub stopped: bool,
    /// KL divergence of the places reached.
    pub kl: f64,
    /// Iteration and KL divergence on the way.
    pub history: Vec<(usize, f64)>,
}

/// Rows that one task moves. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 1024;
/// Iterations between two computations of the KL divergence.
pub(crate) const REPORT: usize = 50;
const GAIN_UP: f32 = 0.2;
const GAIN_DOWN: f32 = 0.8;
const LEAST_GAIN: f32 = 0.01;
/// What the step of a row times the pull between it and its closest neighbour may be.
const STEADY: f32 = 2.0;
/// No step is longer: with long learning rates a stray point would fly off for good.
const LONGEST_STEP: f32 = 5.0;
/// Where the longest step depends on the map's radius, it is no shorter, so that a map that exaggeration drew together to a
/// point opens again; and it is measured so often.
const LEAST_LONGEST_STEP: f32 = 0.1;
const MEASURE_RADIUS: usize = 5;
/// The last iterations have less momentum and the whole gradient, so that rows come to rest.
pub(super) const COME_TO_REST: usize = 20;
/// A map has settled when its KL divergence fell by less than this share of itself within `REPORT` iterations.
const SETTLED: f64 = 0.02;
/// Most maps have by then.
const MOST_SETTLE: usize = 300;

/// Moves `y` down the gradient of KL(P||Q).
pub(crate) fn optimise<const D: usize>(
    mut p: Affinities,
    y: &mut [[f32; D]],
    mut repulsion: Repulsion<D>,
    schedule: &Schedule,
    observer: &mut Observer<'_>,
) -> Optimised {
    let mut order = Order::new(y.len());
    let mut state = DescentState::new(y.len());
    let pace = schedule.descent.pace(schedule.iterations.saturating_sub(schedule.exaggeration_iterations));
    let self_entropy = entropy(&p);
    let mut turns = pace.in_turns.then(|| Turns::divide(&mut p));
    let mut watch = Watch::new(schedule, pace.in_turns.then(|| y.to_vec()));
    let mut longest_step = LONGEST_STEP;
    let (mut done, mut end) = (0, schedule.iterations);
    while done < end {
        if done == schedule.exaggeration_iterations {
            state.restart(pace.first_gain);
        }
        if pace.reorder.contains(&done) {
            let next = order.follow(y);
            state.reorder(&next);
            permute(y, &next);
            watch.checkpoint.iter_mut().for_each(|y| permute(y, &next));
            p = p.reordered(&next);
            turns = turns.map(|turns| turns.reordered(&next));
        }
        let early = done < schedule.exaggeration_iterations;
        let resting = done + COME_TO_REST >= end;
        // Long steps may leave a row on the far side of a cluster that it cannot cross.
        if pace.in_turns && !early && done + COME_TO_REST == end {
            jump(&p, y, &vec![0.0; y.len()], &order, &mut state);
        }
        if !early && (done - schedule.exaggeration_iterations).is_multiple_of(MEASURE_RADIUS) {
            longest_step = pace.longest_step(y);
        }
        let quick = turns.as_ref().filter(|_| !resting && watch.checkpoint.is_some());
        match quick {
            None => attract(&p, y, &mut state.attraction),
            Some(turns) => attract_in_turn(&p, turns, done, y, &mut state.attraction),
        }
        repulsion.coarsen(quick.map(|_| done));
        let z = repulsion.repel(y, &mut state.repulsion);
        let exaggeration = if early { schedule.exaggeration } else { 1.0 };
        let balance = Balance::new(exaggeration, z);
        done += 1;
        let mut progress = Progress::of(Stage::Optimise, done as u64, schedule.expected(done, end) as u64);
        if done.is_multiple_of(REPORT) && done < end {
            let kl = self_entropy + attraction_energy(&p, y) + z.ln();
            progress.kl = Some(kl);
            progress.gradient_norm = Some(state.gradient_norm(balance));
            match watch.report(done, kl, y) {
                Course::On => {}
                Course::Settled => {
                    end = end.min(done + COME_TO_REST);
                    progress.total = end as u64;
                }
                Course::Back => {
                    state.restart(pace.first_gain);
                    if observer(&progress) == ControlFlow::Break(()) {
                        break;
                    }
                    continue;
                }
            }
        }
        let stride = Stride {
            rate: schedule.learning_rates[usize::from(!early)] as f32,
            momentum: if early || resting { MOMENTUM } else { pace.momentum },
            gain_per_row: pace.gain_per_row,
            most_gain: pace.most_gain,
            longest_step,
        };
        match &turns {
            None => state.step(y, balance, |_| stride),
            Some(turns) => {
                state.step(y, balance, |row| stride.held_by(exaggeration as f32 * turns.hold(row)))
            }
        }
        if observer(&progress) == ControlFlow::Break(()) {
            break;
        }
    }
    recentre(y);
    repulsion.refine();
    let z = repulsion.repel(y, &mut state.repulsion);
    let kl = self_entropy + attraction_energy(&p, y) + z.ln();
    watch.history.push((done, kl));
    order.restore(y);
    Optimised { iterations: done, stopped: done < end, kl, history: watch.history }
}

impl Schedule {
    /// Iterations in all as far as can be told: how many it takes to settle is not known before.
    fn expected(&self, done: usize, end: usize) -> usize {
        if self.until_settled { end.min(MOST_SETTLE.max(done + REPORT)) } else { end }
    }
}

/// How the KL divergence goes.
struct Watch<const D: usize> {
    /// Iteration and KL divergence of each report.
    history: Vec<(usize, f64)>,
    /// Where the map was at the last report, as long as weak affinities take turns.
    checkpoint: Option<Vec<[f32; D]>>,
    /// Reports after this iteration can be compared: they are neither exaggerated nor before a step back.
    comparable_from: usize,
    until_settled: bool,
}

/// What a report leads to.
enum Course {
    On,
    /// The KL divergence hardly changes any more.
    Settled,
    /// It rose: the map is where it was at the last report, and goes on with the whole gradient.
    Back,
}

impl<const D: usize> Watch<D> {
    fn new(schedule: &Schedule, checkpoint: Option<Vec<[f32; D]>>) -> Self {
        let Schedule { exaggeration_iterations, until_settled, .. } = *schedule;
        Self { history: Vec::new(), checkpoint, comparable_from: exaggeration_iterations, until_settled }
    }

    fn report(&mut self, done: usize, kl: f64, y: &mut [[f32; D]]) -> Course {
        let last = self.history.last().filter(|(iteration, _)| *iteration > self.comparable_from);
        let change = last.map(|(_, last)| (kl - last) / kl);
        self.history.push((done, kl));
        if let Some(before) = self.checkpoint.take_if(|_| change.is_some_and(|change| change > 0.0)) {
            y.copy_from_slice(&before);
            self.comparable_from = done;
            return Course::Back;
        }
        recentre(y);
        self.checkpoint.iter_mut().for_each(|checkpoint| checkpoint.copy_from_slice(y));
        match self.until_settled && change.is_some_and(|change| change.abs() < SETTLED) {
            true => Course::Settled,
            false => Course::On,
        }
    }
}

impl Pace {
    /// The longest step that a map may take now.
    fn longest_step<const D: usize>(&self, y: &[[f32; D]]) -> f32 {
        let Some(share) = self.longest_step else { return LONGEST_STEP };
        let squares: f64 = y.iter().flatten().map(|v| f64::from(*v).powi(2)).sum();
        let radius = (squares / y.len() as f64).sqrt() as f32;
        (share * radius).clamp(LEAST_LONGEST_STEP, LONGEST_STEP)
    }
}

/// Which row is where, while rows are in another order.
pub(super) struct Order {
    rows: Vec<u32>,
}

impl Order {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows: (0..rows as u32).collect() }
    }

    /// The order of the places along a space-filling curve: for each new position the old one.
    pub(super) fn follow<const D: usize>(&mut self, y: &[[f32; D]]) -> Vec<u32> {
        let next: Vec<u32> = curve_order(y).into_iter().map(|(_, row)| row).collect();
        self.rows = next.iter().map(|&old| self.rows[old as usize]).collect();
        next
    }

    /// The row that is at this position now.
    pub(super) fn row(&self, at: usize) -> u32 {
        self.rows[at]
    }

    pub(super) fn restore<const D: usize>(&self, y: &mut [[f32; D]]) {
        let places = y.to_vec();
        for (place, &row) in places.into_iter().zip(&self.rows) {
            y[row as usize] = place;
        }
    }
}

pub(super) fn permute<T: Copy>(values: &mut [T], order: &[u32]) {
    let old = values.to_vec();
    for (value, &from) in values.iter_mut().zip(order) {
        *value = old[from as usize];
    }
}

/// How the two halves of the gradient are weighed.
#[derive(Clone, Copy)]
pub(super) struct Balance {
    exaggeration: f32,
    inverse_z: f32,
}

/// What the descent remembers from one iteration to the next.
pub(super) struct DescentState<const D: usize> {
    pub(super) attraction: Vec<[f32; D]>,
    pub(super) repulsion: Vec<[f32; D]>,
    steps: Vec<[f32; D]>,
    gains: Vec<[f32; D]>,
}

impl<const D: usize> DescentState<D> {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            attraction: vec![[0.0; D]; rows],
            repulsion: vec![[0.0; D]; rows],
            steps: vec![[0.0; D]; rows],
            gains: vec![[1.0; D]; rows],
        }
    }

    /// Forgets speed and gains, for the end of exaggeration changes all forces at once.
    pub(super) fn restart(&mut self, gain: f32) {
        self.steps.fill([0.0; D]);
        self.gains.fill([gain; D]);
    }

    /// Forgets speed and gains of one row.
    pub(super) fn forget(&mut self, row: usize) {
        (self.steps[row], self.gains[row]) = ([0.0; D], [1.0; D]);
    }

    fn reorder(&mut self, order: &[u32]) {
        permute(&mut self.steps, order);
        permute(&mut self.gains, order);
    }

    fn step(&mut self, y: &mut [[f32; D]], balance: Balance, stride: impl Fn(usize) -> Stride + Sync) {
        self.step_rows(
            y,
            #[inline(always)]
            |row, y, moving, attraction, repulsion| {
                moving.by(y, balance.gradient(attraction, repulsion), stride(row), 0.0);
            },
        );
    }

    /// Lets each row take a step: its number, its place, what it remembers, and the two halves of its gradient.
    pub(super) fn step_rows(
        &mut self,
        y: &mut [[f32; D]],
        step: impl Fn(usize, &mut [f32; D], Moving<'_, D>, &[f32; D], &[f32; D]) + Sync,
    ) {
        let moving = y
            .par_chunks_mut(BLOCK)
            .zip(self.steps.par_chunks_mut(BLOCK))
            .zip(self.gains.par_chunks_mut(BLOCK));
        let forces = self.attraction.par_chunks(BLOCK).zip(self.repulsion.par_chunks(BLOCK));
        moving.zip(forces).enumerate().for_each(|(block, (((y, steps), gains), (attraction, repulsion)))| {
            vectorized(
                #[inline(always)]
                || {
                    let moving = y.iter_mut().zip(steps).zip(gains).zip(attraction.iter().zip(repulsion));
                    for (row, (((y, last), gains), (a, r))) in (block * BLOCK..).zip(moving) {
                        step(row, y, Moving { last, gains }, a, r);
                    }
                },
            );
        });
    }

    /// Length of the whole gradient as the paper writes it, factor 4 included.
    fn gradient_norm(&self, balance: Balance) -> f64 {
        let blocks = self.attraction.par_chunks(BLOCK).zip(self.repulsion.par_chunks(BLOCK));
        let squares: Vec<f64> = blocks
            .map(|(attraction, repulsion)| {
                let rows = attraction.iter().zip(repulsion);
                rows.flat_map(|(a, r)| balance.gradient(a, r)).map(|g| f64::from(g).powi(2)).sum()
            })
            .collect();
        4.0 * squares.iter().sum::<f64>().sqrt()
    }
}

impl Balance {
    pub(super) fn new(exaggeration: f64, z: f64) -> Self {
        Self { exaggeration: exaggeration as f32, inverse_z: (1.0 / z) as f32 }
    }

    /// A quarter of the gradient: learning rates are given for this.
    #[inline(always)]
    pub(super) fn gradient<const D: usize>(self, attraction: &[f32; D], repulsion: &[f32; D]) -> [f32; D] {
        std::array::from_fn(|d| self.exaggeration * attraction[d] - self.inverse_z * repulsion[d])
    }
}

/// What makes a step of a gradient.
#[derive(Clone, Copy)]
pub(super) struct Stride {
    pub(super) rate: f32,
    pub(super) momentum: f32,
    pub(super) gain_per_row: bool,
    pub(super) most_gain: f32,
    pub(super) longest_step: f32,
}

impl Stride {
    /// The same for a row that is held by this affinity, mostly that of its closest neighbour. Two rows on one spot are a spring of
    /// twice that; with momentum μ their distance swings ever wider where the step times it exceeds 2 (1 + μ), which is 3.6 to 3.9.
    #[inline(always)]
    fn held_by(self, affinity: f32) -> Self {
        let steady = STEADY / (2.0 * affinity * self.rate).max(f32::MIN_POSITIVE);
        Self { most_gain: self.most_gain.min(steady.max(LEAST_GAIN)), ..self }
    }

    /// As the classic descent makes it.
    pub(super) fn classic(rate: f32) -> Self {
        Self {
            rate,
            momentum: MOMENTUM,
            gain_per_row: false,
            most_gain: f32::INFINITY,
            longest_step: LONGEST_STEP,
        }
    }
}

/// What a row remembers of its way.
pub(super) struct Moving<'a, const D: usize> {
    last: &'a mut [f32; D],
    gains: &'a mut [f32; D],
}

impl<const D: usize> Moving<'_, D> {
    /// One step down a quarter of the gradient. `pull` is the part of it that grows with the step, as a spring's does: it is
    /// taken at the end of the step, so that the firmest one cannot make a row swing.
    #[inline(always)]
    pub(super) fn by(self, y: &mut [f32; D], gradient: [f32; D], stride: Stride, pull: f32) {
        let Self { last, gains } = self;
        let Stride { rate, momentum, gain_per_row, most_gain, longest_step } = stride;
        let mut length2 = 0.0;
        let uphill: f32 = (0..D).map(|d| gradient[d] * last[d]).sum();
        for d in 0..D {
            let onwards = if gain_per_row { uphill <= 0.0 } else { (gradient[d] > 0.0) != (last[d] > 0.0) };
            gains[d] = if onwards {
                (gains[d] + GAIN_UP).min(most_gain)
            } else {
                (gains[d] * GAIN_DOWN).max(LEAST_GAIN)
            };
            let step = momentum * last[d] - rate * gains[d] * gradient[d];
            last[d] = if pull > 0.0 { step / (1.0 + rate * gains[d] * pull) } else { step };
            length2 += last[d] * last[d];
        }
        let shorten = longest_step / length2.sqrt().max(longest_step);
        for d in 0..D {
            last[d] *= shorten;
            y[d] += last[d];
        }
    }
}

/// Puts the mean at the origin.
fn recentre<const D: usize>(y: &mut [[f32; D]]) {
    let mut mean = [0.0f64; D];
    for place in y.iter() {
        for d in 0..D {
            mean[d] += f64::from(place[d]);
        }
    }
    let mean = mean.map(|sum| (sum / y.len() as f64) as f32);
    for place in y.iter_mut() {
        for d in 0..D {
            place[d] -= mean[d];
        }
    }
}
