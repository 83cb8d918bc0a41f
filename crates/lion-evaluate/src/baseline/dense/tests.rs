//! Gradients against differences, bits against threads.

use super::oracle::{OracleNetwork, assert_close};
use super::*;

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.gaussian() as f32).collect()
}

/// Layers of these widths, with biases that are not zero.
fn layers(widths: &[usize], activation: Activation) -> DenseLayers {
    let mut random = Random::new(3);
    let last = widths.len() - 2;
    let layer = |(l, pair): (usize, &[usize])| {
        let activation = if l == last { Activation::Linear } else { activation };
        let mut layer = DenseLayer::glorot(pair[0], pair[1], activation, &mut random);
        layer.bias.iter_mut().for_each(|bias| *bias = 0.2 * random.gaussian() as f32);
        layer
    };
    DenseLayers(widths.windows(2).enumerate().map(layer).collect())
}

#[test]
fn gradients_are_those_of_the_squared_error() {
    let (x, targets) = (numbers(40 * 5, 1), numbers(40 * 2, 2));
    for activation in [Activation::Relu, Activation::Tanh, Activation::Logistic] {
        for dropout in [None, Some(Dropout { rate: 0.25, key: 11 })] {
            let layers = layers(&[5, 9, 7, 2], activation);
            let mut passes = Passes::new(&layers, 40, true);
            let loss = passes.squared_error(&layers, &x, &targets, dropout);
            let mut plain = OracleNetwork::new(&layers, dropout);
            let squares = |plain: &OracleNetwork<'_>| {
                let outputs = plain.outputs(&x);
                let squares = outputs.iter().zip(&targets).map(|(o, &t)| (o - f64::from(t)).powi(2));
                squares.sum::<f64>() / 80.0
            };
            assert!((loss / squares(&plain) - 1.0).abs() < 1e-5, "{loss}");
            for (l, gradient) in passes.gradients.iter().enumerate() {
                let (weights, bias) = plain.gradient(l, &squares);
                assert_close(&format!("{activation} weight of layer {l}"), &gradient.weights, &weights);
                assert_close(&format!("{activation} bias of layer {l}"), &gradient.bias, &bias);
            }
        }
    }
}

/// More rows than a block has and more weights than a tile has, added up as one product would.
#[test]
fn blocks_and_tiles_leave_nothing_out() {
    let layers = layers(&[300, 270, 2], Activation::Tanh);
    let (x, errors) = (numbers(530 * 300, 4), numbers(530 * 2, 5));
    let mut outputs = vec![0.0; 530 * 2];
    let mut passes = Passes::new(&layers, 530, true);
    passes.forward(&layers, &x, &mut outputs);
    let plain = OracleNetwork::new(&layers, None).outputs(&x);
    for (ours, plain) in outputs.iter().zip(&plain) {
        assert!((f64::from(*ours) - plain).abs() < 1e-5);
    }
    passes.backward(&layers, &x, &errors);
    // The derivative by one weight, from its definition: Σ over rows of input x slope x Σ error x weight behind.
    let hidden = DenseLayers(vec![layers.0[0].clone()]).apply(&x);
    for (i, h) in [(0, 0), (299, 269), (151, 140), (257, 3)] {
        let term = |row: usize| {
            let a = f64::from(hidden[row * 270 + h]);
            let behind: f64 =
                (0..2).map(|o| f64::from(errors[row * 2 + o] * layers.0[1].weights[h * 2 + o])).sum();
            f64::from(x[row * 300 + i]) * (1.0 - a * a) * behind
        };
        let sum: f64 = (0..530).map(term).sum();
        let ours = f64::from(passes.gradients[0].weights[i * 270 + h]);
        assert!((ours - sum).abs() < 1e-3, "weight {i}, {h}: {ours}, not {sum}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let (x, targets) = (numbers(700 * 20, 6), numbers(700 * 2, 7));
    let train = |parallel: bool| {
        let mut layers = layers(&[20, 270, 40, 2], Activation::Relu);
        let (mut passes, mut adam) = (Passes::new(&layers, 700, parallel), Adam::new(&layers, 0.001));
        for key in 0..5 {
            passes.squared_error(&layers, &x, &targets, Some(Dropout { rate: 0.5, key }));
            adam.step(&mut layers, &passes.gradients, parallel);
        }
        layers.apply(&x)
    };
    let alone = train(false);
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| train(true)) == alone, "{threads} threads");
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_in_any_batch() {
    for widths in [&[30usize, 500, 500, 2][..], &[3, 50, 2], &[100, 33, 3]] {
        let layers = layers(widths, Activation::Tanh);
        let (inputs, outputs) = (widths[0], widths[widths.len() - 1]);
        let x = numbers(150 * inputs, 8);
        let all = layers.apply(&x);
        for row in 0..150 {
            let one = layers.apply(&x[row * inputs..(row + 1) * inputs]);
            assert_eq!(one, &all[row * outputs..(row + 1) * outputs], "row {row}");
        }
        assert_eq!(layers.apply(&x[7 * inputs..90 * inputs]), &all[7 * outputs..90 * outputs]);
    }
}
