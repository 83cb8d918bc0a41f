//! The gradient against differences, through the whole network; clusters told apart; bits; refusals.

use super::*;
use crate::Baseline;
use crate::baseline::dense::oracle::{OracleNetwork, assert_close};
use lion_tsne::{Fit, PcaChoice, ignore};
use std::ops::ControlFlow;

/// Rows around three centres, one after the other.
fn clusters(rows: usize, cols: usize) -> Matrix {
    let mut random = Random::new(9);
    let centres: Vec<f64> = (0..3 * cols).map(|_| 4.0 * random.gaussian()).collect();
    let value = |at: usize| (centres[at / cols % 3 * cols + at % cols] + random.gaussian()) as f32;
    Matrix::new(rows, cols, (0..rows * cols).map(value).collect()).unwrap()
}

fn small() -> Parametric {
    let layers = [20, 20, 30];
    Parametric {
        layers,
        perplexity: 10.0,
        pretraining_epochs: 5,
        epochs: 150,
        batch: 75,
        ..Parametric::default()
    }
}

/// pij and the KL divergence as they are defined.
fn plain_kl(p: &[f64], y: &[f64], dims: usize) -> f64 {
    let n = y.len() / dims;
    let q = |i: usize, j: usize| {
        let squares: f64 = (0..dims).map(|d| (y[i * dims + d] - y[j * dims + d]).powi(2)).sum();
        1.0 / (1.0 + squares)
    };
    let pairs = || (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)));
    let z: f64 = pairs().map(|(i, j)| q(i, j)).sum();
    pairs()
        .filter(|&(i, j)| p[i * n + j] > 0.0)
        .map(|(i, j)| p[i * n + j] * (p[i * n + j] * z / q(i, j)).ln())
        .sum()
}

#[test]
fn affinities_have_the_perplexity_asked_for() {
    let x = clusters(60, 4);
    let batch = BatchAffinities::new(x.data(), 4, 12.0, &mut Vec::new());
    let p = batch.affinities();
    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-5);
    let distance2 = |i: usize, j: usize| -> f64 {
        x.row(i).iter().zip(x.row(j)).map(|(a, b)| f64::from(a - b).powi(2)).sum()
    };
    // p(j|i) by bisection.
    let conditional = |i: usize| -> Vec<f64> {
        let (mut low, mut high) = (1e-6f64, 1e3f64);
        let mut p = vec![0.0; 60];
        for _ in 0..100 {
            let beta = (low * high).sqrt();
            (0..60).for_each(|j| p[j] = if j == i { 0.0 } else { (-beta * distance2(i, j)).exp() });
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            let entropy: f64 = p.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
            if entropy > 12f64.ln() { low = beta } else { high = beta }
        }
        p
    };
    let all: Vec<Vec<f64>> = (0..60).map(conditional).collect();
    for i in 0..60 {
        for j in 0..60 {
            let expected = (all[i][j] + all[j][i]) / 120.0;
            assert!((p[i * 60 + j] - expected).abs() < 1e-6, "{i}, {j}");
        }
    }
}

#[test]
fn gradients_are_those_of_the_divergence() {
    for dims in [1, 2, 3] {
        let x = ValueRange::of(&clusters(45, 4)).apply(clusters(45, 4).data());
        let mut random = Random::new(5);
        let mut layers = DenseLayers(vec![
            DenseLayer::glorot(4, 6, Activation::Logistic, &mut random),
            DenseLayer::glorot(6, 5, Activation::Tanh, &mut random),
            DenseLayer::glorot(5, dims, Activation::Linear, &mut random),
        ]);
        layers.0.iter_mut().flat_map(|layer| &mut layer.weights).for_each(|weight| *weight *= 2.0);
        let batch = BatchAffinities::new(&x, 4, 8.0, &mut Vec::new());
        let p = batch.affinities();
        let mut passes = Passes::new(&layers, 45, true);
        let (mut y, mut errors) = (vec![0.0; 45 * dims], vec![0.0; 45 * dims]);
        passes.forward(&layers, &x, &mut y);
        let z = batch.gradient(&y, 1.0, &mut errors);
        passes.backward(&layers, &x, &errors);
        let mut plain = OracleNetwork::new(&layers, None);
        let divergence = |plain: &OracleNetwork<'_>| plain_kl(&p, &plain.outputs(&x), dims);
        let kl = divergence(&plain);
        assert!((batch.kl(&y, z) - kl).abs() < 1e-5 * kl.max(1.0), "{} is not {kl}", batch.kl(&y, z));
        for (l, gradient) in passes.gradients.iter().enumerate() {
            let (weights, bias) = plain.gradient(l, &|plain| 45.0 * divergence(plain));
            assert_close(&format!("weight of layer {l}"), &gradient.weights, &weights);
            // Moving all places together changes nothing: there is no gradient to compare in the last layer.
            if l < 2 {
                assert_close(&format!("bias of layer {l}"), &gradient.bias, &bias);
            } else {
                assert!(gradient.bias.iter().all(|b| b.abs() < 1e-4) && bias.iter().all(|b| b.abs() < 1e-4));
            }
        }
    }
}

