//! MNIST: maps of some digits, and streams of others.

use anyhow::Result;
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Lion, LionOptions, Matrix, Rows, ignore};
use std::path::Path;

/// Digits of the map; all others are unseen.
const MAP: usize = 10_000;
/// Iterations of a map: no alarm depends on how good its places are.
const ITERATIONS: usize = 500;

/// All digits, in one random order.
pub struct DigitRows {
    pixels: Matrix,
    labels: Vec<String>,
    order: Vec<usize>,
    seeds: u64,
}

impl DigitRows {
    /// Reads both files of images, and mixes them.
    pub fn read(folder: &Path, seeds: u64) -> Result<Self> {
        let (mut data, mut labels, mut cols) = (Vec::new(), Vec::new(), 0);
        for part in ["train", "t10k"] {
            let images = crate::matrix(&folder.join(format!("{part}-images-idx3-ubyte.gz")))?;
            cols = images.cols();
            data.extend_from_slice(images.data());
            labels.extend(lion_table::read_labels(&folder.join(format!("{part}-labels-idx1-ubyte.gz")))?);
        }
        let pixels = Matrix::new(labels.len(), cols, data)?;
        let order = mixed((0..labels.len()).collect(), 1);
        Ok(Self { pixels, labels, order, seeds })
    }

    /// Digits of a map.
    pub fn rows(&self) -> usize {
        MAP
    }

    /// Streams of unseen digits, each digit in one of them.
    pub fn streams(&self) -> u64 {
        self.seeds
    }

    /// Digits that are held out: one that is told apart, one that is hard, one that hides among others.
    pub fn held_out(&self) -> [u8; 3] {
        [0, 4, 9]
    }

    /// A map of the first digits, without one.
    pub fn map(&self, held_out: Option<u8>) -> Result<Lion> {
        let mine = self.order.iter().filter(|&&row| held_out.is_none_or(|digit| !self.is(row, digit)));
        let mine: Vec<usize> = mine.take(MAP).copied().collect();
        let data = mine.iter().flat_map(|&row| self.pixels.row(row)).copied().collect();
        let rows = Rows {
            data: Matrix::new(mine.len(), self.pixels.cols(), data)?,
            ids: None,
            labels: Some(mine.iter().map(|&row| self.labels[row].clone()).collect()),
        };
        let fit = Fit { iterations: Some(ITERATIONS), ..Fit::default() };
        Ok(Lion::new(fit.run(rows, &mut ignore)?, &LionOptions::default())?)
    }

    /// A part of the unseen digits.
    pub(super) fn unseen(&self, part: u64) -> impl Iterator<Item = (Vec<f32>, bool)> + '_ {
        let unseen = &self.order[MAP..];
        let size = unseen.len() / self.seeds.max(1) as usize;
        let from = part as usize * size;
        unseen[from..from + size].iter().map(|&row| (self.pixels.row(row).to_vec(), false))
    }

    /// Unseen digits, and after 1000 of them the one that was held out as a share of the stream.
    pub(super) fn with_new(
        &self,
        digit: u8,
        share: f64,
        seed: u64,
    ) -> impl Iterator<Item = (Vec<f32>, bool)> + '_ {
        let order = mixed(self.order[MAP + 4000..].to_vec(), seed + 7);
        let (new, known): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&row| self.is(row, digit));
        let (mut new, mut known) = (new.into_iter(), known.into_iter());
        let mut chance = Random::new(seed.wrapping_mul(77) + 5);
        let after = (60.0 / share) as usize;
        (0..1000 + after).filter_map(move |i| {
            let is_new = i >= 1000 && chance.uniform() < share;
            let row = if is_new { new.next() } else { known.next() };
            Some((self.pixels.row(row?).to_vec(), is_new))
        })
    }

    fn is(&self, row: usize, digit: u8) -> bool {
        self.labels[row].parse() == Ok(digit)
    }
}

/// In a random order.
fn mixed(mut rows: Vec<usize>, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    for at in (1..rows.len()).rev() {
        rows.swap(at, (random.uniform() * (at + 1) as f64) as usize);
    }
    rows
}
