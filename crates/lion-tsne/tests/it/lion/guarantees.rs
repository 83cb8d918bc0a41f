//! What placing promises whatever is placed: the map stays, rows of the map stay, company changes nothing.

use super::oracle::{self, distance, flat};
use super::support::{
    Clustered, adopt, extent, lion, matrix, on_the_edge, place_of, queries, rows, shuffled, strangers,
};
use crate::common::{clusters, paper};
use lion_tsne::lion::Taper;
use lion_tsne::{
    Error, Fit, Lion, LionOptions, Local, Map, Matrix, Metric, PcaChoice, Placement, Radius, Verdict, ignore,
};

/// Bits of everything that a placement says, but for the group, whose name may depend on the call.
fn bits(placement: &Placement) -> (Vec<u32>, Verdict, u64, Option<u64>, u32, u32, u32) {
    (
        placement.place.iter().map(|v| v.to_bits()).collect(),
        placement.verdict,
        placement.score.to_bits(),
        placement.p_residual.map(f64::to_bits),
        placement.nearest,
        placement.nearest_distance.to_bits(),
        placement.neighbours,
    )
}

/// Every local rule there is.
fn rules() -> Vec<LionOptions> {
    let plain = paper;
    vec![
        plain(),
        LionOptions { local: Local::Attraction, ..plain() },
        LionOptions { local: Local::Idw, ..plain() },
        LionOptions { local: Local::Idw, taper: Taper::Triangle, ..plain() },
        LionOptions { local: Local::Idw, taper: Taper::Trapezoid, split_clusters: true, ..plain() },
    ]
}

/// Maps made by t-SNE, with PCA, with unit rows, on a line, in the plane and in space; and their data.
fn maps() -> Vec<(Matrix, Map)> {
    let fit = Fit {
        perplexity: Some(10.0),
        iterations: Some(150),
        exaggeration_iterations: Some(75),
        ..Fit::default()
    };
    let plain = PcaChoice::None;
    let fits = [
        Fit { pca: plain, ..fit.clone() },
        Fit { pca: PcaChoice::Components(5), ..fit.clone() },
        Fit { pca: plain, metric: Metric::Cosine, ..fit.clone() },
        Fit { pca: PcaChoice::Components(4), metric: Metric::Cosine, dims: 3, ..fit.clone() },
        Fit { pca: PcaChoice::Components(4), dims: 1, ..fit },
    ];
    let run = |(seed, fit): (usize, Fit)| {
        let data = clusters(300, 12, 5, 2.0, seed as u64);
        // Some rows twice.
        let twice: Vec<u32> = (0..300).chain([5, 5, 77]).collect();
        let data = data.select(&twice);
        (data.clone(), fit.run(data, &mut ignore).expect("a map"))
    };
    fits.into_iter().enumerate().map(run).collect()
}

/// Rows of the data mixed and moved: some interpolated, some strangers, some of the map itself.
fn company(data: &Matrix, seed: u64) -> Matrix {
    let (order, moves) = (shuffled(data.rows(), seed), clusters(200, data.cols(), 1, 0.0, seed));
    let by = [0.0, 0.1, 0.3, 0.5, 3.0];
    let row = |i: usize| -> Vec<f64> {
        let (own, step) = (data.row(order[i] as usize), moves.row(i));
        own.iter().zip(step).map(|(v, m)| f64::from(*v) + by[i % 5] * f64::from(*m)).collect()
    };
    matrix(&(0..200).map(row).collect::<Vec<_>>())
}

#[test]
fn the_map_is_never_changed() {
    for (data, map) in maps() {
        let (sum, bytes) = (map.checksum().expect("a sum"), map.to_bytes().expect("bytes"));
        for options in rules() {
            let lion = lion(&map, &options);
            let mut placer = lion.placer();
            for seed in 0..3 {
                placer.place(&company(&data, seed)).expect("placed");
                lion.place(&company(&data, seed)).expect("placed");
            }
            assert_eq!(lion.map().checksum().expect("a sum"), sum);
            assert!(lion.map().to_bytes().expect("bytes") == bytes);
        }
    }
}

#[test]
fn rows_of_the_map_have_their_own_places() {
    for (data, map) in maps() {
        for options in rules() {
            let lion = lion(&map, &options);
            for (i, placement) in lion.place(&data).expect("placed").iter().enumerate() {
                assert_eq!(placement.verdict, Verdict::Exact, "row {i}");
                assert_eq!(&*placement.place, map.place(i), "row {i}");
                assert_eq!(placement.nearest_distance, 0.0);
                assert_eq!(data.row(placement.nearest as usize), data.row(i), "the nearest row of {i}");
                assert_eq!(placement.group, None);
            }
        }
    }
}

