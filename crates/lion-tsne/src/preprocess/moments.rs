//! The mean and covariance of rows that pass by in parts, in any order and on any machine: sums without an error.
//!
//! Each row is seen as whole numbers of a unit that is the power of two for its largest value. Their products have no error, and
//! neither have the sums of them, so sums can be added in any order. Rows of different orders of magnitude have sums of their own. What
//! rounding to units loses is lost row by row, whatever the others are.

mod double;
mod exact_gram;
mod magnitude;

use super::covariance::Covariance;
use super::pca::{Pca, WIDEST_COVARIANCE, symmetric_eigen};
use super::{Metric, PcaChoice, components, scale_to_unit};
use crate::bytes::ByteReader;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use double::Double;
use faer::Mat;
use magnitude::{Block, MagnitudeSums};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Bits of a whole number, without its sign.
const BITS: i32 = 22;
/// Rows that are multiplied together: so many squares of whole numbers are at most 2⁵³.
const BLOCK: usize = 512;
/// Rows of narrow columns that a thread takes at once.
const TOGETHER: usize = 1024;
/// One order of magnitude, in powers of two.
const STEP: i32 = 6;
/// Rows that are so many orders below the largest count as 0: their squares are less than 2⁻⁹⁶ of its.
const ORDERS: i32 = 9;
/// More rows than these are refused: their sums might not fit.
pub(crate) const MOST_ROWS: u64 = 1 << 40;

/// Sums of rows and of their products.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    metric: Metric,
    choice: PcaChoice,
    rows: u64,
    sums: Sums,
}

/// Sums by order of magnitude: the power of two that rows are below.
#[derive(Clone, Debug, PartialEq)]
struct Sums {
    dims: usize,
    by_top: BTreeMap<i32, MagnitudeSums>,
}

impl Moments {
    /// For rows of so many columns; `None` where no PCA is asked for or they are too wide for their covariance.
    pub(crate) fn for_pca(dims: usize, metric: Metric, choice: PcaChoice) -> Result<Option<Self>> {
        // Of the rows it is enough to know that they will be more than the columns.
        let wanted = components(choice, usize::MAX, dims)?.is_some() && dims <= WIDEST_COVARIANCE;
        Ok(wanted.then(|| Self { metric, choice, rows: 0, sums: Sums::new(dims) }))
    }

    /// How many rows were added.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds rows.
    pub(crate) fn add(&mut self, data: &Matrix) {
        self.rows += data.rows() as u64;
        let (dims, metric) = (data.cols(), self.metric);
        // Of wide rows threads share out the columns.
        if dims > exact_gram::TILE {
            let sums = std::mem::replace(&mut self.sums, Sums::new(dims));
            self.sums = sums.with(data.data(), metric);
            return;
        }
        let added = data
            .data()
            .par_chunks(TOGETHER * dims)
            .fold(|| Sums::new(dims), |sums, rows| sums.with(rows, metric))
            .reduce_with(|sums, others| sums.merged(others));
        if let Some(added) = added {
            self.sums.merge(added);
        }
    }

    /// Adds the sums of other rows.
    pub(crate) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.sums.merge(other.sums);
    }

    /// The PCA of all rows, and their covariance.
    pub(crate) fn pca(self) -> Result<(Pca, Covariance)> {
        let (rows, dims) = (self.rows as f64, self.sums.dims);
        let k = match components(self.choice, usize::try_from(self.rows).unwrap_or(usize::MAX), dims)? {
            Some(k) if self.rows > 1 => k,
            _ => return Err(Error::Data("PCA needs at least 2 rows".into())),
        };
        let (mean, products) = self.sums.centred(rows);
        drop(self.sums);
        let mut covariance = products.clone();
        covariance.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v /= rows - 1.0));
        let total: f64 = (0..dims).map(|i| covariance[(i, i)].max(0.0)).sum();
        let (directions, variances) = symmetric_eigen(covariance, k)?;
        let pca =
            Pca::of_directions(mean.iter().map(|&v| v as f32).collect(), &directions, variances, total)?;
        Ok((pca, Covariance::new(rows, mean, products)))
    }

    /// Rows and sums as bytes; what they are sums for, the reader knows.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.rows.to_le_bytes());
        bytes.push(self.sums.by_top.len() as u8);
        for (top, sums) in &self.sums.by_top {
            bytes.extend(top.to_le_bytes());
            sums.write(bytes);
        }
    }

    /// Fills empty ones with what was written.
    pub(crate) fn read(&mut self, reader: &mut ByteReader<'_>) -> Option<()> {
        self.rows = reader.u64().filter(|rows| *rows <= MOST_ROWS)?;
        let mut left = self.rows;
        for _ in 0..reader.u8()? {
            let top = reader.u32()? as i32;
            let (least, most) = (top_of(f32::from_bits(1)), top_of(f32::MAX));
            let is_new = self.sums.by_top.last_key_value().is_none_or(|(last, _)| *last < top);
            (is_new && top % STEP == 0 && (least..=most).contains(&top)).then_some(())?;
            let sums = MagnitudeSums::read(reader, self.sums.dims)?;
            left = left.checked_sub(sums.rows())?;
            self.sums.by_top.insert(top, sums);
        }
        let kept = self.sums.by_top.len();
        self.sums.forget_small();
        (self.sums.by_top.len() == kept).then_some(())
    }
}

