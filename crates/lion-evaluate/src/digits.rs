//! The handwritten digits that come with the program; data/README.md tells how they were chosen and their layout.

use crate::experiments::{EvaluationError, Result};
use lion_tsne::Matrix;
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;

const FILE: &[u8] = include_bytes!("../../../data/digits.bin.gz");
const MAGIC: &[u8; 8] = b"LIONDIG2";

/// Images, one row of pixels from 0 (black) to 1 each, and what they show.
#[derive(Clone)]
pub struct DigitImages {
    /// One row for each image.
    pub pixels: Matrix,
    /// One for each image: the digit that it shows.
    pub labels: Vec<String>,
}

/// The digits to fit a map to, and those to place into it.
pub struct EmbeddedDigits {
    /// To fit a map to.
    pub training: DigitImages,
    /// The cluster test: each is closer to a training digit than any other of those is.
    pub test: DigitImages,
    /// For each test digit, the training digit that it was picked for: it is the closest there is.
    pub picked_for: Vec<u32>,
    /// Random ones, not picked for closeness to anything.
    pub ordinary: DigitImages,
}

/// The digits that come with the program.
pub fn embedded() -> Result<EmbeddedDigits> {
    decode(FILE)
}

fn decode(file: &[u8]) -> Result<EmbeddedDigits> {
    let mut bytes = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(file).read_to_end(&mut bytes);
    unpacked.map_err(|_| EvaluationError::DamagedDigits("they cannot be unpacked"))?;
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or(EvaluationError::DamagedDigits("they do not begin as they should"))?;
    let (header, rest) =
        rest.split_at_checked(16).ok_or(EvaluationError::DamagedDigits("they end too soon"))?;
    let [training, test, ordinary, width] = numbers(header)[..] else {
        return Err(EvaluationError::DamagedDigits("they end too soon"));
    };
    let (training, test, ordinary) = (training as usize, test as usize, ordinary as usize);
    let (all, width) = (training + test + ordinary, width as usize);
    if rest.len() != 4 * (all + test) + all + all * width {
        return Err(EvaluationError::DamagedDigits("their size is not what they say it is"));
    }
    // The rows' numbers in MNIST come first, and are of no use here.
    let (picked_for, rest) = rest[4 * all..].split_at(4 * test);
    let (labels, pixels) = rest.split_at(all);
    let digits = |which: Range<usize>| -> Result<DigitImages> {
        let grey = pixels[which.start * width..which.end * width].iter();
        let grey = grey.map(|&pixel| f32::from(pixel) / 255.0).collect();
        let pixels = Matrix::new(which.len(), width, grey)?;
        Ok(DigitImages { pixels, labels: labels[which].iter().map(u8::to_string).collect() })
    };
    let picked_for = numbers(picked_for);
    if picked_for.iter().any(|&row| row as usize >= training) {
        return Err(EvaluationError::DamagedDigits("a digit was picked for one not there"));
    }
    Ok(EmbeddedDigits {
        training: digits(0..training)?,
        test: digits(training..training + test)?,
        picked_for,
        ordinary: digits(training + test..all)?,
    })
}

impl DigitImages {
    /// Those of these numbers, in that order.
    pub(crate) fn select(&self, rows: &[u32]) -> Self {
        let labels = rows.iter().map(|&row| self.labels[row as usize].clone()).collect();
        Self { pixels: self.pixels.select(rows), labels }
    }

    /// Those that show this, or those that do not.
    pub(crate) fn of_kind(&self, kind: &str, shows: bool) -> Self {
        let rows = (0..).zip(&self.labels).filter(|(_, label)| (*label == kind) == shows);
        self.select(&rows.map(|(row, _)| row).collect::<Vec<u32>>())
    }
}

/// MNIST: the images to learn from, and those to be tested with: 60000 and 10000 as published.
pub struct MnistImages {
    /// To learn from.
    pub training: DigitImages,
    /// To be tested with.
    pub test: DigitImages,
    /// The folder that they are from.
    pub folder: PathBuf,
}

impl MnistImages {
    /// A number that other images or labels would change: nothing kept of one data set is taken for another's.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut mix = |value: u64| hash = (hash ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        for digits in [&self.training, &self.test] {
            mix(digits.labels.len() as u64);
            digits.labels.iter().flat_map(|label| label.bytes()).for_each(|byte| mix(u64::from(byte)));
            digits.pixels.data().iter().for_each(|pixel| mix(u64::from(pixel.to_bits())));
        }
        hash
    }
}

/// Little-endian numbers.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| four.iter().rev().fold(0, |n, &byte| n << 8 | u32::from(byte))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_2500_and_twice_1000_of_ten_kinds() {
        let EmbeddedDigits { training, test, picked_for, ordinary } = embedded().unwrap();
        for (digits, count) in [(&training, 2500), (&test, 1000), (&ordinary, 1000)] {
            assert_eq!((digits.pixels.rows(), digits.pixels.cols()), (count, 784));
            let kinds: std::collections::BTreeSet<&str> = digits.labels.iter().map(String::as_str).collect();
            assert_eq!(
                kinds.into_iter().collect::<Vec<_>>(),
                ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
            );
            assert!(digits.pixels.data().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
            assert!(digits.pixels.data().contains(&1.0));
        }
        // Digits that are so close mostly show the same.
        let same = picked_for.iter().zip(&test.labels);
        let same = same.filter(|(row, label)| training.labels[**row as usize] == **label).count();
        assert!(same > 900, "{same} of {}", picked_for.len());
    }

    #[test]
    fn damage_is_noticed() {
        assert!(decode(&FILE[..FILE.len() / 2]).is_err());
        assert!(decode(b"no gzip").is_err());
        assert!(decode(&[]).is_err());
    }
}
