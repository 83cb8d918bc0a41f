//! Rows of one order of magnitude, as whole numbers of one unit, and the sums of these. Ours; that products of numbers with few
//! bits are summed without an error by a usual matrix product is of Ozaki, Ogita, Oishi & Rump 2012, Error-free Transformations of
//! Matrix Multiplication by Using Fast Routines of Matrix Multiplication.

use super::exact_gram::ExactGram;
use super::{BITS, BLOCK, MOST_ROWS};
use crate::bytes::{ByteReader, put_whole};
use crate::vectorized::vectorized;
use faer::MatRef;

/// Whole numbers are enough if those of some column differ by so much: the unit is then small beside what rows vary by. If not,
/// e.g. where one large column is constant, the fractions are summed too.
const WIDE: i32 = 1 << 15;
/// Adding and subtracting this rounds numbers below 2⁵¹ to whole ones.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
/// The largest whole number.
const LARGEST: i128 = 1 << BITS;

/// The sums of rows whose largest value is about 2 to one power. A value is `whole + fraction / 2^BITS` units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MagnitudeSums {
    rows: u64,
    /// The least and the largest whole number of each column.
    low: Vec<i32>,
    high: Vec<i32>,
    wholes: Vec<i64>,
    products: ExactGram,
    fractions: Option<FractionSums>,
}

/// What fractions add. Only sums that are left out in the end may be left out earlier: whether they are depends on how wide the columns
/// are, which grow with every row.
#[derive(Clone, Debug, PartialEq)]
struct FractionSums {
    sums: Vec<i64>,
    /// Wholes times fractions, both ways.
    cross: ExactGram,
    products: ExactGram,
}

/// A block of rows.
pub(super) struct Block {
    wholes: Vec<f64>,
    fractions: Vec<f64>,
}

impl Block {
    pub(super) fn new(dims: usize) -> Self {
        Self { wholes: vec![0.0; BLOCK * dims], fractions: vec![0.0; BLOCK * dims] }
    }
}

impl MagnitudeSums {
    pub(super) fn new(dims: usize) -> Self {
        let fractions =
            FractionSums { sums: vec![0; dims], cross: ExactGram::new(dims), products: ExactGram::new(dims) };
        Self {
            rows: 0,
            low: vec![i32::MAX; dims],
            high: vec![i32::MIN; dims],
            wholes: vec![0; dims],
            products: ExactGram::new(dims),
            fractions: Some(fractions),
        }
    }

    /// Adds rows that are below 2 to the power `top`, `BLOCK` of them at most.
    pub(super) fn add(&mut self, rows: &[&[f32]], top: i32, block: &mut Block) {
        let (dims, scale) = (self.low.len(), 2f64.powi(BITS - top));
        let (wholes, fractions) =
            (&mut block.wholes[..rows.len() * dims], &mut block.fractions[..rows.len() * dims]);
        for (row, wholes) in rows.iter().zip(wholes.chunks_exact_mut(dims)) {
            self.add_wholes(row, scale, wholes);
        }
        self.rows += rows.len() as u64;
        let wholes = MatRef::from_row_major_slice(wholes, rows.len(), dims);
        self.products.add(wholes);
        if self.is_wide() {
            self.fractions = None;
        }
        let Some(sums) = &mut self.fractions else { return };
        for (row, fractions) in rows.iter().zip(fractions.chunks_exact_mut(dims)) {
            sums.add_fractions(row, scale, fractions);
        }
        if fractions.iter().any(|&fraction| fraction != 0.0) {
            let fractions = MatRef::from_row_major_slice(fractions, rows.len(), dims);
            sums.cross.add_both(wholes, fractions);
            sums.products.add(fractions);
        }
    }

    fn add_wholes(&mut self, row: &[f32], scale: f64, wholes: &mut [f64]) {
        let columns = self.wholes.iter_mut().zip(self.low.iter_mut().zip(&mut self.high));
        vectorized(
            #[inline(always)]
            || {
                for ((&value, whole), (sum, (low, high))) in row.iter().zip(wholes).zip(columns) {
                    *whole = rounded(f64::from(value) * scale);
                    let number = *whole as i32;
                    *sum += i64::from(number);
                    (*low, *high) = ((*low).min(number), (*high).max(number));
                }
            },
        );
    }

