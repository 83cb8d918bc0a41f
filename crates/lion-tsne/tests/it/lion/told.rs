//! What else is asked of placements: as bytes, for many powers at once, and what a map says of its own rows.

use super::oracle;
use super::support::{self, Clustered, lion, matrix, queries, strangers};
use lion_tsne::lion::{PlacementColumn, Taper};
use lion_tsne::{LionOptions, Local, Matrix, Placement, Verdict, VerdictRule};

const CLUSTERED: Clustered = Clustered { rows: 240, cols: 5, dims: 2, lonely: 2, seed: 21 };

/// Rows of every kind, the strange ones among them.
fn rows() -> Matrix {
    matrix(&queries(&CLUSTERED.map(), 150, 5))
}

#[test]
fn placements_come_back_from_their_bytes() {
    let known = Placement {
        score: 0.25,
        p_distance: Some(0.5),
        p_residual: Some(0.125),
        nearest: 7,
        nearest_distance: 1.5,
        neighbours: 3,
        label: Some("ä".into()),
        label_share: Some(0.75),
        ..Placement::unknown(Verdict::Interpolated)
    };
    let outlier =
        Placement { group: Some(4), p_neighbours: Some(1.0), ..Placement::unknown(Verdict::Outlier) };
    let lines = [1, 2, 3].map(|dims| {
        let map = Clustered { dims, ..CLUSTERED }.map();
        lion(&map, &LionOptions::default()).place_row(map.x().row(3)).unwrap()
    });
    for placement in [known, outlier].iter().chain(&lines) {
        let mut bytes = Vec::new();
        placement.write(&mut bytes).unwrap();
        // Others may follow.
        let whole = bytes.len();
        bytes.extend([1, 2, 3]);
        let mut rest = &bytes[..];
        assert_eq!(Placement::read(&mut rest).unwrap(), *placement);
        assert_eq!(rest, [1, 2, 3]);
        assert!((0..whole).all(|length| Placement::read(&mut &bytes[..length]).is_err()));
        for (at, what) in [(0, 4), (1, Verdict::Outlier as u8 + 1)] {
            let mut altered = bytes.clone();
            altered[at] = what;
            assert!(Placement::read(&mut &altered[..]).is_err(), "byte {at} is {what}");
        }
    }
}

/// A sweep gives for each power the places that a map with that power gives.
#[test]
fn powers_are_swept_as_if_each_were_alone() {
    let (map, rows) = (CLUSTERED.map(), rows());
    let powers = [0.5, 3.0, 20.0];
    for taper in [Taper::None, Taper::Triangle] {
        let with = |power| {
            lion(
                &map,
                &LionOptions { local: Local::Idw, taper, power: Some(power), ..LionOptions::default() },
            )
        };
        let (placements, places) = with(1.0).sweep_powers(&rows, &powers).unwrap();
        assert_eq!((placements.len(), places.len()), (rows.rows(), powers.len()));
        for (power, places) in powers.into_iter().zip(&places) {
            let alone = with(power).place_alone(&rows).unwrap();
            for (row, (alone, said)) in alone.iter().zip(&placements).enumerate() {
                let apart = places.row(row).iter().zip(&alone.place[..]).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f32::max) < 1e-4, "row {row}, power {power}, {taper}");
                assert_eq!((alone.verdict, alone.score), (said.verdict, said.score));
            }
        }
        assert_ne!(places[0], places[2]);
    }
}

/// Each outlier is placed as if it were the first.
#[test]
fn rows_that_are_placed_alone_know_of_no_other() {
    let map = CLUSTERED.map();
    let lion = lion(&map, &LionOptions::default());
    let (x, _) = CLUSTERED.parts();
    let rows = matrix(&strangers(&x, 6, lion.r_x()));
    for (row, placement) in lion.place_alone(&rows).unwrap().iter().enumerate() {
        assert_eq!(*placement, lion.place_row(rows.row(row)).unwrap());
        assert_eq!((placement.verdict, placement.group), (Verdict::Outlier, Some(0)));
    }
}

/// An outlier that comes again gets the place that it has, in a group whose other rows are beside it.
#[test]
fn an_outlier_that_comes_again_is_where_it_was() {
    let map = CLUSTERED.map();
    let lion = lion(&map, &LionOptions::default());
    let (x, _) = CLUSTERED.parts();
    let first = strangers(&x, 1, lion.r_x()).remove(0);
    let beside = |i: usize| first.iter().map(|v| v + 1e-3 * lion.r_x() * i as f64).collect::<Vec<f64>>();
    let rows = matrix(&(0..5).map(beside).collect::<Vec<_>>());
    let mut placer = lion.placer();
    let given: Vec<Placement> = (0..5).map(|row| placer.place_row(rows.row(row)).unwrap()).collect();
    let apart = |a: &Placement, b: &Placement| a.place != b.place;
    assert!((1..5).all(|row| apart(&given[0], &given[row]) && given[row].group == Some(0)), "{given:?}");
    for row in [0, 3, 1, 4, 2, 0] {
        assert_eq!(placer.place_row(rows.row(row)).unwrap().place, given[row].place, "row {row}");
    }
}

#[test]
fn a_map_says_which_of_its_own_rows_are_strange() {
    let map = CLUSTERED.map();
    let calibrated = lion(&map, &LionOptions { alpha: Some(0.1), ..LionOptions::default() });
    let least = 1.0 / (calibrated.calibration_rows() + 1) as f64;
    assert_eq!(calibrated.least_p_value(), Some(least));
    let strange: Vec<usize> = (0..map.rows()).filter(|&row| calibrated.is_outlier_row(row)).collect();
    let by_score = |row: &usize| f64::from(calibrated.own_scores()[map.distinct(*row)]) <= 0.1;
    assert_eq!(strange, (0..map.rows()).filter(by_score).collect::<Vec<_>>());
    assert!(
        strange.contains(&238) && strange.contains(&239) && (10..=28).contains(&strange.len()),
        "{strange:?}"
    );
    let paper = lion(&map, &LionOptions { verdict: Some(VerdictRule::Paper), ..LionOptions::default() });
    let strange: Vec<usize> = (0..map.rows()).filter(|&row| paper.is_outlier_row(row)).collect();
    let lonely = oracle::nearest_distances(&support::rows(map.x()));
    let beyond: Vec<usize> = (0..map.rows()).filter(|&row| lonely[row] > paper.r_x()).collect();
    assert!(beyond.ends_with(&[238, 239]));
    assert_eq!((strange, paper.least_p_value(), paper.calibration_rows()), (beyond, None, 0));
}

#[test]
fn tables_with_labels_have_a_column_for_the_predicted_one() {
    let names = |columns: &mut dyn Iterator<Item = &'static PlacementColumn>| -> Vec<&str> {
        columns.map(|column| column.name).collect()
    };
    for dims in [1, 2, 3] {
        let plain = names(&mut PlacementColumn::in_tables(dims));
        let beside = names(&mut PlacementColumn::beside_labels(dims));
        let others = |names: &[&str]| -> Vec<String> {
            let own = |name: &&&str| **name != "label" && **name != "predicted_label";
            names.iter().filter(own).map(|name| (*name).to_owned()).collect()
        };
        assert!(plain.contains(&"label") && beside.contains(&"predicted_label"), "{plain:?} {beside:?}");
        assert!(!beside.contains(&"label"));
        assert!(others(&beside).iter().all(|name| plain.contains(&name.as_str())), "{beside:?}");
        assert!(["x", "y", "z"][..dims].iter().all(|name| beside.contains(name)));
    }
}
