//! What the tests of several ways of placing ask.

use super::{Baseline, Descent, OpenTsneStart, PlacingMethod};
use crate::joined::tests::{clusters, newcomers};
use lion_tsne::{Fit, Matrix, ignore};

/// Places have the same bits on any number of threads, and alone as in a batch; hostile rows have places too.
pub(super) fn same_everywhere<P: PlacingMethod>(x: &Matrix, build: impl Fn() -> P + Sync) {
    let cols = x.cols();
    let huge = vec![1e15; cols];
    let zeros = vec![0.0; cols];
    let some = &x.data()[..40 * cols];
    let data = [newcomers(x).data(), &huge, &zeros, some].concat();
    let rows = Matrix::new(data.len() / cols, cols, data).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build().places(&rows).unwrap())
    };
    let places = run(1);
    assert!(places.data().iter().all(|v| v.is_finite()), "{:?}", places.data());
    assert!(places == run(2) && places == run(3), "another number of threads, other places");
    let built = build();
    for i in [0, 3, 4, 7, 45] {
        let alone = built.places(&Matrix::new(1, cols, rows.row(i).to_vec()).unwrap()).unwrap();
        assert_eq!(alone.data(), places.row(i), "row {i} alone");
    }
    assert_eq!(built.places(&Matrix::zeros(0, cols)).unwrap().rows(), 0);
    assert!(built.places(&Matrix::zeros(2, cols + 1)).is_err(), "rows of another width");
}

/// The nearest rows, nearest first, and their shares at this perplexity by bisection.
pub(super) fn plain_shares(x: &Matrix, row: &[f32], count: usize, perplexity: f64) -> Vec<(usize, f64)> {
    let distance2 = |i: usize| -> f64 {
        x.row(i).iter().zip(row).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
    };
    let mut near: Vec<(usize, f64)> = (0..x.rows()).map(|i| (i, distance2(i))).collect();
    near.sort_by(|a, b| a.1.total_cmp(&b.1));
    near.truncate(count);
    let shares = |log_beta: f64| -> Vec<(usize, f64)> {
        let weight = |d: f64| (-log_beta.exp() * (d - near[0].1)).exp();
        let sum: f64 = near.iter().map(|&(_, d)| weight(d)).sum();
        near.iter().map(|&(i, d)| (i, weight(d) / sum)).collect()
    };
    let (mut low, mut high) = (-30.0, 30.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let entropy: f64 = shares(middle).iter().filter(|(_, p)| *p > 0.0).map(|(_, p)| -p * p.ln()).sum();
        if entropy > perplexity.ln() { low = middle } else { high = middle }
    }
    shares(0.5 * (low + high))
}

#[test]
fn they_build_from_a_map_by_their_names() {
    let (x, y) = clusters(80, 6, 2, 5);
    let map = Fit::default().adopt(x.clone(), y, &mut ignore).unwrap();
    let starts = [OpenTsneStart::Median, OpenTsneStart::Weighted];
    let others = starts.map(|start| Baseline::OpenTsne { start }).into_iter().chain([Baseline::FixedPoint]);
    let all: Vec<Baseline> = Descent::ALL.map(Baseline::Descent).into_iter().chain(others).collect();
    let names: Vec<String> = all.iter().map(Baseline::to_string).collect();
    assert_eq!(names[8..], ["opentsne-median", "opentsne-weighted", "fixed-point"]);
    for (baseline, name) in all.iter().zip(names) {
        assert!(baseline.memory(80, 6) > 0 && name.len() > 5);
        let built = baseline.build(&map, 1, &mut ignore).unwrap();
        let places = built.place(&newcomers(&x)).unwrap();
        assert_eq!((places.rows(), places.cols()), (4, 2), "{name}");
        assert!(places.data().iter().all(|v| v.is_finite()), "{name}");
    }
}
