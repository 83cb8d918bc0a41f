//! The calibrated verdict, beside the plain version and held to what it promises.

use super::support::{Clustered, adopt, lion, matrix, queries, rows};
use super::verdict_oracle::OracleCalibration;
use crate::common::{TestRandom, clusters, paper};
use lion_tsne::landmarks::Landmarks;
use lion_tsne::{
    Error, Fit, Lion, LionOptions, Local, Map, Matrix, Metric, PcaChoice, Radius, Verdict, VerdictRule,
    ignore,
};

fn calibrated(map: &Map) -> Lion {
    lion(map, &LionOptions::default())
}

#[test]
fn p_values_are_those_of_the_plain_version() {
    for (seed, count, cols) in [(1, 400, 3), (2, 300, 12), (3, 150, 40), (4, 60, 5)] {
        let map = Clustered { rows: count, cols, dims: 2, lonely: 4, seed }.map();
        let (lion, oracle) = (calibrated(&map), OracleCalibration::new(&rows(map.x())));
        assert_eq!(lion.verdict_rule(), VerdictRule::Calibrated);
        let queries = queries(&map, 150, seed);
        for (query, placed) in queries.iter().zip(lion.place(&matrix(&queries)).unwrap()) {
            let truth = oracle.p_values(query);
            let near = |name: &str, found: f64, truth: f64, doubt: f64| {
                assert!((found - truth).abs() <= doubt + 1e-12, "{name}: {found} for {truth} ± {doubt}");
            };
            near("distance", placed.p_distance.unwrap(), truth.distance, truth.doubt);
            near("neighbours", placed.p_neighbours.unwrap(), truth.neighbours, truth.doubt);
            // Two ranks in doubt may move the sum of their inverses past several others.
            let doubt = if truth.doubt == 0.0 { 0.0 } else { 4.0 * truth.doubt + 0.02 };
            near("score", placed.score, truth.score, doubt);
            let strange = placed.score <= lion.alpha().unwrap();
            let verdicts = match strange {
                _ if placed.nearest_distance == 0.0 => [Verdict::Exact; 2],
                true => [Verdict::Outlier, Verdict::BesideOutlier],
                false => [Verdict::Interpolated; 2],
            };
            assert!(verdicts.contains(&placed.verdict), "{} at {}", placed.verdict, placed.score);
        }
    }
}

/// Shares of ordinary rows at or below 1, 5 and 10 %, over maps of several seeds.
fn observed(maps: u64, train: usize, test: usize, make: impl Fn(u64) -> (Map, Matrix)) -> [f64; 3] {
    let mut found = [0.0; 3];
    for seed in 0..maps {
        let (map, new) = make(seed);
        assert_eq!((map.rows(), new.rows()), (train, test));
        for placed in calibrated(&map).place(&new).unwrap() {
            for (found, p) in found.iter_mut().zip([0.01, 0.05, 0.1]) {
                *found += f64::from(u8::from(placed.score <= p)) / (maps as usize * test) as f64;
            }
        }
    }
    found
}

/// Within [0.8, 1.25] of what is promised, or `errors` standard errors beyond; that of the calibration and of the test.
fn assert_kept(observed: [f64; 3], maps: u64, train: usize, test: usize, errors: f64) {
    for (observed, p) in observed.into_iter().zip([0.01, 0.05, 0.1]) {
        let variance = p * (1.0 - p) / maps as f64 * (1.0 / train as f64 + 1.0 / test as f64);
        let slack = errors * variance.sqrt();
        assert!((0.8 * p - slack..=1.25 * p + slack).contains(&observed), "{observed} for {p} ± {slack}");
    }
}

fn halves(data: &Matrix, train: usize) -> (Matrix, Matrix) {
    let (first, rest): (Vec<u32>, Vec<u32>) = (0..data.rows() as u32).partition(|&row| row < train as u32);
    (data.select(&first), data.select(&rest))
}

