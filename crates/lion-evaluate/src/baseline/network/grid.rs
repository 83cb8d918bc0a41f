//! Which network is best: each is trained on four fifths of a map's rows and judged by the others.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the grid and the split.

use super::Network;
use crate::baseline::dense::DenseLayers;
use lion_tsne::memory::check_memory;
use lion_tsne::numerics::Random;
use lion_tsne::{Error, Map, Matrix, Observer, Progress, Result, Stage};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// One row in so many is kept back to judge by.
const KEPT_BACK: usize = 5;
const REMEDY: &str = "try smaller networks, or fewer rows";

/// How well a network does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridPoint {
    /// The network.
    pub network: Network,
    /// The mean squared distance between true and learnt places of the rows it was trained on.
    pub training_error: f64,
    /// The same of the rows that were kept back.
    pub validation_error: f64,
}

/// Trains one network on a random 80 % of a map's rows and judges it by the rest. The seed says which rows are kept back:
/// networks with the same seed can be compared.
pub fn validate_network(
    map: &Map,
    network: &Network,
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<GridPoint> {
    let split = Split::new(map, seed)?;
    check_memory(network.to_string(), network.memory(map.x().rows(), map.x().cols()), REMEDY)?;
    split.judge(network, seed, true, &mut |done| {
        observer(&Progress::of(Stage::Build, done as u64, network.epochs as u64)).is_continue()
    })
}

/// The same for many networks, in their order: one on each thread where there are enough of them. The observer is told of
/// epochs done by all of them. Each point has the same bits as `validate_network` gives it.
pub fn grid_search(
    map: &Map,
    networks: &[Network],
    seed: u64,
    observer: &mut Observer<'_>,
) -> Result<Vec<GridPoint>> {
    networks.iter().try_for_each(Network::check)?;
    let split = Split::new(map, seed)?;
    let threads = rayon::current_num_threads();
    let largest = networks.iter().map(|network| network.memory(map.x().rows(), map.x().cols())).max();
    check_memory("grid search", largest.unwrap_or(0) * threads.min(networks.len()) as u64, REMEDY)?;
    let total: usize = networks.iter().map(|network| network.epochs).sum();
    let told = Mutex::new((0, observer));
    let judge = |network: &Network, parallel: bool| {
        let mut before = 0;
        split.judge(network, seed, parallel, &mut |done| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.0 += done - before;
            before = done;
            let progress = Progress::of(Stage::Build, told.0 as u64, total as u64);
            (told.1)(&progress).is_continue()
        })
    };
    if networks.len() < threads {
        return networks.iter().map(|network| judge(network, true)).collect();
    }
    // The longest first, handed out one by one: no thread is left with a long one at the end.
    let mut order: Vec<usize> = (0..networks.len()).collect();
    let cost =
        |i: usize| networks[i].flops(map.x().rows(), map.x().cols(), map.dims()) * networks[i].epochs as f64;
    order.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)).then(a.cmp(&b)));
    let points = order.into_iter().par_bridge().map(|i| Ok((i, judge(&networks[i], false)?)));
    let mut points = points.collect::<Result<Vec<(usize, GridPoint)>>>()?;
    points.sort_by_key(|(i, _)| *i);
    Ok(points.into_iter().map(|(_, point)| point).collect())
}

/// The rows and places that networks are trained on, and those that they are judged by.
struct Split {
    training: [Matrix; 2],
    validation: [Matrix; 2],
}

impl Split {
    fn new(map: &Map, seed: u64) -> Result<Self> {
        let rows = map.x().rows();
        if rows < KEPT_BACK {
            return Err(Error::Data(format!(
                "comparing networks needs at least {KEPT_BACK} different rows, and the map has {rows}"
            )));
        }
        let kept_back = Random::new(seed).sample(rows, rows / KEPT_BACK);
        let mut rest = kept_back.iter().copied().peekable();
        let trained: Vec<u32> = (0..rows as u32).filter(|&i| rest.next_if_eq(&i).is_none()).collect();
        let part = |which: &[u32]| [map.x().select(which), map.y().select(which)];
        Ok(Self { training: part(&trained), validation: part(&kept_back) })
    }

    fn judge(
        &self,
        network: &Network,
        seed: u64,
        parallel: bool,
        proceed: &mut dyn FnMut(usize) -> bool,
    ) -> Result<GridPoint> {
        let [x, y] = &self.training;
        let layers = network.train(x, y, seed, parallel, proceed)?;
        Ok(GridPoint {
            network: *network,
            training_error: error(&layers, &self.training),
            validation_error: error(&layers, &self.validation),
        })
    }
}

/// The mean squared distance of learnt places to true ones.
fn error(layers: &DenseLayers, [x, y]: &[Matrix; 2]) -> f64 {
    let learnt = layers.apply(x.data());
    let squares = learnt.iter().zip(y.data()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
    squares.sum::<f64>() / y.rows() as f64
}
