use super::super::plain::{built, difference, distance, interpolate, map, matrix, rows, same_bits_always};
use super::*;
use lion_tsne::ignore;
use std::ops::ControlFlow;

fn kernelized(width: f64) -> Baseline {
    Baseline::Kernelized { width }
}

/// The weights of all rows of `x` for a row.
fn plain_weights(x: &Matrix, width: f64, row: &[f32]) -> Vec<f64> {
    let n = x.rows();
    let nearest = |i: usize| {
        let others = (0..n).filter(|&j| j != i).map(|j| distance(x.row(i), x.row(j)));
        others.fold(f64::INFINITY, f64::min)
    };
    let gaussian = |i: usize| (-0.5 * (distance(row, x.row(i)) / (width * nearest(i))).powi(2)).exp();
    let gaussians: Vec<f64> = (0..n).map(gaussian).collect();
    let total: f64 = gaussians.iter().sum();
    gaussians.iter().map(|gaussian| gaussian / total).collect()
}

#[test]
fn every_width_is_as_in_plain_numbers() {
    let (x, y) = (rows(60, 6, 1), rows(60, 2, 2));
    let map = map(&x, &y);
    // Beside rows, so that plain Gaussians do not vanish.
    let beside: Vec<f32> = x.data()[..90].iter().map(|v| v + 0.2).collect();
    let new = Matrix::new(15, 6, beside).unwrap();
    for width in [0.25, 0.5, 1.0] {
        let ready = built(kernelized(width), &map);
        assert_eq!(ready.notes(), Vec::<String>::new());
        let places = ready.place(&new).unwrap();
        let values = |row: &[f32]| plain_weights(&x, width, row);
        for i in 0..new.rows() {
            for (found, wanted) in places.row(i).iter().zip(interpolate(&x, &y, values, new.row(i))) {
                let error = (f64::from(*found) - wanted).abs() / wanted.abs().max(1.0);
                assert!(error < 1e-6, "K={width}: {found} for {wanted}");
            }
        }
        assert!(difference(&ready.place(&x).unwrap(), &y) < 1e-5, "K={width}");
    }
}

#[test]
fn weights_worked_out_by_hand() {
    // Rows 0, 1 and 3: their nearest others are at 1, 1 and 2.
    let x = matrix(&[[0.0], [1.0], [3.0]]);
    let columns = ColumnMajor::new(&x);
    let nearest = Distances::Taken(&columns, &x).nearest(3);
    assert_eq!(nearest, [1.0, 1.0, 4.0]);
    let narrow: Vec<f64> = nearest.iter().map(|n| 0.5 / n).collect();
    let mut weights = [0.0; 3];
    columns.distances2(&[2.0], &mut weights);
    let total = weigh(&mut weights, &narrow);
    // Powers -2, -1/2 and -1/8; the largest becomes 0.
    let expected = [(-1.875f64).exp(), (-0.375f64).exp(), 1.0];
    for (found, wanted) in weights.iter().zip(expected) {
        assert!((found - wanted).abs() < 1e-14, "{weights:?}");
    }
    assert!((total - expected.iter().sum::<f64>()).abs() < 1e-14);
}

#[test]
fn rows_far_from_everything_have_places_among_the_others() {
    let (x, y) = (rows(90, 4, 3), rows(90, 2, 4));
    let ready = built(kernelized(0.05), &map(&x, &y));
    let far = matrix(&[[1e6, 0.0, 0.0, 0.0], [0.0, -1e14, 1e14, 0.0], [3e37, 0.0, 0.0, 3e37]]);
    let places = ready.place(&far).unwrap();
    // So narrow, one row has all the weight.
    for i in 0..far.rows() {
        let nearest = (0..90).map(|j| {
            difference(
                &Matrix::new(1, 2, places.row(i).to_vec()).unwrap(),
                &Matrix::new(1, 2, y.row(j).to_vec()).unwrap(),
            )
        });
        assert!(nearest.fold(f32::INFINITY, f32::min) < 1e-4, "{:?}", places.row(i));
    }
}

