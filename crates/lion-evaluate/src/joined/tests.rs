//! Everything about N + 1 points, done plainly.

use super::*;
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Map, ignore};

/// Rows around five centres, and places that follow their first columns.
pub(crate) fn clusters(rows: usize, cols: usize, dims: usize, seed: u64) -> (Matrix, Matrix) {
    let mut random = Random::new(seed);
    let centres: Vec<f64> = (0..5 * cols).map(|_| 4.0 * random.gaussian()).collect();
    let x: Vec<f32> = (0..rows * cols)
        .map(|at| (centres[at / cols % 5 * cols + at % cols] + random.gaussian()) as f32)
        .collect();
    let x = Matrix::new(rows, cols, x).unwrap();
    let place = |i: usize, d: usize| 3.0 * f64::from(x.row(i)[d]) + f64::from(x.row(i)[d + dims]);
    let y = (0..rows * dims).map(|at| place(at / dims, at % dims) as f32).collect();
    let y = Matrix::new(rows, dims, y).unwrap();
    (x, y)
}

/// Rows to place: one like the others, one equal to a row, one between, one far off.
pub(crate) fn newcomers(x: &Matrix) -> Matrix {
    let mean = |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect() };
    let near = mean(x.row(3), x.row(8));
    let between = mean(x.row(0), x.row(1));
    let far: Vec<f32> = (0..x.cols()).map(|k| 300.0 + k as f32).collect();
    let rows = [near, x.row(7).to_vec(), between, far];
    Matrix::new(4, x.cols(), rows.concat()).unwrap()
}

fn squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
}

