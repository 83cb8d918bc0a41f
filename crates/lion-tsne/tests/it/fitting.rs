//! The whole fit: what it promises about bits, places, stopping and refusals.

use crate::common::clusters;
use lion_tsne::index::{Search, nearest_neighbours};
use lion_tsne::numerics::KdTree;
use lion_tsne::tsne::{Affinities, kl_divergence};
use lion_tsne::{
    Descent, Error, Fit, Init, Map, Matrix, Method, Metric, PcaChoice, Progress, Rows, Stage, ignore,
};
use std::ops::ControlFlow;

fn quick() -> Fit {
    Fit {
        perplexity: Some(10.0),
        iterations: Some(120),
        exaggeration_iterations: Some(60),
        pca: PcaChoice::None,
        ..Fit::default()
    }
}

fn run(fit: &Fit, x: &Matrix) -> Map {
    fit.run(x.clone(), &mut ignore).expect("fits")
}

#[test]
fn same_seed_same_bits_whatever_the_threads() {
    let x = clusters(600, 12, 6, 4.0, 1);
    for (method, dims, init, search) in [
        (Method::Auto, 2, Init::Pca, Search::Auto),
        (Method::Fft, 2, Init::Spectral, Search::Approximate),
        (Method::Exact, 2, Init::Random, Search::Exact),
        (Method::BarnesHut, 2, Init::Pca, Search::Exact),
        (Method::BarnesHut, 3, Init::Pca, Search::Exact),
        (Method::Exact, 3, Init::Spectral, Search::Exact),
        (Method::BarnesHut, 1, Init::Pca, Search::Exact),
        (Method::Auto, 1, Init::Random, Search::Exact),
    ] {
        let fit = Fit { method, dims, init, search, pca: PcaChoice::Components(8), ..quick() };
        let bytes = |threads| run(&Fit { threads, ..fit.clone() }, &x).to_bytes().expect("a file");
        let one = bytes(1);
        for threads in [1, 2, 3] {
            assert!(bytes(threads) == one, "{method:?} in {dims} dimensions with {threads} threads");
        }
        let other = run(&Fit { seed: 1, ..fit.clone() }, &x);
        assert!(other.to_bytes().expect("a file") != one, "another seed makes another map");
    }
}

#[test]
fn every_method_separates_clusters_and_knows_its_kl() {
    let x = clusters(500, 10, 5, 6.0, 2);
    let (neighbours, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).expect("valid");
    let p = Affinities::new(neighbours, 10.0);
    for (method, dims) in [
        (Method::Exact, 2),
        (Method::Fft, 2),
        (Method::BarnesHut, 2),
        (Method::BarnesHut, 3),
        (Method::Exact, 1),
        (Method::BarnesHut, 1),
    ] {
        let map = run(
            &Fit { method, dims, iterations: Some(400), exaggeration_iterations: Some(150), ..quick() },
            &x,
        );
        let (said, truth) = (map.provenance().kl.expect("a KL"), kl_divergence(&p, map.y()).expect("a KL"));
        assert!((said - truth).abs() < 0.01 * truth, "{method:?}: KL {truth}, not {said}");
        let (near, _) = nearest_neighbours(map.y(), 5, Search::Exact, 0, &mut ignore).expect("valid");
        let same = near.indices.iter().enumerate().filter(|&(at, &j)| at / 5 % 5 == j as usize % 5).count();
        assert!(
            same as f64 > 0.99 * near.indices.len() as f64,
            "{method:?}: {same} neighbours are of the same cluster"
        );
        let history = &map.provenance().kl_history;
        assert!(history.len() == 8 && history[2].kl > history[7].kl, "{history:?}");
    }
}