#[test]
fn bits_depend_on_nothing_but_the_row() {
    let (x, y, new) = (rows(300, 7, 5), rows(300, 3, 6), rows(40, 7, 7));
    same_bits_always(kernelized(0.5), &map(&x, &y), &new);
}

#[test]
fn wide_gaussians_in_few_columns_get_a_ridge_that_is_said() {
    let x = rows(250, 2, 8);
    let bent = |row: &[f32]| [row[0].sin() + row[1].abs(), (row[0] * row[1]).cos()];
    let y = Matrix::new(250, 2, x.data().chunks(2).flat_map(bent).collect()).unwrap();
    let (mut noted, mut width) = (0, 0.25);
    while width < 20.0 {
        match kernelized(width).build(&map(&x, &y), 0, &mut ignore) {
            Ok(ready) => {
                let missed = difference(&ready.place(&x).unwrap(), &y);
                let notes = ready.notes().concat();
                match notes.is_empty() {
                    true => assert!(missed < 1e-4, "K={width} misses by {missed}"),
                    false => assert!(notes.contains("singular to rounding"), "{notes}"),
                }
                noted += usize::from(notes.contains("a ridge of 1e-"));
            }
            Err(error) => assert!(error.to_string().contains("too much alike"), "{error}"),
        }
        width *= 1.2;
    }
    assert!(noted > 0, "no width needed a ridge");
}

#[test]
fn a_sweep_gives_what_each_width_gives() {
    let (x, y, new) = (rows(150, 5, 10), rows(150, 2, 11), rows(20, 5, 12));
    let (map, widths) = (map(&x, &y), [0.01, 0.1, 0.5, 1.5]);
    let mut heard = Vec::new();
    let swept = kernelized_sweep(&map, &widths, &mut |progress| {
        heard.push(progress.done);
        assert_eq!(progress.total, 600);
        ControlFlow::Continue(())
    });
    for (width, swept) in widths.into_iter().zip(swept.unwrap()) {
        let (swept, alone) = (swept.unwrap(), built(kernelized(width), &map));
        assert_eq!(swept.place(&new).unwrap(), alone.place(&new).unwrap(), "K={width}");
        assert_eq!(swept.notes(), alone.notes());
    }
    assert!(heard.is_sorted() && heard.len() == 8, "{heard:?}");
    let stopped = kernelized_sweep(&map, &widths, &mut |progress| match progress.done < 150 {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    });
    assert!(matches!(stopped, Err(Error::Stopped(Stage::Build))));
}

#[test]
fn what_is_no_width_is_refused() {
    let map = map(&rows(10, 2, 13), &rows(10, 2, 14));
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let error = kernelized(width).build(&map, 0, &mut ignore).err().unwrap().to_string();
        assert!(error.starts_with("kernel width is ") && error.contains("must be from"), "{error}");
        assert!(kernelized_sweep(&map, &[0.5, width], &mut ignore).is_err());
    }
    assert_eq!(kernelized(0.05).to_string(), "kernelized K=0.05");
}

#[test]
fn equal_rows_share_a_place() {
    // A map file may hold what no fit gives.
    let x = matrix(&[[0.0, 0.0], [0.0, 0.0], [1.0, 3.0], [4.0, 1.0]]);
    let y = matrix(&[[1.0, 1.0], [3.0, 1.0], [-4.0, 0.0], [0.0, -4.0]]);
    let training = Training { x: &x, y: &y, perplexity: 2.0, seed: 0 };
    let ready = Kernelized::new(&training, 0.25, &mut ignore).unwrap();
    assert_eq!(ready.notes().len(), 1);
    let places = ready.places(&x).unwrap();
    let expected = matrix(&[[2.0, 1.0], [2.0, 1.0], [-4.0, 0.0], [0.0, -4.0]]);
    assert!(difference(&places, &expected) < 1e-2, "{:?}", places.data());
}
