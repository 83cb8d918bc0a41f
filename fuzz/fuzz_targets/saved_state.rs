//! Any bytes are the state that a store keeps of a live map, which goes on from it and keeps the same state again, or a refusal:
//! never a panic.
//!
//! Parser: lion-tsne/src/live/restart.rs, lion-tsne/src/live/window.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_fuzz::maps::{Kept, gathering};
use lion_tsne::live::{Arrival, Change};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static KEPT: LazyLock<(Kept, BTreeMap<String, Vec<f32>>)> = LazyLock::new(|| {
    let (live, rows) = gathering();
    (Kept::of(&live, &rows), rows)
});

fuzz_target!(|bytes: &[u8]| {
    let (kept, rows) = &*KEPT;
    let Ok(mut live) = kept.restore(bytes) else { return };
    let again = Kept::of(&live, rows).restore(&live.aux()).expect("it was kept");
    assert_eq!(again.digest(), live.digest());
    // Whatever the state says, life goes on.
    for (at, row) in [[3.0, 2.0], [61.0, -30.0]].into_iter().enumerate() {
        let arrival = Arrival { id: format!("new{at}"), row: row.to_vec(), label: None, t: None };
        let _ = live.apply(vec![Change::Upsert(arrival), Change::Delete { id: "p0".into(), t: None }]);
    }
    let _ = live.health();
});
