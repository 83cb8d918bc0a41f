//! Networks learn, stop when told to, and are refused when they make no sense.

use super::*;
use crate::Baseline;
use lion_tsne::{Fit, Map, PcaChoice, ignore};
use std::ops::ControlFlow;

/// Points of the unit square with a smooth map of them.
fn smooth(rows: usize) -> Map {
    let mut random = Random::new(1);
    let x: Vec<f32> = (0..rows * 2).map(|_| random.uniform() as f32).collect();
    let place =
        |p: &[f32]| [5.0 * (2.0 * p[0]).sin() + 3.0 * p[1], 4.0 * (1.5 * p[1]).cos() - 2.0 * p[0] * p[1]];
    let y = x.chunks_exact(2).flat_map(place).collect();
    let fit = Fit { pca: PcaChoice::None, perplexity: Some(3.0), ..Fit::default() };
    fit.adopt(Matrix::new(rows, 2, x).unwrap(), Matrix::new(rows, 2, y).unwrap(), &mut ignore).unwrap()
}

fn small(activation: Activation) -> Network {
    Network { layers: 2, nodes: 30, activation, dropout: 0.0, epochs: 1500 }
}

#[test]
fn learns_a_smooth_map() {
    let map = smooth(300);
    let spread = map.y().data().iter().map(|v| f64::from(v * v)).sum::<f64>() / 300.0;
    for activation in [Activation::Relu, Activation::Tanh] {
        let point = validate_network(&map, &small(activation), 7, &mut ignore).unwrap();
        assert!(point.training_error < 0.01 * spread, "{activation}: {point:?} of {spread}");
        assert!(point.validation_error < 0.02 * spread, "{activation}: {point:?} of {spread}");
        let with = Network { dropout: 0.1, ..small(activation) };
        let point = validate_network(&map, &with, 7, &mut ignore).unwrap();
        assert!(point.validation_error < 0.1 * spread, "{activation}: {point:?} of {spread}");
    }
    let built = Baseline::Network(small(Activation::Tanh)).build(&map, 7, &mut ignore).unwrap();
    let places = built.place(map.x()).unwrap();
    let off: f32 = places.data().iter().zip(map.y().data()).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(f64::from(off) / 300.0 < 0.01 * spread);
    assert_eq!(built.place(&map.x().select(&[77])).unwrap().row(0), places.row(77));
}

#[test]
fn a_search_gives_what_each_network_gives_alone() {
    let map = smooth(100);
    let networks: Vec<Network> =
        Network::grid(20).into_iter().filter(|network| network.nodes <= 100).step_by(5).collect();
    let alone: Vec<GridPoint> =
        networks.iter().map(|network| validate_network(&map, network, 3, &mut ignore).unwrap()).collect();
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut last = 0;
        let found = pool.install(|| {
            grid_search(&map, &networks, 3, &mut |progress| {
                assert!(progress.done > last && progress.done <= progress.total);
                last = progress.done;
                ControlFlow::Continue(())
            })
        });
        assert_eq!(found.unwrap(), alone, "{threads} threads");
        assert_eq!(last, 20 * networks.len() as u64);
        let few = pool.install(|| grid_search(&map, &networks[..1], 3, &mut ignore)).unwrap();
        assert_eq!(few, alone[..1]);
    }
}

#[test]
fn stops_when_told_to() {
    let map = smooth(50);
    let network = Network { epochs: 1000, ..small(Activation::Relu) };
    let mut reports = 0;
    let stopped = Baseline::Network(network).build(&map, 1, &mut |progress| {
        reports += 1;
        assert!(progress.done <= 50, "it went on");
        if progress.done >= 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped.err(), Some(Error::Stopped(Stage::Build))));
    assert_eq!(reports, 6);
    let stopped = grid_search(&map, &[network; 4], 1, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Stopped(Stage::Build))));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let map = smooth(50);
    let good = small(Activation::Relu);
    for (bad, problem) in [
        (Network { nodes: 0, ..good }, "nodes is 0"),
        (Network { layers: 0, ..good }, "layers is 0"),
        (Network { dropout: 1.0, ..good }, "dropout is 1"),
        (Network { dropout: -0.1, ..good }, "dropout is -0.1"),
        (Network { dropout: f64::NAN, ..good }, "dropout is NaN"),
        (Network { epochs: 0, ..good }, "epochs is 0"),
    ] {
        let refused = Baseline::Network(bad).build(&map, 1, &mut ignore).err().unwrap().to_string();
        assert!(refused.starts_with(problem), "{refused}");
        assert!(grid_search(&map, &[good, bad], 1, &mut ignore).is_err());
    }
    assert!(validate_network(&smooth(4), &good, 1, &mut ignore).is_err());
    let one = Network { epochs: 1, ..good };
    let built = Baseline::Network(one).build(&map, 1, &mut ignore).unwrap();
    assert!(built.place_preprocessed(&Matrix::zeros(2, 3)).is_err());
}

#[test]
fn names() {
    let names: Vec<String> = Network::PAPER.iter().map(Network::to_string).collect();
    assert_eq!(names, ["nn-2x250", "nn-2x500", "nn-1x500-tanh"]);
    let other = Network { layers: 1, nodes: 50, activation: Activation::Tanh, dropout: 0.1, epochs: 9 };
    assert_eq!(other.to_string(), "nn-1x50-tanh-d0.1");
    assert_eq!(Network { dropout: 0.0, ..Network::PAPER[0] }.to_string(), "nn-2x250-d0");
    let mut all: Vec<String> = Network::grid(1).iter().map(Network::to_string).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 160);
}
