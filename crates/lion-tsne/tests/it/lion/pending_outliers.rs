//! Outliers as bytes: what travels in place of a row must be all that its position depends on.

use super::support::{Clustered, lion, matrix, queries, shuffled};
use crate::common::paper;
use lion_tsne::lion::{GivenPosition, PendingOutlier, Place, Positions, PositionsByKey, Resolved};
use lion_tsne::{Lion, LionOptions, Radius};
use proptest::prelude::*;

/// Maps on a line, in the plane and in space, with both ways to choose a position, and rows of every kind for them.
fn jobs() -> Vec<(Lion, Vec<Vec<f64>>)> {
    let cases = [
        (2, 3, Positions::Nearest),
        (3, 5, Positions::Random),
        (2, 2, Positions::Random),
        (1, 4, Positions::Nearest),
    ];
    let job = |(dims, cols, positions): (usize, usize, Positions)| {
        let map = Clustered { rows: 150, cols, dims, lonely: 0, seed: 40 + cols as u64 }.map();
        let mut rows = queries(&map, 200, 41);
        // Some are there twice.
        rows.extend(rows[..60].to_vec());
        (
            lion(
                &map,
                &LionOptions { positions, seed: 5, radius: Some(Radius::Percentile(90.0)), ..paper() },
            ),
            rows,
        )
    };
    cases.into_iter().map(job).collect()
}

fn outliers_among(lion: &Lion, rows: &[Vec<f64>]) -> Vec<PendingOutlier> {
    let resolved = lion.resolve(&matrix(rows)).expect("resolved");
    let outlier = |resolved| match resolved {
        Resolved::Outlier(outlier) => Some(outlier),
        Resolved::Placed(_) => None,
    };
    resolved.into_iter().filter_map(outlier).collect()
}

/// Their places and groups, in order.
fn given(lion: &Lion, outliers: Vec<PendingOutlier>) -> Vec<(Place, u64)> {
    let (mut pending, count) = (lion.pending_outliers(), outliers.len());
    outliers.into_iter().for_each(|outlier| pending.push(outlier));
    let place = |given| match given {
        GivenPosition::Outlier(place, group) => (place, group),
        GivenPosition::Decided(placed) => panic!("{placed:?} is no outlier"),
    };
    lion.give_positions(pending, count).map(place).collect()
}

fn from_bytes(lion: &Lion, bytes: &[u8]) -> PendingOutlier {
    PendingOutlier::from_bytes(bytes, lion.map().x().cols()).expect("an outlier")
}

#[test]
fn positions_depend_on_nothing_that_the_bytes_do_not_hold() {
    for (lion, rows) in jobs() {
        let outliers = outliers_among(&lion, &rows);
        let bytes: Vec<Vec<u8>> = outliers.iter().map(PendingOutlier::to_bytes).collect();
        let expected = given(&lion, outliers);
        assert!(expected.len() > 20);
        // In another order, which is that of the bytes; without those that are there twice.
        let mut different = bytes.clone();
        different.sort();
        different.dedup();
        assert!(different.len() < bytes.len());
        for order in [0, 1].map(|seed| shuffled(different.len(), seed)) {
            let read = order.iter().map(|&at| from_bytes(&lion, &different[at as usize]));
            let given = given(&lion, read.collect());
            for (bytes, expected) in bytes.iter().zip(&expected) {
                let at = order.iter().position(|&at| &different[at as usize] == bytes).expect("it is there");
                assert_eq!(&given[at], expected);
            }
        }
    }
}

/// By key they are what they are in order, however often each is there.
#[test]
fn positions_are_found_by_key() {
    for (lion, rows) in jobs() {
        let outliers = outliers_among(&lion, &rows);
        let bytes: Vec<Vec<u8>> = outliers.iter().map(PendingOutlier::to_bytes).collect();
        let expected = given(&lion, outliers);
        for order in [0, 1].map(|seed| shuffled(bytes.len(), seed)) {
            let mut pending = lion.pending_outliers();
            assert!(pending.is_empty());
            for &at in order.iter().chain(&order[..20]) {
                pending.push_bytes(&bytes[at as usize]).expect("an outlier");
            }
            assert!(!pending.is_empty());
            let found = lion.positions_by_key(pending).expect("positions");
            assert!(found.keys.is_sorted() && found.keys.len() < bytes.len());
            for (bytes, (place, group)) in bytes.iter().zip(&expected) {
                let at = found.keys.binary_search(&PositionsByKey::key_of(bytes)).expect("it is there");
                assert_eq!((found.places[at], u64::from(found.groups[at])), (*place, *group));
            }
            assert!(found.keys.binary_search(&PositionsByKey::key_of(b"none")).is_err());
        }
        let fdr = Lion::new(lion.map().clone(), &LionOptions { fdr: Some(0.1), ..LionOptions::default() });
        let fdr = fdr.expect("ready");
        assert!(fdr.positions_by_key(fdr.pending_outliers()).is_err());
    }
}

