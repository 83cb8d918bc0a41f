//! The large test: 60000 x 784, with the map of parametric t-SNE and with one of our own.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the experiment and every published figure.

use super::error::{EvaluationError, Result};
use super::sets::{NOISE, NOISE_SEED};
use super::sweeps;
use super::trial::TestSet;
use crate::digits::MnistImages;
use crate::{Contender, Decomposition, Estimate, Judge, Parametric, noise, places_of, strangers};
use lion_tsne::memory::available_memory;
use lion_tsne::{Descent, Fit, Map, Matrix, Observer, PcaChoice, Progress, Rows, Stage};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The powers of the curve; the last stands for infinity, where only the nearest row counts.
const POWERS: [f64; 15] =
    [1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 13.0, 16.0, 20.0, 25.0, 30.0, 40.0, 50.0, 200.0, INFINITE];
const INFINITE: f64 = 1e5;
/// Gigabytes that the whole of it takes at its height.
const GIGABYTES: f64 = 3.5;

/// A network trained on all rows, and where it puts everything.
#[derive(Serialize, Deserialize)]
pub(crate) struct TrainedParametric {
    pub(crate) seconds: f64,
    pub(crate) training: Vec<f32>,
    pub(crate) test: Vec<f32>,
    pub(crate) noise: Vec<f32>,
}

/// What LION does at one radius.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LionAtRadius {
    pub(crate) percentile: f64,
    pub(crate) radius: f64,
    pub(crate) power: f64,
    /// Power and mean squared distance, left out one by one.
    pub(crate) curve: Vec<[f64; 2]>,
    /// Power and accuracy, a share.
    pub(crate) accuracies: Vec<[f64; 2]>,
    pub(crate) cross_validated: f64,
    pub(crate) at_50: f64,
    pub(crate) at_200: f64,
    pub(crate) at_infinity: f64,
    /// The accuracy at infinity, split.
    pub(crate) parts: Decomposition,
    /// Of noise: mean distance to the nearest place, and its percentile.
    pub(crate) noise_distance: f64,
    pub(crate) noise_percentile: f64,
}

/// LION on one map of the 60000.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LionOnMap {
    pub(crate) seconds: f64,
    /// The mean share of a training digit's ten nearest others that show the same.
    pub(crate) own_accuracy: f64,
    pub(crate) radii: Vec<LionAtRadius>,
    /// Images of noise that are strangers, of so many drawn.
    pub(crate) strangers: usize,
    pub(crate) drawn: usize,
}

/// Refuses data that is not the MNIST whose numbers the paper has.
pub(crate) fn check(mnist: &MnistImages) -> Result<()> {
    let sizes = [&mnist.training, &mnist.test].map(|digits| (digits.pixels.rows(), digits.pixels.cols()));
    if sizes == [(60_000, 784), (10_000, 784)] {
        return Ok(());
    }
    Err(EvaluationError::Refused(format!(
        "the large test is for MNIST's 60000 training and 10000 test images of 784 pixels, and {} has {} of {} and {} of {}: leave it out with --only",
        mnist.folder.display(),
        sizes[0].0,
        sizes[0].1,
        sizes[1].0,
        sizes[1].1
    )))
}

/// Says what memory is needed, and refuses what cannot be had.
pub(crate) fn check_memory() -> Result<String> {
    let available = available_memory().map(|bytes| bytes as f64 / 1e9);
    if let Some(available) = available.filter(|available| *available <= GIGABYTES) {
        return Err(EvaluationError::Refused(format!(
            "the large test needs {GIGABYTES:.1} GB of memory, and {available:.1} GB can be had: leave it out with --only, or close other programs"
        )));
    }
    Ok(format!("the large test takes up to {GIGABYTES:.1} GB of memory"))
}

/// The images of noise, the same for every map.
pub(crate) fn images_of_noise() -> Matrix {
    noise(784, NOISE, NOISE_SEED)
}