#[test]
fn company_changes_no_bit() {
    let mut seen = [0; 4];
    for (at, (data, map)) in maps().into_iter().enumerate() {
        let batch = company(&data, 20 + at as u64);
        for options in rules() {
            let lion = lion(&map, &options);
            let whole: Vec<_> = lion.place(&batch).expect("placed").iter().map(bits).collect();
            let check = |i: usize, placement: &Placement, how: &str| {
                let (now, mut then) = (bits(placement), whole[i].clone());
                if now.1 == Verdict::Outlier {
                    // Its position depends on which others there are.
                    then.0 = now.0.clone();
                }
                assert_eq!(now, then, "map {at}, row {i}, {how}");
            };
            for i in 0..batch.rows() {
                check(i, &lion.place_row(batch.row(i)).expect("placed"), "alone");
                seen[whole[i].1 as usize] += 1;
            }
            for size in [1, 2, 7, 64, 199] {
                for first in (0..batch.rows()).step_by(size) {
                    let part: Vec<u32> = (first as u32..(first + size).min(batch.rows()) as u32).collect();
                    let placed = lion.place(&batch.select(&part)).expect("placed");
                    placed.iter().enumerate().for_each(|(i, p)| check(first + i, p, "in a part"));
                }
            }
            let order = shuffled(batch.rows(), 21);
            let placed = lion.place(&batch.select(&order)).expect("placed");
            placed.iter().zip(&order).for_each(|(p, &i)| check(i as usize, p, "in another order"));
        }
    }
    assert!(seen[0] > 100 && seen[1] > 100 && seen[3] > 100, "verdicts {seen:?}");
}

#[test]
fn threads_change_no_bit() {
    for (data, map) in maps() {
        let batch = company(&data, 22);
        for options in rules() {
            let place = |threads: usize| {
                let lion = lion(&map, &LionOptions { threads, ..options });
                let parameters = [lion.r_x(), lion.r_y(), lion.r_close(), lion.power()].map(f64::to_bits);
                let placed = lion.place(&batch).expect("placed");
                (parameters, placed.iter().map(|p| (bits(p), p.group)).collect::<Vec<_>>())
            };
            let one = place(1);
            for threads in [2, 3] {
                assert!(place(threads) == one, "{threads} threads");
            }
        }
    }
}

#[test]
fn an_exact_match_does_not_shift_the_rows_after_it() {
    let map = Clustered { rows: 200, cols: 4, dims: 2, lonely: 3, seed: 23 }.map();
    let lion = lion(&map, &paper());
    let others = matrix(&queries(&map, 20, 24));
    let alone: Vec<_> = (0..20).map(|i| bits(&lion.place_row(others.row(i)).expect("placed"))).collect();
    for before in [1, 2, 19] {
        let exact = map.x().select(&(0..before).collect::<Vec<u32>>());
        let data = [exact.data(), others.data()].concat();
        let batch = Matrix::new(before as usize + 20, 4, data).expect("sizes");
        let placed = lion.place(&batch).expect("placed");
        for (i, placement) in placed.iter().enumerate() {
            match i.checked_sub(before as usize) {
                None => assert_eq!((placement.verdict, &*placement.place), (Verdict::Exact, map.place(i))),
                Some(at) if placement.verdict != Verdict::Outlier => assert_eq!(bits(placement), alone[at]),
                Some(at) => assert_eq!(placement.nearest, alone[at].4),
            }
        }
    }
}

/// Ever smaller steps from a row: the place goes to that row's, and no weight is NaN at any power.
#[test]
fn tiny_distances_and_high_powers_give_places() {
    let (mut x, y) = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 25 }.parts();
    x[0] = vec![0.0; 3];
    let map = adopt(&x, &y);
    for local in [Local::Energy, Local::Attraction, Local::Idw] {
        for power in [0.5, 1.0, 20.0, 49.9, 50.0] {
            let options =
                LionOptions { local, power: Some(power), radius: Some(Radius::Value(5.0)), ..paper() };
            let lion = lion(&map, &options);
            for exponent in [-38, -30, -25, -20, -15, -10, -6, -3, -1] {
                let step = 10f64.powi(exponent);
                let placed = lion.place_row(&[step as f32, 0.0, 0.0]).expect("placed");
                let place = place_of(&placed);
                assert!(place.iter().all(|v| v.is_finite()), "{step:e}, p {power}: {place:?}");
                assert!(placed.score > 0.9 || exponent > -3, "score {} at {step:e}", placed.score);
                // Steps whose square vanishes in 32 bits are none.
                let exact = placed.verdict == Verdict::Exact && exponent < -20;
                assert!(exact || placed.verdict == Verdict::Interpolated, "{step:e}: {}", placed.verdict);
                if local == Local::Idw {
                    let query = [f64::from(step as f32), 0.0, 0.0];
                    let neighbours = oracle::within(&query, &x, 5.0);
                    let truth = oracle::idw(&query, &x, &y, &neighbours, power, flat);
                    let off = distance(&place, &truth);
                    assert!(off < 1e-5 * extent(&y), "{step:e}, p {power}: {place:?}, not {truth:?}");
                }
            }
        }
    }
}