#[test]
fn the_kl_is_the_sum_over_all_pairs() {
    let x = clusters(60, 4, 3, 2.0, 3);
    let (neighbours, _) = nearest_neighbours(&x, 12, Search::Exact, 0, &mut ignore).expect("valid");
    let p = Affinities::new(neighbours, 4.0);
    let y = clusters(60, 2, 3, 3.0, 4);
    let weight = |i: usize, j: usize| {
        1.0 / (1.0 + (0..2).map(|d| f64::from(y.row(i)[d] - y.row(j)[d]).powi(2)).sum::<f64>())
    };
    let z: f64 = (0..60)
        .flat_map(|i| (0..60).filter(move |&j| j != i).map(move |j| (i, j)))
        .map(|(i, j)| weight(i, j))
        .sum();
    let mut truth = 0.0;
    for i in 0..60 {
        let (columns, values) = p.row(i);
        for (&j, &v) in columns.iter().zip(values).filter(|&(_, &v)| v > 0.0) {
            truth += f64::from(v) * (f64::from(v) * z / weight(i, j as usize)).ln();
        }
    }
    let kl = kl_divergence(&p, &y).expect("valid");
    assert!((kl - truth).abs() < 1e-5 * truth, "{kl} is not {truth}");
}

#[test]
fn duplicates_share_a_place() {
    let x = clusters(100, 6, 4, 4.0, 5);
    let twice: Vec<u32> = (0..100).chain([3, 3, 50]).collect();
    let map = run(&quick(), &x.select(&twice));
    assert_eq!((map.rows(), map.x().rows()), (103, 100));
    assert!(
        map.place(100) == map.place(3) && map.place(101) == map.place(3) && map.place(102) == map.place(50)
    );
    assert!(map.place(3) != map.place(50));
    // The others are where they are without the twins, but for PCA, which was off.
    assert_eq!(run(&quick(), &x).y(), map.y());
}