#[test]
fn tells_clusters_apart_and_descends() {
    let x = clusters(150, 8);
    let (mut first, mut last, mut reports) = (None, None, 0);
    let network = small().train(&x, 1, &mut |progress| {
        reports += 1;
        assert_eq!((progress.done, progress.total), (reports, 165));
        first = first.or(progress.kl);
        last = progress.kl;
        ControlFlow::Continue(())
    });
    assert!(last < first.map(|kl| 0.8 * kl), "{first:?} {last:?}");
    let places = network.unwrap().places(&x).unwrap();
    let near = lion_tsne::index::ExactIndex::new(&places).unwrap().nearest(&places, 11).unwrap();
    let same =
        (0..150).map(|i| near.indices[i * 11..][..11].iter().filter(|&&j| j as usize % 3 == i % 3).count());
    assert!(same.sum::<usize>() as f64 > 0.95 * 11.0 * 150.0);
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_in_any_batch() {
    let x = clusters(400, 8);
    let parametric = Parametric { epochs: 3, pretraining_epochs: 2, batch: 200, ..small() };
    let [one, two, three] = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let network = parametric.train(&x, 1, &mut ignore).unwrap();
            let all = network.places(&x).unwrap();
            assert_eq!(network.places(&x.select(&[33])).unwrap().row(0), all.row(33));
            all
        })
    });
    assert!(one == two && two == three);
}

#[test]
fn its_map_is_turned_onto_the_one_there_is() {
    let x = clusters(150, 8);
    let centres = [[0.0, 0.0], [60.0, 10.0], [20.0, 50.0]];
    let y = (0..150).flat_map(|i| centres[i % 3].map(|c| c + (i / 3) as f32 * 0.05)).collect();
    let fit = Fit { pca: PcaChoice::None, perplexity: Some(3.0), ..Fit::default() };
    let map = fit.adopt(x.clone(), Matrix::new(150, 2, y).unwrap(), &mut ignore).unwrap();
    let baseline = Baseline::Parametric(small());
    assert_eq!(baseline.to_string(), "parametric");
    let built = baseline.build(&map, 1, &mut ignore).unwrap();
    let places = built.place(&x).unwrap();
    let rms = |there: &dyn Fn(usize) -> f64| {
        let squares = map.y().data().iter().enumerate().map(|(at, y)| (f64::from(*y) - there(at)).powi(2));
        (squares.sum::<f64>() / 150.0).sqrt()
    };
    let middle = [0, 1].map(|d| (0..150).map(|i| f64::from(map.y().row(i)[d])).sum::<f64>() / 150.0);
    let (off, radius) = (rms(&|at| f64::from(places.data()[at])), rms(&|at| middle[at % 2]));
    assert!(off < 0.9 * radius, "{off} of {radius}");
    let note = &built.notes()[0];
    assert!(note.contains("only roughly") && note.contains(&format!("off by {:.0} %", 100.0 * off / radius)));
    let stopped = baseline.build(&map, 1, &mut |progress| match progress.done {
        0..4 => ControlFlow::Continue(()),
        4 => ControlFlow::Break(()),
        _ => panic!("it went on"),
    });
    assert!(matches!(stopped.err(), Some(Error::Stopped(Stage::Build))));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let x = clusters(150, 8);
    for (bad, problem) in [
        (
            Parametric { perplexity: 25.0, ..small() },
            "perplexity is 25, and must be from 1 to 24 for batches of 75 rows",
        ),
        (Parametric { perplexity: f64::NAN, ..small() }, "perplexity is NaN"),
        (Parametric { layers: [5, 0, 5], ..small() }, "layers of 0 units"),
        (Parametric { dims: 4, ..small() }, "dims is 4"),
        (Parametric { epochs: 0, ..small() }, "epochs is 0"),
        (Parametric { batch: 0, ..small() }, "batch is 0"),
    ] {
        let refused = bad.train(&x, 1, &mut ignore).err().unwrap().to_string();
        assert!(refused.starts_with(problem), "{refused}");
    }
    let empty = Matrix::zeros(0, 8);
    assert!(small().train(&empty, 1, &mut ignore).is_err());
    let quick = Parametric { epochs: 1, pretraining_epochs: 0, ..small() };
    let network = quick.train(&x, 1, &mut ignore).unwrap();
    assert!(network.places(&Matrix::zeros(2, 7)).is_err());
    assert_eq!(network.places(&empty).unwrap().rows(), 0);
}

#[test]
fn a_layer_takes_a_similarity_in() {
    let mut random = Random::new(2);
    let x: Vec<f32> = (0..100).map(|_| random.gaussian() as f32).collect();
    // Mirrored, turned, scaled and moved.
    let (sine, cosine) = 0.7f32.sin_cos();
    let place =
        |p: &[f32]| [3.0 * (cosine * p[0] - sine * p[1]) - 4.0, -3.0 * (sine * p[0] + cosine * p[1]) + 1.0];
    let y: Vec<f32> = x.chunks_exact(2).flat_map(place).collect();
    let [from, to] = [&x, &y].map(|v| Matrix::new(50, 2, v.clone()).unwrap());
    let mut layer = DenseLayer {
        inputs: 2,
        outputs: 2,
        activation: Activation::Linear,
        weights: vec![1.0, 0.0, 0.0, 1.0],
        bias: vec![0.0; 2],
    };
    fold_into(&Similarity::between(&from, &to, Reflection::Allowed).unwrap(), &mut layer);
    for (ours, y) in DenseLayers(vec![layer]).apply(&x).iter().zip(&y) {
        assert!((ours - y).abs() < 1e-4, "{ours}, not {y}");
    }
}
