//! The quick gradients against plain f64 sums.

use super::turns::TURNS;
use super::*;
use crate::affinity::Affinities;
use crate::index::{Search, nearest_neighbours};
use crate::matrix::Matrix;
use crate::progress::ignore;
use crate::random::Random;
use proptest::prelude::*;

/// Repulsion and Z from every pair, as the formulas say.
fn plain<const D: usize>(y: &[[f32; D]]) -> (Vec<[f64; D]>, f64) {
    let mut z = 0.0;
    let mut forces = vec![[0.0; D]; y.len()];
    for (i, a) in y.iter().enumerate() {
        for (_, b) in y.iter().enumerate().filter(|&(j, _)| j != i) {
            let difference: [f64; D] = std::array::from_fn(|d| f64::from(a[d]) - f64::from(b[d]));
            let q = 1.0 / (1.0 + difference.iter().map(|v| v * v).sum::<f64>());
            z += q;
            for d in 0..D {
                forces[i][d] += q * q * difference[d];
            }
        }
    }
    (forces, z)
}

/// Root mean square of the error, relative to that of the forces, or to what the rows could exert on each other in a
/// map of this width (a force is at most a third of the row's share of Z) where forces cancel.
fn errors<const D: usize>(mut repulsion: Repulsion<D>, y: &[[f32; D]]) -> (f64, f64) {
    let (truth, z) = plain(y);
    let mut forces = vec![[0.0f32; D]; y.len()];
    // Twice, so that what is kept between iterations is used too.
    repulsion.repel(y, &mut forces);
    let found_z = repulsion.repel(y, &mut forces);
    let (mut error, mut size) = (0.0, 0.0);
    for (t, f) in truth.iter().zip(&forces) {
        for d in 0..D {
            error += (t[d] - f64::from(f[d])).powi(2);
            size += t[d].powi(2);
        }
    }
    let rows = y.len() as f64;
    let span = y.iter().flatten().fold(0.0f32, |widest, v| widest.max((v - y[0][0]).abs()));
    let possible = 0.3 * (z / rows) * f64::from(span.min(1.0));
    let scale = (size / rows).sqrt().max(possible).max(1e-6 * rows);
    // Each point meets itself in Z before it is taken off again, so rounding is relative to their number too.
    ((error / rows).sqrt() / scale, (found_z - z).abs() / (z + rows))
}

/// A layout of some kind, of a given width.
fn layout<const D: usize>(kind: usize, rows: usize, width: f64, seed: u64) -> Vec<[f32; D]> {
    let mut random = Random::new(seed);
    (0..rows)
        .map(|i| {
            std::array::from_fn(|d| {
                let value = match kind {
                    0 => random.gaussian() / 3.0,
                    1 => ((i % 7) * (d + 1) % 5) as f64 / 5.0 + random.gaussian() / 50.0,
                    2 => i as f64 / rows as f64 - 0.5,
                    3 => [random.gaussian() / 1000.0, 1.0][usize::from(i == 0)],
                    4 => random.uniform(),
                    _ => 0.25,
                };
                (value * width) as f32
            })
        })
        .collect()
}

/// What we state: the exact method is right to rounding, FFT to 5 %, Barnes-Hut at an angle of 0.5 to 10 % and at 0.05
/// to 0.5 %.
fn check<const D: usize>(
    repulsion: Repulsion<D>,
    y: &[[f32; D]],
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let (force, z) = errors(repulsion, y);
    prop_assert!(force < tolerance, "forces off by {force}");
    prop_assert!(z < tolerance, "Z off by {z}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gradients_agree_in_the_plane(kind in 0usize..6, rows in 2usize..400, log_width in -5f64..3.0, seed: u64) {
        let y = layout::<2>(kind, rows, 10f64.powf(log_width), seed);
        check(Repulsion::Exact, &y, 1e-4)?;
        check(Repulsion::fft(), &y, 5e-2)?;
        check(coarse(), &y, 0.2)?;
        check(Repulsion::barnes_hut(0.5), &y, 0.1)?;
        check(Repulsion::barnes_hut(0.05), &y, 5e-3)?;
    }

    #[test]
    fn gradients_agree_on_a_line(kind in 0usize..6, rows in 2usize..400, log_width in -5f64..3.0, seed: u64) {
        let y = layout::<1>(kind, rows, 10f64.powf(log_width), seed);
        check(Repulsion::Exact, &y, 1e-4)?;
        check(Repulsion::barnes_hut(0.5), &y, 0.1)?;
        check(Repulsion::barnes_hut(0.05), &y, 5e-3)?;
    }

    #[test]
    fn gradients_agree_in_space(kind in 0usize..6, rows in 2usize..300, log_width in -5f64..3.0, seed: u64) {
        let y = layout::<3>(kind, rows, 10f64.powf(log_width), seed);
        check(Repulsion::Exact, &y, 1e-4)?;
        check(Repulsion::barnes_hut(0.5), &y, 0.1)?;
        check(Repulsion::barnes_hut(0.05), &y, 5e-3)?;
    }

    #[test]
    fn attraction_is_the_sum_it_should_be(rows in 2usize..300, width in 0.0f64..50.0, seed: u64) {
        check_attraction(&layout::<1>(0, rows, width, seed), seed)?;
        check_attraction(&layout::<2>(0, rows, width, seed), seed)?;
    }
}