/// The beta at which exp(-beta d) has this perplexity, by bisection.
fn plain_beta(distances2: &[f64], perplexity: f64) -> f64 {
    let nearest = distances2.iter().copied().fold(f64::INFINITY, f64::min);
    let entropy = |beta: f64| -> f64 {
        let weights: Vec<f64> = distances2.iter().map(|d| (-beta * (d - nearest)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).filter(|&p| p > 0.0).map(|p| -p * p.ln()).sum()
    };
    let (mut low, mut high) = (-30.0f64, 30.0f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if entropy(middle.exp()) > perplexity.ln() { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}

/// Dense P of all points; `betas` are those of the first points, where they are kept.
pub(crate) fn plain_p(points: &[&[f32]], perplexity: f64, betas: &[f64]) -> Vec<Vec<f64>> {
    let n = points.len();
    let conditional: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let others: Vec<f64> =
                (0..n).filter(|&j| j != i).map(|j| squared(points[i], points[j])).collect();
            let beta = betas.get(i).copied().unwrap_or_else(|| plain_beta(&others, perplexity));
            let nearest = others.iter().copied().fold(f64::INFINITY, f64::min);
            let weight = |j: usize| match j == i {
                true => 0.0,
                false => (-beta * (squared(points[i], points[j]) - nearest)).exp(),
            };
            let sum: f64 = (0..n).map(weight).sum();
            (0..n).map(|j| weight(j) / sum).collect()
        })
        .collect();
    (0..n)
        .map(|i| (0..n).map(|j| (conditional[i][j] + conditional[j][i]) / (2 * n) as f64).collect())
        .collect()
}

/// The betas of the points among themselves.
pub(crate) fn plain_betas(x: &Matrix, perplexity: f64) -> Vec<f64> {
    let others = |i: usize| (0..x.rows()).filter(move |&j| j != i).map(move |j| squared(x.row(i), x.row(j)));
    (0..x.rows()).map(|i| plain_beta(&others(i).collect::<Vec<_>>(), perplexity)).collect()
}

/// KL(P||Q) by two loops.
pub(crate) fn plain_kl(p: &[Vec<f64>], places: &[Vec<f64>]) -> f64 {
    let nearness = |i: usize, j: usize| {
        1.0 / (1.0 + places[i].iter().zip(&places[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>())
    };
    let pairs = || (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let z: f64 = pairs().map(|(i, j)| nearness(i, j)).sum();
    pairs().filter(|&(i, j)| p[i][j] > 0.0).map(|(i, j)| p[i][j] * (p[i][j] * z / nearness(i, j)).ln()).sum()
}

pub(crate) fn rows_of(x: &Matrix) -> Vec<&[f32]> {
    x.data().chunks_exact(x.cols()).collect()
}

fn places_of(y: &Matrix) -> Vec<Vec<f64>> {
    rows_of(y).iter().map(|place| place.iter().map(|&v| f64::from(v)).collect()).collect()
}

fn map_of(x: &Matrix, y: &Matrix) -> Map {
    Fit { pca: lion_tsne::PcaChoice::None, ..Fit::default() }
        .adopt(x.clone(), y.clone(), &mut ignore)
        .unwrap()
}

#[test]
fn affinities_are_those_of_all_points() {
    let perplexity = 12.0;
    for (rows, cols) in [(163, 6), (64, 40)] {
        let (x, y) = clusters(rows, cols, 2, 5);
        let joined = Joined::new(&x, &y, perplexity).unwrap();
        let kept = plain_betas(&x, perplexity);
        for (i, row) in rows_of(&newcomers(&x)).into_iter().enumerate() {
            let mut points = rows_of(&x);
            points.push(row);
            for (new_sigma, betas) in [(true, &[][..]), (false, &kept)] {
                let newcomer = joined.join(row, new_sigma);
                let p = plain_p(&points, perplexity, betas);
                for (j, (found, truth)) in newcomer.p.iter().zip(&p[rows]).take(rows).enumerate() {
                    let allowed = 1e-8 * truth + 1e-16;
                    assert!(
                        (found - truth).abs() < allowed,
                        "row {i}, {new_sigma}, {j}: {found} for {truth}"
                    );
                }
                assert!(newcomer.p[rows..].iter().all(|&p| p == 0.0));
            }
        }
    }
}

#[test]
fn sigmas_are_found_again_to_nine_digits() {
    let (x, y) = clusters(300, 4, 2, 9);
    let joined = Joined::new(&x, &y, 20.0).unwrap();
    let (mut quick, mut all) = (0, 0);
    for row in rows_of(&newcomers(&x)) {
        let distances2 = joined.distances2(row);
        let newcomer = joined.join(row, true);
        for (i, gaussian) in newcomer.gaussians.iter().enumerate() {
            let mut others = joined.distances2(x.row(i));
            others[i] = distances2[i];
            let shares: Vec<f64> = others.iter().map(|&d| gaussian.share(d)).collect();
            let entropy: f64 = shares.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum();
            assert!(
                (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                "row {i}: the shares sum to another number"
            );
            assert!((entropy - 20f64.ln()).abs() < 1.1e-9, "row {i}: {:e}", entropy - 20f64.ln());
            quick += usize::from(joined.gaussians[i].adapted(distances2[i], joined.target).is_some());
            all += 1;
        }
    }
    // Those that are not are the few to which the newcomer is all too near.
    assert!(quick * 20 > all * 19, "{quick} of {all} were known from the moments");
}

#[test]
fn divergence_is_that_of_two_loops() {
    for (dims, rows) in [(1, 120), (2, 133), (3, 96)] {
        let (x, y) = clusters(rows, 7, dims, 3);
        let map = map_of(&x, &y);
        let (perplexity, kl) = (map.perplexity(), JoinedKl::new(&map).unwrap());
        let x = map.x();
        let truth = plain_kl(&plain_p(&rows_of(x), perplexity, &[]), &places_of(&y));
        assert!((kl.own() - truth).abs() < 1e-9, "{} for {truth}", kl.own());
        for row in rows_of(&newcomers(x)) {
            let mut points = rows_of(x);
            points.push(row);
            let p = plain_p(&points, perplexity, &[]);
            let row = kl.with_row(row);
            let far = [1e4, -3e4, 2e4];
            for place in [y.row(4).to_vec(), vec![0.5; dims], far[..dims].to_vec()] {
                let mut places = places_of(&y);
                places.push(place.iter().map(|&v| f64::from(v)).collect());
                let (found, truth) = (row.at(&place), plain_kl(&p, &places));
                assert!((found - truth).abs() < 1e-9, "{found} for {truth} at {place:?}");
            }
        }
    }
}

#[test]
fn hostile_maps_have_finite_affinities() {
    // Equal distances to all others, more of them than the perplexity; a lone pair; rows that are equal.
    let simplex: Vec<f32> = (0..40 * 40).map(|at| f32::from(u8::from(at / 40 == at % 40))).collect();
    let pair = vec![0.0, 0.0, 1.0, 1.0];
    let equal: Vec<f32> = (0..30).flat_map(|i| [(i / 10) as f32, 0.0]).collect();
    for (cols, data) in [(40, simplex), (2, pair), (2, equal)] {
        let x = Matrix::new(data.len() / cols, cols, data).unwrap();
        let y = Matrix::new(x.rows(), 2, (0..2 * x.rows()).map(|i| i as f32).collect()).unwrap();
        let joined = Joined::new(&x, &y, 5.0).unwrap();
        for value in [0.0, 1.0, 1e-20, 1e15] {
            let row = vec![value; cols];
            for new_sigma in [false, true] {
                let p = joined.join(&row, new_sigma).p;
                let mass = p.iter().sum::<f64>() * (x.rows() + 1) as f64;
                assert!(p.iter().all(|p| p.is_finite() && *p >= 0.0), "{value} in {x:?}: {p:?}");
                assert!(mass > 0.4999, "{value} in {x:?}: the row's affinities weigh {mass}");
            }
        }
        let map = map_of(&x, &y);
        let kl = JoinedKl::new(&map).unwrap();
        assert!(kl.own().is_finite());
        assert!(kl.with_row(&vec![1e15; map.x().cols()]).at(&[1e15, 0.0]).is_finite());
    }
    let one = Matrix::new(1, 2, vec![0.0; 2]).unwrap();
    assert!(Joined::new(&one, &one, 5.0).is_err());
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let (x, y) = clusters(210, 5, 2, 4);
    let map = map_of(&x, &y);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let kl = JoinedKl::new(&map).unwrap();
            let row = kl.with_row(newcomers(map.x()).row(0));
            [kl.own().to_bits(), row.at(&[1.0, 2.0]).to_bits()]
        })
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(3));
}
