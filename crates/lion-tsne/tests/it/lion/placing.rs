//! Where rows are placed, and what is said of them, beside the plain version.

use super::oracle::{self, OracleEnergy, distance, flat, nearest_distances, percentile};
use super::support::{
    Clustered, adopt, extent, lion, matrix, narrow, on_the_edge, place_of, queries, rows, same, wide,
};
use crate::common::{TestRandom, paper};
use lion_tsne::lion::{PcaResidualLimit, Taper};
use lion_tsne::{Fit, Lion, LionOptions, Local, Map, Matrix, PcaChoice, Placement, Radius, Verdict, ignore};

fn idw(radius: Radius, power: f64) -> LionOptions {
    LionOptions { local: Local::Idw, radius: Some(radius), power: Some(power), ..paper() }
}

/// Compares everything but places that were interpolated, which go to `check` with their neighbours. How many of the
/// rows came to each verdict.
fn compare(
    lion: &Lion,
    queries: &[Vec<f64>],
    mut check: impl FnMut(&[f64], &[usize], &Placement),
) -> [usize; 4] {
    let (x, y) = (rows(lion.map().x()), rows(lion.map().y()));
    let nn_x = nearest_distances(&x);
    let placed = lion.place(&matrix(queries)).expect("placed");
    assert_eq!(placed.len(), queries.len());
    let mut counts = [0; 4];
    for (i, (query, placement)) in queries.iter().zip(&placed).enumerate() {
        if on_the_edge(query, &x, lion.r_x()) {
            continue;
        }
        let nearest = oracle::by_distance(query, &x)[0];
        let reach = distance(query, &x[nearest]);
        let (found, said) = (placement.nearest as usize, f64::from(placement.nearest_distance));
        assert!(distance(query, &x[found]) <= reach * (1.0 + 1e-6), "row {i}: {found} is not the nearest");
        assert!((said - reach).abs() <= 1e-5 * reach, "row {i}: the nearest is at {reach}, not {said}");
        let score = |d: f64| oracle::share_at_least(&nn_x, d);
        assert!(
            (score(reach * (1.0 + 1e-6))..=score(reach * (1.0 - 1e-6))).contains(&placement.score),
            "row {i}: score {} at {reach}",
            placement.score
        );
        let neighbours = oracle::within(query, &x, lion.r_x());
        assert_eq!(placement.neighbours as usize, neighbours.len(), "neighbours of row {i}");
        let verdict = oracle::verdict(query, &x, &nn_x, lion.r_x());
        assert!(same(placement.verdict, verdict), "row {i} is {verdict:?}, not {}", placement.verdict);
        assert_eq!(placement.group.is_some(), verdict == oracle::OracleVerdict::Outlier, "row {i}");
        counts[verdict as usize] += 1;
        match verdict {
            oracle::OracleVerdict::Exact => assert_eq!(place_of(placement), y[nearest], "row {i}"),
            oracle::OracleVerdict::Interpolated => check(query, &neighbours, placement),
            oracle::OracleVerdict::BesideOutlier => {
                let beside = distance(&place_of(placement), &y[nearest]);
                assert!(beside <= lion.r_close() * (1.0 + 1e-5) + 1e-6 * extent(&y), "row {i}: {beside}");
            }
            oracle::OracleVerdict::Outlier => assert!(place_of(placement).iter().all(|v| v.is_finite())),
        }
    }
    counts
}

/// Queries of every kind, and some rows of the map itself.
fn mixed(map: &Map, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut mixed = queries(map, count, seed);
    let x = rows(map.x());
    for i in (0..mixed.len()).step_by(10) {
        mixed[i] = x[i * 7 % x.len()].clone();
    }
    // Beside the lonely rows, which are the last.
    for (i, lonely) in x.iter().rev().take(4).enumerate() {
        mixed[i * 3 + 1] = wide(&lonely.iter().map(|v| (v + 1e-2) as f32).collect::<Vec<_>>());
    }
    mixed
}

