//! Preprocessing against plain f64 oracles: direct covariance, Jacobi eigenvalues, dot products one by one.

use lion_tsne::preprocess::{Preprocess, unique_rows};
use lion_tsne::{Matrix, Metric, PcaChoice};
use proptest::prelude::*;

/// Uniform numbers in [-1, 1) from a seed.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x853c_49e6_748f_ea9b);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11;
        bits as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Rows around an off-centre mean, spread along `rank` random directions, each a little less than the one before.
fn low_rank(rows: usize, cols: usize, rank: usize, seed: u64) -> Matrix {
    let mut next = random(seed);
    let directions: Vec<Vec<f64>> =
        (0..rank).map(|r| (0..cols).map(|_| next() * 0.8f64.powi(r as i32)).collect()).collect();
    let mut data = Vec::with_capacity(rows * cols);
    for _ in 0..rows {
        let weights: Vec<f64> = directions.iter().map(|_| next()).collect();
        data.extend((0..cols).map(|j| {
            (3.0 + j as f64 / cols as f64
                + weights.iter().zip(&directions).map(|(w, d)| w * d[j]).sum::<f64>()) as f32
        }));
    }
    Matrix::new(rows, cols, data).unwrap()
}

fn noise(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut next = random(seed);
    Matrix::new(rows, cols, (0..rows * cols).map(|i| (next() * (1.0 + (i % cols) as f64)) as f32).collect())
        .unwrap()
}

/// The covariance matrix, entry by entry.
fn covariance(data: &Matrix) -> Vec<Vec<f64>> {
    let (n, d) = (data.rows(), data.cols());
    let value = |i: usize, j: usize| f64::from(data.row(i)[j]);
    let mean: Vec<f64> = (0..d).map(|j| (0..n).map(|i| value(i, j)).sum::<f64>() / n as f64).collect();
    let entry = |a: usize, b: usize| {
        (0..n).map(|i| (value(i, a) - mean[a]) * (value(i, b) - mean[b])).sum::<f64>() / (n as f64 - 1.0)
    };
    (0..d).map(|a| (0..d).map(|b| entry(a, b)).collect()).collect()
}

