//! Which digits ship with the repository, and the layout of the file that holds them (data/README.md).

use std::collections::HashSet;

use anyhow::{Result, bail};

use crate::data::MnistImages;
use crate::pca::{DigitPca, distance2};
use crate::rng::Rng;

/// Pixels of an image: 28 x 28.
pub(crate) const PIXELS: usize = 28 * 28;

const MAGIC: &[u8; 8] = b"LIONDIG2";
const TRAINING: usize = 2500;
const TEST: usize = 1000;
const ORDINARY: usize = 1000;
const COMPONENTS: usize = 30;
const NOISE: usize = 1000;
/// How many of the noise images the outlier test must keep, and how many digits may give way for that.
const KEPT: usize = 900;
const REPLACED: usize = 25;
const SEED: u64 = 0;

/// Chooses the embedded digits and returns the contents of their file: a random sample, the digits of the cluster test
/// for it, then random ones that nobody picked for closeness. While the outlier test would let too little noise pass,
/// the sample's most isolated digit, which sets max(NN-X), gives way to another: as few as can be, so that the sample
/// stays a random one.
pub(crate) fn choose(mnist: &MnistImages) -> Result<Vec<u8>> {
    let mut rng = Rng::new(SEED);
    let mut seen = HashSet::new();
    let mut training: Vec<usize> = (0..TRAINING).map(|_| draw(mnist, &mut rng, &mut seen)).collect();
    let noise = noise(&mut rng);
    for replaced in 0..REPLACED {
        let space = DigitSpace::new(training.iter().map(|&i| mnist.image(i)).collect());
        let (isolated, farthest) = space.most_isolated();
        let kept = space.kept(&noise);
        println!("  {replaced} replaced: max(NN-X) {farthest:.3}, {kept} of {NOISE} noise images kept");
        if kept >= KEPT {
            let test = cluster_test(mnist, &space, &mut rng, &mut seen)?;
            let ordinary: Vec<usize> = (0..ORDINARY).map(|_| draw(mnist, &mut rng, &mut seen)).collect();
            return Ok(encode(mnist, &training, &test, &ordinary));
        }
        training[isolated] = draw(mnist, &mut rng, &mut seen);
    }
    bail!("after {REPLACED} replacements the outlier test still keeps too little noise")
}

/// A random digit whose image has not been drawn before.
fn draw<'a>(mnist: &'a MnistImages, rng: &mut Rng, seen: &mut HashSet<&'a [u8]>) -> usize {
    loop {
        let i = rng.below(mnist.len());
        if seen.insert(mnist.image(i)) {
            return i;
        }
    }
}

/// The training digits where distances are measured: after PCA.
struct DigitSpace {
    pca: DigitPca,
    rows: Vec<Vec<f64>>,
    /// NN-X: each row's distance to its nearest other row.
    gaps: Vec<f64>,
}

impl DigitSpace {
    fn new(images: Vec<&[u8]>) -> Self {
        let pca = DigitPca::fit(&images, COMPONENTS);
        let rows: Vec<Vec<f64>> = images.iter().map(|image| pca.project_image(image)).collect();
        let gaps = nearest_neighbour_distances(&rows);
        DigitSpace { pca, rows, gaps }
    }

    /// The row that sets max(NN-X), and that distance.
    fn most_isolated(&self) -> (usize, f64) {
        let longer = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 { b } else { a };
        self.gaps.iter().copied().enumerate().fold((0, 0.0), longer)
    }

    /// How many noise images the outlier test keeps: those farther from every row than max(NN-X).
    fn kept(&self, noise: &[Vec<f64>]) -> usize {
        let (_, farthest) = self.most_isolated();
        let is_far = |image: &&Vec<f64>| {
            let place = self.pca.project(image.iter().copied());
            self.rows.iter().all(|row| distance2(row, &place) > farthest * farthest)
        };
        noise.iter().filter(is_far).count()
    }
}

/// Images of uniform noise in `[0, 1]`.
fn noise(rng: &mut Rng) -> Vec<Vec<f64>> {
    (0..NOISE).map(|_| (0..PIXELS).map(|_| rng.unit()).collect()).collect()
}

/// NN-X: each row's distance to its nearest other row.
fn nearest_neighbour_distances(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut nearest = vec![f64::INFINITY; rows.len()];
    for (i, row) in rows.iter().enumerate() {
        for j in 0..i {
            let d = distance2(row, &rows[j]);
            nearest[i] = nearest[i].min(d);
            nearest[j] = nearest[j].min(d);
        }
    }
    nearest.into_iter().map(f64::sqrt).collect()
}

/// A digit of the cluster test: its row in MNIST, and the training row that it was picked for.
struct Picked {
    source: usize,
    neighbour: usize,
}