fn coarse() -> Repulsion<2> {
    let mut repulsion = Repulsion::fft();
    repulsion.coarsen(Some(7));
    repulsion
}

/// Weak affinities in turns are the whole attraction in the mean, of each row; strong ones alone have the whole weight.
#[test]
fn turns_add_up_to_the_whole() {
    let y = layout::<2>(0, 500, 20.0, 3);
    let mut random = Random::new(5);
    let x = Matrix::new(500, 5, (0..2500).map(|_| random.gaussian() as f32).collect()).unwrap();
    let (neighbours, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).unwrap();
    let mut p = Affinities::new(neighbours, 10.0);
    let mut whole = vec![[0.0f32; 2]; y.len()];
    attract(&p, &y, &mut whole);
    let entries = |p: &Affinities, i: usize| {
        let (columns, values) = p.row(i);
        let mut pairs: Vec<(u32, u32)> =
            columns.iter().copied().zip(values.iter().map(|v| v.to_bits())).collect();
        pairs.sort_unstable();
        pairs
    };
    let before: Vec<_> = (0..y.len()).map(|i| entries(&p, i)).collect();
    let turns = Turns::divide(&mut p);
    assert!((0..y.len()).all(|i| entries(&p, i) == before[i]), "a row has other affinities than before");
    let mut mean = vec![[0.0f64; 2]; y.len()];
    for turn in 0..TURNS {
        let mut forces = vec![[0.0f32; 2]; y.len()];
        attract_in_turn(&p, &turns, turn, &y, &mut forces);
        for (mean, force) in mean.iter_mut().zip(&forces) {
            (0..2).for_each(|d| mean[d] += f64::from(force[d]) / TURNS as f64);
        }
    }
    let largest = whole.iter().flatten().fold(0.0f32, |most, v| most.max(v.abs()));
    for (mean, whole) in mean.iter().flatten().zip(whole.iter().flatten()) {
        assert!((mean - f64::from(*whole)).abs() < 1e-5 * f64::from(largest), "{mean} for {whole}");
    }
    let strong = |i: usize| turns.strong(&p, i);
    for i in 0..y.len() {
        assert!(!strong(i).0.is_empty(), "row {i} has no strong affinity");
        for &j in strong(i).0 {
            assert!(
                strong(j as usize).0.contains(&(i as u32)),
                "{i} and {j} differ on whether they are close"
            );
        }
    }
}

fn check_attraction<const D: usize>(y: &[[f32; D]], seed: u64) -> Result<(), TestCaseError> {
    let p = random_affinities(y.len(), seed);
    let mut forces = vec![[0.0f32; D]; y.len()];
    attract(&p, y, &mut forces);
    let mut energy = 0.0;
    for (i, force) in forces.iter().enumerate() {
        let mut truth = [0.0f64; D];
        let (columns, values) = p.row(i);
        for (&j, &value) in columns.iter().zip(values) {
            let difference: [f64; D] =
                std::array::from_fn(|d| f64::from(y[i][d]) - f64::from(y[j as usize][d]));
            let distance = 1.0 + difference.iter().map(|v| v * v).sum::<f64>();
            energy += f64::from(value) * distance.ln();
            for d in 0..D {
                truth[d] += f64::from(value) * difference[d] / distance;
            }
        }
        let scale = values.iter().map(|&v| f64::from(v)).sum::<f64>();
        for d in 0..D {
            prop_assert!((truth[d] - f64::from(force[d])).abs() <= 1e-5 * scale);
        }
    }
    // 1 + d² is rounded in f32: where all rows lie close together, that is more than their logarithms.
    let rounding = (0..y.len()).flat_map(|i| p.row(i).1).map(|&v| f64::from(v)).sum::<f64>()
        * 2.0
        * f64::from(f32::EPSILON);
    let off = (attraction_energy(&p, y) - energy).abs();
    prop_assert!(off <= 1e-5 * energy + rounding, "off by {off}, of {energy}");
    Ok(())
}