fn map_of(rows: Matrix, fit: &Fit) -> Map {
    // Verdicts do not look at places: any will do.
    let places = (0..rows.rows()).flat_map(|i| [i as f32, (i * i % 97) as f32]).collect();
    let places = Matrix::new(rows.rows(), 2, places).unwrap();
    fit.adopt(rows, places, &mut ignore).unwrap()
}

#[test]
fn one_in_a_hundred_means_one_in_a_hundred() {
    let make = |seed: u64| {
        let (train, test) = halves(&clusters(1200, 6, 5, 3.0, seed), 600);
        (map_of(train, &Fit::default()), test)
    };
    assert_kept(observed(12, 600, 600, make), 12, 600, 600, 2.0);
}

/// With more columns than rows in-sample residuals of a PCA are far too small: by them nearly all new rows are strange.
#[test]
fn many_columns_and_few_rows_keep_the_promise() {
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let make = |seed: u64| {
            let (train, test) = halves(&clusters(500, 300, 4, 1.0, seed), 250);
            (map_of(train, &Fit { metric, pca: PcaChoice::Components(20), ..Fit::default() }), test)
        };
        let found = observed(8, 250, 250, make);
        for (found, p) in found.into_iter().zip([0.01, 0.05, 0.1]) {
            assert!(found <= 1.25 * p + 0.01, "{metric:?}: {found} for {p}");
            assert!(p == 0.01 || found >= 0.4 * p, "{metric:?}: {found} for {p}");
        }
    }
}

/// A PCA that keeps as many components as rows span has no residuals in sample, and new rows have large ones.
#[test]
fn a_pca_that_keeps_all_of_few_rows_keeps_the_promise() {
    let make = |seed: u64| {
        let (train, test) = halves(&clusters(120, 200, 2, 1.0, seed), 40);
        (map_of(train, &Fit { pca: PcaChoice::Auto(50), ..Fit::default() }), test)
    };
    let found = observed(10, 40, 80, make);
    assert!(found[2] <= 0.15, "{found:?}");
}

#[test]
fn landmarks_keep_the_promise() {
    let fit = Fit {
        pca: PcaChoice::Components(10),
        perplexity: Some(10.0),
        iterations: Some(20),
        ..Fit::default()
    };
    let make = |seed: u64| {
        let (table, test) = halves(&clusters(2400, 80, 5, 2.0, seed), 2000);
        let mut landmarks = Landmarks::new(fit.landmarks(500)).unwrap();
        landmarks.add(table.into()).unwrap();
        (fit.run_sampled(landmarks.finish().unwrap(), &mut ignore).unwrap(), test)
    };
    assert_kept(observed(4, 500, 400, make), 4, 500, 400, 2.5);
}

/// Rows of a group are alike, and new rows come from new groups: leaving out single rows promises too much.
#[test]
fn groups_are_left_out_together() {
    let (per_group, groups) = (10, 60);
    let data = |seed: u64| {
        let mut numbers = TestRandom::new(seed);
        let mut values = Vec::new();
        for _ in 0..groups {
            let centre: Vec<f64> = (0..4).map(|_| numbers.gaussian() * 3.0).collect();
            for _ in 0..per_group {
                values.extend(centre.iter().map(|centre| (centre + 0.1 * numbers.gaussian()) as f32));
            }
        }
        Matrix::new(groups * per_group, 4, values).unwrap()
    };
    let group_of =
        |rows: usize| Some((0..rows as u32).map(|row| row / per_group as u32).collect::<Vec<u32>>());
    let share = |with_groups: bool| {
        let make = |seed: u64| {
            let (train, test) = halves(&data(seed), 300);
            let groups = group_of(300).filter(|_| with_groups);
            (map_of(train, &Fit { groups, ..Fit::default() }), test)
        };
        observed(6, 300, 300, make)[2]
    };
    let (without, with) = (share(false), share(true));
    assert!(without > 0.5, "single rows are found strange: {without}");
    assert!(with < 0.2, "groups: {with}");
}

