//! The rule `energy`: attraction and repulsion beside plain sums, and what it is for.

use super::oracle::{self, OracleEnergy, distance};
use super::support::{Clustered, adopt, extent, lion, matrix, place_of, queries, rows};
use lion_tsne::lion::Taper;
use lion_tsne::{Fit, Lion, LionOptions, Map, PcaChoice, Placement, Verdict, ignore};

fn fitted(rows: usize, dims: usize, perplexity: f64, seed: u64) -> Map {
    let (x, _) = Clustered { rows, cols: 8, dims, lonely: 4, seed }.parts();
    let fit = Fit {
        perplexity: Some(perplexity),
        dims,
        iterations: Some(400),
        pca: PcaChoice::None,
        ..Fit::default()
    };
    fit.run(matrix(&x), &mut ignore).expect("a map")
}

/// Rows like those of the map, and what became of those that are interpolated.
fn interpolated(lion: &Lion, seed: u64) -> Vec<(Vec<f64>, Placement)> {
    let queries = queries(lion.map(), 250, seed);
    let placed = lion.place(&matrix(&queries)).expect("placed");
    let both = queries.into_iter().zip(placed);
    both.filter(|(_, placement)| placement.verdict == Verdict::Interpolated).collect()
}

/// Up to 512 rows every place is summed; beyond, the grid (2-D) and the tree (1-D and 3-D) stand in for them.
#[test]
fn energy_is_the_plain_descent() {
    for (seed, count, dims, perplexity) in [
        (41, 400, 2, 10.0),
        (42, 400, 3, 5.5),
        (43, 900, 2, 30.0),
        (44, 900, 3, 15.0),
        (51, 400, 1, 10.0),
        (52, 900, 1, 20.0),
    ] {
        let map = fitted(count, dims, perplexity, seed);
        let (x, y) = (rows(map.x()), rows(map.y()));
        let strength = oracle::repulsion(&y);
        let (mut all, mut same) = (0, 0);
        for (query, placement) in interpolated(&lion(&map, &LionOptions::default()), seed) {
            let cost = OracleEnergy::new(&query, &x, &y, perplexity).repelled(strength);
            let place = place_of(&placement);
            let paid = cost.at(&place);
            let least_start = cost.starts().map(|start| cost.at(start)).fold(f64::INFINITY, f64::min);
            // The grid and the tree are approximations: what they miss of F is far below what a step gains.
            assert!(paid <= least_start + 2e-3, "{paid} at the place, {least_start} at a start");
            let truth = cost.place();
            all += 1;
            same += usize::from(distance(&place, &truth) <= 2e-3 * extent(&y));
            assert!(paid <= cost.at(&truth) + 0.1, "{paid}, not {}", cost.at(&truth));
        }
        // F has several valleys: from the same start a longer step may end in another one.
        assert!(all > 60 && 20 * same >= 19 * all, "{same} of {all}, {count} rows in {dims} dimensions");
    }
}

/// A map in other units repels less: as much as its own rows are in balance with.
#[test]
fn an_adopted_map_repels_as_its_rows_tell() {
    let fit = fitted(400, 2, 10.0, 53);
    let x = rows(fit.x());
    for (scale, least, most) in [(3.0, 0.1, 0.9), (0.6, 1.0, 1.0)] {
        let scaled: Vec<Vec<f64>> =
            rows(fit.y()).iter().map(|place| place.iter().map(|v| scale * v).collect()).collect();
        let map = adopt(&x, &scaled);
        let (y, perplexity) = (rows(map.y()), map.perplexity());
        let share = oracle::balance(&x, &y, perplexity);
        assert!((least..=most).contains(&share), "a share of {share} at {scale}");
        let strength = share * oracle::repulsion(&y);
        let length = |v: Vec<f64>| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (mut all, mut balanced) = (0, 0);
        for (query, placement) in interpolated(&lion(&map, &LionOptions::default()), 53) {
            let energy = || OracleEnergy::new(&query, &x, &y, perplexity);
            let place = place_of(&placement);
            let (pull, left) = (energy().slope(&place), energy().repelled(strength).slope(&place));
            all += 1;
            balanced += usize::from(length(left) <= 0.02 * length(pull) + 1e-3);
        }
        assert!(all > 60 && 20 * balanced >= 19 * all, "{balanced} of {all} at a share of {share}");
    }
}

/// Without approximation the place is no worse than any start, to rounding.
#[test]
fn no_start_is_better() {
    for dims in [1, 2] {
        let map = fitted(300, dims, 12.0, 45);
        let (x, y) = (rows(map.x()), rows(map.y()));
        let strength = oracle::repulsion(&y);
        for (query, placement) in interpolated(&lion(&map, &LionOptions::default()), 45) {
            let cost = OracleEnergy::new(&query, &x, &y, 12.0).repelled(strength);
            let paid = cost.at(&place_of(&placement));
            assert!(cost.starts().all(|start| paid <= cost.at(start) + 1e-5), "{paid}");
        }
    }
}

/// Maps in any units, narrow and wide, on a line and on one spot: every place is finite and near the map.
#[test]
fn any_finite_map_places() {
    for (count, dims) in [(3, 2), (40, 1), (40, 2), (40, 3), (700, 1), (700, 2), (700, 3)] {
        let (x, y) = Clustered { rows: count, cols: 4, dims, lonely: 0, seed: 48 }.parts();
        for scale in [0.0, 1e-20, 1e-6, 1e-2, 0.1, 1.0, 1e2, 1e4, 1e7, 1e10, 1e13] {
            for (shape, offset) in [(0, 0.0), (1, 0.0), (0, 1.0)] {
                let place = |y: &Vec<f64>| -> Vec<f64> {
                    let along = |(d, v): (usize, &f64)| if shape == 1 && d > 0 { 0.0 } else { v * scale };
                    y.iter().enumerate().map(|at| along(at) + offset * 50.0 * scale).collect()
                };
                let map = adopt(&x, &y.iter().map(place).collect::<Vec<_>>());
                let places = rows(map.y());
                for taper in [Taper::None, Taper::Trapezoid] {
                    let options = LionOptions { taper, split_clusters: true, ..LionOptions::default() };
                    for (_, placed) in interpolated(&lion(&map, &options), 49) {
                        let place = place_of(&placed);
                        let near = places.iter().map(|y| distance(y, &place)).fold(f64::INFINITY, f64::min);
                        let bound = 2.0 * extent(&places) + 1e-5 * offset * 100.0 * scale + 1e-30;
                        assert!(near <= bound, "{count} rows, {dims}-D, scale {scale:e}: {near} away");
                    }
                }
            }
        }
    }
}
