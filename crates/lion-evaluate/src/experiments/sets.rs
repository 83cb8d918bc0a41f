//! The digits of the tests: those that come with the program, or others drawn from MNIST in the same way.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the sets; that the most isolated digits are replaced is ours.

use super::error::{EvaluationError, Result};
use crate::digits::{self, DigitImages, EmbeddedDigits, MnistImages};
use crate::{ClusterTest, noise, shuffled};
use lion_tsne::index::{ExactIndex, Search, nearest_neighbours};
use lion_tsne::preprocess::{Preprocess, unique_rows};
use lion_tsne::{Matrix, Metric, PcaChoice, ignore};
use std::collections::HashSet;

/// Distances are taken after PCA to so many.
pub(crate) const COMPONENTS: usize = 30;
/// The outlier test should keep so many of so many images of noise.
const KEPT: usize = 900;
pub(crate) const NOISE: usize = 1000;
/// Its seed: the same images for every choice of digits.
pub(crate) const NOISE_SEED: u64 = 1;

/// What a map is fitted to, and what is placed in it.
pub(crate) struct DigitSets {
    pub(crate) training: DigitImages,
    /// The cluster test: each is closer to a digit of the training than any other of those is.
    pub(crate) cluster: DigitImages,
    /// The digit that each of those was picked for.
    pub(crate) picked_for: Vec<u32>,
    /// Random ones, not picked for closeness to anything.
    pub(crate) ordinary: DigitImages,
    /// Where they are from, in words.
    pub(crate) source: String,
}

/// How many of each.
struct SetSizes {
    training: usize,
    cluster: usize,
    ordinary: usize,
    /// How many training digits may give way so that the outlier test keeps noise.
    replaced: usize,
}

const COUNTS: SetSizes = SetSizes { training: 2500, cluster: 1000, ordinary: 1000, replaced: 50 };

impl DigitSets {
    /// Those that come with the program.
    pub(crate) fn embedded() -> Result<Self> {
        let EmbeddedDigits { training, test, picked_for, ordinary } = digits::embedded()?;
        let source = "the digits that come with the program, from the training images of MNIST".into();
        Ok(Self { training, cluster: test, picked_for, ordinary, source })
    }

    /// Others, from the training images of MNIST.
    pub(crate) fn sampled(mnist: &MnistImages, seed: u64) -> Result<Self> {
        sample(&mnist.training, &format!("MNIST in {}", mnist.folder.display()), &COUNTS, seed)
    }
}

/// Draws the sets as data/README.md tells of the embedded ones, all from one shuffle of the distinct images.
fn sample(digits: &DigitImages, name: &str, counts: &SetSizes, seed: u64) -> Result<DigitSets> {
    let distinct = unique_rows(&digits.pixels).representatives;
    let needed = counts.training + counts.cluster + counts.ordinary + counts.replaced;
    if distinct.len() < needed {
        return Err(EvaluationError::Refused(format!(
            "{name} has {} different training images, and at least {needed} are needed",
            distinct.len()
        )));
    }
    let order = shuffled(distinct.len() as u32, seed);
    let mut order = order.into_iter().map(|at| distinct[at as usize]);
    let mut training: Vec<u32> = order.by_ref().take(counts.training).collect();
    let noise = noise(digits.pixels.cols(), NOISE, NOISE_SEED);
    let mut replaced = 0;
    let (space, kept) = loop {
        let space = TrainingSpace::new(digits.pixels.select(&training))?;
        let kept = space.kept(&noise)?;
        let next = if kept < KEPT && replaced < counts.replaced { order.next() } else { None };
        let Some(next) = next else { break (space, kept) };
        training[space.most_isolated] = next;
        replaced += 1;
    };
    let rest: Vec<u32> = order.collect();
    let candidates = space.preprocess.apply(&digits.pixels)?.select(&rest);
    let picked = ClusterTest::pick_preprocessed(&space.x, &candidates, counts.cluster, seed)?;
    let cluster: Vec<u32> = picked.rows.iter().map(|&at| rest[at as usize]).collect();
    let taken: HashSet<u32> = cluster.iter().copied().collect();
    let ordinary = rest.into_iter().filter(|row| !taken.contains(row)).take(counts.ordinary);
    Ok(DigitSets {
        cluster: digits.select(&cluster),
        picked_for: picked.picked_for,
        ordinary: digits.select(&ordinary.collect::<Vec<u32>>()),
        source: format!(
            "{name}, drawn with seed {seed}; {replaced} of {} digits, the most isolated, replaced, so that {kept} of {NOISE} \
             images of noise are farther from all digits than any digit is from its nearest",
            training.len()
        ),
        training: digits.select(&training),
    })
}

