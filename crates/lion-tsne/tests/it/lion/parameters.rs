//! Radii and power: from the data, from the caller, kept in the map.

use super::oracle::{cv_error, nearest_distances, percentile};
use super::support::{Clustered, adopt, lion, matrix, rows};
use crate::common::{clusters, paper};
use lion_tsne::lion::LionParameters;
use lion_tsne::{Fit, Lion, LionOptions, Local, Map, PcaChoice, Progress, Radius, Stage, ignore};
use std::ops::ControlFlow;

fn close(value: f64, truth: f64) -> bool {
    (value - truth).abs() <= 1e-5 * truth.abs()
}

fn fitted(seed: u64, dims: usize, fit: Fit) -> Map {
    let (x, y) = Clustered { rows: 260, cols: 6, dims, lonely: 3, seed }.parts();
    let fit = Fit { pca: PcaChoice::None, ..fit };
    fit.adopt(matrix(&x), matrix(&y), &mut ignore).expect("a map")
}

fn kept(map: &Map) -> &LionParameters {
    map.lion().expect("parameters for placing")
}

#[test]
fn radii_come_from_nearest_distances() {
    for (seed, dims) in [(1, 2), (2, 3), (14, 1)] {
        let map = fitted(seed, dims, Fit::default());
        let (nn_x, nn_y) = (nearest_distances(&rows(map.x())), nearest_distances(&rows(map.y())));
        let r_close = percentile(&nn_y, 10.0);
        let parameters = kept(&map);
        assert_eq!(parameters.radius, Radius::Percentile(99.0));
        assert!(close(parameters.r_x, percentile(&nn_x, 99.0)), "{}", parameters.r_x);
        assert!(close(parameters.r_close, r_close), "{}", parameters.r_close);
        assert!(close(parameters.r_y, 2.0 * percentile(&nn_y, 100.0) + r_close), "{}", parameters.r_y);
        assert!(!parameters.power_given);
        let lion = lion(&map, &paper());
        assert_eq!(
            (lion.r_x(), lion.r_y(), lion.r_close(), lion.power()),
            (parameters.r_x, parameters.r_y, parameters.r_close, parameters.power)
        );
    }
}

#[test]
fn radii_are_what_the_caller_says() {
    let plain = fitted(3, 2, Fit::default());
    let (nn_x, nn_y) = (nearest_distances(&rows(plain.x())), nearest_distances(&rows(plain.y())));
    let (half, ninety) = (Radius::Percentile(50.0), Radius::Percentile(90.0));
    let at_fit = fitted(
        3,
        2,
        Fit {
            radius: Some(ninety),
            r_y: Some(half),
            r_close: Some(Radius::Value(0.25)),
            power: Some(7.5),
            ..Fit::default()
        },
    );
    let at_place = LionOptions {
        radius: Some(ninety),
        r_y: Some(half),
        r_close: Some(Radius::Value(0.25)),
        power: Some(7.5),
        ..paper()
    };
    for lion in [lion(&at_fit, &paper()), lion(&plain, &at_place)] {
        assert!(close(lion.r_x(), percentile(&nn_x, 90.0)), "{}", lion.r_x());
        // A percentile of r_y stands where the greatest of NN-Y stood.
        assert!(close(lion.r_y(), 2.0 * percentile(&nn_y, 50.0) + 0.25), "{}", lion.r_y());
        assert_eq!((lion.r_close(), lion.power()), (0.25, 7.5));
    }
    assert!(kept(&at_fit).power_given && kept(&at_fit).radius == ninety);
    // What is said when placing stands over what was said when fitting.
    let over = LionOptions { radius: Some(Radius::Value(1.25)), power: Some(3.0), ..paper() };
    let lion = lion(&at_fit, &over);
    assert_eq!((lion.r_x(), lion.power(), lion.r_close()), (1.25, 3.0, 0.25));
    // r_y follows r_close where only that is given.
    let other = fitted(3, 2, Fit { r_close: Some(Radius::Value(0.5)), ..Fit::default() });
    assert!(close(kept(&other).r_y, 2.0 * percentile(&nn_y, 100.0) + 0.5), "{}", kept(&other).r_y);
}

#[test]
fn the_curve_is_leave_one_out() {
    for (seed, dims, radius) in [(4, 2, 99.0), (5, 3, 90.0), (6, 2, 100.0), (15, 1, 99.0)] {
        let map = fitted(seed, dims, Fit { radius: Some(Radius::Percentile(radius)), ..Fit::default() });
        let (x, y) = (rows(map.x()), rows(map.y()));
        let parameters = kept(&map);
        let error = |power: f64| cv_error(&x, &y, parameters.r_x, power);
        let curve = &parameters.power_curve;
        assert!(curve.len() >= 20, "{} points are no curve", curve.len());
        assert!(curve.windows(2).all(|w| w[0].power < w[1].power), "ascending");
        assert!(
            curve[0].power > 0.0 && curve[0].power <= 1.0 && curve.last().expect("a point").power <= 50.0
        );
        for point in curve {
            let truth = error(point.power);
            assert!(close(point.error, truth), "{radius} %, p {}: {truth}, not {}", point.power, point.error);
        }
        assert_minimiser(parameters.power, error);
    }
}

/// The power is in (0, 50] and nowhere there the error is lower.
fn assert_minimiser(power: f64, error: impl Fn(f64) -> f64) {
    assert!(power > 0.0 && power <= 50.0, "{power}");
    let own = error(power);
    for step in 1..=200 {
        let other = f64::from(step) * 0.25;
        assert!(own <= error(other) * (1.0 + 1e-5), "p {other} has {}, p {power} has {own}", error(other));
    }
}

