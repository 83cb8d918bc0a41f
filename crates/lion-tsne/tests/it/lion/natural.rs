//! The rule `energy`: attraction and repulsion beside plain sums, and what it is for.

use super::oracle::{self, Energy, distance};
use super::support::{Clustered, adopt, extent, lion, matrix, place_of, queries, rows};
use lion_tsne::evaluate::Judge;
use lion_tsne::{
    Fit, JoinedKl, Lion, LionOptions, Local, Map, Matrix, PcaChoice, Placement, Taper, Verdict, ignore,
};

fn fitted(rows: usize, dims: usize, perplexity: f64, seed: u64) -> Map {
    let (x, _) = Clustered { rows, cols: 8, dims, lonely: 4, seed }.parts();
    let fit =
        Fit { perplexity: Some(perplexity), dims, iterations: 400, pca: PcaChoice::None, ..Fit::default() };
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
            let cost = Energy::new(&query, &x, &y, perplexity).repelled(strength);
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

/// Without approximation the place is no worse than any start, to rounding.
#[test]
fn no_start_is_better() {
    for dims in [1, 2] {
        let map = fitted(300, dims, 12.0, 45);
        let (x, y) = (rows(map.x()), rows(map.y()));
        let strength = oracle::repulsion(&y);
        for (query, placement) in interpolated(&lion(&map, &LionOptions::default()), 45) {
            let cost = Energy::new(&query, &x, &y, 12.0).repelled(strength);
            let paid = cost.at(&place_of(&placement));
            assert!(cost.starts().all(|start| paid <= cost.at(start) + 1e-5), "{paid}");
        }
    }
}

/// What the repulsion is for: rows like the map's own go where t-SNE would put them, as far from others as those are.
#[test]
fn ordinary_rows_look_like_the_maps_own() {
    for (dims, seed) in [(2, 46), (3, 47)] {
        let (x, _) = Clustered { rows: 1000, cols: 8, dims, lonely: 0, seed }.parts();
        let fit = Fit { perplexity: Some(20.0), dims, pca: PcaChoice::None, ..Fit::default() };
        let map = fit.run(matrix(&x[..800]), &mut ignore).expect("a map");
        let (kl, judge) = (JoinedKl::new(&map).expect("divergence"), Judge::new(&map).expect("a judge"));
        let unseen = matrix(&x[800..]);
        let outcome = |local: Local| {
            let placed = lion(&map, &LionOptions { local, ..LionOptions::default() });
            let placed = placed.place(&unseen).expect("placed");
            let among: Vec<usize> =
                (0..placed.len()).filter(|&i| placed[i].verdict == Verdict::Interpolated).collect();
            let divergence: f64 =
                among.iter().map(|&i| kl.with_row(unseen.row(i)).at(&placed[i].place)).sum();
            let places: Vec<f32> = among.iter().flat_map(|&i| placed[i].place.to_vec()).collect();
            let places = Matrix::new(among.len(), dims, places).expect("sizes");
            let percentiles = judge.percentiles(&places).expect("percentiles");
            let count = among.len() as f64;
            (divergence / count, percentiles.iter().sum::<f64>() / count, among.len())
        };
        let (energy, attraction) = (outcome(Local::Energy), outcome(Local::Attraction));
        assert!(energy.2 == attraction.2 && energy.2 > 120, "{energy:?} {attraction:?}");
        assert!(energy.0 < attraction.0, "{energy:?} {attraction:?}");
        assert!((energy.1 - 50.0).abs() < (attraction.1 - 50.0).abs(), "{energy:?} {attraction:?}");
    }
}

/// A t-SNE map is adopted as it is, and as someone may have scaled it: rows stay as far from others as the map's own are,
/// or the repulsion is left out.
#[test]
fn adopted_maps_may_be_in_other_units() {
    let (x, _) = Clustered { rows: 1000, cols: 8, dims: 2, lonely: 0, seed: 50 }.parts();
    let fit = Fit { perplexity: Some(30.0), pca: PcaChoice::None, ..Fit::default() };
    let map = fit.run(matrix(&x[..800]), &mut ignore).expect("a map");
    let places = rows(map.y());
    for scale in [1e-3, 0.03, 0.3, 1.0, 3.0] {
        let scaled: Vec<Vec<f64>> = places.iter().map(|y| y.iter().map(|v| v * scale).collect()).collect();
        let map = adopt(&x[..800], &scaled);
        let judge = Judge::new(&map).expect("a judge");
        let percentile = |local: Local| {
            let lion = lion(&map, &LionOptions { local, ..LionOptions::default() });
            let placed = lion.place(&matrix(&x[800..])).expect("placed");
            let among = placed.iter().filter(|placement| placement.verdict == Verdict::Interpolated);
            let flat: Vec<f32> = among.flat_map(|placement| placement.place.to_vec()).collect();
            let found = judge
                .percentiles(&Matrix::new(flat.len() / 2, 2, flat).expect("sizes"))
                .expect("percentiles");
            found.iter().sum::<f64>() / found.len() as f64
        };
        let (energy, attraction) = (percentile(Local::Energy), percentile(Local::Attraction));
        println!("scale {scale}: energy {energy:.1}, attraction {attraction:.1}");
        assert!(energy >= attraction - 1.0 && energy < 65.0, "scale {scale}: {energy}, {attraction}");
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