/// A group may fill the lists of neighbours of its rows; verdicts on new groups are as promised then too.
#[test]
fn groups_larger_than_the_lists_of_neighbours_keep_the_promise() {
    let (per_group, groups) = (30, 80);
    let make = |seed: u64| {
        let mut numbers = TestRandom::new(seed);
        let mut values = Vec::new();
        for _ in 0..groups {
            let centre: Vec<f64> = (0..5).map(|_| numbers.gaussian()).collect();
            for _ in 0..per_group {
                values.extend(centre.iter().map(|centre| (centre + 0.1 * numbers.gaussian()) as f32));
            }
        }
        let data = Matrix::new(groups * per_group, 5, values).unwrap();
        let (train, test) = halves(&data, 1200);
        let groups = Some((0..1200).map(|row| row / per_group as u32).collect());
        (map_of(train, &Fit { groups, ..Fit::default() }), test)
    };
    let found = observed(6, 1200, 1200, make)[2];
    assert!((0.03..=0.2).contains(&found), "{found} for 10 %");
}

/// Every row of a factorial table has the same neighbours, but for those that were left out. A row of the map is one of the
/// rows that its neighbours are rebuilt from, and a new row is not: if that were not seen to, twice as many would be
/// strange.
#[test]
fn factorial_tables_keep_the_promise() {
    let make = |seed: u64| {
        let mut order: Vec<usize> = (0..729).collect();
        let mut numbers = TestRandom::new(seed);
        (1..729).rev().for_each(|at| order.swap(at, (numbers.uniform() * (at + 1) as f64) as usize));
        let indicators = |row: usize| {
            (0..18).map(move |at| f32::from(u8::from(row / 3usize.pow(at as u32 / 3) % 3 == at % 3)))
        };
        let data = Matrix::new(729, 18, order.into_iter().flat_map(indicators).collect()).unwrap();
        let (train, test) = halves(&data, 583);
        (map_of(train, &Fit::default()), test)
    };
    assert_kept(observed(12, 583, 146, make), 12, 583, 146, 2.0);
}

/// 0.7 % is 0.7 / 100, which is less than 0.007 once both are rounded.
#[test]
fn a_share_is_the_same_however_it_is_written() {
    let (train, test) = halves(&clusters(3999, 3, 5, 3.0, 3), 999);
    let map = map_of(train, &Fit::default());
    let verdicts = |alpha: f64| -> Vec<Verdict> {
        let lion = lion(&map, &LionOptions { alpha: Some(alpha), ..LionOptions::default() });
        lion.place(&test).unwrap().iter().map(|placed| placed.verdict).collect()
    };
    assert_eq!(verdicts(0.7 / 100.0), verdicts(0.007));
}