/// Eigenvalues of a symmetric matrix by Jacobi rotations, largest first.
fn jacobi(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(below[0].iter_mut()) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(|x, y| y.total_cmp(x));
    values
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// Fits, and checks everything that holds of any PCA: finite, orthonormal, signs, projections, fit == apply.
fn fit_checked(data: &Matrix, k: usize) -> (Preprocess, Matrix) {
    let (fitted, projected) =
        Preprocess::fit(data.clone(), Metric::Euclidean, PcaChoice::Components(k), 7).unwrap();
    let pca = fitted.pca().unwrap();
    assert_eq!((pca.input_dims(), pca.output_dims(), projected.cols()), (data.cols(), k, k));
    for a in 0..k {
        let component = pca.components().row(a);
        for b in 0..=a {
            let expected = f64::from(u8::from(a == b));
            let got = dot(component, pca.components().row(b));
            assert!((got - expected).abs() < 1e-5, "components {a} and {b}: {got}");
        }
        let largest = component.iter().copied().max_by(|x, y| x.abs().total_cmp(&y.abs())).unwrap();
        assert!(largest > 0.0, "component {a}: its largest entry is {largest}");
    }
    assert!(pca.variances().iter().all(|v| v.is_finite() && *v >= 0.0));
    assert!(pca.variances().windows(2).all(|v| v[0] >= v[1]));
    for i in (0..data.rows()).step_by(data.rows().div_ceil(20)) {
        let centred: Vec<f32> = data.row(i).iter().zip(pca.mean()).map(|(v, m)| v - m).collect();
        let length = dot(&centred, &centred).sqrt();
        for c in 0..k {
            let expected = dot(&centred, pca.components().row(c));
            let got = f64::from(projected.row(i)[c]);
            assert!((got - expected).abs() <= 1e-5 * length, "row {i}, component {c}: {got}, not {expected}");
        }
    }
    assert_eq!(fitted.apply(data).unwrap(), projected);
    (fitted, projected)
}

fn close(got: f64, expected: f64, scale: f64) -> bool {
    (got - expected).abs() <= 1e-5 * scale
}

#[test]
fn covariance_pca_has_the_eigenvalues_of_the_oracle() {
    for (data, k) in
        [(noise(40, 8, 1), 8), (noise(1500, 30, 2), 12), (low_rank(700, 40, 10, 3), 10), (noise(6, 20, 4), 5)]
    {
        let (fitted, _) = fit_checked(&data, k);
        let pca = fitted.pca().unwrap();
        let cov = covariance(&data);
        let total: f64 = (0..cov.len()).map(|j| cov[j][j]).sum();
        assert!(close(pca.total_variance(), total, total));
        let oracle = jacobi(cov.clone());
        for (c, (&got, &expected)) in pca.variances().iter().zip(&oracle).enumerate() {
            assert!(close(got, expected, oracle[0]), "variance {c}: {got}, not {expected}");
            // An eigenvector of the oracle's matrix: C v = λ v.
            let v = pca.components().row(c);
            for (row, &v_j) in cov.iter().zip(v) {
                let image: f64 = row.iter().zip(v).map(|(a, &b)| a * f64::from(b)).sum();
                assert!(close(image, expected * f64::from(v_j), oracle[0]), "component {c}");
            }
        }
    }
}

#[test]
fn wide_rows_take_the_randomized_way_and_agree_with_the_oracle() {
    let (rows, cols, k) = (60, 2600, 6);
    let data = low_rank(rows, cols, 30, 5);
    let (fitted, _) = fit_checked(&data, k);
    // The rows' Gram matrix has the covariance's eigenvalues and is small enough for the oracle.
    let mean: Vec<f64> =
        (0..cols).map(|j| (0..rows).map(|i| f64::from(data.row(i)[j])).sum::<f64>() / rows as f64).collect();
    let centred: Vec<Vec<f64>> =
        (0..rows).map(|i| data.row(i).iter().zip(&mean).map(|(&v, m)| f64::from(v) - m).collect()).collect();
    let gram = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (rows as f64 - 1.0);
    let oracle = jacobi(centred.iter().map(|a| centred.iter().map(|b| gram(a, b)).collect()).collect());
    for (c, (&got, &expected)) in fitted.pca().unwrap().variances().iter().zip(&oracle).enumerate() {
        assert!((got - expected).abs() < 1e-4 * expected, "variance {c}: {got}, not {expected}");
    }
    let other_seed = Preprocess::fit(data, Metric::Euclidean, PcaChoice::Components(k), 8).unwrap().0;
    for (a, b) in fitted.pca().unwrap().variances().iter().zip(other_seed.pca().unwrap().variances()) {
        assert!((a - b).abs() < 1e-4 * a);
    }
}

#[test]
fn degenerate_data_gives_orthonormal_components_and_no_nan() {
    let constant = |rows: usize, cols: usize| Matrix::new(rows, cols, vec![4.25; rows * cols]).unwrap();
    for (data, k, rank) in [
        (constant(10, 5), 5, 0),
        (constant(12, 2100), 4, 0),
        (low_rank(100, 12, 3, 6), 12, 3),
        (low_rank(30, 2100, 3, 7), 20, 3),
        (low_rank(5, 40, 5, 8), 5, 4),
        (low_rank(5, 2100, 5, 9), 5, 4),
        (low_rank(2, 3, 1, 10), 2, 1),
    ] {
        let (fitted, projected) = fit_checked(&data, k);
        let variances = fitted.pca().unwrap().variances();
        assert!(variances[rank..].iter().all(|&v| v <= 1e-6 * variances[0].max(1.0)), "{variances:?}");
        assert!(projected.data().iter().all(|v| v.is_finite()));
    }
}

#[test]
fn very_large_and_very_small_values_keep_their_components() {
    let plain = noise(50, 6, 11);
    let (reference, _) = fit_checked(&plain, 3);
    for factor in [2f32.powi(110), 2f32.powi(-100)] {
        let scaled = Matrix::new(50, 6, plain.data().iter().map(|v| v * factor).collect()).unwrap();
        let fitted = Preprocess::fit(scaled, Metric::Euclidean, PcaChoice::Components(3), 0).unwrap().0;
        let (a, b) = (reference.pca().unwrap(), fitted.pca().unwrap());
        for (x, y) in a.components().data().iter().zip(b.components().data()) {
            assert!((x - y).abs() < 1e-5);
        }
    }
    let too_large = Matrix::new(3, 2, vec![3e38, 3e38, -3e38, -3e38, 3e38, 3e38]).unwrap();
    let error = Preprocess::fit(too_large, Metric::Euclidean, PcaChoice::Components(1), 0).unwrap_err();
    assert!(error.to_string().contains("too large to be projected: scale the columns down"), "{error}");
}

#[test]
fn the_same_bits_for_1_2_and_3_threads() {
    for (data, k) in [(noise(1300, 300, 12), 20), (low_rank(700, 2050, 40, 13), 15)] {
        let fit = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                Preprocess::fit(data.clone(), Metric::Cosine, PcaChoice::Components(k), 3).unwrap()
            })
        };
        let one = fit(1);
        for threads in [2, 3, 1] {
            let other = fit(threads);
            assert!(one.0 == other.0 && one.1 == other.1, "{threads} threads");
        }
    }
}