    /// Whether the whole numbers are enough.
    fn is_wide(&self) -> bool {
        self.low.iter().zip(&self.high).any(|(low, high)| high.saturating_sub(*low) >= WIDE)
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.low.iter_mut().zip(&other.low).for_each(|(low, other)| *low = (*low).min(*other));
        self.high.iter_mut().zip(&other.high).for_each(|(high, other)| *high = (*high).max(*other));
        self.wholes.iter_mut().zip(&other.wholes).for_each(|(sum, other)| *sum += other);
        self.products.merge(&other.products);
        match (&mut self.fractions, &other.fractions) {
            (Some(sums), Some(others)) => {
                sums.sums.iter_mut().zip(&others.sums).for_each(|(sum, other)| *sum += other);
                sums.cross.merge(&others.cross);
                sums.products.merge(&others.products);
            }
            _ => self.fractions = None,
        }
        if self.is_wide() {
            self.fractions = None;
        }
    }

    /// The sum of each column, in units of 2^-BITS.
    pub(super) fn sums(&self) -> impl Iterator<Item = i128> {
        let fraction = |at: usize| self.fractions.as_ref().map_or(0, |sums| i128::from(sums.sums[at]));
        self.wholes.iter().enumerate().map(move |(at, sum)| (i128::from(*sum) << BITS) + fraction(at))
    }

    /// The parts of the sums of products, and how many times BITS their units are smaller than the square of the unit.
    pub(super) fn products(&self) -> impl Iterator<Item = (i32, &ExactGram)> {
        let fractions = self.fractions.iter().flat_map(|sums| [(1, &sums.cross), (2, &sums.products)]);
        std::iter::once((0, &self.products)).chain(fractions)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.rows.to_le_bytes());
        bytes.push(u8::from(self.fractions.is_some()));
        for (low, high) in self.low.iter().zip(&self.high) {
            put_whole(bytes, i128::from(*low));
            put_whole(bytes, i128::from(*high));
        }
        self.wholes.iter().for_each(|sum| put_whole(bytes, i128::from(*sum)));
        self.products.write(bytes);
        if let Some(sums) = &self.fractions {
            sums.sums.iter().for_each(|sum| put_whole(bytes, i128::from(*sum)));
            sums.cross.write(bytes);
            sums.products.write(bytes);
        }
    }

    pub(super) fn read(reader: &mut ByteReader<'_>, dims: usize) -> Option<Self> {
        let rows = reader.u64().filter(|rows| (1..=MOST_ROWS).contains(rows))?;
        let has_fractions = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for _ in 0..dims {
            let (least, most) = (reader.whole_within(LARGEST)?, reader.whole_within(LARGEST)?);
            (least <= most).then_some(())?;
            low.push(least as i32);
            high.push(most as i32);
        }
        let limit = i128::from(rows) * LARGEST;
        let sums = |reader: &mut ByteReader<'_>| -> Option<Vec<i64>> {
            (0..dims).map(|_| reader.whole_within(limit).map(|sum| sum as i64)).collect()
        };
        let gram = |reader: &mut ByteReader<'_>| ExactGram::read(reader, dims, 2 * LARGEST * limit);
        let (wholes, products) = (sums(reader)?, gram(reader)?);
        let fractions = match has_fractions {
            true => Some(FractionSums { sums: sums(reader)?, cross: gram(reader)?, products: gram(reader)? }),
            false => None,
        };
        let read = Self { rows, low, high, wholes, products, fractions };
        (read.is_wide() != has_fractions).then_some(read)
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }
}

impl FractionSums {
    fn add_fractions(&mut self, row: &[f32], scale: f64, fractions: &mut [f64]) {
        let columns = self.sums.iter_mut();
        vectorized(
            #[inline(always)]
            || {
                for ((&value, fraction), sum) in row.iter().zip(fractions).zip(columns) {
                    let value = f64::from(value) * scale;
                    *fraction = rounded((value - rounded(value)) * LARGEST as f64);
                    *sum += i64::from(*fraction as i32);
                }
            },
        );
    }
}

/// The nearest whole number of one that is far below 2⁵¹.
#[inline(always)]
fn rounded(value: f64) -> f64 {
    (value + ROUNDING) - ROUNDING
}
