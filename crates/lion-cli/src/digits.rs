//! The handwritten digits that come with the program; data/README.md tells how they were chosen and their layout.

use anyhow::{Context, Result, bail, ensure};
use lion_tsne::Matrix;
use std::io::Read;
use std::ops::Range;

const FILE: &[u8] = include_bytes!("../../../data/digits.bin.gz");
const MAGIC: &[u8; 8] = b"LIONDIG2";

/// Images, one row of pixels from 0 (black) to 1 each, and what they show.
pub(crate) struct Digits {
    pub(crate) pixels: Matrix,
    pub(crate) labels: Vec<String>,
}

/// The digits to fit a map to, and those to place into it.
pub(crate) struct Embedded {
    pub(crate) training: Digits,
    pub(crate) test: Digits,
    /// For each test digit, the training digit that it was picked for: it is the closest there is.
    pub(crate) picked_for: Vec<u32>,
    /// Random ones, not picked for closeness to anything.
    pub(crate) ordinary: Digits,
}

/// The digits that come with the program.
pub(crate) fn embedded() -> Result<Embedded> {
    decode(FILE).context("the embedded digits are damaged")
}

fn decode(file: &[u8]) -> Result<Embedded> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes)?;
    let rest = bytes.strip_prefix(MAGIC).context("they do not begin as they should")?;
    let (header, rest) = rest.split_at_checked(16).context("they end too soon")?;
    let [training, test, ordinary, width] = numbers(header)[..] else { bail!("they end too soon") };
    let (training, test, ordinary) = (training as usize, test as usize, ordinary as usize);
    let (all, width) = (training + test + ordinary, width as usize);
    ensure!(rest.len() == 4 * (all + test) + all + all * width, "their size is not what they say it is");
    // The rows' numbers in MNIST come first, and are of no use here.
    let (picked_for, rest) = rest[4 * all..].split_at(4 * test);
    let (labels, pixels) = rest.split_at(all);
    let digits = |which: Range<usize>| -> Result<Digits> {
        let grey = pixels[which.start * width..which.end * width].iter();
        let grey = grey.map(|&pixel| f32::from(pixel) / 255.0).collect();
        let pixels = Matrix::new(which.len(), width, grey)?;
        Ok(Digits { pixels, labels: labels[which].iter().map(u8::to_string).collect() })
    };
    let picked_for = numbers(picked_for);
    ensure!(picked_for.iter().all(|&row| (row as usize) < training), "a digit was picked for one not there");
    Ok(Embedded {
        training: digits(0..training)?,
        test: digits(training..training + test)?,
        picked_for,
        ordinary: digits(training + test..all)?,
    })
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
        let Embedded { training, test, picked_for, ordinary } = embedded().unwrap();
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
