use super::super::plain::{built, difference, distance, interpolate, map, matrix, rows, same_bits_always};
use super::*;
use lion_tsne::ignore;
use std::ops::ControlFlow;

fn rbf(kernel: Kernel) -> Baseline {
    Baseline::Rbf { kernel, epsilon: Epsilon::MeanDistance }
}

fn phi(kernel: Kernel, r: f64, e: f64) -> f64 {
    match kernel {
        Kernel::Multiquadric => ((r / e).powi(2) + 1.0).sqrt(),
        Kernel::Gaussian => (-(r / e).powi(2)).exp(),
        Kernel::InverseMultiquadric => 1.0 / ((r / e).powi(2) + 1.0).sqrt(),
        Kernel::Linear => r,
        Kernel::Cubic => r.powi(3),
        Kernel::Quintic => r.powi(5),
        Kernel::ThinPlate if r == 0.0 => 0.0,
        Kernel::ThinPlate => r * r * r.ln(),
    }
}

#[test]
fn widths_are_as_worked_out_by_hand() {
    // A rectangle of 3 x 4: distances 3, 4 and 5, twice each. The last column does not vary.
    let x = matrix(&[[0.0, 0.0, 7.0], [3.0, 0.0, 7.0], [0.0, 4.0, 7.0], [3.0, 4.0, 7.0]]);
    let columns = ColumnMajor::new(&x);
    assert!((Epsilon::MeanDistance.of(&x, &columns) - 4.0).abs() < 1e-12);
    // (3 * 4 / 4)^(1/2).
    assert!((Epsilon::Edges.of(&x, &columns) - 3f64.sqrt()).abs() < 1e-12);
    let one = matrix(&[[2.0, 5.0]]);
    assert_eq!(Epsilon::MeanDistance.of(&one, &ColumnMajor::new(&one)), 1.0);
    // The product of 784 edges of 1e3 has no end; (1e2352 / 2)^(1/784) has.
    let wide = Matrix::new(2, 784, [vec![0.0; 784], vec![1e3; 784]].concat()).unwrap();
    let expected = 1e3 * 0.5f64.powf(1.0 / 784.0);
    assert!((Epsilon::Edges.of(&wide, &ColumnMajor::new(&wide)) - expected).abs() < 1e-9);
}

#[test]
fn every_kernel_is_as_in_plain_numbers() {
    let (x, y, new) = (rows(60, 5, 1), rows(60, 2, 2), rows(15, 5, 3));
    let map = map(&x, &y);
    for kernel in Kernel::ALL {
        for epsilon in [Epsilon::MeanDistance, Epsilon::Edges] {
            let e = epsilon.of(&x, &ColumnMajor::new(&x));
            let values =
                |row: &[f32]| (0..60).map(|i| phi(kernel, distance(row, x.row(i)), e)).collect::<Vec<_>>();
            let ready = built(Baseline::Rbf { kernel, epsilon }, &map);
            assert_eq!(ready.notes(), Vec::<String>::new());
            let places = ready.place(&new).unwrap();
            for i in 0..new.rows() {
                for (found, wanted) in places.row(i).iter().zip(interpolate(&x, &y, values, new.row(i))) {
                    let error = (f64::from(*found) - wanted).abs() / wanted.abs().max(1.0);
                    assert!(error < 1e-6, "{kernel} {epsilon:?}: {found} for {wanted}");
                }
            }
            assert!(difference(&ready.place(&x).unwrap(), &y) < 1e-5, "{kernel} {epsilon:?}");
        }
    }
}

#[test]
fn bits_depend_on_nothing_but_the_row() {
    let (x, y, new) = (rows(300, 7, 4), rows(300, 3, 5), rows(40, 7, 6));
    let map = map(&x, &y);
    for kernel in [Kernel::Multiquadric, Kernel::Gaussian, Kernel::ThinPlate] {
        same_bits_always(rbf(kernel), &map, &new);
    }
}