/// Training digits where distances are measured.
struct TrainingSpace {
    preprocess: Preprocess,
    x: Matrix,
    /// The digit farthest from its nearest other, and that distance squared: max(NN-X).
    most_isolated: usize,
    farthest2: f32,
}

impl TrainingSpace {
    fn new(pixels: Matrix) -> Result<Self> {
        let components = PcaChoice::Components(COMPONENTS);
        let (preprocess, x) = Preprocess::fit(pixels, Metric::Euclidean, components, 0)?;
        let (nearest, _) = nearest_neighbours(&x, 1, Search::Exact, 0, &mut ignore)?;
        let longer = |a: (usize, f32), b: (usize, f32)| if b.1 > a.1 { b } else { a };
        let (most_isolated, farthest2) =
            nearest.distances2.iter().copied().enumerate().fold((0, 0.0), longer);
        Ok(Self { preprocess, x, most_isolated, farthest2 })
    }

    /// How many of these images the outlier test keeps.
    fn kept(&self, noise: &Matrix) -> Result<usize> {
        let found = ExactIndex::new(&self.x)?.nearest(&self.preprocess.apply(noise)?, 1)?;
        Ok(found.distances2.iter().filter(|distance2| **distance2 > self.farthest2).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letters;

    const FEW: SetSizes = SetSizes { training: 120, cluster: 30, ordinary: 50, replaced: 2 };

    /// Images that stand in for digits: 400 different ones, and a second copy of the first 50. Labels are their numbers.
    fn images() -> DigitImages {
        let pixels = letters(400, 1);
        let rows: Vec<u32> = (0..400).chain(0..50).collect();
        DigitImages { pixels: pixels.select(&rows), labels: rows.iter().map(u32::to_string).collect() }
    }

    #[test]
    fn the_embedded_ones_are_all_there() {
        let sets = DigitSets::embedded().unwrap();
        let rows = [&sets.training, &sets.cluster, &sets.ordinary].map(|digits| digits.pixels.rows());
        assert_eq!((rows, sets.picked_for.len()), ([2500, 1000, 1000], 1000));
    }

    #[test]
    fn a_sample_shares_no_image_between_its_sets() {
        let sets = sample(&images(), "letters", &FEW, 3).unwrap();
        let all = [&sets.training, &sets.cluster, &sets.ordinary];
        assert_eq!(all.map(|digits| digits.labels.len()), [120, 30, 50]);
        assert_eq!(all.map(|digits| digits.pixels.rows()), [120, 30, 50]);
        let different: HashSet<&String> = all.iter().flat_map(|digits| &digits.labels).collect();
        assert_eq!(different.len(), 200);
        let known = images();
        for digits in all {
            for (row, label) in digits.labels.iter().enumerate() {
                assert_eq!(digits.pixels.row(row), known.pixels.row(label.parse().unwrap()));
            }
        }
        assert!(sets.source.starts_with("letters, drawn with seed 3; "), "{}", sets.source);
    }

    #[test]
    fn a_sample_keeps_the_rule_of_the_cluster_test() {
        let sets = sample(&images(), "letters", &FEW, 5).unwrap();
        let space = TrainingSpace::new(sets.training.pixels).unwrap();
        let cluster = space.preprocess.apply(&sets.cluster.pixels).unwrap();
        let distance2 =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        for (row, &picked_for) in sets.picked_for.iter().enumerate() {
            let x = space.x.row(picked_for as usize);
            let others = (0..120).filter(|&other| other != picked_for as usize);
            let gap2 = others.map(|other| distance2(x, space.x.row(other))).fold(f64::INFINITY, f64::min);
            assert!(distance2(x, cluster.row(row)) < gap2);
        }
    }

    #[test]
    fn the_seed_decides() {
        let labels = |seed| sample(&images(), "letters", &FEW, seed).unwrap().training.labels;
        assert_eq!(labels(1), labels(1));
        assert_ne!(labels(1), labels(2));
    }

    #[test]
    fn too_few_are_refused() {
        let problem = sample(&images(), "letters", &COUNTS, 0).err().unwrap().to_string();
        assert!(
            problem.contains("letters has 400 different training images") && problem.contains("4550"),
            "{problem}"
        );
    }
}
