//! Repeated gradient descent: the row joins the map, and t-SNE goes on with all other places held fast.
//!
//! Sources: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the eight variants; van der Maaten and Hinton (2008), "Visualizing Data using t-SNE",
//! for the descent. How the affinities are updated instead of computed anew is ours (`joined`).

use super::near::{check_rows, in_parallel};
use super::{PlacingMethod, Training};
use crate::joined::{Joined, Newcomer};
use lion_tsne::numerics::Random;
use lion_tsne::{Matrix, Result};
use std::fmt;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where a descent starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescentStart {
    /// At the place of the nearest row.
    Closest,
    /// At random, by the seed and the row, around the origin.
    Random,
}

lion_tsne::named!(DescentStart, "start": Closest = "closest", Random = "random");

/// One of the eight ways of repeating gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descent {
    /// Where it starts.
    pub start: DescentStart,
    /// Search σ of every row anew with the new row among the others, instead of keeping it.
    pub new_sigma: bool,
    /// Exaggerate the affinities at first.
    pub exaggeration: bool,
}

impl Descent {
    /// All eight.
    pub const ALL: [Self; 8] = {
        let all = Self { start: DescentStart::Closest, new_sigma: false, exaggeration: false };
        let mut all = [all; 8];
        let mut i = 0;
        while i < 8 {
            all[i].start = if i < 4 { DescentStart::Closest } else { DescentStart::Random };
            all[i].new_sigma = i % 2 == 1;
            all[i].exaggeration = i % 4 >= 2;
            i += 1;
        }
        all
    };
}

impl fmt::Display for Descent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gd-{}", self.start)?;
        f.write_str(if self.new_sigma { "-sigma" } else { "" })?;
        f.write_str(if self.exaggeration { "-ee" } else { "" })
    }
}

// The paper's settings; those it leaves out are its program's.
const ITERATIONS: usize = 1000;
const MOMENTUM: f64 = 0.5;
const RATE: f64 = 1000.0;
const GAIN_UP: f64 = 0.2;
const GAIN_DOWN: f64 = 0.8;
const LEAST_GAIN: f64 = 0.01;
const EXAGGERATION: f64 = 4.0;
const EXAGGERATED: usize = 100;
/// The descent ends where the divergence changes by no more than this,
const LEAST_CHANGE: f64 = 1e-7;
/// where the gradient is no longer than this,
const LEAST_GRADIENT: f64 = 1e-7;
/// or after more than so many iterations without a lower divergence.
const PATIENCE: usize = 50;
/// Deviation of a random start. The paper does not say; its program draws from a standard Gaussian.
const SPREAD: f64 = 1.0;

/// A map made ready for descents.
pub(super) struct Descents {
    joined: Joined,
    cols: usize,
    descent: Descent,
    seed: u64,
}

impl Descents {
    pub(super) fn new(training: &Training<'_>, descent: Descent) -> Result<Self> {
        let joined = Joined::new(training.x, training.y, training.perplexity)?;
        Ok(Self { joined, cols: training.x.cols(), descent, seed: training.seed })
    }

    pub(super) fn memory(rows: usize, cols: usize) -> u64 {
        Joined::memory(rows, cols)
    }

    fn place<const D: usize>(&self, row: &[f32]) -> [f64; D] {
        let newcomer = self.joined.join(row, self.descent.new_sigma);
        let mut place = match self.descent.start {
            DescentStart::Closest => self.joined.field.place(newcomer.nearest),
            DescentStart::Random => {
                // By what the row is, not by where it stands: a batch has no say in it.
                let bytes: &[u8] = bytemuck::cast_slice(row);
                let mut random = Random::new(xxh3_64_with_seed(bytes, self.seed));
                std::array::from_fn(|_| SPREAD * random.gaussian())
            }
        };
        let mut done = 0;
        if self.descent.exaggeration {
            done = self.descend(&newcomer, EXAGGERATION, 0..EXAGGERATED, &mut place);
        }
        self.descend(&newcomer, 1.0, done..ITERATIONS, &mut place);
        place
    }

    /// Moves the place downhill for these iterations at most, and tells after how many it stopped.
    fn descend<const D: usize>(
        &self,
        newcomer: &Newcomer,
        exaggeration: f64,
        iterations: std::ops::Range<usize>,
        place: &mut [f64; D],
    ) -> usize {
        let (mut step, mut gain) = ([0.0; D], [1.0; D]);
        let (mut last, mut best, mut best_at) = (f64::INFINITY, f64::INFINITY, 0);
        let end = iterations.end;
        for iteration in iterations {
            let (divergence, gradient) = self.slope(newcomer, exaggeration, place);
            for d in 0..D {
                let onwards = step[d] * gradient[d] < 0.0;
                gain[d] = if onwards { gain[d] + GAIN_UP } else { (gain[d] * GAIN_DOWN).max(LEAST_GAIN) };
                step[d] = MOMENTUM * step[d] - RATE * gain[d] * gradient[d];
                place[d] += step[d];
            }
            let change = (divergence - last).abs();
            last = divergence;
            if divergence < best {
                (best, best_at) = (divergence, iteration);
            } else if iteration - best_at > PATIENCE {
                return iteration + 1;
            }
            let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            if length <= LEAST_GRADIENT || change <= LEAST_CHANGE {
                return iteration + 1;
            }
        }
        end
    }

    /// The divergence of the exaggerated affinities at a place, less what no place changes, and the gradient as t-SNE has it
    /// (which under exaggeration is not quite that divergence's: Q is not exaggerated).
    fn slope<const D: usize>(
        &self,
        newcomer: &Newcomer,
        exaggeration: f64,
        place: &[f64; D],
    ) -> (f64, [f64; D]) {
        let pull = self.joined.field.pull(place, &newcomer.p);
        let z = self.joined.z + 2.0 * pull.push.near;
        let divergence = exaggeration * (2.0 * pull.logs + z.ln());
        let gradient =
            std::array::from_fn(|d| 4.0 * (exaggeration * pull.attraction[d] - pull.push.repulsion[d] / z));
        (divergence, gradient)
    }
}

impl PlacingMethod for Descents {
    fn places(&self, rows: &Matrix) -> Result<Matrix> {
        check_rows(rows, self.cols)?;
        match self.joined.field.dims() {
            1 => in_parallel(rows, |row| self.place::<1>(row)),
            3 => in_parallel(rows, |row| self.place::<3>(row)),
            _ => in_parallel(rows, |row| self.place::<2>(row)),
        }
    }
}

#[cfg(test)]
mod tests;