#[test]
fn rows_that_are_nearly_equal_get_a_ridge_that_is_said() {
    // Two hundred rows on a line, of which Gaussians as wide as the line see but a few.
    let x = Matrix::new(200, 1, (0..200).map(|i| 1.0 + i as f32 * 1e-3).collect()).unwrap();
    let bent = |i: usize| [(i as f32 * 0.03).sin(), (i as f32 * 0.03).cos()];
    let y = Matrix::new(200, 2, (0..200).flat_map(bent).collect()).unwrap();
    // What is smooth is met all the same.
    let ready = built(rbf(Kernel::Gaussian), &map(&x, &y));
    assert!(difference(&ready.place(&x).unwrap(), &y) < 3e-3, "{:?}", ready.notes());
    // What is not, as nearly as can be.
    let torn = |i: usize| [if i % 50 < 25 { 1.0 } else { -1.0 }, (i as f32 * 0.03).cos()];
    let torn = Matrix::new(200, 2, (0..200).flat_map(torn).collect()).unwrap();
    let ready = built(rbf(Kernel::Gaussian), &map(&x, &torn));
    let (notes, missed) = (ready.notes().concat(), difference(&ready.place(&x).unwrap(), &torn));
    let how = "so they were solved by least squares with a ridge of 1e-";
    assert!(
        notes.starts_with(&format!("rbf-gaussian: its equations are singular to rounding, {how}")),
        "{notes}"
    );
    assert!(
        missed < 2.0 && notes.contains(&format!("places by {:.1e} of the map's extent", missed / 2.0)),
        "{missed}: {notes}"
    );
    for kernel in Kernel::ALL {
        let far = matrix(&[[1e6], [-1e14], [1.0995]]);
        let places = built(rbf(kernel), &map(&x, &y)).place(&far).unwrap();
        assert!(places.data().iter().all(|v| v.is_finite()), "{kernel}");
    }
}

#[test]
fn columns_that_do_not_vary_do_no_harm() {
    let (plain, y) = (rows(80, 3, 7), rows(80, 2, 8));
    let with_constant = |row: &[f32]| [row, &[5.0]].concat();
    let x = Matrix::new(80, 4, plain.data().chunks(3).flat_map(with_constant).collect()).unwrap();
    for kernel in Kernel::ALL {
        for epsilon in [Epsilon::MeanDistance, Epsilon::Edges] {
            let places = |x: &Matrix| built(Baseline::Rbf { kernel, epsilon }, &map(x, &y)).place(x).unwrap();
            assert_eq!(places(&x), places(&plain), "{kernel}");
        }
    }
}

#[test]
fn rows_too_much_alike_are_refused() {
    // Distances of a millionth, places all over: the kernel is 1 everywhere but for its last digits.
    let mut x = rows(120, 2, 9);
    x.data_mut().iter_mut().for_each(|v| *v *= 1e-7);
    x.data_mut()[0] = 1e8;
    let error = rbf(Kernel::Gaussian).build(&map(&x, &rows(120, 2, 10)), 0, &mut ignore).err().unwrap();
    assert_eq!(
        error.to_string(),
        "rbf-gaussian cannot be built: to it the 120 rows are too much alike to tell their places apart; place with another method"
    );
}

#[test]
fn small_maps_and_wrong_rows() {
    let two = map(&matrix(&[[0.0, 1.0], [4.0, 2.0]]), &matrix(&[[-3.0, 2.0], [5.0, 5.0]]));
    for kernel in Kernel::ALL {
        let ready = built(rbf(kernel), &two);
        assert!(difference(&ready.place(two.x()).unwrap(), two.y()) < 1e-5, "{kernel}");
        assert_eq!(ready.place(&Matrix::zeros(0, 2)).unwrap().rows(), 0);
        assert!(ready.place_preprocessed(&Matrix::zeros(1, 3)).is_err());
    }
}

#[test]
fn the_observer_may_stop_it() {
    let map = map(&rows(300, 3, 11), &rows(300, 2, 12));
    let mut heard = Vec::new();
    let stopped = rbf(Kernel::Linear).build(&map, 0, &mut |progress| {
        heard.push((progress.done, progress.total));
        if progress.done < 256 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(matches!(stopped, Err(lion_tsne::Error::Stopped(lion_tsne::Stage::Build))));
    assert_eq!(heard, [(0, 1), (0, 300), (128, 300), (256, 300)]);
}

#[test]
fn names_are_told() {
    let names: Vec<String> = Kernel::ALL.map(|kernel| rbf(kernel).to_string()).into();
    assert_eq!(
        names.join(" "),
        "rbf-multiquadric rbf-gaussian rbf-inverse-multiquadric rbf-linear rbf-cubic rbf-quintic rbf-thin-plate"
    );
    let edges = Baseline::Rbf { kernel: Kernel::Cubic, epsilon: Epsilon::Edges };
    assert_eq!(edges.to_string(), "rbf-cubic e=edges");
    // 10000² doubles are 800 MB, and nothing else is as large.
    assert!((800_000_000..810_000_000).contains(&edges.memory(10_000, 30)));
}
