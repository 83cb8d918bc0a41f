//! The plain version itself, on examples small enough to be worked out by hand.

use super::oracle::{
    OracleEnergy, OracleVerdict, attraction, cv_error, flat, groups, idw, nearest_distances, percentile,
    perplexity_weights, residual, share_at_least, split_clusters, trapezoid, triangle, verdict, within,
};

/// Points on a line.
fn line(at: &[f64]) -> Vec<Vec<f64>> {
    at.iter().map(|&v| vec![v]).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn percentiles_lie_between_order_statistics() {
    let values = [40.0, 10.0, 20.0, 30.0];
    for (p, truth) in [(0.0, 10.0), (50.0, 25.0), (100.0, 40.0), (90.0, 37.0), (10.0, 13.0)] {
        assert!(close(percentile(&values, p), truth), "{p} %");
    }
    assert_eq!(percentile(&[7.0], 99.0), 7.0);
}

#[test]
fn nearest_and_within() {
    let rows = line(&[0.0, 1.0, 3.0, 10.0]);
    assert_eq!(nearest_distances(&rows), [1.0, 1.0, 2.0, 7.0]);
    assert_eq!(within(&[2.0], &rows, 2.0), [1, 2, 0]);
    assert!(within(&[6.0], &rows, 2.9).is_empty());
}

#[test]
fn verdicts_follow_the_table() {
    let rows = line(&[0.0, 1.0, 2.0, 10.0]);
    let nn_x = nearest_distances(&rows);
    for (x, truth) in [
        (1.0, OracleVerdict::Exact),
        (10.0, OracleVerdict::Exact),
        (0.5, OracleVerdict::Interpolated),
        (-0.5, OracleVerdict::Interpolated),
        (11.5, OracleVerdict::BesideOutlier),
        (3.2, OracleVerdict::Outlier),
        (5.0, OracleVerdict::Outlier),
    ] {
        assert_eq!(verdict(&[x], &rows, &nn_x, 1.5), truth, "{x}");
    }
}

#[test]
fn idw_between_two_points() {
    let (rows, places) = (line(&[0.0, 3.0]), line(&[10.0, 40.0]));
    let at = |x: f64, power: f64| idw(&[x], &rows, &places, &[0, 1], power, flat)[0];
    // Weights 1 and 1/2, then 1 and 1/4.
    assert!(close(at(1.0, 1.0), 20.0) && close(at(1.0, 2.0), 16.0));
    assert!(close(at(1.5, 37.0), 25.0));
    assert_eq!(at(0.0, 5.0), 10.0);
    assert!(close(at(1e-300, 50.0), 10.0) && close(at(2.9, 1e4), 40.0));
    // Tapers at r_x = 4: distances 1 and 2 have 3/4 and 1/2, or 1 and 1.
    let tapered = |taper: &dyn Fn(f64) -> f64| idw(&[1.0], &rows, &places, &[0, 1], 1.0, taper)[0];
    assert!(close(tapered(&triangle(4.0)), (0.75 * 10.0 + 0.25 * 40.0) / 1.0));
    assert!(close(tapered(&trapezoid(4.0)), 20.0));
    // At r_x = 2 the far one is on the bound and weighs nothing.
    assert!(close(tapered(&triangle(2.0)), 10.0) && close(tapered(&trapezoid(2.0)), 10.0));
    assert!(close(trapezoid(4.0)(3.0), 0.5) && close(triangle(4.0)(3.0), 0.25));
}

#[test]
fn splitting_drops_the_farthest_until_places_hang_together() {
    let places = line(&[0.0, 1.0, 10.0, 2.0, 11.0, 5.0]);
    // All but 2 and 4 hang together at 3; the prefix 0, 1, 2 does not, so 0 and 1 stay.
    assert_eq!(split_clusters(&[0, 1, 2, 3, 4], &places, 3.0), [0, 1]);
    assert_eq!(split_clusters(&[0, 1, 3, 2, 4], &places, 3.0), [0, 1, 3]);
    // 5 links the two sides, though the prefix without it is apart.
    assert_eq!(split_clusters(&[0, 1, 2, 3, 5], &places, 5.0), [0, 1, 2, 3, 5]);
    assert_eq!(split_clusters(&[2, 0], &places, 3.0), [2]);
    assert_eq!(split_clusters(&[0], &places, 0.0), [0]);
}

#[test]
fn groups_are_transitive() {
    assert_eq!(groups(&line(&[0.0, 9.0, 2.0, 1.0, 10.5, 20.0]), 1.5), [0, 1, 0, 0, 1, 5]);
    assert_eq!(groups(&[], 1.0), [0; 0]);
}

#[test]
fn weights_amount_to_the_perplexity() {
    let squared: Vec<f64> = (1..=30).map(|i| f64::from(i * i) * 0.37).collect();
    for perplexity in [1.5, 5.0, 10.0, 29.0] {
        let weights = perplexity_weights(&squared, perplexity);
        let entropy: f64 = weights.iter().filter(|&&w| w > 0.0).map(|w| -w * w.log2()).sum();
        assert!((entropy.exp2() - perplexity).abs() < 1e-9, "{perplexity}: {}", entropy.exp2());
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(weights.windows(2).all(|w| w[0] >= w[1]), "nearer rows weigh more");
        // -ln of a Gaussian weight is its squared distance times a constant, plus one.
        let slope = |i: usize| (weights[0] / weights[i]).ln() / (squared[i] - squared[0]);
        assert!((slope(1) - slope(2)).abs() < 1e-9 * slope(1));
    }
    assert_eq!(perplexity_weights(&[1.0, 4.0], 2.0), [0.5, 0.5]);
}

#[test]
fn energy_is_the_bottom_of_its_valley() {
    // Three rows as far from x as each other: each weighs a third.
    let rows = vec![vec![1.0, 0.0], vec![-1.0, 0.0], vec![0.0, 1.0]];
    let x = [0.0, 0.0];
    // By symmetry the middle of a triangle whose sides are short against 1.
    let height = 0.75f64.sqrt() * 0.1;
    let places = vec![vec![0.0, 0.0], vec![0.1, 0.0], vec![0.05, height]];
    let y = attraction(&x, &rows, &places, 1.0);
    assert!((y[0] - 0.05).abs() < 1e-10 && (y[1] - height / 3.0).abs() < 1e-10, "{y:?}");
    // Two together and one far away: beside the two, not between.
    let places = vec![vec![0.0, 0.0], vec![0.0, 0.0], vec![100.0, 0.0]];
    let cost = OracleEnergy::new(&x, &rows, &places, 1.0);
    assert!((cost.at(&[0.0, 0.0]) - 10_001f64.ln() / 3.0).abs() < 1e-12);
    let y = cost.place();
    assert!(y[0] > 0.0 && y[0] < 0.01, "{y:?}");
    // No place nearby is cheaper.
    for step in [[1e-4, 0.0], [-1e-4, 0.0], [0.0, 1e-4], [0.0, -1e-4]] {
        assert!(cost.at(&[y[0] + step[0], y[1] + step[1]]) > cost.at(&y));
    }
}

#[test]
fn leaving_one_out() {
    // Within 1.5 the middle row has two neighbours, each end one: the middle alone counts.
    let rows = line(&[0.0, 1.0, 2.0, 50.0]);
    let places = vec![vec![0.0, 0.0], vec![5.0, 7.0], vec![2.0, 4.0], vec![9.0, 9.0]];
    assert!(close(cv_error(&rows, &places, 1.5, 3.0), 16.0 + 25.0));
    // Within 2 the ends have two as well. At power 1 the weights of 1 and 0 for 2 are 2/3 and 1/3: (10/3, 14/3).
    let ends = (10.0f64 / 3.0 - 2.0).powi(2) + (14.0f64 / 3.0 - 4.0).powi(2);
    let first = 4.0f64.powi(2) + 6.0f64.powi(2);
    assert!(close(cv_error(&rows, &places, 2.0, 1.0), (first + 41.0 + ends) / 3.0));
}

#[test]
fn shares_and_residuals() {
    let values = [1.0, 2.0, 2.0, 4.0];
    for (value, share) in [(0.0, 1.0), (2.0, 0.75), (2.1, 0.25), (4.0, 0.25), (5.0, 0.0)] {
        assert_eq!(share_at_least(&values, value), share);
    }
    let components = [vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
    assert!(close(residual(&[5.0, -3.0, 4.0], &[1.0, 1.0, 1.0], &components), 3.0));
    assert!(close(residual(&[2.0, 2.0, 2.0], &[1.0, 1.0, 1.0], &[vec![0.6, 0.8, 0.0]]), 1.04f64.sqrt()));
}