/// Attraction less repulsion is a quarter of the slope of the KL divergence, found here by moving one coordinate a little
/// both ways.
fn check_slope<const D: usize>(mut repulsion: Repulsion<D>, tolerance: f64) {
    let y = layout::<D>(0, 60, 6.0, 9);
    let p = symmetric_affinities(y.len());
    let (mut pulls, mut pushes) = (vec![[0.0f32; D]; y.len()], vec![[0.0f32; D]; y.len()]);
    attract(&p, &y, &mut pulls);
    let z = repulsion.repel(&y, &mut pushes);
    let wide: Vec<[f64; D]> = y.iter().map(|place| place.map(f64::from)).collect();
    let (mut error, mut steepest) = (0.0f64, 0.0f64);
    for i in 0..y.len() {
        for d in 0..D {
            let moved = |by: f64| {
                let mut moved = wide.clone();
                moved[i][d] += by;
                plain_kl(&p, &moved)
            };
            let truth = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            let found = 4.0 * (f64::from(pulls[i][d]) - f64::from(pushes[i][d]) / z);
            error = error.max((found - truth).abs());
            steepest = steepest.max(truth.abs());
        }
    }
    assert!(error < tolerance * steepest, "{D} dimensions: off by {error}, and the steepest is {steepest}");
}

#[test]
fn the_gradient_is_the_slope_of_the_divergence() {
    check_slope::<1>(Repulsion::Exact, 1e-5);
    check_slope::<2>(Repulsion::Exact, 1e-5);
    check_slope::<3>(Repulsion::Exact, 1e-5);
    check_slope::<1>(Repulsion::barnes_hut(0.05), 5e-3);
}

/// KL(P‖Q) by every pair.
fn plain_kl<const D: usize>(p: &Affinities, y: &[[f64; D]]) -> f64 {
    let q = |i: usize, j: usize| 1.0 / (1.0 + (0..D).map(|d| (y[i][d] - y[j][d]).powi(2)).sum::<f64>());
    let others = |i: usize| (0..y.len()).filter(move |&j| j != i);
    let z: f64 = (0..y.len()).map(|i| others(i).map(|j| q(i, j)).sum::<f64>()).sum();
    let mut kl = 0.0;
    for i in 0..y.len() {
        let (columns, values) = p.row(i);
        for (&j, &value) in columns.iter().zip(values) {
            let value = f64::from(value);
            kl += value * (value * z / q(i, j as usize)).ln();
        }
    }
    kl
}