#[test]
fn a_map_is_calibrated_by_its_own_rows_alone() {
    let x = clusters(60, 3, 2, 3.0, 1);
    let map = map_of(x.clone(), &Fit::default());
    let (_, fewer) = halves(&x, 20);
    let order: Vec<u32> = (0..60).rev().collect();
    for (other, problem) in [(fewer, "the table has 40 rows"), (x.select(&order), "row 0 of the table")] {
        let refused = map.clone().calibrate(Some(other), None, 1).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
    assert_eq!(map.clone().calibrate(Some(x), None, 1).unwrap(), map);
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let x = clusters(40, 3, 2, 3.0, 1);
    let refused = |groups: Vec<u32>| {
        let fit = Fit { groups: Some(groups), perplexity: Some(5.0), ..Fit::default() };
        fit.run(x.clone(), &mut ignore).unwrap_err().to_string()
    };
    assert!(refused(vec![0; 39]).contains("39"), "{}", refused(vec![0; 39]));
    assert!(refused(vec![7; 40]).contains("two groups"));
    let nearly_one = refused((0..40).map(|row| u32::from(row < 5)).collect());
    assert!(nearly_one.contains("leave 5 rows to calibrate"), "{nearly_one}");
}

/// Rows that come more than once are as near to a row of the map as can be, and so are new rows that equal one.
#[test]
fn duplicates_keep_the_promise() {
    let make = |seed: u64| {
        let mut numbers = TestRandom::new(seed);
        let mut value = || (numbers.uniform() * 8.0).floor() as f32;
        let data = Matrix::new(1000, 3, (0..3000).map(|_| value()).collect()).unwrap();
        let (train, test) = halves(&data, 500);
        let fit = Fit { perplexity: Some(10.0), iterations: Some(5), ..Fit::default() };
        (fit.run(train, &mut ignore).unwrap(), test)
    };
    let found = observed(6, 500, 500, make);
    for (found, p) in found.into_iter().zip([0.01, 0.05, 0.1]) {
        assert!(found <= 1.25 * p + 0.01, "{found} for {p}");
    }
}

#[test]
fn constant_columns_say_nothing() {
    let x = clusters(200, 3, 3, 3.0, 5);
    let with_constant = |x: &Matrix| {
        let values = (0..x.rows()).flat_map(|i| x.row(i).iter().copied().chain([7.5])).collect();
        Matrix::new(x.rows(), 4, values).unwrap()
    };
    let new = clusters(50, 3, 3, 3.0, 6);
    let plain = calibrated(&map_of(x.clone(), &Fit::default())).place(&new).unwrap();
    let wider = calibrated(&map_of(with_constant(&x), &Fit::default())).place(&with_constant(&new)).unwrap();
    for (a, b) in plain.iter().zip(&wider) {
        assert_eq!((a.score, a.verdict), (b.score, b.verdict));
    }
}

/// Below 99 rows no p-value is as small as 1 %: the default is then as little as can be told, a given alpha is kept.
#[test]
fn few_rows_tell_no_small_shares() {
    let x = clusters(40, 3, 2, 2.0, 8);
    let map = map_of(x, &Fit::default());
    let far = [900.0, -900.0, 500.0];
    let lion = calibrated(&map);
    assert_eq!((lion.alpha(), lion.promised()), (Some(1.0 / 41.0), Some(1.0 / 41.0)));
    let placed = lion.place_row(&far).unwrap();
    assert_eq!((placed.verdict, placed.score), (Verdict::Outlier, 1.0 / 41.0));
    let strict = self::lion(&map, &LionOptions { alpha: Some(0.01), ..LionOptions::default() });
    assert_eq!(
        (strict.place_row(&far).unwrap().verdict, strict.promised()),
        (Verdict::Interpolated, Some(0.0))
    );
    // Fewer still have the paper's rule alone.
    let tiny = map_of(clusters(19, 3, 2, 2.0, 8), &Fit::default());
    assert_eq!((calibrated(&tiny).verdict_rule(), calibrated(&tiny).alpha()), (VerdictRule::Paper, None));
    let refused = Lion::new(tiny, &LionOptions { alpha: Some(0.05), ..LionOptions::default() });
    assert!(refused.unwrap_err().to_string().contains("calibrate"));
}

#[test]
fn shares_that_cannot_be_are_refused() {
    let map = map_of(clusters(40, 3, 2, 2.0, 8), &Fit::default());
    for bad in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        for options in [
            LionOptions { alpha: Some(bad), ..LionOptions::default() },
            LionOptions { fdr: Some(bad), ..LionOptions::default() },
        ] {
            assert!(matches!(Lion::new(map.clone(), &options), Err(Error::Parameter { .. })), "{bad}");
        }
    }
    let mixed = LionOptions { alpha: Some(0.1), ..paper() };
    assert!(Lion::new(map, &mixed).unwrap_err().to_string().contains("calibrated"));
}