#[test]
fn stopping_keeps_what_was_reached() {
    let x = clusters(200, 6, 4, 4.0, 6);
    let stop_at = |stage: Stage, done: u64| {
        move |p: &Progress<'_>| match p.stage == stage && p.done >= done {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let map = quick().run(x.clone(), &mut stop_at(Stage::Optimise, 70)).expect("a map");
    assert!(map.provenance().stopped_early && map.provenance().iterations_done == 70);
    let whole = Fit { iterations: Some(70), ..quick() }.run(x.clone(), &mut ignore).expect("a map");
    assert_eq!(map.y(), whole.y(), "it is the map that so many iterations make");
    for stage in [Stage::Preprocess, Stage::Neighbours, Stage::Affinities, Stage::Initialise] {
        let error = quick().run(x.clone(), &mut stop_at(stage, 0)).expect_err("no map yet");
        assert!(matches!(error, Error::Stopped(s) if s == stage), "{error}");
    }
}

#[test]
fn degenerate_tables_give_a_map_or_a_sentence() {
    let fit = Fit { perplexity: Some(2.0), ..quick() };
    for (what, x) in [
        ("one column", clusters(50, 1, 3, 4.0, 7)),
        ("a line", Matrix::new(40, 2, (0..80).map(|at| (at / 2) as f32).collect()).expect("sizes")),
        (
            "a constant column",
            Matrix::new(40, 2, (0..80).map(|at| [5.0, at as f32][at % 2]).collect()).expect("sizes"),
        ),
        (
            "tiny values",
            Matrix::new(40, 2, (0..80).map(|at| (at * at) as f32 * 1e-12).collect()).expect("sizes"),
        ),
        (
            "large values",
            Matrix::new(40, 2, (0..80).map(|at| (at * at) as f32 * 1e11).collect()).expect("sizes"),
        ),
        ("the fewest rows", clusters(7, 3, 2, 4.0, 8)),
    ] {
        for dims in [1, 2, 3] {
            for init in [Init::Pca, Init::Spectral, Init::Random] {
                let map = Fit { dims, init, ..fit.clone() }.run(x.clone(), &mut ignore);
                let map = map.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(map.y().data().iter().all(|v| v.is_finite()), "{what}");
                let distinct = map.y().data().chunks(dims).collect::<Vec<_>>();
                assert!(distinct.windows(2).all(|w| w[0] != w[1]), "{what}: rows part");
            }
        }
    }
}

#[test]
fn given_places_are_where_it_starts() {
    let x = clusters(100, 6, 4, 4.0, 9);
    let y = clusters(100, 2, 4, 1.0, 10);
    let map = run(
        &Fit { init: Init::Given(y.clone()), iterations: Some(1), learning_rate: Some(1e-9), ..quick() },
        &x,
    );
    let mean =
        |m: &Matrix, d: usize| m.data().iter().skip(d).step_by(2).map(|&v| f64::from(v)).sum::<f64>() / 100.0;
    for (i, place) in map.y().data().chunks_exact(2).enumerate() {
        for d in 0..2 {
            assert!((f64::from(place[d]) - (f64::from(y.row(i)[d]) - mean(&y, d))).abs() < 1e-5);
        }
    }
    let adopted = quick().adopt(x.clone(), y.clone(), &mut ignore).expect("adopted");
    assert_eq!(adopted.y(), &y);
    assert!(adopted.provenance().adopted && adopted.provenance().kl.is_none());
}

/// Places made elsewhere are kept for every row, also where rows are equal.
#[test]
fn adopting_keeps_every_place() {
    let x = clusters(20, 6, 4, 4.0, 9);
    let twice: Vec<u32> = (0..20).chain(0..20).collect();
    let y = clusters(40, 2, 4, 1.0, 10);
    let map = quick().adopt(x.select(&twice), y.clone(), &mut ignore).expect("adopted");
    assert!((0..40).all(|i| map.place(i) == y.row(i)));
}

/// Without PCA the start is the same whether PCA was refused or not needed.
#[test]
fn no_pca_is_no_pca() {
    let x = clusters(100, 6, 4, 4.0, 13);
    let auto = Fit { pca: PcaChoice::Auto(50), ..quick() };
    assert_eq!(run(&auto, &x).y(), run(&quick(), &x).y());
}

#[test]
fn what_32_bits_cannot_hold_is_refused() {
    let says = |scale: f32, offset: f32| {
        let x = clusters(60, 3, 4, 4.0, 14);
        let data = x.data().iter().map(|v| v * scale + offset).collect();
        let data = Matrix::new(60, 3, data).expect("sizes");
        quick().run(data, &mut ignore).map(drop).map_err(|e| e.to_string())
    };
    assert!(says(1.0, 100.0).is_ok() && says(1e-15, 0.0).is_ok());
    let far = says(1.0, 1e7).expect_err("refused");
    assert!(
        far.starts_with("column 0 goes from ") && far.ends_with("lose its differences: subtract its mean"),
        "{far}"
    );
    let near = says(1e-25, 0.0).expect_err("refused");
    assert!(near.ends_with("too close for distances to be squared: scale the table up"), "{near}");
}

#[test]
fn starts_that_are_too_wide_are_refused() {
    let x = clusters(60, 3, 4, 4.0, 15);
    for width in [1e25, 1e5, 40.0] {
        let far = (0..2 * x.rows()).map(|at| width * (at as f32 - 60.0)).collect();
        let init = Init::Given(Matrix::new(x.rows(), 2, far).expect("sizes agree"));
        let error = Fit { init, ..quick() }.run(x.clone(), &mut ignore).expect_err("refused").to_string();
        assert!(error.starts_with("init has places up to "), "{error}");
        assert!(error.ends_with("need to begin within 1008: divide all places by a number"), "{error}");
    }
}

#[test]
fn cosine_does_not_see_lengths() {
    let x = clusters(150, 8, 5, 3.0, 11);
    let longer: Vec<f32> =
        x.data().iter().enumerate().map(|(at, v)| v * (1 << (at / 8 % 4)) as f32).collect();
    let longer = Matrix::new(150, 8, longer).expect("sizes");
    let fit = Fit { metric: Metric::Cosine, ..quick() };
    assert_eq!(run(&fit, &x).y(), run(&fit, &longer).y());
    assert!(run(&quick(), &x).y() != run(&quick(), &longer).y());
}

#[test]
fn small_tables_have_the_perplexity_that_they_allow() {
    for (rows, perplexity) in [(4, 1.0), (5, 1.3), (38, 12.3), (90, 29.6), (91, 30.0), (200, 30.0)] {
        let fit = Fit { iterations: Some(20), ..Fit::default() };
        let map = run(&fit, &clusters(rows, 3, 2, 2.0, 12));
        assert_eq!(
            (map.provenance().perplexity, fit.perplexity_for(rows)),
            (perplexity, perplexity),
            "{rows}"
        );
    }
    // Rows that are equal are no neighbours of each other.
    let x = clusters(38, 3, 2, 2.0, 12);
    let twice = x.select(&(0..76).map(|row| row / 2).collect::<Vec<u32>>());
    assert_eq!(run(&Fit { iterations: Some(20), ..Fit::default() }, &twice).perplexity(), 12.3);
    let says = |rows: usize| {
        Fit::default().run(clusters(rows, 3, 1, 2.0, 12), &mut ignore).expect_err("refused").to_string()
    };
    assert_eq!(says(1), "there is no map of 1 row: it needs at least 4 that differ");
    assert_eq!(says(3), "there is no map of 3 rows: it needs at least 4 that differ");
}

#[test]
fn bad_parameters_are_refused_before_any_work() {
    let x = clusters(100, 4, 2, 2.0, 12);
    let says = |fit: Fit| {
        let mut observer = |_: &Progress<'_>| -> ControlFlow<()> { panic!("work began") };
        fit.run(x.clone(), &mut observer).expect_err("refused").to_string()
    };
    let f = Fit::default;
    assert_eq!(
        says(Fit { perplexity: Some(34.0), ..f() }),
        "perplexity 34 is too large for 100 rows: use at most 33"
    );
    assert_eq!(says(Fit { perplexity: Some(0.5), ..f() }), "perplexity must be a number from 1 on, not 0.5");
    assert_eq!(
        says(Fit { perplexity: Some(f64::NAN), ..f() }),
        "perplexity must be a number from 1 on, not NaN"
    );
    assert_eq!(says(Fit { dims: 4, ..f() }), "dims must be 1, 2 or 3, not 4");
    assert_eq!(
        says(Fit { dims: 3, method: Method::Fft, ..f() }),
        "method fft is for maps of 2 dimensions: use barnes-hut or auto with 3"
    );
    assert_eq!(says(Fit { theta: 0.7, ..f() }), "theta must be above 0 and at most 0.5, not 0.7");
    assert_eq!(says(Fit { exaggeration: 0.0, ..f() }), "exaggeration must be from 1 to 10000, not 0");
    for (rate, said) in [(-1.0, "-1"), (f64::NAN, "NaN"), (2e9, "2000000000")] {
        let sentence = format!("learning rate must be above 0 and at most 1e9, not {said}");
        assert_eq!(says(Fit { learning_rate: Some(rate), ..f() }), sentence);
    }
    assert_eq!(says(Fit { iterations: Some(0), ..f() }), "iterations must be at least 1");
    let init = Init::Given(Matrix::zeros(100, 2));
    assert_eq!(
        says(Fit { init, ..f() }),
        "init has all rows at one place, from which they cannot part: give places that differ"
    );
    let init = Init::Given(Matrix::zeros(99, 2));
    assert_eq!(says(Fit { init, ..f() }), "init has 99 places of 2 dimensions, and 100 of 2 are needed");
}

#[test]
fn bad_rows_are_refused_before_any_work() {
    let says = |data: Matrix| {
        let mut observer = |_: &Progress<'_>| -> ControlFlow<()> { panic!("work began") };
        quick().run(Rows::from(data), &mut observer).expect_err("refused").to_string()
    };
    assert_eq!(says(Matrix::zeros(0, 3)), "the table is empty: 0 rows, 3 columns");
    assert_eq!(says(clusters(1, 3, 1, 1.0, 1)), "there is no map of 1 row: it needs at least 4 that differ");
    let mut bad = clusters(50, 3, 1, 1.0, 1);
    bad.data_mut()[7] = f32::NAN;
    assert_eq!(
        says(bad.clone()),
        "row 2, column 1 is NaN; every value must be a finite number: fill it or remove the row"
    );
    bad.data_mut()[7] = 1e30;
    assert!(says(bad).starts_with("row 2, column 1 is 1"));
}

#[test]
fn too_few_distinct_rows_are_refused() {
    let x = Matrix::zeros(100, 3);
    let error = quick().run(x, &mut ignore).expect_err("refused").to_string();
    assert_eq!(error, "there is no map of 1 different row: it needs at least 4 that differ");
}

/// The accelerated descent gets lower than the classic one in three fifths of the iterations, tears nothing, and has the
/// same bits on any number of threads.
#[test]
fn the_accelerated_descent_gets_lower_sooner() {
    let x = clusters(5200, 12, 6, 4.0, 3);
    let pca = PcaChoice::None;
    let classic = run(&Fit { descent: Descent::Classic, pca, ..Fit::default() }, &x);
    let fit = |threads| run(&Fit { descent: Descent::Accelerated, pca, threads, ..Fit::default() }, &x);
    let fast = fit(1);
    for threads in [2, 3] {
        assert!(fit(threads).to_bytes().unwrap() == fast.to_bytes().unwrap(), "{threads} threads");
    }
    let (iterations, made) = (classic.provenance().iterations_done, fast.provenance());
    assert!(
        iterations == 750 && made.iterations_done < iterations * 3 / 5,
        "{iterations} {}",
        made.iterations_done
    );
    assert!(made.iterations == made.iterations_done && !made.stopped_early);
    let kl = |map: &Map| map.provenance().kl.unwrap();
    let (neighbours, _) = nearest_neighbours(&x, 90, Search::Exact, 0, &mut ignore).unwrap();
    let exact = kl_divergence(&Affinities::new(neighbours, 30.0), fast.y()).unwrap();
    assert!((kl(&fast) / exact - 1.0).abs() < 1e-3, "{} is said to be {}", exact, kl(&fast));
    assert!(kl(&fast) < kl(&classic), "{} {}", kl(&fast), kl(&classic));
    let radii: Vec<f32> =
        (0..fast.y().rows()).map(|row| fast.y().row(row)[0].hypot(fast.y().row(row)[1])).collect();
    let mean = radii.iter().sum::<f32>() / radii.len() as f32;
    let farthest = radii.iter().copied().fold(0.0, f32::max);
    assert!(farthest < 3.0 * mean, "a row is at {farthest}, the others at {mean}");
    let alone = KdTree::new(fast.y().data(), 2).nearest_distances().into_iter().fold(0.0, f32::max);
    assert!(alone < 0.1 * mean, "a row is {alone} from the nearest on a map of radius {mean}");
}

/// Rows that are nearly alike pull each other hard: long steps must not make them swing apart.
#[test]
fn near_copies_stay_together() {
    let mut x = clusters(6000, 12, 6, 4.0, 3);
    let copied: Vec<f32> = x.data()[..12 * 1000].iter().map(|v| v + 1e-3).collect();
    x.data_mut()[12 * 1000..12 * 2000].copy_from_slice(&copied);
    let map = run(&Fit { descent: Descent::Accelerated, pca: PcaChoice::None, ..Fit::default() }, &x);
    let distance = |a: usize, b: usize| {
        let (a, b) = (map.y().row(a), map.y().row(b));
        (a[0] - b[0]).hypot(a[1] - b[1])
    };
    let farthest = (0..1000).map(|row| distance(row, row + 1000)).fold(0.0, f32::max);
    let radius = map.y().data().chunks_exact(2).map(|y| y[0].hypot(y[1])).sum::<f32>() / 6000.0;
    assert!(farthest < 0.05 * radius, "two near copies are {farthest} apart on a map of radius {radius}");
}

/// Neighbours beyond a row's own cluster are all weak: where batches of those shake whole clusters, the map goes back and does
/// without batches.
#[test]
fn clusters_smaller_than_the_perplexity_are_not_shaken() {
    let x = clusters(5000, 20, 20, 5.0, 3);
    let kl = |descent| {
        let perplexity = Some(400.0);
        let map = run(&Fit { descent, perplexity, pca: PcaChoice::None, ..Fit::default() }, &x);
        map.provenance().kl.unwrap()
    };
    let (accelerated, classic) = (kl(Descent::Accelerated), kl(Descent::Classic));
    assert!(accelerated < 1.3 * classic, "{accelerated} {classic}");
}

/// Classes whose rows are in groups of ten that are nearly alike: the groups of a class find each other, wherever they start.
#[test]
fn groups_of_a_class_find_each_other() {
    let (classes, groups) = (clusters(60, 20, 60, 10.0, 9), clusters(600, 20, 600, 1.0, 5));
    let noise = clusters(6000, 20, 1, 0.0, 7);
    let value = |at: usize| {
        let (row, column) = (at / 20, at % 20);
        classes.row(row / 100)[column] + groups.row(row / 10)[column] + 0.1 * noise.row(row)[column]
    };
    let x = Matrix::new(6000, 20, (0..120_000).map(value).collect()).unwrap();
    let fit =
        Fit { init: Init::Random, descent: Descent::Accelerated, pca: PcaChoice::None, ..Fit::default() };
    let map = run(&fit, &x);
    let spread = |rows: std::ops::Range<usize>| {
        let many = rows.len() as f32;
        let middle = |d: usize| rows.clone().map(|row| map.y().row(row)[d]).sum::<f32>() / many;
        let middle = [middle(0), middle(1)];
        let far = |row: usize| (map.y().row(row)[0] - middle[0]).hypot(map.y().row(row)[1] - middle[1]);
        rows.map(far).sum::<f32>() / many
    };
    let (radius, widest) =
        (spread(0..6000), (0..60).map(|c| spread(100 * c..100 * (c + 1))).fold(0.0, f32::max));
    assert!(widest < 0.2 * radius, "a class is spread over {widest} of a map of radius {radius}");
}

/// Clusters that have nothing to do with each other go where there is room, in all directions alike and into the middle too.
#[test]
fn clusters_leave_no_pattern_that_the_rows_do_not_have() {
    let x = clusters(6000, 15, 120, 30.0, 11);
    let map = run(&Fit { descent: Descent::Accelerated, pca: PcaChoice::None, ..Fit::default() }, &x);
    let places = || map.y().data().as_chunks::<2>().0.iter();
    let share = |of: &dyn Fn(&[f32; 2]) -> bool| places().filter(|place| of(place)).count() as f32 / 6000.0;
    let diagonal = share(&|[a, b]| (b.abs().atan2(a.abs()).to_degrees() - 45.0).abs() < 22.5);
    let radius = places().map(|[a, b]| a.hypot(*b)).fold(0.0, f32::max);
    let middle = share(&|[a, b]| a.hypot(*b) < 0.3 * radius);
    assert!((0.38..0.62).contains(&diagonal), "{diagonal} of the rows are near the diagonals");
    assert!(middle > 0.08, "{middle} of the rows are in the middle");
}

/// A line stays in one piece, or few: a map that opens slowly is torn less.
#[test]
fn a_line_is_hardly_torn() {
    let x = Matrix::new(6000, 2, (0..12_000).map(|at| if at % 2 == 0 { at as f32 } else { 0.0 }).collect())
        .unwrap();
    let map = run(&Fit { descent: Descent::Accelerated, pca: PcaChoice::None, ..Fit::default() }, &x);
    let places = map.y().data().as_chunks::<2>().0;
    let mut steps: Vec<f32> =
        places.windows(2).map(|w| (w[0][0] - w[1][0]).hypot(w[0][1] - w[1][1])).collect();
    steps.sort_by(f32::total_cmp);
    let torn = steps.iter().filter(|step| **step > 10.0 * steps[3000]).count();
    assert!(torn <= 6, "the line is torn {torn} times");
}

/// A map that is not done after the iterations that were asked for keeps to them, and one that has settled ends.
#[test]
fn iterations_are_as_asked_for() {
    let x = clusters(5000, 8, 5, 4.0, 3);
    let done = |descent, iterations| {
        let pca = PcaChoice::None;
        let map = run(&Fit { descent, iterations, pca, ..Fit::default() }, &x);
        (map.provenance().iterations_done, map.provenance().exaggeration_iterations)
    };
    let [classic, accelerated] = [Descent::Classic, Descent::Accelerated];
    assert_eq!((done(classic, Some(60)), done(classic, Some(800))), ((60, 20), (800, 250)));
    assert_eq!((done(accelerated, Some(40)), done(accelerated, Some(400))), ((40, 12), (400, 120)));
    let (settled, exaggerated) = done(accelerated, None);
    assert!((120..=700).contains(&settled) && (settled - 20) % 50 == 0 && exaggerated == 150, "{settled}");
}

/// Few rows move as they always did: it takes no time, and there is more room between them for new rows.
#[test]
fn few_rows_descend_the_classic_way() {
    let x = clusters(200, 12, 6, 4.0, 3);
    let pca = PcaChoice::None;
    let [classic, accelerated] =
        Descent::ALL.map(|descent| run(&Fit { descent, pca, ..Fit::default() }, &x).to_bytes().unwrap());
    assert!(classic == accelerated);
}