#[test]
fn idw_is_the_plain_sum() {
    let mut counts = [0; 4];
    for (seed, dims, cols) in [(1, 2, 3), (2, 2, 12), (3, 3, 6), (4, 2, 40), (12, 1, 5)] {
        let map = Clustered { rows: 400, cols, dims, lonely: 8, seed }.map();
        let (x, y) = (rows(map.x()), rows(map.y()));
        for radius in [Radius::Percentile(90.0), Radius::Percentile(97.0), Radius::Value(4.0)] {
            for power in [0.1, 1.0, 7.3, 20.0, 50.0] {
                let lion = lion(&map, &idw(radius, power));
                let found = compare(&lion, &mixed(&map, 100, seed), |query, neighbours, placement| {
                    let truth = oracle::idw(query, &x, &y, neighbours, power, flat);
                    let off = distance(&place_of(placement), &truth);
                    assert!(off <= 1e-5 * extent(&y), "{radius} p {power}: {off} off {truth:?}");
                });
                counts.iter_mut().zip(found).for_each(|(all, these)| *all += these);
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "every verdict was seen: {counts:?}");
}

#[test]
fn attraction_is_the_plain_descent() {
    let mut interpolated = 0;
    for (seed, dims, perplexity) in [(5, 2, 10.0), (6, 3, 5.5), (7, 2, 30.0), (13, 1, 10.0)] {
        let (x, _) = Clustered { rows: 400, cols: 8, dims, lonely: 4, seed }.parts();
        let fit = Fit {
            perplexity: Some(perplexity),
            dims,
            iterations: Some(300),
            pca: PcaChoice::None,
            ..Fit::default()
        };
        let map = fit.run(matrix(&x), &mut ignore).expect("a map");
        let (x, y) = (rows(map.x()), rows(map.y()));
        let lion = lion(&map, &LionOptions { local: Local::Attraction, ..paper() });
        let counts = compare(&lion, &mixed(&map, 200, seed), |query, _, placement| {
            let cost = OracleEnergy::new(query, &x, &y, perplexity);
            let (place, truth) = (place_of(placement), cost.place());
            let (paid, least) = (cost.at(&place), cost.at(&truth));
            assert!((paid - least).abs() <= 1e-6 * least.max(1.0), "it costs {paid}, not {least}");
            let off = distance(&place, &truth);
            assert!(off <= 1e-4 * extent(&y), "{off} off {truth:?} in {}", extent(&y));
        });
        interpolated += counts[1];
    }
    assert!(interpolated > 200, "{interpolated}");
}

/// Rows at 0, 1, .. 9 and at 100 on a line, and places that tell them apart.
fn line() -> Map {
    let at: Vec<f64> = (0..10).map(f64::from).chain([100.0]).collect();
    let x: Vec<Vec<f64>> = at.iter().map(|&v| vec![v, 0.0]).collect();
    let y: Vec<Vec<f64>> = (0..11).map(|i| vec![f64::from(i), f64::from(i * i % 7)]).collect();
    adopt(&x, &y)
}

#[test]
fn every_row_of_the_table() {
    let map = line();
    let y = rows(map.y());
    for local in [Local::Energy, Local::Attraction, Local::Idw] {
        let options = LionOptions { local, ..idw(Radius::Value(1.5), 2.0) };
        let lion = lion(&map, &options);
        let at = |x: f32| lion.place_row(&[x, 0.0]).expect("placed");

        let exact = at(4.0);
        assert_eq!((exact.verdict, exact.nearest, exact.neighbours), (Verdict::Exact, 4, 3));
        assert_eq!((place_of(&exact), exact.nearest_distance, exact.score), (y[4].clone(), 0.0, 1.0));
        let lonely = at(100.0);
        assert_eq!((lonely.verdict, lonely.nearest, lonely.neighbours), (Verdict::Exact, 10, 1));
        assert_eq!(place_of(&lonely), y[10]);

        let between = at(4.25);
        assert_eq!((between.verdict, between.nearest, between.neighbours), (Verdict::Interpolated, 4, 3));
        if local == Local::Idw {
            // 1/16, 9/16 and 25/16 squared away: weights 16, 16/9 and 16/25.
            let weights = [(4, 1.0), (5, 1.0 / 9.0), (3, 1.0 / 25.0)];
            let total: f64 = weights.iter().map(|w| w.1).sum();
            for d in 0..2 {
                let truth = weights.iter().map(|&(i, w)| w * y[i][d]).sum::<f64>() / total;
                assert!((f64::from(between.place[d]) - truth).abs() < 1e-5);
            }
        }

        let beside = at(101.0);
        assert_eq!((beside.verdict, beside.nearest, beside.neighbours), (Verdict::BesideOutlier, 10, 1));
        assert!(distance(&place_of(&beside), &y[10]) <= lion.r_close() + 1e-5);

        // Its one neighbour has another beside it, so it is no outlier and this row is.
        let end = at(10.25);
        assert_eq!((end.verdict, end.nearest, end.neighbours), (Verdict::Outlier, 9, 1));
        let nowhere = at(50.0);
        assert_eq!((nowhere.verdict, nowhere.nearest, nowhere.neighbours), (Verdict::Outlier, 9, 0));
        assert_eq!(nowhere.nearest_distance, 41.0);
        // Of NN-X, which is ten times 1 and once 91, one in eleven is at least 41.
        assert!((nowhere.score - 1.0 / 11.0).abs() < 1e-12, "{}", nowhere.score);
        for outlier in [end, nowhere] {
            let apart = y.iter().map(|y| distance(&place_of(&outlier), y)).fold(f64::INFINITY, f64::min);
            assert!(apart >= lion.r_y() * (1.0 - 1e-6), "{apart} is within {}", lion.r_y());
        }
    }
}

#[test]
fn the_radius_includes_its_bound() {
    // 1.5 is a distance that f32 holds exactly: 8 and 9 are neighbours of 9.5, at 1.5 and 0.5.
    let lion = lion(&line(), &idw(Radius::Value(1.5), 2.0));
    let placed = lion.place_row(&[9.5, 0.0]).expect("placed");
    assert_eq!((placed.verdict, placed.neighbours), (Verdict::Interpolated, 2));
}

/// Places of rows along a path, a step apart.
fn along(lion: &Lion, from: f64, to: f64, steps: usize) -> Vec<Vec<f64>> {
    let at = |i: usize| vec![from + (to - from) * i as f64 / steps as f64, 0.0];
    let path: Vec<Vec<f64>> = (0..=steps).map(at).collect();
    lion.place(&matrix(&path)).expect("placed").iter().map(place_of).collect()
}

fn largest_jump(places: &[Vec<f64>]) -> f64 {
    places.windows(2).map(|w| distance(&w[0], &w[1])).fold(0.0, f64::max)
}

#[test]
fn a_taper_makes_places_follow_rows_without_jumps() {
    let map = line();
    let (x, y) = (rows(map.x()), rows(map.y()));
    let r_x = 2.75;
    let places = |taper: Taper| {
        let lion = lion(&map, &LionOptions { taper, ..idw(Radius::Value(r_x), 1.0) });
        along(&lion, 3.1, 5.9, 5600)
    };
    let jump = largest_jump(&places(Taper::None));
    assert!(jump > 0.1, "without a taper a neighbour that leaves takes its share at once: {jump}");
    for (name, taper) in [("triangle", Taper::Triangle), ("trapezoid", Taper::Trapezoid)] {
        let places = places(taper);
        let jump = largest_jump(&places);
        assert!(jump < 0.02, "{name}: {jump}");
        for (i, place) in places.iter().enumerate().step_by(100) {
            let query = wide(&[(3.1 + 2.8 * i as f64 / 5600.0) as f32, 0.0]);
            if on_the_edge(&query, &x, r_x) {
                continue;
            }
            let neighbours = oracle::within(&query, &x, r_x);
            let truth = match taper {
                Taper::Triangle => oracle::idw(&query, &x, &y, &neighbours, 1.0, oracle::triangle(r_x)),
                _ => oracle::idw(&query, &x, &y, &neighbours, 1.0, oracle::trapezoid(r_x)),
            };
            assert!(distance(place, &truth) < 1e-5 * extent(&y), "{name} at {query:?}: {place:?}, {truth:?}");
        }
    }
}

#[test]
fn splitting_keeps_rows_out_of_clusters_that_are_not_theirs() {
    // Two clusters that touch in x and are far apart on the map, and a third between them that has no part in it.
    let mut numbers = TestRandom::new(8);
    let mut around = |x: [f64; 2], y: [f64; 2]| -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let mut spread = |at: [f64; 2], by: f64| at.map(|v| v + by * numbers.gaussian()).to_vec();
        (0..40).map(|_| (spread(x, 0.3), spread(y, 1.0))).unzip()
    };
    let parts =
        [around([0.0, 0.0], [-40.0, 0.0]), around([2.0, 0.0], [40.0, 0.0]), around([50.0, 50.0], [0.0, 0.0])];
    let x: Vec<Vec<f64>> = parts.iter().flat_map(|part| part.0.clone()).collect();
    let y: Vec<Vec<f64>> = parts.iter().flat_map(|part| part.1.clone()).collect();
    let map = adopt(&x, &y);
    let (x, y) = (rows(map.x()), rows(map.y()));
    let options = LionOptions { r_y: Some(Radius::Value(10.0)), ..idw(Radius::Value(1.6), 1.0) };
    let plain = lion(&map, &options);
    let split = lion(&map, &LionOptions { split_clusters: true, ..options });
    let (mut between, mut checked) = (0, 0);
    for i in 0..60 {
        let query = wide(&[0.5 + i as f32 / 60.0, 0.1]);
        let neighbours = oracle::within(&query, &x, 1.6);
        if neighbours.len() < 2 || on_the_edge(&query, &x, 1.6) {
            continue;
        }
        let place = |lion: &Lion| place_of(&lion.place_row(&narrow(&query)).expect("placed"));
        let (mistaken, kept) = (place(&plain), oracle::split_clusters(&neighbours, &y, 10.0));
        between += usize::from(mistaken[0].abs() < 30.0);
        let placed = place(&split);
        assert!(placed[0].abs() > 30.0, "row {i} is at {placed:?}, in no cluster of its neighbours");
        let truth = oracle::idw(&query, &x, &y, &kept, 1.0, flat);
        assert!(distance(&placed, &truth) < 1e-5 * extent(&y), "row {i}: {placed:?}, not {truth:?}");
        checked += 1;
    }
    assert!(between > 20 && checked > 40, "{between} of {checked} lie between clusters without it");
}

#[test]
fn splitting_is_the_longest_prefix_that_hangs_together() {
    for (seed, dims) in [(9, 2), (10, 3), (14, 1)] {
        let map = Clustered { rows: 300, cols: 4, dims, lonely: 6, seed }.map();
        let (x, y) = (rows(map.x()), rows(map.y()));
        let mut shorter = 0;
        for (r_y, power) in [(1.0, 3.0), (4.0, 3.0), (12.0, 3.0), (4.0, 20.0), (8.0, 50.0)] {
            let options = LionOptions {
                r_y: Some(Radius::Value(r_y)),
                split_clusters: true,
                ..idw(Radius::Percentile(97.0), power)
            };
            compare(&lion(&map, &options), &mixed(&map, 150, seed), |query, neighbours, placement| {
                let kept = oracle::split_clusters(neighbours, &y, r_y);
                shorter += usize::from(kept.len() < neighbours.len());
                let off = distance(&place_of(placement), &oracle::idw(query, &x, &y, &kept, power, flat));
                assert!(off < 1e-5 * extent(&y), "r_y {r_y}, p {power}: {off}");
            });
        }
        assert!(shorter > 50, "{shorter}");
    }
}

/// 400 rows of 20 columns near a plane of 3 dimensions, and a random map of them.
fn near_a_plane() -> (Matrix, Map) {
    let mut numbers = TestRandom::new(11);
    let directions: Vec<f64> = (0..60).map(|_| numbers.gaussian()).collect();
    let row = |numbers: &mut TestRandom| -> Vec<f64> {
        let along: Vec<f64> = (0..3).map(|_| numbers.gaussian() * 3.0).collect();
        let at = |j: usize| (0..3).map(|c| along[c] * directions[c * 20 + j]).sum::<f64>();
        (0..20).map(|j| at(j) + 0.1 * numbers.gaussian()).collect()
    };
    let data: Vec<Vec<f64>> = (0..400).map(|_| row(&mut numbers)).collect();
    let places: Vec<Vec<f64>> =
        (0..400).map(|_| (0..2).map(|_| numbers.gaussian() * 9.0).collect()).collect();
    let fit = Fit { pca: PcaChoice::Components(3), ..Fit::default() };
    let map = fit.adopt(matrix(&data), matrix(&places), &mut ignore).expect("a map");
    (matrix(&data), map)
}

/// Rows of the data moved along the plane a little and out of it by so much.
fn lifted(data: &Matrix, map: &Map, by: f64) -> Vec<Vec<f64>> {
    let pca = map.preprocess().pca().expect("a PCA");
    let components = rows(pca.components());
    let mut numbers = TestRandom::new(12);
    let lift = |i: usize, numbers: &mut TestRandom| -> Vec<f64> {
        let mut out: Vec<f64> = (0..20).map(|_| numbers.gaussian()).collect();
        for component in &components {
            let along: f64 = out.iter().zip(component).map(|(a, b)| a * b).sum();
            out.iter_mut().zip(component).for_each(|(v, c)| *v -= along * c);
        }
        let length = out.iter().map(|v| v * v).sum::<f64>().sqrt();
        let shift = |j: usize| 0.02 * components[0][j] + by * out[j] / length;
        wide(data.row(i)).iter().enumerate().map(|(j, v)| v + shift(j)).collect()
    };
    (0..100).map(|i| lift(i, &mut numbers)).collect()
}

#[test]
fn strangers_off_the_plane_are_outliers_whatever_their_neighbours() {
    let (data, map) = near_a_plane();
    let strangers = matrix(&lifted(&data, &map, 5.0));
    let count = |pca_residual: PcaResidualLimit, verdict: Verdict| {
        let lion = lion(&map, &LionOptions { pca_residual, ..paper() });
        let placed = lion.place(&strangers).expect("placed");
        placed.iter().filter(|placement| placement.verdict == verdict).count()
    };
    assert_eq!(count(PcaResidualLimit::Percentile(99.0), Verdict::Outlier), 100);
    assert!(count(PcaResidualLimit::None, Verdict::Interpolated) > 85, "their shadows fall near rows");
}

#[test]
fn residuals_are_compared_with_those_of_the_rows() {
    let (data, map) = near_a_plane();
    let pca = map.preprocess().pca().expect("a PCA");
    let (mean, components) = (wide(pca.mean()), rows(pca.components()));
    let residual = |row: &[f64]| oracle::residual(row, &mean, &components);
    let residuals: Vec<f64> = rows(&data).iter().map(|row| residual(row)).collect();
    let (x, nn_x) = (rows(map.x()), nearest_distances(&rows(map.x())));
    let mut outliers = [0; 2];
    for (pca_residual, r_x, limit) in [
        (PcaResidualLimit::Percentile(99.5), 99.0, Some(99.5)),
        (PcaResidualLimit::Percentile(90.0), 99.0, Some(90.0)),
        (PcaResidualLimit::None, 99.0, None),
    ] {
        let lion = lion(&map, &LionOptions { pca_residual, ..paper() });
        let truth = percentile(&nn_x, r_x);
        assert!((lion.r_x() - truth).abs() < 1e-5 * truth, "r_x is {truth}, not {}", lion.r_x());
        for by in [0.0, 0.2, 0.35, 0.5] {
            let queries = rows(&matrix(&lifted(&data, &map, by)));
            let placed = lion.place(&matrix(&queries)).expect("placed");
            let shadows = rows(&map.preprocess().apply(&matrix(&queries)).expect("preprocessed"));
            for ((query, shadow), placement) in queries.iter().zip(&shadows).zip(&placed) {
                let out = residual(query);
                // Squares of 32-bit projections decide: what they round is a share of the whole row's square.
                let rounding = 1e-6 * oracle::distance(query, &mean).powi(2) / out;
                if let Some(said) = placement.p_residual {
                    let share = |by: f64| oracle::share_at_least(&residuals, out + by);
                    assert!(
                        (share(rounding)..=share(-rounding)).contains(&said),
                        "{said}, not {}",
                        share(0.0)
                    );
                }
                assert_eq!(placement.p_residual.is_some(), limit.is_some());
                let near = oracle::share_at_least(&nn_x, f64::from(placement.nearest_distance));
                let strange = near.min(placement.p_residual.unwrap_or(1.0));
                assert!((placement.score - strange).abs() < 0.003, "{} is not {strange}", placement.score);
                let edge = limit.map_or(f64::INFINITY, |p| percentile(&residuals, p));
                if (out - edge).abs() < rounding || on_the_edge(shadow, &x, truth) {
                    continue;
                }
                outliers[usize::from(out > edge)] += 1;
                let verdict = match out > edge {
                    true => oracle::OracleVerdict::Outlier,
                    false => oracle::verdict(shadow, &x, &nn_x, truth),
                };
                assert!(same(placement.verdict, verdict), "{verdict:?} at {out}, not {}", placement.verdict);
            }
        }
    }
    assert!(outliers.iter().all(|&count| count > 100), "{outliers:?}");
}

#[test]
fn rows_of_the_map_are_exact_however_far_off_the_plane() {
    let (data, map) = near_a_plane();
    for pca_residual in [PcaResidualLimit::Percentile(99.0), PcaResidualLimit::Percentile(50.0)] {
        let lion = lion(&map, &LionOptions { pca_residual, ..paper() });
        for (i, placement) in lion.place(&data).expect("placed").iter().enumerate() {
            assert_eq!((placement.verdict, placement.nearest as usize), (Verdict::Exact, i));
            assert_eq!(&*placement.place, map.place(i));
        }
    }
}

#[test]
fn without_pca_nothing_is_off_the_plane() {
    let map = line();
    for pca_residual in [PcaResidualLimit::Percentile(99.0), PcaResidualLimit::None] {
        let lion = lion(&map, &LionOptions { pca_residual, ..paper() });
        let placed = lion.place_row(&[4.5, 0.0]).expect("placed");
        assert_eq!(placed.p_residual, None);
        let truth = percentile(&nearest_distances(&rows(map.x())), 99.0);
        assert!((lion.r_x() - truth).abs() < 1e-5 * truth, "the rate is not shared: {}", lion.r_x());
    }
}

/// A far neighbour that weighs nothing can still be the link between two near ones.
#[test]
fn far_neighbours_count_when_clusters_are_split() {
    let x: Vec<Vec<f64>> = [1.0, -1.3, 3.5, 60.0, 61.0].iter().map(|&v| vec![v, 0.0]).collect();
    let y: Vec<Vec<f64>> = [0.0, 10.0, 5.0, 90.0, 95.0].iter().map(|&v| vec![v, 0.0]).collect();
    let map = adopt(&x, &y);
    for (link, kept) in [(5.5, vec![0, 1, 2]), (4.5, vec![0])] {
        let options = LionOptions {
            r_y: Some(Radius::Value(link)),
            split_clusters: true,
            ..idw(Radius::Value(4.0), 20.0)
        };
        let placed = lion(&map, &options).place_row(&[0.0, 0.0]).expect("placed");
        let truth = oracle::idw(&[0.0, 0.0], &x, &y, &kept, 20.0, flat);
        assert!(
            distance(&place_of(&placed), &truth) < 1e-3,
            "link {link}: {:?}, not {truth:?}",
            placed.place
        );
    }
}

/// Columns that never vary have no weight in the components: a row that differs there alone falls on the spot of a row
/// of the map, and is not that row.
#[test]
fn a_row_that_differs_in_a_constant_column_is_not_exact() {
    let mut numbers = TestRandom::new(3);
    let mut row =
        || -> Vec<f32> { (0..12).map(|c| if c == 5 { 3.0 } else { numbers.gaussian() as f32 }).collect() };
    let data: Vec<f32> = (0..200).flat_map(|_| row()).collect();
    let data = Matrix::new(200, 12, data).expect("rows");
    let fit =
        Fit { pca: PcaChoice::Components(6), perplexity: Some(10.0), iterations: Some(50), ..Fit::default() };
    let map = fit.run(data.clone(), &mut ignore).expect("a map");
    let lion = lion(&map, &LionOptions::default());
    assert_eq!(lion.place_row(data.row(0)).expect("placed").verdict, Verdict::Exact);
    let mut far = data.row(0).to_vec();
    far[5] = 1e6;
    let placement = lion.place_row(&far).expect("placed");
    assert_eq!((placement.verdict, placement.nearest_distance), (Verdict::Outlier, 0.0));
    far[5] = 3.01;
    assert_ne!(lion.place_row(&far).expect("placed").verdict, Verdict::Exact);
}

/// Twins in a map that was made elsewhere keep their places and do not make every distance 0.
#[test]
fn twins_are_no_neighbours_of_each_other() {
    let rows: Vec<Vec<f64>> = (0..200).map(|i| vec![f64::from(i % 50 % 7), f64::from(i % 50 / 7)]).collect();
    let map = adopt(&rows, &rows);
    let parameters = map.lion().expect("parameters");
    assert_eq!((parameters.r_x, parameters.nn_x().iter().copied().fold(f32::MAX, f32::min)), (1.0, 1.0));
    assert!(parameters.r_close > 0.0);
}
