//! Neighbours that are known before the fit: the same map as with those it finds, and what is refused.

use crate::common::{TestRandom, clusters};
use lion_tsne::index::{ExactIndex, Neighbours, Search, nearest_neighbours};
use lion_tsne::preprocess::Preprocess;
use lion_tsne::{Fit, Init, Map, Matrix, Metric, PcaChoice, ignore};

fn quick() -> Fit {
    Fit {
        perplexity: Some(10.0),
        iterations: Some(80),
        exaggeration_iterations: Some(40),
        pca: PcaChoice::None,
        ..Fit::default()
    }
}

fn run(fit: &Fit, x: &Matrix) -> Map {
    fit.run(x.clone(), &mut ignore).expect("fits")
}

/// The fit with its neighbours found beforehand.
fn with(fit: &Fit, neighbours: Neighbours) -> Fit {
    Fit { neighbours: Some(neighbours), ..fit.clone() }
}

fn same(one: &Map, other: &Map) -> bool {
    one.y() == other.y() && one.x() == other.x() && one.lion() == other.lion()
}

/// The nearest of each row among all rows, the row itself with them.
fn with_itself(x: &Matrix, k: usize) -> Neighbours {
    ExactIndex::new(x).expect("rows").nearest(x, k).expect("as many")
}

#[test]
fn the_neighbours_of_the_search_make_the_map_of_the_search() {
    let x = clusters(400, 12, 4, 4.0, 1);
    for fit in [
        quick(),
        Fit { init: Init::Spectral, dims: 3, ..quick() },
        Fit { metric: Metric::Cosine, pca: PcaChoice::Components(6), ..quick() },
    ] {
        let (_, rows) = Preprocess::fit(x.clone(), fit.metric, fit.pca, fit.seed).expect("fits");
        let found = run(&fit, &x);
        assert_eq!(found.provenance().search, "exact");
        for k in [30, 41] {
            let (others, _) = nearest_neighbours(&rows, k, Search::Exact, 0, &mut ignore).expect("valid");
            let given = run(&with(&fit, others), &x);
            assert!(same(&given, &found), "{k} others");
            assert_eq!(given.provenance().search, "given");
            assert!(same(&run(&with(&fit, with_itself(&rows, k + 1)), &x), &found), "{k} and itself");
        }
    }
}

#[test]
fn plain_distances_lose_nothing() {
    let x = clusters(200, 5, 3, 4.0, 2);
    let (others, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).expect("valid");
    let indices: Vec<i64> = others.indices.iter().map(|&index| i64::from(index)).collect();
    let distances: Vec<f64> = others.distances2.iter().map(|&d| f64::from(d).sqrt()).collect();
    let plain = Neighbours::from_distances(30, &indices, &distances).expect("valid");
    assert_eq!((plain.indices, plain.distances2), (others.indices, others.distances2));
}

/// Rows that equal others, far from each other in the table, also three of a kind.
#[test]
fn rows_that_equal_others_are_taken_as_one() {
    let mut numbers = TestRandom::new(3);
    let distinct = clusters(250, 6, 3, 4.0, 3);
    let again: Vec<u32> = (0..80).map(|_| (numbers.uniform() * 250.0) as u32).collect();
    let order: Vec<u32> = (0..250).chain(again).collect();
    let x = distinct.select(&order);
    let found = run(&quick(), &x);
    // Enough of them that thirty differ.
    let given = run(&with(&quick(), with_itself(&x, 90)), &x);
    assert!(same(&given, &found));
    let refused = quick_refusal(&x, with_itself(&x, 31));
    assert!(refused.contains("without itself and equal rows: 30 are needed, so bring more"), "{refused}");
}

/// Placing goes by the rows, whatever the distances are.
#[test]
fn distances_of_another_metric_leave_the_radius_as_it_is() {
    let x = clusters(300, 6, 3, 4.0, 4);
    let mut others = with_itself(&x, 40);
    others.distances2.iter_mut().for_each(|d| *d = d.sqrt() * 1e-3);
    let (given, found) = (run(&with(&quick(), others), &x), run(&quick(), &x));
    assert!(given.y() != found.y());
    let radii = |map: &Map| map.lion().map(|lion| (lion.r_x, lion.nn_x().to_vec()));
    assert_eq!(radii(&given), radii(&found));
}