/// A row is placed among its neighbours however far they are, as long as the score says that it is ordinary.
#[test]
fn ordinary_rows_beyond_the_radius_have_places() {
    let map = Clustered { rows: 300, cols: 4, dims: 2, lonely: 0, seed: 3 }.map();
    for local in [Local::Energy, Local::Idw] {
        let options = LionOptions {
            local,
            alpha: Some(1e-6),
            radius: Some(lion_tsne::Radius::Value(1e-3)),
            power: Some(5.0),
            ..LionOptions::default()
        };
        let lion = lion(&map, &options);
        let new = matrix(&queries(&map, 60, 4));
        for placed in lion.place(&new).unwrap() {
            if placed.verdict == Verdict::Exact {
                continue;
            }
            assert_eq!((placed.verdict, placed.neighbours), (Verdict::Interpolated, 0));
            let at = &placed.place;
            let nearest = map.place(placed.nearest as usize);
            let off = (at[0] - nearest[0]).hypot(at[1] - nearest[1]);
            assert!(local == Local::Energy || off == 0.0, "{local:?} by {off}");
            assert!(at.iter().all(|v| v.is_finite()));
        }
    }
}

/// A stranger off the plane of the PCA has its shadow among other rows, and is found all the same.
#[test]
fn what_is_off_the_plane_is_strange() {
    let mut numbers = TestRandom::new(4);
    let mut row = |off: f64| -> Vec<f64> {
        let along = [numbers.gaussian() * 5.0, numbers.gaussian() * 4.0];
        let mut row = along.to_vec();
        row.extend((0..8).map(|_| 0.1 * numbers.gaussian() + off));
        row
    };
    let train: Vec<Vec<f64>> = (0..400).map(|_| row(0.0)).collect();
    let fit = Fit { pca: PcaChoice::Components(2), ..Fit::default() };
    let lion = calibrated(&map_of(matrix(&train), &fit));
    let (strange, ordinary): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        ((0..50).map(|_| row(1.5)).collect(), (0..400).map(|_| row(0.0)).collect());
    let outliers = |rows: &[Vec<f64>]| {
        let placed = lion.place(&matrix(rows)).unwrap();
        placed.iter().filter(|placed| placed.verdict == Verdict::Outlier).count()
    };
    assert_eq!(outliers(&strange), 50);
    assert!(outliers(&ordinary) <= 14, "{}", outliers(&ordinary));
}

#[test]
fn a_row_beside_an_outlier_of_the_map_sits_beside_it() {
    let mut x: Vec<Vec<f64>> = rows(&clusters(300, 3, 3, 3.0, 2));
    x.push(vec![60.0, 60.0, 60.0]);
    let y: Vec<Vec<f64>> = (0..x.len()).map(|i| vec![i as f64, (i * 31 % 57) as f64]).collect();
    let map = adopt(&x, &y);
    let radius = Some(lion_tsne::Radius::Value(30.0));
    let lion = lion(&map, &LionOptions { radius, ..LionOptions::default() });
    let beside = lion.place_row(&[60.0, 60.0, 80.0]).unwrap();
    assert_eq!((beside.verdict, beside.nearest), (Verdict::BesideOutlier, 300));
    let off = (f64::from(beside.place[0]) - y[300][0]).hypot(f64::from(beside.place[1]) - y[300][1]);
    assert!(off <= lion.r_close() * 1.001, "{off}");
}

