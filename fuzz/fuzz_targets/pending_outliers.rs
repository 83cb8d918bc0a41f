//! Any bytes are a pending outlier with these bytes, which a map gives a position, or a refusal: never a panic.
//!
//! Parser: lion-tsne/src/lion/pending_outlier.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::lion::{GivenPosition, PendingOutlier};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, ignore};
use std::sync::LazyLock;

/// A grid of 6 x 6 rows, which are their own places.
static LION: LazyLock<Lion> = LazyLock::new(|| {
    let grid = || (0..36).flat_map(|at| [(at % 6) as f32, (at / 6) as f32]).collect();
    let table = || Matrix::new(36, 2, grid()).expect("36 rows of 2 columns");
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    let map = fit.adopt(table(), table(), &mut ignore).expect("a map");
    Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }).expect("ready")
});

fuzz_target!(|bytes: &[u8]| {
    // Two at a time, so that they may be near each other or the same.
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let read = |bytes: &[u8]| {
        let outlier = PendingOutlier::from_bytes(bytes, 2).ok()?;
        assert_eq!(outlier.to_bytes(), bytes);
        Some(outlier)
    };
    let mut pending = LION.pending_outliers();
    for outlier in [one, other].into_iter().filter_map(read) {
        pending.push(outlier);
    }
    let count = pending.len();
    let places = LION.give_positions(pending, count).map(|given| match given {
        GivenPosition::Outlier(place, _) => place.len(),
        GivenPosition::Decided(_) => 0,
    });
    assert_eq!(places.collect::<Vec<_>>(), vec![2; count]);
});