/// Affinities between all rows, the same both ways, that sum to 1.
fn symmetric_affinities(rows: usize) -> Affinities {
    let mut p = Affinities { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
    let weight = |i: usize, j: usize| 1.0 / (1 + (i + j) % 7 + (i * j) % 5) as f64;
    let others = |i: usize| (0..rows).filter(move |&j| j != i);
    let sum: f64 = (0..rows).map(|i| others(i).map(|j| weight(i, j)).sum::<f64>()).sum();
    for i in 0..rows {
        p.columns.extend(others(i).map(|j| j as u32));
        p.values.extend(others(i).map(|j| (weight(i, j) / sum) as f32));
        p.offsets.push(p.columns.len());
    }
    p
}

/// Rows of all lengths, from none to every other row.
fn random_affinities(rows: usize, seed: u64) -> Affinities {
    let mut random = Random::new(seed);
    let mut p = Affinities { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
    for _ in 0..rows {
        let count = random.below(rows);
        p.columns.extend(random.sample(rows, count));
        p.values.resize_with(p.columns.len(), || random.uniform() as f32);
        p.offsets.push(p.columns.len());
    }
    p
}

/// The grid must not hold single points fast: two points far apart push each other as little as they should.
#[test]
fn a_lone_pair_feels_only_each_other() {
    for step in 0..40 {
        let y = [[0.0, 0.0], [50.0 + step as f32 * 0.013, 20.0 - step as f32 * 0.017]];
        let (truth, _) = plain(&y);
        let mut forces = [[0.0f32; 2]; 2];
        Repulsion::fft().repel(&y, &mut forces);
        for d in 0..2 {
            assert!((truth[0][d] - f64::from(forces[0][d])).abs() < 1e-4, "{truth:?} {forces:?}");
        }
    }
}

/// φ, its gradient and its Hessian from every place.
fn plain_potential<const D: usize>(at: &[f32; D], y: &[[f32; D]]) -> (f64, [f64; D], [[f64; D]; D]) {
    let (mut value, mut gradient, mut hessian) = (0.0, [0.0; D], [[0.0; D]; D]);
    for place in y {
        let difference: [f64; D] = std::array::from_fn(|d| f64::from(at[d]) - f64::from(place[d]));
        let q = 1.0 / (1.0 + difference.iter().map(|v| v * v).sum::<f64>());
        value += q;
        for d in 0..D {
            gradient[d] -= 2.0 * q * q * difference[d];
            hessian[d][d] -= 2.0 * q * q;
            for e in 0..D {
                hessian[d][e] += 8.0 * q * q * q * difference[d] * difference[e];
            }
        }
    }
    (value, gradient, hessian)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The grid's potential between, on and around the places. Errors are relative to φ: what one row adds to the energy
    /// of another is in that proportion.
    #[test]
    fn the_potential_is_the_plain_sum(kind in 0usize..6, rows in 2usize..400, log_width in -1f64..2.3, seed: u64) {
        let y = layout::<2>(kind, rows, 10f64.powf(log_width), seed);
        let potential = Potential::new(&y).expect("a grid");
        let mut random = Random::new(seed ^ 1);
        let around = y.iter().map(|place| place.map(|v| v + (1.2 * random.gaussian()).clamp(-3.5, 3.5) as f32));
        let around: Vec<[f32; 2]> = around.chain(y.iter().copied()).collect();
        for at in &around {
            let (value, gradient, hessian) = plain_potential(at, &y);
            let found = potential.at(*at).expect("inside the grid");
            let scale = value.max(1e-3 * rows as f64);
            prop_assert!((f64::from(found.value) - value).abs() <= 1e-2 * scale, "{} for {value}", found.value);
            for d in 0..2 {
                let off = (f64::from(found.gradient[d]) - gradient[d]).abs();
                prop_assert!(off <= 3e-2 * scale, "gradient off by {off} of {value}");
                for e in 0..2 {
                    let off = (f64::from(found.hessian[d][e]) - hessian[d][e]).abs();
                    prop_assert!(off <= 0.15 * scale, "Hessian off by {off} of {value}");
                }
            }
        }
        let (_, z) = plain(&y);
        prop_assert!((potential.z() - z).abs() <= 5e-3 * (z + rows as f64), "Z {} for {z}", potential.z());
        let [x, _] = y[0];
        prop_assert!(potential.at([x + 1e4, 0.0]).is_none() && potential.at([f32::NAN, 0.0]).is_none());
    }

    /// The tree's list of places and clusters, on a line and in space.
    #[test]
    fn the_trees_potential_is_the_plain_sum(rows in 2usize..600, log_width in -1f64..3.0, seed: u64) {
        check_potentials(&layout::<1>(0, rows, 10f64.powf(log_width), seed))?;
        check_potentials(&layout::<3>(0, rows, 10f64.powf(log_width), seed))?;
    }
}

/// A cluster stands for places that lie around its centre. What that leaves out is the second-order term: in the worst
/// case, places at both ends of a cluster as wide as θ times its distance, 0.75 θ² of what the cluster adds. Over all
/// places it is far less.
fn check_potentials<const D: usize>(y: &[[f32; D]]) -> Result<(), TestCaseError> {
    let theta: f64 = 0.4;
    let found = Tree::new(theta).potentials(y);
    let mut squares = 0.0;
    for (found, at) in found.iter().zip(y) {
        let (value, ..) = plain_potential(at, y);
        let off = (f64::from(*found) - value).abs() / value;
        prop_assert!(off <= 0.75 * theta * theta, "{found} for {value}");
        squares += off * off;
    }
    let off = (squares / y.len() as f64).sqrt();
    prop_assert!(off <= 2e-2, "off by {off} in the root mean square");
    Ok(())
}

#[test]
fn a_tree_of_few_places_is_within_its_bound() -> Result<(), TestCaseError> {
    // One place of 330 is off by more than 2 % here.
    let width = 10f64.powf(0.990_371_661_809_101_1);
    check_potentials(&layout::<1>(0, 330, width, 8_868_219_388_334_295_124))?;
    check_potentials(&layout::<3>(0, 330, width, 8_868_219_388_334_295_124))
}

#[test]
fn maps_too_wide_have_no_grid() {
    assert!(Potential::new(&[[0.0, 0.0], [1e10, 1e10]]).is_none());
    assert!(Potential::new(&[[0.0, 0.0], [0.0, 0.0]]).is_some());
    assert_eq!(Potential::memory(&[[0.0, 0.0], [-1e15, 1e15]]), None);
}
