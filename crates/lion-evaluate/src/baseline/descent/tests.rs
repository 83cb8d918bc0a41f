use super::*;
use crate::JoinedKl;
use crate::baseline::testing::same_everywhere;
use crate::joined::tests::{clusters, newcomers, rows_of};
use lion_tsne::{Fit, PcaChoice, ignore};

const PERPLEXITY: f64 = 15.0;

fn descents(x: &Matrix, y: &Matrix, descent: Descent) -> Descents {
    Descents::new(&Training { x, y, perplexity: PERPLEXITY, seed: 6 }, descent).unwrap()
}

#[test]
fn names() {
    let names: Vec<String> = Descent::ALL.iter().map(Descent::to_string).collect();
    let start = ["", "-sigma", "-ee", "-sigma-ee"];
    let wanted = ["gd-closest", "gd-random"].into_iter().flat_map(|a| start.map(|b| format!("{a}{b}")));
    assert_eq!(names, wanted.collect::<Vec<_>>());
}

/// Richardson's extrapolation of central differences; the steps are exact in f32.
fn derivative(f: impl Fn(f32) -> f64) -> f64 {
    let central = |h: f32| (f(h) - f(-h)) / (2.0 * f64::from(h));
    (4.0 * central(1.0 / 64.0) - central(1.0 / 32.0)) / 3.0
}

#[test]
fn the_gradient_is_that_of_the_divergence() {
    for dims in [1, 2, 3] {
        let (x, y) = clusters(120, 6, dims, 8);
        let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
        let map = fit.adopt(x, y, &mut ignore).unwrap();
        let perplexity = map.perplexity();
        let training = Training { x: map.x(), y: map.y(), perplexity, seed: 0 };
        let kl = JoinedKl::new(&map).unwrap();
        let descents = Descents::new(&training, Descent::ALL[1]).unwrap();
        for row in rows_of(&newcomers(map.x())) {
            let (joining, newcomer) = (kl.with_row(row), descents.joined.join(row, true));
            for place in [[0.5f32, -1.25, 3.0], [8.0, 6.5, -2.0]] {
                let [a, b, c] = place.map(f64::from);
                let slopes: Vec<f64> = match dims {
                    1 => descents.slope(&newcomer, 1.0, &[a]).1.to_vec(),
                    2 => descents.slope(&newcomer, 1.0, &[a, b]).1.to_vec(),
                    _ => descents.slope(&newcomer, 1.0, &[a, b, c]).1.to_vec(),
                };
                for (d, slope) in slopes.into_iter().enumerate() {
                    let truth = derivative(|h| {
                        let mut moved = place;
                        moved[d] += h;
                        joining.at(&moved[..dims])
                    });
                    assert!((slope - truth).abs() < 1e-7 * (1.0 + truth.abs()), "{slope} for {truth}");
                }
            }
        }
    }
}

/// One iteration after the other, as the paper has it; `p` are the affinities of the row to the others.
fn plain_descent(p: &[f64], y: &Matrix, z: f64, mut place: Vec<f64>, exaggerated: bool) -> Vec<f64> {
    let dims = y.cols();
    let mut done = 0;
    for (factor, until) in [(4.0, if exaggerated { 100 } else { 0 }), (1.0, 1000)] {
        let (mut step, mut gain) = (vec![0.0; dims], vec![1.0; dims]);
        let (mut last, mut best, mut best_at) = (f64::MAX, f64::MAX, 0);
        while done < until {
            let difference = |j: usize, d: usize| place[d] - f64::from(y.row(j)[d]);
            let near = |j: usize| 1.0 / (1.0 + (0..dims).map(|d| difference(j, d).powi(2)).sum::<f64>());
            let near: Vec<f64> = (0..y.rows()).map(near).collect();
            let z = z + 2.0 * near.iter().sum::<f64>();
            // Exaggerated, all of P is: Σ 4p ln(4p / q), here without what does not change.
            let logs: f64 = p.iter().zip(&near).map(|(p, near)| p * near.ln()).sum();
            let error = factor * (z.ln() - 2.0 * logs);
            let slope = |d: usize| -> f64 {
                let term = |j: usize| (factor * p[j] - near[j] / z) * near[j] * difference(j, d);
                4.0 * (0..y.rows()).map(term).sum::<f64>()
            };
            let gradient: Vec<f64> = (0..dims).map(slope).collect();
            for d in 0..dims {
                let onwards = step[d] * gradient[d] < 0.0;
                gain[d] = if onwards { gain[d] + 0.2 } else { f64::max(gain[d] * 0.8, 0.01) };
                step[d] = 0.5 * step[d] - 1000.0 * gain[d] * gradient[d];
                place[d] += step[d];
            }
            done += 1;
            let change = f64::abs(error - last);
            last = error;
            if error < best {
                (best, best_at) = (error, done);
            } else if done - best_at > 50 {
                break;
            }
            if gradient.iter().map(|g| g * g).sum::<f64>().sqrt() <= 1e-7 || change <= 1e-7 {
                break;
            }
        }
    }
    place
}

/// With few rows the published rate leaps about, and rounding decides where it ends: these are many.
#[test]
fn places_are_those_of_a_plain_descent() {
    for (dims, rows) in [(1, 1200), (2, 1200), (3, 1000)] {
        let (x, y) = clusters(rows, 6, dims, 2);
        let new = newcomers(&x);
        for descent in Descent::ALL {
            let descents = descents(&x, &y, descent);
            let places = descents.places(&new).unwrap();
            for (i, row) in rows_of(&new).into_iter().enumerate() {
                let distance = |j: &usize| -> f64 {
                    x.row(*j).iter().zip(row).map(|(a, b)| f64::from(a - b).powi(2)).sum()
                };
                let nearest = (0..rows).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
                let start: Vec<f64> = match descent.start {
                    DescentStart::Closest => y.row(nearest).iter().map(|&v| f64::from(v)).collect(),
                    DescentStart::Random => {
                        let bytes: Vec<u8> = row.iter().flat_map(|v| v.to_ne_bytes()).collect();
                        let mut random = Random::new(xxh3_64_with_seed(&bytes, 6));
                        (0..dims).map(|_| random.gaussian()).collect()
                    }
                };
                let p = descents.joined.join(row, descent.new_sigma).p;
                let truth = plain_descent(&p[..rows], &y, descents.joined.z, start, descent.exaggeration);
                for (found, truth) in places.row(i).iter().zip(&truth) {
                    let found = f64::from(*found);
                    assert!(
                        (found - truth).abs() < 1e-4 * (1.0 + truth.abs()),
                        "{descent}, row {i}: {found} for {truth}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_place_depends_on_its_row_alone() {
    let (x, y) = clusters(100, 5, 2, 1);
    for descent in Descent::ALL {
        same_everywhere(&x, || descents(&x, &y, descent));
    }
}