/// The same rows in other units: the same places.
#[test]
fn scale_does_not_matter() {
    let (x, y) = Clustered { rows: 200, cols: 4, dims: 2, lonely: 2, seed: 26 }.parts();
    let whole = adopt(&x, &y);
    let queries = queries(&whole, 60, 27);
    for power in [0.5, 20.0, 50.0] {
        for scale in [1e-15, 1e-10, 1e-3, 1.0, 1e5, 1e10, 1e12] {
            let scaled = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
                let times = |row: &Vec<f64>| row.iter().map(|v| v * scale).collect();
                rows.iter().map(times).collect()
            };
            let map = adopt(&scaled(&x), &y);
            let options = LionOptions { local: Local::Idw, power: Some(power), ..paper() };
            let lion = lion(&map, &options);
            let (x, queries) = (rows(map.x()), rows(&matrix(&scaled(&queries))));
            let placed = lion.place(&matrix(&queries)).expect("placed");
            let mut interpolated = 0;
            for (query, placement) in queries.iter().zip(&placed) {
                let place = place_of(placement);
                assert!(place.iter().all(|v| v.is_finite()), "scale {scale:e}: {place:?}");
                let neighbours = oracle::within(query, &x, lion.r_x());
                if on_the_edge(query, &x, lion.r_x()) || neighbours.len() < 2 {
                    continue;
                }
                interpolated += 1;
                assert_eq!(placement.neighbours as usize, neighbours.len(), "scale {scale:e}");
                let off = distance(&place, &oracle::idw(query, &x, &y, &neighbours, power, flat));
                assert!(off < 1e-5 * extent(&y), "scale {scale:e}, p {power}: {off}");
            }
            assert!(interpolated > 10, "scale {scale:e}: {interpolated}");
        }
    }
}

#[test]
fn far_rows_are_outliers_or_refused_but_never_lost() {
    let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 28 }.map();
    let lion = lion(&map, &paper());
    for far in [1e4, 1e10, 1e15, 1e18, 1e19, 1e25, 1e38] {
        match lion.place_row(&[far, -far, far]) {
            Ok(placed) => {
                assert_eq!((placed.verdict, placed.neighbours), (Verdict::Outlier, 0), "{far:e}");
                assert!(placed.place.iter().all(|v| v.is_finite()) && placed.score == 0.0, "{placed:?}");
            }
            Err(error) => assert!(far > 1e14 && error.to_string().contains("row 0"), "{far:e}: {error}"),
        }
    }
}

#[test]
fn bad_rows_are_refused_by_row_and_column() {
    let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 29 }.map();
    let lion = lion(&map, &paper());
    let mut bad = map.x().select(&[0, 1, 2, 3]);
    bad.data_mut()[7] = f32::NAN;
    let refused = |error: Error| match error {
        Error::Unusable { row: Some(row), column: Some(column), .. } => (row, column),
        other => panic!("{other}"),
    };
    assert_eq!(refused(lion.place(&bad).expect_err("refused")), (2, 1));
    assert_eq!(refused(lion.placer().place(&bad).expect_err("refused")), (2, 1));
    assert_eq!(refused(lion.resolve(&bad).map(drop).expect_err("refused")), (2, 1));
    assert_eq!(refused(lion.place_row(&[0.0, 0.0, f32::INFINITY]).expect_err("refused")), (0, 2));
    assert!(lion.place(&Matrix::zeros(5, 4)).is_err() && lion.place_row(&[1.0, 2.0]).is_err());
    assert_eq!(lion.place(&Matrix::zeros(0, 3)).expect("nothing to place"), []);
}

/// A refused batch leaves a placer as it was.
#[test]
fn a_refused_batch_takes_no_position() {
    let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 30 }.map();
    let lion = lion(&map, &paper());
    let mut batch = matrix(&strangers(&rows(map.x()), 4, 50.0));
    let good = batch.clone();
    batch.data_mut()[11] = f32::NAN;
    let mut placer = lion.placer();
    assert!(placer.place(&batch).is_err());
    assert_eq!(placer.place(&good).expect("placed"), lion.placer().place(&good).expect("placed"));
}

/// Maps written before placing existed, and maps read from a file, place as fresh ones do.
#[test]
fn a_map_from_a_file_places_the_same() {
    for (data, map) in maps() {
        let again = Map::from_bytes(&map.to_bytes().expect("bytes")).expect("a map");
        let batch = company(&data, 31);
        for options in rules() {
            let (one, other): (Lion, Lion) = (lion(&map, &options), lion(&again, &options));
            assert_eq!(one.place(&batch).expect("placed"), other.place(&batch).expect("placed"));
        }
    }
}

#[test]
fn one_map_is_placed_into_from_many_threads() {
    let map = Clustered { rows: 300, cols: 4, dims: 2, lonely: 3, seed: 32 }.map();
    let lion = lion(&map, &paper());
    let batch = matrix(&queries(&map, 100, 33));
    let truth = lion.place(&batch).expect("placed");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(lion.place(&batch).expect("placed"), truth));
        }
    });
}
