//! The handwritten digits that come with the program; data/README.md tells how they were chosen and their layout.

use anyhow::{Context, Result, ensure};
use lion_tsne::Matrix;
use std::io::Read;

const FILE: &[u8] = include_bytes!("../../../data/digits.bin.gz");
const MAGIC: &[u8; 8] = b"LIONDIG1";

/// Images, one row of pixels from 0 (black) to 1 each, and what they show.
pub(crate) struct Digits {
    pub(crate) pixels: Matrix,
    pub(crate) labels: Vec<String>,
}

/// The digits to fit a map to.
pub(crate) fn training() -> Result<Digits> {
    decode(FILE).context("the embedded digits are damaged")
}

fn decode(file: &[u8]) -> Result<Digits> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes)?;
    let rest = bytes.strip_prefix(MAGIC).context("they do not begin as they should")?;
    let (header, rest) = rest.split_at_checked(12).context("they end too soon")?;
    let number =
        |at: usize| header[4 * at..4 * at + 4].iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte));
    let (training, test, width) = (number(0), number(1), number(2));
    let all = training + test;
    // Before the labels stand the rows' numbers in MNIST, and for each test digit its training digit.
    let labels_at = 4 * (all + test);
    ensure!(rest.len() == labels_at + all + all * width, "their size is not what they say it is");
    let (labels, pixels) = rest[labels_at..].split_at(all);
    let pixels: Vec<f32> = pixels[..training * width].iter().map(|&pixel| f32::from(pixel) / 255.0).collect();
    Ok(Digits {
        pixels: Matrix::new(training, width, pixels)?,
        labels: labels[..training].iter().map(u8::to_string).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_2500_of_ten_kinds() {
        let digits = training().unwrap();
        assert_eq!((digits.pixels.rows(), digits.pixels.cols()), (2500, 784));
        let kinds: std::collections::BTreeSet<&str> = digits.labels.iter().map(String::as_str).collect();
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        assert!(digits.pixels.data().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        assert!(digits.pixels.data().contains(&1.0));
    }

    #[test]
    fn damage_is_noticed() {
        assert!(decode(&FILE[..FILE.len() / 2]).is_err());
        assert!(decode(b"no gzip").is_err());
        assert!(decode(&[]).is_err());
    }
}