/// The nearest is missing from some lists: those farthest off are looked up.
#[test]
fn the_radius_is_right_though_neighbours_are_missing() {
    let x = clusters(500, 6, 3, 4.0, 5);
    let (mut others, _) = nearest_neighbours(&x, 40, Search::Exact, 0, &mut ignore).expect("valid");
    let lonely = run(&quick(), &x).lion().map(|lion| lion.nn_x().to_vec()).expect("distances");
    let loneliest = (0..500).max_by(|&a, &b| lonely[a].total_cmp(&lonely[b])).expect("rows");
    others.indices[40 * loneliest..][..40].rotate_left(1);
    let last = others.distances2[40 * loneliest + 39];
    others.distances2[40 * loneliest..][..40].rotate_left(1);
    others.distances2[40 * loneliest + 39] = last;
    let given = run(&with(&quick(), others), &x);
    assert_eq!(given.lion().expect("parameters").nn_x(), lonely);
}

fn quick_refusal(x: &Matrix, neighbours: Neighbours) -> String {
    with(&quick(), neighbours).run(x.clone(), &mut ignore).expect_err("refused").to_string()
}

type ListChange<'a> = &'a dyn Fn(&mut Neighbours);

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let x = clusters(100, 4, 2, 4.0, 6);
    let good = with_itself(&x, 35);
    let refused = |change: ListChange<'_>| {
        let mut neighbours = good.clone();
        change(&mut neighbours);
        quick_refusal(&x, neighbours)
    };
    let at = 35 * 7 + 3;
    let (after, before) = (good.distances2[at].sqrt(), good.distances2[at + 1].sqrt());
    let cases: [(&str, ListChange<'_>); 9] = [
        ("neighbours are 99 lists of 35, and there are 100 rows: bring one list for each row", &|n| {
            n.indices.truncate(35 * 99);
            n.distances2.truncate(35 * 99);
        }),
        ("neighbours are 3500 row numbers but 3499 distances: there must be as many", &|n| {
            n.distances2.pop();
        }),
        ("neighbours are 3500 lists of 0, and there are 100 rows: bring one list for each row", &|n| n.k = 0),
        (
            "neighbours of row 7 name row 100, and rows are numbered from 0 to 99: bring lists without gaps",
            &|n| n.indices[at] = 100,
        ),
        (&format!("neighbours of row 7 name row {} twice: each may be there once", good.indices[at]), &|n| {
            n.indices[at + 1] = n.indices[at]
        }),
        ("neighbours of row 7 have a distance of NaN: each must be a number from 0 to 1e18", &|n| {
            n.distances2[at] = f32::NAN;
        }),
        ("neighbours of row 7 have a distance of inf: each must be a number from 0 to 1e18", &|n| {
            n.distances2[at] = f32::INFINITY;
        }),
        (
            &format!(
                "neighbours of row 7 are not in order, {after} comes after {before}: \
                 sort each list by distance, nearest first"
            ),
            &|n| n.distances2.swap(at, at + 1),
        ),
        (
            "perplexity 10 is too large for the neighbours of row 0, which are 29 without itself and equal rows: \
             30 are needed, so bring more, or use at most 9.6",
            &|n| *n = with_itself(&x, 30),
        ),
    ];
    for (sentence, change) in cases {
        assert_eq!(refused(change), sentence);
    }
}

#[test]
fn what_is_no_row_and_no_distance_is_refused() {
    let refused = |indices: &[i64], distances: &[f64]| {
        Neighbours::from_distances(2, indices, distances).expect_err("refused").to_string()
    };
    let indices = [1, 2, 0, -1, 0, 1];
    assert_eq!(
        refused(&indices, &[1.0; 6]),
        "neighbours of row 1 name row -1, and rows are numbered from 0 to 2: bring lists without gaps"
    );
    for (distance, word) in
        [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (1e19, "10000000000000000000")]
    {
        assert_eq!(
            refused(&[1, 2, 0, 2, 0, 1], &[1.0, 1.0, 1.0, 1.0, distance, 1.0]),
            format!("neighbours of row 2 have a distance of {word}: each must be a number from 0 to 1e18")
        );
    }
}