impl Sums {
    fn new(dims: usize) -> Self {
        Self { dims, by_top: BTreeMap::new() }
    }

    /// With more rows.
    fn with(mut self, rows: &[f32], metric: Metric) -> Self {
        let dims = self.dims;
        let mut scaled = Vec::new();
        let rows = match metric {
            Metric::Euclidean => rows,
            Metric::Cosine => {
                scaled.extend_from_slice(rows);
                scaled.chunks_exact_mut(dims).filter(|row| largest(row) > 0.0).for_each(scale_to_unit);
                &scaled
            }
        };
        let mut by_top: BTreeMap<i32, Vec<&[f32]>> = BTreeMap::new();
        for row in rows.chunks_exact(dims) {
            let largest = largest(row);
            if largest > 0.0 {
                by_top.entry(top_of(largest)).or_default().push(row);
            }
        }
        let mut block = Block::new(dims);
        for (top, rows) in by_top {
            let sums = self.by_top.entry(top).or_insert_with(|| MagnitudeSums::new(dims));
            rows.chunks(BLOCK).for_each(|rows| sums.add(rows, top, &mut block));
        }
        self.forget_small();
        self
    }

    fn merged(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }

    fn merge(&mut self, other: Self) {
        for (top, sums) in other.by_top {
            match self.by_top.get_mut(&top) {
                Some(own) => own.merge(&sums),
                None => drop(self.by_top.insert(top, sums)),
            }
        }
        self.forget_small();
    }

    /// Forgets the sums of rows that are nothing beside the largest. The largest only grows: what is forgotten would not be kept
    /// later either.
    fn forget_small(&mut self) {
        if let Some((&top, _)) = self.by_top.last_key_value() {
            self.by_top = self.by_top.split_off(&(top - (ORDERS - 1) * STEP));
        }
    }

    /// The mean of so many rows, and the sums of products around it.
    fn centred(&self, rows: f64) -> (Vec<f64>, Mat<f64>) {
        let mut sums = vec![Double::default(); self.dims];
        let mut parts = Vec::new();
        for (top, own) in &self.by_top {
            let unit = top - BITS;
            for (sum, own) in sums.iter_mut().zip(own.sums()) {
                *sum = *sum + Double::scaled(own, unit - BITS);
            }
            parts.extend(own.products().map(|(finer, gram)| (2 * unit - finer * BITS, gram.sums())));
        }
        let means: Vec<Double> = sums.iter().map(|sum| sum.over(rows)).collect();
        let mut around = Mat::zeros(self.dims, self.dims);
        // All parts have their entries in the same order.
        let mut next = || {
            let (mut at, mut product) = (None, Double::default());
            for (power, sums) in &mut parts {
                let (i, j, own) = sums.next()?;
                product = product + Double::scaled(own, *power);
                at = Some((i, j));
            }
            at.map(|at| (at, product))
        };
        while let Some(((i, j), product)) = next() {
            around[(i, j)] = (product - sums[i] * means[j]).high;
        }
        (means.into_iter().map(|mean| mean.high).collect(), around)
    }
}

fn largest(row: &[f32]) -> f32 {
    row.iter().fold(0.0f32, |largest, value| largest.max(value.abs()))
}

/// The least power of two above a positive number that is an order of magnitude.
fn top_of(largest: f32) -> i32 {
    // The exponent of a number that is too small for one of its own is that of the least that has one.
    let exponent = (largest.to_bits() >> 23).max(1) as i32 - 126;
    -(-exponent).div_euclid(STEP) * STEP
}

#[cfg(test)]
mod tests;