#[test]
fn a_row_alone_has_the_bits_it_has_in_any_batch() {
    let data = noise(203, 301, 14);
    for metric in [Metric::Euclidean, Metric::Cosine] {
        for choice in [PcaChoice::None, PcaChoice::Components(37), PcaChoice::Components(16)] {
            let (fitted, whole) = Preprocess::fit(data.clone(), metric, choice, 0).unwrap();
            let bits = |row: &[f32]| row.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            for first in [0u32, 1, 2, 3, 150] {
                for len in [1u32, 2, 3, 5, 53] {
                    let which: Vec<u32> = (first..first + len).collect();
                    let batch = fitted.apply(&data.select(&which)).unwrap();
                    for (r, &i) in which.iter().enumerate() {
                        assert_eq!(bits(batch.row(r)), bits(whole.row(i as usize)));
                    }
                }
                let alone = fitted.apply_row(data.row(first as usize)).unwrap();
                assert_eq!(bits(&alone), bits(whole.row(first as usize)));
            }
        }
    }
}

#[test]
fn cosine_rows_have_unit_length_and_chord_distance() {
    let data = noise(20, 9, 15);
    let (_, unit) = Preprocess::fit(data.clone(), Metric::Cosine, PcaChoice::None, 0).unwrap();
    for i in 0..20 {
        assert!((dot(unit.row(i), unit.row(i)) - 1.0).abs() < 1e-6);
        let cosine = dot(data.row(0), data.row(i))
            / (dot(data.row(0), data.row(0)) * dot(data.row(i), data.row(i))).sqrt();
        let chord: f64 = unit.row(0).iter().zip(unit.row(i)).map(|(a, b)| f64::from(a - b).powi(2)).sum();
        assert!((chord - 2.0 * (1.0 - cosine)).abs() < 1e-5);
    }
    let tiny = Matrix::new(2, 2, vec![1e-44, 0.0, 3e38, 3e38]).unwrap();
    let (_, unit) = Preprocess::fit(tiny, Metric::Cosine, PcaChoice::None, 0).unwrap();
    assert_eq!(unit.row(0), [1.0, 0.0]);
    assert!((unit.row(1)[0] - 0.5f32.sqrt()).abs() < 1e-6);
}

#[test]
fn without_pca_euclidean_rows_pass_through_untouched() {
    let data = noise(9, 4, 16);
    let (fitted, out) = Preprocess::fit(data.clone(), Metric::Euclidean, PcaChoice::Auto(4), 0).unwrap();
    assert!(fitted.pca().is_none() && out == data && fitted.apply(&data).unwrap() == data);
}