/// Trains parametric t-SNE on all digits.
pub(crate) fn train(
    mnist: &MnistImages,
    quick: bool,
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<TrainedParametric> {
    let begun = Instant::now();
    let all = Parametric::default();
    let parametric = match quick {
        true => Parametric { pretraining_epochs: 1, epochs: 2, ..all },
        false => all,
    };
    let network = parametric.train(&mnist.training.pixels, seed, observer)?;
    let seconds = begun.elapsed().as_secs_f64();
    let places = |rows: &Matrix| -> Result<Vec<f32>> { Ok(network.places(rows)?.into_data()) };
    Ok(TrainedParametric {
        seconds,
        training: places(&mnist.training.pixels)?,
        test: places(&mnist.test.pixels)?,
        noise: places(&images_of_noise())?,
    })
}

/// The map that parametric t-SNE made.
pub(crate) fn adopted(
    mnist: &MnistImages,
    trained: &TrainedParametric,
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<Map> {
    let places = Matrix::new(trained.training.len() / 2, 2, trained.training.clone())?;
    Ok(fit(seed).adopt(rows(mnist), places, observer)?)
}

/// A t-SNE map of our own, of the same rows.
pub(crate) fn fitted(mnist: &MnistImages, seed: u64, observer: &mut Observer<'_>) -> Result<Map> {
    Ok(fit(seed).run(rows(mnist), observer)?)
}

fn fit(seed: u64) -> Fit {
    // As the paper's maps were made.
    Fit {
        descent: Descent::Classic,
        pca: PcaChoice::None,
        seed,
        threads: rayon::current_num_threads(),
        ..Fit::default()
    }
}

fn rows(mnist: &MnistImages) -> Rows {
    let (data, labels) = (mnist.training.pixels.clone(), mnist.training.labels.clone());
    Rows { data, ids: None, labels: Some(labels) }
}

/// Accuracy of places and where noise lies, for what is no LION.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ParametricScores {
    pub(crate) accuracy: f64,
    pub(crate) noise_distance: f64,
    pub(crate) noise_percentile: f64,
}

/// What parametric t-SNE itself does.
pub(crate) fn of_parametric(
    map: &Map,
    mnist: &MnistImages,
    trained: &TrainedParametric,
) -> Result<ParametricScores> {
    let judge = Judge::new(map)?;
    let test = Matrix::new(trained.test.len() / 2, 2, trained.test.clone())?;
    let noise = Matrix::new(trained.noise.len() / 2, 2, trained.noise.clone())?;
    let noise = noise.select(&strangers(map, &images_of_noise())?);
    Ok(ParametricScores {
        accuracy: Estimate::of(&judge.shares(&test, &mnist.test.labels)?).mean,
        noise_distance: Estimate::of(&judge.distances(&noise)?).mean,
        noise_percentile: Estimate::of(&judge.percentiles(&noise)?).mean,
    })
}

/// LION on a map at the four radii.
pub(crate) fn on_map(map: &Map, mnist: &MnistImages, observer: &mut Observer<'_>) -> Result<LionOnMap> {
    let begun = Instant::now();
    let judge = Judge::new(map)?;
    let images = images_of_noise();
    let strange = images.select(&strangers(map, &images)?);
    let test = TestSet { name: "test", rows: mnist.test.pixels.clone(), labels: mnist.test.labels.clone() };
    let mut radii = Vec::new();
    for (done, percentile) in (1..).zip(Contender::RADII) {
        radii.push(at_radius(map, percentile, &judge, &test, &strange)?);
        let _ = observer(&Progress::of(Stage::Build, done, 4));
    }
    Ok(LionOnMap {
        seconds: begun.elapsed().as_secs_f64(),
        own_accuracy: judge.of_the_map()?,
        radii,
        strangers: strange.rows(),
        drawn: images.rows(),
    })
}

fn at_radius(
    map: &Map,
    percentile: f64,
    judge: &Judge,
    test: &TestSet,
    strange: &Matrix,
) -> Result<LionAtRadius> {
    let lion = sweeps::lion(map, Some(percentile))?;
    let validated =
        lion.cross_validate().ok_or(EvaluationError::Missing("no row has two neighbours within r_x"))?;
    let powers: Vec<f64> = POWERS.into_iter().chain([validated.power]).collect();
    let (placements, places) = lion.sweep_powers(&test.rows, &powers)?;
    let mut shares = Vec::new();
    for places in &places {
        shares.push(judge.shares(places, &test.labels)?);
    }
    let accuracy = |power: f64| {
        let at = powers.iter().position(|other| *other == power).unwrap_or(0);
        Estimate::of(&shares[at]).mean
    };
    let away = places_of(&lion.place_alone(strange)?, map.dims())?;
    Ok(LionAtRadius {
        percentile,
        radius: lion.r_x(),
        power: validated.power,
        curve: validated.curve.iter().map(|point| [point.power, point.error]).collect(),
        accuracies: POWERS[..POWERS.len() - 2].iter().map(|&power| [power, accuracy(power)]).collect(),
        cross_validated: Estimate::of(&shares[POWERS.len()]).mean,
        at_50: accuracy(50.0),
        at_200: accuracy(200.0),
        at_infinity: accuracy(INFINITE),
        parts: Decomposition::of(&placements, &shares[POWERS.len() - 1])?,
        noise_distance: Estimate::of(&judge.distances(&away)?).mean,
        noise_percentile: Estimate::of(&judge.percentiles(&away)?).mean,
    })
}

/// The paper's figures at the four radii.
pub(crate) struct PublishedLarge {
    pub(crate) radius: f64,
    pub(crate) power: f64,
    pub(crate) cross_validated: f64,
    pub(crate) at_50: f64,
    pub(crate) at_200: f64,
    pub(crate) at_infinity: f64,
    pub(crate) two: [f64; 2],
    pub(crate) one: [f64; 2],
    pub(crate) outlier: [f64; 2],
}

/// Of parametric t-SNE itself: accuracy, distance and percentile of noise; and the distance of noise under LION.
pub(crate) const PUBLISHED_PARAMETRIC: [f64; 4] = [0.8965, 0.29, 64.0, 23.36];

pub(crate) const PUBLISHED: [PublishedLarge; 4] = [
    PublishedLarge {
        radius: 5.62,
        power: 13.8,
        cross_validated: 0.7954,
        at_50: 0.8040,
        at_200: 0.8063,
        at_infinity: 0.8067,
        two: [0.8390, 0.9436],
        one: [0.0088, 0.8011],
        outlier: [0.1522, 0.0522],
    },
    PublishedLarge {
        radius: 6.00,
        power: 16.5,
        cross_validated: 0.8457,
        at_50: 0.8547,
        at_200: 0.8583,
        at_infinity: 0.8594,
        two: [0.9108, 0.9365],
        one: [0.0044, 0.6500],
        outlier: [0.0848, 0.0420],
    },
    PublishedLarge {
        radius: 6.72,
        power: 21.1,
        cross_validated: 0.8889,
        at_50: 0.9013,
        at_200: 0.9069,
        at_infinity: 0.9084,
        two: [0.9805, 0.9258],
        one: [0.0004, 0.2000],
        outlier: [0.0191, 0.0293],
    },
    PublishedLarge {
        radius: 8.48,
        power: 26.6,
        cross_validated: 0.8978,
        at_50: 0.9112,
        at_200: 0.9181,
        at_infinity: 0.9200,
        two: [1.0, 0.9200],
        one: [0.0, f64::NAN],
        outlier: [0.0, f64::NAN],
    },
];
