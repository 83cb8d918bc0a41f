//! The gradient against differences of the objective; rows that are held; bits for any number of threads.

use super::*;
use crate::index::{Search, nearest_neighbours};
use crate::matrix::Matrix;
use crate::progress::ignore;
use crate::random::Random;

const ROWS: usize = 60;

fn affinities(seed: u64) -> Affinities {
    let mut random = Random::new(seed);
    let x = Matrix::new(ROWS, 4, (0..ROWS * 4).map(|_| random.gaussian() as f32).collect()).unwrap();
    let (near, _) = nearest_neighbours(&x, 20, Search::Exact, 0, &mut ignore).unwrap();
    Affinities::new(near, 6.0)
}

fn places(seed: u64, width: f64) -> Vec<[f32; 2]> {
    let mut random = Random::new(seed);
    (0..ROWS).map(|_| std::array::from_fn(|_| (width * random.gaussian()) as f32)).collect()
}

/// Half of the rows are held, each as firmly as its number says.
fn anchors() -> Anchors<2> {
    let weights = (0..ROWS).map(|row| if row % 2 == 0 { row as f32 / ROWS as f32 } else { 0.0 }).collect();
    Anchors { places: places(5, 3.0), weights, under_similarity: true, keeps_scale: false }
}

/// KL + λ / 2N Σ wi |yi - S(yi⁰)|² / R², with the S of these places.
fn objective(p: &Affinities, anchors: &Anchors<2>, y: &[[f32; 2]], strength: f64, radius2: f64) -> f64 {
    let z = Repulsion::Exact.repel(y, &mut vec![[0.0; 2]; ROWS]);
    let kl = entropy(p) + attraction_energy(p, y) + z.ln();
    let similarity = anchors.similarity(y).unwrap();
    let penalty: f64 = (0..ROWS)
        .map(|row| {
            let there = similarity.apply(&anchors.places[row]);
            let away: f64 =
                there.iter().zip(&y[row]).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
            f64::from(anchors.weights[row]) * away
        })
        .sum();
    kl + strength / (2.0 * ROWS as f64 * radius2) * penalty
}

/// S is the best there is, so it may be taken as fixed: what it changes by is of second order.
#[test]
fn the_gradient_is_that_of_the_objective() {
    let (p, anchors, y) = (affinities(1), anchors(), places(2, 2.0));
    for strength in [0.0, 20.0, 500.0] {
        let mut state = DescentState::<2>::new(ROWS);
        attract(&p, &y, &mut state.attraction);
        let z = Repulsion::Exact.repel(&y, &mut state.repulsion);
        let mut held = Held::new(&anchors);
        held.refresh(&anchors, &y).unwrap();
        let quarter = (strength / (4.0 * ROWS as f64 * held.radius2)) as f32;
        let pull = Pull { targets: &held.targets, weights: &anchors.weights, strength: Some(quarter) };
        for row in [0, 7, 20, 31, 58] {
            let own = Balance::new(1.0, z).gradient(&state.attraction[row], &state.repulsion[row]);
            let found = pull.pulled(row, &y[row], own, quarter * anchors.weights[row]);
            for d in 0..2 {
                let moved = |by: f32| {
                    let mut y = y.clone();
                    y[row][d] += by;
                    objective(&p, &anchors, &y, strength, held.radius2)
                };
                let step = 1e-2;
                let truth = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
                let ours = 4.0 * f64::from(found[d]);
                let size = truth.abs().max(1e-2);
                assert!((ours - truth).abs() < 0.02 * size, "{strength}, row {row}: {ours} for {truth}");
            }
        }
    }
}

fn schedule(strength: f64) -> AnchoredSchedule {
    AnchoredSchedule {
        gathering: 20,
        exaggeration: 4.0,
        deciding: 50,
        little_exaggeration: 2.0,
        relaxing: 80,
        strengths: [10.0 * strength, strength],
        learning_rates: [20.0, 20.0],
    }
}

fn run(strength: f64, threads: usize) -> (Vec<[f32; 2]>, Optimised) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut y = anchors().places;
    let done = pool.install(|| {
        let (p, repulsion, schedule) = (affinities(1), Repulsion::quicker(), schedule(strength));
        optimise_anchored(p, &mut y, anchors(), repulsion, &schedule, &mut ignore).unwrap()
    });
    (y, done)
}

#[test]
fn a_firmer_hold_moves_rows_less() {
    let anchors = anchors();
    let away = |y: &[[f32; 2]]| -> f64 {
        let similarity = anchors.similarity(y).unwrap();
        let held = (0..ROWS).filter(|&row| anchors.weights[row] > 0.0);
        held.map(|row| {
            let there = similarity.apply(&anchors.places[row]);
            there.iter().zip(&y[row]).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
                / similarity.scale
        })
        .sum::<f64>()
    };
    let moves: Vec<f64> = [0.0, 1.0, 100.0, f64::INFINITY].iter().map(|&s| away(&run(s, 2).0)).collect();
    assert!(moves.windows(2).all(|pair| pair[1] < pair[0]), "{moves:?}");
    assert!(moves[3] < 1e-3, "{moves:?}");
    assert!(run(1.0, 2).1.kl < run(f64::INFINITY, 2).1.kl);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    assert_eq!(run(1.0, 1).0, run(1.0, 3).0);
}
