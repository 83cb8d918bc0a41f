//! Parameters against results: the power of LION and of inverse-distance weighting, the width of kernelized t-SNE, the
//! grid of networks.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the sweeps.

use super::error::{EvaluationError, Result};
use super::trial::TestSet;
use crate::{Activation, Estimate, GridPoint, Judge, Network, grid_search, kernelized_sweep};
use lion_tsne::{Lion, LionOptions, Local, Map, Observer, Radius, VerdictRule};
use serde::{Deserialize, Serialize};

/// The radii of the paper; `None` is all rows.
pub(crate) const RADII: [Option<f64>; 5] = [Some(90.0), Some(95.0), Some(99.0), Some(100.0), None];

/// Farther than any two rows are from each other.
const EVERYTHING: f64 = 1e15;

/// What powers do at one radius.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PowerSweep {
    /// The percentile of NN-X; `None` is all rows.
    pub(crate) percentile: Option<f64>,
    pub(crate) radius: f64,
    /// The power that leave-one-out finds, with its curve: power and mean squared distance.
    pub(crate) power: f64,
    pub(crate) curve: Vec<[f64; 2]>,
    /// Power and accuracy in percent on the cluster test.
    pub(crate) accuracy: Vec<[f64; 2]>,
    /// The accuracy of the power that leave-one-out finds.
    pub(crate) accuracy_of_power: Option<f64>,
}

/// LION as the paper has it, at a radius.
pub(crate) fn lion(map: &Map, percentile: Option<f64>) -> Result<Lion> {
    let radius = percentile.map_or(Radius::Value(EVERYTHING), Radius::Percentile);
    let options = LionOptions {
        radius: Some(radius),
        // Any will do: it is validated apart, with its curve.
        power: Some(1.0),
        local: Local::Idw,
        verdict: Some(VerdictRule::Paper),
        threads: rayon::current_num_threads(),
        ..LionOptions::default()
    };
    Ok(Lion::new(map.clone(), &options)?)
}

/// The curve of the cross-validation at a radius, and the accuracy of powers on a set, if there is one.
pub(crate) fn powers(
    map: &Map,
    percentile: Option<f64>,
    tried: &[f64],
    judge: &Judge,
    set: Option<&TestSet>,
) -> Result<PowerSweep> {
    let lion = lion(map, percentile)?;
    let validated = lion.cross_validate();
    let power = validated.as_ref().map_or(f64::NAN, |validated| validated.power);
    let (mut accuracy, mut accuracy_of_power) = (Vec::new(), None);
    if let Some(set) = set {
        let powers: Vec<f64> =
            tried.iter().copied().chain([power].into_iter().filter(|p| p.is_finite())).collect();
        let (_, places) = lion.sweep_powers(&set.rows, &powers)?;
        for (at, (power, places)) in powers.iter().zip(&places).enumerate() {
            let percent = 100.0 * Estimate::of(&judge.shares(places, &set.labels)?).mean;
            match at < tried.len() {
                true => accuracy.push([*power, percent]),
                false => accuracy_of_power = Some(percent),
            }
        }
    }
    Ok(PowerSweep {
        percentile,
        radius: lion.r_x(),
        power,
        curve: validated
            .map(|validated| validated.curve.iter().map(|point| [point.power, point.error]).collect())
            .unwrap_or_default(),
        accuracy,
        accuracy_of_power,
    })
}

/// What one width of kernelized t-SNE does.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct WidthPoint {
    pub(crate) width: f64,
    /// In percent, on the cluster test.
    pub(crate) accuracy: Option<f64>,
    /// Distance of noise to the nearest place, and its percentile.
    pub(crate) distance: Option<f64>,
    pub(crate) percentile: Option<f64>,
    /// Whether the system could be solved only with a ridge.
    pub(crate) ridge: bool,
}

/// Widths against accuracy and against the distance of outliers.
pub(crate) fn widths(
    map: &Map,
    tried: &[f64],
    judge: &Judge,
    cluster: Option<&TestSet>,
    noise: Option<&TestSet>,
    observer: &mut Observer<'_>,
) -> Result<Vec<WidthPoint>> {
    let mut widths = Vec::new();
    for (width, built) in tried.iter().zip(kernelized_sweep(map, tried, observer)?) {
        let built = built?;
        let place = |set: &TestSet| built.place(&set.rows);
        let on_cluster = cluster.map(|set| Ok::<_, EvaluationError>((place(set)?, set))).transpose()?;
        let on_noise = noise.map(place).transpose()?;
        let shares = on_cluster.map(|(places, set)| judge.shares(&places, &set.labels)).transpose()?;
        let away = on_noise.as_ref().map(|places| judge.distances(places)).transpose()?;
        let percentiles = on_noise.as_ref().map(|places| judge.percentiles(places)).transpose()?;
        let mean = |values: Option<Vec<f64>>| values.map(|values| Estimate::of(&values).mean);
        widths.push(WidthPoint {
            width: *width,
            accuracy: mean(shares).map(|share| 100.0 * share),
            distance: mean(away),
            percentile: mean(percentiles),
            ridge: !built.notes().is_empty(),
        });
    }
    Ok(widths)
}

/// One network of the grid.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct GridCell {
    pub(crate) layers: usize,
    pub(crate) nodes: usize,
    pub(crate) tanh: bool,
    pub(crate) dropout: f64,
    /// Estimate squared distances.
    pub(crate) training_error: f64,
    pub(crate) validation_error: f64,
}

/// Trains networks on four fifths of the map and judges them on the rest.
pub(crate) fn grid(
    map: &Map,
    networks: &[Network],
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<Vec<GridCell>> {
    let cell = |(network, point): (&Network, GridPoint)| GridCell {
        layers: network.layers,
        nodes: network.nodes,
        tanh: network.activation == Activation::Tanh,
        dropout: network.dropout,
        training_error: point.training_error,
        validation_error: point.validation_error,
    };
    let points = grid_search(map, networks, seed, observer)?;
    Ok(networks.iter().zip(points).map(cell).collect())
}