#[test]
fn equal_outliers_have_equal_bytes_and_others_do_not() {
    let (lion, rows) = jobs().swap_remove(0);
    let bytes = |row: &[f64]| match &outliers_among(&lion, &[row.to_vec()])[..] {
        [outlier] => Some(outlier.to_bytes()),
        _ => None,
    };
    let all: Vec<(&Vec<f64>, Vec<u8>)> = rows.iter().filter_map(|row| Some((row, bytes(row)?))).collect();
    assert!(all.len() > 20);
    for (row, bytes) in &all {
        assert_eq!((bytes[0], bytes.len()), (1, 29 + 4 * row.len()));
        assert!(all.iter().all(|(other, theirs)| (row == other) == (bytes == theirs)));
    }
}

#[test]
fn what_is_no_outlier_is_refused_in_a_sentence() {
    let (lion, rows) = jobs().swap_remove(0);
    let whole = outliers_among(&lion, &rows)[0].to_bytes();
    let refusal = |bytes: &[u8], width: usize| {
        let refused = PendingOutlier::from_bytes(bytes, width).expect_err("refused");
        refused.to_string().split_once(':').expect("what to do").0.to_owned()
    };
    assert_eq!(refusal(&[], 3), "a pending outlier's bytes are missing");
    assert_eq!(refusal(&[7, 0], 3), "a pending outlier's bytes are of version 7, and 1 can be read");
    assert_eq!(refusal(&whole[..40], 3), "a pending outlier's bytes are 40 and not those of 3 columns");
    assert_eq!(refusal(&whole, 4), "a pending outlier's bytes are 41 and not those of 4 columns");
    assert_eq!(
        refusal(&whole, usize::MAX),
        format!("a pending outlier's bytes are 41 and not those of {} columns", usize::MAX)
    );
    for (at, number) in [(1, f32::NAN), (1, -1.0), (29, f32::INFINITY), (37, f32::NAN)] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        assert_eq!(refusal(&bytes, 3), "a pending outlier's bytes hold numbers that no outlier has");
    }
    let mut bytes = whole;
    bytes[13..21].copy_from_slice(&f64::NEG_INFINITY.to_le_bytes());
    assert_eq!(refusal(&bytes, 3), "a pending outlier's bytes hold numbers that no outlier has");
}

thread_local! {
    static LION: Lion = jobs().swap_remove(0).0;
}

proptest! {
    /// Any bytes are refused, or an outlier with these bytes which a map gives a position, whoever else is there.
    #[test]
    fn any_bytes(one in bytes(), other in bytes()) {
        let outliers = [&one, &other, &one].map(|bytes| PendingOutlier::from_bytes(bytes, 3).map(|one| (bytes, one)));
        for (bytes, outlier) in outliers.iter().flatten() {
            prop_assert_eq!(&outlier.to_bytes(), *bytes);
        }
        let outliers: Vec<PendingOutlier> = outliers.into_iter().flatten().map(|(_, outlier)| outlier).collect();
        let count = outliers.len();
        let given = LION.with(|lion| given(lion, outliers));
        prop_assert!(given.len() == count && given.iter().all(|(place, _)| place.len() == 2));
    }
}

/// Mostly those of an outlier of three columns, if an odd one.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let version = prop_oneof![9 => Just(1u8), 1 => any::<u8>()];
    let length = prop_oneof![9 => Just(40usize), 1 => 0..60usize];
    let rest = length.prop_flat_map(|length| prop::collection::vec(any::<u8>(), length));
    (version, rest).prop_map(|(version, rest)| {
        let mut bytes: Vec<u8> = std::iter::once(version).chain(rest).collect();
        // Without this most numbers are negative or beyond all places.
        for (at, byte) in [(4, 0x7f), (12, 0x47), (20, 0x47), (28, 0x47)] {
            bytes.iter_mut().skip(at).take(1).for_each(|b| *b &= byte);
        }
        bytes
    })
}