/// The digits of the cluster test: for random training rows, the closest digit not used yet, taken if it is
/// closer to that row than any other training row is.
fn cluster_test<'a>(
    mnist: &'a MnistImages,
    space: &DigitSpace,
    rng: &mut Rng,
    seen: &mut HashSet<&'a [u8]>,
) -> Result<Vec<Picked>> {
    let mut others: Vec<(usize, Vec<f64>)> = Vec::new();
    for source in 0..mnist.len() {
        if !seen.contains(mnist.image(source)) {
            others.push((source, space.pca.project_image(mnist.image(source))));
        }
    }
    let mut picked = Vec::new();
    while picked.len() < TEST {
        let neighbour = rng.below(space.rows.len());
        let distances = others.iter().map(|(_, place)| distance2(place, &space.rows[neighbour]));
        let Some((at, d)) = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            bail!("there are no digits left for the cluster test");
        };
        if d.sqrt() < space.gaps[neighbour] {
            let (source, _) = others.remove(at);
            if seen.insert(mnist.image(source)) {
                picked.push(Picked { source, neighbour });
            }
        }
    }
    Ok(picked)
}

/// The contents of the file: see data/README.md.
fn encode(mnist: &MnistImages, training: &[usize], test: &[Picked], ordinary: &[usize]) -> Vec<u8> {
    let test_sources: Vec<usize> = test.iter().map(|t| t.source).collect();
    let sources = [training, &test_sources, ordinary].concat();
    let mut bytes = MAGIC.to_vec();
    let mut number = |n: usize| bytes.extend((n as u32).to_le_bytes());
    number(training.len());
    number(test.len());
    number(ordinary.len());
    number(PIXELS);
    sources.iter().for_each(|&s| number(s));
    test.iter().for_each(|t| number(t.neighbour));
    bytes.extend(sources.iter().map(|&s| mnist.labels[s]));
    sources.iter().for_each(|&s| bytes.extend(mnist.image(s)));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{gunzip, sha256};

    /// What `cargo xtask data mnist` makes; a change of the rules changes this and data/README.md.
    const SHA256: &str = "269010d2d7fa195e4abd68689b986a46baa30cd4aa18f4b2d5b75f13b5d90cd5";
    const FILE: &[u8] = include_bytes!("../../data/digits.bin.gz");

    /// The parts of the file, cut by data/README.md rather than by the encoder.
    struct Parts {
        sources: Vec<u32>,
        neighbours: Vec<u32>,
        labels: Vec<u8>,
        pixels: Vec<u8>,
    }

    fn parts() -> Parts {
        let bytes = gunzip(FILE).unwrap();
        assert_eq!(&bytes[..8], b"LIONDIG2");
        let numbers = |from: usize, n: usize| -> Vec<u32> {
            bytes[from..from + 4 * n].chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
        };
        assert_eq!(numbers(8, 4), [2500, 1000, 1000, 784]);
        let (sources, neighbours) = (numbers(24, 4500), numbers(24 + 4 * 4500, 1000));
        let labels_at = 24 + 4 * 5500;
        let (labels, pixels) = bytes[labels_at..].split_at(4500);
        assert_eq!(pixels.len(), 4500 * 784);
        Parts { sources, neighbours, labels: labels.to_vec(), pixels: pixels.to_vec() }
    }

    #[test]
    fn the_file_is_the_one_that_the_rules_make() {
        assert_eq!(sha256(&gunzip(FILE).unwrap()), SHA256);
        assert!(FILE.len() < 800_000, "{} bytes", FILE.len());
    }

    #[test]
    fn digits_are_distinct_and_labelled() {
        let parts = parts();
        assert_eq!(parts.pixels.chunks(784).collect::<HashSet<_>>().len(), 4500);
        assert_eq!(parts.sources.iter().collect::<HashSet<_>>().len(), 4500);
        assert!(parts.sources.iter().all(|&s| s < 60000));
        for part in [&parts.labels[..2500], &parts.labels[2500..3500], &parts.labels[3500..]] {
            let classes: HashSet<u8> = part.iter().copied().collect();
            assert_eq!(classes, (0..10).collect());
        }
    }

    #[test]
    fn each_test_digit_is_closer_to_its_row_than_any_other_training_row_is() {
        let parts = parts();
        let images: Vec<&[u8]> = parts.pixels.chunks(784).collect();
        let (training, test) = (&images[..2500], &images[2500..3500]);
        let space = DigitSpace::new(training.to_vec());
        for (image, &neighbour) in test.iter().zip(&parts.neighbours) {
            let d = distance2(&space.pca.project_image(image), &space.rows[neighbour as usize]).sqrt();
            assert!(d < space.gaps[neighbour as usize]);
        }
    }

    #[test]
    fn the_outlier_test_keeps_noise() {
        let parts = parts();
        let space = DigitSpace::new(parts.pixels.chunks(784).take(2500).collect());
        // Other noise than that by which the digits were chosen.
        let kept = space.kept(&noise(&mut Rng::new(12345)));
        assert!(kept >= 850, "{kept} of 1000");
    }
}
