//! Any sequence of operations leaves a live map that has the points that a plain list has, at finite places, and that goes
//! on from what was kept of it: never a panic.
//!
//! Parser: lion-tsne/src/live.rs, lion-tsne/src/live/points.rs, lion-tsne/src/live/outliers.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_fuzz::maps::{Kept, OFTEN, SQUARES};
use lion_tsne::live::{Arrival, Change, Live};
use std::collections::BTreeMap;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let mut live = Live::new(Arc::clone(&SQUARES), OFTEN).expect("a live map");
    let mut plain: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    // Four bytes an operation: what, which point, and two columns.
    for operation in bytes.chunks_exact(4).take(400) {
        let &[what, which, a, b] = operation else { return };
        let id = format!("p{}", which % 32);
        let t = (what & 0x40 != 0).then(|| f64::from(b) * 7.0 - 100.0);
        let row = vec![coordinate(a), coordinate(b)];
        let arrival =
            Arrival { id: id.clone(), row: row.clone(), label: (what & 0x20 != 0).then(|| id.clone()), t };
        match what % 8 {
            0..4 => {
                if live.apply(vec![Change::Upsert(arrival)]).is_ok() {
                    plain.insert(id, row);
                }
            }
            4 | 5 => {
                if live.apply(vec![Change::Delete { id: id.clone(), t }]).is_ok() {
                    plain.remove(&id);
                }
            }
            6 => {
                if live.snapshot(vec![arrival], t).is_ok() {
                    plain = BTreeMap::from([(id, row)]);
                }
            }
            _ => live = restored(&live, &plain),
        }
    }
    let ids: Vec<&str> = plain.keys().map(String::as_str).collect();
    let mut there: Vec<&str> = live.points().map(|point| point.id.as_str()).collect();
    there.sort_unstable();
    assert_eq!(there, ids);
    let members: usize = live.groups().map(|group| group.members.len()).sum();
    assert_eq!(members, live.points().filter(|point| point.is_outlier()).count());
    assert_eq!(restored(&live, &plain).digest(), live.digest());
});

/// Within a square, between the two, far away, and where numbers are large or hardly numbers.
fn coordinate(byte: u8) -> f32 {
    match byte {
        0..=199 => f32::from(byte) * 0.13,
        200..=239 => f32::from(byte) * 10.0 - 2100.0,
        240..=247 => 10f32.powi(i32::from(byte) - 232),
        248..=251 => f32::MIN_POSITIVE / f32::from(byte),
        252 => f32::INFINITY,
        253 => f32::NAN,
        _ => -f32::MAX,
    }
}

/// The same live map from what a store keeps of it.
fn restored(live: &Live, rows: &BTreeMap<String, Vec<f32>>) -> Live {
    Kept::of(live, rows).restore(&live.aux()).expect("it was kept")
}