#[test]
fn auto_reduces_only_wider_data_and_keeps_all_that_few_rows_span() {
    let dims = |rows, cols, auto| {
        Preprocess::fit(noise(rows, cols, 17), Metric::Euclidean, PcaChoice::Auto(auto), 0)
            .unwrap()
            .0
            .output_dims()
    };
    assert_eq!((dims(30, 20, 5), dims(30, 20, 20), dims(4, 20, 10), dims(1, 20, 10)), (5, 20, 3, 20));
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let fit = |data: Matrix, metric, pca| Preprocess::fit(data, metric, pca, 0).unwrap_err().to_string();
    let (euclidean, cosine) = (Metric::Euclidean, Metric::Cosine);
    assert_eq!(
        fit(noise(9, 4, 1), euclidean, PcaChoice::Components(5)),
        "pca asks for 5 components, but the data has 4 columns: ask for at most 4, or none"
    );
    assert_eq!(
        fit(noise(3, 9, 1), euclidean, PcaChoice::Components(5)),
        "pca asks for 5 components, but the data has 3 rows: ask for at most 3, or none"
    );
    assert_eq!(
        fit(noise(3, 9, 1), euclidean, PcaChoice::Components(0)),
        "pca must be at least 1 component, or none"
    );
    assert_eq!(
        fit(noise(1, 9, 1), euclidean, PcaChoice::Components(1)),
        "pca needs at least 2 rows: choose none"
    );
    assert!(
        fit(Matrix::zeros(0, 3), euclidean, PcaChoice::None).starts_with("the data has 0 rows and 3 columns")
    );
    let zero_row = Matrix::new(3, 2, vec![1.0, 2.0, 0.0, -0.0, 0.0, 0.0]).unwrap();
    assert_eq!(
        fit(zero_row, cosine, PcaChoice::None),
        "row 1 is all zeros (and so is 1 row after it), which has no direction for the cosine metric: remove it or use the euclidean metric"
    );
    let nan = Matrix::new(2, 2, vec![1.0, 2.0, 3.0, f32::NAN]).unwrap();
    assert!(fit(nan.clone(), euclidean, PcaChoice::None).starts_with("row 1, column 1 is NaN"));
    let (fitted, _) = Preprocess::fit(noise(9, 2, 1), cosine, PcaChoice::Components(1), 0).unwrap();
    assert!(fitted.apply(&nan).unwrap_err().to_string().starts_with("row 1, column 1 is NaN"));
    assert_eq!(
        fitted.apply(&noise(1, 3, 1)).unwrap_err().to_string(),
        "expected 2 columns, got 3: give the same columns, in the same order, as the rows of the map"
    );
    assert!(fitted.apply_row(&[1.0]).unwrap_err().to_string().starts_with("expected 2 columns, got 1"));
    assert!(fitted.apply_row(&[0.0, 0.0]).unwrap_err().to_string().starts_with("row 0 is all zeros"));
}

#[test]
fn unique_rows_keep_the_first_of_each_kind_in_order() {
    let data = Matrix::new(6, 2, vec![3.0, 0.0, 1.0, 1.0, 3.0, -0.0, 2.0, 2.0, 1.0, 1.0, 3.0, 0.0]).unwrap();
    let unique = unique_rows(&data);
    assert_eq!(unique.representatives, [0, 1, 3]);
    assert_eq!(unique.place_of, Some(vec![0, 1, 0, 2, 1, 0]));
    let distinct = unique_rows(&noise(500, 3, 18));
    assert_eq!((distinct.representatives.len(), distinct.place_of), (500, None));
    assert_eq!(unique_rows(&Matrix::zeros(0, 3)).representatives.len(), 0);
}

proptest! {
    #[test]
    fn unique_rows_agree_with_comparing_every_pair(values in prop::collection::vec(-2i8..2, 0..120), cols in 1usize..4) {
        let rows = values.len() / cols;
        let data: Vec<f32> = values[..rows * cols].iter().map(|&v| if v == -2 { -0.0 } else { f32::from(v) }).collect();
        let data = Matrix::new(rows, cols, data).unwrap();
        let unique = unique_rows(&data);
        let first = |i: usize| (0..=i).find(|&j| data.row(j) == data.row(i)).unwrap() as u32;
        let kinds: Vec<u32> = (0..rows).filter(|&i| first(i) == i as u32).map(|i| i as u32).collect();
        prop_assert_eq!(&unique.representatives, &kinds);
        for i in 0..rows {
            let place = unique.place_of.as_ref().map_or(i, |p| p[i] as usize);
            prop_assert_eq!(unique.representatives[place], first(i));
        }
        prop_assert_eq!(unique.place_of.is_none(), kinds.len() == rows);
    }
}
