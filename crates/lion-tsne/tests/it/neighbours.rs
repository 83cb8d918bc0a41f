//! Neighbours and affinities against plain f64.

use crate::common::{TestRandom, clusters, with_threads};
use lion_tsne::index::{ExactIndex, Neighbours, Search, nearest_neighbours};
use lion_tsne::tsne::{Affinities, perplexity_weights};
use lion_tsne::{Matrix, Progress, ignore};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn squared(x: &Matrix, i: usize, y: &Matrix, j: usize) -> f64 {
    x.row(i).iter().zip(y.row(j)).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

/// Squared distances to every row but `skip`, ascending.
fn sorted(x: &Matrix, queries: &Matrix, i: usize, skip: Option<usize>) -> Vec<f64> {
    let others = (0..x.rows()).filter(|&j| Some(j) != skip);
    let mut all: Vec<f64> = others.map(|j| squared(queries, i, x, j)).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Rows of some kind: plain, far from the origin, tight clusters far apart, many equal, on a line, of two scales.
fn rows(kind: usize, rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut numbers = TestRandom::new(seed);
    let data = (0..rows * cols).map(|at| {
        let (row, v) = (at / cols, numbers.gaussian());
        let value = match kind {
            0 => v,
            1 => 1e5 + v,
            2 => f64::from((row % 5) as u32) * 1e3 + v * 1e-2,
            3 => (v * 2.0).round(),
            4 => row as f64,
            _ => v * [1e-6, 1e6][at % cols % 2],
        };
        value as f32
    });
    Matrix::new(rows, cols, data.collect()).expect("sizes agree")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nearest_are_the_nearest(kind in 0usize..6, n in 2usize..300, cols in 1usize..70, k in 1usize..40, seed: u64) {
        let x = rows(kind, n, cols, seed);
        let k = k.min(n - 1);
        let (found, _) = nearest_neighbours(&x, k, Search::Exact, 0, &mut ignore).expect("valid");
        for i in 0..n {
            let truth = sorted(&x, &x, i, Some(i));
            let near = &found.indices[i * k..(i + 1) * k];
            let mut distinct = near.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert!(distinct.len() == k && !near.contains(&(i as u32)), "row {i}: {near:?}");
            for (rank, (&j, &d)) in near.iter().zip(&found.distances2[i * k..]).enumerate() {
                let own = squared(&x, i, &x, j as usize);
                prop_assert!((own - f64::from(d)).abs() <= 1e-5 * own + 1e-9 * truth[n - 2], "distance of {i} to {j}");
                prop_assert!((own - truth[rank]).abs() <= 1e-5 * truth[rank] + 1e-9 * truth[n - 2], "rank {rank} of {i}");
            }
        }
    }

    #[test]
    fn within_is_all_within(kind in 0usize..6, n in 1usize..300, cols in 1usize..70, rank in 0usize..300, seed: u64) {
        let x = rows(kind, n, cols, seed);
        let queries = x.select(&[0, (n / 2) as u32, (n - 1) as u32]);
        let index = ExactIndex::new(&x).expect("valid");
        let distances = sorted(&x, &queries, 0, None);
        // Between two distances, so that rounding cannot matter.
        let at = rank % n;
        let radius2 = 0.5 * (distances[at] + distances[(at + 1).min(n - 1)]) * 1.000_1;
        let found = index.within(&queries, radius2.sqrt() as f32).expect("valid");
        for (i, found) in found.iter().enumerate() {
            let all = (0..n).filter(|&j| squared(&queries, i, &x, j) <= radius2 * (1.0 - 1e-5)).count();
            let most = (0..n).filter(|&j| squared(&queries, i, &x, j) <= radius2 * (1.0 + 1e-5)).count();
            prop_assert!((all..=most).contains(&found.len()), "{} found, {all} to {most} are there", found.len());
            prop_assert!(found.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }

    #[test]
    fn perplexity_is_reached(n in 10usize..200, share in 0.05f64..0.95, spread in -6f64..6.0, seed: u64) {
        let mut numbers = TestRandom::new(seed);
        let mut distances: Vec<f32> = (0..n).map(|_| (numbers.uniform() * 10f64.powf(spread)) as f32).collect();
        distances.sort_by(f32::total_cmp);
        let perplexity = 1.0 + share * (n - 1) as f64;
        let mut weights = vec![0.0; n];
        perplexity_weights(&distances, perplexity, &mut weights);
        let entropy: f64 = weights.iter().filter(|&&w| w > 0.0).map(|w| -w * w.ln()).sum();
        prop_assert!((entropy.exp() / perplexity - 1.0).abs() < 1e-6, "{} instead of {perplexity}", entropy.exp());
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // The weights are those of one Gaussian: ln w is a line in d².
        let slope = |a: usize, b: usize| (weights[a] / weights[b]).ln() / f64::from(distances[b] - distances[a]);
        if weights[n - 1] > 1e-200 && distances[n / 2] > distances[0] && distances[n - 1] > distances[n / 2] {
            prop_assert!((slope(0, n / 2) / slope(n / 2, n - 1) - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn perplexity_of_equal_distances_shares_evenly() {
    for distances in [vec![0.0f32; 20], vec![7.0; 20]] {
        let mut weights = vec![0.0; 20];
        perplexity_weights(&distances, 5.0, &mut weights);
        assert!(weights.iter().all(|w| (w - 0.05).abs() < 1e-12), "{weights:?}");
    }
    // Ten at the nearest distance, perplexity 3: no σ does that, the nearest share the weight.
    let mut distances = vec![1.0f32; 10];
    distances.extend([2.0; 10]);
    let mut weights = vec![0.0; 20];
    perplexity_weights(&distances, 3.0, &mut weights);
    assert!(weights.iter().all(|w| w.is_finite()) && (weights[0] - 0.1).abs() < 1e-6, "{weights:?}");
}

#[test]
fn affinities_are_symmetric_and_sum_to_one() {
    let x = clusters(400, 10, 5, 3.0, 1);
    let (neighbours, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).expect("valid");
    let conditional = conditional(&neighbours, 10.0);
    let p = Affinities::new(neighbours, 10.0);
    assert!((p.values.iter().map(|&v| f64::from(v)).sum::<f64>() - 1.0).abs() < 1e-6);
    let n = p.rows();
    let mut dense = vec![0.0f64; n * n];
    for i in 0..n {
        let (columns, values) = p.row(i);
        assert!(columns.windows(2).all(|w| w[0] < w[1]), "columns of row {i} ascend");
        columns.iter().zip(values).for_each(|(&j, &v)| dense[i * n + j as usize] = f64::from(v));
    }
    for i in 0..n {
        for j in 0..n {
            let truth = (conditional[i * n + j] + conditional[j * n + i]) / (2.0 * n as f64);
            assert!((dense[i * n + j] - truth).abs() <= 1e-6 * truth + 1e-12, "p({i}, {j})");
        }
    }
}

/// p(j|i) in a full matrix, by plain bisection on beta.
fn conditional(neighbours: &Neighbours, perplexity: f64) -> Vec<f64> {
    let (k, n) = (neighbours.k, neighbours.indices.len() / neighbours.k);
    let mut p = vec![0.0; n * n];
    for i in 0..n {
        let distances = &neighbours.distances2[i * k..(i + 1) * k];
        let (mut low, mut high) = (1e-12f64, 1e12f64);
        let mut weights = Vec::new();
        for _ in 0..200 {
            let beta = (low * high).sqrt();
            weights = distances.iter().map(|&d| (-beta * f64::from(d - distances[0])).exp()).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= sum);
            let entropy: f64 = weights.iter().filter(|&&w| w > 0.0).map(|w| -w * w.ln()).sum();
            if entropy > perplexity.ln() { low = beta } else { high = beta }
        }
        for (&j, w) in neighbours.indices[i * k..].iter().zip(weights) {
            p[i * n + j as usize] = w;
        }
    }
    p
}

#[test]
fn progress_counts_every_row_once() {
    let x = clusters(3000, 5, 3, 5.0, 6);
    for search in [Search::Exact, Search::Approximate] {
        let mut done = Vec::new();
        let mut observer = |progress: &Progress| {
            done.push(progress.done);
            ControlFlow::Continue(())
        };
        nearest_neighbours(&x, 20, search, 0, &mut observer).expect("valid");
        assert!(done.is_sorted() && done.last() == Some(&3000), "{done:?}");
    }
}

#[test]
fn approximate_search_finds_nearly_all() {
    for (x, what) in
        [(clusters(20_000, 20, 30, 4.0, 2), "clusters"), (clusters(20_000, 10, 1, 0.0, 3), "one cloud")]
    {
        let (exact, _) = nearest_neighbours(&x, 30, Search::Exact, 0, &mut ignore).expect("valid");
        let (found, how) = nearest_neighbours(&x, 30, Search::Approximate, 0, &mut ignore).expect("valid");
        let rows = exact.distances2.chunks_exact(30).zip(found.distances2.chunks_exact(30));
        let hits: usize = rows.map(|(truth, found)| found.iter().filter(|&&d| d <= truth[29]).count()).sum();
        let recall = hits as f64 / exact.indices.len() as f64;
        assert!(recall >= 0.95, "{what}: recall {recall}");
        let said: f64 =
            how.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number at the end");
        assert!((said - recall).abs() < 0.02, "{what}: {how}, but {recall}");
    }
}

/// Many neighbours, few rows, cells of very different sizes: no row may be left with neighbours that it does not have.
#[test]
fn approximate_search_always_finds_enough() {
    let mut data = clusters(2000, 5, 3, 50.0, 4).into_data();
    data.extend(clusters(40, 5, 40, 500.0, 5).data());
    let x = Matrix::new(2040, 5, data).expect("sizes");
    for k in [1, 90, 700, 2039] {
        let (found, _) = nearest_neighbours(&x, k, Search::Approximate, 1, &mut ignore).expect("valid");
        for (i, (near, distances)) in found.indices.chunks(k).zip(found.distances2.chunks(k)).enumerate() {
            let distinct: std::collections::HashSet<_> = near.iter().collect();
            assert!(
                distinct.len() == k && !distinct.contains(&(i as u32)),
                "row {i} has {} of {k}",
                distinct.len()
            );
            assert!(distances.windows(2).all(|w| w[0] <= w[1]));
        }
    }
}

#[test]
fn searches_do_not_depend_on_threads() {
    let x = clusters(3000, 17, 10, 3.0, 5);
    for search in [Search::Exact, Search::Approximate] {
        let find = |threads| {
            with_threads(threads, || nearest_neighbours(&x, 20, search, 7, &mut ignore).expect("valid").0)
        };
        let one = find(1);
        for threads in [2, 3] {
            let other = find(threads);
            assert_eq!(one.indices, other.indices);
            assert_eq!(one.distances2, other.distances2);
        }
    }
}

#[test]
fn the_index_refuses_what_does_not_fit() {
    let x = clusters(10, 3, 1, 1.0, 1);
    let index = ExactIndex::new(&x).expect("valid");
    let says = |result: lion_tsne::Result<Neighbours>| result.expect_err("refused").to_string();
    assert_eq!(says(index.nearest(&Matrix::zeros(1, 4), 1)), "the index has 3 columns, the queries have 4");
    assert_eq!(says(index.nearest(&Matrix::zeros(1, 3), 11)), "10 rows do not have 11 nearest ones");
    assert!(ExactIndex::new(&Matrix::zeros(0, 3)).is_err() && ExactIndex::new(&Matrix::zeros(3, 0)).is_err());
}