#[test]
fn the_power_of_a_true_map_is_its_minimiser() {
    let fit = Fit { perplexity: Some(10.0), iterations: Some(300), pca: PcaChoice::None, ..Fit::default() };
    let map = fit.run(clusters(300, 8, 5, 2.0, 7), &mut ignore).expect("a map");
    let (x, y) = (rows(map.x()), rows(map.y()));
    let parameters = kept(&map);
    let error = |power: f64| cv_error(&x, &y, parameters.r_x, power);
    assert_minimiser(parameters.power, error);
    assert!(error(parameters.power * 0.3) > error(parameters.power), "too low a power is worse");
}

/// Another radius has another power, unless the caller said which.
#[test]
fn the_power_follows_the_radius() {
    let map = fitted(8, 2, Fit::default());
    let (x, y) = (rows(map.x()), rows(map.y()));
    let radius = Some(Radius::Percentile(80.0));
    let other = LionOptions { radius, local: Local::Idw, ..paper() };
    let anew = lion(&map, &other);
    assert_minimiser(anew.power(), |power| cv_error(&x, &y, anew.r_x(), power));
    assert_ne!(anew.power(), kept(&map).power);
    assert_eq!(lion(&map, &LionOptions { power: Some(2.5), ..other }).power(), 2.5);
    let given = fitted(8, 2, Fit { power: Some(9.0), ..Fit::default() });
    assert_eq!(lion(&given, &other).power(), 9.0);
}

#[test]
fn a_file_keeps_them() {
    let map =
        fitted(9, 2, Fit { power: Some(11.5), radius: Some(Radius::Percentile(95.0)), ..Fit::default() });
    let again = Map::from_bytes(&map.to_bytes().expect("bytes")).expect("a map");
    assert_eq!(format!("{:?}", map.lion()), format!("{:?}", again.lion()));
    assert_eq!(map.checksum().expect("a sum"), again.checksum().expect("a sum"));
    let automatic = fitted(9, 2, Fit::default());
    let again = Map::from_bytes(&automatic.to_bytes().expect("bytes")).expect("a map");
    let (before, after) = (kept(&automatic), kept(&again));
    assert_eq!((before.r_x, before.power, before.r_y), (after.r_x, after.power, after.r_y));
    assert_eq!(before.power_curve.len(), after.power_curve.len());
}

#[test]
fn the_same_bits_whatever_the_threads() {
    let parameters =
        |threads: usize| format!("{:?}", fitted(10, 2, Fit { threads, ..Fit::default() }).lion());
    let one = parameters(1);
    assert!(parameters(2) == one && parameters(3) == one);
}

#[test]
fn parameters_come_last() {
    let fit = Fit {
        perplexity: Some(10.0),
        iterations: Some(60),
        exaggeration_iterations: Some(30),
        ..Fit::default()
    };
    let mut stages = Vec::new();
    let mut observer = |progress: &Progress<'_>| {
        stages.push(progress.stage);
        ControlFlow::Continue(())
    };
    fit.run(clusters(120, 5, 4, 3.0, 11), &mut observer).expect("a map");
    stages.dedup();
    assert_eq!(stages[stages.len() - 2..], [Stage::Optimise, Stage::Parameters]);
}

#[test]
fn radii_are_read_and_written() {
    for (text, radius) in [
        ("99%", Radius::Percentile(99.0)),
        ("99.5%", Radius::Percentile(99.5)),
        ("100%", Radius::Percentile(100.0)),
        ("5.5", Radius::Value(5.5)),
        ("0.001", Radius::Value(0.001)),
    ] {
        assert_eq!(text.parse::<Radius>().expect("a radius"), radius);
        assert_eq!(radius.to_string(), text);
    }
    for text in ["", "%", "x", "-1", "101%", "-5%", "nan", "inf", "NaN%", "1 2", "99%%"] {
        let sentence = text.parse::<Radius>().expect_err("refused").to_string();
        assert!(!sentence.is_empty() && !sentence.contains('\n'), "{text:?}: {sentence}");
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let map = fitted(12, 2, Fit::default());
    let refused = |options: LionOptions| match Lion::new(map.clone(), &options) {
        Ok(_) => panic!("{options:?} was taken"),
        Err(error) => error.to_string(),
    };
    let plain = paper;
    for bad in
        [Radius::Percentile(-1.0), Radius::Percentile(100.5), Radius::Value(-2.0), Radius::Value(f64::NAN)]
    {
        for options in [
            LionOptions { radius: Some(bad), ..plain() },
            LionOptions { r_y: Some(bad), ..plain() },
            LionOptions { r_close: Some(bad), ..plain() },
        ] {
            assert!(refused(options).len() > 10);
        }
        let (x, y) = Clustered { rows: 60, cols: 3, dims: 2, lonely: 0, seed: 13 }.parts();
        let fit = Fit { radius: Some(bad), ..Fit::default() };
        assert!(fit.adopt(matrix(&x), matrix(&y), &mut ignore).is_err());
    }
    for power in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(LionOptions { power: Some(power), ..plain() }).contains("power"));
    }
}

#[test]
fn tiny_maps_have_parameters() {
    for count in 1..5 {
        let x: Vec<Vec<f64>> = (0..count).map(|i| vec![f64::from(i), 1.0]).collect();
        let y: Vec<Vec<f64>> = (0..count).map(|i| vec![f64::from(i * i), -2.0]).collect();
        let lion = lion(&adopt(&x, &y), &paper());
        let all = [lion.r_x(), lion.r_y(), lion.r_close(), lion.power()];
        assert!(all.iter().all(|v| v.is_finite() && *v >= 0.0), "{count} rows: {all:?}");
        assert!(lion.r_y() > 0.0 && lion.power() > 0.0, "{count} rows: {all:?}");
    }
}
