//! What the evaluation asks of ways of placing: each row alone, many powers at once, LION's control around others.

use crate::common::{clusters, paper, with_threads};
use lion_evaluate::{Baseline, Contender, ContenderPlaces};
use lion_tsne::{
    Fit, Lion, LionOptions, Local, Map, Matrix, PcaChoice, Radius, Verdict, VerdictRule, ignore,
};

/// A map of 300 rows in clusters, and rows to place: some among them, and two far from all.
fn map() -> (Map, Matrix) {
    let (x, y) = (clusters(300, 6, 4, 4.0, 1), clusters(300, 2, 4, 9.0, 2));
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    let map = fit.adopt(x.clone(), y, &mut ignore).unwrap();
    let near = (0..40).flat_map(|i| x.row(7 * i).iter().map(move |v| v + 0.2 * (i as f32).sin()));
    let far = [90.0, -90.0].into_iter().flat_map(|v| [v; 6]);
    (map, Matrix::new(42, 6, near.chain(far).collect()).unwrap())
}

fn paper_at(percentile: f64, power: Option<f64>) -> LionOptions {
    LionOptions { radius: Some(Radius::Percentile(percentile)), power, local: Local::Idw, ..paper() }
}

#[test]
fn a_sweep_gives_what_each_power_gives() {
    let (map, rows) = map();
    let powers = [0.5, 3.0, 18.5, 50.0];
    for percentile in [95.0, 100.0] {
        let sweeping = Lion::new(map.clone(), &paper_at(percentile, Some(1.0))).unwrap();
        let (placements, places) = sweeping.sweep_powers(&rows, &powers).unwrap();
        assert!(placements[40..].iter().all(|placement| placement.verdict == Verdict::Outlier));
        assert!(placements[..40].iter().any(|placement| placement.verdict == Verdict::Interpolated));
        for (power, places) in powers.iter().zip(&places) {
            let lion = Lion::new(map.clone(), &paper_at(percentile, Some(*power))).unwrap();
            for (row, placement) in lion.place_alone(&rows).unwrap().iter().enumerate() {
                assert_eq!(*placement, lion.place_row(rows.row(row)).unwrap());
                // Neighbours of no weight are read by the sweep alone.
                let away = places.row(row).iter().zip(placement.place.iter());
                assert!(away.into_iter().all(|(a, b)| (a - b).abs() < 1e-4), "power {power}, row {row}");
            }
        }
    }
}

#[test]
fn the_validated_power_is_the_one_that_is_used() {
    let (map, _) = map();
    let lion = Lion::new(map, &paper_at(99.0, None)).unwrap();
    let validated = lion.cross_validate().unwrap();
    assert_eq!(validated.power, lion.power());
    let least = validated.curve.iter().map(|point| point.error).fold(f64::INFINITY, f64::min);
    assert!(validated.curve.iter().any(|point| point.power == validated.power && point.error == least));
}

#[test]
fn control_keeps_outliers_apart_and_leaves_the_rest_to_the_other() {
    let (map, rows) = map();
    let baseline = Baseline::Idw { power: 7.0 };
    let land = |contender: Contender| -> ContenderPlaces {
        contender.build(&map, 0, &mut ignore).unwrap().place_alone(&rows).unwrap()
    };
    let controlled = land(Contender::Controlled { baseline, percentile: 99.0 });
    let other = land(Contender::Other(baseline));
    let lion = land(Contender::Lion { percentile: 99.0, local: Local::Energy, verdict: VerdictRule::Paper });
    assert!(other.placements.is_none());
    let verdicts = controlled.placements.as_ref().unwrap();
    for (row, placement) in verdicts.iter().enumerate() {
        let expected = if placement.verdict == Verdict::Interpolated { &other } else { &lion };
        assert_eq!(controlled.places.row(row), expected.places.row(row), "{placement:?}");
    }
    assert!(verdicts[40..].iter().all(|placement| placement.verdict == Verdict::Outlier));
    assert_ne!(controlled.places.row(41), other.places.row(41));
}

#[test]
fn places_do_not_depend_on_threads() {
    let (map, rows) = map();
    let land = |threads: usize| {
        with_threads(threads, || {
            let contenders = Contender::lion_of_the_paper().into_iter().chain(Contender::lion_of_today());
            let land = |contender: Contender| contender.build(&map, 0, &mut ignore)?.place_alone(&rows);
            contenders.map(|contender| land(contender).unwrap().places).collect::<Vec<Matrix>>()
        })
    };
    assert!(land(1) == land(2) && land(2) == land(3));
}

#[test]
fn a_map_keeps_its_rows_at_other_places() {
    let (map, rows) = map();
    let doubled = map.y().data().iter().map(|v| 2.0 * v).collect();
    let doubled = map.with_places(Matrix::new(300, 2, doubled).unwrap()).unwrap();
    assert_eq!(doubled.x(), map.x());
    let lion = |map: &Map| Lion::new(map.clone(), &paper_at(99.0, Some(9.0))).unwrap();
    let (one, two) =
        (lion(&map).place_row(rows.row(3)).unwrap(), lion(&doubled).place_row(rows.row(3)).unwrap());
    assert!(one.place.iter().zip(two.place.iter()).all(|(a, b)| (2.0 * a - b).abs() < 1e-4));
    assert!(map.with_places(Matrix::zeros(299, 2)).is_err());
}