/// Of rows called outliers in one call, the false ones are kept below a share: with many tests some ordinary rows have
/// small p-values, and those are spared where nothing else is strange.
#[test]
fn false_discoveries_are_spared() {
    let data = clusters(2000, 4, 4, 3.0, 9);
    let (train, ordinary) = halves(&data, 1000);
    let map = map_of(train, &Fit::default());
    let outliers = |fdr: Option<f64>, rows: &Matrix| -> Vec<usize> {
        let lion = lion(&map, &LionOptions { fdr, ..LionOptions::default() });
        let placed = lion.place(rows).unwrap();
        (0..rows.rows()).filter(|&row| placed[row].verdict == Verdict::Outlier).collect()
    };
    let (all, few) = (outliers(None, &ordinary), outliers(Some(0.05), &ordinary));
    assert!(
        !all.is_empty() && few.len() < all.len() && few.iter().all(|row| all.contains(row)),
        "{all:?} {few:?}"
    );
    let mut mixed = ordinary.data().to_vec();
    for stranger in 0..100 {
        mixed.extend([500.0 + 50.0 * stranger as f32, -400.0, 300.0, 0.0]);
    }
    let mixed = Matrix::new(ordinary.rows() + 100, 4, mixed).unwrap();
    let found = outliers(Some(0.05), &mixed);
    assert!((ordinary.rows()..mixed.rows()).all(|row| found.contains(&row)), "every stranger is found");
    assert!(found.len() <= 115, "{}", found.len());
    let lion = lion(&map, &LionOptions { fdr: Some(0.05), ..LionOptions::default() });
    for (placed, plain) in
        lion.place(&ordinary).unwrap().iter().zip(calibrated(&map).place(&ordinary).unwrap())
    {
        assert_eq!((placed.score, placed.nearest), (plain.score, plain.nearest));
        assert!(placed.verdict != Verdict::Interpolated || placed.place.iter().all(|v| v.is_finite()));
    }
}

/// Rows beside an outlier of the map are strange too: they count among the discoveries, and are spared with the others.
#[test]
fn rows_beside_outliers_are_discoveries_too() {
    let data = clusters(1001, 3, 4, 3.0, 9);
    let (train, ordinary) = halves(&data, 1000);
    let mut with_outlier = train.data().to_vec();
    with_outlier.extend([300.0, 300.0, 300.0]);
    let map = map_of(Matrix::new(1001, 3, with_outlier).unwrap(), &Fit::default());
    let place = |beside: usize, rest: &[f32], fdr: Option<f64>| {
        let mut rows: Vec<f32> = (0..beside).flat_map(|i| [300.0 + 0.001 * i as f32, 300.1, 300.0]).collect();
        rows.extend_from_slice(rest);
        let options = LionOptions { fdr, radius: Some(Radius::Percentile(100.0)), ..LionOptions::default() };
        let placed = lion(&map, &options).place(&Matrix::new(rows.len() / 3, 3, rows).unwrap()).unwrap();
        placed.iter().map(|placed| placed.verdict).collect::<Vec<_>>()
    };
    assert_eq!(place(2, ordinary.row(0), None)[..2], [Verdict::BesideOutlier; 2]);
    // Two of 1000 rows with the least p-value that there is, 1 in 1002, prove nothing; a hundred do.
    let many: Vec<f32> = train.data()[..2994].to_vec();
    assert_eq!(place(2, &many, Some(0.01))[..2], [Verdict::Interpolated; 2]);
    assert_eq!(place(100, &many[..600], Some(0.05))[..100], [Verdict::BesideOutlier; 100]);
}

/// The file keeps the calibration bit by bit, and a map without one has the paper's rule.
#[test]
fn a_map_file_keeps_the_calibration() {
    let (train, new) = halves(&clusters(400, 70, 4, 1.0, 5), 300);
    let fit = Fit { perplexity: Some(10.0), iterations: Some(5), ..Fit::default() };
    let map = fit.run(train, &mut ignore).unwrap();
    let again = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
    assert_eq!(map, again);
    assert_eq!(calibrated(&map).place(&new).unwrap(), calibrated(&again).place(&new).unwrap());
    let places = Matrix::new(map.y().rows(), 2, map.y().data().to_vec()).unwrap();
    let without = map.with_places(places).unwrap();
    assert_eq!(calibrated(&without).verdict_rule(), VerdictRule::Paper);
}
